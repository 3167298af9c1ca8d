"""Floats as MLIR writes them: seven digits when these are exact, all digits otherwise, hex bits for NaN and infinity.

The rules are those of `mlir-opt`, so that text printed by either tool is the same. Assumes xDSL's builtin types.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type
from xdsl.ir import Attribute

if TYPE_CHECKING:
    from typing_extensions import TypeIs

# Digits that identify every value of a format, in LLVM's count: 2 + floor(precision * 59 / 196).
_DIGITS: dict[type[Attribute], int] = {Float64Type: 17, Float32Type: 9, Float16Type: 5, BFloat16Type: 4}

# The codes of `struct` for the value and for its bits, and the bits of infinity.
_PACKED: dict[type[Attribute], tuple[str, str, int]] = {
    Float64Type: ("<d", "<Q", 0x7FF0000000000000),
    Float32Type: ("<f", "<I", 0x7F800000),
    Float16Type: ("<e", "<H", 0x7C00),
}


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
    code, integer, infinity = _PACKED[format]
    try:
        return struct.unpack(integer, struct.pack(code, value))[0]
    except OverflowError:
        sign = 1 << (8 * struct.calcsize(integer) - 1) if value < 0 else 0
        return infinity | sign


def float_of_bits(bits: int, format: type[Attribute]) -> float:
    """The value of a bit pattern of `format`."""
    if format is BFloat16Type:
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    code, integer, _ = _PACKED[format]
    return struct.unpack(code, struct.pack(integer, bits))[0]


def is_formatted(type: Attribute) -> TypeIs[Float64Type | Float32Type | Float16Type | BFloat16Type]:
    """Whether `format_float` can write values of `type`."""
    return type.__class__ in _DIGITS


def format_float(bits: int, format: type[Attribute], width: int) -> str:
    """`bits` of a float of `width` bits as MLIR prints it; `format` is the type's class."""
    if format not in _DIGITS:
        return f"0x{bits:0{width // 4}X}"
    value = float_of_bits(bits, format)
    if not math.isfinite(value):
        return f"0x{bits:0{width // 4}X}"
    if value == 0:
        return "-0.000000e+00" if math.copysign(1.0, value) < 0 else "0.000000e+00"
    sign = "-" if value < 0 else ""
    digits, power = _decimal(abs(value), 6)
    leading = power + len(digits) - 1
    short = f"{sign}{digits[0]}.{digits[1:].ljust(6, '0')}e{leading:+03d}"
    if float_bits(float(short), format) == bits:
        return short
    text = sign + _all_digits(*_decimal(abs(value), _DIGITS[format]), _DIGITS[format])
    return text if "." in text else f"0x{bits:0{width // 4}X}"


def _decimal(value: float, precision: int) -> tuple[str, int]:
    """Digits and power of ten of a positive float, cut to `precision` digits as LLVM's `APFloat` cuts them.

    The exact decimal is first divided by powers of ten that surely leave enough bits, without rounding, and what
    remains is rounded half up. So a last digit may differ from the nearest one; MLIR's text has it that way.
    """
    numerator, denominator = value.as_integer_ratio()
    power = -(denominator.bit_length() - 1)
    number = numerator * 5**-power
    excess = number.bit_length() - (precision * 196 + 58) // 59
    if excess > 0 and (removed := excess * 59 // 196):
        number //= 10**removed
        power += removed
    digits = str(number)
    if len(digits) > precision:
        dropped = len(digits) - precision
        rest = digits[precision]
        digits = digits[:precision] if rest < "5" else str(int(digits[:precision]) + 1)
        power += dropped
    stripped = digits.rstrip("0")
    return stripped, power + len(digits) - len(stripped)


def _all_digits(digits: str, power: int, precision: int) -> str:
    """The number in plain notation near 1, in scientific notation elsewhere."""
    leading = power + len(digits) - 1
    plain = power <= 3 and len(digits) + power <= precision if power >= 0 else leading >= -3
    if not plain:
        return f"{digits[0]}.{digits[1:] or '0'}E{leading:+d}"
    if power >= 0:
        return digits + "0" * power
    if leading >= 0:
        return f"{digits[: leading + 1]}.{digits[leading + 1 :]}"
    return f"0.{'0' * (-leading - 1)}{digits}"
