"""LU factors with row exchanges, as LAPACK's `getrf` gives them; of large matrices panel by panel."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, i32

from tiree.input.factorizations.arrays import Slice
from tiree.input.factorizations.batches import Shape, element_of, smaller, zeros_of
from tiree.input.factorizations.blocked import SMALL, TILE_BYTES, Blocks, Part, subtract_products
from tiree.input.factorizations.kernel import Array, LoopKernel, Num, Value
from tiree.input.lowering.context import Lowering, Size
from tiree.input.lowering.dims import product

Matrix = Array | Part | Slice


def _largest(k: LoopKernel, a: Matrix, column: Num) -> Num:
    """The row, from `column` on, of the largest element there; NaN is larger than nothing."""
    best, place = k.var(a[column, column].abs1()), k.var(column)
    with k.loop(column + 1, a.shape[0]) as r:
        size = a[r, column].abs1()
        larger = size > best.get()
        best.set(k.where(larger, size, best.get()))
        place.set(k.where(larger, r, place.get()))
    k.drop(best, place)
    return place.get()


def swap_rows(
    k: LoopKernel, a: Matrix, one: Num, other: Num, columns: tuple[Num | int, Num | int] | None = None
) -> None:
    """Exchanges two rows, or what they have in some columns."""
    with k.loop(*(columns or (0, a.shape[1]))) as j:
        kept = a[one, j]
        a[one, j] = a[other, j]
        a[other, j] = kept


def factor_in_place(k: LoopKernel, a: Array | Slice, pivots: Array | Slice, info: Array) -> None:
    """Replaces `a` by its factors: a unit lower triangle and an upper one.

    Row i was exchanged with row `pivots[i] - 1`. `info[0]` becomes the number, from 1 on, of the first pivot that is
    zero, or 0.
    """
    rows, columns = a.shape
    info[0] = k.number(0, i32)
    with k.loop(0, k.least(rows, columns)) as i:
        chosen = _largest(k, a, i)
        pivots[i] = (chosen + 1).to_type(i32)
        swap_rows(k, a, i, chosen)
        pivot = a[i, i]
        none = pivot.eq(0.0)
        info[0] = k.where(none & info[0].eq(0), (i + 1).to_type(i32), info[0])
        divisor = k.where(none, k.number(1.0), pivot)
        with k.loop(i + 1, rows) as r:
            factor = a[r, i] / divisor
            a[r, i] = factor
            with k.loop(i + 1, columns) as j:
                a[r, j] = a[r, j] - factor * a[i, j]


def factor(lowering: Lowering, a: Value, shape: tuple[Size, Size, Size]) -> list[Value]:
    """(factors, pivots, info) of matrices of `shape` (how many, rows, columns)."""
    count, rows, columns = shape
    if not isinstance(rows, int) or not isinstance(columns, int):
        return _factor_sized(lowering, a, shape)
    if min(rows, columns) > SMALL:
        return _factor_blocked(lowering, a, (count, rows, columns))
    k = LoopKernel(lowering, count, element_of(a))
    source = k.input(a)
    result = k.output([rows, columns], complex=source.is_complex)
    pivots, info = k.output([min(rows, columns)], i32), k.output([1], i32)
    k.copy(source, result)
    factor_in_place(k, result, pivots, info)
    return k.run()


def _factor_sized(lowering: Lowering, a: Value, shape: tuple[Size, Size, Size]) -> list[Value]:
    """As `factor`, of sizes that are known when the program runs."""
    count, rows, columns = shape
    k = LoopKernel(lowering, count, element_of(a))
    source, info = k.sized_input(a), k.output([1], i32)
    result = k.sized_output([rows, columns], complex=source.is_complex)
    pivots = k.sized_output([smaller(lowering, rows, columns)], i32)
    k.copy(source, result)
    factor_in_place(k, result, pivots, info)
    failed, factors, exchanged = k.run()
    return [factors, exchanged, failed]


def _factor_blocked(lowering: Lowering, a: Value, shape: Shape) -> list[Value]:
    """As `factor`: a panel at a time, then exchanges and products in the columns on both sides of it, in tiles."""
    count, rows, columns = shape
    size = min(rows, columns)
    element = element_of(a)
    is_complex = isinstance(a, tuple)
    blocks = Blocks.of(size, element.bitwidth // 8 * (2 if is_complex else 1))
    pivots: Value = zeros_of(lowering, i32, [count, size])
    info: Value = zeros_of(lowering, i32, [count, 1])
    for first in range(0, size, blocks.panel):
        start = lowering.constant_index(first)
        k = LoopKernel(lowering, count, element)
        low = k.scalar_input(start)
        matrix, found, failed = (k.changed_input(value) for value in (a, pivots, info))
        _factor_panel(k, Part(matrix, k.workgroup), found, failed, (low, (low + blocks.panel).least(size)))
        a, pivots, info = k.run()
        tiles = -(-columns // blocks.tile)
        k = LoopKernel(lowering, product(lowering, [count, tiles]), element)
        low, found = k.scalar_input(start), k.whole_input(pivots)
        matrix = Part(k.changed_input(a), k.workgroup.quotient(tiles))
        left = k.workgroup.remainder(tiles) * blocks.tile
        panel = low, (low + blocks.panel).least(size)
        _finish_tile(k, matrix, found, panel, (left, (left + blocks.tile).least(columns)), blocks)
        a = k.run()[0]
    return [a, pivots, info]


def _factor_panel(k: LoopKernel, a: Part, pivots: Array, info: Array, panel: tuple[Num, Num]) -> None:
    """As `factor_in_place`, in the columns of a panel and the rows from it on."""
    rows, number = a.shape[0], k.workgroup
    with k.loop(*panel) as i:
        chosen = _largest(k, a, i)
        pivots[number, i] = (chosen + 1).to_type(i32)
        swap_rows(k, a, i, chosen, panel)
        pivot = a[i, i]
        none = pivot.eq(0.0)
        info[number, 0] = k.where(none & info[number, 0].eq(0), (i + 1).to_type(i32), info[number, 0])
        divisor = k.where(none, k.number(1.0), pivot)
        with k.loop(i + 1, rows) as r:
            factor = a[r, i] / divisor
            a[r, i] = factor
            with k.loop(i + 1, panel[1]) as j:
                a[r, j] = a[r, j] - factor * a[i, j]


def _finish_tile(
    k: LoopKernel, a: Part, pivots: Array, panel: tuple[Num, Num], tile: tuple[Num, Num], blocks: Blocks
) -> None:
    """The exchanges of a panel in the columns of a tile; right of the panel also its part of U, and the products."""
    low, high = panel
    right = tile[0].most(high), tile[1]
    with k.loop(*panel) as i:
        other = pivots[a.number, i].to_type(IndexType()) - 1
        for columns in ((tile[0], tile[1].least(low)), right):
            swap_rows(k, a, i, other, columns)
    with k.when(right[0] < right[1]):
        u = k.scratch([blocks.panel, blocks.tile], complex=a.is_complex, stack=TILE_BYTES * 2)
        width = right[1] - right[0]
        with k.loop(0, high - low) as i:
            with k.loop(0, width) as j:
                u[i, j] = a[low + i, right[0] + j]
            with k.loop(0, i) as q:
                factor = a[low + i, low + q]
                with k.loop(0, width) as j:
                    u[i, j] = u[i, j] - factor * u[q, j]
            with k.loop(0, width) as j:
                a[low + i, right[0] + j] = u[i, j]
        subtract_products(k, (a, a), (high, a.shape[0]), panel, u, right)
