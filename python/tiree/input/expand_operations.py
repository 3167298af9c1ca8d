"""`tiree-input-expand`: StableHLO and CHLO ops that others can say are written with those."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiree.input.expansions import EXPANSIONS
from tiree.input.expansions.build import Build
from tiree.input.expansions.small_floats import computes, has_small_floats, is_foreign, widen
from tiree.input.generalize_named_ops import generalize
from tiree.input.lowering.context import Unsupported
from tiree.input.lowering.refusals import reason_of, refuse


class ExpandOperationsPass(ModulePass):
    """In: a module whose ops are what their specification allows. Out: one without the ops of `EXPANSIONS`, and
    in which no op computes on 4, 6 or 8 bit floats but those that convert them.

    A form of such an op that has no expansion stays, with the reason as an attribute: the lowering reports it together
    with what it cannot lower itself.
    """

    name = "tiree-input-expand"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for inner in list(op.walk()):
            if computes(inner) and has_small_floats(inner):
                widen(inner)
            elif is_foreign(inner) and has_small_floats(inner):
                # While the elements still have their type; later they are bytes.
                try:
                    generalize(inner)
                except Unsupported as reason:
                    refuse(inner, str(reason))
        for inner in list(op.walk()):
            expand = EXPANSIONS.get(inner.name)
            if expand is None or reason_of(inner):
                continue
            try:
                values = expand(Build(inner), inner)
            except Unsupported as reason:
                refuse(inner, str(reason))
                continue
            if values is None:
                continue
            for result, value in zip(inner.results, values, strict=True):
                result.replace_all_uses_with(value)
            inner.detach()
            inner.erase()
