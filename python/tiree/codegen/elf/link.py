"""Lays out an executable image: headers, dynamic tables, data and code in one read-execute segment.

The loader copies every segment and relocates before it protects, so read-only data with addresses in it can live beside
the code; nothing in an image is writable. Only what the loader asks for is written: two program headers, a hash table
of one symbol, RELATIVE relocations, nine dynamic entries and a null section header (a file without one is refused).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tiree.codegen.elf import format as elf
from tiree.codegen.elf.object import ObjectFile, Relocation, Section, Symbol, read_object
from tiree.codegen.elf.relocations import MACHINES, Machine, Place, RelocationError
from tiree.support.errors import CompileError, Diagnostic

PAGE = 0x1000
"""Segment alignment: page-relative addressing of ARM counts on it."""

_DROPPED = (".note", ".comment", ".eh_frame", ".llvm", ".ARM.exidx", ".ARM.extab", ".riscv", ".gnu")


@dataclass
class _Image:
    """The image under construction: `address` of every placed section by index, `relative` places for load time."""

    data: bytearray
    address: dict[int, int] = field(default_factory=dict)
    relative: list[tuple[int, int]] = field(default_factory=list)

    def align(self, alignment: int) -> int:
        self.data.extend(bytes(-len(self.data) % alignment))
        return len(self.data)


def link(data: bytes, export: str, name: str = "executable", symbols: bool = False) -> bytes:
    """Links one object into an image that exports the function `export`.

    `symbols` keeps a symbol table of all functions for debuggers and profilers. Raises `CompileError` that names `name`
    when the object refers to symbols that it does not define, or holds what an image cannot.
    """
    object = read_object(data)
    machine = MACHINES.get(object.machine)
    if machine is None:
        raise CompileError(f"executable '{name}': no linker for ELF machine {object.machine}")
    placed = _loaded_sections(object, name)
    _check_undefined(object, placed, name)
    exported = next((s for s in object.symbols if s.name == export and s.section in placed), None)
    if exported is None:
        raise CompileError(f"executable '{name}': the object does not define {export}")
    image, dynamic_start = _lay_out(object, machine, placed, export)
    try:
        _relocate(object, machine, placed, image)
    except RelocationError as error:
        raise CompileError(f"executable '{name}': {error}") from error
    _write_tables(object, machine, image, exported, dynamic_start)
    _write_sections(object, image, placed, symbols)
    return bytes(image.data)


def _loaded_sections(object: ObjectFile, name: str) -> dict[int, Section]:
    """The sections that go into the image, by index: data before code, in the object's order."""
    found = {
        i: s for i, s in enumerate(object.sections) if s.is_loaded and not s.name.startswith(_DROPPED)
    }
    for section in found.values():
        writable = section.flags & elf.SHF_WRITE and not section.name.startswith(".data.rel.ro")
        if writable or section.type == elf.SHT_NOBITS:
            raise CompileError(
                Diagnostic(
                    f"executable '{name}': section {section.name} is writable data of {section.size} bytes",
                    hint="kernels keep no state; use bindings, stack or workgroup memory",
                )
            )
    order = sorted(found, key=lambda i: (found[i].is_code, -found[i].align, i))
    return {i: found[i] for i in order}


def _check_undefined(object: ObjectFile, placed: dict[int, Section], name: str) -> None:
    """Every symbol that code or data refers to must be in the image: the loader resolves none."""
    used = {r.symbol for section in placed.values() for r in section.relocations if r.symbol}
    missing = sorted(
        object.symbols[i].name or object.sections[object.symbols[i].section].name
        for i in used
        if object.symbols[i].section not in placed and object.symbols[i].section != elf.SHN_ABS
    )
    if missing:
        raise CompileError(
            Diagnostic(
                f"executable '{name}' refers to undefined symbols: {', '.join(missing)}",
                hint="code generation must expand the operations that call them; there is no C or math library to link",
            )
        )


def _count_relative(object: ObjectFile, placed: dict[int, Section]) -> int:
    absolute = {elf.EM_X86_64: 1, elf.EM_AARCH64: 257, elf.EM_RISCV: 2}[object.machine]
    return sum(r.type == absolute for section in placed.values() for r in section.relocations)


