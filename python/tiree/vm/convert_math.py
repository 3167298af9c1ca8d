"""Host `math`, and what of `arith` gives two results, to `vm` instructions.

Where the instruction set has the function, it is one instruction; else a formula whose error is a few units in the
last place. Registers are as in `convert_arith`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from xdsl.dialects.builtin import f32, f64, i1, i32, i64
from xdsl.ir import Operation, SSAValue

from tiree.vm.builder import FunctionBuilder, scalar_suffix
from tiree.vm.convert_arith import bits, bits_type, extended, truncated, width_of
from tiree.vm.convert_fma import fused_multiply_add

Handler = Callable[[FunctionBuilder, Operation], None]


def _plain(name: str, b: FunctionBuilder, op: Operation) -> None:
    """One instruction, on registers as they are."""
    operands = [b.get(v) for v in op.operands]
    instruction = f"{name}.{scalar_suffix(operands[0].type)}"
    b.values[op.results[0]] = b.value(instruction, operands, operands[0].type)


# Integers.


def _absolute(b: FunctionBuilder, op: Operation) -> None:
    register = extended(b, op.operands[0], signed=True)
    _set_integer(b, op, b.value(f"abs.{scalar_suffix(register.type)}", [register], register.type))


def _set_integer(b: FunctionBuilder, op: Operation, register: SSAValue, result: int = 0) -> None:
    is_bit = op.results[result].type == i1
    b.values[op.results[result]] = b.value("and.i32", [register, b.i32(1)], i32) if is_bit else register


def _leading_zeros(b: FunctionBuilder, op: Operation) -> None:
    """A register of 32 bits has more of them than a shorter number."""
    register, width = extended(b, op.operands[0], signed=False), width_of(op.operands[0].type)
    count = b.value(f"ctlz.{scalar_suffix(register.type)}", [register], register.type)
    if width < 32:
        count = b.value("sub.i32", [count, b.i32(32 - width)], i32)
    b.values[op.results[0]] = count


def _trailing_zeros(b: FunctionBuilder, op: Operation) -> None:
    """The ones below the lowest one; all bits of 0."""
    register, width = b.get(op.operands[0]), width_of(op.operands[0].type)
    suffix, type = scalar_suffix(register.type), register.type
    below = b.value(f"sub.{suffix}", [register, b.constant(1, type)], type)
    inverse = b.value(f"xor.{suffix}", [register, b.constant(-1, type)], type)
    zeros = b.value(f"and.{suffix}", [below, inverse], type)
    register_width = 64 if type == i64 else 32
    count = b.value(f"ctlz.{suffix}", [zeros], type)
    count = b.value(f"sub.{suffix}", [b.constant(register_width, type), count], type)
    if width < 32:
        count = b.value("min.i32.u", [count, b.i32(width)], i32)
    _set_integer(b, op, count)


def _population(b: FunctionBuilder, op: Operation) -> None:
    """Sums of neighbouring groups of bits, of growing size, side by side in one register."""
    register = extended(b, op.operands[0], signed=False)
    suffix, type = scalar_suffix(register.type), register.type

    def shifted(value: SSAValue, by: int) -> SSAValue:
        return b.value(f"shr.{suffix}.u", [value, b.i32(by)], type)

    def masked(value: SSAValue, byte: int) -> SSAValue:
        return b.value(f"and.{suffix}", [value, b.constant(byte * 0x0101010101010101, type)], type)

    pairs = b.value(f"sub.{suffix}", [register, masked(shifted(register, 1), 0x55)], type)
    fours = b.value(f"add.{suffix}", [masked(pairs, 0x33), masked(shifted(pairs, 2), 0x33)], type)
    bytes = masked(b.value(f"add.{suffix}", [fours, shifted(fours, 4)], type), 0x0F)
    together = b.value(f"mul.{suffix}", [bytes, b.constant(0x0101010101010101, type)], type)
    _set_integer(b, op, shifted(together, 56 if type == i64 else 24))


def _add_with_carry(b: FunctionBuilder, op: Operation) -> None:
    """The sum, and whether it is less than what was added."""
    lhs, rhs = (extended(b, v, signed=False) for v in op.operands)
    suffix, width = scalar_suffix(lhs.type), width_of(op.operands[0].type)
    total = b.value(f"add.{suffix}", [lhs, rhs], lhs.type)
    if width < 32:
        carry = b.value("shr.i32.u", [total, b.i32(width)], i32)
    else:
        carry = b.value(f"cmp.lt.{suffix}.u", [total, lhs], i32)
    _set_integer(b, op, total)
    b.values[op.results[1]] = carry


def _product(signed: bool, b: FunctionBuilder, op: Operation) -> None:
    """Lower and upper half of a product of twice the width."""
    lhs, rhs = (extended(b, v, signed) for v in op.operands)
    width, sign = width_of(op.operands[0].type), "s" if signed else "u"
    if width == 64:
        low, high = b.value("mul.i64", [lhs, rhs], i64), _upper_half(b, lhs, rhs, signed)
    elif width == 32:
        wide = [b.value(f"ext.i32.i64.{sign}", [v], i64) for v in (lhs, rhs)]
        product = b.value("mul.i64", wide, i64)
        low = b.value("trunc.i64.i32", [product], i32)
        high = b.value("trunc.i64.i32", [b.value("shr.i64.u", [product, b.i32(32)], i64)], i32)
    else:
        low = b.value("mul.i32", [lhs, rhs], i32)
        high = b.value("shr.i32.u", [low, b.i32(width)], i32)
    _set_integer(b, op, low)
    _set_integer(b, op, high, 1)


def _upper_half(b: FunctionBuilder, lhs: SSAValue, rhs: SSAValue, signed: bool) -> SSAValue:
    """Of a product of 128 bits, by halves of the factors; a negative factor takes the other one away."""

    def op(name: str, x: SSAValue, y: SSAValue) -> SSAValue:
        return b.value(f"{name}.i64", [x, y], i64)

    def upper(value: SSAValue, sign: str = "u", by: int = 32) -> SSAValue:
        return b.value(f"shr.i64.{sign}", [value, b.i32(by)], i64)

    mask = b.i64((1 << 32) - 1)
    (l0, r0), (l1, r1) = [op("and", v, mask) for v in (lhs, rhs)], [upper(v) for v in (lhs, rhs)]
    middle = op("add", op("mul", l1, r0), upper(op("mul", l0, r0)))
    other = op("add", op("mul", l0, r1), op("and", middle, mask))
    high = op("add", op("mul", l1, r1), op("add", upper(middle), upper(other)))
    if not signed:
        return high
    for factor, taken in ((lhs, rhs), (rhs, lhs)):
        high = op("sub", high, op("and", upper(factor, "s", 63), taken))
    return high


# Floats.


def with_sign(b: FunctionBuilder, value: SSAValue, sign: SSAValue) -> SSAValue:
    """The float `value` with the sign of `sign`."""
    suffix, kind = scalar_suffix(value.type), bits_type(value)
    name = f"i{suffix[1:]}"
    top = 1 << (int(suffix[1:]) - 1)
    magnitude = b.value(f"and.{name}", [bits(b, value), b.constant(top - 1, kind)], kind)
    chosen = b.value(f"and.{name}", [bits(b, sign), b.constant(top, kind)], kind)
    return b.value(f"bitcast.{name}.{suffix}", [b.value(f"or.{name}", [magnitude, chosen], kind)], value.type)


def _copy_sign(b: FunctionBuilder, op: Operation) -> None:
    b.values[op.results[0]] = with_sign(b, *(b.get(v) for v in op.operands))


def _round(name: str, b: FunctionBuilder, op: Operation) -> None:
    """The instructions give 0 for what rounds to -0."""
    value = b.get(op.operands[0])
    rounded = b.value(name.format(scalar_suffix(value.type)), [value], value.type)
    b.values[op.results[0]] = with_sign(b, rounded, value)


def _truncate(b: FunctionBuilder, op: Operation) -> None:
    b.values[op.results[0]] = truncated(b, b.get(op.operands[0]))


def _classify(name: str, b: FunctionBuilder, op: Operation) -> None:
    """By comparisons, which a NaN never meets."""
    value = b.get(op.operands[0])
    suffix, type = scalar_suffix(value.type), value.type
    if name == "isnan":
        result = b.value(f"cmp.nan.{suffix}", [value], i32)
    else:
        magnitude, infinite = b.value(f"abs.{suffix}", [value], type), b.constant(math.inf, type)
        if name == "isinf":
            result = b.value(f"cmp.eq.{suffix}.o", [magnitude, infinite], i32)
        else:
            result = b.value(f"cmp.lt.{suffix}.o", [magnitude, infinite], i32)
        if name == "isnormal":
            least = b.constant(2.0**-126 if type == f32 else 2.0**-1022, type)
            result = b.value("and.i32", [result, b.value(f"cmp.lte.{suffix}.o", [least, magnitude], i32)], i32)
    b.values[op.results[0]] = result


class _Formula:
    """Floats of one type, computed with names of instructions."""

    def __init__(self, b: FunctionBuilder, type: SSAValue) -> None:
        self.b, self.type, self.suffix = b, type.type, scalar_suffix(type.type)

    def __call__(self, name: str, *operands: SSAValue | float) -> SSAValue:
        values = [self.b.constant(v, self.type) if isinstance(v, int | float) else v for v in operands]
        return self.b.value(f"{name}.{self.suffix}", values, self.type)

    def where_less(self, a: SSAValue, limit: float, then: SSAValue, otherwise: SSAValue) -> SSAValue:
        less = self.b.value(f"cmp.lt.{self.suffix}.o", [a, self.b.constant(limit, self.type)], i32)
        return self.b.value(f"select.{self.suffix}", [less, then, otherwise], self.type)

    def signed(self, magnitude: SSAValue, sign: SSAValue) -> SSAValue:
        return with_sign(self.b, magnitude, sign)


def _tangent(f: _Formula, x: SSAValue) -> SSAValue:
    return f("div", f("sin", x), f("cos", x))


def _arc_sine(f: _Formula, x: SSAValue) -> SSAValue:
    return f("atan2", x, f("sqrt", f("mul", f("sub", 1.0, x), f("add", 1.0, x))))


def _arc_cosine(f: _Formula, x: SSAValue) -> SSAValue:
    return f("mul", 2.0, f("atan2", f("sqrt", f("sub", 1.0, x)), f("sqrt", f("add", 1.0, x))))


def _hyperbolic_sine(f: _Formula, x: SSAValue) -> SSAValue:
    """(e + e / (e + 1)) / 2 of e = exp(|x|) - 1; of large numbers exp(|x| / 2) twice, as the whole may overflow."""
    a = f("abs", x)
    e = f("expm1", a)
    small = f("mul", 0.5, f("add", e, f("div", e, f("add", e, 1.0))))
    half = f("exp", f("mul", 0.5, a))
    return f.signed(f.where_less(a, 22.0, small, f("mul", f("mul", 0.5, half), half)), x)


def _hyperbolic_cosine(f: _Formula, x: SSAValue) -> SSAValue:
    half = f("exp", f("mul", 0.5, f("abs", x)))
    small = f("mul", half, half)
    return f("add", f("mul", f("mul", 0.5, half), half), f("div", 0.5, small))


def _inverse_hyperbolic_sine(f: _Formula, x: SSAValue) -> SSAValue:
    """log1p(a + a² / (1 + sqrt(1 + a²))); of large numbers log(a) + log(2)."""
    a = f("abs", x)
    square = f("mul", a, a)
    small = f("log1p", f("add", a, f("div", square, f("add", 1.0, f("sqrt", f("add", 1.0, square))))))
    return f.signed(f.where_less(a, 2.0**28, small, f("add", f("log", a), math.log(2))), x)


def _inverse_hyperbolic_cosine(f: _Formula, x: SSAValue) -> SSAValue:
    """log1p(t + sqrt(2 t + t²)) of t = x - 1."""
    t = f("sub", x, 1.0)
    small = f("log1p", f("add", t, f("sqrt", f("mul", t, f("add", t, 2.0)))))
    return f.where_less(x, 2.0**28, small, f("add", f("log", x), math.log(2)))


def _inverse_hyperbolic_tangent(f: _Formula, x: SSAValue) -> SSAValue:
    a = f("abs", x)
    return f.signed(f("mul", 0.5, f("log1p", f("div", f("add", a, a), f("sub", 1.0, a)))), x)


def _formula(compute: Callable[[_Formula, SSAValue], SSAValue], b: FunctionBuilder, op: Operation) -> None:
    """In f64 throughout: a number of f32 is right then to its last digit but for rare cases."""
    value = b.get(op.operands[0])
    wide = b.value("ext.f32.f64", [value], f64) if value.type == f32 else value
    result = compute(_Formula(b, wide), wide)
    b.values[op.results[0]] = b.value("trunc.f64.f32", [result], f32) if value.type == f32 else result


def _sine_and_cosine(b: FunctionBuilder, op: Operation) -> None:
    value = b.get(op.operands[0])
    for result, name in zip(op.results, ("sin", "cos"), strict=True):
        b.values[result] = b.value(f"{name}.{scalar_suffix(value.type)}", [value], value.type)


HANDLERS: dict[str, Handler] = {
    "arith.addui_extended": _add_with_carry,
    "arith.mulsi_extended": partial(_product, True),
    "arith.mului_extended": partial(_product, False),
    "math.absi": _absolute,
    "math.ctlz": _leading_zeros,
    "math.ctpop": _population,
    "math.cttz": _trailing_zeros,
    "math.absf": partial(_plain, "abs"),
    "math.copysign": _copy_sign,
    "math.fma": fused_multiply_add,
    "math.powf": partial(_plain, "pow"),
    "math.round": partial(_round, "round.{}"),
    "math.roundeven": partial(_round, "round.{}.even"),
    "math.trunc": _truncate,
    "math.sincos": _sine_and_cosine,
    **{f"math.{name}": partial(_classify, name) for name in ("isfinite", "isinf", "isnan", "isnormal")},
    **{
        f"math.{name}": partial(_plain, name)
        for name in (
            "atan", "atan2", "ceil", "cos", "erf", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p",
            "log2", "rsqrt", "sin", "sqrt", "tanh",
        )
    },
    "math.acos": partial(_formula, _arc_cosine),
    "math.acosh": partial(_formula, _inverse_hyperbolic_cosine),
    "math.asin": partial(_formula, _arc_sine),
    "math.asinh": partial(_formula, _inverse_hyperbolic_sine),
    "math.atanh": partial(_formula, _inverse_hyperbolic_tangent),
    "math.cosh": partial(_formula, _hyperbolic_cosine),
    "math.sinh": partial(_formula, _hyperbolic_sine),
    "math.tan": partial(_formula, _tangent),
}  # fmt: skip
