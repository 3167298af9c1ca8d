"""gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation

from tiree.dialects.stablehlo_attrs import Dims, GatherDimensionNumbersAttr, ScatterDimensionNumbersAttr
from tiree.input.checks.elements import need_reducer
from tiree.input.checks.values import (
    Shape,
    Wrong,
    body,
    constant,
    fits,
    integer,
    integers,
    kind,
    need,
    need_dims,
    need_element,
    need_shape,
    need_sorted,
    same_shape,
    shape,
    tensor,
    text,
)
from tiree.scalars.builder import inherent


def _batch(indices: Shape, vector_dim: int, components: Sequence[int]) -> list[int]:
    """The extents of an index tensor without the dimension that holds the components of an index."""
    need(0 <= vector_dim <= len(indices), f"index_vector_dim {vector_dim} of indices of rank {len(indices)}")
    have = indices[vector_dim] if vector_dim < len(indices) else 1
    need(fits(have, len(components)), f"indices have {have} components; {len(components)} dimensions are named")
    return [size for dim, size in enumerate(indices) if dim != vector_dim]


def _gather(op: Operation) -> None:
    attr = inherent(op, "dimension_numbers")
    if not isinstance(attr, GatherDimensionNumbersAttr):
        raise Wrong("it needs dimension_numbers")
    n, source, indices = attr.data, shape(op.operands[0]), shape(op.operands[1])
    need(kind(op.operands[1]) == "i", f"its indices must be integers; they are {tensor(op.operands[1])}")
    need_dims((*n.collapsed_slice_dims, *n.operand_batching_dims), len(source), "collapsed or batching dimensions")
    need_sorted(n.collapsed_slice_dims, "collapsed_slice_dims")
    need_dims((*n.start_index_map, *n.operand_batching_dims), len(source), "start_index_map or batching dimensions")
    _need_pairs(
        ("operand_batching_dims", source, n.operand_batching_dims),
        ("start_indices_batching_dims", indices, n.start_indices_batching_dims),
        n.index_vector_dim,
    )
    batch = _batch(indices, n.index_vector_dim, n.start_index_map)
    sizes = _slice_sizes(op, source)
    for dim, (have, size) in enumerate(zip(source, sizes, strict=True)):
        inside = size == DYNAMIC_INDEX or (size >= 0 and (have == DYNAMIC_INDEX or size <= have))
        need(inside, f"a slice of {text(sizes)} does not fit in {text(source)}")
        if dim in n.collapsed_slice_dims or dim in n.operand_batching_dims:
            need(size <= 1, f"dimension {dim} is dropped from slices of {text(sizes)}, but is larger than 1")
        if size == 0 and dim in n.collapsed_slice_dims:
            # An element of the result would be one of an empty slice.
            need(0 in shape(op.results[0]), f"dimension {dim} is dropped from slices of {text(sizes)}, which are empty")
    gone = {*n.collapsed_slice_dims, *n.operand_batching_dims}
    window = [size for dim, size in enumerate(sizes) if dim not in gone]
    need(len(window) == len(n.offset_dims), f"{len(n.offset_dims)} offset_dims; slices have {len(window)}")
    need_dims(n.offset_dims, len(batch) + len(window), "offset_dims")
    need_sorted(n.offset_dims, "offset_dims")
    rest, slices = iter(batch), iter(window)
    rank = len(batch) + len(window)
    need_shape(op, [next(slices) if dim in n.offset_dims else next(rest) for dim in range(rank)])
    need_element(op, op.operands[0])


def _slice_sizes(op: Operation, source: Shape) -> Sequence[int]:
    """What a gather cuts; extents that only the running program knows are dynamic."""
    if op.name != "stablehlo.dynamic_gather":
        return integers(op, "slice_sizes", len(source))
    given = op.operands[2]
    fitting = same_shape(shape(given), (len(source),)) and kind(given) == "i"
    need(fitting, f"its slice_sizes must be {len(source)} integers; they are {tensor(given)}")
    sizes = constant(given)
    if sizes is None:
        return [DYNAMIC_INDEX] * len(source)
    need(min(sizes, default=0) >= 0, f"slice_sizes must not be negative: {list(sizes)}")
    return sizes


def _need_pairs(first: tuple[str, Shape, Dims], second: tuple[str, Shape, Dims], vector_dim: int) -> None:
    """Batching dimensions of what is indexed and of the indices: as many of both, pair by pair of one extent."""
    name, sizes, dims = first
    other, indices, places = second
    need_sorted(dims, name)
    need_dims(places, len(indices), other)
    need(len(dims) == len(places), f"{name} and {other} differ in length")
    need(vector_dim not in places, f"{other} holds index_vector_dim {vector_dim}")
    for dim, place in zip(dims, places, strict=True):
        same = fits(sizes[dim], indices[place])
        need(
            same,
            f"batching dimensions differ: {dim} of {text(sizes)} is {sizes[dim]}, "
            f"{place} of {text(indices)} is {indices[place]}",
        )


def _scatter(op: Operation) -> None:
    attr = inherent(op, "scatter_dimension_numbers")
    if not isinstance(attr, ScatterDimensionNumbersAttr):
        raise Wrong("it needs scatter_dimension_numbers")
    n, count = attr.data, len(op.results)
    need(len(op.operands) == 2 * count + 1, f"it has {len(op.operands)} operands and {count} results")
    inputs, starts, updates = op.operands[:count], op.operands[count], op.operands[count + 1 :]
    for value, update, result in zip(inputs, updates, op.results, strict=True):
        need(same_shape(shape(value), shape(inputs[0])), "its inputs have different shapes")
        need(same_shape(shape(update), shape(updates[0])), "its updates have different shapes")
        fitting = same_shape(shape(value), shape(result))
        need(fitting, f"input and result must have one shape; they are {tensor(value)} and {tensor(result)}")
    need(kind(starts) == "i", f"its indices must be integers; they are {tensor(starts)}")
    sizes, indices, update = shape(inputs[0]), shape(starts), shape(updates[0])
    gone = (*n.inserted_window_dims, *n.input_batching_dims)
    need_dims(gone, len(sizes), "inserted or batching dimensions")
    need_dims((*n.scatter_dims_to_operand_dims, *n.input_batching_dims), len(sizes), "scatter_dims_to_operand_dims")
    need_sorted(n.inserted_window_dims, "inserted_window_dims")
    _need_pairs(
        ("input_batching_dims", sizes, n.input_batching_dims),
        ("scatter_indices_batching_dims", indices, n.scatter_indices_batching_dims),
        n.index_vector_dim,
    )
    batch = _batch(indices, n.index_vector_dim, n.scatter_dims_to_operand_dims)
    need_dims(n.update_window_dims, len(update), "update_window_dims")
    need_sorted(n.update_window_dims, "update_window_dims")
    window = [size for dim, size in enumerate(sizes) if dim not in gone]
    need(
        len(window) == len(n.update_window_dims), f"{len(n.update_window_dims)} update_window_dims; need {len(window)}"
    )
    places = [size for dim, size in enumerate(update) if dim not in n.update_window_dims]
    need(same_shape(places, batch), f"updates of {text(update)} do not go with indices of {text(indices)}")
    for dim, size in zip(n.update_window_dims, window, strict=True):
        inside = DYNAMIC_INDEX in (update[dim], size) or update[dim] <= size
        need(inside, f"updates of {text(update)} do not fit in {text(sizes)}")
    need_reducer(body(op), inputs, updates, op)


def _torch_index_select(op: Operation) -> None:
    operand, index = map(shape, op.operands)
    dim, batch = integer(op, "dim"), integer(op, "batch_dims")
    need_dims([dim], len(operand), "dim")
    need(0 <= batch <= min(dim, len(index)), f"batch_dims is {batch}; dim is {dim}, and indices are {text(index)}")
    need(kind(op.operands[1]) == "i", f"its indices must be integers; they are {tensor(op.operands[1])}")
    need(same_shape(operand[:batch], index[:batch]), f"batch dimensions are of {text(operand)} and {text(index)}")
    wanted = (*operand[:dim], *index[batch:], *operand[dim + 1 :])
    need_shape(op, wanted)
    need_element(op, op.operands[0])
    need(operand[dim] != 0 or 0 in wanted, f"dimension {dim} of its operand has no elements to select")


CHECKS = {
    "stablehlo.gather": _gather,
    "stablehlo.dynamic_gather": _gather,
    "stablehlo.scatter": _scatter,
    "stablehlo.torch_index_select": _torch_index_select,
}
