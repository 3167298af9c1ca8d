"""`tiree-flow-convert-pads-and-concats`: pads become generics, concatenations chains of insertions.

In: tensor.concat and pad. Out: `tensor.insert_slice`, and generics that select between the source and the pad
value. A pad whose only reader is a windowed op stays: it joins that op's dispatch. Slices and insertions need no
change: dispatches load and store boxes of tensors; `concat_reads.py` says which concatenations are not put together.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.tensor import ExtractOp, InsertSliceOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from tiree.flow.affine import is_projected_permutation
from tiree.flow.concat_reads import read_in_pieces
from tiree.flow.cumulative import convert_cumulative
from tiree.flow.index_math import IndexBuilder
from tiree.flow.sink_scalars import reads_tensor
from tiree.flow.structured import (
    function_blocks,
    insert_before,
    is_generic,
    is_tensor,
    make_empty,
    make_generic,
    make_yield,
    maps_of,
    replace_op,
    require_static,
    segments,
    shape_of,
)
from tiree.support.typed import int_of, ints_of, is_tensor_type, tensor_type


def mixed_operands(op: Operation, name: str, segment: int) -> list[int | SSAValue]:
    """Offsets, sizes or strides of a slice op, constants as ints."""
    sizes = segments(op)
    start = sum(sizes[:segment])
    dynamic = iter(op.operands[start : start + sizes[segment]])
    static = ints_of(op.properties[name])
    return [next(dynamic) if value == DYNAMIC_INDEX else int(value) for value in static]


def kept_dims(sizes: list[int], shape: tuple[int, ...]) -> list[int]:
    """The dims of a slice that a (rank-reduced) result of `shape` keeps; the others have size 1."""
    kept: list[int] = []
    surplus = len(sizes) - len(shape)
    for dim, size in enumerate(sizes):
        if surplus and size == 1 and _matches(sizes[dim + 1 :], shape[len(kept) :]):
            surplus -= 1
        else:
            kept.append(dim)
    return kept


def _matches(sizes: list[int], shape: tuple[int, ...]) -> bool:
    """Whether `shape` is `sizes` with some ones left out."""
    position = 0
    for size in sizes:
        if position < len(shape) and shape[position] == size:
            position += 1
        elif size != 1:
            return False
    return position == len(shape)


def is_contiguous(sizes: list[int], shape: tuple[int, ...]) -> bool:
    """Whether a unit-stride box of `sizes` in `shape` is one run of memory: outer ones, one partial dim, full dims."""
    dim = len(shape) - 1
    while dim >= 0 and sizes[dim] == shape[dim]:
        dim -= 1
    return all(size == 1 for size in sizes[: max(dim, 0)])


def has_static_strides(op: Operation) -> bool:
    """Whether a slice has static sizes and strides (its offsets may be dynamic): a dispatch can load or store it."""
    names = ("static_sizes", "static_strides")
    return all(DYNAMIC_INDEX not in ints_of(op.properties[name]) for name in names)


def is_one_copy(op: Operation, full_shape: tuple[int, ...]) -> bool:
    """Whether a slice of a tensor of `full_shape` is one run of memory at an offset that the host knows."""
    sizes, strides = (list(ints_of(op.properties[name])) for name in ("static_sizes", "static_strides"))
    if any(reads_tensor(value) for value in op.operands if not is_tensor(value)):
        return False
    return set(strides) <= {1} and DYNAMIC_INDEX not in sizes and is_contiguous(sizes, full_shape)


def _elementwise(op: Operation, inputs: list[SSAValue], maps: list[AffineMap], body: Block) -> None:
    """Replaces `op` by a generic over the shape of its result."""
    type = op.results[0].type
    assert is_tensor_type(type)
    rank = len(type.get_shape())
    empty = make_empty(type)
    generic = make_generic(
        inputs, [empty.results[0]], [*maps, AffineMap.identity(rank)], [True] * rank, body, op.location
    )
    insert_before(op, empty, generic)
    replace_op(op, generic.results)


def convert_concat(op: Operation) -> None:
    """A chain of insertions into an empty tensor."""
    from xdsl.dialects.builtin import DenseArrayBase, i64

    from tiree.flow.structured import set_segments

    dim = int_of(op.properties["dim"])
    result_type = op.results[0].type
    value: SSAValue = make_empty(result_type).results[0]
    insert_before(op, value.owner)
    offset = 0
    rank = len(shape_of(op.results[0]))
    for piece in op.operands:
        require_static(piece, op)
        offsets = [0] * rank
        offsets[dim] = offset
        offset += shape_of(piece)[dim]
        insert = InsertSliceOp.create(
            operands=[piece, value],
            result_types=[result_type],
            properties={
                "static_offsets": DenseArrayBase.from_list(i64, offsets),
                "static_sizes": DenseArrayBase.from_list(i64, list(shape_of(piece))),
                "static_strides": DenseArrayBase.from_list(i64, [1] * rank),
            },
            location=op.location,
        )
        set_segments(insert, 1, 1, 0, 0, 0)
        insert_before(op, insert)
        value = insert.results[0]
    replace_op(op, [value])


def feeds_window(op: Operation) -> bool:
    """Whether the only reader of a pad is a structured op that reads it through sums of loops (conv, pooling), none of
    whose padded loops is the innermost of its result: kernels vectorise along that one."""
    use = op.results[0].get_unique_use()
    if use is None or not is_generic(use.operation):
        return False
    maps = maps_of(use.operation)
    if is_projected_permutation(maps[use.index]):
        return False
    innermost: set[int] = maps[-1].results[-1].used_dims() if maps[-1].results else set()
    pads = zip(*(ints_of(op.properties[name]) for name in ("static_low", "static_high")), strict=True)
    return not any(
        padding != (0, 0) and expr.used_dims() & innermost
        for padding, expr in zip(pads, maps[use.index].results, strict=True)
    )


def convert_pad(op: Operation) -> None:
    """`inside ? source[position - low] : pad value`, unless a windowed op takes the pad along."""
    result = op.results[0]
    require_static(result, op)
    terminator = op.regions[0].block.last_op
    assert terminator is not None
    value = terminator.operands[0]
    owner = value.owner
    if convert_cumulative(op) or isinstance(owner, Block) or feeds_window(op):
        return
    if owner.parent is op.regions[0].block:
        if owner.name != "arith.constant":
            return
        owner.detach()
        insert_before(op, owner)
    source = op.operands[0]
    low = mixed_operands(op, "static_low", 1)
    element = tensor_type(result).element_type
    body = Block(arg_types=[element])
    index = IndexBuilder(body)
    inside: SSAValue | None = None
    positions: list[SSAValue] = []
    for dim, size in enumerate(shape_of(source)):
        position, test = index.window(dim, shape_of(result)[dim], low[dim], size, 1)
        positions.append(position)
        inside = index.both(inside, test)
    if 0 in shape_of(source):
        body.add_op(make_yield([value]))
    else:
        read = ExtractOp.create(operands=[source, *positions], result_types=[element])
        body.add_op(read)
        chosen = read.results[0] if inside is None else index.select(inside, read.results[0], value)
        body.add_op(make_yield([chosen]))
    _elementwise(op, [], [], body)


CONVERTERS = {
    "tensor.concat": convert_concat,
    "tensor.pad": convert_pad,
}


class ConvertPadsAndConcats(ModulePass):
    """Data movement as structured ops."""

    name = "tiree-flow-convert-pads-and-concats"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in function_blocks(op):
            for inner in list(block.ops):
                if (convert := CONVERTERS.get(inner.name)) is not None:
                    convert(inner)
            for inner in list(block.ops):
                if inner.name == "tensor.insert_slice":
                    read_in_pieces(inner)
