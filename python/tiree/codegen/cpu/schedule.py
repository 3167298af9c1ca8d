"""Decides what is computed where: which results get scratch, in which order stages run, and which dims are rows.

A reduction is evaluated inside its consumer when each of its elements is needed once there; when the consumer has more
loops (softmax reads each maximum for a whole row) it becomes a stage of its own that fills scratch. So do costly
elementwise results that several stages read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

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
from tiree.codegen.common.views import element_count
from tiree.codegen.cpu.cost import FREE_OPS
from tiree.codegen.cpu.stages import (
    DimClasses,
    Label,
    Output,
    Stage,
    is_expensive,
    operand_labels,
    reads_of,
    sibling_order,
    store_stages,
)

LONG_CHAIN = 12
"""Elementwise ops that are worth storing when several stages read their result; a shorter chain costs about what its
load costs."""


@dataclass
class Schedule:
    """Stages in execution order; `materialised` results live in scratch.

    `rows[s]` are the row dims of stage s's domain, in one order for all stages (`row_sizes`).
    """

    stages: list[Stage]
    materialised: dict[ResultNode, None] = field(default_factory=dict[ResultNode, None])
    row_sizes: tuple[int, ...] = ()
    rows: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])

    def without_rows(self) -> None:
        """Every stage over its whole domain, one after the other."""
        self.rows = [() for _ in self.stages]
        self.row_sizes = ()

    def scratch_bytes(self) -> int:
        """Memory that the scratch of one row takes."""
        total = 0
        for stage, rows in zip(self.stages, self.rows, strict=True):
            for output in stage.outputs:
                if output.ref is None:
                    local = [n for d, n in enumerate(stage.domain) if d not in rows]
                    bits = bits_of(storage_element(output.node.element))
                    total += -(-element_count(local) * bits // 512) * 64
        return total


def schedule(info: DispatchInfo, expensive: bool = True, reductions: bool = True) -> Schedule:
    """The schedule of a dispatch. Without `expensive`, elementwise results are always recomputed; without `reductions`,
    reductions are too (right, but possibly very slow), except those that cannot be evaluated point by point."""
    return _Scheduler(info, expensive, reductions).run()


class _Scheduler:
    def __init__(self, info: DispatchInfo, expensive: bool, reductions: bool) -> None:
        self.info = info
        self.expensive = expensive
        self.reductions = reductions
        self.classes = DimClasses()
        self.chosen: dict[GenericNode, None] = {}
        self.store_stages = store_stages(info)

    def run(self) -> Schedule:
        self.unify()
        while self.choose():
            pass
        scratch = [self.scratch_stage(g) for g in self.info.generics if g in self.chosen]
        stages = [*scratch, *self.store_stages]
        result = Schedule(stages)
        for stage in scratch:
            for output in stage.outputs:
                assert isinstance(output.node, ResultNode)
                result.materialised[output.node] = None
        self.find_rows(result)
        return result

    def scratch_stage(self, generic: GenericNode) -> Stage:
        first = generic.results[0]
        if not generic.invertible:
            return Stage(first.shape, [Output(r, tuple(range(len(r.shape)))) for r in generic.results])
        return Stage(first.shape, [Output(r, sibling_order(first, r)) for r in generic.results])

    def labels_of(self, stage: Stage, output: Output) -> list[Label]:
        """Class keys of the dims of `output.node`."""
        keys = self.domain_keys(stage)
        return [keys[d] for d in output.order]

    def domain_keys(self, stage: Stage) -> list[object]:
        number = next((n for n, s in enumerate(self.store_stages) if s is stage), None)
        if number is not None:
            return [("store", number, d) for d in range(len(stage.domain))]
        node = stage.outputs[0].node
        assert isinstance(node, ResultNode)
        if not node.generic.invertible:
            return [(node.generic, "result", d) for d in range(len(stage.domain))]
        return [(node.generic, d) for d in node.generic.output_map(node.number).plain_dims]

    # Classes -----------------------------------------------------------------------------------------------------

    def unify(self) -> None:
        """Joins the dims that always have the same index; spoils those that are read in any other way."""
        seen: dict[tuple[Node, tuple[object, ...]], None] = {}
        for stage in self.store_stages:
            for output in stage.outputs:
                self._unify(output.node, self.labels_of(stage, output), seen)
        for generic in self.info.generics:
            roots: dict[object, None] = {}
            for d, size in enumerate(generic.loops):
                root = self.classes.find((generic, d))
                if root in roots and size != 1:
                    self.classes.spoil(root)
                roots[root] = None

    def _unify(self, node: Node, labels: Sequence[Label], seen: dict[tuple[Node, tuple[object, ...]], None]) -> None:
        if isinstance(node, (LoadNode, FillNode)) or (node, tuple(labels)) in seen:
            return
        seen[node, tuple(labels)] = None
        if not isinstance(node, ResultNode):
            for source, inner in operand_labels(node, labels):
                self._unify(source, inner, seen)
            return
        generic = node.generic
        if generic.invertible:
            for label, d in zip(labels, generic.output_map(node.number).plain_dims, strict=True):
                if label is None:
                    self.classes.spoil((generic, d))
                else:
                    self.classes.union(label, (generic, d))
        for source, dims in reads_of(generic):
            self._unify(source, [None if d is None or not generic.invertible else (generic, d) for d in dims], seen)

    # Choice of scratch -------------------------------------------------------------------------------------------

    def choose(self) -> bool:
        """One round over all stages; True when something new needs scratch."""
        before = len(self.chosen)
        self.users: dict[GenericNode, dict[int, None]] = {}
        self.seen: dict[tuple[object, ...], None] = {}
        self.costs: dict[GenericNode, int] = {}
        stages = [*self.store_stages, *[self.scratch_stage(g) for g in self.info.generics if g in self.chosen]]
        for number, stage in enumerate(stages):
            loops = self.loop_classes(zip(self.domain_keys(stage), stage.domain, strict=True))
            for output in stage.outputs:
                self.visit(output.node, self.labels_of(stage, output), loops, number, root=output.ref is None)
        return len(self.chosen) > before

    def loop_classes(self, dims: Iterable[tuple[object, int]]) -> frozenset[object]:
        return frozenset(self.classes.find(key) for key, size in dims if size != 1)

    def visit(
        self, node: Node, labels: Sequence[Label], loops: frozenset[object], stage: int, root: bool = False
    ) -> None:
        """`loops` are the classes of all loops around this evaluation."""
        if not isinstance(node, ResultNode):
            for source, inner in operand_labels(node, labels):
                self.visit(source, inner, loops, stage)
            return
        generic = node.generic
        if not root:
            if generic in self.chosen:
                return
            # Where values meet again, as in f(g(x), h(x)), each is asked about once, not once for every way to it.
            key = (stage, node, tuple(labels), loops)
            if key in self.seen:
                return
            self.seen[key] = None
            if self.needs_scratch(node, labels, loops, stage):
                self.chosen[generic] = None
                return
        inner = loops | self.loop_classes(((generic, d), generic.loops[d]) for d in generic.reduction_dims)
        for source, dims in reads_of(generic):
            self.visit(source, [None if d is None else (generic, d) for d in dims], inner, stage)

    def needs_scratch(self, node: ResultNode, labels: Sequence[Label], loops: frozenset[object], stage: int) -> bool:
        generic = node.generic
        if not generic.invertible or generic.snapshot:
            return True
        work = element_count([generic.loops[d] for d in generic.reduction_dims])
        if work != 1:
            if not self.reductions:
                return False
            parallel = self.loop_classes(((generic, d), generic.loops[d]) for d in generic.parallel_dims)
            followed = all(label is not None or n == 1 for label, n in zip(labels, node.shape, strict=True))
            if not followed or not loops <= parallel:
                return True
        elif not self.expensive or not (is_expensive(generic) or self.chain_cost(generic) > LONG_CHAIN):
            return False
        users = self.users.setdefault(generic, {})
        users[stage] = None
        return len(users) > 1

    def chain_cost(self, generic: GenericNode) -> int:
        """Ops that evaluate an elementwise result from memory, scratch and reductions; counting stops when it is
        long."""
        found = self.costs.get(generic)
        if found is None:
            found = sum(1 for op in generic.body.ops if op.name not in FREE_OPS)
            for source, _ in reads_of(generic):
                if found > LONG_CHAIN:
                    break
                inner = source.generic if isinstance(source, ResultNode) else None
                if inner is not None and inner not in self.chosen and not inner.reduction_dims:
                    found += self.chain_cost(inner)
            self.costs[generic] = found
        return found

    # Rows --------------------------------------------------------------------------------------------------------

    def find_rows(self, result: Schedule) -> None:
        keys = [[self.classes.find(k) for k in self.domain_keys(stage)] for stage in result.stages]
        result.rows = [() for _ in result.stages]
        if not result.materialised or not self.store_stages:
            return
        row_dims: list[list[int]] = [[] for _ in result.stages]
        sizes: list[int] = []
        for d, size in enumerate(result.stages[-1].domain):
            root = keys[-1][d]
            if size == 1 or self.classes.is_bad(root) or any(k.count(root) != 1 for k in keys):
                continue
            sizes.append(size)
            for dims, k in zip(row_dims, keys, strict=True):
                dims.append(k.index(root))
        result.row_sizes = tuple(sizes)
        result.rows = [tuple(dims) for dims in row_dims]
