"""Cumulative windows that are carried: complex numbers, regions of several ops, several operands, long lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

jax = pytest.importorskip("jax", reason="its text is what is compiled")
lax, jnp = jax.lax, jax.numpy

RNG = np.random.default_rng(4)
SHAPES = [((17,), 0), ((130, 3), 0), ((40, 50), 0), ((5, 60), 1), ((3, 70, 2, 9), 1), ((2, 33, 65), 1), ((70_001,), 0)]


def complexes(shape: tuple[int, ...]) -> np.ndarray:
    values = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)
    return (values / np.abs(values)).astype(np.complex64)


def call(program: Callable[..., Any], *values: np.ndarray) -> Any:
    loaded: Any = rt.load(tiree.compile(jax.jit(program).lower(*values).as_text()))
    return loaded.main(*values)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_complex(shape: tuple[int, ...], dim: int, reverse: bool) -> None:
    def program(v: Any) -> Any:
        return lax.cumsum(v, dim, reverse=reverse)

    x = complexes(shape)
    got = np.asarray(call(program, x))
    wide = np.flip(x, dim).astype(np.complex128) if reverse else x.astype(np.complex128)
    want = np.cumsum(wide, dim)
    np.testing.assert_allclose(got, np.flip(want, dim) if reverse else want, atol=1e-6 * shape[dim] ** 0.5 * 4)


@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_logsumexp(shape: tuple[int, ...], dim: int) -> None:
    def program(v: Any) -> Any:
        return lax.cumlogsumexp(v, dim)

    x = RNG.standard_normal(shape).astype(np.float32)
    got = np.asarray(call(program, x))
    np.testing.assert_allclose(got, np.log(np.cumsum(np.exp(x.astype(np.float64)), dim)), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape", [(40, 50), (70_001,)], ids=str)
def test_several_operands(shape: tuple[int, ...], reverse: bool) -> None:
    """The greatest so far and where it was; and affine maps, which do not commute."""
    size = shape[0]
    x, places = RNG.integers(0, 9, shape).astype(np.int32), np.indices(shape)[0].astype(np.int32)
    pads = [(0, size - 1) if reverse else (size - 1, 0), *[(0, 0)] * (len(shape) - 1)]
    window, ones = (size, *[1] * (len(shape) - 1)), (1,) * len(shape)

    def later(a: Any, b: Any) -> Any:
        better = (b[0] > a[0]) | ((b[0] == a[0]) & (b[1] < a[1]))
        return jnp.where(better, b[0], a[0]), jnp.where(better, b[1], a[1])

    def program(v: Any, at: Any) -> Any:
        start = (np.int32(-1), np.int32(size))
        return lax.reduce_window((v, at), start, later, window, ones, pads)

    got = [np.asarray(one) for one in call(program, x, places)]
    seen = np.flip(x, 0) if reverse else x
    best = np.maximum.accumulate(seen, 0)
    best = np.flip(best, 0) if reverse else best
    np.testing.assert_array_equal(got[0], best)
    np.testing.assert_array_equal(np.take_along_axis(x, got[1], 0), best)


def test_order_of_what_does_not_commute() -> None:
    """x -> a x + b after one another, forwards."""
    size = 40_000
    a, b = RNG.uniform(0.5, 0.99, size).astype(np.float32), RNG.standard_normal(size).astype(np.float32)

    def after(first: Any, second: Any) -> Any:
        return first[0] * second[0], first[1] * second[0] + second[1]

    def program(p: Any, q: Any) -> Any:
        return lax.reduce_window((p, q), (np.float32(1), np.float32(0)), after, (size,), (1,), [(size - 1, 0)])

    got = np.asarray(call(program, a, b)[1])
    state, want = 0.0, np.empty(size)
    for n in range(size):
        state = want[n] = state * float(a[n]) + float(b[n])
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
