"""`tiree-dispatch-creation-form-workgroups`: each dispatch group becomes a `flow.dispatch.workgroups`.

In: host blocks of structured ops (fused, reshapes sunk). Out: no structured op is left on the host. Operands of a
dispatch are the tensors and host scalars that its members read; constants of one value, fills and empty tensors are
copied inside; boxes cut from tensors are loaded as such, and insertions write into a tied operand; every result that
something outside reads is stored. The ops of a block are put in an order that respects
the new dependencies and otherwise keeps theirs.
"""

from __future__ import annotations

import heapq

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.arith import ConstantOp, constant_of
from tiree.dialects.dense import DenseAttr
from tiree.dialects.flow import DispatchWorkgroupsOp, ReturnOp, tied_operands_of
from tiree.dialects.iree_tensor_ext import (
    DispatchTensorLoadOp,
    DispatchTensorStoreOp,
    DispatchTensorType,
    TensorAccess,
    WorkgroupCountFromSliceOp,
    segment_sizes,
)
from tiree.flow.cse import is_pure
from tiree.flow.form_groups import CLONED, Grouping, group_block
from tiree.flow.fuse_in_group import fuse_members
from tiree.flow.groups import Group
from tiree.flow.materialize_slices import root_of
from tiree.flow.simplify_generic import scalar_constant
from tiree.flow.sink_scalars import reads_tensor
from tiree.flow.slices import has_static_strides
from tiree.flow.structured import (
    all_operands,
    captured_values,
    erase_op,
    function_blocks,
    inits_of,
    is_elementwise,
    is_generic,
    make_empty,
    make_fill,
    require_static,
)
from tiree.support.typed import is_tensor_type, result_of


def count_region() -> Region:
    """The workgroup count of a dispatch of static shapes: codegen decides."""
    count = WorkgroupCountFromSliceOp()
    return Region(Block([count, ReturnOp([count.x, count.y, count.z])]))


def box_of(op: Operation) -> dict[str, Attribute]:
    """The static offsets, sizes and strides of a slice op."""
    return {name: op.properties[name] for name in ("static_offsets", "static_sizes", "static_strides")}


