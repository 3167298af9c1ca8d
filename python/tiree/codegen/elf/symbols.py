"""A symbol table for debuggers and profilers: one section header per placed section, and every named function in it."""

from __future__ import annotations

from tiree.codegen.elf import format as elf
from tiree.codegen.elf.object import ObjectFile, Section


def debug_sections(
    object: ObjectFile, image: bytearray, address: dict[int, int], placed: dict[int, Section]
) -> list[bytes]:
    """Appends .symtab, .strtab and .shstrtab to `image`; returns the headers of all sections, .shstrtab last."""
    layout = object.layout
    number = {index: i + 1 for i, index in enumerate(placed)}
    names = bytearray(b"\0")

    def named(text: str) -> int:
        at = len(names)
        names.extend(text.encode() + b"\0")
        return at

    headers = [
        layout.section_header(named(section.name), elf.SHT_PROGBITS, section.flags, address[index], section.size)
        for index, section in placed.items()
    ]
    strings = bytearray(b"\0")
    table = bytearray(layout.symbol_bytes)
    kept = [s for s in object.symbols if s.section in placed and s.name and s.type in (elf.STT_FUNC, elf.STT_OBJECT)]
    # ELF wants local symbols first; the table's `info` is the number of the first global one.
    kept.sort(key=lambda s: s.binding != elf.STB_LOCAL)
    for symbol in kept:
        info = symbol.binding << 4 | symbol.type
        value = symbol.value + address[symbol.section]
        table += layout.symbol(len(strings), info, number[symbol.section], value, symbol.size)
        strings += symbol.name.encode() + b"\0"
    locals_count = 1 + sum(s.binding == elf.STB_LOCAL for s in kept)
    image.extend(bytes(-len(image) % 8))
    at = len(image)
    image += table
    string_index = len(headers) + 2
    headers.append(
        layout.section_header(
            named(".symtab"), elf.SHT_SYMTAB, 0, at, len(table), string_index, locals_count, layout.symbol_bytes
        )
    )
    headers.append(layout.section_header(named(".strtab"), elf.SHT_STRTAB, 0, len(image), len(strings)))
    image += strings
    own_name = named(".shstrtab")
    headers.append(layout.section_header(own_name, elf.SHT_STRTAB, 0, len(image), len(names)))
    image += names
    return headers
