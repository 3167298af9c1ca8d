"""Gathers and scatters. Negative indices count from the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, BoolAttr, IntegerAttr, TensorType, i32, i64
from xdsl.ir import SSAValue

from tiree.dialects.stablehlo_attrs import (
    GatherDimensionNumbers,
    GatherDimensionNumbersAttr,
    ScatterDimensionNumbers,
    ScatterDimensionNumbersAttr,
)
from tiree.input.expansions.build import element_of, i64_array, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.build import OnnxBuild, rank_of
from tiree.input.onnx.node import Conversion, Node
from tiree.input.onnx.resize import take


def wrapped(build: OnnxBuild, indices: SSAValue, value: SSAValue, axis: int) -> SSAValue:
    """Indices of `axis` counted from the front."""
    element = element_of(indices)
    below = build.compare("LT", indices, build.constant(element, 0))
    return build.select(below, build.add_(indices, build.size(value, axis, element)), indices)


def _gather(node: Node) -> SSAValue:
    build, value, indices = node.build, node.input(0), node.input(1)
    axis, rank = node.axis(0, node.rank()), node.rank()
    size, known = shape_of(value)[axis], node.numbers(1)
    if known is not None and known.ndim < 2 and DYNAMIC_INDEX not in shape_of(value):
        places = np.where(known < 0, known + size, known).reshape(-1)
        if places.size and (places.min() < 0 or places.max() >= size):
            raise Unsupported(f"of elements beyond the {size} of axis {axis}")
        taken = take(build, value, axis, places)
        return taken if known.ndim else build.squeeze(taken, [axis])
    count = rank_of(indices)
    numbers = GatherDimensionNumbers(
        offset_dims=tuple(dim if dim < axis else dim + count - 1 for dim in range(rank) if dim != axis),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
        index_vector_dim=count,
    )
    shape = list(shape_of(value))
    type = TensorType(element_of(value), [*shape[:axis], *shape_of(indices), *shape[axis + 1 :]])
    places = wrapped(build, indices, value, axis)
    properties = {"dimension_numbers": GatherDimensionNumbersAttr(numbers)}
    sizes = build.sizes(value)
    sizes[axis] = 1
    if DYNAMIC_INDEX in shape[:axis] + shape[axis + 1 :]:
        return build.value("dynamic_gather", [value, places, build.size_vector(sizes)], type, properties)
    numbers_of = i64_array([size for size in sizes if isinstance(size, int)])
    return build.value("gather", [value, places], type, {**properties, "slice_sizes": numbers_of})


def points(build: OnnxBuild, shape: Sequence[int], along: Mapping[int, SSAValue], count: int | None = None) -> SSAValue:
    """Coordinates `tensor<shape x count>`: the place itself, but for the dimensions in `along`."""
    element = next((element_of(value) for value in along.values()), i64)
    parts = [
        along[dim] if dim in along else build.counted(shape, dim, element)
        for dim in range(len(shape) if count is None else count)
    ]
    return build.concatenate([build.unsqueeze(part, [len(shape)]) for part in parts], len(shape))


def gather_points(build: OnnxBuild, value: SSAValue, places: SSAValue) -> SSAValue:
    """What stands at coordinates of the first dimensions."""
    shape, at = shape_of(value), shape_of(places)
    count = at[-1]
    batch = len(at) - 1
    numbers = GatherDimensionNumbers(
        offset_dims=tuple(range(batch, batch + len(shape) - count)),
        collapsed_slice_dims=tuple(range(count)),
        start_index_map=tuple(range(count)),
        index_vector_dim=batch,
    )
    type = TensorType(element_of(value), [*at[:-1], *shape[count:]])
    properties = {
        "dimension_numbers": GatherDimensionNumbersAttr(numbers),
        "slice_sizes": i64_array([1] * count + list(shape[count:])),
    }
    return build.value("gather", [value, places], type, properties)


_REDUCTIONS = {"none": "", "add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}


def scatter_points(
    build: OnnxBuild, value: SSAValue, places: SSAValue, updates: SSAValue, reduction: str = "none"
) -> SSAValue:
    """`value` with `updates` at coordinates of the first dimensions."""
    if reduction not in _REDUCTIONS:
        raise Unsupported(f"with the reduction {reduction!r}")
    shape, at = shape_of(value), shape_of(places)
    count, batch = at[-1], len(at) - 1
    numbers = ScatterDimensionNumbers(
        update_window_dims=tuple(range(batch, batch + len(shape) - count)),
        inserted_window_dims=tuple(range(count)),
        scatter_dims_to_operand_dims=tuple(range(count)),
        index_vector_dim=batch,
    )
    scalar = TensorType(element_of(value), [])
    name = _REDUCTIONS[reduction]
    region = build.region([scalar, scalar], lambda args: [build.binary(name, args[0], args[1]) if name else args[1]])
    properties = {"scatter_dimension_numbers": ScatterDimensionNumbersAttr(numbers)}
    return build.value("scatter", [value, places, updates], value.type, properties, [region])


def _gather_elements(node: Node) -> SSAValue:
    build, value, indices = node.build, node.input(0), node.input(1)
    axis, shape = node.axis(0, node.rank()), node.static(1)
    return gather_points(build, value, points(build, shape, {axis: wrapped(build, indices, value, axis)}))


def _scatter_elements(node: Node) -> SSAValue:
    build, value, indices, updates = node.build, node.input(0), node.input(1), node.input(2)
    axis, shape = node.axis(0, node.rank()), node.static(1)
    places = points(build, shape, {axis: wrapped(build, indices, value, axis)})
    return scatter_points(build, value, places, updates, node.string("reduction", "none"))


def _wrapped_points(node: Node, start: int) -> SSAValue:
    """Coordinates of dimensions from `start` on, counted from the front."""
    build, value, indices = node.build, node.input(0), node.input(1)
    count = node.static(1)[-1]
    sizes = build.array(np.array(shape_of(value)[start : start + count], np.int64), i64)
    indices = build.convert(indices, i64)
    return build.select(build.compare("LT", indices, build.constant(i64, 0)), build.add_(indices, sizes), indices)


def _gather_nd(node: Node) -> SSAValue:
    build, value, batch = node.build, node.input(0), node.int("batch_dims", 0)
    node.static(0)
    places = _wrapped_points(node, batch)
    if batch:
        shape = shape_of(places)
        counts = [build.counted([*shape[:-1], 1], dim, i64) for dim in range(batch)]
        places = build.concatenate([*counts, places], len(shape) - 1)
    return gather_points(build, value, places)


def _scatter_nd(node: Node) -> SSAValue:
    node.static(0)
    reduction = node.string("reduction", "none")
    return scatter_points(node.build, node.input(0), _wrapped_points(node, 0), node.input(2), reduction)


def _tensor_scatter(node: Node) -> SSAValue:
    """Rows of a cache, from a place for each batch on; `circular` goes on at its start."""
    build, value, updates = node.build, node.input(0), node.input(1)
    rank = node.rank()
    axis = node.axis(-2, rank)
    shape = node.static(1)
    places = build.counted(shape, axis, i64)
    if node.optional(2) is not None:
        starts = build.convert(node.input(2), i64)
        places = build.add_(places, build.along(starts, 0, rank))
    mode = node.string("mode", "linear")
    if mode == "circular":
        places = build.binary("remainder", places, build.constant(i64, shape_of(value)[axis]))
    elif mode != "linear":
        raise Unsupported(f"with the mode {mode!r}")
    return scatter_points(build, value, points(build, shape, {axis: places}), updates)


def top_of(build: OnnxBuild, value: SSAValue, axis: int, count: int, largest: bool) -> tuple[SSAValue, SSAValue]:
    """The first `count` of the sorted elements along `axis`, and their places; equal ones in their order."""
    places = build.counted(shape_of(value), axis, i32)
    scalars = [TensorType(element_of(value), []), TensorType(i32, [])]
    arguments = [type for type in scalars for _ in range(2)]
    region = build.region(arguments, lambda args: [build.compare("GT" if largest else "LT", args[0], args[1])])
    properties = {"dimension": IntegerAttr(axis, i64), "is_stable": BoolAttr.from_bool(True)}
    sorted_values = build.make("sort", [value, places], [value.type, places.type], properties, [region])
    first, second = (build.part(each, axis, 0, count) for each in sorted_values)
    return first, second


def _top_k(node: Node) -> list[SSAValue | None]:
    build, value, rank = node.build, node.input(0), node.rank()
    axis = node.axis(-1, rank)
    static = node.static_result()
    if node.version < 10:
        count = node.int("k")
    elif static is not None and node.numbers(1) is None:
        count = static[axis]
    else:
        count = int(node.constant(1, "numbers of elements").reshape(-1)[0])
    node.static(0)
    if node.int("largest", 1) and axis == rank - 1:
        shape = [*shape_of(value)[:-1], count]
        types = [TensorType(element_of(value), shape), TensorType(i32, shape)]
        first, second = build.make("chlo.top_k", [value], types, {"k": IntegerAttr(count, i64)})
    else:
        first, second = top_of(build, value, axis, count, bool(node.int("largest", 1)))
    return [first, build.convert(second, i64)]


CONVERSIONS: dict[str, Conversion] = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "TensorScatter": _tensor_scatter,
    "TopK": _top_k,
}
