"""`tiree-codegen-check-images`: executables that should be machine code by now are.

iree-compile's executables of phase `executable-targets` are functions of the llvm dialect, which it makes machine code
only in phase `hal`; Tiree has no way from that dialect to machine code.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiree.dialects.hal_executable import ExecutableOp, ExecutableVariantOp
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.marks import INLINED


def _is_inlined(variant: ExecutableVariantOp) -> bool:
    """Whether functions of the host program do what its functions do."""
    return all(INLINED in export.attributes for export in variant.exports)


_HINT = "start from executable-configurations, or from hal"


@dataclass(frozen=True)
class CheckImages(ModulePass):
    """Raises `CompileError` naming every executable with device code and no image."""

    name = "tiree-codegen-check-images"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        problems = [
            Diagnostic(f"executable @{one.sym_name.data} is not machine code", location_of(one), _HINT)
            for one in op.body.block.ops
            if isinstance(one, ExecutableOp)
            and not one.binaries
            and any(variant.inner_module is not None and not _is_inlined(variant) for variant in one.variants)
        ]
        if problems:
            raise CompileError(problems)
