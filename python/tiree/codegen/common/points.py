"""What evaluation shares between its files: points, scratch and the tuning of reductions."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from tiree.codegen.common.builder import Buffer
from tiree.codegen.common.graph import GenericNode
from tiree.codegen.common.linear import ZERO, Lin


class Point:
    """Where to evaluate: one index per dim of a node or loop nest, and the lanes that count (None: all)."""

    __slots__ = ("_hash", "idx", "is_uniform", "mask")

    def __init__(self, idx: tuple[Lin, ...], mask: SSAValue | None = None) -> None:
        self.idx = idx
        self.mask = mask
        self.is_uniform = all(index.is_uniform for index in idx)
        """Whether all lanes are the same element."""
        self._hash = hash((idx, mask))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and self.mask is other.mask and self.idx == other.idx


@dataclass
class Scratch:
    """Where a materialised result lives: element address = base + sum(idx[d] * strides[d])."""

    buffer: Buffer
    strides: tuple[int, ...]
    base: Lin = ZERO


@dataclass(frozen=True)
class ReductionPlan:
    """How one reduction runs. Each group of reduction dims is one loop (merged dims lie contiguously in all operands).

    `lane_group` is the group that vector lanes run along when the reduction is evaluated in scalar context; `width`
    lanes, `accumulators` vectors per point.
    """

    groups: tuple[tuple[int, ...], ...]
    lane_group: tuple[int, ...] = ()
    width: int = 0
    accumulators: int = 1


@dataclass
class Tuning:
    """How reductions are emitted; the defaults give plain scalar loops."""

    unroll_limit: int = 1
    """Loops of at most this many steps are written out."""
    loop_unroll: int = 1
    """Steps of the innermost reduction loop written out per iteration, divided by the points."""
    fuse_multiply_add: bool = False
    mask_registers: bool = False
    """Whether a choice between a load and a number is best made lane by lane, for all lanes alike too."""
    stack_scratch: int = 0
    """Bytes of scratch that may lie on the stack."""
    reductions: dict[GenericNode, ReductionPlan] = field(default_factory=dict[GenericNode, ReductionPlan])
