"""Short forms of the `vm` dialect's value operations. They have one of a few shapes, which their names tell."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation

from tiree.dialects.syntax.reader import CustomReader, Reader
from tiree.support.typed import is_float_attr, is_integer_attr, is_integer_type

SCALARS: dict[str, Attribute] = {"i32": i32, "i64": i64, "f32": f32, "f64": f64}


def dictionary(reader: Reader) -> dict[str, Attribute]:
    """The attribute dictionary, if there is one."""
    return reader.read_dictionary() if reader.at("{") else {}


def _scalar_of(name: str) -> Attribute | None:
    """The scalar type that an op's name carries (the first one)."""
    return next((SCALARS[part] for part in name.split(".") if part in SCALARS), None)


def _result_of(name: str, type: Attribute) -> Attribute:
    return i32 if name.startswith("vm.cmp.") else type


def _read_uniform(reader: Reader, name: str, position: int) -> Operation:
    """`%a, %b : type`: operands of one type, but for conditions and shift amounts, which are i32."""
    names = reader.operand_names()
    attributes = dictionary(reader)
    reader.want(":", f" and the type of {name}")
    type = reader.read_type()
    types: list[Attribute] = [type] * len(names)
    if name.startswith("vm.select."):
        types[0] = i32
    elif name.startswith(("vm.shl.", "vm.shr.")):
        types[1] = i32
    elif name.startswith("vm.fpowi."):
        types[1] = i64
    values = reader.resolve_all(names, types, position)
    return reader.build(name, position, values, [_result_of(name, type)], {}, attributes)


def _read_conversion(reader: Reader, name: str, position: int) -> Operation:
    """`%a : type -> type`."""
    operand = reader.want_percent()
    attributes = dictionary(reader)
    reader.want(":", f" and the types of {name}")
    source = reader.read_type()
    reader.want("->")
    value = reader.resolve(operand, source, position)
    return reader.build(name, position, [value], [reader.read_type()], {}, attributes)


def _read_switch(reader: Reader, name: str, position: int) -> Operation:
    """`%index[%a, %b] else %default : type`."""
    index = reader.want_percent()
    reader.want("[")
    cases = reader.operand_names()
    reader.want("]")
    reader.want_word("else")
    default = reader.want_percent()
    attributes = dictionary(reader)
    reader.want(":")
    type = reader.read_type()
    names = [index, default, *cases]
    values = reader.resolve_all(names, [i32, *[type] * (len(names) - 1)], position)
    return reader.build(name, position, values, [type], {}, attributes)


def _read_constant(reader: Reader, name: str, position: int) -> Operation:
    attributes = dictionary(reader)
    type = _scalar_of(name)
    assert type is not None
    value: Attribute = reader.read_attribute()
    if is_integer_attr(value) and is_integer_type(type):
        value = IntegerAttr(value.value.data, type)
    elif is_float_attr(value) and isinstance(type, AnyFloat):
        value = FloatAttr(value.value.data, type)
    else:
        reader.fail(f"{name} needs a value of type {type}", position)
    return reader.build(name, position, (), [type], {"value": value}, attributes)


def _read_zero(reader: Reader, name: str, position: int) -> Operation:
    type = _scalar_of(name)
    attributes = dictionary(reader)
    if type is None:
        reader.want(":", f" and the type of {name}")
        type = reader.read_type()
    return reader.build(name, position, (), [type], {}, attributes)


def symbol_value(key: str) -> CustomReader:
    """`@symbol : type`."""

    def read(reader: Reader, name: str, position: int) -> Operation:
        properties: dict[str, Attribute] = {key: reader.read_symbol()}
        attributes = dictionary(reader)
        reader.want(":", f" and the type of {name}")
        return reader.build(name, position, (), [reader.read_type()], properties, attributes)

    return read


def _read_global_store(reader: Reader, name: str, position: int) -> Operation:
    """`%value, @global : type`."""
    operand = reader.want_percent()
    reader.want(",")
    properties: dict[str, Attribute] = {"global": reader.read_symbol()}
    attributes = dictionary(reader)
    reader.want(":")
    value = reader.resolve(operand, reader.read_type(), position)
    return reader.build(name, position, [value], (), properties, attributes)


def _read_indirect_store(reader: Reader, name: str, position: int) -> Operation:
    """`%value, %address : type -> type`."""
    names = reader.operand_names()
    attributes = dictionary(reader)
    reader.want(":", f" and the types of {name}")
    types = [reader.read_type()]
    reader.want("->")
    types.append(reader.read_type())
    return reader.build(name, position, reader.resolve_all(names, types, position), (), {}, attributes)


