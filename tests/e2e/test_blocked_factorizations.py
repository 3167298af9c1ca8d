"""Factorizations of matrices that are large enough to go panel by panel, against numpy and LAPACK."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

jax = pytest.importorskip("jax", reason="its text is what is compiled")

RNG = np.random.default_rng(17)
TYPES = {"f32": np.float32, "c64": np.complex64}


def compiled(program: Callable[..., Any], *values: np.ndarray) -> Callable[..., Any]:
    loaded: Any = rt.load(tiree.compile(jax.jit(program).lower(*values).as_text()))
    return loaded.main


def matrices(shape: tuple[int, ...], element: str) -> np.ndarray:
    a = RNG.standard_normal(shape)
    return (a + 1j * RNG.standard_normal(shape) if element == "c64" else a).astype(TYPES[element])


def factors(packed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L and U of one matrix, in double precision."""
    k = min(packed.shape)
    wide = packed.astype(np.complex128 if np.iscomplexobj(packed) else np.float64)
    return np.tril(wide[:, :k], -1) + np.eye(packed.shape[0], k), np.triu(wide[:k])


@pytest.mark.parametrize(("shape", "element"), [((2, 230, 230), "f32"), ((290, 170), "c64"), ((165, 300), "f32")])
def test_lu(shape: tuple[int, ...], element: str) -> None:
    def program(x: Any) -> Any:
        return jax.lax.linalg.lu(x)

    a = matrices(shape, element)
    packed, pivots, order = (np.asarray(one) for one in compiled(program, a)(a))
    wanted = np.asarray(program(a)[1])
    np.testing.assert_array_equal(pivots, wanted)
    several = [one.reshape(-1, *one.shape[len(shape) - 2 :]) for one in (packed, order, a)]
    for one, rows, given in zip(*several, strict=True):
        lower, upper = factors(one)
        assert np.abs(lower).max() < 1.5
        error = np.abs(lower @ upper - given[rows]).max()
        assert error < 2 * shape[-1] * np.finfo(np.float32).eps


def test_lu_of_a_singular_matrix() -> None:
    """Columns of zeros are no pivots, and the others go on."""

    def program(x: Any) -> Any:
        return jax.lax.linalg.lu(x)

    a = matrices((200, 200), "f32")
    a[:, [3, 40, 190]] = 0
    packed, _, order = (np.asarray(one) for one in compiled(program, a)(a))
    lower, upper = factors(packed)
    np.testing.assert_allclose(lower @ upper, a[order], atol=1e-4)
    assert np.count_nonzero(np.diag(upper)) == 197


def test_panels_work_in_place() -> None:
    """One copy of the argument, whatever the number of panels."""

    def program(x: Any) -> Any:
        return jax.lax.linalg.lu(x)[0]

    source = jax.jit(program).lower(matrices((200, 200), "f32")).as_text()
    stream = bytes(tiree.compile(source, flags=["--compile-to=stream"])).decode()
    assert stream.count("stream.cmd.dispatch") > 10
    assert stream.count("stream.cmd.copy") == 1


@pytest.mark.parametrize(
    ("shape", "element", "mode"),
    [((2, 230, 200), "f32", "reduced"), ((170, 250), "c64", "reduced"), ((210, 165), "f32", "complete")],
)
def test_qr(shape: tuple[int, ...], element: str, mode: str) -> None:
    """Q is unitary, R is LAPACK's up to rounding, signs included."""

    def program(x: Any) -> Any:
        return jax.numpy.linalg.qr(x, mode=mode)

    a = matrices(shape, element)
    q, r = (np.asarray(one) for one in compiled(program, a)(a))
    tolerance = 2 * shape[-1] * float(np.finfo(np.float32).eps)
    np.testing.assert_allclose(q @ r, a, atol=tolerance)
    unit = np.swapaxes(q.conj(), -1, -2) @ q
    np.testing.assert_allclose(unit, np.broadcast_to(np.eye(q.shape[-1]), unit.shape), atol=tolerance)
    np.testing.assert_allclose(r, np.asarray(program(a)[1]), atol=10 * tolerance)


def test_ill_conditioned_systems() -> None:
    """The residual is no larger than LAPACK's in the same precision (numpy's solve computes in double precision)."""

    def program(a: Any, b: Any) -> Any:
        return jax.numpy.linalg.solve(a, b)

    left, _ = np.linalg.qr(RNG.standard_normal((256, 256)))
    right, _ = np.linalg.qr(RNG.standard_normal((256, 256)))
    b = RNG.standard_normal((256, 9)).astype(np.float32)
    main = compiled(program, left.astype(np.float32), b)
    ratios: list[float] = []
    for condition in (1e2, 1e4, 1e6):
        a = (left * np.geomspace(1, 1 / condition, 256) @ right).astype(np.float32)
        mine, theirs = (
            float(np.abs(a.astype(np.float64) @ x - b).max() / (np.abs(a).sum(1).max() * np.abs(x).max()))
            for x in (np.asarray(main(a, b)), np.asarray(program(a, b)))
        )
        assert mine < 2 * np.finfo(np.float32).eps
        ratios.append(mine / theirs)
    assert np.exp(np.mean(np.log(ratios))) < 1.25, ratios
