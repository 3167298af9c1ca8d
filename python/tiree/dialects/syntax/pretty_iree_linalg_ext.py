"""Short forms of the `iree_linalg_ext` dialect: `key(value)` or `key = value` parts, `ins(..) outs(..)`, a region."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, Region

from tiree.dialects.syntax.pretty_linalg import read_operand_groups, read_result_types, segments
from tiree.dialects.syntax.pretty_stablehlo import i64_array, read_return
from tiree.dialects.syntax.reader import CustomReader, Reader

_ARRAYS = ("dimension_map",)


def _read_parts(reader: Reader, properties: dict[str, Attribute]) -> None:
    """`dimension(1)`, `inclusive(true)`, `dimension_map = [0]`, `<indexing_maps = [..]>`, up to `ins` or `outs`."""
    if reader.take("<"):
        # Properties in angles, with braces or without.
        closing = "}" if reader.take("{") else ">"
        properties.update(reader.read_entries(closing))
        if closing == "}":
            reader.want(">")
    while not (reader.at("ins") or reader.at("outs") or reader.at("{")):
        key = reader.want_word()
        if reader.take("="):
            properties[key] = i64_array(reader.integers()) if key in _ARRAYS else reader.read_attribute()
            continue
        reader.want("(", f" or '=' after {key}")
        word = reader.word()
        if word in ("true", "false"):
            properties[key] = BoolAttr.from_bool(word == "true")
        else:
            properties[key] = IntegerAttr(reader.integer(), i64)
        reader.want(")")


def _read_structured(reader: Reader, name: str, position: int) -> Operation:
    properties: dict[str, Attribute] = {}
    attributes = reader.read_dictionary() if reader.at("{") else {}
    _read_parts(reader, properties)
    if reader.at("{"):
        attributes.update(reader.read_dictionary())
    values, inputs, outputs = read_operand_groups(reader, position)
    known = getattr(reader.op_class(name, position), "PROPERTIES", ())
    properties.update({key: attributes.pop(key) for key in known if key in attributes})
    if name == "iree_linalg_ext.sort":
        properties["operandSegmentSizes"] = segments(inputs, outputs)
    regions = [reader.read_region()] if reader.at("{") else [Region()]
    if name == "iree_linalg_ext.gather":
        regions = []
    results = read_result_types(reader, outputs)
    return reader.build(name, position, values, results, properties, attributes, regions)


def _read_index(reader: Reader, name: str, position: int) -> Operation:
    """`0 : index`."""
    properties: dict[str, Attribute] = {"dim": IntegerAttr(reader.integer(), i64)}
    reader.want(":")
    return reader.build(name, position, (), [reader.read_type()], properties)


_STRUCTURED = ("scan", "sort", "topk", "scatter", "gather", "attention", "online_attention")

READERS: dict[str, CustomReader] = {
    **{f"iree_linalg_ext.{suffix}": _read_structured for suffix in _STRUCTURED},
    "iree_linalg_ext.index": _read_index,
    "iree_linalg_ext.yield": read_return,
}
