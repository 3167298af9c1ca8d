"""Results in memory that the caller gives: `hal.tensor.alias`.

A tensor that has no memory yet is made there; one that has (an argument, a constant, what crosses blocks) is copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from tiree.dialects import hal, stream
from tiree.stream.storage import Range, Storage

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


def _is_new(scheduler: Scheduler, storage: Storage, op: Operation) -> bool:
    """Whether a storage can still be put anywhere, and nobody keeps what it holds."""
    if storage.is_placed or storage.inside is not None or storage.lifetime != "external" or storage.escapes:
        return False
    if storage in scheduler.run.views or storage.views:
        return False
    users = (use.operation for value in storage.values for use in value.uses)
    return all(user is op or user.name in _WORK for user in users)
