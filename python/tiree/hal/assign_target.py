"""`tiree-hal-assign-target`: names the devices that a module is compiled for.

In: a module that may have named them itself; promises of devices. Out: a `util.global private` with a
`#hal.device.target` for each (`@__device_0` unless it has a name), affinities to them in the place of promises, and the
module attribute `stream.affinity.default` that points to the device of work that names none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from tiree.dialects import hal, util
from tiree.support.devices import FLAG, DeviceSpec, default_device, parse_devices
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.symbols import SymbolNames

DEVICE_GLOBAL = "__device_0"
_PLACES = ("target", "affinity", "stream.affinity")
"""What properties and attributes name a device."""


def device_target(triple: str, cpu: str, features: str, stack_limit: int) -> hal.DeviceTargetAttr:
    """The local CPU device for a triple, CPUs (with commas between) and features.

    Raises `CompileError` for names that LLVM does not know.
    """
    from tiree.support.cpu_variants import resolve_cpu_targets

    targets = [_cpu_target(facts) for facts in resolve_cpu_targets(triple, cpu, features, stack_limit)]
    return hal.DeviceTargetAttr("local", targets)


def _cpu_target(facts: Mapping[str, Any]) -> hal.ExecutableTargetAttr:
    configuration: dict[str, Attribute] = {
        name: IntegerAttr(value, i64) if isinstance(value, int) else StringAttr(value)
        for name, value in sorted(facts.items())
        if name != "format"
    }
    return hal.ExecutableTargetAttr("llvm-cpu", facts["format"], configuration)


def _numbered(target: hal.DeviceTargetAttr, device: DeviceSpec) -> hal.DeviceTargetAttr:
    if device.ordinal is None:
        return target
    number = {"ordinal": IntegerAttr(device.ordinal, IndexType())}
    return hal.DeviceTargetAttr(target.device_id.data, target.targets.data, number)


@dataclass(frozen=True)
class AssignTargetPass(ModulePass):
    """See the module's docstring."""

    name = "tiree-hal-assign-target"
    triple: str = ""
    cpu: str = "host"
    features: str = ""
    stack_limit: int = 32768
    device: hal.DeviceTargetAttr | None = None
    """The device; None: local CPUs, described by the other fields."""
    devices: tuple[str, ...] = ()
    """`[NAME=]local[ORDINAL]` each; empty: one."""
    default: str = ""
    """Name or number of the device of work that names none."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        given = [o.sym_name.data for o in op.ops if isinstance(o, util.GlobalOp) and isinstance(o.type, hal.DeviceType)]
        default = given[0] if given else self._name_devices(op, given)
        op.attributes.setdefault("stream.affinity.default", hal.DeviceAffinityAttr(default))
        for inner in op.walk():
            _keep_promises(inner, given)

    def _name_devices(self, module: ModuleOp, names: list[str]) -> str:
        """Makes the globals, adds their names to `names`; returns that of the default device."""
        specs = parse_devices(self.devices or ("local",))
        default = default_device(specs, self.default)
        target = self.device or device_target(self.triple, self.cpu, self.features, self.stack_limit)
        symbols = SymbolNames(module)
        made = [
            util.GlobalOp(symbols.unique(device.name), hal.DeviceType(), _numbered(target, device)) for device in specs
        ]
        names.extend(device.sym_name.data for device in made)
        block = module.body.block
        if block.first_op is None:
            block.add_ops(made)
        else:
            block.insert_ops_before(made, block.first_op)
        return names[specs.index(default)]


def _keep_promises(op: Operation, names: list[str]) -> None:
    """Affinities in the place of promises. Raises `CompileError` for a device that there is not."""
    for attributes in (op.properties, op.attributes):
        for place in _PLACES:
            value = attributes.get(place)
            if isinstance(value, hal.DevicePromiseAttr):
                value = attributes[place] = hal.DeviceAffinityAttr(value.device, value.queue_mask.data)
            if isinstance(value, hal.DeviceAffinityAttr) and value.device_name not in names:
                what = f"{op.name} names device @{value.device_name}; the program has {_listed(names)}"
                hint = f"name it: {FLAG}={value.device_name}=local[0]"
                raise CompileError(Diagnostic(what, location_of(op), hint))


def _listed(names: list[str]) -> str:
    return ", ".join(f"@{name}" for name in names)
