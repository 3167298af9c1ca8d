"""One executable in kernel form -> an ELF image, with the steps in between kept where they were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tiree.codegen.elf.link import link
from tiree.codegen.llvm.compile import CompiledObject, compile_ir
from tiree.codegen.llvm.library import QUERY_SYMBOL
from tiree.codegen.llvm.module import ModuleEmitter
from tiree.support.cpu_target import TargetDescription


@dataclass(frozen=True)
class Executable:
    """A linked image and what it came from."""

    image: bytes
    compiled: CompiledObject


@dataclass(frozen=True)
class ExportCounts:
    """Constants and bindings of an export's pipeline layout."""

    constants: int
    bindings: int


def needs_optimising(func: Operation) -> bool:
    """Whether a kernel is plain scalar loops, which LLVM's mid-level passes improve; vector code gains nothing."""
    loops = False
    for op in func.walk():
        if op.name.startswith("vector."):
            return False
        loops = loops or op.name in ("scf.for", "scf.while")
    return loops


def emit_ir(
    name: str, module: ModuleOp, target: TargetDescription, exports: Mapping[str, ExportCounts] | None = None
) -> tuple[str, bool]:
    """The LLVM IR of every `func.func` of `module`, in order, and whether it is worth optimising.

    `exports` holds the counts by kernel name. Raises `CompileError` for an op or type that has no lowering.
    """
    emitter = ModuleEmitter(target, name, stack_limit=target.stack_limit)
    ops = list(module.body.block.ops)
    emitter.add_module(ops)
    optimise = False
    for op in ops:
        if op.name == "func.func":
            counts = (exports or {}).get(op.properties["sym_name"].data)  # pyright: ignore[reportAttributeAccessIssue]
            emitter.add_kernel(op, counts and counts.constants, counts and counts.bindings)
            optimise = optimise or needs_optimising(op)
    return emitter.text(), optimise


def build_executable(
    name: str, ir: str, target: TargetDescription, optimise: bool, debug_symbols: bool = False, keep: bool = False
) -> Executable:
    """Compiles and links. Holds no xDSL object, so that many run side by side in threads."""
    compiled = compile_ir(ir, target, optimise=optimise, keep_assembly=keep)
    return Executable(link(compiled.object, QUERY_SYMBOL, name, symbols=debug_symbols), compiled)
