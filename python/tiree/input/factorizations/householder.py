"""Elementary reflectors: what QR, tridiagonal, Hessenberg and bidiagonal forms are made of.

A reflector is H = I - tau v v^H with v[0] = 1, and H^H maps a vector to a multiple, real, of the first unit vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xdsl.dialects.builtin import Float64Type, i1, i32

from tiree.input.factorizations.blocked import Part
from tiree.input.factorizations.kernel import Array, LoopKernel, Num


class Reflector(NamedTuple):
    beta: Num
    """What the first element becomes; real."""
    tau: Num
    scale: Num
    """What the other elements are multiplied by to be those of v."""


def epsilon(k: LoopKernel) -> float:
    """The distance from 1 to the next number, halved."""
    return 2.0**-53 if isinstance(k.element, Float64Type) else 2.0**-24


def smallest_normal(k: LoopKernel) -> float:
    return 2.0**-1022 if isinstance(k.element, Float64Type) else 2.0**-126


def norm(k: LoopKernel, low: Num | int, high: Num | int, get: Callable[[Num], Num]) -> Num:
    """The Euclidean length of the elements of `low <= i < high`, scaled where squares would overflow or vanish."""
    big = k.var(0.0)
    with k.loop(low, high) as i:
        element = get(i)
        size = element.real.abs() if element.im is None else element.abs1()
        big.set(k.where(size > big.get(), size, big.get()))
    k.drop(big)
    far = 2.0**400 if isinstance(k.element, Float64Type) else 2.0**48
    usual = (big.get() < far) & (big.get() > 1 / far)
    limit = k.where(big.get() > smallest_normal(k), big.get(), smallest_normal(k))
    limit = k.where(limit < float("inf"), limit, 1.0)
    divisor = k.where(usual, 1.0, limit)
    factor = 1.0 / divisor
    total = k.sum(low, high, lambda i: (get(i) * factor).abs2())
    return total.sqrt() * divisor


def largest(k: LoopKernel, a: Array) -> Num:
    """The largest element of a matrix, its parts added up; NaN is larger than nothing."""
    big = k.var(0.0)
    with k.loop(0, a.shape[0]) as r, k.loop(0, a.shape[1]) as c:
        size = a[r, c].abs1()
        big.set(k.where(size > big.get(), size, big.get()))
    k.drop(big)
    return big.get()


def is_finite(k: LoopKernel, a: Array) -> Num:
    """Whether no element of a matrix is infinite or NaN."""
    finite = k.var(k.number(1, i1))
    with k.loop(0, a.shape[0]) as r, k.loop(0, a.shape[1]) as c:
        element = a[r, c]
        finite.set(finite.get() & (element.real.abs() < float("inf")) & (element.imag.abs() < float("inf")))
    k.drop(finite)
    return finite.get()


def fail_unless(k: LoopKernel, finite: Num, info: Array) -> None:
    """Makes `info[0]` 1 where it is 0 and the matrix was not finite: what was found of it then means nothing, though
    some of it looks as if it did."""
    info[0] = k.where(finite | info[0].ne(0), info[0], k.number(1, i32))


def scale_of(k: LoopKernel, a: Array) -> Num:
    """What a matrix is divided by so that products of its elements neither overflow nor vanish: 1 for usual ones; what
    is larger or smaller comes just into their range, as in LAPACK."""
    found, far = largest(k, a), 2.0**400 if isinstance(k.element, Float64Type) else 2.0**48
    above = (found > far) & (found < float("inf"))
    below = (found < 1 / far) & (found > 0.0)
    return k.where(above, found * (1 / far), k.where(below, found * far, 1.0))


def reflector(k: LoopKernel, first: Num, rest: Num) -> Reflector:
    """The reflector of a vector with this first element and this length of all others."""
    length = k.hypot(first.abs(), rest)
    # Below, one divided by it would overflow.
    none = (rest.eq(0.0) & first.imag.eq(0.0)) | (length < 4 * smallest_normal(k))
    beta = k.where(first.real >= 0.0, -length, length)
    safe = k.where(none, 1.0, beta)
    re = k.where(none, 0.0, (beta - first.real) / safe)
    if first.im is None:
        return Reflector(k.where(none, first, beta), re, k.where(none, 0.0, 1.0 / (first - beta)))
    im = k.where(none, 0.0, -(first.imag / safe))
    scale = k.where(none, k.complex(k.number(0.0), k.number(0.0)), 1.0 / (first - beta))
    return Reflector(k.where(none, first.real, beta), k.complex(re, im), scale)


def apply_left(
    k: LoopKernel,
    v: Callable[[Num], Num],
    tau: Num,
    a: Array | Part,
    first: Num,
    columns: tuple[Num | int, Num | int],
    w: Array,
) -> None:
    """a = (I - tau v v^H) a, on the rows from `first` on and some columns; v(first) counts as 1. `w` is scratch."""
    low, high = columns
    rows = a.shape[0]
    with k.loop(low, high) as j:
        w[j] = a[first, j]
    with k.loop(first + 1, rows) as r:
        factor = v(r).conj()
        with k.loop(low, high) as j:
            w[j] = w[j] + factor * a[r, j]
    with k.loop(low, high) as j:
        w[j] = tau * w[j]
        a[first, j] = a[first, j] - w[j]
    with k.loop(first + 1, rows) as r:
        factor = v(r)
        with k.loop(low, high) as j:
            a[r, j] = a[r, j] - factor * w[j]


def apply_right(
    k: LoopKernel, v: Callable[[Num], Num], tau: Num, a: Array, first: Num, rows: tuple[Num | int, Num | int]
) -> None:
    """a = a (I - tau v v^H), on the columns from `first` on and some rows; v(first) counts as 1."""
    columns = a.shape[1]
    with k.loop(*rows) as r:
        total = k.sum(first + 1, columns, lambda j: a[r, j] * v(j), start=a[r, first], complex=a.is_complex)
        total = tau * total
        a[r, first] = a[r, first] - total
        with k.loop(first + 1, columns) as j:
            a[r, j] = a[r, j] - total * v(j).conj()
