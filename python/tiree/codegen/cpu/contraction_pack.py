"""Packing of a contraction's factors into scratch: converted, padded, and in the order in which the kernel reads them.

Packed lanes lie as panel, summed index, lane (or summed index, column where `plan.wide`), so that the kernel reads one
stream; packed rows keep each row's summed indices together, or interleave the rows where memory does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import vector
from xdsl.dialects.arith import MinSIOp
from xdsl.dialects.builtin import UnitAttr, i1
from xdsl.ir import Attribute, SSAValue

from tiree.codegen.common.builder import I32, INDEX, Buffer
from tiree.codegen.common.evaluate import Evaluator
from tiree.codegen.common.graph import bits_of
from tiree.codegen.common.linear import ZERO, Lin
from tiree.codegen.common.points import Point
from tiree.codegen.common.reading import transpose
from tiree.codegen.cpu.contraction_form import Contraction, Factor
from tiree.codegen.cpu.contraction_loops import Lanes, Panels, SumIndex, SumLoop, SumLoops, Vectors, lane_of
from tiree.codegen.cpu.contraction_pairs import I16, interleave, narrow_values
from tiree.codegen.cpu.contraction_plan import BlockPlan, round_up
from tiree.dialects.arith import constant_of
from tiree.dialects.dense import DenseAttr

ROW_PADDING_BYTES = 64
"""Keeps packed rows from falling on the same cache sets."""


@dataclass
class Block:
    """The block of summed indices at work: where it starts along each summed loop, and its steps along the first."""

    base: dict[int, Lin]
    steps: int


class Scratch:
    """Sizes and buffers of a kernel's scratch."""

    def __init__(self, c: Contraction, plan: BlockPlan) -> None:
        self.c = c
        self.plan = plan
        self.element = I16 if plan.pairs else c.element
        self.step = 2 if plan.pairs else 1
        """Packed numbers per lane."""
        self.depth = plan.depth(c)
        columns = min(plan.columns, c.size(c.lanes))
        self.pitch = round_up(columns, plan.width) if plan.wide else plan.panel
        self.lane_size = self.depth * (self.pitch if plan.wide else round_up(columns, plan.panel))
        self.row_stride = 0
        self.row_size = 0
        if plan.row_packing is not None:
            rows = 1
            for tile in plan.tiles:
                rows *= tile
            if plan.row_packing.along_rows:
                self.row_stride = round_up(rows, plan.width)
                self.row_size = self.row_stride * self.depth
            else:
                self.row_stride = round_up(self.depth, plan.width) + ROW_PADDING_BYTES * 8 // bits_of(self.element)
                self.row_size = self.row_stride * rows

    def bytes(self) -> int:
        return (self.lane_size + self.row_size) * bits_of(self.element) // 8

    def lane_address(self, lanes: Lanes, vector: int, width: int, flat: Lin) -> Lin:
        inside = flat * self.pitch + (lanes.within + vector * width) * self.step
        return inside + (lanes.panel * self.step if self.plan.wide else lanes.panel * self.depth)

    def row_address(self, row: int, flat: Lin) -> Lin:
        packing = self.plan.row_packing
        assert packing is not None
        if packing.along_rows:
            return flat * self.row_stride + row
        return flat + row * self.row_stride


def allocate(ev: Evaluator, element: Attribute, size: int) -> Buffer:
    return ev.b.alloca(element, size, {"tiree.workgroup_memory": UnitAttr()})


