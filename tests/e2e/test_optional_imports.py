"""Functions of other modules that may be absent or too old: IREE's `vm.fallback` and `vm.version` on declarations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tiree
import tiree.runtime as rt
from tiree.dialects import get_context, read_module
from tiree.support.errors import CompileError
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i32
from xdsl.ir import Attribute

PROGRAM = """
func.func private @stats.note(%value: i32) -> i32 attributes {vm.fallback = @standin, vm.version = 4 : i32}
func.func private @standin(%value: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %0 = arith.addi %value, %c1 : i32
  return %0 : i32
}
func.func @main(%value: i32, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%have = %value) -> i32 {
    %1 = func.call @stats.note(%have) : (i32) -> i32
    scf.yield %1 : i32
  }
  return %0 : i32
}
"""
REQUIRED = """
func.func private @stats.note(%value: i32) -> i32 attributes {vm.version = 4 : i32}
func.func @main(%value: i32) -> i32 {
  %0 = call @stats.note(%value) : (i32) -> i32
  return %0 : i32
}
"""


def stats(version: int) -> rt.VmModule:
    class Stats(rt.PythonModule, name="stats", version=version):
        def note(self, value: rt.i32) -> rt.i32:
            return value * 10

    return Stats.create()


def loaded(text: str, *modules: rt.VmModule) -> Any:
    compiled = rt.VmModule.copy_buffer(rt.VmInstance(), bytes(tiree.compile(text)))
    return rt.load_vm_modules(*modules, compiled)[-1]


def test_a_fallback_is_called_where_the_function_is_absent():
    assert loaded(PROGRAM).main(3, 4) == 7
    assert loaded(PROGRAM, stats(4)).main(3, 4) == 30_000
    assert loaded(PROGRAM, stats(9)).main(3, 0) == 3


def test_a_version_is_the_least_that_will_do():
    assert loaded(REQUIRED, stats(4)).main(3) == 30
    with pytest.raises(rt.StatusError, match="have 3 but require 4"):
        loaded(REQUIRED, stats(3))
    with pytest.raises(rt.StatusError, match="not registered"):
        loaded(REQUIRED)


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ("vm.fallback = @nowhere", "vm.fallback of @stats.note is @nowhere, which this module does not define"),
        ("vm.fallback = @main", "@main cannot stand in for @stats.note: their types differ"),
        ("vm.version = 1.5 : f32", "vm.version of @stats.note is 1.5"),
    ],
)
def test_refused(attributes: str, text: str):
    with pytest.raises(CompileError, match=text):
        tiree.compile(PROGRAM.replace("vm.fallback = @standin, vm.version = 4 : i32", attributes))


def imported(tool: list[str | Path], program: Path) -> dict[str, Attribute]:
    """The import of @stats.note at phase vm."""
    done = subprocess.run([*tool, program, "--compile-to=vm", "-o", "-"], capture_output=True, text=True, check=True)
    module = read_module(done.stdout, get_context(), "vm")
    (found,) = (
        op for op in module.walk() if op.name == "vm.import" and op.properties["sym_name"] == StringAttr("stats.note")
    )
    return {key: value for key, value in found.properties.items() if key != "arg_attrs"}


def test_the_import_is_irees(tmp_path: Path):
    """IREE needs a fallback that something else keeps alive."""
    iree = Path(sys.executable).with_name("iree-compile")
    if not iree.exists():
        pytest.skip("iree-base-compiler is a development dependency")
    program = tmp_path / "program.mlir"
    program.write_text(PROGRAM.replace("func.func private @standin", "func.func @standin"))
    theirs = imported([iree, "--iree-hal-target-backends=vmvx"], program)
    assert theirs == imported([sys.executable, "-m", "tiree.tools.compile"], program)
    assert theirs["minimum_version"] == IntegerAttr(4, i32)
    assert "is_optional" in theirs
