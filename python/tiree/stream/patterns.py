"""Fill patterns: a repeated element as the 8, 16 or 32-bit values that devices fill with.

A device fill repeats at most four bytes. Elements of eight bytes or more whose four-byte parts are not all equal are
written once, part by part, and then doubled by copies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, i8, i64
from xdsl.ir import Operation, SSAValue

from tiree.dialects.arith import ConstantOp
from tiree.dialects.dense import DenseAttr, element_count, encode_scalar
from tiree.stream.words import pack_words
from tiree.support.typed import is_array_attr, is_float_attr, is_integer_type


def is_splat(constant: DenseAttr) -> bool:
    """Whether one element says it all, be it flagged or the only one."""
    return constant.is_splat or element_count(constant.type) == 1


def smallest_pattern(element: bytes) -> bytes | None:
    """The shortest of 1, 2 or 4 bytes that repeats to `element`; None if there is none."""
    for size in (1, 2, 4):
        if len(element) % size == 0 and element == element[:size] * (len(element) // size):
            return element[:size]
    return None


def pattern_constant(pattern: bytes) -> ConstantOp:
    """The integer constant of a pattern of 1, 2 or 4 bytes."""
    return ConstantOp.integer(int.from_bytes(pattern, "little", signed=True), 8 * len(pattern))


def complex_bytes(value: SSAValue) -> bytes | None:
    """The bytes of a `complex.constant`; None for any other value. Hosts have no other complex scalars."""
    op = value.owner
    if not isinstance(op, Operation) or op.name != "complex.constant":
        return None
    parts = op.properties["value"]
    assert is_array_attr(parts)
    return b"".join([encode_scalar(part.type, part.value.data) for part in parts.data if is_float_attr(part)])


def scalar_patterns(value: SSAValue) -> tuple[list[Operation], list[SSAValue]]:
    """Operations that make a host scalar an integer pattern, in one part up to 32 bits, else in two of 32."""
    type = value.type
    if is_integer_type(type) and type.width.data == 1:
        extend = arith.ExtUIOp(value, i8)
        return [extend], [extend.result]
    if is_integer_type(type) and type.width.data in (8, 16, 32):
        return [], [value]
    if isinstance(type, AnyFloat) and type.bitwidth in (16, 32):
        cast = arith.BitcastOp(value, IntegerType(type.bitwidth))
        return [cast], [cast.result]
    if isinstance(type, IndexType) or type == i64 or isinstance(type, AnyFloat):
        return pack_words(value)
    raise TypeError(f"a tensor cannot be filled with a value of type {type}")


@dataclass(frozen=True)
class Step:
    """A fill of part number `part` (copy if None) at `offset`, `length` bytes; copies read from the start."""

    part: int | None
    offset: int
    length: int


def doubling_steps(parts: int, part_size: int, length: int) -> Iterable[Step]:
    """Writes an element of `parts` parts once and doubles it until `length` bytes are covered."""
    for part in range(parts):
        yield Step(part, part * part_size, part_size)
    done = parts * part_size
    while done < length:
        step = min(done, length - done)
        yield Step(None, done, step)
        done += step
