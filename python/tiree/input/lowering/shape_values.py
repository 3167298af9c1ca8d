"""Tensors that hold sizes: their elements are known to the host as scalars, so that shapes need no trip to the device.

Programs compute shapes with ordinary ops on small integer tensors (`get_dimension_size`, `concatenate`, `multiply`).
Next to what such an op becomes, its elements are computed on scalars here; whoever needs a shape asks for those.
"""

from __future__ import annotations

from itertools import product
from math import prod

from xdsl.dialects import arith, cf, tensor
from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from tiree.dialects.arith import constant_int
from tiree.input.lowering.context import Lowering, Size, Splat, Unsupported, ranked_type, signless
from tiree.input.lowering.dims import arithmetic, check, head, is_dynamic, require_at_least, sizes_of
from tiree.input.lowering.elementwise import SCALARS, run_scalar
from tiree.input.lowering.scalar import inherent, scalar_attribute
from tiree.input.lowering.size_names import UNKNOWN, describe, place_of
from tiree.input.lowering.structural import int_property, ints_property, new_type
from tiree.support.marks import SIZE_CHECK
from tiree.support.typed import is_integer_type, is_tensor_type, string_of

_MOST_ELEMENTS = 64
"""Larger tensors hold no shapes."""


def get_dimension_size(lowering: Lowering, op: Operation) -> None:
    """The size of a dimension as a tensor of one integer."""
    dim = int_property(op, "dimension")
    size = sizes_of(lowering, op.operands[0])[dim]
    type = new_type(op)
    if isinstance(size, int):
        attribute = scalar_attribute(type.element_type, size)
        lowering.set(op.results[0], Splat(attribute, type))
        return
    scalar = lowering.scalars().cast(arith.IndexCastOp, size, type.element_type)
    value = lowering.from_scalar(scalar)
    lowering.set(op.results[0], value)
    lowering.shapes.elements[value] = [scalar]


def elements_of(lowering: Lowering, old: SSAValue) -> list[SSAValue] | None:
    """The elements of an integer tensor as host scalars, where they are known."""
    value = lowering.values[old]
    if isinstance(value, SSAValue) and value in lowering.shapes.elements:
        return lowering.shapes.elements[value]
    constant = lowering.constant_value(old)
    if constant is None or not is_integer_type(constant.element_type):
        return None
    count = 1
    for size in constant.shape:
        count *= size
    if count > _MOST_ELEMENTS:
        return None
    numbers = constant.to_numpy().reshape(-1).tolist()
    return [lowering.constant(_attribute(constant.element_type, int(number))) for number in numbers]


def _attribute(type: Attribute, number: int) -> IntegerAttr:
    found = scalar_attribute(type, number)
    assert isinstance(found, IntegerAttr)
    return found


def track(lowering: Lowering, op: Operation) -> None:
    """Notes the elements of the result of `op`, if they follow from known ones."""
    if len(op.results) != 1 or not lowering.shapes.elements:
        return
    value = lowering.values.get(op.results[0])
    if not isinstance(value, SSAValue) or value in lowering.shapes.elements or not _holds_sizes(value):
        return
    if not any(lowering.values.get(operand) in lowering.shapes.elements for operand in op.operands):
        return
    found = _elements_after(lowering, op)
    if found is not None:
        lowering.shapes.elements[value] = found


def _holds_sizes(value: SSAValue) -> bool:
    if not is_tensor_type(value.type) or not is_integer_type(value.type.element_type):
        return False
    count = 1
    for size in value.type.get_shape():
        count *= size
    return 0 <= count <= _MOST_ELEMENTS and len(value.type.get_shape()) <= 1


def _elements_after(lowering: Lowering, op: Operation) -> list[SSAValue] | None:
    given = [elements_of(lowering, operand) for operand in op.operands]
    rows = [row for row in given if row is not None]
    if len(rows) != len(given):
        return None
    match op.name:
        case "stablehlo.reshape" | "stablehlo.optimization_barrier":
            return rows[0]
        case "stablehlo.concatenate":
            return [element for row in rows for element in row]
        case "stablehlo.slice":
            (start,), (limit,) = ints_property(op, "start_indices"), ints_property(op, "limit_indices")
            return rows[0][start : limit : ints_property(op, "strides")[0]]
        case "stablehlo.broadcast_in_dim" if len(rows[0]) == 1:
            return rows[0] * ranked_type(op.results[0]).get_shape()[0]
        case _ if op.name in SCALARS:
            count = max(len(row) for row in rows)
            s = lowering.scalars()
            columns = [row * count if len(row) == 1 else row for row in rows]
            return [run_scalar(SCALARS[op.name], s, op, [c[i] for c in columns]) for i in range(count)]
        case _:
            return None


_ARITHMETIC: dict[str, str] = {"arith.addi": "add", "arith.subi": "sub", "arith.muli": "mul"}


def as_size(lowering: Lowering, scalar: SSAValue, depth: int = 16) -> Size:
    """A host integer as a size; sums and products of sizes are computed as such."""
    known = constant_int(scalar)
    if known is not None:
        return known
    if isinstance(scalar.type, IndexType):
        return scalar
    op = scalar.op if isinstance(scalar, OpResult) else None
    if op is not None and depth:
        if op.name == "arith.index_cast" and isinstance(op.operands[0].type, IndexType):
            return lowering.shapes.representative(op.operands[0])
        if op.name == "arith.trunci" and (number := constant_int(op.operands[0])) is not None:
            return _attribute(scalar.type, number).value.data
        if op.name == "arith.extsi":
            return as_size(lowering, op.operands[0], depth - 1)
        if op.name in _ARITHMETIC and _is_sum(op, depth):
            a, b = (as_size(lowering, operand, depth - 1) for operand in op.operands)
            return arithmetic(lowering, _ARITHMETIC[op.name], a, b)
    return lowering.scalars().cast(arith.IndexCastOp, scalar, IndexType())


