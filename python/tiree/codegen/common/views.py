"""`View`: a strided window on flat memory, and the shape changes that are free on it.

An element's address is `base + sum(index[d] * strides[d])` in elements; the base is a constant plus run-time scalars
(SSA values of the dispatch function) times constants. Pure bookkeeping: emits nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue


@dataclass(frozen=True)
class View:
    """`dynamic` holds (index value, factor) pairs that add to `base`."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    base: int = 0
    dynamic: tuple[tuple[SSAValue, int], ...] = ()

    @staticmethod
    def dense(shape: Sequence[int]) -> View:
        return View(tuple(shape), row_major_strides(shape))

    @property
    def size(self) -> int:
        return element_count(self.shape)

    @property
    def is_dense(self) -> bool:
        """Whether the elements follow each other in row-major order (from whatever base)."""
        expected = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1 and stride != expected:
                return False
            expected *= size
        return True

    def slice(
        self, offsets: Sequence[int | SSAValue], sizes: Sequence[int], steps: Sequence[int], kept: Sequence[int]
    ) -> View:
        """The elements offset + step * i of each dim; only the dims in `kept` remain (the others have size 1)."""
        base, dynamic = self.base, list(self.dynamic)
        for offset, stride in zip(offsets, self.strides, strict=True):
            if isinstance(offset, int):
                base += offset * stride
            elif stride:
                dynamic.append((offset, stride))
        return View(
            tuple(sizes[d] for d in kept),
            tuple(self.strides[d] * steps[d] for d in kept),
            base,
            tuple(dynamic),
        )

    def reshape(self, shape: Sequence[int]) -> View | None:
        """The same elements in another shape, or None when no strides can say that."""
        if self.size == 0:
            return View(tuple(shape), (0,) * len(shape), self.base, self.dynamic)
        old = [(n, s) for n, s in zip(self.shape, self.strides, strict=True) if n != 1]
        strides = [0] * len(shape)
        old_at, new_at = 0, 0
        while new_at < len(shape):
            if shape[new_at] == 1:
                new_at += 1
                continue
            start, product = new_at, shape[new_at]
            first = old_at
            covered = old[old_at][0]
            while covered != product:
                if covered < product:
                    old_at += 1
                    if old[old_at - 1][1] != old[old_at][0] * old[old_at][1]:
                        return None
                    covered *= old[old_at][0]
                else:
                    new_at += 1
                    product *= shape[new_at]
            assert first <= old_at
            stride = old[old_at][1]
            for position in range(new_at, start - 1, -1):
                strides[position] = stride if shape[position] != 1 else 0
                stride *= shape[position]
            old_at += 1
            new_at += 1
        return View(tuple(shape), tuple(strides), self.base, self.dynamic)

    def through(self, results: Sequence[tuple[int, Sequence[tuple[int, int]]]], loops: Sequence[int]) -> View:
        """The view that an access through linear map results gives over a loop nest of these sizes."""
        base, strides = self.base, [0] * len(loops)
        for (const, terms), stride in zip(results, self.strides, strict=True):
            base += const * stride
            for dim, factor in terms:
                strides[dim] += factor * stride
        return View(tuple(loops), tuple(strides), base, self.dynamic)


def row_major_strides(shape: Sequence[int]) -> tuple[int, ...]:
    strides = [1] * len(shape)
    for d in range(len(shape) - 2, -1, -1):
        strides[d] = strides[d + 1] * shape[d + 1]
    return tuple(strides)


def element_count(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def kept_dims(sizes: Sequence[int], shape: Sequence[int]) -> list[int] | None:
    """Which dims of `sizes` a rank-reduced `shape` keeps; the dropped ones have size 1. None when they don't match."""
    kept: list[int] = []
    for d, size in enumerate(sizes):
        if len(kept) < len(shape) and size == shape[len(kept)]:
            kept.append(d)
        elif size != 1:
            return None
    return kept if len(kept) == len(shape) else None
