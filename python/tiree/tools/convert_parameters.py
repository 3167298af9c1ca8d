"""`tiree-convert-parameters`: parameter files as one `.irpa` archive, some left out, renamed or emptied."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tiree import _native
from tiree.tools.flags import Flag, ParsedFlags, fail
from tiree.tools.parameter_files import OUTPUT_FLAGS, parameter_indices, run_tool, splat_pattern, write_index
from tiree.tools.runtime_flags import PARAMETER_FLAGS

ALIGNMENT = 64
FLAGS = (
    Flag("help", "action", "print the flags and exit", False),
    *PARAMETER_FLAGS,
    Flag("exclude", "repeat", "leave this parameter out", metavar="NAME"),
    Flag("rename", "repeat", "call a parameter otherwise", metavar="OLD=NEW"),
    Flag("strip", "bool", "replace all parameters by zeros, which take no place", False),
    Flag("splat", "repeat", "replace a parameter by zeros or by a pattern of values", metavar="NAME[=f32=4.5]"),
    *OUTPUT_FLAGS,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; `arguments` default to the command line."""
    return run_tool(arguments, "tiree-convert-parameters", "--parameters=FILE --output=FILE", FLAGS, convert)


def convert(parsed: ParsedFlags) -> None:
    """Writes all parameters of the input files, in their order. Splats go by the new names, as in IREE."""
    if not parsed["parameters"]:
        raise fail("no parameters given", "pass --parameters=file.irpa")
    found = [item for index in parameter_indices(parsed).values() for item in index.items()]
    excluded = set(parsed["exclude"])
    renamed = _renamed(parsed["rename"])
    splats = {text.partition("=")[0]: text for text in parsed["splat"]}
    old = {key for key, _ in found}
    new = {renamed.get(key, key) for key in old - excluded}
    for flag, given, known in (("exclude", excluded, old), ("rename", renamed, old), ("splat", splats, new)):
        for name in sorted(set(given) - known):
            print(f"note: --{flag}={name}: there is no such parameter", file=sys.stderr)
    target = _native.ParameterIndex()
    names: set[str] = set()
    for key, entry in found:
        if key in excluded:
            continue
        name = renamed.get(key, key)
        if name in names:
            print(f"note: there are several parameters called {name}; the first is written", file=sys.stderr)
        names.add(name)
        if name in splats or parsed["strip"]:
            pattern = _pattern(splats.get(name, name), entry.length)
            target.add_splat(name, pattern, entry.length, metadata=entry.metadata)
        elif entry.is_splat:
            target.add_splat(name, entry.splat_pattern, entry.length, metadata=entry.metadata)
        else:
            handle, offset = entry.file_storage
            target.add_from_file_handle(name, handle, entry.length, offset=offset, metadata=entry.metadata)
    write_index(parsed, target, ALIGNMENT, ())


def _renamed(texts: Sequence[str]) -> dict[str, str]:
    renamed: dict[str, str] = {}
    for text in texts:
        old, equals, new = text.partition("=")
        if not old or not equals or not new:
            raise fail(f"--rename={text}: not a pair of names", "write --rename=OLD=NEW")
        renamed[old] = new
    return renamed


def _pattern(text: str, length: int) -> bytes:
    """The pattern of `NAME[=TYPE=VALUES]` for a parameter of `length` bytes."""
    _, equals, value = text.partition("=")
    if not equals:
        return b"\0"
    flag = f"--splat={text}"
    pattern = splat_pattern(flag, value)[1]
    if length % len(pattern):
        raise fail(f"{flag}: {len(pattern)} bytes do not divide the parameter's {length}")
    return pattern


if __name__ == "__main__":
    sys.exit(main())
