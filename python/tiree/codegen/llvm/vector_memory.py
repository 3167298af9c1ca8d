"""Handlers of vector loads, stores, masks and gathers."""

from __future__ import annotations

from xdsl.ir import Operation

from tiree.codegen.llvm import constants
from tiree.codegen.llvm.emitter import Emitter, Handler, MemRef, is_literal
from tiree.codegen.llvm.memref import address, from_memory, load_metadata, to_memory
from tiree.codegen.llvm.types import LType, lower_type
from tiree.support.typed import is_integer_attr


def _contiguous(e: Emitter, memref: MemRef) -> None:
    if memref.strides and memref.strides[-1] != 1:
        raise e.error(f"reads vectors along a stride of {memref.strides[-1]}", "use vector.gather or scalar loads")


def _writable(e: Emitter, memref: MemRef) -> None:
    if memref.invariant:
        raise e.error("stores to read-only memory", "the binding is declared ReadOnly, or it is a constant table")


def load(e: Emitter, op: Operation) -> None:
    memref = e.memref(op.operands[0])
    _contiguous(e, memref)
    pointer = address(e, memref, op.operands[1:])
    type = lower_type(op.results[0].type)
    text = f"load {type.memory_text}, ptr {pointer}, align {type.bytes}{load_metadata(memref)}"
    e.values[op.results[0]] = from_memory(e, type, e.pure(text) if memref.invariant else e.emit(text))


def store(e: Emitter, op: Operation) -> None:
    memref = e.memref(op.operands[1])
    _contiguous(e, memref)
    _writable(e, memref)
    pointer = address(e, memref, op.operands[2:])
    type = lower_type(op.operands[0].type)
    value = to_memory(e, type, e.values[op.operands[0]])
    nontemporal = op.properties.get("nontemporal")
    hint = ", !nontemporal !1" if is_integer_attr(nontemporal) and nontemporal.value.data else ""
    e.do(f"store {type.memory_text} {value}, ptr {pointer}, align {type.bytes}{memref.metadata}{hint}")


def _memory_type(type: LType) -> LType:
    return type.with_elem("i", 8) if type.bits == 1 else type


def masked_load(e: Emitter, op: Operation) -> None:
    memref = e.memref(op.operands[0])
    _contiguous(e, memref)
    *indices, mask, pass_through = op.operands[1:]
    pointer = address(e, memref, indices)
    type = lower_type(op.results[0].type)
    memory = _memory_type(type)
    other = to_memory(e, type, e.values[pass_through])
    loaded = e.emit(
        f"call {memory.text} @llvm.masked.load.{memory.mangled}.p0(ptr align {type.bytes} {pointer}, "
        f"<{type.lanes} x i1> {e.values[mask]}, {memory.text} {other}){memref.metadata}"
    )
    e.values[op.results[0]] = from_memory(e, type, loaded)


def masked_store(e: Emitter, op: Operation) -> None:
    memref = e.memref(op.operands[0])
    _contiguous(e, memref)
    _writable(e, memref)
    *indices, mask, stored = op.operands[1:]
    pointer = address(e, memref, indices)
    type = lower_type(stored.type)
    memory = _memory_type(type)
    value = to_memory(e, type, e.values[stored])
    lanes = constants.set_lanes(type, e.values[mask])
    if lanes is not None and len(lanes) <= 1:
        _store_lane(e, memory, value, pointer, lanes, memref.metadata)
        return
    e.do(
        f"call void @llvm.masked.store.{memory.mangled}.p0({memory.text} {value}, ptr align {type.bytes} {pointer}, "
        f"<{type.lanes} x i1> {e.values[mask]}){memref.metadata}"
    )


def _store_lane(e: Emitter, memory: LType, value: str, pointer: str, lanes: list[int], metadata: str) -> None:
    """A store of one lane known here, or of none. LLVM 22 turns a masked one into a scalar store by itself, but where
    the value was truncated it stores the wide scalar, over the bytes behind."""
    for lane in lanes:
        element = e.pure(f"extractelement {memory.text} {value}, i64 {lane}")
        place = e.pure(f"getelementptr {memory.elem}, ptr {pointer}, i64 {lane}") if lane else pointer
        e.do(f"store {memory.elem} {element}, ptr {place}, align {memory.bytes}{metadata}")


def _lane_pointers(e: Emitter, memref: MemRef, op: Operation, indices: str, index_type: LType) -> str:
    base = address(e, memref, op.operands[1:-3])
    elem = memref.elem.memory_elem
    return e.pure(f"getelementptr {elem}, ptr {base}, {index_type.text} {indices}")


def gather(e: Emitter, op: Operation) -> None:
    memref = e.memref(op.operands[0])
    _contiguous(e, memref)
    index, mask, pass_through = op.operands[-3:]
    type = lower_type(op.results[0].type)
    memory = _memory_type(type)
    pointers = _lane_pointers(e, memref, op, e.values[index], lower_type(index.type))
    other = to_memory(e, type, e.values[pass_through])
    lanes = type.lanes
    loaded = e.emit(
        f"call {memory.text} @llvm.masked.gather.{memory.mangled}.v{lanes}p0(<{lanes} x ptr> align {type.bytes} "
        f"{pointers}, <{lanes} x i1> {e.values[mask]}, {memory.text} {other}){memref.metadata}"
    )
    e.values[op.results[0]] = from_memory(e, type, loaded)


def scatter(e: Emitter, op: Operation) -> None:
    memref = e.memref(op.operands[0])
    _contiguous(e, memref)
    _writable(e, memref)
    index, mask, stored = op.operands[-3:]
    type = lower_type(stored.type)
    memory = _memory_type(type)
    pointers = _lane_pointers(e, memref, op, e.values[index], lower_type(index.type))
    value = to_memory(e, type, e.values[stored])
    lanes = type.lanes
    e.do(
        f"call void @llvm.masked.scatter.{memory.mangled}.v{lanes}p0({memory.text} {value}, "
        f"<{lanes} x ptr> align {type.bytes} {pointers}, <{lanes} x i1> {e.values[mask]}){memref.metadata}"
    )


def create_mask(e: Emitter, op: Operation) -> None:
    """Lane i is set where i < the size. The compare is as narrow as the lane numbers allow, to fit one register."""
    type = lower_type(op.results[0].type)
    lanes = type.lanes
    size = e.values[op.operands[0]]
    if is_literal(size):
        flags = ["true" if i < int(size) else "false" for i in range(lanes)]
        e.values[op.results[0]] = constants.vector_text(type, flags)
        return
    bits = 32 if lanes <= 16 else 16 if lanes <= 32 or lanes > 127 else 8
    narrow = lower_type(op.results[0].type).with_elem("i", bits)
    low = e.pure(f"call i64 @llvm.smax.i64(i64 {size}, i64 0)")
    clamped = e.pure(f"call i64 @llvm.smin.i64(i64 {low}, i64 {lanes})")
    count = e.pure(f"trunc i64 {clamped} to {narrow.elem}")
    step = constants.vector_text(narrow, [str(i) for i in range(lanes)])
    e.values[op.results[0]] = e.pure(f"icmp ugt {narrow.text} {e.splat(count, narrow)}, {step}")


HANDLERS: dict[str, Handler] = {
    "vector.load": load,
    "vector.store": store,
    "vector.maskedload": masked_load,
    "vector.maskedstore": masked_store,
    "vector.gather": gather,
    "vector.scatter": scatter,
    "vector.create_mask": create_mask,
}
