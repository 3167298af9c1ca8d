"""`tiree-hal-inline-convert`: the schedule of a program without devices becomes its own commands, in order.

In: host code in `stream`; executables as images (`inline-dynamic`), or their kernels as functions of the host
(`inline-static`). Out: host code in `hal_inline`, `hal_loader` and `util`; one initializer that loads the executables;
executables and devices are gone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tiree.dialects import hal, stream, util
from tiree.hal.inline.constant_branches import fold_constant_branches
from tiree.hal.inline.convert_function import InlineConverter, convert_type
from tiree.hal.inline.kernels import Kernels, LinkedKernels, LoadedKernels
from tiree.hal.targets import device_globals
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of

STATIC, DYNAMIC = "inline-static", "inline-dynamic"
MODELS = (STATIC, DYNAMIC)
"""The execution models without devices."""
FLAG = "--iree-execution-model"


@dataclass(frozen=True)
class ConvertToInlinePass(ModulePass):
    """See the module's docstring."""

    name = "tiree-hal-inline-convert"
    static: bool = False
    """Kernels are functions of the host program, not images."""
    functions_by_name: bool = True
    """False: images hold no names, functions are found by ordinal."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        self._check_devices(op)
        make: Callable[[ModuleOp], Kernels] = LinkedKernels if self.static else self._loaded
        kernels = make(op)
        for global_op in op.ops:
            if isinstance(global_op, util.GlobalOp) and not isinstance(global_op.type, hal.DeviceType):
                global_op.properties["type"] = convert_type(global_op.type)
                if isinstance(global_op.initial_value, stream.TimepointAttr):
                    del global_op.properties["initial_value"]  # a null fence is reached
        for function in list(op.ops):
            if isinstance(function, util.InitializerOp) and function.body.blocks:
                InlineConverter(function.body, kernels).convert()
                fold_constant_branches(function.body)
            elif isinstance(function, util.FuncOp):
                inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
                function.function_type = FunctionType.from_lists(
                    [convert_type(t) for t in inputs], [convert_type(t) for t in outputs]
                )
                if function.body.blocks:
                    InlineConverter(function.body, kernels).convert()
        kernels.finish()
        _drop_devices(op)

    def _loaded(self, module: ModuleOp) -> Kernels:
        return LoadedKernels(module, self.functions_by_name)

    def _check_devices(self, module: ModuleOp) -> None:
        devices = device_globals(module)
        if len(devices) > 1:
            model = STATIC if self.static else DYNAMIC
            names = ", ".join(f"@{device.sym_name.data}" for device in devices)
            raise CompileError(
                Diagnostic(
                    f"{FLAG}={model} makes programs without devices, and this one names several: {names}",
                    location_of(devices[1]),
                    "compile it for async-internal",
                )
            )


def _drop_devices(module: ModuleOp) -> None:
    for op in list(module.ops):
        if isinstance(op, hal.ExecutableOp) or (isinstance(op, util.GlobalOp) and isinstance(op.type, hal.DeviceType)):
            module.body.block.erase_op(op)
    module.attributes.pop("stream.affinity.default", None)


@dataclass(frozen=True)
class CheckHostOnlyPass(ModulePass):
    """`tiree-hal-check-host-only`: refuses what needs a device."""

    name = "tiree-hal-check-host-only"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for function in op.ops:
            if function.name not in ("util.func", "util.initializer"):
                continue
            for inside in function.walk():
                if inside.name.startswith(("stream.", "hal.")):
                    raise CompileError(_needs_a_device(function, inside))


def _needs_a_device(function: Operation, inside: Operation) -> Diagnostic:
    name = f"function @{function.sym_name.data}" if isinstance(function, util.FuncOp) else "an initializer"
    return Diagnostic(
        f"{name} works on tensors ({inside.name}), and {FLAG}=host-only makes programs of scalars",
        location_of(inside),
        "compile it for async-internal, or for inline-dynamic, which needs no device",
    )
