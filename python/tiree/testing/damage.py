"""Damages valid modules: bits, bytes and words changed, runs moved or cut, and operands of instructions replaced."""

from __future__ import annotations

import struct

from tiree.testing import wanted
from tiree.testing.archive import read
from tiree.testing.choices import Choices, chance, pick

_BYTES = (0, 1, 0x7F, 0x80, 0xFF)
_WORDS = (0, 1, 2, 4, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFF)


def mutate(module: bytes, choices: Choices) -> bytes:
    """A copy of `module` with one to four changes, half of them in the bytecode. It may still be valid.

    Raises `ValueError` for no bytes at all, which have nothing to change.
    """
    wanted.module("mutate", "module", module)
    wanted.choices("mutate", choices)
    module = bytes(module)
    if not module:
        raise ValueError("mutate() needs a module: there are no bytes to change")
    data = bytearray(module)
    code = _bytecode_range(module)
    for _ in range(1 + choices.count(4)):
        choices.part()
        low, high = code if code and chance(choices, 50) else (0, len(data))
        _change(data, min(low + choices.below(max(high - low, 1)), len(data) - 1), choices)
        if not data:
            return bytes(module[:1])
    return bytes(data)


def _bytecode_range(module: bytes) -> tuple[int, int] | None:
    """Where the bytecode of the first function lies, to aim at."""
    try:
        functions = read(module).functions
    except (ValueError, struct.error):
        return None
    found = module.find(functions[0].code) if functions else -1
    return (found, found + sum(len(f.code) for f in functions)) if found >= 0 else None


def _change(data: bytearray, at: int, choices: Choices) -> None:
    kind = choices.below(9)
    if kind == 0:
        data[at] ^= 1 << choices.below(8)
    elif kind == 1:
        data[at] = pick(choices, _BYTES)
    elif kind == 2:
        data[at] = choices.below(256)
    elif kind in (3, 4) and len(data) >= 4:
        at = min(at & ~3 if kind == 3 else at, len(data) - 4)
        old = struct.unpack_from("<I", data, at)[0]
        changed = (
            pick(choices, _WORDS) if chance(choices, 50) else (old + pick(choices, (1, -1, 4, -4, 8, 256))) & 0xFFFFFFFF
        )
        struct.pack_into("<I", data, at, changed)
    elif kind == 5 and len(data) >= 2:
        struct.pack_into(
            "<H", data, min(at, len(data) - 2), pick(choices, (0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0xC000, 0xFFFF))
        )
    elif kind == 6:
        length = 1 + choices.below(16)
        source = choices.below(len(data))
        piece = data[source : source + length]
        data[at : at + len(piece)] = piece
    elif kind == 7:
        data[at : at + 1 + choices.below(8)] = b""
    else:
        data[at:at] = bytes(choices.below(256) for _ in range(1 + choices.below(8)))
