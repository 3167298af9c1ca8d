"""`hal.*` operations of host code: tensors at the ABI, buffers, views and devices.

Operand, result and property names and order are IREE 3.13's. Sizes and offsets are `index` in bytes; an affinity is an
`i64` mask of queues (-1: any).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    SameVariadicOperandSize,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from tiree.dialects.hal_attrs import (
    AllocatorType,
    BufferType,
    BufferViewType,
    DeviceType,
    FenceType,
    FileType,
)
from tiree.support.creation import fill

# Tensors at the boundary of the program.


@irdl_op_definition
class TensorImportOp(IRDLOperation):
    """`hal.tensor.import`: a tensor from a buffer view, available once `wait_fence` (if any) is reached."""

    name = "hal.tensor.import"
    source = operand_def()
    target_dims = var_operand_def(IndexType)
    wait_fence = opt_operand_def(FenceType)
    storage = opt_operand_def()
    target_encoding = prop_def(Attribute)
    consume = opt_prop_def(UnitAttr)
    import_name = opt_prop_def(StringAttr, prop_name="name")
    affinity = opt_prop_def(Attribute)
    target = result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    def __init__(
        self, source: SSAValue, type: TensorType, label: str | None = None, wait_fence: SSAValue | None = None
    ) -> None:
        super().__init__(
            operands=[source, [], wait_fence, None],
            properties={"target_encoding": type, "name": StringAttr(label) if label else None},
            result_types=[type],
        )


@irdl_op_definition
class TensorExportOp(IRDLOperation):
    """`hal.tensor.export`: a buffer view of a tensor."""

    name = "hal.tensor.export"
    source = operand_def()
    source_dims = var_operand_def(IndexType)
    source_encoding = prop_def(Attribute)
    export_name = opt_prop_def(StringAttr, prop_name="name")
    affinity = opt_prop_def(Attribute)
    target = result_def()
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, label: str | None = None) -> None:
        super().__init__(
            operands=[source, []],
            properties={"source_encoding": source.type, "name": StringAttr(label) if label else None},
            result_types=[BufferViewType()],
        )


@irdl_op_definition
class TensorBarrierOp(IRDLOperation):
    """`hal.tensor.barrier`: signals a fence when all tensors are available; returns them."""

    name = "hal.tensor.barrier"
    sources = var_operand_def()
    signal_fence = operand_def(FenceType)
    results_ = var_result_def()

    def __init__(self, sources: Sequence[SSAValue], signal_fence: SSAValue) -> None:
        super().__init__(operands=[list(sources), signal_fence], result_types=[[source.type for source in sources]])


# Values of enumerations.


@irdl_op_definition
class ElementTypeOp(IRDLOperation):
    """`hal.element_type`: the runtime's number of an element type."""

    name = "hal.element_type"
    type = prop_def(Attribute)
    result = result_def(i32)
    traits = traits_def(Pure())

    def __init__(self, type: Attribute) -> None:
        super().__init__(properties={"type": type}, result_types=[i32])


@irdl_op_definition
class EncodingTypeOp(IRDLOperation):
    """`hal.encoding_type`: without `encoding`, dense row-major."""

    name = "hal.encoding_type"
    encoding = opt_prop_def(Attribute)
    result = result_def(i32)
    traits = traits_def(Pure())

    def __init__(self) -> None:
        super().__init__(result_types=[i32])


@irdl_op_definition
class MemoryTypeOp(IRDLOperation):
    """`hal.memory_type`: a `MemoryType` as a value."""

    name = "hal.memory_type"
    type = prop_def(IntegerAttr)
    result = result_def(i32)
    traits = traits_def(Pure())

    def __init__(self, type: int) -> None:
        super().__init__(properties={"type": IntegerAttr(int(type), i32)}, result_types=[i32])


@irdl_op_definition
class BufferUsageOp(IRDLOperation):
    """`hal.buffer_usage`: a `BufferUsage` as a value."""

    name = "hal.buffer_usage"
    usage = prop_def(IntegerAttr)
    result = result_def(i32)
    traits = traits_def(Pure())

    def __init__(self, usage: int) -> None:
        super().__init__(properties={"usage": IntegerAttr(int(usage), i32)}, result_types=[i32])


# Buffer views.


@irdl_op_definition
class BufferViewAssertOp(IRDLOperation):
    """`hal.buffer_view.assert`: fails unless the view has that element type, encoding and shape."""

    name = "hal.buffer_view.assert"
    buffer_view = operand_def(BufferViewType)
    element_type = operand_def(i32)
    encoding_type = operand_def(i32)
    shape = var_operand_def(IndexType)
    message = prop_def(StringAttr)

    def __init__(
        self,
        view: SSAValue,
        message: str,
        element_type: SSAValue,
        encoding_type: SSAValue,
        shape: Sequence[SSAValue],
    ) -> None:
        fill(self, [view, element_type, encoding_type, *shape], (), {"message": StringAttr(message)}, {})


