"""The `{-# dialect_resources ... #-}` section: where each blob's hex digits are in the text.

A blob is hex of a little-endian 32-bit alignment and then the data. The section is at the end of a file, so it is found
before reading starts; the digits are converted when a constant asks for them, once per blob.
"""

from __future__ import annotations

import re
from binascii import unhexlify
from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType, VectorType

from tiree.dialects.dense import DenseAttr, element_byte_size, element_count
from tiree.dialects.syntax.dense_text import DenseSyntaxError
from tiree.dialects.syntax.long_text import Piece

_STEP = re.compile(r'\s*+(?:[{},]|([\w.$-]++|"[^"\\]*+")\s*+:\s*+("?))')
"""A bracket or comma, or a key and perhaps the quote that opens its blob."""


@dataclass
class Resource:
    """Digits from `start` to `end` of the text, without `0x`."""

    start: int
    end: int
    piece: Piece | None = None
    """Where the digits are if they were left out of the text; with `0x`."""
    data: bytes | bytearray | None = field(default=None, repr=False)

    def dense(self, text: str, type: TensorType | VectorType) -> DenseAttr:
        """The blob as a constant of `type`. Raises `DenseSyntaxError` when its size does not fit."""
        if self.data is None:
            self.data = self._bytes(text)
            if len(self.data) < 4:
                raise DenseSyntaxError("the resource is shorter than its 4-byte alignment field")
        needed = element_count(type) * element_byte_size(type.get_element_type())
        view = memoryview(self.data)[4:]
        if len(view) != needed:
            raise DenseSyntaxError(f"{type} needs {needed} bytes, the resource has {len(view)}")
        return DenseAttr.from_buffer(type, view, splat=element_count(type) == 1)

    def _bytes(self, text: str) -> bytes | bytearray:
        if self.piece is not None:
            from tiree.dialects.syntax.long_constants import bytes_of_hex

            return bytes_of_hex(self.piece)
        try:
            return unhexlify(text[self.start : self.end])
        except ValueError:
            raise DenseSyntaxError("the resource is not an even number of hex digits") from None


def find_resources(text: str, take_piece: Callable[[int], Piece | None]) -> dict[str, Resource]:
    """Every blob by its key; `take_piece` gives what was left out at a position of the text."""
    start = text.rfind("{-#")
    found: dict[str, Resource] = {}
    position = start + len("{-#") if start >= 0 else len(text)
    while (match := _STEP.match(text, position)) is not None:
        position = match.end()
        if not match.group(2):
            continue
        end = text.find('"', position)
        if end < 0:
            break
        digits = position + (2 if text.startswith("0x", position) else 0)
        found[match.group(1).strip('"')] = Resource(digits, end, take_piece(position))
        position = end + 1
    return found
