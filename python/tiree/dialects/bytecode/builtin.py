"""Attributes and types of MLIR's builtin dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    BFloat16Type,
    BoolAttr,
    BytesAttr,
    CallSiteLoc,
    ComplexType,
    DenseArrayBase,
    DictionaryAttr,
    FileLineColLoc,
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
    Float80Type,
    Float128Type,
    FloatAttr,
    FloatTF32Type,
    FunctionType,
    FusedLoc,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    MemRefLayoutAttr,
    MemRefType,
    NameLoc,
    NoneAttr,
    NoneType,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    UnitAttr,
    UnknownLoc,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap

from tiree.dialects.bytecode.affine import affine_map, affine_set, strided
from tiree.dialects.bytecode.cursor import Cursor
from tiree.dialects.bytecode.values import Decoder, Values
from tiree.dialects.dense import DenseAttr, element_byte_size, element_count
from tiree.dialects.syntax.floats import float_of_bits, is_formatted
from tiree.support.typed import is_integer_type, is_tensor_type, is_vector_type

LOCATIONS = (UnknownLoc, FileLineColLoc, CallSiteLoc, NameLoc, FusedLoc)
_SIGNS = (Signedness.SIGNLESS, Signedness.SIGNED, Signedness.UNSIGNED)
_WIDEST = 1 << 24

# Numbers.


def read_bits(cursor: Cursor, width: int) -> int:
    """An integer of `width` bits, without sign."""
    if width <= 8:
        value = cursor.byte()
    elif width <= 64:
        value = cursor.signed()
    else:
        words = [cursor.signed() & (2**64 - 1) for _ in range(cursor.count("words"))]
        value = sum(word << (64 * place) for place, word in enumerate(words))
    return value & ((1 << width) - 1)


def read_double(cursor: Cursor) -> float:
    return float_of_bits(read_bits(cursor, 64), Float64Type)


def integer(cursor: Cursor, type: Attribute) -> IntegerAttr:
    """The number that comes next, as an attribute of `type`."""
    match type:
        case IndexType():
            width, unsigned = 64, False
        case IntegerType():
            width, unsigned = type.width.data, type.signedness.data is Signedness.UNSIGNED
        case _:
            cursor.fail(f"{type} is no integer type")
    value = read_bits(cursor, width)
    if width == 1 and not unsigned:
        return BoolAttr.from_bool(bool(value))
    if not unsigned and width and value >> (width - 1):
        value -= 1 << width
    return IntegerAttr(value, type)


def float_number(cursor: Cursor, type: Attribute) -> FloatAttr:
    """The float that comes next, as an attribute of `type`."""
    size: int | None = getattr(type, "bitwidth", None)
    if size is None or is_integer_type(type):
        cursor.fail(f"{type} is no float type")
    bits = read_bits(cursor, size)
    if is_formatted(type):
        return FloatAttr(float_of_bits(bits, type.__class__), type)
    return cast(Any, FloatAttr).unpack(type, bits.to_bytes((size + 7) // 8, "little"), 1)[0]


# Attributes.


def location(values: Values, cursor: Cursor) -> LocationAttr:
    """The location whose index comes next."""
    at = cursor.position
    found = values.attribute(cursor)
    if not isinstance(found, LOCATIONS):
        cursor.fail(f"expected a location, found {found.name}", at)
    return found


def dictionary(values: Values, cursor: Cursor) -> Attribute:
    """Names with their attributes."""
    entries: dict[str, Attribute] = {}
    for _ in range(cursor.count("entries")):
        name = values.string(cursor)
        entries[name] = values.attribute(cursor)
    return DictionaryAttr(entries)


def string(values: Values, cursor: Cursor) -> Attribute:
    """Text, or bytes that are none, such as the configurations of some custom calls."""
    at = cursor.position
    raw = values.file.bytes_at(cursor, cursor.varint(), at)
    try:
        return StringAttr(raw.decode())
    except UnicodeDecodeError:
        return BytesAttr(raw)


def _typed_string(values: Values, cursor: Cursor) -> Attribute:
    found = string(values, cursor)
    values.type(cursor)
    return found


def _flat_symbol(values: Values, cursor: Cursor) -> Attribute:
    return SymbolRefAttr(values.string(cursor))


def _symbol(values: Values, cursor: Cursor) -> Attribute:
    root = values.string(cursor)
    nested: list[str] = []
    at = cursor.position
    for part in values.attributes(cursor):
        if not isinstance(part, SymbolRefAttr):
            cursor.fail(f"expected a symbol, found {part.name}", at)
        nested.append(part.root_reference.data)
    return SymbolRefAttr(root, nested)


def _file_location(values: Values, cursor: Cursor) -> Attribute:
    name = values.string(cursor)
    return FileLineColLoc(StringAttr(name), IntAttr(cursor.varint()), IntAttr(cursor.varint()))


def _file_range(values: Values, cursor: Cursor) -> Attribute:
    """Of a range only the start is kept, as of text."""
    name = values.string(cursor)
    numbers = [cursor.varint() for _ in range(cursor.count("numbers"))]
    line, column, *_ = [*numbers, 0, 0]
    return FileLineColLoc(StringAttr(name), IntAttr(line), IntAttr(column))


def _call_site(values: Values, cursor: Cursor) -> Attribute:
    callee = location(values, cursor)
    return CallSiteLoc(callee, location(values, cursor))


def _fused(values: Values, cursor: Cursor) -> Attribute:
    return FusedLoc(tuple(location(values, cursor) for _ in range(cursor.count("locations"))), NoneAttr())


def _fused_with_metadata(values: Values, cursor: Cursor) -> Attribute:
    parts = tuple(location(values, cursor) for _ in range(cursor.count("locations")))
    return FusedLoc(parts, values.attribute(cursor))


def _name_location(values: Values, cursor: Cursor) -> Attribute:
    name = StringAttr(values.string(cursor))
    child = location(values, cursor)
    return NameLoc(name, NoneAttr() if isinstance(child, UnknownLoc) else child)


def _shaped(values: Values, cursor: Cursor) -> TensorType[Attribute] | VectorType[Attribute]:
    at = cursor.position
    type = values.type(cursor)
    if not (is_tensor_type(type) or is_vector_type(type)):
        cursor.fail(f"a constant needs a tensor or vector type, not {type}", at)
    if any(size < 0 for size in type.get_shape()):
        cursor.fail(f"a constant needs a static shape, not {type}", at)
    return type


def constant(cursor: Cursor, type: TensorType[Attribute] | VectorType[Attribute], blob: memoryview) -> DenseAttr:
    """The constant whose elements, or one element for all, are `blob`. Only types below a byte are copied."""
    count = element_count(type)
    element = type.get_element_type()
    size = element_byte_size(element)
    if is_integer_type(element) and element.width.data < 8:
        blob = memoryview(_bits(blob, count) if element.width.data == 1 else _extended(blob, element))
    if count == 0:
        return DenseAttr.from_buffer(type, b"")
    if len(blob) not in (size * count, size):
        cursor.fail(f"{type} needs {size * count} bytes ({size} for a splat), the data has {len(blob)}")
    return DenseAttr.from_buffer(type, blob, splat=len(blob) == size)


def _bits(blob: memoryview, count: int) -> bytes:
    """A byte an element. One byte 0xFF or 0, and one byte for more than eight elements, stand for all of them."""
    if len(blob) == 1 and (count == 1 or blob[0] in (0, 0xFF) or count > 8):
        return b"\1" if blob[0] else b"\0"
    if len(blob) != (count + 7) // 8 or len(blob) == count:
        return bytes(blob)
    number = int.from_bytes(blob, "little")
    text = f"{number & ((1 << count) - 1):0{count}b}"[::-1]
    return text.encode().translate(bytes(code & 1 for code in range(256)))


def _extended(blob: memoryview, type: IntegerType) -> bytes:
    """Numbers of a few bits, one a byte, with what stands above the bits made that of the number."""
    width = type.width.data
    high = 0 if type.signedness.data is Signedness.UNSIGNED else 0x100 - (1 << width)
    low = [code & ((1 << width) - 1) for code in range(256)]
    return bytes(blob).translate(bytes(code | high if code >> (width - 1) else code for code in low))


def _dense(values: Values, cursor: Cursor) -> Attribute:
    type = _shaped(values, cursor)
    return constant(cursor, type, cursor.blob())


def _resource(values: Values, cursor: Cursor) -> Attribute:
    type = _shaped(values, cursor)
    at = cursor.position
    index = cursor.varint()
    resources = values.file.resources
    if index >= len(resources):
        cursor.fail(f"there is no resource {index} of {len(resources)}", at)
    key, blob = resources[index]
    if blob is None:
        cursor.fail(f"dense_resource<{key}> has no data: it was left out when the file was written", at)
    needed = element_count(type) * element_byte_size(type.get_element_type())
    if len(blob) != needed:
        cursor.fail(f"{type} needs {needed} bytes, resource {key} has {len(blob)}", at)
    return DenseAttr.from_buffer(type, blob, splat=element_count(type) == 1)


def _dense_array(values: Values, cursor: Cursor) -> Attribute:
    at = cursor.position
    type = values.type(cursor)
    count = cursor.varint()
    blob = bytes(cursor.blob())
    size: int | None = getattr(type, "size", None)
    if size is None:
        cursor.fail(f"an array of {type}", at)
    if len(blob) != count * size:
        cursor.fail(f"{count} elements of {type} need {count * size} bytes, the data has {len(blob)}", at)
    if is_integer_type(type) and type.width.data == 1:
        return DenseArrayBase.from_list(type, [value & 1 for value in blob])
    return DenseArrayBase(cast(Any, type), BytesAttr(blob))


def _refused(what: str) -> Decoder:
    def refuse(values: Values, cursor: Cursor) -> Attribute:
        del values
        cursor.fail(f"{what} are not read")

    return refuse


# Types.


def _integer_type(values: Values, cursor: Cursor) -> Attribute:
    del values
    number = cursor.varint()
    if number & 3 == 3 or not number >> 2 or number >> 2 > _WIDEST:
        cursor.fail("there is no such integer type")
    return IntegerType(number >> 2, _SIGNS[number & 3])


def function_type(values: Values, cursor: Cursor) -> Attribute:
    """The types of the arguments, then those of the results."""
    inputs = values.types(cursor)
    return FunctionType.from_lists(inputs, values.types(cursor))


def read_shape(cursor: Cursor) -> tuple[int, ...]:
    """The sizes of a type's dimensions."""
    at = cursor.position
    shape = cursor.signed_list()
    if any(size < 0 and size != DYNAMIC_INDEX for size in shape):
        cursor.fail(f"{list(shape)} is no shape", at)
    return shape


