"""`tiree-dump-parameters`: what parameter files hold, and single parameters as files."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tiree import _native
from tiree.support.replacing import replacing
from tiree.tools.flags import Flag, ParsedFlags, fail
from tiree.tools.parameter_files import dump_index, parameter_indices, run_tool
from tiree.tools.runtime_flags import PARAMETER_FLAGS

FLAGS = (
    Flag("help", "action", "print the flags and exit", False),
    *PARAMETER_FLAGS,
    Flag("extract", "repeat", "write a parameter's bytes to a file", metavar="[SCOPE::]KEY=FILE"),
)
CHUNK = 1 << 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; `arguments` default to the command line."""
    return run_tool(arguments, "tiree-dump-parameters", "--parameters=FILE [--extract=KEY=FILE]", FLAGS, dump)


def dump(parsed: ParsedFlags) -> None:
    """Prints a table for each scope, then extracts."""
    if not parsed["parameters"]:
        raise fail("no parameters given", "pass --parameters=file.irpa")
    indices = parameter_indices(parsed)
    for scope, index in indices.items():
        sys.stdout.write(dump_index(scope, index))
    for text in parsed["extract"]:
        name, equals, path = text.rpartition("=")
        if not equals or not name or not path:
            raise fail(f"--extract={text}: not a parameter and a file", "write --extract=KEY=FILE")
        scope, _, key = name.rpartition("::")
        extract(find(indices, scope, key, text), path)


def find(indices: dict[str, _native.ParameterIndex], scope: str, key: str, text: str) -> _native.ParameterIndexEntry:
    """The first entry called `key` of a scope."""
    index = indices.get(scope)
    if index is None:
        scopes = ", ".join(f"`{scope}`" if scope else "<global>" for scope in indices)
        raise fail(f"--extract={text}: there is no scope `{scope}`", f"there are: {scopes}")
    for name, entry in index.items():
        if name == key:
            return entry
    from difflib import get_close_matches

    close = get_close_matches(key, [name for name, _ in index.items()], 1)
    raise fail(f"--extract={text}: there is no parameter `{key}`", f"did you mean {close[0]}?" if close else "")


def extract(entry: _native.ParameterIndexEntry, path: str) -> None:
    """Writes the bytes of an entry to a file, a piece at a time."""
    print(f"Extracting parameter `{entry.key}` ({entry.length}b) to `{path}`...")
    with replacing(path) as file:
        if entry.is_file:
            file.write(entry.file_view)
            return
        pattern = entry.splat_pattern
        chunk = pattern * (CHUNK // len(pattern))
        left = entry.length
        while left > 0:
            left -= file.write(chunk[:left])


if __name__ == "__main__":
    sys.exit(main())
