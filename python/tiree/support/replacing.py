"""Files that are written whole or not at all, as programs may have mapped what they replace."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from typing import BinaryIO

# Folders whose names stand for devices, streams and settings, and one in them that is like any other.
_SPECIAL = ("/dev", "/proc", "/sys")
_ORDINARY = "/dev/shm"
# Links that follow each other; the system's own limit.
_MAX_LINKS = 40


def _within(folder: str, other: str) -> bool:
    return folder == other or folder.startswith(other + "/")


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _place(path: str) -> tuple[str | None, bool]:
    """Where what `path` leads to is, or will be; None for what is opened instead of replaced. Whether it may be made.

    Follows links, also those that lead to nothing; `replacing.rs` has the same rule.
    """
    exists = _stat(path)
    for _ in range(_MAX_LINKS):
        folder, name = os.path.split(path)
        if name in ("", ".", ".."):
            return None, True
        folder = os.path.realpath(folder or ".", strict=True)
        if any(_within(folder, special) for special in _SPECIAL) and not _within(folder, _ORDINARY):
            return None, False
        here = os.path.join(folder, name)
        if os.path.islink(here):
            path = os.path.join(folder, os.readlink(here))
            continue
        return (here if exists is None or stat.S_ISREG(exists.st_mode) else None), True
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[BinaryIO, None, None]:
    """A new file beside `path`, which takes its place at the end.

    So nobody reads half of it, and maps of the old one stay. After an error `path` is as it was. What a link leads to
    is replaced, not the link. Pipes, devices and whatever is in `/dev` or `/proc` are written directly.
    """
    path = os.fspath(path)
    try:
        target, may_be_made = _place(path)
    except OSError as error:
        error.filename = path
        raise
    if target is None:
        flags = os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | (os.O_CREAT if may_be_made else 0)
        try:
            with open(path, "wb", opener=lambda name, _: os.open(name, flags, 0o666)) as file:
                yield file
        except OSError as error:
            error.filename = error.filename or path
            raise
        return
    old = _stat(target)
    if old is not None:
        # A file that may not be written stays, although its folder would let it be replaced.
        os.close(os.open(path, os.O_WRONLY))
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
