"""`tiree-dispatch-creation-drop-unit-dims`: loops of one iteration and the operand dims they index disappear.

In: generics. Out: the same computations over loops of at least two iterations, with reshapes of their operands
around (free on the host). Windowed ops (maps that add loops) are touched only where that turns them into something
simpler: a 1x1 convolution becomes a contraction.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from tiree.dialects.arith import ConstantOp
from tiree.dialects.flow import TensorReshapeOp
from tiree.flow.affine import linear_form, renumber
from tiree.flow.canonicalize import simplify_generic
from tiree.flow.cse import remove_unused_ops, top_blocks
from tiree.flow.reshapes import RESHAPE_OPS, convert_reshape, reshape
from tiree.flow.structured import (
    body_of,
    function_blocks,
    input_count,
    insert_before,
    iterators_of,
    loop_extents,
    make_generic,
    maps_of,
    replace_op,
    shape_of,
)
from tiree.support.typed import int_of, is_tensor_type


def adds_loops(map: AffineMap) -> bool:
    """Whether some result of `map` is not a single loop, a constant or a shifted or strided loop."""
    for expr in map.results:
        form = linear_form(expr)
        if form is None or len(form[1]) > 1:
            return True
    return False


def is_windowed(op: Operation) -> bool:
    """Whether `op` reads through sums of loops, as convolutions and pooling do."""
    return any(adds_loops(map) for map in maps_of(op))


def reads_pad(op: Operation) -> bool:
    """Whether `op` takes a pad along into its dispatch, where a reshape between them would be in the way."""
    return any(isinstance(value.owner, Operation) and value.owner.name == "tensor.pad" for value in op.operands)


def loops_to_drop(op: Operation) -> list[int]:
    """The loops of one iteration that go; none for an op that stays windowed without them."""
    extents = loop_extents(op)
    loops = [dim for dim, extent in enumerate(extents) if extent == 1]
    if not is_windowed(op):
        return loops
    positions = [-1 if extent == 1 else dim for dim, extent in enumerate(extents)]
    maps = [renumber(map, positions, len(extents)) for map in maps_of(op)]
    if any(adds_loops(map) for map in maps):
        return []
    if any(_reads_a_part(map, shape_of(value), extents) for map, value in zip(maps, op.operands, strict=True)):
        return []
    return loops


def _reads_a_part(map: AffineMap, shape: Sequence[int], extents: Sequence[int]) -> bool:
    """Whether a loop alone indexes a dimension that is longer than it: a window that leaves a rest of its input.

    A map to the loop alone would say that the loop is as long as the dimension.
    """
    return any(
        isinstance(expr, AffineDimExpr) and extents[expr.position] != size
        for expr, size in zip(map.results, shape, strict=True)
    )


def _keeps(expr: AffineExpr, size: int) -> bool:
    """Whether an operand dim of `size` indexed by (renumbered) `expr` stays."""
    return not (size == 1 and isinstance(expr, AffineConstantExpr))


def drop_unit_loops(op: Operation) -> None:
    """Rewrites one generic (see the head of the file)."""
    old_maps = maps_of(op)
    if not old_maps or reads_pad(op):
        return
    dropped = set(loops_to_drop(op))
    if not dropped and is_windowed(op):
        return
    total = old_maps[0].num_dims
    positions = [-1] * total
    kept = [dim for dim in range(total) if dim not in dropped]
    for new, dim in enumerate(kept):
        positions[dim] = new
    operands: list[SSAValue] = []
    maps: list[AffineMap] = []
    changed = bool(dropped)
    for value, old_map in zip(op.operands, old_maps, strict=True):
        map = renumber(old_map, positions, len(kept))
        shape = shape_of(value)
        stay = [i for i, expr in enumerate(map.results) if _keeps(expr, shape[i])]
        changed |= len(stay) < len(shape)
        operands.append(value)
        maps.append(AffineMap(len(kept), 0, tuple(map.results[i] for i in stay)))
    if not changed:
        return
    for i, value in enumerate(operands):
        if is_tensor_type(value.type):
            full = renumber(old_maps[i], positions, len(kept)).results
            sizes = [size for expr, size in zip(full, shape_of(value), strict=True) if _keeps(expr, size)]
            operands[i] = reshape(value, sizes, op)
    _rewrite(op, operands, maps, kept, positions)


def _rewrite(
    op: Operation, operands: list[SSAValue], maps: list[AffineMap], kept: list[int], positions: list[int]
) -> None:
    body = body_of(op)
    for inner in list(body.ops):
        if inner.name != "linalg.index":
            continue
        position = positions[int_of(inner.properties["dim"])]
        if position < 0:
            zero = ConstantOp.index(0)
            insert_before(inner, zero)
            replace_op(inner, [zero.result])
        else:
            from xdsl.dialects.builtin import IntegerAttr, i64

            inner.properties["dim"] = IntegerAttr(position, i64)
    op.regions[0].detach_block(body)
    parallel = iterators_of(op)
    count = input_count(op)
    new = make_generic(operands[:count], operands[count:], maps, [parallel[d] for d in kept], body, op.location)
    insert_before(op, new)
    results: list[SSAValue] = []
    for old, result in zip(op.results, new.results, strict=True):
        if old.type == result.type:
            results.append(result)
            continue
        back = TensorReshapeOp.of(result, old.type)
        insert_before(op, back)
        results.append(back.result)
    replace_op(op, results)
    simplify_generic(new)


def drop_in_block(block: Block) -> None:
    for op in list(block.ops):
        if op.name in RESHAPE_OPS:
            convert_reshape(op)
        elif op.name == "linalg.generic":
            drop_unit_loops(op)


class DropUnitDims(ModulePass):
    """Unit loops and dims go."""

    name = "tiree-dispatch-creation-drop-unit-dims"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in function_blocks(op):
            drop_in_block(block)
        for block in top_blocks(op):
            remove_unused_ops(block)  # A reshape nobody reads must not count as a use.
