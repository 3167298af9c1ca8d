"""The extents of loops, as the tensors that are read along them give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir.affine import AffineDimExpr, AffineMap

Size = TypeVar("Size")


def sizes_of_loops(
    shape: Sequence[int], reads: Sequence[tuple[AffineMap, Sequence[Size] | None]]
) -> list[int | Size] | None:
    """A size for each loop: that of `shape` where it is a number, else that of a tensor (`reads` has maps and sizes)
    that a bare loop indexes. None where a loop has neither."""
    found: dict[int, int | Size] = {dim: extent for dim, extent in enumerate(shape) if extent != DYNAMIC_INDEX}
    for map, sizes in reads:
        for expr, size in zip(map.results, sizes or (), strict=False):
            if isinstance(expr, AffineDimExpr):
                found.setdefault(expr.position, size)
    return [found[dim] for dim in range(len(shape))] if len(found) == len(shape) else None
