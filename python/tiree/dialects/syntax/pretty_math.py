"""Short forms of math ops, which are those of arith with a few of their own."""

from __future__ import annotations

from xdsl.dialects.math import Math
from xdsl.ir import Operation

from tiree.dialects.math_ext import MathExt, predicate_type
from tiree.dialects.syntax.pretty_arith import read_flags, read_same
from tiree.dialects.syntax.reader import CustomReader, Reader


def _read_predicate(reader: Reader, name: str, position: int) -> Operation:
    """`%a flags {..} : type`; the result is `i1` in the shape of the type."""
    names = reader.operand_names()
    properties = read_flags(reader, name, position)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the type of the operand")
    type = reader.read_type()
    values = reader.resolve_all(names, [type] * len(names), position)
    return reader.build(name, position, values, [predicate_type(type)], properties, attributes)


def _read_fpowi(reader: Reader, name: str, position: int) -> Operation:
    """`%a, %n flags {..} : float type, integer type`."""
    names = reader.operand_names()
    properties = read_flags(reader, name, position)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the types of the operands")
    types = reader.read_types()
    return reader.build(name, position, reader.resolve_all(names, types, position), types[:1], properties, attributes)


def _read_sincos(reader: Reader, name: str, position: int) -> Operation:
    """`%a flags {..} : type`; two results."""
    names = reader.operand_names()
    properties = read_flags(reader, name, position)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the type of the operation")
    type = reader.read_type()
    values = reader.resolve_all(names, [type], position)
    return reader.build(name, position, values, [type, type], properties, attributes)


def _read_clampf(reader: Reader, name: str, position: int) -> Operation:
    """`%a to [%low, %high] flags {..} : type`."""
    names = [reader.want_percent()]
    reader.want_word("to")
    reader.want("[")
    names += reader.operand_names()
    reader.want("]")
    properties = read_flags(reader, name, position)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the type of the operation")
    type = reader.read_type()
    values = reader.resolve_all(names, [type] * 3, position)
    return reader.build(name, position, values, [type], properties, attributes)


READERS: dict[str, CustomReader] = {
    **{op.name: read_same for op in (*Math.operations, *MathExt.operations)},
    **{f"math.{suffix}": _read_predicate for suffix in ("isfinite", "isinf", "isnan", "isnormal")},
    "math.fpowi": _read_fpowi,
    "math.sincos": _read_sincos,
    "math.clampf": _read_clampf,
}
