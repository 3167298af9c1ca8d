"""The operations that diagnostics are about, shown with them: `--mlir-print-op-on-diagnostic`."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from tiree.support.errors import CompileError
from tiree.support.locations import noted_operations

_MOST_CHARACTERS = 4000
_MOST_ELEMENTS = 16
"""Of a constant."""


@contextmanager
def operations_in_errors() -> Generator[None, None, None]:
    """Adds to a `CompileError` a note for each finding about an operation: the operation as it is then."""
    with noted_operations() as found:
        try:
            yield
        except CompileError as error:
            from tiree.dialects import print_module

            for diagnostic in error.diagnostics:
                op = found.get(diagnostic.location)
                if op is not None:
                    text = print_module(op, elide_larger_than=_MOST_ELEMENTS).strip()
                    shown = text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."
                    error.add_note(f"{diagnostic.location}: note: see current operation: {shown}")
            raise
