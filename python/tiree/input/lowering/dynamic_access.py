"""Data-dependent access with sizes that are known when the program runs: gather and slices at computed places.

Indices are clamped in the body, as the specification says; that a slice fits into its operand is checked beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from tiree.dialects.stablehlo_attrs import GatherDimensionNumbers, GatherDimensionNumbersAttr
from tiree.input.lowering.context import Lowering, Size, Unsupported, identity, map_attr, ranked_type
from tiree.input.lowering.dims import arithmetic, is_dynamic, refine, require_equal, require_order, sizes_of
from tiree.input.lowering.dynamic_movement import conditional, value_of
from tiree.input.lowering.scalar import ScalarBuilder, inherent, integer_width
from tiree.input.lowering.scalar_ops import is_unsigned
from tiree.input.lowering.shape_values import integers_of
from tiree.input.lowering.structural import int_property, ints_property, new_type

_INDEX = IndexType()


def clamped(s: ScalarBuilder, start: SSAValue, unsigned: bool, limit: SSAValue) -> SSAValue:
    """The integer `start` as an index in `0..limit`."""
    if unsigned and integer_width(start.type) >= 64:
        start = s.binary(arith.MinUIOp, start, s.constant(start.type, (1 << 62)))
    position = s.binary(arith.MaxSIOp, s.to_index(start, unsigned), s.constant(_INDEX, 0))
    return s.binary(arith.MinSIOp, position, limit)


def _require_room(
    lowering: Lowering, op: Operation, parts: Sequence[Size], sizes: Sequence[Size], who: str, called: str
) -> None:
    """No part may be larger than the dimension that it is taken from or put into."""
    for dim, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        complaint = f"{who} is larger than its operand in dimension {dim}"
        require_order(lowering, op, part, size, complaint, (called, f"dimension {dim} of operand 1"))


def _require_slices(lowering: Lowering, op: Operation, slices: Sequence[Size], numbers: GatherDimensionNumbers) -> None:
    """No slice has a negative size, and what is dropped from the result has one element: numbers are checked before."""
    for dim, part in enumerate(slices):
        called = f"the size of the slice in dimension {dim}"
        if isinstance(part, int):
            continue
        if dim in numbers.collapsed_slice_dims:
            require_equal(lowering, op, 1, part, ("", called))
            continue
        require_order(lowering, op, 0, part, "the size of a slice is negative", ("", called))
        if dim in numbers.operand_batching_dims:
            require_order(lowering, op, part, 1, "a batching dimension of a slice is larger than 1", (called, ""))


def gather(lowering: Lowering, op: Operation) -> None:
    """`gather` and `dynamic_gather`."""
    attr = inherent(op, "dimension_numbers")
    if not isinstance(attr, GatherDimensionNumbersAttr):
        raise Unsupported("without dimension_numbers")
    numbers = attr.data
    operand, starts = op.operands[:2]
    type = new_type(op)
    rank = len(type.get_shape())
    shape, starts_shape = sizes_of(lowering, operand), sizes_of(lowering, starts)
    dynamic = op.name == "stablehlo.dynamic_gather"
    slices = integers_of(lowering, op.operands[2]) if dynamic else list[Size](ints_property(op, "slice_sizes"))
    _require_room(lowering, op, slices, shape, "a slice", "the size of the slice")
    if dynamic:
        _require_slices(lowering, op, slices, numbers)
    batch_loops = [d for d in range(rank) if d not in numbers.offset_dims]
    batch_dims = [d for d in range(len(starts_shape)) if d != numbers.index_vector_dim]
    dropped = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    window = [dim for dim in range(len(shape)) if dim not in dropped]
    made: list[Size] = [0] * rank
    for dim, loop in zip(batch_dims, batch_loops, strict=True):
        made[loop] = starts_shape[dim]
    for dim, loop in zip(window, numbers.offset_dims, strict=True):
        made[loop] = slices[dim]
    sizes = refine(lowering, op, made, op.results[0].type)
    for dim, start_dim in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True):
        require_equal(lowering, op, shape[dim], starts_shape[start_dim])
    limits = [arithmetic(lowering, "sub", size, part) for size, part in zip(shape, slices, strict=True)]
    unsigned = is_unsigned(ranked_type(starts).element_type)
    source, indices = lowering.get(operand), lowering.get(starts)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        batch = dict(zip(batch_dims, batch_loops, strict=True))
        positions: list[SSAValue | None] = [None] * len(shape)
        for component, dim in enumerate(numbers.start_index_map):
            vector = numbers.index_vector_dim
            at = [s.constant(_INDEX, component) if d == vector else s.index(batch[d]) for d in range(len(starts_shape))]
            positions[dim] = clamped(s, s.extract(indices, at), unsigned, value_of(s, limits[dim]))
        for dim, start_dim in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True):
            positions[dim] = s.index(batch[start_dim])
        for dim, loop in zip(window, numbers.offset_dims, strict=True):
            offset, known = s.index(loop), positions[dim]
            positions[dim] = offset if known is None else s.add_(known, offset)
        return s.extract(source, [s.constant(_INDEX, 0) if p is None else p for p in positions])

    lowering.set(op.results[0], lowering.parallel([], type, body, sizes))


def dynamic_slice(lowering: Lowering, op: Operation) -> None:
    type = new_type(op)
    sizes = list[Size](ints_property(op, "slice_sizes"))
    shape = sizes_of(lowering, op.operands[0])
    _require_room(lowering, op, sizes, shape, "a slice", "the size of the slice")
    limits = [arithmetic(lowering, "sub", size, part) for size, part in zip(shape, sizes, strict=True)]
    source = lowering.get(op.operands[0])
    starts = [lowering.get(value) for value in op.operands[1:]]
    signs = [is_unsigned(ranked_type(value).element_type) for value in op.operands[1:]]

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        at = [s.add_(clamped(s, args[d], signs[d], value_of(s, limit)), s.index(d)) for d, limit in enumerate(limits)]
        return s.extract(source, at)

    inputs = [(start, map_attr(len(sizes), ())) for start in starts]
    lowering.set(op.results[0], lowering.parallel(inputs, type, body, sizes))


def dynamic_update_slice(lowering: Lowering, op: Operation) -> None:
    type = new_type(op)
    target, update = op.operands[:2]
    sizes = refine(lowering, op, sizes_of(lowering, target), op.results[0].type)
    parts = sizes_of(lowering, update)
    _require_room(lowering, op, parts, sizes, "the update", "the size of the update")
    limits = [arithmetic(lowering, "sub", size, part) for size, part in zip(sizes, parts, strict=True)]
    new = lowering.get(update)
    starts = [lowering.get(value) for value in op.operands[2:]]
    signs = [is_unsigned(ranked_type(value).element_type) for value in op.operands[2:]]

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        inside: SSAValue | None = None
        at: list[SSAValue] = []
        for d, limit in enumerate(limits):
            position = s.sub(s.index(d), clamped(s, args[1 + d], signs[d], value_of(s, limit)))
            after = s.cmpi("sge", position, s.constant(_INDEX, 0))
            here = s.and_(after, s.cmpi("slt", position, value_of(s, parts[d])))
            inside = here if inside is None else s.and_(inside, here)
            at.append(position)
        if inside is None:
            return s.extract(new, at)
        return conditional(s, inside, lambda t: t.extract(new, at), lambda _: args[0], type.element_type)

    rank = len(sizes)
    inputs = [(lowering.get(target), identity(rank)), *((start, map_attr(rank, ())) for start in starts)]
    lowering.set(op.results[0], lowering.parallel(inputs, type, body, sizes))


def real_dynamic_slice(lowering: Lowering, op: Operation) -> None:
    """Starts, limits and strides are values."""
    type = new_type(op)
    starts, limits, strides = (integers_of(lowering, value) for value in op.operands[1:])
    sizes: list[Size] = []
    boxes = zip(sizes_of(lowering, op.operands[0]), starts, limits, strides, strict=True)
    for dim, (size, start, limit, stride) in enumerate(boxes):
        where, whole = f"in dimension {dim}", f"dimension {dim} of operand 1"
        require_order(lowering, op, 0, start, f"a slice starts before its operand {where}", ("", "the start"))
        require_order(lowering, op, start, limit, f"a slice ends before it starts {where}", ("the start", "the limit"))
        require_order(lowering, op, limit, size, f"a slice ends behind its operand {where}", ("the limit", whole))
        require_order(lowering, op, 1, stride, f"a stride is not positive {where}", ("", "the stride"))
        length = arithmetic(lowering, "sub", limit, start)
        if stride == 1:
            sizes.append(length)
        elif isinstance(length, int) and isinstance(stride, int):
            sizes.append(-(-length // stride))
        else:
            s = lowering.scalars()
            more = arithmetic(lowering, "add", length, arithmetic(lowering, "sub", stride, 1))
            sizes.append(s.binary(arith.DivUIOp, lowering.index_of(more), lowering.index_of(stride)))
    sizes = refine(lowering, op, sizes, op.results[0].type)
    source = lowering.get(op.operands[0])

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        at = [
            s.add_(s.mul(s.index(d), value_of(s, stride)), value_of(s, start))
            for d, (start, stride) in enumerate(zip(starts, strides, strict=True))
        ]
        return s.extract(source, at)

    lowering.set(op.results[0], lowering.parallel([], type, body, sizes))


def set_dimension_size(lowering: Lowering, op: Operation) -> None:
    """The elements up to the new size, which may not be larger than the old one."""
    type, operand = new_type(op), op.operands[0]
    dim = int_property(op, "dimension")
    if not is_dynamic(operand.type) and ranked_type(operand).get_shape() == type.get_shape():
        lowering.set(op.results[0], lowering.values[operand])
        return
    sizes = list(sizes_of(lowering, operand))
    (size,) = integers_of(lowering, op.operands[1])
    new, old = f"the new size of dimension {dim}", f"dimension {dim} of operand 1"
    require_order(lowering, op, 0, size, f"{new} is negative", ("", "it"))
    require_order(lowering, op, size, sizes[dim], f"{new} is larger than the old one", ("the new size", old))
    sizes[dim] = size
    sizes = refine(lowering, op, sizes, op.results[0].type)
    source = lowering.get(operand)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        return s.extract(source, [s.index(d) for d in range(len(sizes))])

    lowering.set(op.results[0], lowering.parallel([], type, body, sizes))
