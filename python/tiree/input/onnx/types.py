"""ONNX's numbers for element types."""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute

from tiree.input.lowering.context import Unsupported

_INTEGERS = {2: "ui8", 3: "i8", 4: "ui16", 5: "i16", 6: "i32", 7: "i64", 9: "i1", 12: "ui32", 13: "ui64"} | {
    21: "ui4",
    22: "i4",
}
_FLOATS = {1: Float32Type(), 10: Float16Type(), 11: Float64Type(), 16: BFloat16Type()}
_SMALL = {
    17: Float8E4M3FNType(),
    18: Float8E4M3FNUZType(),
    19: Float8E5M2Type(),
    20: Float8E5M2FNUZType(),
    23: Float4E2M1FNType(),
    24: Float8E8M0FNUType(),
}
_NAMES = {8: "string", 14: "complex64", 15: "complex128", 25: "uint2", 26: "int2"}


@cache
def element_of_number(number: int) -> Attribute:
    """The element type of a `TensorProto.DataType`. Raises `Unsupported` for strings and complex numbers."""
    if number in _FLOATS:
        return _FLOATS[number]
    name = _INTEGERS.get(number)
    if name is not None:
        unsigned = name.startswith("u")
        return IntegerType(int(name.strip("ui")), Signedness.UNSIGNED if unsigned else Signedness.SIGNLESS)
    if number in _SMALL:
        return _SMALL[number]
    raise Unsupported(f"with elements of type {_NAMES.get(number, number)}")
