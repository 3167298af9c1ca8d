"""Accuracy of the elementary functions, on this machine and on plain x86-64, and their exact and special values.

`measure.py` says how errors are counted; `docs/reference/math_accuracy.md` holds the table of a long run.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from tiree.codegen.math.functions import short_functions

from tests.codegen.llvm.ops import FAST_NONE, run_op
from tests.codegen.math.measure import BINARY, CASES, SLOW, evaluate, max_ulp

LIMITS = {"f32": 2.0, "f64": 4.0}
INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("cpu", ["host", "generic"])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", CASES)
def test_error_is_within_the_documented_bound(name: str, bits: int, cpu: str) -> None:
    count = 1024 if name in SLOW else 16384
    worst, arguments = max_ulp(name, bits, count, cpu)
    assert worst <= LIMITS[f"f{bits}"], f"{name}{arguments} is off by {worst:.2f} ulp"


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", [name for name in CASES if name not in BINARY])
def test_special_arguments(name: str, bits: int) -> None:
    dtype = np.float32 if bits == 32 else np.float64
    tiny = np.finfo(dtype).smallest_subnormal
    arguments = np.array(
        [0.0, -0.0, INF, -INF, NAN, tiny, -tiny, 1.0, -1.0, 2.0, -2.0, 1e5, -1e5, 1e30, -1e30, 0.5], dtype
    )
    reference = CASES[name][0]
    with np.errstate(all="ignore"):
        wide = arguments if name in SLOW else arguments.astype(np.longdouble)
        expected = (_slow(name, arguments) if name in SLOW else reference(wide)).astype(dtype)
    actual = evaluate(name, [arguments])
    np.testing.assert_allclose(actual, expected, rtol=4 * float(np.finfo(dtype).eps), atol=0)
    zero = expected == 0
    if name != "rsqrt":
        np.testing.assert_array_equal(np.signbit(actual[zero]), np.signbit(expected[zero]))


def _slow(name: str, arguments: np.ndarray) -> np.ndarray:
    """erf and erfc by the C library, which takes infinities and NaN."""
    import math

    return np.array([getattr(math, name)(float(x)) for x in arguments])


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", BINARY)
def test_special_pairs(name: str, bits: int) -> None:
    dtype = np.float32 if bits == 32 else np.float64
    values = np.array(
        [
            0.0,
            -0.0,
            1.0,
            -1.0,
            INF,
            -INF,
            NAN,
            2.0,
            -2.0,
            3.0,
            -3.0,
            0.5,
            -0.5,
            1e30,
            -1e30,
            2.5,
            1e-30,
            -1e-30,
            7.0,
            1e10,
        ],
        dtype,
    )
    first, second = (grid.ravel() for grid in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        expected = CASES[name][0](first.astype(np.longdouble), second.astype(np.longdouble)).astype(dtype)
    actual = evaluate(name, [first, second])
    np.testing.assert_allclose(actual, expected, rtol=4 * float(np.finfo(dtype).eps), atol=0)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(actual)[number], np.signbit(expected)[number])


@pytest.mark.parametrize("bits", [32, 64])
def test_integer_powers_are_exact(bits: int) -> None:
    dtype = np.float32 if bits == 32 else np.float64
    bases, exponents = (g.ravel().astype(dtype) for g in np.meshgrid(np.arange(1, 17), np.arange(-3, 5)))
    actual = evaluate("powf", [bases, exponents])
    whole = exponents >= 0
    np.testing.assert_array_equal(actual[whole], (bases.astype(np.float64) ** exponents)[whole].astype(dtype))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@pytest.mark.parametrize("bits", [32, 64])
def test_huge_arguments_near_multiples_of_a_quarter_turn(name: str, bits: int) -> None:
    import mpmath

    dtype = np.float32 if bits == 32 else np.float64
    values = [1e5, 1e30, 3.4e38, 16367173.0 * 2.0**72] if bits == 32 else [6381956970095103.0 * 2.0**797, 1e300, 1e22]
    near = [float(dtype(k * np.pi / 2)) for k in (1, 2, 3, 1000, 1000001, 10**7 + 1)]
    arguments = np.resize(np.array([*values, *near], dtype), 16)
    actual = evaluate(name, [arguments])
    with mpmath.workprec(1400):
        expected = [float(getattr(mpmath, name)(mpmath.mpf(float(x)))) for x in arguments]
    np.testing.assert_allclose(actual, np.array(expected), rtol=4 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("lanes", [0, 1, 3, 4, 16, 24, 32, 48])
@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "erf"])
def test_every_width_gives_the_same_bits(name: str, lanes: int) -> None:
    count = 96
    values = np.random.default_rng(0).uniform(0.1, 3e6, count).astype(np.float32)
    actual = run_op(f"math.{name}", [values], ["f32"], "f32", np.float32, lanes, FAST_NONE)
    expected = run_op(f"math.{name}", [values], ["f32"], "f32", np.float32, 8, FAST_NONE)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("type", ["f16", "bf16"])
@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "erf", "rsqrt", "atan"])
def test_small_floats_are_nearly_correctly_rounded(name: str, type: str) -> None:
    dtype = np.float16 if type == "f16" else ml_dtypes.bfloat16
    values = np.arange(0, 0x7C00 if type == "f16" else 0x7F80, dtype=np.uint16).view(dtype)
    wide = values.astype(np.float64)
    wide = wide[(wide >= 2**-14) & (wide <= 100)]
    values = (wide if name in ("log", "rsqrt") else np.concatenate([wide, np.negative(wide)])).astype(dtype)
    values = np.resize(values, -(-len(values) // 16) * 16)
    reference = CASES[name][0]
    wide = values.astype(np.float64)
    expected = np.asarray(reference(wide), np.float64)
    actual = run_op(f"math.{name}", [values], [type], type, dtype, 16, FAST_NONE).astype(np.float64)
    with np.errstate(over="ignore"):
        infinite = np.isinf(expected.astype(dtype).astype(np.float64))
    np.testing.assert_array_equal(np.isinf(actual), infinite)
    actual, expected = actual[~infinite], expected[~infinite]
    info = ml_dtypes.finfo(dtype)
    unit = np.maximum(2.0 ** np.floor(np.log2(np.maximum(np.abs(expected), 1e-300))), float(info.smallest_normal))
    worst = np.max(np.abs(actual - expected) / (unit * float(info.eps)))
    assert worst <= (0.6 if name in short_functions() else 0.51), f"off by {worst:.3f} ulp"


def test_coefficients_are_what_the_fit_gives() -> None:
    """A few of them: fitting all takes seconds."""
    import mpmath
    from tiree.codegen.math import coefficients

    from tests.codegen.math import fit

    with mpmath.workdps(45):
        for entry in fit.TABLE:
            if entry.name in ("EXP_F32", "SIN_F64", "LOG_SINGLE"):
                found, _ = fit._remez(mpmath, entry)
                assert tuple(fit._rounded(c, entry.width) for c in found) == getattr(coefficients, entry.name)
