"""The ops of `iree_linalg_ext` as `linalg.generic`: scan, sort, topk, scatter, gather, attention.

Inside a dispatch nothing may loop on the host, so a sort counts for each element how many come before it (its rank)
and then picks for each place the element of that rank: two generics, whatever the comparison. Outside, it is the merge
sort of `sort.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, TensorType, i1, i32
from xdsl.ir import Block, Operation, SSAValue

from tiree.input.lowering.attention import lower_attention, lower_online_attention
from tiree.input.lowering.context import PARALLEL, REDUCTION, Lowering, Unsupported, map_attr, tensor_type
from tiree.input.lowering.regions import copy_body, scalar_block
from tiree.input.lowering.scalar import ScalarBuilder, inherent, scalar_attribute
from tiree.input.lowering.sort import comes_first, positions, sort_values, stable
from tiree.input.lowering.structural import int_property, ints_property

DISPATCHES = frozenset(["flow.dispatch.workgroups", "flow.executable", "stream.executable", "hal.executable"])


def in_dispatch(op: Operation) -> bool:
    """Whether `op` is device code already."""
    parent = op.parent_op()
    while parent is not None:
        if parent.name in DISPATCHES:
            return True
        parent = parent.parent_op()
    return False


def _zero(type: TensorType) -> IntegerAttr | FloatAttr:
    return scalar_attribute(type.element_type, 0)


def _bool_property(op: Operation, name: str) -> bool:
    attr = inherent(op, name)
    return bool(getattr(getattr(attr, "value", None), "data", 0))


# scan.


def _scan(emit: Lowering, op: Operation) -> Sequence[SSAValue]:
    """Each element goes over all of its line and takes what is before it: right for any combination, in order."""
    source, _, start = op.operands
    type = tensor_type(source)
    rank, dim = len(type.get_shape()), int_property(op, "dimension")
    inclusive = _bool_property(op, "inclusive")
    block = scalar_block(op)
    kept = tuple(d for d in range(rank) if d != dim)
    loops = rank + 1
    along = tuple(rank if d == dim else d for d in range(rank))

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        value, first, total = args
        here, there = s.index(dim), s.index(rank)
        zero = s.constant(IndexType(), 0)
        if inclusive:
            (combined,) = copy_body(s, block, [total, value])
            taken = s.select(s.cmpi("eq", there, zero), value, combined)
            return [s.select(s.cmpi("ule", there, here), taken, total)]
        before = s.select(s.cmpi("eq", there, zero), first, total)
        (combined,) = copy_body(s, block, [before, value])
        return [s.select(s.cmpi("ult", there, here), combined, before)]

    result = emit.generic(
        [source, start],
        [emit.fill(_zero(type), type)],
        [map_attr(loops, along), map_attr(loops, kept), map_attr(loops, tuple(range(rank)))],
        [PARALLEL] * rank + [REDUCTION],
        body,
    )[0]
    if not op.results[1].uses:
        return [result, start]
    shape = list(type.get_shape())
    offsets = [shape[dim] - 1 if d == dim else 0 for d in range(rank)]
    sizes = [1 if d == dim else size for d, size in enumerate(shape)]
    last = emit.slice(result, offsets, sizes)
    return [result, _without(emit, last, dim)]


def _without(emit: Lowering, value: SSAValue, dim: int) -> SSAValue:
    """`value` without its dimension `dim` of size 1."""
    shape = tensor_type(value).get_shape()
    rank = len(shape)
    kept = tuple(d for d in range(rank) if d != dim)
    type = TensorType(tensor_type(value).element_type, [shape[d] for d in kept])

    def read(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        indices = [s.constant(IndexType(), 0) if d == dim else s.index(kept.index(d)) for d in range(rank)]
        return s.extract(value, indices)

    return emit.parallel([], type, read)


# sort and topk.

Before = Callable[[ScalarBuilder, Sequence[SSAValue], Sequence[SSAValue]], SSAValue]


def _less(block: Block) -> Before:
    """The comparison of a sort's region, whose arguments come in pairs."""

    def less(s: ScalarBuilder, a: Sequence[SSAValue], b: Sequence[SSAValue]) -> SSAValue:
        pairs = [value for pair in zip(a, b, strict=True) for value in pair]
        return copy_body(s, block, pairs[: len(block.args)])[0]

    return less


