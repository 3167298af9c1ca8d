"""Derivatives of log gamma on scalars: digamma, polygamma, and the Hurwitz zeta function that polygamma is made of."""

from __future__ import annotations

import math as python_math

from xdsl.dialects import math
from xdsl.ir import SSAValue

from tiree.input.lowering.scalar import ScalarBuilder, is_double
from tiree.input.lowering.special_functions import lgamma, polynomial

_DIGAMMA = (-1 / 12, 691 / 32760, -1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12)
"""-B(2k) / 2k for k = 7 .. 1: digamma(z) = log z - 1/(2 z) + sum of these times z^-2k."""

_ZETA = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
    43867 / 5109094217170944000,
    -174611 / 802857662698291200000,
    77683 / 14101100039391805440000,
    -236364091 / 1693824136731743669452800000,
)
"""B(2k) / (2k)! for k = 1 .. 12: the corrections of Euler and Maclaurin."""

_ZETA_TERMS = 9
"""Terms summed one by one before the corrections."""


def digamma(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """The logarithmic derivative of gamma: the asymptotic series after the recurrence has made its argument large,
    reflection below 1/2. NaN at the poles."""
    steps, terms = (10, 7) if is_double(x.type) else (5, 5)
    zero, half, one = (s.constant(x.type, value) for value in (0.0, 0.5, 1.0))
    reflect = s.cmpf("olt", x, half)
    y = s.select(reflect, s.sub(one, x), x)
    shift = s.div(one, y)
    for k in range(1, steps):
        shift = s.add_(shift, s.div(one, s.add_(y, s.constant(x.type, k))))
    z = s.add_(y, s.constant(x.type, steps))
    inverse = s.div(one, z)
    square = s.mul(inverse, inverse)
    series = s.mul(square, polynomial(s, square, _DIGAMMA[-terms:]))
    result = s.add_(s.sub(s.unary(math.LogOp, z), s.mul(half, inverse)), series)
    result = s.sub(result, shift)
    # pi / tan(pi x), which has period 1.
    floor = s.unary(math.FloorOp, x)
    angle = s.mul(s.constant(x.type, python_math.pi), s.sub(x, s.unary(math.RoundEvenOp, x)))
    cotangent = s.div(s.constant(x.type, python_math.pi), s.unary(math.TanOp, angle))
    result = s.select(reflect, s.sub(result, cotangent), result)
    is_pole = s.and_(s.cmpf("ole", x, zero), s.cmpf("oeq", x, floor))
    return s.select(is_pole, s.constant(x.type, float("nan")), result)


def zeta(s: ScalarBuilder, x: SSAValue, q: SSAValue) -> SSAValue:
    """The sum of (q + k)^-x over k >= 0, by Euler and Maclaurin's formula.

    Infinite for x = 1, NaN for x < 1. For q <= 0: NaN unless x is whole; at the poles infinite for even x, else NaN.
    """
    zero, half, one = (s.constant(x.type, value) for value in (0.0, 0.5, 1.0))
    infinity, nan = s.constant(x.type, float("inf")), s.constant(x.type, float("nan"))
    exponent = s.neg(x)
    total = s.binary(math.PowFOp, q, exponent)
    for k in range(1, _ZETA_TERMS):
        total = s.add_(total, s.binary(math.PowFOp, s.add_(q, s.constant(x.type, k)), exponent))
    a = s.add_(q, s.constant(x.type, _ZETA_TERMS))
    last = s.binary(math.PowFOp, a, exponent)
    inverse = s.div(one, a)
    factor = s.mul(x, inverse)
    tail = s.add_(s.div(a, s.sub(x, one)), half)
    for k, coefficient in enumerate(_ZETA):
        tail = s.add_(tail, s.mul(factor, s.constant(x.type, coefficient)))
        if k + 1 < len(_ZETA):
            first = s.mul(s.add_(x, s.constant(x.type, 2 * k + 1)), inverse)
            factor = s.mul(s.mul(factor, first), s.mul(s.add_(x, s.constant(x.type, 2 * k + 2)), inverse))
    # Where a^-x is 0 the factors may be infinite.
    total = s.add_(total, s.select(s.cmpf("oeq", last, zero), zero, s.mul(last, tail)))
    whole = s.cmpf("oeq", x, s.unary(math.FloorOp, x))
    halved = s.mul(x, half)
    even = s.cmpf("oeq", halved, s.unary(math.FloorOp, halved))
    negative = s.cmpf("ole", q, zero)
    is_pole = s.and_(negative, s.cmpf("oeq", q, s.unary(math.FloorOp, q)))
    total = s.select(s.and_(negative, s.not_(whole)), nan, total)
    total = s.select(is_pole, s.select(even, infinity, nan), total)
    total = s.select(s.cmpf("oeq", x, one), infinity, total)
    return s.select(s.cmpf("olt", x, one), nan, total)


def polygamma(s: ScalarBuilder, n: SSAValue, x: SSAValue) -> SSAValue:
    """Derivative number n of digamma: (-1)^(n + 1) n! zeta(n + 1, x). NaN unless n is a whole number from 0 on."""
    zero, half, one = (s.constant(x.type, value) for value in (0.0, 0.5, 1.0))
    order = s.add_(n, one)
    value = s.mul(s.unary(math.ExpOp, lgamma(s, order)), zeta(s, order, x))
    halved = s.mul(order, half)
    even = s.cmpf("oeq", halved, s.unary(math.FloorOp, halved))
    value = s.select(even, value, s.neg(value))
    value = s.select(s.cmpf("oeq", n, zero), digamma(s, x), value)
    legal = s.and_(s.cmpf("oge", n, zero), s.cmpf("oeq", n, s.unary(math.FloorOp, n)))
    return s.select(legal, value, s.constant(x.type, float("nan")))
