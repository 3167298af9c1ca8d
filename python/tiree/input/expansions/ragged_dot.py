"""`chlo.ragged_dot` in its three modes, as a loop over the groups: one contraction each, of which a part is kept.

What belongs to other groups is left out by selection, never multiplied by zero, so that an infinity stays in its group.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, TensorType, i32, i64
from xdsl.ir import Operation, SSAValue

from tiree.dialects.chlo import RaggedDotDimensionNumbers, RaggedDotDimensionNumbersAttr
from tiree.dialects.stablehlo_attrs import DotDimensionNumbersAttr, GatherDimensionNumbersAttr
from tiree.input.expansions.build import Build, element_of, i64_array, of_element, shape_of
from tiree.input.lowering.context import Unsupported, ranked_type
from tiree.input.lowering.scalar import inherent


def _numbers(op: Operation) -> RaggedDotDimensionNumbers:
    attr = inherent(op, "ragged_dot_dimension_numbers")
    if not isinstance(attr, RaggedDotDimensionNumbersAttr):
        raise Unsupported("without ragged_dot_dimension_numbers")
    if len(attr.data.lhs_ragged_dimensions) != 1:
        raise Unsupported("with other than one ragged dimension")
    return attr.data


def _without(dims: Sequence[int], gone: int) -> tuple[int, ...]:
    """Numbers of dimensions after dimension `gone` is dropped."""
    return tuple(dim - (dim > gone) for dim in dims)


def spread(
    build: Build, value: SSAValue, dims: Sequence[int], type: TensorType, extents: Sequence[SSAValue]
) -> SSAValue:
    """`value` repeated into `type`, whose sizes are `extents` where it has `?`."""
    properties = {"broadcast_dimensions": i64_array(dims)}
    if DYNAMIC_INDEX in type.get_shape():
        return build.value("dynamic_broadcast_in_dim", [value, build.vector(extents)], type, properties)
    return build.value("broadcast_in_dim", [value], type, properties)


def counted(build: Build, type: TensorType, dim: int, extents: Sequence[SSAValue]) -> SSAValue:
    """Places along a dimension."""
    if DYNAMIC_INDEX not in type.get_shape():
        return build.iota(type, dim)
    return build.value("dynamic_iota", [build.vector(extents)], type, {"iota_dimension": IntegerAttr(dim, i64)})


def picked(build: Build, value: SSAValue, place: SSAValue, dim: int) -> SSAValue:
    """`value`, of `?` dimensions, at one place of a dimension, which goes."""
    rank = len(shape_of(value))
    left = [size for d, size in enumerate(shape_of(value)) if d != dim]
    numbers = GatherDimensionNumbersAttr.of(
        offset_dims=range(rank - 1), collapsed_slice_dims=[dim], start_index_map=[dim], index_vector_dim=0
    )
    extents = [build.constant(i32, 1) if d == dim else build.size(value, d) for d in range(rank)]
    operands = [value, build.reshape(place, [1]), build.vector(extents)]
    return build.value("dynamic_gather", operands, TensorType(element_of(value), left), {"dimension_numbers": numbers})


def as_first(build: Build, value: SSAValue) -> SSAValue:
    """`value` with one more dimension in front."""
    type = TensorType(element_of(value), [1, *shape_of(value)])
    if DYNAMIC_INDEX not in type.get_shape():
        return build.reshape(value, type.get_shape())
    extents = [build.constant(i32, 1), *(build.size(value, dim) for dim in range(len(shape_of(value))))]
    return build.value("dynamic_reshape", [value, build.vector(extents)], type)


class _Ragged:
    def __init__(self, build: Build, op: Operation) -> None:
        self.build = build
        self.lhs, self.rhs, sizes = op.operands
        self.result = ranked_type(op.results[0])
        self.numbers = n = _numbers(op)
        self.ragged = n.lhs_ragged_dimensions[0]
        rank = len(shape_of(self.lhs))
        taken = {*n.lhs_batching_dimensions, *n.lhs_contracting_dimensions}
        self.free = [dim for dim in range(rank) if dim not in taken]
        self.sizes = sizes
        self.groups = build.size(sizes, len(shape_of(sizes)) - 1, element_of(sizes))

    def prefix(self, dims: Sequence[int]) -> list[int]:
        """The dimensions of the lhs that group sizes may begin with: batch, and others before the ragged."""
        before = list(dims[: list(dims).index(self.ragged)])
        batch = list(self.numbers.lhs_batching_dimensions)
        return before if self.ragged in batch else batch + before

    def bounds(self) -> tuple[SSAValue, SSAValue]:
        """Where each group starts and ends; shaped as the group sizes."""
        build = self.build
        rank = len(shape_of(self.sizes))
        element = element_of(self.sizes)
        groups = build.size(self.sizes, rank - 1)
        extents = [*(build.size(self.sizes, dim) for dim in range(rank)), groups]
        type = TensorType(element, [*shape_of(self.sizes), shape_of(self.sizes)[-1]])
        dims = [*range(rank - 1), rank]
        repeated = spread(build, self.sizes, dims, type, extents)
        upto = build.compare("LE", counted(build, type, rank, extents), counted(build, type, rank - 1, extents))
        ends = build.reduce(build.select(upto, repeated, build.constant(element, 0)), [rank])
        return build.subtract(ends, self.sizes), ends

    def at_group(self, value: SSAValue, group: SSAValue, dim: int) -> SSAValue:
        """`value` at one place of dimension `dim`, which goes."""
        build = self.build
        shape = list(shape_of(value))
        if DYNAMIC_INDEX in shape:
            return picked(build, value, group, dim)
        zero = build.constant(element_of(group), 0)
        shape[dim] = 1
        part = build.dynamic_slice(value, [group if d == dim else zero for d in range(len(shape))], shape)
        return build.reshape(part, shape[:dim] + shape[dim + 1 :])

    def mask(
        self, bounds: tuple[SSAValue, SSAValue], group: SSAValue, like: SSAValue, dims: Sequence[int], ragged: int
    ) -> SSAValue:
        """Which elements of `like` are of the group; `dims` are those of the group sizes' leading dimensions in it."""
        build = self.build
        extents = [build.size(like, dim) for dim in range(len(shape_of(like)))]
        place = counted(build, of_element(like, element_of(self.sizes)), ragged, extents)
        last = len(shape_of(self.sizes)) - 1
        low, high = (build.broadcast(self.at_group(bound, group, last), dims if last else [], like) for bound in bounds)
        inside = build.compare("GE", place, low), build.compare("LT", place, high)
        return build.binary("and", *inside)


