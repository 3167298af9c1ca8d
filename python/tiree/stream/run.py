"""A run of commands becomes one `stream.cmd.execute` with the memory it needs.

Storages that are only used inside the run are packed by lifetime into one transient slab; storages that the host
reads share one staging resource; every other new storage is an external resource of its own. Neighbouring commands that
touch no byte in conflict form a `stream.cmd.concurrent`.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects import arith
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation, SSAValue

from tiree.dialects import stream
from tiree.dialects.stream import ResourceAccess
from tiree.stream.packing import Interval, aligned, pack
from tiree.stream.storage import Command, HostBuilder, Length, Range, Storage
from tiree.support.locations import take_location
from tiree.support.typed import array_of, ints_of


class Run:
    """Commands that have been asked for and not yet emitted."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.required: list[Storage] = []
        """Storages that must have a place afterwards even if no command touches them (empty tensors)."""

    def add(self, command: Command) -> None:
        self.commands.append(command)

    def __bool__(self) -> bool:
        return bool(self.commands) or any(not storage.outermost()[0].is_placed for storage in self.required)

    def new_storages(self) -> list[tuple[Storage, int, int]]:
        """Storages without a place, with the first and last command that touches them, in order of first use."""
        order: list[Storage] = []
        span: dict[Storage, tuple[int, int]] = {}
        for number, command in enumerate(self.commands):
            for range in command.ranges:
                storage, _ = range.storage.outermost()
                if storage.is_placed:
                    continue
                if storage not in span:
                    order.append(storage)
                    span[storage] = (number, number)
                span[storage] = (span[storage][0], number)
        for storage in self.required:
            place, _ = storage.outermost()
            if not place.is_placed and place not in span:
                order.append(place)
                span[place] = (0, 0)
        return [(storage, *span[storage]) for storage in order]


def _is_used_outside(storage: Storage, handled: Collection[Operation]) -> bool:
    return any(use.operation not in handled for value in storage.values for use in value.uses)


def _classify(storage: Storage, handled: Collection[Operation]) -> str:
    """`transient`, `staging` or `external`, by who else uses the tensors of a new storage."""
    if storage.lifetime == "staging":
        return "staging"
    return "external" if storage.escapes or _is_used_outside(storage, handled) else "transient"


