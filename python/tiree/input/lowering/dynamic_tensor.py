"""Operations of the tensor dialect, as users write them, on `?` dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.dialects.tensor import ExtractOp, FromElementsOp
from xdsl.ir import Operation, SSAValue

from tiree.dialects.arith import constant_int
from tiree.dialects.tensor_dims import dynamic_dims
from tiree.input.lowering.context import Lowering, Size, Unsupported, identity, ranked_type
from tiree.input.lowering.dims import arithmetic, product, refine, require_equal, require_order, sizes_of
from tiree.input.lowering.dynamic_movement import (
    conditional,
    pad_value,
    padded_sizes,
    reshape_to,
    value_of,
)
from tiree.input.lowering.scalar import ScalarBuilder
from tiree.input.lowering.scalar_ops import DIVISIONS, total_division
from tiree.input.lowering.structural import new_type
from tiree.support.typed import array_of, int_of, ints_of, is_tensor_type, tensor_type

_INDEX = IndexType()


def _given(lowering: Lowering, value: SSAValue) -> Size:
    new = lowering.get(value)
    known = constant_int(new)
    return lowering.shapes.representative(new) if known is None else known


def mixed(lowering: Lowering, op: Operation, name: str, segment: int) -> list[Size]:
    """The numbers of property `name`, with the operands of a segment where it has none."""
    sizes = op.properties.get("operandSegmentSizes")
    if sizes is None:
        given = iter(op.operands[segment:])
    else:
        segments = ints_of(sizes)
        start = sum(segments[:segment])
        given = iter(op.operands[start : start + segments[segment]])
    return [
        _given(lowering, next(given)) if number == DYNAMIC_INDEX else number for number in ints_of(op.properties[name])
    ]


def dim(lowering: Lowering, op: Operation) -> None:
    position = constant_int(lowering.get(op.operands[1]))
    sizes = sizes_of(lowering, op.operands[0])
    if position is None or not 0 <= position < len(sizes):
        raise Unsupported("of a dimension that is not a constant")
    lowering.set(op.results[0], lowering.index_of(sizes[position]))


def empty(lowering: Lowering, op: Operation) -> None:
    type = new_type(op)
    given = iter(op.operands)
    sizes: list[Size] = []
    for d, extent in enumerate(type.get_shape()):
        sizes.append(_given(lowering, next(given)) if extent == DYNAMIC_INDEX else extent)
        require_order(lowering, op, 0, sizes[-1], "a size is negative", ("", f"dimension {d} of the result"))
    lowering.set(op.results[0], lowering.empty(type, sizes))


def cast(lowering: Lowering, op: Operation) -> None:
    given = sizes_of(lowering, op.operands[0])
    sizes = refine(lowering, op, given, op.results[0].type)
    lowering.set(op.results[0], reshape_to(lowering, lowering.get(op.operands[0]), given, new_type(op), sizes))


def _groups(op: Operation) -> list[list[int]]:
    return [[int_of(dim) for dim in array_of(group)] for group in array_of(op.properties["reassociation"])]


def collapse(lowering: Lowering, op: Operation) -> None:
    given = sizes_of(lowering, op.operands[0])
    sizes: list[Size] = [product(lowering, [given[d] for d in group]) for group in _groups(op)]
    sizes = refine(lowering, op, sizes, op.results[0].type)
    lowering.set(op.results[0], reshape_to(lowering, lowering.get(op.operands[0]), given, new_type(op), sizes))


def expand(lowering: Lowering, op: Operation) -> None:
    given = sizes_of(lowering, op.operands[0])
    sizes = mixed(lowering, op, "static_output_shape", 1)
    for d, size in enumerate(sizes):
        require_order(lowering, op, 0, size, "a size is negative", ("", f"dimension {d} of the result"))
    for size, group in zip(given, _groups(op), strict=True):
        made = f"the product of dimensions {group} of the result"
        require_equal(lowering, op, product(lowering, [sizes[d] for d in group]), size, (made, ""))
    sizes = refine(lowering, op, sizes, op.results[0].type)
    lowering.set(op.results[0], reshape_to(lowering, lowering.get(op.operands[0]), given, new_type(op), sizes))


def _kept(sizes: Sequence[Size], rank: int) -> list[int]:
    """The dimensions that a rank-reduced slice of these sizes keeps: unit ones go, the first ones first."""
    surplus = len(sizes) - rank
    kept: list[int] = []
    for d, size in enumerate(sizes):
        if surplus and size == 1:
            surplus -= 1
        else:
            kept.append(d)
    if surplus:
        raise Unsupported("that drops dimensions whose size is not 1")
    return kept


def _require_inside(
    lowering: Lowering, op: Operation, box: tuple[list[Size], list[Size], list[Size]], whole: Sequence[Size]
) -> None:
    """A box of offsets, sizes and strides must lie in a tensor of these sizes."""
    for d, (offset, size, stride, extent) in enumerate(zip(*box, whole, strict=True)):
        where = f"in dimension {d}"
        require_order(lowering, op, 0, offset, f"an offset is negative {where}", ("", "the offset"))
        require_order(lowering, op, 0, size, f"a size is negative {where}", ("", "the size"))
        require_order(lowering, op, 1, stride, f"a stride is not positive {where}", ("", "the stride"))
        steps = arithmetic(lowering, "mul", arithmetic(lowering, "sub", size, 1), stride)
        last = arithmetic(lowering, "add", offset, steps)
        end = arithmetic(lowering, "add", last, 1)
        called = "the end of the box", f"dimension {d} of the tensor"
        require_order(lowering, op, end, extent, f"the box ends behind its tensor {where}", called)


def extract_slice(lowering: Lowering, op: Operation) -> None:
    type = new_type(op)
    offsets, all_sizes, strides = (
        mixed(lowering, op, f"static_{name}", 1 + i) for i, name in enumerate(("offsets", "sizes", "strides"))
    )
    _require_inside(lowering, op, (offsets, all_sizes, strides), sizes_of(lowering, op.operands[0]))
    kept = _kept(all_sizes, len(type.get_shape()))
    sizes = refine(lowering, op, [all_sizes[d] for d in kept], op.results[0].type)
    source = lowering.get(op.operands[0])

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        at: list[SSAValue] = []
        for d, (offset, stride) in enumerate(zip(offsets, strides, strict=True)):
            position = value_of(s, offset)
            if d in kept:
                step = s.index(kept.index(d))
                step = step if stride == 1 else s.mul(step, value_of(s, stride))
                position = step if offset == 0 else s.add_(step, position)
            at.append(position)
        return s.extract(source, at)

    lowering.set(op.results[0], lowering.parallel([], type, body, sizes))


def insert_slice(lowering: Lowering, op: Operation) -> None:
    type = new_type(op)
    offsets, all_sizes, strides = (
        mixed(lowering, op, f"static_{name}", 2 + i) for i, name in enumerate(("offsets", "sizes", "strides"))
    )
    source_sizes, sizes = sizes_of(lowering, op.operands[0]), sizes_of(lowering, op.operands[1])
    _require_inside(lowering, op, (offsets, all_sizes, strides), sizes)
    kept = _kept(all_sizes, len(source_sizes))
    for d, size in zip(kept, source_sizes, strict=True):
        require_equal(lowering, op, all_sizes[d], size, (f"the size of the box in dimension {d}", ""))
    source, dest = lowering.get(op.operands[0]), lowering.get(op.operands[1])

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        zero = s.constant(_INDEX, 0)
        conditions: list[SSAValue] = []
        at: list[SSAValue] = []
        for d, (offset, size, stride) in enumerate(zip(offsets, all_sizes, strides, strict=True)):
            position = s.index(d)
            if offset != 0:
                position = s.sub(position, value_of(s, offset))
                conditions.append(s.cmpi("sge", position, zero))
            if stride != 1:
                whole = s.binary(arith.MaxSIOp, position, zero)
                position = s.binary(arith.DivUIOp, whole, value_of(s, stride))
                conditions.append(s.cmpi("eq", s.mul(position, value_of(s, stride)), whole))
            conditions.append(s.cmpi("slt", position, value_of(s, size)))
            if d in kept:
                at.append(position)
        inside = conditions[0]
        for condition in conditions[1:]:
            inside = s.and_(inside, condition)
        return conditional(s, inside, lambda t: t.extract(source, at), lambda _: args[0], type.element_type)

    rank = len(sizes)
    lowering.set(op.results[0], lowering.parallel([(dest, identity(rank))], type, body, sizes))


def on_tensors(lowering: Lowering, op: Operation) -> None:
    """arith and math on whole tensors: the op on the elements."""
    if op.regions or len(op.results) != 1:
        raise Unsupported(f"with the dynamic shape {op.results[0].type}" if op.results else "")
    type = new_type(op)
    tensors = list(dict.fromkeys(value for value in op.operands if is_tensor_type(value.type)))
    type_of = op.__class__
    sizes = list[Size](ranked_type(op.results[0]).get_shape())
    for value in tensors:
        for d, size in enumerate(sizes_of(lowering, value)):
            known = sizes[d]
            unknown = isinstance(known, int) and known == DYNAMIC_INDEX
            sizes[d] = size if unknown else require_equal(lowering, op, known, size)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        operands = [args[tensors.index(v)] if v in tensors else lowering.get(v) for v in op.operands]
        quotient = total_division(s, op, operands[0], operands[1]) if op.name in DIVISIONS else None
        if quotient is not None:
            return quotient
        return s.add(
            type_of.create(operands=operands, result_types=[type.element_type], properties=dict(op.properties))
        ).results[0]

    rank = len(sizes)
    inputs = [(lowering.get(value), identity(rank)) for value in tensors]
    lowering.set(op.results[0], lowering.parallel(inputs, type, body, sizes))


def extract(lowering: Lowering, op: Operation) -> None:
    """In bodies: hosts read no elements of tensors whose strides they do not know."""
    if not getattr(lowering, "kernels", 0):
        raise Unsupported(f"with the dynamic shape {op.operands[0].type}")
    made = ExtractOp.create(operands=[lowering.get(value) for value in op.operands], result_types=[op.results[0].type])
    lowering.set(op.results[0], lowering.emit(made))


def pad(lowering: Lowering, op: Operation) -> None:
    """`tensor.pad` with one value for all that is new."""
    block = op.regions[0].blocks.first
    end = block.last_op if block is not None else None
    fill = end.operands[0] if end is not None else None
    maker = fill.owner if fill is not None else None
    if fill is None or (maker is not None and maker is block):
        raise Unsupported("whose padding depends on its place")
    if isinstance(maker, Operation) and maker.parent is block:
        if maker.name != "arith.constant":
            raise Unsupported("whose padding is computed for each place")
        lowering.lower(maker)
    value = lowering.emit(
        FromElementsOp.create(operands=[lowering.get(fill)], result_types=[TensorType(fill.type, [])])
    )
    low, high = mixed(lowering, op, "static_low", 1), mixed(lowering, op, "static_high", 2)
    given = sizes_of(lowering, op.operands[0])
    gaps = [0] * len(given)
    sizes = refine(lowering, op, padded_sizes(lowering, op, given, low, high, gaps), op.results[0].type)
    source = lowering.get(op.operands[0]), given
    lowering.set(op.results[0], pad_value(lowering, source, value, low, gaps, (new_type(op), sizes)))


def border(lowering: Lowering, op: Operation) -> None:
    """An import, export, barrier or view of a program whose entry points have buffer views already: it names sizes."""
    made = op.__class__.create(
        operands=[lowering.get(value) for value in op.operands],
        result_types=[result.type for result in op.results],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    lowering.emit_op(made)
    for old, result in zip(op.results, made.results, strict=True):
        lowering.set(old, result)
        given = dynamic_dims(result) if is_tensor_type(result.type) else []
        if given:
            sizes = iter(given)
            shape = tensor_type(result).get_shape()
            lowering.shapes.note(result, [next(sizes) if size == DYNAMIC_INDEX else size for size in shape])


HANDLERS = {
    "hal.tensor.import": border,
    "hal.tensor.export": border,
    "hal.tensor.barrier": border,
    "flow.tensor.reshape": border,
    "flow.tensor.bitcast": border,
    "tensor.extract": extract,
    "tensor.pad": pad,
    "tensor.dim": dim,
    "tensor.empty": empty,
    "tensor.cast": cast,
    "tensor.collapse_shape": collapse,
    "tensor.expand_shape": expand,
    "tensor.extract_slice": extract_slice,
    "tensor.insert_slice": insert_slice,
}
