"""`stream.cmd.parameter.*`: parameters that become resources."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)

from tiree.dialects.stream_attrs import ResourceType, TimepointType
from tiree.dialects.util_types import BufferType


@irdl_op_definition
class CmdParameterLoadOp(IRDLOperation):
    """`stream.cmd.parameter.load`: a resource for each key of a scope (`!util.buffer`s), at some time."""

    name = "stream.cmd.parameter.load"
    source_scope = opt_operand_def(BufferType)
    source_keys = var_operand_def(BufferType)
    source_offsets = var_operand_def(i64)
    result_sizes = var_operand_def(IndexType)
    await_timepoint = opt_operand_def(TimepointType)
    affinity = opt_prop_def(Attribute)
    results_ = var_result_def(ResourceType)
    result_timepoint = result_def(TimepointType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        scope: SSAValue | None,
        keys: Sequence[SSAValue],
        offsets: Sequence[SSAValue],
        sizes: Sequence[SSAValue],
        lifetime: str,
        affinity: Attribute | None,
    ) -> None:
        super().__init__(
            operands=[scope, keys, offsets, sizes, None],
            properties={"affinity": affinity},
            result_types=[[ResourceType(lifetime)] * len(keys), TimepointType()],
        )


STREAM_PARAMETER_OPS: list[type[Operation]] = [CmdParameterLoadOp]
