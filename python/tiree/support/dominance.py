"""Finds values that are used before they are defined, which text can say and xDSL's verifier does not see.

Order is checked within each block and for values of enclosing blocks; between the blocks of one region it is not.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue


def early_use(root: Operation) -> tuple[Operation, SSAValue] | None:
    """The first operation below `root` with an operand that is defined behind it, and that operand."""
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
        owner = operand.owner
        if isinstance(owner, Operation) and owner not in done and _encloses(owner.parent, op):
            return op, operand
    found = _search_regions(op, done)
    done.add(op)
    return found


def _encloses(block: Block | None, op: Operation) -> bool:
    """Whether `op` stands in `block`, perhaps deeper."""
    current: Operation | None = op
    while current is not None:
        if current.parent is block:
            return True
        current = current.parent_op()
    return False
