"""`tiree-input-remove-compute-barriers`: IREE's marks of where device work begins and ends are taken away.

They tell IREE's passes where data may not be moved; Tiree's rules look at the ops themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiree.dialects.iree_tensor_ext import ComputeBarrierEndOp, ComputeBarrierStartOp


@dataclass(frozen=True)
class RemoveComputeBarriersPass(ModulePass):
    """Out: no `iree_tensor_ext.compute_barrier.*`."""

    name = "tiree-input-remove-compute-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for inner in list(op.walk()):
            if isinstance(inner, (ComputeBarrierStartOp, ComputeBarrierEndOp)):
                inner.result.replace_all_uses_with(inner.value)
                inner.detach()
                inner.erase()
