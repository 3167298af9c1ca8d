"""Files that a compilation writes: no two of them are the same one."""

from __future__ import annotations

import os

from tiree.support.parameter_archives import scope_and_path
from tiree.tools.flags import ParsedFlags, fail

_FILES = ("o", "tiree-report", "iree-vm-bytecode-source-listing", "iree-parameter-splat", "iree-parameter-export")
_SCOPED = frozenset({"iree-parameter-export"})
"""Written as `[scope=]path`."""


def check_output_paths(parsed: ParsedFlags) -> None:
    """Raises `CompileError` for two options that name one file: what is written first would be lost."""
    taken: dict[str, str] = {}
    for name in _FILES:
        value = str(parsed[name])
        path = scope_and_path(value)[1] if name in _SCOPED else value
        if path in ("", "-"):
            continue
        dashes = "-" if len(name) == 1 else "--"
        what = f"-o {path}" if name == "o" else f"{dashes}{name}={value}"
        place = os.path.realpath(path)
        if place in taken:
            raise fail(f"{taken[place]} and {what} name the same file", "give each a file of its own")
        taken[place] = what
