"""What a reduction body does to its accumulators: known combiners, which may be reassociated, or anything else.

A reduction may be split over lanes and accumulators only if its body is `acc' = acc OP f(inputs)` with an associative
and commutative OP, or a selection (argmax and the like) whose ties are broken by a compare of the index. `combiners`
recognises both; every other body is executed in program order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.dialects import arith as xarith
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from tiree.codegen.common.graph import GenericNode
from tiree.support.typed import is_integer_type

INF = float("inf")


@dataclass(frozen=True)
class Combiner:
    """One accumulator's `OP`. `neutral` is None for an idempotent OP, where the initial value serves."""

    op: type[Operation]
    neutral: int | float | None


@dataclass(frozen=True)
class Reassociation:
    """How to merge two sets of accumulators: by one OP each, or by the `ops` of a selection body.

    For a selection, `accumulators` are the body's arguments and `leaves` the values that stand for the new element;
    `index` is the accumulator that tells which of two comes first, so that a merge sees them in program order (bodies
    that look for NaN keep the first one they meet).
    """

    combiners: tuple[Combiner, ...] | None
    ops: tuple[Operation, ...] = ()
    accumulators: tuple[SSAValue, ...] = ()
    leaves: tuple[SSAValue, ...] = ()
    yields: tuple[SSAValue, ...] = ()
    index: int | None = None


_OPS: dict[str, tuple[type[Operation], int | float | None]] = {
    "arith.addf": (xarith.AddfOp, -0.0),
    "arith.mulf": (xarith.MulfOp, 1.0),
    "arith.maximumf": (xarith.MaximumfOp, None),
    "arith.minimumf": (xarith.MinimumfOp, None),
    "arith.maxnumf": (xarith.MaxnumfOp, None),
    "arith.minnumf": (xarith.MinnumfOp, None),
    "arith.addi": (xarith.AddiOp, 0),
    "arith.muli": (xarith.MuliOp, 1),
    "arith.andi": (xarith.AndIOp, None),
    "arith.ori": (xarith.OrIOp, None),
    "arith.xori": (xarith.XOrIOp, 0),
    "arith.maxsi": (xarith.MaxSIOp, None),
    "arith.maxui": (xarith.MaxUIOp, None),
    "arith.minsi": (xarith.MinSIOp, None),
    "arith.minui": (xarith.MinUIOp, None),
}
IDEMPOTENT_OPS = frozenset(name for name, (_, neutral) in _OPS.items() if neutral is None)
"""Combining ops for which repeating an operand is harmless."""


def neutral_of(name: str) -> int | float | None:
    """The operand that a combining op ignores; None for idempotent and unknown ops."""
    found = _OPS.get(name)
    return found[1] if found is not None else None


_SELECTING = frozenset(["arith.cmpf", "arith.cmpi", "arith.select", "arith.andi", "arith.ori", "arith.xori"])


def reassociation(generic: GenericNode) -> Reassociation | None:
    """How the reduction of `generic` may be split, or None when it must run in order. Cached on the generic."""
    cached = generic.__dict__.get("_reassociation", False)
    if cached is False:
        simple = combiners_of(generic.body, generic.num_inputs)
        cached = Reassociation(simple) if simple is not None else _selection(generic)
        generic.__dict__["_reassociation"] = cached
    return cached


def _dependent(body: Block, inputs: int) -> dict[SSAValue, None]:
    """Values of the body that depend on an accumulator."""
    found: dict[SSAValue, None] = dict.fromkeys(body.args[inputs:])
    for op in body.ops:
        if any(v in found for v in op.operands) or op.regions:
            found.update(dict.fromkeys(op.results))
    return found


def _yields(body: Block) -> tuple[SSAValue, ...]:
    last = body.last_op
    assert last is not None
    return tuple(last.operands)


