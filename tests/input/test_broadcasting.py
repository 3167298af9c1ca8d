"""CHLO's broadcasting ops, einsum, set_dimension_size and JAX's dynamic window reductions, static and with `?`."""

from __future__ import annotations

from typing import Any

import jax
import jax.export
import jax.lax
import jax.numpy
import ml_dtypes
import numpy as np
import pytest
import tiree
from input.running import run
from tiree.runtime.errors import StatusError

Array = np.ndarray
untyped: Any = jax
jnp: Any = jax.numpy
lax: Any = jax.lax
RANDOM = np.random.default_rng(17)


def drawn(*shape: int) -> Array:
    return RANDOM.standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize("dynamic", [False, True])
def test_broadcasting(dynamic: bool) -> None:
    a, b = ("tensor<?x1x?xf32>", "tensor<?x?xf32>") if dynamic else ("tensor<2x1x4xf32>", "tensor<3x4xf32>")
    r, p = ("tensor<?x?x?xf32>", "tensor<?x?x?xi1>") if dynamic else ("tensor<2x3x4xf32>", "tensor<2x3x4xi1>")
    text = f"""func.func @f(%a: {a}, %b: {b}, %s: tensor<f32>) -> ({r}, {r}, {p}, {r}, {a}) {{
  %0 = chlo.broadcast_add %a, %b : ({a}, {b}) -> {r}
  %1 = chlo.broadcast_multiply %0, %s : ({r}, tensor<f32>) -> {r}
  %2 = "chlo.broadcast_compare"(%0, %b) {{comparison_direction = #chlo<comparison_direction LT>}} : ({r}, {b}) -> {p}
  %3 = "chlo.broadcast_select"(%2, %0, %b) : ({p}, {r}, {b}) -> {r}
  %4 = "chlo.constant_like"(%a) {{value = 2.5 : f32}} : ({a}) -> {a}
  return %0, %1, %2, %3, %4 : {r}, {r}, {p}, {r}, {a}
}}"""
    x, y = drawn(2, 1, 4), drawn(3, 4)
    total, scaled, less, chosen, like = run(text, x, y, np.float32(0.5))
    np.testing.assert_array_equal(total, x + y)
    np.testing.assert_array_equal(scaled, (x + y) * np.float32(0.5))
    np.testing.assert_array_equal(less, x + y < y)
    np.testing.assert_array_equal(chosen, np.where(x + y < y, x + y, y))
    np.testing.assert_array_equal(like, np.full_like(x, 2.5))


def test_broadcast_dimensions() -> None:
    text = """func.func @f(%a: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<2x3xf32> {
  %0 = "chlo.broadcast_subtract"(%a, %b) {broadcast_dimensions = array<i64: 0>}
    : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}"""
    x, y = drawn(2, 3), drawn(2)
    np.testing.assert_array_equal(run(text, x, y)[0], x - y[:, None])


EINSUMS = {
    "ij,jk->ik": ((3, 4), (4, 5)), "bij,bkj->kbi": ((2, 3, 4), (2, 5, 4)), "ij,k->kj": ((3, 4), (5,)),
    "i,i->": ((4,), (4,)), "...ij,...jk->...ik": ((2, 3, 4), (2, 4, 5)),
}  # fmt: skip


@pytest.mark.parametrize("config", EINSUMS)
def test_einsum(config: str) -> None:
    x, y = (drawn(*shape) for shape in EINSUMS[config])
    want = np.asarray(np.einsum(config, x, y))
    types = [f"tensor<{'x'.join([*map(str, value.shape), 'f32'])}>" for value in (x, y, want)]
    text = f"""func.func @f(%a: {types[0]}, %b: {types[1]}) -> {types[2]} {{
  %0 = "stablehlo.einsum"(%a, %b) {{einsum_config = "{config}"}} : ({types[0]}, {types[1]}) -> {types[2]}
  return %0 : {types[2]}
}}"""
    np.testing.assert_allclose(run(text, x, y)[0], want, rtol=1e-5, atol=1e-5)


def test_unary_einsum() -> None:
    text = """func.func @f(%a: tensor<2x3x4xf32>) -> tensor<4x2xf32> {
  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "abc->ca"} : (tensor<2x3x4xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}"""
    x = drawn(2, 3, 4)
    np.testing.assert_allclose(run(text, x)[0], x.sum(1).T, rtol=1e-5, atol=1e-6)


def test_set_dimension_size() -> None:
    text = """func.func @f(%a: tensor<5x3xf32>, %n: tensor<i32>) -> (tensor<?x3xf32>, tensor<i32>) {
  %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<5x3xf32>, tensor<i32>) -> tensor<?x3xf32>
  %1 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  return %0, %1 : tensor<?x3xf32>, tensor<i32>
}"""
    x = drawn(5, 3)
    cut, size = run(text, x, np.int32(2))
    np.testing.assert_array_equal(cut, x[:2])
    assert size == 2


