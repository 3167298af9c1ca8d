"""Chooses tiles, blocks and packing of a contraction from its sizes and the target; nothing is emitted here.

The kernel works on a register tile of `rows x (vectors * width)` sums. The lane factor is packed, a block of `columns`
lanes by `depth` summed indices at a time, into scratch that fits the second-level cache; the row factor is read in
place, or packed per row tile where its strides would collide in the first-level cache or its elements take arithmetic.
Sums longer than one block are added up in scratch, block by block, always in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tiree.codegen.cpu.contraction_form import Contraction, epilogue_ops, stages_sums
from tiree.codegen.cpu.contraction_pairs import multiplies_pairs
from tiree.codegen.cpu.fallback import scratch_limit
from tiree.codegen.cpu.nest import Loop, distribute
from tiree.codegen.cpu.tiles import choose_tile, latency
from tiree.support.cpu_target import TargetDescription

LANE_BLOCK_BYTES = 128 << 10
"""Scratch for the packed lane factor, at most half of what a workgroup has."""
PARTIAL_BYTES = 96 << 10
"""Scratch for unfinished sums, at most three eighths of what a workgroup has."""
REGISTER_EPILOGUE_OPS = 12
"""Arithmetic per element up to which an epilogue is written out for the whole register tile."""


@dataclass(frozen=True)
class RowPacking:
    """Where the row factor of a tile is copied to: element (row r, summed index k) is at r * row_stride + k * stride.

    `lanes` is the loop that the copy's vectors run along.
    """

    lanes: int
    along_rows: bool


@dataclass
class BlockPlan:
    """The form of the kernel. Loops over `loops` are: `outer` groups, the lane block, row groups."""

    width: int
    vectors: int
    columns: int
    tiles: list[int]
    """Rows per register tile along each row group."""
    sums: list[int]
    """Summed loops, outermost first."""
    lead: int
    """How many of `sums` are walked outside of the packed block."""
    chunk: int
    """Steps of `sums[lead]` per block."""
    wide: bool
    """Whether a packed row holds all columns of the block instead of one panel."""
    row_packing: RowPacking | None
    pairs: bool
    """Whether factors are packed as i16, pairs of neighbouring summed indices side by side."""
    staged: bool
    """Whether the finished sums go through scratch before the epilogue."""
    loops: list[Loop]

    @property
    def panel(self) -> int:
        return self.width * self.vectors

    def blocked(self, c: Contraction) -> bool:
        """Whether sums take more than one block."""
        return self.depth(c) != c.depth

    def depth(self, c: Contraction) -> int:
        """Summed indices per block."""
        return self.chunk * c.size(self.sums[self.lead + 1 :])


def register_tile(target: TargetDescription, vectors: int) -> tuple[int, int]:
    """(most rows, vectors) of a tile when the lanes fill this many vectors."""
    wide_file = target.vector_registers >= 32
    best = 2 if target.vector_bytes == 64 or not wide_file else 4
    vectors = best if vectors > 3 else min(vectors, 3 if wide_file else 2)
    spare = 2 if target.has_fma else 3
    rows = (target.vector_registers - vectors - spare) // vectors
    if wide_file and target.vector_bytes < 64:
        rows = min(rows, 24 // vectors)
    return max(1, min(rows, 16)), vectors


def plan_blocks(c: Contraction, target: TargetDescription, wanted: int) -> BlockPlan | None:
    """The blocking of a contraction, split into about `wanted` workgroups; None when its lanes don't fill a vector."""
    element = c.element_bytes
    width = target.lanes(element)
    lanes = c.size(c.lanes)
    if width < 2 or lanes < width // 2 or not c.rows or not c.sums:
        return None
    most, vectors = register_tile(target, -(-lanes // width))
    tiles = row_tiles([c.size(g) for g in c.rows], most, vectors, latency(target))
    sums = _ordered_sums(c)
    panel = vectors * width
    pairs = _pairs(c, target, sums)
    limit = min(LANE_BLOCK_BYTES, scratch_limit(target) // 2) // (2 if pairs else element)
    wide = any(not c.lane_factor.merges(a, b) for a, b in zip(c.lanes, c.lanes[1:], strict=False))
    outer = c.size([d for g in c.outer for d in g])
    if wide:
        columns = _whole_runs(lanes, c.generic.loops[c.lanes[-1]], width)
        lead, chunk = _depth_block(c, sums, columns, columns, limit)
    else:
        lead, chunk = _depth_block(c, sums, min(lanes, 2 * panel), min(lanes, 4 * panel), limit)
        depth = chunk * c.size(sums[lead + 1 :])
        fits = max(panel, limit // depth // panel * panel)
        while fits > 2 * panel and outer * -(-lanes // fits) < min(wanted, 8):
            fits -= panel
        columns = min(round_up(lanes, panel), round_up(-(-lanes // -(-lanes // fits)), panel))
    if lead + 1 == len(sums) and chunk % 2:
        pairs = False
    packing = RowPacking(sums[-1], False) if pairs else _row_packing(c, sums, tiles, columns > panel)
    epilogue = epilogue_ops(c)
    loops = [Loop(c.size(g), g) for g in c.outer]
    loops.append(Loop(-(-lanes // columns), c.lanes))
    loops += [Loop(c.size(g), g, tile) for g, tile in zip(c.rows, tiles, strict=True)]
    plan = BlockPlan(
        width,
        vectors,
        columns,
        tiles,
        sums,
        lead,
        chunk,
        wide,
        packing,
        pairs,
        epilogue > REGISTER_EPILOGUE_OPS or stages_sums(c),
        loops,
    )
    partial = min(PARTIAL_BYTES, scratch_limit(target) * 3 // 8) // element
    plan.loops = _distributed(c, plan, wanted, partial)
    return plan


def _pairs(c: Contraction, target: TargetDescription, sums: Sequence[int]) -> bool:
    """Whether pairs pay: rows can be copied along an even number of summed indices and lanes in whole vectors."""
    inner = sums[-1]
    tail = c.size(c.lanes) % target.lanes(c.element_bytes)
    if c.generic.loops[inner] % 2 or not c.row_factor.contiguous(inner) or c.size(c.lanes[:-1]) != 1:
        return False
    return (tail == 0 or (tail != 1 and target.has_avx512)) and multiplies_pairs(c, target)


def row_tiles(sizes: Sequence[int], most: int, vectors: int, least: int) -> list[int]:
    """Rows per tile along each group: the innermost first, whole inner groups before outer ones are tiled too.

    `most` are as many as have room; `least` vectors of sums are enough.
    """
    tiles = [1] * len(sizes)
    for k in range(len(sizes) - 1, -1, -1):
        choices = [(rows, vectors) for rows in range(1, min(sizes[k], most) + 1)]
        tiles[k], _ = choose_tile(sizes[k], vectors, 1, least, choices)
        vectors *= tiles[k]
        most //= tiles[k]
        if tiles[k] < sizes[k] or vectors >= least:
            break
    return tiles


def round_up(n: int, step: int) -> int:
    return -(-n // step) * step


def _ordered_sums(c: Contraction) -> list[int]:
    """Summed loops so that the row factor is walked in memory order."""

    def reach(d: int) -> int:
        return max((abs(s) for s in c.row_factor.strides(d) if s is not None), default=0)

    return sorted(c.sums, key=lambda d: -reach(d))


def _depth_block(c: Contraction, sums: Sequence[int], narrow: int, usual: int, limit: int) -> tuple[int, int]:
    """(leading loops walked outside, steps of the next loop per block): everything in one block when `narrow` lanes of
    it fit the limit (in elements), else blocks that leave room for `usual` lanes."""
    sizes = [c.generic.loops[d] for d in sums]
    if c.depth * narrow <= limit:
        return 0, sizes[0]
    wanted = max(1, limit // usual)
    rest = c.depth
    for k, size in enumerate(sizes):
        rest //= size
        if rest >= wanted and k + 1 < len(sizes):
            continue
        most = max(1, wanted * 5 // 4 // rest)
        even = max(t for t in range(1, min(most, size) + 1) if size % t == 0)
        return k, even if 3 * even >= most else min(most, size)
    raise AssertionError("the last loop ends the search")


def _whole_runs(lanes: int, run: int, width: int) -> int:
    """Lanes per block where the factor reads them in runs: whole runs, blocks of one size, few idle lanes."""
    candidates = [run * t for t in range(1, lanes // run + 1) if lanes // run % t == 0]
    fitting = [n for n in candidates if n <= 16 * width] or candidates[:1]
    return max(fitting, key=lambda n: (n / round_up(n, width) // 0.04, -abs(n - 8 * width)))


def _row_packing(c: Contraction, sums: Sequence[int], tiles: Sequence[int], reused: bool) -> RowPacking | None:
    factor = c.row_factor
    moving = {*sums, *[d for g in c.rows for d in g]}
    rows = c.rows[-1][-1]
    inner = sums[-1] if factor.contiguous(sums[-1]) or not factor.contiguous(rows) else rows
    along_rows = inner == rows
    if along_rows and (any(t > 1 for t in tiles[:-1]) or inner in factor.pinned):
        along_rows, inner = False, sums[-1]
    packing = RowPacking(inner, along_rows)
    if not factor.is_plain:
        return packing
    if not reused:
        return None
    if factor.pinned & moving:
        return packing
    strides = [s for s in factor.strides(rows) if s]
    collide = any(s * c.element_bytes % 4096 == 0 for s in strides)
    return packing if collide and not along_rows and tiles[-1] >= 8 else None


def _distributed(c: Contraction, plan: BlockPlan, wanted: int, partial: int) -> list[Loop]:
    """Workgroups over outer loops and lane blocks first, then over rows: at least a few tiles each."""
    split = len(c.outer) + 1
    loops = distribute(plan.loops[:split], wanted)
    for loop in loops:
        wanted = -(-wanted // loop.chunks)
    rows = plan.loops[split:]
    tiles = [loop.tiles for loop in rows]
    total = 1
    for t in tiles:
        total *= t
    per_tile = 1
    for t in plan.tiles:
        per_tile *= t
    most = total * per_tile // 224
    blocks = 1
    for loop in loops:
        blocks *= loop.chunks
    if blocks * most < 8:
        most = min(-(-8 // blocks), total * per_tile // 56)
    wanted = min(wanted, max(1, most))
    if plan.blocked(c):
        local = max(per_tile, partial // plan.columns)
        wanted = max(wanted, -(-c.row_count // local))
    return [*loops, *distribute(rows, wanted)]
