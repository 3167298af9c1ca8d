"""`tiree-flow-sink-scalars`: host arithmetic on elements of tensors moves into the ops that use its result.

A scalar read from a tensor on the host (`tensor.extract` outside any body) would have to come back from the device.
In: bodies and `tensor.from_elements`/`linalg.fill` that use such scalars. Out: bodies read the tensors themselves,
rank-0 ones as an input with the map `(...) -> ()`; what still reads an element on the host is a condition of
control flow.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from tiree.flow.index_math import IndexBuilder
from tiree.flow.structured import (
    body_of,
    captured_values,
    defining_op,
    function_blocks,
    input_count,
    insert_before,
    is_tensor,
    make_empty,
    make_generic,
    make_yield,
    maps_of,
    replace_op,
    set_maps,
    set_segments,
)
from tiree.support.typed import is_tensor_type


def is_host_arithmetic(op: Operation | None) -> bool:
    return op is not None and (op.name.startswith(("arith.", "math.")) and op.name != "arith.constant")


def reads_tensor(value: SSAValue) -> bool:
    """Whether host scalar `value` depends on an element of a tensor."""
    pending = [value]
    seen: set[Operation] = set()
    while pending:
        op = defining_op(pending.pop())
        if op is None or op in seen:
            continue
        seen.add(op)
        if op.name in ("tensor.extract", "flow.tensor.load"):
            return True
        if is_host_arithmetic(op):
            pending.extend(op.operands)
    return False


def clone_chain(value: SSAValue, block: Block, anchor: Operation, done: dict[SSAValue, SSAValue]) -> SSAValue:
    """`value` computed before `anchor` in `block`; constants and values that are no host arithmetic stay outside."""
    if value in done:
        return done[value]
    op = defining_op(value)
    if op is None or not (is_host_arithmetic(op) or op.name == "tensor.extract"):
        return value
    for operand in op.operands:
        if not is_tensor(operand):
            done[operand] = clone_chain(operand, block, anchor, done)
    copy = op.clone({operand: done.get(operand, operand) for operand in op.operands})
    block.insert_op_before(copy, anchor)
    for old, new in zip(op.results, copy.results, strict=True):
        done[old] = new
    return done[value]


def sink_into_body(op: Operation) -> None:
    """Replaces captured scalars of a structured op that depend on tensors by their computation."""
    scalars = [value for value in captured_values(op) if not is_tensor(value) and reads_tensor(value)]
    if not scalars:
        return
    block = body_of(op)
    anchor = block.first_op
    assert anchor is not None
    done: dict[SSAValue, SSAValue] = {}
    for value in scalars:
        clone_chain(value, block, anchor, done)
        new = done[value]
        value.replace_uses_with_if(new, lambda use: _is_inside(use.operation, block))
    promote_reads(op)


def _is_inside(op: Operation, block: Block) -> bool:
    return op.parent is block


def promote_reads(op: Operation) -> None:
    """Reads of outside tensors of rank 0 in the body become inputs."""
    block = body_of(op)
    for inner in list(block.ops):
        if inner.name != "tensor.extract" or len(inner.operands) != 1:
            continue
        source = inner.operands[0]
        count = input_count(op)
        maps = maps_of(op)
        argument = block.insert_arg(inner.results[0].type, count)
        op.operands = [*op.operands[:count], source, *op.operands[count:]]
        set_maps(op, [*maps[:count], AffineMap(maps[0].num_dims, 0, ()), *maps[count:]])
        set_segments(op, count + 1, len(op.operands) - count - 1)
        replace_op(inner, [argument])


def elements_to_generic(op: Operation) -> None:
    """`from_elements` of values that are not constants: a generic that selects by position."""
    type = op.results[0].type
    assert is_tensor_type(type)
    if len(op.operands) == 1 and not reads_tensor(op.operands[0]):
        return  # One host scalar: a splat.
    shape = type.get_shape()
    body = Block(arg_types=[type.element_type])
    index = IndexBuilder(body)
    linear: SSAValue = index.constant(0)
    for dim, size in enumerate(shape):
        linear = index.add(index.mul(linear, index.constant(size)) if dim else linear, index.loop(dim))
    value = op.operands[0]
    for position, element in enumerate(op.operands[1:], start=1):
        test = index.compare(0, linear, index.constant(position))
        value = index.select(test, element, value)
    body.add_op(make_yield([value]))
    _replace_by_generic(op, body, len(shape))


def fill_to_generic(op: Operation) -> None:
    """A fill with an element of a tensor: a broadcast."""
    if not reads_tensor(op.operands[0]):
        return
    type = op.results[0].type
    assert is_tensor_type(type)
    body = Block(arg_types=[type.element_type])
    body.add_op(make_yield([op.operands[0]]))
    _replace_by_generic(op, body, len(type.get_shape()))


def _replace_by_generic(op: Operation, body: Block, rank: int) -> None:
    empty = make_empty(op.results[0].type)
    generic = make_generic([], [empty.results[0]], [AffineMap.identity(rank)], [True] * rank, body, op.location)
    insert_before(op, empty, generic)
    sink_into_body(generic)
    replace_op(op, generic.results)


class SinkScalars(ModulePass):
    """Element reads go where they are used."""

    name = "tiree-flow-sink-scalars"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in function_blocks(op):
            for inner in list(block.ops):
                if inner.name == "linalg.generic":
                    sink_into_body(inner)
                    promote_reads(inner)
                elif inner.name == "tensor.from_elements":
                    elements_to_generic(inner)
                elif inner.name == "linalg.fill":
                    fill_to_generic(inner)
