"""Finds stretches of a block in which the same operations come again and again, as `Run`s.

Works on the tokens of the block's operations. The distance at which operations come again is voted for by all of them;
the longest stretch of the best distances is a run. Linear in the number of operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

LEAST_TIMES = 5
"""So few users may copy what all layers read (`MAX_COPIES` of the flow stage); more share it in any case."""
LEAST_OPERATIONS = 16
"""Below this a layer is not worth a function."""
_DISTANCES = 6
_LOOK_BACK = 4


class Run(NamedTuple):
    """Operations `start` to `end` (exclusive), of which each is like the one `period` before it."""

    start: int
    end: int
    period: int


def _candidates(tokens: Sequence[int]) -> list[int]:
    """The distances at which most operations come again."""
    places: dict[int, list[int]] = {}
    votes: Counter[int] = Counter()
    for index, token in enumerate(tokens):
        if token < 0:
            continue
        before = places.setdefault(token, [])
        for place in before[-_LOOK_BACK:]:
            if index - place >= LEAST_OPERATIONS:
                votes[index - place] += 1
        before.append(index)
    most = sorted(votes.items(), key=lambda item: (-item[1], item[0]))
    return [distance for distance, _ in most[:_DISTANCES]]


def _longest(tokens: Sequence[int], period: int) -> Run:
    """The longest run of that period; an empty one where nothing comes again."""
    best = Run(0, 0, period)
    start = 0
    count = len(tokens)
    for index in range(period, count + 1):
        if index < count and tokens[index] == tokens[index - period] and tokens[index] >= 0:
            continue
        if index - start > period and index - start > best.end - best.start:
            best = Run(start, index, period)
        start = index - period + 1
    return best


def find_runs(tokens: Sequence[int], first: int = 0, last: int | None = None) -> list[Run]:
    """The runs of `tokens[first:last]` with at least `LEAST_TIMES` repetitions, in order. Negative tokens are unlike
    all others."""
    last = len(tokens) if last is None else last
    part = tokens[first:last]
    if len(part) < LEAST_TIMES * LEAST_OPERATIONS:
        return []
    runs = [run for period in _candidates(part) if _repeats(run := _longest(part, period))]
    if not runs:
        return []
    longest = max(run.end - run.start for run in runs)
    best = min((run for run in runs if (run.end - run.start) * 10 >= longest * 9), key=lambda run: run.period)
    found = Run(first + best.start, first + best.end, best.period)
    return [*find_runs(tokens, first, found.start), found, *find_runs(tokens, found.end, last)]


def _repeats(run: Run) -> bool:
    return run.end - run.start >= LEAST_TIMES * run.period
