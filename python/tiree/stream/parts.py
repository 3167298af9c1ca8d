"""Cuts a run of commands into parts that each run on one device, so that devices work at the same time.

A command is as deep as the number of times that what it needs has changed devices, and as urgent as the number of times
that what needs it will. Commands of one device, depth and urgency form a part. A part only ever waits for parts that
are less deep or more urgent, so parts form no cycle; and nothing that another device waits for is held up by work that
it does not need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Attribute

from tiree.dialects.stream import ResourceAccess
from tiree.stream.storage import Command, Range


@dataclass(eq=False)
class Part:
    """Commands, in order, that run on one device."""

    affinity: Attribute | None
    commands: list[Command] = field(default_factory=list[Command])
    behind: set[Part] = field(default_factory=set["Part"])
    """All parts that have to be over before."""
    waits: list[Part] = field(default_factory=list["Part"])
    """Those of them that no other of them waits for."""


def _place(range: Range) -> tuple[object, int]:
    """What holds a range (a resource, or a storage that has none yet) and where the range begins in it."""
    storage, offset = range.storage.outermost()
    return storage.resource or storage, storage.offset + offset + range.offset


def conflict(one: Command, other: Command) -> bool:
    """Whether the order of two commands can be seen: they touch a common byte and one of them writes it."""
    for range, access in zip(one.ranges, one.access, strict=True):
        for range2, access2 in zip(other.ranges, other.access, strict=True):
            if (access | access2) & ResourceAccess.WRITE and _overlap(range, range2):
                return True
    return False


def _overlap(one: Range, other: Range) -> bool:
    (place, start), (place2, start2) = _place(one), _place(other)
    if place is not place2:
        return False
    if one.dynamic_offset is not None or other.dynamic_offset is not None:
        return True
    if not isinstance(one.length, int) or not isinstance(other.length, int):
        return True
    return start < start2 + other.length and start2 < start + one.length


def _needs(commands: Sequence[Command]) -> list[list[int]]:
    """For each command the earlier ones that have to be over before it."""
    touching: dict[object, list[int]] = {}
    needs: list[list[int]] = []
    for number, command in enumerate(commands):
        places = dict.fromkeys(_place(range)[0] for range in command.ranges)
        earlier = sorted({index for place in places for index in touching.get(place, ())})
        needs.append([index for index in earlier if conflict(commands[index], command)])
        for place in places:
            touching.setdefault(place, []).append(number)
    return needs


def parts_of(commands: Sequence[Command]) -> list[Part]:
    """The parts in an order in which each comes after those that it waits for."""
    first = commands[0].affinity if commands else None
    if all(command.affinity is first or command.affinity == first for command in commands):
        return [Part(first, list(commands))]
    needs = _needs(commands)
    depth, urgency = [0] * len(commands), [0] * len(commands)
    for number, command in enumerate(commands):
        for index in needs[number]:
            change = commands[index].affinity != command.affinity
            depth[number] = max(depth[number], depth[index] + change)
    for number in reversed(range(len(commands))):
        for index in needs[number]:
            change = commands[index].affinity != commands[number].affinity
            urgency[index] = max(urgency[index], urgency[number] + change)
    parts: dict[tuple[int, int, Attribute | None], Part] = {}
    part_of: list[Part] = []
    for number, command in enumerate(commands):
        key = depth[number], -urgency[number], command.affinity
        part = parts.setdefault(key, Part(command.affinity))
        part.commands.append(command)
        part_of.append(part)
    ordered = [parts[key] for key in sorted(parts, key=lambda key: key[:2])]
    _connect(ordered, needs, part_of)
    return ordered


def _connect(ordered: Sequence[Part], needs: Sequence[Sequence[int]], part_of: Sequence[Part]) -> None:
    direct: dict[Part, dict[Part, None]] = {part: {} for part in ordered}
    for number, part in enumerate(part_of):
        direct[part].update(dict.fromkeys(part_of[index] for index in needs[number] if part_of[index] is not part))
    for part in ordered:
        part.behind = {other for one in direct[part] for other in (one, *one.behind)}
        part.waits = last_of(list(direct[part]))


def last_of(parts: Sequence[Part]) -> list[Part]:
    """Those for which no other waits: when they are over, all are."""
    return [part for part in parts if not any(part in other.behind for other in parts)]
