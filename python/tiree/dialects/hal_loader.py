"""The `hal_loader` dialect: executables of programs that have no devices. A dispatch runs in place.

Operand, result and property names and order are IREE 3.13's.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, StringAttr, SymbolRefAttr, i1, i32, i64
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from tiree.dialects.hal_attrs import ExecutableType
from tiree.dialects.util_types import BufferType as HostBufferType


@irdl_op_definition
class ExecutableQuerySupportOp(IRDLOperation):
    """`hal_loader.executable.query_support`: whether images of a format can be loaded."""

    name = "hal_loader.executable.query_support"
    executable_format = prop_def(StringAttr)
    supported = result_def(i1)
    traits = traits_def(Pure())

    def __init__(self, format: str) -> None:
        super().__init__(properties={"executable_format": StringAttr(format)}, result_types=[i1])


@irdl_op_definition
class ExecutableLoadOp(IRDLOperation):
    """`hal_loader.executable.load`: the executable of an image."""

    name = "hal_loader.executable.load"
    data = operand_def(HostBufferType)
    constants = var_operand_def(i32)
    format = prop_def(StringAttr)
    result = result_def(ExecutableType)

    def __init__(self, format: str, data: SSAValue) -> None:
        super().__init__(
            operands=[data, []], properties={"format": StringAttr(format)}, result_types=[ExecutableType()]
        )


@irdl_op_definition
class ExecutableLookupFunctionOp(IRDLOperation):
    """`hal_loader.executable.lookup.function`: the id of a function."""

    name = "hal_loader.executable.lookup.function"
    executable = operand_def(ExecutableType)
    entry_point = prop_def(SymbolRefAttr)
    result = result_def(i64)
    traits = traits_def(Pure())

    def __init__(self, executable: SSAValue, entry_point: SymbolRefAttr) -> None:
        super().__init__(operands=[executable], properties={"entry_point": entry_point}, result_types=[i64])


@irdl_op_definition
class ExecutableDispatchOp(IRDLOperation):
    """`hal_loader.executable.dispatch`: runs a function over a grid of workgroups, now."""

    name = "hal_loader.executable.dispatch"
    executable = operand_def(ExecutableType)
    function_id = operand_def(i64)
    workgroup_x = operand_def(IndexType)
    workgroup_y = operand_def(IndexType)
    workgroup_z = operand_def(IndexType)
    constants = var_operand_def(i32)
    binding_buffers = var_operand_def(HostBufferType)
    binding_offsets = var_operand_def(IndexType)
    binding_lengths = var_operand_def(IndexType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        executable: SSAValue,
        function: SSAValue,
        counts: Sequence[SSAValue],
        constants: Sequence[SSAValue],
        bindings: Sequence[tuple[SSAValue, SSAValue, SSAValue]],
    ) -> None:
        """`bindings`: buffer, offset and length each."""
        buffers, offsets, lengths = ([one[part] for one in bindings] for part in range(3))
        super().__init__(operands=[executable, function, *counts, list(constants), buffers, offsets, lengths])


HAL_LOADER_OPS: list[type[Operation]] = [
    ExecutableQuerySupportOp,
    ExecutableLoadOp,
    ExecutableLookupFunctionOp,
    ExecutableDispatchOp,
]
HalLoader = Dialect("hal_loader", HAL_LOADER_OPS, [])
