"""Loops of a blocked contraction: over the summed indices of a block, and over the panels of a lane block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith as xarith
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from tiree.codegen.common.builder import INDEX
from tiree.codegen.common.evaluate import Evaluator
from tiree.codegen.common.linear import ZERO, Lin
from tiree.codegen.cpu.contraction_form import Contraction, Factor
from tiree.codegen.cpu.contraction_plan import BlockPlan


@dataclass(frozen=True)
class SumIndex:
    """One summed index: that of each loop, and its number in the block."""

    loops: tuple[tuple[int, Lin], ...]
    flat: Lin

    def at(self, group: SumLoop, step: Lin) -> SumIndex:
        """This index with one more loop at `step`."""
        return SumIndex((*self.loops, (group.dims[-1], group.start + step)), self.flat + step * group.flat)


@dataclass(frozen=True)
class SumLoop:
    """A loop over merged summed loops (the index goes to the last of `dims`, from `start` on); one step adds `flat` to
    the number in the block."""

    dims: tuple[int, ...]
    size: int
    flat: int
    start: Lin


class SumLoops:
    """The summed loops inside one block; neighbours merge where all of `factors` allow it.

    `base` holds the index of every loop at the start of the block: of the leading ones, and of the first one inside.
    The loops run in the order of the plan, or by `order` (outermost first) where the order does not matter.
    """

    def __init__(
        self,
        ev: Evaluator,
        c: Contraction,
        plan: BlockPlan,
        factors: Sequence[Factor],
        base: dict[int, Lin],
        steps: int,
    ) -> None:
        self.b = ev.b
        inside = plan.sums[plan.lead :]
        sizes = [steps, *[c.generic.loops[d] for d in inside[1:]]]
        merged: list[tuple[tuple[int, ...], int]] = []
        for d, size in zip(inside, sizes, strict=True):
            if merged and all(f.merges(merged[-1][0][-1], d) for f in factors):
                dims, total = merged[-1]
                merged[-1] = (*dims, d), total * size
            else:
                merged.append(((d,), size))
        start = base[inside[0]]
        for d in merged[0][0][1:]:
            start = start * c.generic.loops[d]
        self.groups: list[SumLoop] = []
        flat = 1
        for dims, size in reversed(merged):
            self.groups.insert(0, SumLoop(dims, size, flat, ZERO if dims is not merged[0][0] else start))
            flat *= size
        self.leading = tuple((d, base[d]) for d in plan.sums[: plan.lead])

    @property
    def inner(self) -> SumLoop:
        return self.groups[-1]

    def order(self, rank: Callable[[int], float]) -> None:
        """Puts the loops in ascending order of `rank` of their last dim; equal ones stay as they are."""
        self.groups.sort(key=lambda group: rank(group.dims[-1]))

    def run(
        self,
        unroll: int,
        carried: Sequence[SSAValue],
        step: Callable[[list[SumIndex], Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """Calls `step` with `unroll` (or, at the end, fewer) neighbouring indices and the loop-carried values."""
        self.unroll = unroll
        self.step = step
        return self._level(0, SumIndex(self.leading, ZERO), carried, len(self.groups))

    def outside(self, step: Callable[[SumIndex], None]) -> None:
        """Calls `step` inside all loops but the innermost."""

        def once(indices: list[SumIndex], carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            step(indices[0])
            return carried

        self.step = once
        self._level(0, SumIndex(self.leading, ZERO), (), len(self.groups) - 1)

    def _level(self, k: int, at: SumIndex, carried: Sequence[SSAValue], end: int) -> Sequence[SSAValue]:
        if k == end:
            return self.step([at], carried)
        group = self.groups[k]
        if k + 1 < len(self.groups):
            if group.size == 1:
                return self._level(k + 1, at.at(group, ZERO), carried, end)
            loop = self.b.begin_for(0, group.size, 1, carried)
            inside = at.at(group, Lin.of(loop.sym))
            return self.b.end_for(loop, self._level(k + 1, inside, loop.args, end))
        step = min(self.unroll, group.size)
        full = group.size - group.size % step
        if full == step:
            carried = self.step([at.at(group, Lin(n)) for n in range(step)], carried)
        else:
            loop = self.b.begin_for(0, full, step, carried)
            inside = [at.at(group, Lin.of(loop.sym) + n) for n in range(step)]
            carried = self.b.end_for(loop, self.step(inside, loop.args))
        if full < group.size:
            carried = self.step([at.at(group, Lin(n)) for n in range(full, group.size)], carried)
        return carried


@dataclass(frozen=True)
class Lanes:
    """`count` vectors of a panel: the panel starts at `panel` in the block, they start at `within` in the panel."""

    panel: Lin
    within: int
    count: int
    masks: tuple[SSAValue | None, ...]

    @property
    def offset(self) -> Lin:
        return self.panel + self.within


class Panels:
    """Walks the panels of a lane block with `ev.width` and `ev.lane` set; the last panel may be incomplete."""

    def __init__(self, ev: Evaluator, c: Contraction, plan: BlockPlan, masked: bool) -> None:
        self.ev = ev
        self.b = ev.b
        self.plan = plan
        self.masked = masked
        self.lanes = c.size(c.lanes)
        self.blocks = -(-self.lanes // plan.columns)
        self.exact = self.blocks == 1 or self.lanes % plan.columns == 0

    def run(self, block: Lin, body: Callable[[Lanes], None]) -> None:
        """`block` is the number of the lane block."""
        b, panel = self.b, self.plan.panel
        size = self.lanes if self.blocks == 1 else self.plan.columns
        rest = (size if self.exact else self.lanes) % panel
        if self.exact:
            self._full(size // panel, body)
            if rest:
                self.incomplete(Lin(size - rest), rest, body)
            return
        whole = self.lanes - rest
        left = b.index(block * -size + whole)
        high = b.emit(xarith.MinSIOp, [left, b.constant(size, INDEX)], INDEX)
        loop = b.begin_for(0, high, panel, bounds=(0, size - panel))
        self.vectors(Lin.of(loop.sym), 0, self.plan.vectors, self.plan.width, 0, body)
        b.end_for(loop)
        if rest:
            last = b.compare(0, b.index(block), b.constant(self.blocks - 1, INDEX))
            b.begin_if()
            self.incomplete(Lin(whole - (self.blocks - 1) * size), rest, body)
            b.finish_if(last, b.end_side(), None)

    def _full(self, count: int, body: Callable[[Lanes], None]) -> None:
        panel, plan = self.plan.panel, self.plan
        if count == 1:
            self.vectors(ZERO, 0, plan.vectors, plan.width, 0, body)
        elif count:
            loop = self.b.begin_for(0, count * panel, panel)
            self.vectors(Lin.of(loop.sym), 0, plan.vectors, plan.width, 0, body)
            self.b.end_for(loop)

    def incomplete(self, panel: Lin, rest: int, body: Callable[[Lanes], None]) -> None:
        """`rest` lanes of a panel: one masked vector at the end, or ever narrower ones."""
        width = self.plan.width
        full, tail = divmod(rest, width)
        # Pairs need whole vectors; the plan has made sure of masks.
        if tail and self.masked and (tail & (tail - 1) or self.plan.pairs):
            self.vectors(panel, 0, full + 1, width, tail, body)
            return
        if full:
            self.vectors(panel, 0, full, width, 0, body)
        within, piece = full * width, width
        while tail:
            piece //= 2
            if tail >= piece:
                self.vectors(panel, within, 1, piece, 0, body)
                within += piece
                tail -= piece

    def vectors(
        self, panel: Lin, within: int, count: int, width: int, tail: int, body: Callable[[Lanes], None]
    ) -> None:
        """The body for `count` vectors; the last has only `tail` lanes when that is not 0."""
        with Vectors(self.ev, width):
            masks: list[SSAValue | None] = [None] * count
            if tail:
                masks[-1] = self.b.vector_constant([int(n < tail) for n in range(width)], i1, width)
            body(Lanes(panel, within, count, tuple(masks)))


class Vectors:
    """A stretch of emission with vectors of `width` lanes (1: scalars)."""

    def __init__(self, ev: Evaluator, width: int) -> None:
        self.ev = ev
        self.width = width if width > 1 else 0

    def __enter__(self) -> Lin:
        """The lane number as a linear form."""
        self.saved = self.ev.width, self.ev.lane
        self.ev.width = self.width
        self.ev.lane = self.ev.b.lane_sym(self.width) if self.width else None
        return lane_of(self.ev)

    def __exit__(self, *_: object) -> None:
        self.ev.width, self.ev.lane = self.saved


def lane_of(ev: Evaluator) -> Lin:
    return Lin.of(ev.lane) if ev.lane is not None else ZERO
