"""A nest whose tiles keep finished sums in scratch, so that what follows them is emitted for one row, not for all.

What follows a sum (scale, bias, activation, residual) takes more code than the sum itself when it is written out for
every element of a register tile. Where the sums are long, going through scratch takes no time that can be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from tiree.codegen.common.builder import Buffer, element_of, lanes_of
from tiree.codegen.common.evaluate import Evaluator
from tiree.codegen.common.linear import ZERO, Lin
from tiree.codegen.common.points import Point
from tiree.codegen.cpu.contraction_form import Contraction, contraction_of, stages_sums
from tiree.codegen.cpu.nest import Loop, Nest
from tiree.codegen.cpu.stages import Stage

LEAST_ROWS = 4


def staged_contraction(stage: Stage, loops: Sequence[Loop]) -> Contraction | None:
    """The contraction of a stage that gains from `StagedNest`."""
    if not loops or loops[-1].width < 2 or max((loop.tile for loop in loops[:-1]), default=1) < LEAST_ROWS:
        return None
    c = contraction_of(stage)
    return c if c is not None and stages_sums(c) else None


class StagedNest(Nest):
    """See the module's docstring. `c` is the contraction of the stage that the nest computes."""

    def __init__(
        self,
        ev: Evaluator,
        loops: Sequence[Loop],
        rank: int,
        body: Callable[[list[Point]], None],
        masked_tail: bool,
        one_tail: bool,
        c: Contraction,
    ) -> None:
        super().__init__(ev, loops, rank, body, masked_tail, one_tail=one_tail)
        self.c = c
        self.scratch: Buffer | None = None

    def emit(self, chosen: list[list[Lin]], masks: Sequence[SSAValue | None]) -> None:
        tiled = [k for k, indices in enumerate(chosen[:-1]) if len(indices) > 1]
        if len(tiled) != 1 or len(chosen[tiled[0]]) < LEAST_ROWS or not self.ev.width:
            super().emit(chosen, masks)
            return
        (k,) = tiled
        b, node, width = self.b, self.c.node, self.ev.width
        points = self.tile_points(chosen, masks)
        sums = [self.ev.ssa(value) for value in self.ev.values(node, [self.sum_point(p) for p in points])]
        if any(lanes_of(value) != width or element_of(value) != node.element for value in sums):
            self.body(points)
            return
        scratch = self.buffer()
        for n, value in enumerate(sums):
            b.store_vector(scratch, Lin(n * width), value)
        b.wrote(scratch)
        rows, vectors = chosen[k], len(chosen[-1])
        loop = b.begin_for(0, len(rows), 1)
        row = Lin.of(loop.sym)
        points = self.tile_points([*chosen[:k], [rows[0] + row], *chosen[k + 1 :]], masks)
        for n, point in enumerate(points):
            value = b.load_vector(scratch, row * (vectors * width) + n * width, width)
            self.ev.provide(node, self.sum_point(point), value)
        self.body(points)
        b.end_for(loop)

    def buffer(self) -> Buffer:
        """Scratch for the sums of the largest tile."""
        if self.scratch is None:
            count = 1
            for loop in self.loops:
                count *= loop.tile
            rest = self.loops[-1]
            self.scratch = self.b.alloca(self.c.node.element, count + rest.width)
        return self.scratch

    def sum_point(self, point: Point) -> Point:
        """The sum that the point of the stage reads."""
        dims = [self.c.domain[d] for d in self.c.generic.output_map(0).bare_dims]
        return Point(tuple(ZERO if dim is None else point.idx[dim] for dim in dims), point.mask)
