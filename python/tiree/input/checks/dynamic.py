"""Ops that take sizes as operands, and those that read or set the size of a dimension.

What their operands hold is known when the program runs; where it is a constant, it is checked here.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, i32
from xdsl.ir import Operation, SSAValue

from tiree.input.checks.movement import padded
from tiree.input.checks.values import (
    Shape,
    constant,
    element,
    fits,
    integer,
    integers,
    kind,
    need,
    need_dims,
    need_element,
    need_scalar,
    need_shape,
    same_shape,
    shape,
    tensor,
    text,
)


def _sizes(value: SSAValue, rank: int, what: str, lowest: int | None = 0) -> Shape:
    """The integers of `value`, which must be as many as `rank`; dynamic ones where it is no constant."""
    right = same_shape(shape(value), (rank,)) and kind(value) == "i"
    need(right, f"{what} must be a tensor of {rank} integers; it is {tensor(value)}")
    known = constant(value)
    if known is None:
        return (DYNAMIC_INDEX,) * rank
    need(lowest is None or min(known, default=0) >= lowest, f"{what} must not be negative: {list(known)}")
    return known


def _need_result(op: Operation, index: int, what: str) -> None:
    """The result must have the shape that operand `index` holds."""
    rank = len(shape(op.results[0]))
    wanted = _sizes(op.operands[index], rank, what)
    need(same_shape(shape(op.results[0]), wanted), f"its result is {tensor(op.results[0])}; {what} is {text(wanted)}")


def _iota(op: Operation) -> None:
    need_dims([integer(op, "iota_dimension")], len(shape(op.results[0])), "iota_dimension")
    _need_result(op, 0, "output_shape")


def _reshape(op: Operation) -> None:
    source, target = shape(op.operands[0]), shape(op.results[0])
    need_element(op, op.operands[0])
    _need_result(op, 1, "output_shape")
    if DYNAMIC_INDEX not in (*source, *target):
        counts = prod(source), prod(target)
        need(
            counts[0] == counts[1],
            f"it reshapes {counts[0]} elements ({text(source)}) to {counts[1]} ({text(target)})",
        )


def _broadcast_in_dim(op: Operation) -> None:
    source, target = shape(op.operands[0]), shape(op.results[0])
    dims = integers(op, "broadcast_dimensions", len(source))
    need_dims(dims, len(target), "broadcast_dimensions")
    hints = [
        *integers(op, "known_expanding_dimensions", default=()),
        *integers(op, "known_nonexpanding_dimensions", default=()),
    ]
    need_dims(hints, len(source), "known_expanding_dimensions and known_nonexpanding_dimensions")
    for size, dim in zip(source, dims, strict=True):
        spread = f"it cannot broadcast {text(source)} to {text(target)} along {list(dims)}"
        need(size == 1 or fits(size, target[dim]), spread)
    need_element(op, op.operands[0])
    _need_result(op, 1, "output_dimensions")


def _pad(op: Operation) -> None:
    source = shape(op.operands[0])
    rank = len(source)
    need_scalar(op.operands[1], "the padding value")
    need_element(op, op.operands[0])
    need_element(op, op.operands[1])
    low = _sizes(op.operands[2], rank, "edge_padding_low", None)
    high = _sizes(op.operands[3], rank, "edge_padding_high", None)
    interior = _sizes(op.operands[4], rank, "interior_padding")
    known = all(constant(operand) is not None for operand in op.operands[2:])
    wanted = padded(source, low, high, interior) if known else [DYNAMIC_INDEX] * rank
    need(all(size >= 0 or size == DYNAMIC_INDEX for size in wanted), f"more than there is is cut from {text(source)}")
    need_shape(op, wanted)


def _real_dynamic_slice(op: Operation) -> None:
    source = shape(op.operands[0])
    for operand, what in zip(op.operands[1:], ("start_indices", "limit_indices", "strides"), strict=True):
        _sizes(operand, len(source), what)
    need_shape(op, [DYNAMIC_INDEX] * len(source))
    need_element(op, op.operands[0])


def _dimension(op: Operation) -> int:
    dim = integer(op, "dimension")
    need_dims([dim], len(shape(op.operands[0])), "dimension")
    return dim


def _get_dimension_size(op: Operation) -> None:
    _dimension(op)
    need_scalar(op.results[0], "its result", "i")


def _set_dimension_size(op: Operation) -> None:
    dim = _dimension(op)
    need_scalar(op.operands[1], "its size", "i")
    need(element(op.operands[1]) == i32, f"its size is {tensor(op.operands[1])}; needs tensor<i32>")
    source = shape(op.operands[0])
    need_shape(op, [DYNAMIC_INDEX if place == dim else size for place, size in enumerate(source)])
    need_element(op, op.operands[0])
    known = constant(op.operands[1])
    if known is not None:
        inside = known[0] >= 0 and (source[dim] == DYNAMIC_INDEX or known[0] <= source[dim])
        need(inside, f"its size is {known[0]}; dimension {dim} of its operand has {text([source[dim]])}")


CHECKS = {
    "stablehlo.dynamic_iota": _iota,
    "stablehlo.dynamic_reshape": _reshape,
    "stablehlo.dynamic_broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.dynamic_pad": _pad,
    "stablehlo.real_dynamic_slice": _real_dynamic_slice,
    "stablehlo.get_dimension_size": _get_dimension_size,
    "stablehlo.set_dimension_size": _set_dimension_size,
}
