"""The `flow` dialect: executables, their dispatches, and the tensor operations that need no kernel.

Names, properties and operand segment orders are IREE 3.13's, so that the generic print of either tool reads in the
other. Dynamic dimensions of an operand follow it as `index` operands of their own segment. Assumes xDSL and
`iree_tensor_ext` only.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Dialect, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsolatedFromAbove, IsTerminator, MemoryReadEffect, Pure, SymbolOpInterface

from tiree.dialects.flow_parameters import FlowParameterAttr
from tiree.dialects.iree_tensor_ext import segment_sizes
from tiree.support.typed import tensor_type

_segments = AttrSizedOperandSegments(as_property=True)


def no_tied_operands(count: int) -> ArrayAttr:
    """`tied_operands` of an op none of whose `count` results aliases an operand."""
    return ArrayAttr([IntegerAttr(-1, IndexType())] * count)


def tied_operands_of(tied: Sequence[int]) -> ArrayAttr:
    """`tied_operands` from operand indices (-1: not tied), counted over the tied-operand range of the op."""
    return ArrayAttr([IntegerAttr(index, IndexType()) for index in tied])


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a dispatch body or a workgroup count region."""

    name = "flow.return"
    operands_ = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())

    def __init__(self, operands: Sequence[SSAValue] = ()) -> None:
        super().__init__(operands=[list(operands)])


@irdl_op_definition
class ExecutableOp(IRDLOperation):
    """A module of kernels and the entry points that a dispatch may name."""

    name = "flow.executable"
    sym_name = prop_def(SymbolNameConstraint())
    sym_visibility = opt_prop_def(StringAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @staticmethod
    def build_private(name: str, body: Block) -> ExecutableOp:
        return ExecutableOp.create(
            properties={"sym_name": StringAttr(name), "sym_visibility": StringAttr("private")},
            regions=[Region(body)],
        )


@irdl_op_definition
class ExecutableEndOp(IRDLOperation):
    """The terminator of a `flow.executable`."""

    name = "flow.executable_end"
    traits = traits_def(IsTerminator())


@irdl_op_definition
class ExecutableExportOp(IRDLOperation):
    """One entry point: the function it names and the region that computes the workgroup count."""

    name = "flow.executable.export"
    sym_name = prop_def(SymbolNameConstraint())
    sym_visibility = opt_prop_def(StringAttr)
    function_ref = prop_def(SymbolRefAttr)
    workgroup_count = region_def()

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())


@irdl_op_definition
class DispatchOp(IRDLOperation):
    """Runs an entry point of an executable over tensors and scalars."""

    name = "flow.dispatch"
    workload = var_operand_def(IndexType)
    arguments = var_operand_def()
    argument_dims = var_operand_def(IndexType)
    result_dims = var_operand_def(IndexType)
    entry_points = prop_def(ArrayAttr[SymbolRefAttr])
    tied_operands = opt_prop_def(ArrayAttr)
    results_ = var_result_def()

    irdl_options = (_segments,)

    @staticmethod
    def of(entry: SymbolRefAttr, arguments: Sequence[SSAValue], results: Sequence[Attribute]) -> DispatchOp:
        """A dispatch of static shapes, without workload or tied results."""
        return DispatchOp.create(
            operands=list(arguments),
            result_types=list(results),
            properties={
                "entry_points": ArrayAttr([entry]),
                "operandSegmentSizes": segment_sizes(0, len(arguments), 0, 0),
                "tied_operands": no_tied_operands(len(results)),
            },
        )


@irdl_op_definition
class DispatchWorkgroupsOp(IRDLOperation):
    """A dispatch whose body is still in place; block arguments are dispatch tensors, operands first, then results."""

    name = "flow.dispatch.workgroups"
    workload = var_operand_def(IndexType)
    arguments = var_operand_def()
    argument_dims = var_operand_def(IndexType)
    result_dims = var_operand_def(IndexType)
    tied_operands = opt_prop_def(ArrayAttr)
    workgroup_body = region_def("single_block")
    workgroup_count = region_def()
    results_ = var_result_def()

    irdl_options = (_segments,)
    traits = traits_def(IsolatedFromAbove())

    @staticmethod
    def of(
        arguments: Sequence[SSAValue], results: Sequence[Attribute], body: Region, count: Region
    ) -> DispatchWorkgroupsOp:
        """A dispatch of static shapes, without workload or tied results."""
        return DispatchWorkgroupsOp.create(
            operands=list(arguments),
            result_types=list(results),
            properties={
                "operandSegmentSizes": segment_sizes(0, len(arguments), 0, 0),
                "tied_operands": no_tied_operands(len(results)),
            },
            regions=[body, count],
        )


