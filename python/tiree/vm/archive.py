"""A `vm.module` as a `.vmfb`: FlatBuffer, external segments, optional ZIP dress.

The schema and layout are IREE's (bytecode module 17.0). Big rodata is handed on as buffers: `write_archive` yields
pieces in file order and copies none of them. Segments below 4096 bytes are embedded in the FlatBuffer, larger ones
follow it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

Buffer = bytes | memoryview

EMBED_LIMIT = 4096
IDENTIFIER = b"IREE"


@dataclass
class Segment:
    """One rodata segment. `pieces` are its bytes in order."""

    name: str
    pieces: list[Buffer]
    alignment: int
    is_executable: bool = False
    external_offset: int = 0
    """Relative to the 64-aligned end of the FlatBuffer; set by the layout."""

    @property
    def size(self) -> int:
        return sum(len(p) for p in self.pieces)

    @property
    def is_external(self) -> bool:
        return self.size >= EMBED_LIMIT

    def crc(self) -> int:
        value = 0
        for piece in self.pieces:
            value = zlib.crc32(piece, value)
        return value


@dataclass
class ZipEntry:
    name: str
    header_offset: int
    header: bytes
    crc: int
    size: int


def align_up(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment


def place_segments(segments: list[Segment], polyglot: bool) -> None:
    """Sets the offsets of external segments. In a polyglot file each follows a local header of its own."""
    offset = 0
    for segment in segments:
        if not segment.is_external:
            continue
        # The whole file is aligned to 64 where segments begin, so relative alignment is absolute up to that.
        minimum = offset + (_header_size(_member_name(segment)) if polyglot else 0)
        segment.external_offset = align_up(minimum, max(segment.alignment, 16))
        offset = segment.external_offset + segment.size


def _member_name(segment: Segment) -> str:
    return f"{segment.name}{'.so' if segment.is_executable else '.bin'}"


def _header_size(name: str) -> int:
    # Fixed part, name, filler field header and ZIP64 field.
    return 30 + len(name.encode()) + 4 + 20


def _local_header(name: str, crc: int, size: int, total: int) -> bytes:
    """A ZIP local file header of exactly `total` bytes: an extra field of zeros fills it up."""
    encoded = name.encode()
    filler = total - _header_size(name)
    extra = struct.pack("<HH", 0xFECA, filler) + bytes(filler) + struct.pack("<HHQQ", 1, 16, size, size)
    fixed = struct.pack(
        "<IHHHHHIIIHH", 0x04034B50, 45, 0, 0, 0, 0x21, crc, 0xFFFFFFFF, 0xFFFFFFFF, len(encoded), len(extra)
    )
    return fixed + encoded + extra


def write_archive(flatbuffer: bytes, segments: list[Segment], polyglot: bool) -> Iterator[Buffer]:
    """The file in pieces. `place_segments` must have run with the same `polyglot`."""
    position = 0
    entries: list[ZipEntry] = []
    if polyglot:
        # The member is as long as the size prefix says, starting at the prefix.
        size = len(flatbuffer) - 4
        crc = zlib.crc32(memoryview(flatbuffer)[:size])
        header = _local_header("module.fb", crc, size, align_up(_header_size("module.fb"), 64))
        entries.append(ZipEntry("module.fb", 0, header, crc, size))
        yield header
        position = len(header)
    yield flatbuffer
    position += len(flatbuffer)
    external = [s for s in segments if s.is_external]
    base = align_up(position, 64)
    if external:
        yield bytes(base - position)
        position = base
    for segment in external:
        start = base + segment.external_offset
        if polyglot:
            name, crc = _member_name(segment), segment.crc()
            header = _local_header(name, crc, segment.size, start - position)
            entries.append(ZipEntry(name, position, header, crc, segment.size))
            yield header
        else:
            yield bytes(start - position)
        yield from segment.pieces
        position = start + segment.size
    if polyglot:
        yield from _central_directory(entries, position)


def _central_directory(entries: list[ZipEntry], position: int) -> Iterator[bytes]:
    records: list[bytes] = []
    for entry in entries:
        name = entry.name.encode()
        extra = struct.pack("<HHQQQ", 1, 24, entry.size, entry.size, entry.header_offset)
        fixed = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 45, 45, 0, 0, 0, 0x21, entry.crc, 0xFFFFFFFF, 0xFFFFFFFF,
                            len(name), len(extra), 0, 0, 0, 0, 0xFFFFFFFF)  # fmt: skip
        records.append(fixed + name + extra)
    directory = b"".join(records)
    yield directory
    count, end = len(entries), position + len(directory)
    yield struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, len(directory), position)
    yield struct.pack("<IIQI", 0x07064B50, 0, end, 1)
    yield struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
