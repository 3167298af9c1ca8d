"""What convolutions and pools share: how windows lie on the dimensions behind batch and channel."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX

from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.node import Node


@dataclass
class Windows:
    """For each spatial dimension. `padding` is what the operator says; `ceiled` what is added for a last window."""

    size: list[int]
    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    padding: list[tuple[int, int]]
    ceiled: list[int]

    @property
    def rank(self) -> int:
        return len(self.kernel)

    @property
    def full_padding(self) -> list[tuple[int, int]]:
        return [(low, high + more) for (low, high), more in zip(self.padding, self.ceiled, strict=True)]

    def reach(self, dim: int) -> int:
        """How many places a window spans."""
        return self.dilations[dim] * (self.kernel[dim] - 1) + 1

    def results(self) -> list[int]:
        """How many windows there are."""
        return [
            DYNAMIC_INDEX
            if size == DYNAMIC_INDEX
            else max(0, (size + low + high - self.reach(dim)) // self.strides[dim] + 1)
            for dim, (size, (low, high)) in enumerate(zip(self.size, self.full_padding, strict=True))
        ]


def same_padding(mode: str, total: int) -> tuple[int, int]:
    """`SAME_UPPER` has the odd one at the end."""
    small = total // 2
    return (small, total - small) if mode == "SAME_UPPER" else (total - small, small)


def windows(node: Node, shape: tuple[int, ...], kernel: list[int]) -> Windows:
    """From the attributes. Raises `Unsupported` for a padding that depends on a size that is known late."""
    rank = len(shape) - 2
    size = list(shape[2:])
    if rank < 1 or len(kernel) != rank:
        raise Unsupported(f"with a window of {len(kernel)} dimensions on an operand of rank {len(shape)}")
    strides = node.ints("strides", [1] * rank)
    dilations = node.ints("dilations", [1] * rank)
    found = Windows(size, kernel, strides, dilations, [(0, 0)] * rank, [0] * rank)
    mode = node.string("auto_pad", "NOTSET")
    if mode == "NOTSET":
        pads = node.ints("pads", [0] * (2 * rank))
        found.padding = [(pads[dim], pads[dim + rank]) for dim in range(rank)]
    elif mode in ("SAME_UPPER", "SAME_LOWER"):
        if DYNAMIC_INDEX in size:
            raise Unsupported(f"with auto_pad {mode} of a dimension whose size is known late only")
        for dim in range(rank):
            count = -(-size[dim] // strides[dim])
            total = max((count - 1) * strides[dim] + found.reach(dim) - size[dim], 0)
            found.padding[dim] = same_padding(mode, total)
    elif mode != "VALID":
        raise Unsupported(f"with the auto_pad {mode!r}")
    if node.int("ceil_mode", 0):
        for dim in range(rank):
            found.ceiled[dim] = _ceiled(found, dim)
    return found


def _ceiled(found: Windows, dim: int) -> int:
    """What a last window needs behind the end, if it begins before it."""
    size, (low, high), stride = found.size[dim], found.padding[dim], found.strides[dim]
    if size == DYNAMIC_INDEX:
        raise Unsupported("with ceil_mode of a dimension whose size is known late only")
    count = -(-(size + low + high - found.reach(dim)) // stride) + 1
    if (count - 1) * stride >= size + low:
        count -= 1
    return max((count - 1) * stride + found.reach(dim) - (size + low + high), 0)
