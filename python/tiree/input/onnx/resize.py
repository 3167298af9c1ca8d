"""Resize and Upsample: dimension after dimension, each result element a weighted sum of a few places of the operand.

Places and weights depend on sizes and attributes only, so they are constants, computed here in f64. All modes, all
transformations of coordinates and all roundings of opset 10 to 19.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, f32, i1, i32
from xdsl.ir import SSAValue

from tiree.dialects.stablehlo_attrs import GatherDimensionNumbers, GatherDimensionNumbersAttr
from tiree.input.expansions.build import element_of, i64_array, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.lowering.scalar import widened
from tiree.input.onnx.build import Array, OnnxBuild, integer_range, rank_of
from tiree.input.onnx.node import Conversion, Node, normalized
from tiree.support.typed import is_integer_type

Coefficients: TypeAlias = "Callable[[float], Array]"

_FEW = 4
"""More places than these are summed as a product with a matrix."""


@dataclass
class _Axis:
    """How one dimension is resized. `width` is the size of the result before it is rounded down."""

    axis: int
    size: int
    scale: float
    given: float
    roi: tuple[float, float] = (0.0, 1.0)
    result: int = field(default=0)

    @property
    def width(self) -> float:
        return self.scale * self.given


@dataclass
class Taps:
    """`places[i, k]` of the operand count with `weights[i, k]` for element i of the result; `outside` marks others."""

    places: Array
    weights: Array
    outside: Array | None = None


def coordinates(mode: str, one: _Axis) -> Array:
    """Where in the operand each element of the result lies."""
    places = np.arange(one.result, dtype=np.float64)
    size, width, scale = one.size, one.width, one.scale
    match mode:
        case "half_pixel":
            return (places + 0.5) / scale - 0.5
        case "pytorch_half_pixel":
            return (places + 0.5) / scale - 0.5 if one.result > 1 else places * 0
        case "half_pixel_symmetric":
            return size / 2 * (1 - one.result / width) + (places + 0.5) / scale - 0.5
        case "align_corners":
            return places * 0 if width == 1 else places * (size - 1) / (width - 1)
        case "asymmetric":
            return places / scale
        case "tf_half_pixel_for_nn":
            return (places + 0.5) / scale
        case "tf_crop_and_resize":
            start, end = one.roi
            if width == 1:
                return places * 0 + (start + end) * (size - 1) / 2
            return start * (size - 1) + places * (end - start) * (size - 1) / (width - 1)
        case _:
            raise Unsupported(f"with the coordinate_transformation_mode {mode!r}")


def _nearest(rounding: str, where: Array) -> Array:
    match rounding:
        case "round_prefer_floor":
            return np.ceil(where - 0.5)
        case "round_prefer_ceil":
            return np.floor(where + 0.5)
        case "floor":
            return np.floor(where)
        case "ceil":
            return np.ceil(where)
        case _:
            raise Unsupported(f"with the nearest_mode {rounding!r}")


def _linear(distance: float) -> float:
    return max(0.0, 1 - abs(distance))


def _cubic(a: float, distance: float) -> float:
    x = abs(distance)
    if x <= 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a if x < 2 else 0.0


def _taps(node: Node, one: _Axis, mode: str) -> Taps:
    transformation = node.string("coordinate_transformation_mode", "half_pixel" if node.version > 10 else "asymmetric")
    where = coordinates(transformation, one)
    outside = None
    if transformation == "tf_crop_and_resize":
        outside = (where < 0) | (where > one.size - 1)
    if mode == "nearest":
        rounding = node.string("nearest_mode", "round_prefer_floor" if node.version > 10 else "floor")
        places = _nearest(rounding, where).astype(np.int64)[:, None]
        return Taps(np.clip(places, 0, one.size - 1), np.ones(places.shape), outside)
    reach, filter = 1, _linear
    if mode == "cubic":
        reach, filter = 2, partial(_cubic, node.float("cubic_coeff_a", -0.75))
    shrink = min(one.scale, 1.0) if node.int("antialias", 0) else 1.0
    return _filtered(where, one.size, reach, filter, shrink, bool(node.int("exclude_outside", 0)), outside)


def _filtered(
    where: Array,
    size: int,
    reach: int,
    filter: Callable[[float], float],
    shrink: float,
    exclude: bool,
    outside: Array | None,
) -> Taps:
    """The taps of a filter that is `1 / shrink` times as wide as it reaches."""
    first = int(np.floor(-reach / shrink)) + 1
    offsets = np.arange(first, 2 - first)[: 2 - 2 * first]
    # The place left of where it is, and the distance to it in (0, 1].
    left = np.ceil(where) - 1
    ratio = where - left
    places = left[:, None].astype(np.int64) + offsets
    weights = np.vectorize(filter, otypes=[np.float64])((offsets - ratio[:, None]) * shrink)
    if shrink != 1:
        weights /= weights.sum(1, keepdims=True)
    if exclude:
        weights = np.where((places < 0) | (places >= size), 0, weights)
        weights /= weights.sum(1, keepdims=True)
    return Taps(np.clip(places, 0, size - 1), weights, outside)


def take(build: OnnxBuild, value: SSAValue, axis: int, places: Array) -> SSAValue:
    """Elements of `value` at constant places along `axis`: a slice where they are a range, else a gather."""
    if len(places) == shape_of(value)[axis] and np.array_equal(places, np.arange(len(places))):
        return value
    steps = np.diff(places)
    if len(places) and shape_of(value)[axis] != DYNAMIC_INDEX and (len(places) == 1 or np.all(steps == steps[0])):
        step = int(steps[0]) if len(steps) else 1
        if step > 0 and DYNAMIC_INDEX not in shape_of(value):
            return build.part(value, axis, int(places[0]), int(places[-1]) + 1, step)
    repeats = _repeats(places, shape_of(value)[axis])
    if repeats:
        spread = build.unsqueeze(value, [axis + 1])
        sizes = build.sizes(spread)
        sizes[axis + 1] = repeats
        spread = build.repeat(spread, sizes, range(len(sizes)))
        merged = build.sizes(value)
        merged[axis] = len(places)
        return build.reshape(spread, merged)
    return _gathered(build, value, axis, places)


def _repeats(places: Array, size: int) -> int:
    """How often each element comes in a row, if all come equally often; else 0."""
    if size <= 0 or len(places) % size:
        return 0
    count = len(places) // size
    return count if np.array_equal(places, np.repeat(np.arange(size), count)) else 0


def _gathered(build: OnnxBuild, value: SSAValue, axis: int, places: Array) -> SSAValue:
    rank = rank_of(value)
    numbers = GatherDimensionNumbers(
        offset_dims=tuple(dim for dim in range(rank) if dim != axis),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
        index_vector_dim=1,
    )
    indices = build.array(np.asarray(places, np.int32), i32)
    shape = list(shape_of(value))
    if DYNAMIC_INDEX in shape:
        raise Unsupported("of a tensor with a dynamic shape, by places that are no range,")
    sizes = [1 if dim == axis else size for dim, size in enumerate(shape)]
    shape[axis] = len(places)
    properties = {"dimension_numbers": GatherDimensionNumbersAttr(numbers), "slice_sizes": i64_array(sizes)}
    return build.value("gather", [value, indices], TensorType(element_of(value), shape), properties)


def weighted(build: OnnxBuild, value: SSAValue, axis: int, taps: Taps) -> SSAValue:
    """The sums of the taps along `axis`."""
    if not is_integer_type(element_of(value)) and taps.places.shape[1] > _FEW:
        return _by_matrix(build, value, axis, taps)
    total: SSAValue | None = None
    for number in range(taps.places.shape[1]):
        weights = taps.weights[:, number]
        if not np.any(weights):
            continue
        part = take(build, value, axis, taps.places[:, number])
        if not np.all(weights == 1):
            factor = build.along(build.array(weights, element_of(value)), axis, rank_of(value))
            part = build.multiply(part, factor)
        total = part if total is None else build.add_(total, part)
    return build.like(value, 0) if total is None else total


def _by_matrix(build: OnnxBuild, value: SSAValue, axis: int, taps: Taps) -> SSAValue:
    rank = rank_of(value)
    matrix = np.zeros((len(taps.places), shape_of(value)[axis]))
    np.add.at(matrix, (np.arange(len(matrix))[:, None], taps.places), taps.weights)
    product = build.contract(value, build.array(matrix, element_of(value)), ([axis], [1]))
    order = list(range(rank - 1))
    order.insert(axis, rank - 1)
    return build.transpose(product, order)


def _axes(node: Node) -> list[_Axis]:
    """What is resized, and how."""
    shape = shape_of(node.input(0))
    rank = len(shape)
    axes = [normalized(axis, rank) for axis in node.ints("axes", range(rank))]
    scales_at, sizes_at, roi_at = (1, len(node), len(node)) if node.version < 11 else (2, 3, 1)
    roi = node.numbers(roi_at)
    if node.string("coordinate_transformation_mode") == "tf_crop_and_resize" and node.optional(roi_at) is not None:
        roi = node.constant(roi_at, "regions")
    regions = np.array([0.0] * len(axes) + [1.0] * len(axes)) if roi is None or not roi.size else roi.astype(np.float64)
    sizes = _wanted_sizes(node, sizes_at, axes)
    if sizes is None:
        scales = [float(scale) for scale in node.constant(scales_at, "scales").reshape(-1)]
    else:
        scales = _scales_of_sizes(node, [shape[axis] for axis in axes], sizes)
    found: list[_Axis] = []
    for number, axis in enumerate(axes):
        one = _Axis(axis, shape[axis], scales[number], shape[axis])
        one.roi = (float(regions[number]), float(regions[number + len(axes)]))
        if one.size == DYNAMIC_INDEX:
            if one.scale != 1:
                raise Unsupported("of a dimension whose size is known late only")
            continue
        cropped = node.string("coordinate_transformation_mode") == "tf_crop_and_resize"
        share = one.roi[1] - one.roi[0] if cropped and sizes is None else 1.0
        one.result = sizes[number] if sizes is not None else int(np.floor(one.size * share * one.scale))
        if sizes is not None and node.string("keep_aspect_ratio_policy", "stretch") != "stretch":
            one.result = int(np.floor(one.scale * one.size + 0.5))
        if one.result != one.size or one.scale != 1 or cropped:
            found.append(one)
    return found


def _wanted_sizes(node: Node, index: int, axes: Sequence[int]) -> list[int] | None:
    """Operand `sizes`, or the sizes in the text where that is not constant; None without it."""
    value = node.optional(index)
    if value is None or shape_of(value) == (0,):
        return None
    known, static = node.numbers(index), node.static_result()
    if known is not None:
        return [int(size) for size in known.reshape(-1)]
    if static is not None and node.string("keep_aspect_ratio_policy", "stretch") == "stretch":
        return [static[axis] for axis in axes]
    raise Unsupported("with sizes that are not constant")


def _scales_of_sizes(node: Node, sizes: Sequence[int], wanted: Sequence[int]) -> list[float]:
    scales = [1.0 if size == DYNAMIC_INDEX else new / size for size, new in zip(sizes, wanted, strict=True)]
    match node.string("keep_aspect_ratio_policy", "stretch"):
        case "stretch":
            return scales
        case "not_larger":
            return [min(scales)] * len(scales)
        case "not_smaller":
            return [max(scales)] * len(scales)
        case other:
            raise Unsupported(f"with the keep_aspect_ratio_policy {other!r}")


def _resize(node: Node) -> SSAValue:
    mode = node.string("mode", "nearest")
    if mode not in ("nearest", "linear", "cubic"):
        raise Unsupported(f"with the mode {mode!r}")
    build, value = node.build, node.input(0)
    element = element_of(value)
    work = element if mode == "nearest" else f32 if is_integer_type(element) else widened(element)
    result = build.convert(value, work)
    axes = [(one, _taps(node, one, mode)) for one in _axes(node)]
    for one, taps in axes:
        result = weighted(build, result, one.axis, taps)
    for one, taps in axes:
        if taps.outside is not None and np.any(taps.outside):
            mask = build.along(build.array(taps.outside, i1), one.axis, rank_of(result))
            result = build.select(mask, build.like(result, node.float("extrapolation_value", 0.0)), result)
    return _narrowed(build, result, node)


def _narrowed(build: OnnxBuild, value: SSAValue, node: Node) -> SSAValue:
    """In the type of the operand; integers are rounded towards zero, at the ends of their range."""
    element = node.element()
    if is_integer_type(element) and element_of(value) != element:
        low, high = integer_range(element)
        value = build.clamp(build.like(value, low), value, build.like(value, high))
    return build.convert(value, element)


def _upsample(node: Node) -> SSAValue:
    """As Resize of opset 10: asymmetric, and the nearest place on the left."""
    build, value, mode = node.build, node.input(0), node.string("mode", "nearest")
    scales = node.floats("scales") if node.version < 9 else [float(n) for n in node.constant(1, "scales")]
    if mode not in ("nearest", "linear"):
        raise Unsupported(f"with the mode {mode!r}")
    shape = node.static(0)
    for axis, (size, scale) in enumerate(zip(shape, scales, strict=True)):
        one = _Axis(axis, size, scale, size, result=int(np.floor(size * scale)))
        where = coordinates("asymmetric", one)
        if mode == "nearest":
            taps = Taps(np.clip(np.floor(where).astype(np.int64), 0, size - 1)[:, None], np.ones((one.result, 1)))
        else:
            taps = _filtered(where, size, 1, _linear, 1.0, False, None)
        value = weighted(build, value, axis, taps)
    return value


CONVERSIONS: dict[str, Conversion] = {"Resize": _resize, "Upsample": _upsample}
