"""`tiree-create-parameters`: an `.irpa` archive of parameters that hold one value, for trying programs out."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tiree import _native
from tiree.support.ranges import BYTES
from tiree.tools.flags import Flag, ParsedFlags, fail
from tiree.tools.parameter_files import OUTPUT_FLAGS, run_tool, splat_pattern, write_index

FLAGS = (
    Flag("help", "action", "print the flags and exit", False),
    Flag("splat", "repeat", "a parameter that takes no place in the file", metavar="NAME=4096xf32=4.1"),
    Flag("data", "repeat", "a parameter with all its bytes in the file", metavar="NAME=2x4096xi16=123"),
    Flag("alignment", "int", "what data is aligned to in the file, a power of two", 64, limits=BYTES),
    *OUTPUT_FLAGS,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; `arguments` default to the command line."""
    return run_tool(arguments, "tiree-create-parameters", "--data=NAME=TYPE[=VALUE] --output=FILE", FLAGS, create)


def create(parsed: ParsedFlags) -> None:
    """Writes what the flags declare: splats first, then data."""
    if not parsed["splat"] and not parsed["data"]:
        raise fail("no parameters declared", "pass --data=NAME=4xf32=1.5 or --splat=NAME=4xf32=1.5")
    index = _native.ParameterIndex()
    names: set[str] = set()
    for flag in ("splat", "data"):
        for text in parsed[flag]:
            name, equals, value = text.partition("=")
            if not name or not equals or not value:
                raise fail(f"--{flag}={text}: not a declaration", f"write --{flag}=NAME=4xf32=1.5")
            if name in names:
                raise fail(f"--{flag}={text}: {name} is declared twice")
            names.add(name)
            size, pattern = splat_pattern(f"--{flag}={text}", value)
            index.add_splat(name, pattern, size)
    alignment = parsed["alignment"]
    if alignment < 1 or alignment & (alignment - 1):
        raise fail(f"--alignment={alignment}: not a power of two")
    splats = len(parsed["splat"])
    write_index(parsed, index, alignment, range(splats, splats + len(parsed["data"])))


if __name__ == "__main__":
    sys.exit(main())
