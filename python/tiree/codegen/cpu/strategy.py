"""What a strategy is: it recognises a dispatch, decides how to run it, and emits its kernel.

`match` looks only (it must be cheap: all strategies are asked in order) and returns whatever `lower` needs, or None.
`lower` emits the body into a fresh `KernelBuilder` and returns a `Kernel`. A strategy keeps no state: the name recorded
by the configuration pass is enough to match and lower again.

A hand-written inner kernel reuses the rest: `Evaluator.buffer` gives the memory of a load, `Evaluator.provide` hands
the accumulators over as the value of the contraction's node at a point, and `write_outputs` (emit.py) then computes and
stores whatever follows it in the dispatch. `Nest` (nest.py) makes loops, remainders and the split over workgroups.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from tiree.codegen.common.builder import KernelBuilder
from tiree.codegen.common.graph import DispatchInfo, TableRef
from tiree.support.cpu_target import TargetDescription


@dataclass
class Kernel:
    """A lowered dispatch: its body (`builder.entry`, without terminator), grid, and read-only tables."""

    builder: KernelBuilder
    workgroups: tuple[int, int, int] = (1, 1, 1)
    tables: list[TableRef] = field(default_factory=list[TableRef])


class Strategy(Protocol):
    """One way of running dispatches."""

    @property
    def name(self) -> str:
        """The name that `--tiree-report` and the `tiree.strategy` attribute show."""
        ...

    def match(self, info: DispatchInfo, target: TargetDescription) -> Any | None:
        """A configuration when this strategy can run the dispatch well, else None."""
        ...

    def lower(self, info: DispatchInfo, config: Any, target: TargetDescription) -> Kernel:
        """Emits the kernel for a configuration that `match` returned."""
        ...


def workgroup_budget(cost: float, grain: float = 65536.0, most: int = 64) -> int:
    """How many workgroups work of `cost` (bytes moved, or their equivalent in arithmetic) deserves.

    Below one grain a dispatch stays in one workgroup and runs inline; `most` bounds the overhead of large ones while
    leaving several workgroups per worker for balance.
    """
    return max(1, min(most, int(cost / grain)))
