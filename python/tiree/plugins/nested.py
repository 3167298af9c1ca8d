"""Passes that a pipeline runs on each function: `func.func(cse)`.

A pass works on a module. Here it gets one that holds a single function, which is put back afterwards, so it sees
nothing of the others and cannot change what is around them.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass

from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import symbol_name

ANCHORS = ("func.func", "util.func")
"""What passes can run on each of."""


class NestedPass(ModulePass):
    """Runs `inner` on each `anchor` of the module. Raises `CompileError` if that does more than change functions."""

    def __init__(self, inner: ModulePass, anchor: str) -> None:
        object.__setattr__(self, "inner", inner)
        object.__setattr__(self, "anchor", anchor)
        object.__setattr__(self, "name", inner.name)

    inner: ModulePass
    anchor: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [one for one in op.body.block.ops if one.name == self.anchor]:
            self._on_function(ctx, op, function)

    def _on_function(self, ctx: Context, module: ModuleOp, function: Operation) -> None:
        block, following, name = module.body.block, function.next_op, symbol_name(function)
        function.detach()
        alone = ModuleOp(Region(Block([function])), dict(module.attributes))
        self.inner.apply(ctx, alone)
        left = list(alone.body.block.ops)
        if [one.name for one in left] != [self.anchor] or symbol_name(left[0]) != name:
            what = f"pass {self.name} changes what is around {self.anchor} @{name}"
            raise CompileError(Diagnostic(what, location_of(function), f"write it outside of {self.anchor}(...)"))
        left[0].detach()
        if following is None:
            block.add_op(left[0])
        else:
            block.insert_op_before(left[0], following)