class RunEmitter:
    """Emits one run at the builder's anchor. `timepoint` is what it waits for."""

    def __init__(self, run: Run, builder: HostBuilder, timepoint: SSAValue | None) -> None:
        self.run = run
        self.builder = builder
        self.timepoint = timepoint
        self.transients: list[tuple[SSAValue, SSAValue]] = []
        """Resources, with their sizes, that are needed for this run only."""
        self.allocated: list[SSAValue] = []

    def emit(self, handled: Collection[Operation]) -> SSAValue:
        """Allocates, executes, frees; returns the timepoint after the commands."""
        self._allocate(handled)
        resources = self._resources()
        ready = self.allocated[0] if self.allocated else self.timepoint
        if len(self.allocated) > 1:
            ready = self.builder.add(stream.TimepointJoinOp(self.allocated)).results[0]
        if not resources:
            assert ready is not None
            return ready
        execute = stream.CmdExecuteOp(list(resources), list(resources.values()), ready, self.builder.affinity)
        body = execute.body.block
        arguments: dict[SSAValue, SSAValue] = dict(zip(resources, body.args, strict=True))
        for group in self._concurrent_groups():
            ops = [self._command_op(command, arguments) for command in group]
            for op, command in zip(ops, group, strict=True):
                take_location(op, command.op)
            body.add_op(ops[0] if len(ops) == 1 else stream.CmdConcurrentOp(ops))
        body.add_op(stream.YieldOp())
        self.builder.add(execute)
        return self._free(execute.result_timepoint)

    def _free(self, done: SSAValue) -> SSAValue:
        """Gives transient memory back; returns the timepoint of the commands, for which alone the host waits."""
        for resource, size in self.transients:
            self.builder.add(stream.ResourceDeallocaOp(resource, size, self.builder.affinity, done))
        return done

    def _alloca(self, lifetime: str, size: Length) -> tuple[SSAValue, SSAValue]:
        """A resource and its size; what executes waits for all allocations."""
        size_value = self.builder.index(max(size, 1)) if isinstance(size, int) else size
        alloca = stream.ResourceAllocaOp(lifetime, size_value, self.builder.affinity, self.timepoint)
        self.builder.add(alloca)
        self.allocated.append(alloca.result_timepoint)
        return alloca.result, size_value

    def _allocate(self, handled: Collection[Operation]) -> None:
        transients: list[tuple[Storage, Interval]] = []
        dynamic: list[tuple[Storage, int, int]] = []
        staged: list[tuple[Storage, int]] = []
        for storage, first, last in self.run.new_storages():
            kind = _classify(storage, handled)
            length = storage.length
            if kind == "transient" and isinstance(length, int):
                transients.append((storage, Interval(length, first, last)))
            elif kind == "transient":
                dynamic.append((storage, first, last))
            elif kind == "staging" and isinstance(length, int):
                staged.append((storage, length))
            else:
                storage.resource, storage.resource_size = self._alloca("external", storage.length)
        if staged:
            resource, size = self._alloca("staging", sum(aligned(n) for _, n in staged[:-1]) + staged[-1][1])
            offset = 0
            for storage, length in staged:
                storage.resource, storage.resource_size, storage.offset = resource, size, offset
                offset += aligned(length)
        if transients:
            packing = pack([interval for _, interval in transients])
            resource, size = self._alloca("transient", packing.total)
            self.transients.append((resource, size))
            for (storage, _), offset in zip(transients, packing.offsets, strict=True):
                storage.lifetime = "transient"
                storage.resource, storage.resource_size, storage.offset = resource, size, offset

        self._allocate_dynamic(dynamic)

    def _allocate_dynamic(self, storages: list[tuple[Storage, int, int]]) -> None:
        """Transients of sizes that are values: those of one size share a resource where their lifetimes allow."""
        slots: dict[SSAValue, list[tuple[int, SSAValue, SSAValue]]] = {}
        for storage, first, last in storages:
            assert not isinstance(storage.length, int)
            same = slots.setdefault(storage.length, [])
            storage.lifetime = "transient"
            for number, (end, resource, size) in enumerate(same):
                if end < first:
                    same[number] = (last, resource, size)
                    storage.resource, storage.resource_size = resource, size
                    break
            else:
                storage.resource, storage.resource_size = self._alloca("transient", storage.length)
                self.transients.append((storage.resource, storage.resource_size))
                same.append((last, storage.resource, storage.resource_size))

    def _resources(self) -> dict[SSAValue, SSAValue]:
        """Every resource that a command touches and its size, in order of first use."""
        found: dict[SSAValue, SSAValue] = {}
        for command in self.run.commands:
            for range in command.ranges:
                resource, size, _ = range.storage.resolve()
                found.setdefault(resource, size)
        return found

    def _concurrent_groups(self) -> list[list[Command]]:
        """Commands in order, split wherever one conflicts with an earlier one of its group."""
        groups: list[list[Command]] = []
        for command in self.run.commands:
            if groups and not any(_conflict(command, earlier) for earlier in groups[-1]):
                groups[-1].append(command)
            else:
                groups.append([command])
        return groups

    def _offset(self, range: Range) -> SSAValue:
        base = range.storage.resolve()[2] + range.offset
        if range.dynamic_offset is None:
            return self.builder.index(base)
        if base == 0:
            return range.dynamic_offset
        return self.builder.add(arith.AddiOp(range.dynamic_offset, self.builder.index(base))).results[0]

    def _command_op(self, command: Command, arguments: dict[SSAValue, SSAValue]) -> Operation:
        resolved = [range.storage.resolve() for range in command.ranges]
        resources = [arguments[resource] for resource, _, _ in resolved]
        sizes = [size for _, size, _ in resolved]
        offsets = [self._offset(range) for range in command.ranges]
        lengths = [self.builder.length(range.length) for range in command.ranges]
        if command.kind == "fill":
            assert command.pattern is not None
            return stream.CmdFillOp(resources[0], sizes[0], offsets[0], lengths[0], command.pattern)
        if command.kind == "copy":
            return stream.CmdCopyOp(resources[0], sizes[0], offsets[0], resources[1], sizes[1], offsets[1], lengths[0])
        assert command.op is not None
        entry_point = array_of(command.op.properties["entry_points"])[0]
        assert isinstance(entry_point, SymbolRefAttr)
        segments = ints_of(command.op.properties["operandSegmentSizes"])
        workload = list(command.op.operands[: segments[0]])
        return stream.CmdDispatchOp(
            entry_point, workload, command.words, resources, sizes, offsets, lengths, command.access
        )


def _conflict(one: Command, other: Command) -> bool:
    """Whether the order of two commands can be seen: they touch a common byte and one of them writes it."""
    for range, access in zip(one.ranges, one.access, strict=True):
        for range2, access2 in zip(other.ranges, other.access, strict=True):
            if not (access | access2) & ResourceAccess.WRITE:
                continue
            resource, _, start = range.storage.resolve()
            resource2, _, start2 = range2.storage.resolve()
            if resource is not resource2:
                continue
            if range.dynamic_offset is not None or range2.dynamic_offset is not None:
                return True
            start += range.offset
            start2 += range2.offset
            if not isinstance(range.length, int) or not isinstance(range2.length, int):
                return True
            if start < start2 + range2.length and start2 < start + range.length:
                return True
    return False
