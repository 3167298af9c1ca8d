"""The bits of elements as integers of their width, and elements of bits."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, SSAValue

from tiree.dialects.syntax.small_floats import small_float
from tiree.input.lowering.context import Unsupported
from tiree.input.lowering.scalar import ScalarBuilder
from tiree.support.typed import is_complex_type, is_integer_type


def bit_width(type: Attribute) -> int:
    """Bits of an element. Raises `Unsupported` for types without a bit pattern of their own."""
    if is_integer_type(type):
        return type.width.data
    if (format := small_float(type)) is not None:
        return format.width
    if isinstance(type, AnyFloat):
        return type.bitwidth
    if is_complex_type(type):
        return 2 * bit_width(type.element_type)
    raise Unsupported(f"on elements of type {type}")


def to_bits(s: ScalarBuilder, value: SSAValue, width: int) -> SSAValue:
    """The bits of a new scalar as an integer of `width` bits, the width of its old type."""
    if isinstance(value.type, AnyFloat):
        return s.bitcast(value, IntegerType(width))
    return s.cast(arith.TruncIOp, value, IntegerType(width))


def from_bits(s: ScalarBuilder, bits: SSAValue, type: Attribute) -> SSAValue:
    """The scalar of the new type `type` with these bits."""
    if isinstance(type, AnyFloat):
        return s.bitcast(bits, type)
    return s.cast(arith.ExtUIOp, bits, type)
