"""Floats as MLIR writes them: seven digits when these are exact, all digits otherwise, hex bits for NaN and infinity.

The rules are those of `mlir-opt`, so that text printed by either tool is the same. Assumes xDSL's builtin types.
"""

from __future__ import annotations

import math
import struct
from decimal import Decimal

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type
from xdsl.ir import Attribute

# Digits that identify every value of a format, in LLVM's count: 2 + floor(precision * 59 / 196).
_DIGITS: dict[type[Attribute], int] = {Float64Type: 17, Float32Type: 9, Float16Type: 5, BFloat16Type: 4}


def round_to_bf16(value: float) -> int:
    """The bits of the `bf16` nearest to `value` (ties to even), rounded once."""
    if value != value:
        return 0x7FC0 | (0x8000 if math.copysign(1.0, value) < 0 else 0)
    bits = float_bits(value, Float32Type)
    nearest = struct.unpack("<f", struct.pack("<I", bits))[0]
    if bits & 0xFFFF == 0x8000 and nearest != value:
        # f32 rounded onto a tie of bf16: step back to the side that `value` lies on.
        bits += 1 if abs(nearest) < abs(value) else -1
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF


def float_bits(value: float, format: type[Attribute]) -> int:
    """The bit pattern of `value` rounded to `format`; beyond its range this is infinity."""
    if format is BFloat16Type:
        return round_to_bf16(value)
    code, integer, infinity = {
        Float64Type: ("<d", "<Q", 0x7FF0000000000000),
        Float32Type: ("<f", "<I", 0x7F800000),
        Float16Type: ("<e", "<H", 0x7C00),
    }[format]
    try:
        return struct.unpack(integer, struct.pack(code, value))[0]
    except OverflowError:
        sign = 1 << (8 * struct.calcsize(integer) - 1) if value < 0 else 0
        return infinity | sign


def float_of_bits(bits: int, format: type[Attribute]) -> float:
    """The value of a bit pattern of `format`."""
    if format is BFloat16Type:
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    code, integer = {Float64Type: ("<d", "<Q"), Float32Type: ("<f", "<I"), Float16Type: ("<e", "<H")}[format]
    return struct.unpack(code, struct.pack(integer, bits))[0]


def is_formatted(type: Attribute) -> bool:
    """Whether `format_float` can write values of `type`."""
    return type.__class__ in _DIGITS


def format_float(bits: int, format: type[Attribute], width: int) -> str:
    """`bits` of a float of `width` bits as MLIR prints it; `format` is the type's class."""
    if format not in _DIGITS:
        return f"0x{bits:0{width // 4}X}"
    value = float_of_bits(bits, format)
    if not math.isfinite(value):
        return f"0x{bits:0{width // 4}X}"
    short = f"{value:.6e}"
    if float_bits(float(short), format) == bits:
        return short
    text = _all_digits(value, _DIGITS[format])
    return text if "." in text else f"0x{bits:0{width // 4}X}"


def _all_digits(value: float, precision: int) -> str:
    """`value` in `precision` significant digits without trailing zeros; plain notation only near 1."""
    sign, digits, exponent = Decimal(f"{value:.{precision - 1}e}").as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    power = int(exponent) + len(digits) - len(text)
    head = "-" if sign else ""
    leading = power + len(text) - 1
    plain = power <= 3 and len(text) + power <= precision if power >= 0 else leading >= -3
    if not plain:
        return f"{head}{text[0]}.{text[1:] or '0'}E{leading:+d}"
    if power >= 0:
        return head + text + "0" * power
    if leading >= 0:
        return f"{head}{text[: leading + 1]}.{text[leading + 1 :]}"
    return f"{head}0.{'0' * (-leading - 1)}{text}"
