"""`tiree-flow-form-dynamic-dispatches`: structured ops on tensors with `?` dimensions become dispatches of their own.

In: host blocks in which every `?` size is a value (`tensor_dims.py`). Out: no structured op on a `?` tensor is left on
the host: elementwise producers have moved into the one op that reads them, elementwise ops behind a reduction run in
its dispatch, and everything else is a dispatch by itself. The sizes go along as operands, which are the workload too.
The other passes of the stage then see `flow` ops with sizes only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from tiree.dialects.arith import ConstantOp, constant_int, constant_of
from tiree.dialects.dense import element_byte_size
from tiree.dialects.flow import (
    DispatchTieShapeOp,
    DispatchWorkgroupsOp,
    ReturnOp,
    TensorEmptyOp,
    TensorSplatOp,
    no_tied_operands,
)
from tiree.dialects.iree_linalg_ext_attention import NAME as ATTENTION
from tiree.dialects.iree_tensor_ext import (
    DispatchTensorLoadOp,
    DispatchTensorStoreOp,
    DispatchTensorType,
    TensorAccess,
    WorkgroupCountFromSliceOp,
    WorkloadOrdinalOp,
    segment_sizes,
)
from tiree.dialects.tensor_dims import dynamic_count, dynamic_dims, is_dynamic
from tiree.flow.affine import is_identity
from tiree.flow.body_size import BodySizes
from tiree.flow.cost import MAX_BINDINGS, is_free
from tiree.flow.cse import merge_equal_ops, remove_unused_ops, top_blocks
from tiree.flow.dynamic_unit_dims import drop_unit_dims
from tiree.flow.fuse_body import can_fuse, fuse_producer
from tiree.flow.fuse_elementwise import reads_repeatedly, users_of
from tiree.flow.raise_attention import feeders_of, raise_block
from tiree.flow.row_groups import row_groups
from tiree.flow.simplify_generic import inline_uniform_inputs, merge_equal_inputs
from tiree.flow.sink_scalars import promote_reads, sink_into_body
from tiree.flow.structured import (
    captured_values,
    element_type_of,
    function_blocks,
    input_count,
    inputs_of,
    insert_before,
    is_elementwise,
    is_generic,
    is_tensor,
    iterators_of,
    make_generic,
    make_yield,
    maps_of,
    replace_op,
    shape_of,
)
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of

_CLONED = frozenset(("tensor.empty", "linalg.fill", "complex.constant"))
_FILLED = frozenset((1, 2, 4))
"""Bytes of an element that a fill command can repeat."""


def _concerns_dynamic(op: Operation) -> bool:
    return any(is_dynamic(value) for value in (*op.operands, *op.results)) or any(
        is_dynamic(value) for value in captured_values(op)
    )


# Fusion ---------------------------------------------------------------------------------------------------------------


def _fuses(producer: Operation, consumer: Operation, operand: int, sizes: BodySizes) -> bool:
    """Whether an elementwise producer moves into the op that reads it; sizes are not known, so loops are counted."""
    if not is_generic(producer) or producer.parent is not consumer.parent or not can_fuse(producer, consumer, operand):
        return False
    if input_count(producer) + input_count(consumer) > MAX_BINDINGS or not sizes.fits(producer, consumer):
        return False
    free = is_free(producer) or not iterators_of(producer)
    if reads_repeatedly(consumer):
        return False
    if not free and len(iterators_of(consumer)) > len(iterators_of(producer)):
        return False
    users = users_of(producer, 2)
    if len(users) != 1 and not free:
        return False
    return is_elementwise(consumer) or not _ends_reduction(producer)


def _ends_reduction(op: Operation) -> bool:
    """Whether an elementwise op is behind a reduction that feeds only it, whose dispatch it can end."""
    return any(_epilogue_of(op, value) is not None for value in inputs_of(op))


def _epilogue_of(op: Operation, value: SSAValue) -> Operation | None:
    """The reduction that makes input `value` of elementwise `op`, when `op` reads it point by point and nothing else
    does."""
    made = value.op if isinstance(value, OpResult) else None
    if made is None or not is_generic(made) or is_elementwise(made) or len(made.results) != 1:
        return None
    if made.parent is not op.parent or not value.has_one_use() or not is_elementwise(op):
        return None
    map = maps_of(op)[list(op.operands).index(value)]
    return made if is_identity(map) and all(is_identity(m) for m in maps_of(op)[input_count(op) :]) else None


def fuse_block(block: Block) -> None:
    """Moves elementwise ops with `?` into their consumers."""
    sizes = BodySizes()
    for op in list(block.ops):
        if op.parent is not block or not is_generic(op) or not _concerns_dynamic(op):
            continue
        inline_uniform_inputs(op)
        merge_equal_inputs(op)
        index = 0
        while index < input_count(op):
            producer = op.operands[index].owner
            if isinstance(producer, Operation) and _fuses(producer, op, index, sizes):
                size = sizes.joined(producer, op)
                fuse_producer(op, index, sizes.producer_first(producer, op))
                sizes.fused(op, size)
                merge_equal_inputs(op)
                index = 0
            else:
                index += 1
    sizes.clean_all()


# Dispatches -----------------------------------------------------------------------------------------------------------


def _sizes_of(value: SSAValue, op: Operation) -> list[SSAValue]:
    dims = dynamic_dims(value)
    if dims is None:
        what = f"{op.name} on {value.type}, whose sizes are not known here"
        raise CompileError(Diagnostic(what, location_of(op), "give it static sizes"))
    return dims


@dataclass
class _Body:
    """Builds one dispatch: tensors are bound first, then scalars and sizes, then results."""

    anchor: Operation
    members: list[Operation]
    tensors: list[SSAValue] = field(default_factory=list[SSAValue])
    scalars: list[SSAValue] = field(default_factory=list[SSAValue])
    sizes: list[SSAValue] = field(default_factory=list[SSAValue])
    cloned: dict[Operation, None] = field(default_factory=dict[Operation, None])
    constants: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])

    def collect(self) -> None:
        """Sorts what the members read into the lists."""
        for member in self.members:
            for value in (*member.operands, *captured_values(member)):
                self._need(value)
        for member in self.members:
            for result in member.results:
                for size in _sizes_of(result, member):
                    self._need_size(size)

    def _need(self, value: SSAValue) -> None:
        op = value.op if isinstance(value, OpResult) else None
        if op in self.members:
            return
        if op is not None and op.name in _CLONED:
            if op not in self.cloned:
                for operand in op.operands:
                    self._need(operand)
                self.cloned[op] = None
            return
        if not is_tensor(value):
            self._need_scalar(value)
            return
        if value not in self.tensors:
            self.tensors.append(value)
            for size in _sizes_of(value, self.anchor):
                self._need_size(size)

    def _need_scalar(self, value: SSAValue) -> None:
        if constant_of(value) is not None:
            self.constants[value] = None
        elif isinstance(value.type, IndexType):
            self._need_size(value)
        elif value not in self.scalars:
            self.scalars.append(value)

    def _need_size(self, value: SSAValue) -> None:
        if constant_int(value) is not None:
            self.constants[value] = None
        elif value not in self.sizes:
            self.sizes.append(value)

    def build(self, results: Sequence[SSAValue]) -> DispatchWorkgroupsOp:
        """The dispatch in front of the anchor, which is its last member's place."""
        block = Block()
        types = [DispatchTensorType.of(TensorAccess.READ_ONLY, value.type) for value in self.tensors]
        stored = [DispatchTensorType.of(TensorAccess.WRITE_ONLY, value.type) for value in results]
        for type in [*types, *(v.type for v in self.scalars), *(v.type for v in self.sizes), *stored]:
            block.insert_arg(type, len(block.args))
        inside: dict[SSAValue, SSAValue] = {}
        counts = (len(self.tensors), len(self.scalars), len(self.sizes))
        for value in self.constants:
            copy = ConstantOp.create(result_types=[value.type], properties=dict(_owner(value).properties))
            block.add_op(copy)
            inside[value] = copy.results[0]
        inside.update(zip(self.scalars, block.args[counts[0] : counts[0] + counts[1]], strict=True))
        for number, value in enumerate(self.sizes):
            ordinal = WorkloadOrdinalOp(block.args[counts[0] + counts[1] + number], number)
            block.add_op(ordinal)
            inside[value] = ordinal.result
        for value, argument in zip(self.tensors, block.args, strict=False):
            bound, dims = self._tied(block, argument, value, inside)
            load = DispatchTensorLoadOp.whole(bound, dims)
            block.add_op(load)
            inside[value] = load.result
        for op in self.cloned:
            copy = op.clone(dict(inside))
            block.add_op(copy)
            inside[op.results[0]] = copy.results[0]
        targets = block.args[sum(counts) :]
        bound_results = [
            self._tied(block, target, value, inside) for target, value in zip(targets, results, strict=True)
        ]
        result_sizes = [size for value in results for size in _sizes_of(value, self.anchor)]
        self._move(block, inside)
        for value, (target, dims) in zip(results, bound_results, strict=True):
            block.add_op(DispatchTensorStoreOp.whole(value, target, dims))
        block.add_op(ReturnOp())
        arguments = [*self.tensors, *self.scalars, *self.sizes]
        argument_sizes = [size for value in self.tensors for size in _sizes_of(value, self.anchor)]
        return DispatchWorkgroupsOp.create(
            operands=[*self.sizes, *arguments, *argument_sizes, *result_sizes],
            result_types=[value.type for value in results],
            properties={
                "operandSegmentSizes": segment_sizes(
                    len(self.sizes), len(arguments), len(argument_sizes), len(result_sizes)
                ),
                "tied_operands": no_tied_operands(len(results)),
            },
            regions=[Region(block), _count_region(len(self.sizes))],
            location=self.members[-1].location,
        )

    def _tied(
        self, block: Block, argument: SSAValue, value: SSAValue, inside: dict[SSAValue, SSAValue]
    ) -> tuple[SSAValue, list[SSAValue]]:
        dims = [inside[size] for size in _sizes_of(value, self.anchor)]
        if not dims:
            return argument, dims
        tie = DispatchTieShapeOp(argument, dims)
        block.add_op(tie)
        return tie.result, dims

    def _move(self, block: Block, inside: dict[SSAValue, SSAValue]) -> None:
        """Moves the members into the block; what they read is what stands for it there."""
        for member in self.members:
            member.detach()
            block.add_op(member)
            for op in member.walk():
                for index, operand in enumerate(op.operands):
                    if operand in inside:
                        op.operands[index] = inside[operand]