@irdl_op_definition
class BufferViewBufferOp(IRDLOperation):
    """`hal.buffer_view.buffer`: the memory of a view."""

    name = "hal.buffer_view.buffer"
    buffer_view = operand_def(BufferViewType)
    result = result_def(BufferType)
    traits = traits_def(Pure())

    def __init__(self, view: SSAValue) -> None:
        fill(self, [view], [BufferType()], {}, {})


@irdl_op_definition
class BufferViewCreateOp(IRDLOperation):
    """`hal.buffer_view.create`: a view of a byte range of a buffer."""

    name = "hal.buffer_view.create"
    source_buffer = operand_def(BufferType)
    source_offset = operand_def(IndexType)
    source_length = operand_def(IndexType)
    element_type = operand_def(i32)
    encoding_type = operand_def(i32)
    shape = var_operand_def(IndexType)
    result = result_def(BufferViewType)
    traits = traits_def(Pure())

    def __init__(
        self,
        buffer: SSAValue,
        offset: SSAValue,
        length: SSAValue,
        element_type: SSAValue,
        encoding_type: SSAValue,
        shape: Sequence[SSAValue],
    ) -> None:
        super().__init__(
            operands=[buffer, offset, length, element_type, encoding_type, list(shape)],
            result_types=[BufferViewType()],
        )


class _BufferViewQueryOp(IRDLOperation):
    buffer_view = operand_def(BufferViewType)
    traits = traits_def(Pure())


@irdl_op_definition
class BufferViewElementTypeOp(_BufferViewQueryOp):
    """`hal.buffer_view.element_type`."""

    name = "hal.buffer_view.element_type"
    result = result_def(i32)


@irdl_op_definition
class BufferViewEncodingTypeOp(_BufferViewQueryOp):
    """`hal.buffer_view.encoding_type`."""

    name = "hal.buffer_view.encoding_type"
    result = result_def(i32)


@irdl_op_definition
class BufferViewRankOp(_BufferViewQueryOp):
    """`hal.buffer_view.rank`."""

    name = "hal.buffer_view.rank"
    result = result_def(IndexType)


@irdl_op_definition
class BufferViewDimOp(_BufferViewQueryOp):
    """`hal.buffer_view.dim`."""

    name = "hal.buffer_view.dim"
    index = prop_def(IntegerAttr)
    result = result_def(IndexType)


# Buffers and allocators.


@irdl_op_definition
class BufferAssertOp(IRDLOperation):
    """`hal.buffer.assert`: fails unless the buffer is long enough and of compatible memory and usage."""

    name = "hal.buffer.assert"
    buffer = operand_def(BufferType)
    allocator = operand_def(AllocatorType)
    minimum_length = operand_def(IndexType)
    message = prop_def(StringAttr)
    memory_types = prop_def(IntegerAttr)
    buffer_usage = prop_def(IntegerAttr)


@irdl_op_definition
class BufferSubspanOp(IRDLOperation):
    """`hal.buffer.subspan`: a reference to a byte range."""

    name = "hal.buffer.subspan"
    source_buffer = operand_def(BufferType)
    source_offset = operand_def(IndexType)
    length = operand_def(IndexType)
    result = result_def(BufferType)
    traits = traits_def(Pure())

    def __init__(self, buffer: SSAValue, offset: SSAValue, length: SSAValue) -> None:
        super().__init__(operands=[buffer, offset, length], result_types=[BufferType()])


@irdl_op_definition
class BufferLengthOp(IRDLOperation):
    """`hal.buffer.length`: bytes."""

    name = "hal.buffer.length"
    buffer = operand_def(BufferType)
    result = result_def(IndexType)
    traits = traits_def(Pure())


@irdl_op_definition
class BufferLoadOp(IRDLOperation):
    """`hal.buffer.load`: one scalar read by the host."""

    name = "hal.buffer.load"
    source_buffer = operand_def(BufferType)
    source_offset = operand_def(IndexType)
    result = result_def()

    def __init__(self, buffer: SSAValue, offset: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[buffer, offset], result_types=[type])


@irdl_op_definition
class BufferStoreOp(IRDLOperation):
    """`hal.buffer.store`: one scalar written by the host."""

    name = "hal.buffer.store"
    value = operand_def()
    target_buffer = operand_def(BufferType)
    target_offset = operand_def(IndexType)


