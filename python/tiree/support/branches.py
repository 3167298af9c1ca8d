"""What `cf.br`, `cf.cond_br` and `cf.switch` pass along each of their edges, and branches rebuilt with other values.

An edge is a terminator and the number of one of its successors; two edges may lead to the same block. For `cf.switch`
edge 0 is the default. Assumes xDSL's `cf` dialect only.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf
from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from tiree.support.typed import operands_of, successors_of

BRANCHES = ("cf.br", "cf.cond_br", "cf.switch")


def _integers(op: Operation, name: str) -> list[int]:
    array = op.properties.get(name)
    return [int(value) for value in array.get_values()] if isinstance(array, DenseArrayBase) else []


def edge_ranges(terminator: Operation) -> list[range]:
    """For each successor the numbers of the operands that it gets."""
    if terminator.name == "cf.br":
        return [range(len(terminator.operands))]
    sizes = _integers(terminator, "operandSegmentSizes")[1:]
    if terminator.name == "cf.switch":
        sizes = [sizes[0], *_integers(terminator, "case_operand_segments")]
    ranges: list[range] = []
    start = 1
    for size in sizes:
        ranges.append(range(start, start + size))
        start += size
    return ranges


def branch_arguments(terminator: Operation, successor: int) -> list[SSAValue]:
    """What the branch passes to its successor number `successor`."""
    places = edge_ranges(terminator)[successor]
    return list(operands_of(terminator)[places.start : places.stop])


def branch_operand_index(terminator: Operation, successor: int, argument: int) -> int:
    """Position, among the terminator's operands, of argument number `argument` of a successor."""
    return edge_ranges(terminator)[successor][argument]


def branch_with(old: Operation, passed: Sequence[Sequence[SSAValue]]) -> Operation:
    """A branch like `old` that passes other values, one list an edge."""
    if old.name == "cf.br":
        new: Operation = cf.BranchOp(old.successors[0], *passed[0])
    elif old.name == "cf.cond_br":
        new = cf.ConditionalBranchOp(
            old.operands[0], old.successors[0], list(passed[0]), old.successors[1], list(passed[1])
        )
    else:
        cases = [value for values in passed[1:] for value in values]
        sizes = DenseArrayBase.from_list(i32, [1, len(passed[0]), len(cases)])
        segments = DenseArrayBase.from_list(i32, [len(values) for values in passed[1:]])
        new = type(old).create(
            operands=[old.operands[0], *passed[0], *cases],
            properties={**old.properties, "operandSegmentSizes": sizes, "case_operand_segments": segments},
            successors=list(old.successors),
        )
    new.attributes.update(old.attributes)
    new.location = old.location
    return new


def predecessors(region: Region) -> dict[Block, list[tuple[Operation, int]]]:
    """For each block the terminators that may jump to it, with the successor number; in block order."""
    edges: dict[Block, list[tuple[Operation, int]]] = {block: [] for block in region.blocks}
    for block in region.blocks:
        terminator = block.last_op
        if terminator is not None:
            for number, successor in enumerate(terminator.successors):
                edges[successor].append((terminator, number))
    return edges


def reachable_blocks(region: Region) -> list[Block]:
    """The blocks that can be reached from the entry, in an order in which dominators come first."""
    entry = region.blocks.first
    if entry is None:
        return []
    order: list[Block] = []
    seen = {entry}
    stack: list[tuple[Block, list[Block]]] = [(entry, _successors(entry))]
    while stack:
        block, pending = stack[-1]
        if pending:
            following = pending.pop()
            if following not in seen:
                seen.add(following)
                stack.append((following, _successors(following)))
        else:
            stack.pop()
            order.append(block)
    order.reverse()
    return order


def _successors(block: Block) -> list[Block]:
    terminator = block.last_op
    return list(terminator.successors) if terminator is not None else []


def wrong_branch(root: Operation) -> tuple[Operation, str] | None:
    """The first branch in `root` that MLIR forbids, or operation with an empty block; and what is wrong with it."""
    for region in root.regions:
        if len(region.blocks) > 1 and any(block.last_op is None for block in region.blocks):
            return root, "has an empty block, which needs a branch or a return"
    for number, target in enumerate(successors_of(root)):
        found = _wrong_edge(root, number, target)
        if found:
            return root, found
    for region in root.regions:
        for block in region.blocks:
            op = block.first_op
            while op is not None:
                if op.regions or successors_of(op):
                    wrong = wrong_branch(op)
                    if wrong is not None:
                        return wrong
                op = op.next_op
    return None


def _wrong_edge(op: Operation, number: int, target: Block) -> str:
    region = target.parent
    if region is None or op.parent is None or region is not op.parent.parent:
        return "jumps to a block of another region"
    if region.blocks.first is target:
        return "jumps to the first block of its region; let the first block jump to a second one and loop there"
    if op.name not in BRANCHES:
        return ""
    passed = [value.type for value in branch_arguments(op, number)]
    wanted = list(target.arg_types)
    if len(passed) != len(wanted):
        return f"passes {len(passed)} values to a block that takes {len(wanted)}"
    for position, (given, needed) in enumerate(zip(passed, wanted, strict=True), 1):
        if given != needed:
            return f"passes a {given} as value {position} to a block that takes a {needed}"
    return ""
