"""Files that are written whole or not at all, as programs may have mapped what they replace."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, nullcontext, suppress
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


def _unnamed(folder: str) -> BinaryIO | None:
    """A file in `folder` that gets its name later, so that nothing is left of it when the process is ended before.

    None where the file system has no such files.
    """
    if not hasattr(os, "O_TMPFILE") or not os.path.exists("/proc/self/fd"):
        return None
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666), "wb")
    except OSError:
        return None


@contextmanager
def _removed_by_signals(path: str) -> Generator[None, None, None]:
    """Removes `path` before a signal ends the process while it is written, as far as that is asked of this thread."""

    import signal
    import threading

    def end(number: int, _frame: object) -> None:
        with suppress(OSError):
            os.unlink(path)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    here = threading.current_thread() is threading.main_thread()
    known = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [one for one in known if here and signal.getsignal(one) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


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
        unnamed = _unnamed(os.path.dirname(target))
        with nullcontext() if unnamed else _removed_by_signals(temporary), unnamed or open(temporary, "xb") as file:
            if old is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
            yield file
            file.flush()
            if unnamed:
                # Links are followed when a folder is given.
                os.link(f"/proc/self/fd/{file.fileno()}", temporary, src_dir_fd=file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError) and (error.filename in (None, temporary) or error.filename2 == temporary):
            error.filename = path
        raise


def replace_file(path: str | os.PathLike[str], contents: bytes) -> None:
    """Writes a whole file as `replacing` does."""
    with replacing(path) as file:
        file.write(contents)
