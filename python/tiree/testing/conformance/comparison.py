"""When results count as equal: within the tolerance of their element type, or by the rule of a test.

Arrays are numpy's; `ml_dtypes` has the narrow floats.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

Array = np.ndarray[Any, Any]

TOLERANCES = {
    "float16": 5e-3,
    "bfloat16": 2e-2,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float64": 1e-9,
    "complex128": 1e-9,
}
"""Relative, by element type. 8-bit floats and smaller: a step of two mantissa bits."""

NARROW = 0.25


def same_kind(wanted: Array, got: Array) -> Array:
    """`got` in the element type of `wanted` where an interface tells not: signs, booleans, small floats."""
    if wanted.dtype == got.dtype or wanted.dtype.itemsize != got.dtype.itemsize:
        return got
    if wanted.dtype.kind in "iu" and got.dtype.kind in "iu":
        return got.view(wanted.dtype)
    if wanted.dtype.kind == "b" and got.dtype.kind in "iu":
        return got.astype(np.bool_)
    if wanted.dtype.name.startswith("float") and got.dtype == np.int8:
        return got.view(wanted.dtype)
    return got


def form_difference(wanted: Array, got: Array) -> str | None:
    """Another shape or element type, in words."""
    if wanted.shape != got.shape:
        return f"shape {list(got.shape)} instead of {list(wanted.shape)}"
    if wanted.dtype != got.dtype:
        return f"element type {got.dtype} instead of {wanted.dtype}"
    return None


def difference(wanted: Array, got: Array, tolerance: float | None = None, *, sums: bool = True) -> str | None:
    """What is wrong with `got`, or None: integers equal, floats within the tolerance of their type.

    A float may also be off by a tenth of the tolerance times the largest finite value, since `sums` of terms that
    cancel keep no more; without sums by the smallest normal number, since an oracle may take smaller ones for zero.
    """
    got = same_kind(wanted, got)
    form = form_difference(wanted, got)
    if form is not None:
        return form
    if wanted.dtype.kind in "iub" or wanted.dtype.name.startswith(("int", "uint")):
        bad = wanted != got
    else:
        bad = ~_close(wanted, got, tolerance, sums)
    return described(wanted, got, bad)


def described(wanted: Array, got: Array, bad: Array) -> str | None:
    """The first value that is off, and how many are."""
    count = int(np.count_nonzero(bad))
    if not count:
        return None
    first = int(np.argmax(np.ravel(bad)))
    return f"{count} of {wanted.size} values off, the first {np.ravel(got)[first]} instead of {np.ravel(wanted)[first]}"


def _close(wanted: Array, got: Array, tolerance: float | None, sums: bool) -> Array:
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    left, right = got.astype(wide), wanted.astype(wide)
    relative = TOLERANCES.get(wanted.dtype.name, NARROW) if tolerance is None else tolerance
    finite = np.abs(right[np.isfinite(right)])
    if sums:
        absolute = 0.1 * relative * max(1.0, float(finite.max()) if finite.size else 1.0)
    else:
        absolute = float(_limits(wanted.dtype).smallest_normal)
    return np.isclose(left, right, rtol=relative, atol=absolute, equal_nan=True)


def equal(wanted: Array, got: Array) -> str | None:
    """Equal in value; every NaN equals every other."""
    form = form_difference(wanted, got)
    if form is not None:
        return form
    return described(wanted, got, ~_same(wanted, got))


def almost_equal(wanted: Array, got: Array, tolerance: float) -> str | None:
    """Within an absolute tolerance, or within half a step of the element type, which `wanted` was rounded to."""
    form = form_difference(wanted, got)
    if form is not None:
        return form
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    left, right = got.astype(wide), wanted.astype(wide)
    with np.errstate(all="ignore"):
        near = np.abs(left - right) <= np.maximum(tolerance, _step(wanted.dtype) * np.abs(right))
    return described(wanted, got, ~(_same(wanted, got) | near))


def within_ulps(wanted: Array, got: Array, ulps: float) -> str | None:
    """At most `ulps` representable values apart."""
    form = form_difference(wanted, got)
    if form is not None:
        return form
    if wanted.dtype.kind == "c":
        part = np.float32 if wanted.dtype == np.complex64 else np.float64
        wanted, got = wanted.reshape(-1).view(part), got.reshape(-1).view(part)
    bits = np.dtype(f"i{wanted.dtype.itemsize}")
    top = np.iinfo(bits).min

    def ordered(array: Array) -> Any:
        number = array.reshape(-1).view(bits).astype(object)
        return np.where(number < 0, int(top) - number, number)

    distance = np.abs(ordered(wanted) - ordered(got)).astype(np.float64).reshape(wanted.shape)
    finite = np.isfinite(wanted.astype(np.float64)) & np.isfinite(got.astype(np.float64))
    return described(wanted, got, ~(_same(wanted, got) | (finite & (distance <= ulps))))


def _same(wanted: Array, got: Array) -> Array:
    if wanted.dtype.kind == "c":
        return _same(wanted.real, got.real) & _same(wanted.imag, got.imag)
    if wanted.dtype.kind in "iub":
        return wanted == got
    left, right = wanted.astype(np.float64), got.astype(np.float64)
    return (left == right) | (np.isnan(left) & np.isnan(right))


def _step(dtype: np.dtype[Any]) -> float:
    return float(_limits(dtype).eps)


def _limits(dtype: np.dtype[Any]) -> Any:
    if dtype.isbuiltin == 1:
        return np.finfo(dtype)
    import ml_dtypes

    return cast("Any", ml_dtypes.finfo)(dtype)
