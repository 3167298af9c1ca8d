"""The `iree_tensor_ext` dialect: how a dispatch sees the tensors at its border.

`!iree_tensor_ext.dispatch.tensor<ACCESS:TYPE>` is a tensor argument of a dispatch; load and store move it, or a slice
of it, in and out of SSA tensors. Names, properties and segment orders are IREE 3.13's. Assumes xDSL only.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import cache

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    StringAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    param_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from tiree.support.typed import is_tensor_type


class TensorAccess(StrEnum):
    """What a dispatch may do with a tensor argument."""

    READ_ONLY = "readonly"
    READ_WRITE = "readwrite"
    WRITE_ONLY = "writeonly"


@irdl_attr_definition
class DispatchTensorType(ParametrizedAttribute, TypeAttribute):
    """A tensor bound to a dispatch: its access and its type (`tensor<...>`)."""

    name = "iree_tensor_ext.dispatch.tensor"
    access: StringAttr = param_def()
    bound_type: Attribute = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            access = parser.parse_identifier()
            if access not in tuple(TensorAccess):
                parser.raise_error(f'unknown access "{access}"; expected one of {", ".join(TensorAccess)}')
            parser.parse_punctuation(":")
            return [StringAttr(access), parser.parse_type()]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.access.data}:")
        printer.print_attribute(self.bound_type)
        printer.print_string(">")

    @staticmethod
    def of(access: TensorAccess | str, bound_type: Attribute) -> DispatchTensorType:
        return DispatchTensorType(StringAttr(str(access)), bound_type)

    @property
    def tensor_type(self) -> TensorType:
        """The bound tensor type. Raises `TypeError` where a scalar is bound."""
        if not is_tensor_type(self.bound_type):
            raise TypeError(f"dispatch tensor is bound to {self.bound_type}, not to a tensor")
        return self.bound_type


_segments = AttrSizedOperandSegments(as_property=True)


@cache
def segment_sizes(*sizes: int) -> DenseArrayBase:
    """`operandSegmentSizes` of an op with several variadic operand groups."""
    return DenseArrayBase.from_list(i32, sizes)


@cache
def index_array(values: tuple[int, ...]) -> DenseArrayBase:
    """`array<i64: ...>`."""
    return DenseArrayBase.from_list(i64, values)


def slice_properties(shape: Sequence[int]) -> dict[str, Attribute]:
    """The static offsets (0), sizes (`shape`) and strides (1) of an access to a whole tensor."""
    rank = len(shape)
    return {
        "static_offsets": index_array((0,) * rank),
        "static_sizes": index_array(tuple(shape)),
        "static_strides": index_array((1,) * rank),
    }


@irdl_op_definition
class DispatchTensorLoadOp(IRDLOperation):
    """Reads a slice of a dispatch tensor; the dims of a dynamic source follow it as operands."""

    name = "iree_tensor_ext.dispatch.tensor.load"
    source = operand_def(DispatchTensorType)
    source_dims = var_operand_def(IndexType)
    offsets = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    strides = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)

    irdl_options = (_segments,)
    traits = traits_def(MemoryReadEffect())

    @staticmethod
    def whole(source: SSAValue, dims: Sequence[SSAValue] = ()) -> DispatchTensorLoadOp:
        """Loads all of `source`; `dims` are the values of its dynamic dimensions."""
        assert isinstance(source.type, DispatchTensorType)
        type = source.type.tensor_type
        return DispatchTensorLoadOp.create(
            operands=[source, *dims, *dims],
            result_types=[type],
            properties={
                "operandSegmentSizes": segment_sizes(1, len(dims), 0, len(dims), 0),
                **slice_properties(type.get_shape()),
            },
        )

    def is_whole(self) -> bool:
        """Whether the load reads the whole of its (static) source."""
        assert isinstance(self.source.type, DispatchTensorType)
        return _covers(self.source.type.tensor_type, self)


@irdl_op_definition
class DispatchTensorStoreOp(IRDLOperation):
    """Writes a tensor into a slice of a dispatch tensor."""

    name = "iree_tensor_ext.dispatch.tensor.store"
    value = operand_def(TensorType)
    target = operand_def(DispatchTensorType)
    target_dims = var_operand_def(IndexType)
    offsets = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    strides = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))

    irdl_options = (_segments,)
    traits = traits_def(MemoryWriteEffect())

    @staticmethod
    def whole(value: SSAValue, target: SSAValue, dims: Sequence[SSAValue] = ()) -> DispatchTensorStoreOp:
        """Stores `value` over all of `target`; `dims` are the values of its dynamic dimensions."""
        assert isinstance(target.type, DispatchTensorType)
        return DispatchTensorStoreOp.create(
            operands=[value, target, *dims, *dims],
            properties={
                "operandSegmentSizes": segment_sizes(1, 1, len(dims), 0, len(dims), 0),
                **slice_properties(target.type.tensor_type.get_shape()),
            },
        )

    def is_whole(self) -> bool:
        """Whether the store writes the whole of its (static) target."""
        assert isinstance(self.target.type, DispatchTensorType)
        return _covers(self.target.type.tensor_type, self)


def _covers(type: TensorType, op: DispatchTensorLoadOp | DispatchTensorStoreOp) -> bool:
    shape = type.get_shape()
    return (
        DYNAMIC_INDEX not in shape
        and tuple(op.static_offsets.get_values()) == (0,) * len(shape)
        and tuple(op.static_sizes.get_values()) == tuple(shape)
        and tuple(op.static_strides.get_values()) == (1,) * len(shape)
    )


@irdl_op_definition
class WorkgroupCountFromSliceOp(IRDLOperation):
    """The workgroup count that codegen will choose, from the workload of the dispatch."""

    name = "iree_tensor_ext.dispatch.workgroup_count_from_slice"
    operands_ = var_operand_def(IndexType)
    x = result_def(IndexType)
    y = result_def(IndexType)
    z = result_def(IndexType)

    traits = traits_def(Pure())

    def __init__(self, workload: Sequence[SSAValue] = ()) -> None:
        super().__init__(operands=[list(workload)], result_types=[IndexType()] * 3)


@irdl_op_definition
class WorkloadOrdinalOp(IRDLOperation):
    """Names a dispatch operand as entry `ordinal` of the workload."""

    name = "iree_tensor_ext.dispatch.workload.ordinal"
    operand = operand_def(IndexType)
    ordinal = prop_def(IntegerAttr[IndexType])
    result = result_def(IndexType)

    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, ordinal: int) -> None:
        super().__init__(
            operands=[operand],
            result_types=[IndexType()],
            properties={"ordinal": IntegerAttr(ordinal, IndexType())},
        )


class _ComputeBarrierOp(IRDLOperation):
    """The value as it is: marks where the host's part of the program ends and the device's begins, or back."""

    value = operand_def(TensorType)
    value_dims = var_operand_def(IndexType)
    result = result_def(TensorType)
    traits = traits_def(Pure())


@irdl_op_definition
class ComputeBarrierStartOp(_ComputeBarrierOp):
    """Work on the value begins after it."""

    name = "iree_tensor_ext.compute_barrier.start"


@irdl_op_definition
class ComputeBarrierEndOp(_ComputeBarrierOp):
    """Work on the value ends before it."""

    name = "iree_tensor_ext.compute_barrier.end"


@irdl_op_definition
class BitCastOp(IRDLOperation):
    """The same bytes under another shape and element type."""

    name = "iree_tensor_ext.bitcast"
    source = operand_def(TensorType)
    source_dims = var_operand_def(IndexType)
    result_dims = var_operand_def(IndexType)
    result = result_def(TensorType)

    irdl_options = (_segments,)
    traits = traits_def(Pure())


IREETensorExt = Dialect(
    "iree_tensor_ext",
    [
        DispatchTensorLoadOp,
        DispatchTensorStoreOp,
        WorkgroupCountFromSliceOp,
        WorkloadOrdinalOp,
        ComputeBarrierStartOp,
        ComputeBarrierEndOp,
        BitCastOp,
    ],
    [DispatchTensorType],
)
