"""Short forms of the StableHLO ops with syntax of their own: reduce, while, contractions, calls.

`pretty_stablehlo` takes `SPECIAL` into its table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    LocationAttr,
    StringAttr,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region

from tiree.dialects import stablehlo_attrs
from tiree.dialects.dense import DenseAttr
from tiree.dialects.syntax.reader import CustomReader, Reader
from tiree.dialects.syntax.scanner import WS

_LABELS = re.compile(rf"{WS}\[([^\]]*)\]x\[([^\]]*)\]->\[([^\]]*)\]")


def _precision(reader: Reader) -> ArrayAttr:
    values: list[Attribute] = []
    reader.want("[")
    while not reader.take("]"):
        values.append(stablehlo_attrs.PrecisionAttr(reader.want_word(*stablehlo_attrs.PrecisionAttr.VALUES)))
        reader.take(",")
    return ArrayAttr(values)


def _pair(reader: Reader) -> tuple[list[int], list[int]]:
    """`[..] x [..]`."""
    left = reader.integers()
    reader.want_word("x")
    return left, reader.integers()


def _read_dot_general(reader: Reader, name: str, position: int) -> Operation:
    """`%a, %b, batching_dims = [..] x [..], contracting_dims = .., precision = [..], algorithm = <..> : type`."""
    from tiree.dialects.syntax.pretty_stablehlo import finish

    operands = [reader.want_percent()]
    reader.want(",")
    operands.append(reader.want_percent())
    dims: dict[str, list[int]] = {}
    properties: dict[str, Attribute] = {}
    while reader.take(","):
        key = reader.want_word("batching_dims", "contracting_dims", "precision", "algorithm")
        reader.want("=")
        match key:
            case "precision":
                properties["precision_config"] = _precision(reader)
            case "algorithm":
                properties["algorithm"] = _dot_algorithm(reader)
            case _:
                kind = key.removesuffix("_dims")
                dims[f"lhs_{kind}_dimensions"], dims[f"rhs_{kind}_dimensions"] = _pair(reader)
    properties["dot_dimension_numbers"] = stablehlo_attrs.DotDimensionNumbersAttr.of(**dims)
    return finish(reader, name, position, operands, properties)


def _dot_algorithm(reader: Reader) -> Attribute:
    reader.to_tokens()
    value = stablehlo_attrs.DotAlgorithmAttr.parse_parameter(reader)
    reader.to_chars()
    return stablehlo_attrs.DotAlgorithmAttr(value)


def _read_dot(reader: Reader, name: str, position: int) -> Operation:
    """`%a, %b, precision = [..] : type`."""
    from tiree.dialects.syntax.pretty_stablehlo import finish

    operands = [reader.want_percent()]
    reader.want(",")
    operands.append(reader.want_percent())
    properties: dict[str, Attribute] = {}
    if reader.take(","):
        reader.want_word("precision")
        reader.want("=")
        properties["precision_config"] = _precision(reader)
    return finish(reader, name, position, operands, properties)


def _read_convolution(reader: Reader, name: str, position: int) -> Operation:
    """`(%a, %b) dim_numbers = [..]x[..]->[..], window = {..} {..} : type`."""
    from tiree.dialects.syntax.pretty_stablehlo import finish

    operands = reader.operand_list()
    reader.want_word("dim_numbers")
    reader.want("=")
    properties: dict[str, Attribute] = {"dimension_numbers": _conv_dims(reader)}
    reader.want(",")
    reader.want_word("window")
    reader.want("=")
    properties.update(_window(reader))
    return finish(reader, name, position, operands, properties)


def _conv_dims(reader: Reader) -> Attribute:
    match = _LABELS.match(reader.text, reader.p)
    if match is None:
        reader.fail(
            f"expected dimension numbers such as [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], found {reader.found()}"
        )
    labels = [
        [int(label) if label.isdigit() else label for label in map(str.strip, group.split(","))]
        for group in match.groups()
    ]
    reader.p = match.end()
    try:
        return stablehlo_attrs.ConvDimensionNumbersAttr(stablehlo_attrs.ConvDimensionNumbers.from_labels(*labels))
    except ValueError as error:
        reader.fail(f"bad dimension numbers: {error}", match.start(1) - 1)


def _window(reader: Reader) -> dict[str, Attribute]:
    """`{stride = [..], pad = [[..], ..], lhs_dilate = [..], rhs_dilate = [..], reverse = [..]}`."""
    from tiree.dialects.syntax.pretty_stablehlo import i64_array

    arrays = {"stride": "window_strides", "lhs_dilate": "lhs_dilation", "rhs_dilate": "rhs_dilation"}
    found: dict[str, Attribute] = {}
    reader.want("{")
    while not reader.take("}"):
        key = reader.want_word("pad", "reverse", *arrays)
        reader.want("=")
        if key == "pad":
            found["padding"] = _padding(reader)
        elif key == "reverse":
            found["window_reversal"] = DenseArrayBase.from_list(i1, _booleans(reader))
        else:
            found[arrays[key]] = i64_array(reader.integers())
        if not reader.take(",") and not reader.at("}"):
            reader.fail(f"expected ',' or '}}' in a window, found {reader.found()}")
    return found


def _padding(reader: Reader) -> Attribute:
    pairs: list[list[int]] = []
    reader.want("[")
    while not reader.take("]"):
        pairs.append(reader.integers())
        reader.take(",")
    data = b"".join(value.to_bytes(8, "little", signed=True) for pair in pairs for value in pair)
    flat = [value for pair in pairs for value in pair]
    type = TensorType(i64, [len(pairs), 2])
    splat = len(set(flat)) == 1
    return DenseAttr.from_buffer(type, data[:8] if splat else data, splat=splat)


def _booleans(reader: Reader) -> list[int]:
    values: list[int] = []
    reader.want("[")
    while not reader.take("]"):
        word = reader.word()
        if word not in ("true", "false", None):
            reader.fail(f"expected true or false, found '{word}'")
        values.append(reader.integer() if word is None else int(word == "true"))
        reader.take(",")
    return values


def _read_reduce(reader: Reader, name: str, position: int) -> Operation:
    """`(%a init: %i), (%b init: %j) applies op across dimensions = [..] : type` or with `reducer(..) {..}`."""
    from tiree.dialects.syntax.pretty_stablehlo import i64_array, read_attributes

    inputs: list[str] = []
    inits: list[str] = []
    while True:
        reader.want("(", " before a reduced value")
        inputs.append(reader.want_percent())
        reader.want_word("init")
        reader.want(":")
        inits.append(reader.want_percent())
        reader.want(")")
        if not reader.take(","):
            break
    applied = reader.want_word() if reader.take_word("applies") else None
    reader.want_word("across")
    reader.want_word("dimensions")
    reader.want("=")
    properties: dict[str, Attribute] = {"dimensions": i64_array(reader.integers())}
    _, attributes = read_attributes(reader, name, position)
    reader.want(":", " and the type of reduce")
    types, outputs = reader.read_function_type()
    operands = reader.resolve_all([*inputs, *inits], types, position)
    if applied is not None:
        region = _applied_region(reader, applied, types[len(inputs) :], position)
    else:
        region = _reducer_region(reader, len(inputs))
    return reader.build(name, position, operands, outputs, properties, attributes, [region])


_APPLIED = frozenset({"add", "and", "maximum", "minimum", "multiply", "or", "xor"})
"""What a reduction may apply in its short form: ops of two operands that commute."""


def _applied_region(reader: Reader, op_name: str, init_types: Sequence[Attribute], position: int) -> Region:
    """The body that `applies op` stands for: the op on two scalars."""
    if len(init_types) != 1:
        reader.fail("`applies` reduces one value only; write a reducer region", position)
    if op_name.partition(".")[2] not in _APPLIED:
        ops = ", ".join(sorted(_APPLIED))
        reader.fail(f"`applies` takes {ops}, not {op_name}; write a reducer region", position)
    element = init_types[0]
    block = Block(arg_types=[element, element])
    location = reader.location_at(position)
    for argument in block.args:
        argument.location = location
    op = reader.build(op_name, position, list(block.args), [element])
    block.add_ops([op, reader.build("stablehlo.return", position, [op.results[0]])])
    return Region(block)


def _reducer_region(reader: Reader, count: int) -> Region:
    """`reducer(%a: t, %b: t) (%c: u, %d: u) { ... }`: the pairs are (accumulator, value) of each operand."""
    reader.want_word("reducer")
    first: list[_Argument] = []
    second: list[_Argument] = []
    for _ in range(count):
        reader.want("(", " before the arguments of a reducer")
        first.append(_argument(reader))
        reader.want(",")
        second.append(_argument(reader))
        reader.want(")")
    return reader.read_region([*first, *second])


_Argument = tuple[str, Attribute, LocationAttr | None, int]


def _argument(reader: Reader) -> _Argument:
    position = reader.skip()
    name = reader.want_percent()
    reader.want(":", " and a type after an argument")
    type = reader.read_type()
    return name, type, reader.read_optional_location(), position


def _read_while(reader: Reader, name: str, position: int) -> Operation:
    """`(%arg = %init, ...) : types attributes {..} cond {..} do {..}`."""
    names: list[tuple[str, int]] = []
    operands: list[str] = []
    reader.want("(", " before the values that the loop carries")
    while not reader.take(")"):
        at = reader.skip()
        names.append((reader.want_percent(), at))
        reader.want("=", " and the initial value")
        operands.append(reader.want_percent())
        if not reader.take(",") and not reader.at(")"):
            reader.fail(f"expected ',' or ')', found {reader.found()}")
    types: list[Attribute] = []
    if reader.take(":"):
        types = list(reader.read_types())
    values = reader.resolve_all(operands, types, position)
    attributes = reader.read_dictionary() if reader.take_word("attributes") else {}
    arguments = [(arg, type, None, at) for (arg, at), type in zip(names, types, strict=True)]
    reader.want_word("cond")
    condition = reader.read_region(arguments)
    reader.want_word("do")
    body = reader.read_region(arguments)
    for region in (condition, body):
        if not region.blocks:
            region.add_block(Block())
    return reader.build(name, position, values, types, {}, attributes, [condition, body])


def _read_custom_call(reader: Reader, name: str, position: int) -> Operation:
    """`@target(%a, %b) {..} : (types) -> types`."""
    from tiree.dialects.syntax.pretty_stablehlo import finish

    target = reader.read_symbol_name()
    return finish(reader, name, position, reader.operand_list(), {"call_target_name": StringAttr(target)})


def _read_composite(reader: Reader, name: str, position: int) -> Operation:
    """`"name" %a, %b {..} : (types) -> types`."""
    from tiree.dialects.syntax.pretty_stablehlo import finish

    label = StringAttr(reader.read_string())
    return finish(reader, name, position, reader.operand_names(), {"name": label})


SPECIAL: dict[str, CustomReader] = {
    "stablehlo.dot_general": _read_dot_general,
    "stablehlo.dot": _read_dot,
    "stablehlo.convolution": _read_convolution,
    "stablehlo.dynamic_conv": _read_convolution,
    "stablehlo.reduce": _read_reduce,
    "stablehlo.while": _read_while,
    "stablehlo.custom_call": _read_custom_call,
    "stablehlo.composite": _read_composite,
}
