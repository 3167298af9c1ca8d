"""Buffers and lists as bytecode sees them."""

from __future__ import annotations

import struct
from typing import Any, cast

from tiree.testing import floats
from tiree.testing.faults import Fault
from tiree.testing.scalars import signed

MAX_ALIGNMENT = 1 << 20
MAX_LIST = 1 << 26
# More than any machine has, so that asking for it fails everywhere.
MAX_BUFFER = 1 << 46


class Buffer:
    """`!vm.buffer`: bytes, writable or not."""

    type_name = "!vm.buffer"

    def __init__(self, data: bytes | bytearray, mutable: bool) -> None:
        self.data = bytearray(data)
        self.mutable = mutable

    @staticmethod
    def allocate(length: int, alignment: int) -> Buffer:
        """Zeros. `length` is signed, `alignment` unsigned."""
        if length < 0:
            raise Fault("INVALID_ARGUMENT", "negative length")
        if alignment and (alignment & (alignment - 1) or alignment > MAX_ALIGNMENT):
            raise Fault("INVALID_ARGUMENT", "alignment is not a power of two")
        if length >= MAX_BUFFER:
            raise Fault("RESOURCE_EXHAUSTED", "no memory")
        return Buffer(bytes(length), True)

    def range(self, offset: int, length: int) -> slice:
        """The range `[offset, offset + length)` of bytes; both unsigned, neither wraps."""
        if offset + length > len(self.data):
            raise Fault("OUT_OF_RANGE", "out of bounds")
        return slice(offset, offset + length)

    def writable(self) -> None:
        if not self.mutable:
            raise Fault("PERMISSION_DENIED", "read-only")

    def load(self, index: int, size: int) -> int:
        """Element `index` (unsigned) of `size` bytes."""
        if (index + 1) * size > len(self.data):
            raise Fault("OUT_OF_RANGE", "out of bounds")
        return int.from_bytes(self.data[index * size : (index + 1) * size], "little")

    def store(self, index: int, size: int, value: int) -> None:
        self.writable()
        if (index + 1) * size > len(self.data):
            raise Fault("OUT_OF_RANGE", "out of bounds")
        self.data[index * size : (index + 1) * size] = value.to_bytes(size, "little")

    def fill(self, index: int, count: int, size: int, value: int) -> None:
        self.writable()
        if (index + count) * size > len(self.data):
            raise Fault("OUT_OF_RANGE", "out of bounds")
        self.data[index * size : (index + count) * size] = value.to_bytes(size, "little") * count


class Unset:
    """An element of a list of anything that was never set."""


UNSET = Unset()
_WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "f32": 32, "f64": 64}


class List:
    """`!vm.list` of `element`: a number type, `!vm.opaque` (anything), or a reference type.

    Numbers are kept as (kind, bits) with kind `i32`, `i64`, `f32` or `f64`; typed lists keep bits of their type.
    """

    type_name = "!vm.list"

    def __init__(self, element: str) -> None:
        self.element = element
        self.items: list[Any] = []

    @property
    def holds_numbers(self) -> bool:
        return self.element in _WIDTHS

    def _new_item(self) -> Any:
        if self.holds_numbers:
            return 0
        return UNSET if self.element == "!vm.opaque" else None

    def reserve(self, count: int) -> None:
        if count > MAX_LIST:
            raise Fault("RESOURCE_EXHAUSTED", "too long")

    def resize(self, count: int) -> None:
        self.reserve(count)
        del self.items[count:]
        self.items += [self._new_item() for _ in range(count - len(self.items))]

    def at(self, index: int) -> int:
        """`index` (signed), checked."""
        if not 0 <= index < len(self.items):
            raise Fault("OUT_OF_RANGE", f"index {index} out of bounds ({len(self.items)})")
        return index

    def number(self, index: int, kind: str) -> int:
        """The number at `index` as bits of `kind`, converted by value when it is of another type."""
        item = self.items[self.at(index)]
        if self.holds_numbers:
            have, bits = self.element, item
        elif isinstance(item, tuple):
            have, bits = cast("tuple[str, int]", item)
        else:
            raise Fault("FAILED_PRECONDITION", "not a number")
        return bits if have == kind else convert(_value(have, bits), kind)

    def kind_at(self, index: int) -> str:
        """The type of the number at `index`."""
        return self.element if self.holds_numbers else self.items[index][0]

    def set_number(self, index: int, kind: str, bits: int) -> None:
        self.at(index)
        if kind == self.element:
            # The same type keeps its bits, NaNs included.
            self.items[index] = bits
        elif self.holds_numbers:
            self.items[index] = convert(_value(kind, bits), self.element)
        elif self.element == "!vm.opaque":
            self.items[index] = (kind, bits)
        else:
            raise Fault("FAILED_PRECONDITION", "list of references")

    def reference(self, index: int) -> Any:
        """The reference at `index`."""
        item = self.items[self.at(index)]
        if self.holds_numbers or isinstance(item, tuple):
            raise Fault("FAILED_PRECONDITION", "not a reference")
        return None if item is UNSET else item

    def set_reference(self, index: int, value: Any) -> None:
        self.at(index)
        if self.holds_numbers:
            raise Fault("FAILED_PRECONDITION", "list of numbers")
        if self.element != "!vm.opaque" and not accepts(self.element, value):
            raise Fault("INVALID_ARGUMENT", "type mismatch")
        self.items[index] = value


def accepts(type_name: str, value: Any) -> bool:
    """Whether a reference may stand where `type_name` is asked for. Null may anywhere."""
    if value is None or type_name == "!vm.opaque":
        return True
    # Lists are one type, whatever they hold.
    return value.type_name == ("!vm.list" if type_name.startswith("!vm.list") else type_name)


def _value(kind: str, bits: int) -> int | float:
    width = _WIDTHS[kind]
    return floats.to_float(bits, width) if kind[0] == "f" else signed(bits, width)


def convert(value: int | float, kind: str) -> int:
    """A number as bits of another type, by value: floats are cut towards zero and to the range of i64."""
    width = _WIDTHS[kind]
    if kind[0] == "f":
        if isinstance(value, float):
            return floats.to_bits(value, width)
        # By way of an f64, as all numbers in lists.
        return floats.to_bits(float(value), width)
    if isinstance(value, float):
        value = 0 if value != value else max(-(2**63), min(2**63 - 1, int(max(-1e30, min(1e30, value)))))
    return value & ((1 << width) - 1)


def hash_bytes(data: bytes) -> int:
    """SipHash-2-4 with key bytes 00..0f."""
    mask = (1 << 64) - 1
    k0, k1 = struct.unpack("<QQ", bytes(range(16)))
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rotate(x: int, n: int) -> int:
        return (x << n | x >> (64 - n)) & mask

    def rounds(count: int) -> None:
        for _ in range(count):
            v[0] = (v[0] + v[1]) & mask
            v[2] = (v[2] + v[3]) & mask
            v[1] = rotate(v[1], 13) ^ v[0]
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[1]) & mask
            v[0] = (v[0] + v[3]) & mask
            v[1] = rotate(v[1], 17) ^ v[2]
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = rotate(v[2], 32)

    end = len(data) // 8 * 8
    last = int.from_bytes(data[end:], "little") | (len(data) & 0xFF) << 56
    for word in (*struct.unpack(f"<{end // 8}Q", data[:end]), last):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]
