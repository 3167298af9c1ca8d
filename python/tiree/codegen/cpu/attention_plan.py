"""How the kernel of an attention is cut: rows into tiles of vectors, keys into blocks that stay in the caches."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation

from tiree.codegen.common.graph import bits_of, storage_element
from tiree.codegen.cpu.contraction_plan import register_tile
from tiree.codegen.cpu.fallback import scratch_limit
from tiree.dialects.hal_executable import InterfaceBindingSubspanOp
from tiree.dialects.iree_linalg_ext_attention import AttentionForm, element_of, maps_of, sizes_of, sum_type
from tiree.dialects.iree_tensor_ext import DispatchTensorType
from tiree.support.cpu_target import TargetDescription
from tiree.support.typed import is_tensor_type

MOST_KEYS = 128
"""Keys of a block: their scores are read again while they are in the first-level cache."""
MOST_WORKGROUPS = 64
_GRAIN = 1 << 21
"""Floating-point operations that a workgroup deserves."""
_UNKNOWN_KEYS = 24


@dataclass(frozen=True)
class AttentionPlan:
    element: Attribute
    """The type of scores and sums."""
    width: int
    """Rows of a vector; 1 for scalars."""
    vectors: int
    """Vectors of a tile of rows."""
    keys: int
    """Keys of a block."""
    key_tile: int
    """Keys whose scores are summed in registers at a time."""
    column_tile: int
    shift: int
    """Probabilities are kept times 2^-shift, so that no sum of them times values overflows before it is divided."""

    @property
    def rows(self) -> int:
        return self.width * self.vectors


def loop_sizes(op: Operation) -> list[int]:
    """The extents of the loops of an attention, `DYNAMIC_INDEX` where they are not known."""
    return sizes_of(op, maps_of(op) or [])


def is_staged(op: Operation, number: int, element: Attribute) -> bool:
    """Whether keys (1) or values (2) are widened block by block before use."""
    return element_of(op.operands[number]) != element


def plan_attention(op: Operation, form: AttentionForm, target: TargetDescription) -> AttentionPlan:
    sizes = loop_sizes(op)
    element = sum_type((*op.operands[:3], op.operands[-1]))
    each = bits_of(element) // 8
    rows, keys, depth, columns = (sizes[d] for d in (form.row, form.keys, form.depth, form.columns))
    width = target.lanes(each)
    while rows != DYNAMIC_INDEX and width > 1 and width >= 2 * rows:
        width //= 2
    wanted = 4 if rows == DYNAMIC_INDEX else -(-rows // width)
    most, vectors = register_tile(target, wanted)
    staged = sum(size for n, size in ((1, depth), (2, columns)) if is_staged(op, n, element))
    lanes = width * vectors
    room = scratch_limit(target) // each - (depth + columns + 2) * lanes - width * width
    limit = max(most, min(MOST_KEYS, room // (lanes * (2 if form.mask is not None else 1) + staged)))
    if keys == DYNAMIC_INDEX:
        block = limit // most * most or most
        tile = most
    else:
        even = _even(keys, limit)
        tile = _even(even, most)
        block = -(-even // tile) * tile
    shift = _UNKNOWN_KEYS if keys == DYNAMIC_INDEX else max(0, (keys - 1).bit_length())
    return AttentionPlan(element, width, vectors, block, tile, _even(columns, most), shift)


def _even(size: int, most: int) -> int:
    """Tiles of at most `most` that divide `size` as evenly as can be."""
    return -(-size // -(-size // most))


def flops_of(op: Operation, form: AttentionForm) -> int | None:
    """Operations of an attention of known sizes: products, sums, and five for each score."""
    sizes = loop_sizes(op)
    if DYNAMIC_INDEX in sizes:
        return None
    scores = sizes[form.row] * sizes[form.keys]
    for loop in form.outer:
        scores *= sizes[loop]
    return scores * (2 * sizes[form.depth] + 2 * sizes[form.columns] + 5)


def bytes_of(function: Operation) -> int | None:
    """Bytes of all bindings of a dispatch function of known sizes."""
    total = 0
    for op in function.regions[0].block.ops:
        type = op.result.type if isinstance(op, InterfaceBindingSubspanOp) else None
        if isinstance(type, DispatchTensorType) and is_tensor_type(type.bound_type):
            count = bits_of(storage_element(type.tensor_type.element_type)) // 8
            for size in type.tensor_type.get_shape():
                if size == DYNAMIC_INDEX:
                    return None
                count *= size
            total += count
    return total


def workgroups_of(op: Operation, form: AttentionForm, plan: AttentionPlan) -> int:
    """How many workgroups share the tiles of an attention of known sizes, equally."""
    sizes = loop_sizes(op)
    tiles = -(-sizes[form.row] // plan.rows)
    for loop in form.outer:
        tiles *= sizes[loop]
    wanted = max(1, min(MOST_WORKGROUPS, (flops_of(op, form) or 0) // _GRAIN))
    return max(1, -(-tiles // max(1, -(-tiles // wanted))))
