"""The `iree_codegen` dialect, as far as iree-compile prints it in executables that it has configured.

Tensors come from and go to memrefs there, and a `dispatch_config` repeats how many workgroups a function needs. Tiree
reads these ops and never makes them; attributes such as `#iree_codegen.translation_info` are kept as they are written.
"""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, SymbolRefAttr, TensorType
from xdsl.ir import Dialect
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
from xdsl.traits import IsolatedFromAbove, IsTerminator, MemoryReadEffect, MemoryWriteEffect


@irdl_op_definition
class LoadFromBufferOp(IRDLOperation):
    """The contents of a buffer as a tensor."""

    name = "iree_codegen.load_from_buffer"
    buffer = operand_def(MemRefType)
    tensor = result_def(TensorType)
    traits = traits_def(MemoryReadEffect())


@irdl_op_definition
class StoreToBufferOp(IRDLOperation):
    """A tensor written over a buffer."""

    name = "iree_codegen.store_to_buffer"
    tensor = operand_def(TensorType)
    buffer = operand_def(MemRefType)
    traits = traits_def(MemoryWriteEffect())


@irdl_op_definition
class DispatchConfigOp(IRDLOperation):
    """The workgroups of function `function_ref`, as its export's region has them."""

    name = "iree_codegen.dispatch_config"
    function_ref = prop_def(SymbolRefAttr)
    workgroup_size = opt_prop_def()
    subgroup_size = opt_prop_def()
    body = region_def()
    traits = traits_def(IsolatedFromAbove())


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a region of this dialect."""

    name = "iree_codegen.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator())


IREECodegen = Dialect("iree_codegen", [LoadFromBufferOp, StoreToBufferOp, DispatchConfigOp, YieldOp], [])
