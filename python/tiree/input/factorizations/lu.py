"""LU factors with row exchanges, as LAPACK's `getrf` gives them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32

from tiree.input.factorizations.batches import element_of
from tiree.input.factorizations.kernel import Array, LoopKernel, Num, Value
from tiree.input.lowering.context import Lowering


def _largest(k: LoopKernel, a: Array, column: Num) -> Num:
    """The row, from `column` on, of the largest element there; NaN is larger than nothing."""
    best, place = k.var(a[column, column].abs1()), k.var(column)
    with k.loop(column + 1, a.shape[0]) as r:
        size = a[r, column].abs1()
        larger = size > best.get()
        best.set(k.where(larger, size, best.get()))
        place.set(k.where(larger, r, place.get()))
    k.drop(best, place)
    return place.get()


def swap_rows(k: LoopKernel, a: Array, one: Num, other: Num) -> None:
    with k.loop(0, a.shape[1]) as j:
        kept = a[one, j]
        a[one, j] = a[other, j]
        a[other, j] = kept


def factor_in_place(k: LoopKernel, a: Array, pivots: Array, info: Array) -> None:
    """Replaces `a` by its factors: a unit lower triangle and an upper one.

    Row i was exchanged with row `pivots[i] - 1`. `info[0]` becomes the number, from 1 on, of the first pivot that is
    zero, or 0.
    """
    rows, columns = a.shape
    info[0] = k.number(0, i32)
    with k.loop(0, min(rows, columns)) as i:
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


def factor(lowering: Lowering, a: Value, shape: Sequence[int]) -> list[Value]:
    """(factors, pivots, info) of matrices of `shape` (how many, rows, columns)."""
    count, rows, columns = shape
    k = LoopKernel(lowering, count, element_of(a))
    source = k.input(a)
    result = k.output([rows, columns], complex=source.is_complex)
    pivots, info = k.output([min(rows, columns)], i32), k.output([1], i32)
    k.copy(source, result)
    factor_in_place(k, result, pivots, info)
    return k.run()
