"""Values whose types differ across a border or a body, and are valid: `?` beside a number, and wider bodies."""

from __future__ import annotations

from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest
import tiree

Array = np.ndarray
RANDOM = np.random.default_rng(3)


def run(text: str, *arguments: Any) -> list[Array]:
    found: Any = tiree.load(tiree.compile(text), device="local-sync").f(*arguments)
    results = cast("tuple[Any, ...]", found) if isinstance(found, tuple) else (found,)
    return [np.asarray(one) for one in results]


@pytest.mark.parametrize(("first", "second", "result"), [("2", "?", "2"), ("2", "2", "?"), ("?", "2", "?")])
@pytest.mark.parametrize("index", [0, 1, -7])
def test_branches(first: str, second: str, result: str, index: int) -> None:
    text = f"""func.func @f(%i: tensor<i32>, %x: tensor<{first}xf32>, %y: tensor<{second}xf32>)
    -> (tensor<{result}xf32>, tensor<{result}xf32>) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %p = stablehlo.compare EQ, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %0 = "stablehlo.if"(%p) ({{
    stablehlo.return %x : tensor<{first}xf32>
  }}, {{
    stablehlo.return %y : tensor<{second}xf32>
  }}) : (tensor<i1>) -> tensor<{result}xf32>
  %1 = "stablehlo.case"(%i) ({{
    stablehlo.return %x : tensor<{first}xf32>
  }}, {{
    stablehlo.return %y : tensor<{second}xf32>
  }}, {{
    stablehlo.return %y : tensor<{second}xf32>
  }}) : (tensor<i32>) -> tensor<{result}xf32>
  return %0, %1 : tensor<{result}xf32>, tensor<{result}xf32>
}}"""
    x, y = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
    for got in run(text, np.int32(index), x, y):
        np.testing.assert_array_equal(got, y if index else x)


@pytest.mark.parametrize("element", ["f32", "!quant.uniform<i8:f32, 0.5>"])
@pytest.mark.parametrize("count", [0, 3])
def test_a_loop(element: str, count: int) -> None:
    t, u = f"tensor<3x{element}>", f"tensor<?x{element}>"
    text = f"""func.func @f(%n: tensor<i32>, %x: {t}) -> {u} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = "stablehlo.while"(%n, %x) ({{
  ^bb0(%i: tensor<i32>, %y: {u}):
    %c = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}, {{
  ^bb0(%i: tensor<i32>, %y: {u}):
    %j = stablehlo.subtract %i, %one : tensor<i32>
    %z = stablehlo.add %y, %y : {u}
    stablehlo.return %j, %z : tensor<i32>, {u}
  }}) : (tensor<i32>, {t}) -> (tensor<i32>, {u})
  return %0#1 : {u}
}}"""
    x = np.array([1, 2, 3], np.float32 if element == "f32" else np.int8)
    np.testing.assert_array_equal(run(text, np.int32(count), x)[0], x * 2**count)


def test_a_scatter_with_a_wider_body() -> None:
    text = """func.func @f(%x: tensor<5xi8>, %i: tensor<2x1xi32>, %u: tensor<2xi8>) -> tensor<5xi32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.multiply %a, %b : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1,>} : (tensor<5xi8>, tensor<2x1xi32>, tensor<2xi8>)
    -> tensor<5xi32>
  return %0 : tensor<5xi32>
}"""
    x, at, u = np.array([100, 2, 3, 4, 5], np.int8), np.zeros((2, 1), np.int32), np.array([100, 100], np.int8)
    np.testing.assert_array_equal(run(text, x, at, u)[0], [1000000, 2, 3, 4, 5])


def test_a_select_and_scatter_with_a_wider_sum() -> None:
    text = """func.func @f(%x: tensor<4xf32>, %s: tensor<2xf32>, %z: tensor<f32>) -> tensor<4xf64> {
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %c = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %c : tensor<f64>
  }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}
    : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}"""
    x, s = np.array([1, 2, 4, 3], np.float32), np.array([5, 6], np.float32)
    np.testing.assert_array_equal(run(text, x, s, np.float32(0.5))[0], [0.5, 5.5, 6.5, 0.5])


def _tf32(x: Array) -> Array:
    bits = x.view(np.uint32).astype(np.uint64)
    return ((bits + 0xFFF + ((bits >> 13) & 1)) & 0xFFFFE000).astype(np.uint32).view(np.float32)


@pytest.mark.parametrize(
    ("types", "parts", "products", "rounded"),
    [
        (("bf16", "bf16", "f32"), 1, 1, lambda x: x.astype(ml_dtypes.bfloat16)),
        (("f16", "f16", "f32"), 1, 1, lambda x: x.astype(np.float16)),
        (("tf32", "tf32", "f32"), 1, 1, _tf32),
        (("f8E4M3FN", "f8E4M3FN", "f32"), 1, 1, lambda x: x.astype(ml_dtypes.float8_e4m3fn)),
        (("bf16", "bf16", "f32"), 3, 6, lambda x: x),
        (("f64", "f64", "f64"), 1, 1, lambda x: x),
    ],
)
def test_algorithms_of_products(types: Any, parts: int, products: int, rounded: Any) -> None:
    left, right, sums = types
    text = f"""func.func @f(%x: tensor<3x5xf32>, %y: tensor<5x2xf32>) -> tensor<3x2xf32> {{
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = {left},
    rhs_precision_type = {right}, accumulation_type = {sums}, lhs_component_count = {parts},
    rhs_component_count = {parts}, num_primitive_operations = {products}, allow_imprecise_accumulation = false>
    : (tensor<3x5xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}}"""
    x, y = RANDOM.normal(size=(3, 5)).astype(np.float32), RANDOM.normal(size=(5, 2)).astype(np.float32)
    want = rounded(x).astype(np.float64) @ rounded(y).astype(np.float64)
    np.testing.assert_allclose(run(text, x, y)[0], want, rtol=1e-6, atol=1e-6)


def test_an_algorithm_that_there_is_not() -> None:
    text = """func.func @f(%x: tensor<3x5xf32>, %y: tensor<5x2xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32,
    rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 3, rhs_component_count = 1,
    num_primitive_operations = 1, allow_imprecise_accumulation = false>
    : (tensor<3x5xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}"""
    with pytest.raises(tiree.CompileError, match=r"lhs_component_count = 3.*is not supported"):
        tiree.compile(text)


def test_an_algorithm_changes_nothing_for_integers() -> None:
    text = """func.func @f(%x: tensor<2x3xi64>, %y: tensor<3x2xi64>) -> tensor<2x2xi64> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32,
    rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
    num_primitive_operations = 1, allow_imprecise_accumulation = false>
    : (tensor<2x3xi64>, tensor<3x2xi64>) -> tensor<2x2xi64>
  return %0 : tensor<2x2xi64>
}
"""
    x = np.arange(6).reshape(2, 3) + 2**40
    y = np.arange(6).reshape(3, 2) - 3
    np.testing.assert_array_equal(np.asarray(tiree.load(tiree.compile(text)).f(x, y)), x @ y)
