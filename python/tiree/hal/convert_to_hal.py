"""`tiree-hal-convert`: the schedule becomes queue operations and recorded command buffers.

In: host code in `stream`, executables as images. Out: host code in `hal` and `util`; one initializer that finds the
devices, loads the executables, uploads constants and records a reusable command buffer for every
execution whose commands depend on nothing but the memory they are given; variants are gone.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiree.dialects import hal, stream, util
from tiree.dialects.hal_affinity import DeviceAffinityAttr, DeviceOptimalAttr
from tiree.hal.convert_function import FunctionConverter, convert_signature, convert_type
from tiree.hal.executables import Executables
from tiree.hal.initialization import Initialization
from tiree.hal.targets import device_globals


def _needs_device(module: ModuleOp) -> bool:
    """Whether any host code talks to a device."""
    return any(
        nested.name.startswith("stream.")
        for op in module.ops
        if op.name in ("util.func", "util.initializer")
        for nested in op.walk()
    )


_PLACED = frozenset(
    {
        "stream.cmd.execute",
        "stream.cmd.parameter.load",
        "stream.resource.alloca",
        "stream.resource.alloc",
        "stream.file.read",
    }
)
"""Operations that need a device even where they do not say which."""


@dataclass(frozen=True)
class ConvertToHALPass(ModulePass):
    """See the module's docstring."""

    name = "tiree-hal-convert"
    memoize: bool = True
    functions_by_name: bool = True
    """False: images hold no names, functions are found by ordinal."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        if not _needs_device(op):
            _drop_devices(op)
            return
        executables = Executables(op)
        default, used = _used_devices(op)
        start = Initialization(op, executables, self.functions_by_name, default, used)
        for global_op in op.ops:
            if isinstance(global_op, util.GlobalOp):
                global_op.properties["type"] = convert_type(global_op.type)
                if isinstance(global_op.initial_value, stream.TimepointAttr):
                    del global_op.properties["initial_value"]  # a null fence is reached
        for initializer in list(op.ops):
            if isinstance(initializer, util.InitializerOp) and _mentions_stream(initializer):
                FunctionConverter("init", initializer.body, executables, start, False).convert()
                start.absorb(initializer)
        for function in op.ops:
            if isinstance(function, util.FuncOp):
                function.function_type = convert_signature(function.function_type)
                if function.body.blocks:
                    name = function.sym_name.data
                    FunctionConverter(name, function.body, executables, start, self.memoize).convert()
        start.finish()
        executables.drop_variants()
        op.attributes.pop("stream.affinity.default", None)


def _used_devices(module: ModuleOp) -> tuple[DeviceAffinityAttr, list[util.GlobalOp]]:
    """Where work runs that names no place, and the devices on which something runs; the others are dropped."""
    devices = device_globals(module)
    default = module.attributes.get("stream.affinity.default")
    if not isinstance(default, DeviceAffinityAttr):
        default = DeviceAffinityAttr(devices[0].sym_name.data)
    if len(devices) == 1:
        return default, list(devices)
    places = {
        nested.properties.get("affinity") or default
        for op in module.ops
        if op.name in ("util.func", "util.initializer")
        for nested in op.walk()
        if nested.name.startswith("stream.") and (nested.name in _PLACED or "affinity" in nested.properties)
    }
    names = {
        one.device_name
        for place in places
        for one in (place.affinities.data[:1] if isinstance(place, DeviceOptimalAttr) else (place,))
        if isinstance(one, DeviceAffinityAttr)
    }
    for device in devices:
        if device.sym_name.data not in names:
            module.body.block.erase_op(device)
    return default, [device for device in devices if device.sym_name.data in names]


def _mentions_stream(initializer: util.InitializerOp) -> bool:
    return any(nested.name.startswith("stream.") for nested in initializer.walk())


def _drop_devices(module: ModuleOp) -> None:
    """A module of host code alone needs no device."""
    for global_op in list(module.ops):
        if isinstance(global_op, util.GlobalOp) and isinstance(global_op.type, hal.DeviceType):
            module.body.block.erase_op(global_op)
    module.attributes.pop("stream.affinity.default", None)
