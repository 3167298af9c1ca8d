"""What the instructions on numbers compute: `SCALARS["add.i32"](a, b)`, on raw bits.

Operands and results are non-negative Python ints that hold the bits of a register. Each function says what
docs/reference/instructions.md says and nothing about how an interpreter does it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from tiree.testing import floats
from tiree.testing.faults import Fault

Scalar = Callable[..., int]


def one(function: Callable[[int], int]) -> Scalar:
    """A function of one operand. (These say what type the operands of a lambda have.)"""
    return function


def two(function: Callable[[int, int], int]) -> Scalar:
    """A function of two operands."""
    return function


def three(function: Callable[[int, int, int], int]) -> Scalar:
    """A function of three operands."""
    return function


def signed(bits: int, width: int) -> int:
    """The two's complement number that `bits` stand for."""
    return bits - (1 << width) if bits >> (width - 1) else bits


def _divide(what: str, signed_: bool, width: int, remainder: bool) -> Scalar:
    def compute(a: int, b: int) -> int:
        if b == 0:
            raise Fault("INVALID_ARGUMENT", f"integer {what} by zero")
        if signed_:
            x, y = signed(a, width), signed(b, width)
            if x == -(1 << (width - 1)) and y == -1:
                raise Fault("INVALID_ARGUMENT", f"integer overflow in {what}")
            quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
            return (x - quotient * y if remainder else quotient) & ((1 << width) - 1)
        return a % b if remainder else a // b

    return compute


def _integers(width: int) -> Iterator[tuple[str, Scalar]]:
    t, mask, shift = f"i{width}", (1 << width) - 1, width - 1

    def s(bits: int) -> int:
        return signed(bits, width)

    yield f"add.{t}", two(lambda a, b: (a + b) & mask)
    yield f"sub.{t}", two(lambda a, b: (a - b) & mask)
    yield f"mul.{t}", two(lambda a, b: (a * b) & mask)
    yield f"fma.{t}", three(lambda a, b, c: (a * b + c) & mask)
    yield f"div.{t}.s", _divide("division", True, width, False)
    yield f"div.{t}.u", _divide("division", False, width, False)
    yield f"rem.{t}.s", _divide("remainder", True, width, True)
    yield f"rem.{t}.u", _divide("remainder", False, width, True)
    yield f"not.{t}", one(lambda a: a ^ mask)
    yield f"and.{t}", two(lambda a, b: a & b)
    yield f"or.{t}", two(lambda a, b: a | b)
    yield f"xor.{t}", two(lambda a, b: a ^ b)
    yield f"shl.{t}", two(lambda a, n: a << (n & shift) & mask)
    yield f"shr.{t}.s", two(lambda a, n: s(a) >> (n & shift) & mask)
    yield f"shr.{t}.u", two(lambda a, n: a >> (n & shift))
    yield f"ctlz.{t}", one(lambda a: width - a.bit_length())
    yield f"abs.{t}", one(lambda a: abs(s(a)) & mask)
    yield f"min.{t}.s", two(lambda a, b: min(a, b, key=s))
    yield f"min.{t}.u", two(lambda a, b: min(a, b))
    yield f"max.{t}.s", two(lambda a, b: max(a, b, key=s))
    yield f"max.{t}.u", two(lambda a, b: max(a, b))
    yield f"cmp.eq.{t}", two(lambda a, b: int(a == b))
    yield f"cmp.ne.{t}", two(lambda a, b: int(a != b))
    yield f"cmp.lt.{t}.s", two(lambda a, b: int(s(a) < s(b)))
    yield f"cmp.lt.{t}.u", two(lambda a, b: int(a < b))
    yield f"cmp.nz.{t}", one(lambda a: int(a != 0))


def _widths() -> Iterator[tuple[str, Scalar]]:
    yield "trunc.i32.i8", one(lambda a: a & 0xFF)
    yield "trunc.i32.i16", one(lambda a: a & 0xFFFF)
    yield "trunc.i64.i32", one(lambda a: a & 0xFFFFFFFF)
    yield "ext.i8.i32.s", one(lambda a: signed(a & 0xFF, 8) & 0xFFFFFFFF)
    yield "ext.i8.i32.u", one(lambda a: a & 0xFF)
    yield "ext.i16.i32.s", one(lambda a: signed(a & 0xFFFF, 16) & 0xFFFFFFFF)
    yield "ext.i16.i32.u", one(lambda a: a & 0xFFFF)
    yield "ext.i32.i64.s", one(lambda a: signed(a, 32) & 0xFFFFFFFFFFFFFFFF)
    yield "ext.i32.i64.u", one(lambda a: a)


_UNARY = ("atan", "cos", "sin", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "sqrt", "tanh", "erf")


