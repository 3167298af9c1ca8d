"""`hal` operations to calls of the runtime's `hal` module.

Most operations hand their operands on in order, with some properties as further arguments: `_RECIPES` says so in one
line each. A token of a recipe is an operand number (`2?`: 0 when it is absent), a property name (its integer), or
`'name` (its text as a string).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects import vm
from tiree.dialects.hal_attrs import element_type_value
from tiree.support.typed import is_integer_attr, is_integer_type
from tiree.vm.builder import FunctionBuilder, Span, convert_type, fail
from tiree.vm.convert_arith import extended
from tiree.vm.imports import vm_type

Handler = Callable[[FunctionBuilder, Operation], None]

_RECIPES = {
    "allocator.allocate": "0 1 2 3 4",
    "buffer.assert": "0 'message 1 2 memory_types buffer_usage",
    "buffer.subspan": "0 1 2",
    "buffer.length": "0",
    "buffer.allocation.preserve": "0",
    "buffer.allocation.discard": "0",
    "buffer.allocation.is_terminal": "0",
    "buffer_view.buffer": "0",
    "buffer_view.element_type": "0",
    "buffer_view.encoding_type": "0",
    "buffer_view.rank": "0",
    "buffer_view.dim": "0 index",
    "command_buffer.finalize": "0",
    "command_buffer.create": "0 modes command_categories 1 2?",
    "command_buffer.execution_barrier": "0 source_stage_mask target_stage_mask flags",
    "command_buffer.end_debug_group": "0",
    "device.allocator": "0",
    "device.queue.alloca": "0 1 2 3 4 5 6 7 flags",
    "device.queue.dealloca": "0 1 2 3 4 flags",
    "device.queue.copy": "0 1 2 3 4 5 6 7 8 flags",
    "device.queue.read": "0 1 2 3 4 5 6 7 8 flags",
    "device.queue.write": "0 1 2 3 4 5 6 7 8 flags",
    "device.queue.update": "0 1 2 3 4 5 6 7 8 flags",
    "device.queue.barrier": "0 1 2 3 flags",
    "device.queue.execute": "0 1 2 3 4 flags",
    "device.queue.flush": "0 1",
    "devices.count": "",
    "devices.get": "0",
    "ex.file.from_memory": "0 1 access 2 3 4 5",
    "fence.create": "0 flags",
    "fence.query": "0",
    "fence.signal": "0",
    "fence.fail": "0 1",
}


def int_of(attr: Attribute | None, default: int = 0) -> int:
    """The number of an integer property, or of an enumeration attribute that wraps one."""
    if attr is None:
        return default
    data: object = attr.value if is_integer_attr(attr) else getattr(attr, "data", None)
    data = getattr(data, "data", data)
    data = getattr(data, "value", data)
    if not isinstance(data, int):
        raise TypeError(f"expected an integer attribute, got {attr}")
    return data


def _recipe(name: str, recipe: list[str], b: FunctionBuilder, op: Operation) -> None:
    arguments: list[SSAValue | Span] = []
    for token in recipe:
        if token[-1] == "?":
            index = int(token[:-1])
            arguments.append(b.get(op.operands[index]) if index < len(op.operands) else b.i32(0))
        elif token.isdigit():
            arguments.append(b.get(op.operands[int(token)]))
        elif token[0] == "'":
            arguments.append(b.string(text_of(op, token[1:])))
        else:
            arguments.append(b.i32(int_of(op.properties.get(token))))
    set_results(b, op, b.call_import(name, arguments))


def text_of(op: Operation, name: str) -> str:
    """The text of a string property; empty when it is absent."""
    attr = op.properties.get(name)
    return attr.data if isinstance(attr, StringAttr) else ""


def set_results(b: FunctionBuilder, op: Operation, results: list[SSAValue]) -> None:
    """`results` of a call stand for those of `op`."""
    for source, result in zip(op.results, results, strict=True):
        b.values[source] = b.as_type(result, convert_type(source.type, op))


def segments(op: Operation) -> list[list[SSAValue]]:
    """The operand groups by `operandSegmentSizes`."""
    sizes = op.properties["operandSegmentSizes"]
    assert isinstance(sizes, DenseArrayBase)
    groups: list[list[SSAValue]] = []
    start = 0
    for size in sizes.get_values():
        groups.append(list(op.operands[start : start + int(size)]))
        start += int(size)
    return groups


def _thirds(values: list[SSAValue]) -> tuple[list[SSAValue], list[SSAValue], list[SSAValue]]:
    n = len(values) // 3
    return values[:n], values[n : 2 * n], values[2 * n :]


def _slot(b: FunctionBuilder, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    """(binding table slot, buffer) of an operand that is either."""
    if isinstance(value.type, IndexType | IntegerType):
        return b.get(value), b.null(vm_type("hal.buffer"))
    return b.i32(0), b.get(value)


def _constant_result(number: Callable[[Operation], int], b: FunctionBuilder, op: Operation) -> None:
    b.values[op.results[0]] = b.i32(number(op))


def _element_type(op: Operation) -> int:
    type = op.properties["type"]
    try:
        return element_type_value(type)
    except TypeError:
        raise fail(op, f"element type {type} has no runtime number") from None


def _view_create(b: FunctionBuilder, op: Operation) -> None:
    buffer, offset, length, element, encoding, *shape = (b.get(v) for v in op.operands)
    dims: Span = [(v,) for v in shape]
    set_results(b, op, b.call_import("hal.buffer_view.create", [buffer, offset, length, element, encoding, dims]))


def _view_assert(b: FunctionBuilder, op: Operation) -> None:
    view, element, encoding, *shape = (b.get(v) for v in op.operands)
    dims: Span = [(v,) for v in shape]
    b.call_import("hal.buffer_view.assert", [view, b.string(text_of(op, "message")), element, encoding, dims])


def _view_trace(b: FunctionBuilder, op: Operation) -> None:
    views: Span = [(b.get(v),) for v in op.operands if not isinstance(v.type, IndexType)]
    b.call_import("hal.buffer_view.trace", [b.string(text_of(op, "key")), views])


def _allocator_import(b: FunctionBuilder, op: Operation) -> None:
    allocator, affinity, types, usage, source, offset, length = (b.get(v) for v in op.operands)
    arguments: list[SSAValue | Span] = [allocator, b.i32(1), affinity, types, usage, source, offset, length]
    buffer = b.call_import("hal.allocator.import", arguments)[0]
    b.values[op.results[0]] = b.value("cmp.nz.ref", [buffer], i32)
    b.values[op.results[1]] = buffer


def _buffer_load(b: FunctionBuilder, op: Operation) -> None:
    """1, 2 or 4 bytes at a time; 8 bytes are two loads."""
    buffer, offset = b.get(op.operands[0]), b.get(op.operands[1])
    target = op.results[0].type
    size = _byte_size(target)
    if size == 8:
        low = b.call_import("hal.buffer.load", [buffer, offset, b.i32(4)])[0]
        upper = b.value("add.i64", [offset, b.i64(4)], i64)
        high = b.call_import("hal.buffer.load", [buffer, upper, b.i32(4)])[0]
        low, high = (b.value("ext.i32.i64.u", [v], i64) for v in (low, high))
        shifted = b.value("shl.i64", [high, b.i32(32)], i64)
        bits = b.value("or.i64", [low, shifted], i64)
    else:
        bits = b.call_import("hal.buffer.load", [buffer, offset, b.i32(size)])[0]
    if target == f32:
        bits = b.value("bitcast.i32.f32", [bits], f32)
    elif target == f64:
        bits = b.value("bitcast.i64.f64", [bits], f64)
    elif target == i1:
        bits = b.value("and.i32", [bits, b.i32(1)], i32)
    b.values[op.results[0]] = bits


def _byte_size(type: Attribute) -> int:
    if is_integer_type(type):
        return (type.width.data + 7) // 8
    return 4 if type == f32 else 8


def _buffer_store(b: FunctionBuilder, op: Operation) -> None:
    value, buffer, offset = (b.get(v) for v in op.operands)
    type = op.operands[0].type
    size = _byte_size(type)
    if type in (f32, f64):
        value = b.value(f"bitcast.{type}.i{size * 8}", [value], i32 if size == 4 else i64)
    if size == 8:
        b.call_import("hal.buffer.store", [b.value("trunc.i64.i32", [value], i32), buffer, offset, b.i32(4)])
        value = b.value("trunc.i64.i32", [b.value("shr.i64.u", [value, b.i32(32)], i64)], i32)
        offset = b.value("add.i64", [offset, b.i64(4)], i64)
    b.call_import("hal.buffer.store", [value, buffer, offset, b.i32(min(size, 4))])


def device_query(function: str, b: FunctionBuilder, op: Operation) -> None:
    """A query of `function` by category and key (and device, if `op` has one), or its default."""
    strings = [b.string(text_of(op, name)) for name in ("category", "key")]
    ok, value = b.call_import(function, [*(b.get(device) for device in op.operands), *strings])
    type = op.results[1].type
    default = b.constant(int_of(op.properties.get("default_value")), convert_type(type, op))
    found = b.value("cmp.nz.i64", [value], i32) if type == i1 else b.as_type(value, convert_type(type, op))
    suffix = "i32" if found.type == i32 else "i64"
    b.values[op.results[0]] = ok
    b.values[op.results[1]] = b.value(f"select.{suffix}", [ok, found, default], found.type)


def _symbol_path(attr: Attribute) -> list[str]:
    assert isinstance(attr, SymbolRefAttr)
    return [attr.root_reference.data, *(s.data for s in attr.nested_references.data)]


def _executable_create(b: FunctionBuilder, op: Operation) -> None:
    """The executable's bytes come from the `hal.executable.binary` that the target symbol names."""
    executable, variant = _symbol_path(op.properties["executable_target"])
    binary = b.state.binaries[executable, variant]
    mime = binary.properties.get("mime_type")
    data = b.state.rodata_op(
        binary.properties["data"],
        f"{executable}_{variant}",
        16,
        mime.data if isinstance(mime, StringAttr) else "application/octet-stream",
    )
    constants: SSAValue = b.null(vm.BufferType())
    if len(op.operands) > 2:
        words = [b.get(v) for v in op.operands[2:]]
        constants = b.value("buffer.alloc", [b.i64(4 * len(words)), b.i32(16)], vm.BufferType())
        for i, word in enumerate(words):
            b.emit("buffer.store.i32", [constants, b.i64(i), word])
    device, affinity = b.get(op.operands[0]), b.get(op.operands[1])
    format = b.string(text_of(binary, "format"))
    set_results(b, op, b.call_import("hal.executable.create", [device, affinity, format, b.rodata(data), constants]))


