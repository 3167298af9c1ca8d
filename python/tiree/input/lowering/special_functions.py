"""Special functions on scalars as polynomials and elementary functions: erfc, erf_inv, lgamma."""

from __future__ import annotations

import math as python_math
from collections.abc import Sequence

from xdsl.dialects import math
from xdsl.ir import SSAValue

from tiree.input.lowering.scalar import ScalarBuilder, is_double


def polynomial(s: ScalarBuilder, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
    """Horner; coefficients from the highest power down."""
    result = s.constant(x.type, coefficients[0])
    for coefficient in coefficients[1:]:
        result = s.add_(s.mul(result, x), s.constant(x.type, coefficient))
    return result


# (x + 2) exp(x^2) erfc(x) as a polynomial in t = (x - 2) / (x + 2) over 0 <= x <= 10.1: the weighted minimax fit, whose
# relative error is 2^-25.6; highest power first.
_ERFC = (
    -4.6801338612567633e-05,
    -0.0005291500128805637,
    -0.0007263602456077933,
    0.0030429160688072443,
    0.006435214076191187,
    -0.021502813324332237,
    -0.03643590211868286,
    0.2794715166091919,
    -0.6871609091758728,
    1.0215827226638794,
)


def erfc(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """1 - erf(x), accurate in relative terms for large x; f64 uses a continued fraction there."""
    a = s.abs(x)
    one, two = s.constant(x.type, 1.0), s.constant(x.type, 2.0)
    tail = _erfc_tail_double(s, a) if is_double(x.type) else _erfc_positive_single(s, a)
    result = s.select(s.cmpf("olt", x, s.constant(x.type, 0.0)), s.sub(two, tail), tail)
    if is_double(x.type):
        near = s.sub(one, s.unary(math.ErfOp, x))
        result = s.select(s.cmpf("olt", a, two), near, result)
    return result


def _erfc_positive_single(s: ScalarBuilder, a: SSAValue) -> SSAValue:
    """erfc of a >= 0 within 5 ulp of f32: exp(-a^2) p(t) / (a + 2). From 10.2 on it is 0 in f32."""
    two, limit = s.constant(a.type, 2.0), s.constant(a.type, 10.2)
    a = s.select(s.cmpf("ogt", a, limit), limit, a)
    factor = s.div(s.constant(a.type, 1.0), s.add_(a, two))
    smooth = s.mul(polynomial(s, s.mul(s.sub(a, two), factor), _ERFC), factor)
    square = s.mul(a, a)
    # exp(-a^2) = exp(-square) (1 - rest), where rest is what rounding a^2 lost.
    rest = s.fma(a, a, s.neg(square))
    main = s.mul(smooth, s.unary(math.ExpOp, s.neg(square)))
    return s.sub(main, s.mul(main, rest))


def _erfc_tail_double(s: ScalarBuilder, a: SSAValue) -> SSAValue:
    """exp(-a^2) / sqrt(pi) / (a + (1/2)/(a + 1/(a + (3/2)/(a + ...)))), 60 terms: full precision from a = 2."""
    fraction = a
    for k in range(60, 0, -1):
        fraction = s.add_(a, s.div(s.constant(a.type, k / 2.0), fraction))
    scale = s.constant(a.type, 1.0 / python_math.sqrt(python_math.pi))
    return s.div(s.mul(scale, s.unary(math.ExpOp, s.neg(s.mul(a, a)))), fraction)


# M. Giles, "Approximating the erfinv function" (2010), single precision polynomials.
_ERF_INV_CENTRAL = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
_ERF_INV_TAIL = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)


def erf_inv(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """The inverse of erf; f64 refines the single precision value by two Newton steps."""
    one = s.constant(x.type, 1.0)
    w = s.neg(s.unary(math.Log1pOp, s.neg(s.mul(x, x))))
    central = polynomial(s, s.sub(w, s.constant(x.type, 2.5)), _ERF_INV_CENTRAL)
    tail = polynomial(s, s.sub(s.unary(math.SqrtOp, w), s.constant(x.type, 3.0)), _ERF_INV_TAIL)
    result = s.mul(s.select(s.cmpf("olt", w, s.constant(x.type, 5.0)), central, tail), x)
    if is_double(x.type):
        half_root_pi = s.constant(x.type, python_math.sqrt(python_math.pi) / 2.0)
        for _ in range(2):
            error = s.sub(s.unary(math.ErfOp, result), x)
            slope = s.mul(half_root_pi, s.unary(math.ExpOp, s.mul(result, result)))
            result = s.sub(result, s.mul(error, slope))
    edge = s.mul(x, s.constant(x.type, float("inf")))
    return s.select(s.cmpf("oeq", s.abs(x), one), edge, result)


# Lanczos approximation, g = 7, n = 9 (P. Godfrey).
_LANCZOS = (
    676.520368121885098567009190444019,
    -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,
    -176.61502916214059906584551354,
    12.507343278686904814458936853,
    -0.13857109526572011689554707,
    9.984369578019570859563e-6,
    1.50563273514931155834e-7,
)


def lgamma(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """log |gamma(x)|: Lanczos for x >= 1/2, reflection below; infinite at the poles and at infinity."""
    half, one = s.constant(x.type, 0.5), s.constant(x.type, 1.0)
    reflect = s.cmpf("olt", x, half)
    z = s.select(reflect, s.neg(x), s.sub(x, one))
    total = s.constant(x.type, 0.99999999999980993227684700473478)
    for k, coefficient in enumerate(_LANCZOS):
        total = s.add_(total, s.div(s.constant(x.type, coefficient), s.add_(z, s.constant(x.type, k + 1.0))))
    # t = z + 7.5, log t = log 7.5 + log1p(z / 7.5).
    t = s.add_(z, s.constant(x.type, 7.5))
    log_t = s.add_(s.constant(x.type, python_math.log(7.5)), s.unary(math.Log1pOp, s.div(z, s.constant(x.type, 7.5))))
    log_root = s.constant(x.type, 0.5 * python_math.log(2.0 * python_math.pi))
    scaled = s.mul(s.sub(s.add_(z, half), s.div(t, log_t)), log_t)
    result = s.add_(s.add_(log_root, scaled), s.unary(math.LogOp, total))
    magnitude = s.abs(x)
    fraction = s.sub(magnitude, s.unary(math.FloorOp, magnitude))
    fraction = s.select(s.cmpf("ogt", fraction, half), s.sub(one, fraction), fraction)
    sine = s.unary(math.SinOp, s.mul(s.constant(x.type, python_math.pi), fraction))
    log_sine = s.unary(math.LogOp, sine)
    infinity = s.constant(x.type, float("inf"))
    reflected = s.sub(s.sub(s.constant(x.type, python_math.log(python_math.pi)), log_sine), result)
    is_pole = s.cmpf("oeq", sine, s.constant(x.type, 0.0))
    reflected = s.select(is_pole, infinity, reflected)
    result = s.select(reflect, reflected, result)
    return s.select(s.cmpf("oeq", magnitude, infinity), infinity, result)
