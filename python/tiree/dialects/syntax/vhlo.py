"""VHLO's text, read as StableHLO: its types and attributes become those of the builtin dialect as they are read, its
operations what `bytecode/vhlo_ops.py` says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BFloat16Type,
    BoolAttr,
    ComplexType,
    DictionaryAttr,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E3M4Type,
    Float8E4M3B11FNUZType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E4M3Type,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    FloatTF32Type,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneType,
    Signedness,
    StringAttr,
    TensorType,
    TupleType,
    UnrankedTensorType,
    i32,
)
from xdsl.ir import Attribute, Operation, TypeAttribute

from tiree.dialects import stablehlo_attrs
from tiree.dialects.bytecode.properties import inherent_names
from tiree.dialects.bytecode.values import CONSTRUCTION_ERRORS
from tiree.dialects.bytecode.vhlo_ops import NEWEST, from_vhlo, property_names
from tiree.support.typed import is_array_attr, is_integer_type

if TYPE_CHECKING:
    from tiree.dialects.syntax.attributes import AttributeReader
    from tiree.dialects.syntax.reader import Reader

_T = TypeVar("_T")

_NAME = re.compile(r"\s*[!#]vhlo[.<]\s*([\w]+?)_v\d+\b")
_NUMBER = re.compile(r"\s*(-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?))")
_DIMENSION = re.compile(r"\s*(\?|\d+)x")

_UNSIGNED = Signedness.UNSIGNED
_PLAIN_TYPES: dict[str, Callable[[], TypeAttribute]] = {
    "bool": lambda: IntegerType(1),
    "index": IndexType,
    "token": stablehlo_attrs.TokenType,
    "none": NoneType,
    "tf31": FloatTF32Type,
    "f16": Float16Type,
    "bf16": BFloat16Type,
    "f32": Float32Type,
    "f64": Float64Type,
    "f4E2M1FN": Float4E2M1FNType,
    "f6E2M3FN": Float6E2M3FNType,
    "f6E3M2FN": Float6E3M2FNType,
    "f8E3M4": Float8E3M4Type,
    "f8E4M3": Float8E4M3Type,
    "f8E4M3FN": Float8E4M3FNType,
    "f8E4M3FNUZ": Float8E4M3FNUZType,
    "f8E4M3B11FNUZ": Float8E4M3B11FNUZType,
    "f8E5M2": Float8E5M2Type,
    "f8E5M2FNUZ": Float8E5M2FNUZType,
    "f8E8M0FNU": Float8E8M0FNUType,
    **{f"i{width}": lambda width=width: IntegerType(width) for width in (2, 4, 8, 16, 32, 64)},
    **{f"ui{width}": lambda width=width: IntegerType(width, _UNSIGNED) for width in (2, 4, 8, 16, 32, 64)},
}
_ENUMS: dict[str, type[stablehlo_attrs.EnumAttr]] = {
    "comparison_direction": stablehlo_attrs.ComparisonDirectionAttr,
    "comparison_type": stablehlo_attrs.ComparisonTypeAttr,
    "fft_type": stablehlo_attrs.FftTypeAttr,
    "precision": stablehlo_attrs.PrecisionAttr,
    "rng_algorithm": stablehlo_attrs.RngAlgorithmAttr,
    "rng_distribution": stablehlo_attrs.RngDistributionAttr,
    "transpose": stablehlo_attrs.TransposeAttr,
    "result_accuracy_mode": stablehlo_attrs.ResultAccuracyModeAttr,
}


def _head(reader: AttributeReader) -> str:
    """Takes `!vhlo.name_v1` or `#vhlo<name_v1`; gives the name."""
    match = _NAME.match(reader.text, reader.p)
    if match is None:
        reader.fail(f"expected a name of VHLO with its version, found {reader.found()}")
    reader.p = match.end()
    return match.group(1)


def _number(reader: AttributeReader) -> str:
    match = _NUMBER.match(reader.text, reader.p)
    if match is None:
        reader.fail(f"expected a number, found {reader.found()}")
    reader.p = match.end()
    return match.group(1)


def _numbers(reader: AttributeReader) -> list[str]:
    """`[number, ...]`."""
    found: list[str] = []
    reader.want("[")
    while not reader.take("]"):
        found.append("?" if reader.take("?") else _number(reader))
        reader.take(",")
    return found


# Types.


def read_type(reader: AttributeReader) -> TypeAttribute:
    """The builtin (or StableHLO) type for `!vhlo...`."""
    start = reader.skip()
    name = _head(reader)
    plain = _PLAIN_TYPES.get(name)
    if plain is not None:
        return plain()
    read = _TYPES.get(name)
    if read is None:
        reader.fail(f"!vhlo.{name} is not known", start)
    if name == "func":
        return read(reader)
    if not reader.take("<"):
        return read(reader) if name == "future" else reader.fail(f"expected '<', found {reader.found()}")
    found = read(reader)
    reader.want(">", " after the type's parts")
    return found


def _shape(reader: AttributeReader) -> list[int]:
    shape: list[int] = []
    while (match := _DIMENSION.match(reader.text, reader.p)) is not None:
        shape.append(DYNAMIC_INDEX if match.group(1) == "?" else int(match.group(1)))
        reader.p = match.end()
    return shape


def _tensor(reader: AttributeReader) -> TypeAttribute:
    shape = _shape(reader)
    element = reader.read_type()
    if reader.take(","):
        return TensorType(element, shape, reader.read_attribute())
    return TensorType(element, shape)


def _buffer(reader: AttributeReader) -> TypeAttribute:
    shape = _shape(reader)
    return MemRefType(reader.read_type(), shape)


def _types(reader: AttributeReader) -> list[TypeAttribute]:
    return [] if reader.at(">") else reader.read_types()


def _parsed(reader: AttributeReader, text: str) -> Attribute:
    """A type or attribute by its text."""
    from tiree.dialects.syntax.attributes import AttributeReader
    from tiree.dialects.syntax.scanner import CutText

    inner = AttributeReader(reader.ctx, CutText(text), reader.filename)
    return inner.read_type() if text.startswith("!") else inner.read_attribute()


def _future(reader: AttributeReader) -> TypeAttribute:
    types = ", ".join(map(str, _types(reader)))
    return cast(TypeAttribute, _parsed(reader, f"!stablehlo.future<{types}>"))


def _list(reader: AttributeReader, read: Callable[[AttributeReader], _T]) -> list[_T]:
    found: list[_T] = []
    reader.want("[")
    while not reader.take("]"):
        found.append(read(reader))
        reader.take(",")
    return found


def _quantized(reader: AttributeReader, per_axis: bool) -> TypeAttribute:
    """`storage:expressed, [axis,] scale:zero, least:most, flags`; lists of scales and zeros along an axis."""
    from tiree.dialects.quant import checked, read_scale, read_whole

    start = reader.skip()
    storage = reader.read_type()
    reader.want(":")
    expressed = reader.read_type()
    reader.want(",")
    axis: int | None = None
    if per_axis:
        axis = read_whole(reader)
        reader.want(",")
        scales = _list(reader, read_scale)
        reader.want(",")
        zeros = _list(reader, read_whole)
    else:
        scales = [read_scale(reader)]
        reader.want(":")
        zeros = [read_whole(reader)]
    reader.want(",")
    least = read_whole(reader)
    reader.want(":")
    bounds = (least, read_whole(reader))
    reader.want(",")
    signed = bool(read_whole(reader) & 1)
    if not is_integer_type(storage):
        reader.fail(f"{storage} cannot store quantized values", start)
    return checked(reader, start, storage, signed, bounds, expressed, scales, zeros, axis)


def _function(reader: AttributeReader) -> TypeAttribute:
    reader.want("<")
    inputs, outputs = reader.read_function_type()
    reader.want(">")
    return FunctionType.from_lists(inputs, outputs)


_TYPES: dict[str, Callable[[AttributeReader], TypeAttribute]] = {
    "tensor": _tensor,
    "buffer": _buffer,
    "unranked_tensor": lambda reader: UnrankedTensorType(reader.read_type()),
    "complex": lambda reader: ComplexType(cast(Any, reader.read_type())),
    "tuple": lambda reader: TupleType(tuple(_types(reader))),
    "quant": lambda reader: _quantized(reader, per_axis=False),
    "quant_per_axis": lambda reader: _quantized(reader, per_axis=True),
    "future": _future,
    "func": _function,
}

# Attributes.


def read_attribute(reader: AttributeReader) -> Attribute:
    """The attribute of StableHLO or the builtin dialect for `#vhlo...`."""
    start = reader.skip()
    is_enum = reader.text.startswith("#vhlo<", start)
    name = _head(reader)
    if is_enum:
        word = reader.want_word()
        reader.want(">")
        return _enum(reader, name, word, start)
    read = _ATTRIBUTES.get(name)
    if read is None:
        reader.fail(f"#vhlo.{name} is not known", start)
    reader.want("<")
    found = read(reader)
    reader.want(">", " after the attribute's parts")
    return found


def _enum(reader: AttributeReader, name: str, word: str, start: int) -> Attribute:
    if name == "api_version":
        versions = stablehlo_attrs.CustomCallApiVersionAttr.VALUES
        if word in versions:
            return IntegerAttr(versions.index(word), i32)
    kind = _ENUMS.get(name)
    if kind is None or word not in kind.VALUES:
        reader.fail(f"#vhlo<{name} {word}> is not known", start)
    return kind(word)


def _array(reader: AttributeReader) -> Attribute:
    parts: list[Attribute] = []
    reader.want("[")
    while not reader.take("]"):
        parts.append(reader.read_attribute())
        reader.take(",")
    return ArrayAttr(parts)


def _dictionary(reader: AttributeReader) -> Attribute:
    entries: dict[str, Attribute] = {}
    reader.want("{")
    while not reader.take("}"):
        key = reader.read_attribute()
        if not isinstance(key, StringAttr):
            reader.fail(f"expected a string, found {key}")
        reader.want("=")
        entries[key.data] = reader.read_attribute()
        reader.take(",")
    return DictionaryAttr(entries)


def _float(reader: AttributeReader) -> Attribute:
    digits = _number(reader)
    reader.want(":")
    type = cast(Any, reader.read_type())
    if digits.startswith("0x"):
        return _parsed(reader, f"{digits} : {type}")
    return FloatAttr(float(digits), type)


def _accuracy(reader: AttributeReader) -> Attribute:
    """`atol = 0.0, rtol = 0.0, ulps = 0, mode = #vhlo<...>`."""
    said: list[str] = []
    for name in ("atol", "rtol", "ulps"):
        reader.want_word(name)
        reader.want("=")
        digits = _number(reader)
        reader.want(",")
        if float(digits):
            said.append(f"{name} = {digits}")
    reader.want_word("mode")
    reader.want("=")
    mode = reader.read_attribute()
    if not isinstance(mode, stablehlo_attrs.ResultAccuracyModeAttr):
        reader.fail(f"expected a mode of accuracy, found {mode}")
    said.append(f"mode = #stablehlo.result_accuracy_mode<{mode.data}>")
    return _parsed(reader, f"#stablehlo.result_accuracy<{', '.join(said)}>")


def _extensions(reader: AttributeReader) -> Attribute:
    reader.want_word("bounds")
    reader.want("=")
    return _parsed(reader, f"#stablehlo.bounds<{', '.join(_numbers(reader))}>")


def _alias(reader: AttributeReader) -> Attribute:
    reader.want_word("outputTupleIndices")
    reader.want("=")
    outputs = [int(number) for number in _numbers(reader)]
    reader.want(",")
    reader.want_word("operandIndex")
    reader.want("=")
    operand = int(_number(reader))
    reader.want(",")
    reader.want_word("operandTupleIndices")
    reader.want("=")
    inputs = [int(number) for number in _numbers(reader)]
    return stablehlo_attrs.OutputOperandAliasAttr.of(
        output_tuple_indices=outputs, operand_index=operand, operand_tuple_indices=inputs
    )


def _fields(reader: AttributeReader) -> dict[str, str]:
    """`name = value, ...` as the text that StableHLO has for each."""
    found: dict[str, str] = {}
    while not reader.at(">"):
        name = reader.want_word()
        reader.want("=")
        found[name] = str(reader.read_attribute()) if reader.at("#") else _number(reader)
        reader.take(",")
    return found


def _axis(reader: AttributeReader) -> Attribute:
    fields = _fields(reader)
    part = fields.get("sub_axis_info", "").partition("<")[2].removesuffix(">")
    part = f", sub_axis_info = {part}" if part else ""
    return _parsed(reader, f"#stablehlo.axis_ref<name = {fields.get('name')}{part}>")


def _sub_axis(reader: AttributeReader) -> Attribute:
    fields = _fields(reader)
    return _parsed(reader, f"#stablehlo.sub_axis_info<({fields.get('pre_size')}){fields.get('size')}>")


def _mesh_axes(reader: AttributeReader) -> Attribute:
    fields = _fields(reader)
    mesh = fields.get("mesh", "")
    mesh = f"@{mesh.strip(chr(34))}" if mesh.startswith('"') else mesh
    return _parsed(reader, f"#stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = {fields.get('axes')}>")


def _mesh_axis(reader: AttributeReader) -> Attribute:
    fields = _fields(reader)
    return _parsed(reader, f"#stablehlo.mesh_axis<name = {fields.get('name')}, size = {fields.get('size')}>")


def _mesh(reader: AttributeReader) -> Attribute:
    fields = _fields(reader)
    devices = f", device_ids = {fields['device_ids']}" if "device_ids" in fields else ""
    return _parsed(reader, f"#stablehlo.mesh<axes = {fields.get('axes')}{devices}>")


_ATTRIBUTES: dict[str, Callable[[AttributeReader], Attribute]] = {
    "axis_ref": _axis,
    "sub_axis_info": _sub_axis,
    "replica_group_mesh_axes": _mesh_axes,
    "mesh_axis": _mesh_axis,
    "mesh": _mesh,
    "array": _array,
    "bool": lambda reader: BoolAttr.from_bool(reader.want_word("true", "false") == "true"),
    "dict": _dictionary,
    "float": _float,
    "integer": lambda reader: reader.read_attribute(),
    "string": lambda reader: StringAttr(reader.read_string()),
    "tensor": lambda reader: reader.read_attribute(),
    "type": lambda reader: reader.read_type(),
    "result_accuracy": _accuracy,
    "type_extensions": _extensions,
    "output_operand_alias": _alias,
}

# Operations.


def translated(
    reader: Reader, name: str, position: int, given: Mapping[str, Attribute]
) -> tuple[str, dict[str, Attribute], dict[str, Attribute]]:
    """Name, properties and attributes of the StableHLO operation for one of VHLO; a return is one of a region."""
    if property_names(name) is None:
        reader.fail(f"{name} is of a StableHLO newer than {NEWEST}, or of none", position)
    try:
        made, attributes = from_vhlo(name, given, None)
    except CONSTRUCTION_ERRORS as error:
        reader.fail(f"{name} cannot be: {error}", position)
    for key in ("arg_attrs", "res_attrs"):
        value = attributes.get(key)
        if is_array_attr(value) and all(isinstance(one, DictionaryAttr) and not one.data for one in value.data):
            del attributes[key]
    names = inherent_names(reader.op_class(made, position))
    return made, {key: attributes.pop(key) for key in names if key in attributes}, attributes


def finish_function(function: Operation) -> None:
    """What ends a function is its own return."""
    from xdsl.dialects.func import ReturnOp

    for block in function.regions[0].blocks:
        last = block.last_op
        if last is not None and last.name == "stablehlo.return":
            new = ReturnOp.create(operands=last.operands, attributes=last.attributes, location=last.location)
            block.insert_op_before(new, last)
            last.detach()
            last.erase()
