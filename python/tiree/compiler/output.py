"""What a compilation gives back: pieces, of which those with constants are views, until somebody wants bytes."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TypeVar

from tiree.driver import parts_of
from tiree.support.file_cache import Piece
from tiree.support.sources import Data, give_back

_BytesT = TypeVar("_BytesT", bound=bytes)

_IN_PLACE_FROM = 1 << 24
"""From this size on, an object of a subclass of `bytes` is filled in place: its constructor would copy everything."""


@dataclass(frozen=True)
class Output:
    """The bytes of an artifact, made from `source`."""

    pieces: list[Piece]
    source: Data

    @property
    def size(self) -> int:
        return sum(map(len, self.pieces))

    def to_bytes(self, kind: type[_BytesT]) -> _BytesT:
        """All pieces as one object; of a large one and its mapped source only the object is in memory."""
        if self.size < _IN_PLACE_FROM:
            return kind(b"".join(self.pieces))
        give_back(self.source)
        made = kind(self.size)
        # Nobody else has seen the object yet: this is how C code makes bytes of a size and fills them in.
        address = ctypes.pythonapi.PyBytes_AsString
        address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object]
        room = memoryview((ctypes.c_char * self.size).from_address(address(made))).cast("B")
        at = 0
        for part in parts_of(self.pieces, self.source):
            room[at : at + len(part)] = part
            at += len(part)
        return made
