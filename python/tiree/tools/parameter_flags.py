"""The flags of `tiree-compile` that move weights between the module and parameter files."""

from __future__ import annotations

import os
from typing import Any

from tiree.support.parameter_archives import scope_and_path
from tiree.support.ranges import BYTES
from tiree.tools.flags import Flag, ParsedFlags, fail

IMPORT, EXPORT, SPLAT = "iree-parameter-import", "iree-parameter-export", "iree-parameter-splat"
_KEYS, _MAXIMUM, _MINIMUM = f"{IMPORT}-keys", f"{IMPORT}-maximum-size", f"{EXPORT}-minimum-size"
_PHASE = "global-optimization"

PARAMETER_FLAGS: tuple[Flag, ...] = (
    Flag(IMPORT, "repeat", "a file whose parameters become constants; scope=FILE for a scope; repeat", metavar="FILE"),
    Flag(_KEYS, "repeat", "a parameter to import, of any scope; repeat for several", metavar="KEY"),
    Flag(_MAXIMUM, "int", "bytes up to which parameters are imported unnamed", 0, limits=BYTES),
    Flag(EXPORT, "str", "the .irpa file that constants go to; scope=FILE for a scope", "", metavar="FILE"),
    Flag(_MINIMUM, "int", "bytes from which constants are exported", 0, limits=BYTES),
    Flag(SPLAT, "str", "an .irpa file to write with zeros for all parameters", "", metavar="FILE"),
)

PARAMETER_FIELDS = {flag.name: flag.name.removeprefix("iree-").replace("-", "_") for flag in PARAMETER_FLAGS}
"""Flags and the options that they set."""

PARAMETER_PATHS = (IMPORT, EXPORT, SPLAT)
"""Those whose values are files."""


def parameter_values(parsed: ParsedFlags) -> dict[str, Any]:
    """The options of these flags. Raises `CompileError` for flags that would have no effect, and for bad names."""
    given = {name: parsed[name] for name in PARAMETER_FIELDS}
    for name, needed in ((_KEYS, IMPORT), (_MAXIMUM, IMPORT), (_MINIMUM, EXPORT)):
        if name in parsed.given and not given[needed]:
            raise fail(f"--{name} has no effect without --{needed}=FILE")
    if given[IMPORT] and not given[_KEYS] and not given[_MAXIMUM]:
        raise fail(
            f"--{IMPORT}={given[IMPORT][0]} imports nothing by itself",
            f"name parameters with --{_KEYS}=KEY, or a size with --{_MAXIMUM}=BYTES",
        )
    for text in given[IMPORT]:
        if not scope_and_path(text)[1]:
            raise fail(f"--{IMPORT}={text}: no file is named")
    export = scope_and_path(given[EXPORT])[1]
    for name, text, path in ((EXPORT, given[EXPORT], export), (SPLAT, given[SPLAT], given[SPLAT])):
        if name in parsed.given and not path.lower().endswith(".irpa"):
            raise fail(f"--{name}={text}: {path or 'nothing'} does not end in .irpa", "readers choose by the ending")
    if export and given[SPLAT] and os.path.realpath(export) == os.path.realpath(given[SPLAT]):
        raise fail(f"--{SPLAT}={given[SPLAT]}: that file is written by --{EXPORT}")
    repeated = (IMPORT, _KEYS)
    return {f: tuple(given[name]) if name in repeated else given[name] for name, f in PARAMETER_FIELDS.items()}


def check_parameter_phases(parsed: ParsedFlags, compile_from: str, compile_to: str) -> None:
    """Refuses flags whose phase is not among those that run."""
    from tiree.pipeline import phase_index

    if phase_index(compile_from) < phase_index(_PHASE) <= phase_index(compile_to):
        return
    for name in PARAMETER_PATHS:
        if parsed[name]:
            raise fail(f"--{name} needs phase {_PHASE}, which does not run", "check --compile-from= and --compile-to=")
