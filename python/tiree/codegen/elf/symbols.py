"""A symbol table for debuggers and profilers: one section header per placed section, and every named function in it."""

from __future__ import annotations

from collections.abc import Sequence

from tiree.codegen.elf import format as elf
from tiree.codegen.elf.object import ObjectFile, Section


class _Strings:
    """A string table under construction."""

    def __init__(self) -> None:
        self.data = bytearray(b"\0")

    def add(self, text: str) -> int:
        at = len(self.data)
        self.data += text.encode() + b"\0"
        return at


def debug_sections(
    layout: elf.ElfClass, objects: Sequence[ObjectFile], placed: Sequence[Section], image: bytearray
) -> list[bytes]:
    """Appends .symtab, .strtab and .shstrtab to `image`; returns the headers of all sections, .shstrtab last."""
    names, strings = _Strings(), _Strings()
    headers = [layout.section_header(names.add(s.name), elf.SHT_PROGBITS, s.flags, s.address, s.size) for s in placed]
    number = {id(section): i + 1 for i, section in enumerate(placed)}
    found = [
        (symbol, object.sections[symbol.section])
        for object in objects
        for symbol in object.symbols
        if symbol.name and symbol.type in (elf.STT_FUNC, elf.STT_OBJECT) and symbol.section < len(object.sections)
    ]
    # ELF wants local symbols first; the table's `info` is the number of the first global one.
    kept = sorted((f for f in found if id(f[1]) in number), key=lambda f: f[0].binding != elf.STB_LOCAL)
    table = bytearray(layout.symbol_bytes)
    for symbol, section in kept:
        info = symbol.binding << 4 | symbol.type
        value = symbol.value + section.address
        table += layout.symbol(strings.add(symbol.name), info, number[id(section)], value, symbol.size)
    local_count = 1 + sum(symbol.binding == elf.STB_LOCAL for symbol, _ in kept)
    image.extend(bytes(-len(image) % 8))
    at = len(image)
    image += table
    link = len(headers) + 2
    headers.append(
        layout.section_header(
            names.add(".symtab"), elf.SHT_SYMTAB, 0, at, len(table), link, local_count, layout.symbol_bytes
        )
    )
    headers.append(layout.section_header(names.add(".strtab"), elf.SHT_STRTAB, 0, len(image), len(strings.data)))
    image += strings.data
    own = names.add(".shstrtab")
    headers.append(layout.section_header(own, elf.SHT_STRTAB, 0, len(image), len(names.data)))
    image += names.data
    return headers
