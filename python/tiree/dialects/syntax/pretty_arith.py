"""Short forms of arith ops: operands, flags in any order that MLIR prints, attributes, types."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from xdsl.dialects.arith import Arith, FastMathFlagsAttr, IntegerOverflowAttr, IntegerOverflowFlag
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i1, i32, i64
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, TypedAttribute
from xdsl.irdl import IRDLOperation

from tiree.dialects.arith_ext import CMPF_PREDICATES, CMPI_PREDICATES, mask_type
from tiree.dialects.arith_flags import ROUNDING_MODES
from tiree.dialects.syntax.reader import CustomReader, Reader


@cache
def _defaults(cls: type[Operation]) -> dict[str, Attribute]:
    """The properties that an op has when its text says nothing of them."""
    if not issubclass(cls, IRDLOperation):
        return {}
    properties = cls.get_irdl_definition().properties
    return {key: one.default_value for key, one in properties.items() if one.default_value is not None}


@cache
def _fastmath(text: str) -> FastMathFlagsAttr:
    names = [name.strip() for name in text.split(",")]
    if names in (["fast"], ["none"]):
        return FastMathFlagsAttr("fast" if names == ["fast"] else "none")
    return FastMathFlagsAttr([FastMathFlag(name) for name in names])


@cache
def _overflow(text: str) -> IntegerOverflowAttr:
    names = [name.strip() for name in text.split(",")]
    return IntegerOverflowAttr("none" if names == ["none"] else [IntegerOverflowFlag(name) for name in names])


def _in_angles(reader: Reader, make: Callable[[str], Attribute]) -> Attribute:
    reader.want("<")
    start = reader.p
    end = reader.text.find(">", start)
    try:
        found = make(reader.text[start:end])
    except ValueError as error:
        reader.fail(str(error), start)
    reader.p = end + 1
    return found


def read_flags(reader: Reader, name: str, position: int) -> dict[str, Attribute]:
    """Flags before the attribute dictionary; what is not said has its default."""
    properties = dict(_defaults(reader.op_class(name, position)))
    while not reader.at(":") and not reader.at("{"):
        word = reader.want_word()
        match word:
            case "exact":
                properties["isExact"] = UnitAttr()
            case "nneg":
                properties["nonNeg"] = UnitAttr()
            case "fastmath":
                properties["fastmath"] = _in_angles(reader, _fastmath)
            case "overflow":
                properties["overflowFlags"] = _in_angles(reader, _overflow)
            case _ if word in ROUNDING_MODES:
                properties["roundingmode"] = IntegerAttr(ROUNDING_MODES.index(word), i32)
            case _:
                reader.fail(f"expected ':' and the type of the operation, found '{word}'", reader.p - len(word))
    return properties


def read_same(reader: Reader, name: str, position: int) -> Operation:
    """`%a, %b flags {..} : type`: everything of one type."""
    names = reader.operand_names()
    properties = read_flags(reader, name, position)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the type of the operation")
    type = reader.read_type()
    values = reader.resolve_all(names, [type] * len(names), position)
    return reader.build(name, position, values, [type], properties, attributes)


def _read_cast(reader: Reader, name: str, position: int) -> Operation:
    """`%a flags {..} : type to type`."""
    operand = reader.want_percent()
    properties = read_flags(reader, name, position)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the types of the cast")
    source = reader.read_type()
    reader.want_word("to")
    target = reader.read_type()
    return reader.build(name, position, [reader.resolve(operand, source, position)], [target], properties, attributes)


def _read_compare(reader: Reader, name: str, position: int) -> Operation:
    """`predicate, %a, %b flags {..} : type`."""
    predicates = CMPI_PREDICATES if name == "arith.cmpi" else CMPF_PREDICATES
    at = reader.skip()
    predicate = reader.want_word()
    if predicate not in predicates:
        reader.fail(f"{name} has no predicate '{predicate}'; it has {', '.join(predicates)}", at)
    reader.want(",", " after the predicate")
    names = reader.operand_names()
    properties = read_flags(reader, name, position)
    properties["predicate"] = IntegerAttr(predicates.index(predicate), i64)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the type of the compared values")
    type = reader.read_type()
    values = reader.resolve_all(names, [type, type], position)
    return reader.build(name, position, values, [mask_type(type)], properties, attributes)


def _read_select(reader: Reader, name: str, position: int) -> Operation:
    """`%c, %a, %b {..} : type`, or `: condition type, type`."""
    names = reader.operand_names()
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the type of the values")
    condition, type = i1, reader.read_type()
    if reader.take(","):
        condition, type = type, reader.read_type()
    return reader.build(
        name, position, reader.resolve_all(names, [condition, type, type], position), [type], {}, attributes
    )


def _read_extended(reader: Reader, name: str, position: int) -> Operation:
    """`%a, %b {..} : type`, and for `addui_extended` the type of the overflow."""
    names = reader.operand_names()
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the type of the operation")
    type = reader.read_type()
    second = reader.read_type() if reader.take(",") else type
    values = reader.resolve_all(names, [type, type], position)
    return reader.build(name, position, values, [type, second], {}, attributes)


def _read_constant(reader: Reader, name: str, position: int) -> Operation:
    """`{..} value`."""
    attributes = reader.read_dictionary() if reader.at("{") else {}
    value = reader.read_attribute()
    if not isinstance(value, TypedAttribute):
        reader.fail("arith.constant needs a typed value", position)
    return reader.build(name, position, (), [value.get_type()], {"value": value}, attributes)


_CASTS = (
    "extf", "extsi", "extui", "truncf", "trunci", "convertf", "sitofp", "uitofp", "fptosi", "fptoui", "index_cast",
    "index_castui", "bitcast",
)  # fmt: skip
_EXTENDED = ("addui_extended", "mului_extended", "mulsi_extended")

READERS: dict[str, CustomReader] = {
    **{op.name: read_same for op in Arith.operations},
    "arith.remf": read_same,
    **{f"arith.{suffix}": _read_cast for suffix in _CASTS},
    **{f"arith.{suffix}": _read_extended for suffix in _EXTENDED},
    "arith.cmpi": _read_compare,
    "arith.cmpf": _read_compare,
    "arith.select": _read_select,
    "arith.constant": _read_constant,
}