class _Body:
    """Builds the body of one dispatch: maps outside values to inside ones, cloning or adding operands."""

    def __init__(self, in_place: set[SSAValue]) -> None:
        self.block = Block()
        self._in_place = in_place
        """Tensors that the dispatch reads whole and then writes over."""
        self.inside: dict[SSAValue, SSAValue] = {}
        self.arguments: list[SSAValue] = []
        """Operands of the dispatch, one a block argument."""
        self._read: dict[SSAValue, BlockArgument] = {}
        self._last_prologue: Operation | None = None

    def _prologue(self, op: Operation) -> None:
        """Adds `op` behind the ops that prepare operands."""
        if self._last_prologue is None:
            if self.block.first_op is None:
                self.block.add_op(op)
            else:
                self.block.insert_op_before(op, self.block.first_op)
        else:
            self.block.insert_op_after(op, self._last_prologue)
        self._last_prologue = op

    def value(self, outside: SSAValue) -> SSAValue:
        """What stands for `outside` in the dispatch."""
        found = self.inside.get(outside)
        if found is None:
            found = self.inside[outside] = self._bring(outside)
        return found

    def _bring(self, outside: SSAValue) -> SSAValue:
        op = outside.op if isinstance(outside, OpResult) else None
        if op is not None and op.name in CLONED:
            attr = constant_of(outside)
            if isinstance(attr, DenseAttr):
                if attr.is_splat:
                    return self._splat(attr)
            else:
                copy = op.clone({value: self.value(value) for value in op.operands})
                self._prologue(copy)
                return copy.results[result_of(outside).index]
        if op is not None and op.name == "tensor.extract_slice" and has_static_strides(op):
            return self._load_box(op)
        if not is_tensor_type(outside.type):
            if op is not None and reads_tensor(outside):
                copy = op.clone({value: self.value(value) for value in op.operands})
                self._prologue(copy)
                return copy.results[result_of(outside).index]
            return self.read_argument(outside, outside.type)
        if outside in self._in_place:
            argument = self.add_argument(outside, DispatchTensorType.of(TensorAccess.READ_WRITE, outside.type))
        else:
            argument = self._tensor_argument(outside)
        load = DispatchTensorLoadOp.whole(argument)
        self._prologue(load)
        return load.result

    def add_argument(self, outside: SSAValue, type: Attribute) -> BlockArgument:
        """A new operand of the dispatch."""
        self.arguments.append(outside)
        return self.block.insert_arg(type, len(self.block.args))

    def read_argument(self, outside: SSAValue, type: Attribute) -> BlockArgument:
        if outside not in self._read:
            self._read[outside] = self.add_argument(outside, type)
        return self._read[outside]

    def _tensor_argument(self, outside: SSAValue) -> BlockArgument:
        return self.read_argument(outside, DispatchTensorType.of(TensorAccess.READ_ONLY, outside.type))

    def _load_box(self, op: Operation) -> SSAValue:
        """A slice is loaded as such from the tensor it is cut from."""
        source = self._tensor_argument(op.operands[0])
        offsets = [self.value(value) for value in op.operands[1:]]
        load = DispatchTensorLoadOp.create(
            operands=[source, *offsets],
            result_types=[op.results[0].type],
            properties={"operandSegmentSizes": segment_sizes(1, 0, len(offsets), 0, 0), **box_of(op)},
        )
        self._prologue(load)
        return load.result

    def store_in_place(self, op: Operation) -> tuple[DispatchTensorStoreOp, int]:
        """The store that does an insertion, and the number of the operand it writes into. Nothing is added yet."""
        dest = op.operands[1]
        value = self.value(op.operands[0])
        offsets = [self.value(offset) for offset in op.operands[2:]]
        target = self.add_argument(dest, DispatchTensorType.of(TensorAccess.READ_WRITE, dest.type))
        store = DispatchTensorStoreOp.create(
            operands=[value, target, *offsets],
            properties={"operandSegmentSizes": segment_sizes(1, 1, 0, len(offsets), 0, 0), **box_of(op)},
        )
        return store, target.index

    def _splat(self, attr: DenseAttr) -> SSAValue:
        """A fill; the constant itself where its type has no scalar constants, or the scalar would lose bits."""
        empty = make_empty(attr.type)
        before = self._last_prologue
        self._prologue(empty)
        scalar = scalar_constant(attr, empty)
        if scalar is None:
            empty.detach()
            self._last_prologue = before
            constant = ConstantOp(attr)
            self._prologue(constant)
            return constant.result
        fill = make_fill(scalar, empty.results[0])
        self._prologue(fill)
        return fill.results[0]

    def rename_uses(self, op: Operation) -> None:
        """Points the operands of `op` and of its body at inside values."""
        for index, value in enumerate(op.operands):
            op.operands[index] = self.value(value)
        inside = {outside: self.value(outside) for outside in captured_values(op)}
        for region in op.regions if inside else ():
            for inner in region.walk():
                for index, value in enumerate(inner.operands):
                    if value in inside:
                        inner.operands[index] = inside[value]


def escaping_results(group: Group) -> list[SSAValue]:
    """Results of members that ops outside the group read, in program order."""
    inside = {*group.members, *group.stores}
    found: list[SSAValue] = []
    for member in group.members:
        for result in member.results:
            if any(_host_user(use.operation, member.parent) not in inside for use in result.uses):
                found.append(result)
    return found


def _host_user(op: Operation, block: Block | None) -> Operation | None:
    """The op of `block` that is or contains `op`; None when `op` is in another block of the function."""
    user: Operation | None = op
    while user is not None and user.parent is not block:
        user = user.parent_op()
    return user


def accumulators(group: Group, results: list[SSAValue]) -> dict[SSAValue, SSAValue]:
    """Escaping results of reductions whose init is a tensor of outside that nothing else in the group reads: the
    dispatch accumulates in its memory. Maps results to those tensors."""
    reads: dict[SSAValue, int] = {}
    for op in (*group.members, *group.stores):
        for value in all_operands(op):
            reads[root_of(value)] = reads.get(root_of(value), 0) + 1
    found: dict[SSAValue, SSAValue] = {}
    for result in results:
        member = result.owner
        assert isinstance(member, Operation)
        if not is_generic(member) or is_elementwise(member):
            continue
        init = inits_of(member)[result_of(result).index]
        made = init.op if isinstance(init, OpResult) else None
        if made is not None and (made.name in (*CLONED, "tensor.extract_slice") or made in group.members):
            continue
        if reads[root_of(init)] == 1 and init.type == result.type:
            found[result] = init
    return found


