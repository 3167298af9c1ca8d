"""Operations of the `util` dialect on bytes of the host; `util.py` re-exports them.

Sizes and offsets are `index` in bytes; every operand buffer comes with its size. Names and order are IREE 3.13's.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tiree.dialects.util_types import BufferType


@irdl_op_definition
class BufferAllocOp(IRDLOperation):
    """`util.buffer.alloc`: new bytes."""

    name = "util.buffer.alloc"
    storage_size = operand_def(IndexType)
    alignment = opt_prop_def(IntegerAttr)
    uninitialized = opt_prop_def(UnitAttr)
    result = result_def(BufferType)

    def __init__(self, size: SSAValue, alignment: int) -> None:
        properties: dict[str, Attribute] = {
            "alignment": IntegerAttr(alignment, IndexType()),
            "uninitialized": UnitAttr(),
        }
        super().__init__(operands=[size], properties=properties, result_types=[BufferType()])


@irdl_op_definition
class BufferSizeOp(IRDLOperation):
    """`util.buffer.size`."""

    name = "util.buffer.size"
    operand = operand_def(BufferType)
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, buffer: SSAValue) -> None:
        super().__init__(operands=[buffer], result_types=[IndexType()])


@irdl_op_definition
class BufferSubspanOp(IRDLOperation):
    """`util.buffer.subspan`: a byte range, as a buffer."""

    name = "util.buffer.subspan"
    source = operand_def(BufferType)
    source_size = operand_def(IndexType)
    source_offset = operand_def(IndexType)
    result_size = operand_def(IndexType)
    result = result_def(BufferType)
    traits = traits_def(Pure())


@irdl_op_definition
class BufferCopyOp(IRDLOperation):
    """`util.buffer.copy`: a byte range into another."""

    name = "util.buffer.copy"
    source = operand_def(BufferType)
    source_size = operand_def(IndexType)
    source_offset = operand_def(IndexType)
    target = operand_def(BufferType)
    target_size = operand_def(IndexType)
    target_offset = operand_def(IndexType)
    length = operand_def(IndexType)

    def __init__(self, *operands: SSAValue) -> None:
        """`operands`: source, its size and offset, target, its size and offset, length."""
        super().__init__(operands=list(operands))


@irdl_op_definition
class BufferFillOp(IRDLOperation):
    """`util.buffer.fill`: repeats a number over a byte range."""

    name = "util.buffer.fill"
    pattern = operand_def()
    target = operand_def(BufferType)
    target_size = operand_def(IndexType)
    target_offset = operand_def(IndexType)
    length = operand_def(IndexType)

    def __init__(self, *operands: SSAValue) -> None:
        """`operands`: pattern, target, its size, offset, length."""
        super().__init__(operands=list(operands))


@irdl_op_definition
class BufferLoadOp(IRDLOperation):
    """`util.buffer.load`: one number at a byte offset that its size divides."""

    name = "util.buffer.load"
    source = operand_def(BufferType)
    source_size = operand_def(IndexType)
    source_offset = operand_def(IndexType)
    length = operand_def(IndexType)
    result = result_def()

    def __init__(self, source: SSAValue, size: SSAValue, offset: SSAValue, length: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[source, size, offset, length], result_types=[type])


@irdl_op_definition
class BufferStoreOp(IRDLOperation):
    """`util.buffer.store`: sets the number at a byte offset that its size divides."""

    name = "util.buffer.store"
    source = operand_def()
    target = operand_def(BufferType)
    target_size = operand_def(IndexType)
    target_offset = operand_def(IndexType)
    length = operand_def(IndexType)

    def __init__(self, *operands: SSAValue) -> None:
        """`operands`: number, target, its size, offset, length."""
        super().__init__(operands=list(operands))


BUFFER_OPS: list[type[Operation]] = [
    BufferAllocOp,
    BufferSizeOp,
    BufferSubspanOp,
    BufferCopyOp,
    BufferFillOp,
    BufferLoadOp,
    BufferStoreOp,
]
