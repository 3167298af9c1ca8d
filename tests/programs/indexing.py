"""gather, dynamic slices, scatter, sort and control flow as JAX emits them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.bundle import Bundle, Case

TABLE = np.random.default_rng(0).standard_normal((11, 6)).astype(np.float32)
CUBE = np.random.default_rng(1).integers(-99, 99, (4, 5, 6)).astype(np.int32)
IDS = np.array([[0, 10, 3], [7, 2, 2]], np.int32)
WILD = np.array([-1, 11, 2147483647, -2147483648, 5], np.int32)


def _clip(x, i):
    return x.at[i].get(mode="clip")


GATHERS = [
    Case("embedding", lambda t, i: t[i], (TABLE, IDS)),
    Case("embedding_take", lambda t, i: jnp.take(t, i, axis=0), (TABLE, IDS)),
    Case("embedding_u8", lambda t, i: _clip(t, i), (TABLE, np.array([0, 200, 5], np.uint8))),
    Case("embedding_i64", lambda t, i: t[i], (TABLE, IDS.astype(np.int64))),
    Case("clip_wild", _clip, (TABLE, WILD)),
    Case("clip_u64", _clip, (TABLE, np.array([2**63 + 5, 3, 2**64 - 1], np.uint64))),
    Case("fill_wild", lambda t, i: t.at[i].get(mode="fill", fill_value=-1.0), (TABLE, WILD)),
    Case("wrap_negative", lambda t, i: t[i], (TABLE, np.array([-1, -11, 4], np.int32))),
    Case("scalar_index", lambda t, i: t[i], (TABLE, np.int32(4))),
    Case("two_indices", lambda c, i, j: c[i, j], (CUBE, np.array([0, 3], np.int32), np.array([4, 1], np.int32))),
    Case("outer_indices", lambda c, i, j: c[i, :, j], (CUBE, np.array([0, 3], np.int32), np.array([4, 1], np.int32))),
    Case("middle_axis", lambda c, i: jnp.take(c, i, axis=1), (CUBE, IDS[1] % 5)),
    Case("along_axis", lambda c, i: jnp.take_along_axis(c, i, axis=2, mode="clip"), (CUBE, np.abs(CUBE[:, :, :2]) % 6)),
    Case(
        "batched",
        lambda c, i: jax.vmap(lambda a, b: a[b])(c, i),
        (CUBE, np.array([[0, 4], [1, 1], [2, 0], [3, 3]], np.int32)),
    ),
    Case(
        "window",
        lambda t, i: jax.vmap(lambda s: lax.dynamic_slice(t, (s, np.int32(1)), (2, 3)))(i),
        (TABLE, np.array([0, 9, 12], np.int32)),
    ),
    Case("bool_table", lambda t, i: t[i], (TABLE > 0, IDS)),
]

SLICES = [
    Case("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, np.int32(2)), (3, 4)), (TABLE, np.int32(5))),
    Case("dynamic_slice_clamps_high", lambda x, i: lax.dynamic_slice(x, (i, i), (3, 4)), (TABLE, np.int32(100))),
    Case("dynamic_slice_clamps_low", lambda x, i: lax.dynamic_slice(x, (i, i), (3, 4)), (TABLE, np.int32(-100))),
    Case("dynamic_slice_static", lambda x: lax.dynamic_slice(x, (8, 9), (3, 4)), (TABLE,)),
    Case("dynamic_index", lambda x, i: lax.dynamic_index_in_dim(x, i, 1, keepdims=False), (CUBE, np.int32(-2))),
    Case(
        "dynamic_update",
        lambda x, u, i: lax.dynamic_update_slice(x, u, (i, np.int32(1))),
        (TABLE, TABLE[:2, :3] * 9, np.int32(4)),
    ),
    Case(
        "dynamic_update_clamps",
        lambda x, u, i: lax.dynamic_update_slice(x, u, (i, i)),
        (TABLE, TABLE[:2, :3] * 9, np.int32(99)),
    ),
    Case(
        "dynamic_update_row",
        lambda x, u, i: lax.dynamic_update_index_in_dim(x, u, i, 0),
        (TABLE, TABLE[3], np.int64(7)),
    ),
    Case("dynamic_update_static", lambda x, u: lax.dynamic_update_slice(x, u, (10, 1)), (TABLE, TABLE[:2, :3] * 9)),
    Case("dynamic_update_whole", lambda x, u, i: lax.dynamic_update_slice(x, u, (i, i)), (TABLE, -TABLE, np.int32(1))),
]

CONTROL = [
    Case("while_counter", lambda n: lax.while_loop(lambda i: i <= n, lambda i: i + 1, np.int32(1)), (np.int32(5),)),
    Case("while_none", lambda n: lax.while_loop(lambda i: i <= n, lambda i: i + 1, np.int32(1)), (np.int32(0),)),
    Case("while_swap", lambda a, b: lax.fori_loop(0, 7, lambda _, s: (s[1], s[0]), (a, b)), (TABLE[0], TABLE[1])),
    Case(
        "while_captures",
        lambda a, b: lax.fori_loop(0, 3, lambda _, s: s * 0.5 + b, a),
        (TABLE[0], TABLE[1]),
        1e-6,
        1e-6,
    ),
    Case("scan_sum", lambda x: lax.scan(lambda c, v: (c + v, c * v), np.zeros(6, np.float32), x), (TABLE,), 1e-5, 1e-5),
    Case("if_true", lambda p, x: lax.cond(p, lambda v: v + 1, lambda v: v * 2, x), (np.array(True), TABLE[0])),
    Case("if_false", lambda p, x: lax.cond(p, lambda v: v + 1, lambda v: v * 2, x), (np.array(False), TABLE[0])),
    *(
        Case(
            f"switch_{i}",
            lambda i, x: lax.switch(i, [lambda v: v + 1, lambda v: v * 2, lambda v: -v, lambda v: v], x),
            (np.int32(i), TABLE[0]),
        )
        for i in (-3, 0, 1, 2, 3, 9)
    ),
    Case(
        "nested_if_in_while",
        lambda x: lax.while_loop(
            lambda s: s[0] < 6,
            lambda s: (
                s[0] + 1,
                lax.cond(
                    s[0] % 2 == 0,
                    lambda v: v + 1.0,
                    lambda v: lax.cond(v[0] > 3, jnp.negative, lambda w: w * 2, v),
                    s[1],
                ),
            ),
            (np.int32(0), x),
        ),
        (TABLE[0],),
        1e-6,
    ),
    Case("calls", lambda x: jax.jit(jax.nn.relu)(jax.jit(jax.nn.relu)(x) - 1), (TABLE[0],)),
    Case("barrier", lambda x: lax.optimization_barrier((x, x + 1)), (TABLE[0],)),
    Case("case_of_constant", lambda x: lax.cond(True, lambda v: v + 1, lambda v: v * 2, x), (TABLE[0],)),
]

COUNTS = np.array([0, 4, 4, 10, 2, 4], np.int32)
UPDATES = np.random.default_rng(2).integers(-9, 9, (6, 6)).astype(np.float32)

SCATTERS = [
    Case("add_rows", lambda t, i, u: t.at[i].add(u), (TABLE, COUNTS, UPDATES), 1e-6, 1e-6),
    Case("set_rows", lambda t, i, u: t.at[i].set(u), (TABLE, np.array([0, 4, 9], np.int32), UPDATES[:3])),
    Case("set_scalar", lambda t, i: t.at[i, 2].set(7.0), (TABLE, np.int32(3))),
    Case("mul_rows", lambda t, i, u: t.at[i].multiply(u), (TABLE, COUNTS, UPDATES), 1e-5, 1e-5),
    Case("min_max", lambda t, i, u: (t.at[i].min(u), t.at[i].max(u)), (TABLE, COUNTS, UPDATES)),
    Case(
        "add_points", lambda c, i, j: c.at[i, :, j].add(1), (CUBE, np.array([0, 3, 0], np.int32), np.array([4, 1, 4]))
    ),
    Case("drop_wild", lambda t, i, u: t.at[i].add(u, mode="drop"), (TABLE, WILD, UPDATES[:5]), 1e-6, 1e-6),
    Case("histogram", lambda i: jnp.zeros(11, jnp.int32).at[i].add(1), (COUNTS,)),
    Case(
        "window",
        lambda t, u: lax.dynamic_update_slice(t, u, (2, 3)).at[4:6, 1:3].add(u[:2, :2]),
        (TABLE, UPDATES[:3, :3]),
        1e-6,
    ),
    Case(
        "batched_add",
        lambda c, i: jax.vmap(lambda a, b: a.at[b].add(5))(c, i),
        (CUBE, np.array([[0, 4], [1, 1], [2, 0], [3, 3]], np.int32)),
    ),
    Case(
        "segment_sum",
        lambda x, i: jax.ops.segment_sum(x, i, num_segments=5),
        (UPDATES, np.array([0, 0, 3, 4, 3, 0])),
        1e-6,
        1e-6,
    ),
    Case("gather_gradient", lambda t, i: jax.grad(lambda v: jnp.sum(v[i] ** 2))(t), (TABLE, IDS), 1e-5, 1e-5),
]

TIED = np.array([3, 1, 2, 3, 0, -0.0, 0.0, 1, np.nan, -np.inf, 3], np.float32)

SORTS = [
    Case("sort_f32", lambda x: jnp.sort(x, axis=0), (TABLE,)),
    Case("sort_last", lambda x: jnp.sort(x, axis=-1), (CUBE,)),
    Case("sort_special", lambda x: lax.sort(x), (TIED,)),
    Case("sort_u8", lambda x: jnp.sort(x), (np.array([200, 3, 255, 0, 3], np.uint8),)),
    Case("sort_descending", lambda x: jnp.sort(x, descending=True), (TABLE[0],)),
    Case("argsort_stable", lambda x: jnp.argsort(x, stable=True), (TIED,)),
    Case("sort_pairs", lambda x, y: lax.sort((x, y), num_keys=1), (TIED, np.arange(11, dtype=np.int32))),
    Case(
        "sort_two_keys",
        lambda x, y: lax.sort((x, y), num_keys=2),
        (TIED[:8] * 0, np.arange(8, dtype=np.int32)[::-1].copy()),
    ),
    *(
        Case(f"sort_length_{n}", lambda x: jnp.sort(x), (np.random.default_rng(n).integers(0, 50, n).astype(np.int32),))
        for n in (1, 2, 3, 7, 64, 100)
    ),
    Case("top_k", lambda x: lax.top_k(x, 3), (TABLE,)),
    Case("top_k_ties", lambda x: lax.top_k(x, 5), (np.array([1, 3, 2, 3, 3, 0, 2], np.int32),)),
    Case("median", lambda x: jnp.median(x, axis=1), (TABLE,), 1e-6),
]

BUNDLES = [
    Bundle("gathers", GATHERS),
    Bundle("slices", SLICES),
    Bundle("control", CONTROL),
    Bundle("scatters", SCATTERS),
    Bundle("sorts", SORTS),
]
