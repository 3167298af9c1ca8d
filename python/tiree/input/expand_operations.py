"""`tiree-input-expand`: StableHLO and CHLO ops that others can say are written with those."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tiree.input.expansions import EXPANSIONS
from tiree.input.expansions.build import Build
from tiree.input.expansions.small_floats import computes, has_small_floats, widen
from tiree.input.lowering.context import Lowering, Unsupported
from tiree.support.errors import CompileError


class ExpandOperationsPass(ModulePass):
    """In: a module whose ops are what their specification allows. Out: one without the ops of `EXPANSIONS`, and
    in which no op computes on 4, 6 or 8 bit floats but those that convert them.

    Raises one `CompileError` for all forms of such ops that have no expansion.
    """

    name = "tiree-input-expand"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for inner in list(op.walk()):
            if computes(inner) and has_small_floats(inner):
                widen(inner)
        reported: dict[str, list[Operation]] = {}
        for inner in list(op.walk()):
            expand = EXPANSIONS.get(inner.name)
            if expand is None:
                continue
            try:
                values = expand(Build(inner), inner)
            except Unsupported as reason:
                reported.setdefault(f"{inner.name} {reason}".strip(), []).append(inner)
                continue
            for result, value in zip(inner.results, values, strict=True):
                result.replace_all_uses_with(value)
            inner.detach()
            inner.erase()
        if reported:
            raise CompileError(Lowering(diagnostics=reported).report())
