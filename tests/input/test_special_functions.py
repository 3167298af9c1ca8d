"""Gamma's derivatives, zeta and Bessel functions against SciPy in double precision and JAX at the edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tiree

special = pytest.importorskip("scipy.special", reason="SciPy, the reference, is not installed")

# Relative to the reference, and absolute beside its zeros.
BOUNDS = {"f16": 2e-3, "bf16": 1e-2, "f32": 2e-6, "f64": 2e-14}
BIG = np.array([1e3, 1e10, np.inf])


def call(op: str, element: str, *values: np.ndarray) -> np.ndarray:
    import ml_dtypes

    kinds: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
    shape = "x".join(map(str, values[0].shape))
    type = f"tensor<{shape}x{element}>"
    names = ", ".join(f"%{i}" for i in range(len(values)))
    arguments = ", ".join(f"%{i}: {type}" for i in range(len(values)))
    types = ", ".join([type] * len(values))
    text = f"""func.func @f({arguments}) -> {type} {{
  %r = {op} {names} : {types} -> {type}
  return %r : {type}
}}"""
    module = tiree.load(tiree.compile(text), device="local-sync")
    with np.errstate(over="ignore"):
        given = [value.astype(kinds[element]) for value in values]
    return np.asarray(module.f(*given))


def check(op: str, element: str, function: Callable[..., Any], *values: np.ndarray, loose: float = 1.0) -> None:
    got = call(op, element, *values)
    with np.errstate(all="ignore"):
        wanted = function(*(value.astype(got.dtype).astype(np.float64) for value in values))
        limit = float(np.finfo(got.dtype).max) if element in ("f32", "f64", "f16") else 3.3e38
        wanted = np.where(np.abs(wanted) > limit, np.copysign(np.inf, wanted), wanted)
    bound = loose * BOUNDS[element]
    np.testing.assert_allclose(got.astype(np.float64), wanted, rtol=bound, atol=bound)


@pytest.mark.parametrize("element", list(BOUNDS))
def test_digamma(element: str) -> None:
    values = np.concatenate([np.linspace(0.01, 20, 400), np.linspace(-3.9, -0.1, 60) + 0.003, BIG])
    check("chlo.digamma", element, special.digamma, values, loose=8)


def test_digamma_at_poles() -> None:
    got = call("chlo.digamma", "f32", np.array([0.0, -1.0, -2.0, -100.0, -np.inf, np.nan]))
    assert np.isnan(got).all()


@pytest.mark.parametrize("element", list(BOUNDS))
def test_bessel(element: str) -> None:
    values = np.concatenate([np.linspace(-30, 30, 1001), [7.999, 8.0, 8.001, -8.0, 1e-30, -0.0, -np.inf, np.nan], BIG])
    check("chlo.bessel_i1e", element, special.i1e, values)


@pytest.mark.parametrize("element", list(BOUNDS))
def test_zeta(element: str) -> None:
    x, q = np.meshgrid([1.125, 1.5, 2.0, 3.0, 7.5, 20.0, 45.0], [0.25, 0.5, 1.0, 1.5, 3.0, 12.0, 100.0])
    check("chlo.zeta", element, special.zeta, x.ravel(), q.ravel(), loose=20)


def test_zeta_at_edges() -> None:
    rows: Sequence[tuple[float, float]] = [
        (1.0, 2.0),
        (0.5, 2.0),
        (-3.0, 2.0),
        (2.0, 0.0),
        (2.0, -3.0),
        (3.0, -3.0),
        (2.5, -0.5),
        (2.0, -0.5),
        (3.0, -1.5),
        (np.inf, 2.0),
        (2.0, np.inf),
        (np.nan, 2.0),
    ]
    x, q = (np.array(column) for column in zip(*rows, strict=True))
    expected = np.array(
        [np.inf, np.nan, np.nan, np.inf, np.inf, np.nan, np.nan, 8.934802, 0.11877, 0.0, 0.0, np.nan],
    )
    # The sum of (q + k)^-x with the terms of k = 0, 1 split off.
    expected[7] = 4 + special.zeta(2.0, 0.5)
    expected[8] = -(1.5**-3) - 8 + special.zeta(3.0, 0.5)
    np.testing.assert_allclose(call("chlo.zeta", "f64", x, q), expected, rtol=1e-13)


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_polygamma(element: str) -> None:
    n, x = np.meshgrid([0.0, 1.0, 2.0, 5.0, 10.0], [0.25, 0.5, 1.0, 1.4375, 3.0, 12.0, 100.0])
    check("chlo.polygamma", element, special.polygamma, n.ravel(), x.ravel(), loose=100)


def test_polygamma_of_orders_that_are_none() -> None:
    got = call("chlo.polygamma", "f32", np.array([-1.0, 0.5, np.nan]), np.array([2.0, 2.0, 2.0]))
    assert np.isnan(got).all()


def test_erfc_has_the_numbers_of_kernels() -> None:
    """Stages import nothing of each other, so the polynomial of `math.erfc` is written twice."""
    from tiree.codegen.math.coefficients import ERFC_F64
    from tiree.input.lowering import special_functions

    assert tuple(reversed(ERFC_F64)) == special_functions._ERFC_DOUBLE
