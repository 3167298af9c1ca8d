"""Removes block arguments that always have the same value: what a loop carries around without changing it.

A block argument whose incoming values are one value (or the argument itself) is that value. Without this, weights that
a frontend passes through a loop would be copied from the constants into memory of their own on every call.
"""

from __future__ import annotations

from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from tiree.support.branches import branch_arguments, branch_with, predecessors


def _only_value(argument: BlockArgument, edges: list[tuple[Operation, int]]) -> SSAValue | None:
    """The one value that `argument` can have, or None."""
    found: SSAValue | None = None
    for terminator, successor in edges:
        value = branch_arguments(terminator, successor)[argument.index]
        if value is argument or value is found:
            continue
        if found is not None:
            return None
        found = value
    return found


def _without(terminator: Operation, block: Block, index: int) -> None:
    """Replaces a branch by one that does not pass argument number `index` to `block`."""
    passed = [
        [
            value
            for number, value in enumerate(branch_arguments(terminator, successor))
            if number != index or target is not block
        ]
        for successor, target in enumerate(terminator.successors)
    ]
    branch = branch_with(terminator, passed)
    parent = terminator.parent
    assert parent is not None
    parent.insert_op_before(branch, terminator)
    parent.erase_op(terminator)


def remove_constant_arguments(region: Region) -> None:
    """Removes every block argument of `region`, the entry's excepted, that has one possible value."""
    changed = True
    while changed:
        changed = False
        for block in list(region.blocks)[1:]:
            for argument in reversed(list(block.args)):
                edges = predecessors(region)[block]
                value = _only_value(argument, edges)
                if value is None:
                    continue
                index = argument.index
                argument.replace_all_uses_with(value)
                for terminator in dict.fromkeys(terminator for terminator, _ in edges):
                    _without(terminator, block, index)
                block.erase_arg(argument)
                changed = True
