"""Quantized types, which StableHLO and VHLO use in one encoding."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute

from tiree.dialects.bytecode.builtin import read_double
from tiree.dialects.bytecode.cursor import Cursor
from tiree.dialects.bytecode.values import Decoder, Values
from tiree.dialects.quant import uniform_type
from tiree.support.typed import is_integer_type

_SIGNED = 1


def _storage(cursor: Cursor, type: Attribute) -> IntegerType:
    if not is_integer_type(type):
        cursor.fail(f"{type} cannot store quantized values")
    return type


def uniform(values: Values, cursor: Cursor) -> Attribute:
    """One scale and zero point."""
    flags = cursor.varint()
    storage, expressed = _storage(cursor, values.type(cursor)), values.type(cursor)
    scale = read_double(cursor)
    zero, least, most = cursor.signed(), cursor.signed(), cursor.signed()
    return uniform_type(storage, bool(flags & _SIGNED), (least, most), expressed, [scale], [zero])


def per_axis(values: Values, cursor: Cursor) -> Attribute:
    """A scale and zero point for each slice along one dimension."""
    flags = cursor.varint()
    storage, expressed = _storage(cursor, values.type(cursor)), values.type(cursor)
    dimension, least, most = cursor.varint(), cursor.signed(), cursor.signed()
    scales = [read_double(cursor) for _ in range(cursor.count("scales"))]
    zeros = cursor.signed_list()
    return uniform_type(storage, bool(flags & _SIGNED), (least, most), expressed, scales, zeros, dimension)


ATTRIBUTES: dict[tuple[str, int], Decoder] = {}
TYPES: dict[tuple[str, int], Decoder] = {("quant", 4): uniform, ("quant", 5): per_axis}
