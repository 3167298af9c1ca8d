"""Assigning the ops of a block to dispatch groups (see `groups.py`), in program order, keeping them acyclic.

Every op of the block is a node: structured ops belong to groups, all else stands alone. `ancestors` bit sets answer
in a few machine words whether joining would make a group depend on itself.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, OpResult, SSAValue

from tiree.flow.cost import MAX_BINDINGS
from tiree.flow.groups import Fit, Group, add_member, fit_beside, fit_into, start_group
from tiree.flow.materialize_slices import is_store, root_of
from tiree.flow.slices import feeds_window
from tiree.flow.structured import captured_values, input_count, is_tensor

CLONED = frozenset(("tensor.empty", "linalg.fill", "arith.constant"))
"""Ops that are copied into each dispatch that reads them."""


def _is_cloned(owner: Operation | Block) -> bool:
    return isinstance(owner, Operation) and owner.name in CLONED


class Grouping:
    """The groups of one block."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.groups: list[Group] = []
        self.owner: dict[Operation, Group] = {}
        self._nodes = 0
        self._reach: dict[Operation, int] = {}
        """For ops outside groups: the groups that they depend on."""

    def operands(self, op: Operation) -> list[SSAValue]:
        """Everything `op` reads, also inside its regions."""
        return [*op.operands, *captured_values(op)] if op.regions else list(op.operands)

    def needed(self, op: Operation) -> int:
        """Bits of the groups that `op` depends on."""
        bits = 0
        for value in self.operands(op):
            if isinstance(value, OpResult):
                group = self.owner.get(value.op)
                bits |= (group.ancestors | 1 << group.index) if group is not None else self._reach.get(value.op, 0)
        return bits

    def may_join(self, group: Group, op: Operation) -> bool:
        """Whether nothing that `op` needs outside `group` needs the group itself."""
        mask = 1 << group.index
        for value in self.operands(op):
            if not isinstance(value, OpResult):
                continue
            other = self.owner.get(value.op)
            if other is group:
                continue
            bits = other.ancestors if other is not None else self._reach.get(value.op, 0)
            if bits & mask:
                return False
        return True

    def join(self, group: Group, op: Operation, fit: Fit) -> None:
        needed = self.needed(op) & ~(1 << group.index)
        add_member(group, op, fit)
        self.owner[op] = group
        self._add_ancestors(group, needed)

    def _add_ancestors(self, group: Group, bits: int) -> None:
        if not bits & ~group.ancestors:
            return
        group.ancestors |= bits
        mask = 1 << group.index
        for other in self.groups:
            if other.ancestors & mask:
                other.ancestors |= group.ancestors
        for op, reach in self._reach.items():
            if reach & mask:
                self._reach[op] = reach | group.ancestors

    def start(self, op: Operation) -> None:
        needed = self.needed(op)
        group = start_group(len(self.groups), op)
        self.groups.append(group)
        self.owner[op] = group
        group.ancestors = needed

    def leave_outside(self, op: Operation) -> None:
        self._reach[op] = self.needed(op)

    def has_room(self, group: Group, op: Operation) -> bool:
        """Whether the dispatch of `group` would still bind few enough tensors with `op` in it."""
        members = {*group.members, *group.stores, op}
        reads: dict[SSAValue, None] = {}
        writes = 0
        for member in members:
            for value in self.operands(member):
                owner = value.owner
                if is_tensor(value) and owner not in members and not _is_cloned(owner):
                    reads[value] = None
            writes += sum(any(use.operation not in members for use in result.uses) for result in member.results)
        return len(reads) + writes <= MAX_BINDINGS

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
        needed = self.needed(op)
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
        needed = self.needed(op) & ~(1 << group.index)
        group.stores.append(op)
        self.owner[op] = group
        self._add_ancestors(group, needed)

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
                self._reach.pop(pad, None)
            group.members[:0] = pads


def group_block(block: Block) -> Grouping:
    """Groups the structured ops of `block`."""
    grouping = Grouping(block)
    for op in block.ops:
        if op.name == "linalg.generic":
            grouping.place(op)
        elif is_store(op):
            grouping.place_store(op)
        elif op.name not in CLONED:
            grouping.leave_outside(op)
    grouping.take_pads()
    return grouping
