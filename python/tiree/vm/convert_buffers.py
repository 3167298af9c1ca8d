"""`util.buffer` operations to `vm.buffer` instructions.

Offsets and lengths are bytes in the one, elements in the other: where an offset is a multiple of the element's size,
the factor is used as it is.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IndexType, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects import vm
from tiree.dialects.arith import constant_int
from tiree.support.typed import is_integer_attr
from tiree.vm.builder import FunctionBuilder, convert_type, fail
from tiree.vm.convert_arith import extended

Handler = Callable[[FunctionBuilder, Operation], None]

_BYTES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "index": 8}


_SIZES = {
    "util.buffer.load": (1,),
    "util.buffer.store": (2,),
    "util.buffer.fill": (2,),
    "util.buffer.copy": (1, 4),
}
"""Operands that are sizes of buffers."""


def _bytes_of(op: Operation, type: Attribute) -> int:
    name = "index" if isinstance(type, IndexType) else str(type)
    if name not in _BYTES:
        raise fail(op, f"a value of type {type} has no place in a buffer of the host")
    return _BYTES[name]


def _elements(b: FunctionBuilder, value: SSAValue, size: int) -> SSAValue:
    """A number of bytes, which `size` divides, as a number of elements."""
    number = constant_int(value)
    if size == 1:
        return b.get(value)
    if number is not None:
        return b.i64(number // size)
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "arith.muli":
        for factor, other in (tuple(owner.operands), tuple(reversed(owner.operands))):
            if constant_int(other) == size:
                return b.get(factor)
    return b.value("shr.i64.u", [b.get(value), b.i32(size.bit_length() - 1)], i64)


def _load(b: FunctionBuilder, op: Operation) -> None:
    source, _, offset, _ = op.operands
    type = op.results[0].type
    size = _bytes_of(op, type)
    kind = str(type) if str(type) in ("f32", "f64") else f"i{8 * size}"
    sign = ".u" if size < 4 else ""
    place = _elements(b, offset, size)
    loaded = b.value(f"buffer.load.{kind}{sign}", [b.get(source), place], convert_type(type, op))
    b.values[op.results[0]] = b.value("and.i32", [loaded, b.i32(1)], i32) if type == i1 else loaded


def _store(b: FunctionBuilder, op: Operation) -> None:
    value, target, _, offset, _ = op.operands
    size = _bytes_of(op, value.type)
    kind = str(value.type) if str(value.type) in ("f32", "f64") else f"i{8 * size}"
    b.emit(f"buffer.store.{kind}", [b.get(target), _elements(b, offset, size), b.get(value)])


def _fill(b: FunctionBuilder, op: Operation) -> None:
    value, target, _, offset, length = op.operands
    size = _bytes_of(op, value.type)
    kind = str(value.type) if str(value.type) in ("f32", "f64") else f"i{8 * size}"
    pattern = b.get(value) if kind[0] == "f" else extended(b, value, signed=False)
    range = [_elements(b, offset, size), _elements(b, length, size)]
    b.emit(f"buffer.fill.{kind}", [b.get(target), *range, pattern])


def _copy(b: FunctionBuilder, op: Operation) -> None:
    source, _, source_offset, target, _, target_offset, length = op.operands
    b.emit("buffer.copy", [b.get(value) for value in (source, source_offset, target, target_offset, length)])


def _size(b: FunctionBuilder, op: Operation) -> None:
    """What only says how large the buffers of operations here are is not asked for: instructions check it."""
    if all(use.index in _SIZES.get(use.operation.name, ()) for use in op.results[0].uses):
        return
    b.values[op.results[0]] = b.value("buffer.length", [b.get(op.operands[0])], i64)


def _alloc(b: FunctionBuilder, op: Operation) -> None:
    given = op.properties.get("alignment")
    alignment = b.i32(given.value.data if is_integer_attr(given) else 16)
    b.values[op.results[0]] = b.value("buffer.alloc", [b.get(op.operands[0]), alignment], vm.BufferType())


HANDLERS: dict[str, Handler] = {
    "util.buffer.load": _load,
    "util.buffer.store": _store,
    "util.buffer.fill": _fill,
    "util.buffer.copy": _copy,
    "util.buffer.size": _size,
    "util.buffer.alloc": _alloc,
}
