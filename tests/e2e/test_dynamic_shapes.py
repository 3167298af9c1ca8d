"""Tensors with `?` dimensions, end to end: values from numpy at random sizes, 0 and 1 among them.

Every module runs in Tiree's runtime and in IREE's; what JAX exports with symbolic shapes runs as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from tiree.runtime.errors import StatusError

Array = np.ndarray
RNG = np.random.default_rng(5)

PROGRAM = """
func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @add_known(%a: tensor<?xf32>, %b: tensor<5xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.add"(%a, %b) : (tensor<?xf32>, tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
func.func @chain(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi1>) {
  %0 = stablehlo.multiply %a, %b : tensor<?x?xf32>
  %1 = stablehlo.tanh %0 : tensor<?x?xf32>
  %2 = stablehlo.compare GT, %1, %a : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xi1>
  %3 = stablehlo.select %2, %1, %b : tensor<?x?xi1>, tensor<?x?xf32>
  return %3, %2 : tensor<?x?xf32>, tensor<?x?xi1>
}
func.func @convert(%a: tensor<?x3xi8>) -> (tensor<?x3xf32>, tensor<?x3xi64>) {
  %0 = stablehlo.convert %a : (tensor<?x3xi8>) -> tensor<?x3xf32>
  %1 = stablehlo.convert %a : (tensor<?x3xi8>) -> tensor<?x3xi64>
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xi64>
}
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @batch(%a: tensor<?x3x?xf64>, %b: tensor<?x?x4xf64>) -> tensor<?x3x4xf64> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<?x3x?xf64>, tensor<?x?x4xf64>) -> tensor<?x3x4xf64>
  return %0 : tensor<?x3x4xf64>
}
func.func @reduce(%a: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  %1 = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [0]
    : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  %2 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<?x?xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<f32>
}
func.func @transpose(%a: tensor<?x?x2xf32>) -> tensor<2x?x?xf32> {
  %0 = stablehlo.transpose %a, dims = [2, 1, 0] : (tensor<?x?x2xf32>) -> tensor<2x?x?xf32>
  return %0 : tensor<2x?x?xf32>
}
func.func @concatenate(%a: tensor<?x3xf32>, %b: tensor<2x3xf32>, %c: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = stablehlo.concatenate %a, %b, %c, dim = 0
    : (tensor<?x3xf32>, tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
func.func @columns(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @slice(%a: tensor<?x6xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.slice %a [1:3, 1:5:2] : (tensor<?x6xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
func.func @pad(%a: tensor<?x?xf32>, %v: tensor<f32>) -> tensor<?x?xf32> {
  %0 = stablehlo.pad %a, %v, low = [1, 0], high = [0, 2], interior = [0, 1]
    : (tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @padded(%a: tensor<?xf32>, %v: tensor<f32>, %l: tensor<1xi32>, %h: tensor<1xi32>) -> tensor<?xf32> {
  %i = stablehlo.constant dense<0> : tensor<1xi32>
  %0 = stablehlo.dynamic_pad %a, %v, %l, %h, %i
    : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @part(%a: tensor<?xf32>, %s: tensor<1xi32>, %e: tensor<1xi32>, %d: tensor<1xi32>) -> tensor<?xf32> {
  %0 = stablehlo.real_dynamic_slice %a, %s, %e, %d
    : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @reverse(%a: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %0 = stablehlo.reverse %a, dims = [1] : tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}
func.func @sizes(%a: tensor<?x?xf32>) -> (tensor<i32>, tensor<2xi32>) {
  %0 = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %1 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %2 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
  %3 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
  %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  return %0, %4 : tensor<i32>, tensor<2xi32>
}
func.func @broadcast(%a: tensor<?xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @iota(%s: tensor<2xi32>) -> tensor<?x?xi32> {
  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}
func.func @reshape(%a: tensor<?x4xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @gather(%t: tensor<?x4xf32>, %i: tensor<?x1xi32>) -> tensor<?x4xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 4>}> : (tensor<?x4xf32>, tensor<?x1xi32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
func.func @window(%a: tensor<?xf32>, %s: tensor<i32>) -> tensor<3xf32> {
  %0 = stablehlo.dynamic_slice %a, %s, sizes = [3] : (tensor<?xf32>, tensor<i32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @update(%a: tensor<?xf32>, %u: tensor<?xf32>, %s: tensor<i32>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %s : (tensor<?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @same(%a: tensor<?xf32>) -> tensor<?xf32> {
  return %a : tensor<?xf32>
}
func.func @half(%a: tensor<?x5xf16>, %b: tensor<?x5xbf16>) -> (tensor<?x5xf16>, tensor<?x5xbf16>) {
  %0 = stablehlo.multiply %a, %a : tensor<?x5xf16>
  %1 = stablehlo.add %b, %b : tensor<?x5xbf16>
  return %0, %1 : tensor<?x5xf16>, tensor<?x5xbf16>
}
"""


def floats(*shape: int, type: Any = np.float32) -> Array:
    return RNG.standard_normal(shape).astype(type)


def _pad(a: Array, v: Array) -> Array:
    rows, columns = a.shape
    out = np.full((rows + 1, max(0, 2 * columns - 1) + 2), v, a.dtype)
    if columns:
        out[1:, : 2 * columns - 1 : 2] = a
    return out


def _update(a: Array, u: Array, s: Array) -> Array:
    start = min(max(int(s), 0), len(a) - len(u))
    out = a.copy()
    out[start : start + len(u)] = u
    return out


def _chain(a: Array, b: Array) -> tuple[Array, Array]:
    t = np.tanh(a * b)
    return np.where(t > a, t, b), t > a


class Sizes(NamedTuple):
    """What the inputs of a case are made from."""

    n: int
    m: int
    k: int


Inputs = Callable[[Sizes], Sequence[Array]]
CASES: dict[str, tuple[Inputs, Callable[..., Any]]] = {
    "add": (lambda s: [floats(s.n), floats(s.n)], lambda a, b: a + b),
    "add_known": (lambda _: [floats(5), floats(5)], lambda a, b: a + b),
    "chain": (lambda s: [floats(s.n, s.m), floats(s.n, s.m)], _chain),
    "convert": (
        lambda s: [RNG.integers(-128, 128, (s.n, 3), dtype=np.int8)],
        lambda a: (a.astype(np.float32), a.astype(np.int64)),
    ),
    "matmul": (lambda s: [floats(s.n, s.k), floats(s.k, s.m)], lambda a, b: a @ b),
    "batch": (
        lambda s: [floats(s.n, 3, s.k, type=np.float64), floats(s.n, s.k, 4, type=np.float64)],
        lambda a, b: a @ b,
    ),
    "reduce": (
        lambda s: [floats(s.n, s.m)],
        lambda a: (a.sum(1), a.max(0, initial=-np.inf), np.asarray(a.sum(), np.float32)),
    ),
    "transpose": (lambda s: [floats(s.n, s.m, 2)], lambda a: a.transpose(2, 1, 0)),
    "concatenate": (
        lambda s: [floats(s.n, 3), floats(2, 3), floats(s.m, 3)],
        lambda *parts: np.concatenate(parts),
    ),
    "columns": (lambda s: [floats(s.n, s.m), floats(s.n, s.k)], lambda *parts: np.concatenate(parts, 1)),
    "slice": (lambda s: [floats(s.n + 3, 6)], lambda a: a[1:3, 1:5:2]),
    "pad": (lambda s: [floats(s.n, s.m), floats()], _pad),
    "padded": (
        lambda s: [floats(s.n), floats(), np.asarray([s.m], np.int32), np.asarray([s.k - s.m], np.int32)],
        lambda a, v, low, high: np.pad(a, (low[0], max(0, high[0])), constant_values=v)[: len(a) + low[0] + high[0]],
    ),
    "part": (
        lambda s: [floats(s.n + s.m), *(np.asarray([i], np.int32) for i in (s.n, s.n + s.m, s.k + 1))],
        lambda a, start, end, step: a[start[0] : end[0] : step[0]],
    ),
    "reverse": (lambda s: [RNG.integers(-9, 9, (s.n, s.m), dtype=np.int32)], lambda a: a[:, ::-1]),
    "half": (
        lambda s: [floats(s.n, 5, type=np.float16), floats(s.n, 5).astype(ml_dtypes.bfloat16)],
        lambda a, b: (a * a, b + b),
    ),
    "sizes": (
        lambda s: [floats(s.n, s.m)],
        lambda a: (np.asarray(a.shape[0], np.int32), np.asarray(a.shape, np.int32)),
    ),
    "broadcast": (
        lambda s: [floats(s.m if s.k % 2 else 1), np.asarray([s.n, s.m], np.int32)],
        lambda a, s: np.broadcast_to(a, tuple(s)),
    ),
    "iota": (
        lambda s: [np.asarray([s.n, s.m], np.int32)],
        lambda s: np.broadcast_to(np.arange(s[1], dtype=np.int32), tuple(s)),
    ),
    "reshape": (
        lambda s: [floats(s.n, 4), np.asarray([2 * s.n, 2], np.int64)],
        lambda a, s: a.reshape(tuple(s)),
    ),
    "gather": (
        lambda s: [floats(s.n + 1, 4), RNG.integers(-2, s.n + 4, (s.m, 1), dtype=np.int32)],
        lambda t, i: t[np.clip(i[:, 0], 0, len(t) - 1)],
    ),
    "window": (
        lambda s: [floats(s.n + 3), np.asarray(s.m - 2, np.int32)],
        lambda a, s: a[min(max(int(s), 0), len(a) - 3) :][:3],
    ),
    "update": (lambda s: [floats(s.n + s.m), floats(s.m), np.asarray(s.k - 2, np.int32)], _update),
    "same": (lambda s: [floats(s.n)], lambda a: a),
}
SIZES = [(0, 0, 0), (1, 1, 1), (0, 3, 2), (3, 0, 5), (5, 7, 0), (1, 40, 3)]


@pytest.fixture(scope="module")
def module() -> bytes:
    return tiree.compile(PROGRAM)


def close(got: Any, want: Any) -> None:
    got = got if isinstance(got, (list, tuple)) else [got]
    want = want if isinstance(want, (list, tuple)) else [want]
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        one = np.asarray(one)
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        tolerance = 1e-2 if one.dtype.itemsize == 2 else 1e-5
        np.testing.assert_allclose(one.astype(np.float64), other.astype(np.float64), rtol=tolerance, atol=tolerance)


@iree.needs_iree
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, module: bytes) -> None:
    make, expected = CASES[name]
    random = [tuple(int(n) for n in RNG.integers(0, 50, 3)) for _ in range(6)]
    here = rt.load(module)
    for sizes in [*SIZES, *random]:
        inputs = make(Sizes(*sizes))
        want = expected(*inputs)
        close(getattr(here, name)(*inputs), want)
        close(iree.call(module, name, inputs, "local-task"), want)


def test_large_sizes_use_many_workgroups(module: bytes) -> None:
    loaded = rt.load(module, device="local-task")
    a, b = floats(300_001), floats(300_001)
    close(loaded.add(a, b), a + b)
    a, b = floats(301, 77), floats(77, 203)
    close(loaded.matmul(a, b), a @ b)


def jax_programs() -> dict[str, tuple[Callable[..., Any], list[tuple[str, Any]]]]:
    import jax
    import jax.numpy as jnp

    f32, i32 = np.float32, np.int32
    conv, layout = jax.lax.conv_general_dilated, ("NHWC", "HWIO", "NHWC")
    kernel, depth = floats(3, 3, 2, 4), floats(3, 3, 1, 6)

    def norm(x: Any, g: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * g

    return {
        "mlp": (
            lambda x, w, b, v: jnp.tanh(x @ w + b) @ v,
            [("n,8", f32), ("8,16", f32), ("16", f32), ("16,4", f32)],
        ),
        "softmax": (lambda x: jax.nn.softmax(x, axis=-1), [("n,m", f32)]),
        "attention": (
            lambda q, k, v: jax.nn.softmax(q @ k.swapaxes(-1, -2), axis=-1) @ v,
            [("b,n,8", f32), ("b,m,8", f32), ("b,m,8", f32)],
        ),
        "norm": (norm, [("b,n,16", f32), ("16", f32)]),
        "pairs": (lambda x: x.reshape((x.shape[0] // 2, 2, -1)).sum(1), [("2*n,3", f32)]),
        "difference": (lambda x: x[1:] - x[:-1], [("n+1,3", f32)]),
        "lookup": (lambda t, i: t[i], [("10,4", f32), ("n", i32)]),
        "argmax": (lambda x: jnp.argmax(x, -1), [("n,5", f32)]),
        "joined": (lambda x, y: jnp.concatenate([x, y], 0) * 2, [("n,3", f32), ("m,3", f32)]),
        "counted": (lambda x: x + jnp.arange(x.shape[0], dtype=f32)[:, None], [("n,3", f32)]),
        "padded": (lambda x: jnp.pad(x, ((1, 2), (0, 1))), [("n,3", f32)]),
        "chosen": (lambda x, y: jnp.where(x > y, x, 0.0), [("n,m", f32), ("n,m", f32)]),
        "strided_conv": (lambda x: conv(x, kernel, (2, 1), "SAME", dimension_numbers=layout), [("n,8,9,2", f32)]),
        "depthwise": (
            lambda x: conv(x, depth, (1, 1), "SAME", dimension_numbers=layout, feature_group_count=2),
            [("n,8,9,2", f32)],
        ),
        "image_size": (
            lambda x: jax.nn.relu(conv(x, kernel, (1, 1), [(1, 1), (1, 1)], dimension_numbers=layout)),
            [("n,m,9,2", f32)],
        ),
        "max_pool": (
            lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
            [("n,8,9,2", f32)],
        ),
        "sum_pool": (
            lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"),
            [("n,8,9,2", f32)],
        ),
        "set_rows": (lambda x: x.at[jnp.array([0, 0, -1])].add(2.0), [("n,3", f32)]),
        "set_column": (lambda x: x.at[:, 1].multiply(3.0), [("n,3", f32)]),
        "sum_pairs": (lambda x, u: x.at[jnp.arange(u.shape[0]) // 2].add(u), [("n,3", f32), ("n,3", f32)]),
        "sort_rows": (lambda x: jnp.sort(x, -1), [("n,7", f32)]),
        "order": (lambda x: jnp.argsort(jnp.round(x * 2), 0), [("n,3", f32)]),
        "loop": (lambda x: jax.lax.fori_loop(0, 5, lambda _, a: a * 1.5 + x, x), [("n,3", f32)]),
        "counted_loop": (
            lambda x, k: jax.lax.fori_loop(0, k, lambda _, a: jnp.tanh(a) + x, x),
            [("n,3", f32), ("", i32)],
        ),
        "while": (
            lambda x: jax.lax.while_loop(lambda a: a.sum() < 100.0, lambda a: a + jnp.abs(x) + 1, x),
            [("n,3", f32)],
        ),
        "branch": (lambda x: jax.lax.cond(x.sum() > 0, lambda a: a * 2, lambda a: a - 1, x), [("n,3", f32)]),
        "switch": (
            lambda x, k: jax.lax.switch(k % 3, [lambda a: a * 2, lambda a: a - 1, jnp.exp], x),
            [("n,3", f32), ("", i32)],
        ),
        "scan": (
            lambda x: jax.lax.scan(lambda c, _: (c * 0.5 + x, c.sum()), x, None, length=4)[1],
            [("n,3", f32)],
        ),
    }


@iree.needs_iree
@pytest.mark.parametrize(
    "name",
    [
        "mlp",
        "softmax",
        "attention",
        "norm",
        "pairs",
        "difference",
        "lookup",
        "argmax",
        "joined",
        "counted",
        "padded",
        "chosen",
        "strided_conv",
        "depthwise",
        "image_size",
        "max_pool",
        "sum_pool",
        "set_rows",
        "set_column",
        "sum_pairs",
        "sort_rows",
        "order",
        "loop",
        "counted_loop",
        "while",
        "branch",
        "switch",
        "scan",
    ],
)
def test_jax_export(name: str) -> None:
    jax = pytest.importorskip("jax", reason="the programs come from JAX")
    from jax import export

    function, arguments = jax_programs()[name]
    scope = export.SymbolicScope()
    shapes = [jax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope), type) for text, type in arguments]
    module = tiree.compile(export.export(jax.jit(function))(*shapes).mlir_module())
    here = rt.load(module)
    for sizes in ({"n": 1, "m": 1, "b": 1}, {"n": 5, "m": 18, "b": 2}, {"n": 33, "m": 7, "b": 3}):
        inputs: list[Array] = []
        for text, type in arguments:
            shape = [int(eval(part, {}, sizes)) for part in text.split(",") if part]
            inputs.append(floats(*shape) if type is np.float32 else RNG.integers(-3, 14, shape).astype(type))
        want = np.asarray(jax.jit(function)(*inputs))
        close(here.main(*inputs), want)
        close(iree.call(module, "main", inputs, "local-sync"), want)


def test_jax_assertions_fail_with_their_message() -> None:
    jax = pytest.importorskip("jax", reason="the program comes from JAX")
    from jax import export

    (shape,) = (export.symbolic_shape("2*n"),)
    text = export.export(jax.jit(lambda x: x * 2))(jax.ShapeDtypeStruct(shape, np.float32)).mlir_module()
    loaded = rt.load(tiree.compile(text))
    with pytest.raises(StatusError, match="polymorphic shapes specification") as caught:
        loaded.main(floats(5))
    assert caught.value.code_name == "INVALID_ARGUMENT"


def test_sizes_that_cannot_be_addressed_are_refused(module: bytes) -> None:
    loaded = rt.load(module)
    for name, inputs in (
        ("iota", [np.asarray([2**31 - 1, 2**31 - 1], np.int32)]),
        ("broadcast", [floats(1), np.asarray([2**31 - 1, 2**31 - 1], np.int32)]),
        ("iota", [np.asarray([3, -1], np.int32)]),
    ):
        with pytest.raises(StatusError, match=r"more elements than can be addressed|must be at least 0") as caught:
            getattr(loaded, name)(*inputs)
        assert caught.value.code_name == "INVALID_ARGUMENT"
