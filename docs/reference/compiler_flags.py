"""Writes the table of `compiler_flags.md`: every flag of tiree-compile, what it is, or why it is refused.

python docs/reference/compiler_flags.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

from marked_table import write
from tiree.tools.compile_flags import FLAGS, REFUSED
from tiree.tools.flags import Flag


def _default(flag: Flag) -> str:
    if flag.kind == "action":
        return ""
    if flag.kind in ("list", "repeat") or flag.default in (None, ""):
        return "none"
    return str(flag.default).lower() if isinstance(flag.default, bool) else str(flag.default)


def _row(flag: Flag) -> str:
    values = f" ({', '.join(flag.choices)})" if len(flag.choices) > 1 else ""
    refused = f"; refused: {', '.join(flag.refused)}" if flag.refused else ""
    dashes = "-" if len(flag.name) <= 2 else "--"
    return f"| `{dashes}{flag.name}` | {_default(flag)} | {flag.help}{values}{refused} |"


def table() -> str:
    rows = [_row(flag).replace("|- |", "|") for flag in FLAGS]
    refused = [f"| `--{name}` | {reason} |" for name, reason in REFUSED.items()]
    return "\n".join(
        ["| flag | default | what it does |", "|---|---|---|", *rows, "",
         "Flags of iree-compile that are refused by name, with the reason that the message gives:", "",
         "| flag | reason |", "|---|---|", *refused, ""]
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(write(Path(__file__).with_suffix(".md"), "flags", table()))
