"""`tiree-stream-schedule`: tensors become resources, straight-line work becomes `stream.cmd.execute`.

In: host functions in `cf` form after copy-on-write, stream executables. Out: no tensors in host code. Everything
between two points where the host needs a value is one execution; executions of a function form one timeline. A tensor
that crosses a block border is an external resource of its own; a block takes a timepoint as its last argument only if
work may still be under way when it is entered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import FunctionType, ModuleOp, UnitAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects import hal, stream, util
from tiree.dialects.arith import ConstantOp, constant_int, constant_of
from tiree.dialects.dense import DenseAttr, element_byte_size, element_count
from tiree.dialects.tensor_dims import is_dynamic, operand_dims
from tiree.stream.affinity import Affinities
from tiree.stream.aliases import alias
from tiree.stream.block_borders import BlockBorders
from tiree.stream.constants import GLOBAL_NAME, ConstantPool
from tiree.stream.globals import RESOURCE, convert_variable_globals, take_constant_globals
from tiree.stream.liveness import is_tensor
from tiree.stream.parameters import take_parameter_globals
from tiree.stream.patterns import is_splat
from tiree.stream.run import Run, RunEmitter, is_used_outside
from tiree.stream.slice_views import view_slices
from tiree.stream.storage import HostBuilder, Range, Storage, byte_length, unsupported
from tiree.stream.tensor_ops import TensorOps, scalar_of
from tiree.support.branches import BRANCHES, branch_arguments, branch_with
from tiree.support.marks import SCHEDULED
from tiree.support.symbols import SymbolNames
from tiree.support.typed import is_tensor_type, symbol_of, tensor_type


class Scheduler(TensorOps):
    """Schedules one function."""

    def __init__(
        self,
        region: Region,
        pool: ConstantPool,
        globals: dict[str, DenseAttr],
        affinities: Affinities,
        strip_assertions: bool,
    ) -> None:
        super().__init__(HostBuilder(region.blocks[0], affinities.default), view_slices(region))
        self.affinities = affinities
        self.region = region
        self.pool = pool
        self.globals = globals
        self.strip_assertions = strip_assertions
        self.timepoint: SSAValue | None = None
        self.borders = BlockBorders(region)
        self.pool_sizes: list[ConstantOp] = []
        self._pool_resource: tuple[SSAValue, SSAValue] | None = None
        self._places: dict[Block, int] = {}
        self._dead: list[Operation] = []
        self._exported: dict[Operation, Storage] = {}
        self._staged: dict[Operation, Storage] = {}
        self._before_waits: dict[Storage, SSAValue] = {}
        """The resources of storages for which the block has waited."""
        self._fences: dict[SSAValue, SSAValue] = {}
        self._signalled: set[Storage] = set()
        """What the block gave to a fence of the caller, which says when it is complete."""
        self._signalled_at: SSAValue | None = None
        """The timepoint that the fence was given."""
        self.device_ops = {**self.device_ops, "hal.tensor.alias": partial(alias, self)}
        self.host_ops: dict[str, Callable[[Operation], None]] = {
            "hal.tensor.import": self._import,
            "hal.tensor.export": self._export,
            "hal.tensor.barrier": self._barrier,
            "flow.tensor.load": self._load,
            "util.call": self._call,
            "util.return": self._return,
            "util.global.load": self._global_load,
            "util.global.store": self._global_store,
            "arith.select": self._select,
            **dict.fromkeys(BRANCHES, self._branch),
        }

    def schedule(self) -> None:
        """Rewrites the function. Raises `CompileError` for what cannot be scheduled."""
        self.borders.add_arguments()
        self._places = {block: number for number, block in enumerate(self.region.blocks)}
        for block in self.region.blocks:
            first = block.first_op or self._any_op()
            for argument, resource in self.borders.resources(block):
                self.name(argument, self._arrived(argument, resource, first))
            self.timepoint = self.borders.timepoint(block)
            for op in list(block.ops):
                self._one(op)
            # Other blocks may not see what a wait returned here.
            for storage, resource in self._before_waits.items():
                storage.resource = resource
            self._before_waits, self._signalled, self._signalled_at = {}, set(), None
            self.forget_sizes()
        for op in reversed(self._dead):
            op.detach()
            op.erase(safe_erase=False)
        self.borders.erase_arguments()

    def _arrived(self, argument: SSAValue, resource: SSAValue, op: Operation) -> Storage:
        """The storage of a block argument or of a call's result, which is there before `op`."""
        if not is_dynamic(argument):
            length = byte_length(argument.type, op)
            return Storage(length, resource, self.builder.index(length))
        self.builder.anchor = op
        for use in argument.uses:
            dims = operand_dims(use.operation, argument)
            if dims and all(self._is_before(dim, op) for dim in dims):
                length = self.builder.dynamic_length(argument, dims, op)
                return Storage(length, resource, self.builder.length(length))
        # Who reads it first says how long it is.
        storage = Storage(0, resource)
        self.unsized[storage] = None
        return storage

    def _is_before(self, value: SSAValue, op: Operation) -> bool:
        """Whether `value`, which a reader of something that is there at `op` has at hand, is there at `op`, too."""
        block = op.parent_block()
        assert block is not None
        if value.owner is block:
            return True
        if isinstance(value, OpResult) and value.op.parent is block:
            return value.op.is_before_in_block(op)
        home = value.owner if isinstance(value.owner, Block) else value.owner.parent
        # Both blocks dominate the reader, so the one that comes first dominates the other.
        return home is not None and self._places[home] < self._places[block]

    def _any_op(self) -> Operation:
        op = self.region.parent
        assert op is not None
        return op

    def _one(self, op: Operation) -> None:
        self.builder.anchor = op
        self.builder.affinity = self.affinities.of_op(op)
        tensors = any(is_tensor(value) for value in (*op.operands, *op.results))
        handler = self.device_ops.get(op.name) if tensors else None
        if handler is not None:
            handler(op)
            self._dead.append(op)
        elif op.name in self.host_ops and (tensors or op.successors):
            self.host_ops[op.name](op)
        elif op.name == "flow.tensor.constant" and isinstance(op.properties["value"], DenseAttr):
            constant = ConstantOp(op.properties["value"])
            self.builder.add(constant)
            op.results[0].replace_all_uses_with(constant.result)
            self._dead.extend((constant, op))
        elif op.name == "complex.constant" or isinstance(constant_of(op.results[0]) if op.results else None, DenseAttr):
            self._dead.append(op)
        elif tensors:
            raise unsupported(op, f"{op.name} on tensors of host code has no schedule", "move it into a dispatch")
        elif not op.successors and op.name == "util.return":
            self._finish()
        self.handled.add(op)

    # Points where the host needs the device.

    def flush(self) -> None:
        """Emits what was asked for; `timepoint` is its end."""
        self.run.settle_views(self.handled)
        if self.run:
            self.timepoint = RunEmitter(self.run, self.builder, self.timepoint, self.affinities).emit(self.handled)
        # Even one without commands holds views, which only its own block may turn into copies.
        self.run = Run()
        self.forget_splats()

    def _wait(self, *storages: Storage) -> None:
        """Flushes and makes the host wait; the storages' resources are then those that the wait returns."""
        self.flush()
        if self.timepoint is None:
            return
        waiting: dict[SSAValue, SSAValue] = {}
        for storage in storages:
            if storage.resource is not None and storage.resource_size is not None:
                waiting.setdefault(storage.resource, storage.resource_size)
        await_op = stream.TimepointAwaitOp(list(waiting), list(waiting.values()), self.timepoint)
        self.builder.add(await_op)
        ready = dict(zip(waiting, await_op.results_, strict=True))
        for storage in dict.fromkeys(storages):
            if storage.resource is not None and storage.resource_size is not None:
                self._before_waits.setdefault(storage, storage.resource)
                storage.resource = ready[storage.resource]
        self.timepoint = None

    def _finish(self) -> None:
        """Waits before the function returns, unless the caller's fence says when everything is complete."""
        self.flush()
        if self.timepoint is not self._signalled_at:
            self._wait()

    def constant_storage(self, value: DenseAttr) -> Storage:
        if self._pool_resource is None:
            size = ConstantOp.index(0)
            self.pool_sizes.append(size)
            load = util.GlobalLoadOp(self.pool.name, stream.ResourceType("constant"), immutable=True)
            self.builder.at_top(load)
            self.builder.at_top(size)
            self._pool_resource = load.result, size.result
        resource, size_value = self._pool_resource
        length = element_count(value.type) * element_byte_size(value.element_type)
        return Storage(length, resource, size_value, self.pool.place(value), "constant")

    # Operations of the host.

    def _import(self, op: Operation) -> None:
        assert isinstance(op, hal.TensorImportOp)
        self._dead.append(op)
        encoding = op.target_encoding
        assert is_tensor_type(encoding)
        dims = list(op.target_dims)
        self.builder.anchor = op
        # The encoding is what callers see, which may have several elements a byte.
        length = self.builder.byte_length(op.target, op) if dims else byte_length(op.target.type, op)
        if not self.strip_assertions and isinstance(op.source.type, hal.BufferViewType) and not _is_asserted(op.source):
            given = iter(dims)
            shape = [self.builder.index(size) if size >= 0 else next(given) for size in encoding.get_shape()]
            label = op.import_name.data if op.import_name is not None else "tensor"
            element, layout = self.builder.element_type(encoding.element_type), self.builder.encoding_type()
            self.builder.add(hal.BufferViewAssertOp(op.source, label, element, layout, shape))
        size = self.builder.length(length)
        imported = stream.TensorImportOp(op.source, encoding, size, self.builder.affinity, dims)
        resource = self.builder.add(imported).results[0]
        self.name(op.target, Storage(length, resource, size))
        if op.wait_fence is not None:
            self.wait_for(op.wait_fence)

    def wait_for(self, fence: SSAValue) -> None:
        """Work from here on starts when the caller's fence is reached."""
        if fence not in self._fences:
            timepoint = self.builder.add(stream.TimepointImportOp(fence, self.builder.affinity)).results[0]
            self._fences[fence] = timepoint
            self._join(timepoint)

    def _join(self, timepoint: SSAValue) -> None:
        if self.timepoint is not None:
            timepoint = self.builder.add(stream.TimepointJoinOp([self.timepoint, timepoint])).results[0]
        self.timepoint = timepoint

    def _barrier(self, op: Operation) -> None:
        """Signals the caller's fence; the results are available without a wait."""
        assert isinstance(op, hal.TensorBarrierOp)
        self._dead.append(op)
        for source, result in zip(op.sources, op.results_, strict=True):
            storage = self.owned_storage_of(source, op)
            self.name(result, storage)
            self._signalled.add(storage)
        self.flush()
        timepoint = self.timepoint or self.builder.add(stream.TimepointImmediateOp()).results[0]
        self.builder.add(stream.TimepointChainExternalOp(timepoint, op.signal_fence, self.builder.affinity))
        self._signalled_at = self.timepoint

    def _export(self, op: Operation) -> None:
        """Exports a tensor; the first export of a block waits for everything that the block exports."""
        assert isinstance(op, hal.TensorExportOp)
        self._dead.append(op)
        if op not in self._exported:
            following: Operation | None = op
            while following is not None:
                if isinstance(following, hal.TensorExportOp) and (following is op or self._is_known(following.source)):
                    self.builder.affinity = self.affinities.of_op(following)
                    self._exported[following] = self.owned_storage_of(following.source, following)
                following = following.next_op
            if self._signalled.issuperset(self._exported.values()):
                self.flush()
            else:
                self._wait(*self._exported.values())
            self.builder.affinity = self.affinities.of_op(op)
        resource, size, _ = self._exported.pop(op).resolve()
        export = stream.TensorExportOp(
            resource, op.source_encoding, size, self.builder.affinity, op.target.type, list(op.source_dims)
        )
        self.builder.add(export)
        op.target.replace_all_uses_with(export.result)

    def _is_known(self, value: SSAValue) -> bool:
        return value in self.storages or isinstance(constant_of(value), DenseAttr)

    def _load(self, op: Operation) -> None:
        """Reads an element through a staging resource; loads that follow and can be served too share the wait."""
        self._dead.append(op)
        scalar = self._known_element(op)
        if scalar is not None:
            self.builder.add(scalar)
            op.results[0].replace_all_uses_with(scalar.result)
            return
        if op not in self._staged:
            following: Operation | None = op
            while following is not None:
                if following.name == "flow.tensor.load" and (following is op or self._can_stage(following)):
                    self._stage(following)
                following = following.next_op
            self._wait(*self._staged.values())
        resource, resource_size, offset = self._staged.pop(op).resolve()
        load = stream.ResourceLoadOp(resource, resource_size, self.builder.index(offset), op.results[0].type)
        self.builder.add(load)
        op.results[0].replace_all_uses_with(load.result)

    def _can_stage(self, load: Operation) -> bool:
        """Whether everything that a later load needs is known already."""
        return load.operands[0] in self.storages and all(
            constant_int(index) is not None for index in self._box_starts(load, 2)
        )

    def _stage(self, load: Operation) -> None:
        """Copies the element that `load` reads to a staging resource."""
        type = tensor_type(load.operands[0])
        static, dynamic = self._byte_offset(self._box_starts(load, 2), type)
        size = element_byte_size(type.element_type)
        staging = Storage(size, lifetime="staging")
        self.builder.affinity = self.affinities.of_op(load)
        self.copy(Range(self.storage_of(load.operands[0], load), size, static, dynamic), Range(staging, size))
        self._staged[load] = staging
        self.handled.add(load)

    def _known_element(self, load: Operation) -> ConstantOp | None:
        """The element, when it is that of a constant at a known place."""
        constant = constant_of(load.operands[0])
        if not isinstance(constant, DenseAttr):
            return None
        flat = 0
        for index, size in zip(self._box_starts(load, 2), constant.shape, strict=True):
            known = 0 if is_splat(constant) else constant_int(index)
            if known is None:
                return None
            flat = flat * size + known
        return scalar_of(constant, flat)

    def _global_load(self, op: Operation) -> None:
        """Immutable tensor globals with a value are constants; what others hold is a resource of its own."""
        self._dead.append(op)
        name = symbol_of(op.properties["global"])
        value = self.globals.get(name)
        if value is None:
            length = byte_length(op.results[0].type, op)
            load = util.GlobalLoadOp(name, stream.ResourceType(RESOURCE), immutable="is_immutable" in op.properties)
            resource = self.builder.add(load).results[0]
            self.name(op.results[0], Storage(length, resource, self.builder.index(length)))
            return
        constant = ConstantOp(value)
        self.builder.add(constant)
        op.results[0].replace_all_uses_with(constant.result)
        self._dead.insert(len(self._dead) - 1, constant)

    def _global_store(self, op: Operation) -> None:
        """Stores a resource once it is complete."""
        self._dead.append(op)
        storage = self.owned_storage_of(op.operands[0], op)
        self._wait(storage)
        self.builder.add(util.GlobalStoreOp(storage.resolve()[0], symbol_of(op.properties["global"])))

    def _call(self, op: Operation) -> None:
        """Resources are passed after a wait: callee and caller both start from a quiet device."""
        assert isinstance(op, util.CallOp)
        self._dead.append(op)
        storages = {
            index: self.owned_storage_of(value, op) for index, value in enumerate(op.operands) if is_tensor(value)
        }
        self._wait(*storages.values())
        operands = [storages[index].handle() if index in storages else value for index, value in enumerate(op.operands)]
        types = [stream.ResourceType("external") if is_tensor(result) else result.type for result in op.results]
        call = util.CallOp(op.callee, operands, types)
        self.builder.add(call)
        for old, new in zip(op.results, call.results_, strict=True):
            if not is_tensor(old):
                old.replace_all_uses_with(new)
        for old, new in zip(op.results, call.results_, strict=True):
            if is_tensor(old):
                self.name(old, self._arrived(old, new, op))

    def _select(self, op: Operation) -> None:
        """Chooses a resource on the host."""
        self._dead.append(op)
        storages = [self.owned_storage_of(value, op) for value in op.operands[1:]]
        self.flush()
        (first, size, _), (second, _, _) = (storage.resolve() for storage in storages)
        select = arith.SelectOp(op.operands[0], first, second)
        self.builder.add(select)
        self.name(op.results[0], Storage(storages[0].length, select.result, size))

    def _return(self, op: Operation) -> None:
        self._dead.append(op)
        storages = {
            index: self.owned_storage_of(value, op) for index, value in enumerate(op.operands) if is_tensor(value)
        }
        self._wait(*storages.values())
        values = [storages[i].handle() if i in storages else value for i, value in enumerate(op.operands)]
        self.builder.add(util.ReturnOp(*values))

    def _branch(self, op: Operation) -> None:
        """Passes resources for tensors and, where the target asks for it, the timepoint."""
        self._dead.append(op)
        storages: dict[SSAValue, Storage] = {}
        for number in range(len(op.successors)):
            for value in branch_arguments(op, number):
                if is_tensor(value) and value not in storages:
                    storages[value] = self.owned_storage_of(value, op)
        self._place_what_leaves(op)
        self.flush()
        if self.timepoint is not None and not all(self.borders.carries_timepoint(block) for block in op.successors):
            self._wait()
        passed: list[list[SSAValue]] = []
        for number, successor in enumerate(op.successors):
            arguments = [
                storages[value].handle() if value in storages else value for value in branch_arguments(op, number)
            ]
            if self.borders.carries_timepoint(successor):
                if self.timepoint is None:
                    self.timepoint = self.builder.add(stream.TimepointImmediateOp()).results[0]
                arguments.append(self.timepoint)
            passed.append(arguments)
        self.builder.add(branch_with(op, passed))

    def _place_what_leaves(self, branch: Operation) -> None:
        """Gives what no command has touched (empty tensors) a place: one in a successor is none in its sibling."""
        block = branch.parent
        assert block is not None
        for op in block.ops:
            for result in op.results:
                storage = self.storages.get(result)
                if storage is None or storage.outermost()[0].is_placed:
                    continue
                if is_used_outside(storage, self.handled):
                    self.run.required.append(storage)


