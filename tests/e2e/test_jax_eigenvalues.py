"""Eigenvalues and Schur forms of general matrices, tridiagonal forms and systems, top-k: what JAX makes for CPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

jax = pytest.importorskip("jax", reason="the oracle is JAX")
jnp, jsl = jax.numpy, pytest.importorskip("jax.scipy.linalg")

RNG = np.random.default_rng(10)


def matrix(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    a = RNG.standard_normal(shape)
    return (a + 1j * RNG.standard_normal(shape) if np.issubdtype(dtype, np.complexfloating) else a).astype(dtype)


def run(function: Callable[..., Any], *args: Any) -> list[np.ndarray]:
    with jax.enable_x64(any(arg.dtype in (np.float64, np.complex128) for arg in args)):
        text = jax.jit(function).lower(*args).as_text()
    result = rt.load(tiree.compile(text)).main(*args)
    return [np.asarray(value) for value in (result if isinstance(result, (tuple, list)) else [result])]


def same(function: Callable[..., Any], *args: Any, ulps: float = 100) -> None:
    for got, want in zip(run(function, *args), jax.tree.leaves(jax.jit(function)(*args)), strict=True):
        other = np.asarray(want)
        tolerance = ulps * float(np.finfo(other.dtype).eps) if other.dtype.kind in "fc" else 0
        np.testing.assert_allclose(got, other, rtol=tolerance, atol=tolerance * np.abs(other).max(initial=0))


GENERAL = {
    "one": matrix(1, 1),
    "batch": matrix(2, 3, 3),
    "larger": matrix(33, 33),
    "complex": matrix(2, 5, 5, dtype=np.complex64),
    "double": matrix(9, 9, dtype=np.float64),
    "zeros": np.zeros((4, 4), np.float32),
    "equal": np.ones((5, 5), np.float32),
    "defective": np.diag(np.ones(5), 1).astype(np.float32),
    "cycle": np.roll(np.eye(6), 1, 0).astype(np.float32),
}


def distance(found: np.ndarray, wanted: np.ndarray) -> float:
    """From each eigenvalue to the nearest that was found."""
    return max(float(np.abs(found - one).min()) for one in wanted)


@pytest.mark.parametrize("name", list(GENERAL))
def test_eig(name: str) -> None:
    a = GENERAL[name]
    w, v, alone = run(lambda x: (*jnp.linalg.eig(x), jnp.linalg.eigvals(x)), a)
    eps, size = float(np.finfo(a.dtype).eps), max(float(np.abs(a).max()), 1e-30) * a.shape[-1]
    np.testing.assert_allclose(a @ v, v * w[..., None, :], atol=30 * eps * size)
    np.testing.assert_allclose(np.linalg.norm(v, axis=-2), np.ones(w.shape), atol=30 * eps)
    np.testing.assert_array_equal(w, alone)
    if name != "defective":  # Whose eigenvalues move by roots of the error.
        for found, one in zip(w.reshape(-1, w.shape[-1]), a.reshape(-1, *a.shape[-2:]), strict=True):
            assert distance(found, np.linalg.eigvals(one.astype(np.complex128))) <= 300 * eps * size


def test_left_eigenvectors() -> None:
    a = matrix(5, 5)
    w, left = run(lambda x: jax.lax.linalg.eig(x, compute_left_eigenvectors=True, compute_right_eigenvectors=False), a)
    np.testing.assert_allclose(left.conj().T @ a, w[:, None] * left.conj().T, atol=1e-5)


def check_schur(a: np.ndarray, t: np.ndarray, z: np.ndarray) -> None:
    tolerance = 20 * len(a) * float(np.finfo(a.dtype).eps)
    np.testing.assert_allclose(z @ t @ z.conj().T, a, atol=tolerance * max(float(np.abs(a).max()), 1e-30))
    np.testing.assert_allclose(z.conj().T @ z, np.eye(len(a)), atol=tolerance)


REAL = [
    *(matrix(n, n) for n in (1, 2, 5, 17)),
    np.array([[1, 2], [-3, 4]], np.float32),
    np.array([[1, 2], [3, 4]], np.float32),
    np.array([[1, 0], [3, 4]], np.float32),
    GENERAL["defective"].T.copy(),
    GENERAL["cycle"],
]


@pytest.mark.parametrize("number", range(len(REAL)))
def test_real_schur_form(number: int) -> None:
    a = REAL[number]
    t, z = run(lambda x: jsl.schur(x), a)
    check_schur(a, t, z)
    assert not np.tril(t, -2).any()
    below = np.diag(t, -1)
    assert not (below[:-1] * below[1:]).any(), "blocks of more than two rows"
    for i in np.flatnonzero(below):
        assert t[i, i] == t[i + 1, i + 1], "a pair of complex eigenvalues has one real part"
        assert t[i, i + 1] * t[i + 1, i] < 0, "real eigenvalues are on the diagonal"


def test_complex_schur_form_and_roots() -> None:
    a = matrix(7, 7, dtype=np.complex64)
    t, z = run(lambda x: jsl.schur(x, output="complex"), a)
    check_schur(a, t, z)
    assert not np.tril(t, -1).any()
    root = run(
        lambda x: jsl.sqrtm(x), positive := matrix(4, 4) @ np.eye(4, dtype=np.float32) + 6 * np.eye(4, dtype=np.float32)
    )
    np.testing.assert_allclose(root[0] @ root[0], positive, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_forms_of_lapack(dtype: Any) -> None:
    a = matrix(2, 6, 6, dtype=dtype)
    for lower in (True, False):
        same(lambda x, lower=lower: jax.lax.linalg.tridiagonal(x, lower=lower), a)
    same(lambda x: jax.lax.linalg.hessenberg(x), a)


@pytest.mark.parametrize("shape", [(9, 3), (1, 1), (2, 4, 2)], ids=str)
def test_tridiagonal_systems(shape: Sequence[int]) -> None:
    bands = [matrix(*shape[:-1]) for _ in range(3)]
    same(lambda a, b, c, x: jax.lax.linalg.tridiagonal_solve(a, b, c, x), *bands, matrix(*shape), ulps=1000)


def test_rows_are_exchanged_in_tridiagonal_systems() -> None:
    zero, one = np.zeros(4, np.float32), np.ones(4, np.float32)
    same(lambda a, b, c, x: jax.lax.linalg.tridiagonal_solve(a, b, c, x), one, zero, one, matrix(4, 1))


def test_products_with_q() -> None:
    linalg = pytest.importorskip("jax._src.lax.linalg", reason="where JAX keeps it")
    if not hasattr(linalg, "ormqr"):
        pytest.skip("this JAX has no ormqr")
    a, b = matrix(5, 3, dtype=np.complex64), matrix(5, 4, dtype=np.complex64)
    for left in (True, False):
        for transpose in (True, False):
            c = b if left else b.T.copy()
            same(lambda x, y, o=(left, transpose): linalg.ormqr(*linalg.geqrf(x), y, left=o[0], transpose=o[1]), a, c)


def test_approximate_top_k() -> None:
    a = matrix(5, 40)
    same(lambda x: (jax.lax.approx_max_k(x, 3), jax.lax.approx_min_k(x, 3)), a)
    same(lambda x: jax.lax.approx_max_k(x, 2, reduction_dimension=0), a)


def polynomial(*roots: complex, dtype: Any = np.float32) -> np.ndarray:
    """The companion matrix of the polynomial with these roots."""
    factors = np.poly(np.array(roots)).real
    companion = np.diag(np.ones(len(roots) - 1), -1)
    companion[0] = -factors[1:]
    return companion.astype(dtype)


PAIRED = {
    "roots": polynomial(1, 2, 3),
    "roots of f64": polynomial(1, 2, 3, 4, dtype=np.float64),
    "two pairs": polynomial(1 + 2j, 1 - 2j, -3, 0.5j, -0.5j),
    "a double root": polynomial(1, 1),
    "pairs beside each other": polynomial(1j, -1j, 2j, -2j, 1 + 1j, 1 - 1j, dtype=np.float64),
    "draw": matrix(2, 17, 17),
    "draw of f64": matrix(12, 12, dtype=np.float64),
    "small": matrix(7, 7) * np.float32(1e-30),
    "large": matrix(7, 7) * np.float32(1e30),
    "symmetric": (lambda a: a + a.T)(matrix(9, 9)),
    "rotations": np.kron(np.eye(3), [[0.6, -0.8], [0.8, 0.6]]).astype(np.float32),
    "triangular": np.triu(matrix(6, 6)),
    "nan": np.full((3, 3), np.nan, np.float32),
}


@pytest.mark.parametrize("name", list(PAIRED))
def test_real_matrices_have_real_or_conjugate_eigenvalues(name: str) -> None:
    a = PAIRED[name]
    wide = a.astype(np.float64)
    both = {"compute_left_eigenvectors": True}
    w, left, right = run(lambda x: jax.lax.linalg.eig(x, **both), a)
    wanted = np.linalg.eigvals(wide) if name != "nan" else None
    for number in np.ndindex(w.shape[:-1]):
        values, beside = w[number], [left[number], right[number]]
        if wanted is None:
            assert np.isnan(values).all()
            continue
        real, first = values.imag == 0, np.flatnonzero(values.imag > 0)
        # LAPACK's own in f64 say how many there are; those of a double root may come either way.
        if name != "a double root":
            assert np.count_nonzero(real) == np.count_nonzero(wanted[number].imag == 0)
        assert np.count_nonzero(real) + 2 * len(first) == len(values)
        np.testing.assert_array_equal(values[first], values[first + 1].conj())
        for vectors in beside:
            assert not vectors[:, real].imag.any()
            np.testing.assert_array_equal(vectors[:, first], vectors[:, first + 1].conj())
            np.testing.assert_allclose(np.linalg.norm(vectors.astype(np.complex128), axis=0), 1, rtol=1e-6)
        tolerance = 30 * len(values) * float(np.finfo(a.dtype).eps) * float(np.abs(wide).max())
        v, u, one = right[number].astype(np.complex128), left[number].astype(np.complex128), wide[number]
        np.testing.assert_allclose(one @ v, v * values, rtol=0, atol=tolerance)
        np.testing.assert_allclose(u.conj().T @ one, values[:, None] * u.conj().T, rtol=0, atol=tolerance)


def test_roots_are_real() -> None:
    coefficients = np.array([1, -6, 11, -6], np.float32)
    assert run(lambda x: jnp.isreal(jnp.roots(x, strip_zeros=False)), coefficients)[0].all()


@pytest.mark.parametrize("size", [3, 10, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", [jnp.linalg.eig, jsl.schur], ids=["eig", "schur"])
def test_matrices_near_a_multiple_of_the_identity(function: Any, dtype: Any, size: int) -> None:
    """Shifts are differences of nearly equal numbers there."""
    eps = float(np.finfo(dtype).eps)
    main = None
    for power in (1, 2, 4, 8, 16, 64, 1e4):
        a = (5 * np.eye(size) + power * eps * RNG.standard_normal((size, size))).astype(dtype)
        if main is None:
            with jax.enable_x64(dtype is np.float64):
                main = rt.load(tiree.compile(jax.jit(lambda x: function(x)).lower(a).as_text())).main
        first, second = (np.asarray(value) for value in main(a))
        if function is jsl.schur:
            check_schur(a, first, second)
            continue
        exact = np.linalg.eigvals(a.astype(np.float64) - 5 * np.eye(size))
        near = np.sort_complex(first.astype(np.complex128) - 5)
        np.testing.assert_allclose(near.sum(), exact.sum(), atol=40 * size * eps)
        assert distance(near, exact) <= 60 * size * eps
        np.testing.assert_allclose(a @ second, second * first, atol=40 * size * eps)


BADLY_SCALED = [
    *((3, np.float32, scale) for scale in (1e2, 1e6, 1e10)),
    *((8, np.float32, scale) for scale in (1e2, 1e3)),
    *((20, dtype, 8.0) for dtype in (np.float32, np.complex64)),
    *((3, dtype, 1e80) for dtype in (np.float64, np.complex128)),
    *((20, dtype, 1e10) for dtype in (np.float64, np.complex128)),
    (3, np.complex64, 1e6),
]


@pytest.mark.parametrize(("size", "dtype", "scale"), BADLY_SCALED)
def test_badly_scaled_matrices(size: int, dtype: Any, scale: float) -> None:
    """Balanced first, as by LAPACK: without it rows of large numbers hide the small ones."""
    a = (np.diag([scale] * (size - 1), 1) + np.diag([-1 / scale] * (size - 1), -1)).astype(dtype)
    w, left, right = run(lambda x: jax.lax.linalg.eig(x, compute_left_eigenvectors=True), a)
    # Those of ones beside the diagonal.
    exact = 2j * np.cos(np.pi * np.arange(1, size + 1) / (size + 1))
    # LAPACK's are as far off.
    assert distance(w, exact) <= 1e5 * float(np.finfo(dtype).eps) * (1 if size == 20 and scale == 1e10 else 0.01)
    wide, tolerance = a.astype(np.complex128), 1e3 * float(np.finfo(dtype).eps) * scale
    for vectors, matrix, values in ((right, wide, w), (left, wide.conj().T, w.conj())):
        found = vectors.astype(np.complex128)
        np.testing.assert_allclose(np.linalg.norm(found, axis=0), 1, rtol=1e-5)
        np.testing.assert_allclose(matrix @ found, found * values, rtol=0, atol=tolerance)


def test_nilpotent_matrices_have_vectors() -> None:
    for dtype, scale in ((np.float32, 1e18), (np.float64, 1e150), (np.complex64, 1e18)):
        w, v = run(lambda x: jnp.linalg.eig(x), np.diag([scale] * 4, 1).astype(dtype))
        assert not w.any()
        assert np.isfinite(v).all()
        np.testing.assert_allclose(np.linalg.norm(v.astype(np.complex128), axis=0), 1, rtol=1e-5)
