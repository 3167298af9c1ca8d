"""The bytes of a `.vmfb` by part, read back from the file: every byte is counted once.

FlatBuffers are written back to front, each part whole before the next, so a part reaches from where the root table
points to, to where the part begins that was written before it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

_FIELDS = {
    0: "declarations",
    3: "metadata",
    4: "declarations",
    5: "declarations",
    6: "declarations",
    7: "declarations",
    8: "declarations",
    9: "data",
    11: "declarations",
    12: "host code",
    14: "host code",
    15: "debug information",
}
"""What the fields of the root table hold (bytecode module 17.0)."""


def artifact_parts(data: bytes, rodata: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The size of the file and of its parts. `rodata` has the kind and the name of each segment, in order."""
    start = data.find(b"IREE", 0, 4096) - 8
    if start < 0:
        return {"bytes": len(data), "parts": [{"kind": "text", "name": "", "bytes": len(data)}]}
    size = 4 + _u32(data, start)
    end = min(start + size, len(data))
    root = start + 4 + _u32(data, start + 4)
    fields = {slot: place for slot in _FIELDS if (place := _reference(data, root, slot))}
    sizes: dict[tuple[str, str], int] = {}
    places = sorted(fields.items(), key=lambda item: item[1])
    for (slot, place), following in zip(places, [*(place for _, place in places[1:]), end], strict=True):
        kind = _FIELDS[slot]
        if slot == 9:
            _note_segments(data, place, following - place, rodata, sizes)
        else:
            sizes[kind, ""] = sizes.get((kind, ""), 0) + following - place
    counted = sum(sizes.values())
    if counted < len(data):
        sizes["layout", "headers, tables, alignment"] = len(data) - counted
    parts = [{"kind": kind, "name": name, "bytes": count} for (kind, name), count in sizes.items()]
    return {"bytes": len(data), "parts": sorted(parts, key=lambda part: -int(part["bytes"]))}


def _note_segments(
    data: bytes, place: int, extent: int, rodata: Sequence[tuple[str, str]], sizes: dict[tuple[str, str], int]
) -> None:
    """The segments in the FlatBuffer and behind it; what remains of the part are the tables that describe them."""
    embedded = 0
    for number in range(_u32(data, place)):
        entry = place + 4 + 4 * number
        table = entry + _u32(data, entry)
        vector, external = _reference(data, table, 2), _field(data, table, 4)
        size = _u32(data, vector) if vector else struct.unpack_from("<Q", data, external)[0] if external else 0
        embedded += size if vector else 0
        kind, name = rodata[number] if number < len(rodata) else ("data", f"segment {number}")
        sizes[kind, name] = sizes.get((kind, name), 0) + size
    sizes["declarations", ""] = sizes.get(("declarations", ""), 0) + extent - embedded


def _u32(data: bytes, place: int) -> int:
    return int(struct.unpack_from("<I", data, place)[0])


def _field(data: bytes, table: int, slot: int) -> int:
    """Where the field of a table is; 0 where it is absent."""
    vtable = table - int(struct.unpack_from("<i", data, table)[0])
    length = int(struct.unpack_from("<H", data, vtable)[0])
    place = 4 + 2 * slot
    offset = int(struct.unpack_from("<H", data, vtable + place)[0]) if place < length else 0
    return table + offset if offset else 0


def _reference(data: bytes, table: int, slot: int) -> int:
    place = _field(data, table, slot)
    return place + _u32(data, place) if place else 0
