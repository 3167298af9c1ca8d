"""ONNX's numbers for element types (`TensorProto.DataType`), which attributes such as `to` of Cast hold."""

from __future__ import annotations

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

_UNSIGNED = {2: 8, 4: 16, 12: 32, 13: 64, 21: 4}
_SIGNED = {3: 8, 5: 16, 6: 32, 7: 64, 9: 1, 22: 4}

ELEMENTS: dict[int, Attribute] = {
    **{number: IntegerType(width, Signedness.UNSIGNED) for number, width in _UNSIGNED.items()},
    **{number: IntegerType(width) for number, width in _SIGNED.items()},
    1: Float32Type(),
    10: Float16Type(),
    11: Float64Type(),
    16: BFloat16Type(),
    17: Float8E4M3FNType(),
    18: Float8E4M3FNUZType(),
    19: Float8E5M2Type(),
    20: Float8E5M2FNUZType(),
    23: Float4E2M1FNType(),
    24: Float8E8M0FNUType(),
}
"""The types that Tiree computes in; integers with a sign are signless."""

NAMES = {8: "string", 14: "complex64", 15: "complex128", 25: "uint2", 26: "int2", 27: "float6e2m3", 28: "float6e3m2"}
"""What the others are called."""


def signed(element: Attribute) -> Attribute:
    """As the `torch` dialect writes it: `si64` for `i64`; booleans are `i1`."""
    match element:
        case IntegerType() if element.signedness.data is Signedness.SIGNLESS and element.width.data > 1:
            return IntegerType(element.width.data, Signedness.SIGNED)
        case _:
            return element
