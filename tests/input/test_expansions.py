"""Ops that are written as others (batch_norm, scan, ragged_dot, collectives of one process), and tuples and tokens."""

from __future__ import annotations

from typing import Any

import jax.lax
import numpy as np
import pytest
import tiree
from input.running import run
from tiree.support.errors import CompileError

Array = np.ndarray
lax: Any = jax.lax
RANDOM = np.random.default_rng(7)


def drawn(*shape: int) -> Array:
    return RANDOM.standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize(("dynamic", "element"), [(False, "f32"), (True, "f32"), (False, "f16"), (False, "f64")])
def test_batch_norm(dynamic: bool, element: str) -> None:
    x, v = f"tensor<{'?x3x?' if dynamic else '4x3x5'}x{element}>", f"tensor<3x{element}>"
    text = f"""func.func @f(%x: {x}, %s: {v}, %o: {v}, %m: {v}, %v: {v}, %g: {x})
    -> ({x}, {x}, {v}, {v}, {x}, {v}, {v}) {{
  %a = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) {{epsilon = 0.5 : f32, feature_index = 1 : i64}}
    : ({x}, {v}, {v}, {v}, {v}) -> {x}
  %b:3 = "stablehlo.batch_norm_training"(%x, %s, %o) {{epsilon = 0.5 : f32, feature_index = 1 : i64}}
    : ({x}, {v}, {v}) -> ({x}, {v}, {v})
  %c:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) {{epsilon = 0.5 : f32, feature_index = 1 : i64}}
    : ({x}, {v}, {v}, {v}, {x}) -> ({x}, {v}, {v})
  return %a, %b#0, %b#1, %b#2, %c#0, %c#1, %c#2 : {x}, {x}, {v}, {v}, {x}, {v}, {v}
}}"""
    dtype = {"f32": np.float32, "f16": np.float16, "f64": np.float64}[element]
    given = [a.astype(dtype) for a in (drawn(4, 3, 5), drawn(3), drawn(3), drawn(3), np.abs(drawn(3)), drawn(4, 3, 5))]
    a, s, o, m, v, g = (one.astype(np.float64) for one in given)
    axes, n = (0, 2), 20
    s, o, m, v = (one[None, :, None] for one in (s, o, m, v))
    inference = (a - m) / np.sqrt(v + 0.5) * s + o
    mean, variance = a.mean(axes, keepdims=True), a.var(axes, keepdims=True)
    training = (a - mean) / np.sqrt(variance + 0.5) * s + o
    centered = a - m
    rest = g * n - g.sum(axes, keepdims=True) - (g * centered).sum(axes, keepdims=True) * centered / (v + 0.5)
    wanted = [
        inference, training, mean.reshape(3), variance.reshape(3), s / np.sqrt(v + 0.5) / n * rest,
        (g * centered / np.sqrt(v + 0.5)).sum(axes), g.sum(axes),
    ]  # fmt: skip
    tolerance = 2e-3 if element == "f16" else 1e-5
    for got, want in zip(run(text, *given), wanted, strict=True):
        assert got.dtype == dtype
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


SCAN = """func.func @f(%x: tensor<2x{n}x3x{t}>, %c: tensor<2x3x{t}>) -> (tensor<2x{n}x3x{t}>, tensor<2x3x{t}>) {{
  {init}
  %0:2 = chlo.scan(%x) inits({start}) dimension=1 attributes {{is_reverse = {reverse}}} {{
  ^bb0(%a: tensor<2x3x{t}>, %b: tensor<2x3x{t}>):
    %1 = stablehlo.{op} %b, %a : tensor<2x3x{t}>
    stablehlo.return %1, %1 : tensor<2x3x{t}>, tensor<2x3x{t}>
  }} : (tensor<2x{n}x3x{t}>, tensor<2x3x{t}>) -> (tensor<2x{n}x3x{t}>, tensor<2x3x{t}>)
  return %0#0, %0#1 : tensor<2x{n}x3x{t}>, tensor<2x3x{t}>
}}"""
NEUTRAL = {"add": 0, "multiply": 1, "minimum": 2**31 - 1, "maximum": -(2**31)}
RUNNING: dict[str, Any] = {
    "add": np.add, "multiply": np.multiply, "minimum": np.minimum, "maximum": np.maximum, "subtract": np.subtract,
}  # fmt: skip


