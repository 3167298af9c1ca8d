"""Splitting test files and comparing diagnostics with `// expected-error` comments, as MLIR's tools do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tiree.support.errors import Diagnostic

_SEPARATOR = re.compile(r"^// -----.*\n?", re.MULTILINE)
_EXPECTED = re.compile(r"expected-error(-re)?\s*(?:@([+-]\d+|above|below|unknown))?\s*\{\{(.*?)\}\}")


def split_input(text: str) -> list[tuple[int, str]]:
    """The parts between `// -----` lines, each with the number of lines before it."""
    parts: list[tuple[int, str]] = []
    start = 0
    for match in _SEPARATOR.finditer(text):
        parts.append((text.count("\n", 0, start), text[start : match.start()]))
        start = match.end()
    parts.append((text.count("\n", 0, start), text[start:]))
    return [(line, part) for line, part in parts if part.strip()]


@dataclass(frozen=True)
class Expectation:
    """An error that must come: on `line` (None: anywhere), with `text` in its message."""

    line: int | None
    text: str
    is_regex: bool

    def matches(self, diagnostic: Diagnostic) -> bool:
        if self.line is not None:
            parts = diagnostic.location.rsplit(":", 2)
            if len(parts) < 3 or parts[1] != str(self.line):
                return False
        if not self.is_regex:
            return self.text in diagnostic.message
        # MLIR's form: plain text with {{regular expressions}} inside.
        return re.search(self.text, diagnostic.message) is not None


def expectations(text: str) -> list[Expectation]:
    """Every `expected-error` comment of `text`."""
    found: list[Expectation] = []
    for number, line in enumerate(text.splitlines(), 1):
        for match in _EXPECTED.finditer(line):
            place = match.group(2) or "+0"
            offset = {"above": -1, "below": 1, "unknown": None}.get(place, 0)
            if place[0] in "+-":
                offset = int(place)
            found.append(
                Expectation(None if offset is None else number + offset, match.group(3), match.group(1) is not None)
            )
    return found


def check_expectations(wanted: Sequence[Expectation], found: Sequence[Diagnostic], filename: str) -> list[str]:
    """One line for every error that did not come or was not expected."""
    remaining = list(found)
    problems: list[str] = []
    for one in wanted:
        match = next((diagnostic for diagnostic in remaining if one.matches(diagnostic)), None)
        if match is None:
            problems.append(f'{filename}:{one.line or 0}: error: expected error "{one.text}" was not produced')
        else:
            remaining.remove(match)
    return problems + [
        f"{diagnostic.location}: error: unexpected error: {diagnostic.message}" for diagnostic in remaining
    ]
