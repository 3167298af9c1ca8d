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
from tiree.codegen.common.hazards import protect, works_in_place
from tiree.codegen.cpu.contraction_form import Contraction, contraction_of, is_contraction
from tiree.codegen.cpu.contraction_kernel import BlockKernel
from tiree.codegen.cpu.contraction_pairs import multiplies_pairs
from tiree.codegen.cpu.contraction_plan import BlockPlan, plan_blocks, round_up
from tiree.codegen.cpu.cost import live_generics, work
from tiree.codegen.cpu.emit import new_evaluator
from tiree.codegen.cpu.fallback import scratch_limit
from tiree.codegen.cpu.stages import store_stages
from tiree.codegen.cpu.strategy import Kernel, workgroup_budget
from tiree.support.cpu_target import TargetDescription


@dataclass
class BlockConfig:
    contraction: Contraction
    plan: BlockPlan
    masked: bool


class BlockedContraction:
    """The strategy."""

    name = "blocked-contraction"

    def match(self, info: DispatchInfo, target: TargetDescription) -> BlockConfig | None:
        if not is_contraction(info) or protect(info) or works_in_place(info):
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
        ev = new_evaluator(info, target, fuse=target.has_fma)
        return BlockKernel(ev, found.contraction, found.plan, target, found.masked).emit_kernel()


def _pays(c: Contraction, target: TargetDescription) -> bool:
    """Whether packing the lanes is worth its copies. The limits were measured against `generic-contraction`."""
    rows, lanes, width = c.row_count, c.size(c.lanes), target.lanes(c.element_bytes)
    if rows < 8 or c.depth < 8 or lanes < width // 2:
        return False
    if multiplies_pairs(c, target) and rows >= 8 and c.depth >= 32:
        return True
    factor, inner = c.lane_factor, c.lanes[-1]
    size = c.depth * lanes * c.element_bytes
    whole = all(factor.merges(a, b) for a, b in zip(c.lanes, c.lanes[1:], strict=False))
    if whole and factor.contiguous(inner) and inner not in factor.pinned:
        if factor.converts and rows >= 16:
            return True
        pitch = lanes * c.element_bytes
        if width * c.element_bytes < 64:
            # Fewer or shorter registers hold smaller tiles in place, which read the lanes more often.
            return size >= 128 << 10 and rows >= 48
        return (
            (size >= 6 << 20 and rows >= 32)
            or (size >= 768 << 10 and pitch >= 2048 and rows >= 192)
            or (pitch >= 8192 and rows >= 48)
        )
    if not any(_both_contiguous(c, d) for d in c.sums):
        return True
    # Lanes along the sums need no transposed copy, but a horizontal sum per element.
    blocked = (1.1 + 10 / rows + (0.1 if c.depth > 512 else 0)) * round_up(lanes, width) / lanes
    horizontal = 1.15 + 45 / c.depth + (0.0 if factor.is_plain else 0.3)
    return blocked < horizontal or (size >= 4 << 20 and rows >= 64)


def _both_contiguous(c: Contraction, loop: int) -> bool:
    """Whether vectors can run along a summed loop instead."""
    factors = (c.lane_factor, c.row_factor)
    long = c.generic.loops[loop] >= 32
    return long and all(f.contiguous(loop) and loop not in f.pinned for f in factors)


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
