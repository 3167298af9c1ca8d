"""Handlers of `hal.interface.*`: what a kernel is called with.

Offsets into the dispatch and workgroup states are those of executable library version 6, for 64- and 32-bit pointers.
Everything is loaded once in the entry block; none of it changes while the kernel runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import Operation

from tiree.codegen.llvm import convert
from tiree.codegen.llvm.emitter import Emitter, Handler, MemRef, is_literal
from tiree.codegen.llvm.memref import element_type, memref_layout
from tiree.codegen.llvm.types import I32, lower_type
from tiree.support.typed import ints_of, is_integer_attr, is_memref_type

READ_ONLY = 1
"""Bit of a binding's descriptor flags."""

_COUNT_OFFSETS = ((12, 32), (16, 32), (20, 16))
_SIZE_OFFSETS = ((0, 32), (4, 32), (8, 16))
_ID_OFFSETS = ((0, 32), (4, 32), (8, 16))


@dataclass(frozen=True)
class StateLayout:
    """Byte offsets that depend on the pointer size."""

    pointer_bytes: int

    @property
    def constants(self) -> int:
        return 24

    @property
    def binding_pointers(self) -> int:
        return 24 + self.pointer_bytes

    @property
    def local_memory(self) -> int:
        return 16


def state_load(e: Emitter, state: str, offset: int, type: str, extra: str = "") -> str:
    """A load from a state struct, in the entry block, once."""
    key = f"{state}+{offset}"
    found = e.scopes[0].get(key)
    if found is None:
        pointer = e.entry(f"getelementptr inbounds i8, ptr {state}, i64 {offset}") if offset else state
        found = e.entry(f"load {type}, ptr {pointer}, !invariant.load !0{extra}")
        e.scopes[0][key] = found
    return found


def _dimension(op: Operation) -> int:
    attr = op.properties["dimension"]
    assert is_integer_attr(attr)
    return attr.value.data


def _grid_query(state: str, offsets: tuple[tuple[int, int], ...]) -> Handler:
    def handler(e: Emitter, op: Operation) -> None:
        dimension = _dimension(op)
        offset, bits = offsets[dimension]
        value = state_load(e, state, offset, f"i{bits}")
        key = f"index {value}"
        wide = e.scopes[0].get(key)
        if wide is None:
            # A grid coordinate is far below 2^31, which lets later index arithmetic be signed without loss.
            wide = e.scopes[0][key] = e.entry(f"zext i{bits} {value} to i64")
        e.values[op.results[0]] = wide

    return handler


def leave_beyond(e: Emitter, limits: Mapping[int, int]) -> None:
    """Ends the kernel at once in workgroups from the limit of a dimension on; at the start of a kernel."""
    for dimension, limit in sorted(limits.items()):
        offset, bits = _ID_OFFSETS[dimension]
        number = state_load(e, "%workgroup", offset, f"i{bits}")
        leave, stay = e.label("leave"), e.label("stay")
        e.branch_if(e.pure(f"icmp uge i{bits} {number}, {limit}"), leave, stay)
        e.start_block(leave)
        e.do("ret i32 0")
        e.start_block(stay)


def constant_load(e: Emitter, op: Operation) -> None:
    ordinal = op.properties["ordinal"]
    assert is_integer_attr(ordinal)
    number = ordinal.value.data
    base = state_load(e, "%dispatch", StateLayout(e.target.pointer_bytes).constants, "ptr")
    value = state_load(e, base, number * 4, "i32")
    e.module.note_constant(e, number)
    target = lower_type(op.results[0].type)
    if target.kind == "i":
        value = convert.resize_int(e, I32, target, value, signed=False)
    elif target.bits == 32:
        value = e.pure(f"bitcast i32 {value} to float")
    else:
        raise e.error(f"a dispatch constant has 32 bits and cannot be read as {op.results[0].type}", "")
    e.values[op.results[0]] = value


def binding_pointer(e: Emitter, binding: int) -> str:
    """The pointer of a binding, loaded once."""
    found = e.bindings.get(binding)
    if found is None:
        size = e.target.pointer_bytes
        table = state_load(e, "%dispatch", StateLayout(size).binding_pointers, "ptr")
        found = state_load(e, table, binding * size, "ptr", ", !nonnull !0, !align !2")
        e.bindings[binding] = found
    return found


def binding_subspan(e: Emitter, op: Operation) -> None:
    type = op.results[0].type
    if not is_memref_type(type):
        raise e.error(f"yields {type}", "kernels take memrefs; the strategy passes turn dispatch tensors into them")
    segments = ints_of(op.properties["operandSegmentSizes"])
    binding = op.properties["binding"]
    assert is_integer_attr(binding)
    number = binding.value.data
    flags = op.properties.get("descriptor_flags")
    readonly = is_integer_attr(flags) and bool(flags.value.data & READ_ONLY)
    offset = e.values[op.operands[0]] if segments[0] else "0"
    strides, sizes = memref_layout(e, type, [e.values[o] for o in op.operands[segments[0] :]])
    pointer = binding_pointer(e, number)
    if offset != "0":
        pointer = e.pure(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}")
    align = 16
    if not is_literal(offset):
        align = element_type(type).bytes
    elif int(offset) % 16:
        align = int(offset) & -int(offset)
    e.memrefs[op.results[0]] = MemRef(
        pointer,
        strides,
        sizes,
        element_type(type),
        metadata=e.module.alias_metadata(e, number, readonly),
        invariant=readonly,
        align=align,
    )


HANDLERS: dict[str, Handler] = {
    "hal.interface.workgroup.id": _grid_query("%workgroup", _ID_OFFSETS),
    "hal.interface.workgroup.count": _grid_query("%dispatch", _COUNT_OFFSETS),
    "hal.interface.workgroup.size": _grid_query("%dispatch", _SIZE_OFFSETS),
    "hal.interface.constant.load": constant_load,
    "hal.interface.binding.subspan": binding_subspan,
}
