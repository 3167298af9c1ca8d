"""How a program without devices runs its dispatches: as calls of loaded executables, or of functions of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, SymbolRefAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tiree.dialects import hal, hal_inline, hal_loader, stream, util
from tiree.dialects.arith import ConstantOp, constant_of
from tiree.hal.executables import Executables
from tiree.hal.select_variant import described, select_counts
from tiree.hal.targets import default_device, symbol_path
from tiree.hal.values import Emitter
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.marks import INLINED
from tiree.support.symbols import SymbolNames

Binding = tuple[SSAValue, SSAValue, SSAValue]
"""Bytes, and the offset and length of a range of them."""
_UNAVAILABLE = 14


class Kernels(Protocol):
    """What dispatches become."""

    def dispatch(self, emitter: Emitter, command: stream.CmdDispatchOp, bindings: Sequence[Binding]) -> None:
        """Runs a dispatch where the emitter is."""
        ...

    def finish(self) -> None:
        """Adds to the module what dispatches need."""
        ...


def _counts(
    executables: Executables, emitter: Emitter, entry_point: SymbolRefAttr, workload: Sequence[SSAValue]
) -> list[SSAValue]:
    """Workgroups in x, y and z."""
    nothing = util.NullOp(hal.DeviceType())
    ops, counts = executables.workgroup_count(entry_point, nothing.results[0], workload)
    if nothing.results[0].uses:
        what = f"the number of workgroups of {entry_point} depends on the device, and the program is to have none"
        raise CompileError(Diagnostic(what, hint="compile it for async-internal"))
    for op in ops:
        constant = constant_of(op.results[0])
        if constant is None:
            emitter.add(op)
            continue
        shared = emitter.constant(constant)
        counts = [shared if value is op.results[0] else value for value in counts]
        op.results[0].replace_all_uses_with(shared)
    return counts


@dataclass
class _Loaded:
    """An executable of the program: the globals that the initializer sets."""

    name: str
    variants: Sequence[hal.ExecutableVariantOp]
    executable: str
    number: str
    """Which of the variants it is."""
    functions: dict[str, str] = field(default_factory=dict[str, str])
    """The globals of the ids of functions, by name."""


class LoadedKernels:
    """`inline-dynamic`: images that `hal_loader` loads when the program starts."""

    def __init__(self, module: ModuleOp, functions_by_name: bool) -> None:
        self.module = module
        self.executables = Executables(module)
        self.names = SymbolNames(module)
        self.functions_by_name = functions_by_name
        self._device = default_device(module)
        self._loaded: dict[str, _Loaded] = {}

    def dispatch(self, emitter: Emitter, command: stream.CmdDispatchOp, bindings: Sequence[Binding]) -> None:
        """Runs a dispatch where the emitter is."""
        entry_point = command.entry_point
        path = symbol_path(entry_point)
        loaded = self._executable(path[0])
        executable = emitter.load_global(loaded.executable, hal.ExecutableType())
        function = self._function(emitter, loaded, entry_point)
        counts = self._counts(emitter, loaded, path, command.workload)
        emitter.add(
            hal_loader.ExecutableDispatchOp(executable, function, counts, list(command.uniform_operands), bindings)
        )

    def _executable(self, name: str) -> _Loaded:
        found = self._loaded.get(name)
        if found is None:
            unique, variants = self.names.unique, self.executables.variants(name, self._device)
            found = _Loaded(name, variants, unique(f"__executable_{name}"), unique(f"__variant_{name}"))
            self._loaded[name] = found
        return found

    def _function(self, emitter: Emitter, loaded: _Loaded, entry_point: SymbolRefAttr) -> SSAValue:
        if not self.functions_by_name:
            ordinal = self.executables.export(entry_point).ordinal
            assert ordinal is not None
            return emitter.i64(ordinal.value.data)
        name = symbol_path(entry_point)[-1]
        if name not in loaded.functions:
            loaded.functions[name] = self.names.unique(f"__function_{name}")
        return emitter.load_global(loaded.functions[name], i64)

    def _counts(
        self, emitter: Emitter, loaded: _Loaded, path: Sequence[str], workload: Sequence[SSAValue]
    ) -> list[SSAValue]:
        points = [SymbolRefAttr(path[0], [one.sym_name.data, path[-1]]) for one in loaded.variants]
        counts = [_counts(self.executables, emitter, point, workload) for point in points]
        if len(counts) == 1:
            return counts[0]
        return select_counts(emitter, emitter.load_global(loaded.number, i32), counts)

    def finish(self) -> None:
        """Adds the initializer that loads the executables, and the globals."""
        made: list[Operation] = []
        for loaded in self._loaded.values():
            made.append(util.GlobalOp(loaded.executable, hal.ExecutableType()))
            if len(loaded.variants) > 1:
                made.append(util.GlobalOp(loaded.number, i32))
            made += [util.GlobalOp(name, i64) for name in loaded.functions.values()]
        made += [util.InitializerOp(self._initializer(loaded)) for loaded in self._loaded.values()]
        block = self.module.body.block
        first = next((op for op in block.ops if op.name in ("util.func", "util.initializer")), None)
        if first is None:
            block.add_ops(made)
        else:
            block.insert_ops_before(made, first)

    def _initializer(self, loaded: _Loaded) -> Region:
        """Asks for each variant whether it can run, loads the first that can, and keeps it."""
        images = self.executables.binary_symbols(loaded.name, self._device)
        code = ConstantOp(IntegerAttr(_UNAVAILABLE, i32))
        block = Block([code])
        blocks = [block]
        after = Block(arg_types=[hal.ExecutableType(), i32])
        for number, (variant, image) in enumerate(zip(loaded.variants, images, strict=True)):
            answer = _can_run(block, variant)
            load, following = Block(self._load(loaded.name, image, number, after)), Block()
            block.add_op(cf.ConditionalBranchOp(answer, load, [], following, []))
            blocks += [load, following]
            block = following
        block.add_ops([util.StatusCheckOkOp(code.result, self._message(loaded)), util.ReturnOp()])
        after.add_ops(self._keep(loaded, images[0], *after.args))
        return Region([*blocks, after])

    def _message(self, loaded: _Loaded) -> str:
        available = "; ".join(map(described, loaded.variants))
        return f"this machine runs none of the variants of executable `{loaded.name}`; available: {available}"

    def _load(self, name: str, image: SymbolRefAttr, number: int, after: Block) -> list[Operation]:
        binary = self.executables.image(name, symbol_path(image)[-1])
        mime = binary.properties.get("mime_type")
        data = util.BufferConstantOp(
            binary.properties["data"], 64, name, mime.data if isinstance(mime, StringAttr) else None
        )
        load = hal_loader.ExecutableLoadOp(_text(binary.properties["format"]), data.result)
        place = ConstantOp(IntegerAttr(number, i32))
        return [data, load, place, cf.BranchOp(after, load.result, place.result)]

    def _keep(self, loaded: _Loaded, image: SymbolRefAttr, executable: SSAValue, number: SSAValue) -> list[Operation]:
        ops: list[Operation] = [util.GlobalStoreOp(executable, loaded.executable)]
        if len(loaded.variants) > 1:
            ops.append(util.GlobalStoreOp(number, loaded.number))
        for name, global_name in loaded.functions.items():
            point = SymbolRefAttr(loaded.name, [symbol_path(image)[-1], name])
            look = hal_loader.ExecutableLookupFunctionOp(executable, point)
            ops += [look, util.GlobalStoreOp(look.result, global_name)]
        return [*ops, util.ReturnOp()]


def _text(attr: Attribute) -> str:
    assert isinstance(attr, StringAttr)
    return attr.data


def _can_run(block: Block, variant: hal.ExecutableVariantOp) -> SSAValue:
    """Adds the questions to `block`: whether images of the format are loaded, and what the CPU must have."""
    supported = hal_loader.ExecutableQuerySupportOp(variant.target.format.data)
    block.add_op(supported)
    if variant.condition is None:
        return supported.supported
    condition = variant.condition.body.block
    mapping: dict[SSAValue, SSAValue] = {}
    for op in condition.ops:
        if isinstance(op, hal.ReturnOp):
            both = arith.AndIOp(supported.supported, mapping[op.arguments[0]])
            block.add_op(both)
            return both.result
        if isinstance(op, hal.DeviceQueryOp):
            query = hal_inline.DeviceQueryOp(op.category.data, op.key.data)
            block.add_op(query)
            mapping[op.ok], mapping[op.value] = query.ok, query.value
        else:
            block.add_op(op.clone(value_mapper=mapping))
    raise AssertionError("a condition ends with hal.return")


class LinkedKernels:
    """`inline-static`: kernels are functions of the program, which the phase `executable-targets` has made."""

    def __init__(self, module: ModuleOp) -> None:
        self.executables = Executables(module)

    def dispatch(self, emitter: Emitter, command: stream.CmdDispatchOp, bindings: Sequence[Binding]) -> None:
        """Calls the function: words, bytes and where they begin, and the workgroups in x, y and z."""
        entry_point = command.entry_point
        function = self.executables.export(entry_point).attributes.get(INLINED)
        if not isinstance(function, SymbolRefAttr):
            what = f"{entry_point} is no function of the host program, and an inline-static program has no images"
            raise CompileError(Diagnostic(what, hint="--iree-hal-local-target-device-backends=vmvx-inline"))
        counts = _counts(self.executables, emitter, entry_point, list(command.workload))
        memory = [value for buffer, offset, _ in bindings for value in (buffer, offset)]
        arguments = [*command.uniform_operands, *memory, *counts]
        emitter.add(util.CallOp(function.root_reference.data, arguments, []))

    def finish(self) -> None:
        """Nothing more."""
