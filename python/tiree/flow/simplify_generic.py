"""Local simplification of one `linalg.generic`: fewer inputs, scalar constants inside the body, plain results.

Each function mutates the op in place and says whether it changed anything; all keep the value that the op computes.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from tiree.dialects.arith import ConstantOp, constant_of
from tiree.dialects.dense import DenseAttr
from tiree.flow.affine import is_identity
from tiree.flow.scalars import Number, evaluate, scalar_attr
from tiree.flow.structured import (
    body_of,
    defining_op,
    element_count,
    erase_op,
    input_count,
    insert_before,
    is_elementwise,
    iterators_of,
    make_empty,
    make_fill,
    maps_of,
    set_maps,
    set_segments,
    yielded,
)
from tiree.support.typed import is_complex_type, is_float_attr, is_integer_attr, is_integer_type, is_tensor_type


def uniform_scalar(value: SSAValue) -> SSAValue | DenseAttr | None:
    """The scalar that all elements of `value` equal: an SSA scalar, a one-element constant, or None."""
    if not is_tensor_type(value.type):
        return value
    op = defining_op(value)
    if op is None:
        return None
    if op.name in ("linalg.fill", "flow.tensor.splat", "tensor.splat"):
        return op.operands[0]
    if op.name == "tensor.from_elements" and len(op.operands) == 1:
        return op.operands[0]
    attr = constant_of(value)
    if isinstance(attr, DenseAttr) and (attr.is_splat or element_count(value) == 1):
        return attr
    return None


def scalar_constant(attr: DenseAttr, anchor: Operation) -> SSAValue | None:
    """A constant before `anchor` of the one value in `attr`; None for types without a scalar form."""
    from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr

    from tiree.dialects.dense import decode_scalar

    type = attr.element_type
    if is_complex_type(type):
        return _complex_constant(attr, type, anchor)
    try:
        number = decode_scalar(type, bytes(attr.buffer))
    except ValueError:
        return None
    if is_integer_type(type) or isinstance(type, IndexType):
        op = ConstantOp(IntegerAttr(int(number), type))
    elif isinstance(type, AnyFloat):
        if number != number:
            return None  # A NaN's bits would not survive the trip through a Python float.
        op = ConstantOp(FloatAttr(float(number), type))
    else:
        return None
    insert_before(anchor, op)
    return op.result


def _complex_constant(attr: DenseAttr, type: ComplexType, anchor: Operation) -> SSAValue | None:
    from xdsl.dialects import complex
    from xdsl.dialects.builtin import AnyFloat, ArrayAttr, FloatAttr

    from tiree.dialects.dense import decode_scalar

    raw, part = bytes(attr.buffer), type.element_type
    assert isinstance(part, AnyFloat)
    half = len(raw) // 2
    numbers = [float(decode_scalar(part, one)) for one in (raw[:half], raw[half:])]
    if any(number != number for number in numbers):
        return None
    value = ArrayAttr([FloatAttr(number, part) for number in numbers])
    op = complex.ConstantOp.create(result_types=[type], properties={"value": value})
    insert_before(anchor, op)
    return op.results[0]


def loops_without(maps: tuple[AffineMap, ...], skip: int) -> bool:
    """Whether all loops still get their extent when operand `skip` is gone."""
    found: set[int] = set()
    for index, map in enumerate(maps):
        if index != skip:
            found.update(expr.position for expr in map.results if isinstance(expr, AffineDimExpr))
    return len(found) == maps[0].num_dims


def remove_input(op: Operation, index: int) -> None:
    """Removes input `index`, whose block argument must be unused."""
    block = body_of(op)
    block.erase_arg(block.args[index])
    maps = maps_of(op)
    count = input_count(op)
    op.operands = [*op.operands[:index], *op.operands[index + 1 :]]
    set_maps(op, [*maps[:index], *maps[index + 1 :]])
    set_segments(op, count - 1, len(op.operands) - count + 1)


def inline_uniform_inputs(op: Operation) -> bool:
    """Inputs that hold one value become scalars of the body; unused inputs go."""
    changed = False
    for index in reversed(range(input_count(op))):
        arg = body_of(op).args[index]
        value = op.operands[index]
        if arg.first_use is not None:
            scalar = uniform_scalar(value)
            if isinstance(scalar, DenseAttr):
                scalar = scalar_constant(scalar, op)
            if scalar is None or scalar.type != arg.type:
                continue
            arg.replace_all_uses_with(scalar)
            changed = True
        if loops_without(maps_of(op), index):
            remove_input(op, index)
            changed = True
    return changed


def _has_more_uses(value: SSAValue, other: SSAValue) -> bool:
    """Whether `value` has more uses than `other`; counts no further than the smaller number."""
    uses = iter(value.uses)
    for _ in other.uses:
        if next(uses, None) is None:
            return False
    return next(uses, None) is not None


def _exchange_args(block: Block, first: int, second: int) -> None:
    """Exchanges two block arguments of one type."""
    args = list(block.args)
    args[first], args[second] = args[second], args[first]
    args[first].index, args[second].index = first, second
    block._args = tuple(args)  # pyright: ignore[reportPrivateUsage]: xDSL cannot move a block argument


def merge_equal_inputs(op: Operation) -> bool:
    """The same value read through the same map is read once."""
    maps = maps_of(op)
    block = body_of(op)
    first: dict[tuple[SSAValue, AffineMap], int] = {}
    repeated: list[int] = []
    for index in range(input_count(op)):
        key = (op.operands[index], maps[index])
        if key in first:
            if _has_more_uses(block.args[index], block.args[first[key]]):
                _exchange_args(block, first[key], index)
            block.args[index].replace_all_uses_with(block.args[first[key]])
            repeated.append(index)
        else:
            first[key] = index
    for index in reversed(repeated):
        remove_input(op, index)
    return bool(repeated)


def detach_inits(op: Operation) -> bool:
    """Inits of elementwise ops become empty tensors; one that the body reads becomes an input."""
    if not is_elementwise(op):
        return False
    changed = False
    block = body_of(op)
    count = input_count(op)
    for position in range(count, len(op.operands)):
        init = op.operands[position]
        producer = defining_op(init)
        if producer is not None and producer.name == "tensor.empty":
            continue
        arg = block.args[position]
        empty = make_empty(init.type)
        insert_before(op, empty)
        op.operands[position] = empty.results[0]
        if arg.first_use is not None:
            _append_input(op, init, maps_of(op)[position], arg)
            return True
        changed = True
    return changed


def _append_input(op: Operation, value: SSAValue, map: AffineMap, old_arg: SSAValue) -> None:
    count = input_count(op)
    block = body_of(op)
    new = block.insert_arg(old_arg.type, count)
    old_arg.replace_all_uses_with(new)
    maps = maps_of(op)
    op.operands = [*op.operands[:count], value, *op.operands[count:]]
    set_maps(op, [*maps[:count], map, *maps[count:]])
    set_segments(op, count + 1, len(op.operands) - count - 1)


def as_copy(op: Operation) -> list[SSAValue] | None:
    """The values that the op merely passes on, when it is nothing but an identity or a fill."""
    values: list[SSAValue] = []
    block = body_of(op)
    if not all(iterators_of(op)) or block.first_op is not block.last_op:
        return None
    maps = maps_of(op)
    count = input_count(op)
    for index, value in enumerate(yielded(op)):
        result = op.results[index]
        if isinstance(value, BlockArgument) and value.block is block:
            position = value.index
            source = op.operands[position]
            same = maps[position] == maps[count + index] and is_identity(maps[position])
            if not same or source.type != result.type:
                return None
            values.append(source)
        elif is_tensor_type(result.type) and is_elementwise(op):
            init = make_empty(result.type)
            fill = make_fill(value, init.results[0])
            insert_before(op, init, fill)
            values.append(fill.results[0])
        else:
            return None
    return values


def number_of(value: SSAValue) -> Number | None:
    """The Python number of a scalar constant."""

    attr = constant_of(value)
    if is_integer_attr(attr):
        return attr.value.data & 1 if str(attr.type) == "i1" else attr.value.data
    return attr.value.data if is_float_attr(attr) else None


def fold_scalars(block: Block) -> bool:
    """Folds scalar ops of a body on constants, and the identities `x + 0` (integers), `x * 1`, `select c, x, x`."""
    changed = False
    for op in list(block.ops):
        if not op.name.startswith("arith.") or op.name == "arith.constant" or len(op.results) != 1:
            continue
        replacement = fold_scalar(op)
        if replacement is not None:
            op.results[0].replace_all_uses_with(replacement)
            erase_op(op)
            changed = True
    return changed


def fold_scalar(op: Operation) -> SSAValue | None:
    """A value equal to the result of `op`: a new constant before it, or one of its operands."""
    numbers = [number_of(operand) for operand in op.operands]
    known = [number for number in numbers if number is not None]
    if len(known) == len(numbers) and isinstance(value := evaluate(op, known), int | float):
        attr = scalar_attr(value, op.results[0].type)
        if attr is not None and not (isinstance(value, float) and value != value):
            constant = ConstantOp(attr)
            insert_before(op, constant)
            return constant.result
    return _identity(op, numbers)


def _identity(op: Operation, numbers: list[Number | None]) -> SSAValue | None:
    match op.name:
        case "arith.select" if op.operands[1] is op.operands[2]:
            return op.operands[1]
        case "arith.select" if numbers[0] is not None:
            return op.operands[1] if numbers[0] else op.operands[2]
        case "arith.addi" | "arith.ori" | "arith.xori" | "arith.subi" if numbers[1] == 0:
            return op.operands[0]
        case "arith.addi" | "arith.ori" | "arith.xori" if numbers[0] == 0:
            return op.operands[1]
        case "arith.muli" | "arith.mulf" | "arith.divf" | "arith.divsi" | "arith.divui" if numbers[1] == 1:
            return op.operands[0]
        case "arith.muli" | "arith.mulf" if numbers[0] == 1:
            return op.operands[1]
        case "arith.andi" if op.operands[0] is op.operands[1] or numbers[0] == 0:
            return op.operands[0]
        case "arith.andi" if numbers[1] == 0:
            return op.operands[1]
        case _:
            return None


def replace_exact_divisions(block: Block) -> None:
    """`x / c` becomes `x * (1/c)` where c is a power of two whose reciprocal is exact."""
    import math

    from xdsl.dialects.arith import MulfOp
    from xdsl.dialects.builtin import AnyFloat, BFloat16Type, Float16Type, FloatAttr

    for op in list(block.ops):
        if op.name != "arith.divf":
            continue
        number = number_of(op.operands[1])
        type = op.results[0].type
        if (
            not isinstance(number, float)
            or number == 0.0
            or not math.isfinite(number)
            or not isinstance(type, AnyFloat)
        ):
            continue
        mantissa, exponent = math.frexp(number)
        limit = 14 if isinstance(type, Float16Type) else 126
        if abs(mantissa) != 0.5 or abs(exponent) >= limit or isinstance(type, BFloat16Type):
            continue
        constant = ConstantOp(FloatAttr(1.0 / number, type))
        product = MulfOp.create(
            operands=[op.operands[0], constant.result],
            result_types=[type],
            properties=dict(op.properties),
        )
        insert_before(op, constant, product)
        op.results[0].replace_all_uses_with(product.results[0])
        erase_op(op)
