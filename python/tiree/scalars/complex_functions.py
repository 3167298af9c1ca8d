"""Arithmetic and functions of complex numbers on pairs of floats.

All but sums and products are evaluated in f64: for pairs of f32 nothing overflows on the way there (`roomy`), and each
part is rounded once at the end; for pairs of f64 operands are scaled by powers of two where squares would overflow or
vanish. Infinities, NaN and signed zeros give what C's annex G says where XLA does not say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects.builtin import Float64Type
from xdsl.ir import Attribute, SSAValue

from tiree.scalars.builder import ScalarBuilder
from tiree.scalars.reals import Real

Pair: TypeAlias = tuple[SSAValue, SSAValue]
"""Real and imaginary part, as values of a body."""
Complex: TypeAlias = tuple[Real, Real]
"""The same as formulas have it."""
Formula: TypeAlias = Callable[[Complex, bool], Complex]
"""A function on f64; the flag says whether it is `roomy`."""

_F64 = Float64Type()
_HUGE, _TINY = 2.0**500, 2.0**-500
"""Squares of what lies between are far from both ends of f64."""


# Sums and products, in the type of the operands.


def add(s: ScalarBuilder, x: Pair, y: Pair) -> Pair:
    return s.add_(x[0], y[0]), s.add_(x[1], y[1])


def subtract(s: ScalarBuilder, x: Pair, y: Pair) -> Pair:
    return s.sub(x[0], y[0]), s.sub(x[1], y[1])


def multiply(s: ScalarBuilder, x: Pair, y: Pair) -> Pair:
    real = s.sub(s.mul(x[0], y[0]), s.mul(x[1], y[1]))
    return real, s.add_(s.mul(x[0], y[1]), s.mul(x[1], y[0]))


def negate(s: ScalarBuilder, x: Pair) -> Pair:
    return s.neg(x[0]), s.neg(x[1])


def conjugate(s: ScalarBuilder, x: Pair) -> Pair:
    return x[0], s.neg(x[1])


# From pairs to formulas on f64 and back.


def _wide(s: ScalarBuilder, x: Pair) -> Complex:
    return Real(s, s.float_resize(x[0], _F64)), Real(s, s.float_resize(x[1], _F64))


def _narrow(s: ScalarBuilder, x: Complex, type: Attribute) -> Pair:
    return s.float_resize(x[0].value, type), s.float_resize(x[1].value, type)


def apply(formula: Formula) -> Callable[[ScalarBuilder, Pair], Pair]:
    """`formula` on pairs of any float type."""

    def on_pairs(s: ScalarBuilder, x: Pair) -> Pair:
        type = x[0].type
        return _narrow(s, formula(_wide(s, x), type != _F64), type)

    return on_pairs


def apply_binary(formula: Callable[[Complex, Complex, bool], Complex]) -> Callable[[ScalarBuilder, Pair, Pair], Pair]:
    """`formula` of two complex numbers on pairs of any float type."""

    def on_pairs(s: ScalarBuilder, x: Pair, y: Pair) -> Pair:
        type = x[0].type
        return _narrow(s, formula(_wide(s, x), _wide(s, y), type != _F64), type)

    return on_pairs


# Magnitudes.


def signed(x: Real) -> Real:
    """`x` where its sign is that of a result: of NaN, whose sign the processors choose, 0."""
    return x.unless(x.compare("uno", x), 0.0)


def either_infinite(z: Complex) -> SSAValue:
    """Whether a part is infinite."""
    return z[0].s.or_(z[0].is_infinite(), z[1].is_infinite())


def _scale(z: Complex, roomy: bool) -> tuple[Complex, Real, Real] | tuple[Complex, None, None]:
    """`z` times a power of four that keeps its square in range, that power, and the root of its inverse."""
    if roomy:
        return z, None, None
    size = abs(z[0]).max(abs(z[1]))
    large, small = size.compare("ogt", _HUGE), size.compare("olt", _TINY)
    one = size.constant(1.0)
    factor = one.unless(large, 2.0**-600).unless(small, 2.0**600)
    root = one.unless(large, 2.0**300).unless(small, 2.0**-300)
    return (z[0] * factor, z[1] * factor), factor, root


def _length(z: Complex) -> Real:
    """sqrt(x^2 + y^2) of what has been scaled; infinite where either part is."""
    x, y = z
    return (x * x + y * y).sqrt().unless(either_infinite(z), float("inf"))


def hypot(z: Complex, roomy: bool) -> Real:
    scaled, _, root = _scale(z, roomy)
    length = _length(scaled)
    return length if root is None else length * root * root


def absolute(s: ScalarBuilder, x: Pair) -> SSAValue:
    type = x[0].type
    return s.float_resize(hypot(_wide(s, x), type != _F64).value, type)


def _sign(z: Complex, roomy: bool) -> Complex:
    """z / |z|; zeros are their own sign."""
    (x, y), _, _ = _scale(z, roomy)
    length = _length((x, y))
    zero = length.is_zero()
    return (x / length).unless(zero, x), (y / length).unless(zero, y)


sign = apply(_sign)


# Products and quotients.


def product(x: Complex, y: Complex) -> Complex:
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def _quotient(x: Complex, y: Complex) -> tuple[Real, Real, Real]:
    """Numerators and denominator of x / y."""
    (a, b), (c, d) = x, y
    return a * c + b * d, b * c - a * d, c * c + d * d


def unit(x: Real) -> Real:
    """1 with the sign of `x` where it is infinite, else 0 with it."""
    return x.constant(0.0).unless(x.is_infinite(), 1.0).with_sign(signed(x))


def divide_formula(x: Complex, y: Complex, roomy: bool) -> Complex:
    """The textbook's quotient of scaled operands; x / 0 and quotients with one infinite operand as C has them."""
    s = x[0].s
    top, bottom = x, y
    back: tuple[Real, Real] | None = None
    if not roomy:
        size = abs(x[0]).max(abs(x[1]))
        large, small = size.compare("ogt", 2.0**1000), size.compare("olt", 2.0**-900)
        one = size.constant(1.0)
        up = one.unless(large, 2.0**-10).unless(small, 2.0**100)
        down = one.unless(large, 2.0**10).unless(small, 2.0**-100)
        factor = _inverse_power(abs(y[0]).max(abs(y[1])))
        top, bottom = (x[0] * up, x[1] * up), (y[0] * factor, y[1] * factor)
        back = factor, down
    real, imaginary, square = _quotient(top, bottom)
    parts = [real / square, imaginary / square]
    if back is not None:
        parts = [part * back[0] * back[1] for part in parts]
    by_zero = s.and_(y[0].is_zero(), y[1].is_zero())
    above, below = either_infinite(x), either_infinite(y)
    infinite = s.and_(above, s.not_(below))
    vanishing = s.and_(below, s.not_(above))
    grown = _quotient((unit(x[0]), unit(x[1])), y)
    shrunk = _quotient(x, (unit(y[0]), unit(y[1])))
    found: list[Real] = []
    for part, whole, large, small in zip(parts, x, grown, shrunk, strict=False):
        part = part.unless(infinite, large * float("inf")).unless(vanishing, small * 0.0)
        found.append(part.unless(by_zero, whole / y[0]))
    return found[0], found[1]


