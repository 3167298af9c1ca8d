"""`tiree-new`: begins a plugin. Writes a file that works and a test of it, to be changed into what is wanted.

    tiree-new pass drop-dropout
    tiree-new dialect my_ops --folder=plugins

The skeletons lie beside this file; a test makes each, runs its test and checks its style and types.
"""

from __future__ import annotations

import keyword
import os
import re
import sys
from collections.abc import Sequence

from tiree.tools.ending import guarded
from tiree.tools.flags import Flag, fail, help_text, parse_flags

SKELETONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "skeletons")
KINDS = {
    "pass": "a pass at an extension point",
    "dialect": "a dialect with an op and its lowering",
    "kernel": "a kernel that takes dispatches over",
    "backend": "something else to compile executables for",
    "format": "programs that are not MLIR",
}
FLAGS = (
    Flag("folder", "str", "where to write", ".", metavar="DIR"),
    Flag("help", "action", "print this text"),
    Flag("version", "action", "print the version"),
)
USAGE = "tiree-new [options] <kind> <name>\n\nKINDS:\n" + "\n".join(
    f"  {kind:<9}{what}" for kind, what in KINDS.items()
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; returns its exit code."""
    return guarded("tiree-new", lambda: _run(sys.argv[1:] if arguments is None else arguments))


def _run(arguments: Sequence[str]) -> int:
    parsed = parse_flags(arguments, FLAGS)
    if parsed["help"]:
        sys.stdout.write(help_text(USAGE, FLAGS))
        return 0
    if parsed["version"]:
        from tiree.version import VERSION

        print(f"Tiree version {VERSION}")
        return 0
    if len(parsed.positional) != 2:
        raise fail("a kind and a name are needed", f"usage: {USAGE}")
    kind, name = parsed.positional
    if kind not in KINDS:
        raise fail(f"no kind {kind!r}", f"kinds are {', '.join(KINDS)}")
    files = skeleton(kind, name)
    folder = parsed["folder"]
    os.makedirs(folder, exist_ok=True)
    paths = {os.path.join(folder, file): text for file, text in files.items()}
    for path in paths:
        if os.path.exists(path):
            raise fail(f"{path} exists already", "choose another name or --folder")
    for path, text in paths.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"wrote {path}")
    print(f"try it: python -m pytest {list(paths)[1]}")
    return 0


def skeleton(kind: str, name: str) -> dict[str, str]:
    """The files of a new plugin by name: the plugin and its test. Raises `CompileError` for a name that cannot be."""
    snake = name.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", snake) or keyword.iskeyword(snake):
        raise fail(f"{name!r} cannot be a plugin's name", "use lower-case letters, digits and dashes, a letter first")
    words = {
        "my_plugin": snake,
        "my-plugin": snake.replace("_", "-"),
        "MyPlugin": "".join(part.capitalize() for part in snake.split("_")),
    }
    files: dict[str, str] = {}
    for file, source in ((f"{snake}.py", f"{kind}.py.in"), (f"test_{snake}.py", f"{kind}_test.py.in")):
        with open(os.path.join(SKELETONS, source), encoding="utf-8") as template:
            files[file] = re.sub("|".join(words), lambda found: words[found.group()], template.read())
    return files


if __name__ == "__main__":
    sys.exit(main())
