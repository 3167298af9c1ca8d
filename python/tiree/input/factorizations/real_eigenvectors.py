"""Eigenvalues and eigenvectors of real matrices, from their real Schur form: LAPACK's real `geev`.

Real eigenvalues have real vectors and imaginary parts of zero; the others come in pairs, positive imaginary part first,
that are exactly conjugate, and so do their vectors.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import i32

from tiree.input.factorizations.batches import Shape, element_of
from tiree.input.factorizations.householder import fail_unless, is_finite
from tiree.input.factorizations.kernel import Array, LoopKernel, Num, Value
from tiree.input.factorizations.real_schur import ends_pair, imaginary_part, starts_pair, to_real_schur
from tiree.input.factorizations.schur import (
    balance,
    copy_scaled,
    form_transposed,
    keep_small,
    least_difference,
    normalise,
    not_below,
    of_unbalanced,
    quotient,
    to_hessenberg,
)
from tiree.input.lowering.context import Lowering


class _Side(NamedTuple):
    """A quasi-triangular matrix, or its transpose where left eigenvectors are wanted."""

    h: Array
    left: bool

    def __call__(self, row: Num, column: Num) -> Num:
        return self.h[column, row] if self.left else self.h[row, column]


def _start(k: LoopKernel, t: _Side, x: Array, i: Num, value: Num) -> None:
    """x in rows i and i + 1, where they are a block: of both ways to write it the one without a large element."""
    above, below = t(i, i + 1), t(i + 1, i)
    zero = k.number(0.0)
    upper = above.abs() >= below.abs()
    ratio = k.complex(zero, value.imag / k.where(upper, above, below))
    one = k.complex(k.number(1.0), zero)
    x[i], x[i + 1] = k.where(upper, one, ratio), k.where(upper, ratio, one)


def _solve_pair(
    k: LoopKernel, t: _Side, x: Array, p: Num, value: Num, least: Num, sums: tuple[Num, Num]
) -> tuple[Num, Num]:
    """The elements of the vector in the block of rows p and p + 1, by elimination with the larger pivot."""
    q = p + 1
    diagonal, above = t(p, p) - value, k.complex(t(p, q), k.number(0.0))
    below = k.complex(t(q, p), k.number(0.0))
    straight = diagonal.abs1() >= below.abs1()
    pivot, other = k.where(straight, diagonal, below), k.where(straight, below, diagonal)
    beside, last = k.where(straight, above, diagonal), k.where(straight, diagonal, above)
    first, second = k.where(straight, sums[0], sums[1]), k.where(straight, sums[1], sums[0])
    factor = other / pivot
    bottom, by = quotient(k, x, second - factor * first, not_below(k, last - factor * beside, least))
    top, again = quotient(k, x, first * by + beside * bottom, not_below(k, pivot, least))
    return top, bottom * again


def _solve(k: LoopKernel, t: _Side, x: Array, i: Num, value: Num, pair: Num) -> None:
    """x = the eigenvector of `t` for `value`, that of the block which starts in row i."""
    n = x.shape[0]
    after = k.where(pair, i + 2, i + 1)
    least = least_difference(k, value)
    with k.loop(0, n) as r:
        x[r] = k.where(r.eq(i), k.number(1.0), 0.0)
    with k.when(pair):
        _start(k, t, x, i, value)
    with k.loop(after, n) if t.left else k.loop_down(0, i) as j:
        starts, ends = starts_pair(t.h, j), ends_pair(t.h, j)
        reached, done = (starts, ends) if t.left else (ends, starts)
        low, high = (i, j) if t.left else (j + 1, after)
        total = k.sum(low, high, lambda m: x[m] * t(j, m), complex=True)
        with k.when(~(reached | done)):
            x[j], _ = quotient(k, x, total, not_below(k, t(j, j) - value, least))
            keep_small(k, x, x[j])
        with k.when(reached):
            beyond = j + 1 if t.left else j - 1
            other = k.sum(low, high, lambda m: x[m] * t(beyond, m), complex=True)
            p, sums = (j, (total, other)) if t.left else (beyond, (other, total))
            x[p], x[p + 1] = _solve_pair(k, t, x, p, value, least, sums)
            keep_small(k, x, x[p])
            keep_small(k, x, x[p + 1])


def _vectors(k: LoopKernel, t: _Side, z: Array, d: Array, out: Array) -> None:
    """The eigenvectors, of length 1, their largest elements real."""
    n = z.shape[0]
    x, v = k.scratch([n], complex=True), k.scratch([n], complex=True)
    with k.loop(0, n) as i, k.when(~ends_pair(t.h, i)):
        pair = starts_pair(t.h, i)
        im = k.var(0.0)
        with k.when(pair):
            im.set(imaginary_part(t.h, i))
        value = k.complex(t.h[i, i], im.get())
        _solve(k, t, x, i, value.conj() if t.left else value, pair)
        with k.loop(0, n) as r:
            v[r] = 0.0
        with k.loop(i, n) if t.left else k.loop(0, k.where(pair, i + 2, i + 1)) as m:
            factor = x[m]
            with k.loop(0, n) as r:
                v[r] = v[r] + factor * z[m, r]
        of_unbalanced(k, v, d, t.left)
        normalise(k, v)
        with k.loop(0, n) as r:
            out[r, i] = k.where(pair, v[r], k.complex(v[r].real, k.number(0.0)))
        with k.when(pair), k.loop(0, n) as r:
            out[r, i + 1] = v[r].conj()


def eigenvectors(lowering: Lowering, a: Value, left: bool, right: bool, shape: Shape) -> list[Value]:
    """(info, eigenvalues, left vectors if wanted, right vectors if wanted) of real matrices of `shape` (how many, n,
    n)."""
    n = shape[1]
    k = LoopKernel(lowering, shape[0], element_of(a))
    source = k.input(a)
    h, z, taus, info = k.scratch([n, n]), k.scratch([n, n]), k.scratch([n]), k.output([1], i32)
    scale, d = copy_scaled(k, source, h), k.scratch([n])
    balance(k, h, d)
    to_hessenberg(k, h, taus, k.scratch([n]))
    form_transposed(k, h, taus, z)
    to_real_schur(k, h, z, info)
    fail_unless(k, is_finite(k, source), info)
    w = k.output([n], complex=True)
    with k.loop(0, n) as r:
        w[r] = h[r, r] * scale
    with k.loop(0, n - 1) as r, k.when(starts_pair(h, r)):
        value = k.complex(h[r, r], imaginary_part(h, r)) * scale
        w[r], w[r + 1] = value, value.conj()
    for is_left, wanted in ((True, left), (False, right)):
        if wanted:
            _vectors(k, _Side(h, is_left), z, d, k.output([n, n], complex=True))
    return k.run()