def _floats(width: int) -> Iterator[tuple[str, Scalar]]:
    t, sign = f"f{width}", floats.SIGN[width]

    def f(bits: int) -> float:
        return floats.to_float(bits, width)

    def b(value: float) -> int:
        return floats.to_bits(value, width)

    def nan(*bits: int) -> bool:
        return any(floats.is_nan(x, width) for x in bits)

    def power(x: int, y: int) -> int:
        # 1 to a quiet NaN and a quiet NaN to 0 are 1.
        if floats.is_signaling(x, width) or floats.is_signaling(y, width):
            return floats.NAN[width]
        return b(floats.library("pow", width)(f(x), f(y)))

    def integer_power(x: int, y: int) -> int:
        """By squaring; the exponent is the low word of its register."""
        exponent = signed(y & 0xFFFFFFFF, 32)
        base, product, left = x, b(1.0), abs(exponent)
        while True:
            if left & 1:
                product = b(f(product) * f(base))
            left >>= 1
            if not left:
                return b(floats.divide(1.0, f(product))) if exponent < 0 else product
            base = b(f(base) * f(base))

    yield f"add.{t}", two(lambda x, y: b(f(x) + f(y)))
    yield f"sub.{t}", two(lambda x, y: b(f(x) - f(y)))
    yield f"mul.{t}", two(lambda x, y: b(f(x) * f(y)))
    yield f"div.{t}", two(lambda x, y: b(floats.divide(f(x), f(y))))
    yield f"rem.{t}", two(lambda x, y: b(floats.remainder(f(x), f(y))))
    # Rounded after the product and after the sum.
    yield f"fma.{t}", three(lambda x, y, z: b(f(b(f(x) * f(y))) + f(z)))
    yield f"abs.{t}", one(lambda x: x & ~sign)
    yield f"neg.{t}", one(lambda x: x ^ sign)
    yield f"ceil.{t}", one(lambda x: b(floats.directed(f(x), math.ceil)))
    yield f"floor.{t}", one(lambda x: b(floats.directed(f(x), math.floor)))
    yield f"round.{t}", one(lambda x: b(floats.round_away(f(x))))
    yield f"round.{t}.even", one(lambda x: b(floats.round_even(f(x))))
    # The first operand stays unless the second is smaller (larger): a NaN in it stays, one in the second does not.
    yield f"min.{t}", two(lambda x, y: y if f(y) < f(x) else x)
    yield f"max.{t}", two(lambda x, y: y if f(x) < f(y) else x)
    for name in _UNARY:
        yield f"{name}.{t}", one(lambda x, name=name: b(floats.library(name, width)(f(x))))
    yield f"atan2.{t}", two(lambda x, y: b(floats.library("atan2", width)(f(x), f(y))))
    yield f"pow.{t}", two(lambda x, y: power(x, y))
    yield f"fpowi.{t}", two(integer_power)
    yield f"rsqrt.{t}", one(lambda x: b(floats.divide(1.0, floats.library("sqrt", width)(f(x)))))
    yield f"cmp.eq.{t}.o", two(lambda x, y: int(f(x) == f(y)))
    yield f"cmp.eq.{t}.u", two(lambda x, y: int(f(x) == f(y) or nan(x, y)))
    # Both say 1 when an operand is NaN, as the reference does.
    yield f"cmp.ne.{t}.o", two(lambda x, y: int(f(x) != f(y)))
    yield f"cmp.ne.{t}.u", two(lambda x, y: int(f(x) != f(y)))
    yield f"cmp.lt.{t}.o", two(lambda x, y: int(f(x) < f(y)))
    yield f"cmp.lt.{t}.u", two(lambda x, y: int(f(x) < f(y) or nan(x, y)))
    yield f"cmp.lte.{t}.o", two(lambda x, y: int(f(x) <= f(y)))
    yield f"cmp.lte.{t}.u", two(lambda x, y: int(f(x) <= f(y) or nan(x, y)))
    yield f"cmp.nan.{t}", one(lambda x: int(nan(x)))
    for bits in (32, 64):
        yield f"cast.si{bits}.{t}", one(lambda x, bits=bits: floats.from_integer(signed(x, bits), width))
        yield f"cast.ui{bits}.{t}", one(lambda x: floats.from_integer(x, width))
    yield f"bitcast.i{width}.{t}", one(lambda x: x)
    yield f"bitcast.{t}.i{width}", one(lambda x: x)
    for kind in ("s", "u"):
        # By way of an i64, of a value narrowed to f32.
        yield f"cast.{t}.{kind}i32", one(lambda x: floats.to_integer(floats.to_float(b32(f(x)), 32)) & 0xFFFFFFFF)
    yield f"cast.{t}.si64", one(lambda x: floats.to_integer(f(x)) & 0xFFFFFFFFFFFFFFFF)


def b32(value: float) -> int:
    """Bits of `value` narrowed to f32."""
    return floats.to_bits(value, 32)


def _f32_to_u64(bits: int) -> int:
    value = floats.round_away(floats.to_float(bits, 32))
    if 2.0**63 <= value < 2.0**64:
        return int(value)
    return floats.to_integer(value) & 0xFFFFFFFFFFFFFFFF


def _between_floats() -> Iterator[tuple[str, Scalar]]:
    yield "trunc.f64.f32", one(lambda x: b32(floats.to_float(x, 64)))
    yield "ext.f32.f64", one(lambda x: floats.to_bits(floats.to_float(x, 32), 64))
    yield "cast.f32.ui64", _f32_to_u64
    # Unlike from f32, values of 2^63 and more do not fit here.
    yield "cast.f64.ui64", one(lambda x: floats.to_integer(floats.to_float(x, 64)) & 0xFFFFFFFFFFFFFFFF)


def _all() -> Iterator[tuple[str, Scalar]]:
    for width in (32, 64):
        yield from _integers(width)
        yield from _floats(width)
    yield from _widths()
    yield from _between_floats()


SCALARS: dict[str, Scalar] = dict(_all())
"""By mnemonic, every instruction that computes one number from numbers and touches nothing else."""
