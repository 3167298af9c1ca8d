"""Reads a dispatch function into a `DispatchInfo`.

In: a `func.func` of executable-sources form, with static shapes: subspans, dispatch.tensor.load/store,
`linalg.generic`, `linalg.fill`, `tensor.*` and elementwise ops on tensors. What codegen has no form for is a
`CompileError` at that op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import linalg
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from tiree.codegen.common.graph import (
    BindingRef,
    ConcatNode,
    DispatchInfo,
    ElementsNode,
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
    TableRef,
)
from tiree.codegen.common.linear import LinearMap
from tiree.codegen.common.views import View, element_count, kept_dims, row_major_strides
from tiree.dialects.arith import constant_int
from tiree.dialects.dense import DenseAttr
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import int_of, is_tensor_type, symbol_name

ELEMENTWISE_PREFIXES = ("arith.", "math.")


def fail(op: Operation, message: str, hint: str = "") -> CompileError:
    return CompileError(Diagnostic(message, location_of(op), hint))


def analyze(func: Operation) -> DispatchInfo:
    """Raises `CompileError` for ops, dynamic shapes or accesses that codegen does not handle."""
    analysis = _Analysis(func)
    for op in func.regions[0].block.ops:
        analysis.visit(op)
    return analysis.info


class _Analysis:
    """Maps the function's tensor values to nodes, op by op."""

    def __init__(self, func: Operation) -> None:
        name = symbol_name(func)
        self.info = DispatchInfo(name, op=func)
        self.nodes = self.info.nodes
        self.refs: dict[SSAValue, BindingRef] = {}
        self.handlers: dict[str, Callable[[Any], None]] = {
            "hal.interface.binding.subspan": self.subspan,
            "iree_tensor_ext.dispatch.tensor.load": self.load,
            "iree_tensor_ext.dispatch.tensor.store": self.store,
            "linalg.generic": self.generic,
            "linalg.fill": self.fill,
            "tensor.empty": self.empty,
            "tensor.splat": self.splat,
            "tensor.from_elements": self.from_elements,
            "tensor.extract_slice": self.extract_slice,
            "tensor.insert_slice": self.insert_slice,
            "tensor.pad": self.pad,
            "tensor.concat": self.concat,
            "tensor.cast": self.cast,
            "tensor.expand_shape": self.reshape,
            "tensor.collapse_shape": self.reshape,
            "tensor.reshape": self.reshape,
            "tensor.bitcast": self.elementwise,
        }

    def visit(self, op: Operation) -> None:
        handler = self.handlers.get(op.name)
        if handler is not None:
            handler(op)
        elif any(is_tensor_type(r.type) for r in op.results):
            if op.name == "arith.constant":
                self.constant(op)
            elif op.name.startswith(ELEMENTWISE_PREFIXES):
                self.elementwise(op)
            else:
                raise fail(
                    op,
                    f"codegen has no lowering for {op.name} in dispatch {self.info.name}",
                    "dispatches may hold linalg.generic, linalg.fill, tensor.* and elementwise arith/math ops",
                )

    def node(self, value: SSAValue) -> Node:
        return self.nodes[value]

    def shape(self, value: SSAValue, op: Operation) -> tuple[int, ...]:
        type = value.type
        assert is_tensor_type(type)
        shape = tuple(type.get_shape())
        if DYNAMIC_INDEX in shape:
            raise fail(op, f"{op.name} has dynamic shape {type}; this target needs static shapes")
        return shape

    def constant(self, op: Operation) -> None:
        result = op.results[0]
        shape = self.shape(result, op)
        value: Any = op.properties["value"]
        if not isinstance(value, DenseAttr):
            value = DenseAttr.from_buffer(value.type, value.data.data)
        element = value.element_type
        if value.is_splat or element_count(shape) == 1:
            from tiree.dialects.dense import decode_scalar

            self.nodes[result] = FillNode(shape, element, decode_scalar(element, bytes(value.buffer)))
        else:
            self.nodes[result] = LoadNode(TableRef(value), View.dense(shape), element)

    # Borders -----------------------------------------------------------------------------------------------------

    def subspan(self, op: Any) -> None:
        bound = getattr(op.result.type, "bound_type", None)
        if not is_tensor_type(bound):
            raise fail(op, f"{op.name} of {op.result.type}: codegen needs a dispatch tensor")
        shape = tuple(bound.get_shape())
        if DYNAMIC_INDEX in shape:
            raise fail(
                op, f"binding {op.binding.value.data} has dynamic shape {bound}; this target needs static shapes"
            )
        offset: int | SSAValue = 0
        if op.byte_offset is not None:
            constant = constant_int(op.byte_offset)
            offset = op.byte_offset if constant is None else constant
        self.refs[op.result] = BindingRef(
            op.binding.value.data,
            offset,
            bound.element_type,
            element_count(shape),
            op.layout,
            op.result.type.access.data != "readonly",
            op.alignment.value.data if op.alignment is not None else 1,
        )

    def window(self, op: Any, shape: Sequence[int], inner: Sequence[int], result: Sequence[int]) -> View:
        """The view of a load/store: `shape` is the bound tensor's, `result` the (rank-reduced) tensor's."""
        offsets, sizes, steps = self.mixed(op)
        kept = kept_dims(sizes, result)
        if kept is None:
            raise fail(op, f"{op.name}: sizes {list(sizes)} do not match tensor shape {list(result)}")
        return View(tuple(shape), tuple(inner)).slice(offsets, sizes, steps, kept)

    def mixed(self, op: Any) -> tuple[list[int | SSAValue], list[int], list[int]]:
        """Offsets (constants or values), sizes and steps of an op with static and dynamic operands."""
        dynamic = list(op.offsets)
        offsets: list[int | SSAValue] = []
        for offset in op.static_offsets.get_values():
            if offset == DYNAMIC_INDEX or offset == -(1 << 63):
                value = dynamic.pop(0)
                constant = constant_int(value)
                offsets.append(value if constant is None else constant)
            else:
                offsets.append(offset)
        sizes = self.statics(op, op.static_sizes, op.sizes, "size")
        return offsets, sizes, self.statics(op, op.static_strides, op.strides, "stride")

    def statics(self, op: Operation, values: Any, operands: Sequence[SSAValue], what: str) -> list[int]:
        found: list[int] = []
        dynamic = list(operands)
        for value in values.get_values():
            if value == DYNAMIC_INDEX or value == -(1 << 63):
                constant = constant_int(dynamic.pop(0))
                if constant is None:
                    raise fail(op, f"{op.name} has a dynamic {what}; this target needs static shapes")
                value = constant
            found.append(value)
        return found

    def load(self, op: Any) -> None:
        ref = self.refs[op.source]
        shape = tuple(op.source.type.tensor_type.get_shape())
        view = self.window(op, shape, row_major_strides(shape), self.shape(op.result, op))
        self.nodes[op.result] = LoadNode(ref, view, ref.element)

    def store(self, op: Any) -> None:
        ref = self.refs[op.target]
        shape = tuple(op.target.type.tensor_type.get_shape())
        view = self.window(op, shape, row_major_strides(shape), self.shape(op.value, op))
        self.info.stores.append(Store(self.node(op.value), ref, view, op))

    # Structured ops ----------------------------------------------------------------------------------------------

    def fill(self, op: Any) -> None:
        result = op.results[0]
        shape = self.shape(result, op)
        self.nodes[result] = FillNode(shape, result.type.element_type, op.operands[0])

    def empty(self, op: Any) -> None:
        result = op.results[0]
        self.nodes[result] = FillNode(self.shape(result, op), result.type.element_type, 0, undefined=True)

    def splat(self, op: Any) -> None:
        result = op.results[0]
        self.nodes[result] = FillNode(self.shape(result, op), result.type.element_type, op.operands[0])

    def from_elements(self, op: Any) -> None:
        result = op.results[0]
        self.nodes[result] = ElementsNode(self.shape(result, op), result.type.element_type, op.operands)

    def generic(self, op: Any) -> None:
        operands = [self.scalar_operand(value) for value in op.operands]
        maps = [attr.data for attr in op.indexing_maps.data]
        linear = [LinearMap(m) for m in maps]
        loops = self.loop_sizes(op, operands, maps)
        reductions = [t.data.value != "parallel" for t in op.iterator_types.data]
        body = op.body.block if hasattr(op, "body") else op.regions[0].block
        extracted: dict[SSAValue, Node] = {}
        for inner in body.walk():
            if inner.name == "tensor.extract":
                extracted[inner.operands[0]] = self.node(inner.operands[0])
        self.add_generic(op, body, operands, linear, reductions, loops, extracted)

    def scalar_operand(self, value: SSAValue) -> Node:
        """A tensor's node; a scalar operand of a generic reads as a rank-0 tensor."""
        if is_tensor_type(value.type):
            return self.node(value)
        return FillNode((), value.type, value)

    def loop_sizes(self, op: Any, operands: Sequence[Node], maps: Sequence[AffineMap]) -> list[int]:
        loops: list[int | None] = [None] * maps[0].num_dims
        for operand, map in zip(operands, maps, strict=True):
            linear = LinearMap(map)
            for position, size in enumerate(operand.shape):
                dim = linear.plain_dim(position)
                if dim is not None:
                    loops[dim] = size
        if None in loops:
            raise fail(op, f"{op.name}: loop d{loops.index(None)} has no operand dimension that gives its size")
        return [size for size in loops if size is not None]

    def add_generic(
        self,
        op: Operation,
        body: Block,
        operands: Sequence[Node],
        maps: Sequence[LinearMap],
        reductions: Sequence[bool],
        loops: Sequence[int],
        extracted: dict[SSAValue, Node],
    ) -> None:
        generic = GenericNode(op, body, operands, maps, reductions, loops, extracted)
        for number, result in enumerate(op.results):
            assert is_tensor_type(result.type)
            node = ResultNode(generic, number, self.shape(result, op), result.type.element_type)
            generic.results.append(node)
            self.nodes[result] = forward_copy(generic, number) or node
        self.info.generics.append(generic)

    def elementwise(self, op: Operation) -> None:
        """An arith or math op on tensors becomes a generic with identity maps."""
        result = op.results[0]
        assert is_tensor_type(result.type)
        shape = self.shape(result, op)
        operands = [self.scalar_operand(value) for value in op.operands]
        body = Block(arg_types=[*[n.element for n in operands], result.type.element_type])
        scalar = type(op).create(
            operands=body.args[: len(operands)],
            result_types=[result.type.element_type],
            properties=op.properties,
        )
        if op.name == "tensor.bitcast":
            from xdsl.dialects.arith import BitcastOp

            scalar = BitcastOp.create(operands=[body.args[0]], result_types=[result.type.element_type])
        body.add_ops([scalar, linalg.ops.YieldOp.create(operands=[scalar.results[0]])])
        identity = LinearMap(AffineMap.identity(len(shape)))
        scalar_map = LinearMap(AffineMap(len(shape), 0, ()))
        maps = [identity if n.shape == shape else scalar_map for n in operands]
        operands.append(FillNode(shape, result.type.element_type, 0))
        self.add_generic(op, body, operands, [*maps, identity], [False] * len(shape), shape, {})

    # Shape changes -----------------------------------------------------------------------------------------------

    def cast(self, op: Any) -> None:
        self.nodes[op.results[0]] = self.node(op.operands[0])

    def reshape(self, op: Any) -> None:
        source, result = self.node(op.operands[0]), op.results[0]
        self.nodes[result] = reshaped(source, self.shape(result, op))

    def extract_slice(self, op: Any) -> None:
        source = self.node(op.source)
        shape = self.shape(op.result, op)
        offsets, sizes, steps = self.mixed(op)
        kept = kept_dims(sizes, shape)
        if kept is None:
            raise fail(op, f"{op.name}: sizes {sizes} do not match result shape {list(shape)}")
        if isinstance(source, LoadNode):
            view = source.view.slice(offsets, sizes, steps, kept)
            self.nodes[op.result] = LoadNode(source.ref, view, source.element)
        elif isinstance(source, FillNode):
            self.nodes[op.result] = FillNode(shape, source.element, source.value)
        else:
            self.nodes[op.result] = SliceNode(source, shape, offsets, steps, kept)

    def insert_slice(self, op: Any) -> None:
        source, dest = self.node(op.source), self.node(op.dest)
        offsets, sizes, steps = self.mixed(op)
        kept = kept_dims(sizes, source.shape)
        if kept is None:
            raise fail(op, f"{op.name}: sizes {sizes} do not match source shape {list(source.shape)}")
        if tuple(sizes) == dest.shape:
            self.nodes[op.result] = reshaped(source, dest.shape)
        else:
            self.nodes[op.result] = InsertNode(source, dest, offsets, sizes, steps, kept)

    def pad(self, op: Any) -> None:
        source, result = self.node(op.source), op.result
        shape = self.shape(result, op)
        dynamic = list(op.low)
        low: list[int | SSAValue] = []
        for value in op.static_low.get_values():
            if value == DYNAMIC_INDEX or value == -(1 << 63):
                operand = dynamic.pop(0)
                constant = constant_int(operand)
                low.append(operand if constant is None else constant)
            else:
                low.append(value)
        block = op.region.block
        yielded = block.last_op.operands[0]
        if yielded.owner is block or (
            isinstance(yielded.owner, Operation)
            and yielded.owner.parent is block
            and yielded.owner.name != "arith.constant"
        ):
            raise fail(op, f"{op.name} pads with a value computed per element; codegen needs one value for all")
        value = FillNode((), source.element, yielded)
        if (isinstance(source, FillNode) and source.value is yielded) or element_count(source.shape) == 0:
            self.nodes[result] = FillNode(shape, source.element, yielded)
        else:
            self.nodes[result] = PadNode(source, shape, low, value)

    def concat(self, op: Any) -> None:
        sources = [self.node(v) for v in op.operands]
        dim = int_of(op.properties["dim"])
        shape = self.shape(op.results[0], op)
        sources = [s for s in sources if s.shape[dim]]
        if len(sources) == 1:
            self.nodes[op.results[0]] = sources[0]
        elif not sources:
            self.nodes[op.results[0]] = FillNode(shape, op.results[0].type.element_type, 0)
        else:
            self.nodes[op.results[0]] = ConcatNode(sources, dim, shape)


