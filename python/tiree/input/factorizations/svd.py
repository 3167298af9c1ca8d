"""Singular values and vectors: QR, then one-sided Jacobi rotations of the rows of R.

R = Q^H a. Rotations W make the rows of W R orthogonal: their lengths are the singular values, their directions the
right vectors, and Q W^H holds the left ones. Small singular values come out as exactly as the matrix has them. A wide
matrix is done as its adjoint.
"""

from __future__ import annotations

from math import sqrt

from xdsl.dialects.builtin import Float64Type, IndexType, i1, i32

from tiree.input.factorizations import qr
from tiree.input.factorizations.batches import Shape, element_of
from tiree.input.factorizations.householder import apply_left, epsilon, fail_unless, is_finite, largest, smallest_normal
from tiree.input.factorizations.kernel import Array, LoopKernel, Num, Value, Var
from tiree.input.factorizations.symmetric import ascending
from tiree.input.lowering.context import Lowering

SWEEPS = 40
"""Over all pairs of rows; six are usual."""


def _scale(k: LoopKernel, a: Array) -> Num:
    """What a matrix is divided by so that squares of its elements neither overflow nor vanish."""
    found = largest(k, a)
    far = 2.0**200 if isinstance(k.element, Float64Type) else 2.0**20
    usual = ((found < far) & (found > 1 / far)) | ~(found < float("inf")) | found.eq(0.0)
    return k.where(usual, 1.0, found)


def _least_square(k: LoopKernel) -> float:
    """The square of the length of the shortest row that has a direction: inner products of shorter ones vanish."""
    return smallest_normal(k) / epsilon(k)


def _products(k: LoopKernel, x: Array, p: Num, q: Num) -> tuple[Num, Num, Num]:
    """The squares of the lengths of two rows, and their inner product."""
    one, other = k.var(0.0), k.var(0.0)
    inner: Var = k.complex_var(0.0) if x.is_complex else k.var(0.0)
    with k.loop(0, x.shape[1]) as c:
        a, b = x[p, c], x[q, c]
        one.set(one.get().plus_in_any_order(a.abs2()))
        other.set(other.get().plus_in_any_order(b.abs2()))
        inner.set(inner.get().plus_in_any_order(a * b.conj()))
    k.drop(one, other, inner)
    return one.get(), other.get(), inner.get()


def _rotate(k: LoopKernel, x: Array, p: Num, q: Num, sine: Num, half: Num, phase: Num) -> None:
    """Rotates two rows by an angle of which the sine and the tangent of its half are given: small angles lose least."""
    with k.loop(0, x.shape[1]) as j:
        a, b = x[p, j], x[q, j] * phase
        x[p, j] = a - (b + a * half) * sine
        x[q, j] = b + (a - b * half) * sine


def orthogonalise_rows(k: LoopKernel, x: Array, w: Array | None, info: Array) -> None:
    """Rotates pairs of rows of `x`, and of `w` alike, until all are orthogonal; `info[0]` is 1 if they are not."""
    n = x.shape[0]
    tolerance, least = epsilon(k) * max(4.0, sqrt(x.shape[1])), _least_square(k)
    done = k.var(k.number(0, i1))
    with k.loop(0, SWEEPS) as _, k.when(~done.get()):
        rotated = k.var(k.number(0, i1))
        with k.loop(0, n) as p, k.loop(p + 1, n) as q:
            one, other, inner = _products(k, x, p, q)
            size = inner.abs()
            turn = (size > one.sqrt() * other.sqrt() * tolerance) & (one > least) & (other > least)
            rotated.set(rotated.get() | turn)
            with k.when(turn):
                ratio = (other - one) / (size * 2.0)
                length = ratio.abs() + k.hypot(ratio.abs(), k.number(1.0))
                tangent = k.where(ratio >= 0.0, 1.0 / length, -1.0 / length)
                cosine = 1.0 / (tangent * tangent + 1.0).sqrt()
                sine, phase = cosine * tangent, inner / size
                half = sine / (cosine + 1.0)
                for rows in (x, w) if w is not None else (x,):
                    _rotate(k, rows, p, q, sine, half, phase)
        done.set(~rotated.get())
        k.drop(rotated)
    k.drop(done)
    info[0] = (~done.get()).to_type(i32)


def _complete(k: LoopKernel, v: Array, i: Num) -> None:
    """Makes row `i` of `v` a unit vector that is orthogonal to the rows before."""
    n = v.shape[1]
    best, place = k.var(-1.0), k.var(i)
    with k.loop(0, n) as c:
        left = 1.0 - k.sum(0, i, lambda r, c=c: v[r, c].abs2())
        larger = left > best.get()
        best.set(k.where(larger, left, best.get()))
        place.set(k.where(larger, c, place.get()))
    k.drop(best, place)
    chosen = place.get()
    with k.loop(0, n) as c:
        v[i, c] = k.where(c.eq(chosen), k.number(1.0), 0.0)
    with k.loop(0, 2), k.loop(0, i) as r:
        part = k.sum(0, n, lambda c, r=r: v[i, c] * v[r, c].conj(), complex=v.is_complex)
        with k.loop(0, n) as c:
            v[i, c] = v[i, c] - part * v[r, c]
    length = k.sum(0, n, lambda c: v[i, c].abs2()).sqrt()
    with k.loop(0, n) as c:
        v[i, c] = v[i, c] / length


