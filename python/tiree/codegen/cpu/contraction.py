"""`blocked-contraction`: matmul, batch matmul, dot_general and convolutions with packed operands and register tiles.

Takes the contractions for which packing pays: several row tiles share each packed lane, and the lanes are too large or
too far apart to be read in place, or need arithmetic first. The others stay with `generic-contraction`, whose nest
reads memory directly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tiree.codegen.common.body import TRAPPING
from tiree.codegen.common.graph import DispatchInfo
from tiree.codegen.common.hazards import protect
from tiree.codegen.cpu.contraction_form import Contraction, contraction_of, is_contraction
from tiree.codegen.cpu.contraction_kernel import BlockKernel
from tiree.codegen.cpu.contraction_plan import BlockPlan, plan_blocks
from tiree.codegen.cpu.cost import live_generics, work
from tiree.codegen.cpu.emit import new_evaluator
from tiree.codegen.cpu.fallback import scratch_limit
from tiree.codegen.cpu.stages import store_stages
from tiree.codegen.cpu.strategy import Kernel, workgroup_budget
from tiree.support.cpu_target import TargetDescription

LARGE_BYTES = 512 << 10
"""Lane factors of this size and more leave the caches between two uses when they are read in place."""


@dataclass
class BlockConfig:
    contraction: Contraction
    plan: BlockPlan
    masked: bool


class BlockedContraction:
    """The strategy."""

    name = "blocked-contraction"

    def match(self, info: DispatchInfo, target: TargetDescription) -> BlockConfig | None:
        if not is_contraction(info) or protect(info):
            return None
        stages = store_stages(info)
        if len(stages) != 1:
            return None
        c = contraction_of(stages[0])
        if c is None or not _pays(c, target):
            return None
        plan = plan_blocks(c, target, workgroup_budget(work(info)))
        if plan is None or _scratch_bytes(c, plan) > scratch_limit(target):
            return None
        traps = any(op.name in TRAPPING for g in live_generics(info) for op in g.body.ops)
        return BlockConfig(c, plan, target.has_avx512 and not traps)

    def lower(self, info: DispatchInfo, config: Any, target: TargetDescription) -> Kernel:
        found: BlockConfig = config
        ev = new_evaluator(info, fuse=target.has_fma)
        return BlockKernel(ev, found.contraction, found.plan, target, found.masked).emit_kernel()


def _pays(c: Contraction, target: TargetDescription) -> bool:
    """Whether packing the lanes is worth its copies."""
    rows, lanes = c.row_count, c.size(c.lanes)
    if rows < 8 or c.depth < 8 or lanes < target.lanes(c.element_bytes) // 2:
        return False
    factor = c.lane_factor
    inner = c.lanes[-1]
    if not factor.contiguous(inner) or factor.pinned & {inner} or not factor.is_plain:
        return True
    if any(not factor.merges(a, b) for a, b in zip(c.lanes, c.lanes[1:], strict=False)):
        return True
    return c.depth * lanes * c.element_bytes >= LARGE_BYTES and rows >= 32


def _scratch_bytes(c: Contraction, plan: BlockPlan) -> int:
    from tiree.codegen.cpu.contraction_pack import Scratch

    total = Scratch(c, plan).bytes() + 256
    if plan.blocked(c):
        rows = 1
        for loop in plan.loops[len(c.outer) + 1 :]:
            rows *= min(loop.size, -(-loop.tiles // loop.chunks) * loop.tile)
        total += rows * (plan.columns + plan.width) * c.element_bytes
    elif plan.staged:
        total += 64 * plan.panel * c.element_bytes
    return total
