"""CHLO's ops with numpy's broadcasting, and `constant_like`: the plain op on operands that are repeated first.

An operand of lower rank stands for the last dimensions, or for those that `broadcast_dimensions` names.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, TensorType, i32
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects.chlo import BROADCASTING
from tiree.dialects.stablehlo_attrs import ComparisonDirectionAttr, ComparisonTypeAttr
from tiree.input.expansions.build import OPS, Build, element_of, i64_array, shape_of
from tiree.input.lowering.context import Unsupported, ranked_type
from tiree.input.lowering.scalar import inherent
from tiree.input.lowering.structural import ints_property
from tiree.support.typed import is_integer_attr


def _dims(op: Operation, value: SSAValue, rank: int) -> list[int]:
    """The dimension of the result that each dimension of `value` is."""
    own = len(shape_of(value))
    given = inherent(op, "broadcast_dimensions")
    if own == rank or given is None:
        return list(range(rank - own, rank))
    return list(ints_property(op, "broadcast_dimensions"))


def _size(build: Build, values: Sequence[tuple[SSAValue, list[int]]], dim: int) -> SSAValue:
    """The size of a dimension of the result: the one that is not 1."""
    one = build.constant(i32, 1)
    found: SSAValue | None = None
    for value, dims in values:
        if dim in dims:
            size = build.size(value, dims.index(dim))
            found = size if found is None else build.select(build.compare("EQ", found, one), size, found)
    return one if found is None else found


def _repeated(build: Build, op: Operation, rank: int) -> list[SSAValue]:
    """The operands in one shape."""
    values = [(value, _dims(op, value, rank)) for value in op.operands]
    shape = ranked_type(op.results[0]).get_shape()
    if DYNAMIC_INDEX not in shape and all(DYNAMIC_INDEX not in shape_of(value) for value, _ in values):
        return [
            build.value(
                "broadcast_in_dim",
                [value],
                TensorType(element_of(value), shape),
                {"broadcast_dimensions": i64_array(dims)},
            )
            for value, dims in values
        ]
    sizes = [build.reshape(_size(build, values, dim), [1]) for dim in range(rank)]
    wanted = build.concatenate(sizes, 0)
    return [
        build.value(
            "dynamic_broadcast_in_dim",
            [value, wanted],
            TensorType(element_of(value), shape),
            {"broadcast_dimensions": i64_array(dims)},
        )
        for value, dims in values
    ]


def _broadcasting(name: str, build: Build, op: Operation) -> Sequence[SSAValue]:
    rank = len(ranked_type(op.results[0]).get_shape())
    operands = _repeated(build, op, rank) if rank else list(op.operands)
    return build.make(name, operands, [op.results[0].type])


def _compare(build: Build, op: Operation) -> Sequence[SSAValue]:
    rank = len(ranked_type(op.results[0]).get_shape())
    operands = _repeated(build, op, rank) if rank else list(op.operands)
    direction, kind = inherent(op, "comparison_direction"), inherent(op, "compare_type")
    if direction is None:
        raise Unsupported("without comparison_direction")
    properties: dict[str, Attribute] = {
        "comparison_direction": ComparisonDirectionAttr(str(getattr(direction, "data", "")))
    }
    if kind is not None:
        properties["compare_type"] = ComparisonTypeAttr(str(getattr(kind, "data", "NOTYPE")))
    return build.make("compare", operands, [op.results[0].type], properties)


def _constant_like(build: Build, op: Operation) -> Sequence[SSAValue]:
    value = inherent(op, "value")
    if not (isinstance(value, FloatAttr) or is_integer_attr(value)):
        raise Unsupported("without a number")
    return [build.broadcast(build.constant(element_of(op.results[0]), value.value.data), [], op.operands[0])]


EXPANSIONS = {
    **{
        op.name: partial(_broadcasting, suffix if f"stablehlo.{suffix}" in OPS else f"chlo.{suffix}")
        for suffix, op in BROADCASTING.items()
    },
    "chlo.broadcast_select": partial(_broadcasting, "select"),
    "chlo.broadcast_compare": _compare,
    "chlo.constant_like": _constant_like,
}
