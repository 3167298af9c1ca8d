"""What jax.numpy.linalg and jax.scipy.linalg make for CPUs, compiled by Tiree, against JAX itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

jax = pytest.importorskip("jax", reason="the oracle is JAX")
jnp, jsl = jax.numpy, pytest.importorskip("jax.scipy.linalg")

Function = Callable[..., Any]
RNG = np.random.default_rng(8)


def matrix(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    a = RNG.standard_normal(shape)
    return (a + 1j * RNG.standard_normal(shape) if np.issubdtype(dtype, np.complexfloating) else a).astype(dtype)


def adjoint(a: np.ndarray) -> np.ndarray:
    return np.swapaxes(a, -1, -2).conj()


def positive(a: np.ndarray) -> np.ndarray:
    return (a @ adjoint(a) + np.eye(a.shape[-1])).astype(a.dtype)


def run(function: Function, *args: Any) -> list[np.ndarray]:
    with jax.enable_x64(any(np.asarray(a).dtype.itemsize > (8 if np.iscomplexobj(a) else 4) for a in args)):
        text = jax.jit(function).lower(*args).as_text()
    result = rt.load(tiree.compile(text)).main(*args)
    return [np.asarray(value) for value in (result if isinstance(result, (tuple, list)) else [result])]


def expected(function: Function, *args: Any) -> list[np.ndarray]:
    with jax.enable_x64(any(np.asarray(a).dtype.itemsize > (8 if np.iscomplexobj(a) else 4) for a in args)):
        return [np.asarray(value) for value in jax.tree.leaves(jax.jit(function)(*args))]


def check(function: Function, *args: Any, ulps: float = 100) -> None:
    got, want = run(function, *args), expected(function, *args)
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        if other.dtype.kind in "fc":
            size = np.abs(other[np.isfinite(other)]).max(initial=0)
            tolerance = ulps * float(np.finfo(other.dtype).eps)
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * size)
        else:
            np.testing.assert_array_equal(one, other)


SHAPES: list[tuple[int, ...]] = [(1, 1), (0, 0), (2, 17, 17)]
DIRECT: dict[str, Function] = {
    "inv": lambda x: jnp.linalg.inv(x),
    "slogdet": lambda x: jnp.linalg.slogdet(x),
    "lu_factor": lambda x: jax.lax.linalg.lu(x),
    "qr": lambda x: jnp.linalg.qr(x),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", list(DIRECT))
def test_functions_of_a_matrix(name: str, shape: Sequence[int]) -> None:
    check(DIRECT[name], matrix(*shape))


def test_double_precision() -> None:
    check(
        lambda x, y: (jnp.linalg.solve(x, y), jnp.linalg.qr(x)),
        matrix(9, 9, dtype=np.float64),
        matrix(9, 2, dtype=np.float64),
    )


def test_complex_numbers() -> None:
    a, b = matrix(2, 5, 5, dtype=np.complex64), matrix(2, 5, 3, dtype=np.complex64)
    check(lambda x, y, z: (jnp.linalg.solve(x, y), jnp.linalg.qr(y), jnp.linalg.cholesky(z)), a, b, positive(a))


@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (0, 2), (2, 0)], ids=str)
def test_qr_of_any_shape(mode: str, shape: Sequence[int]) -> None:
    check(lambda x: jnp.linalg.qr(x, mode=mode), matrix(*shape))


def test_qr_with_pivots() -> None:
    a = matrix(6, 4)
    q, r, order = run(lambda x: jsl.qr(x, pivoting=True), a)
    np.testing.assert_allclose(q @ r, a[:, order], atol=1e-5)
    np.testing.assert_array_equal(order, expected(lambda x: jsl.qr(x, pivoting=True), a)[2])
    assert (np.diff(np.abs(np.diag(r))) <= 0).all()


def test_cholesky_fails_where_lapack_does() -> None:
    good = positive(matrix(2, 4, 4))
    good[1, 2, 2] = -1
    check(lambda x: (jnp.linalg.cholesky(x), jnp.linalg.cholesky(x, upper=True)), good)


def test_singular_matrices() -> None:
    check(lambda x: (jnp.linalg.solve(x, x[:, 0]), jnp.linalg.det(x)), np.ones((3, 3), np.float32))


def test_solvers() -> None:
    a, b = positive(matrix(33, 33)), matrix(33, 2)
    check(lambda x, y: jsl.cho_solve(jsl.cho_factor(x), y), a, b, ulps=2000)
    check(lambda x, y: jsl.solve_triangular(x, y, lower=True, trans=1), a, b, ulps=2000)
    check(lambda x: jsl.expm(x), matrix(5, 5), ulps=500)


HILBERT = 1 / (np.arange(12)[:, None] + np.arange(12)[None] + 1)
SYMMETRIC = {
    "one": matrix(1, 1),
    "batch": matrix(2, 3, 3),
    "large": matrix(66, 66),
    "complex": matrix(2, 5, 5, dtype=np.complex64),
    "double": matrix(9, 9, dtype=np.float64),
    "zeros": np.zeros((5, 5), np.float32),
    "equal": np.ones((6, 6), np.float32),
    "ill": HILBERT.astype(np.float32),
    "wide range": np.diag([1e-20, 1e20, 1, 3, 1e-10]).astype(np.float32),
}


@pytest.mark.parametrize("name", list(SYMMETRIC))
def test_eigh(name: str) -> None:
    a = SYMMETRIC[name]
    h = (a + adjoint(a)) / 2
    v, w, alone = run(lambda x: (*jnp.linalg.eigh(x)[::-1], jnp.linalg.eigvalsh(x)), a)
    tolerance = 20 * a.shape[-1] * float(np.finfo(a.dtype).eps)
    size = max(float(np.abs(h).max()), 1e-30)
    np.testing.assert_allclose(v * w[..., None, :] @ adjoint(v), h, atol=tolerance * size)
    np.testing.assert_allclose(adjoint(v) @ v, np.broadcast_to(np.eye(a.shape[-1]), a.shape), atol=tolerance)
    for values in (w, alone):
        np.testing.assert_allclose(values, np.linalg.eigvalsh(h.astype(np.complex128)), atol=tolerance * size)


def test_eigh_without_elements_and_with_nan() -> None:
    check(lambda x: jnp.linalg.eigh(x), np.zeros((2, 0, 0), np.float32))
    check(lambda x: jnp.linalg.eigvalsh(x), np.full((3, 3), np.nan, np.float32))


RECTANGULAR = {
    "one": matrix(1, 1),
    "tall": matrix(2, 5, 3),
    "wide": matrix(3, 5),
    "large": matrix(66, 40),
    "complex": matrix(4, 6, dtype=np.complex64),
    "double": matrix(9, 9, dtype=np.float64),
    "zeros": np.zeros((5, 4), np.float32),
    "rank one": np.full((6, 6), 1e30, np.float32),
    "rank two": (matrix(9, 2) @ matrix(2, 9)).astype(np.float32),
    "ill": HILBERT.astype(np.float32),
    "wide range": np.diag([1e-20, 1e20, 1, 3, 1e-10]).astype(np.float32),
}


@pytest.mark.parametrize("name", list(RECTANGULAR))
def test_svd(name: str) -> None:
    a = RECTANGULAR[name]
    u, s, vh, alone = run(
        lambda x: (*jnp.linalg.svd(x, full_matrices=name in ("tall", "wide")), jnp.linalg.svd(x, compute_uv=False)), a
    )
    tolerance = 20 * max(a.shape) * float(np.finfo(a.dtype).eps)
    size, count = max(float(np.abs(a).max()), 1e-30), s.shape[-1]
    np.testing.assert_allclose((u[..., :count] * s[..., None, :]) @ vh[..., :count, :], a, atol=tolerance * size)
    for one in (adjoint(u) @ u, vh @ adjoint(vh)):
        np.testing.assert_allclose(one, np.broadcast_to(np.eye(one.shape[-1]), one.shape), atol=tolerance)
    for values in (s, alone):
        want = np.linalg.svd(a.astype(np.complex128), compute_uv=False)
        np.testing.assert_allclose(values, want, atol=tolerance * size, rtol=tolerance)


def test_svd_without_elements_and_with_nan() -> None:
    check(lambda x: jnp.linalg.svd(x, full_matrices=False), np.zeros((0, 3), np.float32))
    check(lambda x: jnp.linalg.svd(x, full_matrices=True), np.zeros((2, 0), np.float32))
    check(lambda x: jnp.linalg.svd(x, compute_uv=False), np.full((3, 3), np.nan, np.float32))


def test_what_is_made_of_singular_values() -> None:
    a, b = matrix(6, 4), matrix(6, 2)
    check(lambda x: (jnp.linalg.pinv(x), jnp.linalg.matrix_rank(x), jnp.linalg.cond(x)), a)
    check(lambda x, y: jnp.linalg.lstsq(x, y)[:3], a, b)
