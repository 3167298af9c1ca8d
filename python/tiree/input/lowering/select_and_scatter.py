"""select_and_scatter: the winner of each window, then for each element the windows that it won.

Two structured ops. The first folds the windows with the select function and remembers where in the window the winner
was; the second gives each element of the result the windows it lies in, as reductions, and combines the source values
of those it won, windows in ascending order. Nothing is written at computed places, so both run in parallel. Padding
never wins; a window of nothing but padding has no winner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerType, TensorType, i1
from xdsl.ir import Operation, SSAValue

from tiree.input.lowering.context import PARALLEL, REDUCTION, Lowering, Size, map_attr, ranked_type, signless
from tiree.input.lowering.dims import arithmetic, refine, require_equal, sizes_of
from tiree.input.lowering.dynamic_movement import conditional, dynamic_type, value_of, window_size
from tiree.input.lowering.reduce import body_of, emit_region, initial
from tiree.input.lowering.scalar import ScalarBuilder, scalar_attribute
from tiree.input.lowering.structural import ints_property

_INDEX = IndexType()
_PLACE = IntegerType(32)


@dataclass(frozen=True)
class _Windows:
    """Windows over a tensor of `shape`, as many along each dimension as `counts` says."""

    shape: Sequence[Size]
    counts: Sequence[Size]
    sizes: Sequence[int]
    strides: Sequence[int]
    low: Sequence[int]

    @property
    def is_known(self) -> bool:
        return all(isinstance(size, int) for size in (*self.shape, *self.counts))

    def read(self, s: ScalarBuilder, value: SSAValue, at: list[SSAValue], valid: SSAValue, other: SSAValue) -> SSAValue:
        """An element of a tensor; `other` where it may not be read."""
        if self.is_known:
            return s.extract(value, at)
        return conditional(s, valid, lambda t: t.extract(value, at), lambda _: other, other.type)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def wide(self) -> list[int]:
        """The dimensions along which a window has several elements; each has a reduction loop."""
        return [d for d in range(self.rank) if self.sizes[d] != 1]

    def place(self, s: ScalarBuilder, inside: Sequence[SSAValue]) -> SSAValue:
        """The number of an element in its window, from its indices there along the wide dimensions."""
        number = s.constant(_INDEX, 0)
        for dim, index in zip(self.wide, inside, strict=True):
            number = s.add_(s.mul(number, s.constant(_INDEX, self.sizes[dim])), index)
        return s.cast(arith.IndexCastOp, number, _PLACE)

    def element(self, s: ScalarBuilder) -> tuple[list[SSAValue], SSAValue]:
        """The element of the tensor that the loops are at (in range whatever happens, where sizes are known), and
        whether it is none of the padding."""
        at: list[SSAValue] = []
        valid = s.constant(i1, 1)
        for dim, (size, stride, low) in enumerate(zip(self.shape, self.strides, self.low, strict=True)):
            index = s.mul(s.index(dim), s.constant(_INDEX, stride))
            if dim in self.wide:
                index = s.add_(index, s.index(self.rank + self.wide.index(dim)))
            index = s.sub(index, s.constant(_INDEX, low))
            count = self.counts[dim]
            if not isinstance(size, int) or not isinstance(count, int):
                valid = s.and_(valid, s.cmpi("ult", index, value_of(s, size)))
            elif low > 0 or (count - 1) * stride + self.sizes[dim] - 1 - low >= size:
                valid = s.and_(valid, s.cmpi("ult", index, s.constant(_INDEX, size)))
                index = s.clamp_index(index, 0, size - 1)
            at.append(index)
        return at, valid

    def window(self, s: ScalarBuilder) -> tuple[list[SSAValue], list[SSAValue], SSAValue]:
        """Of the element and the place in a window that the loops are at: the window (in range whatever happens, where
        sizes are known), the place along the wide dimensions, and whether there is such a window. The last place comes
        first."""
        at: list[SSAValue] = []
        inside: list[SSAValue] = []
        valid = s.constant(i1, 1)
        for dim, (count, stride, low) in enumerate(zip(self.counts, self.strides, self.low, strict=True)):
            first = s.add_(s.index(dim), s.constant(_INDEX, low))
            if dim in self.wide:
                loop = s.index(self.rank + self.wide.index(dim))
                inside.append(s.sub(s.constant(_INDEX, self.sizes[dim] - 1), loop))
                first = s.sub(first, inside[-1])
            window = first
            if stride != 1:
                step = s.constant(_INDEX, stride)
                window = s.binary(arith.DivUIOp, first, step)
                valid = s.and_(valid, s.cmpi("eq", s.mul(window, step), first))
            valid = s.and_(valid, s.cmpi("ult", window, value_of(s, count)))
            at.append(
                s.binary(arith.MinUIOp, window, s.constant(_INDEX, count - 1)) if isinstance(count, int) else window
            )
        return at, inside, valid


def _winners(lowering: Lowering, op: Operation, windows: _Windows, operand: SSAValue) -> SSAValue:
    """The place of the winner in each window; -1 where there is none."""
    loops = windows.rank + len(windows.wide)
    element = ranked_type(operand).element_type
    block = body_of(op, 0)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        _, best, place = args
        at, valid = windows.element(s)
        value = windows.read(s, operand, at, valid, best)
        (keep,) = emit_region(lowering, s, block, [best, value])
        first = s.cmpi("slt", place, s.constant(_PLACE, 0))
        take = s.and_(valid, s.or_(first, s.not_(keep)))
        here = windows.place(s, [s.index(windows.rank + n) for n in range(len(windows.wide))])
        return [s.select(take, value, best), s.select(take, here, place)]

    counts = windows.counts
    values, places = dynamic_type(element, counts), dynamic_type(_PLACE, counts)
    output = map_attr(loops, tuple(range(windows.rank)))
    return lowering.generic(
        [_extents(lowering, windows)],
        [lowering.empty(values, counts), lowering.fill(scalar_attribute(_PLACE, -1), places, counts)],
        [map_attr(loops, tuple(range(windows.rank, loops))), output, output],
        [PARALLEL] * windows.rank + [REDUCTION] * len(windows.wide),
        body,
    )[1]


def _extents(lowering: Lowering, windows: _Windows) -> SSAValue:
    """An operand that says how far the reduction loops go."""
    return lowering.empty(TensorType(_PLACE, [windows.sizes[d] for d in windows.wide]))


def _select_and_scatter(lowering: Lowering, op: Operation) -> None:
    shape = refine(lowering, op, sizes_of(lowering, op.operands[0]), op.results[0].type)
    ones = [1] * len(shape)
    sizes, strides = ints_property(op, "window_dimensions", ones), ints_property(op, "window_strides", ones)
    padding = ints_property(op, "padding", [0] * (2 * len(shape)))
    counts: list[Size] = []
    for dim, count in enumerate(sizes_of(lowering, op.operands[1])):
        whole = arithmetic(lowering, "add", shape[dim], padding[2 * dim] + padding[2 * dim + 1])
        fitting = window_size(lowering, whole, sizes[dim], strides[dim], 1)
        counts.append(require_equal(lowering, op, count, fitting))
    windows = _Windows(shape, counts, sizes, strides, padding[0::2])
    type = dynamic_type(signless(ranked_type(op.results[0]).element_type), shape)
    start = initial(lowering, op.operands[2], type, shape if DYNAMIC_INDEX in type.get_shape() else None)
    if 0 in windows.counts or 0 in shape or 0 in windows.sizes:
        lowering.set(op.results[0], start)
        return
    winners = _winners(lowering, op, windows, lowering.get(op.operands[0]))
    source = lowering.get(op.operands[1])
    loops = windows.rank + len(windows.wide)
    block = body_of(op, 1)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        total = args[-1]
        at, inside, valid = windows.window(s)
        none = s.constant(_PLACE, -1)
        won = s.cmpi("eq", windows.read(s, winners, at, valid, none), windows.place(s, inside))
        (combined,) = emit_region(lowering, s, block, [total, windows.read(s, source, at, valid, total)])
        return [s.select(s.and_(valid, won), combined, total)]

    (result,) = lowering.generic(
        [_extents(lowering, windows)],
        [start],
        [map_attr(loops, tuple(range(windows.rank, loops))), map_attr(loops, tuple(range(windows.rank)))],
        [PARALLEL] * windows.rank + [REDUCTION] * len(windows.wide),
        body,
    )
    lowering.set(op.results[0], result)


HANDLERS = {"stablehlo.select_and_scatter": _select_and_scatter}
