"""Eigenvalues and vectors of symmetric and Hermitian matrices: a tridiagonal form by reflectors, then implicit QL.

As LAPACK's `syevd`: eigenvalues ascend, vectors are columns. `sytrd` gives the tridiagonal form.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, i1, i32

from tiree.input.factorizations.batches import Shape, element_of
from tiree.input.factorizations.householder import epsilon, fail_unless, is_finite, norm, reflector, scale_of
from tiree.input.factorizations.kernel import Array, LoopKernel, Num, Value
from tiree.input.lowering.context import Lowering

ROUNDS = 60
"""Steps of QL for an eigenvalue before it is given up; three are usual."""


def mirror(k: LoopKernel, source: Array, target: Array, lower: bool) -> None:
    """Copies a Hermitian matrix of which one triangle is meant; the diagonal is real."""
    n = source.shape[0]
    with k.loop(0, n) as i:
        target[i, i] = source[i, i].real
        with k.loop(0, i) as j:
            element = source[i, j] if lower else source[j, i].conj()
            target[i, j] = element
            target[j, i] = element.conj()


def tridiagonalise(k: LoopKernel, a: Array, d: Array, e: Array, taus: Array) -> None:
    """Reduces Hermitian `a`, both triangles of which are there: T = Q^H a Q with diagonal `d` and off-diagonal `e`.

    Reflector i, of the rows from i + 1 on, is left in row i behind the diagonal.
    """
    n = a.shape[0]
    w = k.scratch([n], complex=a.is_complex)
    with k.loop(0, n - 1) as i:
        length = norm(k, i + 2, n, lambda r: a[r, i])
        beta, tau, scale = reflector(k, a[i + 1, i], length)
        taus[i], e[i] = tau, beta
        a[i, i + 1] = 1.0
        with k.loop(i + 2, n) as r:
            a[i, r] = a[r, i] * scale
        # w = tau A v - (tau/2 v^H w) v; A = A - v w^H - w v^H.
        with k.loop(i + 1, n) as r:
            w[r] = tau * k.sum(i + 1, n, lambda c, r=r: a[r, c] * a[i, c], complex=a.is_complex)
        inner = k.sum(i + 1, n, lambda r: w[r].conj() * a[i, r], complex=a.is_complex)
        half = tau * inner * 0.5
        with k.loop(i + 1, n) as r:
            w[r] = w[r] - half * a[i, r]
        with k.loop(i + 1, n) as r:
            v, x = a[i, r], w[r]
            with k.loop(i + 1, n) as c:
                a[r, c] = a[r, c] - v * w[c].conj() - x * a[i, c].conj()
        with k.loop(i + 1, n) as r:
            a[r, r] = a[r, r].real
    with k.loop(0, n) as i:
        d[i] = a[i, i].real


def form_transposed(k: LoopKernel, a: Array, taus: Array, p: Array) -> None:
    """p = Q transposed, from what `tridiagonalise` left: the rows of p are the columns of Q."""
    n = a.shape[0]
    with k.loop(0, n) as r, k.loop(0, n) as c:
        p[r, c] = k.where(r.eq(c), k.number(1.0), 0.0)
    with k.loop_down(0, n - 1) as i, k.loop(i + 1, n) as r:
        total = k.sum(i + 1, n, lambda c, r=r, i=i: a[i, c].conj() * p[r, c], complex=p.is_complex) * taus[i]
        with k.loop(i + 1, n) as c:
            p[r, c] = p[r, c] - total * a[i, c]


def _split(k: LoopKernel, d: Array, e: Array, low: Num, scale: Num) -> Num:
    """The first place from `low` on behind which the matrix falls apart."""
    n = d.shape[0]
    found = k.var(k.number(n - 1, IndexType()))
    open_ = k.var(k.number(1, i1))
    tiny = scale * (epsilon(k) * epsilon(k))
    with k.loop(low, n - 1) as m:
        size, near = e[m].abs(), d[m].abs() + d[m + 1].abs()
        # Also where there is a NaN: nothing would get better.
        small = ~(size > near * epsilon(k)) | ~(size > tiny)
        first = small & open_.get()
        found.set(k.where(first, m, found.get()))
        open_.set(open_.get() & ~small)
    k.drop(found, open_)
    return found.get()


def _rotate(k: LoopKernel, p: Array, i: Num, c: Num, s: Num, active: Num) -> None:
    """Rotates rows i and i + 1."""
    with k.loop(0, k.where(active, k.index(p.shape[1]), k.index(0))) as j:
        one, other = p[i, j], p[i + 1, j]
        p[i + 1, j] = other * c + one * s
        p[i, j] = one * c - other * s


def _step(k: LoopKernel, d: Array, e: Array, p: Array | None, low: Num, high: Num) -> None:
    """One implicit QL step on the part of the matrix from `low` to `high`."""
    e_low = e[low]
    ratio = (d[low + 1] - d[low]) / (e_low * 2.0)
    length = k.hypot(ratio.abs(), k.number(1.0))
    shift = d[high] - d[low] + e_low / (ratio + k.where(ratio >= 0.0, length, -length))
    g, s, c, lost = k.var(shift), k.var(1.0), k.var(1.0), k.var(0.0)
    alive = k.var(k.number(1, i1))
    with k.loop_down(low, high) as i:
        f, b = s.get() * e[i], c.get() * e[i]
        r = k.hypot(f.abs(), g.get().abs())
        on = alive.get()
        none = r.eq(0.0)
        works = on & ~none
        e[i + 1] = k.where(on, r, e[i + 1])
        d[i + 1] = k.where(on & none, d[i + 1] - lost.get(), d[i + 1])
        safe = k.where(none, 1.0, r)
        s.set(k.where(works, f / safe, s.get()))
        c.set(k.where(works, g.get() / safe, c.get()))
        rest = d[i + 1] - lost.get()
        turn = (d[i] - rest) * s.get() + c.get() * b * 2.0
        lost.set(k.where(works, s.get() * turn, lost.get()))
        d[i + 1] = k.where(works, rest + lost.get(), d[i + 1])
        g.set(k.where(works, c.get() * turn - b, g.get()))
        alive.set(works)
        if p is not None:
            _rotate(k, p, i, c.get(), s.get(), works)
    d[low] = k.where(alive.get(), d[low] - lost.get(), d[low])
    e[low] = k.where(alive.get(), g.get(), e[low])
    e[high] = 0.0
    k.drop(g, s, c, lost, alive)


def diagonalise(k: LoopKernel, d: Array, e: Array, p: Array | None, failed: Array) -> None:
    """Makes `d` the eigenvalues of a tridiagonal matrix, in no order, and rotates the rows of `p` along.

    `e` has as many elements as `d`. `failed[0]` becomes the number of eigenvalues that were given up.
    """
    n = d.shape[0]
    scale = k.var(0.0)
    with k.loop(0, n) as i:
        size = d[i].abs() + e[i].abs()
        scale.set(k.where(size > scale.get(), size, scale.get()))
    largest = scale.get()
    k.drop(scale)
    failed[0] = k.number(0, i32)
    with k.loop(0, n) as low:
        done = k.var(k.number(0, i1))
        with k.loop(0, ROUNDS) as _, k.when(~done.get()):
            high = _split(k, d, e, low, largest)
            done.set(high.eq(low))
            with k.when(high > low):
                _step(k, d, e, p, low, high)
        failed[0] = failed[0] + (~done.get()).to_type(i32)


def ascending(k: LoopKernel, d: Array) -> Array:
    """Sorts `d`; element i was element `order[i]`. NaN stays where it is."""
    n = d.shape[0]
    order = k.scratch([n], i32)
    with k.loop(0, n) as i:
        order[i] = i.to_type(i32)
    with k.loop(0, n) as i:
        place = k.var(i)
        with k.loop(i + 1, n) as j:
            place.set(k.where(d[j] < d[place.get()], j, place.get()))
        k.drop(place)
        chosen = place.get()
        value, number = d[chosen], order[chosen]
        d[chosen], order[chosen] = d[i], order[i]
        d[i], order[i] = value, number
    return order


def _multiply(k: LoopKernel, d: Array, scale: Num) -> None:
    with k.loop(0, d.shape[0]) as i:
        d[i] = d[i] * scale


def decompose(lowering: Lowering, a: Value, lower: bool, vectors: bool, shape: Shape) -> list[Value]:
    """(vectors, eigenvalues, how many were given up) of matrices of `shape` (how many, n, n)."""
    n = shape[1]
    k = LoopKernel(lowering, shape[0], element_of(a))
    source = k.input(a)
    result = k.output([n, n], complex=source.is_complex)
    d, failed = k.output([n]), k.output([1], i32)
    e, taus = k.scratch([n]), k.scratch([n], complex=source.is_complex)
    e[n - 1] = 0.0
    mirror(k, source, result, lower)
    finite, scale = is_finite(k, result), scale_of(k, result)
    with k.loop(0, n) as r, k.loop(0, n) as c:
        result[r, c] = result[r, c] / scale
    tridiagonalise(k, result, d, e, taus)
    if not vectors:
        diagonalise(k, d, e, None, failed)
        fail_unless(k, finite, failed)
        ascending(k, d)
        _multiply(k, d, scale)
        return k.run()
    p = k.scratch([n, n], complex=source.is_complex)
    form_transposed(k, result, taus, p)
    diagonalise(k, d, e, p, failed)
    fail_unless(k, finite, failed)
    order = ascending(k, d)
    _multiply(k, d, scale)
    with k.loop(0, n) as i:
        row = order[i].to_type(IndexType())
        with k.loop(0, n) as r:
            result[r, i] = p[row, r]
    return k.run()
