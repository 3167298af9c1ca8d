"""Reductions at many points at once, as loops around accumulators in registers.

Where lanes run along a parallel dim, each point has one accumulator and the body runs in program order. In scalar
context a reassociable reduction may run its lanes along a reduction dim instead: several vector accumulators per point,
combined in a fixed order at the end, so the result does not depend on how work was distributed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseArrayBase, i1, i64
from xdsl.ir import SSAValue

from tiree.codegen.common.body import BodyEvaluator, IndexValue, Value
from tiree.codegen.common.builder import INDEX, element_of, lanes_of
from tiree.codegen.common.combine import Reassociation, reassociation
from tiree.codegen.common.graph import GenericNode
from tiree.codegen.common.linear import ZERO, Lin
from tiree.codegen.common.points import Point
from tiree.codegen.common.reading import shuffle

if TYPE_CHECKING:
    from tiree.codegen.common.evaluate import Evaluator

Rows = list[list[SSAValue]]
"""Per point, the accumulators of each result."""


def reduce_points(ev: Evaluator, generic: GenericNode, points: Sequence[Point]) -> list[list[Value]]:
    """The results at each point of the parallel dims (indices of reduction dims in `points` are ignored)."""
    uniform = [all(index.is_uniform for index in p.idx) for p in points]
    if ev.width and all(uniform):
        width, lane = ev.width, ev.lane
        ev.width, ev.lane = 0, None
        try:
            return reduce_points(ev, generic, [Point(p.idx) for p in points])
        finally:
            ev.width, ev.lane = width, lane
    plan = ev.tuning.reductions.get(generic)
    if not ev.width and plan is not None and plan.width > 1:
        split = reassociation(generic)
        if split is not None:
            return _InnerReduction(ev, generic, points, split).run()
    rows = [[ev.b.broadcast(v, ev.width) for v in row] for row in initial_rows(ev, generic, points)]
    reducer = _Loops(ev, generic)
    rows = reducer.nest(points, rows)
    return [[_wrap(ev, v) for v in row] for row in rows]


def initial_rows(ev: Evaluator, generic: GenericNode, points: Sequence[Point]) -> Rows:
    """The accumulators before the first element; those of bf16 are f32."""
    columns: list[list[Value]] = []
    for number in range(generic.num_results):
        map = generic.output_map(number)
        at = [Point(ev.apply(map, p.idx), p.mask) for p in points]
        columns.append(ev.values(generic.operands[generic.num_inputs + number], at))
    return [[ev.b.widen(ev.ssa(column[n])) for column in columns] for n in range(len(points))]


def _wrap(ev: Evaluator, value: SSAValue) -> Value:
    if element_of(value) == INDEX:
        return IndexValue(ev.b.opaque(value, -(1 << 62), 1 << 62), INDEX)
    return value


class _Loops:
    """The loop nest over reduction dims; `step` runs the body once at every point."""

    def __init__(self, ev: Evaluator, generic: GenericNode) -> None:
        self.ev = ev
        self.b = ev.b
        self.generic = generic

    def groups(self) -> list[tuple[int, int]]:
        """(dim, size) per loop: reduction dims that a plan merged are one loop of the last of them."""
        plan = self.ev.tuning.reductions.get(self.generic)
        if plan is not None:
            return [(group[-1], _product(self.generic.loops[d] for d in group)) for group in plan.groups]
        return [(d, self.generic.loops[d]) for d in self.generic.reduction_dims]

    def zeroed(self, points: Sequence[Point]) -> list[Point]:
        """Points with index 0 in all reduction dims."""
        reduction = self.generic.is_reduction
        return [Point(tuple(ZERO if r else i for i, r in zip(p.idx, reduction, strict=True)), p.mask) for p in points]

    def at(self, points: Sequence[Point], dim: int, index: Lin) -> list[Point]:
        return [Point((*p.idx[:dim], index, *p.idx[dim + 1 :]), p.mask) for p in points]

    def nest(self, points: Sequence[Point], rows: Rows) -> Rows:
        """All the loops; with an empty reduction the initial values remain."""
        dims = self.groups()
        if any(size == 0 for _, size in dims):
            return rows
        return self._nest([(d, size) for d, size in dims if size != 1], self.zeroed(points), rows)

    def _nest(self, dims: Sequence[tuple[int, int]], points: list[Point], rows: Rows) -> Rows:
        if not dims:
            return self.step(points, rows)
        (dim, size), rest = dims[0], dims[1:]
        inner = _product(n for _, n in rest)
        limit = self.ev.tuning.unroll_limit
        if size <= limit and inner <= limit and len(points) * size * inner <= 4 * limit:
            for k in range(size):
                rows = self._nest(rest, self.at(points, dim, Lin(k)), rows)
            return rows
        unroll = self.unroll_factor(size, len(points)) if not rest else 1
        whole = size - size % unroll
        rows = self.loop(0, whole, unroll, rest, dim, points, rows)
        for k in range(whole, size):
            rows = self._nest(rest, self.at(points, dim, Lin(k)), rows)
        return rows

    def unroll_factor(self, size: int, points: int) -> int:
        if not self.ev.width:
            return 1
        factor = max(1, self.ev.tuning.loop_unroll // points)
        return min(factor, size)

    def loop(
        self, low: int, high: int, step: int, rest: Sequence[tuple[int, int]], dim: int, points: list[Point], rows: Rows
    ) -> Rows:
        flat = [v for row in rows for v in row]
        loop = self.b.begin_for(low, high, step, flat)
        carried = _unflatten(loop.args, len(rows))
        for k in range(step):
            carried = self._nest(rest, self.at(points, dim, Lin.of(loop.sym) + k), carried)
        return _unflatten(self.b.end_for(loop, [v for row in carried for v in row]), len(rows))

    def step(self, points: Sequence[Point], rows: Rows) -> Rows:
        ev = self.ev
        values = [[_wrap(ev, v) for v in row] for row in rows]
        result = ev.bodies(self.generic, points, values)
        return [
            [_like(ev, ev.ssa(new), old) for new, old in zip(row, before, strict=True)]
            for row, before in zip(result, rows, strict=True)
        ]


class ScanSteps:
    """A reduction step by step, for a caller that wants every accumulator on the way."""

    def __init__(self, ev: Evaluator, generic: GenericNode) -> None:
        self.ev = ev
        self.generic = generic
        self._loops = _Loops(ev, generic)

    def start(self, points: Sequence[Point]) -> Rows:
        """The initial values."""
        rows = initial_rows(self.ev, self.generic, points)
        return [[self.ev.b.broadcast(v, self.ev.width) for v in row] for row in rows]

    def step(self, points: Sequence[Point], rows: Rows) -> Rows:
        """The accumulators after the elements at these points of all loops."""
        return self._loops.step(points, rows)

    def value(self, accumulator: SSAValue) -> Value:
        return _wrap(self.ev, accumulator)


class _InnerReduction(_Loops):
    """Lanes along one reduction dim, `accumulators` vectors per point."""

    def __init__(self, ev: Evaluator, generic: GenericNode, points: Sequence[Point], split: Reassociation) -> None:
        super().__init__(ev, generic)
        plan = ev.tuning.reductions[generic]
        self.points = self.zeroed(points)
        self.split = split
        self.lane_dim = plan.lane_group[-1]
        self.size = _product(generic.loops[d] for d in plan.lane_group)
        self.others = [(d, n) for d, n in self.groups() if d != self.lane_dim]
        self.width = min(plan.width, 1 << (self.size.bit_length() - 1)) if self.size else 1
        vectors = self.size // self.width
        self.parts = max(1, min(plan.accumulators, vectors))

    def run(self) -> list[list[Value]]:
        ev = self.ev
        inits = initial_rows(ev, self.generic, self.points)
        if self.size == 0 or any(n == 0 for _, n in self.others):
            return [[_wrap(ev, v) for v in row] for row in inits]
        saved = ev.width, ev.lane
        ev.width, ev.lane = self.width, self.b.lane_sym(self.width)
        start = [[self.start(k, init) for k, init in enumerate(row)] for row in inits for _ in range(self.parts)]
        rows = self.other_loops(self.others, list(self.points), start)
        rows = [self.fold(rows[n * self.parts : (n + 1) * self.parts]) for n in range(len(self.points))]
        width = self.width
        while width > 1:
            width //= 2
            ev.width = width
            rows = [self.merge(*self.halves(row, width)) for row in rows]
        ev.width, ev.lane = 0, None
        rows = [[self.scalar(v) for v in row] for row in rows]
        if self.split.combiners is not None:
            rows = [self.merge(init, row) for init, row in zip(inits, rows, strict=True)]
        ev.width, ev.lane = saved
        return [[_wrap(ev, v) for v in row] for row in rows]

    def start(self, result: int, init: SSAValue) -> SSAValue:
        """An accumulator before any element: neutral, or the initial value where repeating it is harmless."""
        combiners = self.split.combiners
        neutral = combiners[result].neutral if combiners is not None else None
        if neutral is None:
            return self.b.broadcast(init, self.width)
        return self.b.splat(neutral, init.type, self.width)

    def other_loops(self, dims: Sequence[tuple[int, int]], points: list[Point], rows: Rows) -> Rows:
        dims = [(d, n) for d, n in dims if n != 1]
        if not dims:
            return self.lane_loop(points, rows)
        (dim, size), rest = dims[0], dims[1:]
        loop = self.b.begin_for(0, size, 1, [v for row in rows for v in row])
        carried = self.other_loops(rest, self.at(points, dim, Lin.of(loop.sym)), _unflatten(loop.args, len(rows)))
        return _unflatten(self.b.end_for(loop, [v for row in carried for v in row]), len(rows))

    def lane_loop(self, points: list[Point], rows: Rows) -> Rows:
        assert self.ev.lane is not None
        lane = Lin.of(self.ev.lane)
        width, parts = self.width, self.parts
        vectors = self.size // width
        done = 0
        if vectors >= 2 * parts:
            done = vectors - vectors % parts
            loop = self.b.begin_for(0, done * width, width * parts, [v for row in rows for v in row])
            carried = self.advance(points, _unflatten(loop.args, len(rows)), Lin.of(loop.sym) + lane, parts)
            rows = _unflatten(self.b.end_for(loop, [v for row in carried for v in row]), len(rows))
        while done < vectors:
            count = min(parts, vectors - done)
            rows = self.advance(points, rows, lane + done * width, count)
            done += count
        if self.size % width:
            rows = self.tail(points, rows, done * width)
        return rows

    def advance(self, points: list[Point], rows: Rows, index: Lin, count: int, mask: SSAValue | None = None) -> Rows:
        """The next `count` vectors of each point, one for each of its first accumulators."""
        chosen = [n * self.parts + p for n in range(len(points)) for p in range(count)]
        at: list[Point] = []
        for point in points:
            for p in range(count):
                (moved,) = self.at([point], self.lane_dim, index + p * self.width)
                at.append(moved if mask is None else Point(moved.idx, mask))
        stepped = self.step(at, [rows[n] for n in chosen])
        result = list(rows)
        for n, row in zip(chosen, stepped, strict=True):
            if mask is not None:
                row = [self.b.select(mask, new, old) for new, old in zip(row, rows[n], strict=True)]
            result[n] = row
        return result

    def tail(self, points: list[Point], rows: Rows, done: int) -> Rows:
        """The last, incomplete vector: its missing lanes keep their accumulator."""
        rest = self.size - done
        lane = self.ev.lane
        assert lane is not None
        mask = self.b.vector_constant([int(n < rest) for n in range(self.width)], i1, self.width)
        return self.advance(points, rows, Lin.of(lane) + done, 1, mask)

    def fold(self, rows: Rows) -> list[SSAValue]:
        """One row from the accumulators of a point, pairwise."""
        while len(rows) > 1:
            paired = [self.merge(rows[n], rows[n + 1]) for n in range(0, len(rows) - 1, 2)]
            rows = paired + rows[2 * len(paired) :]
        return rows[0]

    def merge(self, a: Sequence[SSAValue], b: Sequence[SSAValue]) -> list[SSAValue]:
        split = self.split
        if split.combiners is not None:
            return [self.b.binary(combiner.op, x, y) for combiner, x, y in zip(split.combiners, a, b, strict=True)]
        if split.index is not None:
            later = self.b.compare(2, b[split.index], a[split.index])
            a, b = (
                [self.b.select(later, y, x) for x, y in zip(a, b, strict=True)],
                [self.b.select(later, x, y) for x, y in zip(a, b, strict=True)],
            )
        body = BodyEvaluator(self.ev, self.generic, (), None)
        for values, names in ((a, split.accumulators), (b, split.leaves)):
            for value, name in zip(values, names, strict=True):
                body.env[name] = _wrap(self.ev, value)
        for op in split.ops:
            body.visit(op)
        return [self.ev.ssa(body.get(v)) for v in split.yields]

    def halves(self, row: Sequence[SSAValue], width: int) -> tuple[list[SSAValue], list[SSAValue]]:
        low = [shuffle(self.ev, v, v, range(width)) for v in row]
        high = [shuffle(self.ev, v, v, range(width, 2 * width)) for v in row]
        return low, high

    def scalar(self, value: SSAValue) -> SSAValue:
        if not lanes_of(value):
            return value
        properties = {"static_position": DenseArrayBase.from_list(i64, [0])}
        return self.b.emit(vector.ExtractOp, [value], element_of(value), properties, 0)


def _like(ev: Evaluator, value: SSAValue, old: SSAValue) -> SSAValue:
    """A new accumulator in the type of the old one (a body may ignore lanes, or round to bf16)."""
    if element_of(value) != element_of(old):
        value = ev.b.widen(value)
    return ev.b.broadcast(value, lanes_of(old))


def _unflatten(values: Sequence[SSAValue], rows: int) -> Rows:
    per_row = len(values) // rows
    return [list(values[n * per_row : (n + 1) * per_row]) for n in range(rows)]


def _product(sizes: Iterable[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count
