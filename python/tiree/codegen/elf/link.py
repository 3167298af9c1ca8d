"""Lays out an executable image: headers, dynamic tables, data and code in one read-execute segment.

The loader copies every segment and relocates before it protects, so read-only data with addresses in it can live beside
the code. All that is writable is the library table, which takes no bytes in the file: it has a segment of its own. Only
what the loader asks for is written: the program headers, a hash table of one symbol, RELATIVE relocations where there
are any, the dynamic entries and a null section header (a file without one is refused).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tiree.codegen.elf import format as elf
from tiree.codegen.elf.fold import fold_code
from tiree.codegen.elf.object import ObjectFile, Relocation, Section, Symbol, read_object
from tiree.codegen.elf.relocations import MACHINES, Machine, Place, RelocationError
from tiree.support.errors import CompileError, Diagnostic

PAGE = 0x1000
"""Segment alignment: page-relative addressing of ARM counts on it."""

LARGE_PAGES = {elf.EM_AARCH64: 0x10000}
"""Machines whose systems may have larger pages: writable memory begins on one of its own."""

_TABLE = "_GLOBAL_OFFSET_TABLE_"
"""What 32-bit x86 code addresses data relative to; here the start of the image (address 0)."""

TABLE_SECTION = ".bss.library"
"""The section of the library table."""

_DROPPED = (".note", ".comment", ".eh_frame", ".llvm", ".ARM.exidx", ".ARM.extab", ".riscv", ".gnu")


@dataclass
class Image:
    """The image under construction."""

    name: str
    objects: list[ObjectFile]
    machine: Machine
    layout: elf.ElfClass
    placed: list[Section]
    globals: dict[str, tuple[ObjectFile, Symbol]]
    data: bytearray = field(default_factory=bytearray)
    relative: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """(place, address) pairs that the loader has to fill in."""
    pcrel: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """RISC-V: what each `auipc` points at."""
    folded: list[tuple[Section, Section]] = field(default_factory=list[tuple[Section, Section]])
    """Sections that are left out, with the equal ones that are there."""
    writable: Section | None = None
    """The library table, in memory behind the file's bytes."""

    def align(self, alignment: int) -> int:
        self.data.extend(bytes(-len(self.data) % alignment))
        return len(self.data)

    def address(self, object: ObjectFile, symbol: Symbol) -> int:
        """Where a symbol is, once sections are placed."""
        if symbol.section == elf.SHN_UNDEF and symbol.name in self.globals:
            object, symbol = self.globals[symbol.name]
        if symbol.section in (elf.SHN_UNDEF, elf.SHN_ABS):
            return symbol.value
        return symbol.value + object.sections[symbol.section].address


def link(objects: Sequence[bytes], export: str, name: str = "executable", symbols: bool = False) -> bytes:
    """Links objects of one architecture into an image that exports the function `export`.

    `symbols` keeps a symbol table of all functions for debuggers and profilers. Raises `CompileError` that names `name`
    when the objects refer to symbols that none of them defines, or hold what an image cannot.
    """
    image = _open_image([read_object(data) for data in objects], name)
    exported = image.globals.get(export)
    if exported is None:
        raise CompileError(f"executable '{name}': no object defines {export}")
    tables = _lay_out(image, export)
    try:
        for late in (False, True):
            for section in image.placed:
                _relocate(image, section, late)
    except RelocationError as error:
        raise CompileError(f"executable '{name}': {error}") from error
    _write_tables(image, exported, tables)
    _write_sections(image, symbols)
    return bytes(image.data)


def _is_table(section: Section) -> bool:
    """Whether a section is the library table, which the query function fills in."""
    return section.type == elf.SHT_NOBITS and section.name == TABLE_SECTION


