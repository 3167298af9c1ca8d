"""scatter: a loop over its updates (`factorizations/scatter.py`), or, where there is little of it, over its results.

Of the second kind each element of the result goes over all updates and takes those that hit it, which fuses with what
is around. One `linalg.generic`: the result has the parallel dimensions, the scatter indices the reduction dimensions,
and the result starts as the operand. Updates are applied in index order, so the result is the same on any number of
threads; a window that is not wholly inside the operand is skipped, as the specification says.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, TensorType
from xdsl.ir import Operation, SSAValue

from tiree.dialects.stablehlo_attrs import ScatterDimensionNumbers, ScatterDimensionNumbersAttr
from tiree.input.factorizations.scatter import Shapes, scatter_in_place
from tiree.input.lowering.context import PARALLEL, REDUCTION, Lowering, Unsupported, map_attr, tensor_type
from tiree.input.lowering.reduce import body_of, emit_region
from tiree.input.lowering.scalar import ScalarBuilder, inherent
from tiree.input.lowering.scalar_ops import is_unsigned
from tiree.input.lowering.structural import reshape
from tiree.support.typed import is_tensor_type

SMALL = 4096
"""Up to so many pairs of a result and an update all of them are looked at."""


def _components(lowering: Lowering, indices: SSAValue, vector_dim: int, count: int) -> list[SSAValue]:
    """One tensor of start indices for each component, without the vector dimension."""
    assert is_tensor_type(indices.type)
    shape = list(indices.type.get_shape())
    if vector_dim == len(shape):
        return [indices]
    batch = shape[:vector_dim] + shape[vector_dim + 1 :]
    if count == 1:
        return [reshape(lowering, indices, batch)]
    sizes = [1 if d == vector_dim else size for d, size in enumerate(shape)]
    parts: list[SSAValue] = []
    for component in range(count):
        offsets = [component if d == vector_dim else 0 for d in range(len(shape))]
        parts.append(reshape(lowering, lowering.slice(indices, offsets, sizes), batch))
    return parts


def _scatter(lowering: Lowering, op: Operation) -> None:
    attr = inherent(op, "scatter_dimension_numbers")
    if not isinstance(attr, ScatterDimensionNumbersAttr):
        raise Unsupported("without scatter_dimension_numbers")
    count = len(op.results)
    operands, indices, updates = op.operands[:count], op.operands[count], op.operands[count + 1 :]
    if 0 in (*tensor_type(updates[0]).get_shape(), *tensor_type(operands[0]).get_shape()):
        for old, operand in zip(op.results, operands, strict=True):
            lowering.set(old, lowering.values[operand])
        return
    places = prod(tensor_type(operands[0]).get_shape())
    if places * Shapes.of(op, attr.data).updates > SMALL:
        scatter_in_place(lowering, op, attr.data)
        return
    scatter = _Scatter(lowering, op, attr.data, tensor_type(operands[0]).get_shape())
    rank = len(scatter.shape)
    starts = _components(
        lowering,
        lowering.get(indices),
        attr.data.index_vector_dim,
        len(attr.data.scatter_dims_to_operand_dims),
    )
    batch = list(tensor_type(indices).get_shape())
    if attr.data.index_vector_dim < len(batch):
        del batch[attr.data.index_vector_dim]
    batch_rank = len(batch)
    # Where no dimension is indexed, an operand without elements that matter says how many updates there are.
    counted = starts or [lowering.empty(TensorType(IntegerType(32), batch))]
    loops = rank + batch_rank
    sources = [lowering.get(update) for update in updates]
    unsigned = is_unsigned(tensor_type(indices).element_type)
    block = body_of(op)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        accumulators = args[len(counted) :]
        hit, at = scatter.locate(s, args[: len(starts)], batch_rank, unsigned)
        values = [s.extract(source, at) for source in sources]
        results = emit_region(lowering, s, block, [*accumulators, *values])
        return [s.select(hit, new, old) for new, old in zip(results, accumulators, strict=True)]

    results = lowering.generic(
        counted,
        [lowering.get(operand) for operand in operands],
        [map_attr(loops, tuple(range(rank, loops)))] * len(counted) + [map_attr(loops, tuple(range(rank)))] * count,
        [PARALLEL] * rank + [REDUCTION] * batch_rank,
        body,
    )
    for old, new in zip(op.results, results, strict=True):
        lowering.set(old, new)


class _Scatter:
    """Says whether an update hits an element of the result, and which element of the update it is."""

    def __init__(
        self, lowering: Lowering, op: Operation, numbers: ScatterDimensionNumbers, shape: Sequence[int]
    ) -> None:
        del lowering
        self.numbers = numbers
        self.shape = shape
        count = len(op.results)
        self.update_shape = tensor_type(op.operands[count + 1]).get_shape()
        without_window = {*numbers.inserted_window_dims, *numbers.input_batching_dims}
        self.window_dims = [d for d in range(len(shape)) if d not in without_window]
        indices_rank = len(tensor_type(op.operands[count]).get_shape())
        self.batch_dims = [d for d in range(indices_rank) if d != numbers.index_vector_dim]

    def locate(
        self, s: ScalarBuilder, starts: Sequence[SSAValue], batch_rank: int, unsigned: bool
    ) -> tuple[SSAValue, list[SSAValue]]:
        numbers, rank = self.numbers, len(self.shape)
        index = IndexType()
        conditions: list[SSAValue] = []
        start_of = {
            dim: s.to_index(start, unsigned)
            for dim, start in zip(numbers.scatter_dims_to_operand_dims, starts, strict=True)
        }
        size_of = {
            dim: self.update_shape[update]
            for dim, update in zip(self.window_dims, numbers.update_window_dims, strict=True)
        }
        window_at: dict[int, SSAValue] = {}
        for dim in range(rank):
            position = s.index(dim)
            size = size_of.get(dim, 1)
            start = start_of.get(dim)
            if dim in numbers.input_batching_dims:
                batch_dim = numbers.scatter_indices_batching_dims[numbers.input_batching_dims.index(dim)]
                loop = s.index(rank + self.batch_dims.index(batch_dim))
                conditions.append(s.cmpi("eq", position, loop))
                continue
            offset = position
            if start is not None:
                # Unsigned, so that negative starts are out of range as well.
                conditions.append(s.cmpi("ule", start, s.constant(index, self.shape[dim] - size)))
                offset = s.sub(position, start)
            if start is not None or size < self.shape[dim]:
                conditions.append(s.cmpi("ult", offset, s.constant(index, size)))
            window_at[dim] = s.binary(arith.MinUIOp, offset, s.constant(index, size - 1))
        hit = s.constant(IntegerType(1), 1)
        for number, condition in enumerate(conditions):
            hit = condition if number == 0 else s.and_(hit, condition)
        at: list[SSAValue] = []
        batch = [s.index(rank + i) for i in range(batch_rank)]
        windows = dict(zip(numbers.update_window_dims, self.window_dims, strict=True))
        for dim in range(len(self.update_shape)):
            at.append(window_at[windows[dim]] if dim in windows else batch.pop(0))
        return hit, at


HANDLERS = {"stablehlo.scatter": _scatter}
