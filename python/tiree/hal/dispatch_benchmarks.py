"""Modules that time one dispatch each: what `--iree-hal-dump-executable-benchmarks-to` writes.

In: a module whose executables are configured and whose host code is the schedule (phase `executable-configurations`).
Out, for each entry point that is dispatched: a module with its executable, and a function for each way in which it is
called. The function takes a number (i32), runs the dispatch so often, one after the other, and has the reflection entry
`iree.benchmark = "dispatch"`, by which benchmark tools know it. The bindings are parts of one buffer of zeros that do
not overlap.

Only calls whose workload, constants and lengths are known can be repeated without their program; the others are
reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.builder import ImplicitBuilder
from xdsl.dialects.arith import AddiOp, CmpiOp, IndexCastOp
from xdsl.dialects.builtin import (
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i8,
    i32,
)
from xdsl.dialects.cf import BranchOp, ConditionalBranchOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypedAttribute

from tiree.dialects import hal, stream, util
from tiree.dialects.arith import ConstantOp, constant_of
from tiree.hal.targets import INLINE_BACKEND, symbol_path

# Bindings start at multiples of this: what allocators of devices align memory to.
_ALIGNMENT = 64


@dataclass(frozen=True)
class _Call:
    """One way in which an entry point is dispatched. Numbers in bytes."""

    workload: tuple[TypedAttribute, ...]
    constants: tuple[TypedAttribute, ...]
    lengths: tuple[int, ...]
    accesses: tuple[int, ...]

    @property
    def offsets(self) -> list[int]:
        """Where the bindings stand in one buffer; its size comes last."""
        offsets = [0]
        for length in self.lengths:
            offsets.append(offsets[-1] + -(-max(length, 1) // _ALIGNMENT) * _ALIGNMENT)
        return offsets


@dataclass
class _EntryPoint:
    """How an entry point is called; `dispatch` is its first call."""

    dispatch: stream.CmdDispatchOp
    calls: dict[_Call, None] = field(default_factory=dict[_Call, None])


@dataclass
class DispatchBenchmarks:
    """What can be timed of a module. `left_out` names the entry points of which some calls cannot be repeated."""

    module: ModuleOp
    left_out: list[str] = field(default_factory=list[str])
    _found: dict[tuple[str, ...], _EntryPoint] = field(default_factory=dict[tuple[str, ...], _EntryPoint])

    def __post_init__(self) -> None:
        for function in self.module.ops:
            if not isinstance(function, util.FuncOp | util.InitializerOp):
                continue
            for op in function.walk():
                if isinstance(op, stream.CmdDispatchOp):
                    self._add(op)

    def _add(self, dispatch: stream.CmdDispatchOp) -> None:
        path = symbol_path(dispatch.entry_point)
        workload = _constants(dispatch.workload)
        constants = _constants(dispatch.uniform_operands)
        lengths = _constants(dispatch.resource_lengths)
        if workload is None or constants is None or lengths is None:
            if path[-1] not in self.left_out:
                self.left_out.append(path[-1])
            return
        entry = self._found.setdefault(path, _EntryPoint(dispatch))
        sizes = tuple(value.value.data for value in lengths if isinstance(value, IntegerAttr))
        entry.calls[_Call(workload, constants, sizes, tuple(dispatch.access_bits))] = None

    def modules(self) -> Iterator[tuple[str, ModuleOp]]:
        """Name of the entry point and the module that times it, in the order of the program."""
        for path, entry in self._found.items():
            yield path[-1], self._benchmark(path, entry)

    def _benchmark(self, path: tuple[str, ...], entry: _EntryPoint) -> ModuleOp:
        ops: list[Operation] = []
        for op in self.module.ops:
            if isinstance(op, util.GlobalOp) and isinstance(op.type, hal.DeviceType):
                ops.append(op.clone())
            elif isinstance(op, hal.ExecutableOp) and op.sym_name.data == path[0]:
                ops.append(_only(op, {symbol_path(point)[-1] for point in _points(entry.dispatch)}))
        affinity = _affinity(entry.dispatch)
        for number, call in enumerate(entry.calls):
            name = f"{path[-1]}_{number}" if len(entry.calls) > 1 else path[-1]
            total = call.offsets[-1]
            ops.append(util.GlobalOp(f"{name}_buffer", stream.ResourceType("variable")))
            ops.append(_initializer(f"{name}_buffer", total, affinity))
            ops.append(_function(name, entry.dispatch, call, affinity))
        return ModuleOp(ops, dict(self.module.attributes))


def needed_flags(benchmark: ModuleOp) -> str:
    """What `tiree-compile` is told beside the phase to make a file of the module."""
    executables = [op for op in benchmark.ops if isinstance(op, hal.ExecutableOp)]
    inline = any(one.target.backend.data == INLINE_BACKEND for op in executables for one in op.variants)
    return " --iree-execution-model=inline-static" if inline else ""


def _constants(values: Sequence[SSAValue]) -> tuple[TypedAttribute, ...] | None:
    """The values, if all of them are constants."""
    found: list[TypedAttribute] = []
    for value in values:
        constant = constant_of(value)
        if constant is None:
            return None
        found.append(constant)
    return tuple(found)


def _points(dispatch: stream.CmdDispatchOp) -> list[SymbolRefAttr]:
    return [point for point in dispatch.entry_points.data if isinstance(point, SymbolRefAttr)]


def _affinity(dispatch: stream.CmdDispatchOp) -> Attribute | None:
    """Where the program runs the dispatch."""
    parent = dispatch.parent_op()
    while parent is not None and not isinstance(parent, stream.CmdExecuteOp):
        parent = parent.parent_op()
    return parent.affinity if parent is not None else None


def _only(executable: hal.ExecutableOp, kept: set[str]) -> hal.ExecutableOp:
    """A copy of the executable with these exports."""
    copy = executable.clone()
    for variant in copy.variants:
        dropped = {export.sym_name.data for export in variant.exports} - kept
        for export in variant.exports:
            if export.sym_name.data in dropped:
                export.detach()
        for ordinal, export in enumerate(variant.exports):
            export.properties["ordinal"] = IntegerAttr(ordinal, IndexType())
        inner = variant.inner_module
        for op in list(inner.ops) if inner is not None else ():
            symbol = op.properties.get("sym_name")
            if isinstance(symbol, StringAttr) and symbol.data in dropped:
                op.detach()
    return copy


def _initializer(name: str, size: int, affinity: Attribute | None) -> util.InitializerOp:
    """Sets the global to a buffer of zeros: memory that nobody has written may be one page for all addresses."""
    block = Block()
    with ImplicitBuilder(block):
        total, zero = ConstantOp.index(size).result, ConstantOp.index(0).result
        resource = stream.ResourceAllocOp("variable", total, affinity).result
        byte = ConstantOp(IntegerAttr(0, i8)).result
        execute = stream.CmdExecuteOp([resource], [total], None, affinity)
        with ImplicitBuilder(execute.body):
            stream.CmdFillOp(execute.body.block.args[0], total, zero, total, byte)
            stream.YieldOp()
        ready = stream.TimepointAwaitOp([resource], [total], execute.result_timepoint)
        util.GlobalStoreOp(ready.results_[0], name)
        util.ReturnOp()
    return util.InitializerOp(Region(block))


def _function(name: str, dispatch: stream.CmdDispatchOp, call: _Call, affinity: Attribute | None) -> util.FuncOp:
    """Runs the dispatch as often as its argument says."""
    function = util.FuncOp(
        name,
        ([i32], []),
        attributes={
            "iree.abi.stub": UnitAttr(),
            "iree.reflection": DictionaryAttr({"iree.benchmark": StringAttr("dispatch")}),
        },
    )
    entry = function.body.block
    head, body, done = Block(arg_types=[IndexType(), stream.TimepointType()]), Block(arg_types=[]), Block()
    function.body.add_block([head, body, done])
    offsets = call.offsets
    with ImplicitBuilder(entry):
        wanted = IndexCastOp(entry.args[0], IndexType()).result
        zero, one, total = ConstantOp.index(0).result, ConstantOp.index(1).result, ConstantOp.index(offsets[-1]).result
        starts = [ConstantOp.index(offset).result for offset in offsets[:-1]]
        lengths = [ConstantOp.index(length).result for length in call.lengths]
        workload, constants = (
            [ConstantOp(value).result for value in group] for group in (call.workload, call.constants)
        )
        buffer = util.GlobalLoadOp(f"{name}_buffer", stream.ResourceType("variable"), immutable=True).result
        BranchOp(head, zero, stream.TimepointImmediateOp().result_timepoint)
    with ImplicitBuilder(head):
        ConditionalBranchOp(CmpiOp(head.args[0], wanted, "slt").result, body, [], done, [])
    count = len(call.lengths)
    with ImplicitBuilder(body):
        execute = stream.CmdExecuteOp([buffer], [total], head.args[1], affinity)
        with ImplicitBuilder(execute.body):
            resources, sizes = [execute.body.block.args[0]] * count, [total] * count
            again = stream.CmdDispatchOp(
                dispatch.entry_point, workload, constants, resources, sizes, starts, lengths, call.accesses
            )
            again.properties["entry_points"] = dispatch.entry_points
            stream.YieldOp()
        BranchOp(head, AddiOp(head.args[0], one).result, execute.result_timepoint)
    with ImplicitBuilder(done):
        stream.TimepointAwaitOp([], [], head.args[1], sync=True)
        util.ReturnOp()
    return function
