"""What calls pass and return by reference, as plain data, so that implementations can be compared."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from tiree.testing import floats, wanted
from tiree.testing.objects import UNSET, Buffer, List
from tiree.testing.scalars import signed

if TYPE_CHECKING:
    from tiree.runtime import VmVariantList

_DEPTH = 2
"""Lists inside lists that are looked into; a list may hold itself."""


def argument_bytes(number: int) -> bytes | None:
    """The bytes that argument `number` of a `Call` stands for; none for null."""
    return None if number == 0 else bytes((31 * at + number) & 0xFF for at in range(number - 1))


def digest(plain: Any) -> int:
    """A number for contents: 0 for null."""
    return 0 if plain is None else 1 + zlib.crc32(repr(plain).encode())


def of_reference(value: Any, depth: int = 0) -> Any:
    """Contents of an object of the reference interpreter: bytes, or a list of contents and numbers."""
    if isinstance(value, Buffer):
        return bytes(value.data)
    if not isinstance(value, List):
        return None if value is None or value is UNSET else "object"
    return "list" if depth == _DEPTH else [_item(value, item, depth) for item in value.items]


def _item(owner: List, item: Any, depth: int) -> Any:
    if not owner.holds_numbers and not isinstance(item, tuple):
        return of_reference(item, depth + 1)
    kind, bits = cast("tuple[str, int]", (owner.element, item) if owner.holds_numbers else item)
    width = int(kind[1:])
    return _float(floats.to_float(bits, width)) if kind[0] == "f" else signed(bits, width)


def variant_list(values: Iterable[Any]) -> VmVariantList:
    """A list of ints, floats, and references or None, as calls take them."""
    from tiree.runtime import VmVariantList

    given = wanted.values("variant_list", values)
    made = VmVariantList(len(given))
    for value in given:
        if isinstance(value, int):
            made.push_int(value)
        elif isinstance(value, float):
            made.push_float(value)
        else:
            made.push_ref(value)
    return made


def of_runtime(runtime: Any, values: Any, index: int, depth: int = 0) -> Any:
    """Contents of the element `index` of a `VmVariantList`."""
    value = values.get_variant(index)
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        return _float(value)
    found = values.get_as_object(index)
    if isinstance(found, runtime.VmBuffer):
        return bytes(memoryview(found))
    if not isinstance(found, runtime.VmVariantList):
        return "object"
    return "list" if depth == _DEPTH else [of_runtime(runtime, found, at, depth + 1) for at in range(found.size)]


def _float(value: float) -> str:
    """Payloads of NaNs do not survive Python's floats."""
    return "nan" if value != value else struct.pack("<d", value).hex()
