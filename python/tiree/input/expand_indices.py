"""`tiree-input-expand-indices`: `affine.linearize_index`, with which IREE joins loops, becomes sums of products."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.affine_ext import LinearizeIndexOp
from tiree.dialects.arith import ConstantOp
from tiree.support.typed import ints_of


def _expand(op: LinearizeIndexOp) -> None:
    block = op.parent
    assert block is not None

    def add(new: Operation) -> SSAValue:
        new.location = op.location
        block.insert_op_before(new, op)
        return new.results[0]

    dynamic = iter(op.dynamic_basis)
    basis = [
        next(dynamic) if size == DYNAMIC_INDEX else add(ConstantOp.index(size)) for size in ints_of(op.static_basis)
    ]
    indices = list(op.multi_index)
    total = indices[0] if indices else add(ConstantOp.index(0))
    inner = basis[len(basis) - len(indices) + 1 :] if indices else []
    for index, size in zip(indices[1:], inner, strict=True):
        total = add(arith.AddiOp(add(arith.MuliOp(total, size)), index))
    op.linear_index.replace_all_uses_with(total)
    block.erase_op(op)


class ExpandIndicesPass(ModulePass):
    """See the module's docstring."""

    name = "tiree-input-expand-indices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for inner in list(op.walk()):
            if isinstance(inner, LinearizeIndexOp):
                _expand(inner)
