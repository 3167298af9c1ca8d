"""Commands of an execution as `hal.command_buffer` operations.

The same code records into a reusable command buffer (buffers are slots of a binding table, values are constants) and
into one for a single submission (buffers are themselves). Every top-level command is followed by a barrier, except the
last; commands of a `stream.cmd.concurrent` have none between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, SymbolRefAttr
from xdsl.ir import Operation, SSAValue

from tiree.dialects import hal, stream
from tiree.dialects.arith import constant_of
from tiree.hal.executables import Executables
from tiree.hal.select_variant import Number, select_counts
from tiree.hal.targets import symbol_path
from tiree.hal.values import Emitter
from tiree.support.errors import CompileError
from tiree.support.typed import operand_groups


class Recorder:
    """Records the commands of one execution.

    `buffers` gives, for each block argument of the execution, a buffer or an index (a slot). `outer` translates values
    from outside the execution. `executable` returns the loaded executable of a name, `function` one of its functions,
    `variant` which of its variants that is.
    """

    def __init__(
        self,
        emitter: Emitter,
        executables: Executables,
        executable: Callable[[str], SSAValue],
        function: Callable[[SSAValue, SymbolRefAttr], SSAValue],
        buffers: Mapping[SSAValue, SSAValue],
        outer: Callable[[SSAValue], SSAValue],
        variant: Number,
    ) -> None:
        self.emitter = emitter
        self.executables = executables
        self.executable = executable
        self.function = function
        self.buffers = buffers
        self.outer = outer
        self.variant = variant

    def record(self, commands: Sequence[Operation], command_buffer: SSAValue) -> None:
        for number, command in enumerate(commands):
            if number:
                self.emitter.add(hal.CommandBufferExecutionBarrierOp(command_buffer))
            if isinstance(command, stream.CmdConcurrentOp):
                for nested in commands_of(command.body.block.ops):
                    self._record(nested, command_buffer)
            else:
                self._record(command, command_buffer)
        self.emitter.source = None
        self.emitter.add(hal.CommandBufferFinalizeOp(command_buffer))

    def _record(self, command: Operation, command_buffer: SSAValue) -> None:
        outer = self.outer
        self.emitter.source = command
        if isinstance(command, stream.CmdFillOp):
            pattern = fill_pattern(self.emitter, outer(command.value))
            self.emitter.add(
                hal.CommandBufferFillBufferOp(
                    command_buffer,
                    self.buffers[command.target],
                    outer(command.target_offset),
                    outer(command.target_length),
                    pattern,
                )
            )
        elif isinstance(command, stream.CmdCopyOp):
            self.emitter.add(
                hal.CommandBufferCopyBufferOp(
                    command_buffer,
                    self.buffers[command.source],
                    outer(command.source_offset),
                    self.buffers[command.target],
                    outer(command.target_offset),
                    outer(command.length),
                )
            )
        elif isinstance(command, stream.CmdDispatchOp):
            self._dispatch(command, command_buffer)
        else:
            raise CompileError(f"{command.name} cannot be recorded into a command buffer")

    def _dispatch(self, command: stream.CmdDispatchOp, command_buffer: SSAValue) -> None:
        outer, emitter = self.outer, self.emitter
        entry_point = command.entry_point
        name = symbol_path(entry_point)[0]
        executable = self.executable(name)
        function = self.function(executable, entry_point)
        workload, uniform, resources, _, offsets, lengths = operand_groups(command)
        workload = [outer(value) for value in workload]
        counts = self._counts(command, name, workload)
        emitter.add(
            hal.CommandBufferDispatchOp(
                command_buffer,
                executable,
                function,
                counts,
                [outer(value) for value in uniform],
                [self.buffers[resource] for resource in resources],
                [outer(value) for value in offsets],
                [outer(value) for value in lengths],
            )
        )

    def _counts(self, command: stream.CmdDispatchOp, name: str, workload: Sequence[SSAValue]) -> list[SSAValue]:
        """Workgroups in x, y and z."""
        number = self.variant(name)
        if number is None:
            return self._counts_of(command.entry_point, workload)
        variants = self.executables.variants(name, self.emitter.device_name)
        path = symbol_path(command.entry_point)
        points = [SymbolRefAttr(name, [variant.sym_name.data, path[-1]]) for variant in variants]
        return select_counts(self.emitter, number, [self._counts_of(point, workload) for point in points])

    def _counts_of(self, entry_point: SymbolRefAttr, workload: Sequence[SSAValue]) -> list[SSAValue]:
        emitter = self.emitter
        known = self.executables.constant_counts(entry_point)
        if known is not None:
            values = [emitter.constant(constant) for constant in known.constants]
            return [values[pick] for pick in known.picks]
        ops, counts = self.executables.workgroup_count(entry_point, emitter.device(), workload)
        for op in ops:
            constant = constant_of(op.results[0])
            if constant is None:
                emitter.add(op)
                continue
            counts = [emitter.constant(constant) if value is op.results[0] else value for value in counts]
            op.results[0].replace_all_uses_with(emitter.constant(constant))
        return counts


def commands_of(ops: Iterable[Operation]) -> list[Operation]:
    """The commands among the operations of an execution; flushes and the like mean nothing on host-coherent memory."""
    return [op for op in ops if not isinstance(op, stream.YieldOp | stream.CmdFlushOp | stream.CmdInvalidateOp)]


def fill_pattern(emitter: Emitter, value: SSAValue) -> SSAValue:
    """A fill value as an integer of its width."""
    if isinstance(value.type, AnyFloat):
        return emitter.value(arith.BitcastOp(value, IntegerType(value.type.bitwidth)))
    return value
