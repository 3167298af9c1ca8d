"""`einsum` and `unary_einsum` as sums, a contraction and a transposition."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, StringAttr, TensorType
from xdsl.ir import Operation, SSAValue

from tiree.dialects.stablehlo_attrs import DotDimensionNumbersAttr
from tiree.input.expansions.build import Build, element_of, shape_of
from tiree.input.lowering.context import Unsupported, ranked_type
from tiree.input.lowering.scalar import inherent
from tiree.support.typed import string_of


def _labels(op: Operation) -> tuple[list[str], str]:
    """The labels of each operand and of the result; an ellipsis stands for digits, as many as it needs."""
    attr = inherent(op, "einsum_config")
    config = string_of(attr).replace(" ", "") if isinstance(attr, StringAttr) else ""
    left, arrow, result = config.partition("->")
    inputs = left.split(",")
    if not arrow or len(inputs) != len(op.operands):
        raise Unsupported(f"with the configuration {config!r}")
    for number, (text, operand) in enumerate(zip(inputs, op.operands, strict=True)):
        extra = len(shape_of(operand)) - len(text.replace("...", ""))
        inputs[number] = text.replace("...", "".join(map(str, range(10 - extra, 10))) if extra else "")
    extra = len(ranked_type(op.results[0]).get_shape()) - len(result.replace("...", ""))
    result = result.replace("...", "".join(map(str, range(10 - extra, 10))) if extra else "")
    for text, value in zip([*inputs, result], [*op.operands, op.results[0]], strict=True):
        if len(set(text)) != len(text) or len(text) != len(shape_of(value)):
            raise Unsupported(f"with the configuration {config!r}")
    return inputs, result


def _only(build: Build, value: SSAValue, labels: str, kept: str) -> tuple[SSAValue, str]:
    """`value` summed over the labels that are not in `kept`."""
    gone = [dim for dim, label in enumerate(labels) if label not in kept]
    if not gone:
        return value, labels
    element = element_of(value)
    if isinstance(element, Float16Type | BFloat16Type):
        # As all sums of 16-bit floats: each step in f32, rounded at the end.
        total = build.convert(build.reduce(build.convert(value, Float32Type()), gone), element)
    else:
        total = build.reduce(value, gone)
    return total, "".join(label for label in labels if label in kept)


def _einsum(build: Build, op: Operation) -> Sequence[SSAValue]:
    (left, right), result = _labels(op)
    lhs, left = _only(build, op.operands[0], left, right + result)
    rhs, right = _only(build, op.operands[1], right, left + result)
    batch = [label for label in left if label in right and label in result]
    contracted = [label for label in left if label in right and label not in result]
    free = [label for label in left if label not in right] + [label for label in right if label not in left]
    numbers = DotDimensionNumbersAttr.of(
        lhs_batching_dimensions=[left.index(label) for label in batch],
        rhs_batching_dimensions=[right.index(label) for label in batch],
        lhs_contracting_dimensions=[left.index(label) for label in contracted],
        rhs_contracting_dimensions=[right.index(label) for label in contracted],
    )
    order = [*batch, *free]
    sizes = dict(zip(right, shape_of(rhs), strict=True)) | dict(zip(left, shape_of(lhs), strict=True))
    type = TensorType(element_of(op.results[0]), [sizes[label] for label in order])
    made = build.dot(lhs, rhs, type, numbers)
    return [build.transpose(made, [order.index(label) for label in result])]


def _unary_einsum(build: Build, op: Operation) -> Sequence[SSAValue]:
    (labels,), result = _labels(op)
    value, labels = _only(build, op.operands[0], labels, result)
    if set(labels) != set(result):
        raise Unsupported("with a label in the result alone")
    return [build.transpose(value, [labels.index(label) for label in result])]


EXPANSIONS = {
    "stablehlo.einsum": _einsum,
    "stablehlo.unary_einsum": _unary_einsum,
}
