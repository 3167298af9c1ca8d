"""How a tool ends: results flushed, errors as messages, exit code 0 or 1, 130 when interrupted.

Also when the reader of its output has left, as in `tiree-opt --help | head`. No error of a run prints a traceback.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from tiree.support.errors import CompileError, InternalError


def print_error(error: Exception) -> None:
    """Prints an error and what was noted with it."""
    print(error, *getattr(error, "__notes__", ()), sep="\n", file=sys.stderr)


def open_streams() -> None:
    """Gives standard streams that were closed (`>&-`) a place, before a file gets their number.

    Input is empty, messages go nowhere, and output is an error when there is any (see `explain`).
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            place = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            if place != number:
                os.dup2(place, number)
                os.close(place)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def reader_left() -> int:
    """Writes nothing more, not even at exit, and complains about nothing. Returns the exit code."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


_EXPECTED = (CompileError, ValueError, RuntimeError, OSError, IndexError, TypeError, MemoryError)
"""What a body may raise for what it was given; anything else is a fault of the tool."""


def guarded(tool: str, body: Callable[[], int]) -> int:
    """Runs `body`, which returns an exit code; whatever it raises becomes a message of `tool` and exit code 1."""

    def say(error: Exception) -> None:
        known = isinstance(error, _EXPECTED)
        text = explain(error) if known else f"{tool}: internal error: {type(error).__name__}: {error}"
        print(text, file=sys.stderr)

    return _ended(body, say)


def guarded_compiler(tool: str, arguments: Sequence[str], body: Callable[[], int]) -> int:
    """`guarded` for a tool that compiles: errors have places in the program, and `arguments` may ask for tracebacks."""
    show_traceback = "--mlir-print-stacktrace-on-diagnostic" in arguments or os.environ.get("TIREE_TRACEBACK") == "1"

    def say(error: Exception) -> None:
        if isinstance(error, OSError):
            place = f"{error.filename}: " if error.filename else ""
            print(f"{place}error: {error.strerror if place else os_reason(error) or error}", file=sys.stderr)
            return
        if show_traceback:
            import traceback

            traceback.print_exc()
        if isinstance(error, CompileError):
            print_error(error)
        else:
            what = str(error) if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
            print(f"{tool}: internal error: {what}", file=sys.stderr)

    return _ended(body, say)


def _ended(body: Callable[[], int], say: Callable[[Exception], None]) -> int:
    """The exit code of `body`, or of how it ended instead; `say` prints an error."""
    open_streams()
    try:
        code = body()
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return reader_left()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        say(error)
        if isinstance(error, OSError) and is_of_output(error):
            reader_left()
    return 1


def is_of_output(error: OSError) -> bool:
    """Whether writing standard output failed: errors of files have the file's name."""
    return error.errno is not None and not error.filename


def os_reason(error: OSError) -> str:
    """The file and the system's words; without a file it was the output of the tool. Empty when the error is a text."""
    if error.filename:
        return f"{error.filename}: {error.strerror}"
    if not is_of_output(error):
        return ""
    return "standard output is closed" if error.errno == errno.EBADF else f"standard output: {error.strerror}"


def explain(error: BaseException) -> str:
    """An error as a tool prints it: what was wrong first, what to do below."""
    if isinstance(error, CompileError):
        return "\n".join(str(d).removeprefix("<command line>: ") for d in error.diagnostics)
    if isinstance(error, OSError) and (reason := os_reason(error)):
        return f"error: {reason}"
    if isinstance(error, MemoryError):
        return f"error: {error}" if str(error) else "error: not enough memory"
    return f"error: {getattr(error, 'message', '') or str(error)}"
