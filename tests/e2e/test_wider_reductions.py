"""Reductions in a wider type than their inputs have, as the specification allows."""

from __future__ import annotations

import numpy as np
import tiree

BODY = """({{ ^bb0(%p: tensor<{0}>, %q: tensor<{0}>): %s = stablehlo.add %p, %q : tensor<{0}>
  stablehlo.return %s : tensor<{0}> }})"""
TEXT = f"""func.func @main(%a: tensor<4099xf32>, %b: tensor<5000xi8>) -> (tensor<f64>, tensor<i32>, tensor<4999xi32>) {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.constant dense<0> : tensor<i8>
  %r = "stablehlo.reduce"(%a, %z) <{{dimensions = array<i64: 0>}}> {BODY.format("f64")}
    : (tensor<4099xf32>, tensor<f32>) -> tensor<f64>
  %u = "stablehlo.reduce"(%b, %y) <{{dimensions = array<i64: 0>}}> {BODY.format("i32")}
    : (tensor<5000xi8>, tensor<i8>) -> tensor<i32>
  %w = "stablehlo.reduce_window"(%b, %y) <{{window_dimensions = array<i64: 2>}}> {BODY.format("i32")}
    : (tensor<5000xi8>, tensor<i8>) -> tensor<4999xi32>
  return %r, %u, %w : tensor<f64>, tensor<i32>, tensor<4999xi32>
}}"""


def test_sums() -> None:
    a, b = np.random.default_rng(1).standard_normal(4099).astype(np.float32), np.full(5000, 127, np.int8)
    total, count, pairs = map(np.asarray, tiree.load(tiree.compile(TEXT), device="local-sync").main(a, b))
    np.testing.assert_allclose(total, a.astype(np.float64).sum(), rtol=1e-12)
    assert count == 5000 * 127
    np.testing.assert_array_equal(pairs, np.full(4999, 254))
