"""A place in a file of bytecode, and the encodings that everything in it is made of.

Numbers take one to nine bytes; the zeros at the low end of the first byte say how many follow. Every read is checked
against the end of the part of the file that the cursor was made for, so damaged files end in `Damaged`, with the
offset.
"""

from __future__ import annotations

from typing import NoReturn


class Damaged(Exception):
    """The file is no bytecode, or what it says cannot be: `reason` at byte `offset`."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(f"{reason} (byte {offset})")
        self.reason = reason
        self.offset = offset


class Cursor:
    """Reads `data` from `position` up to `end`."""

    __slots__ = ("data", "end", "position")

    def __init__(self, data: memoryview, position: int, end: int) -> None:
        self.data = data
        self.position = position
        self.end = end

    def fail(self, reason: str, offset: int | None = None) -> NoReturn:
        """Raises `Damaged` for what stands at `offset`, or here."""
        raise Damaged(reason, self.position if offset is None else offset)

    @property
    def remaining(self) -> int:
        return self.end - self.position

    def byte(self) -> int:
        at = self.position
        if at >= self.end:
            self.fail("the data ends in the middle of something")
        self.position = at + 1
        return self.data[at]

    def varint(self) -> int:
        """An unsigned number of up to 64 bits."""
        at = self.position
        if at >= self.end:
            self.fail("the data ends where a number is expected")
        first = self.data[at]
        if first & 1:
            self.position = at + 1
            return first >> 1
        size = 9 if first == 0 else (first & -first).bit_length()
        if at + size > self.end:
            self.fail("the data ends inside a number", at)
        self.position = at + size
        if first == 0:
            return int.from_bytes(self.data[at + 1 : at + 9], "little")
        return int.from_bytes(self.data[at : at + size], "little") >> size

    def signed(self) -> int:
        """A signed number: sign in the lowest bit."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def flagged(self) -> tuple[int, bool]:
        """A number and a flag that shares its bytes."""
        value = self.varint()
        return value >> 1, bool(value & 1)

    def count(self, what: str) -> int:
        """The length of a list whose items take at least a byte each."""
        at = self.position
        value = self.varint()
        if value > self.remaining:
            self.fail(f"{value} {what} do not fit into the {self.remaining} bytes that are left", at)
        return value

    def signed_list(self) -> tuple[int, ...]:
        return tuple([self.signed() for _ in range(self.count("numbers"))])

    def take(self, size: int, what: str) -> memoryview:
        """The next `size` bytes, as a view."""
        at = self.position
        if size > self.end - at:
            self.fail(f"{what} of {size} bytes is longer than the {self.end - at} that are left")
        self.position = at + size
        return self.data[at : at + size]

    def blob(self) -> memoryview:
        """Bytes with their length in front, as a view."""
        return self.take(self.varint(), "data")

    def text(self) -> str:
        """UTF-8 up to a zero byte."""
        start = self.position
        while self.byte():
            pass
        try:
            return bytes(self.data[start : self.position - 1]).decode()
        except UnicodeDecodeError:
            self.fail("a text is not UTF-8", start)

    def align(self, alignment: int) -> None:
        """Steps over padding up to the next multiple of `alignment`, counted from the start of the file."""
        if alignment <= 0 or alignment & (alignment - 1):
            self.fail(f"{alignment} is no alignment")
        padded = -(-self.position // alignment) * alignment
        self.take(padded - self.position, "padding")

    def part(self, size: int, what: str) -> Cursor:
        """A cursor over the next `size` bytes, which this one steps over."""
        start = self.position
        self.take(size, what)
        return Cursor(self.data, start, start + size)

    def done(self, what: str) -> None:
        """Raises `Damaged` unless everything has been read."""
        if self.position != self.end:
            self.fail(f"{self.end - self.position} bytes are left over behind {what}")
