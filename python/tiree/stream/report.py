"""The memory plan of a module, read back from its executions.

A tensor begins where a command writes bytes of the transient slab that it does not read, and lives until the last
command that touches those bytes before they are written anew. Nothing is recorded on the side: what the report says is
what the program does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from tiree.dialects import stream, util
from tiree.dialects.arith import constant_int
from tiree.dialects.stream import ResourceAccess
from tiree.stream.packing import ALIGNMENT, aligned
from tiree.support.typed import int_of


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


@dataclass(frozen=True)
class DynamicMemory:
    """A transient of an execution whose size is known when the program runs: an allocation of its own (or shared with
    others of its size), which the commands `first`..`last` touch."""

    function: str
    execution: int
    size: str
    """Its bytes as a formula of what the host has, such as `dim 0 of arg 0 * 32`."""
    first: int
    last: int


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


def _most_live(execute: stream.CmdExecuteOp, slab: SSAValue) -> int:
    """The most bytes of the slab that hold, at one command, what it or a later one reads or what it writes."""
    commands = [
        [
            (offset // ALIGNMENT * ALIGNMENT, aligned(offset + size), access)
            for resource, offset, size, access in _accesses(command)
            if resource is slab
        ]
        for command in commands_of(execute)
    ]
    borders = sorted({border for ranges in commands for start, end, _ in ranges for border in (start, end)})
    number = {border: index for index, border in enumerate(borders)}
    live: set[int] = set()  # pieces between borders, by number
    most = 0
    for ranges in reversed(commands):
        read: set[int] = set()
        written: set[int] = set()
        for start, end, access in ranges:
            (written if access == ResourceAccess.WRITE else read).update(range(number[start], number[end]))
        most = max(most, sum(borders[piece + 1] - borders[piece] for piece in live | read | written))
        live = (live - written) | read
    return most


@dataclass(frozen=True)
class _Transient:
    """A transient slab or tensor of an execution: `argument` of its body, which has `size` bytes."""

    function: str
    execution: int
    execute: stream.CmdExecuteOp
    argument: BlockArgument
    size: SSAValue


def _transients(module: ModuleOp) -> Iterator[_Transient]:
    """In program order; the executions of initializers count but are not told."""
    number = -1
    for function in module.ops:
        for execute in function.walk():
            if not isinstance(execute, stream.CmdExecuteOp):
                continue
            number += 1
            if not isinstance(function, util.FuncOp):
                continue
            for argument, size in zip(execute.body.block.args, execute.resource_operand_sizes, strict=True):
                if argument.type == stream.ResourceType("transient"):
                    yield _Transient(function.sym_name.data, number, execute, argument, size)


def memory_report(module: ModuleOp) -> list[ExecutionMemory]:
    """The plan of every execution that has transients, in program order."""
    return [
        ExecutionMemory(
            found.function,
            found.execution,
            len(commands_of(found.execute)),
            size,
            _most_live(found.execute, found.argument),
            tuple(_tensors(found.execute, found.argument)),
        )
        for found in _transients(module)
        if (size := constant_int(found.size)) is not None
    ]


_SIGNS = {"arith.muli": "*", "arith.addi": "+", "arith.subi": "-", "arith.ceildivui": "/", "arith.divui": "/"}


def formula(value: SSAValue) -> str:
    """How the host computes a size: constants, dimensions of arguments, and what is made of them."""
    known = constant_int(value)
    if known is not None:
        return str(known)
    if isinstance(value, BlockArgument):
        return f"arg {value.index}"
    assert isinstance(value, OpResult)
    op = value.op
    if op.name == "hal.buffer_view.dim":
        return f"dim {int_of(op.properties['index'])} of {formula(op.operands[0])}"
    sign = _SIGNS.get(op.name)
    if sign is None:
        return f"a result of {op.name}"
    parts = [formula(operand) for operand in op.operands]
    return f" {sign} ".join(f"({part})" if sign in "*/" and " + " in part else part for part in parts)


def dynamic_memory(module: ModuleOp) -> list[DynamicMemory]:
    """The transients of every execution that have no place in a slab, in program order."""
    memory: list[DynamicMemory] = []
    for found in _transients(module):
        if constant_int(found.size) is not None:
            continue
        commands = commands_of(found.execute)
        touching = [index for index, command in enumerate(commands) if found.argument in command.operands]
        first, last = (touching[0], touching[-1]) if touching else (0, 0)
        memory.append(DynamicMemory(found.function, found.execution, formula(found.size), first, last))
    return memory
