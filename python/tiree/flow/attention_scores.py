"""Reads what stands between the scores of an attention and its softmax: a scale, then a mask.

The body of an elementwise generic is taken for `scale * x`, `scale * x + mask` or `select(mask, scale * x, value)`,
where x is an element of the contraction and the mask anything that does not depend on x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from xdsl.dialects import arith as xarith
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tiree.dialects.arith import ConstantOp, constant_of
from tiree.flow.structured import body_of, input_count, is_tensor, make_index, make_yield, maps_of, yielded
from tiree.support.typed import int_of, is_float_attr, is_integer_attr

_CASTS = ("arith.extf", "arith.truncf")


@dataclass
class ScoreChain:
    op: Operation
    product: int
    """The input that holds the products."""
    scale: float = 1.0
    mask: SSAValue | None = None
    """What is added, or says which scores count, in the body."""
    inverted: bool = False
    """Whether it says which scores do not count."""
    masked: float | None = None
    """What the scores that do not count become."""


def read_scores(op: Operation) -> ScoreChain | None:
    """The chain of an elementwise generic, None where it is none."""
    if len(op.results) != 1 or any(inner.regions for inner in body_of(op).ops):
        return None
    for number in range(input_count(op)):
        chain = ScoreChain(op, number)
        if _walk(chain, yielded(op)[0]):
            return chain
    return None


def _walk(chain: ScoreChain, value: SSAValue) -> bool:
    """Reads the steps from the last to the first."""
    argument = body_of(chain.op).args[chain.product]
    varying = _dependents(argument)
    scaled = False
    while value is not argument:
        made = value.owner
        if not isinstance(made, Operation) or made.parent is not argument.owner or value.type.name == "f16":
            return False
        inside = [n for n, operand in enumerate(made.operands) if operand in varying]
        if len(inside) != 1:
            return False
        if made.name in ("arith.mulf", "arith.divf"):
            factor = _number(made.operands[1 - inside[0]])
            if factor is None or (made.name == "arith.divf" and (inside[0] != 0 or factor == 0)):
                return False
            chain.scale *= factor if made.name == "arith.mulf" else 1.0 / factor
            scaled = True
        elif made.name not in _CASTS and (scaled or chain.mask is not None or not _read_mask(chain, made, inside[0])):
            return False
        value = made.operands[inside[0]]
    return argument.type.name != "f16" and chain.scale == chain.scale and abs(chain.scale) < inf


def _read_mask(chain: ScoreChain, made: Operation, inside: int) -> bool:
    if made.name == "arith.addf":
        chain.mask = made.operands[1 - inside]
    elif made.name == "arith.select" and inside in (1, 2):
        chain.mask, chain.inverted = made.operands[0], inside == 2
        chain.masked = _number(made.operands[3 - inside])
        # Rows with a NaN or a positive infinity among their scores are NaN, which no mask says.
        if chain.masked is None or not chain.masked < inf:
            return False
    else:
        return False
    chain.mask = _simple(chain.mask)
    return _is_computable(chain, chain.mask)


def _simple(condition: SSAValue) -> SSAValue:
    """A mask without what does nothing to it: `true and x`, `x ? true : false`."""
    made = condition.owner
    if not isinstance(made, Operation):
        return condition
    flags = [is_integer_attr(attr) and attr.value.data & 1 for attr in map(constant_of, made.operands)]
    if made.name == "arith.andi" and condition.type == i1 and any(flag == 1 for flag in flags):
        return _simple(made.operands[0 if flags[1] else 1])
    false = constant_of(made.operands[2]) if made.name == "arith.select" and condition.type == i1 else None
    if made.name == "arith.select" and flags[1] and is_integer_attr(false) and not false.value.data & 1:
        return _simple(made.operands[0])
    return condition


def _dependents(argument: BlockArgument) -> set[SSAValue]:
    found: set[SSAValue] = {argument}
    for op in argument.owner.ops:
        if any(operand in found for operand in op.operands):
            found.update(op.results)
    return found


def _number(value: SSAValue) -> float | None:
    """A constant, perhaps one that is cast; rounding it once more, to the type of scores, changes nothing."""
    while isinstance(value.owner, Operation) and value.owner.name in _CASTS:
        value = value.owner.operands[0]
    attr = constant_of(value)
    return float(attr.value.data) if is_float_attr(attr) else None


def _is_computable(chain: ScoreChain, value: SSAValue) -> bool:
    """Whether a mask can be made by an op of its own: it reads inputs, positions, and scalars from outside."""
    return not any(is_tensor(operand) for op in _needed(chain, value) for operand in op.operands)


def _needed(chain: ScoreChain, value: SSAValue) -> list[Operation]:
    """The ops of the body that make a value, in order."""
    body = body_of(chain.op)
    found: set[Operation] = set()
    pending = [value]
    while pending:
        made = pending.pop().owner
        if isinstance(made, Operation) and made.parent is body and made not in found:
            found.add(made)
            pending.extend(made.operands)
    return [op for op in body.ops if op in found]


def mask_block(chain: ScoreChain) -> tuple[list[int], Sequence[int], Block]:
    """The inputs that the mask of a chain reads, the loops it varies along, and a body that yields it."""
    assert chain.mask is not None
    op, body = chain.op, body_of(chain.op)
    needed = _needed(chain, chain.mask)
    values: set[SSAValue] = {chain.mask, *(operand for one in needed for operand in one.operands)}
    inputs = [n for n in range(input_count(op)) if body.args[n] in values]
    loops = {d for n in inputs for expr in maps_of(op)[n].results for d in expr.used_dims()}
    loops |= {int_of(one.properties["dim"]) for one in needed if one.name == "linalg.index"}
    dims = sorted(loops)
    block = Block(arg_types=[*(body.args[n].type for n in inputs), chain.mask.type])
    mapping: dict[SSAValue, SSAValue] = {body.args[n]: arg for n, arg in zip(inputs, block.args, strict=False)}
    for one in needed:
        if one.name == "linalg.index":
            copy: Any = make_index(dims.index(int_of(one.properties["dim"])))
        else:
            copy = one.clone(mapping)
        block.add_op(copy)
        mapping.update(zip(one.results, copy.results, strict=True))
    result = mapping.get(chain.mask, chain.mask)
    if chain.inverted:
        true = ConstantOp.create(result_types=[i1], properties={"value": IntegerAttr(1, i1)})
        other = xarith.XOrIOp(result, true.results[0])
        block.add_ops([true, other])
        result = other.results[0]
    block.add_op(make_yield([result]))
    return inputs, dims, block
