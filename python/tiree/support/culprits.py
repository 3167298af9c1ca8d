"""Which operation a pass was working on when it failed, by the frames of the exception."""

from __future__ import annotations

from types import TracebackType

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tiree.support.locations import UNKNOWN, location_of

_NAMES = ("op", "inner", "operation", "dispatch", "generic", "function")
"""What passes call the operation at hand."""


def operation_of(error: BaseException) -> Operation | None:
    """The operation of the innermost frame that has one; never the module itself."""
    found: Operation | None = None
    frame: TracebackType | None = error.__traceback__
    while frame is not None:
        for name in _NAMES:
            value = frame.tb_frame.f_locals.get(name)
            if isinstance(value, Operation) and not isinstance(value, ModuleOp):
                found = value
                break
        frame = frame.tb_next
    return found


def described(error: BaseException) -> str:
    """` on NAME at PLACE` for the operation of an error, or nothing."""
    op = operation_of(error)
    if op is None:
        return ""
    place = location_of(op)
    return f" on {op.name}" + (f" at {place}" if place != UNKNOWN else "")
