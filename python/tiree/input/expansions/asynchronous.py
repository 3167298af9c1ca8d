"""`async_start` and `async_done`: the operation is made where it is started. What runs beside what is decided later."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tiree.input.expansions.build import Build
from tiree.input.expansions.scan import inline
from tiree.input.lowering.context import Unsupported
from tiree.input.lowering.reduce import body_of

_DONE = "stablehlo.async_done"


def _start(build: Build, op: Operation) -> Sequence[SSAValue]:
    uses = [use.operation for use in op.results[0].uses]
    others = [use.name for use in uses if use.name != _DONE]
    if others:
        raise Unsupported(f"with a future that {others[0]} takes")
    if not op.regions:
        raise Unsupported("without a body")
    block = body_of(op)
    if len(block.args) not in (0, len(op.operands)):
        raise Unsupported(f"with {len(op.operands)} operands and a body of {len(block.args)} arguments")
    # The operation may also name the operands themselves.
    values = inline(build, block, op.operands if block.args else [])
    for use in uses:
        for result, value in zip(use.results, values, strict=True):
            result.replace_all_uses_with(value)
    # The future is read no more, and `_done` takes out what read it.
    return values[:1]


def _done(build: Build, op: Operation) -> Sequence[SSAValue]:
    del build
    if any(result.first_use is not None for result in op.results):
        raise Unsupported("on a future that stablehlo.async_start does not give directly")
    return [op.operands[0]] * len(op.results)


EXPANSIONS = {"stablehlo.async_start": _start, _DONE: _done}
