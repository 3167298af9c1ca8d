"""Finds sections of code that do the same, so that an image holds one of them.

Executables that differ only in what the host sees (names, layouts, sizes of the grid) compile to equal kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

from tiree.codegen.elf import format as elf
from tiree.codegen.elf.object import Relocation, Section


def fold_code(sections: Sequence[Section]) -> dict[int, Section]:
    """The section that stands for a section of code, by `id` of the one that is left out."""
    found: dict[object, Section] = {}
    folded: dict[int, Section] = {}
    for section in sections:
        if section.is_code:
            targets = tuple(_target(section, relocation) for relocation in section.relocations)
            kept = found.setdefault((section.data, section.align, targets), section)
            if kept is not section:
                folded[id(section)] = kept
    return folded


def _target(section: Section, relocation: Relocation) -> object:
    """What a relocation means, equal for places of other objects with the same content."""
    symbol = section.object.symbols[relocation.symbol]
    how = (relocation.offset, relocation.type, relocation.addend, symbol.value)
    if symbol.section == elf.SHN_UNDEF:
        return how, symbol.name
    if symbol.section >= len(section.object.sections):
        return how, symbol.section
    other = section.object.sections[symbol.section]
    if other is section:
        return how, "here"
    if other.relocations or other.is_code or other.flags & elf.SHF_WRITE:
        return how, id(other)
    return how, other.data
