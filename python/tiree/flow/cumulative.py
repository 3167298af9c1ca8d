"""Cumulative reductions: windows as long as the dimension, over a tensor padded by one less on one side.

This is how `cumsum` and its kin are written as windows. They become reductions of the tensor itself, in which element j
counts for result i if j <= i (or j >= i):

```mlir
%i = linalg.index 1 : index
%j = linalg.index 2 : index
%counts = arith.cmpi sle, %j, %i : index
%one = arith.select %counts, %x, %neutral : f32
%sum = arith.addf %acc, %one : f32
```

Read literally, the work grows with the square of the dimension. Code generation knows the form and carries the result
from one element to the next.
"""

from __future__ import annotations

from xdsl.dialects.arith import CmpiOp, SelectOp
from xdsl.ir import Block, Operation
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineDimExpr, AffineExpr, AffineMap

from tiree.dialects.arith import ConstantOp, constant_of
from tiree.flow.simplify_generic import number_of
from tiree.flow.structured import (
    body_of,
    defining_op,
    element_type_of,
    erase_op,
    input_count,
    insert_before,
    is_generic,
    iterators_of,
    loop_extents,
    make_generic,
    make_index,
    make_yield,
    maps_of,
    replace_op,
    shape_of,
    yielded,
)
from tiree.support.typed import ints_of, op_of

_NEUTRAL = {"arith.addf": 0, "arith.addi": 0, "arith.xori": 0, "arith.mulf": 1, "arith.muli": 1}
_IDEMPOTENT = frozenset(
    f"arith.{name}"
    for name in ("maximumf", "minimumf", "maxnumf", "minnumf", "maxsi", "maxui", "minsi", "minui", "andi", "ori")
)


def is_scan(op: Operation) -> bool:
    """Whether `op` is a cumulative reduction in the form of this file."""
    first = body_of(op).first_op
    return first is not None and first.name == "linalg.index" and sum(not flag for flag in iterators_of(op)) == 1


def convert_cumulative(pad: Operation) -> bool:
    """Rewrites the one reader of `pad`, if it combines everything up to (or from) each position of a dimension."""
    use = pad.results[0].get_unique_use()
    if use is None or not is_generic(use.operation) or len(use.operation.results) != 1:
        return False
    reader, operand = use.operation, use.index
    moved = _moved_dim(pad)
    if moved is None or operand >= input_count(reader):
        return False
    parallel = iterators_of(reader)
    loops = _sum_of_loops(maps_of(reader)[operand].results[moved])
    if loops is None or sum(not flag for flag in parallel) != 1 or parallel[loops[0]] == parallel[loops[1]]:
        return False
    size = shape_of(pad.operands[0])[moved]
    extents = loop_extents(reader)
    if not extents[loops[0]] == extents[loops[1]] == size or size < 2 or not _ignores_padding(pad, reader, operand):
        return False
    result, window = loops if parallel[loops[0]] else (loops[1], loops[0])
    _rewrite(pad, reader, operand, moved, result, window)
    return True


def _rewrite(pad: Operation, reader: Operation, operand: int, moved: int, result: int, window: int) -> None:
    """Replaces `reader` by the form above: loop `result` is i, loop `window` is j."""
    maps = maps_of(reader)
    exprs = list(maps[operand].results)
    exprs[moved] = AffineDimExpr(window)
    source, init = pad.operands[0], reader.operands[input_count(reader)]
    combine = op_of(yielded(reader)[0])
    terminator = pad.regions[0].block.last_op
    assert terminator is not None
    neutral = constant_of(terminator.operands[0])
    assert neutral is not None
    block = Block(arg_types=[element_type_of(source), element_type_of(init)])
    i, j, value = make_index(result), make_index(window), ConstantOp(neutral)
    forwards = ints_of(pad.properties["static_low"])[moved] != 0
    counts = CmpiOp(j.results[0], i.results[0], "sle" if forwards else "sge")
    one = SelectOp(counts.result, block.args[0], value.result)
    combined = type(combine).create(
        operands=[block.args[1], one.result],
        result_types=[combine.results[0].type],
        properties=dict(combine.properties),
    )
    block.add_ops([i, j, value, counts, one, combined, make_yield(combined.results)])
    scan = make_generic(
        [source],
        [init],
        [AffineMap(maps[operand].num_dims, 0, tuple(exprs)), maps[-1]],
        iterators_of(reader),
        block,
        reader.location,
    )
    insert_before(reader, scan)
    replace_op(reader, scan.results)
    if pad.results[0].first_use is None:
        erase_op(pad)


def _moved_dim(pad: Operation) -> int | None:
    """The only padded dim, if it is padded by its size less one on one side."""
    low, high = ints_of(pad.properties["static_low"]), ints_of(pad.properties["static_high"])
    padded = [d for d, sides in enumerate(zip(low, high, strict=True)) if sides != (0, 0)]
    if len(padded) != 1:
        return None
    (dim,) = padded
    size = shape_of(pad.operands[0])[dim]
    return dim if (low[dim], high[dim]) in ((size - 1, 0), (0, size - 1)) else None


def _sum_of_loops(expr: AffineExpr) -> tuple[int, int] | None:
    if not isinstance(expr, AffineBinaryOpExpr) or expr.kind is not AffineBinaryOpKind.Add:
        return None
    if not isinstance(expr.lhs, AffineDimExpr) or not isinstance(expr.rhs, AffineDimExpr):
        return None
    return expr.lhs.position, expr.rhs.position


def _ignores_padding(pad: Operation, reader: Operation, operand: int) -> bool:
    """Whether the body combines the input with the accumulator, and the padding changes nothing."""
    terminator = pad.regions[0].block.last_op
    body = body_of(reader)
    (value,) = yielded(reader)
    combine = defining_op(value)
    if terminator is None or combine is None or combine.parent is not body:
        return False
    if {*combine.operands} != {body.args[operand], body.args[input_count(reader)]}:
        return False
    padding = number_of(terminator.operands[0])
    if combine.name in _NEUTRAL:
        return padding is not None and padding == _NEUTRAL[combine.name]
    fill = defining_op(reader.operands[input_count(reader)])
    start = number_of(fill.operands[0]) if fill is not None and fill.name == "linalg.fill" else None
    return combine.name in _IDEMPOTENT and padding is not None and padding == start
