"""Rows of dynamic size: reductions over one set of dimensions and the ops between and behind them, as one dispatch.

A softmax is a maximum of each row, exponentials, their sum, and quotients; a normalisation is of that kind, too. All
their ops have the dimensions of a row's place first and those within the row behind them. Code generation makes each
reduction once for a row; what is between them it makes again where it is read.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation
from xdsl.ir.affine import AffineDimExpr, AffineMap

from tiree.flow.cost import CHEAP, MAX_BINDINGS, body_cost
from tiree.flow.fuse_elementwise import reads_repeatedly
from tiree.flow.structured import (
    captured_values,
    input_count,
    is_elementwise,
    is_generic,
    is_tensor,
    iterators_of,
    maps_of,
    shape_of,
)

_MOST_MEMBERS = 12
_MOST_TIMES = 2
"""How often an element may be made again, if that takes more than a few instructions."""


def row_groups(block: Block) -> list[list[Operation]]:
    """Groups of at least one reduction and another op, each in program order; only the last op of a group is read by
    others."""
    taken: set[Operation] = set()
    groups: list[list[Operation]] = []
    position = {op: number for number, op in enumerate(block.ops)}
    for op in reversed(list(block.ops)):
        if op in taken or not is_generic(op) or not _is_member(op):
            continue
        members = _grown(op, taken)
        if len(members) > 1:
            members.sort(key=position.__getitem__)
            taken.update(members)
            groups.append(members)
    return groups


def _grown(root: Operation, taken: set[Operation]) -> list[Operation]:
    """`root` and the ops before it that only the group reads."""
    members = [root]
    made = {root: 1}
    loops, kept = _space(root)
    grew = True
    while grew and len(members) < _MOST_MEMBERS:
        grew = False
        for op in _producers(members):
            if op in taken or op in members or op.parent is not root.parent or not _is_member(op):
                continue
            uses = list(op.results[0].uses)
            if not all(use.operation in members and _in_rows(op, use.operation, use.index) for use in uses):
                continue
            times = sum(made[use.operation] if is_elementwise(use.operation) else 1 for use in uses)
            if is_elementwise(op) and times > _MOST_TIMES and body_cost(op, CHEAP) > CHEAP:
                continue
            space = _joined((loops, kept), _space(op))
            if space is None:
                continue
            loops, kept = space
            members.append(op)
            made[op] = times
            grew = True
    reductions = [op for op in members if not is_elementwise(op)]
    if not reductions or loops is None or kept is None or not _is_worth(root, reductions):
        return []
    values = [value for op in members for value in (*op.operands, *captured_values(op))]
    bound = {value for value in values if is_tensor(value) and value.owner not in members}
    sizes = {len(iterators_of(op)) for op in members}
    return members if sizes <= {loops, kept} and len(bound) < MAX_BINDINGS else []


def _is_worth(root: Operation, reductions: list[Operation]) -> bool:
    """Whether this is more than a reduction and what follows it element by element, which is formed elsewhere."""
    spans = len(iterators_of(root)) == len(iterators_of(reductions[0]))
    return len(reductions) > 1 or (reductions[0] is not root and spans)


def _producers(members: list[Operation]) -> list[Operation]:
    found: dict[Operation, None] = {}
    for op in members:
        for value in op.operands[: input_count(op)]:
            if isinstance(value.owner, Operation) and is_generic(value.owner):
                found[value.owner] = None
    return list(found)


def _is_member(op: Operation) -> bool:
    """One result that is stored at its first loops; a reduction reduces the loops behind them and is no contraction."""
    if len(op.results) != 1 or reads_repeatedly(op):
        return False
    rank = len(shape_of(op.results[0]))
    parallel = iterators_of(op)
    return parallel == tuple(n < rank for n in range(len(parallel))) and _is_prefix(maps_of(op)[-1], rank)


def _is_prefix(map: AffineMap, rank: int) -> bool:
    """Whether `map` is (d0, d1, ..) over the first `rank` loops."""
    return list(map.results) == [AffineDimExpr(n) for n in range(rank)]


def _in_rows(op: Operation, user: Operation, index: int) -> bool:
    return index < input_count(user) and _is_prefix(maps_of(user)[index], len(shape_of(op.results[0])))


_Space = tuple[int | None, int | None]
"""The loops of a row and its place, and those of its place alone, as far as they are known."""


def _space(op: Operation) -> _Space:
    if is_elementwise(op):
        return None, None
    return len(iterators_of(op)), len(shape_of(op.results[0]))


def _joined(one: _Space, other: _Space) -> _Space | None:
    if other == (None, None):
        return one
    return other if one in ((None, None), other) else None
