"""Cholesky factors: `stablehlo.cholesky`, and what the custom call `potrf` of JAX asks for."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation

from tiree.input.factorizations.arrays import Array, Slice
from tiree.input.factorizations.batches import element_of, from_kernel, to_kernel
from tiree.input.factorizations.blocked_cholesky import LARGE, factor_lower
from tiree.input.factorizations.kernel import LoopKernel, Num, Value
from tiree.input.lowering.context import Lowering, Size
from tiree.input.lowering.dims import common_sizes, product, require_equal
from tiree.input.lowering.scalar import inherent
from tiree.support.typed import is_integer_attr

Matrix = Array | Slice


def _note(k: LoopKernel, failed: Array, square: Num, i: Num) -> None:
    """Notes that minor `i` fails if the square of its pivot is not positive and none failed before."""
    fails = ~(square > 0.0) & failed[0].eq(0)
    failed[0] = k.where(fails, (i + 1).to_type(i32), failed[0])


def _factor_lower(k: LoopKernel, low: Matrix, failed: Array) -> None:
    """Replaces the lower triangle of `l` by its factor, row by row; sums run along rows."""
    with k.loop(0, low.shape[0]) as i:
        with k.loop(0, i) as j:
            rest = k.sum(0, j, lambda p, j=j: low[i, p] * low[j, p].conj(), complex=low.is_complex)
            low[i, j] = (low[i, j] - rest) / low[j, j].real
        square = low[i, i].real - k.sum(0, i, lambda p: low[i, p].abs2())
        _note(k, failed, square, i)
        low[i, i] = square.sqrt()


def _factor_upper(k: LoopKernel, u: Matrix, failed: Array) -> None:
    """Replaces the upper triangle of `u` by its factor; each row is taken off those below it."""
    n = u.shape[0]
    with k.loop(0, n) as i:
        square = u[i, i].real
        _note(k, failed, square, i)
        root = square.sqrt()
        u[i, i] = root
        with k.loop(i + 1, n) as j:
            u[i, j] = u[i, j] / root
        with k.loop(i + 1, n) as r:
            other = u[i, r].conj()
            with k.loop(r, n) as j:
                u[r, j] = u[r, j] - other * u[i, j]


def factor(
    lowering: Lowering, a: Value, lower: bool, shape: tuple[Size, Size, Size], nans: bool
) -> tuple[Value, Value]:
    """The factors of matrices of `shape` (how many, n, n) and, for each, the number from 1 on of its first leading
    minor that is not positive, or 0: the rows from there on are not meaningful.

    The other triangle is zero with `nans`, where a matrix that fails gives NaN all over, and as it was without.
    """
    size = shape[1]
    if lower and isinstance(size, int) and size > LARGE:
        return factor_lower(lowering, a, (shape[0], size, size), nans)
    k = LoopKernel(lowering, shape[0], element_of(a))
    n = k.extent(size)
    source = k.input(a) if isinstance(size, int) else k.sized_input(a)
    if isinstance(size, int):
        result: Matrix = k.output([size, size], complex=source.is_complex)
    else:
        result = k.sized_output([size, size], complex=source.is_complex)
    failed = k.output([1], i32)
    failed[0] = k.number(0, i32)
    with k.loop(0, n) as i, k.loop(0, n) as j:
        inside = j <= i if lower else j >= i
        result[i, j] = k.where(inside, source[i, j], 0.0) if nans else source[i, j]
    (_factor_lower if lower else _factor_upper)(k, result, failed)
    if nans:
        nan = k.number(float("nan"))
        with k.loop(0, k.where(failed[0].ne(0), k.index(n), k.index(0))) as i, k.loop(0, n) as j:
            result[i, j] = k.complex(nan, nan) if result.is_complex else nan
    one, other = k.run()
    return (one, other) if isinstance(size, int) else (other, one)


def _cholesky(lowering: Lowering, op: Operation) -> None:
    sizes = common_sizes(lowering, op, op.operands, op.results[0].type)
    sizes[-2:] = [require_equal(lowering, op, sizes[-2], sizes[-1])] * 2
    if 0 in sizes:
        lowering.set(op.results[0], lowering.values[op.operands[0]])
        return
    attr = inherent(op, "lower")
    lower = is_integer_attr(attr) and bool(attr.value.data)
    a = to_kernel(lowering, op.operands[0], 2)
    factors, _ = factor(lowering, a, lower, (product(lowering, sizes[:-2]), sizes[-2], sizes[-1]), nans=True)
    from_kernel(lowering, op.results[0], factors, sizes)


HANDLERS = {"stablehlo.cholesky": _cholesky}
