"""Short forms of scf ops as MLIR prints them: result types with or without parentheses, terminators left out.

xDSL's own parsers know only some of these forms.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IndexType, UnitAttr, i1, i64
from xdsl.ir import Attribute, Block, Operation, Region

from tiree.dialects.syntax.reader import CustomReader, Reader

_Argument = tuple[str, Attribute, None, int]


def _arrow_types(reader: Reader) -> list[Attribute]:
    """`-> type`, `-> (types)` or nothing."""
    return list(reader.read_result_types()) if reader.take("->") else []


def _body(reader: Reader, position: int, arguments: Sequence[_Argument] = ()) -> Region:
    """A region whose last block may leave out an `scf.yield` without values."""
    region = reader.read_region(arguments)
    if not region.blocks:
        region.add_block(Block())
    last = region.blocks[-1].last_op
    if len(region.blocks) == 1 and (last is None or last.name not in ("scf.yield", "scf.condition")):
        region.blocks[-1].add_op(reader.build("scf.yield", position))
    return region


def _read_if(reader: Reader, name: str, position: int) -> Operation:
    """`%condition -> types {..} else {..} {attributes}`."""
    at = reader.skip()
    condition = reader.resolve(reader.want_percent(), i1, at)
    types = _arrow_types(reader)
    regions = [_body(reader, position)]
    regions.append(_body(reader, position) if reader.take_word("else") else Region())
    attributes = reader.read_dictionary() if reader.at("{") else {}
    return reader.build(name, position, [condition], types, {}, attributes, regions)


def _initial_values(reader: Reader) -> tuple[list[tuple[str, int]], list[str]]:
    """`(%argument = %value, ...)`."""
    arguments: list[tuple[str, int]] = []
    values: list[str] = []
    reader.want("(", " before the values that the loop carries")
    while not reader.take(")"):
        at = reader.skip()
        arguments.append((reader.want_percent(), at))
        reader.want("=", " and the initial value")
        values.append(reader.want_percent())
        if not reader.take(",") and not reader.at(")"):
            reader.fail(f"expected ',' or ')', found {reader.found()}")
    return arguments, values


def _read_for(reader: Reader, name: str, position: int) -> Operation:
    """`%i = %lower to %upper step %step iter_args(..) -> (types) : type {..} {attributes}`."""
    properties: dict[str, Attribute] = {"unsignedCmp": UnitAttr()} if reader.take_word("unsigned") else {}
    at = reader.skip()
    counter = reader.want_percent()
    reader.want("=")
    bounds = [reader.want_percent()]
    for word in ("to", "step"):
        reader.want_word(word)
        bounds.append(reader.want_percent())
    arguments: list[tuple[str, int]] = []
    initial: list[str] = []
    types: list[Attribute] = []
    if reader.take_word("iter_args"):
        arguments, initial = _initial_values(reader)
        types = _arrow_types(reader)
    type: Attribute = reader.read_type() if reader.take(":") else IndexType()
    if len(arguments) != len(types):
        reader.fail(f"{len(arguments)} iter_args but {len(types)} types")
    operands = reader.resolve_all([*bounds, *initial], [type, type, type, *types], position)
    entry: list[_Argument] = [(counter, type, None, at)]
    entry += [(argument, one, None, place) for (argument, place), one in zip(arguments, types, strict=True)]
    region = _body(reader, position, entry)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    return reader.build(name, position, operands, types, properties, attributes, [region])


def _read_while(reader: Reader, name: str, position: int) -> Operation:
    """`(%argument = %value, ...) : (types) -> types {..} do {..} attributes {..}`."""
    arguments, initial = _initial_values(reader) if reader.at("(") else ([], [])
    reader.want(":", " and the types of the loop")
    inputs, outputs = reader.read_function_type()
    if len(arguments) != len(inputs):
        reader.fail(f"{len(arguments)} values but {len(inputs)} types", position)
    operands = reader.resolve_all(initial, inputs, position)
    entry: list[_Argument] = [(argument, one, None, at) for (argument, at), one in zip(arguments, inputs, strict=True)]
    before = reader.read_region(entry)
    reader.want_word("do")
    after = _body(reader, position)
    attributes = reader.read_dictionary() if reader.take_word("attributes") else {}
    return reader.build(name, position, operands, outputs, {}, attributes, [before, after])


def _read_index_switch(reader: Reader, name: str, position: int) -> Operation:
    """`%i {attributes} -> types case 2 {..} ... default {..}`."""
    at = reader.skip()
    selector = reader.resolve(reader.want_percent(), IndexType(), at)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    types: list[Attribute] = []
    if reader.take("->"):
        types = list(reader.read_type_list() if reader.peek() == "(" else reader.read_types())
    keys: list[int] = []
    cases: list[Region] = []
    while reader.take_word("case"):
        keys.append(reader.integer())
        cases.append(_body(reader, position))
    reader.want_word("default")
    default = _body(reader, position)
    properties: dict[str, Attribute] = {"cases": DenseArrayBase.from_list(i64, keys)}
    return reader.build(name, position, [selector], types, properties, attributes, [default, *cases])


def _read_condition(reader: Reader, name: str, position: int) -> Operation:
    """`(%condition) {attributes} %a, %b : types`."""
    reader.want("(", " before the condition")
    at = reader.skip()
    condition = reader.resolve(reader.want_percent(), i1, at)
    reader.want(")")
    attributes = reader.read_dictionary() if reader.at("{") else {}
    values = reader.resolve_all(*_typed_values(reader), position)
    return reader.build(name, position, [condition, *values], (), {}, attributes)


def _read_yield(reader: Reader, name: str, position: int) -> Operation:
    """`{attributes} %a, %b : types` or nothing."""
    attributes = reader.read_dictionary() if reader.at("{") else {}
    return reader.build(name, position, reader.resolve_all(*_typed_values(reader), position), (), {}, attributes)


def _typed_values(reader: Reader) -> tuple[list[str], list[Attribute]]:
    names = reader.operand_names()
    if not names:
        return [], []
    reader.want(":", " and the types of the values")
    return names, list(reader.read_types())


def _read_execute_region(reader: Reader, name: str, position: int) -> Operation:
    """`-> types no_inline {..} {attributes}`."""
    types = _arrow_types(reader)
    properties: dict[str, Attribute] = {"no_inline": UnitAttr()} if reader.take_word("no_inline") else {}
    region = reader.read_region()
    attributes = reader.read_dictionary() if reader.at("{") else {}
    return reader.build(name, position, (), types, properties, attributes, [region])


READERS: dict[str, CustomReader] = {
    "scf.if": _read_if,
    "scf.for": _read_for,
    "scf.while": _read_while,
    "scf.index_switch": _read_index_switch,
    "scf.condition": _read_condition,
    "scf.yield": _read_yield,
    "scf.execute_region": _read_execute_region,
}
