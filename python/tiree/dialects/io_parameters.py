"""The `io_parameters` dialect: buffers with the parameters of a scope, asked of the runtime by key."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, i32, i64
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    var_operand_def,
    var_result_def,
)

from tiree.dialects.hal_attrs import BufferType, DeviceType, FenceType
from tiree.dialects.util_types import BufferType as HostBufferType


@irdl_op_definition
class LoadOp(IRDLOperation):
    """`io_parameters.load`: a buffer for each key. They may be filled only when the fence is signalled."""

    name = "io_parameters.load"
    device = operand_def(DeviceType)
    queue_affinity = operand_def(i64)
    wait_fence = operand_def(FenceType)
    signal_fence = operand_def(FenceType)
    source_scope = opt_operand_def(HostBufferType)
    source_keys = var_operand_def(HostBufferType)
    source_offsets = var_operand_def(i64)
    memory_type = operand_def(i32)
    buffer_usage = operand_def(i32)
    lengths = var_operand_def(IndexType)
    results_ = var_result_def(BufferType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        where: Sequence[SSAValue],
        scope: SSAValue | None,
        keys: Sequence[SSAValue],
        offsets: Sequence[SSAValue],
        memory: Sequence[SSAValue],
        lengths: Sequence[SSAValue],
    ) -> None:
        """`where`: device, queue, wait fence, signal fence. `memory`: its type and usage."""
        super().__init__(
            operands=[*where, scope, keys, offsets, *memory, lengths], result_types=[[BufferType()] * len(keys)]
        )


IO_PARAMETERS_OPS: list[type[Operation]] = [LoadOp]
IOParameters = Dialect("io_parameters", IO_PARAMETERS_OPS, [])
