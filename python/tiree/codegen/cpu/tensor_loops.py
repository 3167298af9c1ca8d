"""`loops`: a dispatch that is a program of its own: `scf` loops that read and write single elements of tensors.

Such dispatches hold whole algorithms of linear algebra (a factorisation of one matrix a workgroup). Every tensor that
is changed by `tensor.insert` has one piece of memory for all its states: the binding that its last state is stored to,
or scratch of the workgroup. So a state may be read only until the next one is made; a program that reads an older one
is refused. The grid is the one that the dispatch says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, SymbolRefAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from tiree.codegen.common.analyze import fail
from tiree.codegen.common.builder import INDEX, KernelBuilder
from tiree.codegen.common.graph import TableRef, bits_of, storage_element
from tiree.codegen.common.views import element_count, kept_dims
from tiree.codegen.cpu.emit import STACK_SCRATCH_BYTES
from tiree.codegen.cpu.size_bounds import SAME
from tiree.codegen.cpu.strategy import Kernel
from tiree.dialects.dense import DenseAttr
from tiree.dialects.hal_executable import InterfaceBindingSubspanOp
from tiree.dialects.iree_tensor_ext import (
    DispatchTensorLoadOp,
    DispatchTensorStoreOp,
    DispatchTensorType,
    TensorAccess,
    segment_sizes,
)
from tiree.support.cpu_target import TargetDescription
from tiree.support.typed import ints_of, is_memref_type, is_tensor_type, symbol_name, tensor_type

STRATEGY = "loops"

_LOOPS = ("scf.for", "scf.if")
_BOX = ("static_offsets", "static_sizes", "static_strides")


def has_tensor_loops(function: Operation) -> bool:
    """Whether a dispatch function changes tensors element by element."""
    return any(op.name in _LOOPS or op.name == "tensor.insert" for op in function.regions[0].block.ops)


@dataclass(eq=False)
class _Memory:
    """Where the elements of a tensor are: `buffer[place(indices)]`."""

    buffer: SSAValue
    offsets: list[SSAValue | None]
    """For each dimension of the buffer: what is added to the index, or is the index where the dimension was dropped."""
    kept: list[int]
    """The dimension of the buffer that each dimension of the tensor runs along."""
    writable: bool = True
    state: SSAValue | None = None
    """The tensor value that is there now."""


@dataclass(eq=False)
class _Lowering:
    """Lowers one function."""

    function: Operation
    target: TargetDescription
    builder: KernelBuilder = field(default_factory=KernelBuilder)
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    memories: dict[SSAValue, _Memory] = field(default_factory=dict[SSAValue, _Memory])
    bindings: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    stores: dict[SSAValue, DispatchTensorStoreOp] = field(default_factory=dict[SSAValue, DispatchTensorStoreOp])
    """For each tensor that is born empty, the store of its last state."""
    tables: list[TableRef] = field(default_factory=list[TableRef])
    scratch: int = 0
    block: Block = field(default_factory=Block)

    def run(self) -> Kernel:
        block = self.function.regions[0].block
        self.block = self.builder.entry
        self._find_stores(block)
        for op in block.ops:
            if op.name != "func.return":
                self.visit(op)
        return Kernel(self.builder, tables=self.tables)

    # Which memory.

    def _find_stores(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, DispatchTensorStoreOp):
                root = _root(op.value)
                if isinstance(root.owner, Operation) and root.owner.name == "tensor.empty":
                    self.stores.setdefault(root, op)

    def _emit(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def _index(self, value: int) -> SSAValue:
        return self.builder.constant(value, INDEX)

    def _binding(self, bound: SSAValue) -> SSAValue:
        found = self.bindings.get(bound)
        if found is None:
            subspan = bound.owner
            assert isinstance(subspan, InterfaceBindingSubspanOp)
            assert isinstance(bound.type, DispatchTensorType)
            type = bound.type.tensor_type
            dims = [self.values[size] for size in subspan.dynamic_dims]
            offset = None if subspan.byte_offset is None else self.values[subspan.byte_offset]
            alignment = subspan.alignment.value.data if subspan.alignment is not None else 1
            memory = MemRefType(storage_element(type.element_type), type.get_shape())
            found = self._emit(
                InterfaceBindingSubspanOp(subspan.layout, subspan.binding_index, offset, memory, dims, alignment)
            )
            self.bindings[bound] = found
        return found

    def _bound(self, op: DispatchTensorLoadOp | DispatchTensorStoreOp, bound: SSAValue, value: SSAValue) -> _Memory:
        """The part of a binding that `op` loads or stores."""
        if any(stride != 1 for stride in ints_of(op.static_strides)) or op.strides or (op.sizes and not _is_whole(op)):
            raise fail(op, f"{op.name} of a part with strides or sizes that vary, in a dispatch of loops")
        given = iter(op.offsets)
        offsets: list[SSAValue | None] = []
        for number in ints_of(op.static_offsets):
            if number == DYNAMIC_INDEX:
                offsets.append(self.values[next(given)])
            else:
                offsets.append(self._index(number) if number else None)
        kept = kept_dims(ints_of(op.static_sizes), tensor_type(value).get_shape())
        if kept is None:
            raise fail(op, f"{op.name}: sizes do not match {value.type}")
        return _Memory(self._binding(bound), offsets, kept)

    def _new_memory(self, type: Attribute) -> _Memory:
        assert is_tensor_type(type)
        if DYNAMIC_INDEX in type.get_shape():
            raise fail(self.function, f"scratch of type {type} in a dispatch of loops", "give it static sizes")
        element, shape = storage_element(type.element_type), type.get_shape()
        size = element_count(shape) * -(-bits_of(element) // 8)
        limit = min(STACK_SCRATCH_BYTES, self.target.stack_limit // 2)
        attributes: dict[str, Attribute] = {}
        if self.scratch + size > limit:
            attributes["tiree.workgroup_memory"] = UnitAttr()
        else:
            self.scratch += size
        memory = memref.AllocaOp.create(
            result_types=[MemRefType(element, shape)],
            properties={"operandSegmentSizes": segment_sizes(0, 0), "alignment": IntegerAttr(64, i64)},
            attributes=attributes,
        )
        return _Memory(self._emit(memory), [None] * len(shape), list(range(len(shape))))

    # Operations.

    def visit(self, op: Operation) -> None:
        handler = _HANDLERS.get(op.name)
        if handler is not None:
            handler(self, op)
        elif any(is_tensor_type(value.type) for value in (*op.operands, *op.results)) or op.regions:
            raise fail(
                op,
                f"codegen has no lowering for {op.name} in dispatch {symbol_name(self.function)}, which has loops",
                "beside loops a dispatch may hold tensor.empty, tensor.extract, tensor.insert and scalar operations",
            )
        else:
            copy = op.clone(self.values)
            self.block.add_op(copy)
            self.values.update(zip(op.results, copy.results, strict=True))

    def subspan(self, op: Operation) -> None:
        """Made where it is first used."""

    def load(self, op: Operation) -> None:
        assert isinstance(op, DispatchTensorLoadOp)
        memory = self._bound(op, op.source, op.result)
        memory.writable = self._is_changed(op.source)
        self._begin(op.result, memory)

    @staticmethod
    def _is_changed(bound: SSAValue) -> bool:
        assert isinstance(bound.type, DispatchTensorType)
        return bound.type.access.data == TensorAccess.READ_WRITE

    def empty(self, op: Operation) -> None:
        result = op.results[0]
        store = self.stores.get(result)
        ready = store is not None and all(one in self.values for one in (*store.offsets, *store.target_dims))
        self._begin(result, self._bound(store, store.target, store.value) if store and ready else self._scratch(result))
        if not ready:
            self.stores.pop(result, None)

    def _scratch(self, value: SSAValue) -> _Memory:
        return self._new_memory(value.type)

    def constant(self, op: Operation) -> None:
        result = op.results[0]
        if not is_tensor_type(result.type):
            copy = op.clone()
            self.block.add_op(copy)
            self.values[result] = copy.results[0]
            return
        value = op.properties["value"]
        assert isinstance(value, DenseAttr)
        self.tables.append(TableRef(value))
        name = f"{symbol_name(self.function)}_table_{len(self.tables) - 1}"
        shape = result.type.get_shape()
        type = MemRefType(storage_element(result.type.element_type), [element_count(shape)])
        table = self._emit(memref.GetGlobalOp.create(result_types=[type], properties={"name": SymbolRefAttr(name)}))
        if len(shape) != 1:
            raise fail(op, f"a table of type {result.type} in a dispatch of loops", "make it one-dimensional")
        self._begin(result, _Memory(table, [None], [0], writable=False))

    def _begin(self, value: SSAValue, memory: _Memory) -> None:
        self.memories[value] = memory
        memory.state = value

    def _memory(self, op: Operation, value: SSAValue) -> _Memory:
        """The memory of a tensor that is read or changed now."""
        memory = self.memories[value]
        if memory.state is not value:
            raise fail(op, f"{op.name} of a tensor that was changed since, in a dispatch of loops")
        return memory

    def _place(self, memory: _Memory, indices: Iterable[SSAValue]) -> list[SSAValue]:
        from xdsl.dialects.arith import AddiOp

        place: list[SSAValue | None] = list(memory.offsets)
        for dim, index in zip(memory.kept, indices, strict=True):
            offset, inner = place[dim], self.values[index]
            place[dim] = inner if offset is None else self._emit(AddiOp(offset, inner))
        return [self._index(0) if one is None else one for one in place]

    def extract(self, op: Operation) -> None:
        memory = self._memory(op, op.operands[0])
        self.values[op.results[0]] = self._read(memory, self._place(memory, op.operands[1:]))

    def _read(self, memory: _Memory, place: Sequence[SSAValue]) -> SSAValue:
        assert is_memref_type(memory.buffer.type)
        type = memory.buffer.type.element_type
        return self._emit(memref.LoadOp.create(operands=[memory.buffer, *place], result_types=[type]))

    def insert(self, op: Operation) -> None:
        memory = self._memory(op, op.operands[1])
        if not memory.writable:
            raise fail(op, f"{op.name} into a tensor that was loaded, in a dispatch of loops", "copy it first")
        place = self._place(memory, op.operands[2:])
        self.block.add_op(memref.StoreOp.create(operands=[self.values[op.operands[0]], memory.buffer, *place]))
        self._begin(op.results[0], memory)

    def same(self, op: Operation) -> None:
        """What says something about a size."""
        self.values.update(zip(op.results, [self.values[operand] for operand in op.operands], strict=True))

    def store(self, op: Operation) -> None:
        assert isinstance(op, DispatchTensorStoreOp)
        memory = self._memory(op, op.value)
        root = _root(op.value)
        if self.stores.get(root) is op or self._stays(root, op):
            return
        target = self._bound(op, op.target, op.value)
        self._copy(memory, target, tensor_type(op.value).get_shape(), [])

    def _stays(self, root: SSAValue, op: DispatchTensorStoreOp) -> bool:
        """Whether `op` stores what was loaded, and changed since, to where it was loaded from."""
        load = root.owner
        if not isinstance(load, DispatchTensorLoadOp) or load.source is not op.target:
            return False
        same = all(load.properties[name] == op.properties[name] for name in _BOX)
        return same and self._is_changed(op.target) and list(load.offsets) == list(op.offsets)

    def _copy(self, source: _Memory, target: _Memory, shape: Sequence[int], at: list[SSAValue]) -> None:
        """Copies a tensor, one loop for each dimension left."""
        if len(at) == len(shape):
            self.values.update((index, index) for index in at)
            value = self._read(source, self._place(source, at))
            self.block.add_op(memref.StoreOp.create(operands=[value, target.buffer, *self._place(target, at)]))
            return
        bounds = [self._index(0), self._index(shape[len(at)]), self._index(1)]
        body = Block(arg_types=[INDEX])
        outer, self.block = self.block, body
        self._copy(source, target, shape, [*at, body.args[0]])
        body.add_op(scf.YieldOp())
        self.block = outer
        self.block.add_op(scf.ForOp.create(operands=bounds, regions=[Region(body)]))

    # Control flow: scalars are carried, tensors stay where they are.

    def loop(self, op: Operation) -> None:
        body = op.regions[0].block
        inits, results = op.operands[3:], op.results
        scalars = [n for n, value in enumerate(inits) if not is_tensor_type(value.type)]
        block = Block(arg_types=[INDEX, *(self.values[inits[n]].type for n in scalars)])
        self.values[body.args[0]] = block.args[0]
        for number, argument in zip(scalars, block.args[1:], strict=True):
            self.values[body.args[1 + number]] = argument
        carried = self._enter(op, inits, body.args[1:])
        terminator = self._inside(block, body)
        self._leave(op, terminator.operands, results, carried)
        block.add_op(scf.YieldOp(*[self.values[terminator.operands[n]] for n in scalars]))
        bounds = [self.values[value] for value in op.operands[:3]]
        new = scf.ForOp.create(
            operands=[*bounds, *(self.values[inits[n]] for n in scalars)],
            result_types=[self.values[inits[n]].type for n in scalars],
            regions=[Region(block)],
        )
        self.block.add_op(new)
        self.values.update(zip([results[n] for n in scalars], new.results, strict=True))

    def _enter(self, op: Operation, inits: Sequence[SSAValue], args: Sequence[SSAValue]) -> list[_Memory | None]:
        found: list[_Memory | None] = []
        for init, argument in zip(inits, args, strict=True):
            memory = self._memory(op, init) if is_tensor_type(init.type) else None
            if memory is not None:
                self._begin(argument, memory)
            found.append(memory)
        return found

    def _leave(
        self,
        op: Operation,
        yielded: Sequence[SSAValue],
        results: Sequence[SSAValue],
        memories: Sequence[_Memory | None],
    ) -> None:
        for value, result, memory in zip(yielded, results, memories, strict=True):
            if memory is None:
                continue
            if self._memory(op, value) is not memory:
                raise fail(op, f"{op.name} carries on with another tensor than it was given, in a dispatch of loops")
            self._begin(result, memory)

    def _inside(self, block: Block, body: Block) -> Operation:
        """Lowers `body` into `block`; gives its terminator."""
        outer, self.block = self.block, block
        last = body.last_op
        assert last is not None
        for op in body.ops:
            if op is not last:
                self.visit(op)
        self.block = outer
        return last

    def branch(self, op: Operation) -> None:
        results = op.results
        scalars = [n for n, result in enumerate(results) if not is_tensor_type(result.type)]
        states = {memory: memory.state for memory in self.memories.values()}
        regions: list[Region] = []
        memories: list[_Memory | None] = [None] * len(results)
        for region in op.regions:
            for memory, state in states.items():
                memory.state = state
            block = Block()
            if region.blocks:
                terminator = self._inside(block, region.block)
                memories = [self.memories.get(value) for value in terminator.operands]
                for memory, value in zip(memories, terminator.operands, strict=True):
                    if memory is not None and memory.state is not value:
                        raise fail(op, f"{op.name} yields a tensor that was changed since, in a dispatch of loops")
                block.add_op(scf.YieldOp(*[self.values[terminator.operands[n]] for n in scalars]))
            regions.append(Region(block) if region.blocks else Region())
        for result, memory in zip(results, memories, strict=True):
            if memory is not None:
                self._begin(result, memory)
        new = scf.IfOp.create(
            operands=[self.values[op.operands[0]]], result_types=[results[n].type for n in scalars], regions=regions
        )
        self.block.add_op(new)
        self.values.update(zip([results[n] for n in scalars], new.results, strict=True))


def _is_whole(op: DispatchTensorLoadOp | DispatchTensorStoreOp) -> bool:
    """Whether an access to a tensor with `?` is to all of it."""
    bound = op.source if isinstance(op, DispatchTensorLoadOp) else op.target
    dims = op.source_dims if isinstance(op, DispatchTensorLoadOp) else op.target_dims
    assert isinstance(bound.type, DispatchTensorType)
    shape = bound.type.tensor_type.get_shape()
    return (
        not any(ints_of(op.static_offsets))
        and tuple(ints_of(op.static_sizes)) == tuple(shape)
        and list(op.sizes) == list(dims)
    )


def _root(value: SSAValue) -> SSAValue:
    """The tensor that `value` is a later state of."""
    while isinstance(value, OpResult):
        op = value.op
        if op.name == "tensor.insert":
            value = op.operands[1]
        elif op.name == "scf.for":
            value = op.operands[3 + value.index]
        elif op.name == "scf.if":
            last = op.regions[0].block.last_op
            assert last is not None
            value = last.operands[value.index]
        else:
            break
    return value


_HANDLERS = {
    "hal.interface.binding.subspan": _Lowering.subspan,
    "iree_tensor_ext.dispatch.tensor.load": _Lowering.load,
    "iree_tensor_ext.dispatch.tensor.store": _Lowering.store,
    "tensor.empty": _Lowering.empty,
    "tensor.extract": _Lowering.extract,
    "tensor.insert": _Lowering.insert,
    "arith.constant": _Lowering.constant,
    "scf.for": _Lowering.loop,
    "scf.if": _Lowering.branch,
    **dict.fromkeys(SAME, _Lowering.same),
}


def lower_tensor_loops(function: Operation, target: TargetDescription) -> Kernel:
    """The kernel of a dispatch of loops; its grid is what the export says.

    Raises `CompileError` for what only a copy of a tensor could do.
    """
    return _Lowering(function, target).run()
