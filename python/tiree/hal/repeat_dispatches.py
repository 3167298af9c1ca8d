"""`tiree-hal-repeat-dispatches`: each recorded dispatch is recorded several times, with barriers between, to be timed.

In and out: command buffers. A dispatch that reads what it writes computes something else then, so the results of such
a module mean nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tiree.dialects import hal


@dataclass(frozen=True)
class RepeatDispatchesPass(ModulePass):
    """See the module's docstring. `count`: how often a dispatch stands in the command buffer, at least 1."""

    name = "tiree-hal-repeat-dispatches"
    count: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for dispatch in [one for one in op.walk() if isinstance(one, hal.CommandBufferDispatchOp)]:
            block = dispatch.parent
            assert block is not None
            more: list[Operation] = []
            for _ in range(self.count - 1):
                more += [hal.CommandBufferExecutionBarrierOp(dispatch.command_buffer), dispatch.clone()]
            block.insert_ops_after(more, dispatch)
