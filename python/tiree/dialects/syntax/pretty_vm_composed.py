"""Short forms of the `vm` dialect's operations that stand for several instructions, or for parts of a module."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, StringAttr, i32
from xdsl.ir import Attribute, Operation

from tiree.dialects.syntax.reader import CustomReader, Reader
from tiree.dialects.syntax.vm_values import dictionary


def _read_cond_fail(reader: Reader, name: str, position: int) -> Operation:
    """`%condition, %status, "message"`; without a status it is the condition, and there need be no message."""
    names = [reader.want_percent()]
    properties: dict[str, Attribute] = {}
    while reader.take(","):
        if reader.at('"'):
            properties["message"] = StringAttr(reader.read_string())
            break
        names.append(reader.want_percent())
    if len(names) == 1:
        names *= 2
    values = reader.resolve_all(names, [i32] * len(names), position)
    return reader.build(name, position, values, (), properties, dictionary(reader))


def _read_initializer(reader: Reader, name: str, position: int) -> Operation:
    attributes = reader.read_dictionary() if reader.take_word("attributes") else {}
    properties: dict[str, Attribute] = {"function_type": FunctionType.from_lists([], [])}
    return reader.build(name, position, (), (), properties, attributes, [reader.read_region()])


def _inline_properties(reader: Reader) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """`<properties> {attributes}`; properties may stand among the attributes."""
    properties = reader.read_entries(">") if reader.take("<") else {}
    attributes = dictionary(reader)
    for key in ("alignment", "data_alignment", "mime_type", "table_name", "data_name"):
        if key in attributes:
            properties[key] = attributes.pop(key)
    return properties, attributes


def _read_inline(reader: Reader, name: str, position: int) -> Operation:
    """`"name" {alignment = 64} : type = value`, the name and the attributes if there are any."""
    given = StringAttr(reader.read_string()) if reader.at('"') else None
    properties, attributes = _inline_properties(reader)
    if given is not None:
        properties["name"] = given
    reader.want(":", f" and the type of {name}")
    type = reader.read_type()
    reader.want("=", " and the value")
    properties["value"] = reader.read_attribute()
    return reader.build(name, position, (), [type], properties, attributes)


def _read_inline_table(reader: Reader, name: str, position: int) -> Operation:
    """`i32 {alignment = 64} : type, type = [value, ...]`."""
    table_type = reader.read_type()
    properties, attributes = _inline_properties(reader)
    properties["table_type"] = table_type
    reader.want(":", f" and the types of {name}")
    types = list(reader.read_types())
    reader.want("=", " and the values")
    properties["data_array"] = reader.read_attribute()
    return reader.build(name, position, (), types, properties, attributes)


COMPOSED_READERS: dict[str, CustomReader] = {
    "vm.cond_fail": _read_cond_fail,
    "vm.initializer": _read_initializer,
    "vm.rodata.inline": _read_inline,
    "vm.rodata.table.inline": _read_inline_table,
}
