"""`tiree-stream-lower-control-flow`: structured control flow of host functions becomes branches.

In: `util.func`s with `scf.if`, `scf.while`, `scf.for` and `scf.index_switch` over tensors and scalars.
Out: the same functions with `cf` branches; what the structured op changes are block arguments. Blocks stay in an order
in which definitions precede uses. Executables are not touched.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import cf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.arith import ConstantOp
from tiree.stream.block_arguments import remove_constant_arguments
from tiree.support.typed import ints_of


def _absorb(region: Region, source: Region, before: Block) -> Block:
    """Moves the single block of `source` into `region` in front of `before`."""
    block = source.block
    source.detach_block(block)
    region.insert_block_before(block, before)
    return block


def _end_with_branch(block: Block, target: Block, extra: Sequence[SSAValue] = ()) -> None:
    """Replaces the `scf.yield` at the end of `block` by a branch that hands on what it yielded."""
    terminator = block.last_op
    assert terminator is not None
    values = list(terminator.operands)
    terminator.detach()
    terminator.erase()
    block.add_op(cf.BranchOp(target, *extra, *values))


def _split(op: Operation) -> tuple[Block, Block]:
    """Splits after `op`; the new block's arguments take the place of its results."""
    block = op.parent
    assert block is not None
    rest = block.split_before(op, arg_types=op.result_types)
    for result, argument in zip(op.results, rest.args, strict=True):
        result.replace_all_uses_with(argument)
    op.detach()
    return block, rest


def _lower_if(op: Operation) -> list[Block]:
    block, rest = _split(op)
    region = block.parent
    assert region is not None
    then = _absorb(region, op.regions[0], rest)
    _end_with_branch(then, rest)
    blocks = [then]
    otherwise = rest
    if op.regions[1].blocks:
        otherwise = _absorb(region, op.regions[1], rest)
        _end_with_branch(otherwise, rest)
        blocks.append(otherwise)
    block.add_op(cf.ConditionalBranchOp(op.operands[0], then, [], otherwise, []))
    op.erase()
    return [*blocks, rest]


def _lower_while(op: Operation) -> list[Block]:
    block, rest = _split(op)
    region = block.parent
    assert region is not None
    header = _absorb(region, op.regions[0], rest)
    block.add_op(cf.BranchOp(header, *op.operands))
    condition = header.last_op
    assert condition is not None
    decided, values = condition.operands[0], list(condition.operands[1:])
    condition.detach()
    condition.erase()
    body = op.regions[1].block
    if body.first_op is body.last_op and body.last_op is not None:
        # Nothing happens in the body: the condition jumps back by itself.
        order: dict[SSAValue, SSAValue] = dict(zip(body.args, values, strict=True))
        back = [order.get(value, value) for value in body.last_op.operands]
        header.add_op(cf.ConditionalBranchOp(decided, header, back, rest, values))
        op.erase()
        return [header, rest]
    body = _absorb(region, op.regions[1], rest)
    _end_with_branch(body, header)
    header.add_op(cf.ConditionalBranchOp(decided, body, values, rest, values))
    op.erase()
    return [header, body, rest]


def _lower_for(op: Operation) -> list[Block]:
    from xdsl.dialects import arith

    block, rest = _split(op)
    region = block.parent
    assert region is not None
    lower, upper, step, *initial = op.operands
    body = op.regions[0].block
    header = Block(arg_types=body.arg_types)
    region.insert_block_before(header, rest)
    block.add_op(cf.BranchOp(header, lower, *initial))
    body = _absorb(region, op.regions[0], rest)
    advance = arith.AddiOp(body.args[0], step)
    assert body.last_op is not None
    body.insert_op_before(advance, body.last_op)
    _end_with_branch(body, header, [advance.result])
    goes_on = arith.CmpiOp(header.args[0], upper, "ult" if "unsignedCmp" in op.properties else "slt")
    header.add_ops([goes_on, cf.ConditionalBranchOp(goes_on.result, body, header.args, rest, header.args[1:])])
    op.erase()
    return [body, rest]


def _lower_index_switch(op: Operation) -> list[Block]:
    from xdsl.dialects import arith

    block, rest = _split(op)
    region = block.parent
    assert region is not None
    default, *cases = [_absorb(region, nested, rest) for nested in op.regions]
    for nested in (default, *cases):
        _end_with_branch(nested, rest)
    keys = ints_of(op.properties["cases"])
    for number, (key, case) in enumerate(zip(keys, cases, strict=True)):
        constant = ConstantOp(IntegerAttr(key, IndexType()))
        equal = arith.CmpiOp(op.operands[0], constant.result, "eq")
        last = number == len(keys) - 1
        following = default if last else Block()
        if not last:
            region.insert_block_before(following, default)
        block.add_ops([constant, equal, cf.ConditionalBranchOp(equal.result, case, [], following, [])])
        block = following
    if not keys:
        block.add_op(cf.BranchOp(default))
    op.erase()
    return [default, *cases, rest]


_LOWERINGS = {
    "scf.if": _lower_if,
    "scf.while": _lower_while,
    "scf.for": _lower_for,
    "scf.index_switch": _lower_index_switch,
}


def lower_region(region: Region) -> None:
    """Lowers every structured op below `region`, outermost first."""
    pending = list(region.blocks)
    while pending:
        block = pending.pop()
        op = next((op for op in block.ops if op.name in _LOWERINGS), None)
        if op is not None:
            pending.extend(_LOWERINGS[op.name](op))


class LowerControlFlowPass(ModulePass):
    """See the module's docstring."""

    name = "tiree-stream-lower-control-flow"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for function in op.ops:
            if function.name in ("util.func", "util.initializer"):
                lower_region(function.regions[0])
                remove_constant_arguments(function.regions[0])


__all__ = ["LowerControlFlowPass", "lower_region"]
