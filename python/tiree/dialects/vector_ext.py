"""Operations of the `vector` dialect that xDSL lacks and kernels need.

Names, operand order and property names are MLIR's, so that the generic form is accepted by other tools.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, VectorType
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class StepOp(IRDLOperation):
    """`vector.step`: 0, 1, 2, ... as a 1-D vector of index."""

    name = "vector.step"
    result = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, lanes: int) -> None:
        super().__init__(result_types=[VectorType(IndexType(), [lanes])])


@irdl_op_definition
class FromElementsOp(IRDLOperation):
    """`vector.from_elements` (printed in generic form): a 1-D vector of the given scalars, lane by lane."""

    name = "vector.from_elements"
    elements = var_operand_def()
    dest = result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(self, elements: Sequence[SSAValue], type: VectorType) -> None:
        super().__init__(operands=[list(elements)], result_types=[type])

    def verify_(self) -> None:
        shape = self.dest.type.get_shape()
        if len(self.elements) != shape[0]:
            raise VerifyException(f"vector.from_elements needs {shape[0]} elements, got {len(self.elements)}")


@irdl_op_definition
class GatherOp(IRDLOperation):
    """`vector.gather`: lane i is `mask[i] ? base[offsets + indices[i]] : pass_thru[i]`.

    `indices` is a vector of i32, i64 or index, counted in elements of the innermost dimension.
    """

    name = "vector.gather"
    base = operand_def(MemRefType)
    offsets = var_operand_def(IndexType)
    indices = operand_def(VectorType)
    mask = operand_def(VectorType)
    pass_thru = operand_def(VectorType)
    alignment = opt_prop_def(IntegerAttr)
    result = result_def(VectorType)
    traits = traits_def(MemoryReadEffect())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($indices)"
        " `,` type($mask) `,` type($pass_thru) `into` type($result)"
    )

    def __init__(
        self, base: SSAValue, offsets: Sequence[SSAValue], indices: SSAValue, mask: SSAValue, pass_thru: SSAValue
    ) -> None:
        super().__init__(operands=[base, list(offsets), indices, mask, pass_thru], result_types=[pass_thru.type])


@irdl_op_definition
class ScatterOp(IRDLOperation):
    """`vector.scatter`: lane i writes `value[i]` to `base[offsets]` displaced by `indices[i]` elements where `mask[i]`.

    Lanes that name the same element are written in lane order.
    """

    name = "vector.scatter"
    base = operand_def(MemRefType)
    offsets = var_operand_def(IndexType)
    indices = operand_def(VectorType)
    mask = operand_def(VectorType)
    value_to_store = operand_def(VectorType)
    alignment = opt_prop_def(IntegerAttr)
    traits = traits_def(MemoryWriteEffect())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $value_to_store attr-dict `:` type($base) `,`"
        " type($indices) `,` type($mask) `,` type($value_to_store)"
    )

    def __init__(
        self, base: SSAValue, offsets: Sequence[SSAValue], indices: SSAValue, mask: SSAValue, value: SSAValue
    ) -> None:
        super().__init__(operands=[base, list(offsets), indices, mask, value])


VECTOR_EXT_OPS: list[type[Operation]] = [StepOp, FromElementsOp, GatherOp, ScatterOp]

VectorExt = Dialect("vector", VECTOR_EXT_OPS, [])
"""Registered beside xDSL's `Vector`."""
