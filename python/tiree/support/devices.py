"""The devices that a program is compiled for, as `--iree-hal-target-device=` names them.

A device is written `[NAME=]KIND[ORDINAL]`, as in `local`, `local[1]` and `big=local[0]`. `ORDINAL` counts the devices
of that kind that the program is given when it runs, from 0; without it the first one is meant. Several with commas are
a choice: the first that there is. `[NAME=]#hal.device...` is a device as the IR has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tiree.support.errors import CompileError, Diagnostic

FLAG = "--iree-hal-target-device"
DEFAULT_FLAG = "--iree-hal-default-device"
LOCAL = "local"
_NAME = re.compile(r"(?P<name>[A-Za-z_][\w.$-]*)=")
_LAST_ORDINAL = 2**31 - 1
_FORM = re.compile(r"(?P<kind>[A-Za-z][\w-]*)(?:\[(?P<ordinal>\d+)\])?")


@dataclass(frozen=True)
class DeviceChoice:
    """A device that a program may be given: its kind, and which of that kind it is (None: the first)."""

    kind: str
    ordinal: int | None = None


@dataclass(frozen=True)
class DeviceSpec:
    """One device: its symbol in the module, and the choices, of which the first that there is will be it."""

    name: str
    choices: tuple[DeviceChoice, ...] = ()
    attribute: str = ""
    """What it is as an attribute of the hal dialect, instead of choices."""

    @property
    def kinds(self) -> list[str]:
        """The kinds that are named; an attribute names none."""
        return [choice.kind for choice in self.choices]


def parse_devices(specs: Sequence[str], kinds: Sequence[str] = (LOCAL,)) -> list[DeviceSpec]:
    """The devices of `specs` in order; those without names are `__device_0` and so on. Raises `CompileError`."""
    devices = [_parse(number, text, kinds) for number, text in enumerate(specs)]
    named = [device.name for device, text in zip(devices, specs, strict=True) if _NAME.match(text)]
    if named and len(named) != len(devices):
        raise _error(f"{FLAG}: device {named[0]} has a name and another has none", "give every device a name")
    twice = next((name for number, name in enumerate(named) if name in named[:number]), None)
    if twice is not None:
        raise _error(f"{FLAG}: two devices have the name {twice}", "give each a name of its own")
    return devices


def _parse(number: int, text: str, kinds: Sequence[str]) -> DeviceSpec:
    named = _NAME.match(text)
    name = named["name"] if named else f"__device_{number}"
    rest = text[named.end() :] if named else text.removeprefix("=")
    if rest.startswith("#"):
        return DeviceSpec(name, attribute=rest)
    choices = [_choice(text, one, kinds) for one in dict.fromkeys(rest.split(","))]
    if any(choice.kind != LOCAL for choice in choices[1:] or ()) or (len(choices) > 1 and choices[0].kind != LOCAL):
        raise _error(f"{FLAG}={text}: devices of plugins cannot be chosen between", "name one of them")
    return DeviceSpec(name, tuple(choices))


def _choice(text: str, one: str, kinds: Sequence[str]) -> DeviceChoice:
    match = _FORM.fullmatch(one)
    if match is None:
        hint = "write KIND, KIND[ORDINAL] or NAME=KIND[ORDINAL], as in a=local[0]"
        raise _error(f"{FLAG}={text}: not a device", hint)
    kind = match["kind"]
    if kind not in kinds:
        hint = f"values are {', '.join(kinds)}"
        if kind.startswith("local-"):
            hint = f"write {LOCAL}; which local device it is, --device={kind} says when the program runs"
        raise _error(f"{FLAG}={text}: no such value", hint)
    ordinal = match["ordinal"]
    if ordinal is not None and (len(ordinal) > 18 or int(ordinal) > _LAST_ORDINAL):
        raise _error(f"{FLAG}={text}: {ordinal} is out of range", f"ordinals are 0 to {_LAST_ORDINAL}")
    return DeviceChoice(kind, None if ordinal is None else int(ordinal))


def default_device(devices: Sequence[DeviceSpec], wanted: str) -> DeviceSpec:
    """The device of work that names none: `wanted`, a name or a number, or else the first. Raises `CompileError`."""
    if not wanted:
        return devices[0]
    for number, device in enumerate(devices):
        if wanted in (device.name, str(number)):
            return device
    names = ", ".join(device.name for device in devices)
    raise _error(f"{DEFAULT_FLAG}={wanted}: no such device", f"devices are {names}")


def _error(message: str, hint: str) -> CompileError:
    return CompileError(Diagnostic(message, "<command line>", hint))
