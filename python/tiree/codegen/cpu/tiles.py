"""Chooses register tiles: of those that run about as fast as the fastest, the one that takes the least code.

Every shape of tile is a body of its own: a remainder of rows or lanes is one more, and both are two more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tiree.support.cpu_target import TargetDescription

TOLERANCE = 1.03
"""How much slower than the fastest tile one may be that takes less code."""


def latency(target: TargetDescription) -> int:
    """Vectors of independent sums that hide the latency of a multiply-add: two a cycle, four or five cycles each."""
    return 8 if target.has_avx512 else 10


def choose_tile(rows: int, lanes: int, width: int, least: int, tiles: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The best of `tiles` (rows, vectors of `width` lanes) for sums of `rows` x `lanes`; `least` is the `latency`."""
    found = [(_time(rows, lanes, width, least, *tile), _code(rows, lanes, width, *tile), tile) for tile in tiles]
    limit = min(time for time, _, _ in found) * TOLERANCE
    return min((code, time, tile) for time, code, tile in found if time <= limit)[2]


def _shapes(rows: int, lanes: int, width: int, tile: int, vectors: int) -> Iterator[tuple[int, int, int]]:
    """How often each shape of tile occurs, its rows and its vectors."""
    for count, height in ((rows // tile, tile), (min(1, rows % tile), rows % tile)):
        whole, rest = divmod(lanes, vectors * width)
        for times, across in ((whole, vectors), (min(1, rest), -(-rest // width))):
            if count * times:
                yield count * times, height, across


def _time(rows: int, lanes: int, width: int, least: int, tile: int, vectors: int) -> float:
    """Multiply-adds per summed index, or those that would fit while one is under way, and some time for the loads."""
    return sum(
        times * (max(height * across, least) + 0.1 * (height + across) + 0.5)
        for times, height, across in _shapes(rows, lanes, width, tile, vectors)
    )


def _code(rows: int, lanes: int, width: int, tile: int, vectors: int) -> int:
    return sum(height * across + 6 for _, height, across in _shapes(rows, lanes, width, tile, vectors))
