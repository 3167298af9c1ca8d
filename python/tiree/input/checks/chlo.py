"""CHLO: functions, operations that broadcast their operands, constants, top_k, ragged_dot and scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, DenseArrayBase
from xdsl.ir import Operation, SSAValue

from tiree.dialects import chlo
from tiree.dialects.chlo import BROADCASTING, RaggedDotDimensionNumbersAttr
from tiree.dialects.dense import DenseAttr
from tiree.dialects.stablehlo_base import BinaryOp, UnaryOp
from tiree.input.checks.values import (
    Wrong,
    body,
    element,
    fits,
    integer,
    integers,
    kind,
    need,
    need_dims,
    need_element,
    need_same_type,
    need_shape,
    returned,
    same_shape,
    shape,
    tensor,
    text,
)
from tiree.scalars.builder import inherent
from tiree.support.typed import is_complex_type, is_float_attr, is_integer_attr

_PREDICATES = frozenset({"chlo.is_inf", "chlo.is_neg_inf", "chlo.is_pos_inf"})


def _same(op: Operation) -> None:
    for operand in op.operands[1:]:
        need_same_type(op.operands[0], operand, "operands")
    need_same_type(op.operands[0], op.results[0], "operand and result")


def _predicate(op: Operation) -> None:
    need_shape(op, shape(op.operands[0]))
    need(kind(op.results[0]) == "b", f"its result must have elements of type i1; it is {tensor(op.results[0])}")


def _broadcast_shape(op: Operation, operands: Sequence[SSAValue]) -> None:
    """The result has the shape that the operands are broadcast to: numpy's rule, or the dimensions that are named."""
    result = shape(op.results[0])
    rank = max(len(shape(operand)) for operand in operands)
    need(len(result) == rank, f"its result is {tensor(op.results[0])}; its operands give the rank {rank}")
    wanted = [1] * rank
    for operand in operands:
        sizes = shape(operand)
        for dim, size in zip(_places(op, len(sizes), rank), sizes, strict=True):
            need(
                size in (1, DYNAMIC_INDEX) or wanted[dim] in (1, DYNAMIC_INDEX, size),
                f"its operands {' and '.join(str(tensor(each)) for each in operands)} do not go together",
            )
            if wanted[dim] == 1 or size not in (1, DYNAMIC_INDEX):
                wanted[dim] = size
    need_shape(op, wanted)


def _places(op: Operation, own: int, rank: int) -> Sequence[int]:
    """The dimension of the result that each dimension of an operand of rank `own` is."""
    if own == rank or inherent(op, "broadcast_dimensions") is None:
        return range(rank - own, rank)
    places = integers(op, "broadcast_dimensions", own)
    need_dims(places, rank, "broadcast_dimensions")
    need(list(places) == sorted(places), f"broadcast_dimensions must rise; they are {text(places)}")
    return places


def _broadcasting(op: Operation) -> None:
    a, b = op.operands
    need(element(a) == element(b), f"its operands must have one element type; they are {tensor(a)} and {tensor(b)}")
    need_element(op, a)
    _broadcast_shape(op, op.operands)


def _complex(op: Operation) -> None:
    a, b = op.operands
    need(element(a) == element(b), f"its operands must have one element type; they are {tensor(a)} and {tensor(b)}")
    have = element(op.results[0])
    fitting = is_complex_type(have) and have.element_type == element(a)
    need(fitting, f"its result is {tensor(op.results[0])}; its parts are {tensor(a)}")
    _broadcast_shape(op, op.operands)


def _compare(op: Operation) -> None:
    a, b = op.operands
    need(element(a) == element(b), f"its operands must have one element type; they are {tensor(a)} and {tensor(b)}")
    need(kind(op.results[0]) == "b", f"its result must have elements of type i1; it is {tensor(op.results[0])}")
    _broadcast_shape(op, op.operands)