def _owner(value: SSAValue) -> Operation:
    assert isinstance(value, OpResult)
    return value.op


def _count_region(workload: int) -> Region:
    block = Block(arg_types=[IndexType()] * workload)
    count = WorkgroupCountFromSliceOp(block.args)
    block.add_ops([count, ReturnOp([count.x, count.y, count.z])])
    return Region(block)


def _form(members: list[Operation]) -> None:
    """Replaces the members by one dispatch in the place of the last."""
    last = members[-1]
    results = [
        result
        for member in members
        for result in member.results
        if any(not any(m.is_ancestor(use.operation) for m in members) for use in result.uses)
    ]
    body = _Body(last, members)
    body.collect()
    anchor = last.next_op
    assert anchor is not None
    outside = {value: [use for use in value.uses if not _is_inside(use.operation, members)] for value in results}
    dispatch = body.build(results)
    for value, new in zip(results, dispatch.results, strict=True):
        for use in outside[value]:
            use.operation.operands[use.index] = new
    insert_before(anchor, dispatch)


def _is_inside(op: Operation, members: list[Operation]) -> bool:
    return any(member.is_ancestor(op) for member in members)


def _groups(block: Block) -> list[list[Operation]]:
    """Members of each dispatch in program order: ops of rows, a reduction and what follows it, or one op."""
    groups: dict[Operation, list[Operation]] = {members[-1]: members for members in row_groups(block)}
    for op in block.ops:
        if op.name == ATTENTION and _concerns_dynamic(op):
            groups[op] = [*feeders_of(op), op]
    grouped = {op for members in groups.values() for op in members}
    for op in block.ops:
        if op in grouped or not is_generic(op) or not _concerns_dynamic(op):
            continue
        for value in inputs_of(op):
            producer = _epilogue_of(op, value)
            if producer is not None and producer in groups:
                groups[op] = [*groups.pop(producer), op]
                break
        else:
            groups[op] = [op]
    return list(groups.values())


