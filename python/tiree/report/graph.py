"""The dispatch graph of each function: what a dispatch reads, which one made it, and of what type it is.

In: the module at the end of phase `flow`. Nodes are dispatches, inputs, outputs, and the other ops that make tensors;
what only gives a tensor another shape or name is no node. Constants and globals are listed at the node that reads them.
A loop is a node's `inside`; what it carries flows from outside in and from its end out, not from one turn to the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from tiree.support.typed import array_of, is_tensor_type, leaf_symbol_of, operands_of, symbol_name, symbol_of

Sources = dict[Any, None]
"""The nodes (by number) and constants (by text) that a value comes from, in order."""

_TRANSPARENT = frozenset(
    ("flow.tensor.reshape", "flow.tensor.bitcast", "tensor.cast", "tensor.expand_shape", "tensor.collapse_shape",
     "util.optimization_barrier", "hal.tensor.barrier", "flow.tensor.constant", "arith.constant", "flow.tensor.empty",
     "util.global.load", "tensor.empty", "flow.tensor.tie_shape")
)  # fmt: skip
_OWN_NODES = ("flow.tensor.", "tensor.", "util.call", "func.call", "flow.call", "flow.channel", "flow.collective")


def dispatch_graphs(module: ModuleOp) -> list[dict[str, Any]]:
    """One graph for each function that has a node, in program order."""
    graphs: list[dict[str, Any]] = []
    for op in module.body.block.ops:
        if op.name in ("util.func", "func.func", "util.initializer") and op.regions:
            graph = _Graph()
            graph.blocks(op.regions[0].blocks, ())
            if any(node["kind"] in ("dispatch", "op") for node in graph.nodes):
                name = symbol_name(op) if op.name != "util.initializer" else "initializer"
                edges = [[*ends, type] for ends, type in graph.edges.items()]
                graphs.append({"function": name, "nodes": graph.nodes, "edges": edges})
    return graphs


class _Graph:
    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.edges: dict[tuple[int, int], str] = {}
        self._sources: dict[SSAValue, Sources] = {}

    def blocks(self, blocks: Iterable[Block], inside: tuple[str, ...]) -> list[list[Sources]]:
        """Adds the ops of a region; what its terminators carry out."""
        ends: list[list[Sources]] = []
        for block in blocks:
            for argument in block.args:
                if not inside and argument not in self._sources and is_tensor_type(argument.type):
                    number = self._node("input", argument.name_hint or f"argument {argument.index}", str(argument.type))
                    self._sources[argument] = {number: None}
            op = block.first_op
            while op is not None:
                if op.next_op is None:
                    ends.append(self._terminator(op))
                else:
                    self._op(op, inside)
                op = op.next_op
        return ends

    def _terminator(self, op: Operation) -> list[Sources]:
        carried = [self._from(value) for value in operands_of(op)]
        values = [value for value in operands_of(op) if is_tensor_type(value.type)]
        if op.name in ("util.return", "func.return"):
            for number, value in enumerate(values):
                self._read(self._node("output", f"result {number}", str(value.type)), [value])
        elif op.successors:
            passed = carried[-sum(len(block.args) for block in op.successors) :]
            for argument in (argument for block in op.successors for argument in block.args):
                if passed:
                    self._sources.setdefault(argument, {}).update(passed.pop(0))
        return carried

    def _op(self, op: Operation, inside: tuple[str, ...]) -> None:
        operands = operands_of(op)
        kind = _kind(op)
        if kind is not None:
            shown = operands if kind == "output" else op.results or operands
            type = str(shown[0].type) if kind != "dispatch" and shown else ""
            number = self._node(kind, _label(op), type)
            if kind == "dispatch":
                self.nodes[number]["dispatch"] = _label(op)
                self.nodes[number]["results"] = [str(result.type) for result in op.results]
            if inside:
                self.nodes[number]["inside"] = " in ".join(reversed(inside))
            self._read(number, operands)
            for result in op.results:
                self._sources[result] = {number: None}
            return
        every: Sources = {}
        for value in operands:
            every.update(self._from(value))
        if not operands and any(is_tensor_type(result.type) for result in op.results):
            every = {_constant(op): None}
        leaving = [every for _ in op.results]
        for region in op.regions:
            for block in region.blocks:
                offset = len(operands) - len(block.args)
                for argument in block.args:
                    place = argument.index + offset
                    self._sources[argument] = self._from(operands[place]) if place >= 0 else {}
            ends = self.blocks(region.blocks, (*inside, op.name))
            if ends and len(ends[-1]) >= len(leaving):
                carried = ends[-1][len(ends[-1]) - len(leaving) :]
                leaving = [{**one, **end} for one, end in zip(leaving, carried, strict=True)]
        for result, sources in zip(op.results, leaving, strict=True):
            self._sources[result] = sources

    def _node(self, kind: str, label: str, type: str) -> int:
        self.nodes.append({"kind": kind, "label": label} | ({"type": type} if type else {}))
        return len(self.nodes) - 1

    def _from(self, value: SSAValue) -> Sources:
        return self._sources.get(value, {})

    def _read(self, number: int, values: Iterable[SSAValue]) -> None:
        constants: list[str] = []
        for value in values:
            for source in self._from(value):
                if isinstance(source, int):
                    known = self.edges.get((source, number))
                    type = str(value.type)
                    self.edges[source, number] = type if known in (None, type) else f"{known}, {type}"
                else:
                    constants.append(source)
        if constants:
            self.nodes[number]["constants"] = constants


def _kind(op: Operation) -> str | None:
    match op.name:
        case "flow.dispatch":
            return "dispatch"
        case "hal.tensor.import":
            return "input"
        case "hal.tensor.export" | "hal.tensor.alias":
            return "output"
        case "flow.tensor.load":
            return None
        case _:
            pass
    if op.name.startswith(_OWN_NODES) and op.name not in _TRANSPARENT:
        return "op"
    return None


def _label(op: Operation) -> str:
    if op.name == "flow.dispatch":
        return leaf_symbol_of(array_of(op.properties["entry_points"])[0])
    name = op.properties.get("name")
    if op.name.startswith("hal.tensor.") and isinstance(name, StringAttr):
        return name.data
    if "callee" in op.properties:
        return f"call {symbol_of(op.properties['callee'])}"
    return op.name


def _constant(op: Operation) -> str:
    what = f"@{symbol_of(op.properties['global'])}" if "global" in op.properties else "a constant"
    return f"{what}: {op.results[0].type}"
