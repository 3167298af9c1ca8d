"""`dense<...>` between text and buffers.

Reading keeps long hex strings in place: the closing quote is searched for, and the digits go through `fromhex` once.
Writing gives splats as splats, up to 100 elements as nested lists, more as one hex string, as MLIR does. Elements are
handled in bulk, so that a list of a million numbers costs no Python call per element beyond `float` or `int`.
"""

from __future__ import annotations

import re
import struct
import sys
from array import array
from binascii import hexlify, unhexlify
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute
from xdsl.printer import Printer

from tiree.dialects.dense import DenseAttr, element_byte_size, element_count
from tiree.dialects.syntax.floats import float_bits, format_float
from tiree.dialects.syntax.small_floats import SmallFloat, small_float
from tiree.support.typed import is_complex_type, is_integer_type

LIST_LIMIT = 100
"""Constants with more elements are printed as hex, as MLIR does."""

_STRUCTURE = re.compile(r"[^\[\],]+")
_COMPLEX = re.compile(r"\([^()]*\)")
_PLAIN = re.compile(r"[-+0-9a-fA-FxX.\s,\[\]()truelsTRUELS]*")
_INT_CODES = {1: "b", 2: "h", 4: "i", 8: "q"}
_FLOATS = (Float16Type, BFloat16Type, Float32Type, Float64Type)


class DenseSyntaxError(ValueError):
    """A literal that does not fit its type; the reader adds the place."""


def dense_from_hex(type: TensorType | VectorType, digits: str) -> DenseAttr:
    """The constant of `dense<"0x...">`; `digits` includes the `0x`. One element's worth of bytes is a splat."""
    if not digits.startswith("0x"):
        raise DenseSyntaxError('a hex string must start with "0x"')
    try:
        data = unhexlify(digits[2:])
    except ValueError:
        raise DenseSyntaxError("not an even number of hex digits") from None
    size = element_byte_size(type.get_element_type())
    count = element_count(type)
    if len(data) == size * count:
        return DenseAttr.from_buffer(type, data, splat=count == 1)
    if len(data) == size:
        return DenseAttr.from_buffer(type, data, splat=True)
    raise DenseSyntaxError(f"{type} needs {size * count} bytes ({size} for a splat), the hex string has {len(data)}")


def dense_from_literal(type: TensorType | VectorType, body: str) -> DenseAttr:
    """The constant of `dense<body>` where `body` is empty, one element, or nested lists.

    Raises `DenseSyntaxError` when the shape or an element does not fit `type`.
    """
    if not _PLAIN.fullmatch(body):
        raise DenseSyntaxError("expected numbers, `true`, `false`, or a hex string")
    element = type.get_element_type()
    body = body.strip()
    count = element_count(type)
    if not body:
        if count:
            raise DenseSyntaxError(f"{type} has {count} elements, the literal has none")
        return DenseAttr.from_buffer(type, b"")
    if "(" in body and not is_complex_type(element):
        raise DenseSyntaxError(f"a complex element in a constant of {element}")
    is_list = body[0] == "["
    flat = _COMPLEX.sub("c", body) if is_complex_type(element) else body
    if is_list:
        _check_shape(type, flat)
    texts = body.translate({ord("["): None, ord("]"): None, ord("("): None, ord(")"): None}).split(",")
    texts = [text.strip() for text in texts]
    if is_complex_type(element):
        _check_complex(body, len(texts), 1 if not is_list else count)
        element = element.element_type
    if not is_list and len(texts) != (2 if isinstance(type.get_element_type(), ComplexType) else 1):
        raise DenseSyntaxError("several elements need brackets")
    if texts == [""]:
        return DenseAttr.from_buffer(type, b"")
    data = encode_elements(element, texts)
    if count == 0:
        return DenseAttr.from_buffer(type, b"")
    return DenseAttr.from_buffer(type, data, splat=not is_list or count == 1)


def _check_complex(body: str, numbers: int, count: int) -> None:
    if numbers != 2 * count or body.count("(") != count:
        raise DenseSyntaxError("a complex constant needs (real, imaginary) elements")


def wrong_structure(shape: Sequence[int]) -> str:
    """What is wrong with a literal that has other brackets and commas than its shape."""
    return f"the literal does not have the brackets and as many elements as the shape {'x'.join(map(str, shape))} needs"


def _check_shape(type: TensorType | VectorType, body: str) -> None:
    """The brackets and commas of a literal are determined by its shape: compare them as text."""
    found = _STRUCTURE.sub("", body)
    shape = type.get_shape()
    expected = ""
    for size in reversed(shape):
        expected = f"[{','.join([expected] * size)}]"
    if found != expected and not (0 in shape and set(found) <= set("[],")):
        raise DenseSyntaxError(wrong_structure(shape))


def encode_elements(element: Attribute, texts: Sequence[str]) -> bytes:
    """Little-endian bytes of elements given as text. Hex text is a bit pattern for floats, a number for integers."""
    if is_integer_type(element) or isinstance(element, IndexType):
        return _encode_integers(element, texts)
    if isinstance(element, _FLOATS):
        return _encode_floats(element, texts)
    if (format := small_float(element)) is not None:
        return bytes([_small_bits(format, element, text) for text in texts])
    size = element_byte_size(element)
    try:
        return b"".join(int(text, 16).to_bytes(size, "little") for text in texts if _require_hex(text, element))
    except OverflowError:
        raise DenseSyntaxError(f"a bit pattern is too long for {element}") from None