class _WorkgroupOp(IRDLOperation):
    """Base of the per-dimension queries of a workgroup."""

    dimension = prop_def(IntegerAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, dimension: int) -> None:
        super().__init__(properties={"dimension": IntegerAttr(dimension, IndexType())}, result_types=[IndexType()])


@irdl_op_definition
class DispatchWorkgroupIDOp(_WorkgroupOp):
    """Which workgroup of the grid this is, along one dimension."""

    name = "flow.dispatch.workgroup.id"


@irdl_op_definition
class DispatchWorkgroupCountOp(_WorkgroupOp):
    """Workgroups of the grid along one dimension."""

    name = "flow.dispatch.workgroup.count"


@irdl_op_definition
class DispatchTieShapeOp(IRDLOperation):
    """A dispatch tensor with the sizes of its `?` dimensions."""

    name = "flow.dispatch.tie_shape"
    operand = operand_def()
    dynamic_dims = var_operand_def(IndexType)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, dims: Sequence[SSAValue]) -> None:
        super().__init__(operands=[operand, list(dims)], result_types=[operand.type])


@irdl_op_definition
class TensorTieShapeOp(IRDLOperation):
    """A tensor with the sizes of its `?` dimensions."""

    name = "flow.tensor.tie_shape"
    operand = operand_def(TensorType)
    dynamic_dims = var_operand_def(IndexType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, dims: Sequence[SSAValue]) -> None:
        super().__init__(operands=[operand, list(dims)], result_types=[operand.type])


@irdl_op_definition
class TensorConstantOp(IRDLOperation):
    """A constant that may also be a parameter (`#flow.parameter.named`)."""

    name = "flow.tensor.constant"
    value = prop_def()
    result = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class TensorSplatOp(IRDLOperation):
    """A tensor of one value."""

    name = "flow.tensor.splat"
    value = operand_def()
    result_dims = var_operand_def(IndexType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, type: Attribute, dims: Sequence[SSAValue] = ()) -> None:
        super().__init__(operands=[value, list(dims)], result_types=[type])


@irdl_op_definition
class TensorEmptyOp(IRDLOperation):
    """A tensor whose contents do not matter."""

    name = "flow.tensor.empty"
    result_dims = var_operand_def(IndexType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, type: Attribute, dims: Sequence[SSAValue] = ()) -> None:
        super().__init__(operands=[list(dims)], result_types=[type])


@irdl_op_definition
class TensorAllocaOp(IRDLOperation):
    """A transient tensor of undefined contents that later ops may write."""

    name = "flow.tensor.alloca"
    result_dims = var_operand_def(IndexType)
    result = result_def(TensorType)


@irdl_op_definition
class TensorCloneOp(IRDLOperation):
    """A copy."""

    name = "flow.tensor.clone"
    operand = operand_def()
    argument_dims = var_operand_def(IndexType)
    result = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class TensorTransferOp(IRDLOperation):
    """The tensor on another device or queue."""

    name = "flow.tensor.transfer"
    operand = operand_def()
    argument_dims = var_operand_def(IndexType)
    target = prop_def()
    result = result_def()
    traits = traits_def(Pure())


class _ViewOp(IRDLOperation):
    source = operand_def(TensorType)
    source_dims = var_operand_def(IndexType)
    result_dims = var_operand_def(IndexType)
    result = result_def(TensorType)

    irdl_options = (_segments,)
    traits = traits_def(Pure())

    @classmethod
    def of(cls, source: SSAValue, type: Attribute):
        """A view of static shapes."""
        return cls.create(
            operands=[source], result_types=[type], properties={"operandSegmentSizes": segment_sizes(1, 0, 0)}
        )


@irdl_op_definition
class TensorReshapeOp(_ViewOp):
    """The same elements in row-major order under another shape."""

    name = "flow.tensor.reshape"


