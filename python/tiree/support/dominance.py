"""Finds uses of values where they are not defined, which text can say and xDSL's verifier does not see.

A value must come from an enclosing region, and within its block from before. The order of the blocks of one region is
not checked.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue


def undefined_use(root: Operation) -> tuple[Operation, SSAValue] | None:
    """The first operation below `root` with an operand that is not defined there, and that operand."""
    return _search_regions(root, set())


def _search_regions(op: Operation, done: set[Operation]) -> tuple[Operation, SSAValue] | None:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                found = _search(inner, done)
                if found is not None:
                    return found
    return None


def _search(op: Operation, done: set[Operation]) -> tuple[Operation, SSAValue] | None:
    for operand in op.operands:
        if not _is_defined(operand, op, done):
            return op, operand
    found = _search_regions(op, done)
    done.add(op)
    return found


def _is_defined(value: SSAValue, op: Operation, done: set[Operation]) -> bool:
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    if block is None:
        return False
    current: Operation | None = op
    while current is not None:
        if current.parent is block:
            return isinstance(owner, Block) or owner in done
        if current.parent is not None and current.parent.parent is block.parent:
            return True
        current = current.parent_op()
    return False
