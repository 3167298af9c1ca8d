"""`tiree-dispatch-creation-materialize-slices`: slices that something other than a dispatch reads become values.

In: `tensor.extract_slice`. Out: those read by structured ops stay (the dispatch loads the box from the whole
tensor); for all other readers a static contiguous box is a `flow.tensor.slice` (a copy, or a view) and any other an
identity generic.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from tiree.dialects.arith import ConstantOp
from tiree.dialects.flow import TensorReshapeOp, TensorSliceOp
from tiree.dialects.iree_linalg_ext_attention import NAME as ATTENTION
from tiree.flow.slices import has_static_strides, is_one_copy, mixed_operands
from tiree.flow.structured import (
    defining_op,
    function_blocks,
    insert_before,
    make_empty,
    make_generic,
    make_yield,
    shape_of,
)
from tiree.support.typed import ints_of, is_tensor_type


def root_of(value: SSAValue) -> SSAValue:
    """The tensor that `value` is a slice or another shape of."""
    while (op := defining_op(value)) is not None and op.name in _VIEWS:
        value = op.operands[0]
    return value


_VIEWS = ("tensor.extract_slice", "tensor.expand_shape", "tensor.collapse_shape", "flow.tensor.reshape")


def read_by_dispatch(use: Use) -> bool:
    """Whether a slice is read by a structured op, in the body of one, or as the source of a store that a dispatch does
    (into a tensor other than the one it reads: in place, the two could overlap)."""
    user = use.operation
    parent = user.parent_op()
    if is_store(user):
        return use.index == 0 and root_of(user.operands[0]) is not root_of(user.operands[1])
    return user.name in ("linalg.generic", ATTENTION) or (parent is not None and parent.name == "linalg.generic")


def is_store(op: Operation) -> bool:
    """Whether `op` is an insertion that a dispatch does in place, rather than one copy."""
    return op.name == "tensor.insert_slice" and not is_one_copy(op, shape_of(op.operands[1]))


def host_indices(values: list[int | SSAValue], anchor: Operation) -> list[SSAValue]:
    """Index values before `anchor`; constants for ints."""
    indices: list[SSAValue] = []
    for value in values:
        if isinstance(value, int):
            constant = ConstantOp.index(value)
            insert_before(anchor, constant)
            value = constant.result
        indices.append(value)
    return indices


def as_copy_command(op: Operation) -> SSAValue:
    """The contiguous box of `op` as `flow.tensor.slice`."""
    offsets = mixed_operands(op, "static_offsets", 1)
    sizes = list(ints_of(op.properties["static_sizes"]))
    type = op.results[0].type
    assert is_tensor_type(type)
    full = TensorType(type.element_type, sizes)
    slice = TensorSliceOp.of(op.operands[0], host_indices(offsets, op), host_indices([*sizes], op), full)
    insert_before(op, slice)
    if full == type:
        return slice.result
    reduced = TensorReshapeOp.of(slice.result, type)
    insert_before(op, reduced)
    return reduced.result


def as_copy_op(value: SSAValue, anchor: Operation) -> SSAValue:
    """An identity generic over `value`, before `anchor`."""
    type = value.type
    assert is_tensor_type(type)
    rank = len(type.get_shape())
    body = Block(arg_types=[type.element_type, type.element_type])
    body.add_op(make_yield([body.args[0]]))
    empty = make_empty(type)
    identity = AffineMap.identity(rank)
    copy = make_generic([value], [empty.results[0]], [identity, identity], [True] * rank, body, anchor.location)
    insert_before(anchor, empty, copy)
    return copy.results[0]


def materialize(op: Operation) -> None:
    result = op.results[0]
    if all(read_by_dispatch(use) for use in result.uses) or not has_static_strides(op):
        return
    if is_one_copy(op, shape_of(op.operands[0])):
        value = as_copy_command(op)
    else:
        assert op.next_op is not None
        value = as_copy_op(result, op.next_op)
    copy = value.owner
    result.replace_uses_with_if(value, lambda use: use.operation is not copy and not read_by_dispatch(use))


class MaterializeSlices(ModulePass):
    """Slices as copies where no dispatch takes them along."""

    name = "tiree-dispatch-creation-materialize-slices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in function_blocks(op):
            for inner in list(block.ops):
                if inner.name == "tensor.extract_slice":
                    materialize(inner)
