"""What a dispatch moves and computes: the numbers of `--tiree-report`, and the basis for splitting it."""

from __future__ import annotations

from tiree.codegen.common.graph import (
    BindingRef,
    DispatchInfo,
    GenericNode,
    LoadNode,
    Node,
    ResultNode,
    bits_of,
    storage_element,
)
from tiree.codegen.common.hazards import reachable
from tiree.codegen.common.views import element_count

COSTLY_OPS = {
    "math.exp": 12, "math.exp2": 10, "math.expm1": 16, "math.log": 14, "math.log1p": 18, "math.log2": 14,
    "math.log10": 14, "math.tanh": 16, "math.erf": 24, "math.powf": 40, "math.sin": 20, "math.cos": 20, "math.tan": 30,
    "math.atan": 20, "math.atan2": 30, "math.sqrt": 4, "math.rsqrt": 6, "math.cbrt": 20, "arith.divf": 4,
    "arith.remf": 20, "arith.divsi": 20, "arith.divui": 20, "arith.remsi": 20, "arith.remui": 20,
}  # fmt: skip
"""Arithmetic of one op in units of a multiply, as far as it differs from 1 (0 for pure renaming below)."""

FREE_OPS = frozenset(["arith.constant", "linalg.yield", "linalg.index", "arith.index_cast", "tensor.extract"])


def needed_nodes(info: DispatchInfo) -> dict[Node, None]:
    """All nodes that the stores need."""
    return reachable([store.node for store in info.stores])


def live_generics(info: DispatchInfo) -> list[GenericNode]:
    found = {node.generic: None for node in needed_nodes(info) if isinstance(node, ResultNode)}
    return [g for g in info.generics if g in found]


def byte_size(node: Node) -> int:
    return element_count(node.shape) * bits_of(storage_element(node.element)) // 8


def bytes_moved(info: DispatchInfo) -> int:
    """Bytes read from and written to bindings; memory read through several views counts once."""
    read: dict[object, int] = {}
    for node in needed_nodes(info):
        if isinstance(node, LoadNode):
            ref = node.ref
            whole = ref.size if isinstance(ref, BindingRef) else element_count(ref.value.shape)
            each = bits_of(storage_element(node.element)) // 8
            key = (ref.binding, ref.offset) if isinstance(ref, BindingRef) else ref
            distinct = element_count([n for n, s in zip(node.shape, node.view.strides, strict=True) if s])
            read[key] = min(whole * each, read.get(key, 0) + distinct * each)
    return sum(read.values()) + sum(byte_size(store.node) for store in info.stores)


def flops(info: DispatchInfo, weighted: bool = False) -> int:
    """Scalar operations of all bodies; `weighted` counts a costly function by its cost."""
    total = 0
    for generic in live_generics(info):
        each = 0
        for op in generic.body.walk():
            if op.name not in FREE_OPS and op.results:
                each += COSTLY_OPS.get(op.name, 1) if weighted else 1
        total += each * element_count(generic.loops)
    return total


def work(info: DispatchInfo) -> float:
    """The dispatch's cost in bytes moved, arithmetic converted at the rate of vector code."""
    return bytes_moved(info) + 0.35 * flops(info, weighted=True)
