"""`tiree-flow-carry-loop-sizes`: what another compiler's counted loops carry with `?`, they carry with sizes.

In: `scf.for` that hands on tensors whose sizes only `tensor.dim` gives. Out: the sizes are further carried values.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, ModuleOp
from xdsl.dialects.scf import ForOp
from xdsl.dialects.tensor import DimOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.arith import ConstantOp, constant_int
from tiree.dialects.tensor_dims import dim_size, is_dynamic
from tiree.flow.structured import erase_op, function_blocks, insert_before, replace_op, shape_of


class CarryLoopSizes(ModulePass):
    """See the module's docstring."""

    name = "tiree-flow-carry-loop-sizes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for block in list(function_blocks(op)):
            for inner in list(block.ops):
                if isinstance(inner, ForOp) and any(map(is_dynamic, inner.results)):
                    _carry(inner)


def _carry(loop: ForOp) -> None:
    """Gives `loop` the sizes of what it carries; leaves it as it is where they are not at hand before it."""
    block = loop.regions[0].blocks.first
    assert block is not None
    end = block.last_op
    assert end is not None
    places = [
        (number, dim)
        for number, result in enumerate(loop.results)
        for dim, size in enumerate(shape_of(result))
        if size == DYNAMIC_INDEX
    ]
    given = [dim_size(loop.operands[number + 3], dim) for number, dim in places]
    if any(size is None for size in given):
        return
    for number, dim in places:
        _replace_dims(block.args[number + 1], dim, block.insert_arg(IndexType(), len(block.args)))
    end.operands = [*end.operands, *(_size_of(end.operands[number], dim, end) for number, dim in places)]
    made = ForOp.create(
        operands=[*loop.operands, *(_value(size, loop) for size in given if size is not None)],
        result_types=[*(result.type for result in loop.results), *[IndexType()] * len(places)],
        properties=dict(loop.properties),
        attributes=dict(loop.attributes),
        regions=[_taken(loop)],
        location=loop.location,
    )
    insert_before(loop, made)
    old = len(loop.results)
    replace_op(loop, made.results[:old])
    for (number, dim), size in zip(places, made.results[old:], strict=True):
        _replace_dims(made.results[number], dim, size)


def _taken(loop: Operation) -> Region:
    return loop.detach_region(loop.regions[0])


def _replace_dims(tensor: SSAValue, dim: int, size: SSAValue) -> None:
    for use in list(tensor.uses):
        op = use.operation
        if op.name == "tensor.dim" and constant_int(op.operands[1]) == dim:
            op.results[0].replace_all_uses_with(size)
            erase_op(op)


def _size_of(tensor: SSAValue, dim: int, anchor: Operation) -> SSAValue:
    """A size before `anchor`; asked for, and refused by name later, where nothing gives it."""
    size = dim_size(tensor, dim)
    if size is not None:
        return _value(size, anchor)
    asked = DimOp.create(operands=[tensor, _value(dim, anchor)], result_types=[IndexType()])
    insert_before(anchor, asked)
    return asked.results[0]


def _value(size: int | SSAValue, anchor: Operation) -> SSAValue:
    if not isinstance(size, int):
        return size
    constant = ConstantOp.index(size)
    insert_before(anchor, constant)
    return constant.result
