"""erf and erfc.

f32: erf is -(exp(u) - 1) with u = log(erfc(|x|)), a polynomial without constant term, so that one form serves the whole
axis. f64: near zero erf is a polynomial in x^2; beyond, and for erfc, exp(-x^2) g(t) / (1 + 2x) with
t = (x - 4) / (x + 4), where g hardly varies and x^2 is exact in two parts.
"""

from __future__ import annotations

from tiree.codegen.math import coefficients as c
from tiree.codegen.math.builder import Value, fma, horner, two_product
from tiree.codegen.math.exponential import erf_of_logarithm, exp


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
    if x.type.bits == 32:
        bounded = a.gt(3.95).where(3.95, a)
        return erf_of_logarithm(-fma(bounded, horner(bounded, c.ERF_F32), bounded), x, c.EXP_F32)
    z = x * x
    small = fma(x, horner(z, c.ERF_F64), x)
    big = 1.0 - _erfc_positive(a, single)
    return a.lt(1.0).where(small, big.copysign(x))


def erfc(x: Value, single: bool = False) -> Value:
    tail = _erfc_positive(x.abs(), single)
    return x.lt(0.0).where(2.0 - tail, tail)
