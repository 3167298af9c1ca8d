"""log, log2, log10, log1p, and what is made of them: asinh, acosh, atanh.

Reduction: x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)). In f64, log(1 + f) = 2 atanh(f / (2 + f)).
"""

from __future__ import annotations

from tiree.codegen.math import coefficients as c
from tiree.codegen.math.builder import Value, fma, horner

_LN2 = {32: (0.693359375, -2.12194440e-4), 64: (0.6931471803691238, 1.9082149292705877e-10)}
_INFINITY = float("inf")
_NAN = float("nan")


def split(x: Value) -> tuple[Value, Value]:
    """(f, k as float) of a positive finite x, subnormals included."""
    bits = x.type.bits
    mantissa, shift, root = (23, 25, 0x3F3504F3) if bits == 32 else (52, 54, 0x3FE6A09E667F3BCD)
    least_normal = 2.0**-126 if bits == 32 else 2.0**-1022
    subnormal = x.lt(least_normal)
    raised = subnormal.where(x * 2.0**shift, x).bits()
    # Counting exponents from sqrt(1/2) puts the mantissa around 1.
    offset = raised - root
    k = offset >> mantissa
    reduced = (raised - (k << mantissa)).as_float()
    k = subnormal.where(k - shift, k)
    return reduced - 1.0, k.to(x.type)


def finish_log(x: Value, result: Value) -> Value:
    """The limits of a logarithm: -inf at 0, NaN below and at NaN, +inf at +inf."""
    result = x.lt(_INFINITY).where(result, x)
    result = x.eq(0.0).where(-_INFINITY, result)
    return x.lt(0.0).where(_NAN, result)


def _log_of(f: Value, k: Value, correction: Value | None, single: bool) -> Value:
    """k ln2 + log(1 + f) + correction."""
    high, low = _LN2[f.type.bits]
    half_square = f * f * 0.5
    if f.type.bits == 32:
        tail = fma(f * f * f, horner(f, c.LOG_F32), k * low)
        tail = tail if correction is None else tail + correction
        return fma(k, high, f - (half_square - tail)) if f.e.target.has_fma else k * high + (f - (half_square - tail))
    s = f / (f + 2.0)
    z = s * s
    # 2 atanh(s) = f - s (f - z L(z)), and f - s f = f - half_square + s half_square.
    rest = s * (half_square + z * horner(z, c.LOG_SINGLE if single else c.LOG_F64))
    tail = fma(k, low, rest)
    tail = tail if correction is None else tail + correction
    return k * high - ((half_square - tail) - f)


def log(x: Value, single: bool = False) -> Value:
    f, k = split(x)
    return finish_log(x, _log_of(f, k, None, single))


def log1p(x: Value, single: bool = False) -> Value:
    u = x + 1.0
    f, k = split(u)
    # What rounding 1 + x lost, relative to u: computed from the larger of the two terms.
    lost = x.gt(1.0).where(1.0 - (u - x), x - (u - 1.0))
    correction = lost / u
    # Without an exponent, f is x itself and nothing is lost.
    plain = k.eq(0.0)
    f = plain.where(x, f)
    correction = plain.where(0.0, correction)
    result = finish_log(u, _log_of(f, k, correction, single))
    result = u.lt(_INFINITY).where(result, u)
    tiny = 2.0 ** (-25 if x.type.bits == 32 else -54)
    return x.abs().lt(tiny).where(x, result)


def _log_scaled(x: Value, high: float, low: float, exponent_high: float, exponent_low: float, single: bool) -> Value:
    """log(x) times a constant (high + low), exact in the exponent's part: for log2 and log10, f64 only."""
    f, k = split(x)
    half_square = f * f * 0.5
    s = f / (f + 2.0)
    z = s * s
    rest = s * (half_square + z * horner(z, c.LOG_SINGLE if single else c.LOG_F64))
    head = ((f - half_square).bits() & -(1 << 32)).as_float()
    tail = (f - head) - half_square + rest
    main = head * high
    low_part = (tail + head) * low + tail * high
    base = k * exponent_high
    total = base + main
    low_part = fma(k, exponent_low, low_part) + ((base - total) + main)
    return finish_log(x, total + low_part)


def log2(x: Value, single: bool = False) -> Value:
    return _log_scaled(x, 1.4426946640014648, 3.768874985636099e-07, 1.0, 0.0, single)


def log10(x: Value, single: bool = False) -> Value:
    return _log_scaled(
        x, 0.4342944622039795, 1.9699272335463627e-08, 0.3010299956367817, 2.7199517610017277e-11, single
    )


def asinh(x: Value, single: bool = False) -> Value:
    """log1p(a + a^2 / (1 + sqrt(1 + a^2))); for large a, log(a) + ln2."""
    a = x.abs()
    limit = 2.0**28 if x.type.bits == 64 else 2.0**12
    bounded = a.gt(limit).where(limit, a)
    square = bounded * bounded
    small = log1p(bounded + square / ((square + 1.0).sqrt() + 1.0), single)
    large = log(a, single) + 0.6931471805599453
    return a.gt(limit).where(large, a.is_nan().where(x, small)).copysign(x)


def acosh(x: Value, single: bool = False) -> Value:
    """log1p(t + sqrt(2t + t^2)) with t = x - 1; for large x, log(x) + ln2."""
    limit = 2.0**28
    t = x - 1.0
    bounded = t.gt(limit).where(limit, t)
    small = log1p(bounded + (bounded * 2.0 + bounded * bounded).sqrt(), single)
    large = log(x, single) + 0.6931471805599453
    return x.lt(1.0).where(_NAN, x.gt(limit).where(large, small))


def atanh(x: Value, single: bool = False) -> Value:
    """log1p(2a / (1 - a)) / 2."""
    a = x.abs()
    return (log1p((a + a) / (1.0 - a), single) * 0.5).copysign(x)
