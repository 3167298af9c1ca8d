"""scf operations of the user that carry tensors with `?` dimensions: the same, with the sizes carried along."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tiree.dialects.arith import constant_int
from tiree.input.lowering.borders import passed, receive, with_sizes
from tiree.input.lowering.context import Lowering, signless
from tiree.input.lowering.reduce import body_of

_STEP_MESSAGE = StringAttr("scf.for needs a positive step")


def check_step(lowering: Lowering, step: SSAValue, unsigned: bool) -> None:
    """A loop whose step is not positive never ends: the call fails instead."""
    known = constant_int(step)
    if known is None or known == 0 or (known < 0 and not unsigned):
        s = lowering.scalars()
        positive = s.cmpi("ne" if unsigned else "sgt", step, s.constant(step.type, 0))
        lowering.emit_op(cf.AssertOp.create(operands=[positive], properties={"msg": _STEP_MESSAGE}))


def _types(values: Sequence[SSAValue]) -> list[Attribute]:
    return with_sizes([signless(value.type) for value in values])


def _region(lowering: Lowering, old: Block, scalars: int = 0) -> Region:
    """The lowered body `old`, whose first `scalars` arguments are not carried."""
    own, carried = old.args[:scalars], old.args[scalars:]
    block = Block(arg_types=[*(argument.type for argument in own), *_types(carried)])
    with lowering.inside(block):
        for argument, new in zip(own, block.args, strict=False):
            lowering.set(argument, new)
        receive(lowering, carried, block.args[scalars:])
        *ops, end = old.ops
        for op in ops:
            lowering.lower(op)
        lowering.location = end.location
        conditions = 1 if end.name == "scf.condition" else 0
        operands = [lowering.get(value) for value in end.operands[:conditions]]
        operands += passed(lowering, end.operands[conditions:])
        lowering.emit_op(type(end).create(operands=operands, properties=end.properties, attributes=end.attributes))
    return Region(block)


def _rebuild(lowering: Lowering, op: Operation, scalars: int, arguments: int = 0) -> None:
    """`op` again: all but the first `scalars` operands are carried, and all but the first `arguments` of its bodies."""
    operands = [lowering.get(value) for value in op.operands[:scalars]]
    operands += passed(lowering, op.operands[scalars:])
    regions = [_region(lowering, body_of(op, number), arguments) for number in range(len(op.regions))]
    lowering.location = op.location
    new = type(op).create(
        operands=operands,
        result_types=_types(op.results),
        properties=op.properties,
        attributes=op.attributes,
        regions=regions,
    )
    lowering.emit_op(new)
    receive(lowering, op.results, new.results)


def _branches(lowering: Lowering, op: Operation) -> None:
    _rebuild(lowering, op, scalars=1)


def _for(lowering: Lowering, op: Operation) -> None:
    check_step(lowering, lowering.get(op.operands[2]), "unsignedCmp" in op.properties)
    _rebuild(lowering, op, scalars=3, arguments=1)


def _while(lowering: Lowering, op: Operation) -> None:
    _rebuild(lowering, op, scalars=0)


HANDLERS = {
    "scf.if": _branches,
    "scf.index_switch": _branches,
    "scf.for": _for,
    "scf.while": _while,
}
