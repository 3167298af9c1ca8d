"""Programs for every StableHLO and CHLO op, drawn from decisions: an op, an element type, shapes and values.

`DRAWS` maps an op's name to what draws programs for it; the families are in the files beside this.
"""

from __future__ import annotations

from tiree.testing.conformance.draws.composed import COMPOSED
from tiree.testing.conformance.draws.contractions import CONTRACTIONS
from tiree.testing.conformance.draws.control import CONTROL
from tiree.testing.conformance.draws.elementwise import ELEMENTWISE
from tiree.testing.conformance.draws.movement import MOVEMENT
from tiree.testing.conformance.draws.program import Draw, Drawn, Entry
from tiree.testing.conformance.draws.reductions import REDUCTIONS

__all__ = ["DRAWS", "Draw", "Drawn", "Entry"]

DRAWS: dict[str, Entry] = dict(
    sorted({**ELEMENTWISE, **MOVEMENT, **REDUCTIONS, **CONTRACTIONS, **CONTROL, **COMPOSED}.items())
)
