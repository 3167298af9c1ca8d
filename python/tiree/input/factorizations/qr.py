"""QR factors, as LAPACK's `geqrf`, `geqp3`, `orgqr` and `ormqr` give them; large ones in `blocked_qr.py`."""

from __future__ import annotations

from xdsl.dialects.builtin import i32

from tiree.input.factorizations import blocked_qr
from tiree.input.factorizations.batches import Shape, element_of
from tiree.input.factorizations.blocked import SMALL
from tiree.input.factorizations.householder import apply_left, apply_right, norm, reflector
from tiree.input.factorizations.kernel import Array, LoopKernel, Num, Value
from tiree.input.lowering.context import Lowering, ranked_type


def reflect_column(k: LoopKernel, a: Array, i: Num, taus: Array, w: Array) -> None:
    """Makes zeros below a[i, i], keeps the reflector there, and applies it to the columns behind."""
    rows, columns = a.shape
    length = norm(k, i + 1, rows, lambda r: a[r, i])
    beta, tau, scale = reflector(k, a[i, i], length)
    with k.loop(i + 1, rows) as r:
        a[r, i] = a[r, i] * scale
    a[i, i] = beta
    taus[i] = tau
    apply_left(k, lambda r: a[r, i], tau.conj(), a, i, (i + 1, columns), w)


def factor_in_place(k: LoopKernel, a: Array, taus: Array) -> None:
    """Replaces `a` by R and, below the diagonal, the reflectors whose product is Q."""
    w = k.scratch([a.shape[1]], complex=a.is_complex)
    with k.loop(0, min(a.shape)) as i:
        reflect_column(k, a, i, taus, w)


def factor(lowering: Lowering, a: Value, shape: Shape) -> list[Value]:
    """(R and reflectors, taus) of matrices of `shape` (how many, rows, columns)."""
    count, rows, columns = shape
    if min(rows, columns) > SMALL:
        return blocked_qr.factor(lowering, a, shape)
    k = LoopKernel(lowering, count, element_of(a))
    source = k.input(a)
    result = k.output([rows, columns], complex=source.is_complex)
    taus = k.output([min(rows, columns)], complex=source.is_complex)
    k.copy(source, result)
    factor_in_place(k, result, taus)
    return k.run()


def factor_pivoted_in_place(k: LoopKernel, a: Array, taus: Array, order: Array) -> None:
    """As `factor_in_place`, with the longest column that is left next; column j was column `order[j] - 1`."""
    rows, columns = a.shape
    w = k.scratch([columns], complex=a.is_complex)
    with k.loop(0, columns) as j:
        order[j] = (j + 1).to_type(i32)
    with k.loop(0, min(a.shape)) as i:
        best, place = k.var(-1.0), k.var(i)
        with k.loop(i, columns) as j:
            size = norm(k, i, rows, lambda r, j=j: a[r, j])
            larger = size > best.get()
            best.set(k.where(larger, size, best.get()))
            place.set(k.where(larger, j, place.get()))
        k.drop(best, place)
        chosen = place.get()
        with k.loop(0, rows) as r:
            kept = a[r, i]
            a[r, i] = a[r, chosen]
            a[r, chosen] = kept
        number = order[i]
        order[i] = order[chosen]
        order[chosen] = number
        reflect_column(k, a, i, taus, w)


def factor_pivoted(lowering: Lowering, a: Value, shape: Shape) -> list[Value]:
    """(R and reflectors, the order of columns, taus) of matrices of `shape` (how many, rows, columns)."""
    count, rows, columns = shape
    k = LoopKernel(lowering, count, element_of(a))
    source = k.input(a)
    result = k.output([rows, columns], complex=source.is_complex)
    order = k.output([columns], i32)
    taus = k.output([min(rows, columns)], complex=source.is_complex)
    k.copy(source, result)
    factor_pivoted_in_place(k, result, taus, order)
    return k.run()


def form(k: LoopKernel, a: Array, taus: Array, q: Array) -> None:
    """The first columns of Q, as many as `q` has, from the reflectors in `a`."""
    rows, columns = q.shape
    w = k.scratch([columns], complex=q.is_complex)
    with k.loop(0, rows) as r, k.loop(0, columns) as j:
        q[r, j] = k.where(r.eq(j), k.number(1.0), 0.0)
    with k.loop_down(0, taus.shape[0]) as i:
        tau = taus[i]
        apply_left(k, lambda r: a[r, i], tau, q, i, (i + 1, columns), w)
        q[i, i] = 1.0 - tau
        with k.loop(i + 1, rows) as r:
            q[r, i] = -(tau * a[r, i])


def form_q(lowering: Lowering, a: Value, taus: Value, shape: Shape) -> Value:
    """Q's first columns, of `shape` (how many, rows, columns)."""
    size = ranked_type(taus[0] if isinstance(taus, tuple) else taus).get_shape()[1]
    if size > SMALL:
        return blocked_qr.form_q(lowering, a, taus, shape, size)
    k = LoopKernel(lowering, shape[0], element_of(a))
    reflectors, factors = k.input(a), k.input(taus)
    q = k.output(shape[1:], complex=reflectors.is_complex)
    form(k, reflectors, factors, q)
    return k.run()[0]


def multiply(lowering: Lowering, a: Value, taus: Value, c: Value, left: bool, adjoint: bool, shape: Shape) -> Value:
    """Q c, or c Q where not `left`; with `adjoint`, Q^H in the place of Q. `shape` is c's: how many, rows, columns."""
    k = LoopKernel(lowering, shape[0], element_of(c))
    reflectors, factors, source = k.input(a), k.input(taus), k.input(c)
    result = k.output(shape[1:], complex=source.is_complex)
    k.copy(source, result)
    w = k.scratch([shape[2]], complex=source.is_complex)
    count = factors.shape[0]
    with k.loop(0, count) if left == adjoint else k.loop_down(0, count) as i:
        tau = factors[i].conj() if adjoint else factors[i]
        if left:
            apply_left(k, lambda r: reflectors[r, i], tau, result, i, (0, shape[2]), w)
        else:
            apply_right(k, lambda r: reflectors[r, i], tau, result, i, (0, shape[1]))
    return k.run()[0]
