"""`stream.executable*`: device code whose functions take `!stream.binding`s.

Operand, result and property names and order are IREE 3.13's.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure, SymbolOpInterface, SymbolTable

from tiree.dialects.stream_attrs import BindingType


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


STREAM_EXECUTABLE_OPS: list[type[Operation]] = [
    ExecutableOp,
    ExecutableEndOp,
    ExecutableExportOp,
    ReturnOp,
    BindingSubspanOp,
    DispatchWorkgroupIDOp,
    DispatchWorkgroupCountOp,
    DispatchWorkgroupSizeOp,
]
