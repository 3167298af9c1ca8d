"""`hal.tensor.alias`: a tensor in memory that the caller gives."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    var_operand_def,
)

from tiree.dialects.hal_attrs import FenceType


@irdl_op_definition
class TensorAliasOp(IRDLOperation):
    """`hal.tensor.alias`: `source` in the memory of `storage`, once `wait_fence` (if any) is reached."""

    name = "hal.tensor.alias"
    source = operand_def()
    source_dims = var_operand_def(IndexType)
    storage = operand_def()
    wait_fence = opt_operand_def(FenceType)
    affinity = opt_prop_def(Attribute)
    result = result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        source: SSAValue,
        dims: Sequence[SSAValue],
        storage: SSAValue,
        wait: SSAValue | None,
        place: Attribute | None,
    ) -> None:
        super().__init__(
            operands=[source, list(dims), storage, wait],
            properties={"affinity": place},
            result_types=[source.type],
        )


HAL_ALIAS_OPS: list[type[Operation]] = [TensorAliasOp]
