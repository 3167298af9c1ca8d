"""The flags that bring plugins, which are read before all others: plugins add values to some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tiree.support.devices import LOCAL, DeviceSpec, parse_devices
from tiree.support.extensions import NONE, Extensions
from tiree.tools.flags import Flag, ParsedFlags, fail

if TYPE_CHECKING:
    from tiree.support.options import CompileOptions

PLUGIN = "tiree-plugin"
INFO = "iree-print-plugin-info"
PREPROCESSING = "iree-preprocessing-pass-pipeline"
PLUGIN_FLAGS: tuple[Flag, ...] = (
    Flag(PLUGIN, "repeat", "a plugin: a Python file, a module, or an installed plugin's name", metavar="FILE|MODULE"),
    Flag(INFO, "action", "print what the plugins bring and exit"),
    Flag(PREPROCESSING, "str", "passes to run before the phase preprocessing", "", metavar="'a,b{key=value}'"),
)


def extensions_of(arguments: Sequence[str], plugins: Sequence[Any] = ()) -> Extensions:
    """What the plugins of a command line, and `plugins` before them, bring. Raises `CompileError`."""
    named = [*plugins, *_named(arguments)]
    if not named:
        return NONE
    from tiree.plugins import load_plugins

    return load_plugins(named)


def _named(arguments: Sequence[str]) -> list[str]:
    found: list[str] = []
    following = iter(arguments)
    for argument in following:
        if argument == "--":
            break
        name, equals, value = argument.lstrip("-").partition("=")
        if argument.startswith("-") and name == PLUGIN:
            value = value if equals else next(following, "")
            if not value:
                raise fail(f"--{PLUGIN} needs a file or a module")
            found.append(value)
    return found


_DEVICE = "iree-hal-target-device"
_BACKENDS = ("iree-hal-target-backends", "iree-hal-local-target-device-backends", _DEVICE)
_VALUES: dict[str, str] = {**dict.fromkeys(_BACKENDS, "backends"), "iree-input-type": "formats"}
"""Flags that plugins add values to, and what of `Extensions` the values are."""


def extended(flags: Sequence[Flag], extensions: Extensions) -> Sequence[Flag]:
    """`flags` with the names of backends and input formats of plugins among their values."""
    added = {"backends": tuple(extensions.backends), "formats": tuple(one.name for one in extensions.formats)}
    return [
        flag._replace(choices=(*flag.choices, *added[_VALUES[flag.name]])) if flag.name in _VALUES else flag
        for flag in flags
    ]


def devices_of(parsed: ParsedFlags, extensions: Extensions) -> Sequence[DeviceSpec]:
    """The devices that flags name. Raises `CompileError` for a kind that neither Tiree nor a plugin has."""
    return parse_devices(parsed[_DEVICE], (LOCAL, *extensions.backends))


def _chosen(parsed: ParsedFlags, extensions: Extensions) -> Any:
    """The backend of a plugin that flags name, or None. Raises `CompileError` when they name several."""
    kinds = [kind for device in devices_of(parsed, extensions) for kind in device.kinds]
    named = [value for flag in _BACKENDS for value in (parsed[flag] if flag != _DEVICE else kinds) if value != LOCAL]
    named = list(dict.fromkeys(named))
    if len(named) > 1:
        raise fail(f"several backends: {', '.join(named)}", "compile for one at a time")
    return extensions.backends[named[0]] if named and named[0] in extensions.backends else None


def plugin_info(extensions: Extensions) -> str:
    """What `--iree-print-plugin-info` prints."""
    if not extensions.origins:
        from tiree.plugins.loading import installed

        return f"No plugins are loaded; --{PLUGIN} names them. Installed: {', '.join(installed()) or 'none'}\n"
    points = {
        name: [point for point, passes in extensions.placed.items() if any(one.name == name for one in passes)]
        for name in extensions.passes
    }
    kinds = {
        "passes": [f"{name} ({', '.join(at)})" if at else name for name, at in points.items()],
        "dialects": list(extensions.dialects),
        "lowerings": list(extensions.lowerings),
        "kernels": [one.name for one in extensions.kernels],
        "backends": list(extensions.backends),
        "input formats": [f"{one.name} ({', '.join(one.suffixes)})" for one in extensions.formats],
    }
    lines = [f"Plugins: {', '.join(f'{origin.name} ({origin.label})' for origin in extensions.origins)}"]
    return "\n".join([*lines, *(f"  {kind}: {', '.join(names)}" for kind, names in kinds.items() if names)]) + "\n"


def with_extensions(options: CompileOptions, parsed: ParsedFlags, extensions: Extensions) -> CompileOptions:
    """`options` with what plugins bring and with the passes of the preprocessing flag, both recorded."""
    devices = devices_of(parsed, extensions)
    foreign = [kind for device in devices for kind in device.kinds if kind != LOCAL]
    if foreign:
        if len(devices) > 1:
            raise fail(f"several devices, of which {foreign[0]} is of a plugin", "compile for one at a time")
        options = replace(options, hal_target_devices=())
    text = parsed[PREPROCESSING]
    if text:
        from tiree.plugins import parse_passes

        passes = parse_passes(text, extensions)
        extensions = extensions.at("before-preprocessing", passes)
    if extensions is NONE:
        return options
    extensions = replace(extensions, target=_chosen(parsed, extensions))
    labels = [f"{PLUGIN}={origin.label}" for origin in extensions.origins]
    return replace(options, extensions=extensions, recorded_flags=(*options.recorded_flags, *labels))
