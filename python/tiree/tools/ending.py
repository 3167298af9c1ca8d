"""How a tool ends: results flushed, errors as messages, exit code 0 or 1, 130 when interrupted.

Also when the reader of its output has left, as in `tiree-opt --help | head`. No error of a run prints a traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from tiree.support.errors import CompileError


def reader_left() -> int:
    """Writes nothing more, not even at exit, and complains about nothing. Returns the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def guarded(tool: str, body: Callable[[], int]) -> int:
    """Runs `body`, which returns an exit code; whatever it raises becomes a message of `tool` and exit code 1."""
    try:
        code = body()
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return reader_left()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except (CompileError, ValueError, RuntimeError, OSError, IndexError, TypeError, MemoryError) as error:
        print(explain(error), file=sys.stderr)
    except Exception as error:
        print(f"{tool}: internal error: {type(error).__name__}: {error}", file=sys.stderr)
    return 1


def explain(error: BaseException) -> str:
    """An error as a tool prints it: what was wrong first, what to do below."""
    if isinstance(error, CompileError):
        return "\n".join(str(d).removeprefix("<command line>: ") for d in error.diagnostics)
    if isinstance(error, OSError) and error.filename:
        return f"error: {error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"error: {error}" if str(error) else "error: not enough memory"
    return f"error: {getattr(error, 'message', '') or str(error)}"
