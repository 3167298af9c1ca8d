"""Operations that make or move elements, with sizes that are known when the program runs.

What may not read (a pad outside of its source, the other parts of a concatenation) is a conditional in the body: a
tensor may be empty, so no index can be clamped into it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, IndexType, TensorType
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tiree.dialects.flow import TensorReshapeOp
from tiree.dialects.iree_tensor_ext import segment_sizes
from tiree.input.lowering.context import Lowering, Size, Splat, map_attr
from tiree.input.lowering.dims import arithmetic, check, head, product, refine, require_equal, require_order, sizes_of
from tiree.input.lowering.scalar import ScalarBuilder
from tiree.input.lowering.shape_values import integers_of, require_addressable, shape_of
from tiree.input.lowering.size_names import describe, place_of
from tiree.input.lowering.structural import first_argument, int_property, ints_property, new_type, position
from tiree.support.typed import is_tensor_type

Emit = Callable[[ScalarBuilder], SSAValue]
_INDEX = IndexType()


def set_splat(lowering: Lowering, op: Operation, sizes: Sequence[Size]) -> bool:
    """When the first operand is one repeated constant, so is the result."""
    scalar = lowering.splat(op.operands[0])
    if scalar is not None:
        lowering.set(op.results[0], Splat(scalar, new_type(op), tuple(sizes)))
    return scalar is not None


def conditional(s: ScalarBuilder, condition: SSAValue, then: Emit, otherwise: Emit, type: Attribute) -> SSAValue:
    """`scf.if` with a value, in a body."""
    regions: list[Region] = []
    for emit in (then, otherwise):
        block = Block()
        inner = ScalarBuilder(block, s.location)
        inner.add(scf.YieldOp.create(operands=[emit(inner)]))
        regions.append(Region(block))
    op = scf.IfOp.create(operands=[condition], result_types=[type], regions=regions)
    return s.add(op).results[0]


def value_of(s: ScalarBuilder, size: Size) -> SSAValue:
    return s.constant(_INDEX, size) if isinstance(size, int) else size


def iota(lowering: Lowering, op: Operation) -> None:
    dim = int_property(op, "iota_dimension")
    type = new_type(op)
    element = type.element_type
    sizes = refine(lowering, op, shape_of(lowering, op, op.operands[0]), op.results[0].type)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        return position(s, dim, element)

    lowering.set(op.results[0], lowering.parallel([], type, body, sizes))


def broadcast_in_dim(lowering: Lowering, op: Operation) -> None:
    """`dynamic_broadcast_in_dim`, and `broadcast_in_dim` of an operand with `?`."""
    type = new_type(op)
    if len(op.operands) > 1:
        sizes = refine(lowering, op, shape_of(lowering, op, op.operands[1]), op.results[0].type)
    else:
        sizes = list[Size](type.get_shape())
    if set_splat(lowering, op, sizes):
        return
    dims = ints_property(op, "broadcast_dimensions")
    expanding = set(ints_property(op, "known_expanding_dimensions", []))
    fixed = set(ints_property(op, "known_nonexpanding_dimensions", []))
    given = sizes_of(lowering, op.operands[0])
    value = lowering.get(op.operands[0])
    kept: dict[int, int] = {}
    unsure: dict[int, SSAValue] = {}
    for dim, (size, target) in enumerate(zip(given, dims, strict=True)):
        wanted = lowering.shapes.representative(sizes[target])
        if size == 1 or dim in expanding:
            continue
        if isinstance(size, int) or dim in fixed or size is wanted:
            sizes[target] = require_equal(lowering, op, size, wanted, ("", f"dimension {target} of the result"))
            kept[dim] = target
        else:
            require_one_or(lowering, op, size, wanted, target)
            unsure[dim] = size
    if not unsure:
        exprs = [AffineExpr.dimension(kept[d]) if d in kept else AffineExpr.constant(0) for d in range(len(given))]
        map = AffineMapAttr(AffineMap(len(sizes), 0, tuple(exprs)))
        lowering.set(op.results[0], lowering.parallel([(value, map)], type, first_argument, sizes))
        return

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        at: list[SSAValue] = []
        zero = s.constant(_INDEX, 0)
        for dim, target in enumerate(dims):
            if dim in kept:
                at.append(s.index(target))
            elif dim in unsure:
                single = s.cmpi("eq", unsure[dim], s.constant(_INDEX, 1))
                at.append(s.select(single, zero, s.index(target)))
            else:
                at.append(zero)
        return s.extract(value, at)

    lowering.set(op.results[0], lowering.parallel([], type, body, sizes))


def require_one_or(lowering: Lowering, op: Operation, size: Size, other: Size, target: int) -> None:
    """`size` must be 1 or equal `other`, the size of dimension `target` of the result."""
    s = lowering.scalars()
    one = s.cmpi("eq", lowering.index_of(size), lowering.constant_index(1))
    same = s.cmpi("eq", lowering.index_of(size), lowering.index_of(other))
    words = describe(lowering, size, op), describe(lowering, other, op, f"dimension {target} of the result")
    check(lowering, s.or_(one, same), f"{head(lowering)}{words[0]} must be 1 or equal {words[1]} for {place_of(op)}")


def _factors(size: Size) -> list[Size]:
    """A product of sizes as its factors."""
    if isinstance(size, OpResult) and size.op.name == "arith.muli":
        return [factor for operand in size.op.operands for factor in _factors(operand)]
    from tiree.dialects.arith import constant_int

    known = None if isinstance(size, int) else constant_int(size)
    return [size if known is None else known]


def _require_same_count(lowering: Lowering, op: Operation, source: Sequence[Size], target: Sequence[Size]) -> None:
    """Both shapes must have the same number of elements."""
    left = [factor for size in source for factor in _factors(size)]
    right = [factor for size in target for factor in _factors(size)]
    what = "the number of elements"
    for factor in [f for f in left if not isinstance(f, int)]:
        if any(factor is other for other in right):
            what = "the product of the other sizes"
            left = _without(left, factor)
            right = _without(right, factor)
    given, wanted = product(lowering, left), product(lowering, right)
    if isinstance(given, int) and isinstance(wanted, int) and given == wanted:
        return
    require_equal(lowering, op, wanted, given, (f"{what} of the result", f"{what} of operand 1"))


def _without(sizes: list[Size], one: Size) -> list[Size]:
    place = next(i for i, size in enumerate(sizes) if size is one)
    return [*sizes[:place], *sizes[place + 1 :]]


def reshape(lowering: Lowering, op: Operation) -> None:
    """`dynamic_reshape`, and `reshape` of an operand with `?`."""
    type = new_type(op)
    if len(op.operands) > 1:
        sizes = refine(lowering, op, shape_of(lowering, op, op.operands[1]), op.results[0].type)
    else:
        sizes = list[Size](type.get_shape())
    source = sizes_of(lowering, op.operands[0])
    _require_same_count(lowering, op, source, sizes)
    if set_splat(lowering, op, sizes):
        return
    lowering.set(op.results[0], reshape_to(lowering, lowering.get(op.operands[0]), source, type, sizes))


def reshape_to(
    lowering: Lowering, value: SSAValue, source: Sequence[Size], type: TensorType, sizes: Sequence[Size]
) -> SSAValue:
    """A new value of sizes `source` with another type and sizes, of as many elements."""
    if value.type == type and all(
        a is b or (isinstance(a, int) and a == b) for a, b in zip(source, sizes, strict=True)
    ):
        return value
    assert is_tensor_type(value.type)
    given, made = (
        [lowering.index_of(size) for size, extent in zip(all_sizes, t.get_shape(), strict=True) if extent < 0]
        for all_sizes, t in ((source, value.type), (sizes, type))
    )
    reshaped = TensorReshapeOp.create(
        operands=[value, *given, *made],
        result_types=[type],
        properties={"operandSegmentSizes": segment_sizes(1, len(given), len(made))},
    )
    result = lowering.emit(reshaped)
    lowering.shapes.note(result, sizes)
    return result


def concatenate(lowering: Lowering, op: Operation) -> None:
    type = new_type(op)
    dim = int_property(op, "dimension")
    shapes = [sizes_of(lowering, value) for value in op.operands]
    sizes = list(shapes[0])
    ends: list[Size] = [sizes[dim]]
    for shape in shapes[1:]:
        for d, size in enumerate(shape):
            if d != dim:
                sizes[d] = require_equal(lowering, op, sizes[d], size)
        ends.append(arithmetic(lowering, "add", ends[-1], shape[dim]))
    sizes[dim] = ends[-1]
    sizes = refine(lowering, op, sizes, op.results[0].type)
    values = [lowering.get(value) for value in op.operands]

    def part(s: ScalarBuilder, number: int, at: list[SSAValue]) -> SSAValue:
        if number:
            offset = value_of(s, ends[number - 1])
            at = [s.sub(position, offset) if d == dim else position for d, position in enumerate(at)]
        return s.extract(values[number], at)

    def choose(s: ScalarBuilder, number: int, at: list[SSAValue]) -> SSAValue:
        if number == len(values) - 1:
            return part(s, number, at)
        before = s.cmpi("slt", at[dim], value_of(s, ends[number]))
        return conditional(
            s, before, lambda t: part(t, number, at), lambda t: choose(t, number + 1, at), type.element_type
        )

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        return choose(s, 0, [s.index(d) for d in range(len(sizes))])

    lowering.set(op.results[0], lowering.parallel([], type, body, sizes))


def pad(lowering: Lowering, op: Operation) -> None:
    """`pad` and `dynamic_pad`."""
    type = new_type(op)
    if op.name == "stablehlo.dynamic_pad":
        low, high, interior = (integers_of(lowering, value) for value in op.operands[2:])
    else:
        names = ("edge_padding_low", "edge_padding_high", "interior_padding")
        low, high, interior = (list[Size](ints_property(op, name)) for name in names)
    given = sizes_of(lowering, op.operands[0])
    sizes = refine(lowering, op, padded_sizes(lowering, op, given, low, high, interior), op.results[0].type)
    if op.name == "stablehlo.dynamic_pad":
        require_addressable(lowering, op, sizes)
    source, fill = lowering.get(op.operands[0]), lowering.get(op.operands[1])
    lowering.set(op.results[0], pad_value(lowering, (source, given), fill, low, interior, (type, sizes)))


def padded_sizes(
    lowering: Lowering,
    op: Operation,
    given: Sequence[Size],
    low: Sequence[Size],
    high: Sequence[Size],
    interior: Sequence[Size],
) -> list[Size]:
    """The sizes after padding; none may be negative."""
    sizes: list[Size] = []
    for dim, (size, a, b, gap) in enumerate(zip(given, low, high, interior, strict=True)):
        _require_amounts(lowering, op, dim, size, (a, b, gap))
        spread = size if gap == 0 else _spread(lowering, size, gap)
        total = arithmetic(lowering, "add", arithmetic(lowering, "add", spread, a), b)
        if not (isinstance(a, int) and isinstance(b, int) and a >= 0 and b >= 0):
            complaint = f"more is cut than there is in dimension {dim}"
            require_order(lowering, op, 0, total, complaint, ("", f"dimension {dim} of the result"))
        sizes.append(total)
    return sizes


_MOST_PADDING = 1 << 56
"""Elements on a side, or between those of a dimension in all: sums of them do not overflow."""


def _require_amounts(lowering: Lowering, op: Operation, dim: int, size: Size, amounts: Sequence[Size]) -> None:
    """Padding that only the run knows is neither between elements negative nor beyond all tensors."""
    called, too_large = f"the padding of dimension {dim}", "padding is too large"
    for amount in amounts[:2]:
        if not isinstance(amount, int):
            require_order(lowering, op, amount, _MOST_PADDING, too_large, (called, ""))
            require_order(lowering, op, -_MOST_PADDING, amount, too_large, ("", called))
    gap = amounts[2]
    if not isinstance(gap, int):
        require_order(lowering, op, 0, gap, "interior padding is negative", ("", called))
        s = lowering.scalars()
        some = s.binary(arith.MaxSIOp, lowering.index_of(size), lowering.constant_index(1))
        limit = s.binary(arith.DivUIOp, lowering.constant_index(_MOST_PADDING), some)
        require_order(lowering, op, gap, limit, too_large, (called, "the most"))


def pad_value(
    lowering: Lowering,
    source: tuple[SSAValue, Sequence[Size]],
    fill: SSAValue,
    low: Sequence[Size],
    interior: Sequence[Size],
    result: tuple[TensorType, Sequence[Size]],
) -> SSAValue:
    """A new value with its sizes, padded with the rank-0 value `fill` to a type and sizes."""
    (value, given), (type, sizes) = source, result
    if not sizes:
        return value

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        conditions: list[SSAValue] = []
        at: list[SSAValue] = []
        zero = s.constant(_INDEX, 0)
        for d, size in enumerate(given):
            position = s.index(d)
            first = low[d]
            if first == 0 and interior[d] == 0 and size is sizes[d]:
                at.append(position)
                continue
            if first != 0:
                position = s.sub(position, value_of(s, first))
            if not isinstance(first, int) or first > 0:
                conditions.append(s.cmpi("sge", position, zero))
            if interior[d] != 0:
                step = s.add_(value_of(s, interior[d]), s.constant(_INDEX, 1))
                whole = s.binary(arith.MaxSIOp, position, zero)
                position = s.binary(arith.DivUIOp, whole, step)
                conditions.append(s.cmpi("eq", s.mul(position, step), whole))
            conditions.append(s.cmpi("slt", position, value_of(s, size)))
            at.append(position)
        if not conditions:
            return s.extract(value, at)
        inside = conditions[0]
        for condition in conditions[1:]:
            inside = s.and_(inside, condition)
        if all(isinstance(size, int) and size > 0 for size in given):
            # Something is there to read, whatever the place.
            pinned = [s.clamp_index(p, 0, size - 1) for p, size in zip(at, given, strict=True) if isinstance(size, int)]
            return s.select(inside, s.extract(value, pinned), args[0])
        return conditional(s, inside, lambda t: t.extract(value, at), lambda _: args[0], type.element_type)

    return lowering.parallel([(fill, map_attr(len(sizes), ()))], type, body, sizes)


def window_size(lowering: Lowering, size: Size, window: Size, stride: int, dilation: int) -> Size:
    """How often a dilated window fits into `size` elements; one of no elements fits wherever it begins."""
    if isinstance(window, int):
        reach: Size = 1 + (window - 1) * dilation if window else 0
    else:
        reach = arithmetic(lowering, "add", arithmetic(lowering, "mul", window, dilation), 1 - dilation)
        reach = lowering.scalars().binary(arith.MaxSIOp, lowering.index_of(reach), lowering.constant_index(0))
    if isinstance(size, int) and isinstance(reach, int):
        return max(0, (size - reach) // stride + 1)
    room = arithmetic(lowering, "sub", arithmetic(lowering, "add", size, stride), reach)
    s = lowering.scalars()
    room = s.binary(arith.MaxSIOp, lowering.index_of(room), lowering.constant_index(0))
    return room if stride == 1 else s.binary(arith.DivUIOp, room, lowering.constant_index(stride))


def dynamic_type(element: Attribute, sizes: Sequence[Size]) -> TensorType:
    """The type of a tensor with these sizes."""
    return TensorType(element, [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes])


def _spread(lowering: Lowering, size: Size, gap: Size) -> Size:
    """The extent of `size` elements with `gap` between neighbours."""
    if isinstance(size, int) and isinstance(gap, int):
        return size + max(0, size - 1) * gap
    s = lowering.scalars()
    less = arithmetic(lowering, "sub", size, 1)
    gaps = s.binary(arith.MaxSIOp, lowering.index_of(less), lowering.constant_index(0))
    return arithmetic(lowering, "add", size, arithmetic(lowering, "mul", gaps, gap))


def reverse(lowering: Lowering, op: Operation) -> None:
    dims = ints_property(op, "dimensions")
    sizes = refine(lowering, op, sizes_of(lowering, op.operands[0]), op.results[0].type)
    if set_splat(lowering, op, sizes):
        return
    lowering.set(op.results[0], reverse_value(lowering, lowering.get(op.operands[0]), dims, (new_type(op), sizes)))


def reverse_value(
    lowering: Lowering, value: SSAValue, dims: Sequence[int], result: tuple[TensorType, Sequence[Size]]
) -> SSAValue:
    """A new value read backwards along `dims`."""
    type, sizes = result

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        at: list[SSAValue] = []
        for d, size in enumerate(sizes):
            position = s.index(d)
            if d in dims:
                position = s.sub(s.sub(value_of(s, size), s.constant(_INDEX, 1)), position)
            at.append(position)
        return s.extract(value, at)

    return lowering.parallel([], type, body, sizes)
