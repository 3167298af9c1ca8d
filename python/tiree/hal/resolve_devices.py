"""What a device is, as flags and IR say it, in the forms that later passes know.

Those are `#hal.device.target` with executable targets, `#hal.device.fallback` to another global, and
`#hal.device.select` of them. An alias gets the targets of the flags; so does a number, which counts local devices,
since all devices are; a target without a word on its CPU gets what IREE's flags would say of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import (
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute

from tiree.dialects import hal
from tiree.support.cpu_target import resolve_cpu_target
from tiree.support.devices import FLAG, LOCAL, DeviceSpec
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.extensions import OWN_BACKENDS
from tiree.support.typed import is_array_attr

MODULE_DEVICES = ("hal.device.targets", "hal.device.target")
"""Attributes of a module that name its devices, instead of flags."""

_ARCHES = {"x86_64": "x86_64", "x86_32": "i386", "arm_64": "aarch64", "arm_32": "arm", "riscv_64": "riscv64"}
_EMBEDDED = "embedded-elf-"


def cpu_target(facts: Mapping[str, int | str]) -> hal.ExecutableTargetAttr:
    """The target of a configuration that `resolve_cpu_target` made."""
    configuration: dict[str, Attribute] = {
        name: IntegerAttr(value, i64) if isinstance(value, int) else StringAttr(value)
        for name, value in sorted(facts.items())
        if name != "format"
    }
    return hal.ExecutableTargetAttr("llvm-cpu", str(facts["format"]), configuration)


class Resolver:
    """Resolves what devices are. `targets` are those of devices that name none."""

    def __init__(
        self, targets: Sequence[hal.ExecutableTargetAttr], stack_limit: int, backends: Sequence[str] = OWN_BACKENDS
    ) -> None:
        self.targets = targets
        self.stack_limit = stack_limit
        self.backends = backends
        """What executables can be compiled for."""

    def from_spec(self, spec: DeviceSpec) -> Attribute:
        """The device of a flag."""
        if spec.attribute:
            return self.resolve(_parsed(spec.attribute), f"{FLAG}={spec.attribute}")
        found = [self._local(choice.ordinal) for choice in spec.choices]
        return found[0] if len(found) == 1 else hal.DeviceSelectAttr(found)

    def resolve(self, device: Attribute, what: str) -> Attribute:
        """The device that an attribute names. Raises `CompileError`, which says that `what` does."""
        if isinstance(device, hal.DeviceSelectAttr):
            return hal.DeviceSelectAttr([self.resolve(one, what) for one in device.devices.data])
        if isinstance(device, hal.DeviceOrdinalAttr):
            return self._local(device.number.data)
        if isinstance(device, hal.DeviceAliasAttr):
            _check_kind(device.device_id.data, what)
            return self._local(device.ordinal, device.configuration.data)
        if isinstance(device, hal.DeviceTargetAttr):
            _check_kind(device.device_id.data, what)
            for target in device.targets.data:
                self._check_backend(target, what)
            targets = [self._completed(target) for target in device.targets.data] or self.targets
            return hal.DeviceTargetAttr(device.device_id.data, targets, device.configuration.data)
        if isinstance(device, hal.DeviceFallbackAttr):
            return device
        hint = "write #hal.device.target, alias, ordinal, select or fallback"
        raise CompileError(Diagnostic(f"{what}: {device} is no device", "<flags>", hint))

    def _check_backend(self, target: hal.ExecutableTargetAttr, what: str) -> None:
        backend = target.backend.data
        if backend not in self.backends:
            message = f"{what}: executables cannot be compiled for {backend!r}"
            raise CompileError(Diagnostic(message, "<flags>", f"backends are {', '.join(self.backends)}"))

    def _local(self, ordinal: int | None, configuration: Mapping[str, Attribute] | None = None) -> hal.DeviceTargetAttr:
        number = {} if ordinal is None else {"ordinal": IntegerAttr(ordinal, IndexType())}
        return hal.DeviceTargetAttr(LOCAL, self.targets, {**number, **(configuration or {})})

    def _completed(self, target: hal.ExecutableTargetAttr) -> hal.ExecutableTargetAttr:
        """A target of a CPU with the facts that it leaves out."""
        given = target.configuration.data
        format = target.format.data
        arch = _ARCHES.get(format.removeprefix(_EMBEDDED))
        if target.backend.data != "llvm-cpu" or arch is None or "target_triple" in given:
            return target
        words = {name: value.data for name, value in given.items() if isinstance(value, StringAttr)}
        facts = resolve_cpu_target(arch, words.get("cpu", "generic"), words.get("cpu_features", ""), self.stack_limit)
        made = cpu_target(facts).configuration.data
        return hal.ExecutableTargetAttr("llvm-cpu", format, {**given, **made})


def module_devices(module: ModuleOp) -> Iterator[tuple[str, Attribute]]:
    """The devices that an attribute of the module names, with their names; the attribute is taken away."""
    for key in MODULE_DEVICES:
        value = module.attributes.pop(key, None)
        if isinstance(value, DictionaryAttr):
            yield from value.data.items()
        elif is_array_attr(value):
            yield from ((f"__device_{number}", one) for number, one in enumerate(value.data))
        elif value is not None:
            yield "__device_0", value


def _check_kind(kind: str, what: str) -> None:
    if kind != LOCAL:
        raise CompileError(Diagnostic(f"{what}: no device kind {kind!r}", "<flags>", f"kinds are {LOCAL}"))


def _parsed(text: str) -> Attribute:
    from tiree.dialects import get_context, read_module, util

    typed = text if text.rstrip().endswith("!hal.device") else f"{text} : !hal.device"
    try:
        module = read_module(f"builtin.module {{\nutil.global private @device = {typed}\n}}", get_context(), FLAG)
    except CompileError as error:
        reason = error.diagnostics[0].message
        raise CompileError(Diagnostic(f"{FLAG}={text}: {reason}", "<flags>")) from error
    (op,) = module.body.block.ops
    assert isinstance(op, util.GlobalOp)
    assert op.initial_value is not None
    return op.initial_value
