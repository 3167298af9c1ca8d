"""Fourier transforms of real lines of even length, by a complex one of half the length and a pass over its result.

Pairs of neighbours are complex numbers z of which the transform Z is taken. The elements k and m - k of Z (m is half
the length) give those of the result: with E = Z[k] + conj Z[m - k], O = -i (Z[k] - conj Z[m - k]) and a power w of the
root of unity they are half of E + w O and of conj(E - w O). Backwards the same pass goes before the transform.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat

from tiree.input.factorizations.fourier import Get, Put, Tables, unit_root
from tiree.input.factorizations.kernel import Array, LoopKernel, Num, Value
from tiree.input.lowering.context import Lowering, Size
from tiree.input.lowering.dims import product

CHUNK = 2048
"""Pairs of a workgroup where lines are long."""


def _pairs(length: int) -> int:
    """The numbers k from 1 on of which k and m - k are a pair; `length` is m."""
    return (length - 1) // 2


def roots(length: int, sign: int) -> list[tuple[float, float]]:
    """The powers of the root of order 2 m that `forwards` and `backwards` need; `length` is m."""
    return [(c, sign * s) for c, s in (unit_root(p, 2 * length) for p in range(_pairs(length) + 1))]


def _times_i(a: Num) -> Num:
    return a.kernel.complex(-a.imag, a.real)


def forwards(k: LoopKernel, length: int, bounds: tuple[Num, Num], root: Get, get: Get, put: Put) -> None:
    """The elements of the real transform, for the pairs in `bounds`, from those of the complex one."""
    with k.loop(*bounds) as p:
        low, high = get(p), get(length - p).conj()
        even, odd = (low + high) * 0.5, (low - high) * 0.5
        turned = odd * root(p)
        # -i times it.
        turned = k.complex(turned.imag, -turned.real)
        put(p, even + turned)
        put(length - p, (even - turned).conj())


def forwards_alone(k: LoopKernel, length: int, get: Get, put: Put) -> None:
    """The elements that have no partner: the first, the last and the middle one."""
    first, zero = get(k.index(0)), k.number(0.0)
    put(k.index(0), k.complex(first.real + first.imag, zero))
    put(k.index(length), k.complex(first.real - first.imag, zero))
    if length % 2 == 0:
        middle = k.index(length // 2)
        put(middle, get(middle).conj())


def backwards(k: LoopKernel, length: int, bounds: tuple[Num, Num], root: Get, get: Get, put: Put) -> None:
    """The elements of the complex line, twice as large, for the pairs in `bounds`, from those of the real one's."""
    with k.loop(*bounds) as p:
        low, high = get(p), get(length - p).conj()
        even, turned = low + high, _times_i((low - high) * root(p))
        put(p, even + turned)
        put(length - p, (even - turned).conj())


def backwards_alone(k: LoopKernel, length: int, get: Get, put: Put) -> None:
    """The elements that have no partner; the imaginary parts of the first and the last one are not looked at."""
    first, last = get(k.index(0)).real, get(k.index(length)).real
    put(k.index(0), k.complex(first + last, first - last))
    if length % 2 == 0:
        middle = k.index(length // 2)
        put(middle, get(middle).conj() * 2.0)


class Chunks:
    """The pass over long lines, some pairs a workgroup; powers are products of two numbers from tables."""

    def __init__(self, lowering: Lowering, count: Size, element: AnyFloat, length: int, sign: int) -> None:
        self.length = length
        self.pairs = _pairs(length)
        self.chunks = -(-(self.pairs + 1) // CHUNK)
        self.kernel = LoopKernel(lowering, product(lowering, [count, self.chunks]), element)
        self.tables = Tables()
        self.count = count

        def root(power: int) -> tuple[float, float]:
            c, s = unit_root(power, 2 * length)
            return c, sign * s

        self.outer = self.tables.add([root(chunk * CHUNK) for chunk in range(self.chunks)])
        self.inner = self.tables.add([root(power) for power in range(CHUNK)])
        self.tables.load(self.kernel)

    def run(self, value: Value, written: int, is_forwards: bool) -> Value:
        """The result, [lines, written]."""
        k, tables = self.kernel, self.tables
        source = k.whole_input(value)
        result = k.shared_output([self.count, written], complex=True)
        line, chunk = k.workgroup.quotient(self.chunks), k.workgroup.remainder(self.chunks)
        first = chunk * CHUNK
        turn = tables(k, chunk + self.outer)

        def get(at: Num) -> Num:
            return source[line, at]

        def put(at: Num, new: Num) -> None:
            result[line, at] = new

        def root(at: Num) -> Num:
            return turn * tables(k, at - first + self.inner)

        bounds = first.most(1), (first + CHUNK).least(self.pairs + 1)
        (forwards if is_forwards else backwards)(k, self.length, bounds, root, get, put)
        with k.when(chunk.eq(0)):
            (forwards_alone if is_forwards else backwards_alone)(k, self.length, get, put)
        return k.run()[0]


class Short:
    """The pass as a part of the kernel of short lines."""

    def __init__(self, length: int, sign: int) -> None:
        self.length = length
        self.roots: Sequence[tuple[float, float]] = roots(length, sign)

    def _bounds(self, k: LoopKernel) -> tuple[Num, Num]:
        return k.index(1), k.index(_pairs(self.length) + 1)

    def after(self, k: LoopKernel, root: Get, line: Array, put: Put) -> None:
        """Forwards: what is stored, from the transform in `line`."""

        def get(at: Num) -> Num:
            return line[at]

        forwards(k, self.length, self._bounds(k), root, get, put)
        forwards_alone(k, self.length, get, put)

    def before(self, k: LoopKernel, root: Get, get: Get, line: Array) -> None:
        """Backwards: what is transformed, into `line`."""

        def put(at: Num, value: Num) -> None:
            line[at] = value

        backwards(k, self.length, self._bounds(k), root, get, put)
        backwards_alone(k, self.length, get, put)
