"""Quantised numbers: to them, from them, and products of them."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, Signedness, f32, i32
from xdsl.ir import Attribute, SSAValue

from tiree.dialects.syntax.small_floats import small_float
from tiree.input.expansions.build import element_of, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.build import OnnxBuild, integer_range, rank_of
from tiree.input.onnx.contraction import centered, matmul
from tiree.input.onnx.convolution import integer_convolution
from tiree.input.onnx.elementwise import cast_to
from tiree.input.onnx.node import Conversion, Node
from tiree.input.onnx.types import element_of_number
from tiree.support.typed import is_integer_type

UI8 = IntegerType(8, Signedness.UNSIGNED)


def _spread(node: Node, factor: SSAValue) -> SSAValue:
    """A scale or zero point for each element: one for all, for each place along `axis`, or for each block of it."""
    build, rank, block = node.build, node.rank(), node.int("block_size", 0)
    if rank_of(factor) == 0 or (shape_of(factor) == (1,) and not block):
        return build.reshape(factor, [])
    axis = node.axis(1, rank)
    if not block:
        return build.along(factor, axis, rank)
    sizes = build.sizes(build.unsqueeze(factor, [axis + 1]))
    sizes[axis + 1] = block
    repeated = build.repeat(build.unsqueeze(factor, [axis + 1]), sizes, range(rank + 1))
    merged = build.sizes(factor)
    merged[axis] = build.product([merged[axis], block])
    whole = build.reshape(repeated, merged)
    size = node.static(0)[axis]
    return build.part(whole, axis, 0, size) if shape_of(whole)[axis] != size else whole


def saturated(build: OnnxBuild, value: SSAValue, zero: SSAValue | None, element: Attribute) -> SSAValue:
    """Rounded to the nearest (even) integer, moved by the zero point, within the range of `element`."""
    if small_float(element) is not None:
        return cast_to(build, value, element)
    if not is_integer_type(element):
        raise Unsupported(f"to {element}")
    low, high = integer_range(element)
    moved = build.unary("round_nearest_even", value)
    if zero is not None:
        moved = build.add_(moved, build.convert(zero, element_of(moved)))
    return build.convert(build.clamp(build.like(moved, low), moved, build.like(moved, high)), element)


def _quantize(node: Node) -> SSAValue:
    build, value, scale = node.build, node.input(0), node.input(1)
    zero = node.optional(2)
    if zero is not None:
        element = element_of(zero)
    else:
        element = element_of_number(node.int("output_dtype")) if node.int("output_dtype", 0) else UI8
    scale = _spread(node, build.convert(scale, f32))
    divided = build.divide(build.convert(value, f32), scale)
    if small_float(element) is not None:
        return cast_to(build, divided, element, bool(node.int("saturate", 1)))
    offset = None if zero is None else _spread(node, build.convert(zero, f32))
    return saturated(build, divided, offset, element)


def _dequantize(node: Node) -> SSAValue:
    build, value, scale, zero = node.build, node.input(0), node.input(1), node.optional(2)
    element = element_of_number(node.int("output_dtype")) if node.int("output_dtype", 0) else element_of(scale)
    if is_integer_type(element_of(value)):
        wide = build.convert(value, i32)
        if zero is not None:
            wide = build.subtract(wide, _spread(node, build.convert(zero, i32)))
    else:
        wide = build.convert(value, f32)
    product = build.multiply(build.convert(wide, f32), _spread(node, build.convert(scale, f32)))
    return build.convert(product, element)


def _dynamic_quantize(node: Node) -> list[SSAValue | None]:
    """To `ui8`, with a scale and zero point for the range of the operand, in which zero is."""
    build, value = node.build, node.input(0)
    dims = list(range(node.rank()))
    zero = build.constant(f32, 0)
    top = build.maximum(build.reduce(value, dims, "maximum", float("-inf")), zero)
    bottom = build.minimum(build.reduce(value, dims, "minimum", float("inf")), zero)
    scale = build.divide(build.subtract(top, bottom), build.constant(f32, 255))
    scale = build.select(build.compare("EQ", scale, zero), build.constant(f32, 1), scale)
    point = saturated(build, build.subtract(zero, build.divide(bottom, scale)), None, UI8)
    return [saturated(build, build.divide(value, scale), point, UI8), scale, point]


def _scaled(node: Node, product: SSAValue, scale: SSAValue, wanted: tuple[int, int]) -> SSAValue:
    """An `i32` product in the type, scale and zero point of the result."""
    build = node.build
    factor, zero = (node.input(index) for index in wanted)
    ratio = build.divide(scale, _one(build, build.convert(factor, f32)))
    value = build.multiply(build.convert(product, f32), ratio)
    return saturated(build, value, _one(build, build.convert(zero, f32)), element_of(zero))


def _one(build: OnnxBuild, value: SSAValue) -> SSAValue:
    return build.reshape(value, []) if shape_of(value) == (1,) else value


def _quantized_matmul(node: Node) -> SSAValue:
    build = node.build
    rows, columns = node.rank(0) - 2, node.rank(3) - 1
    a = centered(build, node.input(0), node.input(2), rows)
    b = centered(build, node.input(3), node.input(5), columns)
    product = matmul(build, a, b)
    rank = rank_of(product)
    first, second = (_one(build, build.convert(node.input(index), f32)) for index in (1, 4))
    if rank_of(first) == 1:
        first = build.along(first, rank - 2, rank)
    return _scaled(node, product, build.multiply(first, second), (6, 7))


def _quantized_convolution(node: Node) -> SSAValue:
    build = node.build
    kernel = node.input(3)
    x = centered(build, node.input(0), node.input(2))
    w = centered(build, kernel, node.input(5), 0)
    as_convolution = Node(node.op, [node.input(0), kernel], node.version, node.graph, build)
    product = integer_convolution(as_convolution, x, w)
    rank = rank_of(product)
    bias = node.optional(8)
    if bias is not None:
        product = build.add_(product, build.along(bias, 1, rank))
    weights = _one(build, build.convert(node.input(4), f32))
    if rank_of(weights) == 1:
        weights = build.along(weights, 1, rank)
    scale = build.multiply(_one(build, build.convert(node.input(1), f32)), weights)
    return _scaled(node, product, scale, (6, 7))


CONVERSIONS: dict[str, Conversion] = {
    "DequantizeLinear": _dequantize,
    "DynamicQuantizeLinear": _dynamic_quantize,
    "QLinearConv": _quantized_convolution,
    "QLinearMatMul": _quantized_matmul,
    "QuantizeLinear": _quantize,
}
