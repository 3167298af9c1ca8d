"""Concatenations whose pieces are read where they are, rather than put together.

In: chains of `tensor.insert_slice` into an empty tensor. Pieces that a dispatch computes are written where they belong,
which is free. A constant or an argument would have to be copied there; where one elementwise op reads the whole, it
reads the pieces instead (a generic that it fuses with) and nothing is copied.
"""

from __future__ import annotations

from xdsl.dialects.tensor import ExtractOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from tiree.flow.affine import is_identity
from tiree.flow.index_math import IndexBuilder
from tiree.flow.structured import (
    defining_op,
    insert_before,
    is_elementwise,
    is_generic,
    make_empty,
    make_generic,
    make_yield,
    maps_of,
    replace_op,
    shape_of,
)
from tiree.support.typed import ints_of, tensor_type

_MOST_PIECES = 3
"""Whose reads are chosen from; all are read at every point."""
_STORED = frozenset({"arith.constant", "flow.tensor.constant", "hal.tensor.import", "util.global.load"})
_RESHAPES = frozenset({"tensor.expand_shape", "tensor.collapse_shape", "tensor.cast"})


def _is_stored(value: SSAValue) -> bool:
    """Whether no op of the program computes `value`, so that no dispatch could write it elsewhere."""
    while (op := defining_op(value)) is not None and op.name in _RESHAPES:
        value = op.operands[0]
    return op is None or op.name in _STORED


def _pieces(last: Operation) -> tuple[int, list[SSAValue]] | None:
    """The dimension and the pieces, in order, of a concatenation whose last insertion is `last`."""
    shape = shape_of(last.results[0])
    found: list[tuple[list[int], SSAValue]] = []
    value = last.results[0]
    while (op := defining_op(value)) is not None and op.name == "tensor.insert_slice":
        static = {name: list(ints_of(op.properties[f"static_{name}"])) for name in ("offsets", "sizes", "strides")}
        regular = set(static["strides"]) == {1} and tuple(static["sizes"]) == shape_of(op.operands[0])
        if not regular or len(op.operands) != 2 or (op is not last and not value.has_one_use()):
            return None
        found.append((static["offsets"], op.operands[0]))
        value = op.operands[1]
    if op is None or op.name != "tensor.empty" or len(found) < 2:
        return None
    dims = {dim for _, piece in found for dim, (a, b) in enumerate(zip(shape_of(piece), shape, strict=True)) if a != b}
    if len(dims) != 1:
        return None
    (dim,) = dims
    found.sort(key=lambda pair: pair[0][dim])
    end = 0
    for offsets, piece in found:
        if offsets != [end if number == dim else 0 for number in range(len(shape))]:
            return None
        end += shape_of(piece)[dim]
    return (dim, [piece for _, piece in found]) if end == shape[dim] else None


def _reader_is_elementwise(value: SSAValue) -> bool:
    use = value.get_unique_use()
    if use is None or not is_generic(use.operation) or not is_elementwise(use.operation):
        return False
    return is_identity(maps_of(use.operation)[use.index])


def read_in_pieces(last: Operation) -> None:
    """See the module's docstring; `last` is an insertion."""
    result = last.results[0]
    if not _reader_is_elementwise(result):
        return
    found = _pieces(last)
    if found is None:
        return
    dim, pieces = found
    # Along the innermost dimension kernels load vectors, which no piece may end in.
    innermost = dim == len(shape_of(result)) - 1
    if innermost or len(pieces) > _MOST_PIECES or not any(map(_is_stored, pieces)):
        return
    type = tensor_type(result)
    rank = len(type.get_shape())
    body = Block(arg_types=[type.element_type])
    index = IndexBuilder(body)
    end = type.get_shape()[dim]
    chosen: SSAValue | None = None
    for piece in reversed(pieces):
        start = end - shape_of(piece)[dim]
        position = index.clamp(index.sub(index.loop(dim), index.constant(start)), end - start - 1)
        where = [position if number == dim else index.loop(number) for number in range(rank)]
        read = ExtractOp.create(operands=[piece, *where], result_types=[type.element_type])
        body.add_op(read)
        chosen = (
            read.results[0]
            if chosen is None
            else index.select(index.below(index.loop(dim), index.constant(end)), read.results[0], chosen)
        )
        end = start
    assert chosen is not None
    body.add_op(make_yield([chosen]))
    empty = make_empty(type)
    generic = make_generic([], [empty.results[0]], [AffineMap.identity(rank)], [True] * rank, body, last.location)
    insert_before(last, empty, generic)
    replace_op(last, generic.results)
