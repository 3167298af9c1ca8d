"""sort and top_k with sizes that are known when the program runs.

Lines of a few elements, of known length: each element counts how many come before it, and every place takes the element
of that rank. All others: the passes of `sort.py`, in a loop on the host that computes their parameters.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerType, TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from tiree.dialects.flow import TensorTieShapeOp
from tiree.input.lowering.context import (
    PARALLEL,
    REDUCTION,
    Lowering,
    Size,
    Unsupported,
    identity,
    map_attr,
    ranked_type,
    signless,
)
from tiree.input.lowering.dims import common_sizes, refine, require_order, sizes_of
from tiree.input.lowering.dynamic_movement import dynamic_type
from tiree.input.lowering.reduce import body_of, emit_region
from tiree.input.lowering.scalar import ScalarBuilder, inherent, scalar_attribute
from tiree.input.lowering.shape_values import integers_of
from tiree.input.lowering.sort import Less, check_top_k, comes_first, exchange, greater, stable
from tiree.input.lowering.structural import int_property
from tiree.support.typed import is_integer_attr, is_tensor_type

_COUNT = IntegerType(64)
_INDEX = IndexType()
_SHORT = 16
"""Lines of so many elements are sorted by counting."""


def sort(lowering: Lowering, op: Operation) -> None:
    rank = len(ranked_type(op.operands[0]).get_shape())
    dim = int_property(op, "dimension", -1) % rank
    element = ranked_type(op.operands[0]).element_type
    sizes = common_sizes(lowering, op, op.operands, TensorType(element, [DYNAMIC_INDEX] * rank))
    block = body_of(op)

    def less(s: ScalarBuilder, a: Sequence[SSAValue], b: Sequence[SSAValue]) -> SSAValue:
        pairs = [value for pair in zip(a, b, strict=True) for value in pair]
        return emit_region(lowering, s, block, pairs)[0]

    attr = inherent(op, "is_stable")
    keep_order = is_integer_attr(attr) and bool(attr.value.data)
    values = [lowering.get(value) for value in op.operands]
    results = _sorted(lowering, values, sizes, dim, less, keep_order=keep_order)
    for old, new in zip(op.results, results, strict=True):
        refine(lowering, op, sizes, old.type)
        lowering.set(old, new)


def top_k(lowering: Lowering, op: Operation) -> None:
    """The `k` greatest along the last dimension, and where they were."""
    check_top_k(op)
    _top_k(lowering, op, int_property(op, "k"))


def top_k_call(lowering: Lowering, op: Operation) -> None:
    """JAX's call for a `k` that is known when the program runs, its second operand."""
    (k,) = integers_of(lowering, op.operands[1])
    require_order(lowering, op, 0, k, "k is negative")
    _top_k(lowering, op, k)


def sorted_call(
    lowering: Lowering, op: Operation, values: Sequence[SSAValue], dim: int, less: Less, k: SSAValue | None = None
) -> None:
    """All of `values` (new tensors of the sizes of the first operand) and their places sorted along `dim`, and cut to
    what the results have, or to `k` (old)."""
    sizes = list(sizes_of(lowering, op.operands[0]))
    line = _positions(lowering, sizes, dim)
    for old, new in zip(
        op.results, _sorted(lowering, [*values, line], sizes, dim, stable(less), keep_order=False), strict=False
    ):
        kept: Size = ranked_type(old).get_shape()[dim]
        if k is not None:
            (kept,) = integers_of(lowering, k)
            require_order(lowering, op, 0, kept, "k is negative")
        elif kept == DYNAMIC_INDEX:
            raise Unsupported(f"with the dynamic shape {old.type}")
        require_order(lowering, op, kept, sizes[dim], _out_of_range(kept))
        cut = refine(lowering, op, [*sizes[:dim], kept, *sizes[dim + 1 :]], old.type)
        lowering.set(old, _first(lowering, new, dynamic_type(ranked_type(new).element_type, cut), cut))


def _out_of_range(k: Size) -> str:
    return f"k = {k} is out of range" if isinstance(k, int) else "k is out of range"


def _top_k(lowering: Lowering, op: Operation, k: Size) -> None:
    sizes = list(sizes_of(lowering, op.operands[0]))
    dim = len(sizes) - 1
    require_order(lowering, op, k, sizes[dim], _out_of_range(k))
    source = lowering.get(op.operands[0])
    less = greater(ranked_type(op.operands[0]).element_type)
    line = _positions(lowering, sizes, dim)
    results = _sorted(lowering, [source, line], sizes, dim, stable(less), keep_order=False)
    for old, new in zip(op.results, results, strict=True):
        type = signless(ranked_type(old))
        assert is_tensor_type(type)
        cut = refine(lowering, op, [*sizes[:dim], k], old.type)
        lowering.set(old, _first(lowering, new, dynamic_type(type.element_type, cut), cut))


