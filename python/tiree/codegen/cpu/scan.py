"""`scan`: cumulative reductions (cumsum and its kin), carried from one element to the next.

In the dispatch, result i combines the elements j <= i (or j >= i) of a dimension: the body chooses between the element
and one that changes nothing by a compare of two loops (`_find`). Each result is then the previous one combined with one
more element. Vectors run along the innermost dimension where that is another one; else several rows go side by side,
so that none waits long for its additions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation, SSAValue

from tiree.codegen.common.body import TRAPPING
from tiree.codegen.common.combine import IDEMPOTENT_OPS, neutral_of
from tiree.codegen.common.evaluate import Evaluator
from tiree.codegen.common.graph import (
    DispatchInfo,
    FillNode,
    GenericNode,
    LoadNode,
    Node,
    ResultNode,
    bits_of,
    storage_element,
)
from tiree.codegen.common.hazards import protect, works_in_place
from tiree.codegen.common.linear import ZERO, Lin
from tiree.codegen.common.points import Point
from tiree.codegen.common.reduce import ScanSteps
from tiree.codegen.cpu.cost import bytes_moved, live_generics
from tiree.codegen.cpu.emit import new_evaluator, write_outputs
from tiree.codegen.cpu.nest import Loop, Nest, chunk_count, distribute
from tiree.codegen.cpu.shape import floor_power
from tiree.codegen.cpu.stages import Stage, store_stages
from tiree.codegen.cpu.strategy import Kernel, workgroup_budget
from tiree.dialects.arith import WIDENING, constant_of
from tiree.support.cpu_target import TargetDescription
from tiree.support.typed import int_of, is_float_attr, is_integer_attr

ROWS = 8
"""Rows side by side in scalar code, or vectors: as many additions as are under way at one time."""

VECTORS_A_STEP, ELEMENTS_A_STEP = 4, 16
"""What each row advances in a step of the loop; elements one by one do a cache line."""


@dataclass(frozen=True)
class Cumulative:
    """A generic that is a cumulative reduction: along loop `moved`, over loop `window`; `backwards` from the end."""

    generic: GenericNode
    moved: int
    window: int
    backwards: bool


@dataclass(frozen=True)
class ScanConfig:
    """Where the scan stands in the one stage: dim `d` of the generic's result is dim `dims[d]` of the domain."""

    scan: Cumulative
    stage: Stage
    dims: tuple[int, ...]
    along: int
    """The domain dim that is walked through."""
    loops: tuple[Loop, ...]
    masked: bool


def _find(generic: GenericNode) -> Cumulative | None:
    """The scan that `generic` is, if it is one."""
    if generic.num_results != 1 or not generic.invertible or len(generic.reduction_dims) != 1:
        return None
    (window,) = generic.reduction_dims
    size = generic.loops[window]
    used = [n for n in range(generic.num_inputs) if generic.used_args[n]]
    if len(used) != 1 or size < 2:
        return None
    (number,) = used
    compared = _compared_loops(generic, number)
    if compared is None or compared[1] != window:
        return None
    moved, _, backwards = compared
    plain = generic.maps[number].plain_dims
    if None in plain or moved in plain or window not in plain or generic.loops[moved] != size:
        return None
    return Cumulative(generic, moved, window, backwards)


_SLE, _SGE = 3, 5


def _compared_loops(generic: GenericNode, number: int) -> tuple[int, int, bool] | None:
    """(loop of the result, loop of the element, whether later elements count) of a body that combines its accumulator
    with input `number` or with something neutral."""
    body = generic.body
    last = body.last_op
    assert last is not None
    combine = last.operands[0].owner
    accumulator = body.args[generic.num_inputs]
    if not isinstance(combine, Operation) or len(combine.operands) != 2 or accumulator not in combine.operands:
        return None
    choice = next((v.owner for v in combine.operands if v is not accumulator), None)
    if (
        not isinstance(choice, Operation)
        or choice.name != "arith.select"
        or not _is_element(choice.operands[1], body.args[number])
    ):
        return None
    compare = choice.operands[0].owner
    if not isinstance(compare, Operation) or compare.name != "arith.cmpi" or not _is_neutral(generic, combine, choice):
        return None
    predicate = int_of(compare.properties["predicate"])
    loops = [_loop_of(value) for value in compare.operands]
    if predicate not in (_SLE, _SGE) or loops[0] is None or loops[1] is None:
        return None
    return loops[1], loops[0], predicate == _SGE


