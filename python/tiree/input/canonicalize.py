"""`tiree-input-canonicalize`: removes what nobody uses; one backward walk."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

_PURE_PREFIXES = ("arith.", "math.", "tensor.", "linalg.", "complex.")
_PURE_CONTROL = ("scf.if", "scf.for", "scf.while", "scf.index_switch")


class CanonicalizePass(ModulePass):
    """In, out: `util.func`s on linalg. Out: no operation without effects whose results are unused."""

    name = "tiree-input-canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for function in op.body.block.ops:
            for region in function.regions:
                erase_dead(region)


def erase_dead(region: Region) -> None:
    """Erases unused pure operations, users first; nested regions after their parent proved alive."""
    for block in region.blocks:
        op = block.last_op
        while op is not None:
            previous = op.prev_op
            if _is_dead(op):
                op.detach()
                op.erase()
            else:
                for inner in op.regions:
                    erase_dead(inner)
            op = previous


def _is_dead(op: Operation) -> bool:
    if any(result.first_use is not None for result in op.results):
        return False
    if not op.results or op.has_trait(IsTerminator):
        return False
    if op.name in _PURE_CONTROL:
        # A while may not end; what it computes is all that a program can see of it.
        return all(_is_pure(inner) for region in op.regions for inner in region.walk())
    return op.name.startswith(_PURE_PREFIXES)


def _is_pure(op: Operation) -> bool:
    return op.name.startswith(_PURE_PREFIXES) or op.name in (*_PURE_CONTROL, "scf.yield", "scf.condition")
