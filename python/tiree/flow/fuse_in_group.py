"""Fusion inside a dispatch group: fewer structured ops for the same kernel.

An elementwise member that only one other member reads is evaluated in that member, if each of its elements is read
once or it is cheap; elementwise members over one space become one op with several results. The root of a matrix
group stays apart from its epilogue.
"""

from __future__ import annotations

from xdsl.ir import Operation

from tiree.flow.cost import is_cheap, is_free
from tiree.flow.cse import clean_body
from tiree.flow.fuse_body import can_fuse, drop_equal_results, fuse_producer, merge_results, same_space
from tiree.flow.fuse_elementwise import reads_repeatedly, users_of
from tiree.flow.groups import Group
from tiree.flow.simplify_generic import merge_equal_inputs
from tiree.flow.structured import (
    captured_values,
    domain_size,
    input_count,
    is_elementwise,
    is_generic,
    loop_extents,
)


def _fuse_single_uses(group: Group, op: Operation) -> bool:
    """Evaluates members that only `op` reads inside it."""
    if reads_repeatedly(op):
        return False
    changed = False
    index = 0
    while index < input_count(op):
        producer = op.operands[index].owner
        if (
            isinstance(producer, Operation)
            and producer in group.members
            and is_generic(producer)
            and users_of(producer) == [op]
            and can_fuse(producer, op, index)
            and (domain_size(op) <= domain_size(producer) or is_free(producer) or is_cheap(producer))
        ):
            uses_before = users_of(producer)
            fuse_producer(op, index)
            if uses_before and producer.parent is None:
                group.members.remove(producer)
            merge_equal_inputs(op)
            changed, index = True, 0
        else:
            index += 1
    return changed


def _merge_into_later(group: Group, position: int) -> bool:
    """Merges the elementwise member at `position` with the next elementwise member over the same space."""
    first = group.members[position]
    if not is_elementwise(first):
        return False
    for later in range(position + 1, len(group.members)):
        second = group.members[later]
        reads = any(value.owner is first for value in second.operands)
        if is_generic(second) and is_elementwise(second):
            positions = same_space(first, second) if reads else _beside(first, second)
            captured = any(value.owner is first for value in captured_values(second))
            if positions is not None and not captured:
                merged = merge_results(first, second, positions)
                merge_equal_inputs(merged)
                clean_body(merged)
                merged = drop_equal_results(merged)
                group.members[later] = merged
                del group.members[position]
                return True
        if reads or any(value.owner is first for value in captured_values(second)):
            return False
    return False


def _beside(first: Operation, second: Operation) -> list[int] | None:
    """Independent members over equal loops merge loop by loop."""
    extents = loop_extents(first)
    return list(range(len(extents))) if extents == loop_extents(second) else None


def fuse_members(group: Group) -> None:
    """Fuses the members of `group` as far as the rules at the head of this file allow."""
    if len(group.members) == 1:
        return
    for op in list(group.members):
        if op.parent is not None and is_generic(op) and _fuse_single_uses(group, op):
            clean_body(op)
    position = 0
    while position < len(group.members):
        member = group.members[position]
        if is_generic(member) and _merge_into_later(group, position):
            continue
        position += 1
