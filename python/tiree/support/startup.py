"""Starting and ending fast: assembly formats parsed on first use, few garbage collections, no teardown.

An op with an `assembly_format` costs xDSL about half a millisecond at import, for text that most runs never read or
print. `defer_assembly_formats` replaces the one constructor that does this; it must run before dialects are imported.
A mistake in a format then shows at its first use (`tests/support/test_startup.py` uses every one of ours).
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Any, NoReturn

_done = False


class _DeferredProgram:
    """Stands for a `FormatProgram` until somebody parses or prints."""

    __slots__ = ("_definition", "_make", "_program", "_text")

    def __init__(self, make: Any, text: str, definition: Any) -> None:
        self._make, self._text, self._definition = make, text, definition
        self._program: Any = None

    def _real(self) -> Any:
        if self._program is None:
            self._program = self._make(self._text, self._definition)
        return self._program

    def parse(self, parser: Any, op_type: Any) -> Any:
        return self._real().parse(parser, op_type)

    def print(self, printer: Any, op: Any) -> None:
        self._real().print(printer, op)


def defer_assembly_formats() -> None:
    """Installs the deferral once; does nothing where xDSL is built differently than expected."""
    global _done
    if _done:
        return
    _done = True
    from xdsl.irdl import declarative_assembly_format

    program = getattr(declarative_assembly_format, "FormatProgram", None)
    make = getattr(program, "from_str", None)
    if program is None or make is None:
        return

    def from_str(text: str, definition: Any) -> _DeferredProgram:
        return _DeferredProgram(make, text, definition)

    program.from_str = staticmethod(from_str)


def collect_rarely() -> None:
    """For a short-lived process: fewer garbage collections. IR is a web of cycles that stays alive until the end."""
    gc.set_threshold(1_000_000, 50, 50)


def leave(code: int) -> NoReturn:
    """Ends the process at once. Taking the IR apart object by object would cost a tenth of a small compilation."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        code = code or 1
    os._exit(code)
