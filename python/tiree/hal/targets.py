"""Questions about the device and the executables of a module."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr

from tiree.dialects import hal, util
from tiree.support.errors import CompileError, Diagnostic


def device_global(module: ModuleOp) -> util.GlobalOp:
    """The global that holds the device. Raises `CompileError` when the module names none or several."""
    devices = [op for op in module.ops if isinstance(op, util.GlobalOp) and isinstance(op.type, hal.DeviceType)]
    if len(devices) != 1:
        raise CompileError(
            Diagnostic(
                f"the module names {len(devices)} devices, one is needed",
                hint="compile from an earlier phase, or keep exactly one util.global of type !hal.device",
            )
        )
    return devices[0]


def executable_targets(module: ModuleOp) -> Sequence[hal.ExecutableTargetAttr]:
    """What executables are compiled for."""
    device = device_global(module)
    target = device.initial_value
    if not isinstance(target, hal.DeviceTargetAttr) or not target.targets.data:
        raise CompileError(
            Diagnostic(
                f"device @{device.sym_name.data} has no executable target",
                hint='give it #hal.device.target<"local", [#hal.executable.target<...>]>',
            )
        )
    return target.targets.data


def symbol_path(reference: SymbolRefAttr) -> tuple[str, ...]:
    """`@a::@b::@c` as names."""
    return (reference.root_reference.data, *(name.data for name in reference.nested_references.data))