class Packer:
    """Emits the copies of a block's lanes and of a tile's rows."""

    def __init__(self, ev: Evaluator, c: Contraction, plan: BlockPlan, scratch: Scratch, panels: Panels) -> None:
        self.ev, self.b = ev, ev.b
        self.c, self.plan, self.scratch, self.panels = c, plan, scratch, panels
        self.lane_buffer = allocate(ev, scratch.element, scratch.lane_size)
        self.row_buffer = allocate(ev, scratch.element, scratch.row_size) if scratch.row_size else None

    def loops(self, block: Block, *factors: Factor) -> SumLoops:
        return SumLoops(self.ev, self.c, self.plan, factors, block.base, block.steps)

    def point(self, fixed: Sequence[tuple[int, Lin]], sums: SumIndex, mask: SSAValue | None = None) -> Point:
        idx = [ZERO] * len(self.c.generic.loops)
        for d, index in (*fixed, *sums.loops):
            idx[d] = index
        return Point(tuple(idx), mask)

    # Lanes -------------------------------------------------------------------------------------------------------

    def pack_lanes(self, fixed: Sequence[tuple[int, Lin]], lane_block: Lin, block: Block) -> None:
        """Copies the lane factor of one lane block; `fixed` holds the indices of the outer loops."""
        if self.plan.wide:
            self._pack_wide(fixed, lane_block, block)
        else:
            first = lane_block * self.plan.columns

            def body(lanes: Lanes) -> None:
                offset = first + lanes.offset + lane_of(self.ev)
                self._copy_lanes([*fixed, (self.c.lanes[-1], offset)], lanes, block)

            self.panels.run(lane_block, body)
        self.b.wrote(self.lane_buffer)

    def _pack_wide(self, fixed: Sequence[tuple[int, Lin]], lane_block: Lin, block: Block) -> None:
        """Lanes that the factor reads dim by dim: the loops of the lane group one inside the other."""
        *outer, inner = self.c.lanes
        size = self.c.generic.loops[inner]
        rows = self.plan.columns // size
        width = self.plan.width
        loop = self.b.begin_for(0, rows, 1) if rows > 1 else None
        row = Lin.of(loop.sym) if loop is not None else ZERO
        indices: list[tuple[int, Lin]] = []
        number = lane_block * rows + row
        for d in reversed(outer[1:]):
            number, index = self.ev.divide(number, self.c.generic.loops[d])
            indices.append((d, index))
        indices.append((outer[0], number))

        def body(lanes: Lanes) -> None:
            index = (inner, lanes.offset + lane_of(self.ev))
            placed = Lanes(lanes.panel + row * size, lanes.within, lanes.count, lanes.masks)
            self._copy_lanes([*fixed, *indices, index], placed, block)

        # Paddings are looked at where they can occur: in the first and the last vector of a run.
        full, rest = divmod(size, width)
        first, last = 0, full
        if inner in self.c.lane_factor.pinned and full:
            first, last = 1, max(1, full if rest else full - 1)
            self.panels.vectors(ZERO, 0, 1, width, 0, body)
        if last - first == 1:
            self.panels.vectors(Lin(first * width), 0, 1, width, 0, body)
        elif last > first:
            vectors = self.b.begin_for(first * width, last * width, width)
            self.panels.vectors(Lin.of(vectors.sym), 0, 1, width, 0, body)
            self.b.end_for(vectors)
        if last < full:
            self.panels.vectors(Lin(last * width), 0, 1, width, 0, body)
        if rest:
            self.panels.incomplete(Lin(full * width), rest, body)
        if loop is not None:
            self.b.end_for(loop)

    def _copy_lanes(self, fixed: Sequence[tuple[int, Lin]], lanes: Lanes, block: Block) -> None:
        """All summed indices of the vectors of `lanes`; `fixed` ends with the lane index of the first vector."""
        ev, factor = self.ev, self.c.lane_factor
        width = max(1, ev.width)
        *fixed, (dim, first) = fixed
        loops = self.loops(block, factor)
        inner = loops.inner
        sideways = factor.contiguous(inner.dims[-1]) and not factor.contiguous(dim)
        if sideways and ev.width and not self.plan.wide and inner.size >= width * self.scratch.step:
            loops.outside(lambda outer: self._copy_sideways([*fixed, (dim, first)], lanes, inner, outer))
            return
        if not self.plan.pairs:
            loops.order(lambda d: self._reach(factor, d))

        def step(sums: list[SumIndex], carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            places: list[tuple[Point, Lin]] = []
            for n in range(lanes.count):
                for s in sums:
                    point = self.point([*fixed, (dim, first + n * width)], s, lanes.masks[n])
                    places.append((point, self.scratch.lane_address(lanes, n, width, s.flat)))
            values = self.values(factor, [p for p, _ in places])
            if self.plan.pairs:
                values = [interleave(ev, a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
            for value, (point, address) in zip(values, places[:: self.scratch.step], strict=True):
                self._put(self.lane_buffer, address, value, point.mask)
            return carried

        loops.run(max(self.scratch.step, 4 // lanes.count), (), step)

    def _copy_sideways(self, fixed: Sequence[tuple[int, Lin]], lanes: Lanes, group: SumLoop, outer: SumIndex) -> None:
        """Lanes that memory keeps apart: vectors along the summed index, turned in square tiles.

        The last tile overlaps the one before instead of being smaller; lanes that do not exist repeat the last one.
        """
        *fixed, (dim, first) = fixed
        ev, b, width = self.ev, self.b, self.ev.width
        first = first - lane_of(ev)
        size = width * self.scratch.step

        last = self.valid_lanes(lanes.masks[-1]) - 1

        def tile(at: Lin, n: Lin, last: int) -> None:
            with Vectors(ev, size) as along:
                index = outer.at(group, at + along)
                start = first + n * width
                points = [self.point([*fixed, (dim, start + min(r, last))], index) for r in range(width)]
                rows = self.values(self.c.lane_factor, points)
            if self.plan.pairs:
                rows = [b.emit(vector.BitcastOp, [row], b.vector_type(I32, width)) for row in rows]
            for k, column in enumerate(transpose(ev, rows)):
                if self.plan.pairs:
                    column = b.emit(vector.BitcastOp, [column], b.vector_type(I16, size))
                place = self.scratch.lane_address(lanes, 0, width, outer.at(group, at + k * self.scratch.step).flat)
                b.store_vector(self.lane_buffer, place + n * size, column)

        def tiles(n: Lin, last: int) -> None:
            if group.size == size:
                tile(ZERO, n, last)
                return
            loop = b.begin_for(0, group.size, size)
            at = Lin.of(loop.sym)
            if group.size % size:
                least = b.emit(MinSIOp, [b.index(at), b.constant(group.size - size, INDEX)], INDEX)
                at = b.opaque(least, 0, group.size - size)
            tile(at, n, last)
            b.end_for(loop)

        whole = lanes.count if last == width - 1 else lanes.count - 1
        if whole > 1:
            loop = b.begin_for(0, whole, 1)
            tiles(Lin.of(loop.sym), width - 1)
            b.end_for(loop)
        elif whole:
            tiles(ZERO, width - 1)
        if whole < lanes.count:
            tiles(Lin(whole), last)

    def valid_lanes(self, mask: SSAValue | None) -> int:
        """How many lanes a constant mask lets through."""
        if mask is None:
            return self.ev.width
        constant = constant_of(mask)
        assert isinstance(constant, DenseAttr)
        return sum(constant.buffer)

    def values(self, factor: Factor, points: Sequence[Point]) -> list[SSAValue]:
        """The factor as it is packed."""
        if not self.plan.pairs:
            return factor.evaluate(self.ev, points)
        return narrow_values(self.ev, factor, points)

    @staticmethod
    def _reach(factor: Factor, loop: int) -> float:
        """The place of a summed loop in a copy: those that conditions look at go outside, long strides before short."""
        if loop in factor.pinned:
            return -math.inf
        return -max((abs(s) for s in factor.strides(loop) if s is not None), default=0)

    def _put(self, buffer: Buffer, address: Lin, value: SSAValue, mask: SSAValue | None = None) -> None:
        """A vector (or scalar) to scratch. Panels have room for whole vectors, other places for the masked lanes."""
        if not self.ev.width:
            self.b.store(buffer, address, value)
            return
        value = self.b.broadcast(value, self.ev.width)
        self.b.store_vector(buffer, address, value, mask if self.plan.wide else None)

    # Rows --------------------------------------------------------------------------------------------------------

    def pack_rows(
        self, fixed: Sequence[tuple[int, Lin]], rows: Sequence[Sequence[tuple[int, Lin]]], block: Block
    ) -> None:
        """Copies the row factor of one tile: `rows` are the indices of the row loops of each row."""
        packing, buffer = self.plan.row_packing, self.row_buffer
        if packing is None or buffer is None:
            return
        if packing.along_rows:
            self._interleave(fixed, rows, block, buffer)
        else:
            self._copy_rows(fixed, rows, block, buffer)
        self.b.wrote(buffer)

    def _interleave(
        self, fixed: Sequence[tuple[int, Lin]], rows: Sequence[Sequence[tuple[int, Lin]]], block: Block, buffer: Buffer
    ) -> None:
        """Vectors along the last row loop."""
        factor = self.c.row_factor
        *before, (dim, start) = rows[0]

        def run(at: int, width: int, count: int) -> None:
            with Vectors(self.ev, width) as lane:

                def step(sums: list[SumIndex], carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
                    places = [(s, n) for s in sums for n in range(count)]
                    points = [
                        self.point([*fixed, *before, (dim, start + lane + (at + n * width))], s) for s, n in places
                    ]
                    for value, (s, n) in zip(factor.evaluate(self.ev, points), places, strict=True):
                        self._put(buffer, self.scratch.row_address(at + n * width, s.flat), value)
                    return carried

                self.loops(block, factor).run(4, (), step)

        at, width = 0, self.plan.width
        if len(rows) >= width:
            at = len(rows) // width * width
            run(0, width, at // width)
        while at < len(rows):
            width = min(width, 1 << ((len(rows) - at).bit_length() - 1))
            run(at, width, 1)
            at += width

    def _copy_rows(
        self, fixed: Sequence[tuple[int, Lin]], rows: Sequence[Sequence[tuple[int, Lin]]], block: Block, buffer: Buffer
    ) -> None:
        """Vectors along the innermost summed loop; the loops outside of it are walked one by one."""
        factor = self.c.row_factor
        loops = self.loops(block, factor)
        group = loops.inner

        def store(sums: SumIndex, mask: SSAValue | None) -> None:
            points = [self.point([*fixed, *row], sums, mask) for row in rows]
            for r, value in enumerate(self.values(factor, points)):
                address = self.scratch.row_address(r, sums.flat - lane_of(self.ev))
                if not self.ev.width:
                    self.b.store(buffer, address, value)
                else:
                    self.b.store_vector(buffer, address, self.b.broadcast(value, self.ev.width), mask)

        def inner(at: Lin, width: int, tail: int, outer: SumIndex) -> None:
            with Vectors(self.ev, width) as lane:
                mask = None
                if tail:
                    mask = self.b.vector_constant([int(n < tail) for n in range(width)], i1, width)
                store(outer.at(group, at + lane), mask)

        loops.outside(lambda outer: self._pieces(group.size, lambda at, width, tail: inner(at, width, tail, outer)))

    def _pieces(self, size: int, body: Callable[[Lin, int, int], None]) -> None:
        """`body(start, width, tail)` over a loop of vectors and its remainder."""
        width = self.plan.width
        full, rest = divmod(size, width)
        if full > 1:
            loop = self.b.begin_for(0, full * width, width)
            body(Lin.of(loop.sym), width, 0)
            self.b.end_for(loop)
        elif full:
            body(ZERO, width, 0)
        if rest & (rest - 1) and self.panels.masked:
            body(Lin(full * width), width, rest)
            return
        at, piece = full * width, width
        while rest:
            piece //= 2
            if rest >= piece:
                body(Lin(at), piece, 0)
                at += piece
                rest -= piece
