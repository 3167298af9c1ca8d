"""`scalar-fallback`: right for every legal dispatch, in plain scalar loops.

Every reduction (and every result that cannot be evaluated element by element) is computed once into scratch, in program
order, by a single workgroup; a dispatch without such results is split over workgroups. Scratch that would not fit is
given up: its elements are then recomputed where they are needed.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Attribute

from tiree.codegen.common.analyze import fail
from tiree.codegen.common.evaluate import Evaluator
from tiree.codegen.common.graph import DispatchInfo, GenericNode, ResultNode, storage_element
from tiree.codegen.common.hazards import protect
from tiree.codegen.common.linear import Lin
from tiree.codegen.common.points import Point, Scratch
from tiree.codegen.common.views import element_count, row_major_strides
from tiree.codegen.cpu.cost import work
from tiree.codegen.cpu.emit import emit_flat, new_evaluator, write_outputs
from tiree.codegen.cpu.nest import Loop, Nest
from tiree.codegen.cpu.schedule import Schedule, schedule
from tiree.codegen.cpu.shape import StageShape
from tiree.codegen.cpu.stages import Stage
from tiree.codegen.cpu.strategy import Kernel, workgroup_budget
from tiree.support.cpu_target import TargetDescription


def scratch_limit(target: TargetDescription) -> int:
    """Bytes of workgroup memory that any runtime offers: its block is at least the second-level cache."""
    return min(target.l2_bytes // 2, 256 << 10)


class ScalarFallback:
    name = "scalar-fallback"

    def match(self, info: DispatchInfo, target: TargetDescription) -> Schedule:
        """Always matches. Raises `CompileError` when scratch that cannot be avoided does not fit."""
        protect(info)
        for expensive, reductions in ((True, True), (False, True), (False, False)):
            plan = schedule(info, expensive, reductions)
            plan.without_rows()
            if plan.scratch_bytes() <= scratch_limit(target):
                return plan
        limit = scratch_limit(target)
        raise fail(
            info.op,
            f"dispatch {info.name} needs {plan.scratch_bytes()} bytes of scratch, a workgroup has {limit}",
            "split the dispatch, or make its largest intermediate smaller",
        )

    def lower(self, info: DispatchInfo, config: Any, target: TargetDescription) -> Kernel:
        plan: Schedule = config
        ev = new_evaluator(info, target)
        if not plan.materialised:
            stages = [(stage, _scalar_shape(stage)) for stage in plan.stages]
            return emit_flat(ev, stages, workgroup_budget(8 * work(info)))
        emitter = _SingleWorkgroup(ev, plan)
        emitter.run()
        return Kernel(ev.b, (1, 1, 1), ev.tables)


def _scalar_shape(stage: Stage) -> StageShape:
    loops = [Loop(size, (d,)) for d, size in enumerate(stage.domain) if size != 1]
    return StageShape(loops, 1, False)


class _SingleWorkgroup:
    """All stages one after the other over whole tensors."""

    def __init__(self, ev: Evaluator, plan: Schedule) -> None:
        self.ev = ev
        self.plan = plan
        self.pending: dict[ResultNode, Scratch] = {}

    def run(self) -> None:
        from xdsl.dialects.builtin import UnitAttr

        large = self.plan.scratch_bytes() > self.ev.tuning.stack_scratch
        for node in self.plan.materialised:
            if element_count(node.shape):
                attributes: dict[str, Attribute] = {"tiree.workgroup_memory": UnitAttr()} if large else {}
                buffer = self.ev.b.alloca(storage_element(node.element), element_count(node.shape), attributes)
                self.pending[node] = Scratch(buffer, row_major_strides(node.shape))
        for stage in self.plan.stages:
            self.stage(stage)

    def stage(self, stage: Stage) -> None:
        first = stage.outputs[0]
        if first.ref is None and isinstance(first.node, ResultNode) and not first.node.generic.invertible:
            for node in first.node.generic.results:
                self.finish(node)
            self.initialise(first.node.generic)
            self.accumulate(first.node.generic)
            return
        loops = _scalar_shape(stage).loops
        Nest(
            self.ev, loops, len(stage.domain), lambda points: write_outputs(self.ev, stage, points, self.pending)
        ).run()
        for output in stage.outputs:
            if output.ref is None and isinstance(output.node, ResultNode):
                self.finish(output.node)

    def finish(self, node: ResultNode) -> None:
        scratch = self.pending.get(node)
        if scratch is not None:
            self.ev.b.wrote(scratch.buffer)
            self.ev.scratch[node] = scratch

    def initialise(self, generic: GenericNode) -> None:
        """Copies the initial values of a generic whose output map is not a permutation."""
        for node in generic.results:
            initial = generic.operands[generic.num_inputs + node.number]

            def body(points: list[Point], node: ResultNode = node, initial: Any = initial) -> None:
                for point, value in zip(points, self.ev.values(initial, points), strict=True):
                    self.put(node, point.idx, value)

            Nest(self.ev, [Loop(n, (d,)) for d, n in enumerate(node.shape)], len(node.shape), body).run()
            self.ev.b.wrote(self.pending[node].buffer)

    def accumulate(self, generic: GenericNode) -> None:
        """The whole loop nest in order: load the outputs' elements, run the body, store."""

        def body(points: list[Point]) -> None:
            (point,) = points
            maps = [generic.output_map(k) for k in range(generic.num_results)]
            at = [self.ev.apply(m, point.idx) for m in maps]
            before = [self.ev.value(node, idx) for node, idx in zip(generic.results, at, strict=True)]
            (after,) = self.ev.bodies(generic, [point], [before])
            for node, idx, value in zip(generic.results, at, after, strict=True):
                self.put(node, idx, value)

        Nest(self.ev, [Loop(n, (d,)) for d, n in enumerate(generic.loops)], len(generic.loops), body).run()
        for node in generic.results:
            self.ev.b.wrote(self.pending[node].buffer)

    def put(self, node: ResultNode, idx: tuple[Lin, ...], value: Any) -> None:
        scratch = self.pending[node]
        address = scratch.base
        for index, stride in zip(idx, scratch.strides, strict=True):
            address = address + index * stride
        self.ev.store(scratch.buffer, address, value, node.element, None)
        self.ev.b.wrote(scratch.buffer)
