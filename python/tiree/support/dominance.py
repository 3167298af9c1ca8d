"""Finds uses of values where they are not defined, which text can say and xDSL's verifier does not see.

A value must come from an enclosing region, within its block from before, and within a region from a block that every
path to the use runs through. Blocks that cannot be reached may use anything, as MLIR has it.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, Region, SSAValue

from tiree.support.branches import predecessors, reachable_blocks
from tiree.support.typed import operands_of


def undefined_use(root: Operation) -> tuple[Operation, SSAValue] | None:
    """The first operation below `root` with an operand that is not defined there, and that operand."""
    return _Search().regions(root)


class _Search:
    def __init__(self) -> None:
        self.done: set[int] = set()
        """The identities of operations whose results are known."""
        self.dominators: dict[Region, dict[Block, Block]] = {}

    def regions(self, op: Operation) -> tuple[Operation, SSAValue] | None:
        for region in op.regions:
            several = len(region.blocks) > 1
            for block in reachable_blocks(region) if several else region.blocks:
                for inner in block.ops:
                    found = self.operation(inner)
                    if found is not None:
                        return found
        return None

    def operation(self, op: Operation) -> tuple[Operation, SSAValue] | None:
        here, done = op.parent, self.done
        for operand in operands_of(op):
            owner = operand.owner
            if owner is here or (id(owner) in done and owner.parent is here):
                continue
            if not self.is_defined(operand, op):
                return op, operand
        found = self.regions(op) if op.regions else None
        done.add(id(op))
        return found

    def is_defined(self, value: SSAValue, op: Operation) -> bool:
        owner = value.owner
        block = owner if isinstance(owner, Block) else owner.parent
        if block is None:
            return False
        current: Operation | None = op
        while current is not None:
            here = current.parent
            if here is block:
                return isinstance(owner, Block) or id(owner) in self.done
            if here is not None and here.parent is not None and here.parent is block.parent:
                return self.dominates(block, here, here.parent)
            current = current.parent_op()
        return False

    def dominates(self, block: Block, other: Block, region: Region) -> bool:
        """Whether every path from the entry to `other`, another reachable block, runs through `block`."""
        tree = self.dominators.get(region)
        if tree is None:
            tree = self.dominators[region] = immediate_dominators(region)
        current: Block | None = other
        while current is not None and current is not block:
            current = tree.get(current)
        return current is block


def immediate_dominators(region: Region) -> dict[Block, Block]:
    """For each reachable block but the entry the last block that every path to it runs through."""
    order = reachable_blocks(region)
    place = {block: number for number, block in enumerate(order)}
    edges = predecessors(region)
    tree: dict[Block, Block] = {}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            common: Block | None = None
            for terminator, _ in edges[block]:
                source = terminator.parent
                if source is None or (source not in tree and source is not order[0]):
                    continue
                common = source if common is None else _common(tree, place, common, source)
            if common is not None and tree.get(block) is not common:
                tree[block] = common
                changed = True
    return tree


def _common(tree: dict[Block, Block], place: dict[Block, int], a: Block, b: Block) -> Block:
    """The nearest block that dominates both."""
    while a is not b:
        if place[a] < place[b]:
            b = tree[b]
        else:
            a = tree[a]
    return a
