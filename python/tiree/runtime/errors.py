"""Exceptions of the runtime: what IREE's Python API raises, each also a `StatusError` with the status code."""

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
"""Names of the status codes by number."""


class StatusError(RuntimeError):
    """A runtime status that is not OK. `code` is its number, `code_name` its name, `message` its own first text."""

    code: int = 2
    message: str = ""

    @property
    def code_name(self) -> str:
        return CODES[self.code] if self.code < len(CODES) else str(self.code)


class StatusValueError(StatusError, ValueError):
    """INVALID_ARGUMENT, NOT_FOUND, and DATA_LOSS: files that are damaged."""


class StatusIndexError(StatusError, IndexError):
    """OUT_OF_RANGE."""


class StatusNotImplementedError(StatusError, NotImplementedError):
    """UNIMPLEMENTED."""


class StatusTimeoutError(StatusError, TimeoutError):
    """DEADLINE_EXCEEDED."""


_CLASSES: dict[str, type[StatusError]] = {
    "INVALID_ARGUMENT": StatusValueError,
    "NOT_FOUND": StatusValueError,
    "DATA_LOSS": StatusValueError,
    "OUT_OF_RANGE": StatusIndexError,
    "UNIMPLEMENTED": StatusNotImplementedError,
    "DEADLINE_EXCEEDED": StatusTimeoutError,
}


def from_status(code: int, text: str, message: str) -> StatusError:
    """The exception for a status whose whole text is `text`; called by the native module."""
    name = CODES[code] if code < len(CODES) else ""
    error = _CLASSES.get(name, StatusError)(text)
    error.code, error.message = code, message
    return error
