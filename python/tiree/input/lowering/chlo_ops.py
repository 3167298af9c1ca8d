"""CHLO functions on scalars, from the elementary functions that `math` has; same shape as `scalar_ops.SCALAR`.

Formulas are the usual ones that stay accurate near zero and do not overflow early; each says where it switches.
"""

from __future__ import annotations

import math as python_math
from collections.abc import Callable, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from tiree.input.lowering.bessel import bessel_i1e
from tiree.input.lowering.gamma_functions import digamma, polygamma, zeta
from tiree.input.lowering.scalar import ScalarBuilder, float_width, is_double, widened
from tiree.input.lowering.scalar_ops import Scalar, UnsupportedType, element_type, function, is_float
from tiree.input.lowering.special_functions import erf_inv, erfc, lgamma


def _square(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    del op
    return s.mul(args[0], args[0])


def _acos(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """2 atan2(sqrt(1 - x), sqrt(1 + x)): no cancellation near 1, pi at -1."""
    one = s.constant(x.type, 1.0)
    y = s.unary(math.SqrtOp, s.sub(one, x))
    z = s.unary(math.SqrtOp, s.add_(one, x))
    return s.mul(s.constant(x.type, 2.0), s.binary(math.Atan2Op, y, z))


def _asin(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """atan2(x, sqrt((1 - x)(1 + x)))."""
    one = s.constant(x.type, 1.0)
    product = s.mul(s.sub(one, x), s.add_(one, x))
    return s.binary(math.Atan2Op, x, s.unary(math.SqrtOp, product))


def _atan(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    return s.binary(math.Atan2Op, x, s.constant(x.type, 1.0))


def _large(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """Where x*x would lose 1 + x*x or overflow: |x| >= sqrt(max) / 2."""
    bound = 6.0e153 if is_double(x.type) else 9.0e18
    return s.cmpf("oge", x, s.constant(x.type, bound))


def _log_twice(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """log(2x) without overflow."""
    return s.add_(s.unary(math.LogOp, x), s.constant(x.type, python_math.log(2.0)))


def _acosh(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """log1p(t + sqrt(t (x + 1))) with t = x - 1; log(2x) for large x."""
    one = s.constant(x.type, 1.0)
    t = s.sub(x, one)
    root = s.mul(s.unary(math.SqrtOp, t), s.unary(math.SqrtOp, s.add_(x, one)))
    return s.select(_large(s, x), _log_twice(s, x), s.unary(math.Log1pOp, s.add_(t, root)))


def _asinh(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """sign(x) log1p(a + a^2 / (1 + sqrt(1 + a^2))) with a = |x|; log(2a) for large a."""
    one = s.constant(x.type, 1.0)
    a = s.abs(x)
    square = s.mul(a, a)
    root = s.unary(math.SqrtOp, s.add_(one, square))
    small = s.unary(math.Log1pOp, s.add_(a, s.div(square, s.add_(one, root))))
    return s.binary(math.CopySignOp, s.select(_large(s, a), _log_twice(s, a), small), x)


def _atanh(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """(log1p(x) - log1p(-x)) / 2."""
    difference = s.sub(s.unary(math.Log1pOp, x), s.unary(math.Log1pOp, s.neg(x)))
    return s.mul(s.constant(x.type, 0.5), difference)


def _is_inf(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    x = args[0]
    signs = {"chlo.is_pos_inf": x, "chlo.is_neg_inf": x}
    value = signs[op.name] if op.name in signs else s.abs(x)
    infinity = float("-inf") if op.name == "chlo.is_neg_inf" else float("inf")
    return s.cmpf("oeq", value, s.constant(x.type, infinity))


def _next_after(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    """The neighbour of x towards y, by stepping the bits as an integer."""
    del op
    x, y = args
    width = float_width(x.type)
    itype = IntegerType(width)
    bits = s.bitcast(x, itype)
    one, zero = s.constant(itype, 1), s.constant(x.type, 0.0)
    sign_mask = s.constant(itype, 1 << (width - 1))
    away = s.cmpi("eq", s.binary(arith.ShRUIOp, bits, s.constant(itype, width - 1)), s.constant(itype, 0))
    upwards = s.cmpf("ogt", y, x)
    grows = s.cmpi("eq", away, upwards)
    stepped = s.bitcast(s.select(grows, s.add_(bits, one), s.sub(bits, one)), x.type)
    smallest = s.bitcast(s.or_(s.and_(s.bitcast(y, itype), sign_mask), one), x.type)
    result = s.select(s.cmpf("oeq", x, zero), smallest, stepped)
    result = s.select(s.cmpf("oeq", x, y), y, result)
    return s.select(s.cmpf("uno", x, y), s.add_(x, y), result)


def _function_of_two(make: Callable[[ScalarBuilder, SSAValue, SSAValue], SSAValue]) -> Scalar:
    """A function of two floats, evaluated in at least f32."""

    def lower(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
        if not is_float(type := element_type(op.operands[0])):
            raise UnsupportedType(f"on elements of type {type}")
        wide = widened(args[0].type)
        return s.float_resize(make(s, s.float_resize(args[0], wide), s.float_resize(args[1], wide)), args[0].type)

    return lower


CHLO_SCALAR: dict[str, Scalar] = {
    "chlo.square": _square,
    # Of a real number.
    "chlo.conj": function(lambda s, x: x),  # noqa: ARG005
    "chlo.acos": function(_acos),
    "chlo.acosh": function(_acosh),
    "chlo.asin": function(_asin),
    "chlo.asinh": function(_asinh),
    "chlo.atan": function(_atan),
    "chlo.atanh": function(_atanh),
    "chlo.cosh": function(lambda s, x: s.unary(math.CoshOp, x)),
    "chlo.sinh": function(lambda s, x: s.unary(math.SinhOp, x)),
    "chlo.tan": function(lambda s, x: s.unary(math.TanOp, x)),
    "chlo.erf": function(lambda s, x: s.unary(math.ErfOp, x)),
    "chlo.erfc": function(erfc),
    "chlo.erf_inv": function(erf_inv),
    "chlo.lgamma": function(lgamma),
    "chlo.digamma": function(digamma),
    "chlo.polygamma": _function_of_two(polygamma),
    "chlo.zeta": _function_of_two(zeta),
    "chlo.bessel_i1e": function(bessel_i1e),
    "chlo.is_inf": _is_inf,
    "chlo.is_neg_inf": _is_inf,
    "chlo.is_pos_inf": _is_inf,
    "chlo.next_after": _next_after,
}
