"""The stack that functions reserve, read from machine code: kernels with a known amount of stack memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tiree.codegen.elf.frames import stack_frames
from tiree.codegen.llvm.executable import emit_units

from tests.codegen.harness import bindings, parse, target

TRIPLES = ("x86_64", "i386", "aarch64", "arm", "riscv64")


def kernel(count: int) -> str:
    """A kernel that scatters into `count` floats of its stack and gathers from them."""
    return f"""
func.func @scatter() {{
  {bindings("64xi32", "64xf32")}
  %n = arith.constant 64 : index
  %one = arith.constant 1 : index
  %s = memref.alloca() : memref<{count}xf32>
  scf.for %i = %c0 to %n step %one {{
    %x = memref.load %b0[%i] : memref<64xi32>
    %j = arith.index_cast %x : i32 to index
    %y = memref.load %b1[%i] : memref<64xf32>
    memref.store %y, %s[%j] : memref<{count}xf32>
  }}
  scf.for %i = %c0 to %n step %one {{
    %x = memref.load %b0[%i] : memref<64xi32>
    %j = arith.index_cast %x : i32 to index
    %y = memref.load %s[%j] : memref<{count}xf32>
    memref.store %y, %b1[%i] : memref<64xf32>
  }}
  func.return
}}"""


@pytest.mark.parametrize("count", [64, 250, 513, 1100, 5000, 20000, 300000])
@pytest.mark.parametrize("triple", TRIPLES)
def test_stack_memory_is_found(triple: str, count: int) -> None:
    description = replace(target("generic", triple=triple), stack_limit=1 << 30)
    (unit,) = emit_units("scatter", parse(kernel(count)), description)
    frames = stack_frames(unit.compile().object)
    assert 4 * count <= frames["scatter"] <= 4 * count + 256


@pytest.mark.parametrize("triple", TRIPLES)
def test_a_kernel_without_stack_memory_has_a_small_frame(triple: str) -> None:
    text = f"""
func.func @add() {{
  {bindings("4xf32", "4xf32")}
  %a = vector.load %b0[%c0] : memref<4xf32>, vector<4xf32>
  %c = arith.addf %a, %a : vector<4xf32>
  vector.store %c, %b1[%c0] : memref<4xf32>, vector<4xf32>
  func.return
}}"""
    (unit,) = emit_units("add", parse(text), target("generic", triple=triple))
    assert stack_frames(unit.compile().object)["add"] <= 64
