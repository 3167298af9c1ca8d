"""`stream.resource.*`, `stream.file.*` and `stream.tensor.*`: device memory, and tensors at the border of the program.

Operand, result and property names and order are IREE 3.13's. Sizes and offsets are `index` in bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    IndexType,
    UnitAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from tiree.dialects.stream_attrs import FileType, ResourceType, TimepointType
from tiree.support.creation import fill


@irdl_op_definition
class TensorImportOp(IRDLOperation):
    """`stream.tensor.import`: the storage of a buffer view (shape and type are asserted separately)."""

    name = "stream.tensor.import"
    source = operand_def()
    result_encoding_dims = var_operand_def(IndexType)
    result_size = operand_def(IndexType)
    result_encoding = prop_def(Attribute)
    affinity = opt_prop_def(Attribute)
    consume = opt_prop_def(UnitAttr)
    result = result_def(ResourceType)

    def __init__(
        self,
        source: SSAValue,
        encoding: Attribute,
        size: SSAValue,
        affinity: Attribute | None,
        dims: Sequence[SSAValue] = (),
    ) -> None:
        properties = {"result_encoding": encoding}
        if affinity is not None:
            properties["affinity"] = affinity
        fill(self, [source, *dims, size], [ResourceType("external")], properties, {})


@irdl_op_definition
class TensorExportOp(IRDLOperation):
    """`stream.tensor.export`: a buffer view of a resource."""

    name = "stream.tensor.export"
    source = operand_def(ResourceType)
    source_encoding_dims = var_operand_def(IndexType)
    source_size = operand_def(IndexType)
    source_encoding = prop_def(Attribute)
    affinity = opt_prop_def(Attribute)
    result = result_def()

    def __init__(
        self,
        source: SSAValue,
        encoding: Attribute,
        size: SSAValue,
        affinity: Attribute | None,
        type: Attribute,
        dims: Sequence[SSAValue] = (),
    ) -> None:
        super().__init__(
            operands=[source, list(dims), size],
            properties={"source_encoding": encoding, "affinity": affinity},
            result_types=[type],
        )


@irdl_op_definition
class ResourceAllocOp(IRDLOperation):
    """`stream.resource.alloc`: memory, at once."""

    name = "stream.resource.alloc"
    storage_size = operand_def(IndexType)
    uninitialized = opt_prop_def(UnitAttr)
    affinity = opt_prop_def(Attribute)
    result = result_def(ResourceType)

    def __init__(self, lifetime: str, size: SSAValue, affinity: Attribute | None) -> None:
        super().__init__(
            operands=[size],
            properties={"affinity": affinity, "uninitialized": UnitAttr()},
            result_types=[ResourceType(lifetime)],
        )


@irdl_op_definition
class ResourceAllocaOp(IRDLOperation):
    """`stream.resource.alloca`: memory that may be used from the returned timepoint on."""

    name = "stream.resource.alloca"
    storage_size = operand_def(IndexType)
    await_timepoint = opt_operand_def(TimepointType)
    indeterminate_lifetime = opt_prop_def(UnitAttr)
    affinity = opt_prop_def(Attribute)
    result = result_def(ResourceType)
    result_timepoint = result_def(TimepointType)

    def __init__(
        self, lifetime: str, size: SSAValue, affinity: Attribute | None, await_timepoint: SSAValue | None = None
    ) -> None:
        super().__init__(
            operands=[size, await_timepoint],
            properties={"affinity": affinity},
            result_types=[ResourceType(lifetime), TimepointType()],
        )


@irdl_op_definition
class ResourceDeallocaOp(IRDLOperation):
    """`stream.resource.dealloca`: the memory may be used for something else after `await_timepoint`."""

    name = "stream.resource.dealloca"
    resource = operand_def(ResourceType)
    resource_size = operand_def(IndexType)
    await_timepoint = opt_operand_def(TimepointType)
    prefer_origin = opt_prop_def(UnitAttr)
    affinity = opt_prop_def(Attribute)
    result_timepoint = result_def(TimepointType)

    def __init__(
        self, resource: SSAValue, size: SSAValue, affinity: Attribute | None, await_timepoint: SSAValue | None
    ) -> None:
        super().__init__(
            operands=[resource, size, await_timepoint],
            properties={"affinity": affinity},
            result_types=[TimepointType()],
        )


@irdl_op_definition
class ResourceSizeOp(IRDLOperation):
    """`stream.resource.size`."""

    name = "stream.resource.size"
    resource = operand_def(ResourceType)
    affinity = opt_prop_def(Attribute)
    result = result_def(IndexType)
    traits = traits_def(Pure())


@irdl_op_definition
class ResourceTryMapOp(IRDLOperation):
    """`stream.resource.try_map`: uses host memory as a constant, if the device can."""

    name = "stream.resource.try_map"
    source = operand_def()
    source_offset = operand_def(IndexType)
    result_size = operand_def(IndexType)
    affinity = opt_prop_def(Attribute)
    did_map = result_def(i1)
    result = result_def(ResourceType)

    def __init__(self, source: SSAValue, offset: SSAValue, size: SSAValue, affinity: Attribute | None) -> None:
        super().__init__(
            operands=[source, offset, size],
            properties={"affinity": affinity},
            result_types=[i1, ResourceType("constant")],
        )


@irdl_op_definition
class ResourceLoadOp(IRDLOperation):
    """`stream.resource.load`: one scalar of a staging resource, read by the host."""

    name = "stream.resource.load"
    source = operand_def(ResourceType)
    source_size = operand_def(IndexType)
    source_offset = operand_def(IndexType)
    result = result_def()

    def __init__(self, source: SSAValue, size: SSAValue, offset: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[source, size, offset], result_types=[type])


@irdl_op_definition
class ResourceSubviewOp(IRDLOperation):
    """`stream.resource.subview`: a byte range of a resource, as an alias."""

    name = "stream.resource.subview"
    source = operand_def(ResourceType)
    source_size = operand_def(IndexType)
    source_offset = operand_def(IndexType)
    result_size = operand_def(IndexType)
    result = result_def(ResourceType)
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, size: SSAValue, offset: SSAValue, result_size: SSAValue) -> None:
        super().__init__(operands=[source, size, offset, result_size], result_types=[source.type])


@irdl_op_definition
class FileConstantOp(IRDLOperation):
    """`stream.file.constant`: host memory as a file."""

    name = "stream.file.constant"
    source = operand_def()
    source_size = operand_def(IndexType)
    source_offset = operand_def(IndexType)
    source_length = operand_def(IndexType)
    affinity = opt_prop_def(Attribute)
    result = result_def(FileType)

    def __init__(
        self, source: SSAValue, size: SSAValue, offset: SSAValue, length: SSAValue, affinity: Attribute | None
    ) -> None:
        super().__init__(
            operands=[source, size, offset, length], properties={"affinity": affinity}, result_types=[FileType()]
        )


@irdl_op_definition
class FileReadOp(IRDLOperation):
    """`stream.file.read`: file bytes into a resource."""

    name = "stream.file.read"
    source = operand_def(FileType)
    source_offset = operand_def(i64)
    target = operand_def(ResourceType)
    target_size = operand_def(IndexType)
    target_offset = operand_def(IndexType)
    length = operand_def(IndexType)
    await_timepoint = opt_operand_def(TimepointType)
    affinity = opt_prop_def(Attribute)
    result_timepoint = result_def(TimepointType)

    def __init__(self, operands: Sequence[SSAValue], await_timepoint: SSAValue, affinity: Attribute | None) -> None:
        """`operands`: source, source offset, target, target size, target offset, length."""
        super().__init__(
            operands=[*operands, await_timepoint],
            properties={"affinity": affinity},
            result_types=[TimepointType()],
        )


STREAM_RESOURCE_OPS: list[type[Operation]] = [
    TensorImportOp,
    TensorExportOp,
    ResourceAllocOp,
    ResourceAllocaOp,
    ResourceDeallocaOp,
    ResourceSizeOp,
    ResourceTryMapOp,
    ResourceLoadOp,
    ResourceSubviewOp,
    FileConstantOp,
    FileReadOp,
]
