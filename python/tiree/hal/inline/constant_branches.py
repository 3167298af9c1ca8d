"""Branches whose condition is a constant: the other way, and what only it reaches, is taken out."""

from __future__ import annotations

from xdsl.dialects import cf
from xdsl.ir import Block, Region

from tiree.dialects.arith import constant_int


def fold_constant_branches(region: Region) -> None:
    """Replaces them, and erases the blocks that nothing reaches any more."""
    changed = False
    for block in region.blocks:
        last = block.last_op
        if not isinstance(last, cf.ConditionalBranchOp):
            continue
        condition = constant_int(last.cond)
        if condition is None:
            continue
        taken, arguments = (
            (last.then_block, last.then_arguments) if condition else (last.else_block, last.else_arguments)
        )
        block.insert_op_before(cf.BranchOp(taken, *arguments), last)
        block.erase_op(last)
        changed = True
    if changed:
        _erase_unreachable(region)


def _erase_unreachable(region: Region) -> None:
    reached: list[Block] = [region.blocks[0]]
    seen = {reached[0]}
    for block in reached:
        for successor in block.last_op.successors if block.last_op is not None else ():
            if successor not in seen:
                seen.add(successor)
                reached.append(successor)
    dead = [block for block in region.blocks if block not in seen]
    for block in dead:
        for op in reversed(list(block.ops)):
            op.drop_all_references()
    for block in dead:
        region.detach_block(block)
        block.erase(safe_erase=False)
