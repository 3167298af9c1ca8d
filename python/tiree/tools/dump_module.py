"""`tiree-dump-module`: what a `.vmfb` holds, in iree-dump-module's text.

Metadata (with Tiree's attributes: version, target, flags, digest), disassembly, assembly (disassembly with directives
for the rest of the module, which `tiree-as-module` makes the same module of), or the FlatBuffer as JSON or bytes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from tiree.tools.ending import guarded
from tiree.tools.flags import Flag, ParsedFlags, fail, help_text, parse_flags
from tiree.tools.module_source import module_file
from tiree.tools.runtime_flags import expand_flagfiles

OUTPUTS = ("all", "metadata", "disassembly", "assembly", "flatbuffer-binary", "flatbuffer-json")
FLAGS = (
    Flag("help", "action", "print the flags and exit", False),
    Flag("output", "choice", "what to print", "all", OUTPUTS),
    Flag("function", "str", "only this function (name or ordinal) of the disassembly", "", metavar="NAME"),
    Flag("bytecode_offsets", "bool", "print the offset of each instruction", False),
    Flag("pretty", "bool", "indent the JSON", False),
)

_FUNCTION = re.compile(r"^vm\.func @([^\s(]+)", re.MULTILINE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; `arguments` default to the command line. Exit code 0, or 1 on any error."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    return guarded("tiree-dump-module", lambda: run(parse_flags(expand_flagfiles(given), FLAGS)))


def run(parsed: ParsedFlags) -> int:
    """What the flags ask for."""
    if parsed["help"]:
        sys.stdout.write(help_text("tiree-dump-module FILE|- [--output=WHAT]", FLAGS))
        return 0
    if len(parsed.positional) != 1:
        raise fail(f"{len(parsed.positional)} files given; needs one", "write tiree-dump-module file.vmfb")
    with module_file(parsed.positional[0]) as path:
        dump(path, parsed.values)
    return 0


def dump(path: str, flags: dict[str, object]) -> None:
    """Writes what the flags ask for to stdout."""
    from tiree import _native

    output = str(flags["output"])
    if output == "flatbuffer-binary":
        sys.stdout.buffer.write(_native.module_flatbuffer(path))
        return
    function = str(flags["function"])
    text = _native.dump_module(path, output, function, bool(flags["bytecode_offsets"]), bool(flags["pretty"]))
    if function and output in ("all", "disassembly") and not _FUNCTION.search(text):
        names = _FUNCTION.findall(_native.dump_module(path, "disassembly", "", False, False))
        raise fail(f'{path} has no function "{function}"', f"it has: {', '.join(names)}")
    sys.stdout.write(text)


if __name__ == "__main__":
    sys.exit(main())