def _lookup_function(b: FunctionBuilder, op: Operation) -> None:
    name = _symbol_path(op.properties["entry_point"])[-1]
    set_results(b, op, b.call_import("hal.executable.lookup.function", [b.get(op.operands[0]), b.string(name)]))


def _bindings(b: FunctionBuilder, groups: list[list[SSAValue]]) -> Span:
    buffers, offsets, lengths = groups
    return [
        (b.i32(0), *_slot(b, buffer), b.get(offset), b.get(length))
        for buffer, offset, length in zip(buffers, offsets, lengths, strict=True)
    ]


def _dispatch(b: FunctionBuilder, op: Operation) -> None:
    groups = segments(op)
    head = [b.get(g[0]) for g in groups[:6]]
    constants: Span = [(b.get(v),) for v in groups[6]]
    flags = b.i64(int_of(op.properties.get("flags")))
    b.call_import("hal.command_buffer.dispatch", [*head, flags, constants, _bindings(b, groups[7:])])


def _dispatch_indirect(b: FunctionBuilder, op: Operation) -> None:
    groups = segments(op)
    command_buffer, executable, function = (b.get(g[0]) for g in groups[:3])
    slot, buffer = _slot(b, groups[3][0])
    offset = b.get(groups[4][0])
    constants: Span = [(b.get(v),) for v in groups[5]]
    flags = b.i64(int_of(op.properties.get("flags")))
    head: list[SSAValue | Span] = [command_buffer, executable, function, slot, buffer, offset, flags]
    b.call_import("hal.command_buffer.dispatch.indirect", [*head, constants, _bindings(b, groups[6:])])


