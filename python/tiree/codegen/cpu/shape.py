"""Chooses the form of one stage: which loop carries the vector lanes, which loops merge, how many points a tile has.

All choices come from a dry run of the stage's accesses and from the target; nothing is emitted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tiree.codegen.common.access import Access, Accesses, mergeable
from tiree.codegen.common.body import TRAPPING
from tiree.codegen.common.combine import reassociation
from tiree.codegen.common.graph import GenericNode, LoadNode, ResultNode, bits_of, storage_element
from tiree.codegen.common.linear import ZERO, Lin, Sym
from tiree.codegen.common.points import ReductionPlan
from tiree.codegen.common.views import element_count, row_major_strides
from tiree.codegen.cpu.nest import Loop
from tiree.codegen.cpu.stages import Stage, is_expensive
from tiree.codegen.cpu.tiles import choose_tile, latency
from tiree.support.cpu_target import TargetDescription

MOST_ROWS = 14
"""Rows of a tile of sums."""
GATHER_COST = 1.2
"""Cost of one gathered element, in contiguous vector loads."""


@dataclass
class StageShape:
    """How a stage runs: loops over its free dims (lane loop last) and the plans of the reductions inside it."""

    loops: list[Loop]
    width: int
    masked_tail: bool
    reductions: dict[GenericNode, ReductionPlan] = field(default_factory=dict[GenericNode, ReductionPlan])
    transposed: bool = False
    unroll_limit: int = 4
    loop_unroll: int = 8
    one_tail: bool = False
    """Whether remaining lanes are one masked tile, even where several narrower vectors would do without masks."""


class StageView:
    """A stage with its accesses. `free` are the domain dims that this stage loops over (the others are rows)."""

    def __init__(self, stage: Stage, free: Sequence[int], materialised: Sequence[ResultNode]) -> None:
        self.stage = stage
        self.free = [d for d in free if stage.domain[d] != 1]
        self.accesses = Accesses(frozenset(materialised) - {o.node for o in stage.outputs if o.ref is None})
        self.syms = [self.accesses.sym(n) for n in stage.domain]
        idx = [Lin.of(s) if n != 1 else ZERO for s, n in zip(self.syms, stage.domain, strict=True)]
        for output in stage.outputs:
            at = tuple(idx[d] for d in output.order)
            if isinstance(output.node, ResultNode) and not output.node.generic.invertible:
                continue
            self.accesses.visit(output.node, at)
        self.loads = list(self.accesses.found)
        self.stores: list[Access] = []
        for output in stage.outputs:
            strides = output.view.strides if output.view is not None else row_major_strides(output.node.shape)
            address = ZERO
            for d, stride in zip(output.order, strides, strict=True):
                address = address + idx[d] * stride
            self.stores.append(Access(output.node, address))
            self.accesses.found[Access(output.node, address)] = None
        self.generics = list(self.accesses.generics)
        self.woven = _are_pairs(stage)
        """Whether the outputs are real and imaginary parts, which are stored together."""

    @property
    def bits(self) -> int:
        """Bits of the widest value in play, booleans and indices aside."""
        found = [8]
        for generic in self.generics:
            for op in generic.body.ops:
                # Arithmetic on bf16 is done in f32.
                found += [
                    32 if r.type.name == "bf16" else bits_of(r.type) for r in op.results if r.type.name != "index"
                ]
        for access in [*self.loads, *self.stores]:
            found.append(bits_of(storage_element(access.node.element)))
        return max(found)

    @property
    def is_scalar(self) -> bool:
        """Whether some body has control flow, which vectors cannot follow."""
        return any(op.regions for g in self.generics for op in g.body.ops)

    @property
    def traps(self) -> bool:
        return any(op.name in TRAPPING for g in self.generics for op in g.body.ops)

    @property
    def reducing(self) -> list[GenericNode]:
        return [g for g in self.generics if element_count([g.loops[d] for d in g.reduction_dims]) != 1]

    def body_ops(self) -> int:
        return sum(sum(1 for _ in g.body.ops) for g in self.generics)


def shape_stage(view: StageView, target: TargetDescription, vectorise: bool = True) -> StageShape:
    """The form of a stage on this target."""
    groups = _merged(view)
    vectorise = vectorise and not view.is_scalar and target.vector_bytes > 1
    lanes = max(1, target.vector_bytes * 8 // view.bits) if vectorise else 1
    masked = target.has_avx512 and not view.traps
    plans = {g: ReductionPlan(_reduction_groups(view, g)) for g in view.reducing}
    lane = _best_lane(view, groups, lanes) if lanes > 1 else None
    parallel_cost = lane[1] if lane is not None else float("inf")
    inner = _inner_plans(view, plans, lanes) if lanes > 1 and not view.traps else None
    if inner is not None and inner[1] < parallel_cost:
        return _shape_inner(view, groups, inner[0], target)
    if lane is None:
        loops = [_loop(view, g) for g in groups]
        return StageShape(loops, 1, False, plans)
    return _shape_lanes(view, groups, lane[0], lanes, masked, plans, target)


def _loop(view: StageView, group: tuple[int, ...], tile: int = 1, width: int = 0) -> Loop:
    return Loop(_size(view, group), group, tile, width)


def _size(view: StageView, group: tuple[int, ...]) -> int:
    return element_count([view.stage.domain[d] for d in group])


def _merged(view: StageView) -> list[tuple[int, ...]]:
    """Neighbouring free dims that may run as one loop."""
    groups: list[tuple[int, ...]] = []
    domain = view.stage.domain
    for d in view.free:
        if groups:
            last = groups[-1][-1]
            between = range(last + 1, d)
            adjacent = all(domain[k] == 1 for k in between)
            if adjacent and mergeable(view.syms[last], domain[last], view.syms[d], domain[d], view.accesses):
                groups[-1] = (*groups[-1], d)
                continue
        groups.append((d,))
    return groups


def _reduction_groups(view: StageView, generic: GenericNode) -> tuple[tuple[int, ...], ...]:
    groups: list[tuple[int, ...]] = []
    syms = view.accesses.reduction_syms[generic]
    previous: Sym | None = None
    for d, sym in zip(generic.reduction_dims, syms, strict=True):
        if generic.loops[d] == 1:
            continue
        if previous is not None and mergeable(
            previous, generic.loops[groups[-1][-1]], sym, generic.loops[d], view.accesses
        ):
            groups[-1] = (*groups[-1], d)
        else:
            groups.append((d,))
        previous = sym
    return tuple(groups)


def _are_pairs(stage: Stage) -> bool:
    """Whether outputs come in twos that lie beside each other."""
    places = {(o.ref, o.view.strides, o.order, o.view.base) for o in stage.outputs if o.ref is not None and o.view}
    return bool(places) and all((r, s, d, b ^ 1) in places for r, s, d, b in places)


def _access_cost(access: Access, sym: Sym, lanes: int, others: Sequence[Sym]) -> float:
    """Cost of one vector of this access with lanes along `sym`."""
    stride = access.stride(sym)
    if stride == 0:
        return 0.25
    if stride == 1:
        return 1.0
    if stride == -1:
        return 1.5
    if stride is not None and 2 <= stride <= 4:
        return float(stride)
    if stride is not None and any(access.stride(o) == 1 for o in others):
        return 4.0
    return GATHER_COST * lanes


def _best_lane(view: StageView, groups: Sequence[tuple[int, ...]], lanes: int) -> tuple[tuple[int, ...], float] | None:
    """(group, cost per element) of the cheapest loop for vector lanes."""
    best: tuple[tuple[int, ...], float] | None = None
    syms = [view.syms[g[-1]] for g in groups]
    for group, sym in zip(reversed(groups), reversed(syms), strict=True):
        size = _size(view, group)
        width = min(lanes, floor_power(size))
        if width < 2:
            continue
        others = [s for s in syms if s is not sym] if not view.reducing else []
        cost = sum(_access_cost(a, sym, lanes, others) for a in view.loads)
        for store in view.stores:
            if store.stride(sym) == 1:
                cost += 1.0
            elif store.stride(sym) == 2 and view.woven:
                cost += 2.0
            else:
                cost += 1.5 * GATHER_COST * lanes
        cost = (cost + 0.5) * -(-size // lanes) / size
        if best is None or cost < best[1] * 0.99:
            best = group, cost
    return best


def _inner_plans(
    view: StageView, plans: dict[GenericNode, ReductionPlan], lanes: int
) -> tuple[dict[GenericNode, ReductionPlan], float] | None:
    """Plans with lanes along a reduction loop of every reduction of the stage, and the cost per element."""
    if not plans or any(reassociation(g) is None for g in plans):
        return None
    found: dict[GenericNode, ReductionPlan] = {}
    cost = 0.0
    for generic, plan in plans.items():
        syms = dict(zip(generic.reduction_dims, view.accesses.reduction_syms[generic], strict=True))
        best: tuple[float, tuple[int, ...]] | None = None
        total = element_count([generic.loops[d] for d in generic.reduction_dims])
        for group in reversed(plan.groups):
            size = element_count([generic.loops[d] for d in group])
            if size < 2:
                continue
            each = sum(_access_cost(a, syms[group[-1]], lanes, ()) for a in view.loads) + 0.5
            # Every point ends with a horizontal reduction.
            each = each * -(-size // lanes) / size + 12.0 / total
            if best is None or each < best[0]:
                best = each, group
        if best is None:
            return None
        cost = max(cost, best[0])
        found[generic] = ReductionPlan(plan.groups, best[1], lanes, 4)
    return found, cost


def floor_power(n: int) -> int:
    return 1 << (n.bit_length() - 1) if n else 0


def _tile_of(size: int, wanted: int) -> int:
    """A tile of at most `wanted` points: a divisor of the size when a good one exists."""
    for tile in range(min(wanted, size), 0, -1):
        if size % tile == 0 and 2 * tile >= wanted:
            return tile
    return min(wanted, size)


def _sharing(view: StageView, group: tuple[int, ...]) -> bool:
    """Whether neighbouring points along this loop share a load inside a reduction."""
    sym = view.syms[group[-1]]
    reduction = [s for syms in view.accesses.reduction_syms.values() for s in syms]
    return any(a.stride(sym) == 0 and any(a.stride(r) != 0 for r in reduction) for a in view.loads)


def _shape_inner(
    view: StageView,
    groups: Sequence[tuple[int, ...]],
    plans: dict[GenericNode, ReductionPlan],
    target: TargetDescription,
) -> StageShape:
    """Scalar points, lanes inside the reductions; points that share operands form a tile."""
    budget = 16 if target.vector_registers >= 32 or target.has_avx512 else 8
    tiles: dict[tuple[int, ...], int] = {}
    for group in reversed(groups):
        if budget > 1 and _sharing(view, group):
            tiles[group] = _tile_of(_size(view, group), min(4, budget))
            budget //= tiles[group]
    points = element_count(list(tiles.values()))
    fitted = {g: ReductionPlan(p.groups, p.lane_group, p.width, max(1, 4 // points)) for g, p in plans.items()}
    return StageShape([_loop(view, g, tiles.get(g, 1)) for g in groups], 1, False, fitted)


def _shape_lanes(
    view: StageView,
    groups: Sequence[tuple[int, ...]],
    lane: tuple[int, ...],
    lanes: int,
    masked: bool,
    plans: dict[GenericNode, ReductionPlan],
    target: TargetDescription,
) -> StageShape:
    """Lanes along a parallel loop."""
    size = _size(view, lane)
    width = min(lanes, floor_power(size))
    if masked and width < lanes and width != size:
        width *= 2
    loops = [_loop(view, g) for g in groups if g != lane]
    shape = StageShape(loops, width, masked, plans)
    if not view.reducing:
        sideways = _transpose_partner(view, groups, lane)
        if sideways is not None and _size(view, sideways) >= width and size >= width:
            shape.loops = [_loop(view, g) for g in groups if g not in (lane, sideways)]
            shape.loops += [_loop(view, sideways, width), _loop(view, lane, width, width)]
            shape.transposed = True
            return shape
        ops = view.body_ops()
        vectors = 1 if _costly(view) or ops > 24 else 2 if ops > 8 else 4
        shape.loops.append(_loop(view, lane, width * max(1, min(vectors, size // width)), width))
        return shape
    budget = 20 if target.has_avx512 else 8
    shared = next((g for g in reversed(groups) if g != lane and _sharing(view, g)), None)
    most = max(1, min(4, -(-size // width) if masked else size // width))
    if shared is None:
        most = max(1, min(4, size // width))
        shape.loops = [*_row_tiles(view, groups, lane, budget // most, most), _loop(view, lane, width * most, width)]
        return shape
    tiles = [
        (tile, vectors)
        for vectors in range(1, most + 1)
        for tile in range(1, 1 + min(_size(view, shared), max(1, budget // vectors), MOST_ROWS))
    ]
    tile, vectors = choose_tile(_size(view, shared), size, width, latency(target), tiles)
    shape.loops = _row_tiles(view, groups, lane, budget // vectors, vectors, {shared: tile})
    shape.loops.append(_loop(view, lane, width * vectors, width))
    shape.one_tail = masked
    return shape


def _row_tiles(
    view: StageView,
    groups: Sequence[tuple[int, ...]],
    lane: tuple[int, ...],
    budget: int,
    vectors: int,
    chosen: dict[tuple[int, ...], int] | None = None,
) -> list[Loop]:
    """The loops over rows, with `budget` sums in a tile of them; the tiles of some are `chosen`."""
    tiles: dict[tuple[int, ...], int] = {}
    for group in reversed(groups):
        if group == lane or budget < 2:
            continue
        if chosen and group in chosen:
            tiles[group] = chosen[group]
        elif _sharing(view, group):
            tiles[group] = _tile_of(_size(view, group), min(6, budget))
        elif vectors == 1 and not tiles and not chosen:
            tiles[group] = _tile_of(_size(view, group), 4)
        budget //= tiles.get(group, 1)
    return [_loop(view, g, tiles.get(g, 1)) for g in groups if g != lane]


def _costly(view: StageView) -> bool:
    return any(is_expensive(g) for g in view.generics)


def _transpose_partner(
    view: StageView, groups: Sequence[tuple[int, ...]], lane: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The loop along which a load is contiguous that is strided along the lanes."""
    lane_sym = view.syms[lane[-1]]
    for access in view.loads:
        stride = access.stride(lane_sym)
        if stride is None or -1 <= stride <= 1 or not isinstance(access.node, (LoadNode, ResultNode)):
            continue
        for group in groups:
            if group != lane and access.stride(view.syms[group[-1]]) == 1:
                return group
    return None
