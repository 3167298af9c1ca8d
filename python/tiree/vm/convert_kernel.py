"""Kernels in loops to `vm` instructions: memory of bindings, and what a workgroup is told.

A kernel is a function of twelve arguments: memory of the worker, the dispatch's constants, its bindings (a list of
buffers), and the workgroup, the size of one and their count in x, y and z. A memref is row by row; it is a buffer and
an offset in elements.
"""

from __future__ import annotations

from functools import partial

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, NoneAttr, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects import vm
from tiree.support.typed import int_of, is_integer_type, is_memref_type
from tiree.vm.builder import FunctionBuilder, convert_type, fail, scalar_suffix
from tiree.vm.convert_arith import Handler

_CONSTANTS, _BINDINGS, _FIRST_NUMBER = 1, 2, 3
_ID, _SIZE, _COUNT = 0, 3, 6
_BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "i1": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


def _argument(b: FunctionBuilder, number: int) -> SSAValue:
    return b.region.blocks[0].args[number]


def _element(op: Operation, type: Attribute) -> str:
    name = "i64" if isinstance(type, IndexType) else str(type)
    if name not in _BITS:
        raise fail(op, f"memory of {type} cannot be read by bytecode", "compile for llvm-cpu")
    return "i8" if name == "i1" else name


def _grid(first: int, b: FunctionBuilder, op: Operation) -> None:
    number = _argument(b, _FIRST_NUMBER + first + int_of(op.properties["dimension"]))
    b.values[op.results[0]] = b.value("ext.i32.i64.u", [number], i64)


def _constant_load(b: FunctionBuilder, op: Operation) -> None:
    type, place = op.results[0].type, b.i64(int_of(op.properties["ordinal"]))
    word = b.value("buffer.load.i32", [_argument(b, _CONSTANTS), place], i32)
    if isinstance(type, IndexType):
        word = b.value("ext.i32.i64.u", [word], i64)
    elif str(type) == "f32":
        word = b.value("bitcast.i32.f32", [word], type)
    elif not is_integer_type(type) or type.width.data > 32:
        raise fail(op, f"a constant of a dispatch is a word, not {type}")
    b.values[op.results[0]] = word


def _subspan(b: FunctionBuilder, op: Operation) -> None:
    type = op.results[0].type
    assert is_memref_type(type)
    bits = _BITS[_element(op, type.element_type)]
    number = b.i32(int_of(op.properties["binding"]))
    buffer = b.value("list.get.ref", [_argument(b, _BINDINGS), number], vm.BufferType())
    b.values[op.results[0]] = buffer
    if op.operands:
        shift = b.i32((bits // 8).bit_length() - 1)
        b.offsets[op.results[0]] = b.value("shr.i64.u", [b.get(op.operands[0]), shift], i64)


def _alloca(b: FunctionBuilder, op: Operation) -> None:
    type = op.results[0].type
    assert is_memref_type(type)
    count = 1
    for size in type.get_shape():
        count *= size
    bytes = count * _BITS[_element(op, type.element_type)] // 8
    b.values[op.results[0]] = b.value("buffer.alloc", [b.i64(bytes), b.i32(64)], vm.BufferType())


def inner_sizes(op: Operation, memory: SSAValue) -> list[int]:
    """The sizes of all dimensions of a memref but the first, which `op` reads or writes row by row."""
    type = memory.type
    assert is_memref_type(type)
    sizes = list(type.get_shape()[1:])
    if sizes and (DYNAMIC_INDEX in sizes or not isinstance(type.layout, NoneAttr)):
        raise fail(op, f"{type} cannot be addressed by bytecode", "its inner sizes must be known, and its layout plain")
    return sizes


def _place(b: FunctionBuilder, op: Operation, memory: SSAValue, indices: tuple[SSAValue, ...]) -> SSAValue:
    """The number of an element in its buffer."""
    place = b.get(indices[0]) if indices else b.i64(0)
    for index, size in zip(indices[1:], inner_sizes(op, memory), strict=True):
        place = b.value("add.i64", [b.value("mul.i64", [place, b.i64(size)], i64), b.get(index)], i64)
    offset = b.offsets.get(memory)
    return place if offset is None else b.value("add.i64", [offset, place], i64)


def _load(b: FunctionBuilder, op: Operation) -> None:
    memory, *indices = op.operands
    result = op.results[0]
    element = _element(op, result.type)
    sign = ".u" if element in ("i8", "i16") else ""
    place = _place(b, op, memory, tuple(indices))
    b.values[result] = b.value(f"buffer.load.{element}{sign}", [b.get(memory), place], convert_type(result.type, op))


def _store(b: FunctionBuilder, op: Operation) -> None:
    value, memory, *indices = op.operands
    element = _element(op, value.type)
    place = _place(b, op, memory, tuple(indices))
    assert scalar_suffix(b.get(value).type) in (element, "i32")
    b.emit(f"buffer.store.{element}", [b.get(memory), place, b.get(value)])


HANDLERS: dict[str, Handler] = {
    "hal.interface.workgroup.id": partial(_grid, _ID),
    "hal.interface.workgroup.size": partial(_grid, _SIZE),
    "hal.interface.workgroup.count": partial(_grid, _COUNT),
    "hal.interface.constant.load": _constant_load,
    "hal.interface.binding.subspan": _subspan,
    "memref.alloca": _alloca,
    "memref.load": _load,
    "memref.store": _store,
}
