"""Tensors that only structured ops read lose their dimensions of size one: a mean that was kept as a column becomes a
row of numbers, which other ops of the row can be grouped with."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, TensorType, i64
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Block, Operation
from xdsl.ir.affine import AffineDimExpr, AffineMap

from tiree.dialects.arith import ConstantOp
from tiree.dialects.tensor_dims import is_dynamic
from tiree.flow.affine import renumber
from tiree.flow.structured import (
    body_of,
    element_type_of,
    input_count,
    insert_before,
    is_elementwise,
    is_generic,
    iterators_of,
    make_generic,
    maps_of,
    replace_op,
    set_maps,
    shape_of,
)
from tiree.support.typed import int_of


def drop_unit_dims(block: Block) -> None:
    """See the module's docstring."""
    for op in list(block.ops):
        if is_generic(op) and len(op.results) == 1 and is_dynamic(op.results[0]) and is_elementwise(op):
            units = [dim for dim, size in enumerate(shape_of(op.results[0])) if size == 1]
            stay = [dim for dim in range(len(shape_of(op.results[0]))) if dim not in units]
            if units and _only_read_by_generics(op, stay) and isinstance(op.operands[-1].owner, EmptyOp):
                _drop(op, units)


def _only_read_by_generics(op: Operation, stay: list[int]) -> bool:
    """Whether structured ops alone read the result, whose loops have an extent by its dimensions `stay` too."""
    users: dict[Operation, set[int]] = {}
    for use in op.results[0].uses:
        if not is_generic(use.operation) or use.index >= input_count(use.operation):
            return False
        users.setdefault(use.operation, set()).add(use.index)
    return all(_has_extents(user, places, stay) for user, places in users.items())


def _has_extents(user: Operation, places: set[int], stay: list[int]) -> bool:
    maps = maps_of(user)
    left = [_selected(map, stay) if index in places else map for index, map in enumerate(maps)]
    found = {expr.position for map in left for expr in map.results if isinstance(expr, AffineDimExpr)}
    return len(found) == maps[0].num_dims


def _drop(op: Operation, units: list[int]) -> None:
    shape = shape_of(op.results[0])
    store = maps_of(op)[-1]
    gone = {expr.position for dim, expr in enumerate(store.results) if dim in units and isinstance(expr, AffineDimExpr)}
    kept = [loop for loop in range(store.num_dims) if loop not in gone]
    positions = [-1 if loop in gone else kept.index(loop) for loop in range(store.num_dims)]
    stay = [dim for dim in range(len(shape)) if dim not in units]
    maps = [renumber(map, positions, len(kept)) for map in maps_of(op)[:-1]]
    maps.append(_selected(renumber(store, positions, len(kept)), stay))
    init = op.operands[-1].owner
    assert isinstance(init, EmptyOp)
    type = TensorType(element_type_of(op.results[0]), [shape[dim] for dim in stay])
    assert type.get_shape().count(DYNAMIC_INDEX) == len(init.operands)
    empty = EmptyOp.create(operands=list(init.operands), result_types=[type])
    body = body_of(op)
    for inner in [inner for inner in body.walk() if inner.name == "linalg.index"]:
        position = positions[int_of(inner.properties["dim"])]
        if position >= 0:
            inner.properties["dim"] = IntegerAttr(position, i64)
            continue
        zero = ConstantOp.index(0)
        insert_before(inner, zero)
        replace_op(inner, [zero.result])
    op.regions[0].detach_block(body)
    parallel = iterators_of(op)
    new = make_generic(op.operands[:-1], [empty.tensor], maps, [parallel[loop] for loop in kept], body, op.location)
    insert_before(op, empty, new)
    for use in list(op.results[0].uses):
        user_maps = list(maps_of(use.operation))
        user_maps[use.index] = _selected(user_maps[use.index], stay)
        set_maps(use.operation, user_maps)
    replace_op(op, new.results)


def _selected(map: AffineMap, dims: list[int]) -> AffineMap:
    return AffineMap(map.num_dims, 0, tuple(map.results[dim] for dim in dims))
