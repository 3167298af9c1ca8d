"""erf and erfc.

Near zero erf is a polynomial in x^2. Beyond, f32 takes 1 - exp(-p(x)); f64 and erfc take
exp(-x^2) g(t) / (1 + 2x) with t = (x - 4) / (x + 4), where g hardly varies and x^2 is exact in two parts.
"""

from __future__ import annotations

from tiree.codegen.math import coefficients as c
from tiree.codegen.math.builder import Value, fma, horner, two_product
from tiree.codegen.math.exponential import exp


def _erfc_positive(x: Value, single: bool) -> Value:
    """erfc of x >= 0 in f64."""
    bounded = x.gt(27.5).where(27.5, x)
    t = (bounded - 4.0) / (bounded + 4.0)
    smooth = horner(t, c.ERFC_SINGLE if single else c.ERFC_F64)
    square, rest = two_product(bounded, bounded)
    result = exp(-square, single) * (smooth / (bounded * 2.0 + 1.0))
    return result - result * rest


def erf(x: Value, single: bool = False) -> Value:
    a = x.abs()
    z = x * x
    if x.type.bits == 32:
        small = fma(x, horner(z, c.ERF_F32), x)
        bounded = a.gt(4.0).where(4.0, a)
        big = 1.0 - exp(-horner(bounded, c.ERF_TAIL_F32))
        return a.lt(0.92).where(small, big.copysign(x))
    small = fma(x, horner(z, c.ERF_F64), x)
    big = 1.0 - _erfc_positive(a, single)
    return a.lt(1.0).where(small, big.copysign(x))


def erfc(x: Value, single: bool = False) -> Value:
    tail = _erfc_positive(x.abs(), single)
    return x.lt(0.0).where(2.0 - tail, tail)