def _open_image(objects: list[ObjectFile], name: str) -> Image:
    first = objects[0]
    machine = MACHINES.get(first.machine)
    if machine is None:
        raise CompileError(f"executable '{name}': no linker for ELF machine {first.machine}")
    globals: dict[str, tuple[ObjectFile, Symbol]] = {}
    for object in objects:
        for symbol in object.symbols:
            if symbol.binding != elf.STB_LOCAL and symbol.section != elf.SHN_UNDEF:
                if symbol.name in globals:
                    raise CompileError(f"executable '{name}': symbol {symbol.name} is defined twice")
                globals[symbol.name] = (object, symbol)
    image = Image(name, objects, machine, first.layout, [], globals)
    for object in objects:
        image.placed.extend(s for s in object.sections if s.is_loaded and not s.name.startswith(_DROPPED))
    image.placed.sort(key=_placement)
    for section in image.placed:
        if not _is_table(section):
            _check_section(section, name)
        elif image.writable is not None:
            raise CompileError(f"executable '{name}': two library tables")
        else:
            image.writable = section
    image.placed = [section for section in image.placed if section is not image.writable]
    folded = fold_code(image.placed)
    image.folded = [(section, folded[id(section)]) for section in image.placed if id(section) in folded]
    image.placed = [section for section in image.placed if id(section) not in folded]
    _check_undefined(image)
    return image


def _placement(section: Section) -> tuple[int, int, int]:
    """Constants, code, strings, then tables of addresses; large alignments first, which pads less."""
    group = 3 if section.name.startswith(".data.rel.ro") else 1 if section.is_code else 2 if section.align == 1 else 0
    defines_export = any(symbol.binding == elf.STB_GLOBAL and symbol.section for symbol in section.object.symbols)
    return group, int(defines_export), -section.align


def _check_section(section: Section, name: str) -> None:
    writable = section.flags & elf.SHF_WRITE and not section.name.startswith(".data.rel.ro")
    if writable or section.type == elf.SHT_NOBITS:
        raise CompileError(
            Diagnostic(
                f"executable '{name}': section {section.name} is writable data of {section.size} bytes",
                hint="kernels keep no state; use bindings, stack or workgroup memory",
            )
        )


def _check_undefined(image: Image) -> None:
    """Every symbol that code or data refers to must be in the image: the loader resolves none."""
    missing: set[str] = set()
    for object in image.objects:
        used = {r.symbol for s in object.sections for r in s.relocations if s.is_loaded}
        for symbol in (object.symbols[i] for i in used if i):
            if symbol.section == elf.SHN_UNDEF and symbol.name not in image.globals and symbol.name != _TABLE:
                missing.add(symbol.name)
    if missing:
        raise CompileError(
            Diagnostic(
                f"executable '{image.name}' refers to undefined symbols: {', '.join(sorted(missing))}",
                hint="there is no C or math library to link; the operations that call them need an expansion",
            )
        )


