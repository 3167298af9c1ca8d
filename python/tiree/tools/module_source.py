"""Where the tools read a module from: a file, standard input for `-`, or a pipe."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from typing import TYPE_CHECKING

from tiree.support.errors import CompileError

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import BinaryIO


def _unnamed() -> BinaryIO:
    """A file without a name, of which nothing is left however the process ends."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("module"), "w+b")
    import tempfile

    return tempfile.TemporaryFile()


def _rename(error: BaseException, old: str, new: str) -> None:
    """Has an error speak of `new` where it named `old`."""
    if isinstance(error, CompileError):
        error.diagnostics = tuple(
            found._replace(message=found.message.replace(old, new)) for found in error.diagnostics
        )
    error.args = tuple(part.replace(old, new) if isinstance(part, str) else part for part in error.args)
    for name in ("filename", "message"):
        if isinstance(value := getattr(error, name, None), str):
            with contextlib.suppress(AttributeError):
                setattr(error, name, value.replace(old, new))


@contextlib.contextmanager
def module_file(path: str) -> Generator[str]:
    """A file that can be mapped: `path`, or one without a name for what `-` or a pipe gives, open until the end.

    Errors name what the user gave.
    """
    source: BinaryIO
    if path == "-":
        source = sys.stdin.buffer
    elif os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode):
        source = open(path, "rb")  # noqa: SIM115
    else:
        yield path
        return
    import shutil

    with _unnamed() as file:
        with source:
            shutil.copyfileobj(source, file)
        file.flush()
        # Where opening a descriptor's name gives the descriptor itself, reading begins where it stands.
        file.seek(0)
        name = f"{'/proc/self/fd' if sys.platform == 'linux' else '/dev/fd'}/{file.fileno()}"
        try:
            yield name
        except Exception as error:
            _rename(error, name, "standard input (-)" if path == "-" else path)
            raise
