"""The few greatest elements of lines, by selection: one pass over a line, and a short ordered list.

Elements become integers whose order is that of the elements. The list holds the greatest ones so far; pieces of a line
are skipped when their greatest integer is no greater than the last of the list, which vectors find out. Parts of a long
line have a list each, from which those of the line are selected in the same way. Of equal elements the first ones are
taken, in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, Float32Type, IndexType, IntegerType, i32
from xdsl.ir import Attribute, SSAValue

from tiree.input.factorizations.arrays import Array
from tiree.input.factorizations.kernel import LoopKernel, Num
from tiree.input.lowering.context import Lowering, tensor_type
from tiree.input.lowering.scalar_ops import is_unsigned, total_order
from tiree.input.lowering.structural import reshape
from tiree.support.typed import is_integer_type

MOST = 512
"""So many elements are selected at most; more are sorted."""
SHARE = 4
"""A selection takes at most one of so many elements."""
PART = 16_384
"""Elements of a part of a line, or more."""
PARTS = 64
"""About so many workgroups do a long line, or several."""
GROUP = 4096
"""A workgroup does several short lines, of about so many elements together."""
PIECE = 64
"""Elements that are looked at before each of them is."""

_WIDTHS = (8, 16, 32, 64)


def selects(element: Attribute, size: int, count: int) -> bool:
    """Whether the `count` greatest of `size` elements of a type are selected."""
    if isinstance(element, AnyFloat):
        known = element.bitwidth in _WIDTHS[1:]
    else:
        known = is_integer_type(element) and element.width.data in _WIDTHS
    return known and 0 < count <= MOST and count * SHARE <= size


@dataclass(frozen=True)
class _Line:
    """A part of a line: the integer and the position of its element `at`, from `low` to `high`."""

    low: Num
    high: Num
    key: Callable[[Num], Num]
    position: Callable[[Num], Num]


class _List:
    """The greatest elements so far, in order."""

    def __init__(self, k: LoopKernel, count: int, key: IntegerType) -> None:
        self.k = k
        self.count = count
        self.keys = k.scratch([count], key)
        self.positions = k.scratch([count], i32)

    def _put(self, at: Num, new: tuple[Num, Num], is_end: bool = False) -> None:
        """What stands at `at` after a new element: what stood there (not at the end) or before it, or the new one."""
        (key, position), before = new, at - 1
        goes_before = self.keys[before] < key
        for array, value in ((self.positions, position), (self.keys, key)):
            here = self.k.where(goes_before, array[before], value)
            array[at] = here if is_end else self.k.where(self.keys[at] < key, here, array[at])

    def insert(self, new: tuple[Num, Num], filled: Num | int) -> None:
        """An element, behind those that are not less; the last one of a full list is lost."""
        k = self.k
        filled = k.index(filled)
        with k.when(filled.ne(0) & (filled < self.count)):
            self._put(filled.least(self.count - 1), new, is_end=True)
        with k.loop_down(1, filled) as at:
            self._put(at, new)
        first = (self.keys[0] < new[0]) | filled.eq(0)
        self.positions[0] = k.where(first, new[1], self.positions[0])
        self.keys[0] = k.where(first, new[0], self.keys[0])

    def take(self, line: _Line) -> None:
        """Makes this the list of a line, which has `count` elements at least."""
        k, count = self.k, self.count
        start = line.low + count
        with k.loop(line.low, start) as at:
            self.insert((line.key(at), line.position(at)), at - line.low)
        whole = start + (line.high - start).quotient(PIECE) * PIECE
        with k.loop(start, whole, PIECE) as piece:
            greatest = k.var(line.key(piece))
            with k.loop(0, PIECE) as at:
                greatest.set(greatest.get().most(line.key(piece + at)))
            k.drop(greatest)
            with k.when(greatest.get() > self.keys[count - 1]), k.loop(piece, piece + PIECE) as at:
                self._offer(line, at)
        with k.loop(whole, line.high) as at:
            self._offer(line, at)

    def _offer(self, line: _Line, at: Num) -> None:
        key = line.key(at)
        with self.k.when(key > self.keys[self.count - 1]):
            self.insert((key, line.position(at)), self.count)


class _Selection:
    """Selects the `count` greatest of each of `lines` lines of `size` elements of a type."""

    def __init__(self, lowering: Lowering, element: Attribute, shape: tuple[int, int], count: int) -> None:
        self.lowering = lowering
        self.element = element
        self.lines, self.size = shape
        self.count = count
        width = element.bitwidth if isinstance(element, AnyFloat) else 0
        self.key = IntegerType(width or (element.width.data if is_integer_type(element) else 32))

    def _key(self, value: Num) -> Num:
        """An integer in the order of the elements."""
        k = value.kernel
        if isinstance(self.element, AnyFloat):
            return Num(k, total_order(k.code, value.re))
        if is_unsigned(self.element):
            sign = k.number(-(1 << (self.key.width.data - 1)), self.key)
            return Num(k, k.code.binary(arith.XOrIOp, value.re, sign.re))
        return value

    def _write(self, found: _List, line: Num, source: Array, results: tuple[Array, Array]) -> None:
        k = found.k
        values, positions = results
        with k.loop(0, self.count) as at:
            position = found.positions[at]
            positions[line, at] = position
            values[line, at] = source[line, position.to_type(IndexType())]

    def _results(self, k: LoopKernel) -> tuple[Array, Array]:
        shape = [self.lines, self.count]
        return k.shared_output(shape, tensor_type(self.source).element_type), k.shared_output(shape, i32)

    def run(self, value: SSAValue) -> list[SSAValue]:
        """The elements and their positions, [lines, count]."""
        self.source = value
        part = max(PART, 2 * SHARE * self.count, -(-self.size * self.lines // PARTS))
        parts = -(-self.size // part)
        if parts == 1:
            return self._whole_lines()
        # All parts have as many elements as the list, the last one too.
        return self._join(self._parts(-(-self.size // parts), parts), parts)

    def _whole_lines(self) -> list[SSAValue]:
        group = max(1, min(self.lines, GROUP // self.size))
        k = LoopKernel(self.lowering, -(-self.lines // group), Float32Type())
        source, results = k.whole_input(self.source), self._results(k)
        found = _List(k, self.count, self.key)
        first = k.workgroup * group
        with k.loop(first, (first + group).least(self.lines)) as line:
            found.take(
                _Line(
                    k.index(0),
                    k.index(self.size),
                    lambda at: self._key(source[line, at]),
                    lambda at: at.to_type(i32),
                )
            )
            self._write(found, line, source, results)
        return k.run_shared()

    def _parts(self, part: int, parts: int) -> list[SSAValue]:
        """The lists of all parts: integers and positions, [lines, parts * count]."""
        k = LoopKernel(self.lowering, self.lines * parts, Float32Type())
        source = k.whole_input(self.source)
        shape = [self.lines, parts * self.count]
        keys, positions = k.shared_output(shape, self.key), k.shared_output(shape, i32)
        found = _List(k, self.count, self.key)
        line, number = k.workgroup.quotient(parts), k.workgroup.remainder(parts)
        low = number * part
        found.take(
            _Line(
                low,
                (low + part).least(self.size),
                lambda at: self._key(source[line, at]),
                lambda at: at.to_type(i32),
            )
        )
        with k.loop(0, self.count) as at:
            keys[line, number * self.count + at] = found.keys[at]
            positions[line, number * self.count + at] = found.positions[at]
        return k.run_shared()

    def _join(self, lists: list[SSAValue], parts: int) -> list[SSAValue]:
        """The list of each line, from those of its parts."""
        k = LoopKernel(self.lowering, self.lines, Float32Type())
        keys, positions = (k.whole_input(value) for value in lists)
        source, results = k.whole_input(self.source), self._results(k)
        found = _List(k, self.count, self.key)
        line = k.workgroup
        found.take(
            _Line(
                k.index(0),
                k.index(parts * self.count),
                lambda at: keys[line, at],
                lambda at: positions[line, at],
            )
        )
        self._write(found, line, source, results)
        return k.run_shared()


def select(lowering: Lowering, value: SSAValue, element: Attribute, count: int) -> list[SSAValue]:
    """The `count` greatest elements along the last dimension of a new tensor whose elements are of type `element`, and
    where they are."""
    shape = tensor_type(value).get_shape()
    lines = prod(shape[:-1])
    selection = _Selection(lowering, element, (lines, shape[-1]), count)
    results = selection.run(reshape(lowering, value, [lines, shape[-1]]))
    return [reshape(lowering, result, [*shape[:-1], count]) for result in results]
