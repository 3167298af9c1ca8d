"""The first commands that a user types: compile `add`, run it, as IREE's documentation says with `tiree-` in front."""

from __future__ import annotations

from pathlib import Path

import pytest
from proofs import iree_reference as iree
from proofs.commands import ok, run

pytestmark = iree.needs_iree

ADD = """func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
TARGET = (
    "--iree-hal-target-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu-features=host",
    "--iree-hal-executable-debug-level=0",
)
SIZE = (
    "--iree-llvmcpu-debug-symbols=false",
    "--iree-vm-bytecode-module-strip-source-map=true",
    "--iree-vm-emit-polyglot-zip=false",
)
CALL = ("--function=add", "--input=4xf32=1,2,3,4", "--input=4xf32=5,6,7,8")
LARGEST = 3150


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "add.mlir").write_text(ADD)
    return tmp_path


@pytest.mark.parametrize("device", iree.DRIVERS)
def test_compile_and_run(folder: Path, device: str) -> None:
    ok(run(folder, "tiree-compile", "add.mlir", *TARGET, "-o", "add.vmfb"))
    printed = ok(run(folder, "tiree-run-module", "--module=add.vmfb", f"--device={device}", *CALL))
    assert printed == "EXEC @add\nresult[0]: hal.buffer_view\n4xf32=6 8 10 12\n"
    iree_printed = iree.run_tool("iree-run-module", f"--module={folder}/add.vmfb", f"--device={device}", *CALL)
    assert printed == iree_printed


def test_defaults_are_enough(folder: Path) -> None:
    done = run(folder, "tiree-compile", "add.mlir", "-o", "add.vmfb")
    ok(done)
    assert "note: no target given" in done.err
    assert ok(run(folder, "tiree-run-module", "--module=add.vmfb", *CALL)).endswith("4xf32=6 8 10 12\n")


def test_size(folder: Path) -> None:
    ok(run(folder, "tiree-compile", "add.mlir", *TARGET, *SIZE, "-o", "small.vmfb"))
    size = (folder / "small.vmfb").stat().st_size
    for device in iree.DRIVERS:
        printed = iree.run_tool("iree-run-module", f"--module={folder}/small.vmfb", f"--device={device}", *CALL)
        assert printed.endswith("4xf32=6 8 10 12\n")
    assert size <= LARGEST, f"{size} bytes; at most {LARGEST} are allowed"
