"""The `hal_inline` dialect: buffers and views of programs that have no devices.

Memory is there at once, as a HAL buffer for the caller and as a `!util.buffer` for the program. Operand, result and
property names and order are IREE 3.13's. Sizes and offsets are `index` in bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr, StringAttr, i1, i32
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from tiree.dialects.hal_attrs import BufferType, BufferViewType
from tiree.dialects.util_types import BufferType as HostBufferType

# Buffers.


@irdl_op_definition
class BufferAllocateOp(IRDLOperation):
    """`hal_inline.buffer.allocate`: memory, as a buffer and as bytes."""

    name = "hal_inline.buffer.allocate"
    minimum_alignment = operand_def(IndexType)
    allocation_size = operand_def(IndexType)
    result = result_def(BufferType)
    storage = result_def(HostBufferType)

    def __init__(self, alignment: SSAValue, size: SSAValue) -> None:
        super().__init__(operands=[alignment, size], result_types=[BufferType(), HostBufferType()])


@irdl_op_definition
class BufferAllocateInitializedOp(IRDLOperation):
    """`hal_inline.buffer.allocate.initialized`: memory that holds a copy of host bytes."""

    name = "hal_inline.buffer.allocate.initialized"
    minimum_alignment = operand_def(IndexType)
    source = operand_def(HostBufferType)
    source_offset = operand_def(IndexType)
    source_length = operand_def(IndexType)
    result = result_def(BufferType)
    storage = result_def(HostBufferType)

    def __init__(self, alignment: SSAValue, source: SSAValue, offset: SSAValue, length: SSAValue) -> None:
        super().__init__(operands=[alignment, source, offset, length], result_types=[BufferType(), HostBufferType()])


@irdl_op_definition
class BufferWrapOp(IRDLOperation):
    """`hal_inline.buffer.wrap`: host bytes as a buffer, not copied."""

    name = "hal_inline.buffer.wrap"
    source = operand_def(HostBufferType)
    source_offset = operand_def(IndexType)
    source_length = operand_def(IndexType)
    result = result_def(BufferType)

    def __init__(self, source: SSAValue, offset: SSAValue, length: SSAValue) -> None:
        super().__init__(operands=[source, offset, length], result_types=[BufferType()])


@irdl_op_definition
class BufferSubspanOp(IRDLOperation):
    """`hal_inline.buffer.subspan`: a reference to a byte range."""

    name = "hal_inline.buffer.subspan"
    source_buffer = operand_def(BufferType)
    source_offset = operand_def(IndexType)
    length = operand_def(IndexType)
    result = result_def(BufferType)
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, offset: SSAValue, length: SSAValue) -> None:
        super().__init__(operands=[source, offset, length], result_types=[BufferType()])


@irdl_op_definition
class BufferLengthOp(IRDLOperation):
    """`hal_inline.buffer.length`: the size of a buffer."""

    name = "hal_inline.buffer.length"
    buffer = operand_def(BufferType)
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, buffer: SSAValue) -> None:
        super().__init__(operands=[buffer], result_types=[IndexType()])


@irdl_op_definition
class BufferStorageOp(IRDLOperation):
    """`hal_inline.buffer.storage`: the bytes of a buffer."""

    name = "hal_inline.buffer.storage"
    buffer = operand_def(BufferType)
    result = result_def(HostBufferType)
    traits = traits_def(Pure())

    def __init__(self, buffer: SSAValue) -> None:
        super().__init__(operands=[buffer], result_types=[HostBufferType()])


# Views.


@irdl_op_definition
class BufferViewCreateOp(IRDLOperation):
    """`hal_inline.buffer_view.create`: a view of a byte range of a buffer."""

    name = "hal_inline.buffer_view.create"
    source_buffer = operand_def(BufferType)
    source_offset = operand_def(IndexType)
    source_length = operand_def(IndexType)
    element_type = operand_def(i32)
    encoding_type = operand_def(i32)
    shape = var_operand_def(IndexType)
    result = result_def(BufferViewType)
    traits = traits_def(Pure())

    def __init__(self, range: Sequence[SSAValue], types: Sequence[SSAValue], shape: Sequence[SSAValue]) -> None:
        """`range`: buffer, offset, length. `types`: of the elements, and their encoding."""
        super().__init__(operands=[*range, *types, list(shape)], result_types=[BufferViewType()])


@irdl_op_definition
class BufferViewAssertOp(IRDLOperation):
    """`hal_inline.buffer_view.assert`: fails unless the view has that element type, encoding and shape."""

    name = "hal_inline.buffer_view.assert"
    buffer_view = operand_def(BufferViewType)
    element_type = operand_def(i32)
    encoding_type = operand_def(i32)
    shape = var_operand_def(IndexType)
    message = prop_def(StringAttr)


@irdl_op_definition
class BufferViewBufferOp(IRDLOperation):
    """`hal_inline.buffer_view.buffer`: the memory of a view."""

    name = "hal_inline.buffer_view.buffer"
    buffer_view = operand_def(BufferViewType)
    result = result_def(BufferType)
    traits = traits_def(Pure())

    def __init__(self, view: SSAValue) -> None:
        super().__init__(operands=[view], result_types=[BufferType()])


class _BufferViewQueryOp(IRDLOperation):
    buffer_view = operand_def(BufferViewType)
    traits = traits_def(Pure())


@irdl_op_definition
class BufferViewElementTypeOp(_BufferViewQueryOp):
    """`hal_inline.buffer_view.element_type`."""

    name = "hal_inline.buffer_view.element_type"
    result = result_def(i32)


@irdl_op_definition
class BufferViewEncodingTypeOp(_BufferViewQueryOp):
    """`hal_inline.buffer_view.encoding_type`."""

    name = "hal_inline.buffer_view.encoding_type"
    result = result_def(i32)


@irdl_op_definition
class BufferViewRankOp(_BufferViewQueryOp):
    """`hal_inline.buffer_view.rank`."""

    name = "hal_inline.buffer_view.rank"
    result = result_def(IndexType)


@irdl_op_definition
class BufferViewDimOp(_BufferViewQueryOp):
    """`hal_inline.buffer_view.dim`."""

    name = "hal_inline.buffer_view.dim"
    index = prop_def(IntegerAttr)
    result = result_def(IndexType)


@irdl_op_definition
class BufferViewTraceOp(IRDLOperation):
    """`hal_inline.buffer_view.trace`: prints views."""

    name = "hal_inline.buffer_view.trace"
    operands_ = var_operand_def(BufferViewType)
    key = prop_def(StringAttr)


@irdl_op_definition
class DeviceQueryOp(IRDLOperation):
    """`hal_inline.device.query`: what there is in the place of a device is asked for a number."""

    name = "hal_inline.device.query"
    category = prop_def(StringAttr)
    key = prop_def(StringAttr)
    default_value = opt_prop_def(Attribute)
    ok = result_def(i1)
    value = result_def()

    def __init__(self, category: str, key: str) -> None:
        super().__init__(
            properties={
                "category": StringAttr(category),
                "key": StringAttr(key),
                "default_value": BoolAttr.from_bool(False),
            },
            result_types=[i1, i1],
        )


HAL_INLINE_OPS: list[type[Operation]] = [
    BufferAllocateOp,
    BufferAllocateInitializedOp,
    BufferWrapOp,
    BufferSubspanOp,
    BufferLengthOp,
    BufferStorageOp,
    BufferViewCreateOp,
    BufferViewAssertOp,
    BufferViewBufferOp,
    BufferViewElementTypeOp,
    BufferViewEncodingTypeOp,
    BufferViewRankOp,
    BufferViewDimOp,
    BufferViewTraceOp,
    DeviceQueryOp,
]
HalInline = Dialect("hal_inline", HAL_INLINE_OPS, [])
