"""Errors of the compiler: what went wrong, where in the user's source, and what to do about it.

Every failure that a user can cause is a `CompileError`; it carries a list of `Diagnostic`s so that one run reports all
of them. Anything else that escapes a pass is a bug of ours and is reported as an internal error by the tools.
May assume nothing of the rest of the package.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

UNKNOWN = "<unknown>"
"""The location of a finding that has none."""

SUPPORTED_OPS = "docs/reference/supported_ops.md lists the ops and element types that are"
"""The hint of the last op of a program that is not supported."""


class Diagnostic(NamedTuple):
    """One finding: `location` is `file:line:column` (or `UNKNOWN`), `message` one line, `hint` what to do."""

    message: str
    location: str = UNKNOWN
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.location}: error: {self.message}"
        return f"{text}\n  {self.hint}" if self.hint else text


def linked(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """With a pointer to the page of supported ops behind the last that has no other hint."""
    for index in reversed(range(len(diagnostics))):
        if diagnostics[index].hint == SUPPORTED_OPS:
            break
        if not diagnostics[index].hint:
            diagnostics[index] = diagnostics[index]._replace(hint=SUPPORTED_OPS)
            break
    return diagnostics


class CompileError(Exception):
    """A program, flag or file that cannot be compiled. `str()` is the whole report, ready to print."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic] | str) -> None:
        if isinstance(diagnostics, str):
            diagnostics = Diagnostic(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = (
            (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        )
        super().__init__("\n".join(map(str, self.diagnostics)))
        self.module: object = None
        """The module with these faults, where it could be read as a whole: it may have others."""

    def place(self, file: str) -> None:
        """Names the file in findings without a location."""
        self.diagnostics = tuple(
            found._replace(location=file) if found.location == UNKNOWN else found for found in self.diagnostics
        )
        self.args = ("\n".join(map(str, self.diagnostics)),)


class InternalError(Exception):
    """A fault of the compiler itself. `culprit` is the pass or step that failed; the cause is chained."""

    def __init__(self, message: str, culprit: str) -> None:
        super().__init__(message)
        self.culprit = culprit