def _ranks(emit: Lowering, values: Sequence[SSAValue], dim: int, less: Before) -> SSAValue:
    """For each element, how many of its line come before it (i32); equal ones in the order in which they stand."""
    type = tensor_type(values[0])
    rank = len(type.get_shape())
    loops = rank + 1
    there = map_attr(loops, tuple(rank if d == dim else d for d in range(rank)))
    here = map_attr(loops, tuple(range(rank)))
    count = len(values)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        mine, theirs, total = args[:count], args[count : 2 * count], args[-1]
        theirs_first, mine_first = less(s, theirs, mine), less(s, mine, theirs)
        earlier = s.cmpi("ult", s.index(rank), s.index(dim))
        comes_before = comes_first(s, theirs_first, mine_first, earlier)
        return [s.add_(total, s.select(comes_before, s.constant(i32, 1), s.constant(i32, 0)))]

    return emit.generic(
        [*values, *values],
        [emit.fill(_zero(TensorType(i32, [])), TensorType(i32, type.get_shape()))],
        [here] * count + [there] * count + [here],
        [PARALLEL] * rank + [REDUCTION],
        body,
    )[0]


def _by_rank(
    emit: Lowering, values: Sequence[SSAValue], ranks: SSAValue, dim: int, types: Sequence[TensorType]
) -> Sequence[SSAValue]:
    """For each place along `dim` of `types`, the element of that rank."""
    rank = len(types[0].get_shape())
    loops = rank + 1
    there = map_attr(loops, tuple(rank if d == dim else d for d in range(rank)))
    here = map_attr(loops, tuple(range(rank)))
    count = len(values)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        place = s.cast(arith.IndexCastOp, s.index(dim), i32)
        hit = s.cmpi("eq", args[count], place)
        return [s.select(hit, new, old) for new, old in zip(args[:count], args[count + 1 :], strict=True)]

    return emit.generic(
        [*values, ranks],
        [emit.fill(_zero(type), type) for type in types],
        [there] * (count + 1) + [here] * count,
        [PARALLEL] * rank + [REDUCTION],
        body,
    )


def _ordered(
    emit: Lowering, op: Operation, values: Sequence[SSAValue], dim: int, less: Before, types: Sequence[TensorType]
) -> Sequence[SSAValue]:
    """`values` in the order of `less` along `dim`, cut to `types`."""
    if in_dispatch(op):
        return _by_rank(emit, values, _ranks(emit, values, dim, less), dim, types)
    line = positions(emit, tensor_type(values[0]).get_shape(), dim)
    results = sort_values(emit, [*values, line], dim, stable(less))[: len(values)]
    return [
        value if value.type == type else emit.slice(value, [0] * len(type.get_shape()), type.get_shape())
        for value, type in zip(results, types, strict=True)
    ]


def _sort(emit: Lowering, op: Operation) -> Sequence[SSAValue]:
    types = [tensor_type(value) for value in op.operands]
    dim = int_property(op, "dimension")
    return _ordered(emit, op, list(op.operands), dim, _less(scalar_block(op)), types)


def _topk(emit: Lowering, op: Operation) -> Sequence[SSAValue]:
    inputs = list(op.operands[: len(op.operands) - len(op.results)])
    types = [tensor_type(result) for result in op.results]
    dim = int_property(op, "dimension")
    if len(inputs) == 1:
        line = positions(emit, tensor_type(inputs[0]).get_shape(), dim)
        if types[1].element_type != i32:
            raise Unsupported(f"with indices of {types[1].element_type}")
        inputs.append(line)
    return _ordered(emit, op, inputs, dim, _less(scalar_block(op)), types)


# scatter and gather.


