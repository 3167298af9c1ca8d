"""StableHLO and CHLO ops that are written as others: batch_norm, scan, ragged_dot, collectives of one device, ...

An expansion is a function of a `Build`, which makes ops before the one that is replaced, and of that op; it returns
what stands for the results, or None where the op is to stay as it is. What it makes may be shorter than StableHLO's
rules allow (a rank-0 operand beside a larger one): nothing but the lowering to linalg reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from tiree.input.expansions import (
    asynchronous,
    batch_norm,
    broadcasting,
    carried_types,
    collectives,
    dot_algorithm,
    dynamic_random_bits,
    einsum,
    ragged_dot,
    random_bits,
    random_numbers,
    scan,
    wider_bodies,
)
from tiree.input.expansions.build import Build

Expansion = Callable[[Build, Operation], Sequence[SSAValue] | None]

EXPANSIONS: dict[str, Expansion] = {
    **asynchronous.EXPANSIONS,
    **batch_norm.EXPANSIONS,
    **broadcasting.EXPANSIONS,
    **carried_types.EXPANSIONS,
    **collectives.EXPANSIONS,
    **dot_algorithm.EXPANSIONS,
    **dynamic_random_bits.EXPANSIONS,
    **einsum.EXPANSIONS,
    **ragged_dot.EXPANSIONS,
    **random_bits.EXPANSIONS,
    **random_numbers.EXPANSIONS,
    **scan.EXPANSIONS,
    **wider_bodies.EXPANSIONS,
}
