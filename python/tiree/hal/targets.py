"""Questions about the devices and the executables of a module."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr

from tiree.dialects import hal, util
from tiree.support.errors import CompileError, Diagnostic


def device_globals(module: ModuleOp) -> Sequence[util.GlobalOp]:
    """The globals that hold devices. Raises `CompileError` when the module names none."""
    devices = [op for op in module.ops if isinstance(op, util.GlobalOp) and isinstance(op.type, hal.DeviceType)]
    if not devices:
        raise CompileError(
            Diagnostic(
                "the module names no device, one is needed",
                hint="compile from an earlier phase, or give it a util.global of type !hal.device",
            )
        )
    return devices


def executable_targets(module: ModuleOp) -> Sequence[hal.ExecutableTargetAttr]:
    """What executables are compiled for. Raises `CompileError` for devices that need different ones."""
    devices = device_globals(module)
    for device in devices:
        target = device.initial_value
        if not isinstance(target, hal.DeviceTargetAttr) or not target.targets.data:
            raise CompileError(
                Diagnostic(
                    f"device @{device.sym_name.data} has no executable target",
                    hint='give it #hal.device.target<"local", [#hal.executable.target<...>]>',
                )
            )
    first, *others = (device.initial_value for device in devices)
    assert isinstance(first, hal.DeviceTargetAttr)
    for device, other in zip(devices[1:], others, strict=True):
        assert isinstance(other, hal.DeviceTargetAttr)
        if (other.device_id, other.targets) != (first.device_id, first.targets):
            names = f"@{devices[0].sym_name.data} and @{device.sym_name.data}"
            hint = "give all devices of a program the same kind and the same executable targets"
            raise CompileError(Diagnostic(f"devices {names} have different targets", hint=hint))
    return first.targets.data


def symbol_path(reference: SymbolRefAttr) -> tuple[str, ...]:
    """`@a::@b::@c` as names."""
    return (reference.root_reference.data, *(name.data for name in reference.nested_references.data))
