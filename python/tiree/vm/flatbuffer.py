"""A FlatBuffer writer: tables, vectors, strings and structs, built back to front as the format wants it.

Ours rather than the `flatbuffers` package because that imports numpy, which takes longer than compiling a small
program; tests read what this writes with that package. Positions are distances from the end of the buffer. Equal
strings and equal vtables are stored once.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """One table field: `slot` is the field number, `size` its bytes; `data` a scalar's bytes or None for an offset."""

    slot: int
    size: int
    data: bytes | None
    offset: int = 0


def scalar(slot: int, format: str, value: int, default: int = 0) -> Field | None:
    """A scalar field (`format` as in `struct`), absent when it has its default."""
    if value == default:
        return None
    data = struct.pack("<" + format, value)
    return Field(slot, len(data), data)


def reference(slot: int, offset: int | None) -> Field | None:
    """A field that points to something built before; absent when `offset` is None."""
    return None if offset is None else Field(slot, 4, None, offset)


class FlatBufferBuilder:
    """Children are built before the tables that point to them."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0
        self._alignment = 4
        self._strings: dict[str, int] = {}
        self._vtables: dict[bytes, int] = {}

    def _prepend(self, data: bytes) -> int:
        self._chunks.append(data)
        self._size += len(data)
        return self._size

    def _align(self, alignment: int, following: int) -> None:
        """Pads so that what starts `following` bytes further on is aligned."""
        self._alignment = max(self._alignment, alignment)
        padding = -(self._size + following) % alignment
        if padding:
            self._prepend(bytes(padding))

    def string(self, text: str) -> int:
        found = self._strings.get(text)
        if found is None:
            data = text.encode()
            self._align(4, len(data) + 1)
            self._prepend(data + b"\0")
            found = self._strings[text] = self._prepend(struct.pack("<I", len(data)))
        return found

    def bytes_vector(self, data: bytes | memoryview, alignment: int = 1) -> int:
        """`[ubyte]` whose first element is aligned."""
        self._align(4, len(data))
        self._align(alignment, len(data))
        self._prepend(bytes(data))
        return self._prepend(struct.pack("<I", len(data)))

    def struct_vector(self, items: Sequence[bytes], alignment: int = 4) -> int:
        """A vector of structs or scalars, each given as its bytes."""
        data = b"".join(items)
        self._align(4, len(data))
        self._align(alignment, len(data))
        self._prepend(data)
        return self._prepend(struct.pack("<I", len(items)))

    def offset_vector(self, offsets: Sequence[int]) -> int:
        """A vector of tables or strings; 0 is a null entry (only unions have those)."""
        self._align(4, 4 * len(offsets))
        for offset in reversed(offsets):
            self._prepend(struct.pack("<I", self._size + 4 - offset if offset else 0))
        return self._prepend(struct.pack("<I", len(offsets)))

    def table(self, *fields: Field | None) -> int:
        present = sorted((f for f in fields if f is not None), key=lambda f: (f.size, -f.slot))
        end = self._size
        positions: dict[int, int] = {}
        for field in present:
            self._align(field.size, field.size)
            data = field.data
            if data is None:
                data = struct.pack("<I", self._size + 4 - field.offset)
            positions[field.slot] = self._prepend(data)
        self._align(4, 4)
        start = self._size + 4
        slots = 1 + max(positions, default=-1)
        entries = [start - positions[slot] if slot in positions else 0 for slot in range(slots)]
        vtable = struct.pack(f"<{2 + slots}H", 4 + 2 * slots, start - end, *entries)
        found = self._vtables.get(vtable)
        if found is None:
            # The vtable goes directly before the table, so its distance is known already.
            found = self._vtables[vtable] = start + len(vtable)
            self._prepend(struct.pack("<i", found - start))
            self._prepend(vtable)
        else:
            self._prepend(struct.pack("<i", found - start))
        return start

    def finish(self, root: int, identifier: bytes) -> bytes:
        """The whole buffer with its size prefix."""
        self._align(self._alignment, 12)
        self._prepend(identifier)
        self._prepend(struct.pack("<I", self._size + 4 - root))
        self._prepend(struct.pack("<I", self._size))
        return b"".join(reversed(self._chunks))
