"""`tiree-codegen-select-strategies`: the strategy of every dispatch, recorded on its export.

In: `hal.executable.variant`s of executable-sources form for a CPU target. Out: the same, with `tiree.strategy` (its
name), `tiree.flops` and `tiree.bytes` on each `hal.executable.export`. Nothing else changes, so the module can still be
handed to another compiler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tiree.codegen.common.analyze import analyze
from tiree.codegen.cpu.attention import STRATEGY as ATTENTION
from tiree.codegen.cpu.attention import attention_of, checked_form
from tiree.codegen.cpu.attention_plan import bytes_of, flops_of
from tiree.codegen.cpu.cost import bytes_moved, flops
from tiree.codegen.cpu.dynamic_loops import STRATEGY as DYNAMIC
from tiree.codegen.cpu.dynamic_loops import is_dynamic
from tiree.codegen.cpu.strategies import choose
from tiree.codegen.cpu.strategy import Strategy
from tiree.codegen.cpu.tensor_loops import STRATEGY as LOOPS
from tiree.codegen.cpu.tensor_loops import has_tensor_loops
from tiree.dialects.hal_executable import ExecutableExportOp, ExecutableVariantOp
from tiree.support.cpu_target import TargetDescription, describe_target
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.typed import is_memref_type, symbol_name

STRATEGY = "tiree.strategy"


def cpu_variants(
    module: ModuleOp, backend: str = "llvm-cpu"
) -> Iterator[tuple[ExecutableVariantOp, ModuleOp, TargetDescription]]:
    """The variants that hold device code for a backend of CPUs, with that code and the target."""
    for executable in module.body.block.ops:
        if executable.name != "hal.executable":
            continue
        for variant in executable.regions[0].block.ops:
            if isinstance(variant, ExecutableVariantOp) and variant.target.backend.data == backend:
                inner = variant.inner_module
                if inner is not None:
                    yield variant, inner, describe_target(variant.target.configuration.data)


def kernels(variant: ExecutableVariantOp, inner: ModuleOp) -> Iterator[tuple[ExecutableExportOp, Operation]]:
    """Each export with its function."""
    functions = {symbol_name(op): op for op in inner.body.block.ops if op.name == "func.func"}
    for export in variant.exports:
        function = functions.get(export.sym_name.data)
        if function is None:
            raise CompileError(
                Diagnostic(f"hal.executable.export @{export.sym_name.data} has no function of that name in its variant")
            )
        yield export, function


_MOST = 2**63 - 1
"""The largest count that an attribute holds; a dispatch of more never ends anyway."""


@dataclass(frozen=True)
class SelectStrategies(ModulePass):
    """Chooses how each dispatch runs."""

    name = "tiree-codegen-select-strategies"

    kernels: Sequence[Strategy] = ()
    """Strategies that are asked before Tiree's own."""
    backend: str = "llvm-cpu"
    """Which variants are looked at."""
    strategy: str = ""
    """The strategy of all dispatches of static shape; empty: the first that matches."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for variant, inner, target in cpu_variants(op, self.backend):
            for export, function in kernels(variant, inner):
                if STRATEGY in export.attributes or is_kernel_form(function):
                    continue
                attention = attention_of(function)
                if attention is not None:
                    export.attributes[STRATEGY] = StringAttr(ATTENTION)
                    _record(export, flops_of(attention, checked_form(attention)), bytes_of(function))
                    continue
                if is_dynamic(function) and not has_tensor_loops(function):
                    export.attributes[STRATEGY] = StringAttr(DYNAMIC)
                    continue
                if has_tensor_loops(function):
                    export.attributes[STRATEGY] = StringAttr(LOOPS)
                    continue
                info = analyze(function)
                name = self.strategy or choose(info, target, self.kernels)[0].name
                export.attributes[STRATEGY] = StringAttr(name)
                _record(export, flops(info), bytes_moved(info))


def _record(export: ExecutableExportOp, flops: int | None, moved: int | None) -> None:
    """What a dispatch computes and moves, where that is known."""
    for name, count in (("tiree.flops", flops), ("tiree.bytes", moved)):
        if count is not None:
            export.attributes[name] = IntegerAttr(min(count, _MOST), i64)


def is_kernel_form(function: Operation) -> bool:
    """Whether a function already works on memory (it came lowered)."""

    for op in function.regions[0].block.ops:
        if op.name == "hal.interface.binding.subspan":
            return is_memref_type(op.results[0].type)
    return True
