"""Results that are right up to choices: signs and phases of vectors, bases of null spaces, orders of eigenvalues, which
of equal elements is one of the largest. What they must satisfy is checked instead of their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiree.testing.conformance.comparison import TOLERANCES, Array, difference, equal


def _adjoint(a: Array) -> Array:
    return np.conj(np.swapaxes(a, -1, -2))


def _equal(what: str, wanted: Array, got: Array, tolerance: float) -> str | None:
    scale = max(1.0, float(np.abs(wanted).max()) if wanted.size else 1.0)
    error = float(np.abs(got - wanted).max()) if wanted.size else 0.0
    return None if error <= 10 * tolerance * scale * max(1, wanted.shape[-1]) else f"{what} is off by {error:.3g}"


def _orthonormal(name: str, a: Array, tolerance: float) -> str | None:
    product = _adjoint(a) @ a
    return _equal(
        f"the product of {name} with itself", np.broadcast_to(np.eye(a.shape[-1]), product.shape), product, tolerance
    )


def check_symmetric(a: Array, lower: bool, wanted: Sequence[Array], got: Sequence[Array]) -> str | None:
    """Eigenvectors and eigenvalues of a symmetric matrix of which one triangle counts."""
    vectors, values = got
    wrong = difference(wanted[1], values)
    if wrong is not None:
        return f"eigenvalues: {wrong}"
    tolerance = TOLERANCES[wanted[0].dtype.name]
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    diagonal = np.real(np.diagonal(a, axis1=-2, axis2=-1))
    full = half + _adjoint(half) + diagonal[..., None] * np.eye(a.shape[-1])
    wide = np.result_type(vectors.dtype, np.float64)
    v = vectors.astype(wide)
    return _orthonormal("eigenvectors", v, tolerance) or _equal(
        "the matrix times its eigenvectors", v * values[..., None, :], full.astype(wide) @ v, tolerance
    )


def check_singular(a: Array, wanted: Sequence[Array], got: Sequence[Array]) -> str | None:
    """Singular values, and where there are more results, left and right singular vectors."""
    wrong = difference(wanted[0], got[0])
    if wrong is not None:
        return f"singular values: {wrong}"
    if len(got) == 1:
        return None
    tolerance = TOLERANCES[wanted[1].dtype.name]
    wide = np.result_type(got[1].dtype, np.float64)
    u, vh, count = got[1].astype(wide), got[2].astype(wide), got[0].shape[-1]
    product = (u[..., :, :count] * got[0][..., None, :]) @ vh[..., :count, :]
    return (
        _orthonormal("left vectors", u, tolerance)
        or _orthonormal("right vectors", _adjoint(vh), tolerance)
        or _equal("the product of the factors", a.astype(wide), product, tolerance)
    )


def check_general(a: Array, left: bool, right: bool, wanted: Sequence[Array], got: Sequence[Array]) -> str | None:
    """Eigenvalues in any order, then left and right eigenvectors as asked."""
    tolerance = 10 * TOLERANCES[wanted[0].dtype.name]
    values = got[0]
    # Each value has one of the other side beside it.
    apart = np.abs(wanted[0].astype(np.complex128)[..., :, None] - values.astype(np.complex128)[..., None, :])
    nearest = np.stack([apart.min(axis=-1), apart.min(axis=-2)]) if apart.size else np.zeros(0)
    scale = np.zeros_like(nearest) + float(np.abs(wanted[0]).max()) if apart.size else nearest
    wrong = _equal("a set of eigenvalues", scale, scale + nearest, tolerance)
    matrix = a.astype(np.complex128)
    for number, (is_left, _) in enumerate([one for one in ((True, left), (False, right)) if one[1]], 1):
        v = got[number].astype(np.complex128)
        product = _adjoint(matrix) @ v if is_left else matrix @ v
        expected = v * (np.conj(values) if is_left else values)[..., None, :]
        wrong = wrong or _equal("a matrix times its eigenvectors", expected, product, tolerance)
    return wrong


def check_largest(operand: Array, wanted: Sequence[Array], got: Sequence[Array]) -> str | None:
    """The largest (or smallest) elements along the last dimension and where they are: XLA's approximate top-k sorts in
    no stable order, so that of equal elements any may be named, each once."""
    wrong = equal(wanted[0], got[0])
    if wrong is not None:
        return f"values: {wrong}"
    places = got[1]
    if places.size and (int(places.min()) < 0 or int(places.max()) >= operand.shape[-1]):
        return "an index is out of range"
    ordered = np.sort(places, axis=-1)
    if np.any(ordered[..., 1:] == ordered[..., :-1]):
        return "an element is named twice"
    wrong = equal(got[0], np.take_along_axis(operand, places, axis=-1))
    return f"elements at the indices: {wrong}" if wrong is not None else None
