"""The parts of a file of bytecode: header, sections, strings, dialects and operation names, resources, properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tiree.dialects.bytecode import MAGIC
from tiree.dialects.bytecode.cursor import Cursor

NEWEST = 6
"""The newest version of the encoding that is known."""

# What the versions of the encoding brought.
DIALECT_VERSIONS = 1
LAZY_REGIONS = 2
USE_LIST_ORDERS = 3
KNOWN_ARGUMENT_LOCATIONS = 4
PROPERTIES = 5
SPARSE_SEGMENTS = 6

_STRINGS, _DIALECTS, _VALUES, _VALUE_OFFSETS, IR, _RESOURCES, _RESOURCE_OFFSETS, _DIALECT_VERSION, _PROPERTIES = range(
    9
)
_NAMES = (
    "strings", "dialects", "attributes and types", "offsets of attributes and types", "operations", "resources",
    "offsets of resources", "versions of dialects", "properties",
)  # fmt: skip
_REQUIRED = (_STRINGS, _DIALECTS, _VALUES, _VALUE_OFFSETS, IR)
_BLOB, _BOOL, _STRING = range(3)


class Entry(NamedTuple):
    """Where one attribute or type is; not `custom` ones are text."""

    dialect: str
    start: int
    end: int
    custom: bool


class OpName(NamedTuple):
    """`registered` is whether the writer knew the operation; older files do not say (None)."""

    name: str
    registered: bool | None


@dataclass
class BytecodeFile:
    """The tables of a file; indices in it refer to these lists."""

    data: memoryview
    version: int = 0
    producer: str = ""
    strings: list[bytes] = field(default_factory=list[bytes])
    dialects: list[str] = field(default_factory=list[str])
    op_names: list[OpName] = field(default_factory=list[OpName])
    attributes: list[Entry] = field(default_factory=list[Entry])
    types: list[Entry] = field(default_factory=list[Entry])
    resources: list[tuple[str, memoryview | None]] = field(default_factory=list[tuple[str, memoryview | None]])
    """Key and blob (None: it has no data) of each resource that attributes can refer to."""
    properties: list[Cursor] = field(default_factory=list[Cursor])
    ir: Cursor = field(init=False)

    def string(self, cursor: Cursor) -> str:
        """The string whose index comes next, which must be UTF-8."""
        at = cursor.position
        return self.string_at(cursor, cursor.varint(), at)

    def string_at(self, cursor: Cursor, index: int, at: int) -> str:
        try:
            return self.bytes_at(cursor, index, at).decode()
        except UnicodeDecodeError:
            cursor.fail(f"string {index} is not UTF-8", at)

    def bytes_at(self, cursor: Cursor, index: int, at: int) -> bytes:
        if index >= len(self.strings):
            cursor.fail(f"there is no string {index} of {len(self.strings)}", at)
        return self.strings[index]

    def dialect(self, cursor: Cursor) -> str:
        """The dialect whose index comes next."""
        at = cursor.position
        index = cursor.varint()
        if index >= len(self.dialects):
            cursor.fail(f"there is no dialect {index} of {len(self.dialects)}", at)
        return self.dialects[index]


def section(cursor: Cursor) -> tuple[int, Cursor]:
    """The number and the contents of the section that begins here."""
    at = cursor.position
    kind = cursor.byte()
    number = kind & 0x7F
    if number >= len(_NAMES):
        cursor.fail(f"there is no section {number}", at)
    size = cursor.varint()
    if kind & 0x80:
        cursor.align(cursor.varint())
    return number, cursor.part(size, f"the section of {_NAMES[number]}")


def read_tables(file: BytecodeFile) -> None:
    """Fills in the tables. Raises `Damaged`."""
    data = file.data
    cursor = Cursor(data, 0, len(data))
    if bytes(data[:4]) != MAGIC:
        cursor.fail("this is no MLIR bytecode")
    cursor.position = len(MAGIC)
    file.version = cursor.varint()
    if file.version > NEWEST:
        reason = f"the encoding has version {file.version}, newer than {NEWEST}, the newest that is known"
        cursor.fail(reason, len(MAGIC))
    file.producer = cursor.text()
    sections: dict[int, Cursor] = {}
    while cursor.remaining:
        at = cursor.position
        number, contents = section(cursor)
        if number in sections:
            cursor.fail(f"a second section of {_NAMES[number]}", at)
        sections[number] = contents
    for number in _REQUIRED:
        if number not in sections:
            cursor.fail(f"the section of {_NAMES[number]} is missing")
    _read_strings(file, sections[_STRINGS])
    _read_dialects(file, sections[_DIALECTS])
    if _RESOURCE_OFFSETS in sections:
        if _RESOURCES not in sections:
            cursor.fail(f"the section of {_NAMES[_RESOURCES]} is missing")
        _read_resources(file, sections[_RESOURCE_OFFSETS], sections[_RESOURCES])
    _read_values(file, sections[_VALUE_OFFSETS], sections[_VALUES])
    if _PROPERTIES in sections:
        _read_properties(file, sections[_PROPERTIES])
    file.ir = sections[IR]


def _read_strings(file: BytecodeFile, cursor: Cursor) -> None:
    """Sizes come first, those of the last strings in front; the strings fill the end of the section."""
    sizes = [cursor.varint() for _ in range(cursor.count("strings"))]
    at = cursor.position
    for size in reversed(sizes):
        if not size:
            cursor.fail("a string has no room for its final zero", at)
        file.strings.append(bytes(cursor.take(size, "a string"))[:-1])
    cursor.done("the strings")


def _read_dialects(file: BytecodeFile, cursor: Cursor) -> None:
    for _ in range(cursor.count("dialects")):
        at = cursor.position
        index = cursor.varint()
        if file.version >= DIALECT_VERSIONS:
            index, has_version = index >> 1, index & 1
            if has_version:
                section(cursor)
        file.dialects.append(file.string_at(cursor, index, at))
    if file.version >= KNOWN_ARGUMENT_LOCATIONS:
        cursor.varint()  # how many operation names follow
    while cursor.remaining:
        dialect = file.dialect(cursor)
        for _ in range(cursor.count("operation names")):
            at = cursor.position
            index = cursor.varint()
            registered = None
            if file.version >= PROPERTIES:
                index, registered = index >> 1, bool(index & 1)
            name = f"{dialect}.{file.string_at(cursor, index, at)}"
            file.op_names.append(OpName(name, registered))


def _read_values(file: BytecodeFile, offsets: Cursor, values: Cursor) -> None:
    """Attributes, then types: groups of one dialect each, with the size of every entry."""
    attributes, types = offsets.varint(), offsets.varint()
    if attributes + types > offsets.remaining:
        offsets.fail(f"{attributes} attributes and {types} types do not fit into the section")
    for entries, count in ((file.attributes, attributes), (file.types, types)):
        while len(entries) < count:
            at = offsets.position
            dialect = file.dialect(offsets)
            in_group = offsets.count("entries")
            if not in_group or in_group > count - len(entries):
                offsets.fail(f"a group of {in_group} entries, where {count - len(entries)} are missing", at)
            for _ in range(in_group):
                size, custom = offsets.flagged()
                part = values.part(size, "an attribute or type")
                entries.append(Entry(dialect, part.position, part.end, custom))
    offsets.done("the offsets")


def _read_resources(file: BytecodeFile, offsets: Cursor, resources: Cursor) -> None:
    """External resources are stepped over; those of dialects are listed."""
    for _ in range(offsets.count("external resources")):
        file.string(offsets)
        _resource_group(file, offsets, resources)
    while offsets.remaining:
        file.dialect(offsets)
        file.resources += _resource_group(file, offsets, resources)


def _resource_group(file: BytecodeFile, offsets: Cursor, resources: Cursor) -> list[tuple[str, memoryview | None]]:
    found: list[tuple[str, memoryview | None]] = []
    for _ in range(offsets.count("resources")):
        key = file.string(offsets)
        contents = resources.part(offsets.varint(), f"resource {key}")
        kind = offsets.byte()
        blob = None
        if kind == _BLOB and contents.remaining:
            alignment = contents.varint()
            size = contents.varint()
            contents.align(alignment)
            blob = contents.take(size, f"resource {key}")
            contents.done(f"resource {key}")
        elif kind not in (_BLOB, _BOOL, _STRING):
            offsets.fail(f"resource {key} is of no known kind", offsets.position - 1)
        found.append((key, blob))
    return found


def _read_properties(file: BytecodeFile, cursor: Cursor) -> None:
    for _ in range(cursor.count("properties")):
        file.properties.append(cursor.part(cursor.varint(), "properties"))
    cursor.done("the properties")
