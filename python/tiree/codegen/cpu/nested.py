"""The strategies that run stages as vectorised loop nests, side by side or row by row.

They share one machinery and differ in what they recognise: `scalar` (one element), `copy` (data movement only),
`transpose`, `elementwise`, `reduction`, `window`, `gather`, `generic-contraction` and `row-group` (several stages that
share leading dims, such as softmax and layer norm).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tiree.codegen.common.graph import DispatchInfo, GenericNode
from tiree.codegen.common.hazards import protect
from tiree.codegen.common.views import element_count
from tiree.codegen.cpu.cost import live_generics, work
from tiree.codegen.cpu.emit import RowEmitter, emit_flat, new_evaluator
from tiree.codegen.cpu.fallback import scratch_limit
from tiree.codegen.cpu.nest import Loop
from tiree.codegen.cpu.schedule import Schedule, schedule
from tiree.codegen.cpu.shape import StageShape, StageView, floor_power, shape_stage
from tiree.codegen.cpu.strategy import Kernel, workgroup_budget
from tiree.support.cpu_target import TargetDescription


@dataclass
class NestConfig:
    """A schedule with the form of each stage, and the loops over rows (empty: stages are independent)."""

    plan: Schedule
    shapes: list[StageShape]
    row_loops: list[Loop]
    masked: bool = False


def plan_dispatch(info: DispatchInfo, target: TargetDescription) -> NestConfig | None:
    """The vectorised form of a dispatch; None when it needs scratch that does not fit or an unusual output map.

    The result is cached on `info`: all strategies of this file look at the same plan.
    """
    cached = info.__dict__.get("_nest_plan", False)
    if cached is False:
        cached = info.__dict__["_nest_plan"] = _plan(info, target)
    return cached


def _plan(info: DispatchInfo, target: TargetDescription) -> NestConfig | None:
    snapshots = protect(info)
    if any(not g.invertible for g in live_generics(info)):
        return None
    plan = schedule(info)
    if plan.scratch_bytes() > scratch_limit(target):
        plan = schedule(info, expensive=False)
    if snapshots:
        plan.without_rows()
    if plan.scratch_bytes() > scratch_limit(target):
        return None
    if not plan.materialised:
        views = [StageView(stage, range(len(stage.domain)), ()) for stage in plan.stages]
        return NestConfig(plan, [shape_stage(view, target) for view in views], [])
    materialised = list(plan.materialised)
    views = [
        StageView(stage, [d for d in range(len(stage.domain)) if d not in rows], materialised)
        for stage, rows in zip(plan.stages, plan.rows, strict=True)
    ]
    lane_loop = _lane_rows(plan, views, target)
    if lane_loop is not None:
        loops = [Loop(n, (k,)) for k, n in enumerate(plan.row_sizes[:-1])]
        return NestConfig(
            plan, [shape_stage(v, target, vectorise=False) for v in views], [*loops, lane_loop], _masked(views, target)
        )
    loops = [Loop(n, (k,)) for k, n in enumerate(plan.row_sizes)]
    return NestConfig(plan, [shape_stage(v, target) for v in views], loops)


def _masked(views: list[StageView], target: TargetDescription) -> bool:
    return target.has_avx512 and not any(v.traps for v in views)


def _lane_rows(plan: Schedule, views: list[StageView], target: TargetDescription) -> Loop | None:
    """The loop over rows with lanes, when the last row dim is the contiguous one of all that is stored."""
    if not plan.row_sizes or any(v.is_scalar for v in views):
        return None
    size = plan.row_sizes[-1]
    width = min(floor_power(size), max(1, target.vector_bytes * 8 // max(v.bits for v in views)))
    if width < 4:
        return None
    for view, rows in zip(views, plan.rows, strict=True):
        sym = view.syms[rows[-1]]
        if any(a.stride(sym) not in (0, 1) for a in [*view.loads, *view.stores]):
            return None
        if not any(o.ref is not None for o in view.stage.outputs):
            continue
        if any(a.stride(sym) != 1 for a in view.stores):
            return None
    vectors = 2 if size >= 2 * width and plan.scratch_bytes() * 2 * width <= 1 << 15 else 1
    if plan.scratch_bytes() * vectors * width > scratch_limit(target):
        return None
    return Loop(size, (len(plan.row_sizes) - 1,), vectors * width, width)


class NestStrategy:
    """One kind of dispatch on the shared machinery; `accepts` looks at the plan."""

    def __init__(self, name: str, accepts: Callable[[DispatchInfo, NestConfig], bool]) -> None:
        self._name = name
        self.accepts = accepts

    @property
    def name(self) -> str:
        return self._name

    def match(self, info: DispatchInfo, target: TargetDescription) -> NestConfig | None:
        config = plan_dispatch(info, target)
        return config if config is not None and self.accepts(info, config) else None

    def lower(self, info: DispatchInfo, config: NestConfig, target: TargetDescription) -> Kernel:
        ev = new_evaluator(info, target, fuse=target.has_fma)
        workgroups = workgroup_budget(work(info))
        if not config.plan.materialised:
            return emit_flat(ev, list(zip(config.plan.stages, config.shapes, strict=True)), workgroups)
        return RowEmitter(ev, config.plan, config.shapes, config.row_loops).emit(workgroups, config.masked)


def _reducing(info: DispatchInfo) -> list[GenericNode]:
    return [g for g in live_generics(info) if element_count([g.loops[d] for d in g.reduction_dims]) != 1]


def _is_scalar(info: DispatchInfo, config: NestConfig) -> bool:
    return all(stage.points <= 1 for stage in config.plan.stages) and not _reducing(info)


def _is_copy(info: DispatchInfo, config: NestConfig) -> bool:
    return not live_generics(info) and not any(shape.transposed for shape in config.shapes)


def _is_contraction(info: DispatchInfo, config: NestConfig) -> bool:
    del config
    return any(_contracts(g) for g in _reducing(info))


def _contracts(generic: GenericNode) -> bool:
    """Products of two operands over reduction dims, each operand missing some parallel dim (or both full: a dot)."""
    names = [op.name for op in generic.body.ops]
    if not ("arith.mulf" in names and "arith.addf" in names) and not ("arith.muli" in names and "arith.addi" in names):
        return False
    reductions = set(generic.reduction_dims)
    varying = [
        n for n in range(generic.num_inputs) if generic.used_args[n] and reductions & generic.maps[n].dims_used()
    ]
    return len(varying) >= 2


def _is_window(info: DispatchInfo, config: NestConfig) -> bool:
    del config
    return any(None in g.maps[n].plain_dims for g in _reducing(info) for n in range(g.num_inputs) if g.used_args[n])


def _is_gather(info: DispatchInfo, config: NestConfig) -> bool:
    del config
    return any(g.extracted for g in live_generics(info))


def _is_row_group(info: DispatchInfo, config: NestConfig) -> bool:
    del info
    return bool(config.plan.materialised)


def _is_reduction(info: DispatchInfo, config: NestConfig) -> bool:
    del config
    return bool(_reducing(info))


def _is_transpose(info: DispatchInfo, config: NestConfig) -> bool:
    del info
    return any(shape.transposed for shape in config.shapes)


def _is_anything(info: DispatchInfo, config: NestConfig) -> bool:
    del info, config
    return True


NEST_STRATEGIES = (
    NestStrategy("scalar", _is_scalar),
    NestStrategy("row-group", _is_row_group),
    NestStrategy("generic-contraction", _is_contraction),
    NestStrategy("window", _is_window),
    NestStrategy("reduction", _is_reduction),
    NestStrategy("copy", _is_copy),
    NestStrategy("transpose", _is_transpose),
    NestStrategy("gather", _is_gather),
    NestStrategy("elementwise", _is_anything),
)
