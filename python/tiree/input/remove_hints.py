"""`tiree-input-remove-hints`: what IREE tells its own passes about values is taken away.

Compute barriers say where data may not be moved, `util.assume.int` what is known of an integer, a workload ordinal
which dispatch operand a size is. Tiree's rules look at the operations themselves; where shapes are dynamic, at
the last two as well.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from tiree.dialects.arith import constant_int
from tiree.dialects.iree_tensor_ext import DispatchTensorType
from tiree.support.typed import is_memref_type, is_tensor_type

HINTS = frozenset(
    [
        "iree_tensor_ext.compute_barrier.start",
        "iree_tensor_ext.compute_barrier.end",
        "iree_tensor_ext.dispatch.workload.ordinal",
        "util.assume.int",
    ]
)
"""Ops whose results are their first operands."""


_OF_SIZES = frozenset(["iree_tensor_ext.dispatch.workload.ordinal", "util.assume.int"])


def _binds_dynamic(block: Block) -> bool:
    """Whether a dispatch body has tensors or memory with `?`: its number of workgroups depends on the workload."""
    values = [*block.args, *(result for op in block.ops for result in op.results)]
    for value in values:
        type = value.type.bound_type if isinstance(value.type, DispatchTensorType) else value.type
        if (is_tensor_type(type) or is_memref_type(type)) and DYNAMIC_INDEX in type.get_shape():
            return True
    return False


class RemoveHintsPass(ModulePass):
    """Out: none of the `HINTS`, but for those of sizes where the number of workgroups depends on them."""

    name = "tiree-input-remove-hints"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        sized: dict[Block | None, bool] = {}
        for inner in list(op.walk()):
            if inner.name in _OF_SIZES:
                block = inner.parent
                if block not in sized:
                    sized[block] = block is not None and _binds_dynamic(block)
                if sized[block] and all(constant_int(operand) is None for operand in inner.operands):
                    continue
            if inner.name in HINTS:
                for result, operand in zip(inner.results, inner.operands, strict=False):
                    result.replace_all_uses_with(operand)
                inner.detach()
                inner.erase()
