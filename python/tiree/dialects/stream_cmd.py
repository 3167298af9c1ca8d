"""`stream.cmd.*` and `stream.timepoint.*`: what a device executes, and when.

Operand, result and property names and order are IREE 3.13's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntegerAttr,
    SymbolRefAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
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
from xdsl.traits import IsTerminator, Pure

from tiree.dialects.iree_tensor_ext import segment_sizes
from tiree.dialects.stream_attrs import ResourceType, TimepointType
from tiree.support.creation import fill


@irdl_op_definition
class YieldOp(IRDLOperation):
    """`stream.yield`: ends an execution region."""

    name = "stream.yield"
    arguments = var_operand_def()
    traits = traits_def(IsTerminator())

    def __init__(self, *values: SSAValue | Operation) -> None:
        super().__init__(operands=[list(values)])


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


@cache
def _accesses(bits: tuple[int, ...]) -> ArrayAttr:
    return ArrayAttr([IntegerAttr(int(access), i32) for access in bits])


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
        groups = (workload, uniform_operands, resources, sizes, offsets, lengths)
        # Not through xDSL's checked constructor: models have thousands of dispatches.
        properties: dict[str, Attribute] = {
            "entry_points": ArrayAttr([entry_point]),
            "resource_accesses": _accesses(tuple(accesses)),
            "operandSegmentSizes": segment_sizes(*map(len, groups)),
        }
        fill(self, [value for group in groups for value in group], (), properties, {})

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
    """`stream.cmd.flush`: makes a range visible to the host, or to another device."""

    name = "stream.cmd.flush"
    target = operand_def(ResourceType)
    target_size = operand_def(IndexType)
    target_offset = operand_def(IndexType)
    target_length = operand_def(IndexType)
    source_affinity = opt_prop_def(Attribute)

    def __init__(self, *operands: SSAValue) -> None:
        super().__init__(operands=list(operands))


@irdl_op_definition
class CmdInvalidateOp(IRDLOperation):
    """`stream.cmd.invalidate`: makes the writes of the host, or of another device, visible to the device."""

    name = "stream.cmd.invalidate"
    target = operand_def(ResourceType)
    target_size = operand_def(IndexType)
    target_offset = operand_def(IndexType)
    target_length = operand_def(IndexType)
    source_affinity = opt_prop_def(Attribute)


@irdl_op_definition
class CmdDiscardOp(IRDLOperation):
    """`stream.cmd.discard`: the contents of a range are not needed any more."""

    name = "stream.cmd.discard"
    target = operand_def(ResourceType)
    target_size = operand_def(IndexType)
    target_offset = operand_def(IndexType)
    target_length = operand_def(IndexType)


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
        super().__init__(operands=[[fence]], properties={"affinity": affinity}, result_types=[TimepointType()])


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


STREAM_CMD_OPS: list[type[Operation]] = [
    YieldOp,
    CmdExecuteOp,
    CmdConcurrentOp,
    CmdSerialOp,
    CmdDispatchOp,
    CmdCopyOp,
    CmdFillOp,
    CmdFlushOp,
    CmdInvalidateOp,
    CmdDiscardOp,
    TimepointImmediateOp,
    TimepointImportOp,
    TimepointChainExternalOp,
    TimepointJoinOp,
    TimepointAwaitOp,
]
