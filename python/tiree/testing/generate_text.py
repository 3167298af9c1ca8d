"""Pieces of assembly for the generator: registers by kind, constants as text, what a module offers to its functions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tiree.testing import floats
from tiree.testing.scalars import signed

TYPES = {"i": "i32", "I": "i64", "f": "f32", "F": "f64", "r": "!vm.ref<?>"}
LETTERS = {"i32": "i", "i64": "I", "f32": "f", "f64": "F"}
WIDE = "IF"
ELEMENT_TYPES = ("i32", "i64", "i8", "i16", "f32", "f64", "!vm.buffer", "!vm.opaque", "!vm.list<i32>")
REF_TYPES = ("!vm.buffer", "!vm.list<i32>", "!vm.buffer", "!vm.list<i32>", "!vm.opaque")

SLOT_TYPES = ("!vm.buffer", "!vm.list<i32>")
"""What even and odd slots of global references are for."""


def cell(kind: str, register: int) -> str:
    """A number register as text."""
    return f"%i{register}:{register + 1}" if kind in WIDE else f"%i{register}"


def literal(kind: str, bits: int) -> str:
    """A number as text that keeps every bit."""
    if kind in "iI":
        return str(signed(bits, 32 if kind == "i" else 64))
    width = 32 if kind == "f" else 64
    if not floats.is_nan(bits, width):
        value = floats.to_float(bits, width)
        return f"{'-' if math.copysign(1, value) < 0 else ''}inf" if math.isinf(value) else repr(value)
    sign = "-" if bits & floats.SIGN[width] else ""
    quiet = floats.NAN[width] & ~floats.INFINITY[width]
    payload = bits & ~floats.SIGN[width] & ~floats.INFINITY[width]
    if payload & quiet:
        rest = payload & ~quiet
        return f"{sign}nan({rest:#x})" if rest else f"{sign}nan"
    return f"{sign}snan({payload:#x})"


@dataclass(frozen=True)
class Callee:
    """A function that can be called: how it is named in text, and kinds of its arguments and results.

    Arguments of imports may have spans, as in calling conventions: `iCrID`. One that `suspends` is called by
    instructions that may yield.
    """

    name: str
    arguments: str
    results: str
    is_import: bool = False
    suspends: bool = False

    @property
    def cconv(self) -> str:
        """Its calling convention."""
        return f"0{self.arguments or 'v'}_{self.results or 'v'}"

    @property
    def has_spans(self) -> bool:
        """Whether its number of arguments varies."""
        return "C" in self.arguments

    def header(self, name: str) -> str:
        """The line that begins its definition."""
        parts: list[str] = []
        cells = refs = 0
        for kind in self.arguments:
            if kind == "r":
                parts.append(f"%r{refs}: {TYPES[kind]}")
                refs += 1
                continue
            cells += cells % 2 if kind in WIDE else 0
            parts.append(f"{cell(kind, cells)}: {TYPES[kind]}")
            cells += 2 if kind in WIDE else 1
        results = ", ".join(TYPES[kind] for kind in self.results)
        return f"vm.func @{name}({', '.join(parts)}) -> ({results}) {{"


@dataclass
class Surroundings:
    """What functions of a module may use. `callees` are those that come later or are imported, so that calls end."""

    state_bytes: int
    state_refs: int
    rodata: list[int]
    """Lengths of the segments."""
    callees: list[Callee] = field(default_factory=list[Callee])
    imports: list[str] = field(default_factory=list[str])
    """Names of all imports, bound or not."""
