"""Reductions of unknown length with lanes along the reduced dimension: sums of rows and their kin.

Several vectors are under way at once; the last one is masked. They are combined in a fixed order, so the result does
not depend on how work was distributed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Operation, SSAValue

from tiree.codegen.common.builder import I32, I64, OpenLoop, element_of, lanes_of
from tiree.codegen.common.combine import Combiner, combiners_of
from tiree.codegen.common.linear import Lin
from tiree.codegen.common.reading import shuffle
from tiree.support.typed import tensor_type

if TYPE_CHECKING:
    from tiree.codegen.cpu.dynamic_evaluator import DynamicEvaluator

Row = list[SSAValue]
"""The accumulators of one point."""
_VECTORS = 4
_SLT = 2


def splits(ev: DynamicEvaluator, op: Operation) -> tuple[Combiner, ...] | None:
    """How reduction `op` may be split over lanes along its last reduced loop; None where it must run in order, or where
    the elements along it do not lie side by side."""
    from tiree.codegen.cpu.dynamic_evaluator import maps_of, reduction_dims

    last = reduction_dims(op)[-1]
    inputs = len(op.operands) - len(op.results)
    block = op.regions[0].block
    spanning = False
    if not ev.row_lanes:
        return None
    for number, map in enumerate(maps_of(op)[:inputs]):
        if block.args[number].first_use is None:
            continue
        dims = map.plain_dims
        if None in dims or last in dims[:-1]:
            return None
        spanning = spanning or (bool(dims) and dims[-1] == last and len(set(dims)) == map.num_dims)
    if not spanning or any(inner.name == "tensor.extract" for inner in block.walk()):
        return None
    size = ev.extent(op, last)
    return None if isinstance(size, int) and size < ev.row_lanes else combiners_of(block, inputs)


def reduce_lanes(
    ev: DynamicEvaluator,
    op: Operation,
    loops: list[Lin],
    reductions: Sequence[int],
    inits: Row,
    combiners: Sequence[Combiner],
) -> Row:
    """The accumulators at one point, from the initial values on."""
    saved = ev.width, ev.lane, ev.mask, ev.tail
    lanes = _Lanes(ev, op, reductions, inits, combiners)
    row = lanes.run(loops)
    ev.width, ev.lane, ev.mask, ev.tail = saved
    return lanes.finish(row)


class _Lanes:
    def __init__(
        self,
        ev: DynamicEvaluator,
        op: Operation,
        reductions: Sequence[int],
        inits: Row,
        combiners: Sequence[Combiner],
    ) -> None:
        self.ev, self.b = ev, ev.b
        self.op = op
        self.others, self.last = reductions[:-1], reductions[-1]
        self.inits = inits
        self.combiners = combiners
        self.elements = [tensor_type(result).element_type for result in op.results]
        self.width = ev.row_lanes
        self.high = ev.extent(op, self.last)

    def run(self, loops: list[Lin]) -> Row:
        """The combination of all elements as scalars, in the first lane."""
        ev = self.ev
        sizes = [ev.extent(self.op, dim) for dim in self.others]
        ev.width, ev.lane, ev.mask, ev.tail = self.width, self.b.lane_sym(self.width), None, None
        row = self.outer(list(zip(self.others, sizes, strict=True)), list(loops), self.start())
        while ev.width > 1:
            ev.width //= 2
            half = ev.width
            low = [shuffle(ev, v, v, range(half)) for v in row]
            high = [shuffle(ev, v, v, range(half, 2 * half)) for v in row]
            row = self.merge(low, high)
        return [self.scalar(value) for value in row]

    def start(self) -> Row:
        """Accumulators before any element: neutral, or the initial value where repeating it is harmless."""
        return [
            self.b.broadcast(init, self.width)
            if combiner.neutral is None
            else self.b.splat(combiner.neutral, init.type, self.width)
            for combiner, init in zip(self.combiners, self.inits, strict=True)
        ]

    def outer(self, dims: list[tuple[int, int | SSAValue]], at: list[Lin], row: Row) -> Row:
        """The loops over the other reduced dimensions."""
        if not dims:
            return self.line(at, row)
        (dim, size), rest = dims[0], dims[1:]
        loop = self.ev.open_loop(0, size, 1, row)
        inner = list(at)
        inner[dim] = Lin.of(loop.sym)
        return self.closed(loop, self.outer(rest, inner, list(loop.args)))

    def line(self, at: list[Lin], row: Row) -> Row:
        """All of the last dimension: several vectors at a time, then one by one, masked."""
        ev, b = self.ev, self.b
        assert ev.lane is not None
        lane, count = Lin.of(ev.lane), len(row)
        whole = ev.whole_steps(0, self.high, self.width * _VECTORS)
        loop = ev.open_loop(0, whole, self.width * _VECTORS, [*row, *self.start() * (_VECTORS - 1)])
        given = [list(loop.args[n * count : (n + 1) * count]) for n in range(_VECTORS)]
        points = [self.moved(at, Lin.of(loop.sym) + lane + n * self.width) for n in range(_VECTORS)]
        flat = self.closed(loop, [v for row in self.step(points, given) for v in row])
        parts = [flat[n * count : (n + 1) * count] for n in range(_VECTORS)]
        row = self.merge(self.merge(parts[0], parts[1]), self.merge(parts[2], parts[3]))
        if whole is self.high:
            return row
        loop = ev.open_loop(whole, self.high, self.width, row)
        index = Lin.of(loop.sym) + lane
        old = list(loop.args)
        if ev.divides(self.width, self.high):
            (new,) = self.step([self.moved(at, index)], [old])
            return self.closed(loop, new)
        type = I32 if ev.most(self.high) + self.width < 1 << 31 else I64
        limit = b.broadcast(b.convert(ev.index_of(self.high), type), self.width)
        ev.mask = ev.tail = b.compare(_SLT, b.integers(index, type, self.width), limit)
        (new,) = self.step([self.moved(at, index)], [old])
        row = [b.select(ev.mask, one, other) for one, other in zip(new, old, strict=True)]
        ev.mask = ev.tail = None
        return self.closed(loop, row)

    def closed(self, loop: OpenLoop, row: Row) -> Row:
        return [*self.b.end_for(loop, row)]

    def moved(self, at: list[Lin], index: Lin) -> list[Lin]:
        return [index if dim == self.last else old for dim, old in enumerate(at)]

    def step(self, points: list[list[Lin]], rows: list[Row]) -> list[Row]:
        ev = self.ev
        return [
            [ev.to_accumulator(value, element) for value, element in zip(row, self.elements, strict=True)]
            for row in ev.bodies_at(self.op, points, rows)
        ]

    def merge(self, left: Row, right: Row) -> Row:
        ev = self.ev
        merged: Row = []
        for combiner, a, b, element in zip(self.combiners, left, right, self.elements, strict=True):
            value = self.b.binary(combiner.op, self.b.widen(a), self.b.widen(b))
            merged.append(ev.to_accumulator(value, element))
        return merged

    def finish(self, row: Row) -> Row:
        """The initial values, where they are not in yet."""
        whole = self.merge(self.inits, row)
        return [
            value if combiner.neutral is None else total
            for combiner, value, total in zip(self.combiners, row, whole, strict=True)
        ]

    def scalar(self, value: SSAValue) -> SSAValue:
        if not lanes_of(value):
            return value
        properties = {"static_position": DenseArrayBase.from_list(i64, [0])}
        return self.b.emit(vector.ExtractOp, [value], element_of(value), properties, 0)


def reductions_of(root: SSAValue) -> list[Operation]:
    """The reductions that a value is made of, its own included, in program order."""
    from tiree.codegen.cpu.dynamic_evaluator import reduction_dims

    found: dict[Operation, None] = {}
    work = [root.owner]
    while work:
        op = work.pop()
        if isinstance(op, Operation) and op.name == "linalg.generic" and op not in found:
            found[op] = None
            work += [operand.owner for operand in op.operands]
    block = next((op.parent for op in found), None)
    return [op for op in block.ops if op in found and reduction_dims(op)] if block is not None else []


def row_reductions(root: SSAValue) -> list[Operation]:
    """The reductions that are made once for a row and serve all of its elements, or other reductions of it.

    They all have the same loops (`flow` sees to it), and none is the root itself. One reduction before a root of as
    many dimensions is made where it is read.
    """
    reductions = reductions_of(root)
    if len(reductions) == 1 and _rank(reductions[0]) == len(tensor_type(root).get_shape()):
        return []
    return [op for op in reductions if op is not root.owner]


def runs_along_rows(ev: DynamicEvaluator, root: SSAValue) -> bool:
    """Whether lanes run inside the reductions that make each element of `root`, and not over its elements."""
    rank = len(tensor_type(root).get_shape())
    return any(_rank(op) == rank and splits(ev, op) is not None for op in reductions_of(root))


def _rank(op: Operation) -> int:
    return len(tensor_type(op.results[0]).get_shape())
