"""Decodes bytecode by the instruction table, apart from the runtime's own decoder."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache

from tiree.dialects.vm_isa import INSTRUCTIONS, Instruction

Remap = tuple[tuple[int, int], ...]
Operand = int | bytes | tuple[int, ...] | Remap | tuple[tuple[int, Remap], ...]


@dataclass(frozen=True, slots=True)
class Decoded:
    """One instruction: its row, operands in encoding order, where it starts and where the next one does."""

    row: Instruction
    operands: tuple[Operand, ...]
    pc: int
    next: int

    @property
    def mnemonic(self) -> str:
        """Its name without `vm.`."""
        return self.row.mnemonic


@cache
def _rows() -> dict[bytes, Instruction]:
    return {row.encoding: row for row in INSTRUCTIONS.values()}


class _Reader:
    def __init__(self, code: bytes, pc: int) -> None:
        self.code = code
        self.pc = pc

    def take(self, form: str) -> int:
        value: int = struct.unpack_from(form, self.code, self.pc)[0]
        self.pc += struct.calcsize(form)
        return value

    def shorts(self, width: int) -> tuple[int, ...]:
        """A padded count and that many entries of `width` shorts."""
        self.pc += self.pc % 2
        count = self.take("<H") * width
        values = struct.unpack_from(f"<{count}H", self.code, self.pc)
        self.pc += 2 * count
        return values

    def remap(self) -> Remap:
        flat = self.shorts(2)
        return tuple(zip(flat[::2], flat[1::2], strict=True))

    def operand(self, kind: str, cases: int) -> Operand:
        if kind in ("i", "I", "f", "F", "r", "m", "#u16"):
            return self.take("<H")
        if kind in ("#i32", "#f32", "glob", "rod", "func", "type", "pc"):
            return self.take("<I")
        if kind in ("#i64", "#f64"):
            return self.take("<Q")
        if kind == "str":
            length = self.take("<H")
            self.pc += length
            return self.code[self.pc - length : self.pc]
        if kind == "remap":
            return self.remap()
        if kind == "cases":
            return tuple((self.take("<I"), self.remap()) for _ in range(cases))
        return self.shorts(1)


def decode(code: bytes, pc: int) -> Decoded:
    """The instruction at `pc`. Raises `ValueError` for bytes that are none, `struct.error` when they end too early."""
    rows = _rows()
    row = rows.get(code[pc : pc + 1])
    if row is None or row.mnemonic.startswith("PrefixExt"):
        row = rows.get(code[pc : pc + 2])
    if row is None:
        raise ValueError(f"no instruction at {pc:#x}: {code[pc : pc + 2].hex()}")
    reader = _Reader(code, pc + len(row.encoding))
    operands: list[Operand] = []
    cases = 0
    for operand in row.operands:
        value = reader.operand(operand.kind, cases)
        if operand.kind == "#u16":
            assert isinstance(value, int)
            cases = value
        operands.append(value)
    return Decoded(row, tuple(operands), pc, reader.pc)


def function_code(code: bytes) -> dict[int, Decoded]:
    """All instructions of a function, by where they start."""
    found: dict[int, Decoded] = {}
    pc = 0
    while pc < len(code):
        found[pc] = decode(code, pc)
        pc = found[pc].next
    return found
