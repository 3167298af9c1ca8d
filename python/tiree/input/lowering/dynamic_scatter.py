"""scatter with sizes that are known when the program runs: as the static one, but with every bound a value.

Each element of the result goes over all updates, in index order, and takes those that hit it. A window that is not
wholly inside the operand is skipped, as the specification says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tiree.dialects.stablehlo_attrs import ScatterDimensionNumbers, ScatterDimensionNumbersAttr
from tiree.input.lowering.context import PARALLEL, REDUCTION, Lowering, Size, Unsupported, map_attr, ranked_type
from tiree.input.lowering.dims import arithmetic, refine, require_equal, sizes_of
from tiree.input.lowering.dynamic_movement import value_of
from tiree.input.lowering.reduce import body_of, emit_region
from tiree.input.lowering.scalar import ScalarBuilder, inherent
from tiree.input.lowering.scalar_ops import is_unsigned

_INDEX = IndexType()


def scatter(lowering: Lowering, op: Operation) -> None:
    attr = inherent(op, "scatter_dimension_numbers")
    if not isinstance(attr, ScatterDimensionNumbersAttr):
        raise Unsupported("without scatter_dimension_numbers")
    count = len(op.results)
    operands, indices, updates = op.operands[:count], op.operands[count], op.operands[count + 1 :]
    places = _Places(lowering, op, attr.data)
    rank, batch = len(places.shape), places.batch_dims
    sources = [lowering.get(update) for update in updates]
    block = body_of(op)
    loops = rank + len(batch)
    index_dims = [
        AffineExpr.dimension(rank + batch.index(d)) if d in batch else AffineExpr.constant(0)
        for d in range(len(places.indices_shape))
    ]

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        accumulators = args[1:]
        hit, at = places.locate(s, lowering.get(indices))

        def taken(inner: ScalarBuilder) -> Sequence[SSAValue]:
            values = [inner.extract(source, at) for source in sources]
            return emit_region(lowering, inner, block, [*accumulators, *values])

        return _choose(s, hit, taken, accumulators)

    results = lowering.generic(
        [lowering.get(indices)],
        [lowering.get(operand) for operand in operands],
        [AffineMapAttr(AffineMap(loops, 0, tuple(index_dims)))] + [map_attr(loops, tuple(range(rank)))] * count,
        [PARALLEL] * rank + [REDUCTION] * len(batch),
        body,
    )
    for old, new in zip(op.results, results, strict=True):
        refine(lowering, op, places.shape, old.type)
        lowering.set(old, new)


def _choose(
    s: ScalarBuilder,
    condition: SSAValue,
    emit: Callable[[ScalarBuilder], Sequence[SSAValue]],
    otherwise: Sequence[SSAValue],
) -> Sequence[SSAValue]:
    """`scf.if` with the values of `emit`, or those given."""
    then, other = Block(), Block()
    inner = ScalarBuilder(then, s.location)
    inner.add(scf.YieldOp.create(operands=list(emit(inner))))
    ScalarBuilder(other, s.location).add(scf.YieldOp.create(operands=list(otherwise)))
    types = [value.type for value in otherwise]
    return s.add(
        scf.IfOp.create(operands=[condition], result_types=types, regions=[Region(then), Region(other)])
    ).results


class _Places:
    """Says whether an update hits an element of the result, and which element of the update it is."""

    def __init__(self, lowering: Lowering, op: Operation, numbers: ScatterDimensionNumbers) -> None:
        count = len(op.results)
        self.numbers = numbers
        self.shape = list(sizes_of(lowering, op.operands[0]))
        self.indices_shape = sizes_of(lowering, op.operands[count])
        self.update_shape = sizes_of(lowering, op.operands[count + 1])
        for operand, update in zip(op.operands[:count], op.operands[count + 1 :], strict=True):
            for mine, size in ((self.shape, operand), (self.update_shape, update)):
                for a, b in zip(mine, sizes_of(lowering, size), strict=True):
                    require_equal(lowering, op, a, b)
        without_window = {*numbers.inserted_window_dims, *numbers.input_batching_dims}
        self.window_dims = [d for d in range(len(self.shape)) if d not in without_window]
        self.batch_dims = [d for d in range(len(self.indices_shape)) if d != numbers.index_vector_dim]
        self.unsigned = is_unsigned(ranked_type(op.operands[count]).element_type)
        outer = [d for d in range(len(self.update_shape)) if d not in numbers.update_window_dims]
        for dim, batch in zip(outer, self.batch_dims, strict=True):
            require_equal(lowering, op, self.indices_shape[batch], self.update_shape[dim])
        for dim, batch in zip(numbers.input_batching_dims, numbers.scatter_indices_batching_dims, strict=True):
            require_equal(lowering, op, self.shape[dim], self.indices_shape[batch])
        self.size_of: dict[int, Size] = {
            dim: self.update_shape[update]
            for dim, update in zip(self.window_dims, numbers.update_window_dims, strict=True)
        }
        self.room_of = {
            dim: arithmetic(lowering, "sub", self.shape[dim], self.size_of.get(dim, 1))
            for dim in numbers.scatter_dims_to_operand_dims
        }

    def locate(self, s: ScalarBuilder, indices: SSAValue) -> tuple[SSAValue, list[SSAValue]]:
        numbers, rank = self.numbers, len(self.shape)
        batch = {d: s.index(rank + i) for i, d in enumerate(self.batch_dims)}
        starts: dict[int, SSAValue] = {}
        for component, dim in enumerate(numbers.scatter_dims_to_operand_dims):
            at = [batch[d] if d in batch else s.constant(_INDEX, component) for d in range(len(self.indices_shape))]
            starts[dim] = s.to_index(s.extract(indices, at), self.unsigned)
        conditions: list[SSAValue] = []
        window_at: dict[int, SSAValue] = {}
        zero = s.constant(_INDEX, 0)
        for dim in range(rank):
            offset = s.index(dim)
            if dim in numbers.input_batching_dims:
                other = numbers.scatter_indices_batching_dims[numbers.input_batching_dims.index(dim)]
                conditions.append(s.cmpi("eq", offset, batch[other]))
                continue
            if dim in starts:
                conditions.append(s.cmpi("sge", starts[dim], zero))
                conditions.append(s.cmpi("sle", starts[dim], value_of(s, self.room_of[dim])))
                offset = s.sub(offset, starts[dim])
                conditions.append(s.cmpi("sge", offset, zero))
            conditions.append(s.cmpi("slt", offset, value_of(s, self.size_of.get(dim, 1))))
            window_at[dim] = offset
        hit = s.constant(IntegerType(1), 1)
        for condition in conditions:
            hit = s.and_(hit, condition)
        windows = dict(zip(numbers.update_window_dims, self.window_dims, strict=True))
        rest = iter(self.batch_dims)
        at = [window_at[windows[dim]] if dim in windows else batch[next(rest)] for dim in range(len(self.update_shape))]
        return hit, at
