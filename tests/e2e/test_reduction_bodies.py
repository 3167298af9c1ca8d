"""Bodies of reductions with more than one product, as elementwise ops before a reduction leave them."""

from __future__ import annotations

import numpy as np
import pytest
import tiree

RANDOM = np.random.RandomState(3)
COUNT = 70
VALUES = RANDOM.uniform(-2, 2, (4, COUNT)).astype(np.float32)
A, B, C, D = VALUES


def run(lines: str, element: str, reducer: str, initial: str) -> np.ndarray:
    """`lines` compute %z from %a .. %d; `reducer` combines its elements."""
    type = f"tensor<{COUNT}xf32>"
    text = f"""func.func @main(%a: {type}, %b: {type}, %c: {type}, %d: {type}) -> tensor<{element}> {{
  %initial = stablehlo.constant dense<{initial}> : tensor<{element}>
  {lines}
  %r = stablehlo.reduce(%z init: %initial) applies stablehlo.{reducer} across dimensions = [0]
    : (tensor<{COUNT}x{element}>, tensor<{element}>) -> tensor<{element}>
  return %r : tensor<{element}>
}}"""
    return np.asarray(tiree.load(tiree.compile(text), device="local-sync").main(A, B, C, D))


TWO_PRODUCTS = f"""%p = stablehlo.multiply %a, %b : tensor<{COUNT}xf32>
  %q = stablehlo.multiply %c, %d : tensor<{COUNT}xf32>
  %s = stablehlo.add %p, %q : tensor<{COUNT}xf32>"""


@pytest.mark.parametrize("reducer", ["add", "maximum", "minimum"])
def test_sum_of_two_products(reducer: str) -> None:
    got = run(TWO_PRODUCTS.replace("%s =", "%z ="), "f32", reducer, "0.0")
    values = A.astype(np.float64) * B + C.astype(np.float64) * D
    wanted = {"add": values.sum(), "maximum": max(values.max(), 0), "minimum": min(values.min(), 0)}[reducer]
    np.testing.assert_allclose(got, wanted, rtol=1e-5)


@pytest.mark.parametrize("reducer", ["or", "and"])
def test_comparison_of_a_sum_of_products(reducer: str) -> None:
    lines = (
        TWO_PRODUCTS
        + f"""
  %z = stablehlo.compare GT, %s, %a : (tensor<{COUNT}xf32>, tensor<{COUNT}xf32>) -> tensor<{COUNT}xi1>"""
    )
    got = run(lines, "i1", reducer, str(reducer == "and").lower())
    assert bool(got) == (reducer == "or")


def test_sums_of_three_products_and_of_one_product_twice() -> None:
    lines = (
        TWO_PRODUCTS
        + f"""
  %t = stablehlo.multiply %a, %d : tensor<{COUNT}xf32>
  %u = stablehlo.add %t, %s : tensor<{COUNT}xf32>
  %v = stablehlo.multiply %b, %c : tensor<{COUNT}xf32>
  %w = stablehlo.add %v, %v : tensor<{COUNT}xf32>
  %z = stablehlo.add %u, %w : tensor<{COUNT}xf32>"""
    )
    a, b, c, d = VALUES.astype(np.float64)
    np.testing.assert_allclose(
        run(lines, "f32", "add", "1.0"), 1 + (a * b + c * d + a * d + 2 * b * c).sum(), rtol=1e-5
    )