def _require_hex(text: str, element: Attribute) -> bool:
    if not text.startswith("0x"):
        raise DenseSyntaxError(f"write elements of {element} as bit patterns (0x...), got {text!r}")
    return True


def _parse_integer(text: str, boolean: bool) -> int:
    if boolean and text in ("true", "false"):
        return int(text == "true")
    try:
        negative = text.startswith("-")
        digits = text[1:] if negative else text
        value = int(digits, 16) if digits.startswith("0x") else int(digits)
        return -value if negative else value
    except ValueError:
        raise DenseSyntaxError(f"expected an integer, got {text!r}") from None


def _encode_integers(element: IntegerType | IndexType, texts: Sequence[str]) -> bytes:
    width = element.width.data if isinstance(element, IntegerType) else 64
    try:
        values = [int(text) for text in texts]
    except ValueError:
        values = [_parse_integer(text, width == 1) for text in texts]
    signedness = element.signedness.data if isinstance(element, IntegerType) else Signedness.SIGNED
    low = 0 if signedness is Signedness.UNSIGNED else -(1 << (width - 1))
    high = (1 << width) - 1 if signedness is not Signedness.SIGNED else (1 << (width - 1)) - 1
    if values and (min(values) < low or max(values) > high):
        bad = next(value for value in values if not low <= value <= high)
        raise DenseSyntaxError(f"{bad} is out of range for {element} ({low} to {high})")
    if width == 1:
        return bytes([value & 1 for value in values])
    size = element_byte_size(element)
    if size not in _INT_CODES:
        mask = (1 << (8 * size)) - 1
        return b"".join((value & mask).to_bytes(size, "little") for value in values)
    half, full = 1 << (8 * size - 1), 1 << (8 * size)
    if values and max(values) >= half:
        values = [value - full if value >= half else value for value in values]
    return _little_endian(array(_INT_CODES[size], values))


def _encode_floats(element: Attribute, texts: Sequence[str]) -> bytes:
    format = type(element)
    try:
        values = [float(text) for text in texts]
    except ValueError:
        size = element_byte_size(element)
        return b"".join(_element_bits(element, text).to_bytes(size, "little") for text in texts)
    try:
        if format is Float32Type:
            return _little_endian(array("f", values))
        if format is Float64Type:
            return _little_endian(array("d", values))
        if format is Float16Type:
            return struct.pack(f"<{len(values)}e", *values)
    except OverflowError:
        pass
    size = element_byte_size(element)
    return b"".join(float_bits(value, format).to_bytes(size, "little") for value in values)


def _element_bits(element: Attribute, text: str) -> int:
    if text.startswith("0x"):
        bits = int(text, 16)
        if bits >> (8 * element_byte_size(element)):
            raise DenseSyntaxError(f"{text} has more bits than {element}")
        return bits
    try:
        return float_bits(float(text), type(element))
    except ValueError:
        raise DenseSyntaxError(f"expected a number of type {element}, got {text!r}") from None


def _small_bits(format: SmallFloat, element: Attribute, text: str) -> int:
    try:
        bits = int(text, 16) if text.startswith("0x") else format.bits(float(text))
    except ValueError:
        raise DenseSyntaxError(f"expected a number of type {element}, got {text!r}") from None
    if bits >> format.width:
        raise DenseSyntaxError(f"{text} has more bits than {element}")
    return bits


def _little_endian(values: array[int] | array[float]) -> bytes:
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def _format_elements(element: Attribute, data: bytes) -> list[str]:
    """Every element of `data` as MLIR prints it."""
    size = element_byte_size(element)
    if is_complex_type(element):
        parts = _format_elements(element.element_type, data)
        return [f"({parts[index]},{parts[index + 1]})" for index in range(0, len(parts), 2)]
    chunks = [data[start : start + size] for start in range(0, len(data), size)]
    if is_integer_type(element) and element.width.data == 1:
        return ["true" if chunk != b"\0" else "false" for chunk in chunks]
    if is_integer_type(element) or isinstance(element, IndexType):
        signed = not (is_integer_type(element) and element.signedness.data is Signedness.UNSIGNED)
        return [str(int.from_bytes(chunk, "little", signed=signed)) for chunk in chunks]
    return [format_float(int.from_bytes(chunk, "little"), type(element), 8 * size) for chunk in chunks]


def dense_text(attr: DenseAttr, elide_larger_than: int | None = None) -> str:
    """`dense<...>` without its type; `dense_resource<__elided__>` when it has more elements than asked for."""
    count = element_count(attr.type)
    if count == 0:
        return "dense<>"
    if attr.is_splat or count == 1:
        return f"dense<{_format_elements(attr.element_type, bytes(attr.buffer))[0]}>"
    if elide_larger_than is not None and count > elide_larger_than:
        return "dense_resource<__elided__>"
    if count > LIST_LIMIT:
        return f'dense<"0x{hexlify(attr.buffer).upper().decode("ascii")}">'
    items = _format_elements(attr.element_type, bytes(attr.buffer))
    for size in reversed(attr.shape):
        items = [f"[{', '.join(items[start : start + size])}]" for start in range(0, len(items), size)]
    return f"dense<{items[0]}>"


def print_dense(printer: Printer, attr: DenseAttr) -> None:
    """Prints `dense<...>` without the type, on a printer that may carry `elide_larger_than`."""
    printer.print_string(dense_text(attr, getattr(printer, "elide_larger_than", None)), indent=0)
