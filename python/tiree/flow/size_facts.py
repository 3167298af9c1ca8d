"""What is known of sizes where a point of a program is reached: bounds and divisors.

A `cf.assert` that a program has passed holds from there on; `util.assume.int` says what its user knows. JAX writes its
constraints on symbolic dimensions as linear forms (`-a + 4096 >= 0`, `mod(a, 16) == 0`), in i32, with the corrections
of a floored division around each remainder: conditionals that the bounds decide already are seen through.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, lcm

from xdsl.ir import Operation, SSAValue

from tiree.dialects.arith import constant_int
from tiree.dialects.util_types import assumed_bounds
from tiree.flow.structured import defining_op
from tiree.support.typed import int_of, is_integer_type

_EQ, _NE, _SLT, _SLE, _SGT, _SGE = range(6)


@dataclass(frozen=True)
class Fact:
    """An integer from `low` to `high` (inclusive) that is a multiple of `divisor`."""

    low: int
    high: int
    divisor: int = 1

    def both(self, other: Fact) -> Fact:
        """What two facts say of one number."""
        return Fact(max(self.low, other.low), min(self.high, other.high), lcm(self.divisor, other.divisor))

    def either(self, other: Fact) -> Fact:
        """What holds of a number of which one or the other is true."""
        return Fact(min(self.low, other.low), max(self.high, other.high), gcd(self.divisor, other.divisor))

    @property
    def known(self) -> int | None:
        return self.low if self.low == self.high else None


def full_range(value: SSAValue) -> Fact:
    """Every number of the type; i1 is 0 or 1."""
    width = value.type.width.data if is_integer_type(value.type) else 64
    return Fact(0, 1) if width == 1 else Fact(-(1 << (width - 1)), (1 << (width - 1)) - 1)


def given_by(op: Operation, number: int) -> Fact:
    """What a `util.assume.int` says of its operand `number`."""
    full = full_range(op.operands[number])
    low, high, divisor = assumed_bounds(op, number)
    if high is None and full.high < (1 << 63) - 1:
        low = full.low  # An unsigned number may be in the upper half; no index is.
    return Fact(low, min(full.high if high is None else high, full.high), divisor)


class SizeFacts:
    """Facts at one point. `learn` and `assume` add to them as the walk goes on."""

    def __init__(self, given: dict[SSAValue, Fact] | None = None) -> None:
        self._given = dict(given or {})
        self._made_of: dict[SSAValue, Fact] = {}
        self._lines: dict[SSAValue, tuple[int, SSAValue | None, int]] = {}
        """What followed from `_given` so far: sizes meet again, as in x + f(x), and each is asked about once."""
        self._cut: list[SSAValue] = []

    def copy(self) -> SizeFacts:
        return SizeFacts(self._given)

    # What holds.

    def of(self, value: SSAValue) -> Fact:
        """All that is known of an integer."""
        made = self._made_of.get(value)
        if made is None:
            made = self._made_of[value] = self._made(value)
        given = self._given.get(value)
        return made if given is None else made.both(given)

    def _made(self, value: SSAValue) -> Fact:
        known = constant_int(value)
        if known is not None:
            return Fact(known, known, max(abs(known), 1))
        full = full_range(value)
        op = defining_op(value)
        if op is None:
            return full
        found = self._of_op(op, value)
        if found is None or found.low < full.low or found.high > full.high:
            return full  # It may wrap.
        return found

    def _of_op(self, op: Operation, value: SSAValue) -> Fact | None:
        match op.name:
            case "hal.buffer_view.dim" | "tensor.dim":
                return Fact(0, (1 << 63) - 1)
            case "arith.index_cast" | "arith.extsi":
                return self.of(op.operands[0])
            case "util.assume.int":
                number = next(n for n, result in enumerate(op.results) if result is value)
                return self.of(op.operands[number]).both(given_by(op, number))
            case "arith.select":
                condition = self.of(op.operands[0]).known
                if condition is not None:
                    return self.of(op.operands[1 if condition else 2])
                return self.of(op.operands[1]).either(self.of(op.operands[2]))
            case "arith.cmpi":
                known = self._compare(op)
                return None if known is None else Fact(int(known), int(known))
            case _ if len(op.operands) == 2 and op.name.startswith("arith."):
                return _binary(op.name, self.of(op.operands[0]), self.of(op.operands[1]))
            case _:
                return None

    def _compare(self, op: Operation) -> bool | None:
        left, right = (self.of(operand) for operand in op.operands)
        predicate = int_of(op.properties["predicate"])
        if predicate > _SGE:
            if min(left.low, right.low) < 0:
                return None
            predicate -= 4
        if predicate in (_SGT, _SGE):
            left, right, predicate = right, left, {_SGT: _SLT, _SGE: _SLE}[predicate]
        apart = left.high < right.low or right.high < left.low
        match predicate:
            case 0 | 1 if apart or (left.known is not None and left.known == right.known):
                return apart == (predicate == _NE)
            case 2 if left.high < right.low or left.low >= right.high:
                return left.high < right.low
            case 3 if left.high <= right.low or left.low > right.high:
                return left.high <= right.low
            case _:
                return None

    # What is learnt.

    def learn(self, value: SSAValue, fact: Fact) -> None:
        """`fact` holds of `value`, and of what it was cast from."""
        self._given[value] = self.of(value).both(fact)
        self._made_of.clear()
        self._lines.clear()
        op = defining_op(value)
        if op is None or op.name not in ("arith.index_cast", "arith.extsi"):
            return
        source, full = op.operands[0], full_range(value)
        if self.of(source).high > full.high:
            fact = self._given[value]
            if fact.high < full.high:
                self._cut.append(source)
                fact = fact.both(full)
            elif fact.divisor & (fact.divisor - 1):
                return
            else:
                fact = Fact(0, (1 << 63) - 1, fact.divisor)
        self.learn(source, fact)

    def take_cut(self) -> list[SSAValue]:
        """Sizes whose bounds were learnt of their lower 32 bits only, since the last call."""
        found, self._cut = self._cut, []
        return found

    def assume(self, condition: SSAValue) -> None:
        """`condition` is true."""
        pending, seen = [condition], {condition}
        while pending:
            op = defining_op(pending.pop())
            if op is not None and op.name == "arith.andi":
                new = [operand for operand in reversed(op.operands) if operand not in seen]
                pending += new
                seen.update(new)
            elif op is not None and op.name == "arith.cmpi":
                self._assume_comparison(op)

    def _assume_comparison(self, op: Operation) -> None:
        predicate = int_of(op.properties["predicate"])
        left, right = op.operands
        if predicate > _SGE:
            predicate -= 4
            most = self.of(right)
            if most.low < 0:
                return
            if predicate in (_SLT, _SLE):
                self.learn(left, Fact(0, most.high))
            if self.of(left).low < 0:
                return
        first, second = self._linear(left), self._linear(right)
        if first[1] is None or second[1] is None:
            factor, base, constant = first[0] - second[0], first[1] or second[1], first[2] - second[2]
            if base is not None:
                self._learn_linear(factor, base, constant, predicate)

    def _learn_linear(self, factor: int, base: SSAValue, constant: int, predicate: int) -> None:
        """`factor * base + constant` compared with 0 by a signed predicate."""
        if predicate in (_SLT, _SLE):
            factor, constant, predicate = -factor, -constant, {_SLT: _SGT, _SLE: _SGE}[predicate]
        if predicate == _SGT:
            constant, predicate = constant - 1, _SGE
        full = full_range(base)
        if predicate == _SGE and factor > 0:
            self.learn(base, Fact(-(constant // factor), full.high))
        elif predicate == _SGE and factor < 0:
            self.learn(base, Fact(full.low, constant // -factor))
        elif predicate == _EQ and factor and constant % factor == 0:
            self._learn_equal(base, -constant // factor)

    def _learn_equal(self, base: SSAValue, number: int) -> None:
        op = defining_op(base)
        self.learn(base, Fact(number, number))
        if op is None or op.name not in ("arith.remsi", "arith.remui") or number:
            return
        divisor = constant_int(op.operands[1])
        factor, inner, constant = self._linear(op.operands[0])
        if divisor and divisor > 0 and inner is not None and factor and constant % divisor == 0:
            fact = full_range(inner)
            self.learn(inner, Fact(fact.low, fact.high, divisor // gcd(divisor, factor)))

    def _linear(self, value: SSAValue) -> tuple[int, SSAValue | None, int]:
        """`value` as `factor * base + constant`, in a type in which nothing wraps; no base for a constant."""
        if value not in self._lines:
            self._lines[value] = self._find_linear(value)
        return self._lines[value]

    def _find_linear(self, value: SSAValue) -> tuple[int, SSAValue | None, int]:
        known = constant_int(value)
        if known is not None:
            return 0, None, known
        op = defining_op(value)
        if op is not None and op.name == "arith.select":
            condition = self.of(op.operands[0]).known
            if condition is not None:
                return self._linear(op.operands[1 if condition else 2])
        if op is not None and op.name in ("arith.addi", "arith.subi", "arith.muli"):
            full, made = full_range(value), _binary(op.name, self.of(op.operands[0]), self.of(op.operands[1]))
            (a, base, b), (c, other, d) = (self._linear(operand) for operand in op.operands)
            if made is not None and full.low <= made.low and made.high <= full.high and (base is None or other is None):
                if op.name == "arith.muli":
                    return (a * d, base, b * d) if other is None else (c * b, other, d * b)
                sign = 1 if op.name == "arith.addi" else -1
                return a + sign * c, base or other, b + sign * d
        return 1, value, 0


def _binary(name: str, a: Fact, b: Fact) -> Fact | None:
    """What an operation gives, in numbers without a limit."""
    match name:
        case "arith.addi":
            return Fact(a.low + b.low, a.high + b.high, gcd(a.divisor, b.divisor))
        case "arith.subi":
            return Fact(a.low - b.high, a.high - b.low, gcd(a.divisor, b.divisor))
        case "arith.muli":
            ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            return Fact(min(ends), max(ends), a.divisor * b.divisor)
        case "arith.andi":
            return Fact(0, min(a.high, b.high)) if min(a.low, b.low) >= 0 else None
        case "arith.maxsi":
            return Fact(max(a.low, b.low), max(a.high, b.high), gcd(a.divisor, b.divisor))
        case "arith.minsi":
            return Fact(min(a.low, b.low), min(a.high, b.high), gcd(a.divisor, b.divisor))
        case "arith.remsi" | "arith.remui" if b.known and b.known > 0:
            least = 0 if a.low >= 0 else 1 - b.known
            return Fact(least, b.known - 1) if a.low >= 0 or name == "arith.remsi" else None
        case "arith.divsi" | "arith.divui" | "arith.floordivsi" if b.known and b.known > 0 and a.low >= 0:
            return Fact(
                a.low // b.known, a.high // b.known, max(a.divisor // b.known, 1) if a.divisor % b.known == 0 else 1
            )
        case _:
            return None
