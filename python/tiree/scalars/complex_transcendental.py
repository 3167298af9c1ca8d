"""Exponentials, trigonometric and hyperbolic functions of complex numbers, their inverses, and power.

As in `complex_functions.py`: formulas on f64. What overflows only on the way is kept in two factors. The inverse
functions are Kahan's, by square roots of 1 - z and 1 + z, whose branch cuts signed zeros decide.
"""

from __future__ import annotations

import math as python_math

from xdsl.ir import SSAValue

from tiree.scalars.complex_functions import (
    Complex,
    apply,
    apply_binary,
    divide_formula,
    either_infinite,
    log_formula,
    product,
    root_formula,
    signed,
    unit,
)
from tiree.scalars.reals import Real

_FAR = 700.0
"""exp of it is far from the end of f64; exp of twice as much is the end of what has a complex function."""
_FAR_FACTOR = python_math.exp(_FAR)


def _is_finite(x: Real) -> SSAValue:
    return abs(x).compare("olt", float("inf"))


def _far(x: Real, roomy: bool) -> tuple[Real, SSAValue | None]:
    """`x`, less `_FAR` where it is greater; and where that is."""
    if roomy:
        return x, None
    far = x.compare("ogt", _FAR)
    return (x - _FAR).where(far, x), far


def _grown(x: Real, far: SSAValue | None) -> Real:
    """`x` times what `_far` has left out."""
    return x if far is None else (x * _FAR_FACTOR).where(far, x)


def _exp(z: Complex, roomy: bool) -> Complex:
    """e^x (cos y + i sin y); a zero y stays, and e^-inf is 0 whatever y is, +0 where y has no cosine."""
    x, y = z
    near, far = _far(x, roomy)
    size = near.exp()
    real, imaginary = _grown(size * y.cos(), far), _grown(size * y.sin(), far)
    s = x.s
    nothing = x.compare("oeq", float("-inf"))
    real = real.unless(y.is_zero(), x.exp()).unless(nothing, x.constant(0.0).with_sign(signed(real)))
    endless = s.and_(x.compare("oeq", float("inf")), s.not_(_is_finite(y)))
    imaginary = imaginary.unless(y.is_zero(), y).unless(nothing, x.constant(0.0).with_sign(signed(y)))
    return real.unless(endless, float("inf")), imaginary


def _expm1(z: Complex, roomy: bool) -> Complex:
    """expm1(x) cos y - 2 sin^2(y / 2), which is exp's real part less 1 without its cancellation."""
    x, y = z
    real, imaginary = _exp(z, roomy)
    half = (y * 0.5).sin()
    near = x.expm1() * y.cos() - half * half * 2.0
    return near.where(abs(x).compare("olt", 30.0), real - 1.0).unless(y.is_zero(), x.expm1()), imaginary


def _hyperbolic(x: Real, roomy: bool) -> tuple[Real, Real, SSAValue | None]:
    """cosh x and sinh x, both less the factor of `_far`."""
    size = abs(x)
    near, far = _far(size, roomy)
    less_one = near.expm1()
    grown = less_one + 1.0
    inverse = grown.constant(1.0) / grown
    wide = grown.compare("ogt", 2.0**60)
    if far is not None:
        wide = x.s.or_(wide, far)
    sinh = grown.where(wide, less_one + less_one * inverse) * 0.5
    cosh = (grown + inverse.unless(wide, 0.0)) * 0.5
    return cosh, sinh.with_sign(x), far


def _sine(z: Complex, roomy: bool) -> Complex:
    """sin x cosh y + i cos x sinh y."""
    x, y = z
    cosh, sinh, far = _hyperbolic(y, roomy)
    real, imaginary = _grown(x.sin() * cosh, far), _grown(x.cos() * sinh, far)
    return real.unless(x.is_zero(), x), imaginary.unless(y.is_zero(), x.cos() * y).unless(_zero_of(x, y), y)


def _zero_of(x: Real, y: Real) -> SSAValue:
    """Where y is 0 and x has no sine."""
    return x.s.and_(y.is_zero(), x.s.not_(_is_finite(x)))


def _cosine(z: Complex, roomy: bool) -> Complex:
    """cos x cosh y - i sin x sinh y."""
    x, y = z
    cosh, sinh, far = _hyperbolic(y, roomy)
    real, imaginary = _grown(x.cos() * cosh, far), -_grown(x.sin() * sinh, far)
    flat = x.s.or_(x.is_zero(), y.is_zero())
    one = x.constant(1.0)
    zero = x.constant(0.0).with_sign(-(one.with_sign(signed(x.sin())) * one.with_sign(signed(y))))
    return real, imaginary.unless(flat, zero)


