"""`bitcast_convert` between all element types, against numpy's views of the same memory; `reduce_precision` of NaN."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tiree
from input.running import run

DTYPES: dict[str, Any] = {
    "i8": np.int8, "ui16": np.uint16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i64": np.int64,
}  # fmt: skip
PAIRS = [(a, b) for a, b in itertools.product(DTYPES, repeat=2) if a != b]


def shapes(a: str, b: str, extents: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes of the operand and of the result."""
    one, two = np.dtype(DTYPES[a]).itemsize, np.dtype(DTYPES[b]).itemsize
    if one >= two:
        return extents, (*extents, one // two) if one > two else extents
    return (*extents, two // one), extents


def text_of(shape: tuple[int, ...], element: str, dynamic: bool = False) -> str:
    sizes = ["?" if dynamic and n == 0 else str(size) for n, size in enumerate(shape)]
    return f"tensor<{'x'.join([*sizes, element])}>"


@pytest.mark.parametrize("dynamic", [False, True])
def test_all_pairs(dynamic: bool) -> None:
    random = np.random.default_rng(3)
    functions: list[str] = []
    cases: list[tuple[Any, Any, tuple[int, ...]]] = []
    for n, (a, b) in enumerate(PAIRS):
        source, target = shapes(a, b, (3, 5))
        types = text_of(source, a, dynamic), text_of(target, b, dynamic)
        functions.append(f"""func.func @f{n}(%x: {types[0]}) -> {types[1]} {{
  %r = stablehlo.bitcast_convert %x : ({types[0]}) -> {types[1]}
  return %r : {types[1]}
}}""")
        dtype = np.dtype(DTYPES[a])
        raw = random.integers(0, 256, int(np.prod(source)) * dtype.itemsize, np.uint8)
        cases.append((raw.view(dtype).reshape(source), np.dtype(DTYPES[b]), target))
    module = tiree.load(tiree.compile("\n".join(functions)), device="local-sync")
    for n, (x, dtype, target) in enumerate(cases):
        got = np.asarray(getattr(module, f"f{n}")(x))
        want = x.reshape(-1).view(dtype).reshape(target)
        assert got.dtype == dtype
        # Bits: NaNs keep theirs.
        np.testing.assert_array_equal(got.view(np.uint8), want.view(np.uint8), err_msg=str(PAIRS[n]))


def test_booleans_are_bits() -> None:
    text = """func.func @f(%x: tensor<3x64xi1>, %y: tensor<3xf64>)
    -> (tensor<3xi64>, tensor<3x64xi1>, tensor<3x8x8xi1>) {
  %a = stablehlo.bitcast_convert %x : (tensor<3x64xi1>) -> tensor<3xi64>
  %b = stablehlo.bitcast_convert %y : (tensor<3xf64>) -> tensor<3x64xi1>
  %c = stablehlo.bitcast_convert %y : (tensor<3xf64>) -> tensor<3x8xi8>
  %d = stablehlo.bitcast_convert %c : (tensor<3x8xi8>) -> tensor<3x8x8xi1>
  return %a, %b, %d : tensor<3xi64>, tensor<3x64xi1>, tensor<3x8x8xi1>
}"""
    x = np.random.default_rng(0).integers(0, 2, (3, 64)).astype(bool)
    y = np.array([1.5, -0.0, np.pi])
    a, b, c = run(text, x, y)
    np.testing.assert_array_equal(a, np.packbits(x, axis=1, bitorder="little").view(np.int64).reshape(3))
    bits = np.unpackbits(y.view(np.uint8).reshape(3, 8), axis=1, bitorder="little").astype(bool)
    np.testing.assert_array_equal(b, bits)
    np.testing.assert_array_equal(c, bits.reshape(3, 8, 8))


def test_nibbles() -> None:
    text = """func.func @f(%x: tensor<5xi16>) -> (tensor<5x4xi32>, tensor<5x2xi8>) {
  %a = stablehlo.bitcast_convert %x : (tensor<5xi16>) -> tensor<5x4xui4>
  %n = stablehlo.convert %a : (tensor<5x4xui4>) -> tensor<5x4xi32>
  %r = stablehlo.reshape %a : (tensor<5x4xui4>) -> tensor<5x2x2xui4>
  %b = stablehlo.bitcast_convert %r : (tensor<5x2x2xui4>) -> tensor<5x2xi8>
  return %n, %b : tensor<5x4xi32>, tensor<5x2xi8>
}"""
    x = np.array([0x1234, -1, 0, 0x7FFF, -0x8000], np.int16)
    nibbles, halves = run(text, x)
    np.testing.assert_array_equal(nibbles, np.stack([(x.astype(np.int32) >> shift) & 15 for shift in (0, 4, 8, 12)], 1))
    np.testing.assert_array_equal(halves, x.view(np.int8).reshape(5, 2))


def test_reduce_precision_without_mantissa() -> None:
    text = """func.func @f(%x: tensor<6xf64>, %y: tensor<6xbf16>) -> (tensor<6xf64>, tensor<6xbf16>) {
  %a = stablehlo.reduce_precision %x, format = e5m0 : tensor<6xf64>
  %b = stablehlo.reduce_precision %y, format = e8m0 : tensor<6xbf16>
  return %a, %b : tensor<6xf64>, tensor<6xbf16>
}"""
    x = np.array([np.nan, np.inf, -3.0, 65520.0, 1e-9, -0.0])
    a, b = run(text, x, x.astype(ml_dtypes.bfloat16))
    np.testing.assert_array_equal(a, [np.inf, np.inf, -2.0, np.inf, 0.0, -0.0])
    np.testing.assert_array_equal(b.astype(float), [np.inf, np.inf, -2.0, 65536.0, 2.0**-30, -0.0])
