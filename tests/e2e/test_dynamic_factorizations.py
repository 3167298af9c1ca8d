"""Factorizations, solutions and transforms of matrices and lines whose number or size only the run knows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from tiree.support.errors import CompileError

Array = np.ndarray

RNG = np.random.default_rng(29)

SOLVES = list(itertools.product((True, False), (True, False), ("NO_TRANSPOSE", "ADJOINT")))


def solve(number: int) -> str:
    left, lower, transpose = SOLVES[number]
    matrix = "tensor<?x?x?xf32>"
    return f"""func.func @solve{number}(%a: {matrix}, %b: {matrix}) -> {matrix} {{
  %0 = "stablehlo.triangular_solve"(%a, %b) <{{left_side = {str(left).lower()}, lower = {str(lower).lower()},
    unit_diagonal = false, transpose_a = #stablehlo<transpose {transpose}>}}> : ({matrix}, {matrix}) -> {matrix}
  return %0 : {matrix}
}}
"""


PROGRAM = (
    "".join(solve(number) for number in range(len(SOLVES)))
    + """
func.func @lower(%a: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
func.func @upper(%a: tensor<?x?x5x5xcomplex<f64>>) -> tensor<?x?x5x5xcomplex<f64>> {
  %0 = "stablehlo.cholesky"(%a) <{lower = false}> : (tensor<?x?x5x5xcomplex<f64>>) -> tensor<?x?x5x5xcomplex<f64>>
  return %0 : tensor<?x?x5x5xcomplex<f64>>
}
func.func @few(%a: tensor<?x7x7xf64>, %b: tensor<?x7x2xf64>) -> tensor<?x7x2xf64> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<?x7x7xf64>, tensor<?x7x2xf64>) -> tensor<?x7x2xf64>
  return %0 : tensor<?x7x2xf64>
}
func.func @fft(%a: tensor<?x3x?xcomplex<f32>>) -> tensor<?x3x12xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = FFT, length = [12] : (tensor<?x3x?xcomplex<f32>>) -> tensor<?x3x12xcomplex<f32>>
  return %0 : tensor<?x3x12xcomplex<f32>>
}
func.func @ifft(%a: tensor<?x6x17xcomplex<f64>>) -> tensor<?x6x17xcomplex<f64>> {
  %0 = stablehlo.fft %a, type = IFFT, length = [6, 17]
    : (tensor<?x6x17xcomplex<f64>>) -> tensor<?x6x17xcomplex<f64>>
  return %0 : tensor<?x6x17xcomplex<f64>>
}
func.func @rfft(%a: tensor<?x?x8x10xf32>) -> tensor<?x?x8x6xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = RFFT, length = [8, 10] : (tensor<?x?x8x10xf32>) -> tensor<?x?x8x6xcomplex<f32>>
  return %0 : tensor<?x?x8x6xcomplex<f32>>
}
func.func @irfft(%a: tensor<?x6xcomplex<f32>>) -> tensor<?x11xf32> {
  %0 = stablehlo.fft %a, type = IRFFT, length = [11] : (tensor<?x6xcomplex<f32>>) -> tensor<?x11xf32>
  return %0 : tensor<?x11xf32>
}
"""
)


def matrices(*shape: int, complex: bool = False) -> Array:
    """Random ones that are not nearly singular."""
    a = RNG.standard_normal(shape)
    a = a + 1j * RNG.standard_normal(shape) if complex else a
    return a / max(1, shape[-1]) + 2 * np.eye(shape[-1])


def positive(*shape: int, complex: bool = False) -> Array:
    a = matrices(*shape, complex=complex)
    return a @ np.swapaxes(a, -1, -2).conj()


def solved(a: Array, b: Array, number: int) -> Array:
    left, lower, transpose = SOLVES[number]
    a = np.tril(a) if lower else np.triu(a)
    a = np.swapaxes(a, -1, -2) if (transpose == "ADJOINT") == left else a
    if left:
        return np.linalg.solve(a, b)
    return np.swapaxes(np.linalg.solve(a, np.swapaxes(b, -1, -2)), -1, -2)


@pytest.fixture(scope="module", params=["tiree", pytest.param("iree", marks=iree.needs_iree)])
def loaded(request: pytest.FixtureRequest) -> Any:
    """From Tiree's compiler, and from IREE's, which goes on from phase `input`."""
    if request.param == "tiree":
        return rt.load(tiree.compile(PROGRAM))
    text = bytes(tiree.compile(PROGRAM, flags=["--compile-to=input"])).decode()
    return rt.load(iree.compile_text(text, compile_from="input"))


@pytest.mark.parametrize(("count", "size"), [(0, 3), (3, 0), (1, 1), (2, 17), (5, 4), (1, 100)])
def test_cholesky(loaded: Any, count: int, size: int) -> None:
    a = positive(count, size, size).astype(np.float32)
    np.testing.assert_allclose(np.asarray(loaded.lower(a)), np.linalg.cholesky(a), rtol=2e-4, atol=2e-5)
    b = positive(count, 2, 5, 5, complex=True)
    got = np.asarray(loaded.upper(b))
    np.testing.assert_allclose(got, np.swapaxes(np.linalg.cholesky(b), -1, -2).conj(), atol=1e-12)


def test_a_matrix_without_factor(loaded: Any) -> None:
    """It alone is NaN all over."""
    a = positive(3, 4, 4).astype(np.float32)
    a[1] = -a[1]
    got = np.asarray(loaded.lower(a))
    assert np.isnan(got[1]).all()
    assert np.isfinite(got[[0, 2]]).all()


@pytest.mark.parametrize(("count", "n", "m"), [(0, 2, 2), (2, 0, 3), (2, 3, 0), (1, 1, 1), (2, 9, 70), (3, 70, 9)])
def test_triangular_solve(loaded: Any, count: int, n: int, m: int) -> None:
    a = matrices(count, n, n).astype(np.float32)
    for number, (left, _, _) in enumerate(SOLVES):
        b = RNG.standard_normal((count, n, m) if left else (count, m, n)).astype(np.float32)
        got = np.asarray(getattr(loaded, f"solve{number}")(a, b))
        np.testing.assert_allclose(got, solved(a, b, number), rtol=1e-3, atol=1e-4)
    a, b = matrices(count, 7, 7), RNG.standard_normal((count, 7, 2))
    np.testing.assert_allclose(np.asarray(loaded.few(a, b)), np.linalg.solve(np.tril(a), b), atol=1e-12)


@pytest.mark.parametrize("count", [0, 1, 3, 70])
def test_fft(loaded: Any, count: int) -> None:
    def numbers(*shape: int) -> Array:
        return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)

    cases: list[tuple[str, Array, Callable[[Array], Array]]] = [
        ("fft", numbers(count, 3, 12).astype(np.complex64), np.fft.fft),
        ("ifft", numbers(count, 6, 17), np.fft.ifft2),
        ("rfft", RNG.standard_normal((count, 2, 8, 10)).astype(np.float32), np.fft.rfft2),
        ("irfft", numbers(count, 6).astype(np.complex64), lambda a: np.fft.irfft(a, 11)),
    ]
    for name, value, wanted in cases:
        np.testing.assert_allclose(np.asarray(getattr(loaded, name)(value)), wanted(value), atol=2e-5)


def test_sizes_that_do_not_fit() -> None:
    """A transformed dimension of another length, and matrices that are not square, are told when the program runs."""
    loaded: Any = rt.load(tiree.compile(PROGRAM))
    with pytest.raises(Exception, match=r"dimension 2 .*must equal 12 for stablehlo.fft"):
        loaded.fft(np.zeros((2, 3, 11), np.complex64))
    with pytest.raises(Exception, match=r"for stablehlo.cholesky"):
        loaded.lower(np.zeros((2, 3, 4), np.float32))
    with pytest.raises(Exception, match=r"for stablehlo.triangular_solve"):
        loaded.solve0(np.zeros((2, 3, 3), np.float32), np.zeros((2, 4, 3), np.float32))


def jax_programs() -> dict[str, tuple[Callable[..., Any], Sequence[str]]]:
    jax = pytest.importorskip("jax", reason="the programs come from JAX")
    jnp, linalg = jax.numpy, jax.numpy.linalg
    return {
        "cholesky": (lambda a: linalg.cholesky(a @ a.mT + jnp.eye(a.shape[-1])), ["b,n,n"]),
        "solve": (linalg.solve, ["b,n,n", "b,n,3"]),
        "inv": (linalg.inv, ["n,n"]),
        "lu_factor": (jax.scipy.linalg.lu_factor, ["b,n,n"]),
        "solve_triangular": (lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), ["n,n", "n,m"]),
        "qr": (lambda a: jnp.abs(linalg.qr(a)[1]), ["b,6,4"]),
        "eigvalsh": (linalg.eigvalsh, ["b,5,5"]),
        "svd": (lambda a: linalg.svd(a, compute_uv=False), ["b,6,4"]),
        "eigvals": (lambda a: jnp.sort(jnp.abs(linalg.eigvals(a)), -1), ["b,5,5"]),
        "schur": (lambda a: jnp.trace(jax.vmap(jax.scipy.linalg.schur)(a)[0], axis1=1, axis2=2), ["b,5,5"]),
        "large_lu": (lambda a: jax.scipy.linalg.lu_factor(a)[0], ["b,170,170"]),
        "large_qr": (lambda a: jnp.abs(linalg.qr(a)[1]), ["b,170,170"]),
        "fft": (lambda a: jnp.abs(jnp.fft.fft2(a, axes=(0, 2))), ["6,n,8"]),
        # A loop whose sizes are compared behind it, and a reduction over a dimension of size one.
        "histogram": (lambda a: jnp.histogram(a, bins=4, range=(-2, 2))[0], ["n"]),
        "take_along_axis": (lambda a, i: jnp.take_along_axis(a, i.astype(int), 1), ["b,n", "b,m"]),
    }


NAMES = (
    *("cholesky", "solve", "inv", "lu_factor", "solve_triangular", "qr", "eigvalsh", "svd", "eigvals", "schur"),
    *("large_lu", "large_qr", "fft", "histogram", "take_along_axis"),
)


@pytest.mark.parametrize("name", NAMES)
def test_jax(name: str) -> None:
    jax = pytest.importorskip("jax", reason="the programs come from JAX")
    from jax import export

    function, shapes = jax_programs()[name]
    scope = export.SymbolicScope()
    types = [jax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope), np.float32) for text in shapes]
    loaded: Any = rt.load(tiree.compile(export.export(jax.jit(function))(*types).mlir_module()))
    for b, n, m in ((1, 1, 1), (3, 2, 5), (1, 33, 2)):
        values = [
            matrices(*shape) if shape[-1:] == shape[-2:-1] else RNG.standard_normal(shape)
            for shape in ([{"b": b, "n": n, "m": m}.get(s) or int(s) for s in text.split(",")] for text in shapes)
        ]
        inputs = [value.astype(np.float32) for value in values]
        wanted = jax.tree.leaves(jax.jit(function)(*inputs))
        for got, want in zip(jax.tree.leaves(loaded.main(*inputs)), wanted, strict=True):
            np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=2e-3, atol=2e-4)


def test_what_is_not_there() -> None:
    """Refused by name, with the reason."""
    text = """func.func @f(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) {mhlo.backend_config = {}}
    : (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %0#0 : tensor<?x?xf32>
}"""
    with pytest.raises(CompileError, match=r"matrices whose rows or columns are known only when the program runs"):
        tiree.compile(text)
