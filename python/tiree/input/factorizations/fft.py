"""`stablehlo.fft`: all kinds, of one, two or three dimensions, one kernel a dimension (`fourier.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation

from tiree.dialects.stablehlo_attrs import FftTypeAttr
from tiree.input.factorizations.batches import from_kernel, part_type, reshaped, to_kernel, zeros_of
from tiree.input.factorizations.fourier import Elements, Ends, Row, Transform, lines_together, run
from tiree.input.factorizations.half_fourier import Chunks, Short
from tiree.input.factorizations.kernel import Array, Num, Value
from tiree.input.factorizations.long_lines import Line, Split, columns, in_tiles, split
from tiree.input.factorizations.long_lines import transform as long_transform
from tiree.input.lowering.context import Lowering, Size, Unsupported, ranked_type
from tiree.input.lowering.dims import product, refine, require_equal, sizes_of
from tiree.input.lowering.scalar import inherent
from tiree.input.lowering.structural import ints_property

Get = Callable[[Elements, Num, Num], Num]

EVEN = 4
"""Real lines of even length from this on are transformed as complex ones of half the length."""


def _plain(source: Elements, base: Num, at: Num) -> Num:
    return source[base + at]


def _scaled(scale: float) -> Callable[[Elements, Num, Num, Num], None]:
    def put(result: Elements, base: Num, at: Num, value: Num) -> None:
        result[base + at] = value if scale == 1.0 else value * scale

    return put


def _hermitian(length: int) -> Get:
    """Elements of a whole line of which the first half is there; the first and the middle one are real."""

    def get(source: Elements, base: Num, at: Num) -> Num:
        k = at.kernel
        mirrored = at > length // 2
        value = source[base + k.where(mirrored, length - at, at)]
        alone = at.eq(0) | (at * 2).eq(length)
        imaginary = k.where(alone, 0.0, k.where(mirrored, -value.imag, value.imag))
        return k.complex(value.real, imaginary)

    return get


def _first_half(length: int) -> Callable[[Elements, Num, Num, Num], None]:
    """Writes the elements up to the middle."""

    def put(result: Elements, base: Num, at: Num, value: Num) -> None:
        k = at.kernel
        with k.when(at < length // 2 + 1):
            result[base + at] = value

    return put


def _real_part(scale: float) -> Callable[[Elements, Num, Num, Num], None]:
    def put(result: Elements, base: Num, at: Num, value: Num) -> None:
        result[base + at] = value.real * scale

    return put


def _pairs(source: Elements, base: Num, at: Num) -> Num:
    """Two neighbours as one complex number."""
    return at.kernel.complex(source[base + at * 2], source[base + at * 2 + 1])


def _to_pairs(scale: float) -> Callable[[Elements, Num, Num, Num], None]:
    def put(result: Elements, base: Num, at: Num, value: Num) -> None:
        result[base + at * 2] = value.real * scale
        result[base + at * 2 + 1] = value.imag * scale

    return put


def _load(source: Array, line: Num, at: Num) -> Num:
    return source[line, at]


def _store(result: Array, line: Num, at: Num, value: Num) -> None:
    result[line, at] = value


def _of_line(ends: Ends) -> Line:
    """The same for an array whose first dimension is the lines'."""

    def read(source: Array, line: Num, at: Num) -> Num:
        return ends.get(Row(source, line), at.kernel.index(0), at)

    def write(result: Array, line: Num, at: Num, value: Num) -> None:
        ends.put(Row(result, line), at.kernel.index(0), at, value)

    return Line(read, write, ends.written, ends.complex_result)


