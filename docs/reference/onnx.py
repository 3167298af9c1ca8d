"""Writes the table of `onnx.md`: the operators that are converted, by family, with what is not taken of each.

python docs/reference/onnx.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

from marked_table import write
from tiree.input.onnx.table import FAMILIES, LIMITS


def table() -> str:
    lines: list[str] = [f"{sum(map(len, FAMILIES.values()))} operators.\n"]
    for family, conversions in FAMILIES.items():
        plain = [f"`{name}`" for name in sorted(conversions) if name not in LIMITS]
        lines += [f"### {family}\n", f"{', '.join(plain)}.\n"] if plain else [f"### {family}\n"]
        limited = [f"| `{name}` | {LIMITS[name]} |" for name in sorted(conversions) if name in LIMITS]
        if limited:
            lines += ["| operator | what is refused |", "|---|---|", *limited, ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(write(Path(__file__).with_suffix(".md"), "operators", table()))
