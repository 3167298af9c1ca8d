"""Parts of matrices for factorizations that go panel by panel: what one workgroup does, and in what blocks.

A blocked factorization is a dispatch for each panel of columns and one for what stands behind it. Behind a panel every
workgroup has a tile of columns of its own, so that it needs nothing that another one makes. Both are one kernel each
for all panels, which are told where the panel begins.
"""

from __future__ import annotations

from dataclasses import dataclass

from tiree.input.factorizations.kernel import Array, LoopKernel, Num

SMALL = 160
"""Up to so many columns a matrix is factored by one workgroup."""
PANEL = 32
"""Columns of a panel."""
TILE = 64
"""Columns that one workgroup has behind a panel."""
MOST_PANELS = 64
TILE_BYTES = 16 << 10
"""Of the rows of a panel in a tile, on the stack."""
TOGETHER = 8
"""Rows of a panel that are subtracted from another row at once."""


@dataclass(frozen=True)
class Blocks:
    """`panel` columns at a time, then tiles of `tile` columns."""

    panel: int
    tile: int

    @staticmethod
    def of(columns: int, bytes_: int) -> Blocks:
        """For so many columns to factor, of numbers of `bytes_` bytes."""
        panel = max(PANEL, -(-columns // MOST_PANELS // TOGETHER) * TOGETHER)
        tile = TILE
        while tile > 8 and panel * tile * bytes_ > TILE_BYTES:
            tile //= 2
        return Blocks(panel, tile)


@dataclass(frozen=True)
class Part:
    """Matrix number `number` of an array of several."""

    array: Array
    number: Num

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.array.part_shape
        return rows, columns

    @property
    def is_complex(self) -> bool:
        return self.array.is_complex

    def __getitem__(self, at: tuple[Num | int, Num | int]) -> Num:
        return self.array[(self.number, *at)]

    def __setitem__(self, at: tuple[Num | int, Num | int], value: Num | float) -> None:
        self.array[(self.number, *at)] = value


def subtract_products(
    k: LoopKernel,
    parts: tuple[Part, Part],
    rows: tuple[Num, Num | int],
    factors: tuple[Num, Num],
    u: Array,
    columns: tuple[Num, Num],
) -> None:
    """a[r, j] -= sum of v[r, q] u[q - q0, j - j0], over `factors` q0 <= q < q1 and `columns` j0 <= j < j1; `parts` are
    v and a."""
    v, a = parts
    (q0, q1), (j0, j1) = factors, columns
    whole = (q1 - q0).quotient(TOGETHER) * TOGETHER
    with k.loop(*rows) as r:
        with k.loop(0, whole, TOGETHER) as q:
            several = [v[r, q0 + q + n] for n in range(TOGETHER)]
            with k.loop(0, j1 - j0) as j:
                # The sum first: it is the smaller, and so is what rounding takes of it.
                total = several[0] * u[q, j]
                for n, factor in enumerate(several[1:], 1):
                    total = total + factor * u[q + n, j]
                a[r, j0 + j] = a[r, j0 + j] - total
        with k.loop(whole, q1 - q0) as q:
            factor = v[r, q0 + q]
            with k.loop(0, j1 - j0) as j:
                a[r, j0 + j] = a[r, j0 + j] - factor * u[q, j]
