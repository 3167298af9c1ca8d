"""Composites whose decomposition leads back to them: each stands for its decomposition, so such a one is nothing.

Functions may call themselves; only cycles that a composite is part of are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Operation

from tiree.support.errors import Diagnostic
from tiree.support.locations import location_of
from tiree.support.symbols import defined_symbol

_COMPOSITE = "stablehlo.composite"
_CALLS = {_COMPOSITE: "decomposition", "func.call": "callee", "util.call": "callee"}
"""Operations that run a function, and what names it."""

Graph = Mapping[str, Mapping[str, Operation]]
"""Of each function those that it runs, with the first operation that does."""


def recursive_composites(module: ModuleOp) -> Iterator[Diagnostic]:
    """A diagnostic for each composite of `module` that is part of its own decomposition, with the way there."""
    graph: dict[str, dict[str, Operation]] = {}
    composites: dict[tuple[str, str], Operation] = {}
    for function in module.body.block.ops:
        caller = defined_symbol(function)
        if caller is None:
            continue
        called = graph.setdefault(caller, {})
        for op in function.walk():
            name = _callee(op) if op.name in _CALLS else None
            if name is not None:
                called.setdefault(name, op)
                if op.name == _COMPOSITE:
                    composites.setdefault((caller, name), op)
    for (caller, callee), op in composites.items():
        way = _way(graph, callee, caller)
        if way:
            names = " -> ".join(f"@{name}" for name in (*way, callee))
            reason = f"its decomposition leads back to it: {names}"
            yield Diagnostic(f"{op.name} is not valid: {reason}", location_of(op))


def _callee(op: Operation) -> str | None:
    name = op.properties.get(_CALLS[op.name], op.attributes.get(_CALLS[op.name]))
    return name.root_reference.data if isinstance(name, SymbolRefAttr) else None


def _way(graph: Graph, start: str, end: str) -> list[str]:
    """The functions from `start` to `end`, both included, on a shortest way; none where there is no way."""
    before: dict[str, str] = {start: start}
    waiting = [start]
    for name in waiting:
        if name == end:
            way = [name]
            while way[-1] != start:
                way.append(before[way[-1]])
            return way[::-1]
        for callee in graph.get(name, ()):
            if callee not in before:
                before[callee] = name
                waiting.append(callee)
    return []
