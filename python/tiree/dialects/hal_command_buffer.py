"""`hal.command_buffer.*`: recording of commands.

A buffer operand of a command is either a `!hal.buffer` or an `index`, the slot of the binding table that the execution
supplies. Operand, result and property names and order are IREE 3.13's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    var_operand_def,
)

from tiree.dialects.hal_attrs import (
    CommandBufferType,
    CommandCategory,
    DeviceType,
    ExecutableType,
    ExecutionStage,
    no_flags,
)
from tiree.dialects.iree_tensor_ext import segment_sizes
from tiree.support.creation import fill

ALL_COMPLETED = int(ExecutionStage.DISPATCH | ExecutionStage.TRANSFER | ExecutionStage.COMMAND_RETIRE)
"""Source stages of a barrier that orders everything recorded before it."""
ALL_ISSUED = int(ExecutionStage.COMMAND_ISSUE | ExecutionStage.DISPATCH | ExecutionStage.TRANSFER)
"""Target stages of a barrier that orders everything recorded after it."""


@irdl_op_definition
class CommandBufferCreateOp(IRDLOperation):
    """`hal.command_buffer.create`: begins recording; `modes` 0 makes a reusable one."""

    name = "hal.command_buffer.create"
    device = operand_def(DeviceType)
    queue_affinity = operand_def(i64)
    binding_capacity = opt_operand_def(IndexType)
    modes = prop_def(IntegerAttr)
    command_categories = prop_def(IntegerAttr)
    result = result_def(CommandBufferType)

    def __init__(
        self,
        device: SSAValue,
        affinity: SSAValue,
        binding_capacity: SSAValue | None,
        modes: int = 0,
        categories: int = CommandCategory.ANY,
    ) -> None:
        super().__init__(
            operands=[device, affinity, binding_capacity],
            properties={
                "modes": IntegerAttr(int(modes), i32),
                "command_categories": IntegerAttr(int(categories), i32),
            },
            result_types=[CommandBufferType()],
        )


@irdl_op_definition
class CommandBufferFinalizeOp(IRDLOperation):
    """`hal.command_buffer.finalize`: ends recording."""

    name = "hal.command_buffer.finalize"
    command_buffer = operand_def(CommandBufferType)

    def __init__(self, command_buffer: SSAValue) -> None:
        super().__init__(operands=[command_buffer])


@cache
def _full_barrier() -> dict[str, Attribute]:
    return {
        "source_stage_mask": IntegerAttr(ALL_COMPLETED, i32),
        "target_stage_mask": IntegerAttr(ALL_ISSUED, i32),
        "flags": no_flags(),
    }


@irdl_op_definition
class CommandBufferExecutionBarrierOp(IRDLOperation):
    """`hal.command_buffer.execution_barrier`: orders the commands before it against those after it."""

    name = "hal.command_buffer.execution_barrier"
    command_buffer = operand_def(CommandBufferType)
    source_stage_mask = prop_def(IntegerAttr)
    target_stage_mask = prop_def(IntegerAttr)
    flags = prop_def(IntegerAttr)

    def __init__(self, command_buffer: SSAValue) -> None:
        fill(self, [command_buffer], (), dict(_full_barrier()), {})


@irdl_op_definition
class CommandBufferBeginDebugGroupOp(IRDLOperation):
    """`hal.command_buffer.begin_debug_group`."""

    name = "hal.command_buffer.begin_debug_group"
    command_buffer = operand_def(CommandBufferType)
    label = prop_def(StringAttr)


@irdl_op_definition
class CommandBufferEndDebugGroupOp(IRDLOperation):
    """`hal.command_buffer.end_debug_group`."""

    name = "hal.command_buffer.end_debug_group"
    command_buffer = operand_def(CommandBufferType)


@irdl_op_definition
class CommandBufferFillBufferOp(IRDLOperation):
    """`hal.command_buffer.fill_buffer`: repeats an 8, 16 or 32-bit pattern."""

    name = "hal.command_buffer.fill_buffer"
    command_buffer = operand_def(CommandBufferType)
    target_buffer = operand_def()
    target_offset = operand_def(IndexType)
    length = operand_def(IndexType)
    pattern = operand_def()
    flags = prop_def(IntegerAttr)

    def __init__(
        self, command_buffer: SSAValue, target: SSAValue, offset: SSAValue, length: SSAValue, pattern: SSAValue
    ) -> None:
        super().__init__(operands=[command_buffer, target, offset, length, pattern], properties={"flags": no_flags()})


@irdl_op_definition
class CommandBufferUpdateBufferOp(IRDLOperation):
    """`hal.command_buffer.update_buffer`: host bytes, captured at record time (at most 64 KiB)."""

    name = "hal.command_buffer.update_buffer"
    command_buffer = operand_def(CommandBufferType)
    source_buffer = operand_def()
    source_size = operand_def(IndexType)
    source_offset = operand_def(IndexType)
    target_buffer = operand_def()
    target_offset = operand_def(IndexType)
    length = operand_def(IndexType)
    flags = prop_def(IntegerAttr)


@irdl_op_definition
class CommandBufferCopyBufferOp(IRDLOperation):
    """`hal.command_buffer.copy_buffer`."""

    name = "hal.command_buffer.copy_buffer"
    command_buffer = operand_def(CommandBufferType)
    source_buffer = operand_def()
    source_offset = operand_def(IndexType)
    target_buffer = operand_def()
    target_offset = operand_def(IndexType)
    length = operand_def(IndexType)
    flags = prop_def(IntegerAttr)

    def __init__(
        self,
        command_buffer: SSAValue,
        source: SSAValue,
        source_offset: SSAValue,
        target: SSAValue,
        target_offset: SSAValue,
        length: SSAValue,
    ) -> None:
        super().__init__(
            operands=[command_buffer, source, source_offset, target, target_offset, length],
            properties={"flags": no_flags()},
        )


@irdl_op_definition
class CommandBufferDispatchOp(IRDLOperation):
    """`hal.command_buffer.dispatch`: a grid of workgroups of one function."""

    name = "hal.command_buffer.dispatch"
    command_buffer = operand_def(CommandBufferType)
    executable = operand_def(ExecutableType)
    function_id = operand_def(i64)
    workgroup_x = operand_def(IndexType)
    workgroup_y = operand_def(IndexType)
    workgroup_z = operand_def(IndexType)
    constants = var_operand_def(i32)
    binding_buffers = var_operand_def()
    binding_offsets = var_operand_def(IndexType)
    binding_lengths = var_operand_def(IndexType)
    flags = prop_def(IntegerAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        command_buffer: SSAValue,
        executable: SSAValue,
        function_id: SSAValue,
        workgroups: Sequence[SSAValue],
        constants: Sequence[SSAValue],
        buffers: Sequence[SSAValue],
        offsets: Sequence[SSAValue],
        lengths: Sequence[SSAValue],
    ) -> None:
        groups = ([command_buffer], [executable], [function_id], *([w] for w in workgroups))
        groups = (*groups, constants, buffers, offsets, lengths)
        # Not through xDSL's checked constructor: models have thousands of dispatches.
        sizes = segment_sizes(*map(len, groups))
        properties: dict[str, Attribute] = {"operandSegmentSizes": sizes, "flags": no_flags()}
        fill(self, [value for group in groups for value in group], (), properties, {})


HAL_COMMAND_BUFFER_OPS: list[type[Operation]] = [
    CommandBufferCreateOp,
    CommandBufferFinalizeOp,
    CommandBufferExecutionBarrierOp,
    CommandBufferBeginDebugGroupOp,
    CommandBufferEndDebugGroupOp,
    CommandBufferFillBufferOp,
    CommandBufferUpdateBufferOp,
    CommandBufferCopyBufferOp,
    CommandBufferDispatchOp,
]
