"""Reading locations: `loc("file":1:2)`, names, call sites, fused ones, and aliases of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)

from tiree.dialects.syntax.scanner import WS

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from tiree.dialects.syntax.attributes import AttributeReader

_LOC_ALIAS = re.compile(rf"{WS}loc\({WS}(#[\w.$-]+){WS}\)")
_LOC = re.compile(rf"{WS}loc{WS}\(")


def read_optional_location(reader: AttributeReader) -> LocationAttr | None:
    """`loc(...)`, if present."""
    match = _LOC_ALIAS.match(reader.text, reader.p)
    if match is not None:
        reader.p = match.end()
        return _checked(reader, reader.read_alias(match.group(1), match.start(1)), match.start(1))
    match = _LOC.match(reader.text, reader.p)
    if match is None:
        return None
    reader.p = match.end()
    location = _read_location_body(reader)
    reader.want(")", " after a location")
    return location


def _read_location_body(reader: AttributeReader) -> LocationAttr:
    position = reader.skip()
    match reader.peek():
        case "#":
            return _checked(reader, reader.read_hash(), position)
        case '"':
            return _read_named_location(reader)
        case _:
            pass
    match reader.want_word("unknown", "callsite", "fused"):
        case "callsite":
            reader.want("(")
            callee = _read_location_body(reader)
            reader.want_word("at")
            caller = _read_location_body(reader)
            reader.want(")")
            return CallSiteLoc(callee, caller)
        case "fused":
            metadata = NoneAttr()
            if reader.take("<"):
                metadata = reader.read_attribute()
                reader.want(">")
            reader.want("[")
            parts = [_read_location_body(reader)]
            while reader.take(","):
                parts.append(_read_location_body(reader))
            reader.want("]")
            return FusedLoc(tuple(parts), metadata)
        case _:
            return UnknownLoc()


def _checked(reader: AttributeReader, found: Attribute | None, position: int) -> LocationAttr:
    if not isinstance(found, (UnknownLoc, FileLineColLoc, CallSiteLoc, NameLoc, FusedLoc)):
        reader.fail("expected the alias of a location", position)
    return found


def _read_named_location(reader: AttributeReader) -> LocationAttr:
    name = reader.read_string()
    if not reader.take(":"):
        if reader.take("("):
            child = _read_location_body(reader)
            reader.want(")")
            return NameLoc(StringAttr(name), child)
        return NameLoc(StringAttr(name), NoneAttr())
    line = reader.integer()
    reader.want(":")
    column = reader.integer()
    if reader.take_word("to"):
        # A range: only its start is kept.
        if not reader.at(":"):
            reader.integer()
        reader.want(":")
        reader.integer()
    return FileLineColLoc(StringAttr(name), IntAttr(line), IntAttr(column))