def _is_element(value: SSAValue, argument: SSAValue) -> bool:
    """Whether `value` is the element read, or what widening makes of it."""
    while value is not argument:
        op = value.owner
        if not isinstance(op, Operation) or op.name not in WIDENING:
            return False
        value = op.operands[0]
    return True


def _loop_of(value: SSAValue) -> int | None:
    op = value.owner
    return int_of(op.properties["dim"]) if isinstance(op, Operation) and op.name == "linalg.index" else None


def _is_neutral(generic: GenericNode, combine: Operation, choice: Operation) -> bool:
    """Whether the other choice changes nothing."""
    other = _constant(choice.operands[2])
    neutral = neutral_of(combine.name)
    if other is None or neutral is not None:
        return other is not None and other == neutral
    start = generic.operands[generic.num_inputs]
    return combine.name in IDEMPOTENT_OPS and isinstance(start, FillNode) and _number(start) == other


def _number(fill: FillNode) -> int | float | None:
    """The constant that a fill repeats."""
    return _constant(fill.value) if isinstance(fill.value, SSAValue) else fill.value


def _constant(value: SSAValue) -> int | float | None:
    attr = constant_of(value)
    return attr.value.data if is_integer_attr(attr) or is_float_attr(attr) else None


def _dims_in_domain(stage: Stage, generic: GenericNode) -> tuple[int, ...] | None:
    """The domain dim of each dim of the result of `generic`, when every output of the stage is that result or is made
    of it element by element."""
    found: tuple[int, ...] | None = None
    for output in stage.outputs:
        node = output.node
        if not isinstance(node, ResultNode):
            return None
        dims: list[tuple[int, ...]] = []
        if node.generic is generic:
            dims.append(output.order)
        elif node.generic.reduction_dims or node.generic.extracted:
            return None
        else:
            place = dict(zip(node.generic.output_map(node.number).bare_dims, output.order, strict=True))
            for number, operand in enumerate(node.generic.operands):
                if isinstance(operand, ResultNode) and operand.generic is generic:
                    plain = node.generic.maps[number].bare_dims
                    if len(plain) != len(operand.shape):
                        return None
                    dims.append(tuple(place[d] for d in plain))
                elif not isinstance(operand, (LoadNode, FillNode)):
                    return None
        for one in dims:
            if len(set(one)) != len(stage.domain) or found not in (None, one):
                return None
            found = one
    return found


class Scan:
    name = "scan"

    def match(self, info: DispatchInfo, target: TargetDescription) -> ScanConfig | None:
        generics = live_generics(info)
        reducing = [g for g in generics if g.reduction_dims]
        if len(reducing) != 1 or protect(info) or works_in_place(info):
            return None
        scan = _find(reducing[0])
        stages = store_stages(info)
        if scan is None or len(stages) != 1:
            return None
        (stage,) = stages
        dims = _dims_in_domain(stage, scan.generic)
        if dims is None or any(op.regions or op.name in TRAPPING for g in generics for op in g.body.ops):
            return None
        along = dims[scan.generic.output_map(0).bare_dims.index(scan.moved)]
        loops = _loops(info, stage, scan, dims, along, target)
        return ScanConfig(scan, stage, dims, along, loops, target.has_avx512)

    def lower(self, info: DispatchInfo, config: Any, target: TargetDescription) -> Kernel:
        found: ScanConfig = config
        ev = new_evaluator(info, target)
        loops = distribute(found.loops, workgroup_budget(bytes_moved(info) * 2))
        walk = _Walk(ev, found)
        Nest(ev, loops, len(found.stage.domain), walk.run, found.masked).run()
        return Kernel(ev.b, (chunk_count(loops), 1, 1), ev.tables)


