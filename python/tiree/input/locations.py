"""Source locations as text: `file:line:column` of an operation."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Operation


def location_text(op: Operation) -> str:
    """Where `op` came from, `<unknown>` when nothing says."""
    return _text(op.location) or "<unknown>"


def _text(location: Attribute | None) -> str:
    match location:
        case FileLineColLoc():
            return f"{location.filename.data}:{location.line.data}:{location.column.data}"
        case NameLoc():
            inner = _text(location.location)
            return inner or location.desc.data
        case CallSiteLoc():
            return _text(location.callee) or _text(location.caller)
        case FusedLoc():
            parts = location.locations.data if isinstance(location.locations, ArrayAttr) else ()
            return next((text for part in parts if (text := _text(part))), "")
        case _:
            return ""
