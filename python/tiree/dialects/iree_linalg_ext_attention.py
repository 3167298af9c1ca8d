"""What the loops of an `iree_linalg_ext.attention` do, for those that run as one kernel.

`form_of` reads an op of the usual form: batches, one dimension over rows, keys, depth and columns each, every tensor
indexed by bare loops, a mask that is added or says which scores count, and a region that leaves scores as they are.
Whoever makes or keeps such an op asks it; all others are lowered to contractions around a softmax.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, AnyFloat, Float32Type, Float64Type, FloatAttr, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from tiree.support.typed import is_array_attr, is_float_attr, is_tensor_type

NAME = "iree_linalg_ext.attention"
MASKED_SCORE = "tiree.masked_score"
"""Attribute: the score where a mask of `i1` is false, if that is not minus infinity. Others than Tiree take no notice,
which differs only in rows that are masked as a whole."""
MOST_DEPTH = 256
"""Most products of one score, and most columns of a value, that one kernel keeps at hand."""

_FLOATS = frozenset(("f16", "bf16", "f32", "f64"))


@dataclass(frozen=True)
class AttentionForm:
    """The loops that index each tensor, in order, and those that do one thing each."""

    query: tuple[int, ...]
    key: tuple[int, ...]
    value: tuple[int, ...]
    mask: tuple[int, ...] | None
    output: tuple[int, ...]
    row: int
    """The loop over rows of scores whose neighbours share what they read."""
    keys: int
    depth: int
    """The loop over the products of one score."""
    columns: int
    outer: tuple[int, ...]
    """All other loops, in the order of the output."""


def plain_dims(map: AffineMap) -> tuple[int, ...] | None:
    """The loops that a map selects, None unless its results are different bare loops."""
    found = [expr.position for expr in map.results if isinstance(expr, AffineDimExpr)]
    return tuple(found) if len(found) == len(map.results) == len(set(found)) else None


def is_identity_region(op: Operation) -> bool:
    """Whether the region of an attention gives back the score that it takes."""
    block = op.regions[0].blocks.first if op.regions else None
    if block is None or len(block.args) != 1 or block.first_op is not block.last_op:
        return block is None
    last = block.last_op
    return last is not None and list(last.operands) == [block.args[0]]


def sizes_of(op: Operation, maps: Sequence[AffineMap]) -> list[int]:
    """The extent of each loop, `DYNAMIC_INDEX` where it is not known."""
    sizes = [DYNAMIC_INDEX] * maps[0].num_dims
    for operand, map in zip(op.operands, maps, strict=True):
        if is_tensor_type(operand.type):
            for expr, size in zip(map.results, operand.type.get_shape(), strict=True):
                if isinstance(expr, AffineDimExpr) and size != DYNAMIC_INDEX:
                    sizes[expr.position] = size
    return sizes


def maps_of(op: Operation) -> list[AffineMap] | None:
    """The indexing maps of an attention with one for each operand."""
    attr = op.properties.get("indexing_maps")
    if not is_array_attr(attr):
        return None
    maps = [one.data for one in attr if isinstance(one, AffineMapAttr)]
    return maps if len(maps) == len(attr.data) == len(op.operands) and len(maps) in (5, 6) else None


def element_of(value: SSAValue) -> Attribute:
    return value.type.element_type if is_tensor_type(value.type) else value.type


def form_of(op: Operation) -> AttentionForm | None:
    """The form of an attention, None where it is another than one kernel computes."""
    maps = maps_of(op)
    if op.name != NAME or maps is None or len(op.results) != 1 or not is_identity_region(op):
        return None
    dims = [plain_dims(map) for map in maps]
    if any(one is None for one in dims) or not _types_fit(op):
        return None
    query, key, value, scale, *mask, output = [one for one in dims if one is not None]
    return None if scale else _sorted_out(sizes_of(op, maps), (query, key, value, output), mask[0] if mask else None)


def _types_fit(op: Operation) -> bool:
    query, key, value, scale, *mask = op.operands[:-1]
    floats = [query, key, value, op.operands[-1]]
    if not all(is_tensor_type(one.type) and one.type.element_type.name in _FLOATS for one in floats):
        return False
    if not all((is_tensor_type(one.type) and element_of(one) == i1) or element_of(one).name in _FLOATS for one in mask):
        return False
    return isinstance(scale.type, AnyFloat)


def _sorted_out(
    sizes: list[int], tensors: tuple[tuple[int, ...], ...], mask: tuple[int, ...] | None
) -> AttentionForm | None:
    query, key, value, output = tensors
    depth = [d for d in query if d in key and d not in value and d not in output]
    keys = [d for d in key if d in value and d not in query and d not in output]
    columns = [d for d in value if d in output and d not in query and d not in key]
    rows = [d for d in output if d in query and d not in key and d not in value]
    if not (len(depth) == len(keys) == len(columns) == 1 and rows):
        return None
    for loop in (depth[0], columns[0]):
        if not 0 < sizes[loop] <= MOST_DEPTH:
            return None
    row = max(rows, key=lambda d: (sizes[d] == DYNAMIC_INDEX, sizes[d], output.index(d)))
    outer = tuple(d for d in output if d not in (row, columns[0]))
    known = {*outer, row, keys[0], depth[0], columns[0]}
    if not set(outer) <= set(query) or not {*query, *key, *value, *(mask or ())} <= known or sizes[keys[0]] == 0:
        return None
    if mask is not None and not set(mask) <= {*outer, row, keys[0]}:
        return None
    return AttentionForm(query, key, value, mask, output, row, keys[0], depth[0], columns[0], outer)


def sum_type(values: Sequence[SSAValue]) -> Attribute:
    """The type in which scores of these tensors are computed."""
    return Float64Type() if any(element_of(value).name == "f64" for value in values) else Float32Type()


def masked_score(op: Operation) -> float:
    """What a masked score is."""
    attr = op.attributes.get(MASKED_SCORE)
    return float(attr.value.data) if is_float_attr(attr) else -float("inf")


def float_attr(value: float, type: Attribute) -> FloatAttr:
    assert isinstance(type, AnyFloat)
    return FloatAttr(value, type)


def store_path(op: Operation) -> list[Operation] | None:
    """What stands between an attention and the one store of its dispatch: elementwise generics that only the next one
    reads. None where the result goes elsewhere."""
    path: list[Operation] = []
    value = op.results[0]
    while True:
        users = [use.operation for use in value.uses]
        if len(users) != 1:
            return None
        user = users[0]
        if user.name == "iree_tensor_ext.dispatch.tensor.store":
            return path
        if user.name != "linalg.generic" or len(user.results) != 1 or value in user.operands[-1:]:
            return None
        if not _moves_points(user, value):
            return None
        path.append(user)
        value = user.results[0]


def _moves_points(op: Operation, value: SSAValue) -> bool:
    """Whether an elementwise generic reads and writes at the same point, in any order of loops."""
    attr = op.properties["indexing_maps"]
    assert is_array_attr(attr)
    maps = [one.data for one in attr if isinstance(one, AffineMapAttr)]
    read = plain_dims(maps[list(op.operands).index(value)])
    written = plain_dims(maps[-1])
    return read is not None and written is not None and len(read) == len(written) == maps[-1].num_dims