def _loops(
    info: DispatchInfo, stage: Stage, scan: Cumulative, dims: Sequence[int], along: int, target: TargetDescription
) -> tuple[Loop, ...]:
    """The loops around the walk: all dims but the one it goes along."""
    free = [d for d in range(len(stage.domain)) if d != along and stage.domain[d] != 1]
    bits = max([bits_of(storage_element(node.element)) for node in _accessed(info, stage)], default=32)
    lanes = max(1, target.vector_bytes * 8 // max(bits, 32 if bits == 16 else bits))
    sizes = stage.domain
    if free and free[-1] > along and sizes[free[-1]] >= 4 and _contiguous(stage, scan, dims, free[-1]):
        size = sizes[free[-1]]
        width = min(lanes, floor_power(size))
        if target.has_avx512 and width < lanes and width != size:
            width *= 2
        vectors = max(1, min(ROWS, size // width))
        return (*(Loop(sizes[d], (d,)) for d in free[:-1]), Loop(size, (free[-1],), width * vectors, width))
    return tuple(Loop(sizes[d], (d,), min(ROWS, sizes[d]) if d == free[-1] else 1) for d in free)


def _accessed(info: DispatchInfo, stage: Stage) -> list[Node]:
    found: list[Node] = [output.node for output in stage.outputs]
    for generic in live_generics(info):
        found += [operand for operand in generic.operands if isinstance(operand, LoadNode)]
    return found


def _contiguous(stage: Stage, scan: Cumulative, dims: Sequence[int], lane: int) -> bool:
    """Whether neighbours along domain dim `lane` are neighbours in memory: where results go and where elements come
    from."""
    for output in stage.outputs:
        assert output.view is not None
        if output.view.strides[output.order.index(lane)] != 1:
            return False
    generic = scan.generic
    loop = generic.output_map(0).bare_dims[list(dims).index(lane)]
    for number in range(generic.num_inputs):
        operand = generic.operands[number]
        if generic.used_args[number] and isinstance(operand, LoadNode):
            dims_read = generic.maps[number].plain_dims
            # One element for all lanes, or neighbours.
            return loop not in dims_read or operand.view.strides[dims_read.index(loop)] == 1
    return False


class _Walk:
    """One walk along the dimension, at several points of the others at once."""

    def __init__(self, ev: Evaluator, config: ScanConfig) -> None:
        self.ev = ev
        self.config = config
        self.steps = ScanSteps(ev, config.scan.generic)

    def run(self, points: list[Point]) -> None:
        b = self.ev.b
        size = self.config.stage.domain[self.config.along]
        unroll = VECTORS_A_STEP if self.ev.width else ELEMENTS_A_STEP
        rows: list[list[SSAValue]] = self.steps.start([self.loop_point(p, ZERO) for p in points])
        whole = size - size % unroll
        if whole:
            loop = b.begin_for(0, whole, unroll, [row[0] for row in rows])
            carried = self.several(points, Lin.of(loop.sym), unroll, [[value] for value in loop.args])
            rows = [[value] for value in b.end_for(loop, [row[0] for row in carried])]
        self.several(points, Lin(whole), size - whole, rows)

    def several(
        self, points: Sequence[Point], first: Lin, count: int, rows: list[list[SSAValue]]
    ) -> list[list[SSAValue]]:
        """`count` elements of every row, row by row in scalar code: rows may lie so far apart that they share sets of
        the cache, and then a line should be done with before the next row needs its place."""
        if self.ev.width:
            for k in range(count):
                rows = self.step(points, first + k, rows)
            return rows
        done: list[list[SSAValue]] = []
        for point, row in zip(points, rows, strict=True):
            one = [row]
            for k in range(count):
                one = self.step([point], first + k, one)
            done += one
        return done

    def step(self, points: Sequence[Point], count: Lin, rows: list[list[SSAValue]]) -> list[list[SSAValue]]:
        """Combines the element after `count` others, and writes what is made of the result."""
        config = self.config
        size = config.stage.domain[config.along]
        at = Lin(size - 1) - count if config.scan.backwards else count
        rows = self.steps.step([self.loop_point(p, at) for p in points], rows)
        here = [Point((*p.idx[: config.along], at, *p.idx[config.along + 1 :]), p.mask) for p in points]
        (node,) = config.scan.generic.results
        for point, row in zip(here, rows, strict=True):
            self.ev.provide(node, Point(tuple(point.idx[d] for d in config.dims), point.mask), self.steps.value(row[0]))
        write_outputs(self.ev, config.stage, here)
        return rows

    def loop_point(self, point: Point, at: Lin) -> Point:
        """The loops of the generic where element and result are at the same place."""
        config, generic = self.config, self.config.scan.generic
        idx = [ZERO] * len(generic.loops)
        for loop, d in zip(generic.output_map(0).bare_dims, config.dims, strict=True):
            idx[loop] = at if d == config.along else point.idx[d]
        idx[config.scan.window] = at
        return Point(tuple(idx), point.mask)
