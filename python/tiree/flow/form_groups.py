"""Assigning the ops of a block to dispatch groups (see `groups.py`), in program order, keeping them acyclic.

Every op of the block is a node: structured ops belong to groups, all else stands alone. `Dependencies` answers whether
joining would make a group depend on itself.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, OpResult, SSAValue

from tiree.dialects.arith import constant_of
from tiree.dialects.dense import DenseAttr
from tiree.dialects.iree_linalg_ext_attention import NAME as ATTENTION
from tiree.flow.body_size import MAX_WEIGHT, weight_of
from tiree.flow.cost import MAX_BINDINGS, MAX_REDUCTIONS
from tiree.flow.cse import is_pure
from tiree.flow.dependencies import Dependencies
from tiree.flow.groups import Fit, Group, add_member, fit_beside, fit_into, start_group
from tiree.flow.materialize_slices import is_store, root_of
from tiree.flow.raise_attention import feeders_of
from tiree.flow.slices import feeds_window
from tiree.flow.structured import captured_values, input_count, is_elementwise, is_tensor

CLONED = frozenset(("tensor.empty", "linalg.fill", "arith.constant", "complex.constant"))
"""Ops that are copied into each dispatch that reads them (constants: where all elements are one value)."""


def is_cloned(value: SSAValue) -> bool:
    """Whether a dispatch makes its own copy of `value` instead of binding it."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name not in CLONED:
        return False
    attr = constant_of(value)
    return not isinstance(attr, DenseAttr) or attr.is_splat


