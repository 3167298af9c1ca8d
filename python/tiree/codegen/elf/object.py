"""Reads a relocatable object: sections, symbols, relocations. Little-endian, 64- or 32-bit.

The bytes come from LLVM in this process, so malformed input is a bug of ours and not a user's error.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from tiree.codegen.elf import format as elf


@dataclass
class Relocation:
    offset: int
    type: int
    symbol: int
    addend: int | None
    """None: the addend stands in the bytes to be relocated."""


@dataclass
class Section:
    name: str
    type: int
    flags: int
    data: bytes
    size: int
    align: int
    relocations: list[Relocation] = field(default_factory=list[Relocation])
    address: int = 0
    """Where the linker put it."""
    object: ObjectFile = field(init=False, repr=False)

    @property
    def is_loaded(self) -> bool:
        return bool(self.flags & elf.SHF_ALLOC) and self.size > 0

    @property
    def is_code(self) -> bool:
        return bool(self.flags & elf.SHF_EXECINSTR)


@dataclass
class Symbol:
    name: str
    section: int
    value: int
    size: int
    binding: int
    type: int


@dataclass
class ObjectFile:
    machine: int
    flags: int
    layout: elf.ElfClass
    sections: list[Section]
    symbols: list[Symbol]


def _string(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode()


def read_object(data: bytes) -> ObjectFile:
    """Parses an object file."""
    assert data[:4] == b"\x7fELF", "not ELF"
    assert data[5] == 1, "not little-endian"
    layout = elf.ElfClass(64 if data[4] == 2 else 32)
    form = "<HHIQQQIHHHHHH" if layout.bits == 64 else "<HHIIIIIHHHHHH"
    fields: tuple[int, ...] = struct.unpack_from(form, data, 16)
    kind, machine, _, _, _, shoff, flags, _, _, _, shentsize, shnum, shstrndx = fields
    assert kind == elf.ET_REL, f"ELF type {kind} is not relocatable"
    section_form = "<IIQQQQIIQQ" if layout.bits == 64 else "<IIIIIIIIII"
    headers: list[tuple[int, ...]] = [
        struct.unpack_from(section_form, data, shoff + i * shentsize) for i in range(shnum)
    ]

    def body(header: tuple[int, ...]) -> bytes:
        return b"" if header[1] == elf.SHT_NOBITS else data[header[4] : header[4] + header[5]]

    names = body(headers[shstrndx])
    sections = [Section(_string(names, h[0]), h[1], h[2], body(h), h[5], max(1, h[8])) for h in headers]
    symbols: list[Symbol] = []
    for header in headers:
        if header[1] == elf.SHT_SYMTAB:
            symbols = _read_symbols(layout, body(header), body(headers[header[6]]))
    for header in headers:
        if header[1] in (elf.SHT_RELA, elf.SHT_REL):
            sections[header[7]].relocations = _read_relocations(layout, body(header), header[1] == elf.SHT_RELA)
    found = ObjectFile(machine, flags, layout, sections, symbols)
    for section in sections:
        section.object = found
    return found


def _read_symbols(layout: elf.ElfClass, table: bytes, strings: bytes) -> list[Symbol]:
    symbols: list[Symbol] = []
    for at in range(0, len(table), layout.symbol_bytes):
        if layout.bits == 64:
            name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", table, at)
        else:
            name, value, size, info, _, section = struct.unpack_from("<IIIBBH", table, at)
        symbols.append(Symbol(_string(strings, name), section, value, size, info >> 4, info & 15))
    return symbols


def _read_relocations(layout: elf.ElfClass, table: bytes, has_addends: bool) -> list[Relocation]:
    found: list[Relocation] = []
    word = "Q" if layout.bits == 64 else "I"
    form = f"<{word}{word}" + (word.lower() if has_addends else "")
    shift, mask = (32, 0xFFFFFFFF) if layout.bits == 64 else (8, 0xFF)
    for at in range(0, len(table), struct.calcsize(form)):
        offset, info, *addend = struct.unpack_from(form, table, at)
        found.append(Relocation(offset, info & mask, info >> shift, addend[0] if has_addends else None))
    return found
