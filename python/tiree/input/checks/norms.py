"""The three batch_norm ops, and the numbers of processes."""

from __future__ import annotations

from xdsl.dialects.builtin import Signedness
from xdsl.ir import Operation

from tiree.input.checks.values import Wrong, element, integer, kind, need, need_shape, same_shape, shape, tensor, text
from tiree.support.typed import is_integer_type


def _batch_norm(op: Operation) -> None:
    x = shape(op.operands[0])
    need(kind(op.operands[0]) == "f", f"it works on floats; its operand is {tensor(op.operands[0])}")
    feature = integer(op, "feature_index")
    need(0 <= feature < len(x), f"its feature_index is {feature}; its operand has rank {len(x)}")
    side = (x[feature],)
    whole = (0, 4) if op.name.endswith("grad") else (0,)
    for number, operand in enumerate(op.operands):
        wanted = x if number in whole else side
        if not same_shape(shape(operand), wanted) or element(operand) != element(op.operands[0]):
            raise Wrong(
                f"operand {number} is {tensor(operand)}; its first operand gives elements of type "
                f"{element(op.operands[0])} and the shape {text(wanted)}"
            )
    for number in range(len(op.results)):
        need_shape(op, side if number else x, number)


def _number(op: Operation) -> None:
    """The specification knows one type; numbers as a program counts them are taken in any integer."""
    type = element(op.results[0])
    need_shape(op, ())
    if not is_integer_type(type) or type.width.data < 8 or type.signedness.data is Signedness.SIGNED:
        raise Wrong(f"its result is tensor<ui32>; here it is {tensor(op.results[0])}")


CHECKS = {
    "stablehlo.batch_norm_inference": _batch_norm,
    "stablehlo.batch_norm_training": _batch_norm,
    "stablehlo.batch_norm_grad": _batch_norm,
    "stablehlo.partition_id": _number,
    "stablehlo.replica_id": _number,
}
