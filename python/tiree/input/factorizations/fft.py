"""`stablehlo.fft`: all kinds, of one, two or three dimensions, one kernel a dimension (`fourier.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation

from tiree.dialects.stablehlo_attrs import FftTypeAttr
from tiree.input.factorizations.batches import from_kernel, part_type, product, reshaped, to_kernel, zeros_of
from tiree.input.factorizations.fourier import Ends, Transform, lines_together, run
from tiree.input.factorizations.kernel import Array, Num, Value
from tiree.input.lowering.context import Lowering, Size, Unsupported, ranked_type
from tiree.input.lowering.dims import refine, require_equal, sizes_of
from tiree.input.lowering.scalar import inherent
from tiree.input.lowering.structural import ints_property

Line = Callable[[Array, Num, Num], Num]


def _plain(source: Array, base: Num, at: Num) -> Num:
    return source[base + at]


def _scaled(scale: float) -> Callable[[Array, Num, Num, Num], None]:
    def put(result: Array, base: Num, at: Num, value: Num) -> None:
        result[base + at] = value if scale == 1.0 else value * scale

    return put


def _hermitian(length: int) -> Line:
    """Elements of a whole line of which the first half is there; the first and the middle one are real."""

    def get(source: Array, base: Num, at: Num) -> Num:
        k = at.kernel
        mirrored = at > length // 2
        value = source[base + k.where(mirrored, length - at, at)]
        alone = at.eq(0) | (at * 2).eq(length)
        imaginary = k.where(alone, 0.0, k.where(mirrored, -value.imag, value.imag))
        return k.complex(value.real, imaginary)

    return get


def _first_half(length: int) -> Callable[[Array, Num, Num, Num], None]:
    """Writes the elements up to the middle."""

    def put(result: Array, base: Num, at: Num, value: Num) -> None:
        k = at.kernel
        with k.when(at < length // 2 + 1):
            result[base + at] = value

    return put


def _real_part(scale: float) -> Callable[[Array, Num, Num, Num], None]:
    def put(result: Array, base: Num, at: Num, value: Num) -> None:
        result[base + at] = value.real * scale

    return put


class _Lines:
    """A tensor that is transformed along one dimension after the other, whose sizes are known."""

    def __init__(self, lowering: Lowering, value: Value, shape: Sequence[Size], element: AnyFloat) -> None:
        self.lowering = lowering
        self.value = value
        self.shape = list(shape)
        self.element = element

    def _reshaped(self, shape: Sequence[Size]) -> Value:
        if isinstance(self.value, tuple):
            return reshaped(self.lowering, self.value[0], shape), reshaped(self.lowering, self.value[1], shape)
        return reshaped(self.lowering, self.value, shape)

    def along(self, dim: int, transform: Transform, ends: Ends, size: int) -> None:
        """Transforms along `dim`, whose size becomes `size`."""
        count = product(self.lowering, self.shape[:dim])
        together = lines_together(count, transform.length * transform.step)
        groups = count // together if isinstance(count, int) else count
        flat = self._reshaped([groups, together * ends.read])
        self.value = run(self.lowering, flat, count, self.element, transform, ends)
        self.shape[dim] = size

    def complex_along(self, dim: int, sign: int) -> None:
        """A complex transform along `dim`, divided by its length where it goes back."""
        n, *inner = (size for size in self.shape[dim:] if isinstance(size, int))
        step = prod(inner)
        put = _scaled(1.0 / n if sign > 0 else 1.0)
        self.along(dim, Transform(n, step, sign), Ends(n * step, n * step, _plain, put), n)


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
    half = n // 2 + 1
    if kind == "RFFT":
        lines.along(last, Transform(n, 1, -1), Ends(n, half, _plain, _first_half(n)), half)
    for dim in others:
        lines.complex_along(dim, 1 if kind in ("IFFT", "IRFFT") else -1)
    if kind in ("FFT", "IFFT"):
        lines.complex_along(last, 1 if kind == "IFFT" else -1)
    if kind == "IRFFT":
        ends = Ends(half, n, _hermitian(n), _real_part(1.0 / n), complex_result=False)
        lines.along(last, Transform(n, 1, 1), ends, n)
    from_kernel(lowering, op.results[0], lines.value, sizes)


HANDLERS = {"stablehlo.fft": _fft}
