"""Scalars as 32-bit words: what a dispatch can be given beside its bindings.

Up to 32 bits take one word (narrower integers are zero-extended, floats are bit patterns), `index`, 64-bit integers and
floats two, low word first.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects.arith import ConstantOp, constant_of
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.typed import is_integer_attr, is_integer_type


def _width(type: Attribute) -> int:
    if isinstance(type, IndexType):
        return 64
    if is_integer_type(type):
        return type.width.data
    if isinstance(type, AnyFloat):
        return type.bitwidth
    return 0


def word_types(type: Attribute, what: str) -> list[Attribute]:
    """The words of a scalar type. Raises `CompileError` for a type that has none."""
    width = _width(type)
    if not 0 < width <= 64:
        raise CompileError(
            Diagnostic(f"{what} of type {type} cannot be passed to a dispatch", hint="pass scalars of at most 64 bits")
        )
    return [i32] * (1 if width <= 32 else 2)


def _as_integer(value: SSAValue, ops: list[Operation]) -> SSAValue:
    """`value` as a signless integer of its own width."""
    if isinstance(value.type, IndexType):
        ops.append(arith.IndexCastOp(value, i64))
    elif isinstance(value.type, AnyFloat):
        ops.append(arith.BitcastOp(value, IntegerType(_width(value.type))))
    else:
        return value
    return ops[-1].results[0]


def _signed_word(value: int) -> int:
    word = value & 0xFFFFFFFF
    return word - (1 << 32) if word >= 1 << 31 else word


def pack_words(value: SSAValue) -> tuple[list[Operation], list[SSAValue]]:
    """Operations that split `value` into words, and the words."""
    known = constant_of(value)
    if is_integer_attr(known):
        number, count = known.value.data, len(word_types(value.type, "operand"))
        constants = [ConstantOp.integer(_signed_word(number >> 32 * i), 32) for i in range(count)]
        return list(constants), [constant.result for constant in constants]
    ops: list[Operation] = []
    integer = _as_integer(value, ops)
    width = _width(integer.type)
    if width == 32:
        return ops, [integer]
    if width < 32:
        ops.append(arith.ExtUIOp(integer, i32))
        return ops, [ops[-1].results[0]]
    if width < 64:
        ops.append(arith.ExtUIOp(integer, i64))
        integer = ops[-1].results[0]
    low = arith.TruncIOp(integer, i32)
    shift = ConstantOp.integer(32, 64)
    high = arith.ShRUIOp(integer, shift.result)
    high_word = arith.TruncIOp(high.result, i32)
    ops.extend([low, shift, high, high_word])
    return ops, [low.result, high_word.result]


def unpack_words(words: Sequence[SSAValue], type: Attribute) -> tuple[list[Operation], SSAValue]:
    """Operations that rebuild a value of `type` from its words, and the value."""
    ops: list[Operation] = []
    width = _width(type)
    value = words[0]
    if len(words) == 2:
        low, high = arith.ExtUIOp(words[0], i64), arith.ExtUIOp(words[1], i64)
        shift = ConstantOp.integer(32, 64)
        shifted = arith.ShLIOp(high.result, shift.result)
        joined = arith.OrIOp(shifted.result, low.result)
        ops.extend([low, high, shift, shifted, joined])
        value = joined.result
    carrier = 64 if len(words) == 2 else 32
    if width < carrier:
        ops.append(arith.TruncIOp(value, IntegerType(width)))
        value = ops[-1].results[0]
    if isinstance(type, IndexType):
        ops.append(arith.IndexCastOp(value, type))
    elif isinstance(type, AnyFloat):
        ops.append(arith.BitcastOp(value, type))
    elif value.type != type:
        raise CompileError(f"scalar of type {type} cannot be passed to a dispatch; use a signless type")
    return ops, ops[-1].results[0] if ops else value
