"""dot, dot_general and convolution of quantized tensors, or of floats and quantized weights."""

from __future__ import annotations

from xdsl.ir import Operation

from tiree.dialects.stablehlo_attrs import ConvDimensionNumbersAttr, DotDimensionNumbersAttr
from tiree.input.checks.values import Wrong, element, need
from tiree.input.expansions.quantized import Quantized, quantized_type
from tiree.scalars.builder import inherent


def _need_types(op: Operation) -> tuple[Quantized, Quantized | None]:
    """Weights and result, checked: all are quantized, or the weights alone and the rest is of their floats."""
    lhs, rhs, made = (quantized_type(value.type) for value in (*op.operands[:2], op.results[0]))
    said = f"it makes {op.results[0].type} of {op.operands[0].type} and {op.operands[1].type}"
    if rhs is None or (lhs is None) != (made is None):
        raise Wrong(f"the right side must be quantized, and the left side if the result is; {said}")
    if lhs is None or made is None:
        floats = element(op.operands[0]) == rhs.expressed == element(op.results[0])
        need(floats, f"the left side and the result must be of type {rhs.expressed}; {said}")
        return rhs, None
    need(lhs.axis is None, f"the left side must have one scale; {said}")
    need(lhs.storage == rhs.storage, f"both sides must have one storage type; {said}")
    need(lhs.expressed == rhs.expressed == made.expressed, f"all must have one expressed type; {said}")
    need(rhs.axis is not None or made.axis is None, f"the result of one scale on the right must have one; {said}")
    return rhs, made


def _dot(op: Operation) -> None:
    rhs, _ = _need_types(op)
    if op.name == "stablehlo.dot":  # no op of the specification any more; it took any scales and zero points
        return
    need(not any(rhs.zeros), f"the zero points of the right side must be 0; it is {op.operands[1].type}")
    numbers = inherent(op, "dot_dimension_numbers")
    contracted = numbers.data.rhs_contracting_dimensions if isinstance(numbers, DotDimensionNumbersAttr) else ()
    need(rhs.axis not in contracted, f"the right side has scales for dimension {rhs.axis}, which is contracted")


def _convolution(op: Operation) -> None:
    rhs, made = _need_types(op)
    numbers = inherent(op, "dimension_numbers")
    if not isinstance(numbers, ConvDimensionNumbersAttr):
        return
    for type, dim, what in (
        (rhs, numbers.data.kernel_output_feature_dimension, "the kernel"),
        (made, numbers.data.output_feature_dimension, "the result"),
    ):
        if type is not None and type.axis is not None:
            need(type.axis == dim, f"scales of {what} must be for its output features, {dim}; they are for {type.axis}")


CONTRACTIONS = {
    "stablehlo.dot": _dot,
    "stablehlo.dot_general": _dot,
    "stablehlo.convolution": _convolution,
    "stablehlo.dynamic_conv": _convolution,
}
