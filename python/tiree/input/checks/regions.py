"""Ops with bodies: reductions, windows, map, sort; while, if and case."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from tiree.dialects.dense import DenseAttr
from tiree.input.checks.contraction import windowed
from tiree.input.checks.elements import need_comparator, need_reducer, takes
from tiree.input.checks.values import (
    Wrong,
    body,
    element,
    integer,
    integers,
    need,
    need_dims,
    need_same_type,
    need_scalar,
    need_scalars,
    need_shape,
    returned,
    same_shape,
    shape,
    tensor,
    text,
)
from tiree.scalars.builder import inherent


def _inputs(op: Operation) -> Sequence[SSAValue]:
    """The inputs of a reduction, checked: one shape, as many initial values, which are scalars, and results."""
    count = len(op.operands) // 2
    fitting = len(op.operands) == 2 * count and len(op.results) == count
    need(fitting, f"it has {len(op.operands)} operands and {len(op.results)} results; needs as many inputs as of both")
    for value in op.operands[1:count]:
        need(same_shape(shape(value), shape(op.operands[0])), "its inputs have different shapes")
    for value in op.operands[count:]:
        need_scalar(value, "an initial value")
    need_reducer(body(op), op.operands[:count], op.operands[count:], op)
    return op.operands[:count]


def _reduce(op: Operation) -> None:
    sizes = shape(_inputs(op)[0])
    dims = integers(op, "dimensions")
    need_dims(dims, len(sizes), "dimensions")
    for result in range(len(op.results)):
        need_shape(op, [size for dim, size in enumerate(sizes) if dim not in dims], result)


def _need_windows(op: Operation, rank: int) -> None:
    """Windows that hold something, and two paddings for each dimension."""
    windows = integers(op, "window_dimensions", rank)
    need(min(windows, default=1) > 0, f"window_dimensions must be positive: {list(windows)}")
    padding = inherent(op, "padding")
    if isinstance(padding, DenseAttr):
        extents = padding.type.get_shape()
        need(
            same_shape(extents, (rank, 2)), f"its padding must have the shape {text((rank, 2))}; it is {text(extents)}"
        )


def _reduce_window(op: Operation) -> None:
    sizes = shape(_inputs(op)[0])
    rank = len(sizes)
    _need_windows(op, rank)
    ones = [1] * rank
    wanted = windowed(
        sizes,
        integers(op, "window_dimensions", rank),
        integers(op, "window_strides", rank, ones),
        integers(op, "padding", 2 * rank, [0] * (2 * rank)),
        integers(op, "base_dilations", rank, ones),
        integers(op, "window_dilations", rank, ones),
    )
    for result in range(len(op.results)):
        need_shape(op, wanted, result)


def _select_and_scatter(op: Operation) -> None:
    operand, source, start = op.operands
    rank = len(shape(operand))
    _need_windows(op, rank)
    ones = [1] * rank
    wanted = windowed(
        shape(operand),
        integers(op, "window_dimensions", rank),
        integers(op, "window_strides", rank, ones),
        integers(op, "padding", 2 * rank, [0] * (2 * rank)),
        ones,
        ones,
    )
    fitting = same_shape(shape(source), wanted)
    need(fitting, f"its source has shape {text(shape(source))}; its windows give {text(wanted)}")
    need_scalar(start, "the initial value")
    for value, what in ((source, "source"), (start, "initial value")):
        same = element(value) == element(operand)
        need(same, f"operand and {what} must have one element type; they are {tensor(operand)} and {tensor(value)}")
    need_shape(op, shape(operand))
    need_comparator(body(op, 0), [operand], "the selection")
    need_reducer(body(op, 1), [source], [start], op)


def _map(op: Operation) -> None:
    for value in op.operands:
        need(same_shape(shape(value), shape(op.operands[0])), "its operands have different shapes")
    need_scalars(body(op), len(op.operands), "the body")
    for argument, value in zip(body(op).args, op.operands, strict=True):
        takes(argument, value, "the body", wider=False)
    takes(op.results[0], returned(body(op), 1, "the body")[0], "the result", wider=False)
    rank = len(shape(op.operands[0]))
    dims = integers(op, "dimensions")
    need(list(dims) == list(range(rank)), f"its dimensions must be {list(range(rank))}; they are {list(dims)}")
    need_shape(op, shape(op.operands[0]))


def _sort(op: Operation) -> None:
    sizes = shape(op.operands[0])
    need(len(op.operands) == len(op.results), f"it has {len(op.operands)} operands and {len(op.results)} results")
    for operand, result in zip(op.operands, op.results, strict=True):
        need(same_shape(shape(operand), sizes), "its operands have different shapes")
        need_same_type(operand, result, "operand and result")
    dim = integer(op, "dimension", -1)
    need(-len(sizes) <= dim < len(sizes) or not sizes, f"dimension {dim} of a tensor of rank {len(sizes)}")
    need_comparator(body(op), op.operands, "the comparator")


def _need_types(have: Sequence[SSAValue], wanted: Sequence[SSAValue], what: str) -> None:
    for a, b in zip(have, wanted, strict=True):
        if a.type != b.type:
            need_same_type(a, b, what)


def _while(op: Operation) -> None:
    count = len(op.operands)
    need(len(op.results) == count, f"it has {count} operands and {len(op.results)} results")
    _need_types(op.results, op.operands, "operand and result")
    for region, what in ((0, "the condition"), (1, "the body")):
        block = body(op, region)
        need(len(block.args) == count, f"{what} has {len(block.args)} arguments; needs {count}")
        _need_types(block.args, op.operands, f"operand and argument of {what}")
    need_scalar(returned(body(op, 0), 1, "the condition")[0], "the condition", "b")
    _need_types(returned(body(op, 1), count, "the body"), op.operands, "operand and what the body returns")


def _branches(op: Operation, kinds: str) -> None:
    need_scalar(op.operands[0], "what decides", kinds)
    for region in range(len(op.regions)):
        block: Block = body(op, region)
        if block.args:
            raise Wrong("its branches take no arguments")
        _need_types(returned(block, len(op.results), "a branch"), op.results, "result and what a branch returns")


def _if(op: Operation) -> None:
    _branches(op, "b")


def _case(op: Operation) -> None:
    _branches(op, "i")


CHECKS = {
    "stablehlo.reduce": _reduce,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.select_and_scatter": _select_and_scatter,
    "stablehlo.map": _map,
    "stablehlo.sort": _sort,
    "stablehlo.while": _while,
    "stablehlo.if": _if,
    "stablehlo.case": _case,
}
