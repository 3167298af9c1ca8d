"""Questions about the devices and the executables of a module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr

from tiree.dialects import hal, stream, util
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.symbols import SymbolNames

INLINE_BACKEND = "vmvx-inline"
"""Its kernels become part of the host program, which only the model inline-static has."""


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


class DeviceTargets:
    """What the executables of each device of a module are compiled for, and the names of the variants."""

    def __init__(self, module: ModuleOp) -> None:
        self._devices = {device.sym_name.data: device for device in device_globals(module)}
        self._default = default_device(module)
        self._targets: dict[str, Sequence[hal.ExecutableTargetAttr]] = {}

    def of(self, device: str) -> Sequence[hal.ExecutableTargetAttr]:
        """The targets of a device, the preferred first. Raises `CompileError` for one without."""
        found = self._targets.get(device)
        if found is None:
            found = [target for one in self.choices(device) for target in one.targets.data]
            if not found:
                raise CompileError(
                    Diagnostic(
                        f"device @{device} has no executable target",
                        hint='give it #hal.device.target<"local", [#hal.executable.target<...>]>',
                    )
                )
            found = self._targets[device] = list(dict.fromkeys(found))
        return found

    def choices(self, device: str) -> list[hal.DeviceTargetAttr]:
        """What a device may be: the first of these that the program is given. Raises `CompileError`."""
        return list(self._choices(device, ()))

    def _choices(self, device: str, inside: tuple[str, ...]) -> Iterator[hal.DeviceTargetAttr]:
        if device in inside:
            raise CompileError(f"device @{device} falls back to itself")
        global_op = self._devices.get(device)
        if global_op is None:
            raise CompileError(f"device @{device} is not in the module; it has {', '.join(self._devices)}")
        value = global_op.initial_value
        for one in value.devices.data if isinstance(value, hal.DeviceSelectAttr) else (value,):
            if isinstance(one, hal.DeviceTargetAttr):
                yield one
            elif isinstance(one, hal.DeviceFallbackAttr):
                yield from self._choices(one.device_name, (*inside, device))

    def names(self) -> dict[hal.ExecutableTargetAttr, str]:
        """A name for the variants of each target: that of its format, numbered where several have the same."""
        names, taken = dict[hal.ExecutableTargetAttr, str](), SymbolNames()
        for device in self._devices:
            for target in self.of(device):
                if target not in names:
                    names[target] = taken.unique(target.symbol_name)
        return names

    def sharing_a_format(self) -> set[hal.ExecutableTargetAttr]:
        """The targets of devices that have another one of the same format."""
        found: set[hal.ExecutableTargetAttr] = set()
        for device in self._devices:
            targets = self.of(device)
            formats = [target.format for target in targets]
            found.update(target for target in targets if formats.count(target.format) > 1)
        return found

    def dispatches(self, module: ModuleOp) -> Iterator[tuple[stream.CmdDispatchOp, str]]:
        """Every dispatch with the device that runs it."""
        for function in module.ops:
            if function.name not in ("util.func", "util.initializer"):
                continue
            for op in function.walk():
                if isinstance(op, stream.CmdExecuteOp):
                    device = placed_on(op.affinity, self._default)
                    for dispatch in op.walk():
                        if isinstance(dispatch, stream.CmdDispatchOp):
                            yield dispatch, device


def default_device(module: ModuleOp) -> str:
    """The device of work that names none."""
    default = module.attributes.get("stream.affinity.default")
    if isinstance(default, hal.DeviceAffinityAttr):
        return default.device_name
    return device_globals(module)[0].sym_name.data


def placed_on(affinity: object, default: str) -> str:
    """The device that an affinity names; of several, the first."""
    if isinstance(affinity, hal.DeviceOptimalAttr):
        affinity = affinity.affinities.data[0]
    return affinity.device_name if isinstance(affinity, hal.DeviceAffinityAttr) else default


def symbol_path(reference: SymbolRefAttr) -> tuple[str, ...]:
    """`@a::@b::@c` as names."""
    return (reference.root_reference.data, *(name.data for name in reference.nested_references.data))
