"""pow, cbrt, rsqrt, integer powers.

pow is exp2(y log2 x). For an f32 result f64 is precise enough. For f64 the logarithm is a sum of two doubles: a
relative error of 2^-64 or so, which the exponent of up to 1024 magnifies to less than an ulp.
"""

from __future__ import annotations

from tiree.codegen.math import coefficients as c
from tiree.codegen.math.builder import Value, fma, horner, quick_two_sum, round_to_int, scale, two_product, two_sum
from tiree.codegen.math.logarithm import split
from tiree.codegen.math.rounding import trunc

_LOG2E = (1.4426950408889634, 2.0355273740931033e-17)
_THIRD = (0.3333333333333333, 1.850371707708594e-17)
_INFINITY = float("inf")


def _log2_pair(x: Value) -> tuple[Value, Value]:
    """log2 of a positive finite f64 as an unevaluated sum."""
    f, k = split(x)
    # s = f / (2 + f) to twice the precision.
    denominator = f + 2.0
    lost = f - (denominator - 2.0)
    s = f / denominator
    product, error = two_product(s, denominator)
    s_low = ((f - product) - error - s * lost) / denominator
    z, z_error = two_product(s, s)
    z_low = z_error + 2.0 * s * s_low
    # atanh(s) = s (1 + z/3 + z^2 T(z))
    third, third_error = two_product(z, z.const(_THIRD[0]))
    third_low = third_error + z_low * _THIRD[0] + z * _THIRD[1]
    series, series_low = quick_two_sum(third, z * z * horner(z, c.LOG_TAIL))
    series_low = series_low + third_low
    head, head_low = two_product(s, series)
    total, total_low = quick_two_sum(s, head)
    total_low = total_low + (head_low + s * series_low + s_low * series + s_low)
    total, total_low = quick_two_sum(total, total_low)
    # 2 log2(e) times that, plus k.
    scaled, scaled_error = two_product(total, total.const(2.0 * _LOG2E[0]))
    scaled_low = scaled_error + total * (2.0 * _LOG2E[1]) + total_low * (2.0 * _LOG2E[0])
    whole, whole_low = two_sum(k, scaled)
    return quick_two_sum(whole, whole_low + scaled_low)


def _exp2_pair(high: Value, low: Value, single: bool) -> Value:
    """2^(high + low), with overflow and underflow."""
    clamped = high.gt(1100.0).where(1100.0, high)
    clamped = clamped.lt(-1150.0).where(-1150.0, clamped)
    low = high.eq(clamped).where(low, 0.0)
    n, number = round_to_int(clamped)
    r = (clamped - n) + low
    x, error = two_product(r, r.const(0.6931471805599453))
    polynomial = c.EXP_SINGLE if single else c.EXP_F64
    value = fma(x * x, horner(x, polynomial), error + r * 2.3190468138462996e-17) + x
    return scale(value + 1.0, number, n)


def _magnitude(x: Value, y: Value, single: bool) -> Value:
    """x^y of x >= 0."""
    safe = (x.gt(0.0) & x.lt(_INFINITY)).where(x, 1.0)
    if single:
        f, k = split(safe)
        s = f / (f + 2.0)
        z = s * s
        natural = fma(s * z, horner(z, c.LOG_SINGLE), s + s)
        return _exp2_pair(y * fma(natural, _LOG2E[0], k), x.const(0.0), single)
    high, low = _log2_pair(safe)
    bounded = y.abs().gt(1e20).where(x.const(1e20).copysign(y), y)
    product, error = two_product(bounded, high)
    return _exp2_pair(product, fma(bounded, low, error), single)


def pow(x: Value, y: Value, single: bool = False) -> Value:
    """x^y with the special cases of C's pow; f64 operands."""
    a = x.abs()
    result = _magnitude(a, y, single)
    # Zero and infinite bases.
    grows = a.gt(1.0) ^ y.lt(0.0)
    limit = grows.where(x.const(_INFINITY), 0.0)
    special = a.eq(0.0) | a.eq(_INFINITY)
    result = special.where(limit, result)
    # Infinite exponents.
    steep = y.abs().eq(_INFINITY)
    result = steep.where(a.eq(1.0).where(1.0, limit), result)
    # Negative bases: an odd exponent gives the sign, a fraction has no result.
    whole = trunc(y)
    is_integer = whole.eq(y)
    half = y * 0.5
    odd = is_integer & trunc(half).ne(half) & y.abs().lt(2.0**53)
    negative = x.bits().lt(0)
    result = (negative & odd).where(-result, result)
    undefined = x.lt(0.0) & ~is_integer & x.abs().lt(_INFINITY)
    result = undefined.where(float("nan"), result)
    result = (x.is_nan() | y.is_nan()).where(float("nan"), result)
    # x^0 and 1^y are 1 whatever the other side is.
    return (y.eq(0.0) | x.eq(1.0)).where(1.0, result)


def cbrt(x: Value, single: bool = False) -> Value:
    """Newton's method from a guess that divides the exponent by three; f64."""
    a = x.abs()
    subnormal = a.lt(2.0**-1022)
    # Near the largest value 3a, which is below, would be infinite.
    huge = a.gt(2.0**1000)
    raised = subnormal.where(a * 2.0**54, huge.where(a * 2.0**-54, a))
    # A third of the bits plus two thirds of the bias is the cube root to five bits.
    bits = raised.bits()
    third = (bits.shift_right_logical(32) * 0x55555556).shift_right_logical(32) << 32
    t = (third + 0x2A9F0000_00000000).as_float()
    for _ in range(3 if single else 4):
        # Halley: t (t^3 + 2a) / (2 t^3 + a)
        cube = t * t * t
        t = t + t * ((raised - cube) / (cube + cube + raised))
    # One Newton step on the exact residue rounds the result nearly always right.
    square, square_error = two_product(t, t)
    product, error = two_product(square, t)
    residue = ((raised - product) - error) - square_error * t
    t = t + residue / (square * 3.0)
    t = subnormal.where(t * 2.0**-18, huge.where(t * 2.0**18, t))
    plain = (a.eq(0.0) | a.eq(_INFINITY) | a.is_nan()).where(a, t)
    return plain.copysign(x)


def rsqrt(x: Value, single: bool = False) -> Value:
    del single
    return 1.0 / x.sqrt()
