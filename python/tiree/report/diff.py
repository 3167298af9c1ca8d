"""Line differences: the edits that make new lines of old ones.

Equal ends are set aside, lines that occur once on both sides hold the two texts together in the longest order they have
in common, and the rest is compared between them. Time is n log n: no text makes it slow.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

Edit = tuple[int, int, list[str]]
"""At this line of the old text (from 0), this many lines go and these come."""


def edits(old: Sequence[str], new: Sequence[str]) -> list[Edit]:
    """The edits, in the order of their lines. None overlaps another."""
    found: list[Edit] = []
    todo = [(0, len(old), 0, len(new))]
    while todo:
        old_start, old_end, new_start, new_end = todo.pop()
        while old_start < old_end and new_start < new_end and old[old_start] == new[new_start]:
            old_start, new_start = old_start + 1, new_start + 1
        while old_start < old_end and new_start < new_end and old[old_end - 1] == new[new_end - 1]:
            old_end, new_end = old_end - 1, new_end - 1
        if old_start == old_end and new_start == new_end:
            continue
        anchors = _anchors(old, old_start, old_end, new, new_start, new_end)
        if not anchors:
            found.append((old_start, old_end - old_start, list(new[new_start:new_end])))
            continue
        gaps = [(old_start - 1, new_start - 1), *anchors, (old_end, new_end)]
        todo += [(a + 1, b, c + 1, d) for (a, c), (b, d) in pairwise(gaps)]
    return sorted(found, key=lambda edit: edit[0])


def applied(old: Sequence[str], changes: Sequence[Edit]) -> list[str]:
    """The new lines."""
    new: list[str] = []
    position = 0
    for start, removed, added in changes:
        new += [*old[position:start], *added]
        position = start + removed
    return [*new, *old[position:]]


def _anchors(
    old: Sequence[str], old_start: int, old_end: int, new: Sequence[str], new_start: int, new_end: int
) -> list[tuple[int, int]]:
    """Pairs of equal lines, rising on both sides, of lines that occur once in each of the ranges."""
    old_counts, new_counts = Counter(old[old_start:old_end]), Counter(new[new_start:new_end])
    places = {old[i]: i for i in range(old_start, old_end) if old_counts[old[i]] == 1}
    pairs = [(places[new[j]], j) for j in range(new_start, new_end) if new_counts[new[j]] == 1 and new[j] in places]
    # The longest rising run of the old places (patience sorting).
    tops: list[int] = []
    top_pairs: list[int] = []
    before: list[int] = []
    for number, (place, _) in enumerate(pairs):
        pile = bisect_left(tops, place)
        before.append(top_pairs[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(place)
            top_pairs.append(number)
        else:
            tops[pile], top_pairs[pile] = place, number
    chosen: list[tuple[int, int]] = []
    number = top_pairs[-1] if top_pairs else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = before[number]
    return chosen[::-1]