def _is_sum(op: Operation, depth: int) -> bool:
    """Whether `op` is built of sizes and constants by sums and products alone."""
    for operand in op.operands:
        inner = operand.op if isinstance(operand, OpResult) else None
        if constant_int(operand) is not None:
            continue
        if inner is None or depth == 0:
            return False
        if inner.name == "arith.index_cast" and isinstance(inner.operands[0].type, IndexType):
            continue
        if (inner.name == "arith.extsi" or inner.name in _ARITHMETIC) and _is_sum(inner, depth - 1):
            continue
        return False
    return True


def _traced(lowering: Lowering, old: SSAValue, depth: int = 8) -> list[SSAValue] | None:
    """The elements of an integer tensor, also where it is put together of constants alone."""
    found = elements_of(lowering, old)
    op = old.owner
    if found is not None or not isinstance(op, Operation) or op.name not in _PUT_TOGETHER or not depth:
        return found
    for operand in op.operands:
        row = _traced(lowering, operand, depth - 1)
        if row is None:
            return None
        value = lowering.values[operand]
        if isinstance(value, SSAValue):
            lowering.shapes.elements.setdefault(value, row)
    return _elements_after(lowering, op)


_PUT_TOGETHER = ("stablehlo.concatenate", "stablehlo.reshape", "stablehlo.convert")


def integers_of(lowering: Lowering, old: SSAValue) -> list[Size]:
    """The integers in a tensor, row by row; read back from the device where nothing else gives them."""
    found = _traced(lowering, old)
    if found is None:
        type = ranked_type(old)
        count = prod(type.get_shape())
        if is_dynamic(type) or count > _MOST_ELEMENTS:
            raise Unsupported(f"with a shape of type {type}")
        value = lowering.get(old)
        element = signless(type.element_type)
        places = product(*(range(size) for size in type.get_shape()))
        found = [
            lowering.emit(
                tensor.ExtractOp.create(
                    operands=[value, *(lowering.constant_index(i) for i in place)], result_types=[element]
                )
            )
            for place in places
        ]
    return [as_size(lowering, scalar) for scalar in found]


def shape_of(lowering: Lowering, op: Operation, old: SSAValue) -> list[Size]:
    """The sizes in a shape operand; each must not be negative unless it follows from sizes of tensors alone."""
    sizes = integers_of(lowering, old)
    for dim, size in enumerate(sizes):
        if isinstance(size, int) or not _cannot_be_negative(size):
            require_at_least(lowering, op, size, 0, f"dimension {dim} of the result", "it")
    require_addressable(lowering, op, sizes)
    return sizes


_MOST_IN_A_TENSOR = 1 << 56
"""Elements of a tensor; its bytes and every offset stay below 2^63."""


def require_addressable(lowering: Lowering, op: Operation, sizes: list[Size]) -> None:
    """A tensor of sizes that no argument has must not be larger than what can be addressed.

    The limit is divided by one size after the other, so that nothing overflows.
    """
    given = dict.fromkeys(size for size in sizes if not isinstance(size, int))
    shapes = lowering.shapes
    if not given or (len(given) == 1 and all(size in shapes.arguments for size in given)):
        return
    key = (lowering.block, frozenset(given))
    if key in shapes.addressable:
        return
    shapes.addressable.add(key)
    s = lowering.scalars()
    left = lowering.constant_index(_MOST_IN_A_TENSOR)
    for size in sizes:
        if size != 1:
            divisor = s.binary(arith.MaxUIOp, lowering.index_of(size), lowering.constant_index(1))
            left = s.binary(arith.DivUIOp, left, divisor)
    some = s.cmpi("ne", left, lowering.constant_index(0))
    check(lowering, some, f"{head(lowering)}the result of {place_of(op)} has more elements than can be addressed")


def _cannot_be_negative(size: SSAValue) -> bool:
    op = size.op if isinstance(size, OpResult) else None
    if op is None:
        return False
    if op.name == "tensor.dim":
        return True
    if (known := constant_int(size)) is not None:
        return known >= 0
    return op.name in ("arith.addi", "arith.muli") and all(_cannot_be_negative(v) for v in op.operands)


def shape_assertion(lowering: Lowering, op: Operation) -> None:
    """JAX's check of its own assumptions: `{0}` in its message stands for the sizes that follow."""
    condition = elements_of(lowering, op.operands[0])
    scalar = condition[0] if condition else lowering.extract(lowering.get(op.operands[0]))
    message = inherent(op, "error_message")
    text = string_of(message) if isinstance(message, StringAttr) else "shape assertion failed"
    for number, operand in enumerate(op.operands[1:]):
        elements = elements_of(lowering, operand)
        said = describe(lowering, as_size(lowering, elements[0])) if elements else UNKNOWN
        text = text.replace(f"{{{number}}}", said)
    if constant_int(scalar):
        return
    made = cf.AssertOp.create(operands=[scalar], properties={"msg": StringAttr(text)})
    made.attributes[SIZE_CHECK] = UnitAttr()
    lowering.emit_op(made)
