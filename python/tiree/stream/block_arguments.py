"""Removes block arguments that always have the same value: what a loop carries around without changing it.

A block argument whose incoming values are one value (or the argument itself) is that value. Without this, weights that
a frontend passes through a loop would be copied from the constants into memory of their own on every call.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from tiree.support.branches import branch_arguments, branch_with, predecessors


def _only_value(argument: BlockArgument, passed: Sequence[Sequence[SSAValue]]) -> SSAValue | None:
    """The one value that `argument` can have of what each edge passes, or None."""
    found: SSAValue | None = None
    for values in passed:
        value = values[argument.index]
        if value is argument or value is found:
            continue
        if found is not None:
            return None
        found = value
    return found


def _without(terminator: Operation, block: Block, indices: Collection[int]) -> None:
    """Replaces a branch by one that does not pass the arguments of those numbers to `block`."""
    passed = [
        [
            value
            for number, value in enumerate(branch_arguments(terminator, successor))
            if number not in indices or target is not block
        ]
        for successor, target in enumerate(terminator.successors)
    ]
    branch = branch_with(terminator, passed)
    parent = terminator.parent
    assert parent is not None
    parent.insert_op_before(branch, terminator)
    parent.erase_op(terminator)


def _constant_arguments(block: Block, edges: Sequence[tuple[Operation, int]]) -> dict[BlockArgument, SSAValue]:
    """Arguments of one possible value, and that value. None of the values is among the arguments."""
    passed = [branch_arguments(terminator, successor) for terminator, successor in edges]
    found: dict[BlockArgument, SSAValue] = {}
    values: set[SSAValue] = set()
    for argument in reversed(block.args):
        value = _only_value(argument, passed)
        if value is not None and value not in found and argument not in values:
            found[argument] = value
            values.add(value)
    return found


def remove_constant_arguments(region: Region) -> None:
    """Removes every block argument of `region`, the entry's excepted, that has one possible value."""
    changed = True
    while changed:
        changed = False
        for block in list(region.blocks)[1:]:
            edges = predecessors(region)[block]
            constant = _constant_arguments(block, edges)
            if not constant:
                continue
            indices = {argument.index for argument in constant}
            for argument, value in constant.items():
                argument.replace_all_uses_with(value)
            for terminator in dict.fromkeys(terminator for terminator, _ in edges):
                _without(terminator, block, indices)
            for argument in constant:
                block.erase_arg(argument)
            changed = True
