"""Linear index forms: `constant + sum(coefficient * symbol)`.

A `Sym` stands for a value of index type that is known only when the kernel runs: a loop variable, the lane number
inside a vector, or some other computed index. Codegen keeps indices in this form as long as it can: contiguity,
strides and ranges are then read off, and only what remains is emitted as arithmetic. Nothing here knows the IR beyond
`AffineExpr`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

LANE = "lane"
SCALAR = "scalar"
VECTOR = "vector"

UNBOUNDED = 1 << 62


class Sym:
    """A run-time index. `kind` is SCALAR, LANE (0..width-1 across a vector) or VECTOR (any value in each lane).

    `value` is the SSA value (None for a lane and in dry runs); `low` and `high` bound it, both inclusive. `order`
    fixes the place of the symbol in a sum, so that equal sums are equal tuples.
    """

    __slots__ = ("high", "kind", "low", "order", "value")

    def __init__(self, order: int, kind: str, value: Any, low: int = -UNBOUNDED, high: int = UNBOUNDED) -> None:
        self.order = order
        self.kind = kind
        self.value = value
        self.low = low
        self.high = high

    def __repr__(self) -> str:
        return f"{self.kind}{self.order}"


class Lin:
    """An immutable linear form. `terms` are sorted by symbol order and have no zero coefficient."""

    __slots__ = ("_hash", "const", "terms")

    def __init__(self, const: int, terms: tuple[tuple[Sym, int], ...] = ()) -> None:
        self.const = const
        self.terms = terms
        self._hash = hash((const, terms))

    @staticmethod
    def of(sym: Sym, coefficient: int = 1) -> Lin:
        return Lin(0, ((sym, coefficient),)) if coefficient else ZERO

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Lin)
            and self._hash == other._hash
            and self.const == other.const
            and self.terms == other.terms
        )

    def __repr__(self) -> str:
        return " + ".join([f"{c}*{s!r}" for s, c in self.terms] + [str(self.const)])

    def __add__(self, other: Lin | int) -> Lin:
        if isinstance(other, int):
            return Lin(self.const + other, self.terms) if other else self
        if not other.terms:
            return self + other.const
        if not self.terms:
            return other + self.const
        merged: dict[Sym, int] = dict(self.terms)
        for sym, coefficient in other.terms:
            merged[sym] = merged.get(sym, 0) + coefficient
        terms = sorted(((s, c) for s, c in merged.items() if c), key=lambda term: term[0].order)
        return Lin(self.const + other.const, tuple(terms))

    def __sub__(self, other: Lin | int) -> Lin:
        return self + (-other if isinstance(other, int) else other * -1)

    def __mul__(self, factor: int) -> Lin:
        if factor == 1:
            return self
        if factor == 0:
            return ZERO
        return Lin(self.const * factor, tuple((s, c * factor) for s, c in self.terms))

    @property
    def is_const(self) -> bool:
        return not self.terms

    @property
    def is_uniform(self) -> bool:
        """Whether all lanes of a vector see the same value."""
        return all(s.kind is SCALAR for s, _ in self.terms)

    def coefficient(self, sym: Sym) -> int:
        for s, c in self.terms:
            if s is sym:
                return c
        return 0

    def bounds(self) -> tuple[int, int]:
        """The least and greatest value, from the bounds of the symbols."""
        low = high = self.const
        for sym, c in self.terms:
            if sym.low <= -UNBOUNDED or sym.high >= UNBOUNDED:
                return -UNBOUNDED, UNBOUNDED
            low += c * (sym.low if c > 0 else sym.high)
            high += c * (sym.high if c > 0 else sym.low)
        return low, high

    def split(self, divisor: int) -> tuple[Lin, Lin] | None:
        """(floor(self / divisor), self mod divisor) when both are linear, else None."""
        if divisor == 1:
            return self, ZERO
        whole = tuple((s, c // divisor) for s, c in self.terms if c % divisor == 0)
        rest = Lin(self.const % divisor, tuple((s, c) for s, c in self.terms if c % divisor))
        low, high = rest.bounds()
        if low >= 0 and high < divisor:
            return Lin(self.const // divisor, whole), rest
        # The constant may also belong to the remainder as it stands.
        low, high = (rest + (self.const - rest.const)).bounds()
        if low >= 0 and high < divisor:
            return Lin(0, whole), rest + (self.const - rest.const)
        return None


ZERO = Lin(0)


def constants(values: Sequence[int]) -> tuple[Lin, ...]:
    return tuple(Lin(v) for v in values)


class LinearMap:
    """An `AffineMap` prepared for substitution: per result a constant and (dim, coefficient) pairs, or the expression
    itself where it has floordiv, ceildiv or mod."""

    __slots__ = ("num_dims", "results")

    def __init__(self, map: AffineMap) -> None:
        self.num_dims = map.num_dims
        self.results: list[tuple[int, tuple[tuple[int, int], ...]] | AffineExpr] = [
            flat if (flat := flatten(expr)) is not None else expr for expr in map.results
        ]

    def plain_dim(self, position: int) -> int | None:
        """The dim when result `position` is exactly that dim, else None."""
        result = self.results[position]
        if isinstance(result, tuple) and result[0] == 0 and len(result[1]) == 1 and result[1][0][1] == 1:
            return result[1][0][0]
        return None

    @property
    def plain_dims(self) -> list[int | None]:
        return [self.plain_dim(p) for p in range(len(self.results))]

    @property
    def bare_dims(self) -> list[int]:
        """The dims of a map whose results all are exactly one dim."""
        return [dim for dim in self.plain_dims if dim is not None]

    def is_permutation_of(self, dims: Sequence[int]) -> bool:
        """Whether the results are exactly these dims, in any order."""
        bare = self.bare_dims
        return len(bare) == len(self.results) and sorted(bare) == sorted(dims)

    def dims_used(self) -> set[int]:
        used: set[int] = set()
        for result in self.results:
            if isinstance(result, tuple):
                used.update(d for d, _ in result[1])
            else:
                used.update(expr.position for expr in result.dfs() if isinstance(expr, AffineDimExpr))
        return used


def flatten(expr: AffineExpr) -> tuple[int, tuple[tuple[int, int], ...]] | None:
    """(constant, ((dim, coefficient), ...)) of a linear expression without symbols, else None."""
    match expr:
        case AffineConstantExpr():
            return expr.value, ()
        case AffineDimExpr():
            return 0, ((expr.position, 1),)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, lhs, rhs):
            a, b = flatten(lhs), flatten(rhs)
            if a is None or b is None:
                return None
            merged = dict(a[1])
            for dim, c in b[1]:
                merged[dim] = merged.get(dim, 0) + c
            return a[0] + b[0], tuple(sorted((d, c) for d, c in merged.items() if c))
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, lhs, rhs):
            a, b = flatten(lhs), flatten(rhs)
            if a is None or b is None:
                return None
            if a[1] and b[1]:
                return None
            factor, (const, terms) = (b[0], a) if a[1] else (a[0], b)
            return const * factor, tuple((d, c * factor) for d, c in terms if c * factor)
        case _:
            return None


def substitute(result: tuple[int, tuple[tuple[int, int], ...]], dims: Sequence[Lin]) -> Lin:
    """A flattened map result with its dims replaced."""
    const, terms = result
    if const == 0 and len(terms) == 1 and terms[0][1] == 1:
        return dims[terms[0][0]]
    total = Lin(const)
    for dim, c in terms:
        total = total + dims[dim] * c
    return total
