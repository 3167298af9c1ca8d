"""The slab packer: never two live tensors on the same byte, close to the live maximum, deterministic."""

import cProfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiree.stream.packing import ALIGNMENT, Interval, aligned, max_live_bytes, pack


def check(intervals: list[Interval]) -> int:
    packing = pack(intervals)
    for i, (one, offset) in enumerate(zip(intervals, packing.offsets, strict=True)):
        assert offset % ALIGNMENT == 0
        assert offset + one.size <= packing.total
        for other, other_offset in zip(intervals[:i], packing.offsets[:i], strict=True):
            if one.meets(other):
                assert offset + aligned(one.size) <= other_offset or other_offset + aligned(other.size) <= offset
    assert packing.total >= max_live_bytes(intervals)
    assert pack(list(intervals)) == packing
    return packing.total


@st.composite
def schedules(draw: st.DrawFn) -> list[Interval]:
    spans = draw(st.lists(st.tuples(st.integers(1, 5000), st.integers(0, 30), st.integers(0, 10)), min_size=1))
    return [Interval(size, first, first + length) for size, first, length in spans]


@given(schedules())
def test_live_tensors_never_overlap(intervals: list[Interval]) -> None:
    check(intervals)


def test_chain_needs_two_buffers() -> None:
    chain = [Interval(1000, i, i + 1) for i in range(20)]
    assert check(chain) == max_live_bytes(chain) == 2 * 1024


@pytest.mark.parametrize("blocks", [1, 4, 12])
def test_residual_blocks_take_no_more_than_the_live_maximum(blocks: int) -> None:
    """The input of each block lives until its sum; inside, a wide and a narrow tensor alternate."""
    intervals = []
    for block in range(blocks):
        start = 4 * block
        intervals += [
            Interval(32768, start, start + 4),
            Interval(131072, start + 1, start + 2),
            Interval(32768, start + 2, start + 3),
            Interval(65536, start + 3, start + 4),
        ]
    assert check(intervals) <= 1.1 * max_live_bytes(intervals)


def test_a_long_chain_is_packed_in_linear_time() -> None:
    def calls(count: int) -> int:
        profile = cProfile.Profile()
        profile.runcall(pack, [Interval(64, 2 * i, 2 * i + 3) for i in range(count)])
        return sum(entry.callcount for entry in profile.getstats())

    assert calls(2000) < 2.5 * calls(1000)


def test_sizes_are_rounded_up() -> None:
    assert pack([Interval(1, 0, 1), Interval(65, 0, 1)]).total == 64 + 128