class Grouping:
    """The groups of one block."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.groups: list[Group] = []
        self.owner: dict[Operation, Group] = {}
        self.dependencies = Dependencies()
        self._operands: dict[Operation, list[SSAValue]] = {}
        self._weights: dict[Operation, int] = {}
        self._last_effect: Operation | None = None

    def operands(self, op: Operation) -> list[SSAValue]:
        """Everything `op` reads, also inside its regions."""
        if not op.regions:
            return list(op.operands)
        found = self._operands.get(op)
        if found is None:
            found = self._operands[op] = [*op.operands, *captured_values(op)]
        return found

    def weight(self, op: Operation) -> int:
        found = self._weights.get(op)
        if found is None:
            found = self._weights[op] = weight_of(op)
        return found

    def sources(self, op: Operation) -> dict[Group | Operation, None]:
        """The groups, and ops outside groups, that make what `op` reads."""
        found: dict[Group | Operation, None] = {}
        for value in self.operands(op):
            if isinstance(value, OpResult):
                found[self.owner.get(value.op, value.op)] = None
        return found

    def may_join(self, group: Group, op: Operation) -> bool:
        """Whether nothing that `op` needs outside `group` needs the group itself."""
        return not any(
            source is not group and self.dependencies.needs(source, group.index) for source in self.sources(op)
        )

    def join(self, group: Group, op: Operation, fit: Fit) -> None:
        self._connect(group, op)
        add_member(group, op, fit)
        self.owner[op] = group

    def start(self, op: Operation) -> None:
        group = start_group(len(self.groups), op)
        self.groups.append(group)
        self._connect(group, op)
        self.owner[op] = group

    def leave_outside(self, op: Operation) -> None:
        """Notes what `op` needs; ops that may have effects stay in order, so each needs the one before."""
        sources = self.sources(op)
        if not is_pure(op):
            if self._last_effect is not None:
                sources[self._last_effect] = None
            self._last_effect = op
        self.dependencies.add(op, sources)

    def _connect(self, group: Group, op: Operation) -> None:
        """Notes what `group` needs and binds, and how much it computes, with `op` in it."""
        sources = self.sources(op)
        sources.pop(group, None)
        self.dependencies.add(group, sources, group.index)
        group.weight += self.weight(op)
        group.reads.update(self._new_reads(group, op))
        for value in op.operands:
            if value in group.unfinished:
                group.unfinished[value] -= 1
                if not group.unfinished[value]:
                    del group.unfinished[value]
        for result in op.results:
            uses = sum(1 for _ in result.uses)
            if uses:
                group.unfinished[result] = uses

    def _new_reads(self, group: Group, op: Operation) -> dict[SSAValue, None]:
        """The tensors of outside that `op` adds to those that `group` reads."""
        found: dict[SSAValue, None] = {}
        for value in self.operands(op):
            if value in group.reads or not is_tensor(value) or is_cloned(value):
                continue
            if not isinstance(value, OpResult) or self.owner.get(value.op) is not group:
                found[value] = None
        return found

    def has_room(self, group: Group, op: Operation) -> bool:
        """Whether the dispatch of `group` would still bind few enough tensors and be small enough with `op` in it."""
        if group.weight + self.weight(op) > MAX_WEIGHT:
            return False
        if group.reductions >= MAX_REDUCTIONS and not is_elementwise(op):
            return False
        uses: dict[SSAValue, int] = {}
        for value in op.operands:
            if value in group.unfinished:
                uses[value] = uses.get(value, 0) + 1
        finished = sum(1 for value, count in uses.items() if group.unfinished[value] == count)
        writes = len(group.unfinished) - finished + sum(result.first_use is not None for result in op.results)
        return len(group.reads) + len(self._new_reads(group, op)) + writes <= MAX_BINDINGS

    def candidates(self, op: Operation) -> list[Group]:
        """Groups whose values `op` reads: matrix groups first, later ones before earlier ones."""
        found: dict[Group, None] = {}
        for value in op.operands[: input_count(op)]:
            group = self.owner.get(value.op) if isinstance(value, OpResult) else None
            if group is not None and value in group.values:
                found[group] = None
        order = {"matrix": 0, "row": 1, "elementwise": 2, "store": 3}
        return sorted(found, key=lambda group: (order[group.kind], -group.index))

    def place(self, op: Operation) -> None:
        """Puts structured op `op` into the best group, or a new one."""
        for group in self.candidates(op):
            fit = fit_into(group, op)
            if fit is not None and self.may_join(group, op) and self.has_room(group, op):
                self.join(group, op, fit)
                return
        needed = self.dependencies.of_all(self.sources(op))
        for group in reversed(self.groups[-8:]):
            if needed >> group.index & 1:
                continue
            fit = fit_beside(group, op)
            if fit is not None and self.may_join(group, op) and self.has_room(group, op):
                self.join(group, op, fit)
                return
        self.start(op)

    def place_store(self, op: Operation) -> None:
        """An insertion is done in place by the dispatch that makes its source, or by one of its own."""
        source, dest = op.operands[0], op.operands[1]
        group = self.owner.get(source.op) if isinstance(source, OpResult) else None
        dest_group = self.owner.get(dest.op) if isinstance(dest, OpResult) else None
        if (
            group is None
            or source not in group.values
            or not source.has_one_use()
            or group is dest_group
            or any(root_of(value) is root_of(dest) for member in group.members for value in self.operands(member))
            or not self.may_join(group, op)
        ):
            group = Group(len(self.groups), "store", [])
            self.groups.append(group)
        self._connect(group, op)
        group.stores.append(op)
        self.owner[op] = group

    def place_attention(self, op: Operation) -> None:
        """An attention is a group by itself, with what it alone reads of its mask and queries."""
        group = Group(len(self.groups), ATTENTION, [])
        self.groups.append(group)
        for member in (*feeders_of(op), op):
            self._weights.setdefault(member, MAX_WEIGHT)
            self._connect(group, member)
            group.members.append(member)
            self.owner[member] = group

    def take_pads(self) -> None:
        """Pads that only a windowed member reads move into its group."""
        for group in self.groups:
            pads: list[Operation] = []
            for member in group.members:
                for value in member.operands:
                    if isinstance(value, OpResult) and value.op.name == "tensor.pad" and feeds_window(value.op):
                        pads.append(value.op)
            for pad in pads:
                self.owner[pad] = group
            group.members[:0] = pads


def group_block(block: Block) -> Grouping:
    """Groups the structured ops of `block`."""
    grouping = Grouping(block)
    feeders = {feeder for op in block.ops if op.name == ATTENTION for feeder in feeders_of(op)}
    for op in block.ops:
        if op in feeders:
            continue
        if op.name == ATTENTION:
            grouping.place_attention(op)
        elif op.name == "linalg.generic":
            grouping.place(op)
        elif is_store(op):
            grouping.place_store(op)
        elif op.name not in CLONED:
            grouping.leave_outside(op)
    grouping.take_pads()
    return grouping
