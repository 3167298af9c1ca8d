"""The fusion cost model: what one evaluation of a body costs, and when repeating it is cheaper than storing its
result.

Costs are in units of one vector add. A store and a load of an element that leaves the registers cost about four,
so:

* *free* bodies (0) move or widen data; they may enter any consumer, however often it reads them;
* *cheap* bodies (at most `CHEAP`) may be repeated by a consumer with a larger space or by several consumers, as
  long as at most one of their inputs is as large as their result (reading two tensors again costs more than the one
  stored);
* anything else (division, roots, exp, gathers) is evaluated once: it fuses only where every element is read once.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from tiree.dialects.arith import WIDENING
from tiree.flow.structured import body_of, element_count, element_type_of, inits_of, inputs_of, is_tensor

CHEAP = 2
MAX_COPIES = 4
"""The most consumers that each get their own copy of a cheap producer."""

MAX_REDUCTIONS = 16
"""The most reductions in one dispatch. Each reads its row anew and may compute again what lies before it, so that the
work in a dispatch grows with the square of their number; softmax, normalisation and attention have two or three."""

_POSITION_STEPS = 8

MAX_BINDINGS = 24
"""The most tensors that fusion lets one dispatch read and write; an executable may have 64 at most."""

_FREE = frozenset(
    (
        *WIDENING, "linalg.yield", "linalg.index", "arith.constant", "arith.index_cast", "complex.re", "complex.im",
        "complex.create", "complex.constant",
    )
)  # fmt: skip
_EXPENSIVE = {
    "arith.divf": 8,
    "arith.divsi": 20,
    "arith.divui": 20,
    "arith.remf": 20,
    "arith.remsi": 20,
    "arith.remui": 20,
    "math.sqrt": 8,
    "math.rsqrt": 8,
    "math.absf": 1,
    "math.absi": 1,
    "math.floor": 1,
    "math.ceil": 1,
    "math.roundeven": 1,
    "math.trunc": 1,
    "math.fma": 1,
    "math.copysign": 1,
    "complex.add": 2,
    "complex.sub": 2,
    "complex.neg": 2,
    "complex.conj": 1,
    "complex.mul": 6,
    "tensor.extract": 8,
}


def body_cost(op: Operation, limit: int | None = None) -> int:
    """The cost of one evaluation of the body of a structured op; counting stops above `limit`."""
    cost = 0
    for inner in body_of(op).ops:
        if inner.name not in _FREE:
            cost += _EXPENSIVE.get(inner.name, 16 if inner.name.startswith(("math.", "complex.")) else 1)
            if limit is not None and cost > limit:
                break
    return cost


def is_free(op: Operation) -> bool:
    """Whether the body only moves data or widens it (no arithmetic, no gather)."""
    return body_cost(op, 0) == 0


def only_widens(op: Operation) -> bool:
    """Whether the body gives the element that it reads a wider type, or the element itself."""
    return all(inner.name in WIDENING or inner.name == "linalg.yield" for inner in body_of(op).ops)


def is_cheap(op: Operation) -> bool:
    """Whether evaluating `op` again costs less than loading its stored result."""
    if body_cost(op, CHEAP) > CHEAP:
        return False
    size = max((element_count(init) for init in inits_of(op)), default=1)
    large = sum(1 for value in inputs_of(op) if is_tensor(value) and element_count(value) * 2 > size)
    return large <= 1


def computes_positions(op: Operation) -> bool:
    """Whether `op` only makes integers, in a few steps: positions for a gather, which costs more than they do."""
    few = all(isinstance(element_type_of(result), IntegerType) for result in op.results)
    return few and body_cost(op, _POSITION_STEPS) <= _POSITION_STEPS


def gathers(op: Operation) -> bool:
    return any(inner.name == "tensor.extract" for inner in body_of(op).ops)
