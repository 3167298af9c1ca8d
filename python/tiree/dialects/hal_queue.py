"""`hal.device.queue.*` and `hal.fence.*`: work submitted to a device, and its order.

Operand, result and property names and order are IREE 3.13's. A null fence to wait for is already reached; a null fence
to signal is ignored. An affinity is an `i64` mask of queues (-1: any).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    SameVariadicOperandSize,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
)

from tiree.dialects.hal_attrs import BufferType, CommandBufferType, DeviceType, FenceType, FileType, no_flags


class QueueOp(IRDLOperation):
    """Base of the operations that a queue runs after `wait_fence`, signalling `signal_fence` (null: none).

    The four common operands are repeated in each class: xDSL would put inherited ones last.
    """

    flags = prop_def(IntegerAttr)

    def __init__(
        self,
        device: SSAValue,
        affinity: SSAValue,
        wait: SSAValue,
        signal: SSAValue,
        *operands: SSAValue | Sequence[SSAValue],
        result_types: Sequence[Attribute] = (),
    ) -> None:
        super().__init__(
            operands=[device, affinity, wait, signal, *operands],
            properties={"flags": no_flags()},
            result_types=list(result_types),
        )


@irdl_op_definition
class DeviceQueueAllocaOp(QueueOp):
    """`hal.device.queue.alloca`: a buffer that may be used once `signal_fence` is reached."""

    name = "hal.device.queue.alloca"
    device = operand_def(DeviceType)
    queue_affinity = operand_def(i64)
    wait_fence = operand_def(FenceType)
    signal_fence = operand_def(FenceType)
    pool = operand_def(i64)
    memory_types = operand_def(i32)
    buffer_usage = operand_def(i32)
    result_size = operand_def(IndexType)
    result = result_def(BufferType)


@irdl_op_definition
class DeviceQueueDeallocaOp(QueueOp):
    """`hal.device.queue.dealloca`: returns the memory of a buffer."""

    name = "hal.device.queue.dealloca"
    device = operand_def(DeviceType)
    queue_affinity = operand_def(i64)
    wait_fence = operand_def(FenceType)
    signal_fence = operand_def(FenceType)
    buffer = operand_def(BufferType)


@irdl_op_definition
class DeviceQueueFillOp(QueueOp):
    """`hal.device.queue.fill`: repeats an 8, 16 or 32-bit pattern."""

    name = "hal.device.queue.fill"
    device = operand_def(DeviceType)
    queue_affinity = operand_def(i64)
    wait_fence = operand_def(FenceType)
    signal_fence = operand_def(FenceType)
    target_buffer = operand_def(BufferType)
    target_offset = operand_def(IndexType)
    length = operand_def(IndexType)
    pattern = operand_def()


@irdl_op_definition
class DeviceQueueUpdateOp(QueueOp):
    """`hal.device.queue.update`: host bytes, captured at the call."""

    name = "hal.device.queue.update"
    device = operand_def(DeviceType)
    queue_affinity = operand_def(i64)
    wait_fence = operand_def(FenceType)
    signal_fence = operand_def(FenceType)
    source_buffer = operand_def()
    source_offset = operand_def(IndexType)
    target_buffer = operand_def(BufferType)
    target_offset = operand_def(IndexType)
    length = operand_def(IndexType)


@irdl_op_definition
class DeviceQueueCopyOp(QueueOp):
    """`hal.device.queue.copy`."""

    name = "hal.device.queue.copy"
    device = operand_def(DeviceType)
    queue_affinity = operand_def(i64)
    wait_fence = operand_def(FenceType)
    signal_fence = operand_def(FenceType)
    source_buffer = operand_def(BufferType)
    source_offset = operand_def(IndexType)
    target_buffer = operand_def(BufferType)
    target_offset = operand_def(IndexType)
    length = operand_def(IndexType)


@irdl_op_definition
class DeviceQueueReadOp(QueueOp):
    """`hal.device.queue.read`: file to buffer."""

    name = "hal.device.queue.read"
    device = operand_def(DeviceType)
    queue_affinity = operand_def(i64)
    wait_fence = operand_def(FenceType)
    signal_fence = operand_def(FenceType)
    source_file = operand_def(FileType)
    source_offset = operand_def(i64)
    target_buffer = operand_def(BufferType)
    target_offset = operand_def(IndexType)
    length = operand_def(IndexType)


@irdl_op_definition
class DeviceQueueBarrierOp(QueueOp):
    """`hal.device.queue.barrier`: signals after the wait, nothing else."""

    name = "hal.device.queue.barrier"
    device = operand_def(DeviceType)
    queue_affinity = operand_def(i64)
    wait_fence = operand_def(FenceType)
    signal_fence = operand_def(FenceType)


@irdl_op_definition
class DeviceQueueExecuteOp(QueueOp):
    """`hal.device.queue.execute`: runs a command buffer that has no binding table."""

    name = "hal.device.queue.execute"
    device = operand_def(DeviceType)
    queue_affinity = operand_def(i64)
    wait_fence = operand_def(FenceType)
    signal_fence = operand_def(FenceType)
    command_buffer = operand_def(CommandBufferType)


@irdl_op_definition
class DeviceQueueExecuteIndirectOp(QueueOp):
    """`hal.device.queue.execute.indirect`: runs a command buffer with a binding table, slots in order."""

    name = "hal.device.queue.execute.indirect"
    device = operand_def(DeviceType)
    queue_affinity = operand_def(i64)
    wait_fence = operand_def(FenceType)
    signal_fence = operand_def(FenceType)
    command_buffer = operand_def(CommandBufferType)
    binding_buffers = var_operand_def(BufferType)
    binding_offsets = var_operand_def(IndexType)
    binding_lengths = var_operand_def(IndexType)
    irdl_options = (SameVariadicOperandSize(),)


@irdl_op_definition
class FenceCreateOp(IRDLOperation):
    """`hal.fence.create`: an unsignalled fence."""

    name = "hal.fence.create"
    device = operand_def(DeviceType)
    flags = prop_def(IntegerAttr)
    result = result_def(FenceType)

    def __init__(self, device: SSAValue) -> None:
        super().__init__(operands=[device], properties={"flags": no_flags()}, result_types=[FenceType()])


@irdl_op_definition
class FenceJoinOp(IRDLOperation):
    """`hal.fence.join`: reached when all are."""

    name = "hal.fence.join"
    fences = var_operand_def(FenceType)
    flags = prop_def(IntegerAttr)
    result = result_def(FenceType)

    def __init__(self, fences: Sequence[SSAValue]) -> None:
        super().__init__(operands=[list(fences)], properties={"flags": no_flags()}, result_types=[FenceType()])


@irdl_op_definition
class FenceQueryOp(IRDLOperation):
    """`hal.fence.query`: 0 when reached, a status code otherwise."""

    name = "hal.fence.query"
    fence = operand_def(FenceType)
    status = result_def(i32)


@irdl_op_definition
class FenceSignalOp(IRDLOperation):
    """`hal.fence.signal`."""

    name = "hal.fence.signal"
    fence = operand_def(FenceType)


@irdl_op_definition
class FenceFailOp(IRDLOperation):
    """`hal.fence.fail`."""

    name = "hal.fence.fail"
    fence = operand_def(FenceType)
    status = operand_def(i32)


@irdl_op_definition
class FenceAwaitOp(IRDLOperation):
    """`hal.fence.await`: yields until all fences are reached; `timeout_millis` -1 waits forever."""

    name = "hal.fence.await"
    timeout_millis = operand_def(i32)
    fences = var_operand_def(FenceType)
    flags = prop_def(IntegerAttr)
    status = result_def(i32)

    def __init__(self, timeout: SSAValue, fences: Sequence[SSAValue]) -> None:
        super().__init__(operands=[timeout, list(fences)], properties={"flags": no_flags()}, result_types=[i32])


HAL_QUEUE_OPS: list[type[Operation]] = [
    DeviceQueueAllocaOp,
    DeviceQueueDeallocaOp,
    DeviceQueueFillOp,
    DeviceQueueUpdateOp,
    DeviceQueueCopyOp,
    DeviceQueueReadOp,
    DeviceQueueBarrierOp,
    DeviceQueueExecuteOp,
    DeviceQueueExecuteIndirectOp,
    FenceCreateOp,
    FenceJoinOp,
    FenceQueryOp,
    FenceSignalOp,
    FenceFailOp,
    FenceAwaitOp,
]
