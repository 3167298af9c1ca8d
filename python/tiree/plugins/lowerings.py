"""Lowerings of ops of plugins, checked: each result has a value of its type afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation, SSAValue

from tiree.input.lowering.context import Lowering, Unsupported, signless
from tiree.plugins.guard import blame
from tiree.support.extensions import Origin
from tiree.support.locations import location_of


def guarded_lowering(
    lowering: Callable[[Lowering, Any], None], origin: Origin
) -> Callable[[Lowering, Operation], None]:
    """`lowering` with its faults reported; `Unsupported` is an answer, not a fault."""

    def lower(builder: Lowering, op: Operation) -> None:
        unsupported: Unsupported | None = None
        with blame(f"lowering of {op.name}, of {origin},", origin, location_of(op)):
            try:
                lowering(builder, op)
            except Unsupported as reason:
                unsupported = reason
            else:
                _check(builder, op)
        if unsupported is not None:
            raise unsupported

    return lower


def _check(builder: Lowering, op: Operation) -> None:
    for result in op.results:
        value = builder.values.get(result)
        if value is None:
            raise ValueError("it does not say what stands for the result: call builder.set(op.results[0], value)")
        type = value.type
        if type != signless(result.type):
            what = "a value" if isinstance(value, SSAValue) else "a constant"
            raise TypeError(f"the result is {what} of {type}, it must be {signless(result.type)}")
