"""Emits the stages of a schedule into a kernel: independent stages side by side, or all stages row by row."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, UnitAttr
from xdsl.ir import Attribute

from tiree.codegen.common.builder import INDEX, KernelBuilder
from tiree.codegen.common.evaluate import Evaluator
from tiree.codegen.common.graph import DispatchInfo, ResultNode, storage_element
from tiree.codegen.common.linear import Lin
from tiree.codegen.common.points import Point, Scratch
from tiree.codegen.common.views import element_count, row_major_strides
from tiree.codegen.common.writing import Write, write_all
from tiree.codegen.cpu.nest import Loop, Nest, chunk_count, distribute, distribute_tiles
from tiree.codegen.cpu.schedule import Schedule
from tiree.codegen.cpu.shape import StageShape
from tiree.codegen.cpu.staged_nest import StagedNest, staged_contraction
from tiree.codegen.cpu.stages import Output, Stage
from tiree.codegen.cpu.strategy import Kernel
from tiree.dialects.hal_executable import InterfaceWorkgroupIDOp
from tiree.support.cpu_target import TargetDescription

STACK_SCRATCH_BYTES = 16384
"""Scratch up to this size is on the stack, or up to half of the stack that kernels may use if that is less."""


def new_evaluator(info: DispatchInfo, target: TargetDescription, fuse: bool = False) -> Evaluator:
    ev = Evaluator(KernelBuilder(), info)
    ev.tuning.fuse_multiply_add = fuse
    ev.tuning.mask_registers = target.has_avx512
    ev.tuning.stack_scratch = min(STACK_SCRATCH_BYTES, target.stack_limit // 2)
    return ev


def apply_shape(ev: Evaluator, shape: StageShape) -> None:
    ev.tuning.reductions.update(shape.reductions)
    ev.tuning.unroll_limit = shape.unroll_limit
    ev.tuning.loop_unroll = shape.loop_unroll


def write_outputs(
    ev: Evaluator, stage: Stage, points: Sequence[Point], pending: dict[ResultNode, Scratch] | None = None
) -> None:
    """Computes the stage's outputs at these points of its domain and stores them.

    An output of a stage without loops, bound for scratch, stays in registers: evaluation remembers it.
    """
    computed = [
        (
            output,
            at := [Point(tuple(p.idx[d] for d in output.order), p.mask) for p in points],
            ev.values(output.node, at),
        )
        for output in stage.outputs
    ]
    writes: list[Write] = []
    for output, at, values in computed:
        if output.ref is not None:
            assert output.view is not None
            buffer, strides, base = ev.buffer(output.ref), output.view.strides, Lin(output.view.base)
            for value, factor in output.view.dynamic:
                base = base + ev.outer_index(value) * factor
        else:
            assert isinstance(output.node, ResultNode)
            scratch = pending.get(output.node) if pending is not None else None
            if scratch is None:
                continue
            buffer, base, strides = scratch.buffer, scratch.base, scratch.strides
        for point, value in zip(at, values, strict=True):
            address = base
            for index, stride in zip(point.idx, strides, strict=True):
                address = address + index * stride
            writes.append(Write(buffer, address, value, output.node.element, point.mask))
    write_all(ev, writes)
    for buffer in dict.fromkeys(write.buffer for write in writes):
        ev.b.wrote(buffer)


def emit_flat(ev: Evaluator, stages: Sequence[tuple[Stage, StageShape]], workgroups: int) -> Kernel:
    """Independent stages, each distributed over the grid on its own."""
    nests: list[tuple[Nest, StageShape]] = []
    for stage, shape in stages:

        def body(points: list[Point], stage: Stage = stage) -> None:
            write_outputs(ev, stage, points)

        loops = distribute_tiles(shape.loops, workgroups) if shape.transposed else distribute(shape.loops, workgroups)
        c = staged_contraction(stage, loops)
        if c is None:
            nest = Nest(ev, loops, len(stage.domain), body, shape.masked_tail, one_tail=shape.one_tail)
        else:
            nest = StagedNest(ev, loops, len(stage.domain), body, shape.masked_tail, shape.one_tail, c)
        nests.append((nest, shape))
    grid = max([chunk_count(nest.loops) for nest, _ in nests], default=1)
    for nest, shape in nests:
        apply_shape(ev, shape)
        if chunk_count(nest.loops) == grid:
            nest.run()
        else:
            _run_in_first(ev, nest)
    return Kernel(ev.b, (grid, 1, 1), ev.tables)


def _run_in_first(ev: Evaluator, nest: Nest) -> None:
    """A nest with fewer chunks than the grid has workgroups: the rest of them skip it."""
    properties: dict[str, Attribute] = {"dimension": IntegerAttr(0, IndexType())}
    id = ev.b.emit(InterfaceWorkgroupIDOp, [], INDEX, properties, 0)
    condition = ev.b.compare(2, id, ev.b.constant(chunk_count(nest.loops), INDEX))
    ev.b.begin_if()
    nest.run()
    ev.b.finish_if(condition, ev.b.end_side(), None)


class RowEmitter:
    """Runs all stages of a schedule for a row (or a tile of `lane` rows in vectors) at a time.

    `row_loops` run over `plan.row_sizes`; the last may carry vector lanes, and then scratch holds `block` rows side by
    side and the stages' own loops are scalar.
    """

    def __init__(self, ev: Evaluator, plan: Schedule, shapes: Sequence[StageShape], row_loops: Sequence[Loop]) -> None:
        self.ev = ev
        self.plan = plan
        self.shapes = shapes
        self.row_loops = list(row_loops)
        lanes = [loop for loop in row_loops if loop.width > 1]
        self.lane_dim = lanes[0].dims[-1] if lanes else None
        self.block = lanes[0].tile if lanes else 1
        self.pending: dict[ResultNode, Scratch] = {}
        self.rows: list[Point] = []

    def emit(self, workgroups: int, masked: bool) -> Kernel:
        self.allocate()
        loops = distribute(self.row_loops, workgroups)
        Nest(self.ev, loops, len(self.plan.row_sizes), self.row, masked).run()
        return Kernel(self.ev.b, (chunk_count(loops), 1, 1), self.ev.tables)

    def allocate(self) -> None:
        """Scratch for each materialised result, shared by all rows of a workgroup."""
        attributes: dict[str, Attribute] = {}
        if self.plan.scratch_bytes() * self.block > self.ev.tuning.stack_scratch:
            attributes["tiree.workgroup_memory"] = UnitAttr()
        for stage, rows in zip(self.plan.stages, self.plan.rows, strict=True):
            for output in stage.outputs:
                if output.ref is None:
                    self._allocate(output, rows, attributes)

    def _allocate(self, output: Output, rows: tuple[int, ...], attributes: dict[str, Attribute]) -> None:
        node = output.node
        assert isinstance(node, ResultNode)
        row_position = {output.order.index(d): k for k, d in enumerate(rows)}
        local = [1 if d in row_position else n for d, n in enumerate(node.shape)]
        if element_count(local) == 1:
            return
        strides = [s * self.block for s in row_major_strides(local)]
        for position, k in row_position.items():
            strides[position] = 1 if k == self.lane_dim else 0
        size = element_count(local) * self.block
        buffer = self.ev.b.alloca(storage_element(node.element), size, dict(attributes))
        self.pending[node] = Scratch(buffer, tuple(strides))

    def row(self, rows: list[Point]) -> None:
        ev = self.ev
        self.rows = rows
        if self.lane_dim is not None:
            # Scratch of a lane row counts from the first row of the block.
            first = rows[0].idx[self.lane_dim]
            if ev.lane is not None:
                first = first - Lin.of(ev.lane)
            for scratch in self.pending.values():
                scratch.base = first * -1
        for node in self.pending:
            ev.scratch.pop(node, None)
        for stage, dims, shape in zip(self.plan.stages, self.plan.rows, self.shapes, strict=True):
            apply_shape(ev, shape)
            self.stage(stage, dims, shape)

    def stage(self, stage: Stage, rows: tuple[int, ...], shape: StageShape) -> None:
        def body(points: list[Point]) -> None:
            moved: list[Point] = []
            for point in points:
                for row in self.rows:
                    idx = list(point.idx)
                    for d, index in zip(rows, row.idx, strict=True):
                        idx[d] = index
                    moved.append(Point(tuple(idx), point.mask if point.mask is not None else row.mask))
            write_outputs(self.ev, stage, moved, self.pending)

        Nest(self.ev, shape.loops, len(stage.domain), body, shape.masked_tail, one_tail=shape.one_tail).run()
        for output in stage.outputs:
            node = output.node
            if output.ref is None and isinstance(node, ResultNode) and node in self.pending:
                self.ev.b.wrote(self.pending[node].buffer)
                self.ev.scratch[node] = self.pending[node]