def _turned(z: Complex) -> Complex:
    """i z."""
    return -z[1], z[0]


def _back(z: Complex) -> Complex:
    """-i z."""
    return z[1], -z[0]


def _sinh(z: Complex, roomy: bool) -> Complex:
    return _back(_sine(_turned(z), roomy))


def _cosh(z: Complex, roomy: bool) -> Complex:
    return _cosine(_turned(z), roomy)


def _tanh(z: Complex, roomy: bool) -> Complex:
    """Kahan's, by tan y and sinh x; far from the imaginary axis 1 and what e^-2|x| leaves of sin 2y."""
    del roomy
    x, y = z
    s, size = x.s, abs(x)
    flat = y.is_zero()
    tangent = y.tan()
    sinh, steep = _hyperbolic(size.min(22.0), True)[1].with_sign(x), tangent * tangent + 1.0
    square = sinh * sinh
    bottom = steep * square + 1.0
    real = steep * (square + 1.0).sqrt() * sinh / bottom
    far = size.compare("ogt", 22.0)
    one = x.constant(1.0)
    trace = (tangent / steep) * (size * -2.0).exp() * 4.0
    imaginary = trace.where(far, tangent / bottom)
    endless = s.and_(size.is_infinite(), s.not_(_is_finite(y)))
    real = one.with_sign(x).where(far, real).unless(s.and_(flat, s.not_(far)), sinh / (square + 1.0).sqrt())
    return real, imaginary.unless(flat, y).unless(endless, x.constant(0.0).with_sign(signed(y)))


def _tan(z: Complex, roomy: bool) -> Complex:
    return _back(_tanh(_turned(z), roomy))


def _logistic(z: Complex, roomy: bool) -> Complex:
    """1 / (1 + w) or w / (1 + w) with w = e^-|x| turned by y: no power overflows."""
    del roomy
    x, y = z
    right = x.compare("oge", 0.0)
    size = (-abs(x)).exp()
    a, b = size * y.cos(), (size * y.sin()).unless(y.is_zero(), y * size)
    square = (a + 1.0) * (a + 1.0) + b * b
    real = ((a + 1.0).where(right, a + size * size)) / square
    return real, b / square


def _power(x: Complex, y: Complex, roomy: bool) -> Complex:
    """exp(y log x), with x^0 = 1 and 0 to a positive power 0."""
    s = x[0].s
    a, b = log_formula(x, roomy)
    c, d = y
    flat = d.is_zero()
    size = c * a - (d * b).unless(flat, 0.0)
    angle = (d * a).unless(flat, 0.0) + c * b
    real, imaginary = _exp((size, angle), roomy)
    base_zero, exponent_zero = s.and_(x[0].is_zero(), x[1].is_zero()), s.and_(c.is_zero(), flat)
    vanishing = s.and_(base_zero, c.compare("ogt", 0.0))
    real = real.unless(vanishing, 0.0).unless(exponent_zero, 1.0)
    return real, imaginary.unless(s.or_(vanishing, exponent_zero), 0.0)


# Inverse functions.


def _real_asinh(x: Real) -> Real:
    """sign(x) log1p(a + a^2 / (1 + sqrt(1 + a^2))) with a = |x|; log(2a) for large a."""
    a = abs(x)
    square = a * a
    root = (square + 1.0).sqrt()
    near = (a + square / (root + 1.0)).log1p()
    far = a.log() + python_math.log(2.0)
    return far.where(a.compare("ogt", 2.0**500), near).with_sign(x)


def _roots(z: Complex, roomy: bool) -> tuple[Complex, Complex]:
    """sqrt(1 - z) and sqrt(1 + z)."""
    x, y = z
    one = x.constant(1.0)
    return root_formula((one - x, -y), roomy), root_formula((x + 1.0, y), roomy)


def _endless(z: Complex) -> tuple[SSAValue, Real, Real]:
    """Whether a part is infinite, and what is left of a point whose finite parts are nothing beside the others.

    NaN in either part is in both of the two.
    """
    x, y = z
    unknown = x.s.or_(x.compare("uno", x), y.compare("uno", y))
    found = [unit(part).unless(unknown, float("nan")) for part in z]
    return either_infinite(z), found[0], found[1]


def _asin(z: Complex, roomy: bool) -> Complex:
    x, y = z
    (p, q), (r, t) = _roots(z, roomy)
    endless, far_x, far_y = _endless(z)
    real = x.unless(endless, far_x).atan2(abs(p * r - q * t).unless(endless, abs(far_y)))
    return real, _real_asinh(p * t - q * r).unless(endless, x.constant(float("inf")).with_sign(signed(y)))


