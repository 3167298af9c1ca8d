"""Dispatches that read memory which they also write: snapshots where the order of points could be seen.

A tied operand (`readwrite`) may be loaded in one box and stored in another. Tensors are values, so every load means the
memory as it was on entry. `protect` replaces a load that a store could disturb by a copy in scratch.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Block
from xdsl.ir.affine import AffineMap

from tiree.codegen.common.graph import (
    BindingRef,
    ConcatNode,
    DispatchInfo,
    FillNode,
    GenericNode,
    InsertNode,
    LoadNode,
    Node,
    PadNode,
    ReshapeNode,
    ResultNode,
    SliceNode,
    bits_of,
    storage_element,
)
from tiree.codegen.common.linear import LinearMap
from tiree.codegen.common.views import element_count


def overlap(a: BindingRef, b: BindingRef) -> bool:
    """Whether two stretches of bindings may share bytes. Different bindings never do."""
    if a.binding != b.binding:
        return False
    if not isinstance(a.offset, int) or not isinstance(b.offset, int):
        return True
    length_a, length_b = (r.size * bits_of(storage_element(r.element)) // 8 for r in (a, b))
    return a.offset < b.offset + length_b and b.offset < a.offset + length_a


def sources(node: Node) -> tuple[Node, ...]:
    """The nodes that `node` reads."""
    match node:
        case ResultNode():
            generic = node.generic
            used = [o for n, o in enumerate(generic.operands) if generic.used_args[n]]
            return (*used, *generic.extracted.values())
        case PadNode() | SliceNode() | ReshapeNode():
            return (node.source,)
        case InsertNode():
            return (node.dest, node.source)
        case ConcatNode():
            return node.sources
        case _:
            return ()


def reachable(roots: list[Node]) -> dict[Node, None]:
    """All nodes that `roots` need, themselves included."""
    found: dict[Node, None] = {}
    work = list(roots)
    while work:
        node = work.pop()
        if node not in found:
            found[node] = None
            work.extend(sources(node))
    return found


def protect(info: DispatchInfo) -> bool:
    """Puts snapshots in place; True when there are any, and then the dispatch must run in one workgroup."""
    cached = info.__dict__.get("_protected")
    if cached is None:
        cached = info.__dict__["_protected"] = _protect(info)
    return cached


def _protect(info: DispatchInfo) -> bool:
    if not works_in_place(info):
        return False
    if all(element_count(store.node.shape) <= 1 for store in info.stores) and not any(
        isinstance(store.node, InsertNode) for store in info.stores
    ):
        # One point: everything is read before anything is written.
        return False
    disturbed = [node for node in _loads(info) if _is_disturbed(info, node)]
    for node in disturbed:
        _replace(info, node, _snapshot(info, node))
    return bool(disturbed)


def works_in_place(info: DispatchInfo) -> bool:
    """Whether the dispatch reads memory that it writes."""
    return any(store.ref.writable and _is_read_write(info, store.ref) for store in info.stores)


def _is_read_write(info: DispatchInfo, ref: BindingRef) -> bool:
    return any(
        isinstance(n, LoadNode) and isinstance(n.ref, BindingRef) and overlap(n.ref, ref) for n in info.nodes.values()
    )


def _loads(info: DispatchInfo) -> list[LoadNode]:
    """Loads that values depend on. The target that an insertion keeps as it is does not count: it is not read."""
    roots: list[Node] = []
    for store in info.stores:
        node = store.node
        while isinstance(node, InsertNode) and not isinstance(node.dest, LoadNode):
            roots.append(node.source)
            node = node.dest
        if isinstance(node, InsertNode) and isinstance(node.dest, LoadNode):
            same = node.dest.ref == store.ref and node.dest.view == store.view
            roots += [node.source] if same else [node]
        else:
            roots.append(node)
    return [n for n in reachable(roots) if isinstance(n, LoadNode)]


def _is_disturbed(info: DispatchInfo, load: LoadNode) -> bool:
    for store in info.stores:
        if not isinstance(load.ref, BindingRef) or not overlap(load.ref, store.ref):
            continue
        if load.ref != store.ref or not _written_together(info, load) or not _pointwise(info, load):
            return True
    return False


def _written_together(info: DispatchInfo, load: LoadNode) -> bool:
    """Whether what is stored is stored where `load` reads: a single store, or those of the parts of complex numbers.

    The parts are results of one generic, so that at each point all are computed before one is stored.
    """
    first = info.stores[0]
    if len(info.stores) == 1:
        return load.view == first.view
    makers = {store.node.generic if isinstance(store.node, ResultNode) else None for store in info.stores}
    if len(info.stores) != 2 or None in makers or len(makers) != 1:
        return False
    low, high = sorted((store.view for store in info.stores), key=lambda view: view.base)
    pair = high == replace(low, base=low.base + 1) and low.base % 2 == 0
    even = all(stride % 2 == 0 for stride in low.strides) and all(factor % 2 == 0 for _, factor in low.dynamic)
    return pair and even and load.view in (low, high)


def _pointwise(info: DispatchInfo, load: LoadNode) -> bool:
    """Whether `load` is read only at the index that is being written: all generics have identity maps around it.

    Or it is what a reduction starts from, which is read once for each element, before that is written.
    """
    nodes = reachable([store.node for store in info.stores])
    if any(not isinstance(n, (ResultNode, LoadNode, FillNode)) for n in nodes):
        return False
    for generic in {n.generic: None for n in nodes if isinstance(n, ResultNode)}:
        identity = list(range(len(generic.loops)))
        if load in generic.extracted.values():
            return False
        if generic.reduction_dims:
            if not _accumulates(info, generic, load):
                return False
            continue
        if any(generic.output_map(k).plain_dims != identity for k in range(generic.num_results)):
            return False
        for n, operand in enumerate(generic.operands):
            reads = isinstance(operand, (LoadNode, ResultNode)) and load in reachable([operand])
            if reads and generic.maps[n].plain_dims != identity:
                return False
    return True


def _accumulates(info: DispatchInfo, generic: GenericNode, load: LoadNode) -> bool:
    """Whether a reduction that is stored as it is reads `load` only as what its own elements start from."""
    if any(not isinstance(store.node, ResultNode) or store.node.generic is not generic for store in info.stores):
        return False
    parallel = list(generic.parallel_dims)
    if any(generic.output_map(k).plain_dims != parallel for k in range(generic.num_results)):
        return False
    inits = generic.operands[generic.num_inputs :]
    others = [*generic.operands[: generic.num_inputs], *(init for init in inits if not isinstance(init, LoadNode))]
    return all(load not in reachable([node]) for node in others)


def _snapshot(info: DispatchInfo, load: LoadNode) -> ResultNode:
    """A copy of `load` that schedules must keep in scratch."""
    rank = len(load.shape)
    body = Block(arg_types=[load.element, load.element])
    body.add_op(YieldOp.create(operands=[body.args[0]]))
    identity = LinearMap(AffineMap.identity(rank))
    empty = FillNode(load.shape, load.element, 0, undefined=True)
    assert info.op is not None
    generic = GenericNode(info.op, body, [load, empty], [identity, identity], [False] * rank, load.shape, {}, results=1)
    generic.snapshot = True
    node = ResultNode(generic, 0, load.shape, load.element)
    generic.results.append(node)
    info.generics.insert(0, generic)
    return node


def _replace(info: DispatchInfo, old: Node, new: ResultNode) -> None:
    """`new` in place of `old` in everything but the snapshot itself."""

    def swap(node: Node) -> Node:
        return new if node is old else node

    for generic in info.generics:
        if generic is not new.generic:
            generic.operands = tuple(swap(n) for n in generic.operands)
            generic.extracted = {value: swap(n) for value, n in generic.extracted.items()}
    for node in reachable([store.node for store in info.stores]):
        match node:
            case PadNode() | SliceNode() | ReshapeNode():
                node.source = swap(node.source)
            case InsertNode():
                node.source = swap(node.source)
            case ConcatNode():
                node.sources = tuple(swap(n) for n in node.sources)
            case _:
                pass
    for store in info.stores:
        store.node = swap(store.node)
