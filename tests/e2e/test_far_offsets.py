"""Tensors of more than 4 GiB: what lies beyond is read, written and summed like the rest.

Only with TIREE_FAR_OFFSETS=1 (`make far-offsets`), and where 12 GiB of memory are free.
"""

# ruff: noqa: ARG005 - each function takes the tensor and an index
from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

jax = pytest.importorskip("jax", reason="the programs are JAX functions")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

NEEDED = 12 << 30
TAIL = 17
SIZES = {"int8": 2**32 + TAIL, "float32": 2**30 + TAIL}


def free_memory() -> int:
    """Bytes that programs may still take, or 0 where the system does not say."""
    path = Path("/proc/meminfo")
    lines = path.read_text().splitlines() if path.exists() else []
    found = [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    return found[0] if found else 0


pytestmark = pytest.mark.skipif(
    os.environ.get("TIREE_FAR_OFFSETS") != "1" or free_memory() < NEEDED,
    reason="tensors of more than 4 GiB: set TIREE_FAR_OFFSETS=1 and have 12 GiB of memory free",
)


def functions(size: int) -> dict[str, tuple[Callable[..., Any], Callable[..., Any]]]:
    """By name what is compiled, and what numpy gives for it; `i` is the index of the last element."""
    kinds: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "slice": (lambda x, i: x[size - 5 :], lambda x, i: x[size - 5 :]),
        "stride": (lambda x, i: lax.slice(x, (size - 9,), (size,), (4,)), lambda x, i: x[size - 9 :: 4]),
        "dynamic slice": (lambda x, i: lax.dynamic_slice(x, (i - 3,), (4,)), lambda x, i: x[i - 3 :]),
        "clamped": (lambda x, i: lax.dynamic_slice(x, (i,), (4,)), lambda x, i: x[i - 3 :]),
        "gather": (lambda x, i: x[i - jnp.arange(6)], lambda x, i: x[i - np.arange(6)]),
        "largest": (lambda x, i: (jnp.max(x), jnp.argmax(x)), lambda x, i: (x[i], np.int64(i))),
        "sum": (lambda x, i: jnp.sum(x, dtype=jnp.float32), lambda x, i: np.float32(x[-TAIL:].astype(int).sum())),
        "rows": (
            lambda x, i: jnp.max(x[TAIL:].reshape(16, -1), axis=1),
            lambda x, i: np.array([0] * 15 + [x[i]], x.dtype),
        ),
        "elementwise": (lambda x, i: (x + x.dtype.type(1))[size - 3 :], lambda x, i: x[size - 3 :] + x.dtype.type(1)),
        "scatter": (
            lambda x, i: x.at[i - 2].set(9)[size - 4 :],
            lambda x, i: np.array([*x[-4:-3], 9, *x[-2:]], x.dtype),
        ),
        "update": (
            lambda x, i: lax.dynamic_update_slice(x, jnp.full(3, 5, x.dtype), (i - 2,))[size - 4 :],
            lambda x, i: np.array([x[-4], 5, 5, 5], x.dtype),
        ),
        "reverse": (lambda x, i: lax.rev(x, (0,))[:4], lambda x, i: x[:-5:-1]),
    }
    return kinds


@pytest.fixture(scope="module", params=list(SIZES))
def tensor(request: pytest.FixtureRequest) -> np.ndarray:
    """Zeros up to the last few elements, whose pages are the only ones that are written."""
    values = np.zeros(SIZES[request.param], request.param)
    values[-TAIL:] = np.arange(1, TAIL + 1)
    return values


@pytest.mark.parametrize("device", ["local-sync", "local-task"])
@pytest.mark.parametrize("name", list(functions(100)))
def test_beyond_four_gigabytes(name: str, device: str, tensor: np.ndarray) -> None:
    function, reference = functions(len(tensor))[name]
    shapes = jax.ShapeDtypeStruct(tensor.shape, tensor.dtype), jax.ShapeDtypeStruct((), np.int64)
    with jax.enable_x64(True):
        text = jax.jit(function, keep_unused=True).lower(*shapes).as_text()
    last = np.int64(len(tensor) - 1)
    results = rt.load(tiree.compile(text), device=device).main(tensor, last)
    wanted = reference(tensor, last)
    for got, want in zip(*(r if isinstance(r, tuple) else (r,) for r in (results, wanted)), strict=True):
        np.testing.assert_array_equal(np.asarray(got), want)
