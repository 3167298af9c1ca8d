"""Elementwise StableHLO ops on scalars: `SCALAR[op name](builder, op, operands) -> result`.

The same functions fill the bodies of elementwise `linalg.generic`s and of reducers. `op` is the old operation, whose
operand types still tell signed from unsigned; `operands` are new, signless scalars. Integer semantics are total: where
StableHLO leaves a case open, the value is XLA's (x/0 = -1, MIN/-1 = MIN, x%0 = x, shifts by the width or more give 0
or the sign), and no operation with undefined behaviour sees such operands. Functions of 16-bit floats are evaluated in
f32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, Float32Type, Float64Type, IntegerType, Signedness
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects import arith_ext
from tiree.dialects.arith import constant_int
from tiree.dialects.syntax.small_floats import SmallFloat, small_float
from tiree.input.lowering.bits import bit_width, from_bits, to_bits
from tiree.input.lowering.context import signless
from tiree.input.lowering.scalar import ScalarBuilder, float_width, inherent, integer_width, widened
from tiree.input.lowering.small_floats import decode, encode
from tiree.support.typed import is_complex_type, is_integer_attr, is_integer_type, is_tensor_type

Scalar = Callable[[ScalarBuilder, Operation, Sequence[SSAValue]], SSAValue]


class UnsupportedType(Exception):
    """An element type that an op is not lowered for; the message says which."""


def element_type(value: SSAValue | Attribute) -> Attribute:
    """The element type of a tensor value or type, the type itself for scalars."""
    type = value.type if isinstance(value, SSAValue) else value
    return type.element_type if is_tensor_type(type) else type


def is_float(type: Attribute) -> bool:
    return isinstance(type, AnyFloat)


def is_bool(type: Attribute) -> bool:
    return is_integer_type(type) and type.width.data == 1


def is_unsigned(type: Attribute) -> bool:
    """Whether integers of `type` are unsigned; `i1` counts as such."""
    return is_integer_type(type) and (type.signedness.data is Signedness.UNSIGNED or type.width.data == 1)


def _kind(op: Operation, index: int = 0) -> str:
    """`float`, `bool`, `uint` or `int`: what operand `index` of `op` holds."""
    type = element_type(op.operands[index])
    if is_float(type):
        return "float"
    if is_integer_type(type):
        return "bool" if type.width.data == 1 else "uint" if is_unsigned(type) else "int"
    raise UnsupportedType(f"on elements of type {type}")


def _by_kind(**ops: type[Operation]) -> Scalar:
    """A binary op that is one arith operation for each kind of element."""

    def lower(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
        kind = _kind(op)
        if kind not in ops:
            raise UnsupportedType(f"on {kind} elements")
        return s.binary(ops[kind], args[0], args[1])

    return lower


def function(make: Callable[[ScalarBuilder, SSAValue], SSAValue]) -> Scalar:
    """A float function, evaluated in at least f32."""

    def lower(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
        if _kind(op) != "float":
            raise UnsupportedType(f"on elements of type {element_type(op.operands[0])}")
        wide = s.float_resize(args[0], widened(args[0].type))
        return s.float_resize(make(s, wide), args[0].type)

    return lower


def _math(op: type[Operation]) -> Scalar:
    return function(lambda s, x: s.unary(op, x))


def _divide(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    a, b = args
    kind = _kind(op)
    return s.div(a, b) if kind == "float" else divide_integers(s, kind == "int", a, b)


def divide_integers(s: ScalarBuilder, signed: bool, a: SSAValue, b: SSAValue) -> SSAValue:
    """a / b towards zero; all ones for b = 0, MIN for MIN / -1."""
    is_zero = s.cmpi("eq", b, s.constant(b.type, 0))
    quotient = s.binary(arith.DivSIOp if signed else arith.DivUIOp, a, _safe_divisor(s, signed, a, b, is_zero))
    return s.select(is_zero, s.constant(b.type, -1), quotient)


def _remainder(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    a, b = args
    kind = _kind(op)
    if kind == "float":
        wide = widened(a.type)
        result = s.binary(arith_ext.RemFOp, s.float_resize(a, wide), s.float_resize(b, wide))
        return s.float_resize(result, a.type)
    return remainder_of_integers(s, kind == "int", a, b)


def remainder_of_integers(s: ScalarBuilder, signed: bool, a: SSAValue, b: SSAValue) -> SSAValue:
    """The remainder of `divide_integers`; a for b = 0, 0 for MIN and -1."""
    is_zero = s.cmpi("eq", b, s.constant(b.type, 0))
    remainder = s.binary(arith.RemSIOp if signed else arith.RemUIOp, a, _safe_divisor(s, signed, a, b, is_zero))
    return s.select(is_zero, a, remainder)


def _safe_divisor(s: ScalarBuilder, signed: bool, a: SSAValue, b: SSAValue, is_zero: SSAValue) -> SSAValue:
    """`b`, or 1 where dividing by `b` would trap; MIN / 1 and MIN % 1 are what MIN / -1 and MIN % -1 must be."""
    one = s.constant(b.type, 1)
    if not signed:
        return s.select(is_zero, one, b)
    is_min = s.cmpi("eq", a, s.constant(a.type, -(1 << (integer_width(a.type) - 1))))
    is_minus_one = s.cmpi("eq", b, s.constant(b.type, -1))
    return s.select(s.or_(is_zero, s.and_(is_min, is_minus_one)), one, b)


def _power(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    a, b = args
    kind = _kind(op)
    if kind == "float":
        wide = widened(a.type)
        result = s.binary(math.PowFOp, s.float_resize(a, wide), s.float_resize(b, wide))
        return s.float_resize(result, a.type)
    one, zero = s.constant(a.type, 1), s.constant(a.type, 0)
    if kind == "bool":
        return s.or_(a, s.not_(b))
    result, base, exponent = one, a, b
    # Square and multiply, all bits: straight-line code that vectorises.
    for bit in range(width := integer_width(a.type)):
        odd = s.cmpi("ne", s.and_(exponent, one), zero)
        result = s.select(odd, s.mul(result, base), result)
        if bit < width - 1:
            base = s.mul(base, base)
            exponent = s.binary(arith.ShRUIOp, exponent, one)
    if kind == "uint":
        return result
    # Negative exponents: 1 and -1 have integer inverses, every other base gives 0.
    minus_one = s.constant(a.type, -1)
    odd = s.cmpi("ne", s.and_(b, one), zero)
    inverse = s.select(s.cmpi("eq", a, one), one, zero)
    inverse = s.select(s.cmpi("eq", a, minus_one), s.select(odd, minus_one, one), inverse)
    return s.select(s.cmpi("slt", b, zero), inverse, result)


def _shift(op_class: type[Operation]) -> Scalar:
    def lower(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
        del op
        a, b = args
        width = integer_width(a.type)
        in_range = s.cmpi("ult", b, s.constant(b.type, width)) if width > 1 else s.not_(b)
        if op_class is arith.ShRSIOp:
            return s.binary(op_class, a, s.select(in_range, b, s.constant(b.type, width - 1)))
        shifted = s.binary(op_class, a, s.select(in_range, b, s.constant(b.type, 0)))
        return s.select(in_range, shifted, s.constant(a.type, 0))

    return lower


def _enum(op: Operation, name: str) -> str:
    # CHLO has enumerations of its own with the same values.
    value = getattr(inherent(op, name), "data", "")
    return value if isinstance(value, str) else ""


def comparison(op: Operation) -> str:
    """The direction of a `stablehlo.compare`."""
    return _enum(op, "comparison_direction")


def _compare(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    a, b = args
    direction = _enum(op, "comparison_direction")
    kind = _kind(op)
    if kind == "float" and _enum(op, "compare_type") == "TOTALORDER":
        return s.cmpi(_signed(direction), total_order(s, a), total_order(s, b))
    if kind == "float":
        return s.cmpf("une" if direction == "NE" else "o" + direction.lower(), a, b)
    if direction in ("EQ", "NE"):
        return s.cmpi(direction.lower(), a, b)
    return s.cmpi(("s" if kind == "int" else "u") + direction.lower(), a, b)


def _signed(direction: str) -> str:
    return direction.lower() if direction in ("EQ", "NE") else "s" + direction.lower()


def total_order(s: ScalarBuilder, a: SSAValue) -> SSAValue:
    """Signed integers in IEEE total order: -NaN < -inf < ... < -0 < +0 < ... < inf < NaN."""
    width = float_width(a.type)
    bits = s.bitcast(a, IntegerType(width))
    sign = s.binary(arith.ShRSIOp, bits, s.constant(bits.type, width - 1))
    magnitude = s.binary(arith.ShRUIOp, sign, s.constant(bits.type, 1))
    return s.binary(arith.XOrIOp, bits, magnitude)


def _select(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    del op
    return s.select(args[0], args[1], args[2])


def _clamp(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    low, x, high = args
    kind = _kind(op)
    maximum, minimum = _EXTREMA[kind]
    return s.binary(minimum, s.binary(maximum, x, low), high)


_EXTREMA: dict[str, tuple[type[Operation], type[Operation]]] = {
    "float": (arith.MaximumfOp, arith.MinimumfOp),
    "int": (arith.MaxSIOp, arith.MinSIOp),
    "uint": (arith.MaxUIOp, arith.MinUIOp),
    "bool": (arith.OrIOp, arith.AndIOp),
}


def _abs(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    match _kind(op):
        case "float":
            return s.abs(args[0])
        case "int":
            negative = s.cmpi("slt", args[0], s.constant(args[0].type, 0))
            return s.select(negative, s.neg(args[0]), args[0])
        case _:
            return args[0]


def _sign(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    x = args[0]
    zero = s.constant(x.type, 0)
    if _kind(op) == "float":
        unit = s.binary(math.CopySignOp, s.constant(x.type, 1.0), x)
        # NaN and both zeros are their own sign.
        return s.select(s.cmpf("one", x, zero), unit, x)
    positive = s.select(s.cmpi("ne", x, zero), s.constant(x.type, 1), zero)
    if _kind(op) != "int":
        return positive
    return s.select(s.cmpi("slt", x, zero), s.constant(x.type, -1), positive)


def _negate(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    del op
    return s.neg(args[0])


def _not(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    del op
    return s.not_(args[0])


def _is_finite(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    del op
    return s.cmpf("olt", s.abs(args[0]), s.constant(args[0].type, float("inf")))


def _count(op_class: type[Operation]) -> Scalar:
    def lower(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
        if not is_integer_type(type := element_type(op.operands[0])):
            raise UnsupportedType(f"on elements of type {type}")
        return s.unary(op_class, args[0])

    return lower


def _atan2(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    if _kind(op) != "float":
        raise UnsupportedType(f"on elements of type {element_type(op.operands[0])}")
    wide = widened(args[0].type)
    result = s.binary(math.Atan2Op, s.float_resize(args[0], wide), s.float_resize(args[1], wide))
    return s.float_resize(result, args[0].type)


def _logistic(s: ScalarBuilder, x: SSAValue) -> SSAValue:
    """1 / (1 + e) with e = exp(-|x|), or e / (1 + e) for x < 0, which is small before exp(-x) is too large."""
    one = s.constant(x.type, 1.0)
    e = s.unary(math.ExpOp, s.neg(s.abs(x)))
    return s.div(s.select(s.cmpf("olt", x, s.constant(x.type, 0.0)), e, one), s.add_(one, e))


def _reduce_precision(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    """Rounds to fewer mantissa bits (nearest even), then sends what the exponent cannot hold to inf or 0."""
    x = args[0]
    exponent_bits, mantissa_bits = (
        attr.value.data if is_integer_attr(attr := inherent(op, name)) else 0
        for name in ("exponent_bits", "mantissa_bits")
    )
    width = float_width(x.type)
    own_mantissa = {16: 10, 32: 23, 64: 52}[width] if x.type.name != "bf16" else 7
    own_exponent = width - 1 - own_mantissa
    itype = IntegerType(width)
    bits = s.bitcast(x, itype)
    dropped = own_mantissa - mantissa_bits
    if dropped > 0:
        last = s.and_(s.binary(arith.ShRUIOp, bits, s.constant(itype, dropped)), s.constant(itype, 1))
        bits = s.add_(bits, s.add_(last, s.constant(itype, (1 << (dropped - 1)) - 1)))
        bits = s.and_(bits, s.constant(itype, -(1 << dropped)))
    if exponent_bits < own_exponent:
        own_bias, bias = (1 << (own_exponent - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        sign = s.and_(bits, s.constant(itype, 1 << (width - 1)))
        exponent = s.and_(bits, s.constant(itype, ((1 << own_exponent) - 1) << own_mantissa))
        too_big = s.cmpi("ugt", exponent, s.constant(itype, (own_bias + bias) << own_mantissa))
        too_small = s.cmpi("ule", exponent, s.constant(itype, (own_bias - bias) << own_mantissa))
        infinity = s.constant(itype, ((1 << own_exponent) - 1) << own_mantissa)
        bits = s.select(too_big, s.or_(sign, infinity), bits)
        bits = s.select(too_small, sign, bits)
    # A format without mantissa bits has no NaN: the reference interpreter makes it infinity (XLA's CPU keeps it).
    nan = x if mantissa_bits > 0 else s.constant(x.type, float("inf"))
    return s.select(s.cmpf("uno", x, x), nan, s.bitcast(bits, x.type))


def _mulhi(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    a, b = args
    width, unsigned = integer_width(a.type), is_unsigned(element_type(op.operands[0]))
    if width == 64:
        # Bytecode has no integers of 128 bits, but this.
        halves = arith.MulUIExtendedOp if unsigned else arith.MulSIExtendedOp
        return s.add(halves(a, b)).results[1]
    wide = IntegerType(2 * width)
    extend = arith.ExtUIOp if unsigned else arith.ExtSIOp
    product = s.mul(s.cast(extend, a, wide), s.cast(extend, b, wide))
    return s.cast(arith.TruncIOp, s.binary(arith.ShRUIOp, product, s.constant(wide, width)), a.type)


def convert(s: ScalarBuilder, source: Attribute, target: Attribute, x: SSAValue) -> SSAValue:
    """`stablehlo.convert` of a scalar from element type `source` to `target` (both with their signedness).

    Floats to integers saturate and NaN becomes 0; integers wrap; to `i1` is `x != 0`.
    """
    narrow, made = small_float(source), small_float(target)
    if narrow is not None:
        source, x = Float32Type(), decode(s, narrow, x)
    if made is not None:
        wide = Float64Type() if isinstance(source, Float64Type) or _needs_double(made, source) else Float32Type()
        return encode(s, made, convert(s, source, wide, x))
    for type in (source, target):
        if is_complex_type(type) or not isinstance(type, (AnyFloat, IntegerType)):
            raise UnsupportedType(f"from {source} to {target}")
    if is_integer_type(source):
        return _convert_integer(s, source, target, x)
    if isinstance(target, AnyFloat):
        return s.float_resize(x, target)
    if is_bool(target):
        return s.cmpf("une", x, s.constant(x.type, 0.0))
    return _saturate(s, target, s.float_resize(x, widened(x.type)))


def _needs_double(format: SmallFloat, source: Attribute) -> bool:
    """Whether f32 would round an integer that the format could still tell from its neighbours."""
    return format.kind == "scale" and is_integer_type(source) and source.width.data > 16


def _convert_integer(s: ScalarBuilder, source: IntegerType, target: Attribute, x: SSAValue) -> SSAValue:
    unsigned = is_unsigned(source)
    if isinstance(target, AnyFloat):
        op = arith.UIToFPOp if unsigned else arith.SIToFPOp
        return s.float_resize(s.cast(op, x, widened(target)), target)
    if is_bool(target):
        return x if is_bool(source) else s.cmpi("ne", x, s.constant(x.type, 0))
    type = IntegerType(integer_width(target))
    if integer_width(target) > source.width.data:
        return s.cast(arith.ExtUIOp if unsigned else arith.ExtSIOp, x, type)
    return s.cast(arith.TruncIOp, x, type)


def _saturate(s: ScalarBuilder, target: Attribute, x: SSAValue) -> SSAValue:
    unsigned = is_unsigned(target)
    width = integer_width(target)
    type = IntegerType(width)
    low = 0.0 if unsigned else -float(1 << (width - 1))
    high = float(1 << (width if unsigned else width - 1))
    above_low = s.cmpf("oge", x, s.constant(x.type, low))
    below_high = s.cmpf("olt", x, s.constant(x.type, high))
    safe = s.select(s.and_(above_low, below_high), x, s.constant(x.type, 0.0))
    result = s.cast(arith.FPToUIOp if unsigned else arith.FPToSIOp, safe, type)
    top = s.constant(type, (1 << width) - 1 if unsigned else (1 << (width - 1)) - 1)
    result = s.select(s.cmpf("oge", x, s.constant(x.type, high)), top, result)
    if unsigned:
        return result
    return s.select(s.cmpf("olt", x, s.constant(x.type, low)), s.constant(type, 1 << (width - 1)), result)


def _convert(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    return convert(s, element_type(op.operands[0]), element_type(op.results[0]), args[0])


def _bitcast(s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    source, target = element_type(op.operands[0]), signless(element_type(op.results[0]))
    if args[0].type == target:
        return args[0]
    return from_bits(s, to_bits(s, args[0], bit_width(source)), target)


DIVISIONS = {
    "arith.divsi": (divide_integers, True),
    "arith.divui": (divide_integers, False),
    "arith.remsi": (remainder_of_integers, True),
    "arith.remui": (remainder_of_integers, False),
}


def total_division(s: ScalarBuilder, op: Operation, a: SSAValue, b: SSAValue) -> SSAValue | None:
    """An arith division of a kernel made total: a zero in the data must not end the process.

    None where nothing can go wrong: other ops, and divisors that are constants other than 0 and -1.
    """
    if op.name not in DIVISIONS or constant_int(b) not in (None, 0, -1):
        return None
    make, signed = DIVISIONS[op.name]
    return make(s, signed, a, b)


SCALAR: dict[str, Scalar] = {
    "stablehlo.add": _by_kind(float=arith.AddfOp, int=arith.AddiOp, uint=arith.AddiOp, bool=arith.OrIOp),
    "stablehlo.subtract": _by_kind(float=arith.SubfOp, int=arith.SubiOp, uint=arith.SubiOp, bool=arith.XOrIOp),
    "stablehlo.multiply": _by_kind(float=arith.MulfOp, int=arith.MuliOp, uint=arith.MuliOp, bool=arith.AndIOp),
    "stablehlo.divide": _divide,
    "stablehlo.remainder": _remainder,
    "stablehlo.power": _power,
    "stablehlo.maximum": _by_kind(**{kind: pair[0] for kind, pair in _EXTREMA.items()}),
    "stablehlo.minimum": _by_kind(**{kind: pair[1] for kind, pair in _EXTREMA.items()}),
    "stablehlo.and": _by_kind(int=arith.AndIOp, uint=arith.AndIOp, bool=arith.AndIOp),
    "stablehlo.or": _by_kind(int=arith.OrIOp, uint=arith.OrIOp, bool=arith.OrIOp),
    "stablehlo.xor": _by_kind(int=arith.XOrIOp, uint=arith.XOrIOp, bool=arith.XOrIOp),
    "stablehlo.shift_left": _shift(arith.ShLIOp),
    "stablehlo.shift_right_arithmetic": _shift(arith.ShRSIOp),
    "stablehlo.shift_right_logical": _shift(arith.ShRUIOp),
    "stablehlo.atan2": _atan2,
    "stablehlo.compare": _compare,
    "stablehlo.select": _select,
    "stablehlo.clamp": _clamp,
    "stablehlo.abs": _abs,
    "stablehlo.sign": _sign,
    "stablehlo.negate": _negate,
    "stablehlo.not": _not,
    "stablehlo.is_finite": _is_finite,
    "stablehlo.popcnt": _count(math.CtPopOp),
    "stablehlo.count_leading_zeros": _count(math.CountLeadingZerosOp),
    "stablehlo.convert": _convert,
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.reduce_precision": _reduce_precision,
    "stablehlo.ceil": _math(math.CeilOp),
    "stablehlo.floor": _math(math.FloorOp),
    "stablehlo.round_nearest_afz": _math(math.RoundOp),
    "stablehlo.round_nearest_even": _math(math.RoundEvenOp),
    "stablehlo.cbrt": _math(math.CbrtOp),
    "stablehlo.cosine": _math(math.CosOp),
    "stablehlo.exponential": _math(math.ExpOp),
    "stablehlo.exponential_minus_one": _math(math.ExpM1Op),
    "stablehlo.log": _math(math.LogOp),
    "stablehlo.log_plus_one": _math(math.Log1pOp),
    "stablehlo.logistic": function(_logistic),
    "stablehlo.rsqrt": _math(math.RsqrtOp),
    "stablehlo.sine": _math(math.SinOp),
    "stablehlo.sqrt": _math(math.SqrtOp),
    "stablehlo.tan": _math(math.TanOp),
    "stablehlo.tanh": _math(math.TanhOp),
    "chlo.mulhi": _mulhi,
}
