"""`tiree-flow-canonicalize`: folds every op that equals something simpler, in one walk in program order.

In: tensor programs of linalg.generic, linalg.fill, tensor.*, arith, math and scf. Out: no identity casts, slices,
pads, reshapes or copies; uniform tensors are scalars of the bodies that read them; inits of elementwise ops are
empty; `scf.if` on a constant is inlined; element reads of known tensors are scalars.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, TensorType, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiree.dialects.arith import ConstantOp, constant_of
from tiree.dialects.dense import DenseAttr
from tiree.dialects.tensor_dims import dynamic_dims, is_dynamic, is_same_shape, operand_dims, sizes_agree
from tiree.flow.cse import remove_unused_ops, top_blocks
from tiree.flow.simplify_generic import (
    as_copy,
    detach_inits,
    fold_scalar,
    fold_scalars,
    inline_uniform_inputs,
    merge_equal_inputs,
    number_of,
    replace_exact_divisions,
    scalar_constant,
    uniform_scalar,
)
from tiree.flow.slices import kept_dims
from tiree.flow.structured import (
    body_of,
    defining_op,
    erase_op,
    input_count,
    insert_before,
    loop_extents,
    make_empty,
    make_fill,
    replace_op,
    segments,
    shape_of,
)
from tiree.support.typed import array_of, int_of, ints_of, is_tensor_type, tensor_type

Folder = Callable[[Operation], SSAValue | None]


def _static(op: Operation, name: str) -> tuple[int, ...]:
    return ints_of(op.properties[name])


def _same_type(op: Operation) -> SSAValue | None:
    return op.operands[0] if op.operands[0].type == op.results[0].type else None


def _reshape(op: Operation) -> SSAValue | None:
    """To the shape that it has; of a reshape back to its source's shape; of a fill or a constant."""
    source = op.operands[0]
    type = op.results[0].type
    assert is_tensor_type(type)
    if is_same_shape(op):
        return source
    producer = defining_op(source)
    if producer is None:
        return None
    if producer.name in RESHAPES and producer.operands[0].type == type:
        inner = producer.operands[0]
        if not is_dynamic(inner) or sizes_agree(operand_dims(producer, inner), dynamic_dims(op.results[0])):
            return inner
    if is_dynamic(op.results[0]):
        return None
    if producer.name == "linalg.fill":
        empty = make_empty(type)
        fill = make_fill(producer.operands[0], empty.results[0])
        insert_before(op, empty, fill)
        return fill.results[0]
    if producer.name == "tensor.pad" and source.has_one_use() and op.name == "tensor.collapse_shape":
        return _collapse_before_pad(op, producer)
    if producer.name == "tensor.extract_slice" and source.has_one_use() and _drops_unit_dims(source, type):
        slice = producer.clone()
        Rewriter.replace_value_with_new_type(slice.results[0], type)
        insert_before(op, slice)
        return slice.results[0]
    attr = constant_of(source)
    if isinstance(attr, DenseAttr):
        constant = ConstantOp(DenseAttr(type, attr.data))
        insert_before(op, constant)
        return constant.result
    return None


def _collapse_before_pad(op: Operation, pad: Operation) -> SSAValue | None:
    """`collapse(pad(x))` as `pad(collapse(x))` when only unpadded dims of extent 1 disappear."""
    shape = shape_of(pad.results[0])
    groups = [[int_of(dim) for dim in array_of(group)] for group in array_of(op.properties["reassociation"])]
    low, high = (list(_static(pad, name)) for name in ("static_low", "static_high"))
    kept: list[int] = []
    for group in groups:
        real = [dim for dim in group if shape[dim] != 1 or low[dim] or high[dim]]
        if len(real) > 1:
            return None
        kept.append(real[0] if real else group[0])
    source = pad.operands[0]
    if (
        is_dynamic(source)
        or len(pad.operands) > 1
        or any(low[d] or high[d] for d in range(len(shape)) if d not in kept)
    ):
        return None
    inner_shape = [shape_of(source)[dim] for dim in kept]
    inner_type = TensorType(tensor_type(source).element_type, inner_shape)
    inner = op.clone()
    inner.operands[0] = source
    Rewriter.replace_value_with_new_type(inner.results[0], inner_type)
    insert_before(op, inner)
    outer = pad.clone()
    outer.operands[0] = inner.results[0]
    Rewriter.replace_value_with_new_type(outer.results[0], op.results[0].type)
    block = outer.regions[0].block
    for dim in reversed(range(len(shape))):
        if dim not in kept:
            block.erase_arg(block.args[dim])
    outer.properties["static_low"] = DenseArrayBase.from_list(i64, [low[dim] for dim in kept])
    outer.properties["static_high"] = DenseArrayBase.from_list(i64, [high[dim] for dim in kept])
    insert_before(op, outer)
    return outer.results[0]


def _drops_unit_dims(source: SSAValue, type: TensorType) -> bool:
    """Whether `type` is the type of `source` with only dims of extent 1 left out (a rank-reduced slice)."""
    shape = shape_of(source)
    return len(type.get_shape()) < len(shape) and [size for size in shape if size != 1] == list(type.get_shape())