@irdl_op_definition
class AllocatorAllocateOp(IRDLOperation):
    """`hal.allocator.allocate`: memory, at once."""

    name = "hal.allocator.allocate"
    allocator = operand_def(AllocatorType)
    queue_affinity = operand_def(i64)
    memory_types = operand_def(i32)
    buffer_usage = operand_def(i32)
    result_size = operand_def(IndexType)
    result = result_def(BufferType)


@irdl_op_definition
class AllocatorImportOp(IRDLOperation):
    """`hal.allocator.import`: tries to use host memory as a device buffer; `did_import` says whether it could."""

    name = "hal.allocator.import"
    allocator = operand_def(AllocatorType)
    queue_affinity = operand_def(i64)
    memory_types = operand_def(i32)
    buffer_usage = operand_def(i32)
    source = operand_def()
    offset = operand_def(IndexType)
    length = operand_def(IndexType)
    did_import = result_def(i1)
    result = result_def(BufferType)


@irdl_op_definition
class AllocatorSelectOp(IRDLOperation):
    """`hal.allocator.select`: the device, with its queues, whose memory serves all of the devices."""

    name = "hal.allocator.select"
    devices = var_operand_def(DeviceType)
    queue_affinities = var_operand_def(i64)
    memory_types = operand_def(i32)
    buffer_usage = operand_def(i32)
    selected_device = result_def(DeviceType)
    selected_queue_affinity = result_def(i64)
    irdl_options = (SameVariadicOperandSize(),)
    traits = traits_def(Pure())


@irdl_op_definition
class FileFromMemoryOp(IRDLOperation):
    """`hal.ex.file.from_memory`: host memory as a file that queues can read."""

    name = "hal.ex.file.from_memory"
    device = operand_def(DeviceType)
    queue_affinity = operand_def(i64)
    buffer = operand_def()
    offset = operand_def(IndexType)
    length = operand_def(IndexType)
    flags = operand_def(i32)
    access = prop_def(IntegerAttr)
    result = result_def(FileType)


# Devices.


@irdl_op_definition
class DevicesCountOp(IRDLOperation):
    """`hal.devices.count`."""

    name = "hal.devices.count"
    result = result_def(IndexType)
    traits = traits_def(Pure())


@irdl_op_definition
class DevicesGetOp(IRDLOperation):
    """`hal.devices.get`: null when out of range."""

    name = "hal.devices.get"
    index = operand_def(IndexType)
    result = result_def(DeviceType)
    traits = traits_def(Pure())

    def __init__(self, index: SSAValue) -> None:
        super().__init__(operands=[index], result_types=[DeviceType()])


@irdl_op_definition
class DeviceAllocatorOp(IRDLOperation):
    """`hal.device.allocator`."""

    name = "hal.device.allocator"
    device = operand_def(DeviceType)
    result = result_def(AllocatorType)
    traits = traits_def(Pure())

    def __init__(self, device: SSAValue) -> None:
        super().__init__(operands=[device], result_types=[AllocatorType()])


@irdl_op_definition
class DeviceQueryOp(IRDLOperation):
    """`hal.device.query`: a property of the device, with a default when it is unknown."""

    name = "hal.device.query"
    device = operand_def(DeviceType)
    category = prop_def(StringAttr)
    key = prop_def(StringAttr)
    default_value = opt_prop_def(Attribute)
    ok = result_def(i1)
    value = result_def()
    traits = traits_def(Pure())

    def __init__(
        self, device: SSAValue, category: str, key: str, type: Attribute, default: Attribute | None = None
    ) -> None:
        super().__init__(
            operands=[device],
            properties={"category": StringAttr(category), "key": StringAttr(key), "default_value": default},
            result_types=[i1, type],
        )


HAL_HOST_OPS: list[type[Operation]] = [
    TensorImportOp,
    TensorExportOp,
    TensorBarrierOp,
    ElementTypeOp,
    EncodingTypeOp,
    MemoryTypeOp,
    BufferUsageOp,
    BufferViewAssertOp,
    BufferViewBufferOp,
    BufferViewCreateOp,
    BufferViewElementTypeOp,
    BufferViewEncodingTypeOp,
    BufferViewRankOp,
    BufferViewDimOp,
    BufferAssertOp,
    BufferSubspanOp,
    BufferLengthOp,
    BufferLoadOp,
    BufferStoreOp,
    AllocatorAllocateOp,
    AllocatorImportOp,
    AllocatorSelectOp,
    FileFromMemoryOp,
    DevicesCountOp,
    DevicesGetOp,
    DeviceAllocatorOp,
    DeviceQueryOp,
]
