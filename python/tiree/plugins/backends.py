"""`Backend`: what executables can be compiled for besides the CPU through LLVM.

A backend inherits this class. It says what `#hal.executable.target` its variants have, and makes the binary of each.
`--iree-hal-target-backends=NAME` compiles for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType, i8
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tiree.codegen.cpu.lower_to_kernels import LowerToKernels
from tiree.codegen.cpu.select_strategies import SelectStrategies, kernels
from tiree.dialects.dense import DenseAttr
from tiree.dialects.hal_attrs import ExecutableTargetAttr
from tiree.dialects.hal_executable import ExecutableBinaryOp, ExecutableOp, ExecutableVariantOp
from tiree.plugins.guard import GuardedPass, blame
from tiree.support.extensions import Origin
from tiree.support.locations import location_of
from tiree.support.options import CompileOptions
from tiree.support.typed import string_of


@dataclass(frozen=True)
class Function:
    """A dispatch function of an executable: its name, its layout, and its body as a `func.func`."""

    name: str
    constants: int
    bindings: int
    op: Operation


@dataclass(frozen=True)
class Executable:
    """What a backend compiles: a module of dispatch functions, in the order of their ordinals."""

    name: str
    target: ExecutableTargetAttr
    module: ModuleOp
    functions: Sequence[Function]
    options: CompileOptions


class Backend:
    """Inherit, give it a `name`, and write `target` and `compile`."""

    name: str = ""
    device: str = "local"
    """The device that runs its executables."""
    loops: bool = True
    """Whether dispatches come as scalar loops over memrefs (scf, memref, arith, math), or in tensors as they are."""

    def target(self, options: CompileOptions) -> ExecutableTargetAttr:
        """The target of executables: this backend's name, a format that the device loads, and a configuration."""
        raise NotImplementedError(f"backend {self.name} does not say what its target is")

    def compile(self, executable: Executable) -> bytes:
        """The binary of an executable, in the format of its target."""
        raise NotImplementedError(f"backend {self.name} does not compile")

    # What the pipeline asks for; a backend with passes of its own replaces these.

    def configuration_passes(self, options: CompileOptions) -> list[ModulePass]:
        """Passes of the phase `executable-configurations` on the variants of this backend."""
        del options
        return [SelectStrategies(backend=self.name, strategy=_STRATEGY)] if self.loops else []

    def target_passes(self, options: CompileOptions) -> list[ModulePass]:
        """Passes of the phase `executable-targets` on the variants of this backend."""
        lowering = [LowerToKernels(backend=self.name, strategy=_STRATEGY)] if self.loops else []
        return [*lowering, CompileVariants(self, options)]


_STRATEGY = "scalar-fallback"
_NOBODY = Origin("backend")


@dataclass(frozen=True)
class CompileVariants(ModulePass):
    """In: variants of the backend. Out: beside each a `hal.executable.binary`."""

    backend: Backend
    options: CompileOptions
    origin: Origin = _NOBODY

    name = "compile-variants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for executable in list(op.body.block.ops):
            if isinstance(executable, ExecutableOp):
                for variant in executable.variants:
                    if variant.target.backend.data == self.backend.name and variant.inner_module is not None:
                        self._compile(executable, variant, variant.inner_module)

    def _compile(self, executable: ExecutableOp, variant: ExecutableVariantOp, module: ModuleOp) -> None:
        functions = [
            Function(export.sym_name.data, export.layout.constant_count, export.layout.binding_count, function)
            for export, function in kernels(variant, module)
        ]
        what = Executable(executable.sym_name.data, variant.target, module, functions, self.options)
        doing = f"backend {self.backend.name} of {self.origin}, for executable @{what.name},"
        with blame(doing, self.origin, location_of(functions[0].op) if functions else ""):
            data = self.backend.compile(what)
            _check(data, bytes, "compile()")
        attr = DenseAttr.from_buffer(VectorType(i8, [len(data)]), data)
        format = string_of(variant.target.format)
        binary = ExecutableBinaryOp(f"{variant.sym_name.data}_binary", format, attr, "application/octet-stream")
        executable.body.block.insert_op_before(binary, _last(executable))


class GuardedBackend:
    """A backend whose faults are reported with the plugin."""

    def __init__(self, inner: Backend, origin: Origin) -> None:
        self.name, self.device = inner.name, inner.device
        self._inner, self._origin = inner, origin

    def target(self, options: CompileOptions) -> ExecutableTargetAttr:
        with self._blame():
            target = self._inner.target(options)
            _check(target, ExecutableTargetAttr, "target()")
            if target.backend.data != self.name:
                raise ValueError(f"its target names backend {target.backend.data!r}")
            return target

    def configuration_passes(self, options: CompileOptions) -> list[ModulePass]:
        with self._blame():
            return [self._guarded(one) for one in self._inner.configuration_passes(options)]

    def target_passes(self, options: CompileOptions) -> list[ModulePass]:
        with self._blame():
            return [self._guarded(one) for one in self._inner.target_passes(options)]

    def _blame(self) -> Any:
        return blame(f"backend {self.name} of {self._origin}", self._origin)

    def _guarded(self, one: ModulePass) -> ModulePass:
        """Tiree's own passes need no guard."""
        if isinstance(one, CompileVariants):
            return replace(one, origin=self._origin)
        return one if type(one).__module__.startswith("tiree.") else GuardedPass(one, self._origin)


def _check(value: Any, wanted: type, where: str) -> None:
    if not isinstance(value, wanted):
        raise TypeError(f"{where} returns {type(value).__name__}, not {wanted.__name__}")


def _last(executable: ExecutableOp) -> Operation:
    last = executable.body.block.last_op
    assert last is not None
    return last