def _right_vectors(k: LoopKernel, x: Array, lengths: Array, order: Array, v: Array) -> None:
    """The rows of `v`: the rows of `x` in order, at length 1; those without direction are completed."""
    n = x.shape[0]
    none = sqrt(_least_square(k))
    with k.loop(0, n) as i:
        row, length = order[i].to_type(IndexType()), -lengths[i]
        lost = length < none
        divisor = k.where(lost, 1.0, length)
        with k.loop(0, n) as c:
            v[i, c] = x[row, c] / divisor
        with k.when(lost):
            _complete(k, v, i)


def _left_vectors(k: LoopKernel, b: Array, taus: Array, w: Array, order: Array, u: Array) -> None:
    """The columns of `u`: Q times the adjoint of W in order, and the rest of Q."""
    rows, columns = u.shape
    n = w.shape[0]
    with k.loop(0, rows) as r, k.loop(0, columns) as c:
        u[r, c] = k.where(r.eq(c), k.number(1.0), 0.0)
    with k.loop(0, n) as i:
        row = order[i].to_type(IndexType())
        with k.loop(0, n) as r:
            u[r, i] = w[row, r].conj()
    work = k.scratch([columns], complex=u.is_complex)
    with k.loop_down(0, n) as i:
        apply_left(k, lambda r, i=i: b[r, i], taus[i], u, i, (0, columns), work)


def decompose(lowering: Lowering, a: Value, mode: str, shape: Shape) -> list[Value]:
    """(singular values, info, left vectors, right vectors adjoint) of matrices of `shape` (how many, rows, columns).

    `mode` is LAPACK's: N for values only, S for as many vectors as values, A for all.
    """
    count, rows, columns = shape
    k = LoopKernel(lowering, count, element_of(a))
    source = k.input(a)
    wide, n, m = rows < columns, min(rows, columns), max(rows, columns)
    is_complex = source.is_complex
    values = k.output([n])
    scale = _scale(k, source)
    b, taus = k.scratch([m, n], complex=is_complex), k.scratch([n], complex=is_complex)
    with k.loop(0, rows) as r, k.loop(0, columns) as c:
        if wide:
            b[c, r] = source[r, c].conj() / scale
        else:
            b[r, c] = source[r, c] / scale
    qr.factor_in_place(k, b, taus)
    x, w = k.scratch([n, n], complex=is_complex), k.scratch([n, n], complex=is_complex) if mode != "N" else None
    with k.loop(0, n) as r, k.loop(0, n) as c:
        x[r, c] = k.where(c >= r, b[r, c], 0.0)
        if w is not None:
            w[r, c] = k.where(c.eq(r), k.number(1.0), 0.0)
    info = k.output([1], i32)
    orthogonalise_rows(k, x, w, info)
    fail_unless(k, is_finite(k, source), info)
    with k.loop(0, n) as i:
        values[i] = -k.sum(0, n, lambda c, i=i: x[i, c].abs2()).sqrt()
    order = ascending(k, values)
    if w is not None:
        _vectors(k, (b, taus, x, w), (values, order), wide, m if mode == "A" else n)
    with k.loop(0, n) as i:
        values[i] = -values[i] * scale
    return k.run()


def _vectors(
    k: LoopKernel, parts: tuple[Array, Array, Array, Array], sorted_: tuple[Array, Array], wide: bool, columns: int
) -> None:
    """Two more outputs: the left vectors, and the right ones as rows."""
    b, taus, x, w = parts
    values, order = sorted_
    (m, n), is_complex = b.shape, b.is_complex
    if not wide:
        u, v = k.output([m, columns], complex=is_complex), k.output([n, n], complex=is_complex)
        _right_vectors(k, x, values, order, v)
        _left_vectors(k, b, taus, w, order, u)
        return
    left, right = k.output([n, n], complex=is_complex), k.output([columns, m], complex=is_complex)
    v, u = k.scratch([n, n], complex=is_complex), k.scratch([m, columns], complex=is_complex)
    _right_vectors(k, x, values, order, v)
    _left_vectors(k, b, taus, w, order, u)
    with k.loop(0, n) as r, k.loop(0, n) as c:
        left[r, c] = v[c, r].conj()
    with k.loop(0, columns) as r, k.loop(0, m) as c:
        right[r, c] = u[c, r].conj()
