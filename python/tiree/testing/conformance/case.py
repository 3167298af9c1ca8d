"""What a suite is made of: cases, each a program with its arguments and what its results must be.

A case is addressed by its name, so that a worker process finds the one that its parent means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

PASS = "pass"
WRONG = "wrong"
REFUSED = "refused"
FAILED = "failed"
CRASHED = "crashed"
SLOW = "slow"
SKIPPED = "skipped"

FAILURES = (WRONG, CRASHED, FAILED, REFUSED, SLOW)
"""The worst first: wrong results, a process that ended, an error while it ran, a refusal to compile, too long."""


class Skip(Exception):
    """A case that cannot be judged; the text says why."""


@dataclass
class Work:
    """A case, loaded: what to compile, what to call it with, and what is right."""

    text: str | bytes
    function: str
    arguments: Sequence[Any]
    """numpy arrays, in the order of the function's arguments."""
    check: Callable[[Sequence[Any]], str | None]
    """From the results, as numpy arrays, to what is wrong with them."""


@dataclass(frozen=True)
class Case:
    """One entry of a suite."""

    name: str
    subject: str
    """The StableHLO op or the JAX primitive that it is about."""
    load: Callable[[], Work] = field(compare=False, repr=False)
    """Raises `Skip`."""


@dataclass
class Verdict:
    """What became of a case."""

    name: str
    subject: str
    status: str
    detail: str = ""
    ops: tuple[str, ...] = ()
    """The kinds of StableHLO and CHLO op of the program."""
    seconds: float = 0.0


class Suite(Protocol):
    """A source of cases."""

    name: str
    title: str

    def missing(self) -> str | None:
        """Why the suite cannot run here, or None."""
        ...

    def cases(self) -> list[Case]:
        """All of its cases, in an order that never changes."""
        ...
