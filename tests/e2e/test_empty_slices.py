"""No size lets an operation read beyond its operand: empty and negative slices, and padding without end."""

from __future__ import annotations

import numpy as np
import pytest
import tiree
from tiree.runtime.errors import StatusValueError
from tiree.support.errors import CompileError

GATHER = """func.func @main(%x: tensor<{source}xf32>, %i: tensor<3x1xi32>) -> tensor<{result}xf32> {{
  %0 = "stablehlo.gather"(%x, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: {sizes}>}}>
    : (tensor<{source}xf32>, tensor<3x1xi32>) -> tensor<{result}xf32>
  return %0 : tensor<{result}xf32>
}}
"""
SELECT = """func.func @main(%x: tensor<{source}xf32>, %i: tensor<3xi32>) -> tensor<{result}xf32> {{
  %0 = "stablehlo.torch_index_select"(%x, %i) <{{dim = 0 : i64, batch_dims = 0 : i64}}>
    : (tensor<{source}xf32>, tensor<3xi32>) -> tensor<{result}xf32>
  return %0 : tensor<{result}xf32>
}}
"""
DYNAMIC = """func.func @main(%x: tensor<?x6xf32>, %i: tensor<3x1xi32>, %z: tensor<2xi32>) -> tensor<3x?xf32> {
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}>
    : (tensor<?x6xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x?xf32>
  return %0 : tensor<3x?xf32>
}
"""
PAD = """func.func @main(%x: tensor<?xf32>, %z: tensor<f32>, %a: tensor<1xi64>, %b: tensor<1xi64>, %c: tensor<1xi64>)
    -> tensor<?xf32> {
  %0 = stablehlo.dynamic_pad %x, %z, %a, %b, %c
    : (tensor<?xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""
MOST = np.iinfo(np.int64).max


@pytest.mark.parametrize("source", ["2x6", "0x6"])
def test_an_element_of_an_empty_slice(source: str) -> None:
    with pytest.raises(CompileError, match=r"gather is not valid: .* slices of \[0x6\], which are empty"):
        tiree.compile(GATHER.format(source=source, result="3x6", sizes="0, 6"))


def test_an_element_of_an_empty_dimension() -> None:
    with pytest.raises(CompileError, match=r"index_select is not valid: dimension 0 .* no elements to select"):
        tiree.compile(SELECT.format(source="0x6", result="3x6"))


@pytest.mark.parametrize("sizes", ["0, 0", "1, 0"])
def test_empty_results_of_empty_slices(sizes: str) -> None:
    module = tiree.load(tiree.compile(GATHER.format(source="2x6", result="3x0", sizes=sizes)))
    assert np.asarray(module.main(np.ones((2, 6), np.float32), np.zeros((3, 1), np.int32))).shape == (3, 0)


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ((-1_000_000, 6), "must equal 1"),
        ((-1, 6), "must equal 1"),
        ((0, 6), "must equal 1"),
        ((2, 6), "must equal 1"),
        ((1, -1), "the size of a slice is negative"),
        ((1, 7), "a slice is larger than its operand"),
    ],
)
def test_sizes_of_slices_that_an_argument_gives(sizes: tuple[int, int], text: str) -> None:
    main = tiree.load(tiree.compile(DYNAMIC)).main
    x, i = np.arange(12, dtype=np.float32).reshape(2, 6), np.array([[0], [1], [999_999]], np.int32)
    with pytest.raises(StatusValueError, match=text):
        main(x, i, np.array(sizes, np.int32))
    np.testing.assert_array_equal(np.asarray(main(x, i, np.array([1, 4], np.int32))), x[[0, 1, 1], :4])


@pytest.mark.parametrize(
    ("amounts", "text"),
    [
        ((9, 9, -1), "interior padding is negative"),
        ((MOST, MOST, 0), "padding is too large"),
        ((-MOST - 1, 5, 0), "padding is too large"),
        ((1, 1, MOST), "padding is too large"),
        ((-5, 0, 0), "more is cut than there is"),
    ],
)
def test_amounts_of_padding_that_arguments_give(amounts: tuple[int, int, int], text: str) -> None:
    main = tiree.load(tiree.compile(PAD)).main
    x = np.ones(3, np.float32)
    with pytest.raises(StatusValueError, match=text):
        main(x, np.float32(7), *(np.array([amount], np.int64) for amount in amounts))
    padded = main(x, np.float32(7), *(np.array([amount], np.int64) for amount in (1, -1, 1)))
    np.testing.assert_array_equal(np.asarray(padded), [7, 1, 7, 1, 7])


@pytest.mark.parametrize(
    "op",
    [
        "stablehlo.reshape %x : (tensor<?xf32>) -> tensor<?x1xf32>",
        "stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<?xf32>) -> tensor<?x1xf32>",
        "stablehlo.reshape %y : (tensor<4xf32>) -> tensor<?x1xf32>",
        "stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<4xf32>) -> tensor<?x2xf32>",
    ],
)
def test_results_whose_size_nothing_says(op: str) -> None:
    text = f"func.func @f(%x: tensor<?xf32>, %y: tensor<4xf32>) {{\n  %0 = {op}\n  return\n}}\n"
    with pytest.raises(CompileError, match="nothing says how large dimension 0 of its result"):
        tiree.compile(text)
