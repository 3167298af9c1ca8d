"""Functions that call themselves: values by hand, whatever the depth; depth without end is a typed error."""

from __future__ import annotations

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

SUM_TO = """
func.func @sum_to(%x: tensor<TYPE>, %n: tensor<i32>) -> tensor<TYPE> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %stop = stablehlo.compare LE, %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = "stablehlo.if"(%stop) ({
    stablehlo.return %x : tensor<TYPE>
  }, {
    %m = stablehlo.subtract %n, %one : tensor<i32>
    %y = func.call @sum_to(%x, %m) : (tensor<TYPE>, tensor<i32>) -> tensor<TYPE>
    %z = stablehlo.add %y, %x : tensor<TYPE>
    stablehlo.return %z : tensor<TYPE>
  }) : (tensor<i1>) -> tensor<TYPE>
  return %r : tensor<TYPE>
}
"""

# Each of two calls the other, with work on large values on both sides of the call.
TURNS = """
func.func private @down(%x: tensor<64x64xf32>, %n: i32) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %stop = arith.cmpi sle, %n, %zero : i32
  %r = scf.if %stop -> (tensor<64x64xf32>) {
    scf.yield %x : tensor<64x64xf32>
  } else {
    %m = arith.subi %n, %one : i32
    %a = stablehlo.add %x, %x : tensor<64x64xf32>
    %b = func.call @turns(%a, %m) : (tensor<64x64xf32>, i32) -> tensor<64x64xf32>
    %c = stablehlo.subtract %b, %x : tensor<64x64xf32>
    scf.yield %c : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

func.func @turns(%x: tensor<64x64xf32>, %n: i32) -> tensor<64x64xf32> {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = func.call @down(%t, %n) : (tensor<64x64xf32>, i32) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
"""


def turns(x: np.ndarray, n: int) -> np.ndarray:
    x = x.T
    return x if n <= 0 else turns(x + x, n - 1) - x


pytestmark = pytest.mark.parametrize("device_name", ["local-sync", "local-task"])


@pytest.mark.parametrize("shape", ["4xf32", "?xf32"])
@pytest.mark.parametrize("depth", [-1, 0, 1, 100])
def test_a_function_that_calls_itself(shape: str, depth: int, device_name: str):
    module = rt.load(tiree.compiler.compile_str(SUM_TO.replace("TYPE", shape)), device_name)
    x = np.array([1, 2, 3, 4], np.float32)
    np.testing.assert_array_equal(module.sum_to(x, np.int32(depth)), x * (max(depth, 0) + 1))


@pytest.mark.parametrize("depth", [0, 1, 7])
def test_two_functions_that_call_each_other(depth: int, device_name: str):
    module = rt.load(tiree.compiler.compile_str(TURNS), device_name)
    x = np.random.default_rng(1).integers(-8, 8, (64, 64)).astype(np.float32)
    np.testing.assert_array_equal(module.turns(x, depth), turns(x, depth))


def test_depth_without_end(device_name: str):
    module = rt.load(tiree.compiler.compile_str(SUM_TO.replace("TYPE", "4xf32")), device_name)
    x = np.ones(4, np.float32)
    with pytest.raises(rt.StackLimitError, match=r"sum_to"):
        module.sum_to(x, np.int32(2**31 - 1))
    np.testing.assert_array_equal(module.sum_to(x, np.int32(2)), 3 * x)
