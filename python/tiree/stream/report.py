"""The memory plan of a module, read back from its executions.

A tensor begins where a command writes bytes of the transient slab that it does not read, and lives until the last
command that touches those bytes before they are written anew. Nothing is recorded on the side: what the report says is
what the program does.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tiree.dialects import stream, util
from tiree.dialects.arith import constant_int
from tiree.dialects.stream import ResourceAccess
from tiree.stream.packing import Interval, max_live_bytes


@dataclass(frozen=True)
class TensorMemory:
    """One transient tensor: bytes `offset`..`offset + size` of the slab during commands `first`..`last`."""

    offset: int
    size: int
    first: int
    last: int


@dataclass(frozen=True)
class ExecutionMemory:
    """One execution of `function`: its slab, the most bytes live at one command, and its tensors in order."""

    function: str
    execution: int
    """Its number among the executions of the module."""
    commands: int
    slab_bytes: int
    max_live_bytes: int
    tensors: tuple[TensorMemory, ...]


def commands_of(execute: stream.CmdExecuteOp) -> list[Operation]:
    """The commands of an execution, those of concurrent groups in line."""
    flat: list[Operation] = []
    for op in execute.body.block.ops:
        if isinstance(op, stream.CmdConcurrentOp):
            flat.extend(nested for nested in op.body.block.ops if not isinstance(nested, stream.YieldOp))
        elif not isinstance(op, stream.YieldOp):
            flat.append(op)
    return flat


def _accesses(op: Operation) -> list[tuple[SSAValue, int, int, int]]:
    """(resource, offset, length, access) of a command; ranges that are only known at run time are left out."""
    found: list[tuple[SSAValue, SSAValue, SSAValue, int]] = []
    if isinstance(op, stream.CmdDispatchOp):
        found = list(zip(op.resources, op.resource_offsets, op.resource_lengths, op.access_bits, strict=True))
    elif isinstance(op, stream.CmdCopyOp):
        found = [
            (op.source, op.source_offset, op.length, int(ResourceAccess.READ)),
            (op.target, op.target_offset, op.length, int(ResourceAccess.WRITE)),
        ]
    elif isinstance(op, stream.CmdFillOp):
        found = [(op.target, op.target_offset, op.target_length, int(ResourceAccess.WRITE))]
    known: list[tuple[SSAValue, int, int, int]] = []
    for resource, offset, length, access in found:
        start, size = constant_int(offset), constant_int(length)
        if start is not None and size is not None:
            known.append((resource, start, size, access))
    return known


def _tensors(execute: stream.CmdExecuteOp, slab: SSAValue) -> list[TensorMemory]:
    done: list[TensorMemory] = []
    live: list[TensorMemory] = []
    for number, command in enumerate(commands_of(execute)):
        for resource, offset, size, access in _accesses(command):
            if resource is not slab:
                continue
            meeting = [t for t in live if t.offset < offset + size and offset < t.offset + t.size]
            inside = [t for t in meeting if t.offset <= offset and offset + size <= t.offset + t.size]
            if access == ResourceAccess.WRITE and not any(t.size > size for t in inside):
                done.extend(meeting)
                live = [t for t in live if t not in meeting]
                live.append(TensorMemory(offset, size, number, number))
                continue
            if not meeting:  # Another execution has written it.
                live.append(TensorMemory(offset, size, 0, number))
            for tensor in meeting:
                live[live.index(tensor)] = TensorMemory(tensor.offset, tensor.size, tensor.first, number)
    return sorted((*done, *live), key=lambda t: (t.first, t.offset))


def memory_report(module: ModuleOp) -> list[ExecutionMemory]:
    """The plan of every execution that has transients, in program order."""
    reports: list[ExecutionMemory] = []
    number = -1
    for function in module.ops:
        for execute in function.walk():
            if not isinstance(execute, stream.CmdExecuteOp):
                continue
            number += 1
            if not isinstance(function, util.FuncOp):
                continue
            for argument, size in zip(execute.body.block.args, execute.resource_operand_sizes, strict=True):
                if argument.type != stream.ResourceType("transient"):
                    continue
                tensors = _tensors(execute, argument)
                live = max_live_bytes([Interval(t.size, t.first, t.last) for t in tensors])
                reports.append(
                    ExecutionMemory(
                        function.sym_name.data,
                        number,
                        len(commands_of(execute)),
                        constant_int(size) or 0,
                        live,
                        tuple(tensors),
                    )
                )
    return reports
