"""Complex tensors moved, reduced, contracted, sorted and carried by control flow; JAX on the CPU is the oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

jax = pytest.importorskip("jax")
lax: Any = pytest.importorskip("jax.lax")
jnp: Any = pytest.importorskip("jax.numpy")

RNG = np.random.default_rng(7)


def c64(*shape: int) -> Any:
    made: Any = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)
    return made.astype(np.complex64)


def moved(x: Any, y: Any) -> Any:
    # Axes, edges and gaps, also with values that are no constants.
    return (
        x.reshape(6, 4).T,
        x[::2, 1:3][::-1],
        jnp.concatenate([x, y[:, :2]], 1),
        jnp.stack([x, y]),
        jnp.broadcast_to(x[:, None], (4, 3, 6)),
        jnp.pad(x, ((1, 2), (0, 3)), constant_values=1 + 2j),
        lax.pad(x, y[0, 0], ((1, 1, 2), (0, -1, 0))),
        jnp.roll(x, 2, axis=1),
        lax.iota(jnp.complex64, 7),
        jnp.where(x.real > 0, x, y.conj()),
    )


def indexed(x: Any, u: Any, i: Any, k: Any) -> Any:
    return (
        jnp.take(x, i, axis=0, mode="fill"),
        x.at[i].set(u),
        x.at[i].add(u),
        x.at[i].multiply(u),
        lax.dynamic_slice(x, (k, k), (2, 2)),
        lax.dynamic_update_slice(x, u[:2, :2], (k, k)),
    )


def reduced(x: Any) -> Any:
    window = ((2, 3), (1, 2), "VALID")
    return (
        x.sum(),
        x.sum(0),
        x.prod(1),
        x.mean(),
        jnp.cumsum(x, 0),
        lax.reduce_window(x, np.complex64(0), lax.add, *window),
        lax.reduce_window(x, np.complex64(1), lax.mul, *window),
        jnp.linalg.norm(x),
    )


def contracted(x: Any, y: Any, b: Any, r: Any) -> Any:
    return x @ y, jnp.vdot(x, x), jnp.einsum("bij,bkj->bik", b, b), x @ r


def large(x: Any, y: Any) -> Any:
    return x @ y


def ordered(x: Any, y: Any) -> Any:
    return jnp.sort(x, axis=0), jnp.argsort(x, axis=1), jnp.sort(y)


def carried(x: Any, p: Any) -> Any:
    return (
        lax.fori_loop(0, 5, lambda _, z: z * z * 0.5 + x, x),
        lax.cond(p, lambda z: z * 2j, lambda z: z.conj(), x),
        *lax.scan(lambda s, z: (s + z, s * z), np.complex64(1), x),
    )


def derived(x: Any) -> Any:
    return jax.grad(lambda z: jnp.sum(jnp.abs(jnp.sin(z) * z) ** 2))(x)


_TIES = (RNG.integers(0, 3, 30) + 1j * RNG.integers(0, 3, 30)).astype(np.complex64)
_REAL = RNG.standard_normal((9, 2)).astype(np.float32)
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "moved": (moved, (c64(4, 6), c64(4, 6))),
    "indexed": (indexed, (c64(5, 3), c64(3, 3), np.array([0, 3, 3], np.int32), np.int32(1))),
    "reduced": (reduced, (c64(9, 40),)),
    "contracted": (contracted, (c64(7, 9), c64(9, 5), c64(3, 4, 5), _REAL)),
    "large": (large, (c64(33, 50), c64(50, 70))),
    "ordered": (ordered, (c64(6, 7), _TIES)),
    "carried": (carried, (c64(5), np.bool_(True))),
    "derived": (derived, (c64(9),)),
    "empty": (lambda x: (x.sum(), x + 1, jnp.concatenate([x, x])), (c64(0),)),
}


@pytest.mark.parametrize("name", CASES)
def test_against_jax(name: str) -> None:
    function, arguments = CASES[name]
    module = rt.load(tiree.compile(function, *arguments))
    got = module.main(*arguments)
    values: list[Any] = list(got) if isinstance(got, (tuple, list)) else [got]
    wanted: list[Any] = jax.tree_util.tree_leaves(jax.jit(function)(*arguments))
    for one, other in zip(values, wanted, strict=True):
        assert np.asarray(one).dtype == other.dtype
        np.testing.assert_allclose(np.asarray(one), other, rtol=2e-5, atol=2e-5)


CONVOLUTION = """
func.func @small(%a: tensor<2x6x5x3xcomplex<f32>>, %w: tensor<3x3x3x2xcomplex<f32>>) -> tensor<2x6x5x2xcomplex<f32>> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {pad = [[1, 1], [1, 1]]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64}
    : (tensor<2x6x5x3xcomplex<f32>>, tensor<3x3x3x2xcomplex<f32>>) -> tensor<2x6x5x2xcomplex<f32>>
  return %0 : tensor<2x6x5x2xcomplex<f32>>
}
func.func @large(%a: tensor<1x13x12x8xcomplex<f64>>, %w: tensor<3x3x8x9xcomplex<f64>>)
    -> tensor<1x6x5x9xcomplex<f64>> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 2]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64}
    : (tensor<1x13x12x8xcomplex<f64>>, tensor<3x3x8x9xcomplex<f64>>) -> tensor<1x6x5x9xcomplex<f64>>
  return %0 : tensor<1x6x5x9xcomplex<f64>>
}
func.func @bits(%a: tensor<3xcomplex<f64>>, %b: tensor<3x2xcomplex<f32>>) -> (tensor<3x2xcomplex<f32>>,
    tensor<3xcomplex<f64>>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<3xcomplex<f64>>) -> tensor<3x2xcomplex<f32>>
  %1 = stablehlo.bitcast_convert %b : (tensor<3x2xcomplex<f32>>) -> tensor<3xcomplex<f64>>
  return %0, %1 : tensor<3x2xcomplex<f32>>, tensor<3xcomplex<f64>>
}
"""


def _convolved(a: Any, w: Any, stride: int) -> Any:
    """By definition, without padding."""
    height = (a.shape[1] - w.shape[0]) // stride + 1
    width = (a.shape[2] - w.shape[1]) // stride + 1
    result = np.zeros((a.shape[0], height, width, w.shape[3]), a.dtype)
    for y in range(height):
        for x in range(width):
            patch = a[:, y * stride : y * stride + w.shape[0], x * stride : x * stride + w.shape[1]]
            result[:, y, x] = np.tensordot(patch, w, 3)
    return result


def test_convolutions_and_bits() -> None:
    module = rt.load(tiree.compile(CONVOLUTION))
    a, w = c64(2, 6, 5, 3), c64(3, 3, 3, 2)
    padded = np.pad(a, ((0, 0), (1, 1), (1, 1), (0, 0)))
    np.testing.assert_allclose(np.asarray(module.small(a, w)), _convolved(padded, w, 1), rtol=1e-4, atol=1e-4)
    a, w = c64(1, 13, 12, 8).astype(np.complex128), c64(3, 3, 8, 9).astype(np.complex128)
    np.testing.assert_allclose(np.asarray(module.large(a, w)), _convolved(a, w, 2), rtol=1e-12, atol=1e-12)
    wide, narrow = c64(3).astype(np.complex128), c64(3, 2)
    one, other = module.bits(wide, narrow)
    np.testing.assert_array_equal(np.asarray(one), wide.view(np.complex64).reshape(3, 2))
    np.testing.assert_array_equal(np.asarray(other), narrow.view(np.complex128).reshape(3))
