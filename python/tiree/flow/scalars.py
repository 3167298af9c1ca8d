"""Evaluating scalar operations on constants: what the folders of this stage may compute at compile time.

Only operations whose result is exact and the same on every target are here: integer arithmetic, comparisons,
selects, conversions and the basic IEEE operations of f32 and f64. Integers are Python ints in signed form (`i1`: 0
or 1).
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable

from xdsl.dialects.builtin import Float32Type, Float64Type, FloatAttr, IndexType, IntegerAttr
from xdsl.ir import Attribute, Operation

from tiree.support.typed import int_of, is_integer_type

Number = int | float


def width_of(type: Attribute) -> int:
    return type.width.data if is_integer_type(type) else 64


def wrap(value: int, type: Attribute) -> int:
    """`value` modulo the width of `type`, signed (`i1`: 0 or 1)."""
    width = width_of(type)
    value &= (1 << width) - 1
    return value - (1 << width) if width > 1 and value >> (width - 1) else value


def unsigned(value: int, type: Attribute) -> int:
    return value & ((1 << width_of(type)) - 1)


def round_to(value: float, type: Attribute) -> float:
    if isinstance(type, Float32Type):
        try:
            return struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    return value


def scalar_attr(value: Number, type: Attribute) -> IntegerAttr | FloatAttr | None:
    """The attribute of a scalar constant, or None for a type the folder does not handle."""
    if is_integer_type(type) or isinstance(type, IndexType):
        return IntegerAttr(wrap(int(value), type), type)
    if isinstance(type, Float32Type | Float64Type):
        return FloatAttr(float(value), type)
    return None


_SIGNED: dict[int, Callable[[int, int], bool]] = {
    0: operator.eq,
    1: operator.ne,
    2: operator.lt,
    3: operator.le,
    4: operator.gt,
    5: operator.ge,
}

_INTEGER: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.andi": int.__and__,
    "arith.ori": int.__or__,
    "arith.xori": int.__xor__,
    "arith.maxsi": max,
    "arith.minsi": min,
}

_FLOAT: dict[str, Callable[[float, float], float]] = {
    "arith.addf": operator.add,
    "arith.subf": operator.sub,
    "arith.mulf": operator.mul,
}


def _compare_integers(op: Operation, a: int, b: int) -> int:
    predicate = int_of(op.properties["predicate"])
    if predicate >= 6:
        type = op.operands[0].type
        a, b = unsigned(a, type), unsigned(b, type)
        predicate -= 4
    return int(_SIGNED[predicate](a, b))


def _compare_floats(op: Operation, a: float, b: float) -> int | None:
    """Predicates: 0 false, 1-6 ordered ==,>,>=,<,<=,!=; 7 ord, 8-13 the same unordered, 14 uno, 15 true."""
    predicate = int_of(op.properties["predicate"])
    nan = a != a or b != b
    if predicate in (0, 15):
        return int(predicate == 15)
    if predicate in (7, 14):
        return int(nan == (predicate == 14))
    if nan:
        return int(predicate >= 8)
    relation = (operator.eq, operator.gt, operator.ge, operator.lt, operator.le, operator.ne)
    return int(relation[(predicate - 1) % 7](a, b))


def evaluate(op: Operation, operands: list[Number]) -> Number | None:
    """The single result of a scalar `op` on constants, or None when it is not foldable."""
    name = op.name
    if len(op.results) != 1:
        return None
    type = op.results[0].type
    if name in _INTEGER:
        return wrap(_INTEGER[name](int(operands[0]), int(operands[1])), type)
    if name in _FLOAT and isinstance(type, Float32Type | Float64Type):
        return round_to(_FLOAT[name](*operands), type)
    match name:
        case "arith.cmpi":
            return _compare_integers(op, int(operands[0]), int(operands[1]))
        case "arith.cmpf":
            return _compare_floats(op, *operands)
        case "arith.select":
            return operands[1] if operands[0] else operands[2]
        case "arith.extsi" | "arith.index_cast" | "arith.trunci":
            value = int(operands[0])
            if width_of(op.operands[0].type) == 1:
                value = -value if name != "arith.trunci" else value
            return wrap(value, type)
        case "arith.extui" | "arith.index_castui":
            return wrap(unsigned(int(operands[0]), op.operands[0].type), type)
        case "arith.sitofp" | "arith.uitofp" if isinstance(type, Float64Type | Float32Type):
            value = int(operands[0])
            source = op.operands[0].type
            if name == "arith.uitofp":
                value = unsigned(value, source)
            elif width_of(source) == 1:
                value = -value
            return round_to(float(value), type) if abs(value) < 1 << 53 else None
        case "arith.extf" if isinstance(op.operands[0].type, Float32Type):
            return operands[0]
        case "arith.negf" if isinstance(type, Float32Type | Float64Type):
            return -operands[0]
        case _:
            return None