def _element(values: Values, cursor: Cursor) -> Attribute:
    at = cursor.position
    type = values.type(cursor)
    if is_tensor_type(type) or is_vector_type(type) or isinstance(type, (FunctionType, TupleType)):
        cursor.fail(f"{type} is no element type", at)
    return type


def _tensor(values: Values, cursor: Cursor) -> Attribute:
    shape = read_shape(cursor)
    return TensorType(_element_or_vector(values, cursor), shape)


def _element_or_vector(values: Values, cursor: Cursor) -> Attribute:
    type = values.type(cursor)
    return type if is_vector_type(type) else _checked_element(cursor, type)


def _checked_element(cursor: Cursor, type: Attribute) -> Attribute:
    if is_tensor_type(type) or isinstance(type, (FunctionType, TupleType)):
        cursor.fail(f"{type} is no element type")
    return type


def _tensor_with_encoding(values: Values, cursor: Cursor) -> Attribute:
    encoding = values.attribute(cursor)
    shape = read_shape(cursor)
    return TensorType(_element_or_vector(values, cursor), shape, encoding)


def _unranked_tensor(values: Values, cursor: Cursor) -> Attribute:
    return UnrankedTensorType(_element(values, cursor))


def _vector(values: Values, cursor: Cursor) -> Attribute:
    shape = read_shape(cursor)
    return VectorType(_element(values, cursor), shape)