def _select(op: Operation) -> None:
    predicate, a, b = op.operands
    need(kind(predicate) == "b", f"its predicate must have elements of type i1; it is {tensor(predicate)}")
    need(element(a) == element(b), f"its choices must have one element type; they are {tensor(a)} and {tensor(b)}")
    need_element(op, a)
    _broadcast_shape(op, op.operands)


def _constant(op: Operation) -> None:
    value = inherent(op, "value")
    if not isinstance(value, DenseAttr):
        raise Wrong("it needs a value, a dense constant")
    have, result = value.type, tensor(op.results[0])
    fitting = value.element_type == result.element_type and same_shape(have.get_shape(), result.get_shape())
    need(fitting, f"its value is a {have}; its result is {result}")


def _constant_like(op: Operation) -> None:
    value = inherent(op, "value")
    if not (is_float_attr(value) or is_integer_attr(value)):
        return
    need_shape(op, shape(op.operands[0]))
    own, wanted = value.type, element(op.results[0])
    part = wanted.element_type if is_complex_type(wanted) else wanted
    need(isinstance(own, AnyFloat) == isinstance(part, AnyFloat), f"its value is {value}; its elements are {wanted}")


def _top_k(op: Operation) -> None:
    operand, k = op.operands[0], integer(op, "k")
    sizes = shape(operand)
    need(len(sizes) >= 1, f"it takes the greatest of lines; its operand is {tensor(operand)}")
    need(kind(operand) != "" and k >= 0, f"its k is {k}, of {tensor(operand)}")
    need(
        sizes[-1] == DYNAMIC_INDEX or k <= sizes[-1],
        f"its k is {k}; lines of {tensor(operand)} have {sizes[-1]} elements",
    )
    for number in range(2):
        need_shape(op, [*sizes[:-1], k], number)
    need_element(op, operand)
    need(kind(op.results[1]) == "i", f"its second result, places, must be integers; it is {tensor(op.results[1])}")


def _ragged_dot(op: Operation) -> None:
    attr = inherent(op, "ragged_dot_dimension_numbers")
    if not isinstance(attr, RaggedDotDimensionNumbersAttr):
        raise Wrong("it needs ragged_dot_dimension_numbers")
    n, (lhs, rhs, groups) = attr.data, map(shape, op.operands)
    need(kind(op.operands[2]) == "i", f"its group sizes must be integers; they are {tensor(op.operands[2])}")
    need(element(op.operands[0]) == element(op.operands[1]), "its operands must have one element type")
    need(
        kind(op.operands[0]) == kind(op.results[0]),
        f"its result is {tensor(op.results[0])}; it sums {tensor(op.operands[0])}",
    )
    need_dims((*n.lhs_batching_dimensions, *n.lhs_contracting_dimensions), len(lhs), "dimensions of the left side")
    taken = (*n.rhs_batching_dimensions, *n.rhs_contracting_dimensions, *n.rhs_group_dimensions)
    need_dims(taken, len(rhs), "dimensions of the right side")
    need_dims(n.lhs_ragged_dimensions, len(lhs), "lhs_ragged_dimensions")
    need(len(n.lhs_ragged_dimensions) == 1, f"it has {len(n.lhs_ragged_dimensions)} ragged dimensions, needs 1")
    for a, b, what in (
        (n.lhs_batching_dimensions, n.rhs_batching_dimensions, "batching"),
        (n.lhs_contracting_dimensions, n.rhs_contracting_dimensions, "contracting"),
    ):
        need(len(a) == len(b), f"{len(a)} and {len(b)} {what} dimensions")
        for i, j in zip(a, b, strict=True):
            need(fits(lhs[i], rhs[j]), f"{what} dimensions {i} and {j} have {lhs[i]} and {rhs[j]} elements")
    ragged = n.lhs_ragged_dimensions[0]
    need(len(groups) >= 1, f"its group sizes must be a list; they are {tensor(op.operands[2])}")
    batch = [lhs[dim] for dim in n.lhs_batching_dimensions]
    left = [lhs[d] for d in range(len(lhs)) if d not in (*n.lhs_batching_dimensions, *n.lhs_contracting_dimensions)]
    right = [rhs[d] for d in range(len(rhs)) if d not in taken]
    inside = ragged in (*n.lhs_batching_dimensions, *n.lhs_contracting_dimensions)
    wanted = 0 if inside else 1
    have = len(n.rhs_group_dimensions)
    need(have == wanted, f"it has {have} group dimensions on the right side, needs {wanted}")
    for dim in n.rhs_group_dimensions:
        need(fits(rhs[dim], groups[-1]), f"it has {groups[-1]} group sizes and {rhs[dim]} groups on the right side")
    first = [groups[-1]] if ragged in n.lhs_contracting_dimensions else []
    need_shape(op, [*first, *batch, *left, *right])


