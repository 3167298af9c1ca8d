"""Tensors with `?` dimensions at the borders of blocks, functions and calls: their sizes go along as `index` values.

All carried values come first, then the sizes, one after another. Behind the border `flow.tensor.tie_shape` ties each
tensor to its sizes again.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, i32
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects.flow import TensorTieShapeOp
from tiree.input.lowering.context import Lowering, Size, ranked_type
from tiree.input.lowering.dims import is_dynamic, sizes_of
from tiree.support.typed import ints_of, is_tensor_type


def passed(lowering: Lowering, values: Sequence[SSAValue]) -> list[SSAValue]:
    """What stands for old values where they cross the border of a block: tensors, then the sizes of those with `?`."""
    sizes: list[SSAValue] = []
    for value in values:
        if is_dynamic(value.type):
            pairs = zip(sizes_of(lowering, value), ranked_type(value).get_shape(), strict=True)
            sizes += [lowering.index_of(size) for size, extent in pairs if extent == DYNAMIC_INDEX]
    return [*(lowering.get(value) for value in values), *sizes]


def with_sizes(types: Sequence[Attribute]) -> list[Attribute]:
    """The types of what `passed` gives."""
    counts = [type.get_shape().count(DYNAMIC_INDEX) if is_tensor_type(type) else 0 for type in types]
    return [*types, *[IndexType()] * sum(counts)]


def receive(lowering: Lowering, old: Sequence[SSAValue], new: Sequence[SSAValue]) -> None:
    """The values behind a border: tensors with `?` are tied to their sizes."""
    given = iter(new[len(old) :])
    for value, tensor in zip(old, new, strict=False):
        if not is_dynamic(value.type):
            lowering.set(value, tensor)
            continue
        sizes: list[Size] = [next(given) if n == DYNAMIC_INDEX else n for n in ranked_type(value).get_shape()]
        tie = TensorTieShapeOp(tensor, [size for size in sizes if not isinstance(size, int)])
        tied = lowering.emit(tie)
        lowering.shapes.note(tied, sizes)
        lowering.set(value, tied)


def branch_operands(lowering: Lowering, op: Operation) -> tuple[list[SSAValue], dict[str, Attribute]]:
    """Operands and properties of the branch `op` with the sizes of what it passes to each successor."""
    if not any(is_dynamic(value.type) for value in op.operands):
        return [lowering.get(value) for value in op.operands], op.properties
    properties = dict(op.properties)
    if op.name == "cf.br":
        return passed(lowering, op.operands), properties
    segments = list(ints_of(op.properties["operandSegmentSizes"]))
    cases = list(ints_of(op.properties["case_operand_segments"])) if op.name == "cf.switch" else segments[2:]
    groups: list[list[SSAValue]] = []
    at = 1
    for length in (segments[1], *cases):
        groups.append(passed(lowering, op.operands[at : at + length]))
        at += length
    lengths = [len(group) for group in groups]
    if op.name == "cf.switch":
        properties["case_operand_segments"] = _i32s(lengths[1:])
    properties["operandSegmentSizes"] = _i32s([1, lengths[0], sum(lengths[1:])])
    return [lowering.get(op.operands[0]), *(value for group in groups for value in group)], properties


def _i32s(values: Sequence[int]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, values)
