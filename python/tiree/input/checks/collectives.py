"""Ops between processes: groups of them, pairs, and what their results have of their operands.

That a program is one process is the expansion's to say; here is what holds for any number of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation

from tiree.dialects.dense import DenseAttr, element_count
from tiree.dialects.stablehlo_attrs import ChannelHandleAttr
from tiree.input.checks.elements import need_reducer
from tiree.input.checks.values import (
    body,
    integer,
    need,
    need_dims,
    need_element,
    need_same_type,
    need_shape,
    same_shape,
    shape,
    tensor,
    text,
)
from tiree.scalars.builder import inherent
from tiree.support.typed import is_integer_attr


def _rows(op: Operation, name: str) -> list[list[int]] | None:
    """The rows of a matrix of process numbers; None for another form of attribute, such as axes of a mesh."""
    attr = inherent(op, name)
    if not isinstance(attr, DenseAttr):
        return None
    extents = attr.type.get_shape()
    need(len(extents) == 2, f"{name} must be a matrix; it has the shape {text(extents)}")
    if not element_count(attr.type):
        return []
    return [[int(number) for number in row] for row in attr.to_numpy().reshape(extents).tolist()]


def _groups(op: Operation) -> int | None:
    """How many processes a group has, where that is said. Short groups are filled up with -1."""
    rows = _rows(op, "replica_groups")
    handle = inherent(op, "channel_handle")
    if inherent(op, "use_global_device_ids") is not None:
        used = isinstance(handle, ChannelHandleAttr) and handle.data.handle > 0
        need(used, "use_global_device_ids needs a channel_handle whose handle is positive")
    if not rows:
        return None
    numbers = [number for row in rows for number in row]
    _need_processes([number for number in numbers if number != -1], "replica_groups")
    return len(rows[0]) if -1 not in numbers else None


def _need_processes(numbers: Sequence[int], name: str) -> None:
    negative = [number for number in numbers if number < 0]
    need(not negative, f"{name} names process {negative[:1]}")
    need(len(set(numbers)) == len(numbers), f"{name} names a process twice: {list(numbers)}")


def _need_permitted(op: Operation) -> None:
    """Each result has the type of its operand."""
    for operand, result in zip(op.operands, op.results, strict=False):
        need_same_type(operand, result, "operand and result")


def _all_reduce(op: Operation) -> None:
    _groups(op)
    for number, (operand, result) in enumerate(zip(op.operands, op.results, strict=True)):
        need_shape(op, shape(operand), number)
        if op.regions and op.regions[0].blocks:
            _need_computation(op, number)
        else:
            need_same_type(operand, result, "operand and result")


def _need_computation(op: Operation, number: int) -> None:
    """The computation takes and gives single elements, whatever the number of operands."""
    single = op.operands[number : number + 1]
    need_reducer(body(op), single, single, op, number)


def _changed(op: Operation, changes: dict[int, tuple[int, int]]) -> None:
    """Results have the extents of their operands, with those of `changes` multiplied and divided."""
    for number, operand in enumerate(op.operands):
        sizes = shape(operand)
        wanted = [
            size if dim not in changes or size == DYNAMIC_INDEX else size * changes[dim][0] // changes[dim][1]
            for dim, size in enumerate(sizes)
        ]
        need_shape(op, wanted, number)


def _all_gather(op: Operation) -> None:
    dim = integer(op, "all_gather_dim")
    count = _groups(op)
    for number, operand in enumerate(op.operands):
        need_dims([dim], len(shape(operand)), "all_gather_dim")
        need_element(op, operand, number)
    if count is not None and _plain(op):
        _changed(op, {dim: (count, 1)})


def _plain(op: Operation) -> bool:
    """Whether a group of processes is a row of replica_groups: of replicas alone, or of flattened numbers."""
    return inherent(op, "channel_handle") is None or inherent(op, "use_global_device_ids") is not None


def _all_to_all(op: Operation) -> None:
    count = integer(op, "split_count")
    split, join = integer(op, "split_dimension"), integer(op, "concat_dimension")
    need(count > 0, f"split_count must be positive; it is {count}")
    have = _groups(op)
    need(have is None or have == count, f"split_count is {count}; groups have {have} processes")
    for number, operand in enumerate(op.operands):
        sizes = shape(operand)
        need_dims([split], len(sizes), "split_dimension")
        need_dims([join], len(sizes), "concat_dimension")
        whole = sizes[split] == DYNAMIC_INDEX or sizes[split] % count == 0
        need(whole, f"dimension {split} of {text(sizes)} does not divide into {count} parts")
        need_element(op, operand, number)
    _changed(op, {} if split == join else {split: (1, count), join: (count, 1)})


def _reduce_scatter(op: Operation) -> None:
    dim = integer(op, "scatter_dimension")
    count = _groups(op)
    sizes = shape(op.operands[0])
    need_dims([dim], len(sizes), "scatter_dimension")
    _need_computation(op, 0)
    if count is not None and _plain(op):
        whole = sizes[dim] == DYNAMIC_INDEX or sizes[dim] % count == 0
        need(whole, f"dimension {dim} of {text(sizes)} does not divide into {count} parts")
        _changed(op, {dim: (1, count)})


def _collective_permute(op: Operation) -> None:
    pairs = _rows(op, "source_target_pairs")
    _need_permitted(op)
    if not pairs:
        return
    need(len(pairs[0]) == 2, f"source_target_pairs must have 2 columns; it has {len(pairs[0])}")
    _need_processes([pair[0] for pair in pairs], "source_target_pairs as sources")
    _need_processes([pair[1] for pair in pairs], "source_target_pairs as targets")


def _rooted(op: Operation) -> None:
    _groups(op)
    rooted = inherent(op, "has_dynamic_root")
    dynamic = rooted is not None and not (is_integer_attr(rooted) and rooted.value.data == 0)
    count = len(op.operands) - dynamic
    need(count >= 1 and len(op.results) == count, f"it has {len(op.operands)} operands and {len(op.results)} results")
    if dynamic:
        root = op.operands[-1]
        need(same_shape(shape(root), (count,)), f"its root must be a tensor of {count} integers; it is {tensor(root)}")
    if op.name == "stablehlo.collective_broadcast":
        _need_permitted(op)


CHECKS = {
    "stablehlo.all_reduce": _all_reduce,
    "stablehlo.all_gather": _all_gather,
    "stablehlo.all_to_all": _all_to_all,
    "stablehlo.reduce_scatter": _reduce_scatter,
    "stablehlo.collective_permute": _collective_permute,
    "stablehlo.collective_broadcast": _rooted,
    "stablehlo.collective_reduce": _rooted,
}
