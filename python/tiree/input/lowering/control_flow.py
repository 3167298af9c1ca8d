"""Control flow: while, if and case become scf; their conditions are read by the host with `tensor.extract`.

A case is a chain of ifs over its index; an index out of range takes the last branch, as the specification says.
"""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, Operation, Region

from tiree.input.lowering import top_k_calls
from tiree.input.lowering.borders import passed, receive, with_sizes
from tiree.input.lowering.context import Lowering, Unsupported, signless
from tiree.input.lowering.dynamic_windows import dynamic_reduce_window
from tiree.input.lowering.known_calls import KNOWN_CALLS
from tiree.input.lowering.reduce import body_of
from tiree.input.lowering.scalar import inherent
from tiree.input.lowering.shape_values import shape_assertion
from tiree.support.typed import is_integer_attr


def _branch(lowering: Lowering, op: Operation, region: int) -> Region:
    """Region `region` of an if or case, ending in `scf.yield`."""
    block = Block()
    with lowering.inside(block):
        results = lowering.lower_ops(body_of(op, region))
        lowering.emit_op(scf.YieldOp.create(operands=passed(lowering, results)))
    return Region(block)


def _result_types(op: Operation) -> list[Attribute]:
    return [signless(result.type) for result in op.results]


def _if(lowering: Lowering, op: Operation) -> None:
    scalar = lowering.splat(op.operands[0])
    if is_integer_attr(scalar):
        _inline(lowering, op, 0 if scalar.value.data else 1)
        return
    condition = lowering.extract(lowering.get(op.operands[0]))
    regions = [_branch(lowering, op, 0), _branch(lowering, op, 1)]
    new = scf.IfOp.create(operands=[condition], result_types=with_sizes(_result_types(op)), regions=regions)
    lowering.emit_op(new)
    receive(lowering, op.results, new.results)


def _inline(lowering: Lowering, op: Operation, region: int) -> None:
    """A branch that is known to be taken."""
    results = lowering.lower_ops(body_of(op, region))
    for old, value in zip(op.results, results, strict=True):
        lowering.set(old, lowering.values[value])


def _case(lowering: Lowering, op: Operation) -> None:
    count = len(op.regions)
    if count == 0:
        raise Unsupported("without branches")
    scalar = lowering.splat(op.operands[0])
    if is_integer_attr(scalar) or count == 1:
        index = scalar.value.data if is_integer_attr(scalar) else 0
        _inline(lowering, op, index if 0 <= index < count else count - 1)
        return
    index = lowering.extract(lowering.get(op.operands[0]))
    types = with_sizes(_result_types(op))

    def chain(branch: int) -> Operation:
        s = lowering.scalars()
        taken = s.cmpi("eq", index, s.constant(index.type, branch))
        then = _branch(lowering, op, branch)
        if branch == count - 2:
            other = _branch(lowering, op, count - 1)
        else:
            block = Block()
            with lowering.inside(block):
                inner = chain(branch + 1)
                receive(lowering, op.results, inner.results)
                lowering.emit_op(scf.YieldOp.create(operands=passed(lowering, op.results)))
            other = Region(block)
        new = scf.IfOp.create(operands=[taken], result_types=types, regions=[then, other])
        lowering.emit_op(new)
        return new

    receive(lowering, op.results, chain(0).results)


def _while(lowering: Lowering, op: Operation) -> None:
    types = with_sizes(_result_types(op))
    inits = passed(lowering, op.operands)
    condition, body = body_of(op, 0), body_of(op, 1)
    before = Block(arg_types=types)
    with lowering.inside(before):
        receive(lowering, condition.args, before.args)
        predicate = lowering.lower_ops(condition)[0]
        flag = lowering.extract(lowering.get(predicate))
        lowering.emit_op(scf.ConditionOp.create(operands=[flag, *passed(lowering, condition.args)]))
    after = Block(arg_types=types)
    with lowering.inside(after):
        receive(lowering, body.args, after.args)
        results = passed(lowering, lowering.lower_ops(body))
        lowering.emit_op(scf.YieldOp.create(operands=results))
    new = scf.WhileOp.create(operands=inits, result_types=types, regions=[Region(before), Region(after)])
    lowering.emit_op(new)
    receive(lowering, op.results, new.results)


def _composite(lowering: Lowering, op: Operation) -> None:
    lowering.inline_call(op, "decomposition")


IDENTITY_TARGETS = frozenset(
    {
        "Sharding",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "annotate_device_placement",
        "LayoutConstraint",
        "mhlo.annotate_device_placement",
        "xla.sdy.FuncResultSharding",
    }
)
"""Custom calls that say where data lives; on one device they return their operands."""


FUNCTION_TARGETS = {
    **KNOWN_CALLS,
    **top_k_calls.TARGETS,
    "shape_assertion": shape_assertion,
    "stablehlo.dynamic_reduce_window": dynamic_reduce_window,
}
"""How calls of functions are lowered, by their target."""


def _custom_call(lowering: Lowering, op: Operation) -> None:
    target = inherent(op, "call_target_name")
    name = getattr(target, "data", "")
    if name in FUNCTION_TARGETS:
        FUNCTION_TARGETS[name](lowering, op)
        return
    if name not in IDENTITY_TARGETS or len(op.results) > len(op.operands):
        raise Unsupported(f"to target {name!r}")
    for operand, result in zip(op.operands, op.results, strict=False):
        if operand.type != result.type:
            raise Unsupported(f"to target {name!r} from {operand.type} to {result.type}")
        lowering.set(result, lowering.values[operand])


HANDLERS = {
    "stablehlo.if": _if,
    "stablehlo.case": _case,
    "stablehlo.while": _while,
    "stablehlo.composite": _composite,
    "stablehlo.custom_call": _custom_call,
}
