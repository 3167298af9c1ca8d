"""Host functions of the `stream` phase as `hal_inline` operations.

Resources become buffers, constants the bytes of the module; what runs, runs where it stands, so that timepoints are
numbers that mean nothing. A command works on the bytes of its buffers.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.arith import IndexCastOp
from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tiree.dialects import hal, hal_inline, stream, util
from tiree.dialects.arith import constant_int
from tiree.dialects.hal_affinity import DeviceAffinityAttr
from tiree.hal.inline.kernels import Kernels
from tiree.hal.recording import commands_of, fill_pattern
from tiree.hal.regions import convert_arguments, erase_unused, replace, retype
from tiree.hal.values import Emitter
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import is_tensor_type

_ALIGNMENT = 64
_ERASABLE = frozenset(
    {"arith.constant", "util.global.load", "util.null", "hal.element_type", "hal.encoding_type", "util.buffer.constant"}
)
_SAME = frozenset({"hal.element_type", "hal.encoding_type"})
"""Operations of `hal` that are numbers."""
_RENAMED = {
    one.name.replace("hal_inline", "hal", 1): one
    for one in hal_inline.HAL_INLINE_OPS
    if one.name.startswith(("hal_inline.buffer_view.", "hal_inline.buffer.length", "hal_inline.buffer.subspan"))
}
"""Operations of `hal` that `hal_inline` has with the same operands."""


def convert_type(type: Attribute) -> Attribute:
    """The type of a `stream` type in a program without devices; other types stay."""
    if isinstance(type, stream.ResourceType):
        return util.BufferType() if type.lifetime.data == "constant" else hal.BufferType()
    return i64 if isinstance(type, stream.TimepointType) else type


class InlineConverter:
    """Converts one function or initializer in place."""

    def __init__(self, region: Region, kernels: Kernels) -> None:
        self.region = region
        self.kernels = kernels
        self.emitter = Emitter(region.blocks[0], DeviceAffinityAttr("none"))
        self._storages: dict[SSAValue, SSAValue] = {}
        """The bytes of buffers that are made here."""
        self._asked: dict[tuple[Block | None, SSAValue], SSAValue] = {}
        reached = self._reached
        self.handlers: dict[str, Callable[[Operation], None]] = {
            "stream.tensor.import": self._tensor_import,
            "stream.tensor.export": self._tensor_export,
            "stream.resource.alloca": self._alloca,
            "stream.resource.dealloca": reached,
            "stream.resource.alloc": self._alloc,
            "stream.resource.load": self._load,
            "stream.resource.size": self._size,
            "stream.resource.subview": self._subview,
            "stream.resource.try_map": self._try_map,
            "stream.file.constant": self._file_constant,
            "stream.file.read": self._file_read,
            "stream.timepoint.immediate": reached,
            "stream.timepoint.join": reached,
            "stream.timepoint.await": self._await,
            "stream.cmd.execute": self._execute,
            "util.global.load": self._retype,
            "util.call": self._retype,
            "arith.select": self._retype,
            "util.null": self._null,
            "util.optimization_barrier": self._retype,
        }

    def convert(self) -> None:
        convert_arguments(self.region, convert_type)
        for block in list(self.region.blocks):
            for op in list(block.ops):
                self._convert(op)
        erase_unused(self.region, _ERASABLE)

    def _convert(self, op: Operation) -> None:
        handler = self.handlers.get(op.name)
        self.emitter.anchor = op
        if handler is not None:
            handler(op)
        elif op.name in _RENAMED:
            self._rename(op)
        elif op.name.startswith(("stream.", "hal.")) and op.name not in _SAME:
            what = f"{op.name} needs a device, and the program is compiled for an execution model without devices"
            raise CompileError(Diagnostic(what, location_of(op), "compile it for async-internal"))

    def _replace(self, op: Operation, *values: SSAValue) -> None:
        replace(op, values)

    def _rename(self, op: Operation) -> None:
        types = [result.type for result in op.results]
        new = _RENAMED[op.name].create(operands=list(op.operands), result_types=types, properties=dict(op.properties))
        self.emitter.add(new)
        self._replace(op, *new.results)

    def _retype(self, op: Operation) -> None:
        retype(op, self.emitter, convert_type)

    def _null(self, op: Operation) -> None:
        if isinstance(op.results[0].type, stream.TimepointType):
            self._reached(op)
        else:
            self._retype(op)

    # Tensors at the border.

    def _tensor_import(self, op: Operation) -> None:
        """The buffer of a view. Its length needs no check here: every use is of an explicit range."""
        assert isinstance(op, stream.TensorImportOp)
        if isinstance(op.source.type, hal.BufferType):
            self._replace(op, op.source)
        else:
            self._replace(op, self.emitter.value(hal_inline.BufferViewBufferOp(op.source)))

    def _tensor_export(self, op: Operation) -> None:
        assert isinstance(op, stream.TensorExportOp)
        if isinstance(op.result.type, hal.BufferType):
            self._replace(op, op.source)
            return
        emitter, encoding = self.emitter, op.source_encoding
        source: SSAValue = op.source
        if isinstance(source.type, util.BufferType):
            source = self._copied(source, emitter.index(0), op.source_size).result
        assert is_tensor_type(encoding)
        dims = iter(op.source_encoding_dims)
        shape = [emitter.index(size) if size >= 0 else next(dims) for size in encoding.get_shape()]
        types = [emitter.element_type(encoding.element_type), emitter.encoding_type()]
        range = [source, emitter.index(0), op.source_size]
        self._replace(op, emitter.value(hal_inline.BufferViewCreateOp(range, types, shape)))

    # Memory.

    def _allocated(self, size: SSAValue, type: Attribute) -> SSAValue:
        made = hal_inline.BufferAllocateOp(self.emitter.index(_ALIGNMENT), size)
        self.emitter.add(made)
        self._storages[made.result] = made.storage
        return made.storage if isinstance(convert_type(type), util.BufferType) else made.result

    def _copied(self, source: SSAValue, offset: SSAValue, length: SSAValue) -> hal_inline.BufferAllocateInitializedOp:
        made = hal_inline.BufferAllocateInitializedOp(self.emitter.index(_ALIGNMENT), source, offset, length)
        self.emitter.add(made)
        return made

    def _alloc(self, op: Operation) -> None:
        assert isinstance(op, stream.ResourceAllocOp)
        self._replace(op, self._allocated(op.storage_size, op.result.type))

    def _alloca(self, op: Operation) -> None:
        assert isinstance(op, stream.ResourceAllocaOp)
        self._replace(op, self._allocated(op.storage_size, op.result.type), self._now())

    def _try_map(self, op: Operation) -> None:
        """The bytes of the module are the program's as they are."""
        assert isinstance(op, stream.ResourceTryMapOp)
        mapped: SSAValue = op.source
        if constant_int(op.source_offset) != 0:
            mapped = self._copied(op.source, op.source_offset, op.result_size).storage
        self._replace(op, self.emitter.constant(BoolAttr.from_bool(True)), mapped)

    def _file_constant(self, op: Operation) -> None:
        """A file in memory is that memory."""
        assert isinstance(op, stream.FileConstantOp)
        copied = self._copied(op.source, op.source_offset, op.source_length)
        self._replace(op, copied.storage)

    def _file_read(self, op: Operation) -> None:
        assert isinstance(op, stream.FileReadOp)
        emitter = self.emitter
        offset = emitter.value(IndexCastOp(op.source_offset, IndexType()))
        source = [op.source, emitter.value(util.BufferSizeOp(op.source)), offset]
        target = [self._storage(op.target), op.target_size, op.target_offset]
        emitter.add(util.BufferCopyOp(*source, *target, op.length))
        self._reached(op)

    def _load(self, op: Operation) -> None:
        assert isinstance(op, stream.ResourceLoadOp)
        length = self.emitter.index(_size_of(op.result.type))
        storage = self._storage(op.source)
        load = util.BufferLoadOp(storage, op.source_size, op.source_offset, length, op.result.type)
        self._replace(op, self.emitter.value(load))

    def _size(self, op: Operation) -> None:
        assert isinstance(op, stream.ResourceSizeOp)
        host = isinstance(op.resource.type, util.BufferType)
        length = util.BufferSizeOp(op.resource) if host else hal_inline.BufferLengthOp(op.resource)
        self._replace(op, self.emitter.value(length))

    def _subview(self, op: Operation) -> None:
        assert isinstance(op, stream.ResourceSubviewOp)
        if isinstance(op.source.type, util.BufferType):
            self._replace(op, self._copied(op.source, op.source_offset, op.result_size).storage)
            return
        subspan = hal_inline.BufferSubspanOp(op.source, op.source_offset, op.result_size)
        self._replace(op, self.emitter.value(subspan))

    def _storage(self, buffer: SSAValue) -> SSAValue:
        """The bytes of a buffer, asked for once a block: a buffer that nothing works on may be null."""
        made = buffer if isinstance(buffer.type, util.BufferType) else self._storages.get(buffer)
        if made is not None:
            return made
        anchor = self.emitter.anchor
        assert anchor is not None
        key = anchor.parent, buffer
        found = self._asked.get(key)
        if found is None:
            found = self._asked[key] = self.emitter.value(hal_inline.BufferStorageOp(buffer))
        return found

    # Time.

    def _now(self) -> SSAValue:
        return self.emitter.constant(IntegerAttr(0, i64))

    def _reached(self, op: Operation) -> None:
        self._replace(op, *[self._now()] * len(op.results))

    def _await(self, op: Operation) -> None:
        assert isinstance(op, stream.TimepointAwaitOp)
        self._replace(op, *op.resource_operands)

    # Commands.

    def _execute(self, op: Operation) -> None:
        assert isinstance(op, stream.CmdExecuteOp)
        block = op.body.block
        for argument, resource in zip(list(block.args), op.resource_operands, strict=True):
            argument.replace_all_uses_with(resource)
        for command in commands_of(block.ops):
            self._command(command)
        self.emitter.source = None
        for inside in reversed(list(block.ops)):
            block.erase_op(inside, safe_erase=False)
        self._reached(op)

    def _command(self, command: Operation) -> None:
        emitter, storage = self.emitter, self._storage
        emitter.source = command
        if isinstance(command, stream.CmdConcurrentOp | stream.CmdSerialOp):
            for nested in commands_of(command.body.block.ops):
                self._command(nested)
        elif isinstance(command, stream.CmdFillOp):
            pattern = fill_pattern(emitter, command.value)
            range = [command.target_size, command.target_offset, command.target_length]
            emitter.add(util.BufferFillOp(pattern, storage(command.target), *range))
        elif isinstance(command, stream.CmdCopyOp):
            source = [storage(command.source), command.source_size, command.source_offset]
            target = [storage(command.target), command.target_size, command.target_offset]
            emitter.add(util.BufferCopyOp(*source, *target, command.length))
        elif isinstance(command, stream.CmdDispatchOp):
            ranges = zip(command.resources, command.resource_offsets, command.resource_lengths, strict=True)
            bindings = [(storage(resource), offset, length) for resource, offset, length in ranges]
            self.kernels.dispatch(emitter, command, bindings)
        else:
            raise CompileError(Diagnostic(f"{command.name} has no lowering to hal_inline", location_of(command)))


def _size_of(type: Attribute) -> int:
    width = getattr(type, "bitwidth", 64)
    return max((width + 7) // 8, 1)
