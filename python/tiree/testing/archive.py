"""Reads a `.vmfb` in plain Python, apart from the runtime's own reader: the container, its tables, its bytecode.

Nothing is checked beyond what reading needs: it is for modules that a runtime has loaded. `ValueError` for files that
are no modules.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

ZIP = 0x04034B50
LETTERS = "iIfFr"


@dataclass(frozen=True)
class Signature:
    """A calling convention: letters of the arguments (a span is a tuple of letters) and of the results."""

    arguments: tuple[str | tuple[str, ...], ...]
    results: tuple[str, ...]

    @staticmethod
    def parse(text: str) -> Signature:
        """Reads `0iCrID_r`. Raises `ValueError` for other versions and letters."""
        if text and text[0] != "0":
            raise ValueError(f"calling convention {text!r} has another version than 0")
        left, _, right = text[1:].partition("_")
        arguments: list[str | tuple[str, ...]] = []
        at = 0
        while at < len(left):
            if left[at] == "C":
                end = left.find("D", at)
                if end < 0 or end == at + 1 or set(left[at + 1 : end]) - set(LETTERS):
                    raise ValueError(f"calling convention {text!r} has a span without end or with unknown letters")
                arguments.append(tuple(left[at + 1 : end]))
                at = end
            elif left[at] in LETTERS:
                arguments.append(left[at])
            elif left[at] != "v":
                raise ValueError(f"calling convention {text!r} has an unknown letter")
            at += 1
        return Signature(tuple(arguments), tuple(c for c in right if c in LETTERS))

    @property
    def scalars(self) -> tuple[str, ...]:
        """Letters of the arguments of a function without spans."""
        return tuple(a for a in self.arguments if isinstance(a, str))


@dataclass(frozen=True)
class Import:
    """A function of another module."""

    module: str
    function: str
    signature: Signature
    optional: bool


@dataclass(frozen=True)
class Function:
    """A function's bytecode and how many registers it has."""

    signature: Signature
    code: bytes
    cells: int
    refs: int


@dataclass(frozen=True)
class Module:
    """What a module consists of."""

    name: str
    types: tuple[str, ...]
    imports: tuple[Import, ...]
    exports: dict[str, int]
    functions: tuple[Function, ...]
    rodata: tuple[bytes, ...]
    state_bytes: int
    state_refs: int

    def function(self, name: str) -> Function:
        """The exported function `name`. Raises `KeyError`."""
        return self.functions[self.exports[name]]


class _Table:
    """A table of a FlatBuffer at a position."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at
        self.vtable = at - struct.unpack_from("<i", data, at)[0]
        self.slots = (struct.unpack_from("<H", data, self.vtable)[0] - 4) // 2

    def field(self, slot: int) -> int:
        """Position of a field, 0 when it is absent."""
        if slot >= self.slots:
            return 0
        offset = struct.unpack_from("<H", self.data, self.vtable + 4 + 2 * slot)[0]
        return self.at + offset if offset else 0

    def number(self, slot: int, form: str = "<I", default: int = 0) -> int:
        at = self.field(slot)
        return struct.unpack_from(form, self.data, at)[0] if at else default

    def indirect(self, slot: int) -> int:
        at = self.field(slot)
        return at + struct.unpack_from("<I", self.data, at)[0] if at else 0

    def table(self, slot: int) -> _Table | None:
        at = self.indirect(slot)
        return _Table(self.data, at) if at else None

    def bytes(self, slot: int) -> bytes | None:
        at = self.indirect(slot)
        if not at:
            return None
        length = struct.unpack_from("<I", self.data, at)[0]
        return self.data[at + 4 : at + 4 + length]

    def text(self, slot: int) -> str:
        return (self.bytes(slot) or b"").decode()

    def tables(self, slot: int) -> list[_Table]:
        at = self.indirect(slot)
        if not at:
            return []
        (count,) = struct.unpack_from("<I", self.data, at)
        places = range(at + 4, at + 4 + 4 * count, 4)
        return [_Table(self.data, place + struct.unpack_from("<I", self.data, place)[0]) for place in places]

    def structs(self, slot: int, form: str) -> list[tuple[int, ...]]:
        at = self.indirect(slot)
        if not at:
            return []
        (count,) = struct.unpack_from("<I", self.data, at)
        size = struct.calcsize(form)
        return [struct.unpack_from(form, self.data, at + 4 + size * i) for i in range(count)]


def read(data: bytes) -> Module:
    """The module in `data`, a `.vmfb` with or without its ZIP dress."""
    base = 0
    if len(data) >= 30 and struct.unpack_from("<I", data)[0] == ZIP:
        name, extra = struct.unpack_from("<HH", data, 26)
        base = 30 + name + extra
    if data[base + 8 : base + 12] != b"IREE":
        raise ValueError("this is no module: its FlatBuffer is not marked IREE")
    size = struct.unpack_from("<I", data, base)[0]
    end = base + 4 + size
    flatbuffer = data[base + 4 : end]
    root = _Table(flatbuffer, struct.unpack_from("<I", flatbuffer)[0])
    external = -(-end // 64) * 64
    signatures = [Signature.parse(table.text(0)) for table in root.tables(8)]
    bytecode = root.bytes(14) or b""
    descriptors = root.structs(12, "<IIIHHHH")
    functions = [
        Function(signature, bytecode[offset : offset + length], cells, refs)
        for signature, (offset, length, _, _, _, cells, refs) in zip(signatures, descriptors, strict=True)
    ]
    state = root.table(11)
    return Module(
        root.text(0),
        tuple(table.text(0) for table in root.tables(4)),
        tuple(_import(table) for table in root.tables(6)),
        {table.text(0): table.number(1) for table in reversed(root.tables(7))},
        tuple(functions),
        tuple(_rodata(table, data, external) for table in root.tables(9)),
        state.number(0) if state else 0,
        state.number(1) if state else 0,
    )


def _import(table: _Table) -> Import:
    module, _, function = table.text(0).partition(".")
    signature = table.table(1)
    return Import(
        module, function, Signature.parse(signature.text(0) if signature else ""), table.number(2, default=1) & 2 != 0
    )


def _rodata(table: _Table, data: bytes, external: int) -> bytes:
    embedded = table.bytes(2)
    if embedded is not None:
        return embedded
    start = external + table.number(3, "<Q")
    return data[start : start + table.number(4, "<Q")]
