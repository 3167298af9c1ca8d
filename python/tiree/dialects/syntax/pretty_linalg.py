"""Short forms of linalg ops: `generic`, `fill`, `index`, `yield`, and every named op with `ins(..) outs(..)`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    LocationAttr,
    StringAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tiree.dialects.linalg_ext import NAMED, ElementwiseKindAttr
from tiree.dialects.syntax.linalg_bodies import copy_body, default_maps, element_of, understood_body
from tiree.dialects.syntax.pretty_stablehlo import i64_array, read_return
from tiree.dialects.syntax.reader import CustomReader, Reader
from tiree.support.typed import is_array_attr, is_tensor_type

_ITERATORS: dict[str, IteratorTypeAttr] = {
    str(kind.value): IteratorTypeAttr(kind)
    for kind in (IteratorType.PARALLEL, IteratorType.REDUCTION, IteratorType.WINDOW)
}


def _group(reader: Reader, keyword: str) -> tuple[list[str], list[Attribute]]:
    """`keyword(%a, %b : type, type)`, or nothing."""
    if not reader.take_word(keyword):
        return [], []
    reader.want("(", f" after {keyword}")
    names = reader.operand_names()
    types: list[Attribute] = []
    if names:
        reader.want(":", f" and the types of {keyword}")
        types = list(reader.read_types())
    reader.want(")", f" after {keyword}")
    if len(names) != len(types):
        reader.fail(f"{keyword} has {len(names)} operands but {len(types)} types")
    return names, types


def read_operand_groups(reader: Reader, position: int) -> tuple[list[SSAValue], list[Attribute], list[Attribute]]:
    """`ins(..) outs(..)`: all operands, the types of the inputs, the types of the outputs."""
    inputs, input_types = _group(reader, "ins")
    outputs, output_types = _group(reader, "outs")
    values = reader.resolve_all([*inputs, *outputs], [*input_types, *output_types], position)
    return values, input_types, output_types


def segments(inputs: Sequence[object], outputs: Sequence[object]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, [len(inputs), len(outputs)])


def read_result_types(reader: Reader, outputs: Sequence[Attribute]) -> list[Attribute]:
    """`-> types`; without it, a result for each output tensor that is not written in place."""
    if reader.take("->"):
        return list(reader.read_result_types() if reader.peek() == "(" else reader.read_types())
    return [type for type in outputs if isinstance(type, TensorType)]


def _read_generic(reader: Reader, name: str, position: int) -> Operation:
    """`{indexing_maps = .., iterator_types = [..]} ins(..) outs(..) attrs = {..} {body} -> types`."""
    properties = reader.read_dictionary()
    iterators = properties.get("iterator_types")
    if "indexing_maps" not in properties or not is_array_attr(iterators):
        reader.fail(f"{name} needs indexing_maps and iterator_types", position)
    properties["iterator_types"] = ArrayAttr(
        [_ITERATORS.get(item.data, item) if isinstance(item, StringAttr) else item for item in iterators]
    )
    values, inputs, outputs = read_operand_groups(reader, position)
    properties["operandSegmentSizes"] = segments(inputs, outputs)
    attributes: dict[str, Attribute] = {}
    if reader.take_word("attrs"):
        reader.want("=")
        attributes = reader.read_dictionary()
    region = reader.read_region()
    known = ("indexing_maps", "iterator_types", "doc", "library_call", "operandSegmentSizes")
    attributes.update({key: properties.pop(key) for key in list(properties) if key not in known})
    results = list(reader.read_result_types()) if reader.take("->") else []
    return reader.build(name, position, values, results, properties, attributes, [region])


def _read_fill(reader: Reader, name: str, position: int) -> Operation:
    attributes = reader.read_dictionary() if reader.at("{") else {}
    values, inputs, outputs = read_operand_groups(reader, position)
    properties: dict[str, Attribute] = {"operandSegmentSizes": segments(inputs, outputs)}
    results = read_result_types(reader, outputs)
    body = copy_body(reader, [*inputs, *outputs], position)
    return reader.build(name, position, values, results, properties, attributes, [body])


def _read_index(reader: Reader, name: str, position: int) -> Operation:
    properties: dict[str, Attribute] = {"dim": IntegerAttr(reader.integer(), i64)}
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":")
    return reader.build(name, position, (), [reader.read_type()], properties, attributes)


def _read_named(reader: Reader, name: str, position: int) -> Operation:
    """`indexing_maps = [..] {attributes} ins(..) outs(..) -> types`; the body is understood."""
    return _read_with(reader, name, position, {})


def _read_with(reader: Reader, name: str, position: int, properties: dict[str, Attribute]) -> Operation:
    while (key := reader.word()) is not None:
        if key == "ins":
            reader.p -= len(key)
            break
        reader.want("=", f" after {key}")
        properties[key] = reader.read_attribute()
    attributes = reader.read_dictionary() if reader.at("{") else {}
    known = NAMED[name.removeprefix("linalg.")].PROPERTIES
    properties.update({key: attributes.pop(key) for key in known if key in attributes})
    values, inputs, outputs = read_operand_groups(reader, position)
    properties["operandSegmentSizes"] = segments(inputs, outputs)
    results = read_result_types(reader, outputs)
    if (maps := default_maps(name)) is not None:
        properties.setdefault("indexing_maps", maps)
    regions = understood_body(reader, name, [*inputs, *outputs], properties, position)
    return reader.build(name, position, values, results, properties, attributes, regions)


def _read_elementwise(reader: Reader, name: str, position: int) -> Operation:
    """`<kind>` or `kind=#linalg.elementwise_kind<kind>`, then as every named op."""
    properties: dict[str, Attribute] = {}
    if reader.take("<"):
        properties["kind"] = ElementwiseKindAttr(StringAttr(reader.want_word()))
        reader.want(">")
    return _read_with(reader, name, position, properties)


def _read_softmax(reader: Reader, name: str, position: int) -> Operation:
    """`dimension(1) ins(..) outs(..) -> type`."""
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want_word("dimension")
    reader.want("(")
    properties: dict[str, Attribute] = {"dimension": IntegerAttr(reader.integer(), i64)}
    reader.want(")")
    values, _, outputs = read_operand_groups(reader, position)
    return reader.build(name, position, values, read_result_types(reader, outputs), properties, attributes)


def _read_relayout(reader: Reader, name: str, position: int) -> Operation:
    """pack and unpack: `%source [padding_value(..)] [outer_dims_perm = ..] inner_dims_pos = .. inner_tiles = .. into
    %dest : type -> type`; tiles are constants."""
    source = reader.want_percent()
    padding: list[str] = []
    padding_type: Attribute | None = None
    properties: dict[str, Attribute] = {}
    while not reader.take_word("into"):
        key = reader.want_word("padding_value", "outer_dims_perm", "inner_dims_pos", "inner_tiles")
        if key == "padding_value":
            reader.want("(")
            padding.append(reader.want_percent())
            reader.want(":")
            padding_type = reader.read_type()
            reader.want(")")
            continue
        reader.want("=", f" after {key}")
        properties["static_inner_tiles" if key == "inner_tiles" else key] = i64_array(reader.integers())
    target = reader.want_percent()
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the types of source and target")
    types: list[Attribute] = [reader.read_type()]
    reader.want("->")
    types.append(reader.read_type())
    values = reader.resolve_all([source, target], types, position)
    if padding_type is not None:
        values += reader.resolve_all(padding, [padding_type], position)
    sizes = DenseArrayBase.from_list(i32, [1, 1, len(padding), 0])
    (properties if name == "linalg.pack" else attributes)["operandSegmentSizes"] = sizes
    return reader.build(name, position, values, [types[1]], properties, attributes)


def _read_moving(key: str) -> CustomReader:
    """`ins(..) outs(..) key = [..]`: transpose and broadcast."""

    def read(reader: Reader, name: str, position: int) -> Operation:
        values, inputs, outputs = read_operand_groups(reader, position)
        reader.want_word(key)
        reader.want("=")
        properties: dict[str, Attribute] = {key: i64_array(reader.integers())}
        attributes = reader.read_dictionary() if reader.at("{") else {}
        results = read_result_types(reader, outputs)
        body = copy_body(reader, [*inputs, *outputs], position)
        return reader.build(name, position, values, results, properties, attributes, [body])

    return read


def _read_applied(reader: Reader) -> tuple[str, dict[str, Attribute]] | None:
    """`{ op {attributes} }` in place of a body, or None."""
    if not reader.take("{"):
        return None
    op_name = reader.want_word()
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want("}")
    return op_name, attributes


def _applied_body(
    reader: Reader, applied: tuple[str, dict[str, Attribute]], types: Sequence[Attribute], order: list[int], at: int
) -> Region:
    block = Block(arg_types=[element_of(type) for type in types])
    op_name, attributes = applied
    arguments = [block.args[index] for index in order]
    properties: dict[str, Attribute] = {}
    definition = getattr(reader.op_class(op_name, at), "get_irdl_definition", None)
    for key in definition().properties if definition is not None else ():
        if key in attributes:
            properties[key] = attributes.pop(key)
    op = reader.build(op_name, at, arguments, [element_of(types[-1])], properties, attributes)
    block.add_ops([op, reader.build("linalg.yield", at, [op.results[0]])])
    return Region(block)


def _body_arguments(reader: Reader) -> list[tuple[str, Attribute, LocationAttr | None, int]]:
    """`(%a: type, %b: type)` before a body."""
    arguments: list[tuple[str, Attribute, LocationAttr | None, int]] = []
    reader.want("(", " before the arguments of the body")
    while not reader.take(")"):
        position = reader.skip()
        argument = reader.want_percent()
        reader.want(":", " and a type")
        type = reader.read_type()
        arguments.append((argument, type, reader.read_optional_location(), position))
        if not reader.take(",") and not reader.at(")"):
            reader.fail(f"expected ',' or ')', found {reader.found()}")
    return arguments


def _read_reduce(reader: Reader, name: str, position: int) -> Operation:
    """`ins(..) outs(..) dimensions = [..] (args) {body}`, or `{ op } ins(..) outs(..) dimensions = [..]`."""
    applied = _read_applied(reader)
    values, inputs, outputs = read_operand_groups(reader, position)
    reader.want_word("dimensions")
    reader.want("=")
    properties: dict[str, Attribute] = {"dimensions": i64_array(reader.integers())}
    attributes = reader.read_dictionary() if reader.at("{") else {}
    if applied is not None:
        body = _applied_body(reader, applied, [*inputs, *outputs], [1, 0], position)
    else:
        body = reader.read_region(_body_arguments(reader))
    results = [type for type in outputs if is_tensor_type(type)]
    return reader.build(name, position, values, results, properties, attributes, [body])


def _read_map(reader: Reader, name: str, position: int) -> Operation:
    """`ins(..) outs(..) (args) {body}`, or `{ op } ins(..) outs(..)`."""
    applied = _read_applied(reader)
    values, inputs, outputs = read_operand_groups(reader, position)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    if applied is not None:
        body = _applied_body(reader, applied, [*inputs, *outputs], list(range(len(inputs))), position)
    else:
        body = reader.read_region(_body_arguments(reader))
    results = [type for type in outputs if is_tensor_type(type)]
    return reader.build(name, position, values, results, {}, attributes, [body])


READERS: dict[str, CustomReader] = {
    **{f"linalg.{suffix}": _read_named for suffix in NAMED},
    "linalg.elementwise": _read_elementwise,
    "linalg.softmax": _read_softmax,
    "linalg.pack": _read_relayout,
    "linalg.unpack": _read_relayout,
    "linalg.generic": _read_generic,
    "linalg.fill": _read_fill,
    "linalg.index": _read_index,
    "linalg.yield": read_return,
    "linalg.transpose": _read_moving("permutation"),
    "linalg.broadcast": _read_moving("dimensions"),
    "linalg.reduce": _read_reduce,
    "linalg.map": _read_map,
}