def _lay_out(image: Image, export: str) -> dict[str, int]:
    """Reserves headers and tables and copies the sections. Returns where each table is and how long."""
    layout = image.layout
    names = b"\0" + export.encode() + b"\0"
    segments = 2 if image.writable is None else 3
    image.data = bytearray(layout.header_bytes + segments * layout.program_header_bytes)
    at: dict[str, int] = {}

    def reserve(what: str, content: bytes | int, alignment: int) -> None:
        at[what] = image.align(alignment)
        image.data += bytes(content)
        at[f"{what}_size"] = len(image.data) - at[what]

    word = layout.word_bytes
    count = sum(r.type == image.machine.absolute for section in image.placed for r in section.relocations)
    reserve("relocations", count * _relocation_bytes(layout), word)
    # The null symbol's bytes mean nothing, so the hash table lies on them where it fits.
    at["hash"] = image.align(word)
    reserve("null symbol", max(20, layout.symbol_bytes), word)
    at["symbols"] = len(image.data) - layout.symbol_bytes
    image.data += bytes(layout.symbol_bytes)
    shared: dict[bytes, int] = {}
    for section in image.placed:
        if "strings" not in at and section.align == 1:
            reserve("strings", names, 1)
        plain = not section.relocations and not section.is_code
        if plain and section.data in shared and shared[section.data] % section.align == 0:
            # Kernels of one executable often hold the same constants.
            section.address = shared[section.data]
            continue
        section.address = image.align(section.align)
        image.data += section.data
        if plain:
            shared[section.data] = section.address
    for section, kept in image.folded:
        section.address = kept.address
    if "strings" not in at:
        reserve("strings", names, 1)
    # Last: it ends in zeros, and the null section header may lie on them.
    reserve("dynamic", (9 if count else 6) * 2 * word, word)
    if image.writable is not None:
        page = LARGE_PAGES.get(image.objects[0].machine, PAGE)
        image.writable.address = -(-len(image.data) // page) * page
    return at


def _relocation_bytes(layout: elf.ElfClass) -> int:
    """Of an entry at load time: 64-bit targets say the address (RELA), 32-bit ones store it in place (REL)."""
    return 24 if layout.bits == 64 else 8


def _addend(image: Image, place: int, relocation: Relocation) -> int:
    if relocation.addend is not None:
        return relocation.addend
    return image.machine.stored_addend(image.data, place, relocation.type)


def _relocate(image: Image, section: Section, late: bool) -> None:
    for relocation in section.relocations:
        if (relocation.type in image.machine.late) is not late:
            continue
        patch = image.machine.patches.get(relocation.type)
        if patch is None:
            raise RelocationError(
                f"relocation type {relocation.type} in {section.name} is not position-independent or not known"
            )
        address = section.address + relocation.offset
        symbol = image.address(section.object, section.object.symbols[relocation.symbol])
        target = symbol + _addend(image, address, relocation)
        place = Place(image.data, address, target, symbol, relocation, image.pcrel)
        if patch(place):
            image.relative.append((address, place.target))


def _write_tables(image: Image, exported: tuple[ObjectFile, Symbol], at: dict[str, int]) -> None:
    layout = image.layout
    word = layout.word_bytes

    def put(offset: int, data: bytes) -> None:
        image.data[offset : offset + len(data)] = data

    wide = layout.bits == 64
    relocations = b"".join(
        number.to_bytes(word, "little")
        for address, target in sorted(image.relative)
        for number in (address, image.machine.relative, target)[: 3 if wide else 2]
    )
    assert len(relocations) == at["relocations_size"]
    put(at["relocations"], relocations)
    entries = [
        (elf.DT_HASH, at["hash"]),
        (elf.DT_STRTAB, at["strings"]),
        (elf.DT_SYMTAB, at["symbols"]),
        (elf.DT_STRSZ, at["strings_size"]),
        (elf.DT_SYMENT, layout.symbol_bytes),
    ]
    if relocations:
        entries += [
            (elf.DT_RELA if wide else elf.DT_REL, at["relocations"]),
            (elf.DT_RELASZ if wide else elf.DT_RELSZ, at["relocations_size"]),
            (elf.DT_RELAENT if wide else elf.DT_RELENT, _relocation_bytes(layout)),
        ]
    entries.append((elf.DT_NULL, 0))
    put(at["dynamic"], b"".join(layout.dynamic(tag, value) for tag, value in entries))
    info = elf.STB_GLOBAL << 4 | elf.STT_FUNC
    # The section index only has to differ from 0 (undefined).
    symbol = layout.symbol(1, info, 1, image.address(*exported), exported[1].size)
    put(at["symbols"] + layout.symbol_bytes, symbol)
    # One bucket that starts at symbol 1, and chains that end at once.
    put(at["hash"], b"".join(n.to_bytes(4, "little") for n in (1, 2, 1, 0, 0)))
    headers = layout.program_header(elf.PT_LOAD, elf.PF_R | elf.PF_X, 0, len(image.data), PAGE)
    if image.writable is not None:
        headers += layout.zeroed_segment(elf.PF_R | elf.PF_W, image.writable.address, image.writable.size, PAGE)
    headers += layout.program_header(elf.PT_DYNAMIC, elf.PF_R, at["dynamic"], at["dynamic_size"], word)
    put(layout.header_bytes, headers)


def _write_sections(image: Image, symbols: bool) -> None:
    """The section table behind the segment: a null entry, or with `symbols` the code and a symbol table as well."""
    layout = image.layout
    headers = [bytes(layout.section_header_bytes)]
    shstrndx = 0
    if not symbols:
        # The null header takes the zeros at the image's end as its own.
        zeros = len(image.data) - len(image.data.rstrip(b"\0"))
        start = len(image.data) - min(zeros, layout.section_header_bytes)
        del image.data[start + -start % 8 :]
    if symbols:
        from tiree.codegen.elf.symbols import debug_sections

        headers += debug_sections(layout, image.objects, image.placed, image.data)
        shstrndx = len(headers) - 1
    shoff = image.align(8 if symbols else 1)
    image.data += b"".join(headers)
    first = image.objects[0]
    segments = 2 if image.writable is None else 3
    header = layout.header(first.machine, first.flags, segments, shoff, len(headers), shstrndx)
    image.data[: len(header)] = header
