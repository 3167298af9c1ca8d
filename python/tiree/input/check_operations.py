"""`tiree-input-check`: operations that break the rules of their specification are reported, all of them at once."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiree.input.checks import wrong_ops
from tiree.input.checks.signatures import wrong_signatures, wrong_types
from tiree.support.errors import CompileError


class CheckOperationsPass(ModulePass):
    """In: any module. Out: the same; its functions and tensors have types that can be compiled, and its StableHLO ops
    have types and attributes that fit. Raises one `CompileError` that lists everything else."""

    name = "tiree-input-check"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        found = [*wrong_signatures(op), *wrong_types(op), *wrong_ops(op)]
        if found:
            raise CompileError(found)
