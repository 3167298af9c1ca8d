"""Locations of operations as the text that diagnostics show. Assumes xDSL's location attributes only."""

from __future__ import annotations

import os.path
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc, UnknownLoc
from xdsl.ir import Attribute, Operation

from tiree.support.errors import UNKNOWN
from tiree.support.typed import array_of


def file_location(location: Attribute) -> FileLineColLoc | None:
    """The file, line and column of a location; of the innermost named or fused part that has them."""
    match location:
        case FileLineColLoc():
            return location
        case NameLoc():
            return file_location(location.location)
        case CallSiteLoc():
            return file_location(location.callee)
        case FusedLoc():
            found = (file_location(part) for part in array_of(location.locations))
            return next((one for one in found if one is not None), None)
        case _:
            return None


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
            noted = _noted.get()
            if noted is not None:
                noted[text] = op
            return text
        current = current.parent_op()
    return UNKNOWN


def place_in_file(op: Operation) -> str:
    """`location_of` without folders, for messages of the running program."""
    place = location_of(op)
    folder, _, rest = place.rpartition(os.path.sep)
    return rest if folder else place


_noted: ContextVar[dict[str, Operation] | None] = ContextVar("noted", default=None)


@contextmanager
def noted_operations() -> Generator[dict[str, Operation], None, None]:
    """Inside, operations whose location is asked for are kept: the last by the text of its location."""
    found: dict[str, Operation] = {}
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


def take_location(op: Operation, source: Operation | None) -> None:
    """`op`, made for `source`, stands where that stands, unless it knows its own place."""
    if source is not None and isinstance(op.location, UnknownLoc):
        op.location = source.location
