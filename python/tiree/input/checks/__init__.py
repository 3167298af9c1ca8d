"""Whether StableHLO ops are what their specification allows: shapes, element types, attributes and bodies.

The lowering may rely on it. Each check is a function of an op that raises `Wrong`; `CHECKS` maps op names to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.ir import Operation

from tiree.input.checks import (
    calls,
    chlo,
    collectives,
    contraction,
    dynamic,
    elementwise,
    factorizations,
    indexing,
    movement,
    norms,
    random,
    regions,
    rounding,
)
from tiree.input.checks.values import Skip, Wrong
from tiree.support.errors import Diagnostic
from tiree.support.locations import location_of

CHECKS: dict[str, Callable[[Operation], None]] = {
    **rounding.CHECKS,
    **elementwise.CHECKS,
    **movement.CHECKS,
    **contraction.CHECKS,
    **regions.CHECKS,
    **indexing.CHECKS,
    **norms.CHECKS,
    **factorizations.CHECKS,
    **calls.CHECKS,
    **chlo.CHECKS,
    **collectives.CHECKS,
    **dynamic.CHECKS,
    **random.CHECKS,
}


def wrong_ops(root: Operation, of: Callable[[Operation], bool] | None = None) -> Iterator[Diagnostic]:
    """A diagnostic for each operation below `root` (and `of`, if given) that breaks a rule, in program order."""
    for op in root.walk():
        check = CHECKS.get(op.name)
        if check is None or (of is not None and not of(op)):
            continue
        try:
            check(op)
        except Wrong as reason:
            yield Diagnostic(f"{op.name} is not valid: {reason}", location_of(op))
        except Skip:
            continue