# What stays on the host -----------------------------------------------------------------------------------------------


def _host_tensor(op: Operation) -> None:
    """A fill or an empty tensor that something outside dispatches reads."""
    dims = _sizes_of(op.results[0], op)
    type = op.results[0].type
    if op.name == "tensor.empty":
        new: Operation = TensorEmptyOp(type, dims)
    elif _is_filled(op):
        new = TensorSplatOp(op.operands[0], type, dims)
    else:
        return
    new.location = op.location
    insert_before(op, new)
    replace_op(op, new.results)


def _fill_as_generic(op: Operation) -> None:
    """A fill of elements that no fill command can repeat, read by the host: a structured op."""
    dims = _sizes_of(op.results[0], op)
    rank = len(shape_of(op.results[0]))
    empty = EmptyOp.create(operands=dims, result_types=[op.results[0].type])
    body = Block(arg_types=[element_type_of(op.results[0])])
    body.add_op(make_yield([op.operands[0]]))
    generic = make_generic([], [empty.results[0]], [AffineMap.identity(rank)], [True] * rank, body, op.location)
    insert_before(op, empty, generic)
    replace_op(op, generic.results)


def _is_filled(op: Operation) -> bool:
    """Whether a command can fill with elements of this type."""
    return element_byte_size(element_type_of(op.results[0])) in _FILLED


