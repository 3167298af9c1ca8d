"""Shapes and the movement of data: reshapes, slices, pads, concatenations, repetitions."""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i32, i64
from xdsl.ir import SSAValue

from tiree.input.expansions.build import element_of, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.build import OnnxBuild, Size, broadcast_shape, rank_of
from tiree.input.onnx.fold import slice_indices
from tiree.input.onnx.node import Conversion, Node, normalized
from tiree.input.onnx.resize import take


def _reshape(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    keeps_zero = bool(node.int("allowzero", 0))
    numbers = node.numbers(1) if node.version >= 5 else np.array(node.ints("shape"), np.int64)
    if numbers is not None:
        return build.reshape(value, _reshaped(build, value, [int(n) for n in numbers.reshape(-1)], keeps_zero))
    static = node.static_result()
    if static is not None:
        return build.reshape(value, static)
    return _reshape_late(node, keeps_zero)


def _reshaped(build: OnnxBuild, value: SSAValue, wanted: list[int], keeps_zero: bool) -> list[Size]:
    """The sizes that 0 (the same as before) and -1 (what is left) stand for."""
    own = build.sizes(value)
    left = list(own)
    result: list[Size] = []
    divisor = 1
    for dim, size in enumerate(wanted):
        if size == 0 and not keeps_zero:
            if dim >= len(own):
                raise Unsupported(f"whose shape {wanted} keeps dimension {dim} of an operand of rank {len(own)}")
            result.append(own[dim])
            left.remove(own[dim])
        else:
            result.append(size)
            divisor *= 1 if size == -1 else size
    if -1 not in wanted:
        return result
    total = build.product(left)
    at = wanted.index(-1)
    if isinstance(total, int):
        if divisor == 0 or total % divisor:
            raise Unsupported(f"of {total} elements into the shape {wanted}")
        result[at] = total // divisor
    else:
        result[at] = total if divisor == 1 else build.divide(total, build.constant(i32, divisor))
    return result


def _reshape_late(node: Node, keeps_zero: bool) -> SSAValue:
    """Into a shape that is computed when the program runs."""
    build, value, declared = node.build, node.input(0), node.declared()
    if declared is None:
        raise Unsupported("into a shape of unknown rank")
    shape = build.convert(node.input(1), i32)
    own: list[Size] = build.sizes(value)
    rank = len(declared.get_shape())
    if not keeps_zero:
        same = build.size_vector([*own, *[1] * rank][:rank])
        shape = build.select(build.compare("EQ", shape, build.constant(i32, 0)), same, shape)
    is_rest = build.compare("EQ", shape, build.constant(i32, -1))
    known = build.reduce(build.select(is_rest, build.constant(i32, 1), shape), [0], "multiply", 1)
    total = build.product(own)
    whole = build.constant(i32, total) if isinstance(total, int) else total
    shape = build.select(is_rest, build.divide(whole, known), shape)
    return build.value("dynamic_reshape", [value, shape], TensorType(element_of(value), declared.get_shape()))


def _flatten(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    rank = node.rank()
    axis = node.int("axis", 1)
    axis = axis + rank if axis < 0 else axis
    sizes = build.sizes(value)
    return build.reshape(value, [build.product(sizes[:axis]), build.product(sizes[axis:])])


def _squeeze(node: Node) -> SSAValue:
    value = node.input(0)
    axes = node.axes(node.rank(), 13)
    if axes is None:
        if DYNAMIC_INDEX in shape_of(value):
            raise Unsupported("without axes, of a dynamic shape")
        axes = [dim for dim, size in enumerate(shape_of(value)) if size == 1]
    return node.build.squeeze(value, axes)


def _unsqueeze(node: Node) -> SSAValue:
    given = node.constant(1, "axes").reshape(-1) if node.version >= 13 and not node.has("axes") else node.ints("axes")
    rank = node.rank() + len(given)
    return node.build.unsqueeze(node.input(0), [normalized(int(axis), rank) for axis in given])


def _transpose(node: Node) -> SSAValue:
    return node.build.transpose(node.input(0), node.ints("perm", range(node.rank() - 1, -1, -1)))


def _concat(node: Node) -> SSAValue:
    values = node.inputs()
    axis = node.axis(1 if node.version < 4 else None, node.rank())
    shapes = [list(shape_of(value)) for value in values]
    for shape in shapes:
        shape[axis] = 1
        broadcast_shape(shape, shapes[0])
    return node.build.concatenate(values, axis)


def _split(node: Node) -> list[SSAValue | None]:
    build, value, count = node.build, node.input(0), len(node.op.results)
    axis = node.axis(0, node.rank())
    size = shape_of(value)[axis]
    if node.has("split"):
        sizes = node.ints("split")
    elif node.optional(1) is not None:
        known = node.numbers(1)
        statics = [node.static_result(index) for index in range(count)]
        if known is not None:
            sizes = [int(n) for n in known.reshape(-1)]
        elif all(shape is not None for shape in statics):
            sizes = [shape[axis] for shape in statics if shape is not None]
        else:
            raise Unsupported("with sizes that are not constant")
    elif size == DYNAMIC_INDEX:
        raise Unsupported("of a dimension whose size is known late only")
    else:
        chunk = -(-size // count)
        sizes = [max(0, min(chunk, size - chunk * index)) for index in range(count)]
    if size != DYNAMIC_INDEX and sum(sizes) != size:
        raise Unsupported(f"of {size} into {sizes}")
    ends = np.cumsum(sizes)
    return [build.part(value, axis, int(end) - n, int(end)) for n, end in zip(sizes, ends, strict=True)]


def _slice(node: Node) -> SSAValue:
    build, value, shape = node.build, node.input(0), shape_of(node.input(0))
    if node.version >= 10 and any(node.numbers(i) is None for i in range(1, len(node)) if node.optional(i) is not None):
        return _slice_late(node)
    starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
    flipped: list[int] = []
    numbers = [node.numbers(index) for index in range(1, len(node))]
    for dim, one in enumerate(slice_indices(node, numbers, shape)):
        if one.start is None:
            continue
        places = range(*one.indices(shape[dim]))
        if places.step < 0 and len(places):
            flipped.append(dim)
            places = places[::-1]
        elif places.step < 0:
            places = range(0)
        starts[dim], strides[dim] = places.start, places.step
        limits[dim] = places[-1] + 1 if len(places) else places.start
    return build.flip(build.strided_slice(value, starts, limits, strides), flipped)


def _slice_late(node: Node) -> SSAValue:
    """With bounds that are computed when the program runs; axes and steps are constant."""
    build, value, rank = node.build, node.input(0), node.rank()
    count = shape_of(node.input(1))[0]
    axes = range(count) if node.optional(3) is None else [int(axis) for axis in node.constant(3, "axes").reshape(-1)]
    steps = [1] * count if node.optional(4) is None else [int(n) for n in node.constant(4, "steps").reshape(-1)]
    if any(step < 1 for step in steps):
        raise Unsupported("with bounds that are not constant, backwards")
    bounds = [build.convert(node.input(index), i64) for index in (1, 2)]
    sizes = [build.size(value, dim, i64) for dim in range(rank)]
    starts, limits, strides = [build.constant(i64, 0)] * rank, list(sizes), [1] * rank
    shape = list(shape_of(value))
    for number, axis in enumerate(axes):
        dim = normalized(axis, rank)
        starts[dim], limits[dim] = (
            _within(build, build.reshape(build.part(bound, 0, number, number + 1), []), sizes[dim]) for bound in bounds
        )
        limits[dim] = build.maximum(limits[dim], starts[dim])
        strides[dim], shape[dim] = steps[number], DYNAMIC_INDEX
    vectors = [
        build.concatenate([build.unsqueeze(each, [0]) for each in scalars], 0)
        for scalars in (starts, limits, [build.constant(i64, step) for step in strides])
    ]
    return build.value("real_dynamic_slice", [value, *vectors], TensorType(element_of(value), shape))


def _within(build: OnnxBuild, place: SSAValue, size: SSAValue) -> SSAValue:
    """A bound counted from the front, between 0 and the size."""
    zero = build.constant(i64, 0)
    wrapped = build.select(build.compare("LT", place, zero), build.add_(place, size), place)
    return build.clamp(zero, wrapped, size)


def _pad(node: Node) -> SSAValue:
    build, value, rank = node.build, node.input(0), node.rank()
    mode = node.string("mode", "constant")
    if node.version < 11:
        pads = node.ints("pads" if node.version >= 2 else "paddings")
        fill = build.like(value, node.float("value", 0.0))
    else:
        pads = [int(n) for n in node.constant(1, "pads").reshape(-1)]
        given = node.optional(2)
        fill = build.like(value, 0) if given is None else build.reshape(given, [])
    axes = list(range(rank))
    if node.optional(3) is not None:
        axes = [normalized(int(axis), rank) for axis in node.constant(3, "axes").reshape(-1)]
    low, high = [0] * rank, [0] * rank
    for number, axis in enumerate(axes):
        low[axis], high[axis] = pads[number], pads[number + len(axes)]
    if mode == "constant":
        return build.pad(value, low, high, fill)
    if mode not in ("reflect", "edge", "wrap"):
        raise Unsupported(f"with the mode {mode!r}")
    for axis in range(rank):
        if low[axis] or high[axis]:
            places = np.arange(node.static(0)[axis])
            cut = places[max(-low[axis], 0) : len(places) - max(-high[axis], 0)]
            value = take(build, value, axis, np.pad(cut, (max(low[axis], 0), max(high[axis], 0)), mode=mode))
    return value


def _expand(node: Node) -> SSAValue:
    build, value, own = node.build, node.input(0), shape_of(node.input(0))
    numbers, static = node.numbers(1), node.static_result()
    if numbers is not None:
        shape = broadcast_shape(own, [int(n) for n in numbers.reshape(-1)])
    elif static is not None:
        shape = static
    else:
        return _expand_late(node)
    if DYNAMIC_INDEX not in own:
        return build.spread(value, shape)
    sizes: list[Size] = list(shape)
    start = len(shape) - len(own)
    for dim, size in enumerate(build.sizes(value)):
        if shape[start + dim] == DYNAMIC_INDEX:
            sizes[start + dim] = size
    return build.repeat(value, sizes, range(start, len(shape)))


def _expand_late(node: Node) -> SSAValue:
    build, value, declared = node.build, node.input(0), node.declared()
    if declared is None:
        raise Unsupported("into a shape of unknown rank")
    rank = len(declared.get_shape())
    wanted = build.convert(node.input(1), i32)
    wanted = build.pad(wanted, [rank - shape_of(wanted)[0]], [0], build.constant(i32, 1))
    own = build.size_vector([*[1] * (rank - rank_of(value)), *build.sizes(value)])
    sizes = build.select(build.compare("EQ", wanted, build.constant(i32, 1)), own, wanted)
    type = TensorType(element_of(value), declared.get_shape())
    properties = build.dims(range(rank - rank_of(value), rank))
    return build.value("dynamic_broadcast_in_dim", [value, sizes], type, properties)


def tile(build: OnnxBuild, value: SSAValue, repeats: list[int]) -> SSAValue:
    sizes = build.sizes(value)
    pairs: list[Size] = [size for pair in zip(repeats, sizes, strict=True) for size in pair]
    spread = build.repeat(value, pairs, range(1, 2 * len(sizes), 2))
    return build.reshape(spread, [build.product(pair) for pair in zip(repeats, sizes, strict=True)])


def _tile(node: Node) -> SSAValue:
    if node.version < 6:
        raise Unsupported(f"of opset {node.version}")
    numbers, static, shape = node.numbers(1), node.static_result(), shape_of(node.input(0))
    if numbers is None and static is not None and all(size > 0 for size in shape):
        repeats = [new // size for new, size in zip(static, shape, strict=True)]
    else:
        repeats = [int(n) for n in node.constant(1, "repeats").reshape(-1)]
    return tile(node.build, node.input(0), repeats)


def _depth_to_space(node: Node) -> SSAValue:
    build, value, b = node.build, node.input(0), node.int("blocksize")
    n, c, h, w = build.sizes(value)
    if not isinstance(c, int):
        raise Unsupported("with channels whose number is known late only")
    match node.string("mode", "DCR"):
        case "DCR":
            parts, order = [n, b, b, c // (b * b), h, w], [0, 3, 4, 1, 5, 2]
        case "CRD":
            parts, order = [n, c // (b * b), b, b, h, w], [0, 1, 4, 2, 5, 3]
        case other:
            raise Unsupported(f"with the mode {other!r}")
    moved = build.transpose(build.reshape(value, parts), order)
    return build.reshape(moved, [n, c // (b * b), build.product([h, b]), build.product([w, b])])


def _space_to_depth(node: Node) -> SSAValue:
    build, value, b = node.build, node.input(0), node.int("blocksize")
    n, c, h, w = node.static(0)
    parts = build.reshape(value, [n, c, h // b, b, w // b, b])
    match node.string("mode", "DCR"):
        case "DCR":
            order = [0, 3, 5, 1, 2, 4]
        case "CRD":
            order = [0, 1, 3, 5, 2, 4]
        case other:
            raise Unsupported(f"with the mode {other!r}")
    return build.reshape(build.transpose(parts, order), [n, c * b * b, h // b, w // b])


def _triangle(node: Node) -> SSAValue:
    build, value, shape = node.build, node.input(0), node.static(0)
    rank = len(shape)
    shift = build.constant(i64, 0) if node.optional(1) is None else build.reshape(node.input(1), [])
    rows = build.add_(build.counted(shape, rank - 2, i64), build.convert(shift, i64))
    direction = "GE" if node.int("upper", 1) else "LE"
    kept = build.compare(direction, build.counted(shape, rank - 1, i64), rows)
    return build.select(kept, value, build.like(value, 0))


def _center_crop_pad(node: Node) -> SSAValue:
    build, value, rank = node.build, node.input(0), node.rank()
    shape, static, numbers = node.static(0), node.static_result(), node.numbers(1)
    axes = [normalized(axis, rank) for axis in node.ints("axes", range(rank))]
    if numbers is not None:
        wanted = [int(n) for n in numbers.reshape(-1)]
    elif static is not None:
        wanted = [static[axis] for axis in axes]
    else:
        raise Unsupported("with a shape that is not constant")
    low, high = [0] * rank, [0] * rank
    for axis, size in zip(axes, wanted, strict=True):
        more = size - shape[axis]
        low[axis] = more // 2 if more > 0 else -(-more // 2)
        high[axis] = more - low[axis]
    return build.pad(value, low, high, build.like(value, 0))


def _compress(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    kept = np.nonzero(node.constant(1, "conditions").reshape(-1))[0]
    if not node.has("axis"):
        return take(build, build.reshape(value, [prod(node.static(0))]), 0, kept)
    axis = node.axis(None, node.rank())
    return take(build, value, axis, kept)


def _reverse_sequence(node: Node) -> SSAValue:
    """Places are counted from the end of each sequence."""
    from tiree.input.onnx.indexing import gather_points, points

    build, value, shape = node.build, node.input(0), node.static(0)
    time, batch = node.int("time_axis", 0), node.int("batch_axis", 1)
    lengths = build.spread(build.along(build.convert(node.input(1), i64), batch, len(shape)), shape)
    places = build.counted(shape, time, i64)
    mirrored = build.subtract(build.subtract(lengths, build.constant(i64, 1)), places)
    source = build.select(build.compare("LT", places, lengths), mirrored, places)
    return gather_points(build, value, points(build, shape, {time: source}))


CONVERSIONS: dict[str, Conversion] = {
    "CenterCropPad": _center_crop_pad,
    "Compress": _compress,
    "Concat": _concat,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "Flatten": _flatten,
    "Pad": _pad,
    "Reshape": _reshape,
    "ReverseSequence": _reverse_sequence,
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _triangle,
    "Unsqueeze": _unsqueeze,
}
