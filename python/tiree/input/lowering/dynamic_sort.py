"""sort with sizes that are known when the program runs: each element counts how many come before it.

Two generics: the rank of every element (those that compare before it, and equal ones at a lower position, so that the
order is stable), and for every place the element of that rank. The work grows with the square of the sorted dimension.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, TensorType
from xdsl.ir import Operation, SSAValue

from tiree.input.lowering.context import PARALLEL, REDUCTION, Lowering, map_attr, ranked_type
from tiree.input.lowering.dims import common_sizes, refine
from tiree.input.lowering.dynamic_movement import dynamic_type
from tiree.input.lowering.reduce import body_of, emit_region
from tiree.input.lowering.scalar import ScalarBuilder, scalar_attribute
from tiree.input.lowering.structural import int_property

_COUNT = IntegerType(64)


def sort(lowering: Lowering, op: Operation) -> None:
    rank = len(ranked_type(op.operands[0]).get_shape())
    dim = int_property(op, "dimension", -1) % rank
    element = ranked_type(op.operands[0]).element_type
    sizes = common_sizes(lowering, op, op.operands, TensorType(element, [DYNAMIC_INDEX] * rank))
    values = [lowering.get(value) for value in op.operands]
    count = len(values)
    block = body_of(op)
    here = map_attr(rank + 1, tuple(range(rank)))
    there = map_attr(rank + 1, tuple(rank if d == dim else d for d in range(rank)))
    iterators = [PARALLEL] * rank + [REDUCTION]

    def counted(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        mine, others, total = args[:count], args[count : 2 * count], args[2 * count]
        pairs = list(zip(others, mine, strict=True))
        before = emit_region(lowering, s, block, [value for pair in pairs for value in pair])[0]
        after = emit_region(lowering, s, block, [value for pair in pairs for value in reversed(pair)])[0]
        lower = s.cmpi("slt", s.index(rank), s.index(dim))
        first = s.or_(before, s.and_(lower, s.not_(after)))
        return [s.add_(total, s.cast(arith.ExtUIOp, first, _COUNT))]

    start = lowering.fill(scalar_attribute(_COUNT, 0), dynamic_type(_COUNT, sizes), sizes)
    maps = [here] * count + [there] * count + [here]
    (ranks,) = lowering.generic([*values, *values], [start], maps, iterators, counted)

    def placed(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        place = s.cast(arith.IndexCastOp, s.index(dim), _COUNT)
        mine = s.cmpi("eq", args[0], place)
        return [s.select(mine, new, old) for new, old in zip(args[1 : 1 + count], args[1 + count :], strict=True)]

    results = lowering.generic([ranks, *values], values, [there] * (1 + count) + [here] * count, iterators, placed)
    for old, new in zip(op.results, results, strict=True):
        refine(lowering, op, sizes, old.type)
        lowering.set(old, new)
