"""`tiree-dispatch-creation-convert-to-flow`: what is left of tensor and linalg on the host becomes `flow.tensor.*`.

In: host blocks whose structured ops are all in dispatches. Out: no `tensor.*` or `linalg.*` op on the host. Raises
one `CompileError` that lists every op without a counterpart, with its source location.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.flow import (
    TensorEmptyOp,
    TensorLoadOp,
    TensorReshapeOp,
    TensorSplatOp,
    TensorStoreOp,
    TensorUpdateOp,
)
from tiree.flow.materialize_slices import as_copy_command, host_indices
from tiree.flow.slices import is_one_copy, mixed_operands
from tiree.flow.structured import function_blocks, insert_before, replace_op, shape_of
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import ints_of, is_tensor_type

Converter = Callable[[Operation], SSAValue | None]


def _with(op: Operation, new: Operation) -> SSAValue:
    new.location = op.location
    insert_before(op, new)
    return new.results[0]


def _extract(op: Operation) -> SSAValue | None:
    return _with(op, TensorLoadOp.of(op.operands[0], op.operands[1:]))


def _insert(op: Operation) -> SSAValue | None:
    return _with(op, TensorStoreOp.of(op.operands[0], op.operands[1], op.operands[2:]))


def _reshape(op: Operation) -> SSAValue | None:
    source, type = op.operands[0], op.results[0].type
    if DYNAMIC_INDEX in (*shape_of(source), *shape_of(op.results[0])):
        return None
    return source if source.type == type else _with(op, TensorReshapeOp.of(source, type))


def _fill(op: Operation) -> SSAValue | None:
    return _with(op, TensorSplatOp(op.operands[0], op.results[0].type))


def _from_elements(op: Operation) -> SSAValue | None:
    return _with(op, TensorSplatOp(op.operands[0], op.results[0].type)) if len(op.operands) == 1 else None


def _empty(op: Operation) -> SSAValue | None:
    return None if op.operands else _with(op, TensorEmptyOp(op.results[0].type))


def _extract_slice(op: Operation) -> SSAValue | None:
    return as_copy_command(op) if is_one_copy(op, shape_of(op.operands[0])) else None


def _insert_slice(op: Operation) -> SSAValue | None:
    source, dest = op.operands[0], op.operands[1]
    sizes = list(ints_of(op.properties["static_sizes"]))
    offsets = mixed_operands(op, "static_offsets", 2)
    if not is_one_copy(op, shape_of(dest)):
        return None
    assert is_tensor_type(source.type)
    if list(shape_of(source)) != sizes:
        expanded = TensorReshapeOp.of(source, TensorType(source.type.element_type, sizes))
        insert_before(op, expanded)
        source = expanded.result
    return _with(op, TensorUpdateOp.of(dest, host_indices(offsets, op), source))


CONVERTERS: dict[str, Converter] = {
    "tensor.extract": _extract,
    "tensor.insert": _insert,
    "tensor.expand_shape": _reshape,
    "tensor.collapse_shape": _reshape,
    "tensor.reshape": _reshape,
    "tensor.cast": _reshape,
    "tensor.splat": _fill,
    "linalg.fill": _fill,
    "tensor.from_elements": _from_elements,
    "tensor.empty": _empty,
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice,
}


def convert_block(block: Block, problems: list[Diagnostic]) -> None:
    for op in list(block.ops):
        if not op.name.startswith(("tensor.", "linalg.")):
            continue
        convert = CONVERTERS.get(op.name)
        value = convert(op) if convert is not None else None
        if value is None:
            types = ", ".join(str(operand.type) for operand in op.operands)
            problems.append(Diagnostic(f"{op.name} on {types} has no lowering to flow", location_of(op)))
        else:
            replace_op(op, [value])


class ConvertToFlow(ModulePass):
    """Host tensor ops as flow ops."""

    name = "tiree-dispatch-creation-convert-to-flow"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        from tiree.flow.cse import remove_unused_ops, top_blocks

        for block in top_blocks(op):
            remove_unused_ops(block)
        problems: list[Diagnostic] = []
        for block in function_blocks(op):
            convert_block(block, problems)
        if problems:
            raise CompileError(problems)
