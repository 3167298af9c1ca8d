"""`tiree-vm-strip-debug-ops`: drops the instructions that only tell a debugger or a log something."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

_DEBUG_OPS = frozenset({"vm.trace", "vm.print"})


class StripDebugOps(ModulePass):
    """In: a module of phase `vm`. Out: the same without `vm.trace` and `vm.print`, which have no results."""

    name = "tiree-vm-strip-debug-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for one in list(op.walk()):
            if one.name in _DEBUG_OPS:
                one.detach()
                one.erase()
