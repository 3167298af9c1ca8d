"""Floats as bits: conversions and the C library's functions for both widths, with NaNs where C has them.

Arithmetic that gives a NaN gives the canonical quiet one; hardware differs in its payload: no program may rely on it.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import struct
from collections.abc import Callable
from functools import cache

NAN = {32: 0x7FC00000, 64: 0x7FF8000000000000}
SIGN = {32: 1 << 31, 64: 1 << 63}
INFINITY = {32: 0x7F800000, 64: 0x7FF0000000000000}
_FORMS = {32: ("<f", "<I"), 64: ("<d", "<Q")}


def to_float(bits: int, width: int) -> float:
    """The value that `bits` stand for."""
    number, integer = _FORMS[width]
    value: float = struct.unpack(number, struct.pack(integer, bits))[0]
    return value


def to_bits(value: float, width: int) -> int:
    """The bits of `value`, rounded to nearest even; infinity when it is too large, the canonical NaN for any NaN."""
    if value != value:
        return NAN[width]
    number, integer = _FORMS[width]
    try:
        bits: int = struct.unpack(integer, struct.pack(number, value))[0]
    except OverflowError:
        bits = INFINITY[width] | (SIGN[width] if value < 0 else 0)
    return bits


def is_nan(bits: int, width: int) -> bool:
    """Whether `bits` are a NaN."""
    return bits & ~SIGN[width] > INFINITY[width]


def is_signaling(bits: int, width: int) -> bool:
    """Whether `bits` are a signaling NaN."""
    return is_nan(bits, width) and not bits & NAN[width] & ~INFINITY[width]


def divide(a: float, b: float) -> float:
    """IEEE division."""
    if b != 0 or a != a:
        return a / b if b != 0 else math.nan
    if a == 0:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def remainder(a: float, b: float) -> float:
    """IEEE remainder: the quotient is rounded to nearest even."""
    if a != a or b != b or math.isinf(a) or b == 0:
        return math.nan
    return math.remainder(a, b)


def round_away(value: float) -> float:
    """To the nearest whole number, halves away from zero."""
    if value != value or math.isinf(value):
        return value
    whole = math.trunc(value)
    if abs(value - whole) >= 0.5:
        whole += 1 if value > 0 else -1
    return math.copysign(float(whole), value)


def round_even(value: float) -> float:
    """To the nearest whole number, halves to even; -0.5 gives +0."""
    if value != value or math.isinf(value):
        return value
    return 0.0 if value == -0.5 else math.copysign(float(round(value)), value)


def directed(value: float, function: Callable[[float], int]) -> float:
    """`math.floor` or `math.ceil` on every float."""
    if value != value or math.isinf(value):
        return value
    return math.copysign(float(function(value)), value)


def from_integer(value: int, width: int) -> int:
    """The bits of a whole number, rounded once to nearest even."""
    if width == 64:
        return to_bits(float(value), 64)
    magnitude = abs(value)
    shift = max(magnitude.bit_length() - 30, 0)
    # What is shifted out only has to say that it was not zero.
    kept = magnitude >> shift | int(magnitude & ((1 << shift) - 1) != 0)
    return to_bits(math.copysign(math.ldexp(kept, shift), value), 32)


def to_integer(value: float) -> int:
    """Nearest, halves away from zero, as an i64; the smallest one when it does not fit or is NaN."""
    if value != value or math.isinf(value):
        return -(2**63)
    whole = int(round_away(value))
    return whole if -(2**63) <= whole < 2**63 else -(2**63)


@cache
def library(name: str, width: int) -> Callable[..., float]:
    """The C library's function, `sinf` or `sin`, for that width. Raises `OSError` when there is no C library."""
    path = ctypes.util.find_library("m") or ctypes.util.find_library("c")
    function = getattr(ctypes.CDLL(path), name + ("f" if width == 32 else ""))
    kind = ctypes.c_float if width == 32 else ctypes.c_double
    function.restype = kind
    function.argtypes = [kind] * (2 if name in ("atan2", "pow") else 1)
    return function
