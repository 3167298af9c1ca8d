"""The `stream` dialect: device memory with sizes, commands that run asynchronously, and timepoints that order them.

Operand, result and property names and order are IREE 3.13's. Sizes and offsets are `index` in bytes; every use of a
resource carries its size. The `async` forms that IREE uses between tensors and commands have no counterpart here:
`tiree.stream` goes from tensors to commands in one step.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure, SymbolOpInterface, SymbolTable

from tiree.dialects.stream_attrs import *  # noqa: F403
from tiree.dialects.stream_attrs import STREAM_ATTRIBUTES, BindingType, FileType, ResourceType, TimepointType

# Executables.


@irdl_op_definition
class ExecutableOp(IRDLOperation):
    """`stream.executable`: exports and an inner module whose functions take `!stream.binding`s."""

    name = "stream.executable"
    sym_visibility = opt_prop_def(StringAttr)
    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), SymbolTable())

    def __init__(self, name: str, body: Region) -> None:
        super().__init__(
            properties={"sym_name": StringAttr(name), "sym_visibility": StringAttr("private")}, regions=[body]
        )

    @property
    def exports(self) -> list[ExecutableExportOp]:
        return [op for op in self.body.block.ops if isinstance(op, ExecutableExportOp)]

    @property
    def inner_module(self) -> ModuleOp | None:
        return next((op for op in self.body.block.ops if isinstance(op, ModuleOp)), None)


@irdl_op_definition
class ExecutableEndOp(IRDLOperation):
    """`stream.executable.end`."""

    name = "stream.executable.end"
    traits = traits_def(IsTerminator())


@irdl_op_definition
class ExecutableExportOp(IRDLOperation):
    """`stream.executable.export`: an entry point and the region that computes its workgroup count."""

    name = "stream.executable.export"
    sym_visibility = opt_prop_def(StringAttr)
    sym_name = prop_def(SymbolNameConstraint())
    function_ref = prop_def(SymbolRefAttr)
    workgroup_count = region_def()
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(self, name: str, function_ref: SymbolRefAttr, workgroup_count: Region) -> None:
        super().__init__(
            properties={"sym_name": StringAttr(name), "function_ref": function_ref}, regions=[workgroup_count]
        )


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """`stream.return`: ends a workgroup count region."""

    name = "stream.return"
    arguments = var_operand_def()
    traits = traits_def(IsTerminator())

    def __init__(self, *values: SSAValue | Operation) -> None:
        super().__init__(operands=[list(values)])


@irdl_op_definition
class YieldOp(IRDLOperation):
    """`stream.yield`: ends an execution region."""

    name = "stream.yield"
    arguments = var_operand_def()
    traits = traits_def(IsTerminator())

    def __init__(self, *values: SSAValue | Operation) -> None:
        super().__init__(operands=[list(values)])


@irdl_op_definition
class BindingSubspanOp(IRDLOperation):
    """`stream.binding.subspan`: a binding from `byte_offset` on, as a dispatch tensor."""

    name = "stream.binding.subspan"
    binding = operand_def(BindingType)
    byte_offset = operand_def(IndexType)
    dynamic_dims = var_operand_def(IndexType)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self, binding: SSAValue, byte_offset: SSAValue, dynamic_dims: Sequence[SSAValue], type: Attribute
    ) -> None:
        super().__init__(operands=[binding, byte_offset, list(dynamic_dims)], result_types=[type])


@irdl_op_definition
class DispatchWorkgroupIDOp(IRDLOperation):
    """`stream.dispatch.workgroup.id`."""

    name = "stream.dispatch.workgroup.id"
    dimension = prop_def(IntegerAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())


@irdl_op_definition
class DispatchWorkgroupCountOp(IRDLOperation):
    """`stream.dispatch.workgroup.count`."""

    name = "stream.dispatch.workgroup.count"
    dimension = prop_def(IntegerAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())


@irdl_op_definition
class DispatchWorkgroupSizeOp(IRDLOperation):
    """`stream.dispatch.workgroup.size`."""

    name = "stream.dispatch.workgroup.size"
    dimension = prop_def(IntegerAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())


# Tensors at the boundary of the program.


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

    def __init__(self, source: SSAValue, encoding: Attribute, size: SSAValue, affinity: Attribute | None) -> None:
        super().__init__(
            operands=[source, [], size],
            properties={"result_encoding": encoding, "affinity": affinity},
            result_types=[ResourceType("external")],
        )


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
        self, source: SSAValue, encoding: Attribute, size: SSAValue, affinity: Attribute | None, type: Attribute
    ) -> None:
        super().__init__(
            operands=[source, [], size],
            properties={"source_encoding": encoding, "affinity": affinity},
            result_types=[type],
        )


# Resources.


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


# Commands.


@irdl_op_definition
class CmdExecuteOp(IRDLOperation):
    """`stream.cmd.execute`: runs its commands in order after `await_timepoint`; the result is their end.

    Each resource operand has a block argument of its type; the commands use those. Sizes and other `index` values are
    captured from above.
    """

    name = "stream.cmd.execute"
    resource_operands = var_operand_def(ResourceType)
    resource_operand_sizes = var_operand_def(IndexType)
    await_timepoint = opt_operand_def(TimepointType)
    affinity = opt_prop_def(Attribute)
    once = opt_prop_def(UnitAttr)
    body = region_def("single_block")
    result_timepoint = result_def(TimepointType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        resources: Sequence[SSAValue],
        sizes: Sequence[SSAValue],
        await_timepoint: SSAValue | None,
        affinity: Attribute | None,
    ) -> None:
        block = Block(arg_types=[resource.type for resource in resources])
        super().__init__(
            operands=[list(resources), list(sizes), await_timepoint],
            properties={"affinity": affinity},
            result_types=[TimepointType()],
            regions=[Region(block)],
        )


@irdl_op_definition
class CmdConcurrentOp(IRDLOperation):
    """`stream.cmd.concurrent`: its commands may run at the same time."""

    name = "stream.cmd.concurrent"
    body = region_def("single_block")

    def __init__(self, commands: Sequence[Operation]) -> None:
        super().__init__(regions=[Region(Block([*commands, YieldOp()]))])


@irdl_op_definition
class CmdSerialOp(IRDLOperation):
    """`stream.cmd.serial`: its commands run in order."""

    name = "stream.cmd.serial"
    body = region_def("single_block")


@irdl_op_definition
class CmdDispatchOp(IRDLOperation):
    """`stream.cmd.dispatch`: `resource_accesses` has one `ResourceAccess` per resource, in binding order."""

    name = "stream.cmd.dispatch"
    workload = var_operand_def(IndexType)
    uniform_operands = var_operand_def()
    resources = var_operand_def(ResourceType)
    resource_sizes = var_operand_def(IndexType)
    resource_offsets = var_operand_def(IndexType)
    resource_lengths = var_operand_def(IndexType)
    entry_points = prop_def(ArrayAttr)
    resource_accesses = prop_def(ArrayAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        entry_point: SymbolRefAttr,
        workload: Sequence[SSAValue],
        uniform_operands: Sequence[SSAValue],
        resources: Sequence[SSAValue],
        sizes: Sequence[SSAValue],
        offsets: Sequence[SSAValue],
        lengths: Sequence[SSAValue],
        accesses: Sequence[int],
    ) -> None:
        super().__init__(
            operands=[
                list(workload),
                list(uniform_operands),
                list(resources),
                list(sizes),
                list(offsets),
                list(lengths),
            ],
            properties={
                "entry_points": ArrayAttr([entry_point]),
                "resource_accesses": ArrayAttr([IntegerAttr(int(access), i32) for access in accesses]),
            },
        )

    @property
    def entry_point(self) -> SymbolRefAttr:
        entry_point = self.entry_points.data[0]
        assert isinstance(entry_point, SymbolRefAttr)
        return entry_point

    @property
    def access_bits(self) -> list[int]:
        return [access.value.data for access in self.resource_accesses.data if isinstance(access, IntegerAttr)]


@irdl_op_definition
class CmdCopyOp(IRDLOperation):
    """`stream.cmd.copy`."""

    name = "stream.cmd.copy"
    source = operand_def(ResourceType)
    source_size = operand_def(IndexType)
    source_offset = operand_def(IndexType)
    target = operand_def(ResourceType)
    target_size = operand_def(IndexType)
    target_offset = operand_def(IndexType)
    length = operand_def(IndexType)

    def __init__(self, *operands: SSAValue) -> None:
        """`operands`: source, its size and offset, target, its size and offset, length."""
        super().__init__(operands=list(operands))


@irdl_op_definition
class CmdFillOp(IRDLOperation):
    """`stream.cmd.fill`: repeats an 8, 16 or 32-bit value."""

    name = "stream.cmd.fill"
    target = operand_def(ResourceType)
    target_size = operand_def(IndexType)
    target_offset = operand_def(IndexType)
    target_length = operand_def(IndexType)
    value = operand_def()

    def __init__(self, *operands: SSAValue) -> None:
        """`operands`: target, its size, offset, length, value."""
        super().__init__(operands=list(operands))


@irdl_op_definition
class CmdFlushOp(IRDLOperation):
    """`stream.cmd.flush`: makes a range visible to the host."""

    name = "stream.cmd.flush"
    target = operand_def(ResourceType)
    target_size = operand_def(IndexType)
    target_offset = operand_def(IndexType)
    target_length = operand_def(IndexType)

    def __init__(self, *operands: SSAValue) -> None:
        super().__init__(operands=list(operands))


# Timepoints.


@irdl_op_definition
class TimepointImmediateOp(IRDLOperation):
    """`stream.timepoint.immediate`: already reached."""

    name = "stream.timepoint.immediate"
    result_timepoint = result_def(TimepointType)
    traits = traits_def(Pure())

    def __init__(self) -> None:
        super().__init__(result_types=[TimepointType()])


@irdl_op_definition
class TimepointImportOp(IRDLOperation):
    """`stream.timepoint.import`: from a fence of the caller."""

    name = "stream.timepoint.import"
    arguments = var_operand_def()
    affinity = opt_prop_def(Attribute)
    result_timepoint = result_def(TimepointType)

    def __init__(self, fence: SSAValue, affinity: Attribute | None) -> None:
        super().__init__(
            operands=[[fence]], properties={"affinity": affinity}, result_types=[TimepointType()]
        )


@irdl_op_definition
class TimepointChainExternalOp(IRDLOperation):
    """`stream.timepoint.chain_external`: signals a fence of the caller at `await_timepoint`."""

    name = "stream.timepoint.chain_external"
    await_timepoint = operand_def(TimepointType)
    external_values = var_operand_def()
    affinity = opt_prop_def(Attribute)

    def __init__(self, timepoint: SSAValue, fence: SSAValue, affinity: Attribute | None) -> None:
        super().__init__(operands=[timepoint, [fence]], properties={"affinity": affinity})


@irdl_op_definition
class TimepointJoinOp(IRDLOperation):
    """`stream.timepoint.join`: reached when all are."""

    name = "stream.timepoint.join"
    await_timepoints = var_operand_def(TimepointType)
    result_timepoint = result_def(TimepointType)
    traits = traits_def(Pure())

    def __init__(self, timepoints: Sequence[SSAValue]) -> None:
        super().__init__(operands=[list(timepoints)], result_types=[TimepointType()])


@irdl_op_definition
class TimepointAwaitOp(IRDLOperation):
    """`stream.timepoint.await`: the host waits; the resources returned may be used at once."""

    name = "stream.timepoint.await"
    resource_operands = var_operand_def(ResourceType)
    resource_operand_sizes = var_operand_def(IndexType)
    await_timepoint = operand_def(TimepointType)
    sync = opt_prop_def(UnitAttr)
    results_ = var_result_def(ResourceType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self, resources: Sequence[SSAValue], sizes: Sequence[SSAValue], timepoint: SSAValue, sync: bool = False
    ) -> None:
        super().__init__(
            operands=[list(resources), list(sizes), timepoint],
            properties={"sync": UnitAttr() if sync else None},
            result_types=[[resource.type for resource in resources]],
        )


STREAM_OPS: list[type[Operation]] = [
    ExecutableOp,
    ExecutableEndOp,
    ExecutableExportOp,
    ReturnOp,
    YieldOp,
    BindingSubspanOp,
    DispatchWorkgroupIDOp,
    DispatchWorkgroupCountOp,
    DispatchWorkgroupSizeOp,
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
    CmdExecuteOp,
    CmdConcurrentOp,
    CmdSerialOp,
    CmdDispatchOp,
    CmdCopyOp,
    CmdFillOp,
    CmdFlushOp,
    TimepointImmediateOp,
    TimepointImportOp,
    TimepointChainExternalOp,
    TimepointJoinOp,
    TimepointAwaitOp,
]

Stream = Dialect("stream", STREAM_OPS, STREAM_ATTRIBUTES)
