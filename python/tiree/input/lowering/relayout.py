"""pack and unpack: a tensor in tiles, and back, as pads, reshapes and transposes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from tiree.dialects.arith import constant_of
from tiree.input.lowering.context import Lowering, Unsupported, map_attr, tensor_type
from tiree.input.lowering.scalar import scalar_attribute
from tiree.input.lowering.structural import ints_property
from tiree.support.typed import is_float_attr, is_integer_attr


def _transposed(emit: Lowering, value: SSAValue, order: Sequence[int]) -> SSAValue:
    """Dimension i of the result is dimension `order[i]` of `value`."""
    type = tensor_type(value)
    rank = len(order)
    if list(order) == list(range(rank)):
        return value
    result = TensorType(type.element_type, [type.get_shape()[d] for d in order])
    inverse = map_attr(rank, tuple(order.index(d) for d in range(rank)))
    return emit.parallel([(value, inverse)], result, lambda s, args: args[0])  # noqa: ARG005


class _Tiles:
    """How a tensor of `shape` lies in tiles."""

    def __init__(self, op: Operation, shape: Sequence[int]) -> None:
        self.shape = tuple(shape)
        self.rank = len(shape)
        self.dims = ints_property(op, "inner_dims_pos")
        self.tiles = ints_property(op, "static_inner_tiles")
        if any(tile < 0 for tile in self.tiles):
            raise Unsupported("with a dynamic tile")
        self.outer = ints_property(op, "outer_dims_perm", ()) or tuple(range(self.rank))
        self.tile_of = dict(zip(self.dims, self.tiles, strict=True))
        self.counts = [-(-size // self.tile_of.get(d, 1)) for d, size in enumerate(shape)]
        """Tiles along each dimension."""
        self.padded = [count * self.tile_of.get(d, 1) for d, count in enumerate(self.counts)]
        self.groups: list[list[int]] = []
        self.split: list[int] = []
        """The shape with each tiled dimension as (count, tile), and which of its dimensions each comes from."""
        for d, count in enumerate(self.counts):
            sizes = [count, self.tile_of[d]] if d in self.tile_of else [count]
            self.groups.append(list(range(len(self.split), len(self.split) + len(sizes))))
            self.split += sizes
        outer = [self.groups[d][0] for d in self.outer]
        inner = [self.groups[d][1] for d in self.dims]
        self.order = [*outer, *inner]
        """Which dimension of the split shape each packed dimension is."""


def _padded(emit: Lowering, op: Operation, shape: Sequence[int]) -> SSAValue:
    """The source, filled up to `shape` at the ends."""
    source = op.operands[0]
    sizes = tensor_type(source).get_shape()
    element = tensor_type(source).element_type
    value = constant_of(op.operands[2]) if len(op.operands) > 2 else scalar_attribute(element, 0)
    if is_integer_attr(value) or is_float_attr(value):
        high = [wanted - size for wanted, size in zip(shape, sizes, strict=True)]
        return emit.pad(source, value, [0] * len(shape), high)
    if list(shape) == list(sizes):
        return source
    return emit.insert(source, emit.fill(op.operands[2], TensorType(element, shape)), [0] * len(shape), sizes)


def lower_pack(emit: Lowering, op: Operation) -> Sequence[SSAValue]:
    source = op.operands[0]
    tiles = _Tiles(op, tensor_type(source).get_shape())
    padded = _padded(emit, op, tiles.padded)
    split = emit.expand(padded, tiles.groups, tiles.split) if len(tiles.split) > tiles.rank else padded
    return [_transposed(emit, split, tiles.order)]


def lower_unpack(emit: Lowering, op: Operation) -> Sequence[SSAValue]:
    packed, target = op.operands[0], tensor_type(op.operands[1])
    tiles = _Tiles(op, target.get_shape())
    split = _transposed(emit, packed, [tiles.order.index(d) for d in range(len(tiles.split))])
    padded = emit.collapse(split, tiles.groups, tiles.padded) if len(tiles.split) > tiles.rank else split
    if tiles.padded == list(tiles.shape):
        return [padded]
    return [emit.slice(padded, [0] * tiles.rank, tiles.shape)]
