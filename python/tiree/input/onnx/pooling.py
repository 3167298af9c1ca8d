"""Pools: windows, and whole spatial dimensions."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i32, i64
from xdsl.ir import Attribute, SSAValue

from tiree.dialects.dense import DenseAttr
from tiree.input.expansions.build import element_of, i64_array, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.lowering.scalar import widened
from tiree.input.onnx.build import OnnxBuild, rank_of
from tiree.input.onnx.indexing import scatter_points
from tiree.input.onnx.node import Conversion, Node
from tiree.input.onnx.reductions import largest, lowest, mean
from tiree.input.onnx.windows import Windows, windows


def _windows(node: Node) -> Windows:
    return windows(node, shape_of(node.input(0)), node.ints("kernel_shape"))


def pooled(build: OnnxBuild, value: SSAValue, places: Windows, name: str, start: int | float) -> SSAValue:
    ones = [1, 1]
    padding = [(0, 0), (0, 0), *places.full_padding]
    return build.window(
        value,
        build.like(value, start),
        name,
        [*ones, *places.kernel],
        [*ones, *places.strides],
        [*ones, *places.dilations],
        padding,
    )


def _average(node: Node) -> SSAValue:
    build, value, places = node.build, node.input(0), _windows(node)
    element = element_of(value)
    if DYNAMIC_INDEX in places.size:
        raise Unsupported("of dimensions whose sizes are known late only")
    sums = pooled(build, build.convert(value, widened(element)), places, "add", 0)
    counts = [_counts(places, dim, bool(node.int("count_include_pad", 0))) for dim in range(places.rank)]
    if all(np.all(one == one[0]) for one in counts if len(one)):
        whole = float(np.prod([one[0] for one in counts if len(one)]))
        return build.convert(build.divide(sums, build.like(sums, whole)), element)
    for dim, one in enumerate(counts):
        sums = build.divide(sums, build.along(build.array(one, element_of(sums)), dim + 2, rank_of(sums)))
    return build.convert(sums, element)


def _counts(places: Windows, dim: int, padded: bool) -> np.ndarray:
    """How many elements each window along a dimension has, with those of the padding if `padded`."""
    size, (low, high) = places.size[dim], places.padding[dim]
    starts = np.arange(places.results()[dim]) * places.strides[dim] - low
    at = starts[:, None] + np.arange(places.kernel[dim]) * places.dilations[dim]
    first, last = (-low, size + high) if padded else (0, size)
    return np.maximum(((at >= first) & (at < last)).sum(1), 1)


def _maximum(node: Node) -> list[SSAValue | None]:
    build, value, places = node.build, node.input(0), _windows(node)
    if node.is_used(1):
        return list(_with_places(node, value, places))
    return [pooled(build, value, places, "maximum", lowest(element_of(value)))]


def _with_places(node: Node, value: SSAValue, places: Windows) -> tuple[SSAValue, SSAValue]:
    """The largest of each window, and where it stands in the whole operand, counted in rows (or columns)."""
    build, shape, element = node.build, node.static(0), node.element()
    if np.prod(shape, dtype=np.int64) > 2**31 - 1:
        raise Unsupported("with places in an operand of more than 2^31 elements")
    strides = [1] * len(shape)
    order = range(2, len(shape)) if node.int("storage_order", 0) else range(len(shape) - 1, 1, -1)
    step = 1
    for dim in order:
        strides[dim], step = step, step * shape[dim]
    strides[1], strides[0] = step, step * shape[1]
    numbers = sum(
        (np.arange(size) * stride).reshape([-1 if at == dim else 1 for at in range(len(shape))])
        for dim, (size, stride) in enumerate(zip(shape, strides, strict=True))
    )
    at = build.array(np.broadcast_to(np.asarray(numbers, np.int32), shape), i32)
    scalars = [TensorType(element, []), TensorType(i32, [])]

    def better(a: SSAValue, i: SSAValue, b: SSAValue, j: SSAValue) -> list[SSAValue]:
        first = build.binary("and", build.compare("EQ", a, b), build.compare("LT", i, j))
        takes = build.binary("or", build.compare("GT", a, b), first)
        return [build.select(takes, a, b), build.select(takes, i, j)]

    region = build.region([*scalars, *scalars], lambda args: better(*args))
    pads = np.array([(0, 0), (0, 0), *places.full_padding], np.int64)
    properties: dict[str, Attribute] = {
        "window_dimensions": i64_array([1, 1, *places.kernel]),
        "window_strides": i64_array([1, 1, *places.strides]),
        "window_dilations": i64_array([1, 1, *places.dilations]),
        "padding": DenseAttr.from_numpy(pads, TensorType(i64, pads.shape)),
    }
    result = [*shape[:2], *places.results()]
    starts = [build.constant(element, lowest(element)), build.constant(i32, 2**31 - 1)]
    types = [TensorType(element, result), TensorType(i32, result)]
    found = build.make("reduce_window", [value, at, *starts], types, properties, [region])
    return found[0], build.convert(found[1], i64)


def _spatial(node: Node) -> list[int]:
    return list(range(2, node.rank()))


def _global_average(node: Node) -> SSAValue:
    build, value, axes = node.build, node.input(0), _spatial(node)
    wide = widened(element_of(value))
    return build.mapped(value, wide, lambda x: build.unsqueeze(mean(build, x, axes), axes))


def _global_maximum(node: Node) -> SSAValue:
    axes = _spatial(node)
    return node.build.unsqueeze(largest(node.build, node.input(0), axes), axes)


def _powers(build: OnnxBuild, value: SSAValue, p: int) -> SSAValue:
    if p == 2:
        return build.multiply(value, value)
    size = build.unary("abs", value)
    return size if p == 1 else build.binary("power", size, build.like(value, p))


def _root(build: OnnxBuild, value: SSAValue, p: int) -> SSAValue:
    if p == 1:
        return value
    return build.unary("sqrt", value) if p == 2 else build.binary("power", value, build.like(value, 1 / p))


def _lp_pool(node: Node) -> SSAValue:
    build, p = node.build, node.int("p", 2)
    places = _windows(node)
    return _root(build, pooled(build, _powers(build, node.input(0), p), places, "add", 0), p)


def _global_lp(node: Node) -> SSAValue:
    build, axes, p = node.build, _spatial(node), node.int("p", 2)
    return _root(build, build.reduce_keeping(_powers(build, node.input(0), p), axes), p)


def _max_unpool(node: Node) -> SSAValue:
    """Elements back at the places that MaxPool tells, in a tensor of zeros."""
    build, value, shape = node.build, node.input(0), node.static(0)
    kernel = node.ints("kernel_shape")
    rank = len(kernel)
    strides, pads = node.ints("strides", [1] * rank), node.ints("pads", [0] * (2 * rank))
    whole = list(shape[:2])
    for dim in range(rank):
        whole.append((shape[dim + 2] - 1) * strides[dim] - pads[dim] - pads[dim + rank] + kernel[dim])
    count = int(np.prod(whole, dtype=np.int64))
    given = int(np.prod(shape, dtype=np.int64))
    places = build.reshape(node.input(1), [given, 1])
    zeros = build.full(element_of(value), [count], 0)
    result = build.reshape(scatter_points(build, zeros, places, build.reshape(value, [given])), whole)
    if node.optional(2) is None:
        return result
    known, static = node.numbers(2), node.static_result()
    wanted = [int(n) for n in known.reshape(-1)] if known is not None else list(static or [])
    if not wanted:
        raise Unsupported("with an output_shape that is not constant")
    more = [new - old for new, old in zip(wanted, whole, strict=True)]
    return build.pad(result, [0] * len(whole), more, build.like(value, 0))


CONVERSIONS: dict[str, Conversion] = {
    "AveragePool": _average,
    "GlobalAveragePool": _global_average,
    "GlobalLpPool": _global_lp,
    "GlobalMaxPool": _global_maximum,
    "LpPool": _lp_pool,
    "MaxPool": _maximum,
    "MaxUnpool": _max_unpool,
}
