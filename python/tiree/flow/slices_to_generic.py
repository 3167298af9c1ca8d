"""`tiree-flow-slices-to-generic`: slices, pads and insertions that are not one contiguous copy become generics.

In: tensor.extract_slice, insert_slice, concat and pad. Out: strided slices are generics with strided maps (they fuse into
what reads them); dynamic ones and insertions are generics that compute the element to read. Left alone: static boxes of
unit stride (dispatches load them), contiguous static insertions (one copy), and pads whose only reader is a windowed op
(they join its dispatch).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.dialects.tensor import ExtractOp, InsertSliceOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineMap
from xdsl.passes import ModulePass

from tiree.flow.affine import build, is_projected_permutation
from tiree.flow.index_math import IndexBuilder
from tiree.flow.structured import (
    function_blocks,
    insert_before,
    is_generic,
    make_empty,
    make_generic,
    make_yield,
    maps_of,
    replace_op,
    require_static,
    segments,
    shape_of,
)


def mixed_operands(op: Operation, name: str, segment: int) -> list[int | SSAValue]:
    """Offsets, sizes or strides of a slice op, constants as ints."""
    sizes = segments(op)
    start = sum(sizes[:segment])
    dynamic = iter(op.operands[start : start + sizes[segment]])
    static = op.properties[name].get_values()  # pyright: ignore
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


def is_static_box(op: Operation) -> bool:
    """Whether an extract_slice has static offsets and sizes and unit strides."""
    return len(op.operands) == 1 and set(op.properties["static_strides"].get_values()) <= {1}  # pyright: ignore


def slice_map(offsets: list[int], strides: list[int], kept: list[int]) -> AffineMap:
    """The map of a static slice read in the space of its result."""
    place = {dim: position for position, dim in enumerate(kept)}
    exprs = []
    for dim, (offset, stride) in enumerate(zip(offsets, strides, strict=True)):
        exprs.append(build((offset, ((place[dim], stride),))) if dim in place else AffineConstantExpr(offset))
    return AffineMap(len(kept), 0, tuple(exprs))


def _elementwise(op: Operation, inputs: list[SSAValue], maps: list[AffineMap], body: Block) -> None:
    """Replaces `op` by a generic over the shape of its result."""
    type = op.results[0].type
    assert isinstance(type, TensorType)
    rank = len(type.get_shape())
    empty = make_empty(type)
    generic = make_generic(
        inputs, [empty.results[0]], [*maps, AffineMap.identity(rank)], [True] * rank, body, op.location
    )
    insert_before(op, empty, generic)
    replace_op(op, generic.results)


def convert_extract_slice(op: Operation) -> None:
    """Strided: a generic that reads through the slice's map; dynamic offsets: one that computes each position. A box
    of static offsets and unit strides stays: dispatches load it as it is."""
    source, result = op.operands[0], op.results[0]
    require_static(source, op)
    require_static(result, op)
    offsets = mixed_operands(op, "static_offsets", 1)
    sizes = [size for size in mixed_operands(op, "static_sizes", 2) if isinstance(size, int)]
    strides = mixed_operands(op, "static_strides", 3)
    static = [value for value in [*offsets, *strides] if isinstance(value, int)]
    if len(static) == 2 * len(sizes) and set(static[len(sizes) :]) <= {1}:
        return
    kept = kept_dims(sizes, shape_of(result))
    element = result.type.element_type  # pyright: ignore
    # A bare dim must run over all of the operand dim that it indexes.
    bare = [size != full for size, full, stride in zip(sizes, shape_of(source), strides, strict=True) if stride == 1]
    if len(static) == 2 * len(sizes) and not any(bare):
        body = Block(arg_types=[element, element])
        body.add_op(make_yield([body.args[0]]))
        map = slice_map(static[: len(sizes)], static[len(sizes) :], kept)
        _elementwise(op, [source], [map], body)
        return
    body = Block(arg_types=[element])
    index = IndexBuilder(body)
    place = {dim: position for position, dim in enumerate(kept)}
    positions = []
    for dim, (offset, stride) in enumerate(zip(offsets, strides, strict=True)):
        step = index.mul(index.loop(place[dim]), index.value(stride)) if dim in place else index.constant(0)
        positions.append(index.add(step, index.value(offset)))
    read = ExtractOp.create(operands=[source, *positions], result_types=[element])
    body.add_ops([read, make_yield([read.results[0]])])
    _elementwise(op, [], [], body)


def convert_insert_slice(op: Operation) -> None:
    """`inside the box ? source[position - offset] : destination`, unless it is one contiguous copy."""
    source, dest = op.operands[0], op.operands[1]
    require_static(source, op)
    require_static(dest, op)
    offsets = mixed_operands(op, "static_offsets", 2)
    sizes = [size for size in mixed_operands(op, "static_sizes", 3) if isinstance(size, int)]
    strides = mixed_operands(op, "static_strides", 4)
    unit = all(stride == 1 for stride in strides)
    if unit and all(isinstance(offset, int) for offset in offsets) and is_contiguous(sizes, shape_of(dest)):
        return
    undefined = isinstance(dest.owner, Operation) and dest.owner.name in ("tensor.empty", "flow.tensor.empty")
    element = dest.type.element_type  # pyright: ignore
    body = Block(arg_types=[element] if undefined else [element, element])
    index = IndexBuilder(body)
    kept = set(kept_dims(sizes, shape_of(source)))
    inside: SSAValue | None = None
    positions: list[SSAValue] = []
    for dim, size in enumerate(sizes):
        position, test = index.window(dim, shape_of(dest)[dim], offsets[dim], size, strides[dim])
        if dim in kept:
            positions.append(position)
        inside = index.both(inside, test)
    read = ExtractOp.create(operands=[source, *positions], result_types=[element])
    body.add_op(read)
    value = read.results[0]
    if not undefined and inside is not None:
        value = index.select(inside, value, body.args[0])
    body.add_op(make_yield([value]))
    rank = len(sizes)
    _elementwise(op, [] if undefined else [dest], [] if undefined else [AffineMap.identity(rank)], body)


def convert_concat(op: Operation) -> None:
    """A chain of insertions into an empty tensor."""
    from xdsl.dialects.builtin import DenseArrayBase, i64

    from tiree.flow.structured import set_segments

    dim = op.properties["dim"].value.data  # pyright: ignore
    result_type = op.results[0].type
    value: SSAValue = make_empty(result_type).results[0]
    insert_before(op, value.owner)  # pyright: ignore
    offset = 0
    rank = len(shape_of(op.results[0]))
    inserts = []
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
        inserts.append(insert)
        value = insert.results[0]
    replace_op(op, [value])
    for insert in inserts:
        convert_insert_slice(insert)


def feeds_window(op: Operation) -> bool:
    """Whether the only reader of a pad is a structured op that reads it through sums of loops (conv, pooling)."""
    result = op.results[0]
    use = result.get_unique_use()
    if use is None or not is_generic(use.operation):
        return False
    return not is_projected_permutation(maps_of(use.operation)[use.index])


def convert_pad(op: Operation) -> None:
    """`inside ? source[position - low] : pad value`, unless a windowed op takes the pad along."""
    result = op.results[0]
    require_static(result, op)
    terminator = op.regions[0].block.last_op
    assert terminator is not None
    value = terminator.operands[0]
    if isinstance(value, BlockArgument) or feeds_window(op):
        return
    if value.owner.parent is op.regions[0].block:  # pyright: ignore[reportAttributeAccessIssue]
        if value.owner.name != "arith.constant":
            return
        value.owner.detach()
        insert_before(op, value.owner)
    source = op.operands[0]
    low = mixed_operands(op, "static_low", 1)
    element = result.type.element_type  # pyright: ignore
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
    "tensor.extract_slice": convert_extract_slice,
    "tensor.insert_slice": convert_insert_slice,
    "tensor.concat": convert_concat,
    "tensor.pad": convert_pad,
}


@dataclass(frozen=True)
class SlicesToGeneric(ModulePass):
    """Data movement as structured ops."""

    name = "tiree-flow-slices-to-generic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in function_blocks(op):
            for inner in list(block.ops):
                if (convert := CONVERTERS.get(inner.name)) is not None:
                    convert(inner)
