"""`stream.cmd.parameter.load` in `io_parameters`: a buffer for each key, there when a fence is signalled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from tiree.dialects import stream
from tiree.dialects.io_parameters import LoadOp
from tiree.hal.values import Emitter


def parameter_load(
    op: Operation,
    emitter: Emitter,
    wait: Callable[[SSAValue | None], SSAValue],
    signal: SSAValue,
    memory: Callable[[str], tuple[SSAValue, SSAValue]],
) -> Sequence[SSAValue]:
    """Emits the load and returns its buffers. `wait` gives the fence of a timepoint, `memory` type and usage of a
    lifetime."""
    assert isinstance(op, stream.CmdParameterLoadOp)
    type = op.results_[0].type
    assert isinstance(type, stream.ResourceType)
    where = [emitter.device(), emitter.queue(), wait(op.await_timepoint), signal]
    load = LoadOp(
        where, op.source_scope, op.source_keys, op.source_offsets, memory(type.lifetime.data), op.result_sizes
    )
    emitter.add(load)
    return load.results_
