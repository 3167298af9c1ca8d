"""The sizes of tensors with `?` dimensions, as the operations that make them give them.

An operation with a dynamic result has the sizes as operands, or takes them over from an operand. `resolve_dims`
replaces `tensor.dim` by those values; what it leaves is the size of a value that arrives from elsewhere (an argument).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from tiree.dialects.arith import ConstantOp, constant_int
from tiree.support.typed import ints_of, is_tensor_type

_SEGMENTS = {
    "hal.tensor.import": 1,
    "flow.tensor.reshape": 2,
    "flow.tensor.bitcast": 2,
    "flow.dispatch": 3,
    "flow.dispatch.workgroups": 3,
    "tensor.extract_slice": 2,
    "iree_tensor_ext.dispatch.tensor.load": 3,
    "flow.tensor.slice": 4,
}
"""By operation: the operand segment that holds the sizes of the `?` dimensions of its results, one after another."""

_TRAILING = {
    "tensor.empty": 0,
    "flow.tensor.empty": 0,
    "flow.tensor.alloca": 0,
    "flow.tensor.splat": 1,
    "flow.tensor.tie_shape": 1,
}
"""By operation: the operand from which on all are sizes."""

_LIKE_OPERAND = {
    "tensor.insert_slice": 1,
    "tensor.insert": 1,
    "flow.tensor.update": 0,
    "flow.tensor.store": 1,
    "flow.tensor.clone": 0,
    "flow.tensor.transfer": 0,
    "tensor.bitcast": 0,
}
"""By operation: the operand whose sizes the result has."""


def is_dynamic(value: SSAValue) -> bool:
    """Whether `value` is a tensor with a `?` dimension."""
    return is_tensor_type(value.type) and DYNAMIC_INDEX in value.type.get_shape()


def dynamic_count(value: SSAValue) -> int:
    """How many `?` dimensions a value has."""
    return value.type.get_shape().count(DYNAMIC_INDEX) if is_tensor_type(value.type) else 0


def dynamic_dims(value: SSAValue) -> list[SSAValue] | None:
    """The sizes of the `?` dimensions of `value`, in order; None where they are not at hand (block arguments)."""
    if not is_dynamic(value):
        return []
    if not isinstance(value, OpResult):
        return None
    op = value.op
    if op.name in _SEGMENTS:
        segments = ints_of(op.properties["operandSegmentSizes"])
        start = sum(segments[: _SEGMENTS[op.name]])
        start += sum(dynamic_count(result) for result in op.results[: value.index])
        return list(op.operands[start : start + dynamic_count(value)])
    if op.name in _TRAILING:
        return list(op.operands[_TRAILING[op.name] :])
    if op.name in _LIKE_OPERAND:
        return dynamic_dims(op.operands[_LIKE_OPERAND[op.name]])
    if op.name in ("hal.tensor.barrier", "util.optimization_barrier"):
        return dynamic_dims(op.operands[value.index])
    if op.name in ("linalg.generic", "linalg.fill", "iree_linalg_ext.attention"):
        return dynamic_dims(op.operands[len(op.operands) - len(op.results) + value.index])
    return None


_OPERAND_SEGMENTS = {
    "flow.dispatch": (1, 2),
    "flow.dispatch.workgroups": (1, 2),
    "flow.tensor.reshape": (0, 1),
    "flow.tensor.bitcast": (0, 1),
    "flow.tensor.load": (0, 1),
    "flow.tensor.store": (1, 2),
    "flow.tensor.slice": (0, 1),
}
"""By operation: the segment of its tensors, and the one with the sizes of their `?` dimensions."""


def operand_dims(op: Operation, value: SSAValue) -> list[SSAValue] | None:
    """The sizes of the `?` dimensions of `value` as `op`, which reads it, has them among its operands."""
    if op.name in ("hal.tensor.export", "flow.tensor.tie_shape", "flow.tensor.clone", "flow.tensor.transfer"):
        return list(op.operands[1:])
    if op.name == "hal.tensor.barrier":
        # The export behind it tells them.
        result = op.results[list(op.operands).index(value)]
        behind = (operand_dims(use.operation, result) for use in result.uses)
        return next((dims for dims in behind if dims is not None), None)
    found = _OPERAND_SEGMENTS.get(op.name)
    if found is None:
        return None
    segments = ints_of(op.properties["operandSegmentSizes"])
    start, sizes = sum(segments[: found[0]]), sum(segments[: found[1]])
    for operand in op.operands[start : start + segments[found[0]]]:
        if operand is value:
            return list(op.operands[sizes : sizes + dynamic_count(value)])
        sizes += dynamic_count(operand)
    return None


def sizes_agree(first: Sequence[SSAValue] | None, second: Sequence[SSAValue] | None) -> bool:
    """Whether two lists of sizes are the same values, number for number."""
    if first is None or second is None or len(first) != len(second):
        return False
    for a, b in zip(first, second, strict=True):
        known = constant_int(a)
        if a is not b and (known is None or known != constant_int(b)):
            return False
    return True


def is_same_shape(op: Operation) -> bool:
    """Whether the result of a reshape has the type and, as far as is known here, the sizes of its first operand."""
    source, result = op.operands[0], op.results[0]
    if source.type != result.type:
        return False
    return not is_dynamic(result) or sizes_agree(operand_dims(op, source) or dynamic_dims(source), dynamic_dims(result))


def dim_size(value: SSAValue, dim: int) -> int | SSAValue | None:
    """The size of one dimension: a number where the type, or a cast before it, says it; None where nothing does."""
    while True:
        if not is_tensor_type(value.type):
            return None
        shape = value.type.get_shape()
        if shape[dim] != DYNAMIC_INDEX:
            return shape[dim]
        if isinstance(value, OpResult) and value.op.name == "tensor.cast":
            value = value.op.operands[0]
            continue
        dims = dynamic_dims(value)
        if dims is None:
            return None
        found = dims[shape[:dim].count(DYNAMIC_INDEX)]
        known = constant_int(found)
        return found if known is None else known


def resolve_dims(regions: Iterable[Region]) -> list[Operation]:
    """Replaces every `tensor.dim` whose size is at hand, inner regions included; returns those that are left."""
    left: list[Operation] = []
    for region in regions:
        for op in list(region.walk()):
            if not isinstance(op, tensor.DimOp):
                continue
            position = constant_int(op.operands[1])
            size = None if position is None else dim_size(op.operands[0], position)
            if size is None:
                left.append(op)
                continue
            if isinstance(size, int):
                constant = ConstantOp.index(size)
                _block_of(op).insert_op_before(constant, op)
                size = constant.result
            op.results[0].replace_all_uses_with(size)
            op.detach()
            op.erase()
    return left


def _block_of(op: Operation) -> Block:
    assert op.parent is not None
    return op.parent
