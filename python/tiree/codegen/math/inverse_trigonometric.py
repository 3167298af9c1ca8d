"""atan, atan2, asin, acos, in f64 (f32 is evaluated there too)."""

from __future__ import annotations

from tiree.codegen.math import coefficients as c
from tiree.codegen.math.builder import Value, fma, horner

_PI_2 = (1.5707963267948966, 6.123233995736766e-17)
_PI_4 = (0.7853981633974483, 3.061616997868383e-17)
_PI = (3.141592653589793, 1.2246467991473532e-16)
_TAN_PI_8 = 0.41421356237309503


def _atan_ratio(small: Value, large: Value, single: bool) -> tuple[Value, Value]:
    """atan(small / large) of 0 <= small <= large as a sum (head, tail)."""
    turn = small.gt(large * _TAN_PI_8)
    t = turn.where(small - large, small) / turn.where(small + large, large)
    z = t * t
    tail = t * z * horner(z, c.ATAN_SINGLE if single else c.ATAN_F64)
    tail = tail + turn.where(small.const(_PI_4[1]), 0.0)
    base = turn.where(small.const(_PI_4[0]), 0.0)
    head = base + t
    return head, tail + ((base - head) + t)


def atan(x: Value, single: bool = False) -> Value:
    a = x.abs()
    inverted = a.gt(1.0)
    # atan(a) = pi/2 - atan(1/a); an infinite a would make a ratio of infinities.
    bounded = a.gt(1e300).where(1e300, a)
    head, tail = _atan_ratio(inverted.where(1.0, bounded), inverted.where(bounded, 1.0), single)
    result = inverted.where(_PI_2[0] - (head - (_PI_2[1] - tail)), head + tail)
    return result.copysign(x)


def atan2(y: Value, x: Value, single: bool = False) -> Value:
    """The angle of (x, y), with C's results for zeros and infinities."""
    infinity = float("inf")
    a, b = y.abs(), x.abs()
    both = a.eq(infinity) & b.eq(infinity)
    # Halving keeps the sum of the two in range; a common factor of 2^54 keeps tiny ratios exact.
    huge = a.gt(1e300) | b.gt(1e300)
    tiny = a.lt(1e-290) & b.lt(1e-290)
    factor = huge.where(2.0**-60, tiny.where(y.const(2.0**120), 1.0))
    a, b = both.where(1.0, a * factor), both.where(1.0, b * factor)
    swap = a.gt(b)
    small, large = swap.where(b, a), swap.where(a, b)
    large = large.eq(0.0).where(1.0, large)
    infinite = large.eq(infinity)
    small, large = infinite.where(0.0, small), infinite.where(1.0, large)
    head, tail = _atan_ratio(small, large, single)
    plain = head + tail
    angle = swap.where(_PI_2[0] - (head - (_PI_2[1] - tail)), plain)
    left = swap.where(_PI_2[0] + (head + (_PI_2[1] + tail)), _PI[0] - (head - (_PI[1] - tail)))
    angle = x.bits().lt(0).where(left, angle)
    result = angle.copysign(y)
    return (x.is_nan() | y.is_nan()).where(float("nan"), result)


def _asin_core(z: Value, single: bool) -> Value:
    """(asin(x) / x - 1) at z = x^2."""
    return z * horner(z, c.ASIN_SINGLE if single else c.ASIN_F64)


def asin(x: Value, single: bool = False) -> Value:
    """Up to 1/2 a polynomial; beyond, pi/2 - 2 asin(sqrt((1 - a) / 2))."""
    a = x.abs()
    big = a.gt(0.5)
    half = (1.0 - a) * 0.5
    z = big.where(half, a * a)
    root = z.sqrt()
    base = big.where(root, a)
    correction = base * _asin_core(z, single)
    # The square root's rounding error: z = root^2 + rest, so sqrt(z) = root + rest / (2 root).
    lost = _root_error(z, root)
    folded = _PI_2[0] - ((base + (correction + lost)) * 2.0 - _PI_2[1])
    return big.where(folded, base + correction).copysign(x)


def acos(x: Value, single: bool = False) -> Value:
    a = x.abs()
    big = a.gt(0.5)
    z = big.where((1.0 - a) * 0.5, a * a)
    root = z.sqrt()
    base = big.where(root, a)
    correction = base * _asin_core(z, single)
    tail = correction + _root_error(z, root)
    doubled = (base + tail) * 2.0
    outer = x.lt(0.0).where(_PI[0] - (doubled - _PI[1]), doubled)
    signed = (base + correction).copysign(x)
    inner = _PI_2[0] - (signed - _PI_2[1])
    return big.where(outer, inner)


def _root_error(z: Value, root: Value) -> Value:
    """sqrt(z) - root to first order; 0 at 0."""
    rest = fma(root, -root, z) if z.e.target.has_fma else _square_rest(z, root)
    safe = root.gt(0.0).where(root, 1.0)
    return rest / (safe + safe)


def _square_rest(z: Value, root: Value) -> Value:
    head = (root.bits() & -(1 << 27)).as_float()
    return (z - head * head) - (root - head) * (root + head)