class _Indexed:
    """Slices of a tensor at indices: which index of a batch goes to which dimension, and what the slice spans."""

    def __init__(self, op: Operation, whole: SSAValue, indices: SSAValue, slices: SSAValue) -> None:
        self.shape = tensor_type(whole).get_shape()
        self.dims = ints_property(op, "dimension_map")
        index_shape = tensor_type(indices).get_shape()
        slice_shape = tensor_type(slices).get_shape()
        self.depth = len(self.dims)
        self.has_depth = len(index_shape) > 0 and self._depth_is_last(index_shape, slice_shape)
        self.batch = len(index_shape) - (1 if self.has_depth else 0)
        self.slice_rank = len(slice_shape) - self.batch
        self.sizes = [1] * (len(self.shape) - self.slice_rank) + list(slice_shape[self.batch :])
        """The size of a slice along each dimension of the whole."""
        if self.depth > 1 and not self.has_depth:
            raise Unsupported(f"with indices of shape {list(index_shape)}")

    def _depth_is_last(self, index_shape: Sequence[int], slice_shape: Sequence[int]) -> bool:
        without = len(slice_shape) - len(index_shape)
        inside = len(self.shape) - self.depth
        # Slices span at most the dimensions that are not indexed, plus indexed ones that are written out.
        return index_shape[-1] == self.depth and (self.depth > 1 or without != inside)

    def starts(self, s: ScalarBuilder, indices: SSAValue, batch: Sequence[SSAValue]) -> dict[int, SSAValue]:
        """The first position of a slice along the indexed dimensions."""
        found: dict[int, SSAValue] = {}
        for number, dim in enumerate(self.dims):
            at = [*batch, *([s.constant(IndexType(), number)] if self.has_depth else [])]
            found[dim] = s.to_index(s.extract(indices, at), unsigned=False)
        return found


def _scatter(emit: Lowering, op: Operation) -> Sequence[SSAValue]:
    """Each element goes over all updates and takes those that hit it, in order."""
    updates, indices, whole = op.operands[0], op.operands[1], op.operands[-1]
    if len(op.operands) != 3:
        raise Unsupported("with a mask")
    at = _Indexed(op, whole, indices, updates)
    block = scalar_block(op)
    rank, loops = len(at.shape), len(at.shape) + at.batch
    index_sizes = TensorType(i1, tensor_type(indices).get_shape()[: at.batch])

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        total = args[-1]
        batch = [s.index(rank + i) for i in range(at.batch)]
        starts = at.starts(s, indices, batch)
        hit = s.constant(i1, 1)
        offsets: list[SSAValue] = []
        for dim in range(rank):
            offset = s.index(dim)
            if dim in starts:
                offset = s.sub(offset, starts[dim])
            if dim in starts or at.sizes[dim] < at.shape[dim]:
                size = s.constant(IndexType(), at.sizes[dim])
                hit = s.and_(hit, s.cmpi("ult", offset, size))
                offset = s.select(s.cmpi("ult", offset, size), offset, s.constant(IndexType(), 0))
            offsets.append(offset)
        update = s.extract(updates, [*batch, *offsets[rank - at.slice_rank :]])
        (combined,) = copy_body(s, block, [update, total])
        return [s.select(hit, combined, total)]

    return emit.generic(
        [emit.empty(index_sizes)],
        [whole],
        [map_attr(loops, tuple(range(rank, loops))), map_attr(loops, tuple(range(rank)))],
        [PARALLEL] * rank + [REDUCTION] * at.batch,
        body,
    )


def _gather(emit: Lowering, op: Operation) -> Sequence[SSAValue]:
    source, indices, target = op.operands[0], op.operands[1], op.operands[-1]
    if len(op.operands) != 3:
        raise Unsupported("with a mask")
    at = _Indexed(op, source, indices, target)
    rank = len(at.shape)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        batch = [s.index(d) for d in range(at.batch)]
        starts = at.starts(s, indices, batch)
        place: list[SSAValue] = []
        for dim in range(rank):
            inner = dim - (rank - at.slice_rank)
            index = s.index(at.batch + inner) if inner >= 0 else None
            if dim in starts:
                index = starts[dim] if index is None else s.add_(starts[dim], index)
            place.append(s.constant(IndexType(), 0) if index is None else index)
        return s.extract(source, place)

    return [emit.parallel([], tensor_type(target), body)]


LINALG_EXT: dict[str, Callable[[Lowering, Operation], Sequence[SSAValue]]] = {
    "iree_linalg_ext.scan": _scan,
    "iree_linalg_ext.sort": _sort,
    "iree_linalg_ext.topk": _topk,
    "iree_linalg_ext.scatter": _scatter,
    "iree_linalg_ext.gather": _gather,
    "iree_linalg_ext.attention": lower_attention,
    "iree_linalg_ext.online_attention": lower_online_attention,
}
"""The lowering of each op by its name."""
