"""Handlers of `memref`: addresses, scalar loads and stores, stack and workgroup memory, views.

A memref under lowering is a pointer with element strides (`emitter.MemRef`); no descriptor exists at run time. The
constant part of an index goes last into the address, where x86 and ARM encode it for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, NoneAttr, StridedLayoutAttr
from xdsl.ir import Operation, SSAValue

from tiree.codegen.llvm.emitter import Emitter, Handler, MemRef, is_literal
from tiree.codegen.llvm.types import LType, lower_type
from tiree.support.typed import ints_of, is_integer_attr, is_memref_type, symbol_of

WORKGROUP_MEMORY = "tiree.workgroup_memory"
"""Unit attribute of a `memref.alloca` that lives in the worker's scratch block instead of on the stack."""


def row_major_strides(e: Emitter, sizes: Sequence[int | str]) -> tuple[int | str, ...]:
    """Element strides of a contiguous memref; operand texts where an inner size is dynamic."""
    strides: list[int | str] = []
    step: int | str = 1
    for size in reversed(sizes):
        strides.append(step)
        if isinstance(step, int) and isinstance(size, int):
            step *= size
        else:
            product = e.mul(str(size), str(step))
            step = int(product) if is_literal(product) else product
    return tuple(reversed(strides))


def memref_layout(
    e: Emitter, type: MemRefType, dynamic_sizes: Sequence[str]
) -> tuple[tuple[int | str, ...], tuple[int | str, ...]]:
    """(strides, sizes) of a memref type; its layout is row-major or static `strided<>`."""
    dynamic = iter(dynamic_sizes)
    sizes = tuple(next(dynamic) if size == DYNAMIC_INDEX else size for size in type.get_shape())
    if isinstance(type.layout, NoneAttr):
        return row_major_strides(e, sizes), sizes
    if isinstance(type.layout, StridedLayoutAttr):
        strides = type.layout.get_strides()
        known = tuple(stride for stride in strides if stride is not None)
        if len(known) == len(strides):
            return known, sizes
    raise e.error(f"memref layout {type.layout} is not supported", "use the row-major or a static strided layout")


def element_type(type: MemRefType) -> LType:
    return lower_type(type.element_type)


def address(e: Emitter, memref: MemRef, indices: Sequence[SSAValue]) -> str:
    """The pointer to `memref[indices]`."""
    constant = 0
    dynamic = "0"
    for index, stride in zip(indices, memref.strides, strict=True):
        text = e.values[index]
        if is_literal(text) and isinstance(stride, int):
            constant += int(text) * stride
            continue
        if isinstance(stride, int):
            text, offset = e.sums.get(text, (text, 0))
            constant += offset * stride
        dynamic = e.add(dynamic, e.mul(text, str(stride)))
    pointer = memref.pointer
    elem = memref.elem.memory_elem
    # The sum of both parts is in bounds, the dynamic part alone need not be.
    if dynamic != "0":
        inside = "" if constant else "inbounds "
        pointer = e.pure(f"getelementptr {inside}{elem}, ptr {pointer}, i64 {dynamic}")
    if constant:
        inside = "" if dynamic != "0" else "inbounds "
        pointer = e.pure(f"getelementptr {inside}{elem}, ptr {pointer}, i64 {constant}")
    return pointer


def load_metadata(memref: MemRef) -> str:
    return memref.metadata + (", !invariant.load !0" if memref.invariant else "")


def from_memory(e: Emitter, type: LType, loaded: str) -> str:
    """A value of `type` from its memory form: bytes to `i1`."""
    if type.bits == 1:
        return e.pure(f"trunc {type.memory_text} {loaded} to {type.text}")
    return loaded


def to_memory(e: Emitter, type: LType, value: str) -> str:
    if type.bits == 1:
        return e.pure(f"zext {type.text} {value} to {type.memory_text}")
    return value


def load(e: Emitter, op: Operation) -> None:
    memref = e.memref(op.operands[0])
    pointer = address(e, memref, op.operands[1:])
    type = memref.elem
    text = f"load {type.memory_text}, ptr {pointer}, align {type.bytes}{load_metadata(memref)}"
    e.values[op.results[0]] = from_memory(e, type, e.pure(text) if memref.invariant else e.emit(text))


def store(e: Emitter, op: Operation) -> None:
    memref = e.memref(op.operands[1])
    if memref.invariant:
        raise e.error("stores to read-only memory", "the binding is declared ReadOnly, or it is a constant table")
    pointer = address(e, memref, op.operands[2:])
    type = memref.elem
    value = to_memory(e, type, e.values[op.operands[0]])
    e.do(f"store {type.memory_text} {value}, ptr {pointer}, align {type.bytes}{memref.metadata}")


