"""Sub-byte constants as they lie in memory: elements of `i2` and `i4` share bytes, the first in the low bits."""

from __future__ import annotations

from xdsl.ir import Attribute

from tiree.dialects.dense import DenseAttr, element_count
from tiree.support.typed import is_integer_type


def packed_bits(type: Attribute) -> int | None:
    """The width of a type whose elements share bytes (2 or 4), else None. An i1 takes a whole byte."""
    if is_integer_type(type) and type.width.data in (2, 4):
        return type.width.data
    return None


def pack(value: DenseAttr, width: int) -> bytes:
    """The packed bytes of a constant that is kept with one byte an element."""
    count = element_count(value.type)
    data = bytes(value.buffer) * count if value.is_splat else bytes(value.buffer)
    per_byte, mask = 8 // width, (1 << width) - 1
    packed = bytearray(-(-count // per_byte))
    for i, element in enumerate(data):
        packed[i // per_byte] |= (element & mask) << (width * (i % per_byte))
    return bytes(packed)