@irdl_op_definition
class TensorBitCastOp(_ViewOp):
    """The same bytes under another shape and element type."""

    name = "flow.tensor.bitcast"


@irdl_op_definition
class TensorLoadOp(IRDLOperation):
    """Reads one element on the host."""

    name = "flow.tensor.load"
    source = operand_def(TensorType)
    source_dims = var_operand_def(IndexType)
    indices = var_operand_def(IndexType)
    result = result_def()

    irdl_options = (_segments,)
    traits = traits_def(MemoryReadEffect())

    @staticmethod
    def of(source: SSAValue, indices: Sequence[SSAValue] = ()) -> TensorLoadOp:
        return TensorLoadOp.create(
            operands=[source, *indices],
            result_types=[tensor_type(source).element_type],
            properties={"operandSegmentSizes": segment_sizes(1, 0, len(indices))},
        )


@irdl_op_definition
class TensorStoreOp(IRDLOperation):
    """A tensor with one element replaced by a host value."""

    name = "flow.tensor.store"
    value = operand_def()
    target = operand_def(TensorType)
    target_dims = var_operand_def(IndexType)
    indices = var_operand_def(IndexType)
    result = result_def(TensorType)

    irdl_options = (_segments,)
    traits = traits_def(Pure())

    @staticmethod
    def of(value: SSAValue, target: SSAValue, indices: Sequence[SSAValue] = ()) -> TensorStoreOp:
        """A store into a tensor of static shape."""
        return TensorStoreOp.create(
            operands=[value, target, *indices],
            result_types=[target.type],
            properties={"operandSegmentSizes": segment_sizes(1, 1, 0, len(indices))},
        )


@irdl_op_definition
class TensorSliceOp(IRDLOperation):
    """A contiguous or strided box of a tensor, as one copy."""

    name = "flow.tensor.slice"
    source = operand_def(TensorType)
    source_dims = var_operand_def(IndexType)
    start_indices = var_operand_def(IndexType)
    lengths = var_operand_def(IndexType)
    result_dims = var_operand_def(IndexType)
    result = result_def(TensorType)

    irdl_options = (_segments,)
    traits = traits_def(Pure())

    @staticmethod
    def of(source: SSAValue, starts: Sequence[SSAValue], lengths: Sequence[SSAValue], type: Attribute) -> TensorSliceOp:
        """A slice of static shapes."""
        return TensorSliceOp.create(
            operands=[source, *starts, *lengths],
            result_types=[type],
            properties={"operandSegmentSizes": segment_sizes(1, 0, len(starts), len(lengths), 0)},
        )


@irdl_op_definition
class TensorUpdateOp(IRDLOperation):
    """`target` with `update` written at `start_indices`; the result is tied to the target."""

    name = "flow.tensor.update"
    target = operand_def(TensorType)
    target_dims = var_operand_def(IndexType)
    start_indices = var_operand_def(IndexType)
    update = operand_def(TensorType)
    update_dims = var_operand_def(IndexType)
    result = result_def(TensorType)

    irdl_options = (_segments,)
    traits = traits_def(Pure())

    @staticmethod
    def of(target: SSAValue, starts: Sequence[SSAValue], update: SSAValue) -> TensorUpdateOp:
        """An update of static shapes."""
        return TensorUpdateOp.create(
            operands=[target, *starts, update],
            result_types=[target.type],
            properties={"operandSegmentSizes": segment_sizes(1, 0, len(starts), 1, 0)},
        )


Flow = Dialect(
    "flow",
    [
        ReturnOp,
        ExecutableOp,
        ExecutableEndOp,
        ExecutableExportOp,
        DispatchOp,
        DispatchWorkgroupsOp,
        DispatchWorkgroupIDOp,
        DispatchWorkgroupCountOp,
        DispatchTieShapeOp,
        TensorTieShapeOp,
        TensorConstantOp,
        TensorSplatOp,
        TensorEmptyOp,
        TensorAllocaOp,
        TensorCloneOp,
        TensorTransferOp,
        TensorReshapeOp,
        TensorBitCastOp,
        TensorLoadOp,
        TensorStoreOp,
        TensorSliceOp,
        TensorUpdateOp,
    ],
    [FlowParameterAttr],
)