def alloca(e: Emitter, op: Operation) -> None:
    type = op.results[0].type
    assert is_memref_type(type)
    if op.operands:
        raise e.error("allocates a dynamic size", "kernel memory must have a static shape")
    elem = element_type(type)
    count = max(1, prod(type.get_shape()))
    size = count * elem.bytes
    strides, sizes = memref_layout(e, type, [])
    if WORKGROUP_MEMORY in op.attributes:
        offset = -(-e.workgroup_bytes // 64) * 64
        e.workgroup_bytes = offset + size
        pointer = e.module.workgroup_memory(e, offset)
        e.memrefs[op.results[0]] = MemRef(pointer, strides, sizes, elem, align=64)
        return
    e.stack_bytes += -(-size // 64) * 64
    limit = e.target.stack_limit
    if e.stack_bytes > limit:
        raise e.error(
            f"stack memory grows to {e.stack_bytes} bytes, the limit is {limit}",
            "tile smaller, or raise --iree-llvmcpu-stack-allocation-limit",
        )
    pointer = e.entry(f"alloca [{count} x {elem.memory_elem}], align 64")
    e.memrefs[op.results[0]] = MemRef(pointer, strides, sizes, elem, align=64)


def get_global(e: Emitter, op: Operation) -> None:
    type = op.results[0].type
    assert is_memref_type(type)
    name = symbol_of(op.properties["name"])
    strides, sizes = memref_layout(e, type, [])
    symbol = e.module.use_global(e, name)
    e.memrefs[op.results[0]] = MemRef(symbol, strides, sizes, element_type(type), invariant=True, align=64)


def alias(e: Emitter, op: Operation) -> None:
    """`assume_alignment` and `cast`: the same memory."""
    e.memrefs[op.results[0]] = e.memref(op.operands[0])


def dim(e: Emitter, op: Operation) -> None:
    index = e.values[op.operands[1]]
    if not is_literal(index):
        raise e.error("asks for a dimension that is not a constant", "")
    e.values[op.results[0]] = str(e.memref(op.operands[0]).sizes[int(index)])


def reshape(e: Emitter, op: Operation) -> None:
    """`collapse_shape` and `expand_shape` of contiguous memrefs with static shapes: other strides, same memory."""
    type = op.results[0].type
    assert is_memref_type(type)
    source = e.memref(op.operands[0])
    if source.strides != row_major_strides(e, source.sizes) or DYNAMIC_INDEX in type.get_shape():
        raise e.error("reshapes a strided or dynamic memref", "")
    sizes = type.get_shape()
    e.memrefs[op.results[0]] = replace(source, strides=row_major_strides(e, sizes), sizes=sizes)


def subview(e: Emitter, op: Operation) -> None:
    source = e.memref(op.operands[0])
    dynamic = iter(e.values[o] for o in op.operands[1:])

    def mixed(name: str) -> list[str]:
        values = ints_of(op.properties[name])
        return [next(dynamic) if value == DYNAMIC_INDEX else str(value) for value in values]

    offsets, sizes, steps = mixed("static_offsets"), mixed("static_sizes"), mixed("static_strides")
    offset = "0"
    strides: list[int | str] = []
    for start, step, stride in zip(offsets, steps, source.strides, strict=True):
        offset = e.add(offset, e.mul(start, str(stride)))
        product = e.mul(step, str(stride))
        strides.append(int(product) if is_literal(product) else product)
    pointer = source.pointer
    if offset != "0":
        pointer = e.pure(f"getelementptr inbounds {source.elem.memory_elem}, ptr {pointer}, i64 {offset}")
    kept = _kept_dimensions(op, [int(size) if is_literal(size) else DYNAMIC_INDEX for size in sizes])
    final_sizes = tuple(int(sizes[d]) if is_literal(sizes[d]) else sizes[d] for d in kept)
    e.memrefs[op.results[0]] = replace(
        source, pointer=pointer, strides=tuple(strides[d] for d in kept), sizes=final_sizes, align=source.elem.bytes
    )


def _kept_dimensions(op: Operation, sizes: list[int]) -> list[int]:
    """The dimensions that the (possibly rank-reduced) result keeps: unit ones are dropped from the left."""
    type = op.results[0].type
    assert is_memref_type(type)
    shape = list(type.get_shape())
    kept: list[int] = []
    position = len(shape) - 1
    for d in range(len(sizes) - 1, -1, -1):
        if position >= 0 and shape[position] == sizes[d]:
            kept.append(d)
            position -= 1
    return kept[::-1]


def prefetch(e: Emitter, op: Operation) -> None:
    pointer = address(e, e.memref(op.operands[0]), op.operands[1:])

    def number(name: str) -> int:
        attr = op.properties[name]
        assert is_integer_attr(attr)
        return abs(attr.value.data)

    write, locality, data = number("isWrite"), number("localityHint"), number("isDataCache")
    e.do(f"call void @llvm.prefetch.p0(ptr {pointer}, i32 {write}, i32 {locality}, i32 {data})")


HANDLERS: dict[str, Handler] = {
    "memref.load": load,
    "memref.store": store,
    "memref.alloca": alloca,
    "memref.get_global": get_global,
    "memref.assume_alignment": alias,
    "memref.cast": alias,
    "memref.dim": dim,
    "memref.collapse_shape": reshape,
    "memref.expand_shape": reshape,
    "memref.subview": subview,
    "memref.prefetch": prefetch,
}
