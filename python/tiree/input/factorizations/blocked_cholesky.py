"""Cholesky factors of large matrices: a panel of columns at a time, then its products taken off what stands behind it.

A panel is one workgroup's; behind it each workgroup has a tile of columns. In the panel the rows below its square are
solved for side by side, in vectors along them.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i32

from tiree.input.factorizations.arrays import Array
from tiree.input.factorizations.batches import Shape, element_of, zeros_of
from tiree.input.factorizations.blocked import TILE, TILE_BYTES, Blocks, Part, subtract_products
from tiree.input.factorizations.kernel import LoopKernel, Num, Value
from tiree.input.lowering.context import Lowering
from tiree.input.lowering.dims import product

LARGE = 192
"""More rows than this are factored in panels."""


def factor_lower(lowering: Lowering, a: Value, shape: Shape, nans: bool) -> tuple[Value, Value]:
    """As `cholesky.factor`, of lower triangles."""
    count, n, _ = shape
    element = element_of(a)
    blocks = Blocks.of(n, element.bitwidth // 8 * (2 if isinstance(a, tuple) else 1))
    info: Value = zeros_of(lowering, i32, [count, 1])
    tiles = -(-n // blocks.tile)
    for first in range(0, n, blocks.panel):
        start = lowering.constant_index(first)
        k = LoopKernel(lowering, count, element)
        low = k.scalar_input(start)
        matrix, failed = k.changed_input(a), k.changed_input(info)
        panel = low, (low + blocks.panel).least(n)
        _factor_panel(k, Part(matrix, k.workgroup), failed, panel, blocks)
        a, info = k.run()
        if first + blocks.panel >= n:
            break
        k = LoopKernel(lowering, product(lowering, [count, tiles]), element)
        low = k.scalar_input(start)
        matrix = Part(k.changed_input(a), k.workgroup.quotient(tiles))
        left = k.workgroup.remainder(tiles) * blocks.tile
        panel = low, (low + blocks.panel).least(n)
        _update_tile(k, matrix, panel, (left.most(panel[1]), (left + blocks.tile).least(n)), blocks)
        a = k.run()[0]
    return (_finished(lowering, a, info, shape) if nans else a), info


def _factor_panel(k: LoopKernel, a: Part, failed: Array, panel: tuple[Num, Num], blocks: Blocks) -> None:
    (low, high), number = panel, k.workgroup
    with k.loop(low, high) as i:
        with k.loop(low, i) as j:
            rest = k.sum(low, j, lambda p, j=j: a[i, p] * a[j, p].conj(), complex=a.is_complex)
            a[i, j] = (a[i, j] - rest) / a[j, j].real
        square = a[i, i].real - k.sum(low, i, lambda p: a[i, p].abs2())
        fails = ~(square > 0.0) & failed[number, 0].eq(0)
        failed[number, 0] = k.where(fails, (i + 1).to_type(i32), failed[number, 0])
        a[i, i] = square.sqrt()
    n, tile = a.shape[0], blocks.tile
    rows = k.scratch([blocks.panel, tile], complex=a.is_complex, stack=TILE_BYTES * 2)
    with k.loop(0, (n - high + (tile - 1)).quotient(tile)) as block:
        first = high + block * tile
        _solve_rows(k, a, rows, panel, (first, (first + tile).least(n)))


def _solve_rows(k: LoopKernel, a: Part, rows: Array, panel: tuple[Num, Num], block: tuple[Num, Num]) -> None:
    """The rows of a block in the columns of the panel; `rows` holds them as columns."""
    (low, high), (first, end) = panel, block
    width = end - first
    with k.loop(0, width) as r, k.loop(0, high - low) as j:
        rows[j, r] = a[first + r, low + j]
    with k.loop(0, high - low) as j:
        with k.loop(0, j) as p:
            factor = a[low + j, low + p].conj()
            with k.loop(0, width) as r:
                rows[j, r] = rows[j, r] - rows[p, r] * factor
        pivot = a[low + j, low + j].real
        with k.loop(0, width) as r:
            rows[j, r] = rows[j, r] / pivot
    with k.loop(0, width) as r, k.loop(0, high - low) as j:
        a[first + r, low + j] = rows[j, r]


def _update_tile(k: LoopKernel, a: Part, panel: tuple[Num, Num], tile: tuple[Num, Num], blocks: Blocks) -> None:
    """Takes the products of the panel off the columns of a tile, from the diagonal on."""
    (low, high), (left, right) = panel, tile
    with k.when(left < right):
        u = k.scratch([blocks.panel, blocks.tile], complex=a.is_complex, stack=TILE_BYTES * 2)
        with k.loop(0, right - left) as j, k.loop(0, high - low) as q:
            u[q, j] = a[left + j, low + q].conj()
        with k.loop(left, right) as r:
            subtract_products(k, (a, a), (r, r + 1), panel, u, (left, r + 1))
        subtract_products(k, (a, a), (right, a.shape[0]), panel, u, tile)


def _finished(lowering: Lowering, a: Value, info: Value, shape: Shape) -> Value:
    """The factors with zeros in the other triangle, and NaN all over where one failed."""
    count, n, _ = shape
    blocks = -(-n // TILE)
    k = LoopKernel(lowering, product(lowering, [count, blocks]), element_of(a))
    number, first = k.workgroup.quotient(blocks), k.workgroup.remainder(blocks) * TILE
    source, failed = Part(k.whole_input(a), number), k.whole_input(info)
    result = Part(k.shared_output(shape, complex=source.is_complex), number)
    nan = k.number(float("nan"))
    bad = k.complex(nan, nan) if source.is_complex else nan
    with k.loop(first, (first + TILE).least(n)) as i, k.loop(0, n) as j:
        good = k.where(j <= i, source[i, j], 0.0)
        result[i, j] = k.where(failed[number, 0].ne(0), bad, good)
    return k.run()[0]
