"""Which values are live where, over the blocks of one `vm.func`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, Region, SSAValue

from tiree.dialects import vm
from tiree.dialects.vm_composed import BranchTableOp, CondBreakOp
from tiree.support.typed import operands_of


@dataclass(frozen=True)
class Liveness:
    """`live_in[b]`: defined before `b` and used in it or later; `live_out[b]`: the same for its end.

    A value that a branch passes to a block argument is used by the branch; the argument is defined in the target.
    Values are kept in dicts, ordered by first sight, so that everything derived from them is deterministic.
    """

    live_in: dict[Block, dict[SSAValue, None]]
    live_out: dict[Block, dict[SSAValue, None]]


def analyze(region: Region) -> Liveness:
    """Backward data flow until nothing changes (blocks are visited last to first: few rounds)."""
    blocks = list(region.blocks)
    if len(blocks) == 1:
        # Functions read nothing of outside.
        return Liveness({blocks[0]: {}}, {blocks[0]: {}})
    upward: dict[Block, dict[SSAValue, None]] = {}
    defined: dict[Block, set[SSAValue]] = {}
    for block in blocks:
        uses: dict[SSAValue, None] = {}
        defs: set[SSAValue] = set(block.args)
        for op in block.ops:
            for value in operands_of(op):
                if value not in defs:
                    uses[value] = None
            defs.update(op.results)
        upward[block], defined[block] = uses, defs

    live_in = {block: dict(upward[block]) for block in blocks}
    live_out: dict[Block, dict[SSAValue, None]] = {block: {} for block in blocks}
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            out = live_out[block]
            before = len(out)
            assert block.last_op is not None
            for successor in block.last_op.successors:
                out.update(live_in[successor])
            if len(out) != before:
                changed = True
                ins, defs = live_in[block], defined[block]
                for value in out:
                    if value not in defs:
                        ins[value] = None
    return Liveness(live_in, live_out)


def edge_operands(block: Block) -> list[list[SSAValue]]:
    """For each successor of `block`, the values its terminator passes to the successor's arguments."""
    op = block.last_op
    assert op is not None
    if op.name in ("vm.br", "vm.yield", "vm.break"):
        return [list(op.operands)]
    if isinstance(op, CondBreakOp):
        return [list(op.destination_operands)]
    if isinstance(op, BranchTableOp):
        return [list(op.default_operands), *op.cases()]
    if isinstance(op, vm.CondBranchOp):
        return [list(op.true_operands), list(op.false_operands)]
    # A yieldable call fills its successor's arguments itself.
    return [[] for _ in op.successors]
