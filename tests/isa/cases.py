"""One assembly function an instruction, and edge operands to call it with.

All arguments and results are i32 or i64, so that every bit of a float arrives and returns as it is: functions cast
floats at their borders. `cases()` covers every instruction but the block marker and the prefixes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tiree.dialects.vm_isa import INSTRUCTIONS, Instruction

I32 = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 0x55555555, 2**31 - 1,
       2**31, 2**31 + 1, 2**32 - 7, 2**32 - 2, 2**32 - 1]  # fmt: skip
I64 = [0, 1, 2, 3, 7, 10, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 0x0123456789ABCDEF, 2**53, 2**53 + 1,
       2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**63 + 2**39 + 1, 2**64 - 7, 2**64 - 2, 2**64 - 1]  # fmt: skip
# Zeros, ones, halves, subnormals, borders of normal numbers, infinities, quiet and signaling NaNs with payloads, and
# borders of integer types.
F32 = [0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x3F000000, 0xBF000000, 0x3FC00000, 0x40200000, 0xC0200000,
       0x3EFFFFFF, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000,
       0x7FC00000, 0xFFC00000, 0x7FC12345, 0x7F800001, 0xFF812345, 0x4F32D05E, 0x4F951E60, 0x4F000000, 0xCF000000,
       0x5F000000, 0xDF000000, 0x5F800000, 0x5F0AC723, 0x60AD78EC, 0x4B800000, 0x40490FDB, 0x42C80000,
       0x3DCCCCCD]  # fmt: skip
F64 = [0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000, 0x3FE0000000000000,
       0xBFE0000000000000, 0x4004000000000000, 0xC004000000000000, 0x3FDFFFFFFFFFFFFF, 0x0000000000000001,
       0x800FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x7FF0000000000000,
       0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000012345678, 0x7FF0000000000001,
       0xFFF4000000000000, 0x41E65A0BC0000000, 0x4170000010000000, 0x41DFFFFFFFC00000, 0x41E0000000000000,
       0x43E0000000000000, 0xC3E0000000000000, 0x43F0000000000000, 0x43E158E460913D00, 0x7E37E43C8800759C,
       0x47EFFFFFF0000000, 0x36A0000000000000, 0x400921FB54442D18, 0x3FB999999999999A]  # fmt: skip
EDGES = {"i": I32, "I": I64, "f": F32, "F": F64}
# Few enough that three operands can be combined.
FEW = {
    "i": [0, 1, 7, 2**31 - 1, 2**31, 2**32 - 1],
    "I": [0, 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1],
    "f": [0x00000000, 0x80000000, 0x3F800001, 0xBF800001, 0x00000001, 0x7F7FFFFF, 0x7F800000, 0x7FC00000],
    "F": [
        0x0,
        0x8000000000000000,
        0x3FF0000000000001,
        0xBFF0000000000001,
        0x1,
        0x7FEFFFFFFFFFFFFF,
        0x7FF0000000000000,
        0x7FF8000000000000,
    ],
}
OUTSIDE = {"i": "i", "f": "i", "I": "I", "F": "I"}
TYPES = {"i": "i32", "I": "i64", "f": "f32", "F": "f64"}
HEAD = """vm.module @cases version 0
vm.type i8
vm.type i16
vm.type i32
vm.type i64
vm.type f32
vm.type f64
vm.type !vm.buffer
vm.type !vm.list<i32>
vm.type !vm.opaque
vm.import optional @absent.function cconv "0v_v"
vm.import @other.add cconv "0iI_I"
vm.import @other.same cconv "0r_r"
vm.rodata[0] = 000102030405060708090A0B0C0D0E0F10
vm.state bytes 16 refs 2
"""
# What the imports are bound to; IREE 3.13 has no module with variadic functions that run without a device.
OTHER = """vm.module @other version 0
vm.type !vm.buffer
vm.export @add
vm.func @add(%i0: i32, %i2:3: i64) -> (i64) {
^bb0:
  %i4:5 = vm.ext.i32.i64.s %i0
  %i2:3 = vm.add.i64 %i2:3, %i4:5
  vm.return %i2
}
vm.export @same
vm.func @same(%r0: !vm.buffer) -> (!vm.buffer) {
^bb0:
  vm.return %R0
}
"""


@dataclass(frozen=True)
class Case:
    """A function that executes `mnemonic`: `arguments` and `results` are letters `i` and `I`, `calls` its operands."""

    mnemonic: str
    name: str
    arguments: str
    results: str
    body: str
    calls: tuple[tuple[int, ...], ...]

    @property
    def text(self) -> str:
        registers = places(self.arguments)
        arguments = ", ".join(f"{r}: {TYPES[k]}" for k, r in zip(self.arguments, registers, strict=True))
        results = ", ".join(TYPES[k] for k in self.results)
        lines = "\n".join(line if line.startswith("^") else f"  {line}" for line in self.body.strip().split("\n"))
        return f"vm.export @{self.name}\nvm.func @{self.name}({arguments}) -> ({results}) {{\n^bb0:\n{lines}\n}}\n"


def places(kinds: Sequence[str], start: int = 0) -> list[str]:
    """Registers for values of these kinds, one after the other."""
    registers: list[str] = []
    for kind in kinds:
        if kind in "IF":
            start += start % 2
        registers.append(f"%i{start}:{start + 1}" if kind in "IF" else f"%i{start}")
        start += 2 if kind in "IF" else 1
    return registers


def combinations(kinds: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """All edges alone, most of them in pairs, few in triples."""
    edges = {1: EDGES, 2: {k: v if k in "iI" else v[:22:1] + v[-4:] for k, v in EDGES.items()}}.get(len(kinds), FEW)
    return tuple(itertools.product(*(edges[k] for k in kinds)))


def cast(kind: str, source: str, target: str, inward: bool) -> str:
    """A cast between an integer register and a register of the kind."""
    outside, inside = TYPES[OUTSIDE[kind]], TYPES[kind]
    a, b = (outside, inside) if inward else (inside, outside)
    return f"{target} = vm.bitcast.{a}.{b} {source}"


def scalar(row: Instruction) -> Case:
    """An instruction that makes one number of numbers."""
    inputs = [o.kind for o in row.operands if not o.result]
    result = row.operands[-1].kind
    outside = [OUTSIDE[k] for k in inputs]
    arguments = places(outside)
    inner = places([*inputs, result, OUTSIDE[result]], 16)
    lines = [
        cast(k, a, i, True) if k in "fF" else f"{i} = vm.select.{TYPES[k]} %i40 ? {a} : {a}"
        for k, a, i in zip(inputs, arguments, inner, strict=False)
    ]
    form = ", ".join(inner[: len(inputs)])
    lines.append(f"{inner[-2]} = vm.{row.mnemonic} {form}")
    out = inner[-2]
    if result in "fF":
        lines.append(cast(result, inner[-2], inner[-1], False))
        out = inner[-1]
    lines.append(f"vm.return {out}")
    name = row.mnemonic
    return Case(row.mnemonic, name, "".join(outside), OUTSIDE[result], "\n".join(lines), combinations(inputs))


def is_scalar(row: Instruction) -> bool:
    kinds = [o.kind for o in row.operands]
    moves_state = row.mnemonic.startswith(("global", "select", "const"))
    return len(kinds) > 1 and all(k in "iIfF" for k in kinds) and row.operands[-1].result and not moves_state


def cases() -> Iterator[Case]:
    """A case for every instruction, some with several."""
    from isa.scenarios import scenarios

    for row in INSTRUCTIONS.values():
        if is_scalar(row):
            yield scalar(row)
    yield from scenarios()
