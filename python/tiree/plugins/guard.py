"""Passes from outside, run with care: a fault names the pass, the plugin, its line and the op; the result is verified.

In: any pass. Out: a pass that does the same, and raises `CompileError` alone. A fault of a plugin is no fault of the
compiler: there is no reproducer, and no traceback unless a flag asks for it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType, TracebackType

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException, PassFailedException, VerifyException

from tiree.pipeline import verify_module
from tiree.support.errors import UNKNOWN, CompileError, Diagnostic
from tiree.support.extensions import Origin
from tiree.support.locations import location_of

_MEANT_FOR_USERS = (DiagnosticException, PassFailedException, VerifyException)
"""Exceptions of xDSL whose text says all."""
_TRACEBACK = "TIREE_TRACEBACK=1 shows the Python traceback"


class GuardedPass(ModulePass):
    """`inner`, a pass of `origin`; see the module docstring. It goes by the name of `inner`."""

    def __init__(self, inner: ModulePass, origin: Origin) -> None:
        object.__setattr__(self, "inner", inner)
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "name", inner.name)

    inner: ModulePass
    origin: Origin

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        what = f"pass {self.inner.name} of {self.origin}"
        with blame(what, self.origin):
            self.inner.apply(ctx, op)
        try:
            verify_module(op)
        except CompileError as error:
            raise CompileError(
                found._replace(message=f"{what} leaves a module that is not valid: {found.message}")
                for found in error.diagnostics
            ) from error
        except Exception as error:
            message = f"{what} leaves a module that is not valid: {_text(error)}"
            raise CompileError(Diagnostic(message, hint=_TRACEBACK)) from error


@contextmanager
def blame(what: str, origin: Origin, location: str = UNKNOWN) -> Generator[None]:
    """Any exception meanwhile is reported as a fault of `origin` while it did `what`, at an op or else at `location`.

    What a plugin reports as `CompileError` itself is signed by it.
    """
    try:
        yield
    except CompileError as error:
        raise CompileError(_signed(found, what) for found in error.diagnostics) from error
    except (Exception, SystemExit) as error:
        report = fault(error, what, origin)
        raise CompileError(report._replace(location=location) if report.location == UNKNOWN else report) from error


def _signed(found: Diagnostic, what: str) -> Diagnostic:
    """A finding that a plugin reports itself, with who says it."""
    return found._replace(hint=f"{found.hint}\n  reported by {what}" if found.hint else f"reported by {what}")


def fault(error: BaseException, what: str, origin: Origin) -> Diagnostic:
    """The report of an exception that left code of `origin` while it did `what`."""
    frames = _frames(error.__traceback__)
    own = [frame for frame in frames if frame[0].f_code.co_filename == origin.file]
    op = _op_in_hand([frame for frame, _ in (own or frames)])
    at = f" at {op.name}" if op is not None else ""
    place = f" ({origin.name}:{own[-1][1]})" if own else ""
    location = location_of(op) if op is not None else UNKNOWN
    return Diagnostic(f"{what} failed{at}: {_text(error)}{place}", location, _TRACEBACK)


def _text(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # xDSL's exceptions print an operation and then say what is wrong with it; all others say it from the start.
    text = (lines[-1] if isinstance(error, DiagnosticException) else "; ".join(lines))[:400] if lines else ""
    if isinstance(error, _MEANT_FOR_USERS) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _frames(traceback: TracebackType | None) -> list[tuple[FrameType, int]]:
    """The frames of a traceback with their lines, outermost first."""
    found: list[tuple[FrameType, int]] = []
    while traceback is not None:
        found.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return found


def _op_in_hand(frames: list[FrameType]) -> Operation | None:
    """The operation that code was working on: the most deeply nested one among the variables of the last frame that
    has any. The module itself says nothing."""
    for frame in reversed(frames):
        held = [v for v in frame.f_locals.values() if isinstance(v, Operation) and not isinstance(v, ModuleOp)]
        if held:
            return max(held, key=_depth)
    return None


def _depth(op: Operation) -> int:
    depth, parent = 0, op.parent_op()
    while parent is not None:
        depth, parent = depth + 1, parent.parent_op()
    return depth