def _extract(op: Operation) -> SSAValue | None:
    """An element of a uniform tensor, or of a one-element `from_elements`."""
    source = op.operands[0]
    producer = defining_op(source)
    if producer is not None and producer.name == "tensor.from_elements" and len(producer.operands) == 1:
        return producer.operands[0]
    scalar = uniform_scalar(source)
    return scalar_constant(scalar, op) if isinstance(scalar, DenseAttr) else scalar


def _pad(op: Operation) -> SSAValue | None:
    return _same_type(op) if "nofold" not in op.properties and not is_dynamic(op.results[0]) else None


def _insert_slice(op: Operation) -> SSAValue | None:
    """An insertion that covers all of its destination; one of a reshape that only adds unit dims is rank-reduced."""
    source = defining_op(op.operands[0])
    if source is not None and source.name in RESHAPES:
        inner = source.operands[0]
        shape, inner_shape = shape_of(op.operands[0]), shape_of(inner)
        if len(inner_shape) < len(shape) and [n for n in shape if n != 1] == [n for n in inner_shape if n != 1]:
            sizes = [int(size) for size in _static(op, "static_sizes")]
            if len(kept_dims(sizes, inner_shape)) == len(inner_shape):
                op.operands[0] = inner
    covers = op.operands[0].type == op.results[0].type and segments(op)[2] == 0 and not is_dynamic(op.results[0])
    return op.operands[0] if covers else None


def _extract_slice(op: Operation) -> SSAValue | None:
    if is_dynamic(op.results[0]):
        return None
    if _same_type(op) is not None:
        return op.operands[0]
    producer = defining_op(op.operands[0])
    type = op.results[0].type
    if producer is not None and producer.name == "linalg.fill":
        empty = make_empty(type)
        fill = make_fill(producer.operands[0], empty.results[0])
        insert_before(op, empty, fill)
        return fill.results[0]
    attr = constant_of(op.operands[0])
    if isinstance(attr, DenseAttr) and attr.is_splat and is_tensor_type(type):
        constant = ConstantOp(DenseAttr(type, attr.data))
        insert_before(op, constant)
        return constant.result
    return None


def _fill(op: Operation) -> SSAValue | None:
    producer = defining_op(op.operands[1])
    if (producer is None or producer.name != "tensor.empty") and not is_dynamic(op.operands[1]):
        empty = make_empty(op.operands[1].type)
        insert_before(op, empty)
        op.operands[1] = empty.results[0]
    return None


def _from_elements(op: Operation) -> SSAValue | None:
    """Of constants: a constant."""
    from tiree.dialects.dense import encode_scalar

    type = op.results[0].type
    assert is_tensor_type(type)
    numbers = [number_of(operand) for operand in op.operands]
    if not numbers or any(number is None or number != number for number in numbers):
        return None
    data = b"".join(encode_scalar(type.element_type, number) for number in numbers if number is not None)
    constant = ConstantOp(DenseAttr.from_buffer(type, data))
    insert_before(op, constant)
    return constant.result


RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape", "flow.tensor.reshape")

FOLDERS: dict[str, Folder] = {
    "tensor.cast": _same_type,
    "tensor.extract": _extract,
    "tensor.pad": _pad,
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice,
    "tensor.from_elements": _from_elements,
    "linalg.fill": _fill,
    **dict.fromkeys(RESHAPES, _reshape),
}


def simplify_generic(op: Operation) -> None:
    """Brings one `linalg.generic` to its simplest form, or replaces it."""
    if 0 in loop_extents(op):
        replace_op(op, op.operands[input_count(op) :])  # No iteration: the results are the inits.
        return
    while detach_inits(op):
        pass
    inline_uniform_inputs(op)
    merge_equal_inputs(op)
    block = body_of(op)
    fold_scalars(block)
    replace_exact_divisions(block)
    values = as_copy(op)
    if values is not None:
        replace_op(op, values)


def _inline_if(op: Operation) -> bool:
    """Replaces an `scf.if` on a constant by the ops of the branch taken."""
    number = number_of(op.operands[0])
    if number is None:
        return False
    branch = op.regions[0 if number else 1].blocks.first
    if branch is None:
        erase_op(op)
        return True
    terminator = branch.last_op
    assert terminator is not None
    values = list(terminator.operands)
    erase_op(terminator)
    for inner in list(branch.ops):
        inner.detach()
        insert_before(op, inner)
    replace_op(op, values)
    return True


def canonicalize_block(block: Block) -> None:
    """Folds the ops of `block` and of the control flow in it."""
    op = block.first_op
    while op is not None:
        following = op.next_op
        if op.name == "linalg.generic":
            simplify_generic(op)
        elif (folder := FOLDERS.get(op.name)) is not None:
            if (value := folder(op)) is not None:
                replace_op(op, [value])
        elif op.name == "scf.if":
            before = op.prev_op
            if _inline_if(op):
                following = before.next_op if before is not None else block.first_op
            else:
                _canonicalize_regions(op)
        elif op.name.startswith("scf."):
            _canonicalize_regions(op)
        elif op.name.startswith("arith.") and op.name != "arith.constant" and len(op.results) == 1:
            value = fold_scalar(op)
            if value is not None:
                replace_op(op, [value])
        op = following


def _canonicalize_regions(op: Operation) -> None:
    for region in op.regions:
        for inner in region.blocks:
            canonicalize_block(inner)


class Canonicalize(ModulePass):
    """Folding, in program order."""

    name = "tiree-flow-canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in top_blocks(op):
            canonicalize_block(block)
            remove_unused_ops(block)
