"""Sorting of lines by merging: O(n log n) comparisons, stable, any comparator, any number of operands.

Runs of 64 are sorted by counting, for each element, those that come before it, in vectors. Runs are merged in pairs, in
one workgroup as long as they are short; then each pass is one dispatch whose workgroups write chunks of the merged
runs: where the chunk of an output begins in its two inputs is found by bisection. All passes work in one tensor with
two halves, from one to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import Float32Type, IndexType, TensorType, i32
from xdsl.ir import Attribute, SSAValue

from tiree.input.factorizations.elements import Body, Elements, from_memory, in_memory, stored_element, with_parts
from tiree.input.factorizations.kernel import Array, LoopKernel, Num, Var
from tiree.input.lowering.context import Lowering, map_attr, tensor_type
from tiree.input.lowering.scalar import ScalarBuilder
from tiree.input.lowering.structural import first_argument, reshape
from tiree.support.typed import is_complex_type

Less = Callable[[ScalarBuilder, Sequence[SSAValue], Sequence[SSAValue]], SSAValue]

RUN = 64
"""Elements that are sorted by counting."""
WAYS = 4
"""Parts of a merge that run at the same time in one thread."""
BLOCK = 4096
"""Elements that one workgroup sorts on its own, and writes in a pass."""


@dataclass(frozen=True)
class Comparator:
    """What sorts: `less`, which is `strict` where it never holds both ways, and the tensors that it reads."""

    less: Less
    strict: bool
    captured: Sequence[SSAValue] = ()


def sort_lines(lowering: Lowering, values: Sequence[SSAValue], dim: int, comparator: Comparator) -> Sequence[SSAValue]:
    """`values` (new tensors of one shape with elements) sorted together along `dim`, equal ones in the order in which
    they stand."""
    shape = tensor_type(values[0]).get_shape()
    rank = len(shape)
    order = [*(d for d in range(rank) if d != dim), dim]
    types = [tensor_type(value) for value in values]
    lines = [in_memory(lowering, _permuted(lowering, value, order)) for value in values]
    size = shape[dim]
    total = prod(shape)
    elements = [type.element_type for type in types]
    flat = [reshape(lowering, v, with_parts(e, [total])) for v, e in zip(lines, elements, strict=True)]
    results = _Sort(lowering, elements, comparator, total // size, size).run(flat)
    found: list[SSAValue] = []
    moved = [shape[d] for d in order]
    back = [order.index(d) for d in range(rank)]
    for result, element in zip(results, elements, strict=True):
        whole = reshape(lowering, result, with_parts(element, moved))
        found.append(_permuted(lowering, from_memory(lowering, whole, TensorType(element, moved)), back))
    return found


def _permuted(lowering: Lowering, value: SSAValue, order: Sequence[int]) -> SSAValue:
    """The tensor whose dimension `d` is dimension `order[d]` of `value`."""
    rank = len(order)
    if list(order) == list(range(rank)):
        return value
    type = tensor_type(value)
    place = tuple(list(order).index(d) for d in range(rank))
    new = TensorType(type.element_type, [type.get_shape()[d] for d in order])
    return lowering.parallel([(value, map_attr(rank, place))], new, first_argument)


@dataclass(frozen=True)
class _Merge:
    """A merge of the elements `a[0] <= i < a[1]` and `b[0] <= j < b[1]` to `out[0] <= o < out[1]` of the other half."""

    half: Num
    a: tuple[Num, Num]
    b: tuple[Num, Num]
    out: tuple[Num, Num]


class _Kernel:
    """A kernel that compares and moves elements; `arrays` hold both halves."""

    def __init__(self, sort: _Sort, count: int) -> None:
        self.k = LoopKernel(sort.lowering, count, Float32Type())
        self.body = Body(self.k, captured=sort.comparator.captured)
        self.sort = sort

    def seen(self, arrays: Sequence[Array]) -> list[Elements]:
        return [Elements(array, element) for array, element in zip(arrays, self.sort.elements, strict=True)]

    def before(self, a: Sequence[SSAValue], b: Sequence[SSAValue]) -> Num:
        """Whether `a` has to stand before `b`, wherever they stood."""
        comparator = self.sort.comparator
        self.body.block = self.k.code.block
        one = Num(self.k, comparator.less(self.body, a, b))
        return one if comparator.strict else one & ~Num(self.k, comparator.less(self.body, b, a))

    def merge(self, arrays: Sequence[Elements], one: _Merge) -> None:
        """In several parts at the same time: each element has to wait for the one before it in its part."""
        k, size = self.k, one.out[1] - one.out[0]
        share = size.quotient(WAYS)
        ends = one.a[0], one.b[0], one.a[1], one.b[1]
        places = [one.a[0], *(one.a[0] + self.split(arrays, one.half, ends, share * n) for n in range(1, WAYS))]
        ways = [(k.var(place), k.var(one.b[0] + (share * n - (place - one.a[0])))) for n, place in enumerate(places)]
        with k.loop(0, share) as t:
            for number, way in enumerate(ways):
                self._step(arrays, one, way, one.out[0] + (t + share * number))
        with k.loop(one.out[0] + share * WAYS, one.out[1]) as o:
            self._step(arrays, one, ways[-1], o)
        for way in ways:
            k.drop(*way)

    def _step(self, arrays: Sequence[Elements], one: _Merge, way: tuple[Var, Var], o: Num) -> None:
        """Writes the next element of a part of a merge."""
        k, last = self.k, self.sort.total - 1
        i, j = way
        here, there = i.get(), j.get()
        a = [array.read((one.half, here.least(last))) for array in arrays]
        b = [array.read((one.half, there.least(last))) for array in arrays]
        second = (there < one.b[1]) & (~(here < one.a[1]) | self.before(b, a))
        step = second.to_type(IndexType())
        for array, left, right in zip(arrays, a, b, strict=True):
            array.write((1 - one.half, o), k.code.select(second.re, right, left))
        i.set(here + 1 - step)
        j.set(there + step)

    def split(self, arrays: Sequence[Elements], half: Num, ends: tuple[Num, Num, Num, Num], part: Num) -> Num:
        """How many of the first `part` merged elements come from the first run; `ends` are where the runs begin, then
        where they end."""
        k, (first, second, first_end, second_end) = self.k, ends
        low, high = k.var((part - (second_end - second)).most(0)), k.var(part.least(first_end - first))
        with k.loop(0, self.sort.size.bit_length() + 1), k.when(low.get() < high.get()):
            half_way = (low.get() + high.get()).halved()
            a = [array.read((half, first + half_way)) for array in arrays]
            b = [array.read((half, second + (part - 1 - half_way))) for array in arrays]
            fewer = self.before(b, a)
            high.set(k.where(fewer, half_way, high.get()))
            low.set(k.where(fewer, low.get(), half_way + 1))
        k.drop(low, high)
        return low.get()


class _Sort:
    """Sorts `lines` lines of `size` elements, one after the other in memory."""

    def __init__(
        self,
        lowering: Lowering,
        elements: Sequence[Attribute],
        comparator: Comparator,
        lines: int,
        size: int,
    ) -> None:
        self.lowering = lowering
        self.elements = elements
        self.comparator = comparator
        self.lines = lines
        self.size = size
        self.total = lines * size

    def run(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        passes, length = 0, RUN
        while length < min(self.size, BLOCK):
            passes, length = passes + 1, 2 * length
        halves, number = self._blocks(values, passes), passes
        length = BLOCK
        while length < self.size:
            halves = self._pass(halves, length, number % 2)
            number, length = number + 1, 2 * length
        found: list[SSAValue] = []
        for value, element in zip(halves, self.elements, strict=True):
            tail = [0] if is_complex_type(element) else []
            sizes = [1, *with_parts(element, [self.total])]
            part = self.lowering.slice(value, [number % 2, 0, *tail], sizes)
            found.append(reshape(self.lowering, part, sizes[1:]))
        return found

    def _blocks(self, values: Sequence[SSAValue], passes: int) -> list[SSAValue]:
        """Sorts blocks of lines, or several lines, each workgroup some; the other half has no meaning."""
        blocks = -(-self.size // BLOCK)
        group = max(1, BLOCK // self.size) if blocks == 1 else 1
        kernel = _Kernel(self, -(-self.lines // group) * blocks)
        k = kernel.k
        sources = kernel.seen([k.whole_input(value) for value in values])
        outputs = [k.shared_output(with_parts(e, [2, self.total]), stored_element(e)) for e in self.elements]
        arrays = kernel.seen(outputs)
        ranks = k.scratch([RUN], i32)
        first, block = k.workgroup.quotient(blocks) * group, k.workgroup.remainder(blocks) * BLOCK
        with k.loop(first, (first + group).least(self.lines)) as line:
            low = line * self.size + block
            high = (low + BLOCK).least((line + 1) * self.size)
            with k.loop(0, (high - low + (RUN - 1)).quotient(RUN)) as number:
                start = low + number * RUN
                self._count(kernel, sources, arrays, ranks, (start, (start + RUN).least(high)))
            if passes:
                length = k.var(k.index(RUN))
                with k.loop(0, passes) as number:
                    self._pairs(kernel, arrays, number.remainder(2), length.get(), (low, high))
                    length.set(length.get() * 2)
                k.drop(length)
        return k.run_shared()

    def _count(
        self,
        kernel: _Kernel,
        sources: Sequence[Elements],
        arrays: Sequence[Elements],
        ranks: Array,
        bounds: tuple[Num, Num],
    ) -> None:
        """Puts the elements of a run in order, into the first half."""
        k, (start, end) = kernel.k, bounds
        half = k.index(0)
        whole = (end - start).eq(RUN)
        for size, of_size in ((k.index(RUN), whole), (end - start, ~whole)):
            with k.when(of_size), k.loop(0, size) as i:
                mine = [source.read((start + i,)) for source in sources]
                rank = k.var(k.number(0, i32))
                with k.loop(0, size) as j:
                    other = [source.read((start + j,)) for source in sources]
                    ahead, behind = kernel.before(other, mine), kernel.before(mine, other)
                    rank.set(rank.get() + k.where(j < i, ~behind, ahead).to_type(i32))
                # Itself is neither ahead nor behind, and not counted.
                ranks[i] = rank.get()
                k.drop(rank)
                # A comparator that contradicts itself gives some rank twice: every place has an element all the same.
                for array, value in zip(arrays, mine, strict=True):
                    array.write((half, start + i), value)
        with k.loop(start, end) as i:
            place = start + ranks[i - start].to_type(IndexType())
            for source, array in zip(sources, arrays, strict=True):
                array.write((half, place), source.read((i,)))

    @staticmethod
    def _pairs(kernel: _Kernel, arrays: Sequence[Elements], half: Num, length: Num, bounds: tuple[Num, Num]) -> None:
        """Merges all pairs of runs of `length` in a block."""
        k, (low, high) = kernel.k, bounds
        pair = length * 2
        with k.loop(0, (high - low + pair - 1).quotient(pair)) as number:
            start = low + number * pair
            middle, end = (start + length).least(high), (start + pair).least(high)
            kernel.merge(arrays, _Merge(half, (start, middle), (middle, end), (start, end)))

    def _pass(self, values: Sequence[SSAValue], length: int, half: int) -> list[SSAValue]:
        """Merges all pairs of runs of `length`, each workgroup a chunk of the result."""
        chunks = -(-self.size // BLOCK)
        kernel = _Kernel(self, self.lines * chunks)
        k = kernel.k
        run, side = (k.scalar_input(self.lowering.constant_index(n)) for n in (length, half))
        arrays = kernel.seen([k.changed_input(value) for value in values])
        line, at = k.workgroup.quotient(chunks), k.workgroup.remainder(chunks) * BLOCK
        base, pair = line * self.size, run * 2
        start = at - at.remainder(pair)
        middle, end = (start + run).least(self.size), (start + pair).least(self.size)
        ends = base + start, base + middle, base + end
        low, high = at - start, (at + BLOCK).least(self.size) - start
        a0, a1 = (kernel.split(arrays, side, (*ends[:2], *ends[1:]), part) for part in (low, high))
        merge = _Merge(
            side,
            (ends[0] + a0, ends[0] + a1),
            (ends[1] + (low - a0), ends[1] + (high - a1)),
            (base + at, ends[0] + high),
        )
        kernel.merge(arrays, merge)
        return k.run_shared()
