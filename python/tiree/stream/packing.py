"""Packs tensors of known size and lifetime into one slab.

Pure arithmetic on intervals: nothing here knows the IR. A tensor lives from the command that first writes it (`first`)
to the last that touches it (`last`), both inclusive; two tensors may share bytes only if their lifetimes do not meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    changes: dict[int, int] = {}
    for interval in intervals:
        changes[interval.first] = changes.get(interval.first, 0) + aligned(interval.size)
        changes[interval.last + 1] = changes.get(interval.last + 1, 0) - aligned(interval.size)
    live = most = 0
    for moment in sorted(changes):
        live += changes[moment]
        most = max(most, live)
    return most


def _place(intervals: Sequence[Interval], order: Sequence[int]) -> Packing:
    """Gives each interval, in `order`, the smallest gap that fits between its contemporaries."""
    offsets = [0] * len(intervals)
    placed: list[int] = []
    total = 0
    for index in order:
        interval = intervals[index]
        size = aligned(interval.size)
        taken = sorted((offsets[i], aligned(intervals[i].size)) for i in placed if interval.meets(intervals[i]))
        best, best_gap, end = None, 0, 0
        for offset, length in taken:
            gap = offset - end
            if gap >= size and (best is None or gap < best_gap):
                best, best_gap = end, gap
            end = max(end, offset + length)
        offsets[index] = end if best is None else best
        total = max(total, offsets[index] + size)
        placed.append(index)
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
