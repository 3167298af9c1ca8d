"""`tiree-input-static-bindings`: bindings whose dynamic dimensions are constants get static types.

IREE's own kernels (such as the one that splats 64-bit values) are written for any size and used for one. Tiree's stay
as they are: what is of a known size has a static type there already, or is read beside what has none.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.arith import constant_int
from tiree.dialects.hal_executable import InterfaceBindingSubspanOp
from tiree.dialects.iree_tensor_ext import (
    DispatchTensorLoadOp,
    DispatchTensorStoreOp,
    DispatchTensorType,
    segment_sizes,
)
from tiree.dialects.stream_executable import BindingSubspanOp
from tiree.support.marks import SCHEDULED
from tiree.support.typed import ints_of, operands_of


class StaticBindingsPass(ModulePass):
    """Out: no binding with a dynamic dimension whose size is a constant, in modules that Tiree has not scheduled."""

    name = "tiree-input-static-bindings"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        if SCHEDULED in op.attributes:
            return
        for inner in list(op.walk()):
            if isinstance(inner, (InterfaceBindingSubspanOp, BindingSubspanOp)) and inner.dynamic_dims:
                _specialise(inner)


def _specialise(op: InterfaceBindingSubspanOp | BindingSubspanOp) -> None:
    bound = op.result.type
    sizes = [constant_int(value) for value in op.dynamic_dims]
    if not isinstance(bound, DispatchTensorType) or None in sizes:
        return
    if not all(isinstance(use.operation, (DispatchTensorLoadOp, DispatchTensorStoreOp)) for use in op.result.uses):
        return
    given = iter(sizes)
    tensor = bound.tensor_type
    shape = [next(given) if size == DYNAMIC_INDEX else size for size in tensor.get_shape()]
    static = DispatchTensorType(bound.access, TensorType(tensor.element_type, [size or 0 for size in shape]))
    properties = dict(op.properties)
    if isinstance(op, InterfaceBindingSubspanOp):
        properties["operandSegmentSizes"] = segment_sizes(0 if op.byte_offset is None else 1, 0)
    new = type(op).create(
        operands=operands_of(op)[: len(op.operands) - len(sizes)],
        result_types=[static],
        properties=properties,
        attributes=op.attributes,
        location=op.location,
    )
    block = op.parent
    assert block is not None
    block.insert_op_before(new, op)
    for use in list(op.result.uses):
        _without_dims(use.operation)
    op.result.replace_all_uses_with(new.result)
    op.detach()
    op.erase()


def _without_dims(op: Operation) -> None:
    """Takes the sizes of the whole binding from a load or store."""
    at = 1 if isinstance(op, DispatchTensorStoreOp) else 0
    counts = list(ints_of(op.properties["operandSegmentSizes"]))
    start = sum(counts[: at + 1])
    operands: list[SSAValue] = [*operands_of(op)[:start], *operands_of(op)[start + counts[at + 1] :]]
    counts[at + 1] = 0
    op.operands = operands
    op.properties["operandSegmentSizes"] = segment_sizes(*counts)