def _is_asserted(view: SSAValue) -> bool:
    """Whether the program itself asserts the shape of a view."""
    return any(isinstance(use.operation, hal.BufferViewAssertOp) for use in view.uses)


def _signature(function: util.FuncOp) -> FunctionType:
    def convert(type: Attribute) -> Attribute:
        return stream.ResourceType("external") if is_tensor_type(type) else type

    return FunctionType.from_lists(
        [convert(type) for type in function.function_type.inputs.data],
        [convert(type) for type in function.function_type.outputs.data],
    )


@dataclass(frozen=True)
class SchedulePass(ModulePass):
    """See the module's docstring."""

    name = "tiree-stream-schedule"
    strip_assertions: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        op.attributes[SCHEDULED] = UnitAttr()
        affinities = Affinities(op)
        pool = ConstantPool(SymbolNames(op).unique(GLOBAL_NAME))
        globals = take_constant_globals(op)
        parameters = take_parameter_globals(op, RESOURCE, affinities.default)
        convert_variable_globals(op)
        sizes: list[ConstantOp] = []
        for function in list(op.ops):
            if not isinstance(function, (util.FuncOp, util.InitializerOp)) or not function.body.blocks:
                continue
            scheduler = Scheduler(function.body, pool, globals, affinities, self.strip_assertions)
            scheduler.schedule()
            if isinstance(function, util.FuncOp):
                function.function_type = _signature(function)
            sizes.extend(scheduler.pool_sizes)
        _drop_unused_executables(op)
        if parameters is not None:
            op.body.block.insert_op_after(parameters[1], parameters[0])
        if pool.is_empty:
            return
        for size in sizes:
            size.properties["value"] = ConstantOp.index(pool.size).value
        first = next(o for o in op.ops if not _is_device_global(o))
        op.body.block.insert_ops_before(pool.global_and_initializer(affinities.default), first)


def _drop_unused_executables(module: ModuleOp) -> None:
    """Executables that nothing dispatches are not worth compiling."""
    used = {
        dispatch.entry_point.root_reference.data
        for function in module.ops
        if isinstance(function, (util.FuncOp, util.InitializerOp))
        for dispatch in function.walk()
        if isinstance(dispatch, stream.CmdDispatchOp)
    }
    for op in list(module.ops):
        if isinstance(op, stream.ExecutableOp) and op.sym_name.data not in used:
            module.body.block.erase_op(op)


def _is_device_global(op: Operation) -> bool:
    return isinstance(op, util.GlobalOp) and isinstance(op.type, hal.DeviceType)
