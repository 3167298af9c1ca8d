# ruff: noqa: ARG005 (every op takes the same arguments)
"""Random programs of elementwise ops, reductions, data movement and products: IREE's tools carry on what flow makes of
them, with JAX's values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="programs are written in JAX")
import jax.numpy as jnp  # noqa: E402

SHAPES = ((4, 6), (4, 6), (6,), (3, 4, 6), (1, 6), (4, 1))
MAX_ELEMENTS = 600


def along(rank: int, axis: int, one: slice) -> tuple[slice, ...]:
    return tuple(one if dim == axis else slice(None) for dim in range(rank))


def normalise(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-3)


OPS: list[Callable] = [
    lambda x, y, axis, i: x + y,
    lambda x, y, axis, i: x * y,
    lambda x, y, axis, i: jnp.maximum(x, y),
    lambda x, y, axis, i: jnp.exp(jnp.clip(x, -3, 3)),
    lambda x, y, axis, i: x / (jnp.abs(x) + 1.5),
    lambda x, y, axis, i: x.sum(axis, keepdims=True),
    lambda x, y, axis, i: x.sum(axis),
    lambda x, y, axis, i: x.max(axis),
    lambda x, y, axis, i: jax.nn.softmax(x, axis=axis),
    lambda x, y, axis, i: x.T,
    lambda x, y, axis, i: x.reshape(-1),
    lambda x, y, axis, i: jnp.concatenate([x, x * 0.5], axis),
    lambda x, y, axis, i: x[along(x.ndim, axis, slice(1, None))] if x.shape[axis] > 1 else x - 1,
    lambda x, y, axis, i: jax.lax.dynamic_slice_in_dim(x, i, max(1, x.shape[axis] - 1), axis),
    lambda x, y, axis, i: jax.lax.dynamic_update_slice_in_dim(x, x[along(x.ndim, axis, slice(0, 1))] * 2, i, axis),
    lambda x, y, axis, i: jnp.tanh(x @ y.T) if x.ndim == y.ndim == 2 and x.shape[1] == y.shape[1] else x - 1,
    lambda x, y, axis, i: jnp.pad(x, [(1, 0)] * x.ndim),
    lambda x, y, axis, i: jnp.flip(x, axis)[along(x.ndim, axis, slice(None, None, 2))],
    lambda x, y, axis, i: normalise(x),
]


def random_program(seed: int) -> Callable:
    """A function of tensors of `SHAPES` and a position."""
    stream = np.random.default_rng(seed)
    plan = [
        (OPS[int(stream.integers(len(OPS)))], stream.integers(0, 1 << 30, 3))
        for _ in range(int(stream.integers(8, 20)))
    ]

    def program(*arguments):
        *values, position = arguments
        for op, choice in plan:
            x, y = values[choice[0] % len(values)], values[choice[1] % len(values)]
            if x.ndim == 0:
                continue
            try:
                value = op(x, y, int(choice[2] % x.ndim), position)
            except (TypeError, ValueError):
                continue  # Shapes that do not go together.
            if value.size <= MAX_ELEMENTS and value.ndim <= 4:
                values.append(value)
        return tuple(values[-3:])

    return program


@pytest.mark.parametrize("seeds", [range(0, 6), range(6, 12)], ids=lambda seeds: f"{seeds.start}-{seeds.stop}")
def test_random_programs(seeds, flow, iree):
    programs = [random_program(seed) for seed in seeds]

    def all_of(*arguments):
        return tuple(program(*arguments) for program in programs)

    stream = np.random.default_rng(seeds.start)
    inputs = [stream.standard_normal(shape).astype(np.float32) for shape in SHAPES] + [np.int32(seeds.start % 4)]
    result = flow(jax.jit(all_of, keep_unused=True).lower(*inputs).as_text())
    got = iree.call(iree.compile(result.text), "main", inputs)
    want = jax.tree.leaves(jax.jit(all_of, keep_unused=True)(*inputs))
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
