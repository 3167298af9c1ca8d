"""A run of commands becomes one `stream.cmd.execute` for each of its parts, with the memory it needs.

A run on one device has one part. Storages that are only used inside of a part are packed by lifetime into one transient
slab, those that several parts use lie side by side in another; storages that the host
reads share one staging resource; every other new storage is an external resource of its own. Neighbouring commands that
touch no byte in conflict form a `stream.cmd.concurrent`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects import stream
from tiree.dialects.hal_affinity import DeviceAffinityAttr, optimal
from tiree.dialects.stream import ResourceAccess
from tiree.stream.affinity import Affinities
from tiree.stream.packing import Interval, aligned, pack
from tiree.stream.parts import Part, conflict, last_of, parts_of
from tiree.stream.slice_views import SliceView, copy_costly_views
from tiree.stream.storage import Command, HostBuilder, Length, Range, Storage
from tiree.support.locations import take_location
from tiree.support.typed import array_of, ints_of


class Run:
    """Commands that have been asked for and not yet emitted."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.required: list[Storage] = []
        """Storages that must have a place afterwards even if no command touches them (empty tensors)."""
        self.views: dict[Storage, SliceView] = {}
        """The slices that so far need no copy, by their storages."""

    def add(self, command: Command) -> None:
        self.commands.append(command)

    def __bool__(self) -> bool:
        return bool(self.commands) or any(not storage.outermost()[0].is_placed for storage in self.required)

    def settle_views(self, handled: Collection[Operation]) -> None:
        """Copies the slices that as views would cost more memory than copies do."""
        copied = copy_costly_views(
            self.commands,
            list(self.views.values()),
            is_needed_later=lambda storage: storage.escapes or is_used_outside(storage, handled),
        )
        order = {view: number for number, view in enumerate(self.views.values())}
        for view in sorted(copied, key=lambda view: (-view.position, -order[view])):
            length = view.result.length
            ranges = [Range(view.source, length, view.offset), Range(view.result, length)]
            access = [int(ResourceAccess.READ), int(ResourceAccess.WRITE)]
            self.commands.insert(view.position, Command("copy", ranges, access, affinity=view.affinity))

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


def is_used_outside(storage: Storage, handled: Collection[Operation]) -> bool:
    """Whether an operation that has not been handled uses what the storage or a view of it holds."""
    if any(use.operation not in handled for value in storage.values for use in value.uses):
        return True
    return any(view.inside is not None and is_used_outside(view, handled) for view in storage.views)


def _classify(storage: Storage, handled: Collection[Operation]) -> str:
    """`transient`, `staging` or `external`, by who else uses the tensors of a new storage."""
    if storage.lifetime == "staging":
        return "staging"
    return "external" if storage.escapes or is_used_outside(storage, handled) else "transient"


@dataclass
class _Slab:
    """Memory that is needed for a run only: the resource, its size, where it lies and who uses it."""

    resource: SSAValue
    size: SSAValue
    affinity: Attribute | None
    users: Sequence[Part]


