"""Eigenvalues, Schur forms and singular values of very large and very small matrices: those of usual ones, scaled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

jax = pytest.importorskip("jax", reason="its text is what is compiled")
jnp = jax.numpy

SCALES = [
    *((np.float32, power) for power in (-149, -126, -60, 60, 122)),
    *((np.float64, power) for power in (-1074, -600, 520, 1015)),
    (np.complex64, 122),
]


def matrices(dtype: Any, power: int) -> tuple[Any, Any]:
    """A matrix of small integers, and the same times a power of two, which is exact."""
    rng = np.random.default_rng(3)
    a = rng.integers(-9, 10, (5, 5)).astype(dtype)
    if np.issubdtype(dtype, np.complexfloating):
        a = a + dtype(1j) * rng.integers(-9, 10, (5, 5)).astype(dtype)
    return a, a * dtype(2.0 ** (power // 2)) * dtype(2.0 ** (power - power // 2))


def run(function: Callable[..., Any], a: Any) -> list[Any]:
    with jax.enable_x64(a.dtype == np.float64):
        text = jax.jit(function).lower(a).as_text()
    result = rt.load(tiree.compile(text)).main(a)
    return [np.asarray(value) for value in (result if isinstance(result, (tuple, list)) else [result])]


def usual(values: Any, power: int) -> Any:
    """Values of the scaled matrix as those of the other one, in double precision."""
    wide = values.astype(np.complex128)
    # In two steps: 2 ** 1074 is no number.
    return wide * 2.0 ** -(power // 2) * 2.0 ** -(power - power // 2)


def tolerance(a: Any, dtype: Any, power: int) -> float:
    """Of matrices near `a`: of rounding, and of results that are rounded to subnormal numbers."""
    info = np.finfo(dtype)
    return 100 * float(info.eps) * float(np.abs(a).max()) + 4 * 2.0 ** max(info.minexp - info.nmant - power, -1000)


@pytest.mark.parametrize(("dtype", "power"), SCALES, ids=str)
def test_eigenvalues(dtype: Any, power: int) -> None:
    a, scaled = matrices(dtype, power)
    w, v = run(lambda x: tuple(jax.lax.linalg.eig(x, compute_left_eigenvectors=False)), scaled)
    bound = tolerance(a, dtype, power)
    np.testing.assert_allclose(a @ v, v * usual(w, power), atol=bound)
    np.testing.assert_allclose(np.linalg.norm(v, axis=0), np.ones(5), atol=100 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize(("dtype", "power"), SCALES, ids=str)
def test_schur_forms(dtype: Any, power: int) -> None:
    a, scaled = matrices(dtype, power)
    t, z = run(lambda x: jax.lax.linalg.schur(x), scaled)
    bound = tolerance(a, dtype, power)
    np.testing.assert_allclose(z @ usual(t, power) @ z.conj().T, a, atol=bound)


@pytest.mark.parametrize(("dtype", "power"), SCALES, ids=str)
def test_symmetric_eigenvalues(dtype: Any, power: int) -> None:
    a, scaled = (one + one.conj().T for one in matrices(dtype, power))
    v, w = run(lambda x: tuple(jax.lax.linalg.eigh(x, symmetrize_input=False)), scaled)
    bound = tolerance(a, dtype, power)
    np.testing.assert_allclose(v * usual(w, power) @ v.conj().T, a, atol=bound)
    alone = run(lambda x: jnp.linalg.eigvalsh(x, symmetrize_input=False), scaled)[0]
    np.testing.assert_allclose(usual(alone, power).real, np.linalg.eigvalsh(a.astype(np.complex128)), atol=bound)


@pytest.mark.parametrize(("dtype", "power"), SCALES, ids=str)
def test_singular_values(dtype: Any, power: int) -> None:
    a, scaled = matrices(dtype, power)
    u, s, vh = run(lambda x: tuple(jnp.linalg.svd(x)), scaled)
    bound = tolerance(a, dtype, power)
    np.testing.assert_allclose((u * usual(s, power)) @ vh, a, atol=bound)


def not_finite(size: int, dtype: Any, value: float) -> np.ndarray:
    """Two symmetric matrices, the second with one pair of elements that are not finite."""
    a = np.random.default_rng(size).standard_normal((2, size, size))
    a = a + a.transpose(0, 2, 1)
    a[1, 0, size - 1] = a[1, size - 1, 0] = value
    return a.astype(dtype)


NO_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "eigvalsh": lambda x: jnp.linalg.eigvalsh(x),
    "eigh": lambda x: jnp.linalg.eigh(x),
    "eigvals": lambda x: jnp.linalg.eigvals(x),
    "eig": lambda x: jnp.linalg.eig(x),
    "svdvals": lambda x: jnp.linalg.svd(x, compute_uv=False),
    "svd": lambda x: jnp.linalg.svd(x),
    "schur": lambda x: jax.lax.linalg.schur(x),
}


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("name", NO_NUMBERS)
def test_matrices_that_are_not_finite_have_no_values(name: str, dtype: Any) -> None:
    """All NaN, as JAX says of what LAPACK fails on; the matrix beside it in the batch keeps its own."""
    for size in (1, 5, 40):
        a = not_finite(size, dtype, 1.0)
        with jax.enable_x64(dtype is np.complex128):
            main = rt.load(tiree.compile(jax.jit(NO_NUMBERS[name]).lower(a).as_text())).main

        def results(values: np.ndarray, main: Any = main) -> list[np.ndarray]:
            found = main(values)
            return [np.asarray(value) for value in (found if isinstance(found, (tuple, list)) else [found])]

        usual = results(a)
        for value in (np.nan, np.inf, -np.inf):
            for result, other in zip(results(not_finite(size, dtype, value)), usual, strict=True):
                assert np.isnan(result[1]).all(), (size, value)
                assert np.isfinite(other).all()
                np.testing.assert_array_equal(result[0], other[0])


def test_the_triangle_that_is_not_meant_may_hold_anything() -> None:
    a = not_finite(5, np.float32, 0.0)[0]
    spoilt = np.tril(a) + np.triu(np.full_like(a, np.nan), 1)
    spoilt[np.tril_indices(5)] = a[np.tril_indices(5)]
    (got,) = run(lambda x: jax.lax.linalg.eigh(x, symmetrize_input=False, lower=True)[1], spoilt)
    np.testing.assert_allclose(got, np.linalg.eigvalsh(a.astype(np.float64)), rtol=1e-5, atol=1e-5)