def _scan(op: Operation) -> None:
    """Slices of inputs and what is carried go into the body; slices of outputs and what is carried come out."""
    operands, results = inherent(op, "operandSegmentSizes"), inherent(op, "resultSegmentSizes")
    if not isinstance(operands, DenseArrayBase) or not isinstance(results, DenseArrayBase):
        raise Wrong("it needs operandSegmentSizes and resultSegmentSizes")
    count, outputs = int(operands.get_values()[0]), int(results.get_values()[0])
    inputs, inits = op.operands[:count], op.operands[count:]
    need(count > 0 or outputs > 0, "it has neither inputs nor outputs")
    carried = f"{len(inits)} initial values and {len(op.results) - outputs} final ones"
    need(len(op.results) == outputs + len(inits), f"it has {carried}; needs as many of both")
    dim, length = integer(op, "dimension"), integer(op, "scan_dim_size", DYNAMIC_INDEX)
    for value in inputs:
        sizes = shape(value)
        need(0 <= dim < len(sizes), f"dimension {dim} of the input {tensor(value)}, which has rank {len(sizes)}")
        need(fits(sizes[dim], length), f"dimension {dim} of its input {tensor(value)} is not {length} long")
        length = sizes[dim] if length == DYNAMIC_INDEX else length
    block = body(op)
    need(len(block.args) == len(op.operands), f"its body has {len(block.args)} arguments; needs {len(op.operands)}")
    for number, (value, argument) in enumerate(zip(op.operands, block.args, strict=True), 1):
        sizes = shape(value) if number > count else (*shape(value)[:dim], *shape(value)[dim + 1 :])
        fitting = same_shape(shape(argument), sizes) and element(argument) == element(value)
        what = f"argument {number} of its body is {tensor(argument)}; operand {number} gives {text(sizes)}"
        need(fitting, f"{what} of {element(value)}")
    made = returned(block, len(op.results), "its body")
    for value, argument in zip(made[outputs:], block.args[count:], strict=True):
        need_same_type(value, argument, "what is carried into its body and out of it")
    for number, (value, result) in enumerate(zip(made, op.results, strict=True)):
        sizes = shape(value) if number >= outputs else (*shape(value)[:dim], length, *shape(value)[dim:])
        fitting = number >= outputs or 0 <= dim <= len(shape(value))
        need(fitting, f"dimension {dim} of an output whose slices are {tensor(value)}")
        wanted = f"result {number + 1} is {tensor(result)}; its body gives {text(sizes)} of {element(value)}"
        need(same_shape(shape(result), sizes) and element(result) == element(value), wanted)


def _of(op: type[Operation]) -> Callable[[Operation], None]:
    return _predicate if op.name in _PREDICATES else _same


CHECKS: dict[str, Callable[[Operation], None]] = {
    **{name: _of(op) for name, op in chlo.OPS.items() if issubclass(op, UnaryOp | BinaryOp)},
    **{op.name: _broadcasting for op in BROADCASTING.values()},
    "chlo.broadcast_complex": _complex,
    "chlo.broadcast_compare": _compare,
    "chlo.broadcast_select": _select,
    "chlo.constant": _constant,
    "chlo.constant_like": _constant_like,
    "chlo.top_k": _top_k,
    "chlo.ragged_dot": _ragged_dot,
    "chlo.scan": _scan,
}