def _inverse_power(size: Real) -> Real:
    """A power of two that brings a positive f64 near 1, by its exponent's bits."""
    from xdsl.dialects import arith
    from xdsl.dialects.builtin import IntegerType

    s, i64 = size.s, IntegerType(64)
    exponent = s.binary(arith.ShRUIOp, s.bitcast(size.value, i64), s.constant(i64, 52))
    flipped = s.binary(arith.MaxSIOp, s.sub(s.constant(i64, 2046), exponent), s.constant(i64, 1))
    return Real(s, s.bitcast(s.binary(arith.ShLIOp, flipped, s.constant(i64, 52)), size.type))


divide = apply_binary(divide_formula)


# Roots and logarithms.


def _root(z: Complex) -> Complex:
    """The square root of what has been scaled."""
    x, y = z
    length = _length(z)
    wide = ((abs(x) + length) * 0.5).sqrt()
    thin = (abs(y) / (wide + wide)).unless(wide.is_zero(), 0.0)
    left = x.compare("olt", 0.0)
    real, imaginary = thin.where(left, wide), wide.where(left, thin)
    straight = y.is_infinite()
    return real.unless(straight, float("inf")), imaginary.unless(straight, float("inf")).with_sign(signed(y))


def root_formula(z: Complex, roomy: bool) -> Complex:
    scaled, _, root = _scale(z, roomy)
    x, y = _root(scaled)
    return (x, y) if root is None else (x * root, y * root)


def _rsqrt(z: Complex, roomy: bool) -> Complex:
    """The conjugate of the root over the magnitude; of zero (inf, NaN), as XLA has it."""
    s = z[0].s
    scaled, _, root = _scale(z, roomy)
    x, y = _root(scaled)
    length = _length(scaled)
    real, imaginary = x / length, -(y / length)
    if root is not None:
        real, imaginary = real / root, imaginary / root
    zero, infinite = s.and_(z[0].is_zero(), z[1].is_zero()), either_infinite(z)
    real = real.unless(zero, float("inf")).unless(infinite, 0.0)
    return real, imaginary.unless(zero, float("nan")).unless(infinite, x.constant(0.0).with_sign(-signed(z[1])))


def _log_of(z: Complex, squared_minus_one: Real) -> Complex:
    """log z, given |z|^2 - 1, which is used where |z| is near 1."""
    x, y = z
    s = x.s
    a, b = abs(x), abs(y)
    large, small = a.max(b), a.min(b)
    near = s.and_(large.compare("oge", 0.5), large.compare("ole", 2.0))
    ratio = small / large
    square = squared_minus_one.where(near, (ratio * ratio).unless(large.is_zero(), 0.0))
    size = large.log().unless(near, 0.0) + square.log1p() * 0.5
    return size.unless(either_infinite(z), float("inf")), y.atan2(x)


def log_formula(z: Complex, roomy: bool) -> Complex:
    del roomy
    a, b = abs(z[0]), abs(z[1])
    large, small = a.max(b), a.min(b)
    return _log_of(z, (large - 1.0) * (large + 1.0) + small * small)


def _log1p(z: Complex, roomy: bool) -> Complex:
    del roomy
    x, y = z
    return _log_of((x + 1.0, y), x * (x + 2.0) + y * y)


def _cbrt(z: Complex, roomy: bool) -> Complex:
    """The principal root: a third of the angle."""
    x, y = z
    scaled, _, root = _scale(z, roomy)
    size, angle = _length(scaled).cbrt(), y.atan2(x) / 3.0
    if root is not None:
        # The scale is 2^600 or its inverse: a third of that comes back.
        size = size * size.constant(1.0).unless(root.compare("ogt", 1.0), 2.0**200).unless(
            root.compare("olt", 1.0), 2.0**-200
        )
    flat = angle.is_zero()
    return size * angle.cos(), (size * angle.sin()).unless(flat, y)


sqrt, rsqrt, log, log1p, cbrt = (apply(f) for f in (root_formula, _rsqrt, log_formula, _log1p, _cbrt))
