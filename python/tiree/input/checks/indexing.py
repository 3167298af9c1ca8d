"""gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation

from tiree.dialects.stablehlo_attrs import GatherDimensionNumbersAttr, ScatterDimensionNumbersAttr
from tiree.input.checks.elements import need_reducer
from tiree.input.checks.values import (
    Shape,
    Wrong,
    attribute,
    body,
    fits,
    integers,
    kind,
    need,
    need_dims,
    need_element,
    need_same_type,
    need_shape,
    same_shape,
    shape,
    tensor,
    text,
)


def _batch(indices: Shape, vector_dim: int, components: Sequence[int]) -> list[int]:
    """The extents of an index tensor without the dimension that holds the components of an index."""
    need(0 <= vector_dim <= len(indices), f"index_vector_dim {vector_dim} of indices of rank {len(indices)}")
    have = indices[vector_dim] if vector_dim < len(indices) else 1
    need(fits(have, len(components)), f"indices have {have} components; {len(components)} dimensions are named")
    return [size for dim, size in enumerate(indices) if dim != vector_dim]


def _gather(op: Operation) -> None:
    attr = attribute(op, "dimension_numbers")
    if not isinstance(attr, GatherDimensionNumbersAttr):
        raise Wrong("it needs dimension_numbers")
    n, source, indices = attr.data, shape(op.operands[0]), shape(op.operands[1])
    need(kind(op.operands[1]) == "i", f"its indices must be integers; they are {tensor(op.operands[1])}")
    need_dims((*n.collapsed_slice_dims, *n.operand_batching_dims), len(source), "collapsed or batching dimensions")
    need_dims((*n.start_index_map, *n.operand_batching_dims), len(source), "start_index_map or batching dimensions")
    need_dims(n.start_indices_batching_dims, len(indices), "start_indices_batching_dims")
    paired = len(n.operand_batching_dims) == len(n.start_indices_batching_dims)
    need(paired, "operand_batching_dims and start_indices_batching_dims differ in length")
    batch = _batch(indices, n.index_vector_dim, n.start_index_map)
    sizes = integers(op, "slice_sizes", len(source))
    for dim, (have, size) in enumerate(zip(source, sizes, strict=True)):
        inside = size >= 0 and (have == DYNAMIC_INDEX or size <= have)
        need(inside, f"a slice of {text(sizes)} does not fit in {text(source)}")
        if dim in n.collapsed_slice_dims or dim in n.operand_batching_dims:
            need(size <= 1, f"dimension {dim} is dropped from slices of {text(sizes)}, but is larger than 1")
    gone = {*n.collapsed_slice_dims, *n.operand_batching_dims}
    window = [size for dim, size in enumerate(sizes) if dim not in gone]
    need(len(window) == len(n.offset_dims), f"{len(n.offset_dims)} offset_dims; slices have {len(window)}")
    need_dims(n.offset_dims, len(batch) + len(window), "offset_dims")
    need(list(n.offset_dims) == sorted(n.offset_dims), f"offset_dims are not in order: {list(n.offset_dims)}")
    rest, slices = iter(batch), iter(window)
    rank = len(batch) + len(window)
    need_shape(op, [next(slices) if dim in n.offset_dims else next(rest) for dim in range(rank)])
    need_element(op, op.operands[0])


def _scatter(op: Operation) -> None:
    attr = attribute(op, "scatter_dimension_numbers")
    if not isinstance(attr, ScatterDimensionNumbersAttr):
        raise Wrong("it needs scatter_dimension_numbers")
    n, count = attr.data, len(op.results)
    need(len(op.operands) == 2 * count + 1, f"it has {len(op.operands)} operands and {count} results")
    inputs, starts, updates = op.operands[:count], op.operands[count], op.operands[count + 1 :]
    for value, update, result in zip(inputs, updates, op.results, strict=True):
        need(same_shape(shape(value), shape(inputs[0])), "its inputs have different shapes")
        need(same_shape(shape(update), shape(updates[0])), "its updates have different shapes")
        need_same_type(value, result, "input and result")
    need(kind(starts) == "i", f"its indices must be integers; they are {tensor(starts)}")
    sizes, indices, update = shape(inputs[0]), shape(starts), shape(updates[0])
    gone = (*n.inserted_window_dims, *n.input_batching_dims)
    need_dims(gone, len(sizes), "inserted or batching dimensions")
    need_dims((*n.scatter_dims_to_operand_dims, *n.input_batching_dims), len(sizes), "scatter_dims_to_operand_dims")
    need_dims(n.scatter_indices_batching_dims, len(indices), "scatter_indices_batching_dims")
    batch = _batch(indices, n.index_vector_dim, n.scatter_dims_to_operand_dims)
    need_dims(n.update_window_dims, len(update), "update_window_dims")
    window = [size for dim, size in enumerate(sizes) if dim not in gone]
    need(
        len(window) == len(n.update_window_dims), f"{len(n.update_window_dims)} update_window_dims; need {len(window)}"
    )
    places = [size for dim, size in enumerate(update) if dim not in n.update_window_dims]
    need(same_shape(places, batch), f"updates of {text(update)} do not go with indices of {text(indices)}")
    for dim, size in zip(sorted(n.update_window_dims), window, strict=True):
        inside = DYNAMIC_INDEX in (update[dim], size) or update[dim] <= size
        need(inside, f"updates of {text(update)} do not fit in {text(sizes)}")
    need_reducer(body(op), inputs, updates, op)


CHECKS = {"stablehlo.gather": _gather, "stablehlo.scatter": _scatter}
