"""Floats of 4, 6 and 8 bits: constants, conversions and arithmetic, exhaustively against `ml_dtypes`."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from input.running import run
from tiree.dialects.syntax.small_floats import FORMATS, SmallFloat

Array = np.ndarray
NAMES: dict[str, Any] = {
    "f4E2M1FN": ml_dtypes.float4_e2m1fn, "f6E2M3FN": ml_dtypes.float6_e2m3fn, "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f8E3M4": ml_dtypes.float8_e3m4, "f8E4M3": ml_dtypes.float8_e4m3, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E5M2": ml_dtypes.float8_e5m2, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip
BY_NAME: dict[str, SmallFloat] = {type.name: format for type, format in FORMATS.items()}


def codes(name: str) -> Array:
    return np.arange(1 << BY_NAME[name].width, dtype=np.uint8)


def values(name: str) -> Array:
    """All numbers of a format, as f64."""
    return codes(name).view(NAMES[name]).astype(np.float64)


def to_odd(x: Array) -> Array:
    """f64 to f32, to the odd neighbour where it is not exact: what is rounded after that is rounded once."""
    with np.errstate(all="ignore"):
        nearest = x.astype(np.float32)
    back = nearest.astype(np.float64)
    toward = np.where(np.abs(back) > np.abs(x), np.nextafter(nearest, np.float32(0)), nearest)
    sticky = (toward.view(np.uint32) | 1).view(np.float32)
    return np.where((back == x) | ~np.isfinite(nearest), nearest, sticky)


def rounded(x: Array, name: str) -> Array:
    """Bits in a format; `ml_dtypes` takes f64 through f32, which would round twice."""
    x = to_odd(x) if x.dtype == np.float64 else x
    with np.errstate(all="ignore"):
        return x.astype(NAMES[name]).view(np.uint8)


def edges(name: str, dtype: Any) -> Array:
    """Numbers of a format, what lies halfway between them, the neighbours of both, and what is far off."""
    known = values(name)
    known = np.unique(known[np.isfinite(known)])
    halves = (known[1:] + known[:-1]) / 2
    beyond = np.array([2 * known[-1] - known[-2], 1.5 * known[-1] - 0.5 * known[-2], 2 * known[-1]])
    all_ = np.concatenate([known, halves, beyond, [0.0, 1e30, 3e38, 1e-30, 1e-40, np.inf, np.nan]])
    all_ = np.concatenate([all_, -all_])
    with np.errstate(all="ignore"):
        exact = all_.astype(dtype)
        return np.concatenate([exact, np.nextafter(exact, dtype(np.inf)), np.nextafter(exact, dtype(-np.inf))])


def same_numbers(got: Array, want: Array, where: object) -> None:
    """Equal bits, except that a NaN is a NaN."""
    np.testing.assert_array_equal(got, want, err_msg=str(where))
    np.testing.assert_array_equal(
        np.signbit(got[~np.isnan(got)]), np.signbit(want[~np.isnan(want)]), err_msg=str(where)
    )


@pytest.mark.parametrize("name", NAMES)
def test_table(name: str) -> None:
    """The conversions of the compiler itself, which constants go through."""
    format = BY_NAME[name]
    same_numbers(np.array([format.value(int(code)) for code in codes(name)]), values(name), name)
    x = edges(name, np.float64)
    got = np.array([format.bits(float(one)) for one in x], np.uint8)
    np.testing.assert_array_equal(got, rounded(x, name))


def given(bits: Array, name: str) -> Array:
    """Numbers as functions take them: of their own type where buffers have it, else bytes."""
    return bits.view(NAMES[name] if BY_NAME[name].in_hal else np.int8)


@pytest.mark.parametrize("name", NAMES)
def test_reading(name: str) -> None:
    """Every bit pattern, to every wider type."""
    n = len(codes(name))
    wide = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i32": np.int32}
    lines = [f"%to_{t} = stablehlo.convert %x : (tensor<{n}x{name}>) -> tensor<{n}x{t}>" for t in wide]
    types = ", ".join(f"tensor<{n}x{t}>" for t in wide)
    text = f"""func.func @f(%x: tensor<{n}x{name}>) -> ({types}) {{
  {chr(10).join(lines)}
  return {", ".join(f"%to_{t}" for t in wide)} : {types}
}}"""
    want = values(name)
    for t, got in zip(wide, run(text, given(codes(name), name)), strict=True):
        with np.errstate(all="ignore"):
            if t == "i32":
                limited = np.clip(np.trunc(np.nan_to_num(want)), -(2.0**31), 2.0**31 - 1)
                np.testing.assert_array_equal(got, limited.astype(np.int32))
            else:
                same_numbers(got.astype(np.float64), want.astype(wide[t]).astype(np.float64), t)


@pytest.mark.parametrize("name", NAMES)
def test_rounding(name: str) -> None:
    """Every number, all halves and their neighbours, from f64 and f32; all of f16 and bf16."""
    every = np.arange(1 << 16, dtype=np.uint16)
    sources = {
        "f64": edges(name, np.float64), "f32": edges(name, np.float32), "f16": every.view(np.float16),
        "bf16": every.view(ml_dtypes.bfloat16),
        "i32": np.array([0, 1, -1, 3, 7, -100, 2**31 - 1, 3 << 29, -(2**31)], np.int32),
        "ui8": np.arange(256, dtype=np.uint8), "i1": np.array([False, True]),
    }  # fmt: skip
    lines: list[str] = []
    for t, x in sources.items():
        lines.append(f"%{t} = stablehlo.convert %x{t} : (tensor<{len(x)}x{t}>) -> tensor<{len(x)}x{name}>")
    types = ", ".join(f"tensor<{len(x)}x{name}>" for x in sources.values())
    text = f"""func.func @f({", ".join(f"%x{t}: tensor<{len(x)}x{t}>" for t, x in sources.items())}) -> ({types}) {{
  {chr(10).join(lines)}
  return {", ".join(f"%{t}" for t in sources)} : {types}
}}"""
    for (t, x), got in zip(sources.items(), run(text, *sources.values()), strict=True):
        source = x.astype(np.float64) if x.dtype.kind in "iub" else x
        np.testing.assert_array_equal(got.view(np.uint8), rounded(source, name), err_msg=t)


@pytest.mark.parametrize("name", NAMES)
def test_between_formats(name: str) -> None:
    n = len(codes(name))
    others = list(NAMES)
    lines: list[str] = []
    for other in others:
        lines.append(f"%v{other} = stablehlo.convert %x : (tensor<{n}x{name}>) -> tensor<{n}x{other}>")
    types = ", ".join(f"tensor<{n}x{other}>" for other in others)
    text = f"""func.func @f(%x: tensor<{n}x{name}>) -> ({types}) {{
  {chr(10).join(lines)}
  return {", ".join(f"%v{other}" for other in others)} : {types}
}}"""
    for other, got in zip(others, run(text, given(codes(name), name)), strict=True):
        want = rounded(values(name), other)
        if BY_NAME[other].nan is None:
            # Zero stands for NaN, with a sign that depends on the sign of NaN.
            valid = ~np.isnan(values(name))
            np.testing.assert_array_equal(got.view(np.uint8)[valid], want[valid], err_msg=other)
            continue
        same_numbers(got.view(NAMES[other]).astype(np.float32), want.view(NAMES[other]).astype(np.float32), other)


def test_constants() -> None:
    text = """func.func @f() -> (tensor<4xf32>, tensor<2xf32>, tensor<3xf32>, tensor<2x2xf32>) {
  %a = stablehlo.constant dense<[0.1, -3.1415, 0x7F, 1.0e9]> : tensor<4xf8E4M3FN>
  %b = stablehlo.constant dense<[0x07, -0.25]> : tensor<2xf4E2M1FN>
  %c = stablehlo.constant dense<"0x3C7CFC"> : tensor<3xf8E5M2>
  %d = stablehlo.constant dense<0.3> : tensor<2x2xf6E3M2FN>
  %p = stablehlo.convert %a : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %q = stablehlo.convert %b : (tensor<2xf4E2M1FN>) -> tensor<2xf32>
  %r = stablehlo.convert %c : (tensor<3xf8E5M2>) -> tensor<3xf32>
  %s = stablehlo.convert %d : (tensor<2x2xf6E3M2FN>) -> tensor<2x2xf32>
  return %p, %q, %r, %s : tensor<4xf32>, tensor<2xf32>, tensor<3xf32>, tensor<2x2xf32>
}"""
    wanted = [
        np.array([0.1, -3.1415, np.nan, 1e9]).astype(NAMES["f8E4M3FN"]), np.array([6, -0.25]).astype(NAMES["f4E2M1FN"]),
        np.array([1, np.inf, -np.inf]), np.full((2, 2), 0.3).astype(NAMES["f6E3M2FN"]),
    ]  # fmt: skip
    for got, want in zip(run(text), wanted, strict=True):
        np.testing.assert_array_equal(got, want.astype(np.float32))


ARITHMETIC: dict[str, Any] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
    "minimum": np.minimum,
}  # fmt: skip


@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E3M4"])
def test_arithmetic(name: str) -> None:
    """All pairs of numbers, through buffers of bytes."""
    byte, narrow = "tensor<256x256xui8>", f"tensor<256x256x{name}>"
    lines = "\n".join(
        f"%{op}f = stablehlo.{op} %a, %b : {narrow}\n%{op} = stablehlo.bitcast_convert %{op}f : ({narrow}) -> {byte}"
        for op in ARITHMETIC
    )
    types = ", ".join([byte] * len(ARITHMETIC))
    text = f"""func.func @f(%x: {byte}, %y: {byte}) -> ({types}, tensor<256x256xi1>) {{
  %a = stablehlo.bitcast_convert %x : ({byte}) -> {narrow}
  %b = stablehlo.bitcast_convert %y : ({byte}) -> {narrow}
  {lines}
  %less = stablehlo.compare LT, %a, %b : ({narrow}, {narrow}) -> tensor<256x256xi1>
  return {", ".join(f"%{op}" for op in ARITHMETIC)}, %less : {types}, tensor<256x256xi1>
}}"""
    x, y = (np.ascontiguousarray(grid) for grid in np.meshgrid(codes(name), codes(name)))
    *got, less = run(text, x, y)
    a, b = (grid.view(NAMES[name]).astype(np.float32) for grid in (x, y))
    with np.errstate(all="ignore"):
        for (op, function), bits in zip(ARITHMETIC.items(), got, strict=True):
            want = function(a, b).astype(NAMES[name]).astype(np.float32)
            result = bits.view(NAMES[name]).astype(np.float32)
            zeros = (result == 0) & (want == 0) if op in ("maximum", "minimum") else np.zeros_like(result, bool)
            np.testing.assert_array_equal(np.where(zeros, 0, result), np.where(zeros, 0, want), err_msg=op)
        np.testing.assert_array_equal(less, a < b)


def test_values_of_functions() -> None:
    """Arguments and results: as what they are where buffers can say it, as bytes where not."""
    text = """func.func @f(%x: tensor<5xf8E4M3FN>, %y: tensor<5xf8E3M4>, %z: tensor<3xf4E2M1FN>)
    -> (tensor<5xf8E4M3FN>, tensor<5xf8E3M4>, tensor<3xf4E2M1FN>) {
  %a = stablehlo.add %x, %x : tensor<5xf8E4M3FN>
  %b = stablehlo.multiply %y, %y : tensor<5xf8E3M4>
  return %a, %b, %z : tensor<5xf8E4M3FN>, tensor<5xf8E3M4>, tensor<3xf4E2M1FN>
}"""
    x = np.array([0.5, 1, -2, 448, np.nan]).astype(NAMES["f8E4M3FN"])
    y = np.array([0.5, 1, -2, 4, 0]).astype(NAMES["f8E3M4"])
    z = np.array([1, 2, 15], np.int8)
    a, b, c = run(text, x, y.view(np.int8), z)
    assert a.dtype == x.dtype
    np.testing.assert_array_equal(a.astype(np.float32), (x.astype(np.float32) * 2).astype(x.dtype).astype(np.float32))
    np.testing.assert_array_equal(b.view(y.dtype).astype(np.float32), np.array([0.25, 1, 4, np.inf, 0], np.float32))
    np.testing.assert_array_equal(c, z)


def test_regions_contractions_and_moves() -> None:
    text = """func.func @f(%x: tensor<3x8xf8E5M2>, %y: tensor<8x4xf8E4M3FN>)
    -> (tensor<3xf8E5M2>, tensor<3x4xf32>, tensor<3x4xf8E5M2>, tensor<3x8xf8E5M2>, tensor<8x5xf8E5M2>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f8E5M2>
  %one = stablehlo.constant dense<-1.5> : tensor<f8E5M2>
  %a = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<3x8xf8E5M2>, tensor<f8E5M2>) -> tensor<3xf8E5M2>
  %b = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<3x8xf8E5M2>, tensor<8x4xf8E4M3FN>) -> tensor<3x4xf32>
  %c = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<3x8xf8E5M2>, tensor<8x4xf8E4M3FN>) -> tensor<3x4xf8E5M2>
  %d = "stablehlo.sort"(%x) ({
  ^bb0(%p: tensor<f8E5M2>, %q: tensor<f8E5M2>):
    %l = stablehlo.compare LT, %p, %q : (tensor<f8E5M2>, tensor<f8E5M2>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<3x8xf8E5M2>) -> tensor<3x8xf8E5M2>
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x8xf8E5M2>) -> tensor<8x3xf8E5M2>
  %e = stablehlo.pad %t, %one, low = [0, 1], high = [0, 1], interior = [0, 0]
    : (tensor<8x3xf8E5M2>, tensor<f8E5M2>) -> tensor<8x5xf8E5M2>
  return %a, %b, %c, %d, %e
    : tensor<3xf8E5M2>, tensor<3x4xf32>, tensor<3x4xf8E5M2>, tensor<3x8xf8E5M2>, tensor<8x5xf8E5M2>
}"""
    random = np.random.default_rng(1)
    x = random.standard_normal((3, 8)).astype(NAMES["f8E5M2"])
    y = random.standard_normal((8, 4)).astype(NAMES["f8E4M3FN"])
    a, b, c, d, e = run(text, x, y)
    total = np.zeros(3, x.dtype)
    for column in range(8):
        total = (total.astype(np.float32) + x[:, column].astype(np.float32)).astype(x.dtype)
    np.testing.assert_array_equal(a.astype(np.float32), total.astype(np.float32))
    product = x.astype(np.float32) @ y.astype(np.float32)
    np.testing.assert_allclose(b, product, rtol=1e-6)
    np.testing.assert_array_equal(c.astype(np.float32), product.astype(x.dtype).astype(np.float32))
    np.testing.assert_array_equal(d.astype(np.float32), np.sort(x.astype(np.float32), 1))
    padded = np.pad(x.T.astype(np.float32), ((0, 0), (1, 1)), constant_values=-1.5)
    np.testing.assert_array_equal(e.astype(np.float32), padded)


def test_calls_that_stand_for_functions() -> None:
    """`mhlo.square` and its like compute with the numbers; they once took the bytes."""
    text = """func.func @f(%x: tensor<6xf8E5M2>) -> (tensor<6xf8E5M2>, tensor<6xf8E5M2>) {
  %0 = stablehlo.custom_call @mhlo.square(%x) : (tensor<6xf8E5M2>) -> tensor<6xf8E5M2>
  %1 = stablehlo.custom_call @mhlo.erf(%x) : (tensor<6xf8E5M2>) -> tensor<6xf8E5M2>
  return %0, %1 : tensor<6xf8E5M2>, tensor<6xf8E5M2>
}"""
    x = np.array([-1.5, 0, 0.5, 3, 300, -0.25], ml_dtypes.float8_e5m2)
    square, erf = run(text, x)
    np.testing.assert_array_equal(square.astype(np.float32), np.square(x.astype(np.float32)).astype(x.dtype))
    wanted = [-0.966105, 0, 0.5204999, 0.9999779, 1, -0.2763264]
    np.testing.assert_array_equal(erf.astype(np.float32), np.array(wanted, np.float32).astype(x.dtype))


def test_factors_are_computed_wide() -> None:
    text = """func.func @f(%a: tensor<2x2xf8E4M3FN>, %b: tensor<2x1xf8E4M3FN>)
    -> (tensor<2x2xf8E4M3FN>, tensor<2x1xf8E4M3FN>) {
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<2x2xf8E4M3FN>) -> tensor<2x2xf8E4M3FN>
  %1 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}>
    : (tensor<2x2xf8E4M3FN>, tensor<2x1xf8E4M3FN>) -> tensor<2x1xf8E4M3FN>
  return %0, %1 : tensor<2x2xf8E4M3FN>, tensor<2x1xf8E4M3FN>
}"""
    a = np.array([[4, 2], [2, 10]], ml_dtypes.float8_e4m3fn)
    factor, solved = run(text, a, np.array([[8], [9]], a.dtype))
    np.testing.assert_array_equal(np.tril(factor.astype(np.float32)), [[2, 0], [1, 3]])
    np.testing.assert_array_equal(solved.astype(np.float32), [[2], [0.5]])


def test_conjugates_of_real_numbers() -> None:
    text = """func.func @f(%x: tensor<3xf8E5M2>, %y: tensor<3xf32>) -> (tensor<3xf8E5M2>, tensor<3xf32>) {
  %0 = chlo.conj %x : tensor<3xf8E5M2> -> tensor<3xf8E5M2>
  %1 = chlo.conj %y : tensor<3xf32> -> tensor<3xf32>
  return %0, %1 : tensor<3xf8E5M2>, tensor<3xf32>
}"""
    x, y = np.array([-1.5, 0, 3], ml_dtypes.float8_e5m2), np.array([-1.5, -0.0, 3], np.float32)
    same, other = run(text, x, y)
    np.testing.assert_array_equal(same.view(np.uint8), x.view(np.uint8))
    np.testing.assert_array_equal(other.view(np.uint32), y.view(np.uint32))
