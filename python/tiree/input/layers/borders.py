"""Where a run of equal layers is cut: between operations at which all that goes on has to be in memory anyway.

A cut keeps the flow stage from fusing across it. So the values that cross it must be ones that no consumer takes in:
what a contraction reads, or what ends a contraction's dispatch and starts the one of a reduction. A run without such a
place is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from xdsl.ir import Operation, SSAValue

from tiree.input.layers.runs import Run
from tiree.input.layers.tokens import reads
from tiree.support.typed import is_tensor_type, operands_of

_MATRIX_LIKE = frozenset(("stablehlo.convolution", "stablehlo.dot", "stablehlo.dot_general"))
_REDUCTIONS = frozenset(("stablehlo.reduce",))
_MOVING = frozenset(f"stablehlo.{name}" for name in ("broadcast_in_dim", "reverse", "sort", "transpose"))
_STEPS = 12
_MOST_CROSSING = 4


class Dataflow:
    """Who reads what in one block."""

    def __init__(self, ops: Sequence[Operation]) -> None:
        self.ops = ops
        self._places = {id(op): index for index, op in enumerate(ops)}
        """By identity, as `ops` keeps them alive."""
        self.reads = [reads(op) for op in ops]
        place = self._places.get
        self.sources = [tuple([place(id(value.owner), -1) for value in values]) for values in self.reads]
        """The place of what makes each value that is read; -1: something before the block or around it."""
        self.is_constant: list[bool] = []
        """Whether the operation depends on nothing."""
        for op, sources in zip(ops, self.sources, strict=True):
            known = op.name in ("stablehlo.constant", "stablehlo.iota")
            known = known or (bool(sources) and all(source >= 0 and self.is_constant[source] for source in sources))
            self.is_constant.append(known)

    def place(self, op: Operation) -> int | None:
        """The place of `op`; None where it is not in the block itself."""
        return self._places.get(id(op))

    def source(self, value: SSAValue) -> int:
        return self._places.get(id(value.owner), -1)


def best_cut(flow: Dataflow, run: Run) -> int | None:
    """The place in the first period before which to cut, there and one or more periods on; None: there is none."""
    start, end, period = run
    middle = start + period * ((end - start) // period // 2)
    crossing: list[dict[SSAValue, None]] = [{} for _ in range(period)]
    for user in range(middle, min(middle + 2 * period, end)):
        for value, source in zip(flow.reads[user], flow.sources[user], strict=True):
            if source < start or flow.is_constant[source]:
                continue
            # Cuts at source + 1 to user, of those in the middle period that are at most one period before the user.
            for cut in range(max(source + 1, user - period + 1, middle), min(user + 1, middle + period)):
                crossing[cut - middle][value] = None
    order = sorted(range(period), key=lambda offset: (len(crossing[offset]), offset))
    for offset in order:
        values = crossing[offset]
        if not 0 < len(values) <= _MOST_CROSSING:
            continue
        if all(_is_in_memory(flow, value, middle + offset, period) for value in values):
            return start + offset
    return None


def _is_in_memory(flow: Dataflow, value: SSAValue, cut: int, period: int) -> bool:
    users = (flow.place(use.operation) for use in value.uses)
    after = [user for user in users if user is not None and cut <= user < cut + period]
    if any(flow.ops[user].name in _MATRIX_LIKE for user in after):
        return True
    return _ends_contraction(flow, value) and any(_starts_reduction(flow, user) for user in after)


def _same_shape(value: SSAValue, other: SSAValue) -> bool:
    a, b = value.type, other.type
    return is_tensor_type(a) and is_tensor_type(b) and a.get_shape() == b.get_shape()


def _ends_contraction(flow: Dataflow, value: SSAValue) -> bool:
    """Whether `value` is elementwise of what a contraction gives."""
    pending = [value]
    for current in pending:
        place = flow.source(current)
        if place < 0:
            continue
        op = flow.ops[place]
        if op.name in _MATRIX_LIKE:
            return True
        if op.regions or not (_is_elementwise(op) or op.name == "stablehlo.reshape"):
            continue
        pending.extend(operands_of(op)[: _STEPS - len(pending)])
    return False


def _is_elementwise(op: Operation) -> bool:
    """Whether all operands have the shape of the one result, and nothing is moved."""
    operands = operands_of(op)
    if op.name in _MOVING or op.regions or not operands or len(op.results) != 1:
        return False
    return all(_same_shape(op.results[0], one) for one in operands)


def _starts_reduction(flow: Dataflow, place: int) -> bool:
    """Whether the operation at `place`, or what is elementwise of it, is a reduction."""
    pending = [place]
    for current in pending:
        op = flow.ops[current]
        if op.name in _REDUCTIONS:
            return True
        if _is_elementwise(op):
            pending.extend(islice(_users(flow, op), _STEPS - len(pending)))
    return False


def _users(flow: Dataflow, op: Operation) -> Iterator[int]:
    for result in op.results:
        for use in result.uses:
            place = flow.place(use.operation)
            if place is not None:
                yield place
