"""Short forms of `func.func`, `func.call` and `func.return`."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, LocationAttr, StringAttr
from xdsl.ir import Attribute, Operation, Region

from tiree.dialects.syntax.reader import CustomReader, Reader

_Argument = tuple[str, Attribute, LocationAttr | None, int]


def read_arguments(reader: Reader) -> tuple[list[_Argument], list[Attribute], list[DictionaryAttr]]:
    """`(%a: type {attrs} loc(..), ...)`, or `(type {attrs}, ...)` in a declaration."""
    arguments: list[_Argument] = []
    types: list[Attribute] = []
    attrs: list[DictionaryAttr] = []
    reader.want("(", " before the function's arguments")
    while not reader.take(")"):
        position = reader.skip()
        name = reader.percent()
        if name is not None:
            reader.want(":", " and a type after an argument")
        types.append(reader.read_type())
        attrs.append(DictionaryAttr(reader.read_dictionary() if reader.at("{") else {}))
        location = reader.read_optional_location()
        if name is not None:
            arguments.append((name, types[-1], location, position))
        if not reader.take(",") and not reader.at(")"):
            reader.fail(f"expected ',' or ')' in the arguments, found {reader.found()}")
    if arguments and len(arguments) != len(types):
        reader.fail("either all arguments have names or none has")
    return arguments, types, attrs


def read_results(reader: Reader) -> tuple[list[Attribute], list[DictionaryAttr]]:
    """`-> type`, `-> (type {attrs}, ...)` or nothing."""
    if not reader.take("->"):
        return [], []
    if not reader.take("("):
        return [reader.read_type()], [DictionaryAttr({})]
    types: list[Attribute] = []
    attrs: list[DictionaryAttr] = []
    while not reader.take(")"):
        types.append(reader.read_type())
        attrs.append(DictionaryAttr(reader.read_dictionary() if reader.at("{") else {}))
        if not reader.take(",") and not reader.at(")"):
            reader.fail(f"expected ',' or ')' in the results, found {reader.found()}")
    return types, attrs


def _read_func(reader: Reader, name: str, position: int) -> Operation:
    visibility = next((word for word in ("public", "private", "nested") if reader.take_word(word)), None)
    symbol = reader.read_symbol_name()
    arguments, inputs, arg_attrs = read_arguments(reader)
    outputs, res_attrs = read_results(reader)
    properties: dict[str, Attribute] = {
        "sym_name": StringAttr(symbol),
        "function_type": FunctionType.from_lists(inputs, outputs),
    }
    if visibility is not None:
        properties["sym_visibility"] = StringAttr(visibility)
    if any(attrs.data for attrs in arg_attrs):
        properties["arg_attrs"] = ArrayAttr(arg_attrs)
    if any(attrs.data for attrs in res_attrs):
        properties["res_attrs"] = ArrayAttr(res_attrs)
    attributes = reader.read_dictionary() if reader.take_word("attributes") else {}
    region = reader.read_region(arguments) if reader.at("{") else Region()
    return reader.build(name, position, (), (), properties, attributes, [region])


def _read_call(reader: Reader, name: str, position: int) -> Operation:
    callee = reader.read_symbol()
    operands = reader.operand_list()
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the type of the call")
    inputs, outputs = reader.read_function_type()
    properties: dict[str, Attribute] = {"callee": callee}
    return reader.build(name, position, reader.resolve_all(operands, inputs, position), outputs, properties, attributes)


def read_return(reader: Reader, name: str, position: int) -> Operation:
    """`%a, %b : types` or nothing."""
    operands = reader.operand_names()
    attributes = reader.read_dictionary() if reader.at("{") else {}
    types: list[Attribute] = []
    if operands:
        reader.want(":", " and the types of the values")
        types = list(reader.read_types())
    return reader.build(name, position, reader.resolve_all(operands, types, position), (), {}, attributes)


READERS: dict[str, CustomReader] = {
    "func.func": _read_func,
    "func.call": _read_call,
    "func.return": read_return,
}
