"""Recognises a contraction: sums of products of two factors, and which loops belong to which factor.

`contraction_of` reads a stage whose one reduction is `acc + x * y`, where x and y depend on different inputs: matmul,
batch matmul, dot_general and convolutions of any layout. Its loops fall into batch (both factors vary), lane side and
row side (one factor varies) and the summed ones; the lane side is the one that the stage stores contiguously. What
comes between the contraction and the stores must map its loops one to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.arith import AddfOp, AddiOp, ExtFOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from tiree.codegen.common.access import Access, Accesses, mergeable
from tiree.codegen.common.body import BodyEvaluator
from tiree.codegen.common.builder import BF16, F32, element_of
from tiree.codegen.common.combine import reassociation
from tiree.codegen.common.evaluate import Evaluator
from tiree.codegen.common.graph import DispatchInfo, GenericNode, LoadNode, Node, ResultNode, bits_of
from tiree.codegen.common.hazards import reachable, sources
from tiree.codegen.common.linear import ZERO, Lin, Sym, substitute
from tiree.codegen.common.points import Point
from tiree.codegen.common.views import element_count
from tiree.codegen.cpu.stages import Stage

STAGED_DEPTH = 32
"""Products of a sum from which on the way through scratch is short beside it."""
COMPUTE = {"bf16": F32, "f16": F32}
"""Types whose sums are kept in another type: products of 16-bit floats are added in f32 and rounded once."""


def compute_type(element: Attribute) -> Attribute:
    return COMPUTE.get(element.name, element)


@dataclass
class Factor:
    """One side of the product: the value of the body that depends on `inputs` alone, and how it reads memory.

    `accesses` is a dry run over `syms`, one per loop of the generic (`sizes`).
    """

    generic: GenericNode
    value: SSAValue
    inputs: tuple[int, ...]
    ops: tuple[Operation, ...]
    loops: frozenset[int]
    accesses: Accesses = field(default_factory=Accesses)
    syms: list[Sym] = field(default_factory=list[Sym])

    def __post_init__(self) -> None:
        generic = self.generic
        self.syms = [self.accesses.sym(n) for n in generic.loops]
        idx = [Lin.of(s) if n != 1 else ZERO for s, n in zip(self.syms, generic.loops, strict=True)]
        for number in self.inputs:
            at = tuple(substitute(r, idx) for r in generic.maps[number].results if isinstance(r, tuple))
            self.accesses.visit(generic.operands[number], at)

    @property
    def is_plain(self) -> bool:
        """Whether the factor is an element of memory, in the type that is multiplied."""
        return (
            isinstance(self.value, BlockArgument)
            and isinstance(self.generic.operands[self.inputs[0]], LoadNode)
            and compute_type(self.value.type) == self.value.type
        )

    @property
    def converts(self) -> bool:
        """Whether reading the factor takes arithmetic; widening bf16 is a shift that loads hide."""
        return not self.is_plain and any(op.name != "arith.extf" or op.operands[0].type != BF16 for op in self.ops)

    @property
    def pinned(self) -> frozenset[int]:
        """The loops whose index some condition or division looks at."""
        return frozenset(d for d, s in enumerate(self.syms) if s in self.accesses.pinned)

    def strides(self, loop: int) -> list[int | None]:
        """The stride of every access along a loop; None where it varies."""
        return [a.stride(self.syms[loop]) for a in self.accesses.found]

    def contiguous(self, loop: int) -> bool:
        """Whether neighbouring indices of `loop` are neighbours in all memory that they enter."""
        strides = self.strides(loop)
        return 1 in strides and all(s in (0, 1) for s in strides)

    def merges(self, outer: int, inner: int) -> bool:
        """Whether the loops may run as one, with the index in `inner`."""
        sizes = self.generic.loops
        return mergeable(self.syms[outer], sizes[outer], self.syms[inner], sizes[inner], self.accesses)

    def evaluate(self, ev: Evaluator, points: Sequence[Point]) -> list[SSAValue]:
        """The factor at points of the generic's loops, in the type of the sum."""
        generic = self.generic
        columns = [
            ev.values(generic.operands[n], [Point(ev.apply(generic.maps[n], p.idx), p.mask) for p in points])
            for n in self.inputs
        ]
        found: list[SSAValue] = []
        for number, point in enumerate(points):
            body = BodyEvaluator(ev, generic, point.idx, point)
            for position, column in zip(self.inputs, columns, strict=True):
                body.env[generic.body.args[position]] = column[number]
            for op in self.ops:
                body.visit(op)
            found.append(widened(ev, ev.ssa(body.get(self.value))))
        return found


def widened(ev: Evaluator, value: SSAValue) -> SSAValue:
    """A value in the type of sums."""
    element = element_of(value)
    if element == BF16:
        return ev.b.widen(value)
    wide = compute_type(element)
    return value if wide == element else ev.b.cast(ExtFOp, value, wide)


