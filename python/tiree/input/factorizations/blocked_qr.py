"""QR of large matrices: a panel of reflectors at a time, applied to tiles of columns as one product.

The reflectors of a panel are I - V T V^H, with V below the diagonal of the panel and T upper triangular. Each workgroup
applies them to a tile of columns of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tiree.input.factorizations.batches import Shape, element_of, zeros_of
from tiree.input.factorizations.blocked import TILE_BYTES, TOGETHER, Blocks, Part, subtract_products
from tiree.input.factorizations.householder import apply_left, norm, reflector
from tiree.input.factorizations.kernel import Array, LoopKernel, Num, Value
from tiree.input.lowering.context import Lowering, Size
from tiree.input.lowering.dims import product
from tiree.input.lowering.dynamic_movement import dynamic_type
from tiree.input.lowering.scalar import ScalarBuilder

Span = tuple[Num, Num]


def _blocks(size: int, a: Value) -> Blocks:
    return Blocks.of(size, element_of(a).bitwidth // 8 * (2 if isinstance(a, tuple) else 1))


def _zeros(lowering: Lowering, shape: Sequence[Size], like: Value) -> Value:
    zeros = [zeros_of(lowering, element_of(like), shape) for _ in range(2 if isinstance(like, tuple) else 1)]
    return (zeros[0], zeros[1]) if len(zeros) == 2 else zeros[0]


def factor(lowering: Lowering, a: Value, shape: Shape) -> list[Value]:
    """(R and reflectors, taus) of matrices of `shape` (how many, rows, columns)."""
    count, rows, columns = shape
    size, element = min(rows, columns), element_of(a)
    blocks = _blocks(size, a)
    taus = _zeros(lowering, [count, size], a)
    for first in range(0, size, blocks.panel):
        start = lowering.constant_index(first)
        k = LoopKernel(lowering, count, element)
        low = k.scalar_input(start)
        panel = low, (low + blocks.panel).least(size)
        matrix, found = Part(k.changed_input(a), k.workgroup), k.changed_input(taus)
        t = k.shared_output([count, blocks.panel, blocks.panel], complex=matrix.is_complex)
        _factor_panel(k, matrix, found, panel)
        _form_t(k, matrix, found, Part(t, k.workgroup), panel, blocks.panel)
        triangle, a, taus = k.run()
        if first + blocks.panel < columns:
            a = _apply(lowering, (a, a, triangle), start, (count, rows, columns), blocks, size, behind=True)
    return [a, taus]


def form_q(lowering: Lowering, a: Value, taus: Value, shape: Shape, size: int) -> Value:
    """Q's first columns, of `shape` (how many, rows, columns), from `size` reflectors."""
    count = shape[0]
    blocks = _blocks(size, a)
    q = _identity(lowering, shape, a)
    for first in reversed(range(0, size, blocks.panel)):
        start = lowering.constant_index(first)
        k = LoopKernel(lowering, count, element_of(a))
        low = k.scalar_input(start)
        matrix, found = Part(k.whole_input(a), k.workgroup), k.whole_input(taus)
        t = k.shared_output([count, blocks.panel, blocks.panel], complex=matrix.is_complex)
        _form_t(k, matrix, found, Part(t, k.workgroup), (low, (low + blocks.panel).least(size)), blocks.panel)
        q = _apply(lowering, (a, q, k.run()[0]), start, shape, blocks, size, behind=False)
    return q


def _identity(lowering: Lowering, shape: Shape, like: Value) -> Value:
    element = element_of(like)

    def build(diagonal: float) -> SSAValue:
        def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
            del args
            return s.select(
                s.cmpi("eq", s.index(1), s.index(2)), s.constant(element, diagonal), s.constant(element, 0.0)
            )

        return lowering.parallel([], dynamic_type(element, shape), body, shape)

    return (build(1.0), build(0.0)) if isinstance(like, tuple) else build(1.0)


def _factor_panel(k: LoopKernel, a: Part, taus: Array, panel: Span) -> None:
    """Reflects the columns of a panel, one after the other."""
    rows, columns = a.shape
    w = k.scratch([columns], complex=a.is_complex)
    with k.loop(*panel) as i:
        length = norm(k, i + 1, rows, lambda r: a[r, i])
        beta, tau, scale = reflector(k, a[i, i], length)
        with k.loop(i + 1, rows) as r:
            a[r, i] = a[r, i] * scale
        a[i, i] = beta
        taus[a.number, i] = tau
        apply_left(k, lambda r: a[r, i], tau.conj(), a, i, (i + 1, panel[1]), w)


