"""The part of a page between two marks, which a script writes and the rest of the page leaves to people."""

from __future__ import annotations

import sys
from pathlib import Path


def write(page: Path, name: str, table: str) -> int:
    """Puts `table` between the marks called `name`; with --check it only says whether it is there. The exit code."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    text = page.read_text()
    head, rest = text.split(start)
    tail = rest.split(end)[1]
    fresh = f"{head}{start}{table}{end}{tail}"
    if "--check" in sys.argv:
        return int(fresh != text)
    page.write_text(fresh)
    return 0
