"""Discrete Fourier transforms of lines in one loop kernel: Stockham passes of radix 4, 2, 3, 5, 7, 11 and 13.

A pass of radix r reads elements that are a part of the line apart and writes groups of r next to each other, so no
reordering is needed; factors come from a table. Lengths with a larger prime factor are a convolution with a chirp
(Bluestein), whose own transforms have a power of two as their length. Lines may run along any dimension: elements of
one are `step` apart, and the `step` lines that lie within each other are done together, vectors across them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Protocol

from xdsl.dialects.builtin import AnyFloat, Float64Type, TensorType
from xdsl.ir import SSAValue

from tiree.dialects.dense import DenseAttr
from tiree.input.factorizations.kernel import Array, LoopKernel, Num, Value
from tiree.input.lowering.context import Lowering, Size

RADICES = (4, 2, 3, 5, 7, 11, 13)
ROW_ELEMENTS = 4096
"""A workgroup does several short lines, of about so many elements together."""
NARROW = 4
"""With fewer lines within each other, vectors run along the line."""

Get = Callable[[Num], Num]
Put = Callable[[Num, Num], None]


def radices(length: int) -> list[int] | None:
    """The radices whose product is `length`, or None."""
    found: list[int] = []
    for radix in RADICES:
        while length % radix == 0:
            found.append(radix)
            length //= radix
    return found if length == 1 else None


def unit_root(numerator: int, denominator: int) -> tuple[float, float]:
    """cos and sin of 2 pi numerator / denominator, from an angle of at most an eighth of a turn."""
    eighths = 8 * (numerator % denominator)
    octant, rest = divmod(eighths, denominator)
    if octant % 2:
        rest = denominator - rest
    c, s = cos(pi / 4 * rest / denominator), sin(pi / 4 * rest / denominator)
    return ((c, s), (s, c), (-s, c), (-c, s), (-c, -s), (-s, -c), (s, -c), (c, -s))[octant]


@dataclass(frozen=True)
class Transform:
    """Lines of `length` elements that are `step` apart; `sign` is -1 forwards and +1 backwards (not scaled)."""

    length: int
    step: int
    sign: int


class Tables:
    """Constants of a kernel: complex numbers in one pair of tensors."""

    def __init__(self) -> None:
        self.numbers: list[tuple[float, float]] = []
        self.re: Array | None = None
        self.im: Array | None = None

    def add(self, numbers: Sequence[tuple[float, float]]) -> int:
        """Where the numbers begin."""
        start = len(self.numbers)
        self.numbers.extend(numbers)
        return start

    def load(self, k: LoopKernel) -> None:
        """Binds the tables; none are added afterwards."""
        if self.numbers:
            self.re, self.im = (
                k.whole_input(_constant(k.lowering, k.element, part)) for part in zip(*self.numbers, strict=True)
            )

    def __call__(self, k: LoopKernel, at: Num) -> Num:
        assert self.re is not None
        assert self.im is not None
        return k.complex(self.re[at], self.im[at])


def _constant(lowering: Lowering, element: AnyFloat, numbers: Sequence[float]) -> SSAValue:
    data = array("d" if isinstance(element, Float64Type) else "f", numbers).tobytes()
    return lowering.constant(DenseAttr.from_buffer(TensorType(element, [len(numbers)]), data))


def _turned(a: Num, sign: int) -> Num:
    """a times the imaginary unit, or minus it."""
    k = a.kernel
    return k.complex(-a.imag, a.real) if sign > 0 else k.complex(a.imag, -a.real)


def butterfly(a: list[Num], sign: int) -> list[Num]:
    """The transform of a few numbers."""
    if len(a) == 2:
        return [a[0] + a[1], a[0] - a[1]]
    if len(a) == 4:
        even, odd = a[0] + a[2], a[0] - a[2]
        other, turned = a[1] + a[3], _turned(a[1] - a[3], sign)
        return [even + other, odd + turned, even - other, odd - turned]
    radix = len(a)
    half = range(1, radix // 2 + 1)
    sums, differences = [a[j] + a[radix - j] for j in half], [a[j] - a[radix - j] for j in half]
    total = a[0]
    for one in sums:
        total = total + one
    result: list[Num] = [total] * radix
    for out in half:
        straight, across = a[0], None
        for j, one, other in zip(half, sums, differences, strict=True):
            c, s = unit_root(j * out, radix)
            straight = straight + one * c
            across = other * s if across is None else across + other * s
        assert across is not None
        turned = _turned(across, sign)
        result[out], result[radix - out] = straight + turned, straight - turned
    return result


@dataclass(frozen=True)
class Pass:
    """One pass: `parts` elements of the line are left between those that are combined, `step` lies between elements."""

    radix: int
    parts: int
    step: int
    table: int


def plan(transform: Transform, tables: Tables) -> list[Pass]:
    """The passes of a transform whose length has small factors only."""
    found: list[Pass] = []
    length, step = transform.length, transform.step
    for radix in radices(transform.length) or ():
        parts = length // radix
        table = 0
        if parts > 1:
            table = tables.add(
                [
                    (c, transform.sign * s)
                    for out in range(1, radix)
                    for c, s in (unit_root(p * out, length) for p in range(parts))
                ]
            )
        found.append(Pass(radix, parts, step, table))
        length, step = parts, step * radix
    return found


def run_pass(k: LoopKernel, one: Pass, sign: int, tables: Tables, get: Get, put: Put) -> None:
    """One pass over a line."""

    def point(p: Num, q: Num) -> None:
        inputs = [get(q + (p + one.parts * j) * one.step) for j in range(one.radix)]
        for number, value in enumerate(butterfly(inputs, sign)):
            if number and one.parts > 1:
                value = value * tables(k, p + (one.table + (number - 1) * one.parts))
            put(q + (p * one.radix + number) * one.step, value)

    if one.step < NARROW:
        with k.loop(0, one.step) as q, k.loop(0, one.parts) as p:
            point(p, q)
    else:
        with k.loop(0, one.parts) as p, k.loop(0, one.step) as q:
            point(p, q)


def run_passes(
    k: LoopKernel,
    passes: Sequence[Pass],
    sign: int,
    tables: Tables,
    get: Get,
    put: Put,
    spare: tuple[Array, Array],
) -> None:
    """All passes, from `get` to `put`; those between use the spare arrays."""
    for number, one in enumerate(passes):
        last = number == len(passes) - 1
        here, there = spare[number % 2], spare[(number + 1) % 2]
        source: Get = get if number == 0 else lambda at, here=here: here[at]

        def store(at: Num, value: Num, there: Array = there) -> None:
            there[at] = value

        run_pass(k, one, sign, tables, source, put if last else store)


def _chirp(transform: Transform) -> list[tuple[float, float]]:
    """exp(sign pi i j^2 / n)."""
    n = transform.length
    return [(c, transform.sign * s) for c, s in (unit_root(j * j % (2 * n), 2 * n) for j in range(n))]


class _Bluestein:
    """A transform of any length as a convolution."""

    def __init__(self, transform: Transform, tables: Tables) -> None:
        import numpy as np

        self.transform = transform
        n = transform.length
        size = 1 << (2 * n - 2).bit_length()
        chirp = _chirp(transform)
        filter = np.zeros(size, np.complex128)
        filter[:n] = [complex(c, -s) for c, s in chirp]
        filter[size - n + 1 :] = filter[1:n][::-1]
        spectrum = np.fft.fft(filter) / size
        self.size = size
        self.chirp = tables.add(chirp)
        self.spectrum = tables.add([(float(value.real), float(value.imag)) for value in spectrum])
        self.forwards = plan(Transform(size, transform.step, -1), tables)
        self.backwards = plan(Transform(size, transform.step, 1), tables)

    def run(self, k: LoopKernel, tables: Tables, get: Get, put: Put, spare: tuple[Array, Array]) -> None:
        n, step = self.transform.length, self.transform.step
        # Passes end in the array that they do not begin in, so the arrays change places where their number is odd.
        first, second = spare
        with k.loop(0, self.size) as j, k.loop(0, step) as q:
            inside = j < n
            at = k.where(inside, j, k.index(0))
            value = get(at * step + q) * tables(k, at + self.chirp)
            first[j * step + q] = k.where(inside, value, 0.0)
        ends = first if len(self.forwards) % 2 == 0 else second
        run_passes(k, self.forwards, -1, tables, lambda at: first[at], into(ends), spare)
        with k.loop(0, self.size) as j, k.loop(0, step) as q:
            ends[j * step + q] = ends[j * step + q] * tables(k, j + self.spectrum)
        other = second if ends is first else first
        final = ends if len(self.backwards) % 2 == 0 else other
        run_passes(k, self.backwards, 1, tables, lambda at: ends[at], into(final), (ends, other))
        with k.loop(0, n) as j, k.loop(0, step) as q:
            put(j * step + q, final[j * step + q] * tables(k, j + self.chirp))


def into(array_: Array) -> Put:
    """What stores to an array."""

    def store(at: Num, value: Num) -> None:
        array_[at] = value

    return store


def lines_together(count: Size, elements: int) -> int:
    """How many lines (or groups of lines) a workgroup does: a divisor of how many there are, 1 where that is not
    known."""
    if not isinstance(count, int):
        return 1
    wanted = max(1, min(count, ROW_ELEMENTS // max(elements, 1)))
    return next(number for number in range(wanted, 0, -1) if count % number == 0)


@dataclass(frozen=True)
class Row:
    """Row number `number` of an array of two dimensions."""

    array: Array
    number: Num

    def __getitem__(self, at: Num) -> Num:
        return self.array[self.number, at]

    def __setitem__(self, at: Num, value: Num) -> None:
        self.array[self.number, at] = value


Elements = Array | Row


class Side(Protocol):
    """A pass over a whole line before or behind its transform, with powers of a root of unity from a table."""

    roots: Sequence[tuple[float, float]]

    def before(self, k: LoopKernel, root: Get, get: Get, line: Array) -> None:
        """Writes to `line` what is transformed."""
        ...

    def after(self, k: LoopKernel, root: Get, line: Array, put: Put) -> None:
        """Stores what becomes of the transform in `line`."""
        ...


@dataclass(frozen=True)
class Ends:
    """How a kernel reads and writes a line: `get(array, base, at)` and `put(array, base, at, value)`.

    `read` and `written` are the elements of a line (or group of lines) in the operand and in the result.
    """

    read: int
    written: int
    get: Callable[[Elements, Num, Num], Num]
    put: Callable[[Elements, Num, Num, Num], None]
    complex_result: bool = True
    before: Side | None = None
    after: Side | None = None


def _plain_copy(k: LoopKernel, step: int, get: Get, put: Put) -> None:
    with k.loop(0, step) as q:
        put(q, get(q))


def run(lowering: Lowering, value: Value, count: Size, element: AnyFloat, transform: Transform, ends: Ends) -> Value:
    """The transforms of `count` groups of lines in `value`, whose parts have shape [workgroups, elements]; the result
    likewise."""
    size = transform.length * transform.step
    together = lines_together(count, size)
    k = LoopKernel(lowering, count // together if isinstance(count, int) else count, element)
    tables = Tables()
    bluestein = _Bluestein(transform, tables) if radices(transform.length) is None else None
    passes = plan(transform, tables) if bluestein is None else []
    side = ends.before or ends.after
    roots = tables.add(side.roots) if side else 0
    tables.load(k)
    source = k.input(value)
    result = k.output([together * ends.written], complex=ends.complex_result)
    own = k.scratch([size], complex=True) if side else result
    room = bluestein.size * transform.step if bluestein else size
    needed = 2 if bluestein or len(passes) > 2 else 1 if len(passes) == 2 else 0
    first = k.scratch([room], complex=True) if needed else result
    spare = (first, k.scratch([room], complex=True) if needed == 2 else first)
    with k.loop(0, together) as line:
        base, out = line * ends.read, line * ends.written

        def root(at: Num) -> Num:
            return tables(k, at + roots)

        def read(at: Num) -> Num:
            return ends.get(source, base, at)

        def write(at: Num, new: Num) -> None:
            ends.put(result, out, at, new)

        if ends.before:
            ends.before.before(k, root, read, own)
        get: Get = (lambda at: own[at]) if ends.before else read
        put: Put = into(own) if ends.after else write
        if bluestein is not None:
            bluestein.run(k, tables, get, put, spare)
        elif passes:
            run_passes(k, passes, transform.sign, tables, get, put, spare)
        else:
            _plain_copy(k, transform.step, get, put)
        if ends.after:
            ends.after.after(k, root, own, write)
    return k.run()[0]
