"""`tiree-abi-resolve-sizes`: sizes of tensors are values of the host; what is assumed of arguments is asserted first.

In: entry points on buffer views. Out: no `tensor.dim`; a check that a size of an argument equals another size has
become part of a `hal.buffer_view.assert` of that argument, in front of everything else, whose error names both sizes.
Checks of sizes that depend on more than arguments stay where they are. Raises `CompileError` for a size that nothing
gives.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects import util
from tiree.dialects.arith import ConstantOp
from tiree.dialects.hal_ops import (
    BufferViewAssertOp,
    BufferViewDimOp,
    ElementTypeOp,
    EncodingTypeOp,
    TensorImportOp,
)
from tiree.dialects.tensor_dims import resolve_dims
from tiree.input.check_loops import check_loops
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.marks import SIZE_CHECK
from tiree.support.typed import int_of, is_tensor_type, string_of

if TYPE_CHECKING:
    from typing_extensions import TypeIs


class ResolveSizesPass(ModulePass):
    """See the module's docstring."""

    name = "tiree-abi-resolve-sizes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for function in op.body.block.ops:
            left = resolve_dims(function.regions)
            if left:
                raise CompileError([_unknown(dim) for dim in left])
            if isinstance(function, util.FuncOp) and function.body.blocks:
                check_loops(function)
                _assert_arguments(function.body.blocks[0])


def _unknown(dim: Operation) -> Diagnostic:
    source = dim.operands[0]
    maker = source.op.name if isinstance(source, OpResult) else "a block argument or a private function's argument"
    return Diagnostic(
        f"{maker}: a size of {source.type} is not known",
        location_of(dim),
        "tensors with ? dimensions cannot be carried by control flow yet; give it static sizes",
    )


@dataclass
class _Wanted:
    """What one argument must be: a size for some of its dimensions, and why."""

    sizes: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    reasons: list[str] = field(default_factory=list[str])


def _argument_size(value: SSAValue) -> BufferViewDimOp | None:
    return value.op if isinstance(value, OpResult) and _is_argument_size(value.op) else None


def _is_argument_size(op: Operation) -> TypeIs[BufferViewDimOp]:
    """Not one of a buffer view that another module returns: that is known only after the call."""
    return isinstance(op, BufferViewDimOp) and isinstance(op.operands[0], BlockArgument)


def _needed_ops(value: SSAValue, block: Block, found: dict[Operation, None]) -> bool:
    """Collects the arithmetic on sizes of arguments that `value` is, operands first; False if it is more than that."""
    if not isinstance(value, OpResult) or value.op.parent is not block:
        return False
    op = value.op
    if op in found or _is_argument_size(op):
        return True
    if not op.name.startswith("arith.") or not all(_needed_ops(operand, block, found) for operand in op.operands):
        return False
    found[op] = None
    return True


def _assert_arguments(block: Block) -> None:
    imports: dict[SSAValue, TensorImportOp] = {
        op.source: op
        for op in block.ops
        if isinstance(op, TensorImportOp) and op.target_dims and isinstance(op.source, BlockArgument)
    }
    if not imports:
        return
    sizes = [op for op in block.ops if _is_argument_size(op)]
    first = block.first_op
    assert first is not None
    for size in reversed(sizes):
        if size is not first:
            size.detach()
            block.insert_op_before(size, first)
        first = size
    last_size = sizes[-1]
    wanted: dict[SSAValue, _Wanted] = {}
    arithmetic: dict[Operation, None] = {}
    for check in [op for op in block.ops if op.name == "cf.assert" and SIZE_CHECK in op.attributes]:
        _take(check, block, imports, wanted, arithmetic)
    place = last_size.next_op
    assert place is not None
    for op in arithmetic:
        if op is place:
            place = op.next_op
            assert place is not None
        op.detach()
        block.insert_op_before(op, place)
    for view, want in wanted.items():
        block.insert_ops_before(_assertion(imports[view], want), place)
    for view, want in wanted.items():
        _use_wanted_sizes(imports[view], want)


