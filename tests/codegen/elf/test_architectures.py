"""Images for other architectures, executed in an emulator: code, relocations, library table and calling convention."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.elf.emulator import MACHINES, Emulated
from tests.codegen.harness import bindings, build, parse

pytest.importorskip("unicorn", reason="needs the Unicorn CPU emulator (pip install unicorn)")

KERNELS = f"""
"memref.global"() <{{sym_name = "table", sym_visibility = "private", type = memref<4xf32>, constant,
  initial_value = dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>}}> : () -> ()
func.func @add() {{
  {bindings("4xf32", "4xf32", "4xf32", readonly=(0, 1))}
  %t = memref.get_global @table : memref<4xf32>
  %a = vector.load %b0[%c0] : memref<4xf32>, vector<4xf32>
  %b = vector.load %b1[%c0] : memref<4xf32>, vector<4xf32>
  %w = vector.load %t[%c0] : memref<4xf32>, vector<4xf32>
  %c = arith.addf %a, %b : vector<4xf32>
  %d = arith.mulf %c, %w : vector<4xf32>
  vector.store %d, %b2[%c0] : memref<4xf32>, vector<4xf32>
  func.return
}}
func.func @functions() {{
  {bindings("4xf64", "4xf64", readonly=(0,))}
  %a = vector.load %b0[%c0] : memref<4xf64>, vector<4xf64>
  %s = math.sin %a : vector<4xf64>
  %t = math.exp %s : vector<4xf64>
  %l = math.log %t : vector<4xf64>
  vector.store %l, %b1[%c0] : memref<4xf64>, vector<4xf64>
  func.return
}}
func.func @halves() {{
  {bindings("8xf32", "8xbf16", "8xf16", "8xf32", readonly=(0,))}
  %a = vector.load %b0[%c0] : memref<8xf32>, vector<8xf32>
  %b = arith.truncf %a : vector<8xf32> to vector<8xbf16>
  %h = arith.truncf %a : vector<8xf32> to vector<8xf16>
  %w = arith.extf %h : vector<8xf16> to vector<8xf32>
  vector.store %b, %b1[%c0] : memref<8xbf16>, vector<8xbf16>
  vector.store %h, %b2[%c0] : memref<8xf16>, vector<8xf16>
  vector.store %w, %b3[%c0] : memref<8xf32>, vector<8xf32>
  func.return
}}
func.func @loop() {{
  {bindings("64xi32", "1xi32", readonly=(0,))}
  %n = arith.constant 64 : index
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %sum = scf.for %i = %c0 to %n step %one iter_args(%s = %zero) -> (i32) {{
    %x = memref.load %b0[%i] : memref<64xi32>
    %big = arith.cmpi sgt, %x, %zero : i32
    %r = scf.if %big -> (i32) {{
      %t = arith.addi %s, %x : i32
      scf.yield %t : i32
    }} else {{
      scf.yield %s : i32
    }}
    scf.yield %r : i32
  }}
  memref.store %sum, %b1[%c0] : memref<1xi32>
  func.return
}}"""


@pytest.fixture(scope="module", params=MACHINES)
def emulated(request: pytest.FixtureRequest) -> Emulated:
    built = build(parse(KERNELS), cpu="generic", triple=request.param)
    return Emulated(built.image, request.param)


def test_vector_code_and_tables(emulated: Emulated) -> None:
    a, b = np.arange(4, dtype=np.float32), np.full(4, 0.5, np.float32)
    *_, out = emulated.run("add", [a, b, np.zeros(4, np.float32)])
    np.testing.assert_array_equal(out, (a + b) * [1, 2, 4, 8])


def test_elementary_functions(emulated: Emulated) -> None:
    x = np.array([0.5, -2.25, 1e5, 1e22])
    *_, out = emulated.run("functions", [x, np.zeros(4)])
    np.testing.assert_allclose(out, np.sin(x), rtol=1e-14)


def test_small_floats(emulated: Emulated) -> None:
    import ml_dtypes

    x = np.array([1.0, -2.5, 1 / 3, 65519.0, 1e-7, 70000.0, -0.0, 3.0e-5], np.float32)
    zeros = [np.zeros(8, t) for t in (ml_dtypes.bfloat16, np.float16, np.float32)]
    _, brain, half, wide = emulated.run("halves", [x, *zeros])
    with np.errstate(over="ignore"):
        expected = x.astype(np.float16)
    np.testing.assert_array_equal(brain.view(np.uint16), x.astype(ml_dtypes.bfloat16).view(np.uint16))
    np.testing.assert_array_equal(half.view(np.uint16), expected.view(np.uint16))
    np.testing.assert_array_equal(wide, expected.astype(np.float32))


def test_scalar_loops(emulated: Emulated) -> None:
    x = np.arange(-20, 44, dtype=np.int32)
    _, out = emulated.run("loop", [x, np.zeros(1, np.int32)])
    assert out[0] == x[x > 0].sum()
