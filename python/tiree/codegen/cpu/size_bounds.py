"""What a dispatch of dynamic shapes is told of its sizes: bounds and divisors, from `util.assume.int`."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, lcm

from xdsl.ir import OpResult, SSAValue

from tiree.dialects.util_types import assumed_bounds

MOST = 1 << 53
"""No size or index reaches it."""

SAME = ("iree_tensor_ext.dispatch.workload.ordinal", "util.assume.int")
"""Operations whose results are their operands."""


@dataclass(frozen=True)
class SizeBounds:
    """A size is at most `high`, and a multiple of `divisor`."""

    high: int
    divisor: int


UNBOUNDED = SizeBounds(MOST, 1)


def assumed(size: SSAValue) -> SizeBounds:
    """What the dispatch says of `size`."""
    found = UNBOUNDED
    while isinstance(size, OpResult) and size.op.name in SAME:
        if size.op.name == "util.assume.int":
            _, high, divisor = assumed_bounds(size.op, size.index)
            found = SizeBounds(min(found.high, MOST if high is None else high), lcm(found.divisor, divisor))
        size = size.op.operands[size.index]
    return found


def part_bounds(total: SizeBounds, multiple: int) -> SizeBounds:
    """Of where a part of a size begins or ends, when parts begin at multiples of `multiple`."""
    return SizeBounds(total.high, gcd(total.divisor, multiple))
