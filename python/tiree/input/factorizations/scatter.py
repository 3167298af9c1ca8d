"""scatter as a loop over its updates, which changes the operand in place: work in the size of the updates.

One dispatch. Each workgroup goes over the updates in index order and applies those parts of their windows that fall
into its own part of the result, so results do not depend on how many threads there are. A window that is not wholly
inside the operand is skipped, as the specification says. Whether the operand has to be copied before it is changed is
found out where memory is planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Block, Operation, SSAValue

from tiree.dialects.stablehlo_attrs import ScatterDimensionNumbers
from tiree.input.factorizations.elements import Body, Elements, filled, from_memory, in_memory, new_type
from tiree.input.factorizations.kernel import INDEX, LoopKernel, Num
from tiree.input.lowering.context import Lowering, tensor_type
from tiree.input.lowering.reduce import body_of
from tiree.input.lowering.scalar import inherent
from tiree.input.lowering.scalar_ops import is_unsigned
from tiree.support.typed import is_integer_attr

SERIAL = 1 << 15
"""Less work than this is one workgroup's; see `_work`."""
SHARE = 1 << 13
"""The least work of a workgroup where the work is split."""
MOST = 64
"""Workgroups, where each looks at its own updates only."""
MOST_SCANNING = 8
"""Workgroups, where each looks at all indices."""
LINE = 64
"""The fewest elements, along the last dimension, that a workgroup has of a window."""


@dataclass(frozen=True)
class Shapes:
    """The sizes of a scatter and what its dimensions are."""

    numbers: ScatterDimensionNumbers
    operand: Sequence[int]
    indices: Sequence[int]
    update: Sequence[int]

    @staticmethod
    def of(op: Operation, numbers: ScatterDimensionNumbers) -> Shapes:
        count = len(op.results)
        operand, indices, update = (tensor_type(op.operands[n]).get_shape() for n in (0, count, count + 1))
        return Shapes(numbers, operand, indices, update)

    @property
    def batch(self) -> list[int]:
        """The dimensions of the indices that count updates."""
        return [d for d in range(len(self.indices)) if d != self.numbers.index_vector_dim]

    @property
    def windows(self) -> dict[int, int]:
        """The dimensions of the operand that windows have, and those of the update that run along them."""
        without = {*self.numbers.inserted_window_dims, *self.numbers.input_batching_dims}
        kept = [d for d in range(len(self.operand)) if d not in without]
        return dict(zip(kept, self.numbers.update_window_dims, strict=True))

    @property
    def updates(self) -> int:
        return prod(self.indices[d] for d in self.batch)

    def size(self, dim: int) -> int:
        """The size of windows along a dimension of the operand."""
        windows = self.windows
        return self.update[windows[dim]] if dim in windows else 1

    def work(self) -> int:
        """About how many elements are looked at."""
        return self.updates * (prod(self.size(d) for d in range(len(self.operand))) + 3)


@dataclass(frozen=True)
class Split:
    """How the work is split: `batch`, a dimension of the indices, or `dim`, one of the operand, in `count` parts."""

    count: int = 1
    batch: int | None = None
    dim: int | None = None


