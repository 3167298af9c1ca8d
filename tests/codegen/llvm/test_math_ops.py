"""The integer and bit-level ops of `math`, and remainders."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from tests.codegen.llvm.ops import FAST_NONE, run_op

CPUS = ["host", "generic"]
FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
SPECIAL = [0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 6e-8]


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_bit_counts(bits: int, cpu: str) -> None:
    dtype = np.dtype(f"i{bits // 8}")
    values = np.array([0, 1, -1, 2, 3, 5, 8, -(2 ** (bits - 1))] * 2, dtype)
    unsigned = [int(v) % 2**bits for v in values]
    zeros = [bits - u.bit_length() for u in unsigned]
    trailing = [(u & -u).bit_length() - 1 if u else bits for u in unsigned]
    ones = [u.bit_count() for u in unsigned]
    for op, expected in (("ctlz", zeros), ("cttz", trailing), ("ctpop", ones)):
        for lanes in (0, 8):
            actual = run_op(f"math.{op}", [values], [f"i{bits}"], f"i{bits}", dtype, lanes, cpu=cpu)
            np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(
        run_op("math.absi", [values], [f"i{bits}"], f"i{bits}", dtype, 8, cpu=cpu), np.abs(values)
    )


@pytest.mark.parametrize("type", FLOATS)
def test_signs_and_classes(type: str) -> None:
    values = np.array(SPECIAL * 2).astype(FLOATS[type])
    other = np.array([1.0, -1.0] * 8).astype(FLOATS[type])
    absolute = run_op("math.absf", [values], [type], type, FLOATS[type], 8, FAST_NONE)
    np.testing.assert_array_equal(absolute.astype(float), np.abs(values).astype(float))
    signed = run_op("math.copysign", [values, other], [type, type], type, FLOATS[type], 8, FAST_NONE)
    np.testing.assert_array_equal(np.signbit(signed), np.signbit(other))
    negated = run_op("arith.negf", [values], [type], type, FLOATS[type], 8, FAST_NONE)
    np.testing.assert_array_equal(np.signbit(negated), ~np.signbit(values))
    tiny = float(ml_dtypes.finfo(FLOATS[type]).smallest_normal)
    wide = values.astype(np.float64)
    for op, expected in (
        ("isnan", np.isnan(wide)),
        ("isinf", np.isinf(wide)),
        ("isfinite", np.isfinite(wide)),
        ("isnormal", np.isfinite(wide) & (np.abs(wide) >= tiny)),
    ):
        actual = run_op(f"math.{op}", [values], [type], "i1", np.int8, 8, FAST_NONE)
        np.testing.assert_array_equal(actual, expected.astype(np.int8), op)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("op", ["floor", "ceil", "round", "roundeven", "trunc"])
def test_rounding_to_integers(op: str, type: str, cpu: str) -> None:
    values = np.array(
        [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.49999997, -0.49999997, 3.7, -3.7, 1e10, -1e10, 8388607.5, -0.2,
         np.inf, -np.inf, np.nan, 4503599627370495.5, 1e300, 2.0**23, 2.0**52, -(2.0**63), 1.0, -1.0, 5e-324, 7, 9, 11,
         2.0**31, -(2.0**31)]
    )  # fmt: skip
    with np.errstate(over="ignore"):
        values = values.astype(FLOATS[type])
    wide = values.astype(np.float64)
    with np.errstate(invalid="ignore"):
        away = np.copysign(np.floor(np.abs(wide)) + ((np.abs(wide) - np.floor(np.abs(wide))) >= 0.5), wide)
    table = {"floor": np.floor(wide), "ceil": np.ceil(wide), "roundeven": np.rint(wide), "trunc": np.trunc(wide)}
    expected = table.get(op, away)
    for lanes in (0, 16):
        actual = run_op(f"math.{op}", [values], [type], type, FLOATS[type], lanes, FAST_NONE, cpu)
        np.testing.assert_array_equal(actual.astype(np.float64), expected)
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(actual)[number], np.signbit(expected)[number])


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("type", FLOATS)
def test_remainder_is_exact(type: str, cpu: str) -> None:
    rng = np.random.default_rng(1)
    small = ml_dtypes.finfo(FLOATS[type])
    low, high = math.log2(float(small.smallest_subnormal)), math.log2(float(small.max))
    a = np.exp2(rng.uniform(low, high, 512)) * rng.choice([-1, 1], 512)
    b = np.exp2(rng.uniform(low, high, 512)) * rng.choice([-1, 1], 512)
    a[256:], b[256:] = rng.uniform(-100, 100, 256), rng.uniform(-10, 10, 256)
    special = np.array(SPECIAL)
    x, y = (g.ravel() for g in np.meshgrid(special, special))
    a, b = (np.concatenate(p).astype(FLOATS[type]) for p in ((a, x), (b, y)))
    with np.errstate(all="ignore"):
        expected = np.fmod(a.astype(np.float64), b.astype(np.float64)).astype(FLOATS[type])
    for lanes in (0, 8):
        actual = run_op("arith.remf", [a, b], [type, type], type, FLOATS[type], lanes, FAST_NONE, cpu)
        np.testing.assert_array_equal(actual.astype(np.float64), expected.astype(np.float64))
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(actual)[number], np.signbit(expected)[number])


@pytest.mark.parametrize("type", ["i8", "i32", "i64"])
def test_integer_power_wraps(type: str) -> None:
    dtype = np.dtype(f"i{int(type[1:]) // 8}")
    bases, exponents = (
        g.ravel().astype(dtype) for g in np.meshgrid([-3, -1, 0, 1, 2, 5, 7, 11], [-2, -1, 0, 1, 2, 5, 30, 63])
    )
    expected = []
    for b, e in zip(bases, exponents, strict=True):
        b, e = int(b), int(e)
        if e < 0:
            expected.append({1: 1, -1: -1 if e % 2 else 1}.get(b, 0))
        else:
            expected.append(pow(b, e, 2 ** (8 * dtype.itemsize)))
    expected = np.array(expected, dtype=object)
    wrapped = np.array(
        [
            (v + 2 ** (8 * dtype.itemsize - 1)) % 2 ** (8 * dtype.itemsize) - 2 ** (8 * dtype.itemsize - 1)
            for v in expected
        ]
    )
    for lanes in (0, 8):
        actual = run_op("math.ipowi", [bases, exponents], [type, type], type, dtype, lanes)
        np.testing.assert_array_equal(actual, wrapped.astype(dtype))


def test_float_to_an_integer_power() -> None:
    bases = np.array([2.0, -2.0, 0.5, 3.0, -1.5, 10.0, 0.0, 1.0], np.float32)
    exponents = np.array([3, 5, -2, 0, 3, -3, 2, 7], np.int32)
    actual = run_op("math.fpowi", [bases, exponents], ["f32", "i32"], "f32", np.float32, 8, FAST_NONE)
    np.testing.assert_allclose(actual, np.power(bases.astype(np.float64), exponents), rtol=1e-7)
