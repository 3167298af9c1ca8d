"""Stages: the loop nests a dispatch falls into, before it is decided how each runs.

Each store becomes one or more stages (a concatenation is stored piece by piece, a padding as its border and its
inside); every result that must not be recomputed becomes a stage that fills scratch. Dims of all stages that always
move together form classes; those present in every stage can be split into rows that are independent of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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
    Store,
)
from tiree.codegen.common.views import View, element_count, row_major_strides

EXPENSIVE_OPS = frozenset(
    ["arith.divf", "arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.remf", "tensor.extract"]
)
CHEAP_MATH = frozenset(["math.absf", "math.absi", "math.fma", "math.copysign", "math.floor", "math.ceil"])


@dataclass
class Output:
    """One node computed by a stage: index d of the node is index `order[d]` of the stage's domain.

    It goes to `view` of a binding, or to scratch when `ref` is None.
    """

    node: Node
    order: tuple[int, ...]
    ref: BindingRef | None = None
    view: View | None = None


@dataclass
class Stage:
    """A loop nest over `domain` that computes `outputs`."""

    domain: tuple[int, ...]
    outputs: list[Output] = field(default_factory=list[Output])

    @property
    def points(self) -> int:
        return element_count(self.domain)


def store_stages(info: DispatchInfo) -> list[Stage]:
    """The stages that write bindings, in program order; stores over one domain share a stage."""
    stages: list[Stage] = []
    for store in info.stores:
        for node, view in pieces(store.node, store.view, store.ref):
            if element_count(node.shape):
                _add(stages, node, store, view)
    return stages


def _add(stages: list[Stage], node: Node, store: Store, view: View) -> None:
    for stage in stages:
        order = _common_order(stage, node)
        if order is not None:
            stage.outputs.append(Output(node, order, store.ref, view))
            return
    identity = tuple(range(len(node.shape)))
    stages.append(Stage(node.shape, [Output(node, identity, store.ref, view)]))


def _common_order(stage: Stage, node: Node) -> tuple[int, ...] | None:
    """How `node`'s dims lie in the stage's domain, when it can be computed there."""
    first = stage.outputs[0]
    if (
        isinstance(node, ResultNode)
        and isinstance(first.node, ResultNode)
        and node.generic is first.node.generic
        and node.generic.invertible
    ):
        return sibling_order(first.node, node)
    if node.shape == stage.domain and isinstance(node, FillNode) == isinstance(first.node, FillNode):
        return tuple(range(len(node.shape)))
    return None


def sibling_order(first: ResultNode, other: ResultNode) -> tuple[int, ...]:
    """The dims of `other` in terms of those of `first`, both results of one generic."""
    mine = first.generic.output_map(first.number).plain_dims
    theirs = other.generic.output_map(other.number).plain_dims
    return tuple(mine.index(d) for d in theirs)


def pieces(node: Node, view: View, ref: BindingRef) -> list[tuple[Node, View]]:
    """Stores that together write `node` to `view`, with shape changes moved into the views."""
    match node:
        case ReshapeNode():
            reshaped = view.reshape(node.source.shape)
            if reshaped is not None:
                return pieces(node.source, reshaped, ref)
        case ConcatNode():
            found: list[tuple[Node, View]] = []
            start = 0
            for source in node.sources:
                offsets = [0] * len(node.shape)
                offsets[node.dim] = start
                start += source.shape[node.dim]
                found += pieces(source, _box(view, offsets, source.shape), ref)
            return found
        case PadNode() if all(isinstance(low, int) for low in node.low):
            offsets = [low for low in node.low if isinstance(low, int)]
            found = []
            for low, sizes in surrounding(node.shape, offsets, node.source.shape):
                found.append((FillNode(sizes, node.element, node.value.value), _box(view, low, sizes)))
            return found + pieces(node.source, _box(view, offsets, node.source.shape), ref)
        case InsertNode():
            return _insert_pieces(node, view, ref)
        case _:
            pass
    return [(node, view)]


def _insert_pieces(node: InsertNode, view: View, ref: BindingRef) -> list[tuple[Node, View]]:
    dest = node.dest
    in_place = (
        isinstance(dest, LoadNode)
        and isinstance(dest.ref, BindingRef)
        and (dest.ref.binding, dest.ref.offset, dest.view) == (ref.binding, ref.offset, view)
    )
    inner = view.slice(node.offsets, node.sizes, node.steps, node.kept)
    if in_place or (isinstance(dest, FillNode) and dest.undefined):
        return pieces(node.source, inner, ref)
    if any(not isinstance(o, int) for o in node.offsets) or any(s != 1 for s in node.steps):
        return [(node, view)]
    offsets = [offset for offset in node.offsets if isinstance(offset, int)]
    found: list[tuple[Node, View]] = []
    for low, sizes in surrounding(node.shape, offsets, node.sizes):
        found += pieces(_slice(dest, low, sizes), _box(view, low, sizes), ref)
    return found + pieces(node.source, inner, ref)


def _box(view: View, offsets: Sequence[int], sizes: Sequence[int]) -> View:
    return view.slice(offsets, sizes, [1] * len(sizes), range(len(sizes)))


def _slice(node: Node, offsets: Sequence[int], sizes: Sequence[int]) -> Node:
    if isinstance(node, LoadNode):
        return LoadNode(node.ref, _box(node.view, offsets, sizes), node.element)
    if isinstance(node, FillNode):
        return FillNode(sizes, node.element, node.value, node.undefined)
    return SliceNode(node, sizes, list(offsets), [1] * len(sizes), range(len(sizes)))


def surrounding(
    shape: Sequence[int], offsets: Sequence[int], sizes: Sequence[int]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Disjoint boxes (offsets, sizes) that cover `shape` outside of one box."""
    boxes: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    low, extent = [0] * len(shape), list(shape)
    for d, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
        for start, length in ((0, offset), (offset + size, shape[d] - offset - size)):
            if length > 0:
                boxes.append(((*low[:d], start, *low[d + 1 :]), (*extent[:d], length, *extent[d + 1 :])))
        low[d], extent[d] = offset, size
    return [box for box in boxes if element_count(box[1])]


