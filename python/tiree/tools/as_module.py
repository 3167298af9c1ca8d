"""`tiree-as-module`: assembly text as a `.vmfb`, with the bytes that iree-as-module writes.

The text is that of `tiree-dump-module --output=assembly` (or `disassembly`). The module is also loaded, so that what a
runtime would refuse is an error here, at its line; `--verify=false` writes it all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tiree.support.replacing import replace_file
from tiree.tools.ending import guarded
from tiree.tools.flags import Flag, ParsedFlags, fail, help_text, parse_flags
from tiree.tools.runtime_flags import expand_flagfiles

FLAGS = (
    Flag("help", "action", "print the flags and exit", False),
    Flag("output", "str", "where to write the module; - for stdout", "", metavar="FILE"),
    Flag("verify", "bool", "refuse modules that a runtime would refuse", True),
)
USAGE = "tiree-as-module --output=module.vmfb module.vmasm"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; `arguments` default to the command line. Exit code 0, or 1 on any error."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    return guarded("tiree-as-module", lambda: run(parse_flags(expand_flagfiles(given), FLAGS)))


def run(parsed: ParsedFlags) -> int:
    """What the flags ask for."""
    if parsed["help"]:
        sys.stdout.write(help_text(f"{USAGE}   (- reads stdin)", FLAGS))
        return 0
    if len(parsed.positional) != 1 or not parsed["output"]:
        given = "no --output" if not parsed["output"] else f"{len(parsed.positional)} files given; needs one"
        raise fail(given, f"write {USAGE}")
    assemble_file(parsed.positional[0], str(parsed["output"]), bool(parsed["verify"]))
    return 0


def assemble_file(source: str, target: str, verify: bool) -> None:
    """Reads `source` (`-`: stdin) and writes the module to `target` (`-`: stdout)."""
    from tiree import _native

    if source == "-":
        data, name = sys.stdin.buffer.read(), "<stdin>"
    else:
        with open(source, "rb") as file:
            data, name = file.read(), source
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise fail(f"{name}:{line}: not UTF-8 text (byte {data[error.start]:#04x})", "is it assembly?") from None
    module = _native.assemble(text, name, verify)
    if target == "-":
        sys.stdout.buffer.write(module)
    else:
        replace_file(target, module)


if __name__ == "__main__":
    sys.exit(main())
