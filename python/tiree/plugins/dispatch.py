"""`Dispatch`: what a kernel of a plugin may ask of a dispatch before it takes it over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import Operation, SSAValue

from tiree.codegen.common.graph import BindingRef, DispatchInfo, FillNode, GenericNode, LoadNode, TableRef
from tiree.codegen.common.views import View
from tiree.codegen.cpu.cost import live_generics, needed_nodes
from tiree.support.cpu_target import TargetDescription
from tiree.support.typed import is_float_attr, is_integer_attr, number_of

_NOT_WORK = ("linalg.yield", "arith.constant", "linalg.index")


@dataclass(frozen=True)
class Operand:
    """Memory that a dispatch reads or writes."""

    ref: BindingRef | TableRef
    shape: tuple[int, ...]
    element: str
    """Such as `f32`."""
    dense: bool
    """Whether its elements lie one after the other, in row-major order, from the start."""


@dataclass(frozen=True)
class Dispatch:
    """One function of an executable: what it reads, computes and writes, all of static shape."""

    info: DispatchInfo
    target: TargetDescription

    @property
    def name(self) -> str:
        return self.info.name

    @cached_property
    def inputs(self) -> Sequence[Operand]:
        """What it reads, in the order of first use."""
        found: dict[tuple[object, ...], Operand] = {}
        nodes = [operand for generic in self.generics for operand in generic.operands]
        needed = needed_nodes(self.info)
        for node in (*nodes, *needed):
            if isinstance(node, LoadNode) and node in needed:
                ref = node.ref
                memory = (ref.binding, ref.offset) if isinstance(ref, BindingRef) else (id(ref), 0)
                key = (*memory, node.view.strides, node.view.base, node.shape)
                found.setdefault(key, _operand(node.ref, node.view, node.shape, str(node.element)))
        return list(found.values())

    @cached_property
    def outputs(self) -> Sequence[Operand]:
        """What it writes."""
        return [
            _operand(store.ref, store.view, store.node.shape, str(store.node.element)) for store in self.info.stores
        ]

    @cached_property
    def generics(self) -> Sequence[GenericNode]:
        """Its `linalg.generic`s, in order; those whose result nobody needs left out."""
        return live_generics(self.info)

    @cached_property
    def ops(self) -> tuple[str, ...]:
        """The names of all scalar operations of its bodies, in order: `("arith.mulf", "arith.addf")` is a product."""
        return tuple(op.name for g in self.generics for op in g.body.walk() if op.name not in _NOT_WORK)

    def starts_at(self, number: float) -> bool:
        """Whether every result of its reductions starts at this constant."""
        starts = [value for g in self.generics if any(g.is_reduction) for value in g.operands[g.num_inputs :]]
        return all(isinstance(start, FillNode) and _constant(start) == number for start in starts)

    @property
    def is_dense(self) -> bool:
        """Whether all memory is dense and no constant table is read."""
        operands = (*self.inputs, *self.outputs)
        return all(operand.dense and isinstance(operand.ref, BindingRef) for operand in operands)


def _constant(node: FillNode) -> int | float | None:
    value = node.value
    if not isinstance(value, SSAValue):
        return value
    op = value.owner
    attr = op.properties.get("value") if isinstance(op, Operation) and op.name == "arith.constant" else None
    return number_of(attr) if is_integer_attr(attr) or is_float_attr(attr) else None


def _operand(ref: BindingRef | TableRef, view: View, shape: Sequence[int], element: str) -> Operand:
    dense = view.is_dense and not view.base and not view.dynamic
    return Operand(ref, tuple(shape), element, dense)
