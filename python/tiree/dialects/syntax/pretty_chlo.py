"""Short forms of CHLO ops, as JAX prints them."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, i32, i64
from xdsl.ir import Attribute, Operation

from tiree.dialects import chlo
from tiree.dialects.syntax.pretty_stablehlo import read_attributes, read_plain
from tiree.dialects.syntax.reader import CustomReader, Reader


def _read_arrow(reader: Reader, name: str, position: int) -> Operation:
    """`%a, %b : type, type -> type`, or a type for all, or a function type."""
    operands = reader.operand_names()
    inherent, attributes = read_attributes(reader, name, position)
    reader.want(":", " and the types of the operation")
    if reader.peek() == "(":
        inputs, outputs = reader.read_function_type()
    else:
        inputs = reader.read_types()
        if reader.take("->"):
            outputs = [reader.read_type()]
        else:
            inputs, outputs = [inputs[0]] * len(operands), inputs[:1]
    return reader.build(name, position, reader.resolve_all(operands, inputs, position), outputs, inherent, attributes)


def _read_top_k(reader: Reader, name: str, position: int) -> Operation:
    """`(%a, k = 2) : type -> (types)`; a value axis may be named before the type."""
    reader.want("(")
    operand = reader.want_percent()
    properties: dict[str, Attribute] = {}
    while reader.take(","):
        key = reader.want_word("k", "largest", "dimension", "is_stable")
        reader.want("=")
        if key in ("largest", "is_stable"):
            properties[key] = BoolAttr.from_bool(reader.want_word("true", "false") == "true")
        else:
            properties[key] = IntegerAttr(reader.integer(), i64)
    reader.want(")")
    inherent, attributes = read_attributes(reader, name, position)
    reader.want(":", " and the types of top_k")
    type = reader.read_type()
    reader.want("->")
    outputs = reader.read_result_types()
    values = [reader.resolve(operand, type, position)]
    return reader.build(name, position, values, outputs, {**properties, **inherent}, attributes)


def _read_constant(reader: Reader, name: str, position: int) -> Operation:
    value = reader.read_attribute()
    type = getattr(value, "type", None)
    if type is None:
        reader.fail("a constant needs a dense<...> value", position)
    return reader.build(name, position, (), [type], {"value": value})


def _read_scan(reader: Reader, name: str, position: int) -> Operation:
    """`(%a, %b) inits(%c) dimension=0 attributes {..} { ^bb0(..): .. } : (types) -> (types)`."""
    inputs = reader.operand_list()
    reader.want_word("inits")
    inits = reader.operand_list()
    reader.want_word("dimension")
    reader.want("=")
    properties: dict[str, Attribute] = {"dimension": IntegerAttr(reader.integer(), i64)}
    attributes: dict[str, Attribute] = {}
    if reader.take_word("attributes"):
        inherent, attributes = read_attributes(reader, name, position)
        properties.update(inherent)
    region = reader.read_region()
    reader.want(":", " and the types of scan")
    types, outputs = reader.read_function_type()
    operands = reader.resolve_all([*inputs, *inits], types, position)
    if len(outputs) < len(inits):
        reader.fail(f"scan carries {len(inits)} values; it has {len(outputs)} results", position)
    properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [len(inputs), len(inits)])
    properties["resultSegmentSizes"] = DenseArrayBase.from_list(i32, [len(outputs) - len(inits), len(inits)])
    return reader.build(name, position, operands, outputs, properties, attributes, [region])


READERS: dict[str, CustomReader] = {
    **dict.fromkeys(chlo.OPS, _read_arrow),
    "chlo.top_k": _read_top_k,
    "chlo.constant": _read_constant,
    "chlo.scan": _read_scan,
    "chlo.broadcast_select": read_plain,
}
