"""Factorisations and transforms leave phase `input` in a form that iree-compile carries on, with the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from iree_tools import Iree

jax = pytest.importorskip("jax", reason="its text is what is compiled")
jnp = jax.numpy

RNG = np.random.default_rng(12)


def test_iree_carries_them_on(iree: Iree, lowered: Callable[..., str]) -> None:
    """One program: more scratch than IREE has stack for, branches, tables, and several results."""

    def program(a: Any, b: Any) -> Any:
        h = a @ a.T + jnp.eye(a.shape[0])
        return (
            jnp.linalg.cholesky(h),
            jnp.linalg.solve(a, b),
            jnp.linalg.eigvalsh(h),
            jnp.linalg.svd(a, compute_uv=False),
            jnp.abs(jnp.fft.rfft(b, axis=0)),
            jnp.zeros((90, 3)).at[(jnp.arange(60) * 7) % 91].add(b, mode="drop"),
            jnp.sort(jnp.concatenate([a.reshape(-1), b.reshape(-1), a.reshape(-1)])),
            jnp.cumsum(a[0] + 1j * a[1]),
        )

    a, b = RNG.standard_normal((60, 60)).astype(np.float32), RNG.standard_normal((60, 3)).astype(np.float32)
    text = jax.jit(program).lower(a, b).as_text()
    results = iree.call(iree.compile(lowered(text), "input"), "main", [a, b])
    h = (a @ a.T + np.eye(60)).astype(np.float64)
    scattered = np.zeros((91, 3))
    np.add.at(scattered, (np.arange(60) * 7) % 91, b)
    scattered = scattered[:90]
    wanted = (
        np.linalg.cholesky(h),
        np.linalg.solve(a.astype(np.float64), b),
        np.linalg.eigvalsh(h),
        np.linalg.svd(a.astype(np.float64), compute_uv=False),
        np.abs(np.fft.rfft(b, axis=0)),
        scattered,
        np.sort(np.concatenate([a.reshape(-1), b.reshape(-1), a.reshape(-1)])),
        np.cumsum(a[0] + 1j * a[1].astype(np.float64)),
    )
    for got, want in zip(results, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4 * float(np.abs(want).max()))
