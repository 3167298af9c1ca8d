"""Finished sums of a block of rows, kept in scratch so that what follows them is emitted for one row, not for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, OpResult, SSAValue

from tiree.codegen.common.builder import element_of, lanes_of
from tiree.codegen.common.linear import Lin
from tiree.codegen.cpu.dynamic_evaluator import DynamicEvaluator, maps_of, reduction_dims
from tiree.support.typed import tensor_type

Index = tuple[Lin, ...]


def reduces(value: SSAValue) -> bool:
    """Whether a value is made by a reduction, elementwise ops behind it included."""
    op = value.owner
    if not isinstance(op, Operation) or op.name != "linalg.generic":
        return False
    return bool(reduction_dims(op)) or any(reduces(operand) for operand in op.operands)


def _sum(ev: DynamicEvaluator, value: SSAValue, idx: Index) -> tuple[SSAValue, Index] | None:
    """The only sum that an element is made of, and its index."""
    while True:
        op = value.owner
        if not isinstance(value, OpResult) or not isinstance(op, Operation) or op.name != "linalg.generic":
            return None
        if reduction_dims(op):
            return value, idx
        found = [n for n, operand in enumerate(op.operands) if reduces(operand)]
        if len(found) != 1:
            return None
        loops = ev.loops_of(op, value.index, idx)
        value, idx = op.operands[found[0]], ev.apply_map(maps_of(op)[found[0]], loops)


def store_by_rows(
    ev: DynamicEvaluator,
    root: SSAValue,
    rows: int,
    points: Callable[[Sequence[Lin]], list[Index]],
    store: Callable[[list[Index]], None],
) -> bool:
    """Stores `root` at `points` of `rows` rows (given by their distances from the first) with the sums in scratch.

    False where nothing was emitted but sums: `root` is a sum itself, of several, or not of vectors.
    """
    at = points([Lin(row) for row in range(rows)])
    sums = [_sum(ev, root, idx) for idx in at]
    first = sums[0]
    if first is None or first[0] is root:
        return False
    tensor = first[0]
    values = [ev.ssa(value) for value in ev.values_at(tensor, [one[1] for one in sums if one is not None])]
    element = tensor_type(tensor).element_type
    if any(lanes_of(value) != ev.width or element_of(value) != element for value in values) or not ev.width:
        return False
    b, width = ev.b, ev.width
    scratch = b.alloca(element, len(values) * width)
    for number, value in enumerate(values):
        b.store_vector(scratch, Lin(number * width), value)
    b.wrote(scratch)
    loop = b.begin_for(0, rows, 1)
    row = Lin.of(loop.sym)
    at = points([row])
    for number, idx in enumerate(at):
        one = _sum(ev, root, idx)
        assert one is not None
        ev.remember(tensor, one[1], b.load_vector(scratch, (row * len(at) + number) * width, width))
    store(at)
    b.end_for(loop)
    return True