def _layout(values: Values, cursor: Cursor) -> MemRefLayoutAttr | NoneAttr:
    """The identity is what a memref has that names no layout."""
    at = cursor.position
    layout = values.attribute(cursor)
    if isinstance(layout, AffineMapAttr) and layout.data == AffineMap.identity(layout.data.num_dims):
        return NoneAttr()
    if not isinstance(layout, MemRefLayoutAttr):
        cursor.fail(f"{layout.name} is no layout", at)
    return layout


def _memref(values: Values, cursor: Cursor) -> Attribute:
    shape = read_shape(cursor)
    element = values.type(cursor)
    return MemRefType(element, shape, _layout(values, cursor))


def _memref_in_space(values: Values, cursor: Cursor) -> Attribute:
    space = values.attribute(cursor)
    shape = read_shape(cursor)
    element = values.type(cursor)
    return MemRefType(element, shape, _layout(values, cursor), space)


def _unranked_memref_in_space(values: Values, cursor: Cursor) -> Attribute:
    space = values.attribute(cursor)
    return UnrankedMemRefType.from_type(values.type(cursor), space)


def always(make: Callable[[], Attribute]) -> Decoder:
    """A decoder of what its code alone says."""

    def decode(values: Values, cursor: Cursor) -> Attribute:
        del values, cursor
        return make()

    return decode