def _use_wanted_sizes(op: TensorImportOp, want: _Wanted) -> None:
    """The sizes that an assertion has compared are one from there on."""
    for own in list(op.target_dims):
        size = _argument_size(own)
        if size is None or size.operands[0] is not op.source:
            continue
        other = want.sizes.get(int_of(size.properties["index"]))
        if other is None or (isinstance(other, OpResult) and other.op.name not in ("arith.constant", size.name)):
            continue
        own.replace_uses_with_if(other, lambda use: not isinstance(use.operation, BufferViewAssertOp))
        if own.first_use is None:
            size.detach()
            size.erase()


def _isolate(total: SSAValue, other: SSAValue, check: Operation) -> tuple[SSAValue, SSAValue] | None:
    """`total == other` as a statement about one argument's size that `total` is a sum with; None if it is none."""
    steps: list[tuple[bool, SSAValue]] = []
    while _argument_size(total) is None:
        op = total.op if isinstance(total, OpResult) else None
        if op is None or op.name not in ("arith.addi", "arith.subi"):
            return None
        left, right = op.operands
        if op.name == "arith.addi" and not _holds_argument(left):
            left, right = right, left
        steps.append((op.name == "arith.addi", right))
        total = left
    for was_sum, term in steps:
        op = arith.SubiOp(other, term) if was_sum else arith.AddiOp(other, term)
        op.location = check.location
        assert check.parent is not None
        check.parent.insert_op_before(op, check)
        other = op.result
    return total, other


def _holds_argument(value: SSAValue) -> bool:
    """Whether a sum has an argument's size as a term that is not subtracted."""
    while _argument_size(value) is None:
        op = value.op if isinstance(value, OpResult) else None
        if op is None or op.name not in ("arith.addi", "arith.subi"):
            return False
        if op.name == "arith.addi" and _holds_argument(op.operands[1]):
            return True
        value = op.operands[0]
    return True


def _take(
    check: Operation,
    block: Block,
    imports: dict[SSAValue, TensorImportOp],
    wanted: dict[SSAValue, _Wanted],
    arithmetic: dict[Operation, None],
) -> None:
    """Makes a check that an argument's size equals another value part of the argument's assertion."""
    condition = check.operands[0]
    if not isinstance(condition, OpResult) or condition.op.name != "arith.cmpi":
        return
    compare = condition.op
    if int_of(compare.properties["predicate"]) != 0:
        return
    size, other = compare.operands
    is_alone = _argument_size(size) is not None
    if not is_alone:
        size, other = _isolate(size, other, check) or _isolate(other, size, check) or (size, other)
    own = _argument_size(size)
    needed = dict(arithmetic)
    if own is None or own.operands[0] not in imports or not _needed_ops(other, block, needed):
        return
    dim = int_of(own.properties["index"])
    want = wanted.setdefault(own.operands[0], _Wanted())
    if dim in want.sizes:
        return
    arithmetic.update(needed)
    want.sizes[dim] = other
    reason = string_of(check.properties["msg"])
    if not is_alone and _argument_size(compare.operands[1]) is None:
        # The check is of a sum; the numbers of a failure are those of this size and of what the others leave for it.
        argument = own.operands[0]
        assert isinstance(argument, BlockArgument)
        reason += f", so dimension {dim} of argument {argument.index + 1} must be what the rest leaves"
    want.reasons.append(reason)
    check.detach()
    check.erase()
    if condition.first_use is None:
        compare.detach()
        compare.erase()


def _assertion(op: TensorImportOp, want: _Wanted) -> list[Operation]:
    """The assertion of an argument's shape and type."""
    encoding = op.target_encoding
    assert is_tensor_type(encoding)
    ops: list[Operation] = [ElementTypeOp(encoding.element_type), EncodingTypeOp()]
    dims = iter(op.target_dims)
    shape: list[SSAValue] = []
    for dim, extent in enumerate(encoding.get_shape()):
        if extent == DYNAMIC_INDEX:
            own = next(dims)
            shape.append(want.sizes.get(dim, own))
        else:
            ops.append(ConstantOp.index(extent))
            shape.append(ops[-1].results[0])
    head = want.reasons[0].rpartition(": dimension ")[0]
    reasons = [want.reasons[0], *(reason.removeprefix(f"{head}: ") for reason in want.reasons[1:])]
    label = ", ".join(reasons) + ";"
    ops.append(BufferViewAssertOp(op.source, label, ops[0].results[0], ops[1].results[0], shape))
    for one in ops:
        one.location = op.location
    return ops
