"""Host arithmetic to `vm` instructions: `arith` on i1..i64, index, f32 and f64 scalars.

Registers are 32 or 64 bits wide. An i1 is kept as 0 or 1; other integers of less than 32 bits leave their upper bits
open, and an operation whose result depends on them (comparison, division, right shift, widening) extends its operands
first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.dialects.builtin import IntegerType, f64, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.support.typed import int_of, is_float_attr, is_integer_attr, is_integer_type
from tiree.vm.builder import FunctionBuilder, convert_type, fail, scalar_suffix

Handler = Callable[[FunctionBuilder, Operation], None]


def width_of(type: Attribute) -> int:
    return type.width.data if is_integer_type(type) else 64


def extended(b: FunctionBuilder, value: SSAValue, signed: bool) -> SSAValue:
    """The register of source value `value` with its upper bits as a signed or unsigned number has them."""
    register, width = b.get(value), width_of(value.type)
    sign = "s" if signed else "u"
    if width in (8, 16) and is_integer_type(value.type):
        return b.value(f"ext.i{width}.i32.{sign}", [register], i32)
    if width == 1 and signed:
        return b.value("sub.i32", [b.i32(0), register], i32)
    if 1 < width < 32:
        shift = b.i32(32 - width)
        return b.value(f"shr.i32.{sign}", [b.value("shl.i32", [register, shift], i32), shift], i32)
    return register


def _result(b: FunctionBuilder, op: Operation, name: str, operands: list[SSAValue]) -> None:
    b.values[op.results[0]] = b.value(name, operands, convert_type(op.results[0].type, op))


def _constant(b: FunctionBuilder, op: Operation) -> None:
    value, type = op.properties["value"], convert_type(op.results[0].type, op)
    if is_integer_attr(value):
        number = value.value.data & 1 if op.results[0].type == i1 else value.value.data
        b.values[op.results[0]] = b.constant(number, type)
    elif is_float_attr(value):
        b.values[op.results[0]] = b.constant(value.value.data, type)
    else:
        raise fail(op, f"a constant of type {op.results[0].type} cannot live in a host register")


def _binary(name: str, on_i1: str, b: FunctionBuilder, op: Operation) -> None:
    """Wrapping arithmetic and bit operations: upper bits do not matter, i1 has its own instruction."""
    name = on_i1 if op.results[0].type == i1 else name
    suffix = scalar_suffix(convert_type(op.results[0].type, op))
    _result(b, op, f"{name}.{suffix}", [b.get(v) for v in op.operands])


def _signed_binary(name: str, sign: str, b: FunctionBuilder, op: Operation) -> None:
    """Operations that look at all bits: div, rem, min, max, right shifts."""
    operands = [extended(b, v, sign == "s") for v in op.operands]
    suffix = scalar_suffix(convert_type(op.results[0].type, op))
    if name in ("shr", "shl"):
        operands[1] = b.as_type(operands[1], i32)
    _result(b, op, f"{name}.{suffix}.{sign}" if sign else f"{name}.{suffix}", operands)
    if op.results[0].type == i1:
        b.values[op.results[0]] = b.value("and.i32", [b.get(op.results[0]), b.i32(1)], i32)


_CMPI = [
    ("eq", "", False),
    ("ne", "", False),
    ("lt", "s", False),
    ("le", "s", False),
    ("lt", "s", True),
    ("le", "s", True),
    ("lt", "u", False),
    ("le", "u", False),
    ("lt", "u", True),
    ("le", "u", True),
]
"""By `arith.cmpi` predicate number: relation, sign, whether operands are swapped."""


def _cmpi(b: FunctionBuilder, op: Operation) -> None:
    relation, sign, swap = _CMPI[int_of(op.properties["predicate"])]
    lhs, rhs = (extended(b, v, sign == "s") for v in op.operands)
    if swap:
        lhs, rhs = rhs, lhs
    suffix = scalar_suffix(lhs.type)
    if relation == "le":  # a <= b is not (b < a)
        less = b.value(f"cmp.lt.{suffix}.{sign}", [rhs, lhs], i32)
        b.values[op.results[0]] = b.value("xor.i32", [less, b.i32(1)], i32)
    else:
        name = f"cmp.{relation}.{suffix}" + (f".{sign}" if sign else "")
        b.values[op.results[0]] = b.value(name, [lhs, rhs], i32)


_CMPF = {
    1: "eq.o", 2: "gt.o", 3: "ge.o", 4: "lt.o", 5: "lte.o",
    8: "eq.u", 9: "gt.u", 10: "ge.u", 11: "lt.u", 12: "lte.u", 13: "ne.u",
}  # fmt: skip


def _cmpf(b: FunctionBuilder, op: Operation) -> None:
    predicate = int_of(op.properties["predicate"])
    lhs, rhs = b.get(op.operands[0]), b.get(op.operands[1])
    suffix = scalar_suffix(lhs.type)
    if predicate in (0, 15):
        result = b.i32(int(predicate == 15))
    elif predicate == 6:  # one: vm.cmp.ne.o is true for NaN, so it is built from the two orders
        less = b.value(f"cmp.lt.{suffix}.o", [lhs, rhs], i32)
        greater = b.value(f"cmp.lt.{suffix}.o", [rhs, lhs], i32)
        result = b.value("or.i32", [less, greater], i32)
    elif predicate in (7, 14):  # ord, uno
        nans = [b.value(f"cmp.nan.{suffix}", [v], i32) for v in (lhs, rhs)]
        result = b.value("or.i32", nans, i32)
        if predicate == 7:
            result = b.value("xor.i32", [result, b.i32(1)], i32)
    else:
        relation, order = _CMPF[predicate].split(".")
        if relation in ("gt", "ge"):
            lhs, rhs = rhs, lhs
            relation = {"gt": "lt", "ge": "lte"}[relation]
        result = b.value(f"cmp.{relation}.{suffix}.{order}", [lhs, rhs], i32)
    b.values[op.results[0]] = result


def _select(b: FunctionBuilder, op: Operation) -> None:
    condition, true, false = (b.get(v) for v in op.operands)
    suffix = scalar_suffix(true.type)
    b.values[op.results[0]] = b.value(f"select.{suffix}", [condition, true, false], true.type)


def resize(b: FunctionBuilder, op: Operation, value: SSAValue, target: Attribute, signed: bool) -> SSAValue:
    """Source value `value` as a number of source type `target`."""
    register = extended(b, value, signed)
    wide, narrow = width_of(target), width_of(value.type)
    type = convert_type(target, op)
    if type == i64 and register.type == i32:
        return b.value(f"ext.i32.i64.{'s' if signed else 'u'}", [register], i64)
    if type == i32 and register.type == i64:
        register = b.value("trunc.i64.i32", [register], i32)
    if wide == 1 and narrow != 1:
        return b.value("and.i32", [register, b.i32(1)], i32)
    return register


def _resize(signed: bool, b: FunctionBuilder, op: Operation) -> None:
    b.values[op.results[0]] = resize(b, op, op.operands[0], op.results[0].type, signed)


def _int_to_float(signed: bool, b: FunctionBuilder, op: Operation) -> None:
    register = extended(b, op.operands[0], signed)
    target = scalar_suffix(convert_type(op.results[0].type, op))
    width = 64 if register.type == i64 else 32
    _result(b, op, f"cast.{'si' if signed else 'ui'}{width}.{target}", [register])


def _float_to_int(signed: bool, b: FunctionBuilder, op: Operation) -> None:
    """`arith.fptosi` cuts the fraction; the instruction rounds to nearest, so the fraction goes first.

    From f64, only the instructions to 64 bits keep all digits. None is right from 2^63 on: there the upper half of the
    unsigned numbers is less by half of all.
    """
    value = b.get(op.operands[0])
    type, suffix = convert_type(op.results[0].type, op), scalar_suffix(value.type)
    whole = truncated(b, value)
    if suffix == "f32" and type == i32:
        register = b.value(f"cast.f32.{'si' if signed else 'ui'}32", [whole], i32)
    elif signed or type == i32:
        register = b.as_type(b.value(f"cast.{suffix}.si64", [whole], i64), type)
    else:
        half = b.constant(2.0**63, value.type)
        is_upper = b.value(f"cmp.lte.{suffix}.o", [half, whole], i32)
        less = b.value(f"sub.{suffix}", [whole, half], value.type)
        small = b.value(f"select.{suffix}", [is_upper, less, whole], value.type)
        low = b.value(f"cast.{suffix}.si64", [small], i64)
        high = b.value("xor.i64", [low, b.i64(-(1 << 63))], i64)
        register = b.value("select.i64", [is_upper, high, low], i64)
    b.values[op.results[0]] = b.value("and.i32", [register, b.i32(1)], i32) if op.results[0].type == i1 else register


def truncated(b: FunctionBuilder, value: SSAValue) -> SSAValue:
    """The float `value` without what is behind the point."""
    suffix = scalar_suffix(value.type)
    negative = b.value(f"cmp.lt.{suffix}.o", [value, b.constant(0.0, value.type)], i32)
    up = b.value(f"ceil.{suffix}", [value], value.type)
    down = b.value(f"floor.{suffix}", [value], value.type)
    return b.value(f"select.{suffix}", [negative, up, down], value.type)


def _float_resize(b: FunctionBuilder, op: Operation) -> None:
    source, target = (scalar_suffix(convert_type(t, op)) for t in (op.operands[0].type, op.results[0].type))
    if source == target:
        b.values[op.results[0]] = b.get(op.operands[0])
    else:
        _result(b, op, f"{'ext' if source == 'f32' else 'trunc'}.{source}.{target}", [b.get(op.operands[0])])


def _bitcast(b: FunctionBuilder, op: Operation) -> None:
    source, target = (scalar_suffix(convert_type(t, op)) for t in (op.operands[0].type, op.results[0].type))
    if source == target:
        b.values[op.results[0]] = b.get(op.operands[0])
    else:
        _result(b, op, f"bitcast.{source}.{target}", [b.get(op.operands[0])])


def _float_op(name: str, b: FunctionBuilder, op: Operation) -> None:
    _result(b, op, f"{name}.{scalar_suffix(b.get(op.operands[0]).type)}", [b.get(v) for v in op.operands])


def _remainder(b: FunctionBuilder, op: Operation) -> None:
    """`arith.remf` has the sign of the dividend; the instruction gives what is nearest to 0, of either sign."""
    lhs, rhs = b.get(op.operands[0]), b.get(op.operands[1])
    suffix, type = scalar_suffix(lhs.type), lhs.type
    zero = b.constant(0.0, type)

    def less(a: SSAValue, c: SSAValue) -> SSAValue:
        return b.value(f"cmp.lt.{suffix}.o", [a, c], i32)

    near = b.value(f"rem.{suffix}", [lhs, rhs], type)
    magnitude = b.value(f"abs.{suffix}", [rhs], type)
    is_negative = less(lhs, zero)
    above = b.value("and.i32", [is_negative, less(zero, near)], i32)
    below = b.value("and.i32", [less(zero, lhs), less(near, zero)], i32)
    opposite = b.value(f"neg.{suffix}", [magnitude], type)
    step = b.value(f"select.{suffix}", [is_negative, opposite, magnitude], type)
    moved = b.value(f"add.{suffix}", [near, step], type)
    wrong = b.value("or.i32", [above, below], i32)
    _result(b, op, f"select.{suffix}", [wrong, moved, near])


def _float_extremum(name: str, keep_nan: bool, b: FunctionBuilder, op: Operation) -> None:
    """`maximumf`/`minimumf` hand NaN on, `maxnumf`/`minnumf` the other operand; the instruction keeps its first.

    For the former, -0 is less than 0. Where numbers are equal their bits decide: all of both, or
    those that both have.
    """
    lhs, rhs = b.get(op.operands[0]), b.get(op.operands[1])
    suffix, type = scalar_suffix(lhs.type), lhs.type
    plain = b.value(f"{name}.{suffix}", [lhs, rhs], type)
    if keep_nan:
        joined = b.value(
            f"{'and' if name == 'max' else 'or'}.i{suffix[1:]}", [bits(b, lhs), bits(b, rhs)], bits_type(lhs)
        )
        together = b.value(f"bitcast.i{suffix[1:]}.{suffix}", [joined], type)
        same = b.value(f"cmp.eq.{suffix}.o", [lhs, rhs], i32)
        plain = b.value(f"select.{suffix}", [same, together, plain], type)
    lhs_nan = b.value(f"cmp.nan.{suffix}", [lhs], i32)
    rhs_nan = b.value(f"cmp.nan.{suffix}", [rhs], i32)
    on_lhs, on_rhs = (lhs, rhs) if keep_nan else (rhs, lhs)
    inner = b.value(f"select.{suffix}", [rhs_nan, on_rhs, plain], type)
    b.values[op.results[0]] = b.value(f"select.{suffix}", [lhs_nan, on_lhs, inner], type)


def bits_type(value: SSAValue) -> IntegerType:
    """The integers of the width of the float `value`."""
    return i64 if value.type == f64 else i32


def bits(b: FunctionBuilder, value: SSAValue) -> SSAValue:
    """The float `value` as an integer of its width."""
    return b.value("bitcast.f64.i64" if value.type == f64 else "bitcast.f32.i32", [value], bits_type(value))


def _ceildiv_floordiv(op_name: str, b: FunctionBuilder, op: Operation) -> None:
    """Signed and unsigned division that rounds up or down: the quotient corrected by one where a remainder is left."""
    signed = not op_name.endswith("ui")
    lhs, rhs = (extended(b, v, signed) for v in op.operands)
    suffix, type, sign = scalar_suffix(lhs.type), lhs.type, "s" if signed else "u"
    quotient = b.value(f"div.{suffix}.{sign}", [lhs, rhs], type)
    remainder = b.value(f"rem.{suffix}.{sign}", [lhs, rhs], type)
    inexact = b.value(f"cmp.nz.{suffix}", [remainder], i32)
    up = op_name.startswith("ceil")
    if signed:
        # The exact quotient is negative when the signs of remainder and divisor differ.
        mixed = b.value(f"xor.{suffix}", [remainder, rhs], type)
        negative = b.value(f"cmp.lt.{suffix}.s", [mixed, b.constant(0, type)], i32)
        wanted = b.value("xor.i32", [negative, b.i32(1)], i32) if up else negative
        inexact = b.value("and.i32", [inexact, wanted], i32)
    step = b.as_type(inexact, type) if type == i32 else b.value("ext.i32.i64.u", [inexact], i64)
    _result(b, op, f"{'add' if up else 'sub'}.{suffix}", [quotient, step])


HANDLERS: dict[str, Handler] = {
    "arith.constant": _constant,
    "arith.cmpi": _cmpi,
    "arith.cmpf": _cmpf,
    "arith.select": _select,
    "arith.extsi": partial(_resize, True),
    "arith.extui": partial(_resize, False),
    "arith.trunci": partial(_resize, False),
    "arith.index_cast": partial(_resize, True),
    "arith.index_castui": partial(_resize, False),
    "arith.sitofp": partial(_int_to_float, True),
    "arith.uitofp": partial(_int_to_float, False),
    "arith.fptosi": partial(_float_to_int, True),
    "arith.fptoui": partial(_float_to_int, False),
    "arith.extf": _float_resize,
    "arith.truncf": _float_resize,
    "arith.bitcast": _bitcast,
    "arith.maximumf": partial(_float_extremum, "max", True),
    "arith.minimumf": partial(_float_extremum, "min", True),
    "arith.maxnumf": partial(_float_extremum, "max", False),
    "arith.minnumf": partial(_float_extremum, "min", False),
}
for _name, _vm, _i1 in (
    ("addi", "add", "xor"),
    ("subi", "sub", "xor"),
    ("muli", "mul", "and"),
    ("andi", "and", "and"),
    ("ori", "or", "or"),
    ("xori", "xor", "xor"),
):
    HANDLERS[f"arith.{_name}"] = partial(_binary, _vm, _i1)
for _name in ("div", "rem", "shr", "min", "max"):
    for _sign in "su":
        _mlir = f"{_name}{_sign}i" if _name != "shr" else f"shr{_sign}i"
        HANDLERS[f"arith.{_mlir}"] = partial(_signed_binary, _name, _sign)
HANDLERS["arith.shli"] = partial(_signed_binary, "shl", "")
for _name in ("ceildivsi", "ceildivui", "floordivsi"):
    HANDLERS[f"arith.{_name}"] = partial(_ceildiv_floordiv, _name)
HANDLERS["arith.remf"] = _remainder
for _name in ("add", "sub", "mul", "div", "neg"):
    HANDLERS[f"arith.{_name}f"] = partial(_float_op, _name)
