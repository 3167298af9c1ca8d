"""Small floats, quantized elements, random numbers and loops of ours: IREE's compiler and runtime carry them on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import tiree

TYPE = "tensor<4x3x!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20, 0.3}>>"
PROGRAM = f"""func.func @f(%s: tensor<2xui64>, %x: tensor<4x3xf32>, %c: tensor<3xi32>, %e: tensor<5xi8>)
    -> (tensor<2xui64>, tensor<5xui32>, {TYPE}, tensor<3xi32>, tensor<2x2xf32>, tensor<5xi8>) {{
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  %1 = stablehlo.uniform_quantize %x : (tensor<4x3xf32>) -> {TYPE}
  %init = stablehlo.constant dense<1> : tensor<i32>
  %2:2 = chlo.scan(%c) inits(%init) dimension=0 {{
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = stablehlo.multiply %a, %b : tensor<i32>
    %n = stablehlo.subtract %m, %a : tensor<i32>
    stablehlo.return %n, %n : tensor<i32>, tensor<i32>
  }} : (tensor<3xi32>, tensor<i32>) -> (tensor<3xi32>, tensor<i32>)
  %lo = stablehlo.constant dense<0.0> : tensor<f32>
  %hi = stablehlo.constant dense<1.0> : tensor<f32>
  %shape = stablehlo.constant dense<2> : tensor<2xi64>
  %r = stablehlo.rng %lo, %hi, %shape, distribution = UNIFORM
    : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x2xf32>
  %q = stablehlo.bitcast_convert %e : (tensor<5xi8>) -> tensor<5xf8E5M2>
  %w = stablehlo.convert %q : (tensor<5xf8E5M2>) -> tensor<5xf8E4M3FN>
  %u = stablehlo.add %w, %w : tensor<5xf8E4M3FN>
  %v = stablehlo.bitcast_convert %u : (tensor<5xf8E4M3FN>) -> tensor<5xi8>
  return %0#0, %0#1, %1, %2#0, %r, %v
    : tensor<2xui64>, tensor<5xui32>, {TYPE}, tensor<3xi32>, tensor<2x2xf32>, tensor<5xi8>
}}"""


def test_from_input_and_whole(iree: Any, lowered: Callable[..., str]) -> None:
    arguments = (
        np.array([1, 2], np.uint64),
        np.arange(12, dtype=np.float32).reshape(4, 3) - 5,
        np.array([2, 3, 4], np.int32),
        np.array([0.5, 1, -3, 200, np.inf]).astype(ml_dtypes.float8_e5m2).view(np.int8),
    )
    artifact = tiree.compile(PROGRAM)
    own: Any = tiree.load(artifact, device="local-sync").f
    wanted = [np.asarray(one) for one in own(*arguments)]
    doubled = np.array([1, 2, -6, 384, np.nan]).astype(ml_dtypes.float8_e4m3fn)
    np.testing.assert_array_equal(wanted[5].view(doubled.dtype).astype(np.float32), doubled.astype(np.float32))
    for module in (iree.compile(lowered(PROGRAM), "input"), bytes(artifact)):
        for got, want in zip(iree.call(module, "f", arguments), wanted, strict=True):
            np.testing.assert_array_equal(got, want)