def reshaped(source: Node, shape: Sequence[int]) -> Node:
    """`source` in another shape of as many elements, folded into its memory view where strides can say it."""
    if source.shape == tuple(shape):
        return source
    if isinstance(source, LoadNode):
        view = source.view.reshape(shape)
        if view is not None:
            return LoadNode(source.ref, view, source.element)
    if isinstance(source, FillNode):
        return FillNode(shape, source.element, source.value)
    if isinstance(source, ReshapeNode):
        return reshaped(source.source, shape)
    return ReshapeNode(source, shape)


def forward_copy(generic: GenericNode, number: int) -> Node | None:
    """The view that replaces a result which only moves elements of loaded memory (transpose, broadcast, slice)."""
    last = generic.body.last_op
    assert last is not None
    yielded = last.operands[number]
    if not isinstance(yielded, BlockArgument) or yielded.block is not generic.body or any(generic.is_reduction):
        return None
    index = yielded.index
    output = generic.output_map(number)
    if index >= generic.num_inputs or not output.is_permutation_of(range(len(generic.loops))):
        return None
    source = generic.operands[index]
    shape = generic.results[number].shape
    if isinstance(source, FillNode):
        return FillNode(shape, source.element, source.value)
    flat = [r for r in generic.maps[index].results if isinstance(r, tuple)]
    if not isinstance(source, LoadNode) or len(flat) != len(source.shape):
        return None
    if source.element != generic.results[number].element:
        return None
    view = source.view.through(flat, generic.loops)
    order = output.bare_dims
    return LoadNode(
        source.ref,
        View(tuple(view.shape[d] for d in order), tuple(view.strides[d] for d in order), view.base, view.dynamic),
        source.element,
    )
