"""Tridiagonal systems (`gtsv`) and tridiagonal forms of symmetric matrices (`sytrd`), as LAPACK gives them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32

from tiree.input.factorizations.batches import Shape, element_of
from tiree.input.factorizations.kernel import LoopKernel, Num, Value
from tiree.input.factorizations.symmetric import mirror, tridiagonalise
from tiree.input.lowering.context import Lowering


def solve(lowering: Lowering, bands: Sequence[Value], b: Value, shape: Shape) -> list[Value]:
    """(solutions, info) of systems of `shape` (how many, unknowns, right-hand sides).

    The bands are the elements below, on and above the diagonal, by row; the first of the lower and the last of the
    upper one are not read. Neighbouring rows are exchanged where the lower element is larger.
    """
    count, n, sides = shape
    k = LoopKernel(lowering, count, element_of(b))
    lower, diagonal, upper = (k.input(band) for band in bands)
    source = k.input(b)
    is_complex = source.is_complex
    x, info = k.output([n, sides], complex=is_complex), k.output([1], i32)
    d, first, second = (k.scratch([n], complex=is_complex) for _ in range(3))
    k.copy(source, x)
    k.copy(diagonal, d)
    k.copy(upper, first)
    info[0] = k.number(0, i32)
    with k.loop(0, n - 1) as i:
        below, here, above, next_ = lower[i + 1], d[i], first[i], d[i + 1]
        beyond = k.where((i + 2) < n, first[i + 1], 0.0)
        keep = here.abs1() >= below.abs1()
        pivot = k.where(keep, here, below)
        none = pivot.eq(0.0)
        factor = k.where(keep, below, here) / k.where(none, k.number(1.0), pivot)
        info[0] = k.where(none & info[0].eq(0), (i + 1).to_type(i32), info[0])
        d[i] = pivot
        first[i] = k.where(keep, above, next_)
        second[i] = k.where(keep, 0.0, beyond)
        d[i + 1] = k.where(keep, next_ - factor * above, above - factor * next_)
        first[i + 1] = k.where(keep, beyond, -(factor * beyond))
        with k.loop(0, sides) as c:
            one, other = x[i, c], x[i + 1, c]
            x[i, c] = k.where(keep, one, other)
            x[i + 1, c] = k.where(keep, other - factor * one, one - factor * other)
    info[0] = k.where(d[n - 1].eq(0.0) & info[0].eq(0), k.number(n, i32), info[0])
    with k.loop_down(0, n) as i, k.loop(0, sides) as c:
        # Beyond the last row the bands are multiplied by nothing.
        near, far = (i + 1).least(n - 1), (i + 2).least(n - 1)
        value = x[i, c]
        value = k.where(i + 1 < n, value - first[i] * x[near, c], value)
        value = k.where(i + 2 < n, value - second[i] * x[far, c], value)
        x[i, c] = value / d[i]
    return k.run()


def form(lowering: Lowering, a: Value, lower: bool, shape: Shape) -> list[Value]:
    """(the form and the reflectors, diagonal, off-diagonal, taus, info) of matrices of `shape` (how many, n, n).

    The upper triangle is reduced from its end: it is the lower one of the matrix with rows and columns reversed.
    """
    n = shape[1]
    k = LoopKernel(lowering, shape[0], element_of(a))
    source = k.input(a)
    is_complex = source.is_complex
    result, diagonal = k.output([n, n], complex=is_complex), k.output([n])
    off, factors, info = k.output([n - 1]), k.output([n - 1], complex=is_complex), k.output([1], i32)
    work, flipped = (k.scratch([n, n], complex=is_complex) for _ in range(2))
    d, e, taus = k.scratch([n]), k.scratch([n]), k.scratch([n], complex=is_complex)
    info[0] = k.number(0, i32)

    def place(i: Num) -> Num:
        return i if lower else n - 1 - i

    with k.loop(0, n) as r, k.loop(0, n) as c:
        result[r, c] = source[r, c]
        flipped[r, c] = source[place(r), place(c)]
    mirror(k, flipped, work, True)
    tridiagonalise(k, work, d, e, taus)
    with k.loop(0, n) as i:
        diagonal[place(i)] = d[i]
        result[place(i), place(i)] = d[i]
    with k.loop(0, n - 1) as i:
        at = i if lower else n - 2 - i
        off[at], factors[at] = e[i], taus[i]
        result[place(i + 1), place(i)] = e[i]
        with k.loop(i + 2, n) as r:
            result[place(r), place(i)] = work[i, r]
    return k.run()
