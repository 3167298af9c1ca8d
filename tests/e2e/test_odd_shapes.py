"""Every kind of op on shapes that are not round: rank 0 and 8, no elements, one, primes, one more or less than vectors.

A module for each shape and type; with TIREE_ODD_SHAPES=1 (`make odd-shapes`) all of them, also as bytecode, otherwise a
sample. Values are JAX's.
"""

# ruff: noqa: ARG001, ARG005 - each function takes both arrays
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from programs import Bundle, Case
from programs.bundle import check

jax = pytest.importorskip("jax", reason="values come from JAX")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

ALL = os.environ.get("TIREE_ODD_SHAPES") == "1"
VMVX = "--iree-hal-local-target-device-backends=vmvx"
Shape = tuple[int, ...]
SHAPES: tuple[Shape, ...] = (
    (), (0,), (1,), (13,), (31,), (97,), (1021,), (0, 3), (3, 0), (1, 1), (7, 1), (1, 17), (5, 127), (33, 3), (2, 0, 3),
    (3, 5, 7), (17, 1, 19), (1, 2, 0, 3), (2, 3, 5, 7), (1, 1, 1, 1, 1, 1, 1, 1), (2, 1, 3, 1, 2, 1, 2, 3),
    (1, 2, 2, 1, 3, 1, 1, 5), (2, 1, 0, 2, 1, 3, 1, 2),
)  # fmt: skip
TYPES = ("float32", "bool", "int8", "float16", "int64", "complex64")
# Shape and type of the sample.
SAMPLE = (
    ((), "float32"), ((1,), "bool"), ((0, 3), "float32"), ((13,), "bool"), ((5, 127), "float32"), ((3, 5, 7), "int8"),
    ((1, 2, 2, 1, 3, 1, 1, 5), "bool"), ((2, 1, 0, 2, 1, 3, 1, 2), "int64"),
    ((7, 1), "float16"), ((0,), "complex64"),
)  # fmt: skip


def draw(shape: Shape, dtype: str, seed: int) -> np.ndarray:
    stream = np.random.default_rng(seed)
    if dtype == "bool":
        return np.asarray(stream.integers(0, 2, shape)).astype(bool)
    if dtype.startswith("int"):
        return np.asarray(stream.integers(-5, 6, shape)).astype(dtype)
    values = stream.standard_normal(shape)
    return np.asarray(values + (1j * stream.standard_normal(shape) if dtype == "complex64" else 0)).astype(dtype)


def _of_all(x: np.ndarray) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Kinds that any type and rank has; `y` is another array like `x`."""
    rank, shape = x.ndim, x.shape
    yield "select", lambda x, y: jnp.where(y == x, x, y)
    yield "compare", lambda x, y: (x == y, x != y)
    yield "reshape", lambda x, y: (x.reshape(-1), jnp.expand_dims(y, 0))
    yield "broadcast", lambda x, y: jnp.broadcast_to(x, (3, *shape))
    yield "concatenate", lambda x, y: jnp.concatenate([x.reshape(-1), y.reshape(-1), x.reshape(-1)])
    yield "transpose", lambda x, y: jnp.transpose(x, tuple(reversed(range(rank))))
    yield "convert", lambda x, y: (x.astype(bool), (x == y).astype(jnp.float32), (x == y).astype(jnp.int8))
    yield "loop", lambda x, y: lax.fori_loop(0, 3, lambda _, v: jnp.where(v == y, x, v), y)
    yield "branch", lambda x, y: lax.cond(x.size > 3, lambda: x, lambda: y)
    for axis in range(rank):
        yield f"reverse {axis}", lambda x, y, a=axis: lax.rev(x, (a,))
        yield f"concatenate {axis}", lambda x, y, a=axis: lax.concatenate([x, y], a)
        yield f"roll {axis}", lambda x, y, a=axis: jnp.roll(x, 1, a)
        yield (
            f"pad {axis}",
            lambda x, y, a=axis: lax.pad(x, y.dtype.type(1), [(i == a, i == a, 0) for i in range(rank)]),
        )
        yield f"slice {axis}", lambda x, y, a=axis: lax.slice_in_dim(x, 0, shape[a], 2, axis=a)
        yield f"any {axis}", lambda x, y, a=axis: (jnp.any(x == y, a), jnp.all(x == y, a))
        if shape[axis]:
            at = np.array([shape[axis] - 1, -1, 0, shape[axis] + 5], np.int32)
            yield f"take {axis}", lambda x, y, a=axis, i=at: jnp.take(x, i, axis=a, mode="clip")
            yield f"update {axis}", lambda x, y, a=axis: lax.dynamic_update_slice_in_dim(x, y, 1, a)
            one = (slice(None),) * axis
            yield (
                f"scatter {axis}",
                lambda x, y, o=one: x.at[(*o, jnp.array([0, 99]))].set(y.dtype.type(1), mode="drop"),
            )


def _of_numbers(x: np.ndarray) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Arithmetic, sums and products."""
    rank = x.ndim
    yield "arithmetic", lambda x, y: (x + y, x * y - x, -x, jnp.abs(x))
    yield "sum", lambda x, y: (jnp.sum(x), jnp.prod(x), jnp.sum(x * y))
    yield "outer", lambda x, y: jnp.tensordot(x, y, 0) if rank < 4 else x
    for axis in range(rank):
        yield f"sum {axis}", lambda x, y, a=axis: (jnp.sum(x, a), jnp.sum(y * x, a, keepdims=True))
        yield f"cumsum {axis}", lambda x, y, a=axis: jnp.cumsum(_whole(x), a)
        yield f"dot {axis}", lambda x, y, a=axis: lax.dot_general(x, y, (((a,), (a,)), ((), ()))) if rank < 4 else x
        batch = tuple(i for i in range(rank) if i != axis)
        yield f"batched dot {axis}", lambda x, y, a=axis, b=batch: lax.dot_general(x, y, (((a,), (a,)), (b, b)))
    if 1 <= rank <= 3:
        yield "convolution", _convolution