def _of_rows(ragged: _Ragged) -> SSAValue:
    """Mode 1: rows of the lhs go to groups of the rhs."""
    build, n = ragged.build, ragged.numbers
    if len(n.rhs_group_dimensions) != 1:
        raise Unsupported("with other than one group dimension of the rhs")
    (axis,) = n.rhs_group_dimensions
    numbers = DotDimensionNumbersAttr.of(
        lhs_batching_dimensions=n.lhs_batching_dimensions,
        rhs_batching_dimensions=_without(n.rhs_batching_dimensions, axis),
        lhs_contracting_dimensions=n.lhs_contracting_dimensions,
        rhs_contracting_dimensions=_without(n.rhs_contracting_dimensions, axis),
    )
    batch = list(n.lhs_batching_dimensions)
    places = {dim: number for number, dim in enumerate([*batch, *ragged.free])}
    dims = [places[dim] for dim in ragged.prefix(ragged.free)]
    bounds = ragged.bounds()

    def step(group: SSAValue, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
        made = build.dot(ragged.lhs, ragged.at_group(ragged.rhs, group, axis), ragged.result, numbers)
        mask = ragged.mask(bounds, group, values[0], dims, places[ragged.ragged])
        return [build.select(mask, made, values[0])]

    taken = {*n.rhs_batching_dimensions, *n.rhs_contracting_dimensions, axis}
    extents = [build.size(ragged.lhs, dim) for dim in (*batch, *ragged.free)]
    extents += [build.size(ragged.rhs, dim) for dim in range(len(shape_of(ragged.rhs))) if dim not in taken]
    start = spread(build, build.constant(ragged.result.element_type, 0), [], ragged.result, extents)
    return build.count_up(ragged.groups, [start], step)[0]


def _of_products(ragged: _Ragged) -> SSAValue:
    """Mode 2: a contracted dimension is cut into groups; each has a result of its own."""
    build, n = ragged.build, ragged.numbers
    numbers = DotDimensionNumbersAttr.of(
        lhs_batching_dimensions=n.lhs_batching_dimensions,
        rhs_batching_dimensions=n.rhs_batching_dimensions,
        lhs_contracting_dimensions=n.lhs_contracting_dimensions,
        rhs_contracting_dimensions=n.rhs_contracting_dimensions,
    )
    pairs = dict(zip(n.lhs_contracting_dimensions, n.rhs_contracting_dimensions, strict=True))
    pairs |= dict(zip(n.lhs_batching_dimensions, n.rhs_batching_dimensions, strict=True))
    dims = ragged.prefix(n.lhs_contracting_dimensions)
    bounds = ragged.bounds()
    element = element_of(ragged.sizes)
    shape = ragged.result.get_shape()
    one = TensorType(ragged.result.element_type, shape[1:])

    def cut(value: SSAValue, group: SSAValue, at: Sequence[int], axis: int) -> SSAValue:
        mask = ragged.mask(bounds, group, value, at, axis)
        return build.select(mask, value, build.constant(element_of(value), 0))

    def step(group: SSAValue, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
        lhs = cut(ragged.lhs, group, dims, ragged.ragged)
        rhs = cut(ragged.rhs, group, [pairs[dim] for dim in dims], pairs[ragged.ragged])
        made = as_first(build, build.dot(lhs, rhs, one, numbers))
        zero = build.constant(element, 0)
        return [build.update_slice(values[0], made, [group, *[zero] * (len(shape) - 1)])]

    like = build.dot(ragged.lhs, ragged.rhs, one, numbers)
    extents = [build.size(ragged.sizes, len(shape_of(ragged.sizes)) - 1)]
    extents += [build.size(like, dim) for dim in range(len(shape) - 1)]
    start = spread(build, build.constant(ragged.result.element_type, 0), [], ragged.result, extents)
    return build.count_up(ragged.groups, [start], step)[0]


def _ragged_dot(build: Build, op: Operation) -> Sequence[SSAValue]:
    ragged = _Ragged(build, op)
    n = ragged.numbers
    if 0 in ragged.result.get_shape() and DYNAMIC_INDEX not in ragged.result.get_shape():
        return [spread(build, build.constant(ragged.result.element_type, 0), [], ragged.result, [])]
    if ragged.ragged in n.lhs_contracting_dimensions:
        return [_of_products(ragged)]
    if ragged.ragged in n.lhs_batching_dimensions:
        # Mode 3: groups of a batch; the rhs has no groups, so each batch is what it would be anyway.
        numbers = DotDimensionNumbersAttr.of(
            lhs_batching_dimensions=n.lhs_batching_dimensions,
            rhs_batching_dimensions=n.rhs_batching_dimensions,
            lhs_contracting_dimensions=n.lhs_contracting_dimensions,
            rhs_contracting_dimensions=n.rhs_contracting_dimensions,
        )
        return [build.dot(ragged.lhs, ragged.rhs, ragged.result, numbers)]
    return [_of_rows(ragged)]


EXPANSIONS = {"chlo.ragged_dot": _ragged_dot}
