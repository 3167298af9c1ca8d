"""Functions that compiled modules import from the runtime: one table, from which signatures and cconv strings derive.

A row reads `name(argument: type, ...) -> (types) flags`. `type...` is a variadic span, `(a, b)...` a span of tuples.
Object types are written without `!vm.ref<>`; `str` and `buffer` are `!vm.buffer`. Flags: `pure` (no side effects),
`yield` (may suspend), `@N` (needs version N of the module). The order of rows is the order of imports in a module.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    TupleType,
    UnitAttr,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute, Region, TypeAttribute

from tiree.dialects import vm

_HAL = """
allocator.allocate(allocator: hal.allocator, queue_affinity: i64, memory_types: i32, buffer_usage: i32, allocation_size: i64) -> hal.buffer
allocator.import(allocator: hal.allocator, try: i32, queue_affinity: i64, memory_types: i32, buffer_usage: i32, source: buffer, offset: i64, length: i64) -> hal.buffer
allocator.select(memory_types: i32, buffer_usage: i32, flags: i64, from: (hal.device, i64)...) -> (hal.device, i64)
buffer.assert(buffer: hal.buffer, message: str, allocator: hal.allocator, minimum_length: i64, memory_types: i32, buffer_usage: i32)
buffer.allocation.preserve(buffer: hal.buffer)
buffer.allocation.discard(buffer: hal.buffer) -> i32
buffer.allocation.is_terminal(buffer: hal.buffer) -> i32
buffer.subspan(source_buffer: hal.buffer, source_offset: i64, length: i64) -> hal.buffer pure
buffer.length(buffer: hal.buffer) -> i64 pure
buffer.load(source_buffer: hal.buffer, source_offset: i64, length: i32) -> i32
buffer.store(value: i32, target_buffer: hal.buffer, target_offset: i64, length: i32)
buffer_view.create(buffer: hal.buffer, source_offset: i64, source_length: i64, element_type: i32, encoding_type: i32, shape: i64...) -> hal.buffer_view pure
buffer_view.assert(buffer_view: hal.buffer_view, message: str, element_type: i32, encoding_type: i32, shape: i64...)
buffer_view.buffer(buffer_view: hal.buffer_view) -> hal.buffer pure
buffer_view.element_type(buffer_view: hal.buffer_view) -> i32 pure
buffer_view.encoding_type(buffer_view: hal.buffer_view) -> i32 pure
buffer_view.rank(buffer_view: hal.buffer_view) -> i32 pure
buffer_view.dim(buffer_view: hal.buffer_view, index: i32) -> i64 pure
buffer_view.trace(key: str, operands: hal.buffer_view...)
channel.create(device: hal.device, queue_affinity: i64, flags: i64, id: str, group: str, rank: i32, count: i32) -> hal.channel pure
channel.split(channel: hal.channel, color: i32, key: i32, flags: i64) -> hal.channel pure
channel.rank_and_count(channel: hal.channel) -> (i32, i32) pure
command_buffer.create(device: hal.device, modes: i32, command_categories: i32, queue_affinity: i64, binding_capacity: i32) -> hal.command_buffer @6
command_buffer.finalize(command_buffer: hal.command_buffer)
command_buffer.begin_debug_group(command_buffer: hal.command_buffer, label: str)
command_buffer.end_debug_group(command_buffer: hal.command_buffer)
command_buffer.execution_barrier(command_buffer: hal.command_buffer, source_stage_mask: i32, target_stage_mask: i32, flags: i64)
command_buffer.advise_buffer(command_buffer: hal.command_buffer, buffer: hal.buffer, flags: i64, arg0: i64, arg1: i64, buffer_slot: i32)
command_buffer.fill_buffer(command_buffer: hal.command_buffer, target_buffer: hal.buffer, target_offset: i64, length: i64, target_buffer_slot: i32, pattern: i64, pattern_length: i32, flags: i64)
command_buffer.update_buffer(command_buffer: hal.command_buffer, source_buffer: buffer, source_offset: i64, target_buffer: hal.buffer, target_offset: i64, length: i64, target_buffer_slot: i32, flags: i64)
command_buffer.copy_buffer(command_buffer: hal.command_buffer, source_buffer_slot: i32, target_buffer_slot: i32, source_buffer: hal.buffer, source_offset: i64, target_buffer: hal.buffer, target_offset: i64, length: i64, flags: i64)
command_buffer.collective(command_buffer: hal.command_buffer, channel: hal.channel, op: i32, param: i32, send_buffer_slot: i32, recv_buffer_slot: i32, send_buffer: hal.buffer, recv_buffer: hal.buffer, send_offset: i64, send_length: i64, recv_offset: i64, recv_length: i64, element_count: i64)
command_buffer.dispatch(command_buffer: hal.command_buffer, executable: hal.executable, function_id: i64, workgroup_x: i32, workgroup_y: i32, workgroup_z: i32, flags: i64, constants: i32..., bindings: (i32, i32, hal.buffer, i64, i64)...) @7
command_buffer.dispatch.indirect(command_buffer: hal.command_buffer, executable: hal.executable, function_id: i64, workgroups_buffer_slot: i32, workgroups_buffer: hal.buffer, workgroups_offset: i64, flags: i64, constants: i32..., bindings: (i32, i32, hal.buffer, i64, i64)...) @7
device.allocator(device: hal.device) -> hal.allocator pure
device.query.i64(device: hal.device, category: str, key: str) -> (i32, i64) pure
device.queue.alloca(device: hal.device, queue_affinity: i64, wait_fence: hal.fence, signal_fence: hal.fence, pool: i64, memory_types: i32, buffer_usage: i32, allocation_size: i64, flags: i64) -> hal.buffer
device.queue.dealloca(device: hal.device, queue_affinity: i64, wait_fence: hal.fence, signal_fence: hal.fence, buffer: hal.buffer, flags: i64)
device.queue.fill(device: hal.device, queue_affinity: i64, wait_fence: hal.fence, signal_fence: hal.fence, target_buffer: hal.buffer, target_offset: i64, length: i64, pattern: i64, pattern_length: i32, flags: i64)
device.queue.update(device: hal.device, queue_affinity: i64, wait_fence: hal.fence, signal_fence: hal.fence, source_buffer: buffer, source_offset: i64, target_buffer: hal.buffer, target_offset: i64, length: i64, flags: i64)
device.queue.copy(device: hal.device, queue_affinity: i64, wait_fence: hal.fence, signal_fence: hal.fence, source_buffer: hal.buffer, source_offset: i64, target_buffer: hal.buffer, target_offset: i64, length: i64, flags: i64)
device.queue.read(device: hal.device, queue_affinity: i64, wait_fence: hal.fence, signal_fence: hal.fence, source_file: hal.file, source_offset: i64, target_buffer: hal.buffer, target_offset: i64, length: i64, flags: i64)
device.queue.write(device: hal.device, queue_affinity: i64, wait_fence: hal.fence, signal_fence: hal.fence, source_buffer: hal.buffer, source_offset: i64, target_file: hal.file, target_offset: i64, length: i64, flags: i64)
device.queue.barrier(device: hal.device, queue_affinity: i64, wait_fence: hal.fence, signal_fence: hal.fence, flags: i64)
device.queue.execute(device: hal.device, queue_affinity: i64, wait_fence: hal.fence, signal_fence: hal.fence, command_buffer: hal.command_buffer, flags: i64)
device.queue.execute.indirect(device: hal.device, queue_affinity: i64, wait_fence: hal.fence, signal_fence: hal.fence, command_buffer: hal.command_buffer, flags: i64, binding_table: (hal.buffer, i64, i64)...)
device.queue.flush(device: hal.device, queue_affinity: i64)
devices.count() -> i32 pure
devices.get(index: i32) -> hal.device pure
executable.create(device: hal.device, queue_affinity: i64, executable_format: str, executable_data: buffer, constants: buffer) -> hal.executable pure
executable.lookup.function(executable: hal.executable, function_name: str) -> i64 pure @7
ex.file.from_memory(device: hal.device, queue_affinity: i64, access: i32, buffer: buffer, offset: i64, length: i64, flags: i32) -> hal.file
fence.create(device: hal.device, flags: i64) -> hal.fence
fence.join(flags: i64, fences: hal.fence...) -> hal.fence pure
fence.query(fence: hal.fence) -> i32
fence.signal(fence: hal.fence)
fence.fail(fence: hal.fence, status: i32)
fence.await(timeout_millis: i32, flags: i64, fences: hal.fence...) -> i32 yield
"""  # noqa: E501

_IO_PARAMETERS = """
load(device: hal.device, queue_affinity: i64, wait_fence: hal.fence, signal_fence: hal.fence, source_scope: str, target_affinity: i64, memory_types: i32, buffer_usage: i32, key_table: buffer, key_data: buffer, indirect_parameters: buffer) -> list
gather(device: hal.device, queue_affinity: i64, wait_fence: hal.fence, signal_fence: hal.fence, source_scope: str, target_buffer: hal.buffer, key_table: buffer, key_data: buffer, indirect_parameters: buffer)
scatter(device: hal.device, queue_affinity: i64, wait_fence: hal.fence, signal_fence: hal.fence, source_buffer: hal.buffer, target_scope: str, key_table: buffer, key_data: buffer, indirect_parameters: buffer)
"""  # noqa: E501

MODULES = {"hal": _HAL, "io_parameters": _IO_PARAMETERS}

_SCALARS: dict[str, TypeAttribute] = {"i32": i32, "i64": i64, "f32": f32, "f64": f64}
_LETTERS = {"i32": "i", "i64": "I", "f32": "f", "f64": "F"}


@dataclass(frozen=True)
class Argument:
    """`types` has one entry, or several when the argument is a span of tuples."""

    name: str
    types: tuple[str, ...]
    variadic: bool


@dataclass(frozen=True)
class ImportDecl:
    """One row of the table; `order` is its position."""

    name: str
    arguments: tuple[Argument, ...]
    results: tuple[str, ...]
    flags: frozenset[str]
    minimum_version: int
    order: int

    @property
    def cconv(self) -> str:
        """The calling-convention string, `0rIii_r`."""
        arguments = "".join(
            f"C{letters}D" if a.variadic else letters
            for a in self.arguments
            for letters in ["".join(_LETTERS.get(t, "r") for t in a.types)]
        )
        return f"0{arguments or 'v'}_{''.join(_LETTERS.get(t, 'r') for t in self.results) or 'v'}"

    @property
    def is_variadic(self) -> bool:
        return any(a.variadic for a in self.arguments)


def _type_names(text: str) -> tuple[str, ...]:
    return tuple(t.strip() for t in text.strip().strip("()").split(","))


def _split_arguments(text: str) -> list[str]:
    """Splits at commas outside parentheses."""
    parts: list[str] = []
    depth, start = 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]] if text.strip() else []


def _parse_row(module: str, row: str, order: int) -> ImportDecl:
    head, arrow, tail = row.partition(" -> ")
    close = head.rindex(")")
    name, arguments = head[: head.index("(")], head[head.index("(") + 1 : close]
    results: tuple[str, ...] = ()
    flags = head[close + 1 :].split()
    if arrow:
        end = tail.index(")") + 1 if tail.startswith("(") else (tail.index(" ") if " " in tail else len(tail))
        results, flags = _type_names(tail[:end]), tail[end:].split()
    parsed: list[Argument] = []
    for argument in _split_arguments(arguments):
        argument_name, type_text = argument.strip().split(": ", 1)
        variadic = type_text.endswith("...")
        parsed.append(Argument(argument_name, _type_names(type_text.removesuffix("...")), variadic))
    version = next((int(f[1:]) for f in flags if f.startswith("@")), 0)
    return ImportDecl(f"{module}.{name}", tuple(parsed), results, frozenset(flags), version, order)


@cache
def _rows() -> dict[str, tuple[str, str, int]]:
    rows: dict[str, tuple[str, str, int]] = {}
    for module, table in MODULES.items():
        for row in table.strip().splitlines():
            rows[f"{module}.{row[: row.index('(')]}"] = (module, row, len(rows))
    return rows


@cache
def import_decl(name: str) -> ImportDecl:
    """The row of `hal.fence.await` and the like. Raises `KeyError` for a name that is not in the table."""
    return _parse_row(*_rows()[name])


def is_import(name: str) -> bool:
    """Whether the table has a row of that name."""
    return name in _rows()


def all_imports() -> list[ImportDecl]:
    """Every row, in table order."""
    return [import_decl(name) for name in _rows()]


def vm_type(name: str) -> TypeAttribute:
    """The `vm` type of a type name of the table."""
    if name in _SCALARS:
        return _SCALARS[name]
    if name in ("str", "buffer"):
        return vm.BufferType()
    if name == "list":
        return vm.ListType(vm.RefType(hal_type("hal.buffer")))
    return vm.RefType(hal_type(name))


@cache
def hal_type(name: str) -> Attribute:
    """`!hal.fence` for `hal.fence`."""
    from tiree.dialects import hal

    return next(t for t in hal.HAL.attributes if t.name == name)()


def argument_type(argument: Argument) -> Attribute:
    """The type of one argument, or of one element of a span: a tuple when it has several parts."""
    parts = [vm_type(t) for t in argument.types]
    return TupleType(ArrayAttr(parts)) if len(parts) > 1 else parts[0]


def import_op(decl: ImportDecl) -> vm.ImportOp:
    """The `vm.import` that declares a row."""
    types: list[Attribute] = []
    attrs: list[Attribute] = []
    for a in decl.arguments:
        types.append(argument_type(a))
        extra: dict[str, Attribute] = {"vm.variadic": UnitAttr()} if a.variadic else {}
        attrs.append(DictionaryAttr({"vm.name": StringAttr(a.name), **extra}))
    properties: dict[str, Attribute | None] = {
        "sym_name": StringAttr(decl.name),
        "sym_visibility": StringAttr("private"),
        "function_type": FunctionType.from_lists(types, [vm_type(t) for t in decl.results]),
        "arg_attrs": ArrayAttr(attrs) if attrs else None,
        "minimum_version": IntegerAttr(decl.minimum_version, i32) if decl.minimum_version else None,
    }
    attributes: dict[str, Attribute] = {}
    if "pure" in decl.flags:
        attributes["nosideeffects"] = UnitAttr()
    if "yield" in decl.flags:
        attributes["vm.yield"] = UnitAttr()
    return vm.ImportOp(properties=properties, attributes=attributes, regions=[Region()])
