"""A folder of results by the digest of what they were made from, shared by any number of processes.

An entry is a file that appears whole or not at all, with a checksum in front: one that is damaged counts as none. The
entries that have not been used for longest go when there are too many bytes. Nothing here ever waits for another
process: who comes second finds the entry, or writes the same one again.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

_MAGIC = b"TIREEC01"
_DIGEST = 32
_HEAD = len(_MAGIC) + _DIGEST + 8
_SUFFIX = ".entry"
_TEMPORARY = ".tmp"
_FOLDER = re.compile(r"[0-9a-f]{2}")
_OURS = re.compile(r"(?:[0-9a-f]+\.entry|new-\w+\.tmp)")
"""What this module writes, and may remove: a user may have named a folder that holds other files too."""
_ABANDONED = 3600.0
"""Seconds after which a file that somebody began to write is taken for left behind."""
_WINDOW = 1 << 24

Piece = bytes | memoryview


def windows(pieces: Iterable[Piece]) -> Iterable[memoryview]:
    """`pieces` in parts of at most 16 MB."""
    for piece in pieces:
        view = memoryview(piece)
        for at in range(0, len(view), _WINDOW):
            yield view[at : at + _WINDOW]


class FileCache:
    """Entries below `folder`, of at most `limit` bytes together."""

    def __init__(self, folder: str, limit: int) -> None:
        self.folder = os.path.abspath(folder)
        self.limit = limit

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, key[:2], key[2:] + _SUFFIX)

    def get(self, key: str) -> bytes | None:
        """The entry of a key (hexadecimal digits), which has now been used; None if there is none that is whole.

        Raises `OSError` where the folder cannot be read.
        """
        path = self._path(key)
        try:
            with open(path, "rb", buffering=0) as file:  # Unbuffered: a big entry is read once, into one place.
                head = file.read(_HEAD)
                contents = file.readall()
        except (FileNotFoundError, NotADirectoryError):
            return None
        digest, size = head[len(_MAGIC) : -8], int.from_bytes(head[-8:], "little")
        whole = len(head) == _HEAD and head.startswith(_MAGIC) and size == len(contents)
        if not whole or hashlib.blake2b(contents, digest_size=_DIGEST).digest() != digest:
            with suppress(OSError):
                os.unlink(path)
            return None
        with suppress(OSError):
            os.utime(path)
        return contents

    def put(self, key: str, pieces: Iterable[Piece]) -> None:
        """Keeps the bytes of `pieces`, one after the other, as the entry of `key`. Raises `OSError`."""
        path = self._path(key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        hashed = hashlib.blake2b(digest_size=_DIGEST)
        size = 0
        number, temporary = tempfile.mkstemp(_TEMPORARY, "new-", os.path.dirname(path))
        try:
            with os.fdopen(number, "wb") as file:
                file.write(bytes(_HEAD))
                for part in windows(pieces):
                    file.write(part)
                    hashed.update(part)
                    size += len(part)
                file.seek(0)
                file.write(_MAGIC + hashed.digest() + size.to_bytes(8, "little"))
            if _HEAD + size > self.limit:
                os.unlink(temporary)
                return
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        self._evict()

    def _files(self) -> Iterator[str]:
        """The files of the cache, finished and half written."""
        for part in os.listdir(self.folder):
            if _FOLDER.fullmatch(part) is None:
                continue
            folder = os.path.join(self.folder, part)
            with suppress(OSError):
                yield from (os.path.join(folder, name) for name in os.listdir(folder) if _OURS.fullmatch(name))

    def _evict(self) -> None:
        """Removes what has not been used for longest until nine tenths of the limit are left, if it is exceeded."""
        entries: list[tuple[float, int, str]] = []
        for path in self._files():
            with suppress(OSError):
                status = os.stat(path)
                if path.endswith(_SUFFIX):
                    entries.append((status.st_mtime, status.st_size, path))
                elif status.st_mtime < time.time() - _ABANDONED:
                    os.unlink(path)
        total = sum(size for _, size, _ in entries)
        if total <= self.limit:
            return
        for _, size, path in sorted(entries):
            if total <= self.limit - self.limit // 10:
                break
            with suppress(OSError):
                os.unlink(path)
            total -= size
