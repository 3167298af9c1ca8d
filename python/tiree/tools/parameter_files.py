"""What the tools that read, make and print parameter files share."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence

from tiree import _native
from tiree.tools.ending import guarded
from tiree.tools.flags import Flag, ParsedFlags, fail, help_text, parse_flags
from tiree.tools.runtime_flags import expand_flagfiles

OUTPUT_FLAGS = (
    Flag("quiet", "bool", "print nothing when all went well", False),
    Flag("output", "str", "the .irpa file to write", "", metavar="FILE"),
)


def parameter_indices(parsed: ParsedFlags) -> dict[str, _native.ParameterIndex]:
    """The files of `--parameters=`, by scope; those of one scope are one index."""
    indices: dict[str, _native.ParameterIndex] = {}
    for text in parsed["parameters"]:
        scope, equals, path = text.partition("=")
        if not equals:
            scope, path = "", text
        if not os.path.exists(path):
            raise fail(f"--parameters={text}: no such file: {path}")
        index = indices.setdefault(scope, _native.ParameterIndex())
        index.load(path, mmap=parsed["parameter_mode"] != "preload")
    return indices


def dump_index(scope: str, index: _native.ParameterIndex) -> str:
    """A table of an index, as iree-dump-parameters prints it."""
    entries = [entry for _, entry in index.items()]
    total = sum(entry.length for entry in entries)
    name = f"`{scope}`" if scope else "<global>"
    column = "-" * 18
    lines = [
        f"//==={'-' * 110}===//",
        f"// Parameter scope {name} ({len(entries)} entries, {total} total bytes)",
        f"//===------------+{column}+{column}+{'-' * 59}===//",
        f"//{'Start':>14} |{'End':>17} |{'Length':>17} | Key",
        f"//---------------+{column}+{column}+{'-' * 62}//",
    ]
    for entry in entries:
        start, end = "-", "-"
        if entry.is_file:
            offset = entry.file_storage[1]
            start, end = str(offset), str(offset + entry.length)
        lines.append(f"{start:>16} |{end:>17} |{entry.length:>17} | `{entry.key}`")
    return "\n".join([*lines, "", ""])


def write_index(parsed: ParsedFlags, index: _native.ParameterIndex, alignment: int, expanded: Sequence[int]) -> None:
    """Writes `index` to `--output=` and, unless `--quiet`, prints what the file holds."""
    path = parsed["output"]
    if not path:
        raise fail("no output given", "pass --output=file.irpa")
    _check_space(index, path, expanded)
    _native.write_parameter_archive(index, path, alignment, expanded)
    if parsed["quiet"]:
        return
    written = _native.ParameterIndex()
    written.load(path, "irpa")
    sys.stdout.write(dump_index("", written))


def _check_space(index: _native.ParameterIndex, path: str, expanded: Sequence[int]) -> None:
    """Refuses what the file system has no room for, which would be noticed when it is full."""
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder) or (os.path.exists(path) and not os.path.isfile(path)):
        # No folder, or a device: what that means, writing says.
        return
    whole = set(expanded)
    needed = sum(entry.length for i, (_, entry) in enumerate(index.items()) if i in whole or not entry.is_splat)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise fail(
            f"--output={path}: the parameters take {needed} bytes; the file system of {folder} has {free} free",
            "--splat= declares parameters that take no place" if whole else "",
        )


def splat_pattern(flag: str, text: str) -> tuple[int, bytes]:
    """`TYPE=VALUE` of a flag as the bytes that the type takes and a pattern; without a value zero."""
    try:
        size, pattern = _native.parse_pattern(text)
    except (ValueError, IndexError) as error:
        raise fail(f"{flag}: {getattr(error, 'message', '') or error}") from None
    if len(pattern) not in (0, 1, 2, 4, 8, 16):
        raise fail(f"{flag}: the values take {len(pattern)} bytes", "a pattern has 1, 2, 4, 8 or 16 bytes")
    return size, pattern or b"\0"


def run_tool(
    arguments: Sequence[str] | None, name: str, usage: str, flags: Sequence[Flag], body: Callable[[ParsedFlags], None]
) -> int:
    """Runs the tool called `name`: parses, calls `body`, reports errors. Exit code 0, or 1 on any error."""
    given = sys.argv[1:] if arguments is None else list(arguments)

    def run() -> int:
        parsed = parse_flags(expand_flagfiles(given), flags)
        if parsed["help"]:
            sys.stdout.write(help_text(f"{name} {usage}", flags))
            return 0
        if parsed.positional:
            raise fail(f"unexpected argument '{parsed.positional[0]}'", "all arguments are flags")
        body(parsed)
        return 0

    return guarded(name, run)
