"""`tiree-hal-elide-staging-copies`: what only the host reads is written where the host can read it.

In: executions in which a dispatch writes a transient that is then copied, whole, to a staging resource. Out: the
dispatch writes the staging resource; slabs that nothing uses any more are not allocated. IREE's verifier does not
accept a dispatch on a staging resource, which is why this runs after the `stream` phase has been printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects import stream
from tiree.dialects.arith import constant_int
from tiree.dialects.iree_tensor_ext import segment_sizes
from tiree.dialects.stream import ResourceAccess

_ALIGNMENT = 64


@dataclass
class _Use:
    """One access to a byte range: the operand numbers of resource, size and offset, and the access bits."""

    op: Operation
    resource: int
    size: int
    offset: int
    length: int | None
    access: int

    @property
    def start(self) -> int | None:
        return constant_int(self.op.operands[self.offset])


def _uses_of(op: Operation) -> list[_Use]:
    if isinstance(op, stream.CmdDispatchOp):
        count = len(op.resources)
        first = len(op.workload) + len(op.uniform_operands)
        return [
            _Use(
                op,
                first + i,
                first + count + i,
                first + 2 * count + i,
                constant_int(op.resource_lengths[i]),
                access,
            )
            for i, access in enumerate(op.access_bits)
        ]
    if isinstance(op, stream.CmdCopyOp):
        length = constant_int(op.length)
        return [
            _Use(op, 0, 1, 2, length, ResourceAccess.READ),
            _Use(op, 3, 4, 5, length, ResourceAccess.WRITE),
        ]
    if isinstance(op, stream.CmdFillOp):
        return [_Use(op, 0, 1, 2, constant_int(op.target_length), ResourceAccess.WRITE)]
    return []


def _lifetime(value: SSAValue) -> str:
    return value.type.lifetime.data if isinstance(value.type, stream.ResourceType) else ""


def _is_shared(execute: stream.CmdExecuteOp, argument: SSAValue) -> bool:
    """Whether another execution (on another device) uses the resource that is `argument` in this one."""
    assert isinstance(argument, BlockArgument)
    users = (use.operation for use in execute.resource_operands[argument.index].uses)
    return any(isinstance(user, stream.CmdExecuteOp) and user is not execute for user in users)


def _redirect(execute: stream.CmdExecuteOp, copy: stream.CmdCopyOp) -> bool:
    """Makes everybody who uses the source of `copy` use its target, if nobody could tell; removes the copy."""
    source, start, length = copy.source, constant_int(copy.source_offset), constant_int(copy.length)
    target_start = constant_int(copy.target_offset)
    if start is None or length is None or target_start is None or target_start % _ALIGNMENT:
        return False
    if _lifetime(source) != "transient" or _lifetime(copy.target) != "staging" or _is_shared(execute, source):
        return False
    uses = [use for op in execute.body.walk() for use in _uses_of(op) if op.operands[use.resource] is source]
    shared: list[_Use] = []
    for use in uses:
        if use.start is None or use.length is None:
            return False
        if use.start < start + length and start < use.start + use.length:
            if (use.start, use.length) != (start, length):
                return False
            shared.append(use)
    writers = [use for use in shared if use.access & ResourceAccess.WRITE]
    if len(writers) != 1 or shared[0] is not writers[0] or writers[0].access != ResourceAccess.WRITE:
        return False
    for use in shared:
        if use.op is not copy:
            use.op.operands[use.resource] = copy.target
            use.op.operands[use.size] = copy.target_size
            use.op.operands[use.offset] = copy.target_offset
    parent = copy.parent
    assert parent is not None
    parent.erase_op(copy)
    return True


def _drop_unused_slabs(execute: stream.CmdExecuteOp) -> None:
    """Removes transient operands without uses, with their allocation and deallocation."""
    body = execute.body.block
    for index in reversed(range(len(execute.resource_operands))):
        argument: BlockArgument = body.args[index]
        resource = execute.resource_operands[index]
        if argument.uses or _lifetime(resource) != "transient":
            continue
        alloca = resource.owner
        others = [use.operation for use in resource.uses if use.operation is not execute]
        if not isinstance(alloca, stream.ResourceAllocaOp) or not all(
            isinstance(op, stream.ResourceDeallocaOp) and not op.result_timepoint.uses for op in others
        ):
            continue
        body.erase_arg(argument)
        _erase_resource_operand(execute, index)
        for op in others:
            assert op.parent is not None
            op.parent.erase_op(op)
        _bypass_timepoint(alloca, execute)


def _set_operands(op: Operation, *groups: Sequence[SSAValue]) -> None:
    """Replaces the operands of an op with segment sizes."""
    op.operands = [value for group in groups for value in group]
    op.properties["operandSegmentSizes"] = segment_sizes(*map(len, groups))


def _erase_resource_operand(execute: stream.CmdExecuteOp, index: int) -> None:
    resources = [r for i, r in enumerate(execute.resource_operands) if i != index]
    sizes = [s for i, s in enumerate(execute.resource_operand_sizes) if i != index]
    timepoint = execute.await_timepoint
    _set_operands(execute, resources, sizes, [] if timepoint is None else [timepoint])


def _bypass_timepoint(alloca: stream.ResourceAllocaOp, execute: stream.CmdExecuteOp) -> None:
    """Erases an allocation: who waited for it waits for what it waited for."""
    timepoint = alloca.result_timepoint
    for use in list(timepoint.uses):
        if isinstance(use.operation, stream.TimepointJoinOp):
            join = use.operation
            rest = [t for t in join.await_timepoints if t is not timepoint]
            if alloca.await_timepoint is not None and not rest:
                rest = [alloca.await_timepoint]
            if len(rest) == 1:
                join.result_timepoint.replace_all_uses_with(rest[0])
                assert join.parent is not None
                join.parent.erase_op(join)
            else:
                join.operands = rest
        elif use.operation is execute:
            wait = [] if alloca.await_timepoint is None else [alloca.await_timepoint]
            _set_operands(execute, execute.resource_operands, execute.resource_operand_sizes, wait)
    assert alloca.parent is not None
    if not timepoint.uses:
        alloca.parent.erase_op(alloca)


class ElideStagingCopiesPass(ModulePass):
    """See the module's docstring."""

    name = "tiree-hal-elide-staging-copies"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for function in op.ops:
            if function.name != "util.func":
                continue
            for execute in [o for o in function.walk() if isinstance(o, stream.CmdExecuteOp)]:
                copies = [o for o in execute.body.walk() if isinstance(o, stream.CmdCopyOp)]
                redirected = [_redirect(execute, copy) for copy in copies]
                if any(redirected):
                    _drop_unused_slabs(execute)
