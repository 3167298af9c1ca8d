"""Ops that move elements: broadcasts, slices, pads, gathers and scatters, and their forms with sizes as operands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiree.testing.conformance.draws.program import (
    ANY,
    Draw,
    Drawn,
    Entry,
    Value,
    body,
    integers,
    is_complex,
)

_SOME = ("f32", "i32", "i8", "ui16", "f64", "f16", "bf16", "i1", "complex<f32>", "i64")
_INDICES = ("i32", "i64", "ui32", "i8")


def _sizes(d: Draw, numbers: Sequence[int], element: str = "i64") -> Value:
    """A constant of sizes, as operands of dynamic ops are."""
    return d.constant(np.array(numbers, np.int64), element)


def _broadcast_in_dim(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(highest=4)
    dims = d.subset(len(shape))
    source = tuple(1 if d.chance(25) else shape[dim] for dim in dims)
    order = d.permutation(len(dims))
    value = d.argument([source[place] for place in order], element)
    properties = f"broadcast_dimensions = {integers([dims[place] for place in order])}"
    operands = [value]
    if "dynamic" in name:
        operands.append(_sizes(d, shape))
    return d.done([d.one(name, operands, shape, element, properties)])


def _broadcast(d: Draw, name: str, element: str) -> Drawn:
    front, value = d.shape(highest=2), d.argument(d.shape(highest=2), element)
    properties = f"broadcast_sizes = {integers(front)}"
    return d.done([d.one(name, [value], (*front, *value.shape), element, properties)])


def _reshape(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    value = d.argument(shape, element)
    count = int(np.prod(shape, dtype=np.int64))
    target: list[int] = []
    left = count
    while left > 1 and d.chance(70):
        factor = next((each for each in (d.pick((2, 3, 5, 4, 7)), 2, 3, 5) if left % each == 0), left)
        target.append(factor)
        left //= factor
    target.append(left)
    if d.chance(50):
        target.insert(d.below(len(target) + 1), 1)
    operands = [value, _sizes(d, target)] if "dynamic" in name else [value]
    return d.done([d.one(name, operands, target, element)])


def _transpose(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(highest=5)
    order = d.permutation(len(shape))
    value = d.argument(shape, element)
    return d.done([d.one(name, [value], [shape[dim] for dim in order], element, f"permutation = {integers(order)}")])


def _reverse(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    properties = f"dimensions = {integers(d.subset(len(shape)))}"
    return d.done([d.one(name, [d.argument(shape, element)], shape, element, properties)])


def _concatenate(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(lowest=1, highest=3)
    dim = d.below(len(shape))
    extents = [d.extent((1, 2, 3, 0, 5)) for _ in range(1 + d.below(3))]
    values = [
        d.argument([extent if at == dim else size for at, size in enumerate(shape)], element) for extent in extents
    ]
    result = [sum(extents) if at == dim else size for at, size in enumerate(shape)]
    return d.done([d.one(name, values, result, element, f"dimension = {dim} : i64")])


def _slice(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    starts = [d.below(extent + 1) for extent in shape]
    limits = [start + d.below(extent - start + 1) for start, extent in zip(starts, shape, strict=True)]
    strides = [d.pick((1, 2, 3)) for _ in shape]
    result = [-(-(stop - start) // step) for start, stop, step in zip(starts, limits, strides, strict=True)]
    value = d.argument(shape, element)
    if "real_dynamic" in name:
        bounds = [_sizes(d, numbers) for numbers in (starts, limits, strides)]
        return d.done([d.one(name, [value, *bounds], result, element)])
    properties = ", ".join(
        f"{key} = {integers(numbers)}"
        for key, numbers in (("start_indices", starts), ("limit_indices", limits), ("strides", strides))
    )
    return d.done([d.one(name, [value], result, element, properties)])


def _pad(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(highest=3)
    low, high = ([d.pick((0, 1, 2, -1)) for _ in shape] for _ in range(2))
    inside = [d.pick((0, 1, 2)) for _ in shape]
    result = [
        before + after + extent + max(0, extent - 1) * gap
        for before, after, extent, gap in zip(low, high, shape, inside, strict=True)
    ]
    high = [after - min(0, size) for after, size in zip(high, result, strict=True)]
    result = [max(0, size) for size in result]
    operands = [d.argument(shape, element), d.argument((), element)]
    if "dynamic" in name:
        operands += [_sizes(d, numbers) for numbers in (low, high, inside)]
        return d.done([d.one(name, operands, result, element)])
    properties = ", ".join(
        f"{key} = {integers(numbers)}"
        for key, numbers in (("edge_padding_low", low), ("edge_padding_high", high), ("interior_padding", inside))
    )
    return d.done([d.one(name, operands, result, element, properties)])


def _starts(d: Draw, rank: int) -> list[Value]:
    """Start indices, in range or not."""
    element = d.pick(_INDICES)
    return [d.argument((), element, low=-3, high=12, edges=10) for _ in range(rank)]


def _dynamic_slice(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    sizes = [d.below(extent + 1) for extent in shape]
    operands = [d.argument(shape, element), *_starts(d, len(shape))]
    return d.done([d.one(name, operands, sizes, element, f"slice_sizes = {integers(sizes)}")])


def _dynamic_update_slice(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    sizes = [d.below(extent + 1) for extent in shape]
    operands = [d.argument(shape, element), d.argument(sizes, element), *_starts(d, len(shape))]
    return d.done([d.one(name, operands, shape, element)])


def _iota(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(lowest=1)
    dim = d.below(len(shape))
    operands = [_sizes(d, shape)] if "dynamic" in name else []
    value = d.one(name, operands, shape, element, f"iota_dimension = {dim} : i64")
    return d.done([value])


class _Windows:
    """The dimension numbers that gather and scatter share: windows of an operand at places of an index array."""

    def __init__(self, d: Draw) -> None:
        self.operand = d.shape(lowest=1, highest=4, zero=0)
        rank = len(self.operand)
        self.mapped = d.permutation(rank)[: d.below(rank + 1)]
        self.removed = [dim for dim in range(rank) if d.chance(40)]
        kept = [dim for dim in range(rank) if dim not in self.removed]
        self.sizes = [1 if dim in self.removed else 1 + d.below(self.operand[dim]) for dim in range(rank)]
        batch = list(d.shape(highest=2, zero=3))
        self.vector = d.below(len(batch) + 1)
        self.indices = [*batch[: self.vector], len(self.mapped), *batch[self.vector :]]
        window = [self.sizes[dim] for dim in kept]
        # Which dimensions of the result are the windows'.
        total = len(batch) + len(window)
        places = sorted(d.permutation(total)[: len(window)])
        self.offsets = places
        left_batch, left_window = list(batch), list(window)
        self.result = [left_window.pop(0) if at in places else left_batch.pop(0) for at in range(total)]

    def index_values(self, d: Draw) -> Value:
        return d.argument(self.indices, d.pick(_INDICES[:3]), low=-2, high=max(self.operand) + 1, edges=5)


def _gather(d: Draw, name: str, element: str) -> Drawn:
    w = _Windows(d)
    numbers = (
        f"dimension_numbers = #stablehlo.gather<offset_dims = {w.offsets}, collapsed_slice_dims = {w.removed}, "
        f"start_index_map = {w.mapped}, index_vector_dim = {w.vector}>"
    )
    operands = [d.argument(w.operand, element), w.index_values(d)]
    if "dynamic" in name:
        operands.append(_sizes(d, w.sizes))
        return d.done([d.one(name, operands, w.result, element, numbers)])
    properties = f"{numbers}, slice_sizes = {integers(w.sizes)}, indices_are_sorted = false"
    return d.done([d.one(name, operands, w.result, element, properties)])


def _scatter(d: Draw, name: str, element: str) -> Drawn:
    w = _Windows(d)
    numbers = (
        f"scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {w.offsets}, "
        f"inserted_window_dims = {w.removed}, scatter_dims_to_operand_dims = {w.mapped}, index_vector_dim = {w.vector}>"
    )
    reducers = ["add", "multiply"]
    if not is_complex(element):
        reducers += ["maximum", "minimum"]
    reducer = d.pick(reducers)
    edges = 0 if reducer in ("add", "multiply") else 8
    limits = {"low": 0.5, "high": 1.5, "edges": edges} if reducer == "multiply" else {"edges": edges}
    operands = [d.argument(w.operand, element, **limits), w.index_values(d), d.argument(w.result, element, **limits)]
    properties = f"{numbers}, indices_are_sorted = false, unique_indices = false"
    region = body(f"stablehlo.{reducer}", element)
    return d.done([d.one(name, operands, w.operand, element, properties, [region])])


def _torch_index_select(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(lowest=1, highest=3, zero=0)
    dim = d.below(len(shape))
    indices = d.argument(d.shape(lowest=1, highest=1, zero=0), "i32", low=0, high=shape[dim] - 1, edges=0)
    result = [*shape[:dim], *indices.shape, *shape[dim + 1 :]]
    return d.done(
        [
            d.one(
                name, [d.argument(shape, element), indices], result, element, f"dim = {dim} : i64, batch_dims = 0 : i64"
            )
        ]
    )


def _get_dimension_size(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(lowest=1)
    value = d.argument(shape, element)
    return d.done([d.one(name, [value], (), "i32", f"dimension = {d.below(len(shape))} : i64")])


def _constant(d: Draw, name: str, element: str) -> Drawn:
    del name
    shape = d.shape(highest=2)
    if element[0] in "iu":
        value = d.constant(d.values(shape, element), element)
        return d.done([value])
    return d.done([d.scalar(d.pick((0, 1, -2, 0.5)), element)])


MOVEMENT: dict[str, Entry] = {
    "stablehlo.broadcast_in_dim": Entry(_broadcast_in_dim, ANY),
    "stablehlo.dynamic_broadcast_in_dim": Entry(_broadcast_in_dim, ("f32", "i64")),
    "stablehlo.broadcast": Entry(_broadcast, _SOME),
    "stablehlo.reshape": Entry(_reshape, ANY),
    "stablehlo.dynamic_reshape": Entry(_reshape, ("f32", "i8")),
    "stablehlo.transpose": Entry(_transpose, ANY),
    "stablehlo.reverse": Entry(_reverse, _SOME),
    "stablehlo.concatenate": Entry(_concatenate, _SOME),
    "stablehlo.slice": Entry(_slice, _SOME),
    "stablehlo.real_dynamic_slice": Entry(_slice, ("f32", "i16")),
    "stablehlo.pad": Entry(_pad, ANY),
    "stablehlo.dynamic_pad": Entry(_pad, ("f32", "i32")),
    "stablehlo.dynamic_slice": Entry(_dynamic_slice, _SOME),
    "stablehlo.dynamic_update_slice": Entry(_dynamic_update_slice, _SOME),
    "stablehlo.iota": Entry(_iota, tuple(element for element in ANY if element != "i1")),
    "stablehlo.dynamic_iota": Entry(_iota, ("f32", "i32")),
    "stablehlo.gather": Entry(_gather, _SOME),
    "stablehlo.dynamic_gather": Entry(_gather, ("f32", "i32")),
    "stablehlo.scatter": Entry(_scatter, ("f32", "i32", "f64", "ui8", "i64", "bf16", "f16", "complex<f32>")),
    "stablehlo.torch_index_select": Entry(_torch_index_select, ("f32", "i32")),
    "stablehlo.get_dimension_size": Entry(_get_dimension_size, ("f32", "i32")),
    "stablehlo.constant": Entry(_constant, ANY),
}
