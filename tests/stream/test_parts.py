"""Runs of commands in parts: whatever the commands, no part waits in a circle and nothing is done too early."""

from __future__ import annotations

import random

import pytest
from tiree.dialects.hal import DeviceAffinityAttr
from tiree.dialects.stream import ResourceAccess
from tiree.stream.parts import Part, conflict, last_of, parts_of
from tiree.stream.storage import Command, Range, Storage

READ, WRITE = int(ResourceAccess.READ), int(ResourceAccess.WRITE)
PLACES = [DeviceAffinityAttr("a"), DeviceAffinityAttr("b"), DeviceAffinityAttr("a", 2)]


def command(place: int, reads: list[Storage], writes: list[Storage]) -> Command:
    ranges = [Range(storage, storage.length) for storage in (*reads, *writes)]
    return Command("dispatch", ranges, [READ] * len(reads) + [WRITE] * len(writes), affinity=PLACES[place])


def shown(parts: list[Part], commands: list[Command]) -> list[list[int]]:
    return [[commands.index(one) for one in part.commands] for part in parts]


@pytest.mark.parametrize("seed", range(30))
def test_order_is_kept(seed: int) -> None:
    choose = random.Random(seed)
    storages = [Storage(64) for _ in range(6)]
    commands = [
        command(choose.randrange(3), choose.sample(storages, choose.randrange(3)), [choose.choice(storages)])
        for _ in range(choose.randrange(1, 25))
    ]
    parts = parts_of(commands)
    where = {one: (number, place) for number, part in enumerate(parts) for place, one in enumerate(part.commands)}
    assert sorted(where, key=commands.index) == commands
    for number, part in enumerate(parts):
        assert {one.affinity for one in part.commands} == {part.affinity}
        assert all(parts.index(other) < number for other in part.behind)
        assert set(part.waits) <= part.behind
        assert {other for one in part.waits for other in (one, *one.behind)} == part.behind
    for late, one in enumerate(commands):
        for early in commands[:late]:
            if conflict(early, one):
                (first, at), (second, then) = where[early], where[one]
                assert (parts[first] in parts[second].behind) if first != second else at < then


def test_one_device_is_one_part() -> None:
    storages = [Storage(64) for _ in range(3)]
    commands = [command(0, [storages[0]], [storages[number % 3]]) for number in range(9)]
    (part,) = parts_of(commands)
    assert part.commands == commands
    (nothing,) = parts_of([])
    assert nothing.commands == []


def test_work_of_the_own_device_holds_no_other_up() -> None:
    """A prefix that both branches need, a branch on each device, and an end that needs both."""
    start, one, two, end = (Storage(64) for _ in range(4))
    commands = [
        command(0, [], [start]),
        command(0, [start], [one]),
        command(1, [start], [two]),
        command(0, [one, two], [end]),
    ]
    parts = parts_of(commands)
    assert shown(parts, commands) == [[0], [1], [2], [3]]
    assert [shown(part.waits, commands) for part in parts] == [[], [[0]], [[0]], [[1], [2]]]
    assert shown(last_of(parts), commands) == [[3]]


def test_ranges_that_lie_apart_are_no_reason_to_wait() -> None:
    whole = Storage(256)
    left, right = (
        Command("fill", [Range(whole, 128, at)], [WRITE], affinity=PLACES[n]) for n, at in enumerate((0, 128))
    )
    assert [part.waits for part in parts_of([left, right])] == [[], []]
    across = Command("fill", [Range(whole, 128, 64)], [WRITE], affinity=PLACES[1])
    assert [len(part.waits) for part in parts_of([left, across])] == [0, 1]
