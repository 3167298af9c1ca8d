"""Fourier transforms of all kinds and many lengths, as JAX writes them, against numpy in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

jax = pytest.importorskip("jax", reason="its text is what is compiled")
jnp = jax.numpy

RNG = np.random.default_rng(9)
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 12, 17, 22, 64, 97, 1000, 4096]


def numbers(*shape: int, dtype: Any) -> np.ndarray:
    a = RNG.standard_normal(shape)
    return (a + 1j * RNG.standard_normal(shape) if np.issubdtype(dtype, np.complexfloating) else a).astype(dtype)


def check(functions: list[tuple[Callable[..., Any], Callable[..., Any], np.ndarray]], double: bool = False) -> None:
    """Each with jax's functions and with numpy's, in one program."""
    args = [arg for _, _, arg in functions]
    with jax.enable_x64(double):
        text = jax.jit(lambda *xs: [f(x) for (f, _, _), x in zip(functions, xs, strict=True)]).lower(*args).as_text()
    results = rt.load(tiree.compile(text)).main(*args)
    results = results if isinstance(results, (tuple, list)) else [results]
    for (_, reference, arg), got in zip(functions, results, strict=True):
        wide = arg.astype(np.complex128 if np.iscomplexobj(arg) else np.float64)
        want, values = reference(wide), np.asarray(got)
        assert values.shape == want.shape
        eps = float(np.finfo(values.dtype).eps)
        np.testing.assert_allclose(values, want, rtol=0, atol=8 * eps * max(np.abs(want).max(initial=0), 1e-300))


@pytest.mark.parametrize("n", LENGTHS)
def test_lines(n: int) -> None:
    pair, half = numbers(3, n, dtype=np.complex64), numbers(2, n // 2 + 1, dtype=np.complex64)
    check(
        [
            (jnp.fft.fft, np.fft.fft, pair),
            (jnp.fft.ifft, np.fft.ifft, pair),
            (jnp.fft.rfft, np.fft.rfft, numbers(5, n, dtype=np.float32)),
            (lambda x: jnp.fft.irfft(x, n), lambda x: np.fft.irfft(x, n), half),
        ]
    )


def along(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: function(x, axes=(1, 2, 3))


def test_several_dimensions() -> None:
    pair, real = numbers(2, 4, 7, 8, dtype=np.complex64), numbers(2, 4, 7, 8, dtype=np.float32)
    check(
        [
            (jnp.fft.fft2, np.fft.fft2, numbers(2, 6, 10, dtype=np.complex64)),
            (jnp.fft.ifft2, np.fft.ifft2, numbers(34, 3, dtype=np.complex64)),
            (along(jnp.fft.fftn), along(np.fft.fftn), pair),
            (along(jnp.fft.rfftn), along(np.fft.rfftn), real),
            (along(jnp.fft.irfftn), along(np.fft.irfftn), pair),
            (lambda x: jnp.fft.fft(x, axis=0), lambda x: np.fft.fft(x, axis=0), numbers(6, 10, dtype=np.complex64)),
        ]
    )


def test_double_precision() -> None:
    check(
        [
            (jnp.fft.fft, np.fft.fft, numbers(2, 360, dtype=np.complex128)),
            (jnp.fft.rfft, np.fft.rfft, numbers(2, 101, dtype=np.float64)),
            (lambda x: jnp.fft.irfft(x, 30), lambda x: np.fft.irfft(x, 30), numbers(16, dtype=np.complex128)),
        ],
        double=True,
    )


def test_without_lines() -> None:
    check([(jnp.fft.fft, np.fft.fft, numbers(0, 4, dtype=np.complex64))])


def test_an_impulse_is_exact() -> None:
    """Its transform is all ones, whatever the factors of the length."""
    for n in (30, 64, 17):
        a = np.zeros(n, np.float32)
        a[0] = 1
        got = np.asarray(rt.load(tiree.compile(jax.jit(jnp.fft.rfft).lower(a).as_text())).main(a))
        np.testing.assert_allclose(got, np.ones(n // 2 + 1), atol=0 if n != 17 else 3e-7)
