"""A fusion rule: reductions of the same tensors over the same loops become one loop nest with several results.

    tiree-compile --tiree-plugin=examples/plugins/sibling_reductions.py model.mlir -o model.vmfb

A mean and a variance read their tensor twice, in two dispatches; with this rule once, in one. The pass runs after Tiree
has fused elementwise work, when a reduction of `x * x` reads `x` itself.
"""

from __future__ import annotations

from tiree.dialects.iree_tensor_ext import segment_sizes
from tiree.plugins import Registry
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

STARTS = ("linalg.fill", "tensor.empty", "arith.constant")
"""What the first value of a reduction is made of: it can be computed anywhere."""


class FuseSiblingReductions(ModulePass):
    """In: fused `linalg.generic`s on tensors. Out: siblings that reduce the same tensors alike are one."""

    name = "fuse-sibling-reductions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for function in op.ops:
            for region in function.regions:
                for block in region.blocks:
                    fuse_in_block(block)


def fuse_in_block(block: Block) -> None:
    """Each reduction joins the first one before it that reads the same tensors alike."""
    seen: list[GenericOp] = []
    for op in list(block.ops):
        if not isinstance(op, GenericOp) or all(one.data.value == "parallel" for one in op.iterator_types.data):
            continue
        first = next((one for one in seen if are_siblings(one, op)), None)
        if first is None:
            seen.append(op)
        else:
            seen[seen.index(first)] = fuse(first, op)


def are_siblings(first: GenericOp, second: GenericOp) -> bool:
    """Whether one loop nest can do both, where `first` stands."""
    count = len(first.inputs)
    return (
        list(first.inputs) == list(second.inputs)
        and first.indexing_maps.data[:count] == second.indexing_maps.data[:count]
        and first.iterator_types == second.iterator_types
        and all(can_move(value) for value in second.outputs)
    )


def can_move(value: SSAValue) -> bool:
    op = value.owner
    return isinstance(op, Operation) and op.name in STARTS and all(can_move(operand) for operand in op.operands)


def move_before(value: SSAValue, place: Operation) -> None:
    """Moves what makes `value` before `place`."""
    op = value.owner
    assert isinstance(op, Operation)
    block = place.parent_block()
    if op.parent_block() is block and block is not None and not op.is_before_in_block(place):
        op.detach()
        block.insert_op_before(op, place)
    for operand in op.operands:
        move_before(operand, op)


def fuse(first: GenericOp, second: GenericOp) -> GenericOp:
    """One operation in the place of `first`, with the results of both."""
    block = first.parent_block()
    assert block is not None
    for value in second.outputs:
        move_before(value, first)
    count = len(first.inputs)
    outputs = [*first.outputs, *second.outputs]
    maps = [*first.indexing_maps.data, *second.indexing_maps.data[count:]]
    new = GenericOp.create(
        operands=[*first.inputs, *outputs],
        result_types=[value.type for value in outputs],
        properties={
            "indexing_maps": ArrayAttr(maps),
            "iterator_types": first.iterator_types,
            "operandSegmentSizes": segment_sizes(count, len(outputs)),
        },
        regions=[Region(joined_body(first, second))],
    )
    new.location = first.location
    block.insert_op_before(new, first)
    for old, result in zip((*first.results, *second.results), new.results, strict=True):
        old.replace_all_uses_with(result)
    for op in (first, second):
        op.detach()
        op.erase()
    return new


def joined_body(first: GenericOp, second: GenericOp) -> Block:
    """The bodies of both, one after the other, on the same input elements."""
    count = len(first.inputs)
    body = Block(arg_types=[arg.type for arg in (*first.body.block.args, *second.body.block.args[count:])])
    yielded: list[SSAValue] = []
    offset = count
    for op in (first, second):
        old = op.body.block
        own = [*body.args[:count], *body.args[offset : offset + len(op.outputs)]]
        offset += len(op.outputs)
        mapping: dict[SSAValue, SSAValue] = dict(zip(old.args, own, strict=True))
        for inner in old.ops:
            if isinstance(inner, YieldOp):
                yielded += [mapping.get(value, value) for value in inner.operands]
            else:
                body.add_op(inner.clone(value_mapper=mapping))
    body.add_op(YieldOp.create(operands=yielded))
    return body


def register(registry: Registry) -> None:
    registry.add_pass(FuseSiblingReductions, at="after-fusion")
