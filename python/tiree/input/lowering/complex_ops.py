"""Elementwise ops with complex operands or results, on pairs of floats: the same shape as `scalar_ops.SCALAR`.

Sums and products take elements apart (`complex.re`, `complex.im`), compute on two floats and put them together
(`complex.create`) where they are yielded. Functions that the complex dialect has stay its ops, so that another compiler
may carry the program on; codegen expands them as `scalars/complex_dialect.py` says. Others are expanded here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from tiree.input.lowering.scalar import ScalarBuilder
from tiree.input.lowering.scalar_ops import (
    Scalar,
    UnsupportedType,
    comparison,
    convert,
    element_type,
)
from tiree.scalars import complex_functions as functions
from tiree.scalars import complex_transcendental as transcendental
from tiree.scalars.complex_functions import Pair
from tiree.support.typed import is_complex_type


def concerns_complex(op: Operation) -> bool:
    """Whether an operand or result of `op` holds complex numbers."""
    return any(is_complex_type(element_type(value)) for value in (*op.operands, *op.results))


def _function(make: Callable[[ScalarBuilder, Pair], Pair]) -> Scalar:
    """A function from complex numbers to complex numbers."""

    def lower(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
        del op
        return s.create(*make(s, s.parts(args[0])))

    return lower


def _binary(make: Callable[[ScalarBuilder, Pair, Pair], Pair]) -> Scalar:
    def lower(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
        del op
        return s.create(*make(s, s.parts(args[0]), s.parts(args[1])))

    return lower


def _dialect(name: str) -> Scalar:
    """The op of this class of the complex dialect."""

    def lower(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
        from xdsl.dialects import complex

        kind = getattr(complex, name)
        return s.complex_op(kind, args, element_type(op.results[0]))

    return lower


def _create(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    del op
    return s.create(args[0], args[1])


def _real(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    """The real part; a float is its own."""
    del op
    return s.parts(args[0])[0] if is_complex_type(args[0].type) else args[0]


def _imaginary(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    """The imaginary part; 0 for a float."""
    del op
    return s.parts(args[0])[1] if is_complex_type(args[0].type) else s.constant(args[0].type, 0.0)


def _same(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    """ops that copy bits."""
    del s
    if element_type(op.operands[0]) != element_type(op.results[0]):
        raise UnsupportedType(f"from {element_type(op.operands[0])} to {element_type(op.results[0])}")
    return args[0]


def _compare(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    """EQ and NE; an order, which the specification does not know, is by real parts, then by imaginary ones."""
    (a, b), (c, d) = s.parts(args[0]), s.parts(args[1])
    direction = comparison(op)
    if direction in ("EQ", "NE"):
        equal = s.and_(s.cmpf("oeq", a, c), s.cmpf("oeq", b, d))
        return equal if direction == "EQ" else s.not_(equal)
    strict = f"o{direction[0].lower()}t"
    return s.or_(s.cmpf(strict, a, c), s.and_(s.cmpf("oeq", a, c), s.cmpf("o" + direction.lower(), b, d)))


def _select(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    del op
    (a, b), (c, d) = s.parts(args[1]), s.parts(args[2])
    return s.create(s.select(args[0], a, c), s.select(args[0], b, d))


def _extremum(predicate: str) -> Scalar:
    """The greater or lesser by real parts, then by imaginary ones; an operand that is not a number wins."""

    def lower(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
        del op
        x, y = s.parts(args[0]), s.parts(args[1])
        first = s.or_(s.cmpf(predicate, x[0], y[0]), s.and_(s.cmpf("oeq", x[0], y[0]), s.cmpf(predicate, x[1], y[1])))
        first = s.or_(first, s.cmpf("uno", x[0], x[1]))
        second = s.cmpf("uno", y[0], y[1])
        taken = s.and_(first, s.or_(s.not_(second), s.cmpf("uno", x[0], x[1])))
        return s.create(s.select(taken, x[0], y[0]), s.select(taken, x[1], y[1]))

    return lower


def _clamp(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    raised = _extremum("ogt")(s, op, [args[1], args[0]])
    return _extremum("olt")(s, op, [raised, args[2]])


def convert_complex(s: ScalarBuilder, source: Attribute, target: Attribute, x: SSAValue) -> SSAValue:
    """`stablehlo.convert` where one type or both are complex: a real has imaginary part 0, a complex loses its own."""
    if not is_complex_type(source):
        assert is_complex_type(target)
        part = target.element_type
        return s.create(convert(s, source, part, x), s.constant(part, 0.0))
    real, imaginary = s.parts(x)
    part = source.element_type
    if is_complex_type(target):
        return s.create(s.float_resize(real, target.element_type), s.float_resize(imaginary, target.element_type))
    return convert(s, part, target, real)


def _convert(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    return convert_complex(s, element_type(op.operands[0]), element_type(op.results[0]), args[0])


COMPLEX: dict[str, Scalar] = {
    "stablehlo.complex": _create,
    "stablehlo.real": _real,
    "stablehlo.imag": _imaginary,
    "stablehlo.add": _binary(functions.add),
    "stablehlo.subtract": _binary(functions.subtract),
    "stablehlo.multiply": _binary(functions.multiply),
    "stablehlo.divide": _dialect("DivOp"),
    "stablehlo.negate": _function(functions.negate),
    "stablehlo.abs": _dialect("AbsOp"),
    "stablehlo.compare": _compare,
    "stablehlo.select": _select,
    "stablehlo.sign": _dialect("SignOp"),
    "stablehlo.sqrt": _dialect("SqrtOp"),
    "stablehlo.rsqrt": _dialect("RsqrtOp"),
    "stablehlo.cbrt": _function(functions.cbrt),
    "stablehlo.exponential": _dialect("ExpOp"),
    "stablehlo.exponential_minus_one": _dialect("Expm1Op"),
    "stablehlo.log": _dialect("LogOp"),
    "stablehlo.log_plus_one": _dialect("Log1pOp"),
    "stablehlo.logistic": _function(transcendental.logistic),
    "stablehlo.power": _dialect("PowOp"),
    "stablehlo.sine": _dialect("SinOp"),
    "stablehlo.cosine": _dialect("CosOp"),
    "stablehlo.tan": _dialect("TanOp"),
    "stablehlo.tanh": _dialect("TanhOp"),
    "stablehlo.atan2": _dialect("Atan2Op"),
    "stablehlo.convert": _convert,
    "stablehlo.bitcast_convert": _same,
    "stablehlo.maximum": _extremum("ogt"),
    "stablehlo.minimum": _extremum("olt"),
    "stablehlo.clamp": _clamp,
    "chlo.conj": _function(functions.conjugate),
    "chlo.tan": _dialect("TanOp"),
    "chlo.sinh": _function(transcendental.sinh),
    "chlo.cosh": _function(transcendental.cosh),
    "chlo.asin": _function(transcendental.asin),
    "chlo.acos": _function(transcendental.acos),
    "chlo.atan": _function(transcendental.atan),
    "chlo.asinh": _function(transcendental.asinh),
    "chlo.acosh": _function(transcendental.acosh),
    "chlo.atanh": _function(transcendental.atanh),
    "chlo._asin_acos_kernel": _function(transcendental.asin_acos_kernel),
    "chlo.square": _function(lambda s, z: functions.multiply(s, z, z)),
}
"""What each op does where complex numbers are concerned."""


def with_complex(name: str, real: Scalar | None) -> Scalar:
    """Op `name` on elements of any type, given what it is on real ones."""
    on_pairs = COMPLEX[name]

    def lower(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
        return on_pairs(s, op, args) if real is None or concerns_complex(op) else real(s, op, args)

    return lower
