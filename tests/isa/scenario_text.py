"""What scenarios are written with."""

from __future__ import annotations

import itertools

from isa.cases import OUTSIDE, TYPES, Case, cast

OFFSETS = [
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    17,
    2**31,
    2**32,
    2**61,
    2**62,
    2**63 - 1,
    2**63,
    2**64 - 16,
    2**64 - 2,
    2**64 - 1,
]
SMALL = [0, 1, 3, 8, 16, 17, 2**62, 2**63, 2**64 - 1]
INDICES = [0, 1, 2, 3, 4, 2**31 - 1, 2**31, 2**32 - 1]
CONDITIONS = [0, 1, 2, 2**31, 2**32 - 1]
KINDS = {"i32": "i", "i64": "I", "f32": "f", "f64": "F"}
WIDE = "IF"


def pair(*lists: list[int]) -> tuple[tuple[int, ...], ...]:
    return tuple(itertools.product(*lists))


def register(kind: str, number: int) -> str:
    return f"%i{number}:{number + 1}" if kind in WIDE else f"%i{number}"


def case(
    mnemonic: str, arguments: str, results: str, body: str, calls: tuple[tuple[int, ...], ...], suffix: str = ""
) -> Case:
    return Case(mnemonic, mnemonic + suffix, arguments, results, body, calls)


def inward(kind: str, source: int, target: int) -> str:
    """Argument `source` in register `target`, as a value of the kind."""
    outside = OUTSIDE[kind]
    if kind in "iI":
        return f"{register(kind, target)} = vm.or.{TYPES[kind]} {register(kind, source)}, {register(kind, source)}"
    return cast(kind, register(outside, source), register(kind, target), True)


def outward(kind: str, source: int, target: int) -> str:
    """The value in `source` as an integer in `target`, and the return of it."""
    if kind in "iI":
        return f"vm.return {register(kind, source)}"
    outside = OUTSIDE[kind]
    return (
        f"{cast(kind, register(kind, source), register(outside, target), False)}\nvm.return {register(outside, target)}"
    )
