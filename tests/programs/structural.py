"""Operations that make or move elements: iota, broadcast, reshape, transpose, slice, concatenate, pad, reverse."""

from __future__ import annotations

import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

from programs.bundle import Bundle, Case


def _array(*shape: int, dtype: type = np.float32, seed: int = 0) -> np.ndarray:
    values = np.random.default_rng(seed).integers(-50, 50, shape)
    return values.astype(dtype)


A = _array(4, 6)
B = _array(2, 3, 4, seed=1)
C = _array(5, seed=2)

IOTA = [
    Case(f"iota_{np.dtype(dtype).name}", lambda dtype=dtype: lax.broadcasted_iota(dtype, (3, 5), 1), ())
    for dtype in (
        np.int8,
        np.uint8,
        np.int32,
        np.uint32,
        np.int64,
        np.float16,
        ml_dtypes.bfloat16,
        np.float32,
        np.float64,
    )
]

SHAPES = [
    Case("broadcast_scalar", lambda x: lax.broadcast(x, (2, 3)), (np.float32(3),)),
    Case("broadcast_middle", lambda x: lax.broadcast_in_dim(x, (2, 5, 3), (1,)), (C,)),
    Case("broadcast_expand_one", lambda x: lax.broadcast_in_dim(x, (4, 6), (0, 1)), (_array(4, 1),)),
    Case("broadcast_all_ones", lambda x: lax.broadcast_in_dim(x, (2, 3, 4), (0, 1, 2)), (_array(1, 1, 1),)),
    Case("broadcast_chain", lambda x: jnp.broadcast_to(x[None, :], (3, 5)) + 1, (C,)),
    Case("broadcast_add_unit", lambda x: x[:, None, :] * 2, (A,)),
    Case("reshape_merge", lambda x: x.reshape(24), (A,)),
    Case("reshape_split", lambda x: x.reshape(2, 2, 3, 2), (A,)),
    Case("reshape_mixed", lambda x: x.reshape(3, 8), (A,)),
    Case("reshape_ones", lambda x: x.reshape(1, 4, 1, 6, 1), (A,)),
    Case("reshape_to_scalar", lambda x: x.reshape(()), (_array(1, 1),)),
    Case("reshape_from_scalar", lambda x: x.reshape(1, 1, 1), (np.float32(2),)),
    Case("reshape_chain", lambda x: (x.reshape(24) * 1).reshape(6, 4).reshape(2, 12), (A,)),
    Case("transpose_2d", lambda x: x.T, (A,)),
    Case("transpose_3d", lambda x: lax.transpose(x, (2, 0, 1)), (B,)),
    Case("transpose_int8", lambda x: lax.transpose(x, (1, 0)), (_array(7, 3, dtype=np.int8),)),
    Case("transpose_bool", lambda x: lax.transpose(x, (1, 0)), (A > 0,)),
    Case("slice", lambda x: x[1:3, 2:5], (A,)),
    Case("slice_strided", lambda x: x[::2, 1::3], (A,)),
    Case("slice_empty", lambda x: x[2:2], (A,)),
    Case("concatenate", lambda x, y: lax.concatenate([x, y, x], 0), (A, _array(2, 6, seed=3))),
    Case("concatenate_inner", lambda x, y: lax.concatenate([x, y], 1), (A, _array(4, 1, seed=3))),
    Case("concatenate_empty", lambda x, y: lax.concatenate([x, y], 0), (A, _array(0, 6))),
    Case("reverse", lambda x: lax.rev(x, (0, 2)), (B,)),
    Case("reverse_int", lambda x: lax.rev(x, (0,)), (_array(9, dtype=np.int64),)),
    Case("tile_repeat", lambda x: (jnp.tile(x, (2, 1)), jnp.repeat(x, 2, axis=1)), (A,)),
    Case("stack", lambda x, y: jnp.stack([x, y], axis=1), (A, A + 1)),
    Case("where_broadcast", lambda x: jnp.where(x > 0, x, 0.0), (A,)),
    Case("triangle", lambda x: jnp.tril(x), (_array(5, 5),)),
    Case("roll", lambda x: jnp.roll(x, 2, axis=1), (A,)),
    Case("pass_through", lambda x: x, (A,)),
    Case("constant", lambda: jnp.array([[1.5, -2.0], [0.0, 7.0]], jnp.float32), ()),
    Case("constant_splat", lambda: jnp.full((3, 2), 2.5, jnp.float32), ()),
    Case("constant_bool", lambda: jnp.array([True, False, True]), ()),
    Case("constant_u8", lambda: jnp.array([0, 200, 255], jnp.uint8), ()),
    Case("constant_bf16", lambda: jnp.array([0.5, -3.0], jnp.bfloat16), ()),
    Case("constant_reshape", lambda: jnp.arange(6, dtype=jnp.float32).reshape(2, 3) * 1.0, ()),
]

PADS = [
    Case(f"pad_{name}", lambda x, config=config: lax.pad(x, np.float32(-1), config), (A,))
    for name, config in {
        "edges": ((1, 2, 0), (0, 3, 0)),
        "interior": ((0, 0, 1), (0, 0, 2)),
        "all": ((2, 1, 1), (1, 0, 2)),
        "negative": ((-1, -1, 0), (-2, 1, 0)),
        "negative_interior": ((-2, 1, 2), (-1, -3, 1)),
        "negative_after_gap": ((-1, -1, 2), (3, -4, 1)),
        "none": ((0, 0, 0), (0, 0, 0)),
    }.items()
]
PADS += [
    Case("pad_value_from_input", lambda x, v: lax.pad(x, v, ((1, 1, 0), (0, 2, 1))), (A, np.float32(9))),
    Case("pad_edges_value_from_input", lambda x, v: lax.pad(x, v, ((1, 1, 0), (-1, 2, 0))), (A, np.float32(9))),
    Case("pad_int", lambda x: lax.pad(x, np.int32(7), ((1, 0, 1),)), (_array(4, dtype=np.int32),)),
    Case("pad_bool", lambda x: lax.pad(x, np.array(True), ((1, 0, 0),)), (np.array([False, True, False]),)),
    Case("pad_empty", lambda x: lax.pad(x, np.float32(3), ((2, 1, 1),)), (_array(0),)),
]

BUNDLES = [Bundle("iota", IOTA), Bundle("shapes", SHAPES), Bundle("pads", PADS)]
