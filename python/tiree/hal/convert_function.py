"""Host functions of the `stream` phase as `hal` operations.

Resources become buffers, timepoints fences. Each operation has a method; values that operations share (device, flags,
types) are defined once at the top of the function.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import FunctionType, IndexType, IntegerAttr, SymbolRefAttr, i1, i32
from xdsl.ir import Attribute, Operation, Region, SSAValue

from tiree.dialects import hal, stream, util
from tiree.dialects.arith import constant_of
from tiree.dialects.hal import BufferUsage, CommandBufferMode, MemoryType
from tiree.hal.executables import Executables
from tiree.hal.initialization import Initialization
from tiree.hal.parameters import parameter_load
from tiree.hal.recording import Recorder, commands_of, fill_pattern
from tiree.hal.regions import convert_arguments, erase_unused, replace, retype
from tiree.hal.values import Emitter
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import is_tensor_type

_STAGING_MEMORY = MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE
_STAGING_USAGE = BufferUsage.DEFAULT | BufferUsage.MAPPING
_CONSTANT_USAGE = BufferUsage.DEFAULT | BufferUsage.SHARING_IMMUTABLE
_ERASABLE = frozenset(
    {"arith.constant", "util.global.load", "util.null", "hal.element_type", "hal.encoding_type", "hal.memory_type"}
)


def convert_type(type: Attribute) -> Attribute:
    """The `hal` type of a `stream` type; other types stay."""
    if isinstance(type, stream.ResourceType):
        return hal.BufferType()
    if isinstance(type, stream.TimepointType):
        return hal.FenceType()
    if isinstance(type, stream.FileType):
        return hal.FileType()
    return type


def convert_signature(type: FunctionType) -> FunctionType:
    return FunctionType.from_lists(
        [convert_type(t) for t in type.inputs.data], [convert_type(t) for t in type.outputs.data]
    )


class FunctionConverter:
    """Converts one function or initializer in place."""

    def __init__(
        self, name: str, region: Region, executables: Executables, initialization: Initialization, memoize: bool
    ) -> None:
        self.name = name
        self.region = region
        self.executables = executables
        self.initialization = initialization
        self.memoize = memoize
        self.emitter = Emitter(region.blocks[0], initialization.default)
        self.memoized = 0
        self.handlers: dict[str, Callable[[Operation], None]] = {
            "stream.tensor.import": self._tensor_import,
            "stream.tensor.export": self._tensor_export,
            "stream.resource.alloca": self._alloca,
            "stream.resource.dealloca": self._dealloca,
            "stream.resource.alloc": self._alloc,
            "stream.resource.load": self._load,
            "stream.resource.size": self._size,
            "stream.resource.subview": self._subview,
            "stream.resource.try_map": self._try_map,
            "stream.file.constant": self._file_constant,
            "stream.file.read": self._file_read,
            "stream.cmd.parameter.load": self._parameter_load,
            "stream.timepoint.immediate": self._immediate,
            "stream.timepoint.import": self._timepoint_import,
            "stream.timepoint.join": self._join,
            "stream.timepoint.await": self._await,
            "stream.timepoint.chain_external": self._chain_external,
            "stream.cmd.execute": self._execute,
            "util.global.load": self._global_load,
            "util.call": self._retype,
            "arith.select": self._retype,
            "util.null": self._retype,
            "util.optimization_barrier": self._retype,
        }

    def convert(self) -> None:
        convert_arguments(self.region, convert_type)
        for block in list(self.region.blocks):
            for op in list(block.ops):
                handler = self.handlers.get(op.name)
                if op.parent is None:
                    continue  # absorbed by an operation before it
                if handler is not None:
                    self.emitter.anchor = op
                    self.emitter.go_to(op.properties.get("affinity"))
                    handler(op)
                elif op.name.startswith("stream."):
                    raise CompileError(Diagnostic(f"{op.name} has no lowering to hal", location_of(op)))
        erase_unused(self.region, _ERASABLE)

    def _replace(self, op: Operation, *values: SSAValue) -> None:
        replace(op, values)

    def _new_fence(self) -> SSAValue:
        return self.emitter.value(hal.FenceCreateOp(self.emitter.device()))

    def _wait(self, timepoint: SSAValue | None) -> SSAValue:
        return self.emitter.null_fence() if timepoint is None else timepoint

    def _signal(self, timepoint: SSAValue) -> SSAValue:
        """The fence to signal for a timepoint: none where nobody waits, the caller's where it is only chained."""
        uses = list(timepoint.uses)
        if not uses:
            return self.emitter.null_fence()
        if len(uses) == 1 and isinstance(uses[0].operation, stream.TimepointChainExternalOp):
            chain = uses[0].operation
            if len(chain.external_values) == 1:
                fence = chain.external_values[0]
                assert chain.parent is not None
                chain.parent.erase_op(chain)
                return fence
        return self._new_fence()

    # Tensors at the border.

    def _tensor_import(self, op: Operation) -> None:
        """The buffer of a view. Its length needs no check here: every use binds an explicit range."""
        assert isinstance(op, stream.TensorImportOp)
        if isinstance(op.source.type, hal.BufferType):
            self._replace(op, op.source)
        else:
            self._replace(op, self.emitter.value(hal.BufferViewBufferOp(op.source)))

    def _tensor_export(self, op: Operation) -> None:
        assert isinstance(op, stream.TensorExportOp)
        if isinstance(op.result.type, hal.BufferType):
            self._replace(op, op.source)
            return
        encoding = op.source_encoding
        assert is_tensor_type(encoding)
        dims = iter(op.source_encoding_dims)
        shape = [self.emitter.index(size) if size >= 0 else next(dims) for size in encoding.get_shape()]
        view = hal.BufferViewCreateOp(
            op.source,
            self.emitter.index(0),
            op.source_size,
            self.emitter.element_type(encoding.element_type),
            self.emitter.encoding_type(),
            shape,
        )
        self._replace(op, self.emitter.value(view))

    # Memory.

    def _memory(self, lifetime: str) -> tuple[SSAValue, SSAValue]:
        """Memory type and usage of a lifetime."""
        staging = lifetime == "staging"
        usage = _STAGING_USAGE if staging else _CONSTANT_USAGE if lifetime == "constant" else BufferUsage.DEFAULT
        memory = _STAGING_MEMORY if staging else MemoryType.DEVICE_LOCAL
        return self.emitter.memory_type(memory), self.emitter.buffer_usage(usage)

    def _alloca(self, op: Operation) -> None:
        assert isinstance(op, stream.ResourceAllocaOp)
        assert isinstance(op.result.type, stream.ResourceType)
        emitter = self.emitter
        memory, usage = self._memory(op.result.type.lifetime.data)
        wait = self._previous_in_join(op) or self._wait(op.await_timepoint)
        signal = self._signal(op.result_timepoint)
        alloca = hal.DeviceQueueAllocaOp(
            emitter.device(),
            emitter.queue(),
            wait,
            signal,
            emitter.i64(0),
            memory,
            usage,
            op.storage_size,
            result_types=[hal.BufferType()],
        )
        self._replace(op, emitter.value(alloca), signal)

    def _previous_in_join(self, op: stream.ResourceAllocaOp) -> SSAValue | None:
        """Allocations that are joined run one after the other: each waits for the one before, the join is the last.

        That saves the join. Returns the fence of the allocation before `op`, which is taken out of the join.
        """
        uses = list(op.result_timepoint.uses)
        previous = op.prev_op
        if len(uses) != 1 or not isinstance(uses[0].operation, stream.TimepointJoinOp):
            return None
        join = uses[0].operation
        if not isinstance(previous, hal.DeviceQueueAllocaOp) and not isinstance(previous, hal.FenceCreateOp):
            return None
        while isinstance(previous, hal.FenceCreateOp):
            previous = previous.prev_op
        if not isinstance(previous, hal.DeviceQueueAllocaOp):
            return None
        fence = previous.signal_fence
        if fence not in join.await_timepoints:
            return None
        join.operands = [t for t in join.await_timepoints if t is not fence]
        return fence

    def _dealloca(self, op: Operation) -> None:
        assert isinstance(op, stream.ResourceDeallocaOp)
        emitter = self.emitter
        signal = self._signal(op.result_timepoint)
        emitter.add(
            hal.DeviceQueueDeallocaOp(
                emitter.device(), emitter.queue(), self._wait(op.await_timepoint), signal, op.resource
            )
        )
        self._replace(op, signal)

    def _allocator(self) -> SSAValue:
        return self.emitter.value(hal.DeviceAllocatorOp(self.emitter.device()))

    def _alloc(self, op: Operation) -> None:
        assert isinstance(op, stream.ResourceAllocOp)
        assert isinstance(op.result.type, stream.ResourceType)
        memory, usage = self._memory(op.result.type.lifetime.data)
        allocate = hal.AllocatorAllocateOp(
            operands=[self._allocator(), self.emitter.queue(), memory, usage, op.storage_size],
            result_types=[hal.BufferType()],
        )
        self._replace(op, self.emitter.value(allocate))

    def _try_map(self, op: Operation) -> None:
        assert isinstance(op, stream.ResourceTryMapOp)
        memory, usage = self._memory("constant")
        imported = hal.AllocatorImportOp(
            operands=[
                self._allocator(),
                self.emitter.queue(),
                memory,
                usage,
                op.source,
                op.source_offset,
                op.result_size,
            ],
            result_types=[i1, hal.BufferType()],
        )
        self.emitter.add(imported)
        self._replace(op, imported.did_import, imported.result)

    def _file_constant(self, op: Operation) -> None:
        assert isinstance(op, stream.FileConstantOp)
        file = hal.FileFromMemoryOp(
            operands=[
                self.emitter.device(),
                self.emitter.queue(),
                op.source,
                op.source_offset,
                op.source_length,
                self.emitter.i32(0),
            ],
            properties={"access": IntegerAttr(int(hal.MemoryAccess.READ), i32)},
            result_types=[hal.FileType()],
        )
        self._replace(op, self.emitter.value(file))

    def _file_read(self, op: Operation) -> None:
        assert isinstance(op, stream.FileReadOp)
        emitter = self.emitter
        signal = self._signal(op.result_timepoint)
        emitter.add(
            hal.DeviceQueueReadOp(
                emitter.device(),
                emitter.queue(),
                self._wait(op.await_timepoint),
                signal,
                op.source,
                op.source_offset,
                op.target,
                op.target_offset,
                op.length,
            )
        )
        self._replace(op, signal)

    def _parameter_load(self, op: Operation) -> None:
        signal = self._signal(op.results[-1])
        loads = parameter_load(op, self.emitter, self._wait, signal, self._memory)
        self._replace(op, *loads, signal)

    def _load(self, op: Operation) -> None:
        assert isinstance(op, stream.ResourceLoadOp)
        self._replace(op, self.emitter.value(hal.BufferLoadOp(op.source, op.source_offset, op.result.type)))

    def _size(self, op: Operation) -> None:
        assert isinstance(op, stream.ResourceSizeOp)
        length = hal.BufferLengthOp(operands=[op.resource], result_types=[IndexType()])
        self._replace(op, self.emitter.value(length))

    def _subview(self, op: Operation) -> None:
        assert isinstance(op, stream.ResourceSubviewOp)
        subspan = hal.BufferSubspanOp(op.source, op.source_offset, op.result_size)
        self._replace(op, self.emitter.value(subspan))

    # Time.

    def _immediate(self, op: Operation) -> None:
        self._replace(op, self.emitter.null_fence())

    def _timepoint_import(self, op: Operation) -> None:
        assert isinstance(op, stream.TimepointImportOp)
        self._replace(op, op.arguments[0])

    def _join(self, op: Operation) -> None:
        assert isinstance(op, stream.TimepointJoinOp)
        fences = list(dict.fromkeys(op.await_timepoints))
        self._replace(op, fences[0] if len(fences) == 1 else self.emitter.value(hal.FenceJoinOp(fences)))

    def _await(self, op: Operation) -> None:
        assert isinstance(op, stream.TimepointAwaitOp)
        status = self.emitter.value(hal.FenceAwaitOp(self.emitter.i32(-1), [op.await_timepoint]))
        self.emitter.add(util.StatusCheckOkOp(status, "wait failed"))
        self._replace(op, *op.resource_operands)

    def _chain_external(self, op: Operation) -> None:
        assert isinstance(op, stream.TimepointChainExternalOp)
        emitter = self.emitter
        for fence in op.external_values:
            emitter.add(hal.DeviceQueueBarrierOp(emitter.device(), emitter.queue(), op.await_timepoint, fence))
        self._replace(op)

    # Other dialects' operations on converted types.

    def _global_load(self, op: Operation) -> None:
        assert isinstance(op, util.GlobalLoadOp)
        self._retype(op)

    def _retype(self, op: Operation) -> None:
        retype(op, self.emitter, convert_type)

    # Commands.

    def _execute(self, op: Operation) -> None:
        assert isinstance(op, stream.CmdExecuteOp)
        commands = commands_of(op.body.block.ops)
        wait = self._wait(op.await_timepoint)
        signal = self._signal(op.result_timepoint)
        arguments: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, op.resource_operands, strict=True))
        if len(commands) == 1 and isinstance(commands[0], stream.CmdFillOp | stream.CmdCopyOp):
            self._transfer(commands[0], arguments, wait, signal)
        elif self.memoize and _is_constant(op):
            self._execute_memoized(op, commands, wait, signal)
        else:
            self._execute_once(op, commands, wait, signal)
        self._replace(op, signal)

    def _transfer(
        self, command: Operation, arguments: dict[SSAValue, SSAValue], wait: SSAValue, signal: SSAValue
    ) -> None:
        """A single fill or copy needs no command buffer."""
        emitter = self.emitter
        common = (emitter.device(), emitter.queue(), wait, signal)
        if isinstance(command, stream.CmdFillOp):
            emitter.add(
                hal.DeviceQueueFillOp(
                    *common,
                    arguments[command.target],
                    command.target_offset,
                    command.target_length,
                    fill_pattern(emitter, command.value),
                )
            )
        elif isinstance(command, stream.CmdCopyOp):
            emitter.add(
                hal.DeviceQueueCopyOp(
                    *common,
                    arguments[command.source],
                    command.source_offset,
                    arguments[command.target],
                    command.target_offset,
                    command.length,
                )
            )

    def _execute_once(
        self, op: stream.CmdExecuteOp, commands: list[Operation], wait: SSAValue, signal: SSAValue
    ) -> None:
        """Records for this one submission."""
        emitter = self.emitter
        arguments: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, op.resource_operands, strict=True))
        create = hal.CommandBufferCreateOp(emitter.device(), emitter.queue(), None, modes=CommandBufferMode.ONE_SHOT)
        command_buffer = emitter.value(create)

        def executable(name: str) -> SSAValue:
            loaded = self.initialization.executable_global(name, op.affinity)
            return emitter.load_global(loaded, hal.ExecutableType())

        def function(loaded: SSAValue, entry_point: SymbolRefAttr) -> SSAValue:
            return self.initialization.function_id(emitter, loaded, entry_point)

        def variant(name: str) -> SSAValue | None:
            chosen = self.initialization.variant_global(name, op.affinity)
            return None if chosen is None else emitter.load_global(chosen, i32)

        Recorder(emitter, self.executables, executable, function, arguments, lambda value: value, variant).record(
            commands, command_buffer
        )
        emitter.add(hal.DeviceQueueExecuteOp(emitter.device(), emitter.queue(), wait, signal, command_buffer))

    def _execute_memoized(
        self, op: stream.CmdExecuteOp, commands: list[Operation], wait: SSAValue, signal: SSAValue
    ) -> None:
        """Records once, in the initializer; constants are bound there, everything else through the binding table."""
        start = self.initialization
        table: list[tuple[SSAValue, SSAValue]] = []
        bound: dict[SSAValue, SSAValue] = {}
        for argument, resource, size in zip(
            op.body.block.args, op.resource_operands, op.resource_operand_sizes, strict=True
        ):
            load = resource.owner
            if isinstance(load, util.GlobalLoadOp) and load.is_immutable is not None:
                bound[argument] = start.global_value(load.global_.string_value(), hal.BufferType())
            else:
                bound[argument] = start.emitter.index(len(table))
                table.append((resource, size))

        def constant(value: SSAValue) -> SSAValue:
            attr = constant_of(value)
            assert attr is not None
            return start.emitter.constant(attr)

        emitter = start.emitter
        emitter.go_to(op.affinity)
        capacity = emitter.index(len(table)) if table else None
        command_buffer = emitter.value(hal.CommandBufferCreateOp(emitter.device(), emitter.queue(), capacity))
        Recorder(emitter, self.executables, start.executable, start.function, bound, constant, start.variant).record(
            commands, command_buffer
        )
        name = start.add_global(f"__{self.name}_memoize_result_{self.memoized}", command_buffer)
        self.memoized += 1
        self._submit(name, table, wait, signal)

    def _submit(self, name: str, table: list[tuple[SSAValue, SSAValue]], wait: SSAValue, signal: SSAValue) -> None:
        emitter = self.emitter
        recorded = emitter.load_global(name, hal.CommandBufferType())
        common = (emitter.device(), emitter.queue(), wait, signal, recorded)
        if not table:
            emitter.add(hal.DeviceQueueExecuteOp(*common))
            return
        emitter.add(
            hal.DeviceQueueExecuteIndirectOp(
                *common,
                [resource for resource, _ in table],
                [emitter.index(0)] * len(table),
                [size for _, size in table],
            )
        )


def _is_constant(op: stream.CmdExecuteOp) -> bool:
    """Whether the commands depend on nothing but their resources."""
    inside = set(op.body.walk())
    return all(
        constant_of(value) is not None
        for command in inside
        for value in command.operands
        if isinstance(value.owner, Operation) and value.owner not in inside
    ) and all(
        value.owner is op.body.block
        for command in inside
        for value in command.operands
        if not isinstance(value.owner, Operation)
    )