@dataclass
class Contraction:
    """A stage around one contraction.

    `domain[d]` is the stage dim that runs loop d of the generic (None for summed loops and loops of size 1);
    `outer`, `rows` and `lanes` are groups of parallel loops that run as one (the index goes to the last), `sums` the
    reduction loops in order. `outer` are batch loops and lane loops that do not merge with the contiguous one.
    """

    stage: Stage
    node: ResultNode
    lane_factor: Factor
    row_factor: Factor
    domain: list[int | None]
    outer: list[tuple[int, ...]]
    rows: list[tuple[int, ...]]
    lanes: tuple[int, ...]
    sums: list[int]
    reads: list[Access]
    """What the stage reads besides the factors."""

    @property
    def generic(self) -> GenericNode:
        return self.node.generic

    @property
    def element(self) -> Attribute:
        """The type of the sums."""
        return compute_type(self.node.element)

    @property
    def element_bytes(self) -> int:
        return bits_of(self.element) // 8

    def size(self, group: Sequence[int]) -> int:
        return element_count([self.generic.loops[d] for d in group])

    @property
    def row_count(self) -> int:
        return self.size([d for group in self.rows for d in group])

    @property
    def depth(self) -> int:
        """Products per sum."""
        return self.size(self.sums)


def contraction_of(stage: Stage) -> Contraction | None:
    """The contraction of a stage, or None when it holds none or something that this form cannot say."""
    roots = [output.node for output in stage.outputs]
    generics = {n.generic: None for n in reachable(roots) if isinstance(n, ResultNode)}
    reducing = [g for g in generics if element_count([g.loops[d] for d in g.reduction_dims]) != 1]
    if len(reducing) != 1 or any(not g.invertible or _has_regions(g) for g in generics):
        return None
    generic = reducing[0]
    factors = _factors(generic)
    if factors is None or generic.num_results != 1 or 0 in generic.loops or 0 in stage.domain:
        return None
    node = generic.results[0]
    domain = _domain(stage, node)
    if domain is None:
        return None
    return _sorted_out(stage, node, factors, domain)


def is_contraction(info: DispatchInfo) -> bool:
    """Whether some reduction of the dispatch is a sum of products (a cheap test before `contraction_of`)."""
    return any(_product(g) is not None for g in info.generics if g.reduction_dims)


def _has_regions(generic: GenericNode) -> bool:
    return any(op.regions for op in generic.body.ops)


def _product(generic: GenericNode) -> Operation | None:
    """The multiplication of `acc + x * y`."""
    split = reassociation(generic)
    if split is None or split.combiners is None or len(split.combiners) != 1:
        return None
    if split.combiners[0].op not in (AddfOp, AddiOp):
        return None
    last: Any = generic.body.last_op
    total = last.operands[0].owner
    assert isinstance(total, Operation)
    accumulator = generic.body.args[generic.num_inputs]
    product = next((v.owner for v in total.operands if v is not accumulator), None)
    if isinstance(product, Operation) and product.name in ("arith.mulf", "arith.muli"):
        return product if product.parent is generic.body else None
    return None


def _factors(generic: GenericNode) -> tuple[Factor, Factor] | None:
    product = _product(generic)
    if product is None:
        return None
    found: list[Factor] = []
    for value in product.operands:
        factor = _factor(generic, value)
        if factor is None:
            return None
        found.append(factor)
    if set(found[0].inputs) & set(found[1].inputs):
        return None
    return found[0], found[1]


def _factor(generic: GenericNode, value: SSAValue) -> Factor | None:
    """`value` as a function of inputs, when it depends on nothing else that varies."""
    inputs: dict[int, None] = {}
    needed: dict[Operation, None] = {}
    pending = [value]
    while pending:
        owner = (current := pending.pop()).owner
        if isinstance(current, BlockArgument) and owner is generic.body:
            inputs[current.index] = None
        elif isinstance(owner, Operation) and owner.parent is generic.body:
            if owner.name in ("linalg.index", "tensor.extract") or owner.regions:
                return None
            if owner not in needed:
                needed[owner] = None
                pending.extend(owner.operands)
    if not inputs or any(n >= generic.num_inputs for n in inputs):
        return None
    if any(not isinstance(r, tuple) for n in inputs for r in generic.maps[n].results):
        return None
    loops = frozenset(d for n in inputs for d in generic.maps[n].dims_used() if generic.loops[d] != 1)
    ops = tuple(op for op in generic.body.ops if op in needed)
    return Factor(generic, value, tuple(sorted(inputs)), ops, loops)