class RunEmitter:
    """Emits one run at the builder's anchor. `timepoint` is what it waits for."""

    def __init__(self, run: Run, builder: HostBuilder, timepoint: SSAValue | None, affinities: Affinities) -> None:
        self.run = run
        self.builder = builder
        self.timepoint = timepoint
        self.affinities = affinities
        self.parts = parts_of(run.commands)
        self.slabs: list[_Slab] = []
        self.allocated: dict[SSAValue, SSAValue] = {}
        """Each new resource, and when it is there."""
        self._awaited: dict[SSAValue, Part] = {}
        """By the timepoint of an allocation the first part that waits for it."""
        self._users: dict[Storage, dict[Part, None]] = {}
        """The parts that touch a storage."""
        self._position: dict[Command, int] = {}

    def emit(self, handled: Collection[Operation]) -> SSAValue:
        """Allocates, executes, frees; returns the timepoint after the commands."""
        for part in self.parts:
            for number, command in enumerate(part.commands):
                self._position[command] = number
                for range in command.ranges:
                    self._users.setdefault(range.storage.outermost()[0], {})[part] = None
        self._allocate(handled)
        ends: dict[Part, SSAValue] = {}
        for part in self.parts:
            ends[part] = self._execute(part, ends)
        untouched = [time for time in self.allocated.values() if time not in self._awaited]
        done = self._joined([*(ends[part] for part in last_of(self.parts)), *untouched])
        self._free(ends)
        return done

    def _joined(self, timepoints: Sequence[SSAValue]) -> SSAValue:
        unique = list(dict.fromkeys(timepoints))
        return unique[0] if len(unique) == 1 else self.builder.add(stream.TimepointJoinOp(unique)).results[0]

    def _execute(self, part: Part, ends: dict[Part, SSAValue]) -> SSAValue:
        """Emits a part; returns its end."""
        resources = self._resources(part)
        alone = len(self.parts) == 1
        awaits = [
            time
            for resource, time in self.allocated.items()
            if (alone or resource in resources) and self._awaited.setdefault(time, part) not in part.behind
        ]
        awaits += [ends[other] for other in part.waits]
        if not awaits and self.timepoint is not None:
            awaits = [self.timepoint]
        ready = self._joined(awaits) if awaits else None
        if not resources:
            assert ready is not None
            return ready
        execute = stream.CmdExecuteOp(list(resources), list(resources.values()), ready, part.affinity)
        body = execute.body.block
        arguments: dict[SSAValue, SSAValue] = dict(zip(resources, body.args, strict=True))
        for group in self._concurrent_groups(part):
            ops = [self._command_op(command, arguments) for command in group]
            for op, command in zip(ops, group, strict=True):
                take_location(op, command.op)
            body.add_op(ops[0] if len(ops) == 1 else stream.CmdConcurrentOp(ops))
        body.add_op(stream.YieldOp())
        self.builder.add(execute)
        return execute.result_timepoint

    def _free(self, ends: dict[Part, SSAValue]) -> None:
        """Gives transient memory back, when those who use it have ended. The host does not wait for it."""
        for slab in self.slabs:
            over = self._joined([ends[part] for part in last_of(slab.users)])
            self.builder.add(stream.ResourceDeallocaOp(slab.resource, slab.size, slab.affinity, over))

    def _alloca(self, lifetime: str, size: Length, affinity: Attribute | None) -> tuple[SSAValue, SSAValue]:
        """A resource and its size; what executes waits for all allocations."""
        size_value = self.builder.index(max(size, 1)) if isinstance(size, int) else size
        alloca = stream.ResourceAllocaOp(lifetime, size_value, affinity, self.timepoint)
        self.builder.add(alloca)
        self.allocated[alloca.result] = alloca.result_timepoint
        return alloca.result, size_value

    def _slab(self, size: Length, users: Sequence[Part]) -> tuple[SSAValue, SSAValue]:
        affinity = self._where(part.affinity for part in users)
        resource, size_value = self._alloca("transient", size, affinity)
        self.slabs.append(_Slab(resource, size_value, affinity, users))
        return resource, size_value

    def _where(self, places: Iterable[Attribute | None]) -> Attribute | None:
        """Memory that serves all of `places`."""
        found = [place for place in dict.fromkeys(places) if isinstance(place, DeviceAffinityAttr)]
        return optimal(found) if found else self.builder.affinity

    def _where_kept(self, storages: Iterable[Storage]) -> Attribute | None:
        """Memory for who uses `storages` in this run and for where their tensors go."""
        if self.affinities.is_uniform:
            return self.builder.affinity
        places: list[Attribute | None] = []
        for storage in storages:
            places += [part.affinity for part in self._users.get(storage, ())]
            places += [self.affinities.of_value(value) for value in storage.values]
        return self._where(places)

    def _allocate(self, handled: Collection[Operation]) -> None:
        transients: dict[tuple[Part, ...], list[tuple[Storage, Interval]]] = {}
        dynamic: list[tuple[Storage, int, int]] = []
        staged: list[tuple[Storage, int]] = []
        for storage, first, last in self.run.new_storages():
            kind = _classify(storage, handled)
            length = storage.length
            if kind == "transient" and isinstance(length, int):
                transients.setdefault(tuple(self._users[storage]), []).append(
                    (storage, self._interval(storage, length, first, last))
                )
            elif kind == "transient":
                dynamic.append((storage, first, last))
            elif kind == "staging" and isinstance(length, int):
                staged.append((storage, length))
            else:
                place = self._where_kept([storage])
                storage.resource, storage.resource_size = self._alloca("external", storage.length, place)
        if staged:
            place = self._where_kept(storage for storage, _ in staged)
            resource, size = self._alloca("staging", sum(aligned(n) for _, n in staged[:-1]) + staged[-1][1], place)
            offset = 0
            for storage, length in staged:
                storage.resource, storage.resource_size, storage.offset = resource, size, offset
                offset += aligned(length)
        for users, placed in transients.items():
            packing = pack([interval for _, interval in placed])
            resource, size = self._slab(packing.total, users)
            for (storage, _), offset in zip(placed, packing.offsets, strict=True):
                storage.lifetime = "transient"
                storage.resource, storage.resource_size, storage.offset = resource, size, offset

        self._allocate_dynamic(dynamic)

    def _interval(self, storage: Storage, length: int, first: int, last: int) -> Interval:
        """When a transient is needed: all the time, if several parts use it."""
        if len(self._users[storage]) > 1:
            return Interval(length, 0, len(self.run.commands))
        commands = self.run.commands
        return Interval(length, self._position[commands[first]], self._position[commands[last]])

    def _allocate_dynamic(self, storages: list[tuple[Storage, int, int]]) -> None:
        """Transients of sizes that are values: those of one size share a resource where their lifetimes allow."""
        slots: dict[tuple[SSAValue, tuple[Part, ...]], list[tuple[int, SSAValue, SSAValue]]] = {}
        for storage, first, last in storages:
            assert not isinstance(storage.length, int)
            users = tuple(self._users[storage])
            same = slots.setdefault((storage.length, users), [])
            storage.lifetime = "transient"
            for number, (end, resource, size) in enumerate(same):
                if end < first and len(users) == 1:
                    same[number] = (last, resource, size)
                    storage.resource, storage.resource_size = resource, size
                    break
            else:
                storage.resource, storage.resource_size = self._slab(storage.length, users)
                same.append((last, storage.resource, storage.resource_size))

    def _resources(self, part: Part) -> dict[SSAValue, SSAValue]:
        """Every resource that a command of `part` touches and its size, in order of first use."""
        found: dict[SSAValue, SSAValue] = {}
        for command in part.commands:
            for range in command.ranges:
                resource, size, _ = range.storage.resolve()
                found.setdefault(resource, size)
        return found

    def _concurrent_groups(self, part: Part) -> list[list[Command]]:
        """Commands in order, split wherever one conflicts with an earlier one of its group."""
        groups: list[list[Command]] = []
        for command in part.commands:
            if groups and not any(conflict(command, earlier) for earlier in groups[-1]):
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
