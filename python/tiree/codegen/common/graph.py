"""The tensors of one dispatch as a graph: what a kernel must compute, without saying how.

`DispatchInfo` lists the stores; their values are `Node`s. Shape changes of memory (slices, reshapes, transposes of
loaded tensors) are folded into the `View` of a `LoadNode`, so strategies see strides instead of a chain of ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiree.codegen.common.linear import LinearMap
from tiree.codegen.common.views import View
from tiree.dialects.dense import DenseAttr, element_byte_size
from tiree.dialects.hal_attrs import PipelineLayoutAttr
from tiree.support.typed import is_integer_type


@dataclass(frozen=True)
class BindingRef:
    """Memory of a binding from `offset` (bytes, or an index value) on, as `size` elements of `element`."""

    binding: int
    offset: int | SSAValue
    element: Attribute
    size: int
    layout: PipelineLayoutAttr
    writable: bool
    alignment: int = 64


@dataclass(frozen=True)
class TableRef:
    """A constant that becomes read-only memory of the executable."""

    value: DenseAttr

    @property
    def element(self) -> Attribute:
        return self.value.element_type


class Node:
    """A tensor value of static shape. Nodes are compared by identity."""

    __slots__ = ("element", "shape")

    def __init__(self, shape: Sequence[int], element: Attribute) -> None:
        self.shape = tuple(shape)
        self.element = element


class LoadNode(Node):
    """Elements in memory, seen through a strided view."""

    __slots__ = ("ref", "view")

    def __init__(self, ref: BindingRef | TableRef, view: View, element: Attribute) -> None:
        super().__init__(view.shape, element)
        self.ref = ref
        self.view = view


class FillNode(Node):
    """One scalar for all elements: a Python number or a scalar of the dispatch function. `undefined`: tensor.empty."""

    __slots__ = ("undefined", "value")

    def __init__(
        self, shape: Sequence[int], element: Attribute, value: SSAValue | int | float, undefined: bool = False
    ) -> None:
        super().__init__(shape, element)
        self.value = value
        self.undefined = undefined


class ElementsNode(Node):
    """A small tensor of scalars of the dispatch function, in row-major order."""

    __slots__ = ("values",)

    def __init__(self, shape: Sequence[int], element: Attribute, values: Sequence[SSAValue]) -> None:
        super().__init__(shape, element)
        self.values = tuple(values)


class PadNode(Node):
    """`source` with `low` elements of `value` before it in each dim, and more after it up to the shape."""

    __slots__ = ("low", "source", "value")

    def __init__(self, source: Node, shape: Sequence[int], low: Sequence[int | SSAValue], value: FillNode) -> None:
        super().__init__(shape, source.element)
        self.source = source
        self.low = tuple(low)
        self.value = value


class SliceNode(Node):
    """`source[offset + step * i]` per source dim; only the `kept` dims appear in the shape."""

    __slots__ = ("kept", "offsets", "source", "steps")

    def __init__(
        self,
        source: Node,
        shape: Sequence[int],
        offsets: Sequence[int | SSAValue],
        steps: Sequence[int],
        kept: Sequence[int],
    ) -> None:
        super().__init__(shape, source.element)
        self.source = source
        self.offsets = tuple(offsets)
        self.steps = tuple(steps)
        self.kept = tuple(kept)


class InsertNode(Node):
    """`dest` with `source` at offset + step * i; source dims are the `kept` dims of the box."""

    __slots__ = ("dest", "kept", "offsets", "sizes", "source", "steps")

    def __init__(
        self,
        source: Node,
        dest: Node,
        offsets: Sequence[int | SSAValue],
        sizes: Sequence[int],
        steps: Sequence[int],
        kept: Sequence[int],
    ) -> None:
        super().__init__(dest.shape, dest.element)
        self.source = source
        self.dest = dest
        self.offsets = tuple(offsets)
        self.sizes = tuple(sizes)
        self.steps = tuple(steps)
        self.kept = tuple(kept)


class ReshapeNode(Node):
    """The elements of `source` in row-major order, in another shape."""

    __slots__ = ("source",)

    def __init__(self, source: Node, shape: Sequence[int]) -> None:
        super().__init__(shape, source.element)
        self.source = source


class ConcatNode(Node):
    """`sources` one after the other along `dim`."""

    __slots__ = ("dim", "sources")

    def __init__(self, sources: Sequence[Node], dim: int, shape: Sequence[int]) -> None:
        super().__init__(shape, sources[0].element)
        self.sources = tuple(sources)
        self.dim = dim


class GenericNode:
    """One `linalg.generic` (or elementwise op on tensors): a loop nest of `loops` sizes around `body`.

    `operands` are inputs then outputs' initial values, `maps` in the same order; `extracted` resolves the tensors that
    the body reads by `tensor.extract`.
    """

    def __init__(
        self,
        op: Operation,
        body: Block,
        operands: Sequence[Node],
        maps: Sequence[LinearMap],
        reductions: Sequence[bool],
        loops: Sequence[int],
        extracted: dict[SSAValue, Node],
        results: int | None = None,
    ) -> None:
        self.op = op
        self.body = body
        self.operands = tuple(operands)
        self.maps = tuple(maps)
        self.is_reduction = tuple(reductions)
        self.loops = tuple(loops)
        self.extracted = extracted
        self.num_results = len(op.results) if results is None else results
        self.snapshot = False
        """Whether this is a copy of memory made before it is overwritten."""
        self.results: list[ResultNode] = []

    @property
    def num_inputs(self) -> int:
        return len(self.operands) - self.num_results

    def output_map(self, result: int) -> LinearMap:
        return self.maps[self.num_inputs + result]

    @cached_property
    def parallel_dims(self) -> tuple[int, ...]:
        return tuple(d for d, r in enumerate(self.is_reduction) if not r)

    @cached_property
    def reduction_dims(self) -> tuple[int, ...]:
        return tuple(d for d, r in enumerate(self.is_reduction) if r)

    @cached_property
    def used_args(self) -> tuple[bool, ...]:
        return tuple(bool(arg.uses) for arg in self.body.args)

    @cached_property
    def invertible(self) -> bool:
        """Whether each element of each result is made by one point of the parallel dims, which its index tells."""
        return all(self.output_map(k).is_permutation_of(self.parallel_dims) for k in range(self.num_results))


class ResultNode(Node):
    """Result `number` of a generic."""

    __slots__ = ("generic", "number")

    def __init__(self, generic: GenericNode, number: int, shape: Sequence[int], element: Attribute) -> None:
        super().__init__(shape, element)
        self.generic = generic
        self.number = number


@dataclass
class Store:
    """`node` goes to `view` of a binding's memory."""

    node: Node
    ref: BindingRef
    view: View
    op: Operation


@dataclass
class DispatchInfo:
    """What one kernel function computes. `generics` are in program order."""

    name: str
    op: Operation
    stores: list[Store] = field(default_factory=list[Store])
    generics: list[GenericNode] = field(default_factory=list[GenericNode])
    nodes: dict[SSAValue, Node] = field(default_factory=dict[SSAValue, Node])

    @cached_property
    def written_bindings(self) -> frozenset[int]:
        return frozenset(store.ref.binding for store in self.stores)


def storage_element(element: Attribute) -> Attribute:
    """The type in memory: `i1` takes a byte, index is 64 bits wide."""
    from tiree.codegen.common.builder import I8, I64

    if is_integer_type(element) and element.width.data == 1:
        return I8
    return I64 if element.name == "index" else element


def bits_of(element: Attribute) -> int:
    """Bits of an element in a register: 1 for `i1`."""
    if is_integer_type(element):
        return element.width.data
    return 8 * element_byte_size(element)
