"""Types and attributes by their index: decoded when somebody asks, once each.

A dialect's own encodings are read by the functions that `_DECODERS` names; what a dialect does not encode stands in the
file as text and is read as such. Attributes that are only hints are stepped over.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr, UnregisteredAttr
from xdsl.ir import Attribute, TypeAttribute
from xdsl.utils.exceptions import ParseError, VerifyException

from tiree.dialects.bytecode.cursor import Cursor
from tiree.dialects.bytecode.file import BytecodeFile, Entry
from tiree.dialects.syntax.attributes import AttributeReader
from tiree.dialects.syntax.long_text import CutText

Decoder = Callable[["Values", Cursor], Attribute]

_DECODERS = {
    "builtin": "builtin",
    "stablehlo": "stablehlo",
    "mhlo": "stablehlo",
    "chlo": "stablehlo",
    "vhlo": "vhlo_values",
    "quant": "quantized",
}
"""Dialect to the module that has `ATTRIBUTES` and `TYPES` for it: code to decoder."""

_HINTS = frozenset({"mhlo", "sdy"})
"""Dialects whose attributes without a decoder only say how devices may share the work, or what may lie in one place:
kept as bytes, where text keeps them as text."""

CONSTRUCTION_ERRORS = (
    VerifyException,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    NotImplementedError,
)
"""What xDSL's classes raise when they are made of values that they do not take."""


class Values:
    """The attributes and types of one file."""

    def __init__(self, file: BytecodeFile, ctx: Context) -> None:
        self.file = file
        self.ctx = ctx
        self._attributes: list[Attribute | None] = [None] * len(file.attributes)
        self._types: list[Attribute | None] = [None] * len(file.types)
        self._reading: set[tuple[str, int]] = set()

    # By index.

    def attribute(self, cursor: Cursor) -> Attribute:
        """The attribute whose index comes next."""
        at = cursor.position
        return self.attribute_at(cursor, cursor.varint(), at)

    def attribute_at(self, cursor: Cursor, index: int, at: int) -> Attribute:
        if index >= len(self._attributes):
            cursor.fail(f"there is no attribute {index} of {len(self._attributes)}", at)
        found = self._attributes[index]
        if found is None:
            found = self._attributes[index] = self._decode(self.file.attributes[index], "attribute", index)
        return found

    def type(self, cursor: Cursor) -> TypeAttribute:
        """The type whose index comes next."""
        at = cursor.position
        return self.type_at(cursor, cursor.varint(), at)

    def type_at(self, cursor: Cursor, index: int, at: int) -> TypeAttribute:
        if index >= len(self._types):
            cursor.fail(f"there is no type {index} of {len(self._types)}", at)
        found = self._types[index]
        if found is None:
            found = self._types[index] = self._decode(self.file.types[index], "type", index)
        return cast(TypeAttribute, found)

    # Lists and parts of others.

    def attributes(self, cursor: Cursor) -> list[Attribute]:
        return [self.attribute(cursor) for _ in range(cursor.count("attributes"))]

    def types(self, cursor: Cursor) -> list[TypeAttribute]:
        return [self.type(cursor) for _ in range(cursor.count("types"))]

    def string(self, cursor: Cursor) -> str:
        """The text of the string attribute whose index comes next."""
        at = cursor.position
        found = self.attribute(cursor)
        if not isinstance(found, StringAttr):
            cursor.fail(f"expected a string, found {found.name}", at)
        return found.data

    # Decoding.

    def _decode(self, entry: Entry, kind: str, index: int) -> Attribute:
        cursor = Cursor(self.file.data, entry.start, entry.end)
        key = (kind, index)
        if key in self._reading:
            cursor.fail(f"{kind} {index} contains itself")
        self._reading.add(key)
        try:
            if not entry.custom:
                return self.from_text(cursor, cursor.text(), kind)
            found = self._decode_custom(entry.dialect, cursor, kind)
            cursor.done(f"{kind} {index}")
            return found
        except CONSTRUCTION_ERRORS as error:
            cursor.fail(f"{kind} {index} cannot be: {error}", entry.start)
        finally:
            self._reading.discard(key)

    def _decode_custom(self, dialect: str, cursor: Cursor, kind: str) -> Attribute:
        module = _DECODERS.get(dialect)
        at = cursor.position
        code = cursor.varint()
        table: dict[tuple[str, int], Decoder] = {}
        if module is not None:
            decoders = import_module(f"tiree.dialects.bytecode.{module}")
            table = decoders.TYPES if kind == "type" else decoders.ATTRIBUTES
        decode = table.get((dialect, code))
        if decode is None:
            if kind == "attribute" and dialect in _HINTS:
                return self._opaque(dialect, code, cursor)
            cursor.fail(f"{kind} {code} of dialect {dialect} is not known", at)
        return decode(self, cursor)

    def _opaque(self, dialect: str, code: int, cursor: Cursor) -> Attribute:
        """An attribute that is stepped over; its bytes stay, so that two that differ are not taken for one."""
        cls = self.ctx.get_optional_attr(f"{dialect}.attribute_{code}")
        if cls is None or not issubclass(cls, UnregisteredAttr):
            cursor.fail(f"attribute {code} of dialect {dialect} is not known")
        contents = bytes(cursor.take(cursor.remaining, "an attribute"))
        return cls(f"{dialect}.attribute_{code}", False, False, f'"0x{contents.hex()}"')

    def from_text(self, cursor: Cursor, text: str, kind: str = "attribute") -> Attribute:
        """An attribute or type from its text in MLIR."""
        start = cursor.position
        reader = AttributeReader(self.ctx, CutText(text), "")
        try:
            found = reader.read_type() if kind == "type" else reader.read_attribute()
            if reader.skip() != len(text):
                reader.fail("there is more behind it")
        except ParseError as error:
            cursor.fail(f"'{text[:80]}' cannot be read: {error.msg}", start)
        return found
