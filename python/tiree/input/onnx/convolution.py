"""Convolutions: batch, channels, then spatial dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerAttr, TensorType, i1, i64
from xdsl.ir import Attribute, SSAValue

from tiree.dialects.dense import DenseAttr
from tiree.dialects.stablehlo_attrs import ConvDimensionNumbers, ConvDimensionNumbersAttr
from tiree.input.expansions.build import element_of, i64_array, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.build import OnnxBuild, rank_of
from tiree.input.onnx.contraction import centered
from tiree.input.onnx.node import Conversion, Node
from tiree.input.onnx.windows import Windows, same_padding, windows


def convolve(
    build: OnnxBuild,
    value: SSAValue,
    kernel: SSAValue,
    places: Windows,
    group: int,
    spread: Sequence[int] | None = None,
) -> SSAValue:
    """`kernel` is output channels, input channels of a group, window; `spread` puts zeros between elements."""
    rank = places.rank
    labels: list[str | int] = list(range(rank))
    numbers = ConvDimensionNumbers.from_labels(["b", "f", *labels], ["o", "i", *labels], ["b", "f", *labels])
    pads = np.array(places.full_padding, np.int64).reshape(-1, 2)
    between = list(spread or [1] * rank)
    properties: dict[str, Attribute] = {
        "window_strides": i64_array(places.strides),
        "padding": DenseAttr.from_numpy(pads, TensorType(i64, pads.shape)),
        "lhs_dilation": i64_array(between),
        "rhs_dilation": i64_array(places.dilations),
        "window_reversal": DenseArrayBase.from_list(i1, [0] * rank),
        "dimension_numbers": ConvDimensionNumbersAttr(numbers),
        "feature_group_count": IntegerAttr(group, i64),
        "batch_group_count": IntegerAttr(1, i64),
    }
    shape = [shape_of(value)[0], shape_of(kernel)[0], *places.results()]
    return build.value("convolution", [value, kernel], TensorType(element_of(value), shape), properties)


def _conv_windows(node: Node, kernel: SSAValue) -> Windows:
    shape = shape_of(kernel)
    if DYNAMIC_INDEX in shape:
        raise Unsupported("with a kernel of a dynamic shape")
    return windows(node, shape_of(node.input(0)), list(shape[2:]))


def _conv(node: Node) -> SSAValue:
    build, value, kernel = node.build, node.input(0), node.input(1)
    result = convolve(build, value, kernel, _conv_windows(node, kernel), node.int("group", 1))
    bias = node.optional(2)
    return result if bias is None else build.add_(result, build.along(bias, 1, rank_of(result)))


def _conv_integer(node: Node) -> SSAValue:
    build, kernel = node.build, node.input(1)
    value = centered(build, node.input(0), node.optional(2))
    return convolve(
        build, value, centered(build, kernel, node.optional(3), 0), _conv_windows(node, kernel), node.int("group", 1)
    )


def integer_convolution(node: Node, value: SSAValue, kernel: SSAValue) -> SSAValue:
    """Of operands that are centered already."""
    return convolve(node.build, value, kernel, _conv_windows(node, kernel), node.int("group", 1))


def _conv_transpose(node: Node) -> SSAValue:
    """The convolution of the operand with zeros between its elements, and the kernel turned around."""
    build, value, kernel = node.build, node.input(0), node.input(1)
    shape, window = shape_of(value), node.static(1)
    if DYNAMIC_INDEX in shape[1:]:
        raise Unsupported(f"on an operand of the dynamic shape {value.type}")
    rank, group = len(shape) - 2, node.int("group", 1)
    if rank < 1:
        raise Unsupported(f"on an operand of rank {len(shape)}")
    strides = node.ints("strides", [1] * rank)
    dilations = node.ints("dilations", [1] * rank)
    pads = _transposed_padding(node, shape, window, strides, dilations)
    inputs, outputs = window[0] // group, window[1]
    turned = build.flip(kernel, range(2, rank + 2))
    turned = build.reshape(turned, [group, inputs, outputs, *window[2:]])
    turned = build.transpose(turned, [0, 2, 1, *range(3, rank + 3)])
    turned = build.reshape(turned, [group * outputs, inputs, *window[2:]])
    spread = [stride * (size - 1) + 1 for size, stride in zip(shape[2:], strides, strict=True)]
    places = Windows(spread, list(window[2:]), [1] * rank, dilations, pads, [0] * rank)
    result = convolve(build, value, turned, places, group, strides)
    bias = node.optional(2)
    return result if bias is None else build.add_(result, build.along(bias, 1, rank_of(result)))


def _transposed_padding(
    node: Node, shape: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[tuple[int, int]]:
    rank = len(shape) - 2
    more = node.ints("output_padding", [0] * rank)
    mode = node.string("auto_pad", "NOTSET")
    pads = node.ints("pads", [0] * (2 * rank))
    wanted = node.ints("output_shape", [])[-rank:]
    if not wanted and mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [size * stride for size, stride in zip(shape[2:], strides, strict=True)]
    result: list[tuple[int, int]] = []
    for dim in range(rank):
        reach = dilations[dim] * (window[dim + 2] - 1)
        low, high = (pads[dim], pads[dim + rank]) if mode == "NOTSET" else (0, 0)
        if wanted:
            total = strides[dim] * (shape[dim + 2] - 1) + more[dim] + reach + 1 - wanted[dim]
            low, high = same_padding(mode, total)
        result.append((reach - low, reach - high + more[dim]))
    return result


CONVERSIONS: dict[str, Conversion] = {
    "Conv": _conv,
    "ConvInteger": _conv_integer,
    "ConvTranspose": _conv_transpose,
}
