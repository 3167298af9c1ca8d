"""Data-dependent access: gather, dynamic_slice, dynamic_update_slice, torch_index_select.

All run on the device: the start indices are operands of the generic, clamped in its body as the specification says, so
the host never reads them back and no access is out of range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from tiree.dialects.stablehlo_attrs import GatherDimensionNumbersAttr
from tiree.input.lowering.context import Lowering, Unsupported, identity, map_attr, tensor_type
from tiree.input.lowering.scalar import ScalarBuilder, inherent, integer_width
from tiree.input.lowering.scalar_ops import is_unsigned
from tiree.input.lowering.structural import ints_property, result_type, squeeze
from tiree.support.typed import is_integer_attr, is_integer_type


def clamped(s: ScalarBuilder, start: SSAValue, unsigned: bool, limit: int) -> SSAValue:
    """The integer `start` as an index in `0..limit`."""
    if unsigned and integer_width(start.type) >= 64:
        # Values from 2^63 up would turn negative: pin them first.
        start = s.binary(arith.MinUIOp, start, s.constant(start.type, limit))
    return s.clamp_index(s.to_index(start, unsigned), 0, limit)


def _gather(lowering: Lowering, op: Operation) -> None:
    attr = inherent(op, "dimension_numbers")
    if not isinstance(attr, GatherDimensionNumbersAttr):
        raise Unsupported("without dimension_numbers")
    numbers = attr.data
    operand, starts = op.operands
    type = result_type(op)
    rank = len(type.get_shape())
    operand_shape = tensor_type(operand).get_shape()
    slice_sizes = ints_property(op, "slice_sizes")
    starts_type = tensor_type(starts)
    unsigned = is_unsigned(starts_type.element_type)
    source, indices = lowering.get(operand), lowering.get(starts)
    batch_loops = [d for d in range(rank) if d not in numbers.offset_dims]
    starts_rank = len(starts_type.get_shape())
    vector_dim = numbers.index_vector_dim
    if 0 in type.get_shape():
        lowering.set(op.results[0], lowering.empty(type))
        return
    # The index tensor's dimensions other than the vector one are the batch dimensions of the result, in order.
    batch_dims = [d for d in range(starts_rank) if d != vector_dim]
    single = len(numbers.start_index_map) == 1
    inputs: list[tuple[SSAValue, AffineMapAttr]] = []
    if single:
        if vector_dim < starts_rank:
            indices = squeeze(lowering, indices, [vector_dim])
        inputs.append((indices, map_attr(rank, tuple(batch_loops))))

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        batch = dict(zip(batch_dims, batch_loops, strict=True))
        positions: list[SSAValue | None] = [None] * len(operand_shape)
        for component, dim in enumerate(numbers.start_index_map):
            limit = operand_shape[dim] - slice_sizes[dim]
            if single:
                start = args[0]
            else:
                at = [
                    s.constant(_INDEX, component) if d == vector_dim else s.index(batch[d]) for d in range(starts_rank)
                ]
                start = s.extract(indices, at)
            positions[dim] = clamped(s, start, unsigned, limit)
        for dim, start_dim in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True):
            positions[dim] = s.index(batch[start_dim])
        dropped = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
        window = [dim for dim in range(len(operand_shape)) if dim not in dropped]
        for dim, loop in zip(window, numbers.offset_dims, strict=True):
            offset = s.index(loop)
            known = positions[dim]
            positions[dim] = offset if known is None else s.add_(known, offset)
        return s.extract(source, [s.constant(_INDEX, 0) if p is None else p for p in positions])

    lowering.set(op.results[0], lowering.parallel(inputs, type, body))


_INDEX = IntegerAttr.from_index_int_value(0).type


def _static_starts(lowering: Lowering, starts: Sequence[SSAValue], limits: Sequence[int]) -> list[int] | None:
    """The clamped start indices, when all are constants."""
    values: list[int] = []
    for start, limit in zip(starts, limits, strict=True):
        attr = lowering.splat(start)
        if not is_integer_attr(attr):
            return None
        value = attr.value.data
        element = tensor_type(start).element_type
        if is_unsigned(element) and is_integer_type(element):
            value &= (1 << element.width.data) - 1
        values.append(min(max(value, 0), limit))
    return values


def _start_inputs(
    lowering: Lowering, starts: Sequence[SSAValue], rank: int
) -> tuple[list[tuple[SSAValue, AffineMapAttr]], Callable[[ScalarBuilder, Sequence[SSAValue], int, int], SSAValue]]:
    """Inputs for the start indices that are not constant, and a function that gives start `i` in the body."""
    inputs: list[SSAValue] = []
    places: dict[int, int] = {}
    for i, start in enumerate(starts):
        if lowering.splat(start) is None:
            value = lowering.get(start)
            if value not in inputs:
                inputs.append(value)
            places[i] = inputs.index(value)

    def start_of(s: ScalarBuilder, args: Sequence[SSAValue], i: int, limit: int) -> SSAValue:
        if i not in places:
            static = _static_starts(lowering, [starts[i]], [limit])
            assert static is not None
            return s.constant(_INDEX, static[0])
        return clamped(s, args[places[i]], is_unsigned(tensor_type(starts[i]).element_type), limit)

    return [(value, map_attr(rank, ())) for value in inputs], start_of


def _dynamic_slice(lowering: Lowering, op: Operation) -> None:
    type = result_type(op)
    source, starts = lowering.get(op.operands[0]), op.operands[1:]
    shape, sizes = tensor_type(op.operands[0]).get_shape(), type.get_shape()
    limits = [a - b for a, b in zip(shape, sizes, strict=True)]
    static = [0] * len(sizes) if not any(limits) else _static_starts(lowering, starts, limits)
    if static is not None:
        value = source if source.type == type else lowering.slice(source, static, sizes)
        lowering.set(op.results[0], value)
        return
    inputs, start_of = _start_inputs(lowering, starts, len(sizes))

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        at: list[SSAValue] = []
        for dim, limit in enumerate(limits):
            position = s.index(dim)
            at.append(position if limit == 0 else s.add_(start_of(s, args, dim, limit), position))
        return s.extract(source, at)

    lowering.set(op.results[0], lowering.parallel(inputs, type, body))


def _dynamic_update_slice(lowering: Lowering, op: Operation) -> None:
    type = result_type(op)
    target, update, starts = lowering.get(op.operands[0]), lowering.get(op.operands[1]), op.operands[2:]
    shape, sizes = type.get_shape(), tensor_type(op.operands[1]).get_shape()
    limits = [a - b for a, b in zip(shape, sizes, strict=True)]
    if 0 in sizes:
        lowering.set(op.results[0], target)
        return
    static = [0] * len(sizes) if not any(limits) else _static_starts(lowering, starts, limits)
    if static is not None:
        value = update if update.type == type else lowering.insert(update, target, static, sizes)
        lowering.set(op.results[0], value)
        return
    rank = len(shape)
    inputs, start_of = _start_inputs(lowering, starts, rank)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        at: list[SSAValue] = []
        inside: SSAValue | None = None
        for dim, limit in enumerate(limits):
            position = s.index(dim)
            if limit:
                position = s.sub(position, start_of(s, args[1:], dim, limit))
                after = s.cmpi("sge", position, s.constant(_INDEX, 0))
                before = s.cmpi("slt", position, s.constant(_INDEX, sizes[dim]))
                here = s.and_(after, before)
                inside = here if inside is None else s.and_(inside, here)
                position = s.clamp_index(position, 0, sizes[dim] - 1)
            at.append(position)
        assert inside is not None
        return s.select(inside, s.extract(update, at), args[0])

    lowering.set(op.results[0], lowering.parallel([(target, identity(rank)), *inputs], type, body))


def _torch_index_select(lowering: Lowering, op: Operation) -> None:
    from tiree.input.lowering.structural import int_property

    dim, batch = int_property(op, "dim"), int_property(op, "batch_dims", 0)
    if batch:
        raise Unsupported("with batch_dims")
    type = result_type(op)
    source, index = lowering.get(op.operands[0]), lowering.get(op.operands[1])
    rank = len(type.get_shape())
    index_rank = len(tensor_type(op.operands[1]).get_shape())
    shape = tensor_type(op.operands[0]).get_shape()
    unsigned = is_unsigned(tensor_type(op.operands[1]).element_type)
    loops = tuple(range(dim, dim + index_rank))

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        others = [s.index(loop) for loop in range(rank) if loop not in loops]
        others.insert(dim, clamped(s, args[0], unsigned, shape[dim] - 1))
        return s.extract(source, others)

    lowering.set(op.results[0], lowering.parallel([(index, map_attr(rank, loops))], type, body))


HANDLERS = {
    "stablehlo.gather": _gather,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.torch_index_select": _torch_index_select,
}
