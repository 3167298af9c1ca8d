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


# (1 + 2x) exp(x^2) erfc(x) as a polynomial in t = (x - 4) / (x + 4) over x >= 0, to full precision: the numbers that
# kernels use for `math.erfc`, highest power first.
_ERFC_DOUBLE = (
    -1.6928037957362877e-10,
    -2.4718869256519524e-10,
    2.092651707530824e-09,
    3.2605625512195415e-09,
    -1.5554381991966714e-08,
    -2.1019109529238526e-08,
    1.1129609551700562e-07,
    7.825577726517217e-08,
    -8.25946552256463e-07,
    2.9123831908013784e-07,
    5.709777548318759e-06,
    -1.122086184314168e-05,
    -2.4399157471045374e-05,
    0.00015062133127677032,
    -0.00019925672258670039,
    -0.0007577732230321115,
    0.00503196998397177,
    -0.01619773406561651,
    0.03716751553681338,
    -0.06633036581166872,
    0.0937328349983876,
    -0.10103906603632434,
    0.06809705425469174,
    0.015379652102620031,
    -0.1396211168405625,
    1.2329951186255526,
)


def erfc(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """1 - erf(x), accurate in relative terms for large x."""
    tail = _erfc_positive(s, s.abs(x))
    return s.select(s.cmpf("olt", x, s.constant(x.type, 0.0)), s.sub(s.constant(x.type, 2.0), tail), tail)


def _erfc_positive(s: ScalarBuilder, a: SSAValue) -> SSAValue:
    """erfc of a >= 0."""
    return _erfc_positive_double(s, a) if is_double(a.type) else _erfc_positive_single(s, a)


def _erfc_positive_single(s: ScalarBuilder, a: SSAValue) -> SSAValue:
    """erfc of a >= 0 within 5 ulp of f32: exp(-a^2) p(t) / (a + 2). From 10.2 on it is 0 in f32."""
    two, limit = s.constant(a.type, 2.0), s.constant(a.type, 10.2)
    a = s.select(s.cmpf("ogt", a, limit), limit, a)
    factor = s.div(s.constant(a.type, 1.0), s.add_(a, two))
    smooth = s.mul(polynomial(s, s.mul(s.sub(a, two), factor), _ERFC), factor)
    return _times_exp_of_square(s, smooth, a)


def _erfc_positive_double(s: ScalarBuilder, a: SSAValue) -> SSAValue:
    """erfc of a >= 0 within 4 ulp of f64: exp(-a^2) p(t) / (1 + 2 a). From 27.5 on it is 0."""
    one, four, limit = (s.constant(a.type, value) for value in (1.0, 4.0, 27.5))
    a = s.select(s.cmpf("ogt", a, limit), limit, a)
    smooth = polynomial(s, s.div(s.sub(a, four), s.add_(a, four)), _ERFC_DOUBLE)
    return _times_exp_of_square(s, s.div(smooth, s.add_(s.add_(a, a), one)), a)


def _times_exp_of_square(s: ScalarBuilder, smooth: SSAValue, a: SSAValue) -> SSAValue:
    """smooth exp(-a^2), as smooth exp(-square) (1 - rest), where rest is what rounding a^2 lost.

    `a` in two halves has it in products that are exact (Dekker): a fused one is none in bytecode, which rounds twice.
    """
    square = s.mul(a, a)
    scaled = s.mul(a, s.constant(a.type, 2.0**27 + 1 if is_double(a.type) else 2.0**12 + 1))
    high = s.sub(scaled, s.sub(scaled, a))
    low = s.sub(a, high)
    rest = s.sub(s.mul(high, high), square)
    rest = s.add_(s.add_(rest, s.mul(s.add_(high, high), low)), s.mul(low, low))
    main = s.mul(smooth, s.unary(math.ExpOp, s.neg(square)))
    return s.sub(main, s.mul(main, rest))


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
    """The inverse of erf; f64 refines the single precision value by two Newton steps.

    w = -log(1 - x^2), whose factor 1 - |x| is exact near 1; a square would lose the digits that count there.
    """
    one, magnitude = s.constant(x.type, 1.0), s.abs(x)
    w = s.neg(s.unary(math.LogOp, s.mul(s.sub(one, magnitude), s.add_(one, magnitude))))
    central = polynomial(s, s.sub(w, s.constant(x.type, 2.5)), _ERF_INV_CENTRAL)
    tail = polynomial(s, s.sub(s.unary(math.SqrtOp, w), s.constant(x.type, 3.0)), _ERF_INV_TAIL)
    result = s.mul(s.select(s.cmpf("olt", w, s.constant(x.type, 5.0)), central, tail), x)
    if is_double(x.type):
        result = _refined(s, result, x)
    edge = s.mul(x, s.constant(x.type, float("inf")))
    return s.select(s.cmpf("oeq", magnitude, one), edge, result)


def _refined(s: ScalarBuilder, result: SSAValue, x: SSAValue) -> SSAValue:
    """Two Newton steps, beyond 1/2 on erfc, which keeps its digits where erf is nearly 1."""
    one, magnitude = s.constant(x.type, 1.0), s.abs(x)
    half_root_pi = s.constant(x.type, python_math.sqrt(python_math.pi) / 2.0)
    beyond = s.cmpf("ogt", magnitude, s.constant(x.type, 0.5))
    value = s.abs(result)
    for _ in range(2):
        near = s.sub(s.unary(math.ErfOp, value), magnitude)
        far = s.sub(s.sub(one, magnitude), _erfc_positive(s, value))
        slope = s.mul(half_root_pi, s.unary(math.ExpOp, s.mul(value, value)))
        value = s.sub(value, s.mul(s.select(beyond, far, near), slope))
    return s.binary(math.CopySignOp, value, x)


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
