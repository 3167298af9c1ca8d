"""Files that are written whole or not at all, as programs may have mapped what they replace."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from typing import BinaryIO

_DIRECT = ("/dev/std", "/dev/fd/", "/proc/")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[BinaryIO, None, None]:
    """A new file beside `path`, which takes its place at the end.

    So nobody reads half of it, and maps of the old one stay. After an error `path` is as it was. Pipes, devices and
    `/dev/stdout` are written directly.
    """
    path = os.fspath(path)
    try:
        old = os.stat(path)
    except FileNotFoundError:
        old = None
    if path.startswith(_DIRECT) or (old is not None and not stat.S_ISREG(old.st_mode)):
        try:
            with open(path, "wb") as file:
                yield file
        except OSError as error:
            error.filename = error.filename or path
            raise
        return
    if old is not None:
        # A file that may not be written stays, although its folder would let it be replaced.
        os.close(os.open(path, os.O_WRONLY))
    # What a link leads to is replaced, not the link.
    target = os.path.realpath(path)
    temporary = os.path.join(os.path.dirname(target), f".tiree-{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        with open(temporary, "xb") as file:
            if old is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
            yield file
        os.replace(temporary, target)
    except BaseException as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename in (None, temporary):
            error.filename = path
        raise


def replace_file(path: str | os.PathLike[str], contents: bytes) -> None:
    """Writes a whole file as `replacing` does."""
    with replacing(path) as file:
        file.write(contents)
