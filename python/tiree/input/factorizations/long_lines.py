"""Fourier transforms of long lines by several workgroups: a line as a matrix, its columns transformed, then its rows.

Element j1 * n2 + j2 of a line of n1 * n2 elements stands in row j1, column j2. The columns are transformed and stored
as rows of the transposed matrix; its columns, times powers of the root of unity, are transformed in turn and are the
result, in order. In both steps a workgroup does some columns side by side, vectors across them, in memory that stays in
its cache. How a line is split depends on its length alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import AnyFloat

from tiree.input.factorizations.fourier import (
    Get,
    Pass,
    Put,
    Tables,
    Transform,
    butterfly,
    into,
    plan,
    radices,
    run_pass,
    unit_root,
)
from tiree.input.factorizations.kernel import Array, LoopKernel, Num, Value
from tiree.input.lowering.context import Lowering, Size
from tiree.input.lowering.dims import product

LONG = 1 << 20
"""Lines from so many elements on are split. Shorter ones fit into caches: two workers took 0.9 to 2.7 times as long
with the pieces of one (16,384 to 262,144 elements) as one worker with the whole."""
FEWEST_COLUMNS = 7
FEWEST_ROWS = 32
LEAST_TILE = 4096

Reader = Callable[[Array, Num, Num], Num]
"""An element of a line: `read(source, line, at)`."""
Writer = Callable[[Array, Num, Num, Num], None]


@dataclass(frozen=True)
class Split:
    """A matrix of n1 rows and n2 columns; workgroups do `first` columns of it, then `second` of the transposed one."""

    n1: int
    n2: int
    first: int
    second: int


def side_by_side(columns: int, element: AnyFloat) -> int:
    """How many columns a workgroup does: a divisor, a cache line of numbers if that goes."""
    line = 64 * 8 // element.bitwidth
    return next((n for n in (line, line // 2) if columns % n == 0), 0) or max(
        n for n in range(1, 2 * line) if columns % n == 0
    )


def split(length: int, element: AnyFloat) -> Split | None:
    """How a line is split, or None where it is not: too short, or with no good factors."""
    if length < LONG or radices(length) is None:
        return None
    best: Split | None = None
    for n1 in range(int(length**0.5), int(length**0.25), -1):
        if length % n1 or n1 < FEWEST_ROWS:
            continue
        found = Split(n1, length // n1, *(side_by_side(n, element) for n in (length // n1, n1)))
        if min(found.first, found.second) < FEWEST_COLUMNS:
            continue
        if best is None or min(found.first, found.second) > min(best.first, best.second):
            best = found
        if length // n1 > 16 * n1:
            break
    return best


@dataclass(frozen=True)
class _Lanes:
    """Lines that lie within each other: element `row` of all of them, then the next row."""

    k: LoopKernel
    lanes: int
    sign: int
    tables: Tables

    def first(self, one: Pass, read: Callable[[Num], Get], there: Array) -> None:
        """The first pass. `read(row)` gives what reads element `row` of each line."""
        k, lanes = self.k, self.lanes
        with k.loop(0, one.parts) as p:
            rows = [read(p + one.parts * j) for j in range(one.radix)]
            factors = [self.tables(k, p + (one.table + out * one.parts)) for out in range(one.radix - 1)]
            with k.loop(0, lanes) as q:
                for out, value in enumerate(butterfly([row(q) for row in rows], self.sign)):
                    there[q + (p * one.radix + out) * lanes] = value * factors[out - 1] if out else value

    def between(self, one: Pass, here: Array, there: Array) -> None:
        run_pass(self.k, one, self.sign, self.tables, lambda at: here[at], into(there))

    def last(self, one: Pass, here: Array, write: Callable[[Num], Put]) -> None:
        """The last pass. `write(row)` gives what writes element `row` of each line."""
        k, groups = self.k, one.step // self.lanes
        with k.loop(0, groups) as r:
            rows = [write(r + out * groups) for out in range(one.radix)]
            with k.loop(0, self.lanes) as q:
                inputs = [here[q + r * self.lanes + j * one.step] for j in range(one.radix)]
                for row, value in zip(rows, butterfly(inputs, self.sign), strict=True):
                    row(q, value)


class _Powers:
    """Powers of a root of unity of order `length`: exponents k * j with j from a tile of `lanes`, as products of three
    numbers from tables."""

    def __init__(self, tables: Tables, shape: tuple[int, int], lanes: int, sign: int) -> None:
        rows, _ = shape
        self.lanes = lanes
        length = shape[0] * shape[1]
        self.low_bits = length.bit_length() // 2
        low = 1 << self.low_bits

        def root(exponent: int) -> tuple[float, float]:
            c, s = unit_root(exponent % length, length)
            return c, sign * s

        self.low = tables.add([root(e) for e in range(low)])
        self.high = tables.add([root(e * low) for e in range(-(-length // low))])
        self.inner = tables.add([root(row * lane) for row in range(rows) for lane in range(lanes)])

    def of_tile(self, k: LoopKernel, tables: Tables, row: Num, first: Num) -> Num:
        """The power row * first."""
        exponent = row * first
        high = exponent.quotient(1 << self.low_bits)
        return tables(k, high + self.high) * tables(k, exponent - high * (1 << self.low_bits) + self.low)

    def within(self, k: LoopKernel, tables: Tables, row: Num) -> Get:
        """The powers row * lane."""
        base = row * self.lanes + self.inner
        return lambda lane: tables(k, base + lane)


@dataclass(frozen=True)
class Line:
    """How elements of a line are read and written, and how many there are in the result."""

    read: Reader
    write: Writer
    written: int
    complex_result: bool = True


def _columns(
    lowering: Lowering, value: Value, count: Size, element: AnyFloat, how: Split, sign: int, read: Reader
) -> Value:
    """The transforms of the columns: [count * tiles, n1 * columns of a tile], tile by tile as workgroups do them."""
    lanes, tiles = how.first, how.n2 // how.first
    k = LoopKernel(lowering, product(lowering, [count, tiles]), element)
    work = _Lanes(k, lanes, sign, Tables())
    passes = plan(Transform(how.n1, lanes, sign), work.tables)
    work.tables.load(k)
    source = k.whole_input(value)
    result, spare = k.output([how.n1 * lanes], complex=True), k.scratch([how.n1 * lanes], complex=True)
    # The last pass is to end in the result.
    arrays = (result, spare) if len(passes) % 2 else (spare, result)
    line, first = k.workgroup.quotient(tiles), k.workgroup.remainder(tiles) * lanes

    def row(number: Num) -> Get:
        base = number * how.n2 + first
        return lambda q: read(source, line, base + q)

    work.first(passes[0], row, arrays[0])
    for number, one in enumerate(passes[1:]):
        work.between(one, arrays[number % 2], arrays[(number + 1) % 2])
    return k.run()[0]


def _rows(lowering: Lowering, value: Value, count: Size, element: AnyFloat, how: Split, sign: int, ends: Line) -> Value:
    """The transforms of the rows of what `_columns` gives, whose elements are the result in order: [count, written]."""
    lanes, tiles, given = how.second, how.n1 // how.second, how.n2 // how.first
    k = LoopKernel(lowering, product(lowering, [count, tiles]), element)
    work = _Lanes(k, lanes, sign, Tables())
    passes = plan(Transform(how.n2, lanes, sign), work.tables)
    powers = _Powers(work.tables, (how.n2, how.n1), lanes, sign)
    work.tables.load(k)
    source = k.whole_input(value)
    result = k.shared_output([count, ends.written], complex=ends.complex_result)
    spare = (k.scratch([how.n2 * lanes], complex=True), k.scratch([how.n2 * lanes], complex=True))
    line, first = k.workgroup.quotient(tiles), k.workgroup.remainder(tiles) * lanes
    with k.loop(0, given) as tile, k.loop(0, how.first) as column:
        number = tile * how.first + column
        turn, inner = powers.of_tile(k, work.tables, number, first), powers.within(k, work.tables, number)
        with k.loop(0, lanes) as q:
            there = source[line * given + tile, (first + q) * how.first + column]
            spare[0][number * lanes + q] = there * (turn * inner(q))

    def out(number: Num) -> Put:
        base = number * how.n1 + first

        def put(q: Num, new: Num) -> None:
            ends.write(result, line, base + q, new)

        return put

    for number, one in enumerate(passes[:-1]):
        work.between(one, spare[number % 2], spare[(number + 1) % 2])
    work.last(passes[-1], spare[(len(passes) - 1) % 2], out)
    return k.run()[0]


def in_tiles(transform: Transform, element: AnyFloat) -> bool:
    """Whether `columns` goes, and pays: at least two passes, columns enough side by side, a large matrix."""
    passes = radices(transform.length)
    lanes = side_by_side(transform.step, element)
    large = transform.length * transform.step > LEAST_TILE
    return passes is not None and len(passes) > 1 and lanes >= FEWEST_COLUMNS and large


def columns(
    lowering: Lowering, value: Value, count: Size, element: AnyFloat, transform: Transform, write: Writer
) -> Value:
    """The transforms along the rows of `count` matrices of `step` columns, [count, elements], which stay where they
    are; some columns a workgroup."""
    lanes = side_by_side(transform.step, element)
    tiles = transform.step // lanes
    k = LoopKernel(lowering, product(lowering, [count, tiles]), element)
    work = _Lanes(k, lanes, transform.sign, Tables())
    passes = plan(Transform(transform.length, lanes, transform.sign), work.tables)
    work.tables.load(k)
    source = k.whole_input(value)
    size = transform.length * lanes
    result = k.shared_output([count, transform.length * transform.step], complex=True)
    spare = (k.scratch([size], complex=True), k.scratch([size], complex=True))
    line, first = k.workgroup.quotient(tiles), k.workgroup.remainder(tiles) * lanes

    def row(number: Num) -> Get:
        base = number * transform.step + first
        return lambda q: source[line, base + q]

    def out(number: Num) -> Put:
        base = number * transform.step + first

        def put(q: Num, new: Num) -> None:
            write(result, line, base + q, new)

        return put

    work.first(passes[0], row, spare[0])
    for number, one in enumerate(passes[1:-1]):
        work.between(one, spare[number % 2], spare[(number + 1) % 2])
    work.last(passes[-1], spare[len(passes) % 2], out)
    return k.run()[0]


def transform(
    lowering: Lowering, value: Value, count: Size, element: AnyFloat, how: Split, sign: int, line: Line
) -> Value:
    """The transforms of `count` lines, whose parts have shape [count, elements]; the result likewise."""
    turned = _columns(lowering, value, count, element, how, sign, line.read)
    return _rows(lowering, turned, count, element, how, sign, line)
