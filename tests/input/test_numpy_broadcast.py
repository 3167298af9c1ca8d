"""CHLO's ops whose operands broadcast as numpy's do, with numpy as the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiree
from tiree.support.errors import CompileError

A = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
ROW = np.array([1.0, -1.0, 2.0], np.float32)


def call(text: str, *inputs: Any) -> np.ndarray:
    return np.asarray(tiree.load(tiree.compile(text), device="local-sync").f(*inputs))


def binary(op: str, lhs: str, rhs: str, result: str, properties: str = "") -> str:
    body = f" <{{{properties}}}>" if properties else ""
    return f"""func.func @f(%a: {lhs}, %b: {rhs}) -> {result} {{
  %r = "chlo.{op}"(%a, %b){body} : ({lhs}, {rhs}) -> {result}
  return %r : {result}
}}"""


def test_lower_rank_stands_at_the_end() -> None:
    text = binary("broadcast_subtract", "tensor<2x3xf32>", "tensor<3xf32>", "tensor<2x3xf32>")
    np.testing.assert_array_equal(call(text, A, ROW), A - ROW)
    text = binary("broadcast_subtract", "tensor<3xf32>", "tensor<2x3xf32>", "tensor<2x3xf32>")
    np.testing.assert_array_equal(call(text, ROW, A), ROW - A)


def test_both_stretch() -> None:
    text = binary("broadcast_divide", "tensor<2x1x3xf32>", "tensor<1x4x1xf32>", "tensor<2x4x3xf32>")
    other = np.array([1, 2, 4, 8], np.float32).reshape(1, 4, 1)
    np.testing.assert_array_equal(call(text, A[:, None], other), A[:, None] / other)


def test_dimensions_that_are_named() -> None:
    named = "broadcast_dimensions = array<i64: 0>"
    text = binary("broadcast_add", "tensor<2x3xf32>", "tensor<2xf32>", "tensor<2x3xf32>", named)
    np.testing.assert_array_equal(call(text, A, ROW[:2]), A + ROW[:2, None])


@pytest.mark.parametrize(("direction", "function"), [("LT", np.less), ("EQ", np.equal), ("GE", np.greater_equal)])
def test_compare(direction: str, function: Any) -> None:
    named = f"comparison_direction = #chlo<comparison_direction {direction}>"
    text = binary("broadcast_compare", "tensor<2x3xf32>", "tensor<f32>", "tensor<2x3xi1>", named)
    np.testing.assert_array_equal(call(text, A, np.float32(1)), function(A, 1))


def test_select() -> None:
    text = """func.func @f(%c: tensor<2x1xi1>, %a: tensor<2x3xf32>, %b: tensor<f32>) -> tensor<2x3xf32> {
  %r = "chlo.broadcast_select"(%c, %a, %b) : (tensor<2x1xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}"""
    chosen = np.array([[True], [False]])
    np.testing.assert_array_equal(call(text, chosen, A, np.float32(9)), np.where(chosen, A, np.float32(9)))


def test_constants() -> None:
    text = """func.func @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "chlo.constant"() <{value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %l = "chlo.constant_like"(%a) <{value = 2.5 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %s = "chlo.broadcast_add"(%a, %c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %r = "chlo.broadcast_multiply"(%s, %l) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}"""
    np.testing.assert_array_equal(call(text, A), (A + np.float32([1, 2, 3])) * np.float32(2.5))


def test_shapes_that_do_not_broadcast() -> None:
    text = binary("broadcast_add", "tensor<2x3xf32>", "tensor<2xf32>", "tensor<2x3xf32>")
    with pytest.raises(CompileError, match=r"tensor<2x3xf32> and tensor<2xf32> do not go together"):
        tiree.compile(text)
