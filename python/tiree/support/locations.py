"""Locations of operations as the text that diagnostics show. Assumes xDSL's location attributes only."""

from __future__ import annotations

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Operation

from tiree.support.errors import UNKNOWN
from tiree.support.typed import array_of


def location_text(location: Attribute) -> str:
    """`file:line:column` of a location; of the innermost named or fused part that has one; else `<unknown>`."""
    match location:
        case FileLineColLoc():
            return f"{location.filename.data}:{location.line.data}:{location.column.data}"
        case NameLoc():
            inner = location_text(location.location)
            return f'"{location.desc.data}"' if inner == UNKNOWN else inner
        case CallSiteLoc():
            return location_text(location.callee)
        case FusedLoc():
            texts = (location_text(part) for part in array_of(location.locations))
            return next((text for text in texts if text != UNKNOWN), UNKNOWN)
        case _:
            return UNKNOWN


def location_of(op: Operation) -> str:
    """The text of `op`'s location, or of the nearest enclosing operation that has one."""
    current: Operation | None = op
    while current is not None:
        text = location_text(current.location)
        if text != UNKNOWN:
            return text
        current = current.parent_op()
    return UNKNOWN
