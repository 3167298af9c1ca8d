"""reduce and reduce_window: any body, several operands, strides, padding, dilation."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

from programs.bundle import Bundle, Case

X = np.random.default_rng(0).standard_normal((3, 5, 4)).astype(np.float32)
N = np.random.default_rng(1).integers(-9, 9, (3, 5, 4)).astype(np.int32)
IMAGE = np.random.default_rng(2).standard_normal((2, 8, 9, 3)).astype(np.float32)
INF = float("inf")

SIMPLE = [
    Case("sum_all", lambda x: jnp.sum(x), (X,), rtol=1e-5, atol=1e-5),
    Case("sum_last", lambda x: jnp.sum(x, axis=2), (X,), rtol=1e-5, atol=1e-6),
    Case("sum_first", lambda x: jnp.sum(x, axis=0), (X,), rtol=1e-5, atol=1e-6),
    Case("sum_two", lambda x: jnp.sum(x, axis=(0, 2)), (X,), rtol=1e-5, atol=1e-5),
    Case("sum_keepdims", lambda x: jnp.sum(x, axis=1, keepdims=True), (X,), rtol=1e-5, atol=1e-6),
    Case("mean_var", lambda x: (jnp.mean(x, -1), jnp.var(x, -1)), (X,), rtol=1e-5, atol=1e-6),
    Case("max", lambda x: jnp.max(x, axis=1), (X,)),
    Case("min", lambda x: jnp.min(x, axis=1), (X,)),
    Case("prod", lambda x: jnp.prod(x, axis=2), (X,), rtol=1e-5),
    Case("max_nan", lambda x: jnp.max(x), (np.array([1, np.nan, 3], np.float32),)),
    Case("sum_int", lambda x: jnp.sum(x, axis=1), (N,)),
    Case("max_int", lambda x: jnp.max(x, axis=(0, 1)), (N,)),
    Case("max_uint8", lambda x: jnp.max(x), (np.array([3, 250, 7], np.uint8),)),
    Case("sum_int8_wraps", lambda x: lax.reduce(x, np.int8(0), lax.add, (0,)), (np.array([100, 100], np.int8),)),
    Case("and_or", lambda x: (jnp.all(x > -5, axis=0), jnp.any(x > 1, axis=1)), (X,)),
    Case("xor", lambda x: lax.reduce(x, np.int32(5), lax.bitwise_xor, (0,)), (N,)),
    Case("sum_empty", lambda x: jnp.sum(x, axis=0), (np.zeros((0, 3), np.float32),)),
    Case("sum_bf16", lambda x: jnp.sum(x, axis=2), (X.astype(ml_dtypes.bfloat16),), rtol=2e-2, atol=2e-2),
    Case("sum_f16", lambda x: jnp.sum(x, axis=2), (X.astype(np.float16),), rtol=4e-3, atol=4e-3),
    Case("sum_f64", lambda x: jnp.sum(x, axis=2), (X.astype(np.float64),), rtol=1e-14, atol=1e-14),
    Case("initial_value", lambda x, v: lax.reduce(x, v, lax.add, (1,)), (N, np.int32(100))),
    Case("argmax", lambda x: jnp.argmax(x, axis=1), (X,)),
    Case("argmin", lambda x: jnp.argmin(x, axis=2), (X,)),
    Case("argmax_ties_nan", lambda x: jnp.argmax(x), (np.array([1, 3, 3, np.nan, np.nan], np.float32),)),
    Case(
        "custom_body",
        lambda x: lax.reduce(x, np.float32(0), lambda a, b: a * b + a + b, (1,)),
        (np.abs(X[:, :1]),),
        rtol=1e-5,
    ),
    Case(
        "two_operands",
        lambda x, y: lax.reduce((x, y), (np.float32(0), np.int32(1)), lambda a, b: (a[0] + b[0], a[1] * b[1]), (1,)),
        (X, N),
        rtol=1e-5,
        atol=1e-5,
    ),
    # Sums of two products, which compete for one multiply-add.
    Case("sum_of_products", lambda x: jnp.sum(x * 0.5 + x * jnp.abs(x), axis=1), (X,), rtol=1e-5, atol=1e-5),
    Case(
        "any_of_products",
        lambda x: jnp.any(x * 0.5 + x * jnp.abs(x) > 1 - 0.03 * x * x, axis=2),
        (X,),
    ),
    Case("logsumexp", lambda x: jax.nn.logsumexp(x, axis=-1), (X,), rtol=1e-5, atol=1e-6),
    Case("softmax", lambda x: jax.nn.softmax(x, axis=-1), (X,), rtol=1e-5, atol=1e-6),
]


def _pool(init: float, op, window, strides, padding, base=None, dilation=None):
    return lambda x: lax.reduce_window(x, np.float32(init), op, window, strides, padding, base, dilation)


WINDOWS = [
    Case("max_pool", _pool(-INF, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), (IMAGE,)),
    Case("max_pool_same", _pool(-INF, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), (IMAGE,)),
    Case("sum_pool", _pool(0, lax.add, (1, 3, 2, 1), (1, 1, 2, 1), "VALID"), (IMAGE,), rtol=1e-5, atol=1e-5),
    Case("min_pool_dilated", _pool(INF, lax.min, (1, 2, 3, 1), (1, 1, 1, 1), "VALID", None, (1, 3, 2, 1)), (IMAGE,)),
    Case(
        "sum_pool_padding",
        _pool(0, lax.add, (1, 2, 2, 1), (1, 2, 3, 1), ((0, 0), (1, 2), (3, 0), (0, 0))),
        (IMAGE,),
        rtol=1e-5,
        atol=1e-5,
    ),
    Case(
        "sum_pool_negative_padding",
        _pool(0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), ((0, 0), (-1, 2), (-2, -1), (0, 0))),
        (IMAGE,),
        rtol=1e-5,
        atol=1e-5,
    ),
    Case(
        "sum_pool_base_dilation",
        _pool(0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), ((0, 0), (1, 1), (0, 0), (0, 0)), (1, 2, 3, 1), (1, 1, 2, 1)),
        (IMAGE,),
        rtol=1e-5,
        atol=1e-5,
    ),
    Case("cumsum", lambda x: lax.cumsum(x, axis=1), (X,), rtol=1e-5, atol=1e-5),
    Case("cumsum_reverse", lambda x: lax.cumsum(x, axis=0, reverse=True), (N,)),
    Case("cumprod", lambda x: lax.cumprod(x, axis=2), (X,), rtol=1e-5),
    Case("cummax", lambda x: lax.cummax(x, axis=1), (X,)),
    Case(
        "two_operand_window",
        lambda x, y: lax.reduce_window(
            (x, y), (np.float32(0), np.int32(0)), lambda a, b: (a[0] + b[0], a[1] + b[1]), (1, 2, 1), (1, 1, 1), "VALID"
        ),
        (X, N),
        rtol=1e-5,
        atol=1e-5,
    ),
]

BUNDLES = [Bundle("reduce", SIMPLE), Bundle("reduce_window", WINDOWS)]
