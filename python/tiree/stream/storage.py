"""Memory and commands as the scheduler thinks of them, before they are operations.

A `Storage` is a byte range that one or more tensors share. A `Command` reads and writes ranges of storages; a run of
commands becomes one `stream.cmd.execute`, and only then do storages that were made for it get their place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from tiree.dialects import hal
from tiree.dialects.arith import ConstantOp, constant_int
from tiree.dialects.dense import element_byte_size, element_count
from tiree.dialects.tensor_dims import dynamic_dims, is_dynamic, operand_dims
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of, take_location
from tiree.support.typed import is_tensor_type, tensor_type


def unsupported(op: Operation, message: str, hint: str = "") -> CompileError:
    """The error for an op of host code that cannot be scheduled."""
    return CompileError(Diagnostic(message, location_of(op), hint))


def byte_length(type: Attribute, op: Operation) -> int:
    """Bytes of a static tensor. Raises `CompileError` for dynamic shapes and types without a memory layout."""
    assert is_tensor_type(type)
    if any(size < 0 for size in type.get_shape()):
        raise unsupported(op, f"{op.name} has a tensor of dynamic shape {type}", "give the entry point static shapes")
    try:
        return element_count(type) * element_byte_size(type.element_type)
    except TypeError:
        raise unsupported(op, f"{op.name} has a tensor of type {type}, which has no memory layout") from None


Length: TypeAlias = "int | SSAValue"
"""Bytes: a number, or an `index` value where sizes are known when the program runs."""


def fixed(length: Length, op: Operation) -> int:
    """A length that must be a number here. Raises `CompileError` for another."""
    if isinstance(length, int):
        return length
    raise unsupported(op, f"{op.name} on a part of a tensor of dynamic shape has no schedule", "give it static sizes")


@dataclass(eq=False)
class Storage:
    """`length` bytes at `offset` of `resource`; unplaced (None) until the run that makes it is emitted."""

    length: Length
    resource: SSAValue | None = None
    resource_size: SSAValue | None = None
    offset: int = 0
    lifetime: str = "external"
    values: list[SSAValue] = field(default_factory=list[SSAValue])
    escapes: bool = False
    """Needed after the run even if no use says so (an operand of a branch that is being rewritten)."""
    views: list[Storage] = field(default_factory=list["Storage"])
    """Slices of it that have no memory of their own, unless they are no longer `inside`."""
    inside: tuple[Storage, int] | None = None
    """Lies in another storage at an offset: whoever writes it writes there directly."""

    @property
    def is_placed(self) -> bool:
        return self.resource is not None

    @property
    def is_whole(self) -> bool:
        """Whether it is a resource of its own, as branches and results need."""
        return self.lifetime == "external" and self.offset == 0 and self.inside is None

    def outermost(self) -> tuple[Storage, int]:
        """The storage that has a place of its own, and the offset in it."""
        storage, offset = self, 0
        while storage.inside is not None:
            storage, inner = storage.inside
            offset += inner
        return storage, offset

    def handle(self) -> SSAValue:
        """The resource alone. Valid once placed."""
        storage, _ = self.outermost()
        assert storage.resource is not None
        return storage.resource

    def resolve(self) -> tuple[SSAValue, SSAValue, int]:
        """Resource, its size and the absolute offset. Valid once placed."""
        storage, offset = self.outermost()
        assert storage.resource is not None
        assert storage.resource_size is not None
        return storage.resource, storage.resource_size, storage.offset + offset


@dataclass(frozen=True)
class Range:
    """`length` bytes of a storage from `offset` on, plus a value that is only known when the program runs."""

    storage: Storage
    length: Length
    offset: int = 0
    dynamic_offset: SSAValue | None = None

    def is_apart_from(self, start: int, length: int) -> bool:
        """Whether it surely has no byte in common with `length` bytes from `start` of the same storage."""
        if self.dynamic_offset is not None:
            return False
        after = self.offset >= start + length
        return after or (isinstance(self.length, int) and self.offset + self.length <= start)


@dataclass(eq=False)
class Command:
    """One dispatch, copy or fill. `reads`/`writes` index `ranges`; a dispatch binds its ranges in order."""

    kind: str
    ranges: list[Range]
    access: list[int]
    """`ResourceAccess` of each range."""
    op: Operation | None = None
    pattern: SSAValue | None = None
    words: Sequence[SSAValue] = ()
    affinity: Attribute | None = None
    """Where it runs."""


class HostBuilder:
    """Adds operations to a host function: at the anchor, or constants at the top of the function (each once)."""

    def __init__(self, entry: Block, affinity: Attribute | None) -> None:
        self.entry = entry
        self.affinity = affinity
        """Where what is being added runs."""
        self.anchor: Operation | None = None
        self._constants: dict[object, SSAValue] = {}
        self._indices: dict[int, SSAValue] = {}
        self._products: dict[tuple[object, ...], SSAValue] = {}

    def add(self, op: IRDLOperation | Operation) -> Operation:
        assert self.anchor is not None
        block = self.anchor.parent
        assert block is not None
        take_location(op, self.anchor)
        block.insert_op_before(op, self.anchor)
        return op

    def at_top(self, op: Operation) -> Operation:
        """Adds `op` in front of everything in the entry block."""
        first = self.entry.first_op
        if first is None:
            self.entry.add_op(op)
        else:
            self.entry.insert_op_before(op, first)
        return op

    def constant(self, op: ConstantOp) -> SSAValue:
        return self._once(op.value, lambda: op)

    def element_type(self, type: Attribute) -> SSAValue:
        return self._once(("element", type), lambda: hal.ElementTypeOp(type))

    def encoding_type(self) -> SSAValue:
        return self._once("encoding", hal.EncodingTypeOp)

    def _once(self, key: object, make: Callable[[], Operation]) -> SSAValue:
        value = self._constants.get(key)
        if value is None:
            value = self._constants[key] = self.at_top(make()).results[0]
        return value

    def byte_length(self, value: SSAValue, op: Operation) -> Length:
        """Bytes of a tensor that `op` makes or reads. Raises `CompileError` when a size is nowhere to be found."""
        if not is_dynamic(value):
            return byte_length(value.type, op)
        dims = dynamic_dims(value) or operand_dims(op, value)
        type = tensor_type(value)
        if dims is None:
            hint = "give it static sizes"
            raise unsupported(op, f"{op.name} has a tensor of dynamic shape {type} without sizes", hint)
        return self.dynamic_length(value, dims, op)

    def dynamic_length(self, value: SSAValue, dims: Sequence[SSAValue], op: Operation) -> Length:
        """Bytes of a tensor whose `?` dimensions have these sizes. Raises `CompileError` for types without a layout."""
        type = tensor_type(value)
        try:
            total = element_byte_size(type.element_type)
        except TypeError:
            raise unsupported(op, f"{op.name} has a tensor of type {type}, which has no memory layout") from None
        rest: list[SSAValue] = []
        for size in dims:
            known = constant_int(size)
            if known is None:
                rest.append(size)
            else:
                total *= known
        for size in type.get_shape():
            total *= size if size != DYNAMIC_INDEX else 1
        return self._product(total, rest) if rest else total

    def _product(self, total: int, sizes: Sequence[SSAValue]) -> SSAValue:
        """`total` times the sizes; made once a block."""
        assert self.anchor is not None
        block = self.anchor.parent
        key = (block, total, *sizes)
        found = self._products.get(key)
        if found is None:
            found = sizes[0]
            for size in sizes[1:]:
                found = self.add(arith.MuliOp(found, size)).results[0]
            if total != 1:
                found = self.add(arith.MuliOp(found, self.index(total))).results[0]
            self._products[key] = found
        return found

    def length(self, length: Length) -> SSAValue:
        """A length as a value."""
        return self.index(length) if isinstance(length, int) else length

    def index(self, value: int) -> SSAValue:
        found = self._indices.get(value)
        if found is None:
            found = self._indices[value] = self.constant(ConstantOp.index(value))
        return found
