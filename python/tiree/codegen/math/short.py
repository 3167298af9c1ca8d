"""Functions for f16 and bf16, evaluated in f32 with polynomials that reach 2^-16: their last rounding is what counts.

Same reductions as the f32 forms, with fewer terms and ln2 as one number.
"""

from __future__ import annotations

from tiree.codegen.math import coefficients as c
from tiree.codegen.math.builder import Value, fma, horner, scale
from tiree.codegen.math.exponential import LOG2E, clamp, erf_of_logarithm, nearest_power, tanh_f32
from tiree.codegen.math.logarithm import finish_log, split

_LN2 = 0.6931471805599453


def exp(x: Value) -> Value:
    x = clamp(x)
    n, number, _ = nearest_power(x, LOG2E)
    return scale(horner(fma(n, -_LN2, x), c.EXP_SHORT), number, n)


def tanh(x: Value) -> Value:
    return tanh_f32(x, c.EXPM1_SHORT)


def erf(x: Value) -> Value:
    a = x.abs()
    a = a.gt(3.2).where(3.2, a)
    return erf_of_logarithm(-(a * horner(a, c.ERF_SHORT)), x, c.EXPM1_SHORT)


def log(x: Value) -> Value:
    f, k = split(x)
    square = f * f
    series = fma(square, fma(f, horner(f, c.LOG_SHORT), -0.5), f)
    return finish_log(x, fma(k, _LN2, series))
