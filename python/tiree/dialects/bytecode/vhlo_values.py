"""VHLO's types and attributes, which become those of the builtin dialect and of StableHLO as they are read."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    BoolAttr,
    ComplexType,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E3M4Type,
    Float8E4M3B11FNUZType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E4M3Type,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    NoneType,
    Signedness,
    TensorType,
    TupleType,
    UnrankedTensorType,
    i32,
)
from xdsl.ir import Attribute

from tiree.dialects import stablehlo_attrs
from tiree.dialects.bytecode.builtin import (
    always,
    constant,
    dictionary,
    float_number,
    function_type,
    integer,
    read_shape,
    string,
)
from tiree.dialects.bytecode.cursor import Cursor
from tiree.dialects.bytecode.quantized import per_axis, uniform
from tiree.dialects.bytecode.stablehlo import (
    accuracy,
    axis_ref,
    enum,
    future,
    mesh,
    mesh_axes,
    mesh_axis,
    output_operand_alias,
    sub_axis,
    type_extensions,
)
from tiree.dialects.bytecode.values import Decoder, Values
from tiree.support.typed import is_tensor_type

# Attributes.


def _boolean(values: Values, cursor: Cursor) -> Attribute:
    del values
    at = cursor.position
    value = cursor.varint()
    if value > 1:
        cursor.fail(f"{value} is no boolean", at)
    return BoolAttr.from_bool(bool(value))


def _api_version(values: Values, cursor: Cursor) -> Attribute:
    del values
    at = cursor.position
    value = cursor.varint()
    if value >= len(stablehlo_attrs.CustomCallApiVersionAttr.VALUES):
        cursor.fail(f"there is no API version {value} of custom calls", at)
    return IntegerAttr(value, i32)


def _tensor_value(values: Values, cursor: Cursor) -> Attribute:
    at = cursor.position
    type = values.type(cursor)
    if not is_tensor_type(type) or any(size < 0 for size in type.get_shape()):
        cursor.fail(f"a constant needs a tensor of static shape, not {type}", at)
    return constant(cursor, type, cursor.blob())


def _accuracy(values: Values, cursor: Cursor) -> Attribute:
    return accuracy(values, cursor, stablehlo_attrs.ResultAccuracyModeAttr.name)


def _axis(values: Values, cursor: Cursor) -> Attribute:
    name = values.string(cursor)
    return axis_ref(values, cursor, name, bool(cursor.varint()))


def _mesh_axes(values: Values, cursor: Cursor) -> Attribute:
    named = values.attribute(cursor)
    return mesh_axes(values, cursor, named, values.attribute(cursor))


def _mesh_axis(values: Values, cursor: Cursor) -> Attribute:
    return mesh_axis(values, cursor, values.string(cursor))


def _mesh(values: Values, cursor: Cursor) -> Attribute:
    axes = values.attribute(cursor)
    at = cursor.position
    index, has_devices = cursor.flagged()
    return mesh(values, cursor, axes, values.attribute_at(cursor, index, at) if has_devices else None)


ATTRIBUTES: dict[tuple[str, int], Decoder] = {
    ("vhlo", code): read
    for code, read in enumerate[Decoder](
        (
            lambda values, cursor: ArrayAttr(values.attributes(cursor)),
            _boolean,
            enum(stablehlo_attrs.ComparisonDirectionAttr),
            enum(stablehlo_attrs.ComparisonTypeAttr),
            _api_version,
            dictionary,
            enum(stablehlo_attrs.FftTypeAttr),
            lambda values, cursor: float_number(cursor, values.type(cursor)),
            lambda values, cursor: integer(cursor, values.type(cursor)),
            output_operand_alias,
            enum(stablehlo_attrs.PrecisionAttr),
            enum(stablehlo_attrs.RngAlgorithmAttr),
            enum(stablehlo_attrs.RngDistributionAttr, 1),
            string,
            _tensor_value,
            enum(stablehlo_attrs.TransposeAttr),
            lambda values, cursor: values.type(cursor),
            type_extensions,
            enum(stablehlo_attrs.ResultAccuracyModeAttr),
            _accuracy,
            sub_axis,
            _axis,
            _mesh_axes,
            _mesh_axis,
            _mesh,
        ),
        1,
    )
}


# Types.


def _tensor(values: Values, cursor: Cursor, encoding: Attribute | None = None) -> Attribute:
    shape = read_shape(cursor)
    return TensorType(values.type(cursor), shape, NoneAttr() if encoding is None else encoding)


def _buffer(values: Values, cursor: Cursor) -> Attribute:
    shape = read_shape(cursor)
    return MemRefType(values.type(cursor), shape)


def _token(values: Values, cursor: Cursor) -> Attribute:
    del values, cursor
    return stablehlo_attrs.TokenType()


def _witness(values: Values, cursor: Cursor) -> Attribute:
    return values.from_text(cursor, "!shape.witness", "type")


def _int(width: int, signedness: Signedness = Signedness.SIGNLESS) -> Decoder:
    return always(lambda: IntegerType(width, signedness))


_UNSIGNED = Signedness.UNSIGNED
_TYPES: dict[int, Decoder] = {
    0: _int(1),
    1: lambda values, cursor: ComplexType(cast(Any, values.type(cursor))),
    2: always(BFloat16Type),
    3: always(Float16Type),
    4: always(Float32Type),
    5: always(Float64Type),
    6: always(Float8E4M3FNType),
    7: always(Float8E5M2Type),
    8: function_type,
    9: always(IndexType),
    **{10 + place: _int(width) for place, width in enumerate((4, 8, 16, 32, 64))},
    **{15 + place: _int(width, _UNSIGNED) for place, width in enumerate((4, 8, 16, 32, 64))},
    20: _tensor,
    21: lambda values, cursor: _tensor(values, cursor, values.attribute(cursor)),
    22: _token,
    23: lambda values, cursor: TupleType(tuple(values.types(cursor))),
    24: uniform,
    25: lambda values, cursor: UnrankedTensorType(values.type(cursor)),
    26: _witness,
    27: always(Float8E4M3FNUZType),
    28: always(Float8E5M2FNUZType),
    29: always(Float8E4M3B11FNUZType),
    30: per_axis,
    31: _int(2),
    32: _int(2, _UNSIGNED),
    33: always(NoneType),
    34: always(FloatTF32Type),
    35: always(Float8E4M3Type),
    36: always(Float8E3M4Type),
    37: always(Float4E2M1FNType),
    38: always(Float6E2M3FNType),
    39: always(Float6E3M2FNType),
    40: always(Float8E8M0FNUType),
    41: _buffer,
    42: future,
}
TYPES: dict[tuple[str, int], Decoder] = {("vhlo", code): read for code, read in _TYPES.items()}
