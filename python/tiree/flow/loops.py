"""`tiree-global-opt-while-to-for` and `tiree-global-opt-rotate-while`: loops that ask the device less often.

A `scf.while` whose condition compares a counter with a constant, where the counter starts at a constant and every
pass adds a constant, is a `scf.for`: its trip count is known and nothing is read back. Any other loop with a small
condition is rotated: the condition is computed once before the loop (`scf.if`) and then at the end of each pass, in
the same block as the body, so that both can share dispatches.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp
from xdsl.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from xdsl.dialects.tensor import FromElementsOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.arith import ConstantOp
from tiree.dialects.dense import DenseAttr, decode_scalar
from tiree.flow.simplify_generic import number_of, uniform_scalar
from tiree.flow.structured import (
    body_of,
    defining_op,
    erase_op,
    function_blocks,
    input_count,
    insert_before,
    is_generic,
    is_tensor,
    replace_op,
    yielded,
)
from tiree.support.typed import int_of, is_integer_type, is_tensor_type, tensor_type

MAX_CONDITION_OPS = 24
"""A condition of more ops than this is not worth a second copy."""

_STRICT, _INCLUSIVE = (2, 6), (3, 7)
"""`cmpi` predicates slt, ult and sle, ule."""


@dataclass(frozen=True)
class Counter:
    """A counted loop: which carried value counts, from where, to where (exclusive), by how much."""

    position: int
    start: int
    stop: int
    step: int
    type: IntegerType

    @property
    def trips(self) -> int:
        return max(0, -(-(self.stop - self.start) // self.step))


def constant_number(value: SSAValue) -> int | None:
    """The integer that `value` is: a scalar constant, or a tensor of one known element."""
    scalar = uniform_scalar(value) if is_tensor_type(value.type) else value
    if isinstance(scalar, DenseAttr):
        if not is_integer_type(scalar.element_type):
            return None
        return int(decode_scalar(scalar.element_type, bytes(scalar.buffer)))
    number = number_of(scalar) if scalar is not None else None
    return number if isinstance(number, int) else None


def _scalar_op(value: SSAValue, name: str) -> tuple[Operation, Operation] | None:
    """The generic that makes `value` and the op that computes what it yields, when that is a `name`."""
    op = defining_op(value)
    if op is None or not is_generic(op) or len(op.results) != 1:
        return None
    inner = defining_op(yielded(op)[0])
    return (op, inner) if inner is not None and inner.name == name and inner.parent is body_of(op) else None


def _binary_operands(op: Operation, inner: Operation, argument: SSAValue) -> int | None:
    """For `inner(argument, c)` with constant c: c; the argument must be the left operand."""
    left, right = inner.operands
    block = body_of(op)
    if not isinstance(left, BlockArgument) or left.block is not block or left.index >= input_count(op):
        return None
    if op.operands[left.index] is not argument:
        return None
    if isinstance(right, BlockArgument) and right.block is block:
        return constant_number(op.operands[right.index]) if right.index < input_count(op) else None
    return constant_number(right)


def find_counter(op: Operation) -> Counter | None:
    """The counter of a loop, if it is a counted one that forwards its arguments unchanged."""
    before, after = op.regions[0].blocks.first, op.regions[1].blocks.first
    assert before is not None
    assert after is not None
    condition, end = before.last_op, after.last_op
    if condition is None or end is None or tuple(condition.operands[1:]) != tuple(before.args):
        return None
    flag = defining_op(condition.operands[0])
    if flag is None or flag.name != "tensor.extract" or len(flag.operands) != 1:
        return None
    test = _scalar_op(flag.operands[0], "arith.cmpi")
    if test is None:
        return None
    predicate = int_of(test[1].properties["predicate"])
    for position, argument in enumerate(before.args):
        limit = _binary_operands(*test, argument)
        if limit is None or predicate not in _STRICT + _INCLUSIVE:
            continue
        added = _scalar_op(end.operands[position], "arith.addi")
        step = None if added is None else _binary_operands(*added, after.args[position])
        start = constant_number(op.operands[position])
        type = tensor_type(argument).element_type
        if step is None or start is None or step <= 0 or not is_integer_type(type):
            return None
        stop = limit + (predicate in _INCLUSIVE)
        if min(start, stop) < 0 or stop + step >= 1 << (type.width.data - 1):
            return None
        return Counter(position, start, stop, step, type)
    return None


def drop_invariants(op: Operation) -> Operation:
    """A `scf.while` without the carried values that no pass changes; what reads them reads their initial values."""
    before, after = op.regions[0].blocks.first, op.regions[1].blocks.first
    assert before is not None
    assert after is not None
    condition, end = before.last_op, after.last_op
    assert condition is not None
    assert end is not None
    if not len(op.operands) == len(before.args) == len(after.args) == len(end.operands):
        return op
    kept = [
        index
        for index, argument in enumerate(before.args)
        if condition.operands[index + 1] is not argument or end.operands[index] is not after.args[index]
    ]
    if len(kept) == len(before.args):
        return op
    results: dict[int, SSAValue] = {}
    for index in reversed(range(len(before.args))):
        if index in kept:
            continue
        value = results[index] = op.operands[index]
        for block in (before, after):
            argument = block.args[index]
            argument.replace_all_uses_with(value)
            block.erase_arg(argument)
    condition.operands = [condition.operands[0], *(condition.operands[index + 1] for index in kept)]
    end.operands = [end.operands[index] for index in kept]
    for region in op.regions:
        block = region.blocks.first
        assert block is not None
        region.detach_block(block)
    loop = WhileOp.create(
        operands=[op.operands[index] for index in kept],
        result_types=[op.results[index].type for index in kept],
        regions=[Region(before), Region(after)],
        location=op.location,
    )
    insert_before(op, loop)
    for place, index in enumerate(kept):
        results[index] = loop.results[place]
    replace_op(op, [results[index] for index in range(len(op.results))])
    return loop


def _integer(value: int, type: IntegerType, anchor: Operation) -> SSAValue:
    op = ConstantOp(IntegerAttr(value, type))
    insert_before(anchor, op)
    return op.result


def convert_while(op: Operation) -> bool:
    """Replaces a counted loop by `scf.for`. False: it is not one."""
    counter = find_counter(op)
    if counter is None:
        return False
    after = op.regions[1].blocks.first
    assert after is not None
    at = counter.position
    bounds = [_integer(value, counter.type, op) for value in (counter.start, counter.stop, counter.step)]
    inits = [value for index, value in enumerate(op.operands) if index != at]
    op.regions[1].detach_block(after)
    index = after.insert_arg(counter.type, 0)
    argument = after.args[at + 1]
    boxed = FromElementsOp.create(operands=[index], result_types=[argument.type])
    if after.first_op is not None:
        after.insert_op_before(boxed, after.first_op)
    argument.replace_all_uses_with(boxed.results[0])
    after.erase_arg(argument)
    end = after.last_op
    assert end is not None
    end.operands = [value for position, value in enumerate(end.operands) if position != at]
    loop = ForOp.create(
        operands=[*bounds, *inits],
        result_types=[value.type for value in inits],
        regions=[Region(after)],
        location=op.location,
    )
    final = _integer(counter.start + counter.trips * counter.step, counter.type, op)
    last = FromElementsOp.create(operands=[final], result_types=[op.results[at].type])
    insert_before(op, last, loop)
    results: list[SSAValue] = list(loop.results)
    results.insert(at, last.results[0])
    replace_op(op, results)
    return True


def _inline(block: Block, values: list[SSAValue], anchor: Operation) -> Operation:
    """Copies the ops of `block`, with its arguments replaced by `values`, before `anchor`. Returns a copy of the
    terminator that is not inserted."""
    mapping: dict[SSAValue, SSAValue] = dict(zip(block.args, values, strict=True))
    terminator: Operation | None = None
    for op in block.ops:
        copy = op.clone(mapping)
        if op is block.last_op:
            terminator = copy
        else:
            insert_before(anchor, copy)
    assert terminator is not None
    return terminator


def rotate_while(op: Operation) -> None:
    """`while (c(x)) x = f(x)` as `if (c(x)) do x = f(x) while (c(x))`."""
    before, after = op.regions[0].blocks.first, op.regions[1].blocks.first
    assert before is not None
    assert after is not None
    ops = list(before.ops)
    if len(ops) > MAX_CONDITION_OPS or any(inner.name.startswith("scf.") and inner.next_op for inner in ops):
        return
    if len(list(after.ops)) <= 1:
        return  # Already in this form: the body has nothing but its yield.
    if not any(is_tensor(value) for inner in ops[:-1] for value in (*inner.operands, *inner.results)):
        return  # The host computes it.
    first = _inline(before, list(op.operands), op)
    flag, values = first.operands[0], list(first.operands[1:])
    types = [value.type for value in values]
    # The loop: the old body, then the condition on what it yields.
    op.regions[1].detach_block(after)
    end = after.last_op
    assert end is not None
    test = _inline(before, list(end.operands), end)
    condition = ConditionOp.create(operands=list(test.operands))
    insert_before(end, condition)
    erase_op(end)
    passing = Block(arg_types=types)
    passing.add_op(YieldOp.create(operands=list(passing.args)))
    loop = WhileOp.create(operands=values, result_types=types, regions=[Region(after), Region(passing)])
    loop.location = op.location
    taken = Block([loop, YieldOp.create(operands=list(loop.results))])
    skipped = Block([YieldOp.create(operands=values)])
    choice = IfOp.create(operands=[flag], result_types=types, regions=[Region(taken), Region(skipped)])
    choice.location = op.location
    insert_before(op, choice)
    for copy in (first, test):
        copy.erase()
    replace_op(op, choice.results)


class ConvertWhileToFor(ModulePass):
    """Counted loops are `scf.for`."""

    name = "tiree-global-opt-while-to-for"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in list(function_blocks(op)):
            for inner in list(block.ops):
                if inner.name == "scf.while":
                    convert_while(drop_invariants(inner))


class RotateWhile(ModulePass):
    """Conditions are computed at the end of the body."""

    name = "tiree-global-opt-rotate-while"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in list(function_blocks(op)):
            for inner in list(block.ops):
                if inner.name == "scf.while":
                    rotate_while(inner)
