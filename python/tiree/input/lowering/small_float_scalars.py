"""Scalar arith and math ops on floats of 4, 6 and 8 bits, in the bodies of structured ops or outside of them.

Such scalars are bytes. An op that computes gets its operands as f32, and its result is rounded back; one that only
moves a scalar moves the byte.
"""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, Float32Type, Float64Type, IntegerAttr, i8
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects.arith import ConstantOp
from tiree.dialects.syntax.small_floats import small_float
from tiree.input.lowering.context import Lowering, Unsupported, signless
from tiree.input.lowering.scalar import ScalarBuilder
from tiree.input.lowering.small_floats import decode, encode
from tiree.support.typed import is_float_attr

_F32 = Float32Type()
_DIALECTS = ("arith.", "math.")
_MOVES = frozenset({"arith.select", "arith.bitcast"})
_SCALED = frozenset({"arith.scaling_extf", "arith.scaling_truncf"})
_RESIZES = frozenset({"arith.extf", "arith.truncf", "arith.convertf"})
_WHERE = ("linalg.", *_DIALECTS)


def has_small_float_scalars(op: Operation) -> bool:
    """Whether `op` is an arith or math op on scalars of 4, 6 or 8 bits that computes."""
    if not op.name.startswith(_DIALECTS) or op.name in _MOVES:
        return False
    return any(small_float(value.type) is not None for value in (*op.operands, *op.results))


def lower_small_float_scalars(lowering: Lowering, op: Operation) -> None:
    """Emits what `op` is on bytes."""
    s = lowering.scalars()
    (result,) = op.results
    if isinstance(op, ConstantOp):
        value, format = op.value, small_float(result.type)
        if not is_float_attr(value) or format is None:
            raise Unsupported("")
        bits = format.bits(value.value.data)
        lowering.set(result, lowering.constant(IntegerAttr(bits - 256 if bits > 127 else bits, i8)))
        return
    if op.name in _SCALED:
        raise Unsupported("")
    operands = [_wide(s, value, lowering.get(value)) for value in op.operands]
    if op.name in _RESIZES:
        number = operands[0]
    else:
        wide = _F32 if small_float(result.type) is not None else signless(result.type)
        new = type(op).create(
            operands=operands, result_types=[wide], properties=op.properties, attributes=op.attributes
        )
        number = s.add(new).results[0]
        format = small_float(result.type)
        if format is not None and format.nan is None:
            # Processors differ in the sign of NaN, which would be that of the zero.
            number = s.select(s.cmpf("uno", number, number), s.constant(number.type, 0.0), number)
    lowering.set(result, _narrow(s, number, result.type))


def _wide(s: ScalarBuilder, old: SSAValue, new: SSAValue) -> SSAValue:
    format = small_float(old.type)
    return new if format is None else decode(s, format, new)


def _narrow(s: ScalarBuilder, number: SSAValue, element: Attribute) -> SSAValue:
    """`number` in the type of the op's result."""
    format = small_float(element)
    if format is None:
        resizes = isinstance(element, AnyFloat) and number.type != element
        return s.float_resize(number, element) if resizes else number
    if not isinstance(number.type, (Float32Type, Float64Type)):
        number = s.float_resize(number, _F32)
    return encode(s, format, number)