def _acos(z: Complex, roomy: bool) -> Complex:
    x, y = z
    (p, q), (r, t) = _roots(z, roomy)
    endless, far_x, far_y = _endless(z)
    half = x.constant(1.0).unless(endless, 0.5)
    # Of a point at infinity the angle itself, else twice that of the roots.
    real = p.unless(endless, abs(far_y)).atan2(r.unless(endless, far_x)) * 2.0 * half
    return real, _real_asinh(r * q - t * p).unless(endless, x.constant(float("inf")).with_sign(-signed(y)))


def _acosh(z: Complex, roomy: bool) -> Complex:
    x, y = z
    (p, q), (r, t) = root_formula((x - 1.0, y), roomy), root_formula((x + 1.0, y), roomy)
    endless, far_x, far_y = _endless(z)
    half = x.constant(1.0).unless(endless, 0.5)
    imaginary = q.unless(endless, far_y).atan2(r.unless(endless, far_x)) * 2.0 * half
    return _real_asinh(p * r + q * t).unless(endless, float("inf")), imaginary


def _asinh(z: Complex, roomy: bool) -> Complex:
    return _back(_asin(_turned(z), roomy))


def _kernel(z: Complex, roomy: bool) -> Complex:
    """What CHLO's asin and acos are made of: the cosine of asin's real part, scaled, and |Im asin z|."""
    (p, q), (r, t) = _roots(z, roomy)
    return abs(p * r - q * t), abs(_real_asinh(p * t - q * r))


def _atanh(z: Complex, roomy: bool) -> Complex:
    """log1p(4|x| / ((1 - |x|)^2 + y^2)) / 4 and half the angle of (1 - x^2 - y^2, 2y)."""
    del roomy
    x, y = z
    s, size = x.s, abs(x)
    beyond = s.or_(size.compare("ogt", 2.0**500), abs(y).compare("ogt", 2.0**500))
    one = x.constant(1.0)
    gap = one - size
    real = (size * 4.0 / (gap * gap + y * y)).log1p() * 0.25
    # Beside the poles, where y^2 vanishes, only y is left.
    beside = s.and_(gap.is_zero(), abs(y).compare("olt", 2.0**-500))
    real = real.unless(beside, (abs(y).log() - python_math.log(2.0)) * -0.5)
    # |z| is so large that 1 is nothing beside it: the real part is that of 1 / z.
    large, small = size.max(abs(y)), size.min(abs(y))
    ratio = small / large
    inverse = (size / large) / (ratio * ratio + 1.0) / large
    real = real.unless(beyond, inverse).unless(s.or_(x.is_infinite(), y.is_infinite()), 0.0)
    angle = (y * 2.0).atan2(gap * (size + 1.0) - y * y) * 0.5
    quarter = one * (python_math.pi / 2)
    unknown = y.compare("uno", y)
    angle = angle.unless(beyond, quarter.with_sign(y)).unless(unknown, y)
    return real.unless(s.and_(x.is_zero(), unknown), x).with_sign(signed(x)), angle


def _atan(z: Complex, roomy: bool) -> Complex:
    real, imaginary = _back(_atanh(_turned(z), roomy))
    return real, imaginary.with_sign(signed(z[1]))


def _atan2(y: Complex, x: Complex, roomy: bool) -> Complex:
    """-i log((x + i y) / sqrt(x^2 + y^2)): atan(y / x), or that and half a turn where the formula says so."""
    (a, b), (c, d) = y, x
    squares = [product(z, z) for z in (x, y)]
    length = root_formula((squares[0][0] + squares[1][0], squares[0][1] + squares[1][1]), roomy)
    branch = _back(log_formula(divide_formula((c - b, d + a), length, roomy), roomy))
    ratio = divide_formula(y, x, roomy)
    real, imaginary = _atan(ratio, roomy)
    turns = branch[0] - real
    half = (
        a.constant(0.0)
        .unless(turns.compare("ogt", 1.5), python_math.pi)
        .unless(turns.compare("olt", -1.5), -python_math.pi)
    )
    unknown = ratio[0].compare("uno", ratio[1])
    return (real + half).unless(unknown, branch[0]), imaginary.unless(unknown, branch[1])


exp, expm1, logistic = (apply(f) for f in (_exp, _expm1, _logistic))
sine, cosine, tan = (apply(f) for f in (_sine, _cosine, _tan))
sinh, cosh, tanh = (apply(f) for f in (_sinh, _cosh, _tanh))
asin, acos, atan = (apply(f) for f in (_asin, _acos, _atan))
asinh, acosh, atanh = (apply(f) for f in (_asinh, _acosh, _atanh))
asin_acos_kernel = apply(_kernel)
power, atan2 = apply_binary(_power), apply_binary(_atan2)
