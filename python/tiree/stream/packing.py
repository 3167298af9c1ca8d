"""Packs tensors of known size and lifetime into one slab.

Pure arithmetic on intervals: nothing here knows the IR. A tensor lives from the command that first writes it (`first`)
to the last that touches it (`last`), both inclusive; two tensors may share bytes only if their lifetimes do not meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

ALIGNMENT = 64
"""Bytes; every offset is a multiple of it."""


@dataclass(frozen=True)
class Interval:
    """`size` bytes needed during the commands `first`..`last`."""

    size: int
    first: int
    last: int

    def meets(self, other: Interval) -> bool:
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Packing:
    """One offset per interval, in their order, and the bytes of the slab."""

    offsets: tuple[int, ...]
    total: int


def aligned(size: int) -> int:
    """`size` rounded up to the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def max_live_bytes(intervals: Sequence[Interval]) -> int:
    """The most bytes (each tensor rounded up to the alignment) that are live at one command: no packing takes less."""
    return max(live_profile(intervals, 1 + max((interval.last for interval in intervals), default=0)))


def live_profile(intervals: Sequence[Interval], commands: int) -> list[int]:
    """The bytes (each tensor rounded up to the alignment) that are live at each of so many commands."""
    changes = [0] * (commands + 1)
    for interval in intervals:
        changes[interval.first] += aligned(interval.size)
        changes[interval.last + 1] -= aligned(interval.size)
    return list(accumulate(changes[:commands]))


class _Placed:
    """The intervals placed so far, found by the time they live at: a segment tree over the commands.

    An interval hangs at the few nodes that make up its lifetime (`here`) and is known to all nodes above them
    (`below`), so that a question costs about as much as it has answers.
    """

    def __init__(self, commands: int) -> None:
        self._leaves = 1 << max(0, commands - 1).bit_length()
        self._here: dict[int, list[int]] = {}
        self._below: dict[int, list[int]] = {}

    def add(self, index: int, interval: Interval) -> None:
        low, high = interval.first + self._leaves, interval.last + self._leaves + 1
        tops: list[int] = []
        while low < high:
            if low & 1:
                tops.append(low)
                low += 1
            if high & 1:
                high -= 1
                tops.append(high)
            low, high = low >> 1, high >> 1
        above: dict[int, None] = {}
        for node in tops:
            self._here.setdefault(node, []).append(index)
            while node > 1 and node >> 1 not in above:
                node >>= 1
                above[node] = None
        for node in above:
            self._below.setdefault(node, []).append(index)

    def meeting(self, interval: Interval) -> list[int]:
        """The intervals that live at a moment of `interval`, each once."""
        found: dict[int, None] = {}
        pending = [(1, 0, self._leaves - 1)]
        while pending:
            node, first, last = pending.pop()
            if last < interval.first or interval.last < first:
                continue
            found.update(dict.fromkeys(self._here.get(node, ())))
            if node not in self._below:
                continue
            if interval.first <= first and last <= interval.last:
                found.update(dict.fromkeys(self._below[node]))
            else:
                middle = (first + last) // 2
                pending += [(2 * node, first, middle), (2 * node + 1, middle + 1, last)]
        return list(found)


def _place(intervals: Sequence[Interval], order: Sequence[int]) -> Packing:
    """Gives each interval, in `order`, the smallest gap that fits between its contemporaries."""
    offsets = [0] * len(intervals)
    placed = _Placed(1 + max((interval.last for interval in intervals), default=0))
    total = 0
    for index in order:
        interval = intervals[index]
        size = aligned(interval.size)
        taken = sorted((offsets[i], aligned(intervals[i].size)) for i in placed.meeting(interval))
        best, best_gap, end = None, 0, 0
        for offset, length in taken:
            gap = offset - end
            if gap >= size and (best is None or gap < best_gap):
                best, best_gap = end, gap
            end = max(end, offset + length)
        offsets[index] = end if best is None else best
        total = max(total, offsets[index] + size)
        placed.add(index, interval)
    return Packing(tuple(offsets), total)


def pack(intervals: Sequence[Interval]) -> Packing:
    """Packs greedily in several orders and keeps the smallest slab; the first wins a tie."""
    bound = max_live_bytes(intervals)
    keys: tuple[Callable[[int], tuple[int, ...]], ...] = (
        lambda i: (-intervals[i].size, intervals[i].first, i),
        lambda i: (intervals[i].first, -intervals[i].size, i),
        lambda i: (intervals[i].first - intervals[i].last, -intervals[i].size, i),
        lambda i: (-intervals[i].size * (1 + intervals[i].last - intervals[i].first), intervals[i].first, i),
        lambda i: (-intervals[i].last, -intervals[i].size, i),
    )
    best: Packing | None = None
    for key in keys:
        packing = _place(intervals, sorted(range(len(intervals)), key=key))
        if best is None or packing.total < best.total:
            best = packing
        if best.total <= bound:
            break
    assert best is not None
    return best
