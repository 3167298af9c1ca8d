"""Slices that need no copy: a contiguous, aligned part of a tensor is a range of its storage.

A slice is a view if nothing writes the memory of its source afterwards. A view keeps the whole source alive; where that
raises the peak of a run above that of the same run with copies, it becomes a copy after all.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue

from tiree.dialects.arith import constant_int
from tiree.dialects.dense import element_byte_size, element_count
from tiree.stream.liveness import tied_operand, written_operands
from tiree.stream.packing import ALIGNMENT, Interval, live_profile
from tiree.stream.storage import Command, Storage
from tiree.support.typed import ints_of, tensor_type

_SLICE = "flow.tensor.slice"
_MOST_OVER = 1.01
"""Of the peak with copies; for less memory no copy is worth its time."""


def _box_starts(op: Operation) -> list[int | None]:
    segments = ints_of(op.properties["operandSegmentSizes"])
    start = segments[0] + segments[1]
    return [constant_int(value) for value in op.operands[start : start + segments[2]]]


def contiguous_offset(op: Operation) -> int | None:
    """The byte at which a slice begins in its source, if it is one run of memory at a known place."""
    source, result = tensor_type(op.operands[0]), tensor_type(op.results[0])
    shape, box, starts = source.get_shape(), result.get_shape(), _box_starts(op)
    if DYNAMIC_INDEX in shape or DYNAMIC_INDEX in box or len(box) != len(shape) or element_count(result) == 0:
        return None
    whole = len(shape) - 1
    while whole >= 0 and box[whole] == shape[whole]:
        whole -= 1
    if any(size != 1 for size in box[: max(whole, 0)]):
        return None
    offset, step = 0, element_byte_size(source.element_type)
    for start, size in zip(reversed(starts), reversed(shape), strict=True):
        if start is None:
            return None
        offset += start * step
        step *= size
    return offset


def _is_candidate(op: Operation) -> bool:
    if op.name != _SLICE or not isinstance(op.results[0].type, TensorType):
        return False
    try:
        offset = contiguous_offset(op)
    except TypeError:  # The scheduler says that the type has no layout.
        return False
    return offset is not None and offset % ALIGNMENT == 0


def _root(value: SSAValue, candidates: dict[Operation, None]) -> SSAValue:
    """The value whose memory holds `value` if all candidates are views."""
    while isinstance(value, OpResult):
        index = 0 if value.op in candidates else tied_operand(value)
        if index is None:
            return value
        value = value.op.operands[index]
    return value


def view_slices(region: Region) -> set[Operation]:
    """The slices of a function, after copy-on-write, that can be views: who writes their source does so before them.

    Blocks hand tensors on as resources of their own, so that a write of the next turn of a loop meets no view of this.
    """
    candidates = {op: None for block in region.blocks for op in block.ops if _is_candidate(op)}
    if not candidates:
        return set()
    place: dict[Operation, int] = {}
    writers: dict[SSAValue, list[Operation]] = {}
    for block in region.blocks:
        for number, op in enumerate(block.ops):
            place[op] = number
            for index in written_operands(op):
                writers.setdefault(_root(op.operands[index], candidates), []).append(op)
    return {
        slice
        for slice in candidates
        if all(
            writer.parent is slice.parent and place[writer] < place[slice]
            for writer in writers.get(_root(slice.results[0], candidates), ())
        )
    }


@dataclass(frozen=True, eq=False)
class SliceView:
    """`result` is `offset` bytes inside of `source`; as a copy it would come before command number `position`."""

    result: Storage
    source: Storage
    offset: int
    position: int
    affinity: Attribute | None


@contextmanager
def _as_copies(views: Sequence[SliceView]) -> Generator[None]:
    for view in views:
        view.result.inside = None
    try:
        yield
    finally:
        for view in views:
            view.result.inside = view.source, view.offset


def copy_costly_views(
    commands: Sequence[Command], views: Sequence[SliceView], is_needed_later: Callable[[Storage], bool]
) -> list[SliceView]:
    """Gives up the views that must be resources of their own, raise the peak of live bytes of a run, or keep memory
    alive beyond it of which only a part is needed; returns them. Copies have to fill their storages then."""
    copied = [view for view in views if view.result.escapes]
    for view in copied:
        view.result.inside = None
    views = [view for view in views if view.result.inside is not None and not view.source.outermost()[0].is_placed]
    beyond = _needed_beyond(views, is_needed_later)
    for view in beyond:
        view.result.inside = None
    copied += beyond
    kept = [view for view in views if view not in copied and not is_needed_later(view.source.outermost()[0])]
    peak = _Peak(commands, is_needed_later)
    with _as_copies(kept):
        bound = _MOST_OVER * max(peak.profile([*copied, *kept]))
    while kept:
        profile = peak.profile(copied)
        if max(profile) <= bound:
            break
        given_up = peak.alive_through_views(kept, copied, profile.index(max(profile)))
        if not given_up:
            break
        for view in given_up:
            view.result.inside = None
        copied += given_up
        kept = [view for view in kept if view not in given_up]
    return copied


def _needed_beyond(views: Sequence[SliceView], is_needed_later: Callable[[Storage], bool]) -> list[SliceView]:
    """Views that are needed after the run, of sources that are not, if they are less than the whole of those."""
    later: dict[Storage, list[SliceView]] = {}
    for view in views:
        if is_needed_later(view.result):
            later.setdefault(view.source.outermost()[0], []).append(view)
    found: list[SliceView] = []
    for place, needed in later.items():
        with _as_copies(needed):
            whole = is_needed_later(place)
        lengths = sum(view.result.length for view in needed if isinstance(view.result.length, int))
        if not whole and isinstance(place.length, int) and lengths < place.length:
            found += needed
    return found


@dataclass(frozen=True)
class _Peak:
    """The live bytes of a run's transients of known size, under the present choice of views."""

    commands: Sequence[Command]
    is_needed_later: Callable[[Storage], bool]

    def _spans(self, copied: Sequence[SliceView]) -> dict[Storage, tuple[int, int]]:
        """First and last moment at which each is touched: odd ones for commands, even ones for copies before them."""
        touched = [(range.storage, 2 * n + 1) for n, command in enumerate(self.commands) for range in command.ranges]
        touched += [(storage, 2 * view.position) for view in copied for storage in (view.source, view.result)]
        spans: dict[Storage, tuple[int, int]] = {}
        for storage, number in touched:
            place, _ = storage.outermost()
            first, last = spans.get(place, (number, number))
            spans[place] = min(first, number), max(last, number)
        return spans

    def profile(self, copied: Sequence[SliceView]) -> list[int]:
        intervals = [
            Interval(place.length, *span)
            for place, span in self._spans(copied).items()
            if isinstance(place.length, int) and not place.is_placed and not self.is_needed_later(place)
        ]
        return live_profile(intervals, 2 * len(self.commands) + 1)

    def alive_through_views(
        self, kept: Sequence[SliceView], copied: Sequence[SliceView], moment: int
    ) -> list[SliceView]:
        """The views whose source, at `moment`, lives for them only."""
        places = [view.source.outermost()[0] for view in kept]
        with _as_copies(kept):
            spans = self._spans([*copied, *kept])
        return [view for view, place in zip(kept, places, strict=True) if spans[place][1] < moment]
