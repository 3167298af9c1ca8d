"""Emits the kernel of a blocked contraction: blocks, packing, register tiles, and what follows the sums.

Per workgroup: for its outer indices and lane blocks, pack the lanes of a block; for each row tile, pack its rows; for
each panel, sum in registers over the block's summed indices, one fused multiply-add per element in index order. A sum
that fits one block goes from registers into the epilogue (or through scratch, where the epilogue is long); a longer one
is kept in scratch between blocks. The order of additions depends on the sizes and the target alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from xdsl.dialects import arith as xarith
from xdsl.dialects import math, vector
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from tiree.codegen.common.builder import BF16, NO_FASTMATH, Buffer, element_of, lanes_of
from tiree.codegen.common.evaluate import Evaluator
from tiree.codegen.common.linear import ZERO, Lin
from tiree.codegen.common.points import Point
from tiree.codegen.common.reduce import initial_rows
from tiree.codegen.cpu.contraction_form import Contraction, widened
from tiree.codegen.cpu.contraction_loops import Lanes, Panels, SumIndex, SumLoops, lane_of
from tiree.codegen.cpu.contraction_pack import Block, Packer, Scratch, allocate
from tiree.codegen.cpu.contraction_pairs import broadcast_pair, pair_dot
from tiree.codegen.cpu.contraction_plan import BlockPlan, round_up
from tiree.codegen.cpu.emit import write_outputs
from tiree.codegen.cpu.nest import Nest, chunk_count, workgroup_coordinates
from tiree.codegen.cpu.strategy import Kernel
from tiree.support.cpu_target import TargetDescription

Indices = Sequence[tuple[int, Lin]]


class BlockKernel(Nest):
    """The loop nest: outer groups, the lane block, then row groups; `leaf` is what a row tile does."""

    def __init__(self, ev: Evaluator, c: Contraction, plan: BlockPlan, target: TargetDescription, masked: bool) -> None:
        super().__init__(ev, plan.loops, len(c.generic.loops), lambda _: None)
        self.c = c
        self.plan = plan
        self.has_fma = target.has_fma
        self.split = len(c.outer) + 1
        self.panels = Panels(ev, c, plan, masked)
        self.scratch = Scratch(c, plan)
        self.packer = Packer(ev, c, plan, self.scratch, self.panels)
        self.leaf: Callable[[list[list[Lin]]], None] = self.sum_tile
        self.fixed: Indices = ()
        self.lane_block = ZERO
        self.sums: Buffer | None = None
        if plan.blocked(c):
            self.sums = allocate(ev, c.element, self.local_rows() * self.pitch)
        elif plan.staged:
            rows = 1
            for tile in plan.tiles:
                rows *= tile
            self.sums = allocate(ev, c.element, rows * plan.panel)

    def emit_kernel(self) -> Kernel:
        self.coordinates = workgroup_coordinates(self.ev, self.loops)
        self.level(0, [])
        return Kernel(self.b, (chunk_count(self.loops), 1, 1), self.ev.tables)

    # Geometry ----------------------------------------------------------------------------------------------------

    @property
    def pitch(self) -> int:
        """Elements between rows of unfinished sums."""
        return round_up(min(self.plan.columns, self.c.size(self.c.lanes)), self.plan.width)

    def extents(self) -> list[int]:
        """Rows of each row loop in one workgroup."""
        found: list[int] = []
        for loop in self.loops[self.split :]:
            per_chunk = -(-loop.tiles // loop.chunks)
            found.append(min(loop.size, per_chunk * loop.tile))
        return found

    def local_rows(self) -> int:
        total = 1
        for extent in self.extents():
            total *= extent
        return total

    def sum_address(self, row: Indices, lanes: Lanes) -> Lin:
        """Where unfinished sums of a row are kept: rows count from the workgroup's first."""
        address = ZERO
        loops = self.loops[self.split :]
        for loop, extent, at, (_, index) in zip(
            loops, self.extents(), self.coordinates[self.split :], row, strict=True
        ):
            local = index - at * (-(-loop.tiles // loop.chunks) * loop.tile)
            address = address * extent + local
        return address * self.pitch + lanes.offset

    def row_indices(self, chosen: list[list[Lin]]) -> list[Indices]:
        """The row loops' indices of every row of a tile."""
        dims = [group[-1] for group in self.c.rows]
        return [list(zip(dims, indices, strict=True)) for indices in product(*chosen[self.split :])]

    def points(self, rows: Sequence[Indices], lanes: Lanes) -> list[Point]:
        """The elements of a tile as points of the generic's loops, row by row."""
        width = max(1, self.ev.width)
        first = self.lane_block * self.plan.columns + lanes.offset + lane_of(self.ev)
        found: list[Point] = []
        for row in rows:
            for n in range(lanes.count):
                idx = [ZERO] * self.rank
                for d, index in (*self.fixed, *row):
                    idx[d] = index
                idx[self.c.lanes[-1]] = first + n * width
                found.append(Point(tuple(idx), lanes.masks[n]))
        return found

    # Blocks ------------------------------------------------------------------------------------------------------

    def level(self, k: int, chosen: list[list[Lin]]) -> None:
        if k == self.split:
            self.lane_block = chosen[-1][0]
            self.fixed = [(g[-1], at[0]) for g, at in zip(self.c.outer, chosen[:-1], strict=True)]
            if self.plan.blocked(self.c):
                self.long_sums(chosen)
            else:
                first = self.plan.sums[0]
                self.pack(Block({first: ZERO}, self.c.generic.loops[first]))
                self.rows(chosen, self.sum_tile)
        else:
            super().level(k, chosen)

    def emit(self, chosen: list[list[Lin]], masks: Sequence[SSAValue | None]) -> None:
        del masks
        self.leaf(chosen)

    def rows(self, chosen: list[list[Lin]], leaf: Callable[[list[list[Lin]]], None]) -> None:
        self.leaf = leaf
        super().level(self.split, chosen)

    def pack(self, block: Block) -> None:
        self.block = block
        self.packer.pack_lanes(self.fixed, self.lane_block, block)

    def long_sums(self, chosen: list[list[Lin]]) -> None:
        """Sums of several blocks: start, add block by block, finish."""
        plan, sizes = self.plan, self.c.generic.loops
        self.rows(chosen, self.start_tile)

        def walk(k: int, base: dict[int, Lin]) -> None:
            d = plan.sums[k]
            if k < plan.lead:
                loop = self.b.begin_for(0, sizes[d], 1)
                walk(k + 1, {**base, d: Lin.of(loop.sym)})
                self.b.end_for(loop)
                return
            full, rest = divmod(sizes[d], plan.chunk)
            if full > 1:
                loop = self.b.begin_for(0, full * plan.chunk, plan.chunk)
                self.add_block(chosen, Block({**base, d: Lin.of(loop.sym)}, plan.chunk))
                self.b.end_for(loop)
            else:
                self.add_block(chosen, Block({**base, d: ZERO}, plan.chunk))
            if rest:
                self.add_block(chosen, Block({**base, d: Lin(full * plan.chunk)}, rest))

        walk(0, {})
        self.rows(chosen, self.finish_tile)

    def add_block(self, chosen: list[list[Lin]], block: Block) -> None:
        self.pack(block)
        self.rows(chosen, self.sum_tile)

    # Tiles -------------------------------------------------------------------------------------------------------

    def sum_tile(self, chosen: list[list[Lin]]) -> None:
        rows = self.row_indices(chosen)
        self.packer.pack_rows(self.fixed, rows, self.block)

        def body(lanes: Lanes) -> None:
            points = self.points(rows, lanes)
            if self.plan.blocked(self.c):
                assert self.sums is not None
                self.b.wrote(self.sums)
                width = max(1, self.ev.width)
                places = [self.sum_address(row, lanes) + n * width for row in rows for n in range(lanes.count)]
                sums = self.accumulate(rows, lanes, [self.load(self.sums, at) for at in places])
                for at, value in zip(places, sums, strict=True):
                    self.store(self.sums, at, value)
                return
            sums = self.accumulate(rows, lanes, self.initial(points))
            if self.plan.staged:
                self.stage(chosen, lanes, sums)
            else:
                self.write(points, sums)

        self.panels.run(self.lane_block, body)

    def initial(self, points: Sequence[Point]) -> list[SSAValue]:
        return [
            self.b.broadcast(widened(self.ev, row[0]), self.ev.width)
            for row in initial_rows(self.ev, self.c.generic, points)
        ]

    def load(self, buffer: Buffer, at: Lin) -> SSAValue:
        return self.b.load_vector(buffer, at, self.ev.width) if self.ev.width else self.b.load(buffer, at)

    def store(self, buffer: Buffer, at: Lin, value: SSAValue) -> None:
        if self.ev.width:
            self.b.store_vector(buffer, at, value)
        else:
            self.b.store(buffer, at, value)

    def write(self, points: Sequence[Point], sums: Sequence[SSAValue]) -> None:
        """Hands the finished sums to the epilogue and stores what it makes of them."""
        order = self.c.generic.output_map(0).bare_dims
        placed: list[Point] = []
        for point, value in zip(points, sums, strict=True):
            at = Point(tuple(point.idx[d] for d in order), point.mask)
            self.ev.provide(self.c.node, at, self.rounded(value))
            idx = [ZERO] * len(self.c.stage.domain)
            for d, dim in enumerate(self.c.domain):
                if dim is not None:
                    idx[dim] = point.idx[d]
            placed.append(Point(tuple(idx), point.mask))
        write_outputs(self.ev, self.c.stage, placed)

    def rounded(self, value: SSAValue) -> SSAValue:
        """A sum in the type that the program sees; bf16 stays f32 until it is stored."""
        element = self.c.node.element
        if element in (BF16, element_of(value)):
            return value
        return self.b.cast(xarith.TruncFOp, value, element)

    # Tiles in scratch --------------------------------------------------------------------------------------------

    def each_row(self, chosen: list[list[Lin]], body: Callable[[Indices, Lin], None]) -> None:
        """A loop over the rows of a tile; `body` gets the row's indices and its number."""
        dims = [group[-1] for group in self.c.rows]
        tiles = chosen[self.split :]

        def nest(k: int, row: Indices, number: Lin) -> None:
            if k == len(tiles):
                body(row, number)
                return
            count = len(tiles[k])
            loop = self.b.begin_for(0, count, 1) if count > 1 else None
            step = Lin.of(loop.sym) if loop is not None else ZERO
            nest(k + 1, [*row, (dims[k], tiles[k][0] + step)], number * count + step)
            if loop is not None:
                self.b.end_for(loop)

        nest(0, [], ZERO)

    def start_tile(self, chosen: list[list[Lin]]) -> None:
        sums = self.sums
        assert sums is not None

        def each(row: Indices, _: Lin) -> None:
            def body(lanes: Lanes) -> None:
                at = self.sum_address(row, lanes)
                for n, value in enumerate(self.initial(self.points([row], lanes))):
                    self.store(sums, at + n * max(1, self.ev.width), value)

            self.panels.run(self.lane_block, body)

        self.each_row(chosen, each)
        self.b.wrote(sums)

    def finish_tile(self, chosen: list[list[Lin]]) -> None:
        sums = self.sums
        assert sums is not None
        self.b.wrote(sums)

        def each(row: Indices, _: Lin) -> None:
            def body(lanes: Lanes) -> None:
                at = self.sum_address(row, lanes)
                width = max(1, self.ev.width)
                self.write(self.points([row], lanes), [self.load(sums, at + n * width) for n in range(lanes.count)])

            self.panels.run(self.lane_block, body)

        self.each_row(chosen, each)

    def stage(self, chosen: list[list[Lin]], lanes: Lanes, values: Sequence[SSAValue]) -> None:
        """Finished sums through scratch: the epilogue is emitted once for a row instead of for every one."""
        sums = self.sums
        assert sums is not None
        width = max(1, self.ev.width)
        for n, value in enumerate(values):
            row, at = divmod(n, lanes.count)
            self.store(sums, Lin(row * self.plan.panel + at * width), value)
        self.b.wrote(sums)

        def each(row: Indices, number: Lin) -> None:
            found = [self.load(sums, number * self.plan.panel + n * width) for n in range(lanes.count)]
            self.write(self.points([row], lanes), found)

        self.each_row(chosen, each)

    # Registers ---------------------------------------------------------------------------------------------------

    def accumulate(self, rows: Sequence[Indices], lanes: Lanes, sums: Sequence[SSAValue]) -> list[SSAValue]:
        """Adds the products of the block at work to `sums` (row by row)."""
        factors = () if self.plan.row_packing is not None else (self.c.row_factor,)
        loops = self.packer.loops(self.block, *factors)
        width = max(1, self.ev.width)
        if self.plan.pairs:
            return self.accumulate_pairs(rows, lanes, sums, loops)

        def step(indices: list[SumIndex], carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            current = list(carried)
            for sum in indices:
                packed = [
                    self.load(self.packer.lane_buffer, self.scratch.lane_address(lanes, n, width, sum.flat))
                    for n in range(lanes.count)
                ]
                for r, value in enumerate(self.row_values(rows, sum)):
                    row = self.b.broadcast(value, self.ev.width)
                    for n, lane in enumerate(packed):
                        at = r * lanes.count + n
                        current[at] = self.multiply_add(row, lane, current[at])
            return current

        unroll = 1 if len(sums) >= 16 else 2 if len(sums) >= 8 else 4
        return list(loops.run(unroll, list(sums), step))

    def accumulate_pairs(
        self, rows: Sequence[Indices], lanes: Lanes, sums: Sequence[SSAValue], loops: SumLoops
    ) -> list[SSAValue]:
        """As `accumulate`, two summed indices per instruction."""
        width, rows_packed = self.ev.width, self.packer.row_buffer
        assert rows_packed is not None

        def step(indices: list[SumIndex], carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            current = list(carried)
            for sum in indices[::2]:
                packed = [
                    self.b.load_vector(
                        self.packer.lane_buffer, self.scratch.lane_address(lanes, n, width, sum.flat), 2 * width
                    )
                    for n in range(lanes.count)
                ]
                for r in range(len(rows)):
                    pair = broadcast_pair(self.b, rows_packed, self.scratch.row_address(r, sum.flat), width)
                    for n, lane in enumerate(packed):
                        at = r * lanes.count + n
                        current[at] = pair_dot(self.b, current[at], pair, lane)
            return current

        return list(loops.run(2 if len(sums) >= 16 else 4, list(sums), step))

    def row_values(self, rows: Sequence[Indices], sum: SumIndex) -> list[SSAValue]:
        """The row factor of every row at a summed index: scalars."""
        buffer = self.packer.row_buffer
        if buffer is not None:
            return [self.b.load(buffer, self.scratch.row_address(r, sum.flat)) for r in range(len(rows))]
        points = [self.packer.point([*self.fixed, *row], sum) for row in rows]
        return self.c.row_factor.evaluate(self.ev, points)

    def multiply_add(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        if not isinstance(element_of(c), AnyFloat):
            return self.b.binary(xarith.AddiOp, c, self.b.binary(xarith.MuliOp, a, b))
        if not self.has_fma:
            return self.b.binary(xarith.AddfOp, c, self.b.binary(xarith.MulfOp, a, b))
        if lanes_of(c):
            return self.b.emit(vector.FMAOp, [a, b, c], c.type)
        return self.b.emit(math.FmaOp, [a, b, c], c.type, NO_FASTMATH)