class DimClasses:
    """Union-find over the dims of stages and generics. `bad` classes are accessed in some other way than dim by dim."""

    def __init__(self) -> None:
        self.parent: dict[object, object] = {}
        self.bad: dict[object, None] = {}

    def find(self, key: object) -> object:
        parent = self.parent.setdefault(key, key)
        if parent is key or parent == key:
            return key
        root = self.find(parent)
        self.parent[key] = root
        return root

    def union(self, a: object, b: object) -> None:
        x, y = self.find(a), self.find(b)
        if x == y:
            return
        self.parent[y] = x
        if y in self.bad:
            self.bad[x] = None

    def spoil(self, key: object) -> None:
        self.bad[self.find(key)] = None

    def is_bad(self, key: object) -> bool:
        return self.find(key) in self.bad


Label = object | None
"""A class key of a dim, or None where the dim is not followed."""


def operand_labels(node: Node, labels: Sequence[Label]) -> list[tuple[Node, list[Label]]]:
    """The sources of a shape-changing node, with the labels of their dims."""
    match node:
        case PadNode():
            kept = [
                label if low == 0 and size == whole else None
                for label, low, size, whole in zip(labels, node.low, node.source.shape, node.shape, strict=True)
            ]
            return [(node.source, kept)]
        case SliceNode():
            moved: list[Label] = [None] * len(node.source.shape)
            for label, d in zip(labels, node.kept, strict=True):
                whole = node.offsets[d] == 0 and node.steps[d] == 1
                moved[d] = label if whole and node.shape[list(node.kept).index(d)] == node.source.shape[d] else None
            return [(node.source, moved)]
        case InsertNode():
            inner: list[Label] = [
                labels[d] if node.offsets[d] == 0 and node.sizes[d] == node.shape[d] else None for d in node.kept
            ]
            return [(node.dest, list(labels)), (node.source, inner)]
        case ConcatNode():
            return [(s, [None if d == node.dim else label for d, label in enumerate(labels)]) for s in node.sources]
        case ReshapeNode():
            strides = dict(zip(zip(row_major_strides(node.shape), node.shape, strict=True), labels, strict=True))
            source = zip(row_major_strides(node.source.shape), node.source.shape, strict=True)
            return [(node.source, [strides.get(pair) if pair[1] != 1 else None for pair in source])]
        case _:
            return []


def is_expensive(generic: GenericNode) -> bool:
    """Whether recomputing the body costs clearly more than a load."""
    cached = generic.__dict__.get("_expensive")
    if cached is None:
        cached = generic.__dict__["_expensive"] = any(
            op.name in EXPENSIVE_OPS or bool(op.regions) or (op.name.startswith("math.") and op.name not in CHEAP_MATH)
            for op in generic.body.ops
        )
    return cached


def reads_of(generic: GenericNode) -> list[tuple[Node, list[int | None]]]:
    """The operands that the body uses, each with the loop dim that indexes each of its dims (None: otherwise)."""
    found = [
        (operand, generic.maps[n].plain_dims) for n, operand in enumerate(generic.operands) if generic.used_args[n]
    ]
    for node in generic.extracted.values():
        found.append((node, [None] * len(node.shape)))
    return found
