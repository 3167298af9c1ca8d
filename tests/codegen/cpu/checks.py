"""Compares a dispatch with known values on several targets and against the scalar fallback."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.codegen.cpu.dispatches import Dispatch

TOLERANCES = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-5, "float64": 1e-12}
CPUS = ("host", "generic")
"""`generic` has 16-byte vectors and no masks: other widths, other remainders."""


def close(actual: np.ndarray, wanted: np.ndarray, scale: float = 1.0) -> None:
    """Equal for integers; for floats within a tolerance of the type, relative to the largest value."""
    assert actual.shape == wanted.shape
    if actual.dtype.kind in "biu":
        np.testing.assert_array_equal(actual, wanted.astype(actual.dtype))
        return
    tolerance = TOLERANCES[actual.dtype.name] * scale
    a, w = actual.astype(np.float64), wanted.astype(np.float64)
    finite = np.abs(w[np.isfinite(w)])
    np.testing.assert_allclose(a, w, rtol=tolerance, atol=tolerance * max(1.0, finite.max(initial=0.0)))


def check(
    dispatch: Dispatch,
    inputs: Sequence[np.ndarray],
    wanted: Sequence[np.ndarray],
    strategy: str | None = None,
    cpus: Sequence[str] = CPUS,
    fallback: bool = True,
    scale: float = 1.0,
) -> None:
    """Runs the chosen strategy on each CPU (its name must be `strategy`), then the fallback."""
    for cpu in cpus:
        outputs = dispatch.run(*inputs, cpu=cpu)
        if strategy is not None:
            assert dispatch.strategy == strategy
        for actual, want in zip(outputs, wanted, strict=True):
            close(actual, np.asarray(want), scale)
    if fallback:
        for actual, want in zip(dispatch.run(*inputs, strategy="scalar-fallback"), wanted, strict=True):
            close(actual, np.asarray(want), scale)