@pytest.mark.parametrize("op", RUNNING)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("neutral", [False, True])
def test_scan(op: str, reverse: bool, neutral: bool) -> None:
    x = RANDOM.integers(-9, 9, (2, 7, 3)).astype(np.int32)
    carry = RANDOM.integers(-9, 9, (2, 3)).astype(np.int32)
    init = f"%n = stablehlo.constant dense<{NEUTRAL.get(op, 5)}> : tensor<2x3xi32>"
    flag = str(reverse).lower()
    text = SCAN.format(n=7, t="i32", op=op, reverse=flag, init=init, start="%n" if neutral else "%c")
    value = np.full((2, 3), NEUTRAL.get(op, 5), np.int32) if neutral else carry
    want = np.zeros_like(x)
    for i in range(6, -1, -1) if reverse else range(7):
        value = want[:, i] = RUNNING[op](value, x[:, i])
    got, last = run(text, x, carry)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(last, value)


def test_scan_of_unsigned_and_of_several() -> None:
    text = """func.func @f(%x: tensor<4xui8>, %y: tensor<4xf32>)
    -> (tensor<4xui8>, tensor<ui8>, tensor<4x2xf32>, tensor<f32>) {
  %big = stablehlo.constant dense<255> : tensor<ui8>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = chlo.scan(%x) inits(%big) dimension=0 {
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %1 = stablehlo.minimum %a, %b : tensor<ui8>
    stablehlo.return %1, %1 : tensor<ui8>, tensor<ui8>
  } : (tensor<4xui8>, tensor<ui8>) -> (tensor<4xui8>, tensor<ui8>)
  %2:2 = chlo.scan(%y) inits(%zero) dimension=0 {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    %p = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>
    %q = stablehlo.reshape %1 : (tensor<f32>) -> tensor<1xf32>
    %r = stablehlo.concatenate %p, %q, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
    stablehlo.return %r, %1 : tensor<2xf32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4x2xf32>, tensor<f32>)
  return %0#0, %0#1, %2#0, %2#1 : tensor<4xui8>, tensor<ui8>, tensor<4x2xf32>, tensor<f32>
}"""
    x, y = np.array([200, 250, 7, 130], np.uint8), drawn(4)
    a, b, c, d = run(text, x, y)
    np.testing.assert_array_equal(a, np.minimum.accumulate(x))
    assert b == 7
    np.testing.assert_allclose(c, np.stack([y, np.cumsum(y)], 1), rtol=1e-6)
    np.testing.assert_allclose(d, y.sum(), rtol=1e-6)


def ragged(types: tuple[str, str, str], numbers: tuple[list[int], ...], result: str) -> str:
    names = ("lhs_batching", "rhs_batching", "lhs_contracting", "rhs_contracting", "lhs_ragged", "rhs_group")
    fields = ", ".join(f"{name}_dimensions = {dims}" for name, dims in zip(names, numbers, strict=True))
    a, b, g = (f"tensor<{type}>" for type in types)
    return f"""func.func @f(%a: {a}, %b: {b}, %g: {g}) -> tensor<{result}> {{
  %0 = "chlo.ragged_dot"(%a, %b, %g) {{
    ragged_dot_dimension_numbers = #chlo.ragged_dot<{fields}>,
    precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]
  }} : ({a}, {b}, {g}) -> tensor<{result}>
  return %0 : tensor<{result}>
}}"""


