"""Results in memory that the caller gives: `hal.tensor.alias`.

A tensor that has no memory yet is made there; one that has (an argument, a constant, what crosses blocks) is copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import IndexType, StringAttr, UnitAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from tiree.dialects import hal, stream
from tiree.stream.storage import HostBuilder, Range, Storage
from tiree.support.argument_names import argument_in_words, argument_names
from tiree.support.locations import place_in_file
from tiree.support.marks import SIZE_CHECK
from tiree.support.typed import symbol_name

if TYPE_CHECKING:
    from tiree.stream.schedule import Scheduler


_WORK = frozenset({"flow.dispatch", "flow.tensor.load", "tensor.dim"})
"""Operations that read a tensor and do not keep it."""


def alias(scheduler: Scheduler, op: Operation) -> None:
    """Names the result of `op`, which lies in the caller's memory."""
    assert isinstance(op, hal.TensorAliasOp)
    builder = scheduler.builder
    storage = scheduler.storage_of(op.source, op)
    size = builder.length(storage.length)
    if not scheduler.strip_assertions:
        _require_room(builder, op, size)
    imported = stream.TensorImportOp(op.storage, op.source.type, size, builder.affinity, list(op.source_dims))
    imported.properties["consume"] = UnitAttr()
    resource = builder.add(imported).results[0]
    if op.wait_fence is not None:
        scheduler.wait_for(op.wait_fence)
    if _is_new(scheduler, storage, op):
        storage.resource, storage.resource_size = resource, size
        scheduler.name(op.result, storage)
        return
    target = Storage(storage.length, resource, size)
    scheduler.copy(Range(storage, storage.length), Range(target, storage.length))
    scheduler.name(op.result, target)


def _require_room(builder: HostBuilder, op: hal.TensorAliasOp, size: SSAValue) -> None:
    """The caller's memory must have the bytes of the result."""
    memory = op.storage
    if isinstance(memory.type, hal.BufferViewType):
        memory = builder.add(hal.BufferViewBufferOp(memory)).results[0]
    length = builder.add(hal.BufferLengthOp.create(operands=[memory], result_types=[IndexType()])).results[0]
    enough = builder.add(arith.CmpiOp(length, size, "uge")).results[0]
    text = f"{_who(op)} has fewer bytes than the result that it is memory for, at {place_in_file(op)}"
    check = builder.add(cf.AssertOp.create(operands=[enough], properties={"msg": StringAttr(text)}))
    check.attributes[SIZE_CHECK] = UnitAttr()


def _who(op: hal.TensorAliasOp) -> str:
    function: Operation | None = op.parent_op()
    while function is not None and function.name != "util.func":
        function = function.parent_op()
    if function is None or not isinstance(op.storage, BlockArgument):
        return "a buffer"
    names = argument_names(function, len(op.storage.block.args))
    return f"@{symbol_name(function)}: {argument_in_words(op.storage.index, names)}"


def _is_new(scheduler: Scheduler, storage: Storage, op: Operation) -> bool:
    """Whether a storage can still be put anywhere, and nobody keeps what it holds."""
    if storage.is_placed or storage.inside is not None or storage.lifetime != "external" or storage.escapes:
        return False
    if storage in scheduler.run.views or storage.views:
        return False
    users = (use.operation for value in storage.values for use in value.uses)
    return all(user is op or user.name in _WORK for user in users)
