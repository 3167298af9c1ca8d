"""Fusion inside a dispatch group: fewer structured ops for the same kernel.

An elementwise member that only one other member reads is evaluated in that member, if each of its elements is read
once or it is cheap; elementwise members over one space become one op with several results. The root of a matrix
group stays apart from its epilogue.
"""

from __future__ import annotations

from xdsl.ir import Operation

from tiree.dialects.iree_linalg_ext_attention import NAME as ATTENTION
from tiree.flow.body_size import BodySizes
from tiree.flow.cost import is_cheap, is_free
from tiree.flow.fuse_body import can_fuse, drop_equal_results, fuse_producer, merge_results, same_space
from tiree.flow.fuse_elementwise import reads_repeatedly, users_of
from tiree.flow.groups import Group
from tiree.flow.simplify_generic import merge_equal_inputs
from tiree.flow.structured import (
    domain_size,
    input_count,
    is_elementwise,
    is_generic,
    loop_extents,
)


class _Members:
    """The members of a group while they become fewer, in program order."""

    def __init__(self, group: Group) -> None:
        self.ops: dict[Operation, None] = dict.fromkeys(group.members)
        self.sizes = BodySizes()

    def fuse_single_uses(self, op: Operation) -> None:
        """Evaluates members that only `op` reads inside it."""
        if reads_repeatedly(op):
            return
        changed = False
        index = 0
        while index < input_count(op):
            producer = op.operands[index].owner
            if (
                isinstance(producer, Operation)
                and producer in self.ops
                and is_generic(producer)
                and users_of(producer, 2) == [op]
                and can_fuse(producer, op, index)
                and (domain_size(op) <= domain_size(producer) or is_free(producer) or is_cheap(producer))
                and self.sizes.fits(producer, op)
            ):
                size = self.sizes.joined(producer, op)
                fuse_producer(op, index, self.sizes.producer_first(producer, op))
                self.sizes.fused(op, size)
                if producer.parent is None:
                    del self.ops[producer]
                merge_equal_inputs(op)
                changed, index = True, 0
            else:
                index += 1
        if changed:
            self.sizes.clean(op)

    def merge(self) -> list[Operation]:
        """Merges elementwise members over one space; returns what is left, clean."""
        ops = list(self.ops)
        done: list[Operation] = []
        for position, first in enumerate(ops):
            later = self._merge_partner(ops, position)
            if later is None:
                done.append(first)
            else:
                ops[later] = self._merged(first, ops[later])
        late = self.sizes.clean_all()
        return [self._without_equal_results(op) if op in late and len(op.results) > 1 else op for op in done]

    def _merge_partner(self, ops: list[Operation], position: int) -> int | None:
        """The next elementwise member over the space of the one at `position`, if nothing between them reads it."""
        first = ops[position]
        if not is_generic(first) or not is_elementwise(first):
            return None
        for later in range(position + 1, len(ops)):
            second = ops[later]
            reads = any(value.owner is first for value in second.operands)
            captured = self._captures(second, first)
            if is_generic(second) and is_elementwise(second):
                positions = same_space(first, second) if reads else _beside(first, second)
                if positions is not None and not captured:
                    return later
            if reads or captured:
                return None
        return None

    def _captures(self, second: Operation, first: Operation) -> bool:
        """Whether the body of `second` uses a result of `first`."""
        return any(
            use.operation is not second and second.is_ancestor(use.operation)
            for result in first.results
            for use in result.uses
        )

    def _merged(self, first: Operation, second: Operation) -> Operation:
        reads = any(value.owner is first for value in second.operands)
        positions = same_space(first, second) if reads else _beside(first, second)
        assert positions is not None
        size = self.sizes.beside(first, second)
        merged = merge_results(first, second, positions)
        merge_equal_inputs(merged)
        self.sizes.fused(merged, size)
        self.sizes.clean(merged)
        return self._without_equal_results(merged)

    def _without_equal_results(self, op: Operation) -> Operation:
        kept = drop_equal_results(op)
        if kept is not op:
            self.sizes.rename(op, kept)
        return kept


def _beside(first: Operation, second: Operation) -> list[int] | None:
    """Independent members over equal loops merge loop by loop."""
    extents = loop_extents(first)
    return list(range(len(extents))) if extents == loop_extents(second) else None


def fuse_members(group: Group) -> None:
    """Fuses the members of `group` as far as the rules at the head of this file allow."""
    if len(group.members) == 1 or group.kind == ATTENTION:
        return
    members = _Members(group)
    for op in group.members:
        if op.parent is not None and is_generic(op):
            members.fuse_single_uses(op)
    group.members = members.merge()
