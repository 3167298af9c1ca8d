"""Where a generator gets its decisions from: a random number generator, or whatever shrinks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

from tiree.testing import wanted

T = TypeVar("T")


class Choices(Protocol):
    """A source of decisions. Smaller numbers lead to simpler programs, so that making them smaller simplifies."""

    def below(self, limit: int) -> int:
        """A number from 0 to `limit` - 1: a detail of a part."""
        ...

    def count(self, limit: int) -> int:
        """The same: how many parts follow."""
        ...

    def part(self) -> None:
        """A part begins (a function, a statement): something that can be taken out whole."""
        ...


class RandomChoices:
    """Decisions by a seeded generator: fast, and the same for the same seed on every machine."""

    def __init__(self, seed: int) -> None:
        wanted.whole("RandomChoices", "seed", seed)
        self.random = random.Random(seed)

    def below(self, limit: int) -> int:
        return int(self.random.random() * limit)

    def count(self, limit: int) -> int:
        return self.below(limit)

    def part(self) -> None:
        return


def pick(choices: Choices, options: Sequence[T]) -> T:
    """One of `options`, the first being the simplest."""
    return options[choices.below(len(options))]


def chance(choices: Choices, percent: int) -> bool:
    """True in about `percent` of 100 cases."""
    return choices.below(100) >= 100 - percent


# Numbers at which instructions change their behaviour.
EDGES: dict[str, tuple[int, ...]] = {
    "i": (
        *(0, 1, 2, 3, 5, 7, 8, 31, 32, 33, 63, 64, 127, 128, 255, 256, 32767, 32768, 65535),
        *(2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1),
    ),
    "I": (
        *(0, 1, 2, 3, 7, 8, 15, 16, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1),
        *(2**62, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1),
    ),
    "f": (
        *(0, 0x3F800000, 0xBF800000, 0x40000000, 0x3F000000, 0x40200000, 0x80000000, 1, 0x007FFFFF, 0x00800000),
        *(0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FC12345, 0x7F800001, 0x4F000000, 0x5F000000, 0x40490FDB),
    ),
    "F": (
        *(0, 0x3FF0000000000000, 0xBFF0000000000000, 0x4000000000000000, 0x3FE0000000000000, 0x4004000000000000),
        *(0x8000000000000000, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000),
        *(0xFFF0000000000000, 0x7FF8000000000000, 0x7FF8000012345678, 0x7FF0000000000001, 0x41E0000000000000),
        *(0x43E0000000000000, 0x400921FB54442D18),
    ),
}
_BITS = {"i": 32, "I": 64, "f": 32, "F": 64}


def number(choices: Choices, kind: str) -> int:
    """Bits of a number of the kind: mostly an edge, sometimes any."""
    if chance(choices, 30):
        return choices.below(1 << 16) | (choices.below(1 << 16) << (_BITS[kind] - 16))
    return pick(choices, EDGES[kind])
