"""A dry run of evaluation: every memory access of a loop nest as a linear form of the loops, before any code exists.

Strategies read off it which loop is contiguous, which accesses are strided or gathered, and which loops may be merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tiree.codegen.common.body import constant_of_ssa
from tiree.codegen.common.graph import (
    ConcatNode,
    GenericNode,
    InsertNode,
    LoadNode,
    Node,
    PadNode,
    ReshapeNode,
    ResultNode,
    SliceNode,
)
from tiree.codegen.common.linear import SCALAR, VECTOR, ZERO, Lin, Sym, substitute
from tiree.codegen.common.views import row_major_strides
from tiree.support.typed import int_of

GATHERED = None
"""The stride of an access whose address depends on a loop in no linear way."""


@dataclass(frozen=True)
class Access:
    """One access: `address` in elements; opaque symbols hold the loops they depend on in `value`."""

    node: Node
    address: Lin

    def stride(self, sym: Sym) -> int | None:
        """Elements between neighbouring steps of loop `sym`; GATHERED when that varies."""
        stride = 0
        for term, coefficient in self.address.terms:
            if term is sym:
                stride = coefficient
            elif term.kind is VECTOR and sym in term.value:
                return GATHERED
        return stride


class Accesses:
    """Collects accesses from `visit`; `pinned` are loops that some condition, division or index op looks at."""

    def __init__(self, materialised: frozenset[ResultNode] | set[ResultNode] = frozenset()) -> None:
        self.materialised = materialised
        self.found: dict[Access, None] = {}
        self.pinned: dict[Sym, None] = {}
        self.reduction_syms: dict[GenericNode, tuple[Sym, ...]] = {}
        self.generics: dict[GenericNode, None] = {}
        self._seen: dict[tuple[object, tuple[Lin, ...]], None] = {}
        self._order = 0

    def sym(self, size: int) -> Sym:
        self._order += 1
        return Sym(self._order, SCALAR, None, 0, max(size - 1, 0))

    def opaque(self, depends: Sequence[Lin], low: int, high: int) -> Lin:
        self._order += 1
        return Lin.of(Sym(self._order, VECTOR, frozenset(self.syms(depends)), low, high))

    def syms(self, lins: Sequence[Lin]) -> list[Sym]:
        found: dict[Sym, None] = {}
        for lin in lins:
            for term, _ in lin.terms:
                for sym in term.value if term.kind is VECTOR else (term,):
                    found[sym] = None
        return list(found)

    def pin(self, *lins: Lin) -> None:
        self.pinned.update(dict.fromkeys(self.syms(lins)))

    def record(self, node: Node, base: int, idx: Sequence[Lin], strides: Sequence[int]) -> None:
        address = Lin(base)
        for index, stride in zip(idx, strides, strict=True):
            if stride:
                address = address + index * stride
        self.found[Access(node, address)] = None

    def visit(self, node: Node, idx: tuple[Lin, ...]) -> None:
        """Accesses that evaluating `node` at `idx` makes."""
        key = (node, idx)
        if key in self._seen:
            return
        self._seen[key] = None
        match node:
            case LoadNode():
                self.record(node, node.view.base, idx, node.view.strides)
            case ResultNode():
                self.result(node, idx)
            case PadNode():
                for d, (index, low) in enumerate(zip(idx, node.low, strict=True)):
                    if low != 0 or node.shape[d] != node.source.shape[d]:
                        self.pin(index)
                self.visit(
                    node.source,
                    tuple(i - (low if isinstance(low, int) else 0) for i, low in zip(idx, node.low, strict=True)),
                )
            case SliceNode():
                moved = [Lin(o) if isinstance(o, int) else ZERO for o in node.offsets]
                for index, dim in zip(idx, node.kept, strict=True):
                    moved[dim] = moved[dim] + index * node.steps[dim]
                self.visit(node.source, tuple(moved))
            case InsertNode():
                self.pin(*idx)
                self.visit(node.dest, idx)
                self.visit(node.source, tuple(idx[d] for d in node.kept))
            case ConcatNode():
                self.pin(idx[node.dim])
                for source in node.sources:
                    self.visit(source, idx)
            case ReshapeNode():
                self.pin(*idx)
                linear = ZERO
                for index, stride in zip(idx, row_major_strides(node.shape), strict=True):
                    linear = linear + index * stride
                self.visit(node.source, tuple(self.delinearize(linear, node.source.shape)))
            case _:
                self.pin(*idx) if node.__class__.__name__ == "ElementsNode" else None

    def delinearize(self, linear: Lin, shape: Sequence[int]) -> list[Lin]:
        if len(shape) <= 1:
            return [linear] if shape else []
        strides = row_major_strides(shape)
        for position in range(1, len(shape)):
            split = linear.split(strides[position - 1])
            if split is not None:
                return self.delinearize(split[0], shape[:position]) + self.delinearize(split[1], shape[position:])
        rest = self.opaque([linear], 0, strides[0] - 1)
        return [self.opaque([linear], 0, shape[0] - 1), *self.delinearize(rest, shape[1:])]

    def result(self, node: ResultNode, idx: tuple[Lin, ...]) -> None:
        if node in self.materialised:
            self.record(node, 0, idx, row_major_strides(node.shape))
            return
        generic = node.generic
        if not generic.invertible:
            self.pin(*idx)
            return
        loops = [ZERO] * len(generic.loops)
        for dim, index in zip(generic.output_map(node.number).bare_dims, idx, strict=True):
            loops[dim] = index
        self.nest(generic, loops)

    def nest(self, generic: GenericNode, loops: list[Lin]) -> None:
        """Accesses of a generic's body at these loop indices; reduction dims get symbols of their own."""
        self.generics[generic] = None
        if generic.reduction_dims:
            syms = self.reduction_syms.get(generic)
            if syms is None:
                syms = tuple(self.sym(generic.loops[d]) for d in generic.reduction_dims)
                self.reduction_syms[generic] = syms
            for d, sym in zip(generic.reduction_dims, syms, strict=True):
                loops[d] = Lin.of(sym) if generic.loops[d] != 1 else ZERO
        key = (generic, tuple(loops))
        if key in self._seen:
            return
        self._seen[key] = None
        for position, operand in enumerate(generic.operands):
            if generic.used_args[position]:
                at = tuple(
                    substitute(r, loops) if isinstance(r, tuple) else self._affine(loops)
                    for r in generic.maps[position].results
                )
                self.visit(operand, at)
        known: dict[SSAValue, Lin] = {}
        for op in generic.body.ops:
            if op.name == "tensor.extract":
                at = tuple(self.body_index(generic, v, loops, known) for v in op.operands[1:])
                self.visit(generic.extracted[op.operands[0]], at)
            elif op.name == "linalg.index":
                self.pin(loops[int_of(op.properties["dim"])])

    def _affine(self, loops: Sequence[Lin]) -> Lin:
        """Some index of a map result with division or remainder."""
        self.pin(*loops)
        return self.opaque(loops, 0, 1 << 40)

    def body_index(
        self, generic: GenericNode, value: SSAValue, loops: Sequence[Lin], known: dict[SSAValue, Lin]
    ) -> Lin:
        """An index computed in a body, as far as it is linear in the loops; `known` are those of this body so far."""
        if value not in known:
            known[value] = self._body_index(generic, value, loops, known)
        return known[value]

    def _body_index(
        self, generic: GenericNode, value: SSAValue, loops: Sequence[Lin], known: dict[SSAValue, Lin]
    ) -> Lin:
        constant = constant_of_ssa(value)
        if constant is not None:
            return Lin(constant)
        op = value.owner
        if not isinstance(op, Operation):
            position = generic.body.args.index(value)
            used = generic.maps[position].dims_used() if position < generic.num_inputs else range(len(loops))
            return self.opaque([loops[d] for d in used], 0, 1 << 30)
        if op.parent is not generic.body:
            return self.opaque([], 0, 1 << 30)
        if op.name == "linalg.index":
            return loops[int_of(op.properties["dim"])]
        inputs = [self.body_index(generic, v, loops, known) for v in op.operands]
        match op.name:
            case "arith.addi":
                return inputs[0] + inputs[1]
            case "arith.subi":
                return inputs[0] - inputs[1]
            case "arith.muli" if inputs[0].is_const or inputs[1].is_const:
                return inputs[0] * inputs[1].const if inputs[1].is_const else inputs[1] * inputs[0].const
            case "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" | "arith.trunci":
                return inputs[0]
            case "arith.maxsi" | "arith.minsi":
                return self._clamped(op.name == "arith.maxsi", inputs)
            case _:
                return self.opaque(inputs, 0, 1 << 30)

    def _clamped(self, greatest: bool, inputs: Sequence[Lin]) -> Lin:
        (a_low, a_high), (b_low, b_high) = inputs[0].bounds(), inputs[1].bounds()
        if (a_low >= b_high) if greatest else (a_high <= b_low):
            return inputs[0]
        if (b_low >= a_high) if greatest else (b_high <= a_low):
            return inputs[1]
        return self.opaque(inputs, 0, 1 << 30)


def mergeable(outer: Sym, outer_size: int, inner: Sym, inner_size: int, accesses: Accesses) -> bool:
    """Whether loops `outer` and `inner` may run as one loop of `inner` over both sizes."""
    if outer in accesses.pinned or inner in accesses.pinned:
        return False
    for access in accesses.found:
        a, b = access.stride(outer), access.stride(inner)
        if a is None or b is None or a != b * inner_size:  # None: GATHERED
            return False
    return outer_size > 0
