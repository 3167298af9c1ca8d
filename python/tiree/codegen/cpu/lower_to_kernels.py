"""`tiree-codegen-lower-to-kernels`: dispatch functions become kernel form.

In: variants with dispatch functions on tensors, `tiree.strategy` on their exports (chosen here where it is missing).
Out: the functions hold scf, memref, vector, arith and math only, tables are `memref.global`s of the inner module, and
the count region of each export returns constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass

from tiree.codegen.common.analyze import analyze
from tiree.codegen.common.graph import DispatchInfo, storage_element
from tiree.codegen.common.views import element_count
from tiree.codegen.cpu.attention import STRATEGY as ATTENTION
from tiree.codegen.cpu.attention import attention_of, lower_attention, set_attention_count
from tiree.codegen.cpu.dynamic_loops import STRATEGY as DYNAMIC
from tiree.codegen.cpu.dynamic_loops import is_dynamic, lower_dynamic, set_dynamic_count
from tiree.codegen.cpu.select_strategies import STRATEGY, cpu_variants, is_kernel_form, kernels
from tiree.codegen.cpu.strategies import choose, strategy_named
from tiree.codegen.cpu.strategy import Kernel, Strategy
from tiree.codegen.cpu.tensor_loops import STRATEGY as LOOPS
from tiree.codegen.cpu.tensor_loops import has_tensor_loops, lower_tensor_loops
from tiree.dialects.arith import ConstantOp
from tiree.dialects.hal_executable import ExecutableExportOp
from tiree.dialects.hal_executable import ReturnOp as HalReturnOp
from tiree.dialects.memref_ext import GlobalOp
from tiree.support.cpu_target import TargetDescription
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.typed import symbol_name


def lower_dispatch(
    info: DispatchInfo, target: TargetDescription, name: str | None = None, kernels: Sequence[Strategy] = ()
) -> tuple[str, Kernel]:
    """The kernel of a dispatch, by the named strategy or the first that matches. Raises `CompileError`.

    `kernels` are strategies besides Tiree's own, and asked before them.
    """
    if name is None:
        strategy, config = choose(info, target, kernels)
    else:
        strategy = strategy_named(name, kernels)
        if strategy is None:
            raise CompileError(Diagnostic(f"dispatch {info.name}: no codegen strategy named {name!r}"))
        config = strategy.match(info, target)
        if config is None:
            raise CompileError(Diagnostic(f"dispatch {info.name}: strategy {name} cannot run it on {target.cpu}"))
    return strategy.name, strategy.lower(info, config, target)


def replace_body(function: Operation, inner: ModuleOp, kernel: Kernel, name: str, keep: bool = False) -> Block | None:
    """Puts the kernel's body in place of the function's, and its tables into the module.

    Returns the body that was there if it is to be kept.
    """
    block = kernel.builder.entry
    block.add_op(ReturnOp())
    old = _replace_block(function.regions[0], block, keep)
    for number, table in enumerate(kernel.tables):
        element = storage_element(table.element)
        type = MemRefType(element, [element_count(table.value.shape)])
        inner.body.block.insert_op_before(GlobalOp(f"{name}_table_{number}", type, table.value), function)
    return old


def set_workgroup_count(export: ExecutableExportOp, counts: tuple[int, int, int]) -> None:
    """Makes the count region of `export` return these constants."""
    old = export.workgroup_count
    first = old.blocks.first
    block = Block(arg_types=[arg.type for arg in first.args] if first is not None else [])
    constants = {count: ConstantOp.index(count) for count in counts}
    block.add_ops(list(constants.values()))
    block.add_op(HalReturnOp(*[constants[count].result for count in counts]))
    _replace_block(old, block)


def _replace_block(region: Region, block: Block, keep: bool = False) -> Block | None:
    old = region.blocks.first
    if old is not None:
        region.detach_block(old)
        if not keep:
            old.erase()
    region.add_block(block)
    return old if keep else None


SCALARS = "scalar-fallback"
"""The strategy of backends without vectors."""


@dataclass(frozen=True)
class LowerToKernels(ModulePass):
    """Replaces dispatch functions by kernels."""

    name = "tiree-codegen-lower-to-kernels"

    originals: dict[Operation, Block] | None = None
    """Takes the bodies of dispatch functions by their function, for a pass that may have to lower one again."""
    kernels: Sequence[Strategy] = ()
    """Strategies besides Tiree's own."""
    backend: str = "llvm-cpu"
    """Which variants are lowered."""
    strategy: str = ""
    """The strategy of all dispatches; empty: the one that was chosen for each."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for variant, inner, target in cpu_variants(op, self.backend):
            for export, function in kernels(variant, inner):
                if is_kernel_form(function):
                    continue
                attention = attention_of(function)
                if attention is not None:
                    self._lower_attention(export, function, inner, target, attention)
                    continue
                if is_dynamic(function) and not has_tensor_loops(function):
                    self._lower_dynamic(export, function, inner, target)
                    continue
                if has_tensor_loops(function):
                    export.attributes[STRATEGY] = StringAttr(LOOPS)
                    replace_body(function, inner, lower_tensor_loops(function, target), symbol_name(function))
                    continue
                chosen = StringAttr(self.strategy) if self.strategy else export.attributes.get(STRATEGY)
                wanted = chosen.data if isinstance(chosen, StringAttr) else None
                info = analyze(function)
                name, kernel = lower_dispatch(info, target, wanted, self.kernels)
                export.attributes[STRATEGY] = StringAttr(name)
                old = replace_body(function, inner, kernel, info.name, keep=self.originals is not None)
                if self.originals is not None and old is not None:
                    self.originals[function] = old
                set_workgroup_count(export, kernel.workgroups)

    def _lower_dynamic(
        self, export: ExecutableExportOp, function: Operation, inner: ModuleOp, target: TargetDescription
    ) -> None:
        if self.strategy == SCALARS:
            target = replace(target, vector_bytes=1)
        kernel = lower_dynamic(function, target)
        export.attributes[STRATEGY] = StringAttr(DYNAMIC)
        set_dynamic_count(export, function)
        replace_body(function, inner, kernel, symbol_name(function))

    def _lower_attention(
        self,
        export: ExecutableExportOp,
        function: Operation,
        inner: ModuleOp,
        target: TargetDescription,
        attention: Operation,
    ) -> None:
        if self.strategy == SCALARS:
            target = replace(target, vector_bytes=1)
        kernel = lower_attention(function, attention, target)
        export.attributes[STRATEGY] = StringAttr(ATTENTION)
        if is_dynamic(function):
            set_attention_count(export, function, attention, target)
        else:
            set_workgroup_count(export, kernel.workgroups)
        replace_body(function, inner, kernel, symbol_name(function))
