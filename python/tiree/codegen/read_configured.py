"""`tiree-codegen-read-configured-executables`: executables that iree-compile has configured, as Tiree's codegen reads
them.

iree-compile has already turned bindings into memrefs there: `iree_codegen.load_from_buffer` and `store_to_buffer`
become loads and stores of dispatch tensors again, a linalg op on memrefs one on tensors between loads and a store, and
`iree_codegen.dispatch_config` goes, since the export says the same. Tile sizes are Tiree's own choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.hal_executable import ExecutableVariantOp, InterfaceBindingSubspanOp
from tiree.dialects.iree_codegen import DispatchConfigOp, LoadFromBufferOp, StoreToBufferOp
from tiree.dialects.iree_tensor_ext import (
    DispatchTensorLoadOp,
    DispatchTensorStoreOp,
    DispatchTensorType,
    TensorAccess,
    segment_sizes,
)
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import ints_of, is_memref_type, memref_type, operands_of, tensor_type

_SEEN_THROUGH = frozenset(["memref.assume_alignment", "memref.cast"])


@dataclass(frozen=True)
class _Window:
    """A box of a binding: what `memref.subview` says, or all of it."""

    subspan: InterfaceBindingSubspanOp
    shape: tuple[int, ...]
    """Of the tensor that is read or written; dimensions of size 1 may have been dropped."""
    subview: Operation | None = None


@dataclass
class _Access:
    """How a function uses one binding."""

    read: bool = False
    written: bool = False


@dataclass
class _Function:
    """Rewrites one function in place."""

    access: dict[InterfaceBindingSubspanOp, _Access] = field(default_factory=dict[InterfaceBindingSubspanOp, _Access])
    bound: dict[InterfaceBindingSubspanOp, SSAValue] = field(default_factory=dict[InterfaceBindingSubspanOp, SSAValue])

    def run(self, block: Block) -> None:
        ops = list(block.ops)
        for op in ops:
            for buffer, written in _accesses(op):
                access = self.access.setdefault(self.window(buffer).subspan, _Access())
                access.written |= written
                access.read |= not written
        for op in ops:
            if isinstance(op, InterfaceBindingSubspanOp) and is_memref_type(op.result.type):
                self.bind(op)
            elif isinstance(op, LoadFromBufferOp):
                _replace(op, [self.load(op, op.buffer)])
            elif isinstance(op, StoreToBufferOp):
                self.store(op, op.tensor, op.buffer)
                _erase(op)
            elif op.name == "memref.copy":
                source, target = operands_of(op)
                self.store(op, self.load(op, source), target)
                _erase(op)
            elif op.name.startswith("linalg.") and any(is_memref_type(value.type) for value in op.operands):
                self.structured(op)
        for op in reversed(ops):
            if op.parent is block and _is_dead(op):
                _erase(op)

    def bind(self, op: InterfaceBindingSubspanOp) -> None:
        """The binding as a dispatch tensor."""
        access = self.access.get(op)
        if access is None:
            return
        type = memref_type(op.result)
        kind = TensorAccess.READ_WRITE
        if access.read != access.written:
            kind = TensorAccess.READ_ONLY if access.read else TensorAccess.WRITE_ONLY
        new = InterfaceBindingSubspanOp.create(
            operands=op.operands,
            result_types=[DispatchTensorType.of(kind, TensorType(type.element_type, type.get_shape()))],
            properties=op.properties,
            attributes=op.attributes,
            location=op.location,
        )
        _insert(op, new)
        self.bound[op] = new.result

    def window(self, buffer: SSAValue) -> _Window:
        """What `buffer` is a window of. Raises `CompileError` for memory that is no binding."""
        shape = tuple(memref_type(buffer).get_shape())
        owner = buffer.owner
        subview: Operation | None = None
        while isinstance(owner, Operation):
            if isinstance(owner, InterfaceBindingSubspanOp):
                return _Window(owner, shape, subview)
            if owner.name == "memref.subview" and subview is None:
                subview = owner
            elif owner.name not in _SEEN_THROUGH:
                break
            owner = operands_of(owner)[0].owner
        culprit = owner if isinstance(owner, Operation) else owner.parent_op()
        assert culprit is not None
        raise CompileError(
            Diagnostic(f"{culprit.name} cannot be carried on: it is no window of a binding", location_of(culprit))
        )

    def load(self, at: Operation, buffer: SSAValue) -> SSAValue:
        """The tensor that `buffer` holds, read before `at`."""
        window = self.window(buffer)
        source = self.bound[window.subspan]
        if window.subview is None:
            op = DispatchTensorLoadOp.whole(source, list(window.subspan.dynamic_dims))
        else:
            element = memref_type(buffer).element_type
            dims = list(window.subspan.dynamic_dims)
            places, counts, properties = _box(window.subview)
            op = DispatchTensorLoadOp.create(
                operands=[source, *dims, *places],
                result_types=[TensorType(element, window.shape)],
                properties={**properties, "operandSegmentSizes": segment_sizes(1, len(dims), *counts)},
            )
        _insert(at, op)
        return op.result

    def store(self, at: Operation, value: SSAValue, buffer: SSAValue) -> None:
        window = self.window(buffer)
        target = self.bound[window.subspan]
        if window.subview is None:
            op = DispatchTensorStoreOp.whole(value, target, list(window.subspan.dynamic_dims))
        else:
            dims = list(window.subspan.dynamic_dims)
            places, counts, properties = _box(window.subview)
            op = DispatchTensorStoreOp.create(
                operands=[value, target, *dims, *places],
                properties={**properties, "operandSegmentSizes": segment_sizes(1, 1, len(dims), *counts)},
            )
        _insert(at, op)

    def structured(self, op: Operation) -> None:
        """A linalg op on memrefs: the same on tensors that are loaded before it and stored after it."""
        values = [self.load(op, value) if is_memref_type(value.type) else value for value in op.operands]
        outputs = [number for number, value in enumerate(op.operands) if _is_output(op, number, value)]
        regions = [region.clone() for region in op.regions]
        new = type(op).create(
            operands=values,
            result_types=[tensor_type(values[number]) for number in outputs],
            properties=op.properties,
            attributes=op.attributes,
            regions=regions,
        )
        _insert(op, new)
        for result, number in zip(new.results, outputs, strict=True):
            self.store(op, result, operands_of(op)[number])
        _erase(op)


def _is_output(op: Operation, number: int, value: SSAValue) -> bool:
    sizes = op.properties.get("operandSegmentSizes")
    inputs = len(op.operands) - 1 if sizes is None else ints_of(sizes)[0]
    return number >= inputs and is_memref_type(value.type)


def _accesses(op: Operation) -> Iterator[tuple[SSAValue, bool]]:
    """The buffers that `op` uses, and whether it writes each."""
    if isinstance(op, LoadFromBufferOp):
        yield op.buffer, False
    elif isinstance(op, StoreToBufferOp):
        yield op.buffer, True
    elif op.name == "memref.copy":
        yield operands_of(op)[0], False
        yield operands_of(op)[1], True
    elif op.name.startswith("linalg."):
        for number, value in enumerate(op.operands):
            if is_memref_type(value.type):
                written = _is_output(op, number, value)
                yield value, written
                if written and _reads_output(op, number):
                    yield value, False


def _reads_output(op: Operation, number: int) -> bool:
    block = op.regions[0].blocks.first if op.regions else None
    return block is None or bool(block.args[number].uses)


def _box(subview: Operation) -> tuple[Sequence[SSAValue], Sequence[int], dict[str, Attribute]]:
    """The values among the offsets, sizes and strides of a subview, how many there are of each, and the numbers."""
    counts = ints_of(subview.properties["operandSegmentSizes"])
    names = ("static_offsets", "static_sizes", "static_strides")
    return operands_of(subview)[1:], counts[1:], {name: subview.properties[name] for name in names}


def _insert(at: Operation, op: Operation) -> None:
    op.location = at.location
    block = at.parent
    assert block is not None
    block.insert_op_before(op, at)


def _replace(op: Operation, values: Sequence[SSAValue]) -> None:
    for old, new in zip(op.results, values, strict=True):
        old.replace_all_uses_with(new)
    _erase(op)


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()


def _is_dead(op: Operation) -> bool:
    """Whether `op` makes memory windows that nobody uses any more."""
    made = op.name in _SEEN_THROUGH or op.name == "memref.subview" or isinstance(op, InterfaceBindingSubspanOp)
    return made and not any(result.uses for result in op.results)


class ReadConfiguredExecutables(ModulePass):
    """In: `hal.executable.variant`s as iree-compile configures them, or as Tiree does, which stay as they are.

    Raises `CompileError` for memory accesses that are not loads and stores of bindings.
    """

    name = "tiree-codegen-read-configured-executables"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for executable in op.body.block.ops:
            if executable.name != "hal.executable":
                continue
            for variant in executable.regions[0].block.ops:
                if isinstance(variant, ExecutableVariantOp) and variant.inner_module is not None:
                    _read(variant.inner_module)


def _read(module: ModuleOp) -> None:
    for op in list(module.body.block.ops):
        if isinstance(op, DispatchConfigOp):
            _erase(op)
        elif op.name == "func.func" and op.regions[0].blocks:
            block = op.regions[0].blocks.first
            assert block is not None
            if any(_is_foreign(inner) for inner in block.ops):
                _Function().run(block)


def _is_foreign(op: Operation) -> bool:
    """Whether `op` is on memrefs as no kernel of Tiree's is."""
    if isinstance(op, (LoadFromBufferOp, StoreToBufferOp)):
        return True
    return op.name.startswith("linalg.") and any(is_memref_type(value.type) for value in op.operands)
