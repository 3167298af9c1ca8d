"""rng and rng_bit_generator."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType
from xdsl.ir import Operation

from tiree.dialects.stablehlo_attrs import RngAlgorithmAttr, RngDistributionAttr
from tiree.input.checks.values import (
    constant,
    element,
    kind,
    need,
    need_element,
    need_same_type,
    need_scalar,
    need_shape,
    same_shape,
    shape,
    tensor,
    text,
)
from tiree.scalars.builder import inherent


def _rng(op: Operation) -> None:
    low, high, sizes = op.operands
    for value in (low, high):
        need_scalar(value, "a parameter of the distribution")
        need_element(op, value)
    distribution = inherent(op, "rng_distribution")
    if isinstance(distribution, RngDistributionAttr) and distribution.data == "NORMAL":
        need(kind(low) == "f", f"normal numbers are floats; here they are of type {element(low)}")
    rank = len(shape(op.results[0]))
    fitting = same_shape(shape(sizes), (rank,)) and kind(sizes) == "i"
    need(fitting, f"its shape must be a tensor of {rank} integers; it is {tensor(sizes)}")
    known = constant(sizes)
    need_shape(op, (DYNAMIC_INDEX,) * rank if known is None else known)


_STATES = {"THREE_FRY": (2,), "PHILOX": (2, 3)}
"""How many words of state an algorithm has. What DEFAULT has is the implementation's choice."""


def _rng_bit_generator(op: Operation) -> None:
    algorithm = inherent(op, "rng_algorithm")
    state = shape(op.operands[0])
    need_same_type(op.operands[0], op.results[0], "the states before and after")
    # A boolean is no integer to StableHLO.
    fitting = kind(op.results[1]) in ("i", "f") and not isinstance(element(op.results[1]), IndexType)
    need(fitting, f"its output is {tensor(op.results[1])}; it needs elements that are integers (not i1) or floats")
    sizes = _STATES.get(algorithm.data) if isinstance(algorithm, RngAlgorithmAttr) else None
    if sizes is not None and DYNAMIC_INDEX not in state:
        needed = " or ".join(map(str, sizes))
        need(len(state) == 1 and state[0] in sizes, f"its state has the shape {text(state)}; it needs {needed} words")


CHECKS = {"stablehlo.rng": _rng, "stablehlo.rng_bit_generator": _rng_bit_generator}