def _form_t(k: LoopKernel, a: Part, taus: Array, t: Part, panel: Span, size: int) -> None:
    """The upper triangle of T; the rest of its columns is zero."""
    rows = a.shape[0]
    low, high = panel
    z = k.scratch([size], complex=a.is_complex)
    with k.loop(0, size) as i, k.loop(0, size) as j:
        t[i, j] = k.complex(k.number(0.0), k.number(0.0)) if a.is_complex else k.number(0.0)
    with k.loop(0, high - low) as j:
        tau = taus[a.number, low + j]
        with k.loop(0, j) as p:
            z[p] = a[low + j, low + p].conj()
        with k.loop(low + j + 1, rows) as r:
            factor = a[r, low + j]
            with k.loop(0, j) as p:
                z[p] = z[p] + a[r, low + p].conj() * factor
        with k.loop(0, j) as i:
            total = k.sum(i, j, lambda p, i=i: t[i, p] * z[p], complex=a.is_complex)
            t[i, j] = -(tau * total)
        t[j, j] = tau


def _apply(
    lowering: Lowering,
    values: tuple[Value, Value, Value],
    start: SSAValue,
    shape: Shape,
    blocks: Blocks,
    size: int,
    behind: bool,
) -> Value:
    """The reflectors of a panel of `values[0]` applied to `values[1]`: their adjoint, to the columns behind the panel,
    or themselves to all columns. `values[2]` is T."""
    source, target, triangle = values
    count, _, columns = shape
    tiles = -(-columns // blocks.tile)
    k = LoopKernel(lowering, product(lowering, [count, tiles]), element_of(target))
    low, t = k.scalar_input(start), k.whole_input(triangle)
    number, left = k.workgroup.quotient(tiles), k.workgroup.remainder(tiles) * blocks.tile
    a = Part(k.changed_input(target), number)
    v = a if behind else Part(k.whole_input(source), number)
    panel = low, (low + blocks.panel).least(size)
    begin = left.most(panel[1]) if behind else left
    tile = begin, (left + blocks.tile).least(columns)
    with k.when(tile[0] < tile[1]):
        _apply_to_tile(k, (v, a, Part(t, number)), panel, tile, blocks, behind)
    return k.run()[0]


def _apply_to_tile(
    k: LoopKernel, parts: tuple[Part, Part, Part], panel: Span, tile: Span, blocks: Blocks, adjoint: bool
) -> None:
    v, a, t = parts
    low, high = panel
    width, size = tile[1] - tile[0], high - low
    w, u = (k.scratch([blocks.panel, blocks.tile], complex=a.is_complex, stack=2 * TILE_BYTES) for _ in range(2))
    _inner_products(k, (v, a), w, panel, tile)
    with k.loop(0, size) as i:
        with k.loop(0, width) as j:
            u[i, j] = w[i, j] * (t[i, i].conj() if adjoint else t[i, i])
        # T is upper triangular, its adjoint lower.
        with k.loop(0, i) if adjoint else k.loop(i + 1, size) as p:
            factor = t[p, i].conj() if adjoint else t[i, p]
            with k.loop(0, width) as j:
                u[i, j] = u[i, j] + factor * w[p, j]
    with k.loop(0, size) as i:
        with k.loop(0, width) as j:
            a[low + i, tile[0] + j] = a[low + i, tile[0] + j] - u[i, j]
        with k.loop(0, i) as p:
            factor = v[low + i, low + p]
            with k.loop(0, width) as j:
                a[low + i, tile[0] + j] = a[low + i, tile[0] + j] - factor * u[p, j]
    subtract_products(k, (v, a), (high, a.shape[0]), panel, u, tile)


def _inner_products(k: LoopKernel, parts: tuple[Part, Part], w: Array, panel: Span, tile: Span) -> None:
    """w = V^H a, in the columns of a tile."""
    v, a = parts
    (low, high), rows = panel, a.shape[0]
    width, size = tile[1] - tile[0], high - low
    with k.loop(0, size) as p:
        with k.loop(0, width) as j:
            w[p, j] = a[low + p, tile[0] + j]
        with k.loop(low + p + 1, high) as r:
            factor = v[r, low + p].conj()
            with k.loop(0, width) as j:
                w[p, j] = w[p, j] + factor * a[r, tile[0] + j]
    whole = (k.index(rows) - high).quotient(TOGETHER) * TOGETHER
    with k.loop(high, high + whole, TOGETHER) as r, k.loop(0, size) as p:
        several = [v[r + n, low + p].conj() for n in range(TOGETHER)]
        with k.loop(0, width) as j:
            value = w[p, j]
            for n, factor in enumerate(several):
                value = value + factor * a[r + n, tile[0] + j]
            w[p, j] = value
    with k.loop(high + whole, rows) as r, k.loop(0, size) as p:
        factor = v[r, low + p].conj()
        with k.loop(0, width) as j:
            w[p, j] = w[p, j] + factor * a[r, tile[0] + j]
