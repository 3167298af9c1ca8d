"""`tiree-dispatch-creation-sink-reshapes`: reshapes become `flow.tensor.reshape` and move behind the ops that read
them.

In: tensor.expand_shape, collapse_shape and reshape of static shapes. Out: `flow.tensor.reshape` only (free on the
host), and an op that reads a reshape of a structured op's result works on that result's own shape, so that the two
can share a dispatch. The rewritten op's loops are groups of the old ones (or the old ones split); a map that breaks
a group stops it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass

from tiree.dialects.flow import TensorReshapeOp
from tiree.dialects.tensor_dims import is_dynamic
from tiree.flow.affine import dim_positions, is_projected_permutation
from tiree.flow.canonicalize import FOLDERS
from tiree.flow.cost import is_free
from tiree.flow.cse import remove_unused_ops, top_blocks
from tiree.flow.fuse_elementwise import is_epilogue_candidate, reads_repeatedly
from tiree.flow.structured import (
    body_of,
    defining_op,
    erase_op,
    function_blocks,
    input_count,
    inputs_of,
    insert_before,
    is_elementwise,
    is_generic,
    iterators_of,
    make_empty,
    make_generic,
    maps_of,
    replace_op,
    require_static,
    shape_of,
)
from tiree.support.typed import int_of, is_tensor_type, op_of

Group = tuple[list[int], list[int]]
"""Dims of the old shape and the dims of the new shape with the same elements."""


def reassociate(old: Sequence[int], new: Sequence[int]) -> list[Group] | None:
    """Smallest runs of dims with equal products, in order; None when an extent is 0."""
    groups: list[Group] = []
    i = j = 0
    if 0 in old or 0 in new:
        return None
    while i < len(old) or j < len(new):
        left, right = [i] if i < len(old) else [], [j] if j < len(new) else []
        a, b = (old[i] if left else 1), (new[j] if right else 1)
        i, j = i + len(left), j + len(right)
        while a != b:
            if a < b:
                a *= old[i]
                left.append(i)
                i += 1
            else:
                b *= new[j]
                right.append(j)
                j += 1
        groups.append((left, right))
    return groups


def reshape(value: SSAValue, shape: Sequence[int], anchor: Operation) -> SSAValue:
    """`value` under another static shape, as a new op before `anchor` unless it folds."""
    assert is_tensor_type(value.type)
    if tuple(shape) == value.type.get_shape():
        return value
    type = TensorType(value.type.element_type, list(shape))
    producer = defining_op(value)
    if producer is not None and producer.name == "tensor.empty":
        empty = make_empty(type)
        insert_before(anchor, empty)
        return empty.results[0]
    if producer is not None and producer.name == "flow.tensor.reshape" and not is_dynamic(producer.operands[0]):
        value = producer.operands[0]
        if value.type == type:
            return value
    op = TensorReshapeOp.of(value, type)
    insert_before(anchor, op)
    folded = FOLDERS["flow.tensor.reshape"](op)
    if folded is not None:
        replace_op(op, [folded])
        return folded
    return op.result


def drop_unused(value: SSAValue) -> None:
    """Erases the reshape that makes `value` if nothing reads it: it must not count as a use of what it reads."""
    producer = defining_op(value)
    if producer is not None and producer.name == "flow.tensor.reshape" and value.first_use is None:
        erase_op(producer)


def convert_reshape(op: Operation) -> None:
    """Replaces a tensor reshape by `flow.tensor.reshape`, folded with what it reads."""
    require_static(op.operands[0], op)
    require_static(op.results[0], op)
    source = op.operands[0]
    replace_op(op, [reshape(source, shape_of(op.results[0]), op)])
    drop_unused(source)


def regroup(map: AffineMap, groups: list[Group]) -> list[int] | None:
    """The new dims of a map that selects old dims, or None when it splits or reorders a merged group."""
    positions = dim_positions(map)
    if positions is None or not is_projected_permutation(map):
        return None
    owner = {old: index for index, (olds, _) in enumerate(groups) for old in olds}
    result: list[int] = []
    at = 0
    while at < len(positions):
        olds, news = groups[owner[positions[at]]]
        if positions[at : at + len(olds)] != olds:
            return None
        result.extend(news)
        at += len(olds)
    return result


def loop_groups(op: Operation, operand: int, source_shape: Sequence[int]) -> list[Group] | None:
    """The loops of `op` paired with its loops after operand `operand` takes `source_shape`."""
    positions = dim_positions(maps_of(op)[operand])
    groups = reassociate(shape_of(op.operands[operand]), source_shape)
    if groups is None or positions is None or len(set(positions)) != len(positions):
        return None
    parallel = iterators_of(op)
    result: list[Group] = []
    fresh = 0
    covered: dict[int, Group] = {}
    for olds, news in groups:
        if not olds or not news or (len(olds) > 1 and len(news) > 1):
            return None
        loops = [positions[dim] for dim in olds]
        if len({parallel[loop] for loop in loops}) > 1 or loops != list(range(loops[0], loops[0] + len(loops))):
            return None
        for loop in loops:
            covered[loop] = (loops, news)
    # Number the new loops in the order of the old ones.
    done: set[int] = set()
    for loop in range(len(parallel)):
        if loop in done:
            continue
        loops, news = covered.get(loop, ([loop], [0]))
        done.update(loops)
        result.append((loops, list(range(fresh, fresh + len(news)))))
        fresh += len(news)
    return result


def sink_reshape(op: Operation, operand: int) -> bool:
    """Rewrites `op` in the space of the source of the reshape that is its input `operand`. False: not possible."""
    source = op_of(op.operands[operand]).operands[0]
    groups = loop_groups(op, operand, shape_of(source))
    if groups is None or not _can_renumber(op, groups):
        return False
    num_dims = sum(len(news) for _, news in groups)
    new_maps: list[list[int]] = []
    for map in maps_of(op):
        regrouped = regroup(map, groups)
        if regrouped is None:
            return False
        new_maps.append(regrouped)
    extents = [0] * num_dims
    for dim, size in zip(new_maps[operand], shape_of(source), strict=True):
        extents[dim] = size
    for map, value in zip(maps_of(op), op.operands, strict=True):
        for expr, size in zip(map.results, shape_of(value), strict=True):
            for olds, news in groups:
                if len(olds) == 1 and len(news) == 1 and isinstance(expr, AffineDimExpr) and expr.position == olds[0]:
                    extents[news[0]] = size
    rebuild(op, groups, num_dims, new_maps, extents)
    return True


def _can_renumber(op: Operation, groups: list[Group]) -> bool:
    """Whether the body asks only for the indices of loops that stay as they are."""
    return all(_renumbered(inner, groups) is not None for inner in body_of(op).ops if inner.name == "linalg.index")


def _renumbered(index: Operation, groups: list[Group]) -> int | None:
    dim = int_of(index.properties["dim"])
    for olds, news in groups:
        if olds == [dim] and len(news) == 1:
            return news[0]
    return None


def rebuild(op: Operation, groups: list[Group], num_dims: int, new_maps: list[list[int]], extents: list[int]) -> None:
    """Replaces `op` by the same computation over the new loops; operands and results are reshaped around it."""
    parallel = iterators_of(op)
    new_parallel = [False] * num_dims
    for olds, news in groups:
        for dim in news:
            new_parallel[dim] = parallel[olds[0]]
    count = input_count(op)
    operands = [
        reshape(value, [extents[dim] for dim in dims], op) if is_tensor_type(value.type) else value
        for value, dims in zip(op.operands, new_maps, strict=True)
    ]
    body = body_of(op)
    for inner in body.ops:
        if inner.name == "linalg.index":
            new = _renumbered(inner, groups)
            assert new is not None
            inner.properties["dim"] = IntegerAttr(new, i64)
    op.regions[0].detach_block(body)
    maps = [AffineMap(num_dims, 0, tuple(AffineDimExpr(dim) for dim in dims)) for dims in new_maps]
    generic = make_generic(operands[:count], operands[count:], maps, new_parallel, body, op.location)
    insert_before(op, generic)
    results: list[SSAValue] = []
    for old, new in zip(op.results, generic.results, strict=True):
        back = TensorReshapeOp.of(new, old.type)
        insert_before(op, back)
        results.append(back.result)
    old_operands = list(op.operands)
    replace_op(op, results)
    for value in old_operands:
        drop_unused(value)


def sink_into(op: Operation) -> bool:
    """Sinks the first reshape of a structured op's result that `op` reads. False: there was none.

    A contraction takes only what it can then fuse: data movement, whose loops it splits.
    """
    matrix_like = reads_repeatedly(op)
    for index, value in enumerate(inputs_of(op)):
        producer = defining_op(value)
        if producer is None or producer.name != "flow.tensor.reshape":
            continue
        source = defining_op(producer.operands[0])
        if source is None or not is_generic(source):
            continue
        if matrix_like:
            splits = len(shape_of(producer.operands[0])) > len(shape_of(value))
            movement = is_elementwise(source) and is_free(source) and not is_epilogue_candidate(source)
            if not splits or not movement:
                continue
        if sink_reshape(op, index):
            return True
    return False


RESHAPE_OPS = ("tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape")


def sink_in_block(block: Block) -> None:
    for op in list(block.ops):
        if op.name in RESHAPE_OPS:
            convert_reshape(op)
        elif op.name == "flow.tensor.reshape":
            source = op.operands[0]
            if (value := FOLDERS[op.name](op)) is not None:
                replace_op(op, [value])
                drop_unused(source)
        elif op.name == "linalg.generic":
            sink_into(op)


class SinkReshapes(ModulePass):
    """Reshapes behind the ops that read them."""

    name = "tiree-dispatch-creation-sink-reshapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in function_blocks(op):
            sink_in_block(block)
        for block in top_blocks(op):
            remove_unused_ops(block)  # A reshape nobody reads must not count as a use.