def _domain(stage: Stage, target: ResultNode) -> list[int | None] | None:
    """The stage dim of every loop of the contraction, when each output reads it at one index per point."""
    found: dict[tuple[int | None, ...], None] = {}
    seen: dict[tuple[Node, tuple[int | None, ...]], None] = {}

    def follow(node: Node, dims: tuple[int | None, ...]) -> bool:
        if (node, dims) in seen:
            return True
        seen[node, dims] = None
        if node is target:
            found[dims] = None
            return True
        if not isinstance(node, ResultNode):
            return target not in reachable(list(sources(node)))
        generic = node.generic
        loops: list[int | None] = [None] * len(generic.loops)
        for d, dim in zip(generic.output_map(node.number).bare_dims, dims, strict=True):
            loops[d] = dim
        for number, operand in enumerate(generic.operands):
            if generic.used_args[number]:
                at = tuple(None if d is None else loops[d] for d in generic.maps[number].plain_dims)
                if not follow(operand, at):
                    return False
        return target not in reachable(list(generic.extracted.values()))

    for output in stage.outputs:
        if not follow(output.node, output.order):
            return None
    if len(found) != 1:
        return None
    (dims,) = found
    generic = target.generic
    domain: list[int | None] = [None] * len(generic.loops)
    for d, dim in zip(generic.output_map(0).bare_dims, dims, strict=True):
        if generic.loops[d] == 1:
            continue
        if dim is None or stage.domain[dim] != generic.loops[d]:
            return None
        domain[d] = dim
    used = [dim for dim in domain if dim is not None]
    if len(set(used)) != len(used) or any(n != 1 and d not in used for d, n in enumerate(stage.domain)):
        return None
    return domain


class _Surroundings:
    """The accesses of a stage outside its contraction, over the loops of the contraction."""

    def __init__(self, stage: Stage, node: ResultNode, domain: Sequence[int | None]) -> None:
        self.loops = node.generic.loops
        self.accesses = Accesses({node})
        self.syms = [self.accesses.sym(n) for n in self.loops]
        idx = [ZERO] * len(stage.domain)
        for d, dim in enumerate(domain):
            if dim is not None:
                idx[dim] = Lin.of(self.syms[d])
        for output in stage.outputs:
            self.accesses.visit(output.node, tuple(idx[d] for d in output.order))
        self.accesses.found = {a: None for a in self.accesses.found if a.node is not node}
        self.reads = list(self.accesses.found)
        self.stores: list[Access] = []
        for output in stage.outputs:
            assert output.view is not None
            address = ZERO
            for d, stride in zip(output.order, output.view.strides, strict=True):
                address = address + idx[d] * stride
            self.stores.append(Access(output.node, address))
            self.accesses.found[self.stores[-1]] = None

    def merges(self, outer: int, inner: int) -> bool:
        return mergeable(self.syms[outer], self.loops[outer], self.syms[inner], self.loops[inner], self.accesses)


def _sorted_out(
    stage: Stage, node: ResultNode, factors: tuple[Factor, Factor], domain: list[int | None]
) -> Contraction | None:
    """Sides and groups of the loops."""
    generic = node.generic
    around = _Surroundings(stage, node, domain)
    if not around.stores or any(output.ref is None for output in stage.outputs):
        return None
    parallel = sorted((d for d, dim in enumerate(domain) if dim is not None), key=lambda d: domain[d] or 0)
    contiguous = [d for d in parallel if around.stores[0].stride(around.syms[d]) == 1]
    x, y = factors
    if len(contiguous) != 1 or (contiguous[0] in x.loops) == (contiguous[0] in y.loops):
        return None
    lane_factor, row_factor = (x, y) if contiguous[0] in x.loops else (y, x)
    if any(d not in x.loops and d not in y.loops for d in parallel):
        return None
    batch = [d for d in parallel if d in x.loops and d in y.loops]
    rows = [d for d in parallel if d not in lane_factor.loops]
    lane_side = [d for d in parallel if d not in row_factor.loops]
    lanes = [lane_side.pop()]
    if lanes != contiguous:
        return None
    while lane_side and _adjacent(lane_side[-1], lanes[0], parallel) and around.merges(lane_side[-1], lanes[-1]):
        lanes.insert(0, lane_side.pop())
    groups: list[tuple[int, ...]] = []
    for d in rows:
        if groups and _adjacent(groups[-1][-1], d, parallel):
            last = groups[-1][-1]
            if around.merges(last, d) and row_factor.merges(last, d):
                groups[-1] = (*groups[-1], d)
                continue
        groups.append((d,))
    sums = [d for d in generic.reduction_dims if generic.loops[d] != 1]
    return Contraction(
        stage,
        node,
        lane_factor,
        row_factor,
        domain,
        [(d,) for d in sorted([*batch, *lane_side], key=parallel.index)],
        groups,
        tuple(lanes),
        sums,
        around.reads,
    )


def _adjacent(a: int, b: int, order: Sequence[int]) -> bool:
    return order.index(b) == order.index(a) + 1


def epilogue_ops(c: Contraction) -> int:
    """Operations on each finished sum."""
    inside = {n.generic: None for n in reachable([c.node]) if isinstance(n, ResultNode)}
    around = reachable([o.node for o in c.stage.outputs])
    found = {n.generic: None for n in around if isinstance(n, ResultNode) and n.generic not in inside}
    return sum(1 for g in found for op in g.body.ops if op.results and op.name != "arith.constant")


def stages_sums(c: Contraction) -> bool:
    """Whether finished sums go through scratch, where tiles have several rows, so that there is code for one row."""
    return c.depth >= STAGED_DEPTH and epilogue_ops(c) >= 2