def _convolution(x: Any, y: Any) -> Any:
    """The last dimension with a kernel of three, the others as batch."""
    rows = x.reshape(int(np.prod(x.shape[:-1])), 1, x.shape[-1])
    return lax.conv_general_dilated(rows, jnp.ones((2, 1, 3), x.dtype), (1,), "SAME")


def _whole(x: Any) -> Any:
    """Quarters of small integers instead of other floats: no association of their sums is rounded in any type."""
    return jnp.round(x * 4) / 4 if jnp.issubdtype(x.dtype, jnp.floating) else x


def _apart(x: Any) -> Any:
    """Numbers whose neighbours are far apart: the variance of near ones is what rounding leaves of two squares."""
    signs = 1 - 2 * (np.indices(x.shape).sum(0) % 2)
    return x + (8 * signs).astype(x.dtype)


def _of_ordered(x: np.ndarray) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Order: extremes, sorting, windows."""
    yield "extremes", lambda x, y: (jnp.maximum(x, y), jnp.minimum(x, y), x < y)
    for axis in range(x.ndim):
        yield f"sort {axis}", lambda x, y, a=axis: lax.sort(x, a)
        yield f"sort pairs {axis}", lambda x, y, a=axis: lax.sort((x, y), a)
        if x.shape[axis]:
            yield f"max {axis}", lambda x, y, a=axis: (jnp.max(x, a), jnp.min(x, a), jnp.argmax(x, a))
            yield f"cummax {axis}", lambda x, y, a=axis: lax.cummax(x, a)
    if x.ndim and x.shape[-1]:
        yield "top_k", lambda x, y: lax.top_k(x, 1)


def _of_floats(x: np.ndarray) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Functions, softmax, transforms."""
    yield "functions", lambda x, y: (jnp.exp(x), jnp.tanh(x), jnp.sqrt(jnp.abs(x)), jnp.arctan2(x, y))
    yield "is", lambda x, y: (jnp.isfinite(x), jnp.isnan(y / x))
    for axis in range(x.ndim):
        yield f"softmax {axis}", lambda x, y, a=axis: jax.nn.softmax(x, a)
        yield f"standardize {axis}", lambda x, y, a=axis: jax.nn.standardize(_apart(x), a) if x.shape[a] > 1 else x
        if x.shape[axis] and x.dtype == np.float32:
            yield f"fft {axis}", lambda x, y, a=axis: jnp.abs(jnp.fft.fft(x, axis=a))
    if x.ndim and x.size:
        window = tuple(min(2, size) for size in x.shape)
        yield "pooling", lambda x, y, w=window: lax.reduce_window(x, x.dtype.type(-np.inf), lax.max, w, w, "SAME")


def _of_truth(x: np.ndarray) -> Iterator[tuple[str, Callable[..., Any]]]:
    yield "logic", lambda x, y: (x & y, x | y, x ^ y, ~x)
    yield "count", lambda x, y: (jnp.sum(x), jnp.any(x), jnp.all(x))
    for axis in range(x.ndim):
        yield f"count {axis}", lambda x, y, a=axis: (jnp.sum(x, a), jnp.cumsum(x, a), lax.sort(x, a))


def cases(shape: Shape, dtype: str) -> Iterator[Case]:
    x, y = draw(shape, dtype, 1), draw(shape, dtype, 2)
    groups = [_of_all]
    groups += [_of_truth] if dtype == "bool" else [_of_numbers]
    groups += [_of_ordered] if dtype not in ("bool", "complex64") else []
    groups += [_of_floats] if dtype.startswith("float") else []
    tolerance = {"float16": 5e-3, "float32": 2e-5, "complex64": 2e-5}.get(dtype, 0.0)
    for group in groups:
        for name, function in group(x):
            yield Case(name, function, (x, y), tolerance, tolerance)


def everything() -> list[Any]:
    chosen = [(shape, dtype) for shape in SHAPES for dtype in TYPES] if ALL else SAMPLE
    return [pytest.param(s, t, id=f"{'x'.join(map(str, s)) or 'scalar'}-{t}") for s, t in chosen]


def faults(bundle: Bundle, flags: list[str]) -> list[str]:
    results = rt.load(tiree.compile(bundle.text, flags=flags), device="local-task").main(*bundle.inputs)
    results = results if isinstance(results, tuple) else (results,)
    wrong: list[str] = []
    parts = bundle.split([np.asarray(r) for r in results])
    for case, got, want in zip(bundle.cases, parts, bundle.expected, strict=True):
        try:
            check(got, want, case.rtol, case.atol)
        except AssertionError as error:
            wrong.append(f"{case.name} {flags}: {error}")
    return wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("shape", "dtype"), everything())
def test_every_kind(shape: Shape, dtype: str) -> None:
    bundle = Bundle("odd", list(cases(shape, dtype)))
    wrong = faults(bundle, [])
    if ALL:
        wrong += faults(bundle, [VMVX])
    assert not wrong, "\n".join(wrong)
