"""Names of dispatches: what the work is, in the manner of IREE (`matmul_8x128x64_f32`, `elementwise_8x128_f32`)."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation

from tiree.dialects.iree_linalg_ext_attention import NAME as ATTENTION
from tiree.dialects.iree_linalg_ext_attention import maps_of as maps_of_attention
from tiree.dialects.iree_linalg_ext_attention import sizes_of
from tiree.flow.affine import dim_positions
from tiree.flow.structured import (
    body_of,
    domain_size,
    element_type_of,
    input_count,
    is_elementwise,
    iterators_of,
    loop_extents,
    maps_of,
    yielded,
)
from tiree.flow.unit_dims import is_windowed


def root_of(block: Block) -> Operation | None:
    """The op that gives a dispatch its character: the largest that reduces, else the largest elementwise one."""
    generics = [op for op in block.ops if op.name == "linalg.generic"]
    if not generics:
        return None
    return max(generics, key=lambda op: (not is_elementwise(op), domain_size(op)))


def _types(op: Operation) -> str:
    types: dict[str, None] = {}
    for value in op.operands:
        types[re.sub(r"\W+", "_", str(element_type_of(value)))] = None
    return "x".join(types)


def _is_multiply_add(op: Operation) -> bool:
    names = {inner.name for inner in body_of(op).ops}
    return bool(names & {"arith.mulf", "arith.muli", "arith.andi"}) and bool(
        names & {"arith.addf", "arith.addi", "arith.ori"}
    )


def _kind(block: Block, op: Operation) -> str:
    reductions = sum(1 for other in block.ops if other.name == "linalg.generic" and not all(iterators_of(other)))
    if is_elementwise(op):
        inner = body_of(op)
        if any(other.name == "tensor.extract" for other in inner.ops):
            return "gather"
        moves = inner.first_op is inner.last_op and len(yielded(op)) == 1
        permuted = moves and dim_positions(maps_of(op)[0]) not in (None, list(range(len(iterators_of(op)))))
        return "transpose" if permuted and input_count(op) == 1 else "elementwise"
    if input_count(op) >= 2 and _is_multiply_add(op):
        if is_windowed(op):
            return "conv"
        loops = iterators_of(op)
        return "matmul" if len(loops) == 3 and loops.count(True) == 2 else "contract"
    if is_windowed(op):
        return "pool"
    if reductions > 1:
        names = {inner.name for other in block.ops if other.name == "linalg.generic" for inner in body_of(other).ops}
        return "softmax" if "math.exp" in names else "normalize"
    return "reduction"


def dispatch_suffix(block: Block) -> str:
    """The descriptive part of a dispatch's name; `copy` when the body only loads and stores."""
    attention = next((op for op in block.ops if op.name == ATTENTION), None)
    if attention is not None:
        sizes = [
            "D" if size == DYNAMIC_INDEX else str(size)
            for size in sizes_of(attention, maps_of_attention(attention) or [])
        ]
        return "_".join(("attention", "x".join(sizes), _types(attention)))
    op = root_of(block)
    if op is None:
        return "copy"
    extents = loop_extents(op)
    parallel = iterators_of(op)
    order = sorted(range(len(extents)), key=lambda dim: not parallel[dim])
    shape = "x".join("D" if extents[dim] == DYNAMIC_INDEX else str(extents[dim]) for dim in order)
    return "_".join(part for part in (_kind(block, op), shape, _types(op)) if part)