def build_dispatch(group: Group) -> DispatchWorkgroupsOp:
    """Moves the members into a new dispatch in the place of the first and redirects the users of their results."""
    results = escaping_results(group)
    inside = {*group.members, *group.stores}
    anchor = (group.members or group.stores)[0]
    while anchor in inside:
        assert anchor.next_op is not None
        anchor = anchor.next_op
    location = (group.members or group.stores)[-1].location
    tied = accumulators(group, results)
    body = _Body(set(tied.values()))
    for member in group.members:
        for value in [*member.operands, *member.results]:
            require_static(value, member)
        body.rename_uses(member)
        member.detach()
        body.block.add_op(member)
        for result in member.results:
            body.inside[result] = result
    in_place = [body.store_in_place(op) for op in group.stores]
    stores: list[DispatchTensorStoreOp] = []
    places: list[int] = []
    for result in results:
        if result in tied:
            argument = body.block.args[body.arguments.index(tied[result])]
            places.append(argument.index)
        else:
            type = DispatchTensorType.of(TensorAccess.WRITE_ONLY, result.type)
            argument = body.block.insert_arg(type, len(body.block.args))
            places.append(-1)
        stores.append(DispatchTensorStoreOp.whole(result, argument))
    body.block.add_ops([*stores, *(store for store, _ in in_place), ReturnOp()])
    made = [*results, *(op.results[0] for op in group.stores)]
    dispatch = DispatchWorkgroupsOp.of(
        body.arguments, [result.type for result in made], Region(body.block), count_region()
    )
    dispatch.location = location
    dispatch.properties["tied_operands"] = tied_operands_of([*places, *(index for _, index in in_place)])
    for result, replacement in zip(made, dispatch.results, strict=True):
        result.replace_uses_with_if(replacement, lambda use: not _is_within(use.operation, body.block))
    for op in group.stores:
        erase_op(op)
    assert anchor.parent is not None
    anchor.parent.insert_op_before(dispatch, anchor)
    return dispatch


def _is_within(op: Operation, block: Block) -> bool:
    current: Operation | None = op
    while current is not None:
        if current.parent is block:
            return True
        current = current.parent_op()
    return False


def sort_block(block: Block) -> None:
    """Puts the ops of `block` in dependency order, keeping the present order where it can; ops that may have effects
    keep theirs among themselves."""
    ops = list(block.ops)
    place = {op: index for index, op in enumerate(ops)}
    users: list[list[int]] = [[] for _ in ops]
    missing = [0] * len(ops)
    previous_effect: int | None = None
    for index, op in enumerate(ops):
        needed = {place[v.op] for v in _reads(op) if isinstance(v, OpResult) and v.op in place}
        if not (is_pure(op) or op.name == "flow.dispatch.workgroups"):
            if previous_effect is not None:
                needed.add(previous_effect)
            previous_effect = index
        missing[index] = len(needed)
        for other in needed:
            users[other].append(index)
    ready = [index for index, count in enumerate(missing) if count == 0]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for user in users[index]:
            missing[user] -= 1
            if missing[user] == 0:
                heapq.heappush(ready, user)
    if len(order) != len(ops):
        raise AssertionError("dispatch groups of a block depend on each other in a circle")
    if order != sorted(order):
        for index in order:
            ops[index].detach()
        block.add_ops([ops[index] for index in order])


def _reads(op: Operation) -> list[SSAValue]:
    if not op.regions or op.name == "flow.dispatch.workgroups":
        return list(op.operands)
    return [*op.operands, *captured_values(op)]


def form_workgroups(grouping: Grouping) -> None:
    """Replaces the groups of one block by dispatches."""
    for group in grouping.groups:
        fuse_members(group)
        build_dispatch(group)
    sort_block(grouping.block)


class FormDispatchWorkgroups(ModulePass):
    """Groups become dispatches."""

    name = "tiree-dispatch-creation-form-workgroups"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in list(function_blocks(op)):
            form_workgroups(group_block(block))
