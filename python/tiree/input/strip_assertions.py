"""`tiree-strip-assertions`: no check of what the program assumes is left, neither the user's nor ours.

In: phase `abi`, where checks of sizes are part of a `hal.buffer_view.assert` or a `cf.assert`. Out: none of the two;
what only they computed is gone, too. What sizes were found to be equal stays one value.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

_CHECKS = frozenset({"cf.assert", "hal.buffer_view.assert"})
_PURE = ("arith.", "hal.element_type", "hal.encoding_type", "hal.buffer_view.dim")


@dataclass(frozen=True)
class StripAssertionsPass(ModulePass):
    """See the module's docstring."""

    name = "tiree-strip-assertions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for check in [inner for inner in op.walk() if inner.name in _CHECKS]:
            _erase(check)


def _erase(op: Operation) -> None:
    """Erases `op` and what only it read."""
    work = [op]
    while work:
        gone = work.pop()
        feeding = {operand.owner: None for operand in gone.operands}
        gone.detach()
        gone.erase()
        for owner in feeding:
            if isinstance(owner, Operation) and owner.name.startswith(_PURE) and owner.parent is not None:
                work += [owner] if all(result.first_use is None for result in owner.results) else []