def _fill_buffer(b: FunctionBuilder, op: Operation) -> None:
    command_buffer, target, offset, length, pattern = op.operands
    slot, buffer = _slot(b, target)
    bits, size = _pattern(b, pattern)
    flags = b.i64(int_of(op.properties.get("flags")))
    head: list[SSAValue | Span] = [b.get(command_buffer), buffer, b.get(offset), b.get(length), slot]
    b.call_import("hal.command_buffer.fill_buffer", [*head, bits, size, flags])


def _pattern(b: FunctionBuilder, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    """(pattern as i64, its length in bytes) of a fill value."""
    register = extended(b, value, signed=False)
    if register.type == i32:
        register = b.value("ext.i32.i64.u", [register], i64)
    return register, b.i32(_byte_size(value.type))


def _copy_buffer(b: FunctionBuilder, op: Operation) -> None:
    command_buffer, source, source_offset, target, target_offset, length = op.operands
    source_slot, source_buffer = _slot(b, source)
    target_slot, target_buffer = _slot(b, target)
    arguments: list[SSAValue | Span] = [b.get(command_buffer), source_slot, target_slot, source_buffer]
    arguments += [b.get(source_offset), target_buffer, b.get(target_offset), b.get(length)]
    b.call_import("hal.command_buffer.copy_buffer", [*arguments, b.i64(int_of(op.properties.get("flags")))])


def _update_buffer(b: FunctionBuilder, op: Operation) -> None:
    command_buffer, source, _size, source_offset, target, target_offset, length = op.operands
    slot, buffer = _slot(b, target)
    arguments: list[SSAValue | Span] = [b.get(command_buffer), b.get(source), b.get(source_offset), buffer]
    arguments += [b.get(target_offset), b.get(length), slot, b.i64(int_of(op.properties.get("flags")))]
    b.call_import("hal.command_buffer.update_buffer", arguments)


def _queue_fill(b: FunctionBuilder, op: Operation) -> None:
    head: list[SSAValue | Span] = [b.get(v) for v in op.operands[:7]]
    bits, size = _pattern(b, op.operands[7])
    b.call_import("hal.device.queue.fill", [*head, bits, size, b.i64(int_of(op.properties.get("flags")))])


def _execute_indirect(b: FunctionBuilder, op: Operation) -> None:
    head: list[SSAValue | Span] = [b.get(v) for v in op.operands[:5]]
    buffers, offsets, lengths = _thirds(list(op.operands[5:]))
    table: Span = [tuple(b.get(v) for v in group) for group in zip(buffers, offsets, lengths, strict=True)]
    flags = b.i64(int_of(op.properties.get("flags")))
    b.call_import("hal.device.queue.execute.indirect", [*head, flags, table])


def _allocator_select(b: FunctionBuilder, op: Operation) -> None:
    *pairs, types, usage = (b.get(v) for v in op.operands)
    count = len(pairs) // 2
    devices: Span = list(zip(pairs[:count], pairs[count:], strict=True))
    set_results(b, op, b.call_import("hal.allocator.select", [types, usage, b.i64(0), devices]))


def _fence_join(b: FunctionBuilder, op: Operation) -> None:
    fences: Span = [(b.get(v),) for v in op.operands]
    set_results(b, op, b.call_import("hal.fence.join", [b.i64(int_of(op.properties.get("flags"))), fences]))


def _fence_await(b: FunctionBuilder, op: Operation) -> None:
    timeout, *fences = (b.get(v) for v in op.operands)
    span: Span = [(v,) for v in fences]
    set_results(b, op, b.call_import("hal.fence.await", [timeout, b.i64(int_of(op.properties.get("flags"))), span]))


_BY_RECIPE: dict[str, Handler] = {f"hal.{n}": partial(_recipe, f"hal.{n}", r.split()) for n, r in _RECIPES.items()}
HANDLERS: dict[str, Handler] = _BY_RECIPE | {
    "hal.element_type": partial(_constant_result, _element_type),
    # Dense row-major is the only encoding that compiled programs use.
    "hal.encoding_type": partial(_constant_result, lambda _: 1),
    "hal.memory_type": partial(_constant_result, lambda op: int_of(op.properties["type"])),
    "hal.buffer_usage": partial(_constant_result, lambda op: int_of(op.properties["usage"])),
    "hal.buffer_view.create": _view_create,
    "hal.buffer_view.assert": _view_assert,
    "hal.buffer_view.trace": _view_trace,
    "hal.allocator.import": _allocator_import,
    "hal.buffer.load": _buffer_load,
    "hal.buffer.store": _buffer_store,
    "hal.device.query": partial(device_query, "hal.device.query.i64"),
    "hal.executable.create": _executable_create,
    "hal.executable.lookup.function": _lookup_function,
    "hal.command_buffer.dispatch": _dispatch,
    "hal.command_buffer.dispatch.indirect": _dispatch_indirect,
    "hal.command_buffer.fill_buffer": _fill_buffer,
    "hal.command_buffer.copy_buffer": _copy_buffer,
    "hal.command_buffer.update_buffer": _update_buffer,
    "hal.device.queue.fill": _queue_fill,
    "hal.device.queue.execute.indirect": _execute_indirect,
    "hal.allocator.select": _allocator_select,
    "hal.fence.join": _fence_join,
    "hal.fence.await": _fence_await,
}
