"""linalg and tensor programs of users on `?` dimensions: values from numpy, and every assumption checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from tiree.runtime.errors import StatusError

PROGRAM = """
func.func @mm(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
    outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @conv(%x: tensor<?x?x?x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<?x?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?x?x3xf32>
  %h = tensor.dim %x, %c1 : tensor<?x?x?x3xf32>
  %v = tensor.dim %x, %c2 : tensor<?x?x?x3xf32>
  %h2 = arith.subi %h, %c2 : index
  %v2 = arith.subi %v, %c2 : index
  %e = tensor.empty(%n, %h2, %v2) : tensor<?x?x?x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<?x?x?x3xf32>, tensor<3x3x3x4xf32>)
    outs(%f : tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
  return %0 : tensor<?x?x?x4xf32>
}
func.func @ew(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?xf32> {
  %0 = arith.addf %a, %b : tensor<?x4xf32>
  %1 = math.exp %0 : tensor<?x4xf32>
  %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  return %2 : tensor<?xf32>
}
func.func @sl(%a: tensor<?xf32>, %o: index, %n: index) -> tensor<?xf32> {
  %0 = tensor.extract_slice %a[%o] [%n] [2] : tensor<?xf32> to tensor<?xf32>
  %1 = tensor.insert_slice %0 into %a[%o] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  return %1 : tensor<?xf32>
}
func.func @cast(%a: tensor<?xf32>) -> tensor<4xf32> {
  %0 = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
RNG = np.random.default_rng(9)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.fixture(scope="module")
def module() -> bytes:
    return tiree.compile(PROGRAM)


def _conv(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    rows, columns = x.shape[1] - 2, x.shape[2] - 2
    return sum(
        np.einsum("nhwc,cf->nhwf", x[:, i : i + rows, j : j + columns], w[i, j]) for i in range(3) for j in range(3)
    )


def _slices(a: np.ndarray, offset: int, count: int) -> np.ndarray:
    out = a.copy()
    out[offset : offset + count] = a[offset : offset + 2 * count : 2][:count]
    return out


VALUES: list[tuple[str, Any, Any]] = [
    ("mm", lambda: (floats(5, 7), floats(7, 9)), lambda a, b: a @ b),
    ("mm", lambda: (floats(0, 3), floats(3, 2)), lambda a, b: a @ b),
    ("mm", lambda: (floats(3, 0), floats(0, 2)), lambda a, b: a @ b),
    ("conv", lambda: (floats(2, 6, 5, 3), floats(3, 3, 3, 4)), _conv),
    ("conv", lambda: (floats(0, 3, 3, 3), floats(3, 3, 3, 4)), _conv),
    ("ew", lambda: (floats(3, 4), floats(3, 4)), lambda a, b: np.exp(a + b).ravel()),
    ("sl", lambda: (floats(10), 1, 3), _slices),
    ("sl", lambda: (floats(9), 4, 0), _slices),
    ("cast", lambda: (floats(4),), lambda a: a),
]


@iree.needs_iree
@pytest.mark.parametrize("number", range(len(VALUES)))
def test_values(number: int, module: bytes) -> None:
    name, make, expected = VALUES[number]
    inputs = make()
    want = expected(*inputs)
    for got in (getattr(rt.load(module), name)(*inputs), iree.call(module, name, inputs, "local-sync")):
        (array,) = [np.asarray(one) for one in (got if isinstance(got, (list, tuple)) else [got])]
        assert array.shape == want.shape
        np.testing.assert_allclose(array, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "inputs", "said"),
    [
        ("mm", (floats(5, 7), floats(8, 9)), "argument 2 .%b.: dimension 0 must equal dimension 1 of argument 1 .%a."),
        ("conv", (floats(2, 1, 1, 3), floats(3, 3, 3, 4)), "a size is negative: dimension 1 of argument 1 .%x. - 2"),
        ("ew", (floats(3, 4), floats(2, 4)), "argument 2 .%b.: dimension 0 must equal dimension 0 of argument 1"),
        ("sl", (floats(10), 1, 6), "the box ends behind its tensor"),
        (
            "sl",
            (floats(10), -1, 2),
            "an offset is negative in dimension 0: argument 2 must be at least 0 for .*have -1",
        ),
        ("cast", (floats(5),), "dimension 0 must equal 4 for tensor.cast at"),
    ],
)
def test_assumptions(name: str, inputs: Any, said: str, module: bytes) -> None:
    with pytest.raises(StatusError, match=said) as caught:
        getattr(rt.load(module), name)(*inputs)
    assert caught.value.code_name == "INVALID_ARGUMENT"


PADS = """
func.func @edges(%x: tensor<?x3xf32>, %n: index) -> tensor<?x5xf32> {
  %two = arith.constant 2.0 : f32
  %p = tensor.pad %x low[1, 0] high[%n, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %two : f32
  } : tensor<?x3xf32> to tensor<?x5xf32>
  return %p : tensor<?x5xf32>
}
func.func @given(%x: tensor<?xi32>, %low: index, %fill: i32) -> tensor<?xi32> {
  %p = tensor.pad %x low[%low] high[0] {
  ^bb0(%i: index):
    tensor.yield %fill : i32
  } : tensor<?xi32> to tensor<?xi32>
  return %p : tensor<?xi32>
}
func.func @inside(%x: tensor<?xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %rest = arith.subi %c8, %d : index
  %p = tensor.pad %x low[0] high[%rest] {
  ^bb0(%i: index):
    %zero = arith.constant 0.0 : f32
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<8xf32>
  return %p : tensor<8xf32>
}
"""


@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_pads(device: str) -> None:
    module = rt.load(tiree.compile(PADS), device=device)
    for rows, more in ((4, 2), (0, 3), (1, 0)):
        x = floats(rows, 3)
        want = np.pad(x, ((1, more), (0, 2)), constant_values=2)
        np.testing.assert_array_equal(np.asarray(module.edges(x, more)), want)
    numbers = np.arange(5, dtype=np.int32)
    np.testing.assert_array_equal(np.asarray(module.given(numbers, 3, -7)), np.pad(numbers, (3, 0), constant_values=-7))
    np.testing.assert_array_equal(np.asarray(module.inside(floats(5)))[5:], 0)


def test_a_pad_that_depends_on_its_place_is_refused() -> None:
    text = PADS.replace(
        "tensor.yield %fill : i32", "%k = arith.index_cast %i : index to i32\n    tensor.yield %k : i32"
    )
    with pytest.raises(tiree.CompileError, match=r"tensor\.pad whose padding"):
        tiree.compile(text)
