"""Ops between processes, for a program of one: a group holds this process alone, and everything stays where it is."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tiree.dialects.dense import DenseAttr, element_count
from tiree.input.checks.values import same_shape
from tiree.input.expansions.build import Build, element_of, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.lowering.scalar import inherent
from tiree.support.typed import is_array_attr


def _numbers(op: Operation, name: str) -> list[int] | None:
    """All numbers of `replica_groups` or `source_target_pairs`; None where there is no such list."""
    attr = inherent(op, name)
    if isinstance(attr, DenseAttr):
        return [int(number) for number in attr.to_numpy().reshape(-1).tolist()] if element_count(attr.type) else []
    if is_array_attr(attr):
        return [number for row in attr.data for number in _row(row)]
    return None


def _row(attr: object) -> list[int]:
    if isinstance(attr, DenseAttr):
        return [int(number) for number in attr.to_numpy().reshape(-1).tolist()]
    return []


def _alone(op: Operation, name: str = "replica_groups") -> list[int]:
    """The processes named. Raises `Unsupported` if there are others than this one, number 0."""
    numbers = [number for number in _numbers(op, name) or [] if number >= 0]
    others = sorted({number for number in numbers if number})
    if others:
        raise Unsupported(f"with several processes ({', '.join(map(str, [0, *others][:8]))}), where a program is one,")
    return numbers


def _same(build: Build, op: Operation) -> Sequence[SSAValue]:
    """Reduced, gathered or exchanged with nobody."""
    del build
    _alone(op)
    for operand, result in zip(op.operands, op.results, strict=True):
        if not same_shape(shape_of(operand), shape_of(result)):
            raise Unsupported(f"from {operand.type} to {result.type} with one process")
    return list(op.operands)


def _zeros(build: Build, value: SSAValue) -> SSAValue:
    return build.broadcast(build.constant(element_of(value), 0), [], value)


def _permute(build: Build, op: Operation) -> Sequence[SSAValue]:
    """What nobody sends is zero."""
    pairs = _alone(op, "source_target_pairs")
    return list(op.operands) if pairs else [_zeros(build, value) for value in op.operands]


def _rooted(build: Build, op: Operation) -> Sequence[SSAValue]:
    """From or to a root, which is this process; the last operand may say so. Outside of all groups everything is
    zero."""
    groups = _numbers(op, "replica_groups")
    _alone(op)
    values = op.operands[: len(op.results)]
    if len(op.operands) > len(op.results) + 1:
        raise Unsupported(f"with {len(op.operands)} operands and {len(op.results)} results")
    for value, result in zip(values, op.results, strict=True):
        if not same_shape(shape_of(value), shape_of(result)):
            raise Unsupported(f"from {value.type} to {result.type} with one process")
    return [_zeros(build, value) for value in values] if groups == [] else list(values)


def _number(build: Build, op: Operation) -> Sequence[SSAValue]:
    """The number of this process."""
    return [build.constant(element_of(op.results[0]), 0)]


EXPANSIONS = {
    "stablehlo.all_reduce": _same,
    "stablehlo.all_gather": _same,
    "stablehlo.all_to_all": _same,
    "stablehlo.reduce_scatter": _same,
    "stablehlo.cross-replica-sum": _same,
    "stablehlo.collective_permute": _permute,
    "stablehlo.collective_broadcast": _rooted,
    "stablehlo.collective_reduce": _rooted,
    "stablehlo.partition_id": _number,
    "stablehlo.replica_id": _number,
}