def combiners_of(body: Block, inputs: int) -> tuple[Combiner, ...] | None:
    """What a body that reads `inputs` elements does to each accumulator, where that is one known OP each."""
    dependent = _dependent(body, inputs)
    found: list[Combiner] = []
    for number, value in enumerate(_yields(body)):
        op = value.owner
        accumulator = body.args[inputs + number]
        if not isinstance(op, Operation) or op.name not in _OPS or len(list(accumulator.uses)) != 1:
            return None
        a, b = op.operands
        other = b if a is accumulator else a
        if accumulator not in (a, b) or other in dependent:
            return None
        found.append(Combiner(*_OPS[op.name]))
    return tuple(found)


def _selection(generic: GenericNode) -> Reassociation | None:
    dependent = _dependent(generic.body, generic.num_inputs)
    accumulators = tuple(generic.body.args[generic.num_inputs :])
    ops = [op for op in generic.body.ops if op.results and op.results[0] in dependent]
    if any(op.name not in _SELECTING for op in ops):
        return None
    yields = _yields(generic.body)
    leaves: list[SSAValue] = []
    for value, accumulator in zip(yields, accumulators, strict=True):
        leaf = _leaf(value, accumulator, dependent)
        if leaf is None:
            return None
        leaves.append(leaf)
    allowed = {*leaves, *accumulators}
    index: int | None = None
    # Ops on the new element alone may feed the conditions too (a NaN test of it): they are re-run on merges.
    sources = [op for op in generic.body.ops if op.results and op.results[0] not in dependent]
    needed = _feeding(ops, sources, allowed)
    if needed is None:
        return None
    for op in ops:
        if op.name == "arith.cmpi" and is_integer_type(op.operands[0].type):
            for number, pair in enumerate(zip(leaves, accumulators, strict=True)):
                if {*op.operands} == {*pair}:
                    index = number
    if index is None and len(accumulators) > 1:
        return None
    ordered = tuple(op for op in generic.body.ops if op in needed or op in ops)
    return Reassociation(None, ordered, accumulators, tuple(leaves), yields, index)


def _feeding(ops: list[Operation], sources: list[Operation], allowed: set[SSAValue]) -> list[Operation] | None:
    """The element-only ops between the leaves and `ops`; None when something else feeds a condition."""
    needed: list[Operation] = []
    work = list(ops)
    while work:
        for operand in work.pop().operands:
            owner: Any = operand.owner
            if operand in allowed or owner in ops or owner in needed:
                continue
            if isinstance(owner, Operation) and owner.name == "arith.constant":
                continue
            if owner in sources and owner.name in _SELECTING:
                needed.append(owner)
                work.append(owner)
            else:
                return None
    return needed


def _leaf(value: SSAValue, accumulator: SSAValue, dependent: dict[SSAValue, None]) -> SSAValue | None:
    """The one value that selects of `value` choose instead of the accumulator."""
    leaves: dict[SSAValue, None] = {}
    work = [value]
    while work:
        at = work.pop()
        if at is accumulator:
            continue
        if at not in dependent:
            leaves[at] = None
            continue
        owner = at.owner
        if isinstance(at, BlockArgument) or not isinstance(owner, Operation) or owner.name != "arith.select":
            return None
        work += [owner.operands[1], owner.operands[2]]
    return next(iter(leaves)) if len(leaves) == 1 else None


def fused_products(generic: GenericNode) -> dict[Operation, None]:
    """The `mulf`s of a reduction body whose only use is an `addf`: those that become a fused multiply-add.

    Of a sum of two products it is the first.
    """
    cached: dict[Operation, None] | None = generic.__dict__.get("_fused_products")
    if cached is None:
        cached = {}
        if generic.reduction_dims:
            cached = products_of_sums(generic.body)
        generic.__dict__["_fused_products"] = cached
    return cached


def products_of_sums(body: Block) -> dict[Operation, None]:
    """The products that only a sum of the same block reads, one for each sum."""
    found: dict[Operation, None] = {}
    sums: set[Operation] = set()
    for op in body.ops:
        if op.name == "arith.mulf" and _wide(op.results[0].type):
            users = [use.operation for use in op.results[0].uses]
            if len(users) == 1 and users[0].name == "arith.addf" and users[0].parent is body and users[0] not in sums:
                found[op] = None
                sums.add(users[0])
    return found


def _wide(type: Attribute) -> bool:
    return type.name in ("bf16", "f32", "f64")
