"""Finds attention in fused generics, from its second contraction back (see `raise_attention.py`).

Dimensions of tensors are followed by labels: the loops of that contraction, and one more for the products of scores.
Dimensions of size one have none, whatever indexes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isinf

from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from tiree.dialects.arith import constant_of
from tiree.dialects.dense import DenseAttr, decode_scalar
from tiree.flow.attention_scores import ScoreChain, read_scores
from tiree.flow.structured import (
    body_of,
    input_count,
    is_elementwise,
    is_generic,
    iterators_of,
    maps_of,
    shape_of,
    yielded,
)
from tiree.support.typed import is_float_attr, tensor_type

UNIT = -1
"""The label of a dimension of size one."""
_CASTS = ("arith.extf", "arith.truncf")

Labels = tuple[int, ...]
"""The loop of the attention that each dimension of a tensor runs along."""


@dataclass
class Found:
    """An attention in the program."""

    value: SSAValue
    value_labels: Labels
    output_labels: Labels
    weighted: Operation
    steps: list[Operation] = field(default_factory=list[Operation])
    """What becomes unused, from the last to the first."""
    scores: ScoreChain | None = None
    score_labels: Labels = ()
    query: SSAValue | None = None
    key: SSAValue | None = None
    query_labels: Labels = ()
    key_labels: Labels = ()
    loops: int = 0


def source(value: SSAValue) -> SSAValue:
    """`value` before casts between floats."""
    while isinstance(value.owner, Operation) and value.owner.name in _CASTS:
        value = value.owner.operands[0]
    return value


def _operand(op: Operation, value: SSAValue) -> int | None:
    """The number of the input that a value of a body is, apart from casts."""
    value = source(value)
    if isinstance(value, BlockArgument) and value.owner is body_of(op) and value.index < input_count(op):
        return value.index
    return None


def _made_by(value: SSAValue, name: str) -> Operation | None:
    """The op of that name that makes a value of a body, apart from casts."""
    owner = source(value).owner
    return owner if isinstance(owner, Operation) and owner.name == name else None


def _generic(value: SSAValue, block: Block | None) -> Operation | None:
    """The generic of one result in `block` that makes a tensor."""
    op = value.owner
    if not isinstance(op, Operation) or not is_generic(op) or op.parent is not block or len(op.results) != 1:
        return None
    return op


def _users(value: SSAValue) -> set[Operation]:
    return {use.operation for use in value.uses}


def _start_of(op: Operation) -> float | None:
    """The number that a reduction starts from."""
    init = op.operands[-1].owner
    attr = constant_of(init.operands[0]) if isinstance(init, Operation) and init.name == "linalg.fill" else None
    if attr is None:
        attr = constant_of(op.operands[-1])
    if isinstance(attr, DenseAttr) and attr.is_splat:
        return float(decode_scalar(attr.element_type, bytes(attr.buffer)))
    return float(attr.value.data) if is_float_attr(attr) else None


def dims_of(op: Operation, number: int) -> list[int | None] | None:
    """The loop of each dimension of operand `number`, None for dimensions of size one; None where it is indexed in
    another way."""
    dims: list[int | None] = []
    for expr, size in zip(maps_of(op)[number].results, shape_of(op.operands[number]), strict=True):
        if size == 1:
            dims.append(None)
        elif isinstance(expr, AffineDimExpr) and expr.position not in dims:
            dims.append(expr.position)
        else:
            return None
    return dims


def _loops_by(op: Operation, number: int, labels: Labels) -> dict[int, int] | None:
    """The label of each loop that operand `number` is indexed by."""
    dims = dims_of(op, number)
    if dims is None or len(dims) != len(labels):
        return None
    return {d: label for d, label in zip(dims, labels, strict=True) if d is not None}


def labels_of(op: Operation, number: int, loops: dict[int, int]) -> Labels | None:
    """The labels of operand `number`."""
    dims = dims_of(op, number)
    if dims is None or any(d is not None and d not in loops for d in dims):
        return None
    return tuple(UNIT if d is None else loops[d] for d in dims)


def _folded(op: Operation, combine: str) -> SSAValue | None:
    """What a reduction of one input combines with its accumulator by op `combine`, if it does nothing else."""
    if input_count(op) != 1 or all(iterators_of(op)) or len(op.results) != 1:
        return None
    made = _made_by(yielded(op)[0], combine)
    if made is None:
        return None
    accumulator = body_of(op).args[-1]
    rest = [value for value in made.operands if source(value) is not accumulator]
    return rest[0] if len(rest) == 1 and _operand(op, rest[0]) == 0 else None


def _is_contraction(op: Operation) -> bool:
    """Whether `op` sums products of its two inputs from zero on."""
    if input_count(op) != 2 or len(op.results) != 1 or all(iterators_of(op)) or _start_of(op) != 0:
        return False
    total = _made_by(yielded(op)[0], "arith.addf")
    if total is None:
        return False
    accumulator = body_of(op).args[-1]
    rest = [value for value in total.operands if source(value) is not accumulator]
    product = _made_by(rest[0], "arith.mulf") if len(rest) == 1 else None
    return product is not None and {_operand(op, value) for value in product.operands} == {0, 1}


class Matcher:
    """Finds the attention that ends in contraction `weighted`."""

    def __init__(self, weighted: Operation) -> None:
        self.weighted = weighted
        self.block = weighted.parent
        self.keys: frozenset[int] = frozenset()

    def match(self) -> Found | None:
        op = self.weighted
        if not _is_contraction(op):
            return None
        loops = {d: d for d in range(len(iterators_of(op)))}
        self.keys = frozenset(d for d, parallel in enumerate(iterators_of(op)) if not parallel)
        labels = [labels_of(op, number, loops) for number in range(3)]
        for number in (0, 1):
            powers, value, output = labels[number], labels[1 - number], labels[2]
            if powers is None or value is None or output is None:
                return None
            found = Found(op.operands[1 - number], value, output, op, [op], loops=len(loops))
            if self._quotients(found, op.operands[number], powers):
                return found
        return None

    def _quotients(self, found: Found, value: SSAValue, labels: Labels) -> bool:
        """P = E / sum(E)."""
        op = _generic(value, self.block)
        if op is None or not is_elementwise(op) or _users(value) != {self.weighted}:
            return False
        division = _made_by(yielded(op)[0], "arith.divf")
        loops = _loops_by(op, input_count(op), labels)
        if division is None or loops is None:
            return False
        above, below = (_operand(op, one) for one in division.operands)
        if above is None or below is None or input_count(op) != 2:
            return False
        tops, sums = labels_of(op, above, loops), labels_of(op, below, loops)
        total = _generic(op.operands[below], self.block)
        if tops is None or sums is None or total is None or _users(op.operands[below]) != {op}:
            return False
        if not self._reduces(total, "arith.addf", 0.0, op.operands[above], tops, sums):
            return False
        if _users(op.operands[above]) != {op, total}:
            return False
        found.steps += [op, total]
        return self._powers(found, op.operands[above], tops)

    def _reduces(
        self, op: Operation, combine: str, start: float, value: SSAValue, labels: Labels, result: Labels
    ) -> bool:
        """Whether `op` combines `value` over the keys."""
        if _folded(op, combine) is None or op.operands[0] is not value or _start_of(op) != start:
            return False
        loops = _loops_by(op, 0, labels)
        if loops is None:
            return False
        reduced = frozenset(loops.get(d, UNIT) for d, parallel in enumerate(iterators_of(op)) if not parallel)
        return reduced == self.keys and labels_of(op, 1, loops) == result

    def _powers(self, found: Found, value: SSAValue, labels: Labels) -> bool:
        """E = exp(S - max(S))."""
        op = _generic(value, self.block)
        if op is None or not is_elementwise(op) or input_count(op) != 2:
            return False
        power = _made_by(yielded(op)[0], "math.exp")
        difference = _made_by(power.operands[0], "arith.subf") if power is not None else None
        loops = _loops_by(op, 2, labels)
        if difference is None or loops is None:
            return False
        score, top = _operand(op, difference.operands[0]), _operand(op, _without_floor(difference.operands[1]))
        if score is None or top is None:
            return False
        scores, tops = labels_of(op, score, loops), labels_of(op, top, loops)
        largest = _generic(op.operands[top], self.block)
        if scores is None or tops is None or largest is None or _users(op.operands[top]) != {op}:
            return False
        floors = [largest] if is_elementwise(largest) else []
        if floors:
            # The floor as an op of its own.
            loops = _loops_by(largest, input_count(largest), tops)
            inner = _operand(largest, _without_floor(yielded(largest)[0]))
            tops = None if inner is None or loops is None else labels_of(largest, inner, loops)
            if inner is None or tops is None or _users(largest.operands[inner]) != {largest}:
                return False
            largest = _generic(largest.operands[inner], self.block)
            if largest is None:
                return False
        if not self._reduces(largest, "arith.maximumf", -float("inf"), op.operands[score], scores, tops):
            return False
        if _users(op.operands[score]) != {op, largest}:
            return False
        found.steps += [op, *floors, largest]
        return self._scores(found, op.operands[score], scores)

    def _scores(self, found: Found, value: SSAValue, labels: Labels) -> bool:
        """S = scale (Q K) + mask."""
        op = _generic(value, self.block)
        if op is None:
            return False
        if is_elementwise(op):
            chain = read_scores(op)
            loops = _loops_by(op, input_count(op), labels)
            if chain is None or loops is None:
                return False
            found.scores, found.score_labels = chain, tuple(loops.get(d, UNIT) for d in range(len(iterators_of(op))))
            found.steps.append(op)
            product, inner = op.operands[chain.product], labels_of(op, chain.product, loops)
            if inner is None or _users(product) != {op}:
                return False
            value, labels, op = product, inner, _generic(product, self.block)
        if op is None or not _is_contraction(op) or tensor_type(value).element_type.name == "f16":
            return False
        loops = _loops_by(op, 2, labels)
        if loops is None:
            return False
        for d, parallel in enumerate(iterators_of(op)):
            if not parallel:
                loops[d] = found.loops
                found.loops += 1
        found.steps.append(op)
        return self._factors(found, op, loops)

    def _factors(self, found: Found, op: Operation, loops: dict[int, int]) -> bool:
        for number in (0, 1):
            query, key = labels_of(op, number, loops), labels_of(op, 1 - number, loops)
            if query is None or key is None:
                return False
            if self.keys <= set(key) and not self.keys & set(query):
                found.query, found.key = op.operands[number], op.operands[1 - number]
                found.query_labels, found.key_labels = query, key
                return True
        return False


def _without_floor(value: SSAValue) -> SSAValue:
    """A maximum without the minus infinity that it is at least."""
    made = _made_by(value, "arith.maximumf")
    if made is None:
        return value
    for number, one in enumerate(made.operands):
        attr = constant_of(source(one))
        if is_float_attr(attr) and isinf(attr.value.data) and attr.value.data < 0:
            return made.operands[1 - number]
    return value