def _read_by_host(op: Operation) -> bool:
    return any(not is_generic(use.operation) and use.operation.name != "linalg.fill" for use in op.results[0].uses)


def form_block(block: Block) -> None:
    """Turns the structured ops of one block that concern `?` into dispatches."""
    for op in list(block.ops):
        if is_generic(op) and _concerns_dynamic(op):
            sink_into_body(op)
            promote_reads(op)
        elif op.name == "linalg.fill" and is_dynamic(op.results[0]) and _read_by_host(op) and not _is_filled(op):
            _fill_as_generic(op)
    drop_unit_dims(block)
    fuse_block(block)
    raise_block(block, _concerns_dynamic)
    for members in _groups(block):
        _form(members)
    for op in list(block.ops):
        if op.name in _CLONED and is_dynamic(op.results[0]) and op.results[0].first_use is not None:
            _host_tensor(op)


def has_dynamic(module: ModuleOp) -> bool:
    """Whether any host code makes a tensor with a `?` dimension."""
    return any(dynamic_count(result) for block in function_blocks(module) for op in block.ops for result in op.results)


class FormDynamicDispatches(ModulePass):
    """See the module's docstring."""

    name = "tiree-flow-form-dynamic-dispatches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        if not has_dynamic(op):
            return
        for block in top_blocks(op):
            merge_equal_ops(block)
            remove_unused_ops(block)
        for block in list(function_blocks(op)):
            form_block(block)
        for inner in [inner for inner in op.walk() if inner.name == "flow.tensor.tie_shape"]:
            replace_op(inner, [inner.operands[0]])  # Who reads the tensor has its sizes by now.
        for block in top_blocks(op):
            remove_unused_ops(block)
