"""How much stack the functions of an object reserve, read from their machine code.

LLVM decides about spilled registers last, and tells nobody: the size of a frame stands only in the instructions that
move the stack pointer down. Pushed registers (some tens of bytes) are not counted, nor are scalable vectors.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from tiree.codegen.elf import format as elf
from tiree.codegen.elf.object import read_object

_LARGEST = 1 << 30
"""No frame is larger: what looks like one is not an instruction."""


def stack_frames(data: bytes) -> dict[str, int]:
    """Bytes of stack that each function of an object file reserves. 0 for a machine that is not known here."""
    object = read_object(data)
    measure = _MACHINES.get(object.machine)
    found: dict[str, int] = {}
    for symbol in object.symbols:
        if symbol.type == elf.STT_FUNC and symbol.section != elf.SHN_UNDEF:
            start = symbol.value & ~1 if object.machine == elf.EM_ARM else symbol.value
            code = object.sections[symbol.section].data[start : start + symbol.size]
            found[symbol.name] = measure(code) if measure is not None else 0
    return found


def _x86(subtract: bytes) -> Callable[[bytes], int]:
    """Instructions have no common length: the opcode of a subtraction of 32 bits is searched in all bytes. In the
    middle of another instruction it would be followed by a number that is no multiple of a register, or absurd."""
    pattern = re.compile(re.escape(subtract) + b"(?=(....))", re.DOTALL)

    def measure(code: bytes) -> int:
        sizes = [struct.unpack("<I", match.group(1))[0] for match in pattern.finditer(code)]
        return max((size for size in sizes if size % 4 == 0 and size < _LARGEST), default=0)

    return measure


def _aarch64(code: bytes) -> int:
    """`sub sp, sp, #n`, or `sub x9, sp, #n` where the frame is aligned by hand; n has 12 bits, or 12 shifted by 12."""
    total = 0
    base = 31
    for word in _words(code):
        if word & 0xFF800000 != 0xD1000000:
            continue
        source, dest = word >> 5 & 31, word & 31
        if source in (31, base) and (source == 31 or dest == base):
            total += (word >> 10 & 0xFFF) << (12 if word & 1 << 22 else 0)
            base = dest if source == 31 else base
    return total


def _arm(code: bytes) -> int:
    """`sub sp, sp, #n`, several where n has bits far apart."""
    total = 0
    for word in _words(code):
        if word & 0xFFFFF000 == 0xE24DD000:
            value, turn = word & 0xFF, 2 * (word >> 8 & 15)
            total += (value >> turn | value << (32 - turn)) & 0xFFFFFFFF if turn else value
    return total


def _words(code: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(code) // 4}I", code[: len(code) // 4 * 4])


def _riscv(code: bytes) -> int:
    """`addi sp, sp, -n` (also compressed), and `sub sp, sp, r` where `lui` and `addi` made r."""
    total = 0
    known: dict[int, int] = {}
    at = 0
    while at + 2 <= len(code):
        half = struct.unpack_from("<H", code, at)[0]
        if half & 3 != 3:
            total += _riscv_short(half, known)
            at += 2
            continue
        if at + 4 > len(code):
            break
        word = struct.unpack_from("<I", code, at)[0]
        total += _riscv_long(word, known)
        at += 4
    return total


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _riscv_short(half: int, known: dict[int, int]) -> int:
    """What a compressed instruction takes from the stack pointer."""
    kind, dest = half & 0xE003, half >> 7 & 31
    if kind == 0x6001 and dest == 2:
        bits = (half >> 12 & 1) << 9 | (half >> 6 & 1) << 4 | (half >> 5 & 1) << 6 | (half >> 3 & 3) << 7
        return max(0, -_signed(bits | (half >> 2 & 1) << 5, 10))
    small = _signed((half >> 12 & 1) << 5 | half >> 2 & 31, 6)
    if kind == 0x0001 and dest == 2:
        return max(0, -small)
    if kind == 0x6001:
        known[dest] = small << 12
    elif kind in (0x0001, 0x2001) and dest in known:
        known[dest] += small
    return 0


def _riscv_long(word: int, known: dict[int, int]) -> int:
    """What a 32-bit instruction takes from the stack pointer."""
    opcode, dest, first = word & 0x7F, word >> 7 & 31, word >> 15 & 31
    if opcode == 0x37:
        known[dest] = _signed(word >> 12, 20) << 12
    elif opcode in (0x13, 0x1B) and word >> 12 & 7 == 0 and first == dest:
        if dest == 2:
            return max(0, -_signed(word >> 20, 12))
        if dest in known:
            known[dest] += _signed(word >> 20, 12)
    elif word & 0xFE00707F == 0x40000033 and first == dest == 2:
        return max(0, known.get(word >> 20 & 31, 0))
    return 0


_MACHINES: dict[int, Callable[[bytes], int]] = {
    elf.EM_X86_64: _x86(b"\x48\x81\xec"),
    elf.EM_386: _x86(b"\x81\xec"),
    elf.EM_AARCH64: _aarch64,
    elf.EM_ARM: _arm,
    elf.EM_RISCV: _riscv,
}
