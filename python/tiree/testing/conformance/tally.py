"""Counts of verdicts: by suite, by subject, by op, and failures by what they have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tiree.testing.conformance.case import FAILURES, PASS, SKIPPED, Verdict


@dataclass
class SuiteResult:
    """What became of a suite. `reason` says why it did not run."""

    name: str
    title: str
    verdicts: Sequence[Verdict] = field(default_factory=list[Verdict])
    reason: str = ""
    size: int = 0
    """How many cases there are, of which a sample may have been judged."""

    @property
    def judged(self) -> list[Verdict]:
        """Without those that cannot be judged."""
        return [verdict for verdict in self.verdicts if verdict.status != SKIPPED]

    @property
    def failures(self) -> list[Verdict]:
        """The worst kinds first, else in the order of the suite."""
        found = [verdict for verdict in self.judged if verdict.status != PASS]
        return sorted(found, key=lambda verdict: FAILURES.index(verdict.status))

    @property
    def passed(self) -> int:
        return len(self.judged) - len(self.failures)

    @property
    def skips(self) -> Counter[str]:
        """Reasons of those that cannot be judged, without what is special to each."""
        return Counter(verdict.detail.partition(":")[0] for verdict in self.verdicts if verdict.status == SKIPPED)


@dataclass
class Count:
    """Of the cases that concern something, how many pass."""

    passed: int = 0
    total: int = 0

    def add(self, verdict: Verdict) -> None:
        self.total += 1
        self.passed += verdict.status == PASS

    def __str__(self) -> str:
        return f"{self.passed}/{self.total}" if self.total else ""


def by_subject(verdicts: Iterable[Verdict]) -> dict[str, Count]:
    """Counts for each subject, in alphabetical order."""
    found: dict[str, Count] = {}
    for verdict in verdicts:
        found.setdefault(verdict.subject, Count()).add(verdict)
    return dict(sorted(found.items()))


def by_op(verdicts: Iterable[Verdict]) -> dict[str, Count]:
    """Counts for each kind of op that programs contain: a case counts for each of its ops."""
    found: dict[str, Count] = {}
    for verdict in verdicts:
        for op in verdict.ops:
            found.setdefault(op, Count()).add(verdict)
    return dict(sorted(found.items()))


def by_element(verdicts: Iterable[Verdict]) -> dict[str, Count]:
    """Counts for each element type of drawn programs, whose names are `op/element/number`."""
    found: dict[str, Count] = {}
    for verdict in verdicts:
        found.setdefault(verdict.name.split("/")[1], Count()).add(verdict)
    return dict(sorted(found.items()))


_DETAILS = (
    (re.compile(r"<input>\S*"), ""),
    (re.compile(r" \(\d+ uses\)(?:; also at[^|]*)?"), ""),
    (re.compile(r"^result \d+: \d+ of \d+ values off.*"), "values off"),
    (re.compile(r"\(dispatch [^)]*\)"), ""),
    (re.compile(r"\d+"), "N"),
)


def reason_of(verdict: Verdict) -> str:
    """The first line of a failure without its numbers, so that failures of one cause look alike."""
    text = verdict.detail.partition(" | ")[0].removeprefix("error: ")
    for pattern, instead in _DETAILS:
        text = pattern.sub(instead, text)
    return f"{verdict.status}: {' '.join(text.split())}"


def by_reason(failures: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Failures by reason, the kinds in their order and the most frequent first."""
    found: dict[str, list[Verdict]] = {}
    for verdict in failures:
        found.setdefault(reason_of(verdict), []).append(verdict)
    return dict(sorted(found.items(), key=lambda item: (FAILURES.index(item[1][0].status), -len(item[1]), item[0])))