def _lay_out(
    object: ObjectFile, machine: Machine, placed: dict[int, Section], export: str
) -> tuple[_Image, dict[str, int]]:
    """Reserves headers and tables and copies the sections. Returns the image and where each table is."""
    del machine
    layout = object.layout
    image = _Image(bytearray(layout.header_bytes + 2 * layout.program_header_bytes))
    at: dict[str, int] = {}

    def reserve(what: str, size: int, alignment: int) -> None:
        at[what] = image.align(alignment)
        image.data.extend(bytes(size))

    word = layout.word_bytes
    count = _count_relative(object, placed)
    reserve("relocations", count * 3 * word, word)
    at["relocations_size"] = count * 3 * word
    reserve("dynamic", 9 * 2 * word, word)
    at["dynamic_size"] = 9 * 2 * word
    reserve("symbols", 2 * layout.symbol_bytes, word)
    reserve("hash", 20, 4)
    strings = b"\0" + export.encode() + b"\0"
    reserve("strings", 0, 1)
    image.data += strings
    at["strings_size"] = len(strings)
    for index, section in placed.items():
        image.address[index] = image.align(section.align)
        image.data += section.data
    return image, at


def _addend(image: _Image, place: int, relocation: Relocation) -> int:
    if relocation.addend is not None:
        return relocation.addend
    return int.from_bytes(image.data[place : place + 4], "little", signed=True)


def _relocate(object: ObjectFile, machine: Machine, placed: dict[int, Section], image: _Image) -> None:
    pcrel: dict[int, tuple[int, int]] = {}
    for late in (False, True):
        for index, section in placed.items():
            for relocation in section.relocations:
                if (relocation.type in machine.late) is not late:
                    continue
                patch = machine.patches.get(relocation.type)
                if patch is None:
                    raise RelocationError(
                        f"relocation type {relocation.type} in {section.name} is not position-independent or not known"
                    )
                address = image.address[index] + relocation.offset
                symbol = object.symbols[relocation.symbol]
                base = symbol.value + image.address.get(symbol.section, 0)
                place = Place(image.data, address, base + _addend(image, address, relocation), relocation, pcrel)
                if patch(place):
                    image.relative.append((address, place.target))


def _write_tables(
    object: ObjectFile, machine: Machine, image: _Image, exported: Symbol, at: dict[str, int]
) -> None:
    layout = object.layout
    word = layout.word_bytes

    def put(offset: int, data: bytes) -> None:
        image.data[offset : offset + len(data)] = data

    relocations = b"".join(
        address.to_bytes(word, "little") + machine.relative.to_bytes(word, "little") + target.to_bytes(word, "little")
        for address, target in sorted(image.relative)
    )
    assert len(relocations) == at["relocations_size"]
    put(at["relocations"], relocations)
    entries = [
        (elf.DT_HASH, at["hash"]),
        (elf.DT_STRTAB, at["strings"]),
        (elf.DT_SYMTAB, at["symbols"]),
        (elf.DT_STRSZ, at["strings_size"]),
        (elf.DT_SYMENT, layout.symbol_bytes),
        (elf.DT_RELA, at["relocations"]),
        (elf.DT_RELASZ, at["relocations_size"]),
        (elf.DT_RELAENT, 3 * word),
        (elf.DT_NULL, 0),
    ]
    put(at["dynamic"], b"".join(layout.dynamic(tag, value) for tag, value in entries))
    value = exported.value + image.address[exported.section]
    # The section index only has to differ from 0 (undefined).
    put(
        at["symbols"] + layout.symbol_bytes,
        layout.symbol(1, elf.STB_GLOBAL << 4 | elf.STT_FUNC, 1, value, exported.size),
    )
    # One bucket that starts at symbol 1, and chains that end at once.
    put(at["hash"], b"".join(n.to_bytes(4, "little") for n in (1, 2, 1, 0, 0)))
    size = len(image.data)
    header = layout.header_bytes
    put(header, layout.program_header(elf.PT_LOAD, elf.PF_R | elf.PF_X, 0, size, PAGE))
    put(
        header + layout.program_header_bytes,
        layout.program_header(elf.PT_DYNAMIC, elf.PF_R, at["dynamic"], at["dynamic_size"], word),
    )


def _write_sections(object: ObjectFile, image: _Image, placed: dict[int, Section], symbols: bool) -> None:
    """The section table behind the segment: a null entry, or with `symbols` the code and a symbol table as well."""
    layout = object.layout
    headers = [bytes(layout.section_header_bytes)]
    shstrndx = 0
    if symbols:
        from tiree.codegen.elf.symbols import debug_sections

        headers += debug_sections(object, image.data, image.address, placed)
        shstrndx = len(headers) - 1
    shoff = image.align(8 if symbols else 1)
    image.data += b"".join(headers)
    header = layout.header(object.machine, object.flags, 2, shoff, len(headers), shstrndx)
    image.data[: len(header)] = header
