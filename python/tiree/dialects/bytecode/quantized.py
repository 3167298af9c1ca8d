"""Quantized types, which StableHLO and VHLO use in one encoding. They are made from their text."""

from __future__ import annotations

from xdsl.dialects.builtin import Float64Type
from xdsl.ir import Attribute

from tiree.dialects.bytecode.builtin import read_double
from tiree.dialects.bytecode.cursor import Cursor
from tiree.dialects.bytecode.values import Decoder, Values
from tiree.dialects.syntax.floats import float_bits, format_float
from tiree.support.typed import is_integer_type

_SIGNED = 1


def _number(value: float) -> str:
    return format_float(float_bits(value, Float64Type), Float64Type, 64)


def _point(value: int) -> str:
    return f":{value}" if value else ""


def _types(cursor: Cursor, flags: int, storage: Attribute, expressed: Attribute, least: int, most: int) -> str:
    """`i8<-8:7>:f32`; bounds are said where they are not those of the type."""
    if not is_integer_type(storage):
        cursor.fail(f"{storage} cannot store quantized values")
    width = storage.width.data
    signed = bool(flags & _SIGNED)
    bounds = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    said = "" if (least, most) == bounds else f"<{least}:{most}>"
    return f"{'i' if signed else 'u'}{width}{said}:{expressed}"


def uniform(values: Values, cursor: Cursor) -> Attribute:
    """One scale and zero point."""
    flags = cursor.varint()
    storage, expressed = values.type(cursor), values.type(cursor)
    scale = read_double(cursor)
    zero, least, most = cursor.signed(), cursor.signed(), cursor.signed()
    types = _types(cursor, flags, storage, expressed, least, most)
    return values.from_text(cursor, f"!quant.uniform<{types}, {_number(scale)}{_point(zero)}>", "type")


def per_axis(values: Values, cursor: Cursor) -> Attribute:
    """A scale and zero point for each slice along one dimension."""
    flags = cursor.varint()
    storage, expressed = values.type(cursor), values.type(cursor)
    dimension, least, most = cursor.varint(), cursor.signed(), cursor.signed()
    at = cursor.position
    scales = [read_double(cursor) for _ in range(cursor.count("scales"))]
    zeros = cursor.signed_list()
    if len(zeros) != len(scales):
        cursor.fail(f"{len(scales)} scales and {len(zeros)} zero points", at)
    types = _types(cursor, flags, storage, expressed, least, most)
    points = ",".join(f"{_number(scale)}{_point(zero)}" for scale, zero in zip(scales, zeros, strict=True))
    return values.from_text(cursor, f"!quant.uniform<{types}:{dimension}, {{{points}}}>", "type")


ATTRIBUTES: dict[tuple[str, int], Decoder] = {}
TYPES: dict[tuple[str, int], Decoder] = {("quant", 4): uniform, ("quant", 5): per_axis}