@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("count", ["7", "?"])
def test_sums_of_labels_round_once(element: str, count: str) -> None:
    """Labels of one operand alone are summed as `reduce` sums: in f32, rounded at the end."""
    dtype = np.dtype(np.float16) if element == "f16" else np.dtype(ml_dtypes.bfloat16)
    text = f"""func.func @f(%a: tensor<5x2x{element}>, %b: tensor<{count}x{element}>)
    -> (tensor<2x5x{element}>, tensor<{element}>) {{
  %0 = "stablehlo.einsum"(%a, %b) <{{einsum_config = "db,f->bd"}}>
    : (tensor<5x2x{element}>, tensor<{count}x{element}>) -> tensor<2x5x{element}>
  %1 = "stablehlo.unary_einsum"(%b) <{{einsum_config = "f->"}}> : (tensor<{count}x{element}>) -> tensor<{element}>
  return %0, %1 : tensor<2x5x{element}>, tensor<{element}>
}}"""
    a = drawn(5, 2).astype(dtype)
    b = np.array([-0.17, -172.1, 163.6, 0.2, -0.31, -0.43, 9.2], np.float32).astype(dtype)
    product, total = run(text, a, b)
    wanted = b.astype(np.float64).sum().astype(np.float32).astype(dtype)
    np.testing.assert_array_equal(total.astype(np.float32), wanted.astype(np.float32))
    right = (a.astype(np.float32) * wanted.astype(np.float32)).astype(dtype).T
    np.testing.assert_array_equal(product.astype(np.float32), right.astype(np.float32))


@pytest.mark.parametrize("rows", ["5", "?"])
@pytest.mark.parametrize(
    ("size", "result", "words"),
    [
        (6, "?", ("the new size of dimension 0 is larger than the old one", "the new size")),
        (-1, "?", ("the new size of dimension 0 is negative", "it must be at least 0", "have -1")),
        (3, "2", ("dimension 0 of the result must equal 2", "expected 2 but have 3")),
    ],
)
def test_sizes_that_cannot_be_set(rows: str, size: int, result: str, words: tuple[str, ...]) -> None:
    """The error names this op, its place and both sizes."""
    text = f"""func.func @f(%a: tensor<{rows}x3xf32>, %n: tensor<i32>) -> tensor<{result}x3xf32> {{
  %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<{rows}x3xf32>, tensor<i32>) -> tensor<{result}x3xf32>
  return %0 : tensor<{result}x3xf32>
}}"""
    with pytest.raises(StatusError) as raised:
        run(text, drawn(5, 3), np.int32(size))
    for word in (*words, "for stablehlo.set_dimension_size at <input>:2:8"):
        assert word in str(raised.value)


def test_sizes_with_bounds() -> None:
    """What is beyond the size that was set takes part in nothing."""
    bounded = "tensor<?x3xf32, #stablehlo.bounds<5, ?>>"
    text = f"""func.func @f(%a: tensor<5x3xf32>, %n: tensor<i32>) -> (tensor<3xf32>, {bounded}) {{
  %0 = "stablehlo.set_dimension_size"(%a, %n) {{dimension = 0 : i64}} : (tensor<5x3xf32>, tensor<i32>) -> {bounded}
  %1 = stablehlo.add %0, %0 : {bounded}
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0]
    : ({bounded}, tensor<f32>) -> tensor<3xf32>
  return %2, %1 : tensor<3xf32>, {bounded}
}}"""
    x = drawn(5, 3)
    total, cut = run(text, x, np.int32(2))
    np.testing.assert_allclose(total, 2 * x[:2].sum(0), rtol=1e-6)
    np.testing.assert_array_equal(cut, 2 * x[:2])


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_windows_of_symbolic_shapes(padding: str) -> None:
    """What JAX exports for pooling over sizes that it does not know."""

    def pooled(x: Any) -> Any:
        rows = lax.reduce_window(x, 0.0, lax.add, (3, 2), (2, 1), padding)
        whole = lax.reduce_window(x, -jnp.inf, lax.max, (1, x.shape[1]), (1, 1), "VALID")
        return rows, whole

    shape = jax.export.symbolic_shape("a, b")
    exported = jax.export.export(untyped.jit(pooled))(jax.ShapeDtypeStruct(shape, jnp.float32))
    main: Any = tiree.load(tiree.compile(exported.mlir_module()), device="local-sync").main
    for sizes in ((7, 5), (4, 4), (9, 2)):
        x = drawn(*sizes)
        for got, want in zip(main(x), pooled(jnp.asarray(x)), strict=True):
            np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5, atol=1e-6)
