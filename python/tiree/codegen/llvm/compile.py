"""LLVM IR text -> object bytes, through llvmlite.

A vector kernel needs no mid-level passes (the emitter writes SSA already optimised); a module with plain scalar loops
gets LLVM's O2 pipeline with its vectoriser. Every compile has its own LLVM context, so compiles run side by side.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tiree.support.errors import CompileError

if TYPE_CHECKING:
    from llvmlite.binding import ModuleRef, TargetMachine

    from tiree.support.cpu_target import TargetDescription

_lock = threading.Lock()
_ready = False


@dataclass(frozen=True)
class CompiledObject:
    """An object file, and the texts it came from where they were asked for."""

    object: bytes
    ir: str
    optimised_ir: str = ""
    assembly: str = ""


def _register_targets() -> None:
    """Makes every target known to LLVM, once."""
    global _ready
    import llvmlite.binding as llvm

    with _lock:
        if not _ready:
            llvm.initialize_all_targets()
            llvm.initialize_all_asmprinters()
            _ready = True


def _unlocked(name: str) -> Any:
    """A C function of llvmlite without its process-wide lock.

    llvmlite serialises every call. Code generation of separate contexts is independent in LLVM, and it is where the
    time goes, so it runs outside the lock.
    """
    from llvmlite.binding import ffi

    function = getattr(ffi.lib, name)
    return getattr(function, "_cfn", function)


def _emit(machine: TargetMachine, module: ModuleRef, object: bool) -> bytes:
    from ctypes import string_at

    from llvmlite.binding import ffi

    emit = _unlocked("LLVMPY_TargetMachineEmitToMemory")
    with ffi.OutputString() as error:
        buffer = emit(machine, module, int(object), error)
        if not buffer:
            raise CompileError(f"LLVM could not generate code: {error}")
    lib = ffi.lib
    try:
        return string_at(lib.LLVMPY_GetBufferStart(buffer), lib.LLVMPY_GetBufferSize(buffer))
    finally:
        lib.LLVMPY_DisposeMemoryBuffer(buffer)


def create_machine(target: TargetDescription, opt: int = 2) -> TargetMachine:
    """A target machine. Raises `CompileError` when LLVM has no such target."""
    import llvmlite.binding as llvm

    _register_targets()
    try:
        llvm_target = llvm.Target.from_triple(target.triple)
    except RuntimeError as error:
        raise CompileError(f"LLVM has no target for triple '{target.triple}': {error}") from error
    return llvm_target.create_target_machine(
        cpu=target.cpu,
        features=target.features,
        opt=opt,
        reloc="pic",
        codemodel="small",
        abiname=target.abi,
    )


def _run_passes(module: ModuleRef, machine: TargetMachine) -> None:
    import llvmlite.binding as llvm

    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = True
    options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


@dataclass(frozen=True)
class IRFunction:
    """A function of a module of LLVM IR."""

    name: str
    is_declaration: bool
    arguments: tuple[str, ...]
    """Their types."""


def ir_functions(text: str) -> list[IRFunction]:
    """The functions of a module, which is verified. Raises `RuntimeError` with LLVM's words."""
    import llvmlite.binding as llvm

    _register_targets()
    with llvm.create_context() as context, llvm.parse_assembly(text, context) as module:
        module.verify()
        return [
            IRFunction(one.name, one.is_declaration, tuple(str(argument.type) for argument in one.arguments))
            for one in module.functions
        ]


def _link(module: ModuleRef, other: ModuleRef) -> None:
    """Moves `other` into `module`, where nobody else sees its functions."""
    other.triple, other.data_layout = module.triple, module.data_layout
    names = [function.name for function in other.functions if not function.is_declaration]
    module.link_in(other)
    for name in names:
        module.get_function(name).linkage = "internal"


def compile_ir(
    text: str,
    target: TargetDescription,
    optimise: bool = False,
    keep_assembly: bool = False,
    linked: Sequence[str] = (),
) -> CompiledObject:
    """Compiles a module, with those that are `linked` to it. `optimise` runs the mid-level pipeline.

    Invalid IR is a bug of whoever wrote it: RuntimeError.
    """
    import llvmlite.binding as llvm

    _register_targets()
    # Closed in this order even when the traceback of an exception keeps them: a module must not outlive its context.
    with llvm.create_context() as context, llvm.parse_assembly(text, context) as module:
        for other in linked:
            with llvm.parse_assembly(other, context) as part:
                _link(module, part)
        module.verify()
        machine = create_machine(target)
        optimised = ""
        if optimise:
            _run_passes(module, machine)
            optimised = str(module)
        assembly = _emit(machine, module, object=False).decode() if keep_assembly else ""
        return CompiledObject(_emit(machine, module, object=True), text, optimised, assembly)
