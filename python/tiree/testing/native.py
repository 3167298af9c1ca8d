"""Functions of a native module that generated programs import: every kind of argument and result, spans, suspension.

The runtime has the same module in Rust; `native_module()` is it. Here they are for the reference interpreter.
"""

from __future__ import annotations

from typing import Any

from tiree.testing.faults import CODES, Fault
from tiree.testing.objects import Buffer
from tiree.testing.reference import HostModule

Number = tuple[str, int]
_FACTOR = 6364136223846793005
_MASK = (1 << 64) - 1


def _mixture(start: int, *numbers: int) -> Number:
    for number in numbers:
        start = (start * _FACTOR + number) & _MASK
    return "I", start


def _mix(a: Number, b: Number, c: Number, d: Number) -> Number:
    return _mixture(1, a[1], b[1], c[1], d[1])


def _sum(numbers: list[Number]) -> Number:
    return "i", (len(numbers) + sum(bits for _, bits in numbers)) & 0xFFFFFFFF


def _tuples(start: Number, pairs: list[tuple[Number, Number]]) -> tuple[Number, Number]:
    mixed = _mixture(start[1], *(number[1] for pair in pairs for number in pair))
    return mixed, pairs[-1][1] if pairs else ("F", 0)


def _spans(first: list[Number], references: list[Any], middle: Number, last: list[tuple[Number, Number]]) -> Number:
    flags = (int(reference is not None) for reference in references)
    rest = (number[1] for pair in last for number in pair)
    return _mixture(1, *(bits for _, bits in first), *flags, middle[1], *rest)


def _same(reference: Any) -> Any:
    return reference


def _choose(index: Number, references: list[Any]) -> Any:
    if index[1] >= len(references):
        raise Fault("OUT_OF_RANGE", "no such reference")
    return references[index[1]]


def _make(number: Number) -> Buffer:
    return Buffer(bytes([number[1] & 0xFF]) * (number[1] & 63), True)


def _refuse(number: Number) -> Number:
    code = number[1] & 63
    if 1 <= code <= 16:
        raise Fault(CODES[code], "refused")
    return number


def _later(a: Number, b: Number, c: Number, d: Number) -> tuple[Number, ...]:
    return c, d, a, b


NATIVE = HostModule(
    "native",
    {
        "mix": ("0iIfF_I", _mix),
        "sum": ("0CiD_i", _sum),
        "tuples": ("0ICiFD_IF", _tuples),
        "spans": ("0CfDCrDiCIfD_I", _spans),
        "same": ("0r_r", _same),
        "choose": ("0iCrD_r", _choose),
        "make": ("0i_r", _make),
        "refuse": ("0i_i", _refuse),
        "later": ("0iFfI_fIiF", _later),
    },
)
"""What they compute: numbers are (letter, bits), a span is a list of values or of tuples."""

SUSPENDS = frozenset({"later"})
"""Those that must be called by an instruction that may yield."""


def native_module() -> Any:
    """The `VmModule` to put into a context before modules that import from `native`."""
    from tiree import _native

    return _native.native_test_module()