def split_of(shapes: Shapes, unique: bool) -> Split:
    """A split in which no two workgroups touch the same element, and each applies updates in order."""
    work, numbers = shapes.work(), shapes.numbers
    if work < SERIAL:
        return Split()
    free = [d for d in shapes.batch if unique or d in numbers.scatter_indices_batching_dims]
    if free:
        largest = max(free, key=lambda d: shapes.indices[d])
        if shapes.indices[largest] >= 4:
            return Split(min(MOST, work // SHARE, shapes.indices[largest]), batch=largest)
    most = min(MOST_SCANNING, work // SHARE)
    last = len(shapes.operand) - 1
    for dim in shapes.windows:
        if dim in numbers.scatter_dims_to_operand_dims:
            continue
        count = min(most, shapes.size(dim) // (LINE if dim == last else 1))
        if count >= 4:
            return Split(count, dim=dim)
    dims = [d for d in numbers.scatter_dims_to_operand_dims if shapes.operand[d] >= MOST_SCANNING]
    # Looking at an index costs more than applying an update of one element does.
    if not dims or work < 16 * shapes.updates:
        return Split()
    return Split(most, dim=max(dims, key=lambda d: shapes.operand[d]))


class _Scatter:
    """Builds the kernel."""

    def __init__(self, lowering: Lowering, op: Operation, shapes: Shapes, block: Block) -> None:
        count = len(op.results)
        unique = inherent(op, "unique_indices")
        self.shapes = shapes
        self.split = split_of(shapes, is_integer_attr(unique) and bool(unique.value.data))
        self.lowering = lowering
        self.types = [new_type(operand) for operand in op.operands[:count]]
        self.unsigned = is_unsigned(tensor_type(op.operands[count]).element_type)
        self.k = LoopKernel(lowering, self.split.count, Float32Type())
        whole = [in_memory(lowering, filled(lowering, operand)) for operand in op.operands[:count]]
        sources = [in_memory(lowering, lowering.get(update)) for update in op.operands[count + 1 :]]
        self.results = [
            Elements(self.k.changed_input(value), type.element_type)
            for value, type in zip(whole, self.types, strict=True)
        ]
        self.updates = [
            Elements(self.k.whole_input(value), new_type(update).element_type)
            for value, update in zip(sources, op.operands[count + 1 :], strict=True)
        ]
        self.indices = self.k.whole_input(lowering.get(op.operands[count]))
        self.region = Body(self.k, block)

    def run(self) -> list[SSAValue]:
        """Emits the dispatch; gives the results."""
        with ExitStack() as loops:
            place: dict[int, Num] = {}
            for dim in self.shapes.batch:
                size = self.shapes.indices[dim]
                bounds = self._share(size) if dim == self.split.batch else (0, size)
                place[dim] = loops.enter_context(self.k.loop(*bounds))
            starts = self._starts(place)
            loops.enter_context(self._inside(starts))
            self._window(place, starts)
        values = self.k.run_shared()
        return [from_memory(self.lowering, value, type) for value, type in zip(values, self.types, strict=True)]

    def _share(self, size: int) -> tuple[Num, Num]:
        """What this workgroup has of `size`."""
        chunk = -(-size // self.split.count)
        low = self.k.workgroup * chunk
        return low.least(size), (low + chunk).least(size)

    def _starts(self, place: dict[int, Num]) -> dict[int, Num]:
        """Where the window of an update begins, along the dimensions that have indices."""
        numbers, found = self.shapes.numbers, dict[int, Num]()
        for dim, batch in zip(numbers.input_batching_dims, numbers.scatter_indices_batching_dims, strict=True):
            found[dim] = place[batch]
        for component, dim in enumerate(numbers.scatter_dims_to_operand_dims):
            at = [place.get(d, component) for d in range(len(self.shapes.indices))]
            found[dim] = Num(self.k, self.k.code.to_index(self.indices[tuple(at)].re, self.unsigned))
        return found

    def _inside(self, starts: dict[int, Num]):
        """Where the whole window is inside the operand, and some of it in this workgroup's part."""
        conditions: list[Num] = []
        for dim in self.shapes.numbers.scatter_dims_to_operand_dims:
            start, room = starts[dim], self.shapes.operand[dim] - self.shapes.size(dim)
            # Unsigned, so that negative starts are out of range as well.
            conditions.append(Num(self.k, self.k.code.cmpi("ule", start.re, self.k.number(room, INDEX).re)))
            if dim == self.split.dim:
                low, high = self._share(self.shapes.operand[dim])
                conditions += [start < high, start + self.shapes.size(dim) > low]
        if not conditions:
            return nullcontext()
        met = conditions[0]
        for condition in conditions[1:]:
            met = met & condition
        return self.k.when(met)

    def _bounds(self, dim: int, starts: dict[int, Num]) -> tuple[Num | int, Num | int]:
        """The elements of a window along `dim` that this workgroup has."""
        size = self.shapes.size(dim)
        if dim != self.split.dim:
            return 0, size
        low, high = self._share(self.shapes.operand[dim])
        if dim not in starts:
            return low, high.least(size)
        return (low - starts[dim]).most(0), (high - starts[dim]).least(size)

    def _window(self, place: dict[int, Num], starts: dict[int, Num]) -> None:
        """Applies one update."""
        windows = self.shapes.windows
        with ExitStack() as loops:
            offsets: dict[int, Num | int] = {}
            for dim in sorted(windows, key=lambda d: windows[d]):
                one = self.shapes.size(dim) == 1 and dim != self.split.dim
                offsets[dim] = 0 if one else loops.enter_context(self.k.loop(*self._bounds(dim, starts)))
            at: list[Num | int] = []
            for dim in range(len(self.shapes.operand)):
                start, offset = starts.get(dim), offsets.get(dim, 0)
                plain = isinstance(offset, int)
                at.append(offset if start is None else start if plain and offset == 0 else start + offset)
            of_update = {update: offsets[dim] for dim, update in windows.items()}
            batch = iter(place[d] for d in self.shapes.batch)
            source = [of_update[d] if d in of_update else next(batch) for d in range(len(self.shapes.update))]
            old = [result.read(at) for result in self.results]
            new = [update.read(source) for update in self.updates]
            for result, value in zip(self.results, self.region.emit([*old, *new]), strict=True):
                result.write(at, value)


def scatter_in_place(lowering: Lowering, op: Operation, numbers: ScatterDimensionNumbers) -> None:
    """Lowers a scatter of static shapes that has elements and updates."""
    results = _Scatter(lowering, op, Shapes.of(op, numbers), body_of(op)).run()
    for old, new in zip(op.results, results, strict=True):
        lowering.set(old, new)