def _read_check(reader: Reader, name: str, position: int) -> Operation:
    """`%a, %b, "message" : type`."""
    names = [reader.want_percent()]
    properties: dict[str, Attribute] = {}
    while reader.take(","):
        if reader.at('"'):
            properties["message"] = StringAttr(reader.read_string())
            break
        names.append(reader.want_percent())
    attributes = dictionary(reader)
    reader.want(":", f" and the type of {name}")
    type = reader.read_type()
    values = reader.resolve_all(names, [type] * len(names), position)
    return reader.build(name, position, values, (), properties, attributes)


def _read_signature(reader: Reader, name: str, position: int) -> Operation:
    """`%a, %b : (types) -> type`, or without a result."""
    names = reader.operand_names()
    attributes = dictionary(reader)
    reader.want(":")
    inputs = reader.read_type_list()
    outputs = list(reader.read_result_types()) if reader.take("->") else []
    return reader.build(name, position, reader.resolve_all(names, inputs, position), outputs, {}, attributes)


_BUFFER_OPERANDS: dict[str, str] = {
    "alloc": "Ll",
    "clone": "bLLi",
    "length": "b",
    "copy": "bLbLL",
    "compare": "bLbLL",
    "hash": "bLL",
}
"""Operand types by letter: b the buffer, L i64, i i32, v the value, l the alignment (i32)."""


def _read_buffer(reader: Reader, name: str, position: int) -> Operation:
    """`%buffer, %offset, ... : types`; a load or store has `%buffer[%offset]`."""
    kind = name.removeprefix("vm.buffer.").split(".")[0]
    names = [reader.want_percent()]
    while reader.take(",") or reader.take("["):
        names.append(reader.want_percent())
        reader.take("]")
    attributes = dictionary(reader)
    reader.want(":", f" and the types of {name}")
    first = reader.read_type()
    second: Attribute | None = None
    if reader.take("->") or reader.take(","):
        second = reader.read_type()
    buffer = second if kind in ("fill", "store") else first
    assert buffer is not None or reader.fail(f"{name} needs two types", position)
    if kind == "store":
        names = [names[1], names[2], names[0]]
    letters = {"fill": "bLLv", "store": "bLv", "load": "bL"}.get(kind) or _BUFFER_OPERANDS[kind]
    of: dict[str, Attribute] = {"b": buffer, "L": i64, "i": i32, "l": i32, "v": first}
    values = reader.resolve_all(names, [of[letter] for letter in letters], position)
    results: list[Attribute] = []
    match kind:
        case "alloc":
            results = [first]
        case "compare":
            results = [i32]
        case "clone" | "length" | "hash" | "load":
            assert second is not None or reader.fail(f"{name} needs a result type", position)
            results = [second]
        case _:
            pass
    return reader.build(name, position, values, results, {}, attributes)


def read_discard(reader: Reader, name: str, position: int) -> Operation:
    names = reader.operand_names()
    attributes = dictionary(reader)
    types: list[Attribute] = []
    if names:
        reader.want(":")
        types = list(reader.read_types())
    return reader.build(name, position, reader.resolve_all(names, types, position), (), {}, attributes)


def read_message(key: str) -> CustomReader:
    """`"text"(%a, %b) : types`: traces and prints."""

    def read(reader: Reader, name: str, position: int) -> Operation:
        properties: dict[str, Attribute] = {key: StringAttr(reader.read_string())}
        names = reader.operand_list()
        attributes = dictionary(reader)
        types: list[Attribute] = list(reader.read_types()) if reader.take(":") else []
        return reader.build(name, position, reader.resolve_all(names, types, position), (), properties, attributes)

    return read


def shape_of(name: str) -> CustomReader:
    """The reader of value operation `vm.<name>`, by its name."""
    head = name.split(".")[0]
    if name.startswith("global.load.indirect"):
        return _read_conversion
    if name.startswith("global.store.indirect"):
        return _read_indirect_store
    if head == "check":
        return _read_check
    if name.startswith("global.load"):
        return symbol_value("global")
    if name.startswith("global.store"):
        return _read_global_store
    if name == "const.ref.rodata":
        return symbol_value("rodata")
    if head == "const":
        return _read_zero if name.endswith(".zero") else _read_constant
    if head == "list":
        return _read_signature
    if head == "buffer":
        return _read_buffer
    if head == "switch":
        return _read_switch
    if head in ("ext", "trunc", "cast", "bitcast", "assign"):
        return _read_conversion
    return _read_uniform
