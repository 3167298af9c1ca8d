"""Long constants from the ranges of the file that hold them (`long_text.py`): a window at a time, never as one text."""

from __future__ import annotations

from binascii import Error as HexError
from binascii import unhexlify

from xdsl.dialects.builtin import TensorType, VectorType
from xdsl.ir import Attribute

from tiree.dialects.dense import DenseAttr, element_byte_size, element_count
from tiree.dialects.syntax.dense_text import DenseSyntaxError, dense_from_literal, encode_elements, wrong_structure
from tiree.dialects.syntax.long_text import Piece
from tiree.support.typed import is_complex_type

Ranked = TensorType[Attribute] | VectorType[Attribute]

_BLANKS = b" \t\r\n"
_BRACKETS = b"[]"
_PLAIN = b"0123456789abcdefABCDEFxX+-.truelsTRULS,[]" + _BLANKS
_NOT_STRUCTURE = bytes(code for code in range(256) if code not in b"[],")


def bytes_of_hex(piece: Piece) -> bytearray:
    """The bytes of a piece that is `0x` and digits. Raises `DenseSyntaxError` for anything else."""
    digits = len(piece) - 2
    if digits % 2:
        raise DenseSyntaxError("not an even number of hex digits")
    data = bytearray(digits // 2)
    view = memoryview(data)
    at = 0
    try:
        for chunk in piece.chunks(2):
            view[at : at + len(chunk) // 2] = unhexlify(chunk)
            at += len(chunk) // 2
    except HexError:
        raise DenseSyntaxError("a hex string holds something else than hex digits") from None
    return data


def dense_from_piece(type: Ranked, piece: Piece) -> DenseAttr:
    """The constant of type `type` that `piece` spells. Raises `DenseSyntaxError` when it does not fit."""
    if piece.data[piece.start : piece.start + 1] == b"[":
        return _dense_from_list(type, piece)
    data = bytes_of_hex(piece)
    needed = element_byte_size(type.get_element_type()) * element_count(type)
    if len(data) != needed:
        size = element_byte_size(type.get_element_type())
        raise DenseSyntaxError(f"{type} needs {needed} bytes ({size} for a splat), the hex string has {len(data)}")
    return DenseAttr.from_buffer(type, data, splat=element_count(type) == 1)


def _dense_from_list(type: Ranked, piece: Piece) -> DenseAttr:
    element = type.get_element_type()
    if is_complex_type(element):
        return dense_from_literal(type, b"".join(piece.chunks()).decode())
    data = bytearray()
    nesting = _Nesting(type)
    rest = b""
    for chunk in piece.chunks():
        if chunk.translate(None, _PLAIN):
            raise DenseSyntaxError("expected numbers, `true`, `false`, or a hex string")
        nesting.add(chunk)
        text = rest + chunk
        end = text.rfind(b",") + 1
        rest = text[end:]
        if end:
            data += _encode(element, text[: end - 1])
    data += _encode(element, rest)
    nesting.check()
    return DenseAttr.from_buffer(type, data, splat=element_count(type) == 1)


def _encode(element: Attribute, text: bytes) -> bytes:
    """The elements of a part of a list that is cut at commas."""
    return encode_elements(element, text.translate(None, _BRACKETS + _BLANKS).decode("ascii").split(","))


class _Nesting:
    """Compares the brackets and commas of a list, which come in parts, with those that its shape determines.

    Whole rows are counted as one letter as they come, so that little is kept.
    """

    def __init__(self, type: Ranked) -> None:
        self.shape = type.get_shape()
        self.row = b"[" + b"," * (self.shape[-1] - 1) + b"]" if self.shape and self.shape[-1] else b"[]"
        self.outer = bytearray()
        self.rest = b""

    def add(self, part: bytes) -> None:
        text = self.rest + part.translate(None, _NOT_STRUCTURE)
        end = text.rfind(b"]") + 1
        self.outer += text[:end].replace(self.row, b"r")
        self.rest = text[end:]

    def check(self) -> None:
        """Raises `DenseSyntaxError` unless the list is nested as the shape says."""
        expected = b"r"
        for size in reversed(self.shape[:-1]):
            expected = b"[" + b",".join([expected] * size) + b"]"
        if not self.shape or bytes(self.outer) + self.rest != expected:
            raise DenseSyntaxError(wrong_structure(self.shape))