RAGGED: dict[str, Any] = {
    "rows": (((9, 5), (3, 5, 4)), [4, 0, 3], ([], [], [1], [1], [0], [0]), (9, 4)),
    "rows of batches": (
        ((2, 9, 5), (2, 5, 3, 4)), [[4, 0, 3], [0, 9, 0]], ([0], [0], [2], [1], [1], [2]), (2, 9, 4)
    ),
    "rows after others": (((2, 6, 5), (3, 5, 4)), [[1, 2, 3], [6, 0, 0]], ([], [], [2], [1], [1], [0]), (2, 6, 4)),
    "products": (((6, 9), (9, 4)), [4, 2, 1], ([], [], [1], [0], [1], []), (3, 6, 4)),
    "products of batches": (
        ((2, 9, 6), (2, 9, 4)), [[4, 2, 1], [0, 0, 9]], ([0], [0], [1], [1], [1], []), (3, 2, 6, 4)
    ),
    "batches": (((5, 2, 3), (5, 3, 4)), [2, 3], ([0], [0], [2], [1], [0], []), (5, 2, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", RAGGED)
@pytest.mark.parametrize("known", [True, False])
def test_ragged_dot(name: str, known: bool) -> None:
    """Of sizes that are known, and of `?` all over."""
    shapes, sizes, numbers, result = RAGGED[name]
    a, b = (drawn(*shape) for shape in shapes)
    groups = np.array(sizes, np.int32)
    types = ["x".join(str(size) if known else "?" for size in shape) for shape in (*shapes, groups.shape, result)]
    text = ragged((f"{types[0]}xf32", f"{types[1]}xf32", f"{types[2]}xi32"), numbers, f"{types[3]}xf32")
    lb, rb, lc, rc, lr, rg = numbers
    dims = lax.RaggedDotDimensionNumbers(((lc, rc), (lb, rb)), lr, rg)
    want = np.asarray(lax.ragged_dot_general(a, b, groups, dims, precision="highest"))
    (got,) = run(text, a, b, groups)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("rows", "inner", "columns", "groups"), [(0, 2, 3, 2), (4, 0, 3, 2), (4, 2, 0, 1), (4, 2, 3, 0)]
)
def test_empty_ragged_dot(rows: int, inner: int, columns: int, groups: int) -> None:
    text = ragged(("?x?xf32", "?x?x?xf32", "?xi32"), ([], [], [1], [1], [0], [0]), "?x?xf32")
    sizes = np.array([rows, *[0] * groups][:groups], np.int32)
    (got,) = run(text, drawn(rows, inner), drawn(groups, inner, columns), sizes)
    np.testing.assert_array_equal(got, np.zeros((rows, columns), np.float32))


def test_infinity_stays_in_its_group() -> None:
    text = ragged(("4x2xf32", "2x2x3xf32", "2xi64"), ([], [], [1], [1], [0], [0]), "4x3xf32")
    a, b = np.ones((4, 2), np.float32), np.ones((2, 2, 3), np.float32)
    b[1] = np.inf
    (got,) = run(text, a, b, np.array([3, 1]))
    np.testing.assert_array_equal(got, np.array([[2] * 3] * 3 + [[np.inf] * 3], np.float32))


def test_collectives_with_a_root() -> None:
    """The root is this process; outside of all groups everything is zero."""
    text = """func.func @f(%x: tensor<4xf32>, %r: tensor<1xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %b = "stablehlo.collective_reduce"(%x, %r) <{has_dynamic_root = true, replica_groups = dense<> : tensor<0x0xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  %c = "stablehlo.collective_broadcast"(%x, %r) <{has_dynamic_root = true, replica_groups = dense<0> : tensor<1x1xi64>}>
    : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}"""
    x = drawn(4)
    for got, want in zip(run(text, x, np.zeros(1, np.int32)), (x, 0 * x, x), strict=True):
        np.testing.assert_array_equal(got, want)


def test_collectives_of_one_process() -> None:
    text = """func.func @f(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<ui32>, tensor<ui32>) {
  %a = "stablehlo.all_reduce"(%x) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}
    : (tensor<4xf32>) -> tensor<4xf32>
  %c = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64,
    replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  %d = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<> : tensor<0x2xi64>}
    : (tensor<4xf32>) -> tensor<4xf32>
  %e = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  %i = stablehlo.partition_id : tensor<ui32>
  %j = stablehlo.replica_id : tensor<ui32>
  return %a, %b, %c, %d, %e, %i, %j : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
    tensor<ui32>, tensor<ui32>
}"""
    x = drawn(4)
    a, b, c, d, e, i, j = run(text, x)
    for same in (a, b, c, e):
        np.testing.assert_array_equal(same, x)
    assert not d.any()
    assert i == j == 0


def test_asynchronous_ops_are_made_where_they_start() -> None:
    text = """func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%p: tensor<4xf32>):
    %1 = "stablehlo.all_gather"(%p) {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}
      : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %2 = "stablehlo.async_start"(%x) ({
    %3 = stablehlo.slice %x [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>
    "stablehlo.return"(%3) : (tensor<2xf32>) -> ()
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  %4 = "stablehlo.async_done"(%2) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  %5 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %5, %4 : tensor<4xf32>, tensor<2xf32>
}"""
    x = drawn(4)
    whole, part = run(text, x)
    np.testing.assert_array_equal(whole, x)
    np.testing.assert_array_equal(part, x[1::2])


def test_futures_of_others_are_refused() -> None:
    text = """func.func @f(%x: !stablehlo.future<tensor<2xf32>>) -> tensor<2xf32> {
  %0 = "stablehlo.async_done"(%x) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""
    with pytest.raises(CompileError, match=r"the type !stablehlo.future"):
        tiree.compile(text)


def test_several_processes_are_refused() -> None:
    text = """func.func @f(%x: tensor<4xf32>) -> tensor<8xf32> {
  %b = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
    : (tensor<4xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}"""
    with pytest.raises(CompileError, match=r"all_gather with several processes \(0, 1\)"):
        tiree.compile(text)


TUPLES = """func.func private @swap(%p: tuple<tensor<3xf32>, tensor<i32>>) -> tuple<tensor<i32>, tensor<3xf32>> {
  %a = stablehlo.get_tuple_element %p[0] : (tuple<tensor<3xf32>, tensor<i32>>) -> tensor<3xf32>
  %b = stablehlo.get_tuple_element %p[1] : (tuple<tensor<3xf32>, tensor<i32>>) -> tensor<i32>
  %q = stablehlo.tuple %b, %a : tuple<tensor<i32>, tensor<3xf32>>
  return %q : tuple<tensor<i32>, tensor<3xf32>>
}
func.func @f(%t: !stablehlo.token, %x: tuple<tensor<3xf32>, tuple<tensor<i32>, !stablehlo.token>>, %n: tensor<i32>)
    -> (tuple<tensor<i32>, tensor<3xf32>>, !stablehlo.token) {
  %a = stablehlo.get_tuple_element %x[0]
    : (tuple<tensor<3xf32>, tuple<tensor<i32>, !stablehlo.token>>) -> tensor<3xf32>
  %b = stablehlo.get_tuple_element %x[1]
    : (tuple<tensor<3xf32>, tuple<tensor<i32>, !stablehlo.token>>) -> tuple<tensor<i32>, !stablehlo.token>
  %c = stablehlo.get_tuple_element %b[0] : (tuple<tensor<i32>, !stablehlo.token>) -> tensor<i32>
  %k = stablehlo.after_all %t : !stablehlo.token
  %p = stablehlo.tuple %a, %c : tuple<tensor<3xf32>, tensor<i32>>
  %r = "stablehlo.while"(%p) ({
  ^bb0(%q: tuple<tensor<3xf32>, tensor<i32>>):
    %i = stablehlo.get_tuple_element %q[1] : (tuple<tensor<3xf32>, tensor<i32>>) -> tensor<i32>
    %y = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %y : tensor<i1>
  }, {
  ^bb0(%q: tuple<tensor<3xf32>, tensor<i32>>):
    %v = stablehlo.get_tuple_element %q[0] : (tuple<tensor<3xf32>, tensor<i32>>) -> tensor<3xf32>
    %i = stablehlo.get_tuple_element %q[1] : (tuple<tensor<3xf32>, tensor<i32>>) -> tensor<i32>
    %w = stablehlo.add %v, %v : tensor<3xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %s = stablehlo.tuple %w, %j : tuple<tensor<3xf32>, tensor<i32>>
    stablehlo.return %s : tuple<tensor<3xf32>, tensor<i32>>
  }) : (tuple<tensor<3xf32>, tensor<i32>>) -> tuple<tensor<3xf32>, tensor<i32>>
  %z = call @swap(%r) : (tuple<tensor<3xf32>, tensor<i32>>) -> tuple<tensor<i32>, tensor<3xf32>>
  return %z, %k : tuple<tensor<i32>, tensor<3xf32>>, !stablehlo.token
}"""


def test_tuples_and_tokens() -> None:
    n, x = run(TUPLES, np.array([1, 2, 3], np.float32), np.int32(1), np.int32(4))
    assert n == 4
    np.testing.assert_array_equal(x, [8, 16, 24])