def _first(lowering: Lowering, value: SSAValue, type: TensorType, sizes: Sequence[Size]) -> SSAValue:
    """The corner of `value` that has `type`."""
    rank = len(sizes)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        del args
        return [s.extract(value, [s.index(d) for d in range(rank)])]

    target = lowering.empty(type, sizes)
    return lowering.generic([], [target], [identity(rank)], [PARALLEL] * rank, body)[0]


def _positions(lowering: Lowering, sizes: Sequence[Size], dim: int) -> SSAValue:
    """i32 positions along `dim`."""
    i32 = IntegerType(32)
    target = lowering.empty(dynamic_type(i32, sizes), sizes)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        del args
        return [s.cast(arith.IndexCastOp, s.index(dim), i32)]

    return lowering.generic([], [target], [identity(len(sizes))], [PARALLEL] * len(sizes), body)[0]


def _sorted(
    lowering: Lowering, values: Sequence[SSAValue], sizes: Sequence[Size], dim: int, less: Less, *, keep_order: bool
) -> Sequence[SSAValue]:
    """`values` (new tensors of one shape) sorted together along `dim`."""
    length = sizes[dim]
    if isinstance(length, int) and length <= _SHORT:
        return _by_rank(lowering, values, sizes, dim, less)
    if keep_order:
        line = _positions(lowering, sizes, dim)
        return _by_passes(lowering, [*values, line], sizes, dim, stable(less))[: len(values)]
    return _by_passes(lowering, values, sizes, dim, less)


# Passes.


def _by_passes(
    lowering: Lowering, values: Sequence[SSAValue], sizes: Sequence[Size], dim: int, less: Less
) -> Sequence[SSAValue]:
    """The loop `for p = 1, 2, 4, .. below the length: for k = p, p / 2, .. 1`, as one."""
    dims = [size for size in sizes if not isinstance(size, int)]
    count = len(values)
    types = [_INDEX, _INDEX, *(value.type for value in values)]
    one = lowering.constant_index(1)

    def tied(block: Block) -> list[SSAValue]:
        found: list[SSAValue] = []
        for value in block.args[2:]:
            tie = lowering.emit(TensorTieShapeOp(value, dims)) if dims else value
            lowering.shapes.note(tie, sizes)
            found.append(tie)
        return found

    before = Block(arg_types=types)
    with lowering.inside(before):
        more = lowering.scalars().cmpi("slt", before.args[0], lowering.index_of(sizes[dim]))
        lowering.emit_op(scf.ConditionOp.create(operands=[more, *before.args]))
    after = Block(arg_types=types)
    with lowering.inside(after):
        p, k, *_ = after.args
        outputs = [lowering.empty(ranked_type(value), sizes) for value in values]
        sources = tied(after)

        def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
            del args
            return exchange(s, sources, dim, (p, k), lowering.index_of(sizes[dim]), less)

        rank = len(sizes)
        results = lowering.generic([], outputs, [identity(rank)] * count, [PARALLEL] * rank, body)
        s = lowering.scalars()
        merged = s.cmpi("eq", k, one)
        next_p = s.select(merged, s.add_(p, p), p)
        next_k = s.select(merged, next_p, s.binary(arith.ShRUIOp, k, one))
        lowering.emit_op(scf.YieldOp.create(operands=[next_p, next_k, *results]))
    loop = scf.WhileOp.create(operands=[one, one, *values], result_types=types, regions=[Region(before), Region(after)])
    lowering.emit_op(loop)
    found: list[SSAValue] = []
    for value in loop.results[2:]:
        tie = lowering.emit(TensorTieShapeOp(value, dims)) if dims else value
        lowering.shapes.note(tie, sizes)
        found.append(tie)
    return found


# Counting.


def _by_rank(
    lowering: Lowering, values: Sequence[SSAValue], sizes: Sequence[Size], dim: int, less: Less
) -> Sequence[SSAValue]:
    """Two generics: the rank of every element (equal ones in the order in which they stand), and for every place the
    element of that rank. The work grows with the square of the line."""
    count, rank = len(values), len(sizes)
    here = map_attr(rank + 1, tuple(range(rank)))
    there = map_attr(rank + 1, tuple(rank if d == dim else d for d in range(rank)))
    iterators = [PARALLEL] * rank + [REDUCTION]

    def counted(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        mine, others, total = args[:count], args[count : 2 * count], args[2 * count]
        lower = s.cmpi("slt", s.index(rank), s.index(dim))
        first = comes_first(s, less(s, others, mine), less(s, mine, others), lower)
        return [s.add_(total, s.cast(arith.ExtUIOp, first, _COUNT))]

    start = lowering.fill(scalar_attribute(_COUNT, 0), dynamic_type(_COUNT, sizes), sizes)
    maps = [here] * count + [there] * count + [here]
    (ranks,) = lowering.generic([*values, *values], [start], maps, iterators, counted)

    def placed(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        place = s.cast(arith.IndexCastOp, s.index(dim), _COUNT)
        mine = s.cmpi("eq", args[0], place)
        return [s.select(mine, new, old) for new, old in zip(args[1 : 1 + count], args[1 + count :], strict=True)]

    return lowering.generic([ranks, *values], values, [there] * (1 + count) + [here] * count, iterators, placed)
