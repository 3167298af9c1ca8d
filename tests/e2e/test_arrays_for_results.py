"""Arrays as memory for results (`iree.abi.output`): written where they lie, or refused; never left as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

PLAIN = """func.func @f(%x: tensor<8xf32>, %out: tensor<8xf32> {iree.abi.output = 0 : index}) -> tensor<8xf32> {
  %0 = stablehlo.add %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
WITH_A_VARIABLE = """module @m {
util.global private mutable @sum = dense<0.0> : tensor<8xf32>
func.func @f(%x: tensor<8xf32>, %out: tensor<8xf32> {iree.abi.output = 0 : index}) -> tensor<8xf32> {
  %s = util.global.load @sum : tensor<8xf32>
  %n = stablehlo.add %s, %x : tensor<8xf32>
  util.global.store %n, @sum : tensor<8xf32>
  %0 = stablehlo.add %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}}"""


@pytest.fixture(scope="module", params=[PLAIN, WITH_A_VARIABLE], ids=["plain", "variable"])
def function(request: pytest.FixtureRequest) -> Any:
    return rt.load(tiree.compile(request.param)).f


def at_offset(offset: int) -> np.ndarray:
    """Eight floats that begin `offset` bytes behind a multiple of 64."""
    raw = np.zeros(128, np.uint8)
    start = -raw.ctypes.data % 64 + offset
    return raw[start : start + 32].view(np.float32)


@pytest.mark.parametrize("offset", [0, 4, 16, 32])
def test_written_wherever_it_lies(function: Any, offset: int) -> None:
    x, out = np.arange(8, dtype=np.float32), at_offset(offset)
    result = function(x, out)
    np.testing.assert_array_equal(out, 2 * x)
    np.testing.assert_array_equal(result, 2 * x)


def read_only() -> np.ndarray:
    array = np.zeros(8, np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (read_only(), r"argument 2 \(out\) is memory for a result, and is read-only"),
        (np.zeros((8, 2), np.float32)[:, 0], r"argument 2 \(out\) is memory for a result, .* needs a contiguous array"),
        ([0.0] * 8, r"argument 2 \(out\) is memory for a result, and a list without such memory"),
    ],
    ids=["read-only", "strided", "list"],
)
def test_refused_where_it_cannot_be_written(function: Any, given: Any, message: str) -> None:
    x = np.arange(8, dtype=np.float32)
    before = np.array(given)
    with pytest.raises(ValueError, match=message):
        function(x, given)
    np.testing.assert_array_equal(given, before)
    np.testing.assert_array_equal(function(x, np.zeros(8, np.float32)), 2 * x)


def test_a_variable_keeps_no_memory_of_results() -> None:
    """What a variable holds after a call does not change with what is written into the caller's array."""
    module = rt.load(tiree.compile(WITH_A_VARIABLE.replace("return %0", "return %n")))
    x, out = np.ones(8, np.float32), np.zeros(8, np.float32)
    module.f(x, out)
    out[:] = 100
    np.testing.assert_array_equal(module.f(x, np.zeros(8, np.float32)), np.full(8, 2, np.float32))
