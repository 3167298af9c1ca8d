"""`Shape`: dimensions, as `HalBuffer.create_view` takes them."""

from __future__ import annotations

from collections.abc import Iterable


class Shape:
    """A list of dimensions. Raises `ValueError` for negative ones."""

    __slots__ = ("dims",)

    def __init__(self, indices: Iterable[int]) -> None:
        self.dims = [int(d) for d in indices]
        if any(d < 0 for d in self.dims):
            raise ValueError(f"dimensions cannot be negative: {self.dims}")

    def __eq__(self, other: object) -> bool:
        return self.dims == other.dims if isinstance(other, Shape) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.dims))

    def __reduce__(self) -> tuple[type[Shape], tuple[list[int]]]:
        return Shape, (self.dims,)

    def __repr__(self) -> str:
        return f"Shape({self.dims})"
