"""`util.assume.int` of the user's: what it says is checked when the program runs, then later stages build on it."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue

from tiree.dialects.arith import ConstantOp
from tiree.dialects.util_types import assumed_bounds
from tiree.input.lowering.context import Lowering
from tiree.input.lowering.dims import check, head
from tiree.input.lowering.size_names import describe, place_of
from tiree.support.typed import is_integer_type


def assume(lowering: Lowering, op: Operation) -> None:
    """Checks in front of the operation, in unsigned numbers; the most comes first, so that no later one sees the upper
    half of them."""
    operands = [lowering.get(value) for value in op.operands]
    for number, value in enumerate(operands):
        low, high, divisor = assumed_bounds(op, number)
        who = f"{head(lowering)}{describe(lowering, value, op)}"
        if high is not None:
            _check(lowering, "ule", value, high, f"{who} must be at most {high} for {place_of(op)}")
        if low > 0:
            _check(lowering, "uge", value, low, f"{who} must be at least {low} for {place_of(op)}")
        if divisor > 1:
            rest = arith.RemUIOp(value, _constant(lowering, value, divisor))
            lowering.emit_op(rest)
            _check(lowering, "eq", rest.result, 0, f"{who} must be a multiple of {divisor} for {place_of(op)}")
    made = op.__class__.create(
        operands=operands, result_types=[value.type for value in operands], properties=dict(op.properties)
    )
    lowering.emit_op(made)
    for old, result in zip(op.results, made.results, strict=True):
        lowering.set(old, result)


def _check(lowering: Lowering, predicate: str, value: SSAValue, number: int, message: str) -> None:
    compare = arith.CmpiOp(value, _constant(lowering, value, number), predicate)
    lowering.emit_op(compare)
    check(lowering, compare.result, message)


def _constant(lowering: Lowering, value: SSAValue, number: int) -> SSAValue:
    type = value.type
    made = ConstantOp(IntegerAttr(number, type) if is_integer_type(type) else IntegerAttr(number, IndexType()))
    lowering.emit_op(made)
    return made.result


HANDLERS = {"util.assume.int": assume}