_ATTRIBUTES: tuple[Decoder, ...] = (
    lambda values, cursor: ArrayAttr(values.attributes(cursor)),
    dictionary,
    string,
    _typed_string,
    _flat_symbol,
    _symbol,
    lambda values, cursor: values.type(cursor),
    always(UnitAttr),
    lambda values, cursor: integer(cursor, values.type(cursor)),
    lambda values, cursor: float_number(cursor, values.type(cursor)),
    _call_site,
    _file_location,
    _fused,
    _fused_with_metadata,
    _name_location,
    always(UnknownLoc),
    _resource,
    _dense_array,
    _dense,
    _refused("constants of strings"),
    _refused("sparse constants"),
    _refused("distinct attributes"),
    _file_range,
    affine_map,
    affine_set,
    strided,
)
_TYPES: tuple[Decoder, ...] = (
    _integer_type,
    always(IndexType),
    function_type,
    always(BFloat16Type),
    always(Float16Type),
    always(Float32Type),
    always(Float64Type),
    always(Float80Type),
    always(Float128Type),
    lambda values, cursor: ComplexType(cast(Any, values.type(cursor))),
    _memref,
    _memref_in_space,
    always(NoneType),
    _tensor,
    _tensor_with_encoding,
    lambda values, cursor: TupleType(tuple(values.types(cursor))),
    lambda values, cursor: UnrankedMemRefType.from_type(values.type(cursor)),
    _unranked_memref_in_space,
    _unranked_tensor,
    _vector,
    _refused("scalable vectors"),
    always(FloatTF32Type),
    always(Float8E5M2Type),
    always(Float8E4M3Type),
    always(Float8E4M3FNType),
    always(Float8E5M2FNUZType),
    always(Float8E4M3FNUZType),
    always(Float8E4M3B11FNUZType),
    always(Float8E3M4Type),
    always(Float4E2M1FNType),
    always(Float6E2M3FNType),
    always(Float6E3M2FNType),
    always(Float8E8M0FNUType),
)
ATTRIBUTES: dict[tuple[str, int], Decoder] = {("builtin", code): read for code, read in enumerate(_ATTRIBUTES)}
TYPES: dict[tuple[str, int], Decoder] = {("builtin", code): read for code, read in enumerate(_TYPES)}
