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
    """A runtime status that is not OK. `code` is its number, `code_name` its name, `message` its own first text.

    `status` is all that is known: the name of the code, the message, and what every layer between call and cause added.
    """

    code: int = 2
    message: str = ""
    status: str = ""

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


class StatusMemoryError(StatusError, MemoryError):
    """RESOURCE_EXHAUSTED: no memory left, or more asked for than a device may use."""


class LimitError(StatusError):
    """A call reached one of the limits that were set for it or for its context."""


class FuelError(LimitError):
    """The call executed as many instructions as its fuel allows."""


class TimeLimitError(LimitError, StatusTimeoutError):
    """The call took as long as its timeout allows."""


class StackLimitError(LimitError, RecursionError):
    """As many calls were active as `max_stack_depth` allows, or their frames took all of the stack."""


class MemoryLimitError(LimitError, MemoryError):
    """The objects of the context took as much memory as its `memory_limit` allows."""


_CLASSES: dict[str, type[StatusError]] = {
    "INVALID_ARGUMENT": StatusValueError,
    "NOT_FOUND": StatusValueError,
    "DATA_LOSS": StatusValueError,
    "OUT_OF_RANGE": StatusIndexError,
    "UNIMPLEMENTED": StatusNotImplementedError,
    "DEADLINE_EXCEEDED": StatusTimeoutError,
    "RESOURCE_EXHAUSTED": StatusMemoryError,
}


_LIMITS: dict[str, type[LimitError]] = {
    "fuel": FuelError,
    "time": TimeLimitError,
    "stack": StackLimitError,
    "memory": MemoryLimitError,
}


def from_status(code: int, text: str, message: str, limit: str | None = None, status: str = "") -> StatusError:
    """The exception that reads `text`, for a status about `limit` if that is why. Called natively."""
    name = CODES[code] if code < len(CODES) else ""
    error = (_LIMITS[limit] if limit else _CLASSES.get(name, StatusError))(text)
    error.code, error.message, error.status = code, message, status or text
    return error
