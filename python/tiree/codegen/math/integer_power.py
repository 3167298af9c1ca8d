"""`math.ipowi`: integer power by squaring, one step per bit of the largest exponent present."""

from __future__ import annotations

from tiree.codegen.llvm.emitter import Emitter
from tiree.codegen.llvm.types import LType
from tiree.codegen.math.builder import Value


def integer_power(e: Emitter, type: LType, base_text: str, exponent_text: str) -> str:
    """base^exponent, wrapping. A negative exponent gives 1/base truncated: 1 and -1 have a power, others give 0."""
    base, exponent = Value(e, type, base_text), Value(e, type, exponent_text)
    head, step, done = e.label("power"), e.label("square"), e.label("powered")
    before = e.block
    e.branch(head)
    e.start_block(head)
    names = [e.fresh() for _ in range(3)]
    lines = [e.placeholder() for _ in range(3)]
    result, factor, left = (Value(e, type, name) for name in names)
    e.branch_if(left.ne(0).any().text, step, done)
    e.start_block(step)
    with e.scope():
        multiplied = (left & 1).ne(0).where(result * factor, result)
        squared = factor * factor
        shifted = left.shift_right_logical(1)
    e.branch(head)
    starts = (e.number(type, 1), base.text, exponent.text)
    for name, line, start, following in zip(names, lines, starts, (multiplied, squared, shifted), strict=True):
        e.lines[line] = f"  {name} = phi {type.text} [ {start}, %{before} ], [ {following.text}, %{step} ]"
    e.start_block(done)
    # Of a negative exponent only its parity matters.
    odd = (exponent & 1).ne(0)
    unit = base.eq(-1).where(odd.where(base.const(-1), 1), base.eq(1).where(base.const(1), 0))
    return exponent.lt(0).where(unit, result).text
