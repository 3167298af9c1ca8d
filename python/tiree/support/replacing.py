"""Files that are written whole or not at all, as programs may have mapped what they replace."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Generator
from contextlib import contextmanager, nullcontext, suppress
from typing import BinaryIO

# Folders whose names stand for devices, streams and settings, and one in them that is like any other.
_SPECIAL = ("/dev", "/proc", "/sys")
_ORDINARY = "/dev/shm"
# Links that follow each other; the system's own limit.
_MAX_LINKS = 40
# What a system says where a folder, and not the file in it, is at fault.
_OF_FOLDERS = (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EROFS)


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
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o666), "w+b")
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


def _is_mapped(path: str) -> bool:
    """Whether this process has mapped a file, also under another name; true where that cannot be told."""
    status = os.stat(path)
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            lines = [line.rstrip("\n").split(maxsplit=5) for line in maps]
    except OSError:
        return True
    # Layered file systems give maps other devices than files.
    return any(line[3:5] == [device, str(status.st_ino)] or line[5:] == [path] for line in lines)


def _keep_owner(file: BinaryIO, old: os.stat_result) -> None:
    """Gives a new file what belongs to the old one, as far as this process may; never the right to run as its owner."""
    for owner, group in ((-1, old.st_gid), (old.st_uid, -1)):
        with suppress(OSError):
            os.fchown(file.fileno(), owner, group)
    os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode) & 0o777)


@contextmanager
def _in_place(path: str) -> Generator[BinaryIO, None, None]:
    """The file itself, which keeps what it had when nothing is written, and is cut after what is."""
    with open(path, "wb", opener=lambda name, _: os.open(name, os.O_WRONLY | os.O_CLOEXEC)) as file:
        try:
            yield file
        except BaseException:
            if file.tell():
                file.truncate()
            raise
        file.truncate()


def _refusal(error: OSError, path: str, folder: str, exists: bool) -> OSError:
    """An error of a folder, which says so."""
    text = f"{os.strerror(error.errno or 0)} (by the folder {folder}"
    text += ", and the file is not written in place, as this process has mapped it)" if exists else ")"
    return OSError(error.errno, text, path)


@contextmanager
def _instead(error: OSError, path: str, target: str, exists: bool) -> Generator[BinaryIO, None, None]:
    """What is written when `error` kept the folder from getting a new file."""
    if error.errno not in _OF_FOLDERS:
        raise error
    if not exists or _is_mapped(target):
        raise _refusal(error, path, os.path.dirname(target), exists) from None
    with _in_place(target) as file:
        yield file


def _named(path: str) -> BinaryIO | OSError:
    try:
        return open(path, "x+b")
    except OSError as error:
        return error


def _move(file: BinaryIO, temporary: str, target: str, named: bool) -> OSError | None:
    """Gives a complete file the name of its target; or says why that is not allowed."""
    try:
        file.flush()
        if not named:
            # Links are followed when a folder is given.
            os.link(f"/proc/self/fd/{file.fileno()}", temporary, src_dir_fd=file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        return error
    return None


@contextmanager
def _replaced(path: str, target: str, old: os.stat_result | None) -> Generator[BinaryIO, None, None]:
    """A new file that becomes `target`, or `target` itself where its folder does not allow that."""
    folder, exists = os.path.dirname(target), old is not None
    temporary = os.path.join(folder, f".tiree-{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        unnamed = _unnamed(folder)
        with nullcontext() if unnamed else _removed_by_signals(temporary):
            new = unnamed or _named(temporary)
            if isinstance(new, OSError):
                with _instead(new, path, target, exists) as here:
                    yield here
                return
            with new as file:
                if old is not None:
                    _keep_owner(file, old)
                yield file
                error = _move(file, temporary, target, named=not unnamed)
                if error is not None:
                    file.seek(0)
                    with _instead(error, path, target, exists) as here:
                        shutil.copyfileobj(file, here)
                    with suppress(FileNotFoundError):
                        os.unlink(temporary)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and (error.filename in (None, temporary, target) or error.filename2 == temporary):
            error.filename = path
        raise


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[BinaryIO, None, None]:
    """A new file beside `path`, which takes its place at the end.

    So nobody reads half of it, and maps of the old one stay. After an error `path` is as it was. What a link leads to
    is replaced, not the link. Pipes, devices and whatever is in `/dev` or `/proc` are written directly, and so are
    files that have other names or whose folder may not be written: see docs/reference/outputs.md.
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
    linked = old is not None and old.st_nlink > 1 and not _is_mapped(target)
    with _in_place(target) if linked else _replaced(path, target, old) as file:
        yield file


def replace_file(path: str | os.PathLike[str], contents: bytes) -> None:
    """Writes a whole file as `replacing` does."""
    with replacing(path) as file:
        file.write(contents)
