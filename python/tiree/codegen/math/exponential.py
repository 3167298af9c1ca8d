"""exp, exp2, expm1, and what is made of them: sinh, cosh, tanh.

Reduction: x = n ln2 + r with |r| <= ln2 / 2, then a polynomial in r and a power of two. ln2 is split so that n times
its high part is exact.
"""

from __future__ import annotations

from tiree.codegen.llvm import constants
from tiree.codegen.math import coefficients as c
from tiree.codegen.math.builder import Value, fma, horner, power_of_two, round_to_int, scale

LOG2E = 1.4426950408889634
LN2 = {32: (0.693359375, -2.12194440e-4), 64: (0.6931471803691238, 1.9082149292705877e-10)}
_LIMITS = {32: (-105.0, 90.0), 64: (-746.0, 712.0)}
"""Below: zero; above: infinity, even when halved. Between, powers of two split in two normal factors."""


def _polynomial(x: Value, single: bool) -> tuple[float, ...]:
    if x.type.bits == 32:
        return c.EXP_F32
    return c.EXP_SINGLE if single else c.EXP_F64


def clamp(x: Value) -> Value:
    """Within the limits; NaN passes."""
    low, high = _LIMITS[x.type.bits]
    x = x.lt(low).where(low, x)
    return x.gt(high).where(high, x)


def nearest_power(x: Value, factor: float) -> tuple[Value, Value, Value]:
    """The integer nearest to x * factor: as a float, as an integer, and as the power of two (where it is normal)."""
    mantissa, bias = (23, 127) if x.type.bits == 32 else (52, 1023)
    magic = 1.5 * 2.0**mantissa
    shifted = fma(x, factor, magic)
    # The integer stands in the low bits of the sum; the magic number's own bits leave by the shift's upper end.
    power = ((shifted.bits() << mantissa) + (bias << mantissa)).as_float()
    return shifted - magic, shifted.bits() - constants.float_bits(x.type, magic), power


def _reduce(x: Value) -> tuple[Value, Value, Value]:
    """(r, n as float, n as integer)."""
    high, low = LN2[x.type.bits]
    n, number, _ = nearest_power(x, LOG2E)
    r = fma(n, -high, x)
    return fma(n, -low, r), n, number


def expm1_parts(x: Value, polynomial: tuple[float, ...]) -> tuple[Value, Value]:
    """(2^n, exp(r) - 1) with exp(x) their 2^n (1 + (exp(r) - 1)), of an f32 in [-20, 0].

    One number is enough for ln2: the farther r is off, the nearer exp(x) is to 0.
    """
    n, _, power = nearest_power(x, LOG2E)
    r = fma(n, -0.6931471805599453, x)
    return power, fma(r * r, horner(r, polynomial), r)


def tanh_f32(x: Value, polynomial: tuple[float, ...]) -> Value:
    """(1 - E) / (1 + E) with E = exp(-2|x|), both to half an ulp, near zero as elsewhere."""
    doubled = -(x + x).abs()
    doubled = doubled.lt(-18.1).where(-18.1, doubled)
    power, part = expm1_parts(doubled, polynomial)
    return (fma(power, part, power - 1.0) / fma(power, part, power + 1.0)).copysign(x)


def erf_of_logarithm(u: Value, x: Value, polynomial: tuple[float, ...]) -> Value:
    """1 - exp(u), f32, with the sign of x: u is log(erfc(|x|))."""
    power, part = expm1_parts(u, polynomial)
    return fma(power, part, power - 1.0).copysign(x)


def exp(x: Value, single: bool = False, exponent: int = 0) -> Value:
    """exp(x) * 2^exponent."""
    r, n, number = _reduce(clamp(x))
    value = fma(r * r, horner(r, _polynomial(x, single)), r) + 1.0
    return scale(value, number + exponent, n + float(exponent)) if exponent else scale(value, number, n)


def exp2(x: Value, single: bool = False) -> Value:
    limits = {32: (-151.0, 129.0), 64: (-1076.0, 1025.0)}[x.type.bits]
    x = x.lt(limits[0]).where(limits[0], x)
    x = x.gt(limits[1]).where(limits[1], x)
    n, number = round_to_int(x)
    r = (x - n) * 0.6931471805599453
    return scale(fma(r * r, horner(r, _polynomial(x, single)), r) + 1.0, number, n)


def expm1(x: Value, single: bool = False) -> Value:
    """2^n (exp(r) - 1) + (2^n - 1), computed at half scale so that 2^n never overflows."""
    # Below: -1 to the last bit; above: infinity, while half of 2^n is still a number.
    floor, ceiling = (-18.0, 89.0) if x.type.bits == 32 else (-38.0, 710.0)
    bounded = x.lt(floor).where(floor, x)
    bounded = bounded.gt(ceiling).where(ceiling, bounded)
    high, low = LN2[x.type.bits]
    n, number = round_to_int(bounded * LOG2E)
    rough = fma(n, -high, bounded)
    r = fma(n, -low, rough)
    # What the rounding of r lost counts where exp(r) - 1 is near r itself.
    lost = fma(n, -low, rough - r)
    value = fma(r * r, horner(r, _polynomial(x, single)), lost) + r
    half = power_of_two(number - 1)
    result = fma(half, value, half - 0.5) * 2.0
    result = n.eq(0.0).where(value, result)
    # Zero keeps its sign, and tiny values themselves.
    tiny = 2.0 ** (-26 if x.type.bits == 32 else -55)
    return x.abs().lt(tiny).where(x, result)


def tanh(x: Value, single: bool = False) -> Value:
    del single
    if x.type.bits == 32:
        return tanh_f32(x, c.EXP_F32)
    magnitude = x.abs()
    z = x * x
    small = fma(x * z, horner(z, c.TANH_F64), x)
    big = 1.0 - 2.0 / (exp(magnitude + magnitude) + 1.0)
    return magnitude.lt(0.625).where(small, big).copysign(x)


def sinh(x: Value, single: bool = False) -> Value:
    magnitude = x.abs()
    z = x * x
    small = fma(x * z, horner(z, c.SINH_F64), x)
    half = exp(magnitude, single, exponent=-1)
    big = half - 0.25 / half
    return magnitude.lt(1.0).where(small, big.copysign(x))


def cosh(x: Value, single: bool = False) -> Value:
    half = exp(x.abs(), single, exponent=-1)
    return half + 0.25 / half
