"""Reading `dense<...>` and `dense_resource<...>`. Long hex strings are found by their closing quote, not lexed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType, VectorType
from xdsl.ir import Attribute

from tiree.dialects.dense import DenseAttr
from tiree.dialects.syntax.dense_text import DenseSyntaxError, dense_from_hex, dense_from_literal
from tiree.dialects.syntax.long_text import Piece
from tiree.dialects.syntax.resources import Resource
from tiree.support.typed import is_tensor_type, is_vector_type

if TYPE_CHECKING:
    from tiree.dialects.syntax.attributes import AttributeReader


def read_dense(reader: AttributeReader) -> DenseAttr:
    """What follows `dense`: `<...> : type`."""
    reader.want("<", " after dense")
    start = reader.p
    if reader.at('"'):
        opening = reader.p
        piece = reader.take_piece(opening + 1)
        end = reader.text.find('"', opening + 1)
        if end < 0:
            reader.fail("this string has no closing quote", opening)
        reader.p = end + 1
        reader.want(">", " after the hex string")
        type = _read_dense_type(reader)
        if piece is not None:
            return _dense(reader, lambda: _from_piece(type, piece), start)
        return _dense(reader, lambda: dense_from_hex(type, reader.text[opening + 1 : end]), start)
    piece = reader.take_piece(start)
    end = reader.text.find(">", start)
    if end < 0:
        reader.fail("expected '>' to close dense<...>", start)
    reader.p = end + 1
    type = _read_dense_type(reader)
    if piece is not None:
        return _dense(reader, lambda: _from_piece(type, piece), start)
    return _dense(reader, lambda: dense_from_literal(type, reader.text[start:end]), start)


def _from_piece(type: TensorType[Attribute] | VectorType[Attribute], piece: Piece) -> DenseAttr:
    from tiree.dialects.syntax.long_constants import dense_from_piece

    return dense_from_piece(type, piece)


def _dense(reader: AttributeReader, make: Callable[[], DenseAttr], start: int) -> DenseAttr:
    try:
        return make()
    except (DenseSyntaxError, TypeError) as error:
        reader.fail(str(error), start)


def _read_dense_type(reader: AttributeReader) -> TensorType | VectorType:
    reader.want(":", " and a type after a constant")
    start = reader.skip()
    type = reader.read_type()
    if not (is_tensor_type(type) or is_vector_type(type)):
        reader.fail(f"a constant needs a tensor or vector type, not {type}", start)
    if any(size < 0 for size in type.get_shape()):
        reader.fail(f"a constant needs a static shape, not {type}", start)
    return type


def read_dense_resource(reader: AttributeReader, resources: Mapping[str, Resource]) -> DenseAttr:
    """What follows `dense_resource`: `<key> : type`; the bytes are in the file's resource section."""
    reader.want("<", " after dense_resource")
    start = reader.skip()
    key = reader.read_string() if reader.at('"') else reader.want_word()
    reader.want(">", " after the resource's name")
    type = _read_dense_type(reader)
    if key not in resources:
        hint = (
            "it was left out when the file was printed; print it without eliding"
            if key == "__elided__"
            else "the file has no {-# dialect_resources #-} entry of that name"
        )
        reader.fail(f"dense_resource<{key}> has no data: {hint}", start)
    return _dense(reader, lambda: resources[key].dense(reader.text, type), start)
