"""Ops that make, move and cut elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase
from xdsl.ir import Operation, SSAValue

from tiree.dialects.dense import DenseAttr
from tiree.input.checks.values import (
    Shape,
    Wrong,
    element,
    fits,
    integer,
    integers,
    need,
    need_dims,
    need_element,
    need_scalar,
    need_shape,
    same_shape,
    shape,
    tensor,
    text,
)
from tiree.scalars.builder import inherent


def _constant(op: Operation) -> None:
    value = inherent(op, "value")
    if isinstance(value, DenseAttr) and not same_shape(value.type.get_shape(), shape(op.results[0])):
        raise Wrong(f"its value is of type {value.type}; its result of type {tensor(op.results[0])}")


def _iota(op: Operation) -> None:
    need_dims([integer(op, "iota_dimension")], len(shape(op.results[0])), "iota_dimension")


def _need_known(op: Operation, instead: str) -> None:
    """The result type alone says the sizes, so that it may not leave one open."""
    type = tensor(op.results[0])
    if DYNAMIC_INDEX in type.get_shape():
        dim = type.get_shape().index(DYNAMIC_INDEX)
        raise Wrong(f"nothing says how large dimension {dim} of its result {type} is; {instead} takes the sizes")


def _broadcast_in_dim(op: Operation) -> None:
    source, target = shape(op.operands[0]), shape(op.results[0])
    dims = integers(op, "broadcast_dimensions", len(source))
    need_dims(dims, len(target), "broadcast_dimensions")
    for size, dim in zip(source, dims, strict=True):
        if size != 1 and not fits(size, target[dim]):
            raise Wrong(f"it cannot broadcast {text(source)} to {text(target)} along {list(dims)}")
    _need_known(op, "stablehlo.dynamic_broadcast_in_dim")
    need_element(op, op.operands[0])


def _broadcast(op: Operation) -> None:
    need_shape(op, (*integers(op, "broadcast_sizes"), *shape(op.operands[0])))
    need_element(op, op.operands[0])


def _reshape(op: Operation) -> None:
    source, target = shape(op.operands[0]), shape(op.results[0])
    if DYNAMIC_INDEX not in (*source, *target) and prod(source) != prod(target):
        raise Wrong(f"it reshapes {prod(source)} elements ({text(source)}) to {prod(target)} ({text(target)})")
    _need_known(op, "stablehlo.dynamic_reshape")
    need_element(op, op.operands[0])


def _transpose(op: Operation) -> None:
    source = shape(op.operands[0])
    permutation = integers(op, "permutation", len(source))
    need_dims(permutation, len(source), "permutation")
    need_shape(op, [source[dim] for dim in permutation])
    need_element(op, op.operands[0])


def _slice(op: Operation) -> None:
    source = shape(op.operands[0])
    rank = len(source)
    starts, limits = integers(op, "start_indices", rank), integers(op, "limit_indices", rank)
    strides = integers(op, "strides", rank, [1] * rank)
    wanted: list[int] = []
    for dim, (size, start, limit, stride) in enumerate(zip(source, starts, limits, strides, strict=True)):
        inside = 0 <= start <= limit and (size == DYNAMIC_INDEX or limit <= size)
        need(inside, f"it cuts {start} to {limit} out of dimension {dim} of size {size}")
        need(stride > 0, f"stride {stride} of dimension {dim} is not positive")
        wanted.append(-(-(limit - start) // stride))
    need_shape(op, wanted)
    need_element(op, op.operands[0])


def _concatenate(op: Operation) -> None:
    first = shape(op.operands[0])
    dim = integer(op, "dimension")
    need_dims([dim], len(first), "dimension")
    total = 0
    for operand in op.operands:
        sizes = shape(operand)
        others = [DYNAMIC_INDEX if d == dim else size for d, size in enumerate(first)]
        need(same_shape(sizes, others), f"it joins {text(first)} and {text(sizes)} along dimension {dim}")
        need_element(op, operand)
        total = DYNAMIC_INDEX if DYNAMIC_INDEX in (total, sizes[dim]) else total + sizes[dim]
    need_shape(op, [total if d == dim else size for d, size in enumerate(first)])


def _pad(op: Operation) -> None:
    source = shape(op.operands[0])
    rank = len(source)
    low, high = integers(op, "edge_padding_low", rank), integers(op, "edge_padding_high", rank)
    interior = integers(op, "interior_padding", rank)
    need_scalar(op.operands[1], "the padding value")
    need_element(op, op.operands[0])
    need_element(op, op.operands[1])
    need(min(interior, default=0) >= 0, f"interior_padding must not be negative: {list(interior)}")
    wanted = padded(source, low, high, interior)
    need(all(size >= 0 or size == DYNAMIC_INDEX for size in wanted), f"more than there is is cut from {text(source)}")
    need_shape(op, wanted)


def padded(sizes: Shape, low: Sequence[int], high: Sequence[int], interior: Sequence[int]) -> list[int]:
    """Extents after padding; dynamic ones stay so."""
    return [
        DYNAMIC_INDEX if size == DYNAMIC_INDEX else a + size + max(0, size - 1) * i + b
        for size, a, b, i in zip(sizes, low, high, interior, strict=True)
    ]


def _reverse(op: Operation) -> None:
    need_dims(integers(op, "dimensions"), len(shape(op.operands[0])), "dimensions")
    need_shape(op, shape(op.operands[0]))
    need_element(op, op.operands[0])


def _need_starts(starts: Sequence[SSAValue], rank: int) -> None:
    need(len(starts) == rank, f"it has {len(starts)} start indices for a tensor of rank {rank}")
    for start in starts:
        need_scalar(start, "a start index", "i")
        same = element(start) == element(starts[0])
        need(same, f"start indices must have one type; they are {tensor(starts[0])} and {tensor(start)}")


def _dynamic_slice(op: Operation) -> None:
    source = shape(op.operands[0])
    _need_starts(op.operands[1:], len(source))
    sizes = integers(op, "slice_sizes", len(source))
    for have, size in zip(source, sizes, strict=True):
        inside = size >= 0 and (have == DYNAMIC_INDEX or size <= have)
        need(inside, f"a slice of {text(sizes)} does not fit in {text(source)}")
    need_shape(op, sizes)
    need_element(op, op.operands[0])


def _dynamic_update_slice(op: Operation) -> None:
    source, update = shape(op.operands[0]), shape(op.operands[1])
    _need_starts(op.operands[2:], len(source))
    inside = len(update) == len(source) and all(
        DYNAMIC_INDEX in (u, s) or u <= s for u, s in zip(update, source, strict=True)
    )
    need(inside, f"an update of {text(update)} does not fit in {text(source)}")
    need(element(op.operands[0]) == element(op.operands[1]), "operand and update differ in their element type")
    need_shape(op, source)
    need_element(op, op.operands[0])


def _tensor_slice(op: Operation) -> None:
    """tensor.extract_slice and insert_slice with constant offsets: inside the tensor."""
    whole = op.operands[0] if op.name == "tensor.extract_slice" else op.operands[1]
    lists = [op.properties.get(f"static_{name}") for name in ("offsets", "sizes", "strides")]
    offsets, sizes, strides = (
        [int(v) for v in part.get_values()] if isinstance(part, DenseArrayBase) else [] for part in lists
    )
    for dim, (extent, offset, size, stride) in enumerate(zip(shape(whole), offsets, sizes, strides, strict=False)):
        if DYNAMIC_INDEX in (extent, offset, size, stride) or not size:
            continue
        last = offset + (size - 1) * stride
        need(offset >= 0 and 0 <= last < extent, f"element {last} of dimension {dim} is outside {tensor(whole)}")


CHECKS = {
    "stablehlo.constant": _constant,
    "stablehlo.iota": _iota,
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.broadcast": _broadcast,
    "stablehlo.reshape": _reshape,
    "stablehlo.transpose": _transpose,
    "stablehlo.slice": _slice,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.pad": _pad,
    "stablehlo.reverse": _reverse,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "tensor.extract_slice": _tensor_slice,
    "tensor.insert_slice": _tensor_slice,
}
