"""Sums and products of f16 and bf16 are accumulated in f32 and rounded once, in every form that a sum has.

With a rounding after each step, a sum of ones in f16 would stop at 2048 and in bf16 at 256. Values are numpy's in f64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiree

jax = pytest.importorskip("jax", reason="programs come from JAX")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

VMVX = "--iree-hal-local-target-device-backends=vmvx"
TYPES = {"f16": jnp.float16, "bf16": jnp.bfloat16}
LENGTH = 20_000

Function = Callable[[Any], Any]


def reduced(x: Any, dims: tuple[int, ...]) -> Any:
    return lax.reduce(x, x.dtype.type(0), lax.add, dims)


def windowed(x: Any) -> Any:
    return lax.reduce_window(x, x.dtype.type(0), lax.add, (9000,), (1000,), "VALID")


SUMS: dict[str, tuple[Function, Function]] = {
    "whole": (lambda x: reduced(x, (0,)), lambda x: x.sum()),
    "rows": (lambda x: reduced(x.reshape(2, -1), (1,)), lambda x: x.reshape(2, -1).sum(1)),
    "columns": (lambda x: reduced(x.reshape(-1, 4), (0,)), lambda x: x.reshape(-1, 4).sum(0)),
    "windows": (windowed, lambda x: np.lib.stride_tricks.sliding_window_view(x, 9000)[::1000].sum(1)),
    "cumulative": (lambda x: lax.cumsum(x, 0), lambda x: np.cumsum(x)),
    "cumulative columns": (lambda x: lax.cumsum(x.reshape(-1, 8), 0), lambda x: np.cumsum(x.reshape(-1, 8), 0)),
    "from the end": (lambda x: lax.cumsum(x, 0, reverse=True), lambda x: np.cumsum(x[::-1])[::-1]),
}


def run(function: Function, x: np.ndarray, *flags: str) -> np.ndarray:
    text = jax.jit(function).lower(x).as_text()
    return np.asarray(tiree.load(tiree.compile(text, flags=list(flags))).main(x))


EXPONENTIALS: dict[str, tuple[Function, Function]] = {
    "cumulative": (lambda x: lax.cumlogsumexp(x, 0), lambda x: np.logaddexp.accumulate(x)),
    "from the end": (
        lambda x: lax.cumlogsumexp(x.reshape(2, -1), 1, reverse=True),
        lambda x: np.logaddexp.accumulate(x.reshape(2, -1)[:, ::-1], 1)[:, ::-1],
    ),
    "reduced": (
        lambda x: lax.reduce(x, x.dtype.type(-jnp.inf), lambda a, b: jnp.logaddexp(a, b), (0,)),
        lambda x: np.logaddexp.reduce(x),
    ),
    "sums of magnitudes": (
        lambda x: lax.reduce(x, x.dtype.type(0), lambda a, b: abs(a) + abs(b), (0,)),
        lambda x: np.abs(x).sum(),
    ),
}


@pytest.mark.parametrize("place", ["device", "vmvx"])
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", EXPONENTIALS)
def test_what_is_computed_from_sums_goes_on_too(name: str, element: str, place: str) -> None:
    function, exact = EXPONENTIALS[name]
    x = np.asarray(np.random.default_rng(6).uniform(-1, 1, 3000)).astype(TYPES[element])
    x[[5, 77]] = -np.inf if name != "sums of magnitudes" else 0
    got = run(function, x, *([VMVX] if place == "vmvx" else [])).astype(np.float64)
    step = float(jnp.finfo(TYPES[element]).eps)
    np.testing.assert_allclose(got, exact(x.astype(np.float64)), rtol=0.51 * step, atol=0.01 * step + 3000 * 2.0**-24)


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", SUMS)
def test_sums_go_on_beyond_the_precision_of_their_type(name: str, element: str) -> None:
    function, exact = SUMS[name]
    x = np.asarray(np.random.default_rng(5).uniform(0.5, 1.5, LENGTH)).astype(TYPES[element])
    got = run(function, x).astype(np.float64)
    step = float(jnp.finfo(TYPES[element]).eps)
    np.testing.assert_allclose(got, exact(x.astype(np.float64)), rtol=0.51 * step + LENGTH * 2.0**-24)


@pytest.mark.parametrize("element", TYPES)
def test_sums_in_bytecode(element: str) -> None:
    x = np.ones(3000, TYPES[element])
    assert run(lambda x: reduced(x, (0,)), x, VMVX) == np.float32(3000).astype(TYPES[element])


@pytest.mark.parametrize("element", TYPES)
def test_products(element: str) -> None:
    """Each factor changes the product by less than half a step of its type."""
    x = np.full(64, 1 + float(jnp.finfo(TYPES[element]).eps)).astype(TYPES[element])
    half = np.ones(64, TYPES[element])
    half[0] = 1.5
    for factors in (x, half * x):
        got = run(lambda v: lax.reduce(v, v.dtype.type(1), lax.mul, (0,)), factors)
        want = np.prod(factors.astype(np.float64))
        np.testing.assert_allclose(got.astype(np.float64), want, rtol=float(jnp.finfo(TYPES[element]).eps))


@pytest.mark.parametrize("element", TYPES)
def test_an_initial_value_counts_once(element: str) -> None:
    x = np.ones(3000, TYPES[element])
    got = run(lambda v: lax.reduce(v, v[0] * 0.5, lax.add, (0,)), x)
    assert got == np.float32(3000.5).astype(TYPES[element])


@pytest.mark.parametrize("flags", [(), (VMVX,)])
@pytest.mark.parametrize("element", TYPES)
def test_sums_beside_other_results(element: str, flags: tuple[str, ...]) -> None:
    def both(x: Any, dim: int) -> Any:
        one, most = x.dtype.type(0), x.dtype.type(-9)
        return lax.reduce(
            (x, x, x), (one, most, one), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1]), b[2] + a[2]), (dim,)
        )

    x = np.ones((3, 3000), TYPES[element])
    x[1, 7] = 2
    for dim, given in ((1, x), (0, np.ascontiguousarray(x.T))):
        text = jax.jit(lambda v, dim=dim: both(v, dim)).lower(given).as_text()
        found = tiree.load(tiree.compile(text, flags=list(flags))).main(given)
        total = np.array([3000, 3001, 3000], np.float32).astype(TYPES[element])
        for got, want in zip(found, (total, [1, 2, 1], total), strict=True):
            np.testing.assert_array_equal(np.asarray(got).astype(np.float32), np.asarray(want, np.float32))


CAPTURING = {
    "maximum": ("%s = stablehlo.add %p, %q : T\n  %m = stablehlo.maximum %s, %c : T", "%m", 0.0, 66.0),
    "the value": ("%s = stablehlo.add %p, %q : T", "%c", 3.0, 3.0),
    "a choice": ("%s = stablehlo.add %p, %q : T\n  %m = stablehlo.select %k, %s, %c : tensor<i1>, T", "%m", 3.0, 66.0),
}


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", CAPTURING)
def test_bodies_that_use_values_from_outside(name: str, element: str) -> None:
    """They compile: what comes from outside keeps its type."""
    body, returned, outside, wanted = CAPTURING[name]
    text = f"""func.func @main(%a: tensor<66x{element}>, %c: T, %k: tensor<i1>) -> T {{
  %z = stablehlo.constant dense<0.0> : T
  %r = "stablehlo.reduce"(%a, %z) <{{dimensions = array<i64: 0>}}> ({{
  ^bb0(%p: T, %q: T):
  {body}
  stablehlo.return {returned} : T
  }}) : (tensor<66x{element}>, T) -> T
  return %r : T
}}"""
    main = tiree.load(tiree.compile(text.replace("T", f"tensor<{element}>"))).main
    got = main(np.ones(66, TYPES[element]), np.asarray(outside, TYPES[element]), np.asarray(True))
    assert float(np.asarray(got)) == wanted
