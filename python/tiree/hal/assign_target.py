"""`tiree-hal-assign-target`: names the devices that a module is compiled for.

In: a module that may have named them itself, by globals or by its attribute `hal.device.targets`; promises of devices.
Out: a `util.global private` for each (`@__device_0` unless it has a name) that says what it is (`resolve_devices.py`),
affinities to them in the place of promises, and the module attribute `stream.affinity.default` that points to the
device of work that names none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from tiree.dialects import hal, util
from tiree.hal.resolve_devices import Resolver, cpu_target, module_devices
from tiree.support.cpu_variants import resolve_cpu_targets
from tiree.support.devices import FLAG, LOCAL, default_device, parse_devices
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.extensions import OWN_BACKENDS
from tiree.support.locations import location_of
from tiree.support.symbols import SymbolNames

DEVICE_GLOBAL = "__device_0"
_BYTECODE = {"vmvx": "vmvx-bytecode-fb", "vmvx-inline": "vmvx-ir"}
"""The backends whose kernels are bytecode, and the formats of theirs: modules, or a part of the program."""
_PLACES = ("target", "affinity", "stream.affinity")
"""What properties and attributes name a device."""


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
    backends: tuple[str, ...] = ("llvm-cpu",)
    """What executables of local devices are made for, the preferred first."""
    default: str = ""
    """Name or number of the device of work that names none."""
    other_backends: tuple[str, ...] = ()
    """Of plugins."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        resolver = Resolver(self._targets(), self.stack_limit, (*OWN_BACKENDS, *self.other_backends))
        named = dict(module_devices(op))
        given = [o for o in op.ops if isinstance(o, util.GlobalOp) and isinstance(o.type, hal.DeviceType)]
        for device in given:
            if device.initial_value is not None:
                resolved = resolver.resolve(device.initial_value, f"device @{device.sym_name.data}")
                device.properties["initial_value"] = resolved
        names = [device.sym_name.data for device in given]
        if named:
            values = {name: resolver.resolve(value, f"device @{name}") for name, value in named.items()}
            default = _add_devices(op, values, names)[0]
        elif names:
            default = names[0]
        else:
            default = self._name_devices(op, resolver, names)
        op.attributes.setdefault("stream.affinity.default", hal.DeviceAffinityAttr(default))
        for inner in op.walk():
            _keep_promises(inner, names)

    def _targets(self) -> Sequence[hal.ExecutableTargetAttr]:
        """The executable targets that flags name."""
        if self.device is not None:
            return self.device.targets.data
        found: list[hal.ExecutableTargetAttr] = []
        for backend in dict.fromkeys(self.backends):
            if backend in _BYTECODE:
                found.append(hal.ExecutableTargetAttr(backend, _BYTECODE[backend], {}))
                continue
            resolved = resolve_cpu_targets(self.triple, self.cpu, self.features, self.stack_limit)
            found += [cpu_target(facts) for facts in resolved]
        return found

    def _name_devices(self, module: ModuleOp, resolver: Resolver, names: list[str]) -> str:
        """Makes the globals, adds their names to `names`; returns that of the default device."""
        specs = parse_devices(self.devices or (LOCAL,))
        default = default_device(specs, self.default)
        if self.device is not None:
            values: dict[str, Attribute] = {specs[0].name: self.device}
        else:
            values = {device.name: resolver.from_spec(device) for device in specs}
        return _add_devices(module, values, names)[specs.index(default)]


def _add_devices(module: ModuleOp, values: Mapping[str, Attribute], names: list[str]) -> list[str]:
    """Makes the globals; returns their names, which are added to `names`."""
    symbols = SymbolNames(module)
    made = [util.GlobalOp(symbols.unique(name), hal.DeviceType(), value) for name, value in values.items()]
    block = module.body.block
    if block.first_op is None:
        block.add_ops(made)
    else:
        block.insert_ops_before(made, block.first_op)
    new = [device.sym_name.data for device in made]
    names.extend(new)
    return new


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
