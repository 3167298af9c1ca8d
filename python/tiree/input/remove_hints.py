"""`tiree-input-remove-hints`: what IREE tells its own passes about values is taken away.

Compute barriers say where data may not be moved, `util.assume.int` what is known of an integer, a workload ordinal
which dispatch operand a size is. Tiree's rules look at the operations themselves, and its shapes are static.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

HINTS = frozenset(
    [
        "iree_tensor_ext.compute_barrier.start",
        "iree_tensor_ext.compute_barrier.end",
        "iree_tensor_ext.dispatch.workload.ordinal",
        "util.assume.int",
    ]
)
"""Ops whose results are their first operands."""


class RemoveHintsPass(ModulePass):
    """Out: none of the `HINTS`."""

    name = "tiree-input-remove-hints"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for inner in list(op.walk()):
            if inner.name in HINTS:
                for result, operand in zip(inner.results, inner.operands, strict=False):
                    result.replace_all_uses_with(operand)
                inner.detach()
                inner.erase()
