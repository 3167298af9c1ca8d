"""How execution can end other than with results."""

from __future__ import annotations

CODES = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
    "DEFERRED",
    "INCOMPATIBLE",
)


class Fault(Exception):
    """A status that is not OK. `code` is its name; `place` is (module, function ordinal, pc) once it is known."""

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.place: tuple[str, int, int] | None = None


class OutOfSteps(Exception):
    """The program took more steps than it was given."""


class NotDecodable(Exception):
    """The program relies on something that the reference does not model (an unbound native function, say)."""
