"""Results of sizes known late behind the caller's fence, where a call that stays gives them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.runtime_tool import needs_iree, ours, theirs

PROGRAM = """
func.func private @g(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) attributes {noinline} {
  %w = stablehlo.add %x, %x : tensor<?xf32>
  %z = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %w, %z : tensor<?xf32>, tensor<?xf32>
}
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %a:2 = call @g(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  %b:2 = stablehlo.optimization_barrier %a#0, %a#1 : tensor<?xf32>, tensor<?xf32>
  return %b#1, %b#0, %a#1 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
"""


@needs_iree
@pytest.mark.parametrize("model", ["async-internal", "async-external"])
def test_results_of_calls(tmp_path: Path, model: str) -> None:
    source, made = tmp_path / "p.mlir", tmp_path / "p.vmfb"
    source.write_text(PROGRAM)
    done = ours("compile", source, f"--iree-execution-model={model}", "-o", made)
    assert done.code == 0, done.err
    for tool in (ours, theirs):
        flags = (f"--module={made}", "--device=local-task", "--function=f")
        done = tool("run-module", *flags, "--input=2xf32=1,2", "--input=1xf32=3")
        assert re.findall(".*xf32=.*", done.out) == ["3xf32=1 2 3", "2xf32=2 4", "3xf32=1 2 3"]
        done = tool("run-module", *flags, "--input=0xf32", "--input=1xf32=3")
        assert re.findall(".*xf32=.*", done.out) == ["1xf32=3", "0xf32=", "1xf32=3"]
