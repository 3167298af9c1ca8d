"""Files that options name: two for one file are refused (the first would be lost), errors have their names."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
import tiree
from tiree.support.errors import CompileError
from tools.runtime_tool import ours

ADD = """func.func @add(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
OPTIONS = (
    ("-o", "{}"),
    ("--tiree-report={}",),
    ("--iree-vm-bytecode-source-listing={}",),
    ("--iree-parameter-splat={}",),
    ("--iree-parameter-export=s={}",),
)


@pytest.mark.parametrize(("first", "second"), [*combinations(OPTIONS[:4], 2), (OPTIONS[0], OPTIONS[4])])
def test_one_file_for_two_options(first: tuple[str, ...], second: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "add.mlir").write_text(ADD)
    (tmp_path / "d").mkdir()
    paths = (str(tmp_path / "x.irpa"), str(tmp_path / "d" / ".." / "x.irpa"))
    flags = [part.format(path) for option, path in zip((first, second), paths, strict=True) for part in option]
    done = ours("compile", tmp_path / "add.mlir", *flags, "--iree-llvmcpu-target-cpu=generic")
    assert done.code == 1
    assert "name the same file" in done.err
    assert not (tmp_path / "x.irpa").exists()


def test_a_listing_beside_a_report_from_python(tmp_path: Path) -> None:
    flags = [f"--tiree-report={tmp_path}/x.html", f"--iree-vm-bytecode-source-listing={tmp_path}/x.html"]
    with pytest.raises(CompileError, match=r"--tiree-report=.* name the same file"):
        tiree.compile(ADD, flags=flags)


def test_a_report_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    source = tmp_path / "add.mlir"
    source.write_text(ADD)
    done = ours("compile", str(source), "-o", str(tmp_path / "add.vmfb"), "--tiree-report=/dev/full")
    assert done.code == 1
    assert "/dev/full: error: No space left on device" in done.err
