"""Ops that move quantized elements: each element keeps its scale and its zero point."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation

from tiree.input.checks.values import Wrong, integers, need, shape, tensor
from tiree.input.expansions.quantized import Quantized, quantized_type


def _both(op: Operation) -> tuple[Quantized, Quantized]:
    """What operand and result are; they differ in their scales' dimension at most, and in how often they have them."""
    given, made = quantized_type(op.operands[0].type), quantized_type(op.results[0].type)
    said = f"it makes {op.results[0].type} of {op.operands[0].type}"
    if given is None or made is None or (given.axis is None) != (made.axis is None):
        raise Wrong(said)
    fields = ("storage", "low", "high", "expressed")
    need(all(getattr(given, name) == getattr(made, name) for name in fields), said)
    return given, made


def _need_same_numbers(op: Operation, given: Quantized, made: Quantized) -> None:
    same = (given.scales, given.zeros) == (made.scales, made.zeros)
    need(same, f"it changes scales or zero points; it makes {op.results[0].type} of {op.operands[0].type}")


def _need_axis(made: Quantized, wanted: int) -> None:
    need(made.axis == wanted, f"its scales move to dimension {wanted}; its result has them for dimension {made.axis}")


def _same(op: Operation) -> None:
    """Every quantized value has one type; others are indices and sizes."""
    types = {quantized_type(value.type) for value in (*op.operands, *op.results)} - {None}
    said = " and ".join(dict.fromkeys(str(tensor(value).element_type) for value in (*op.operands, *op.results)))
    need(len(types) == 1, f"it changes scales or zero points; it has {said}")
    need(quantized_type(op.results[0].type) is not None, f"it makes {op.results[0].type} of {op.operands[0].type}")


def _broadcast_in_dim(op: Operation) -> None:
    given, made = _both(op)
    if given.axis is None:
        _need_same_numbers(op, given, made)
        return
    dims = integers(op, "broadcast_dimensions", len(shape(op.operands[0])))
    _need_axis(made, dims[given.axis])
    if len(given.scales) == 1:
        given = Quantized(
            given.storage, given.low, given.high, given.expressed, given.axis,
            given.scales * len(made.scales), given.zeros * len(made.zeros),
        )  # fmt: skip
    _need_same_numbers(op, given, made)


def _transpose(op: Operation) -> None:
    given, made = _both(op)
    _need_same_numbers(op, given, made)
    if given.axis is not None:
        _need_axis(made, integers(op, "permutation", len(shape(op.operands[0]))).index(given.axis))


def _reshape(op: Operation) -> None:
    given, made = _both(op)
    _need_same_numbers(op, given, made)
    if given.axis is None or made.axis is None:
        return
    source, target = shape(op.operands[0]), shape(op.results[0])
    for a, b in (
        (source[: given.axis], target[: made.axis]),
        (source[given.axis + 1 :], target[made.axis + 1 :]),
    ):
        kept = DYNAMIC_INDEX in (*a, *b) or prod(a) == prod(b)
        need(kept, f"its scales do not go with the elements from {tensor(op.operands[0])} to {tensor(op.results[0])}")


MOVES = {
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.dynamic_broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.transpose": _transpose,
    "stablehlo.reshape": _reshape,
    "stablehlo.dynamic_reshape": _reshape,
    **{
        f"stablehlo.{name}": _same
        for name in (
            "all_gather", "all_to_all", "broadcast", "collective_broadcast", "collective_permute", "concatenate",
            "dynamic_gather", "dynamic_pad", "dynamic_slice", "dynamic_update_slice", "gather", "pad",
            "real_dynamic_slice", "reverse", "slice", "torch_index_select",
        )
    },
}  # fmt: skip
"""Of these, those that keep a scale for each place of a dimension are the ones that have a function of their own."""

BY_AXIS = frozenset(name for name, check in MOVES.items() if check is not _same)