class _Lines:
    """A tensor that is transformed along one dimension after the other, whose sizes are known."""

    def __init__(self, lowering: Lowering, value: Value, shape: Sequence[Size], element: AnyFloat) -> None:
        self.lowering = lowering
        self.value = value
        self.shape = list(shape)
        self.element = element

    def _reshape(self, shape: Sequence[Size]) -> None:
        if isinstance(self.value, tuple):
            re, im = self.value
            self.value = reshaped(self.lowering, re, shape), reshaped(self.lowering, im, shape)
        else:
            self.value = reshaped(self.lowering, self.value, shape)

    def _along(self, dim: int, transform: Transform, ends: Ends, size: int) -> None:
        """Transforms along `dim`, whose size becomes `size`."""
        count = product(self.lowering, self.shape[:dim])
        how = split(transform.length, self.element) if transform.step == 1 else None
        together = lines_together(count, transform.length * transform.step)
        if how is None:
            groups = count // together if isinstance(count, int) else count
            self._reshape([groups, together * ends.read])
            self.value = run(self.lowering, self.value, count, self.element, transform, ends)
        else:
            self._reshape([count, ends.read])
            self._long(count, transform, ends, how)
        self.shape[dim] = size

    def _long(self, count: Size, transform: Transform, ends: Ends, how: Split) -> None:
        line = _of_line(ends)
        if ends.before:
            self._pass(count, transform, transform.length, False)
            line = replace(line, read=_load)
        if ends.after:
            line = replace(line, write=_store, written=transform.length)
        self.value = long_transform(self.lowering, self.value, count, self.element, how, transform.sign, line)
        if ends.after:
            self._pass(count, transform, ends.written, True)

    def _pass(self, count: Size, transform: Transform, written: int, forwards: bool) -> None:
        chunks = Chunks(self.lowering, count, self.element, transform.length, transform.sign)
        self.value = chunks.run(self.value, written, forwards)

    def complex_along(self, dim: int, sign: int) -> None:
        """A complex transform along `dim`, divided by its length where it goes back."""
        n, *inner = (size for size in self.shape[dim:] if isinstance(size, int))
        step = prod(inner)
        transform, put = Transform(n, step, sign), _scaled(1.0 / n if sign > 0 else 1.0)
        ends = Ends(n * step, n * step, _plain, put)
        if in_tiles(transform, self.element):
            count = product(self.lowering, self.shape[:dim])
            self._reshape([count, n * step])
            write = _of_line(ends).write
            self.value = columns(self.lowering, self.value, count, self.element, transform, write)
            return
        self._along(dim, transform, ends, n)

    def from_real(self, n: int) -> None:
        """The first half of the transforms of real lines, along the last dimension."""
        dim, half = len(self.shape) - 1, n // 2 + 1
        if n % 2 or n < EVEN:
            self._along(dim, Transform(n, 1, -1), Ends(n, half, _plain, _first_half(n)), half)
            return
        ends = Ends(n, half, _pairs, _scaled(1.0), after=Short(n // 2, -1))
        self._along(dim, Transform(n // 2, 1, -1), ends, half)

    def to_real(self, n: int) -> None:
        """The real lines of which the last dimension has half of the transforms."""
        dim, half = len(self.shape) - 1, n // 2 + 1
        if n % 2 or n < EVEN:
            ends = Ends(half, n, _hermitian(n), _real_part(1.0 / n), complex_result=False)
            self._along(dim, Transform(n, 1, 1), ends, n)
            return
        ends = Ends(half, n, _plain, _to_pairs(1.0 / n), complex_result=False, before=Short(n // 2, 1))
        self._along(dim, Transform(n // 2, 1, 1), ends, n)


def _shapes(
    lowering: Lowering, op: Operation, kind: str, lengths: Sequence[int]
) -> tuple[Sequence[Size], Sequence[Size]]:
    """The sizes of the operand and of the result."""
    half = [*lengths[:-1], lengths[-1] // 2 + 1] if lengths else []
    given = list(sizes_of(lowering, op.operands[0]))
    batch = given[: len(given) - len(lengths)]
    for size, wanted in zip(given[len(batch) :], half if kind == "IRFFT" else lengths, strict=True):
        require_equal(lowering, op, size, wanted)
    made = refine(lowering, op, [*batch, *(half if kind == "RFFT" else lengths)], op.results[0].type)
    return [*batch, *(half if kind == "IRFFT" else lengths)], made


def _fft(lowering: Lowering, op: Operation) -> None:
    attr = inherent(op, "fft_type")
    kind = attr.data if isinstance(attr, FftTypeAttr) else ""
    lengths = ints_property(op, "fft_length")
    operand = ranked_type(op.operands[0])
    shape, sizes = _shapes(lowering, op, kind, lengths)
    if 0 in (*shape, *sizes):
        lowering.set(op.results[0], zeros_of(lowering, ranked_type(op.results[0]).element_type, sizes))
        return
    if kind not in FftTypeAttr.VALUES or not lengths:
        raise Unsupported(f"of type {kind!r}")
    last, others = len(shape) - 1, range(len(shape) - len(lengths), len(shape) - 1)
    lines = _Lines(lowering, to_kernel(lowering, op.operands[0], len(shape)), shape, part_type(operand.element_type))
    n = lengths[-1]
    if kind == "RFFT":
        lines.from_real(n)
    for dim in others:
        lines.complex_along(dim, 1 if kind in ("IFFT", "IRFFT") else -1)
    if kind in ("FFT", "IFFT"):
        lines.complex_along(last, 1 if kind == "IFFT" else -1)
    if kind == "IRFFT":
        lines.to_real(n)
    from_kernel(lowering, op.results[0], lines.value, sizes)


HANDLERS = {"stablehlo.fft": _fft}
