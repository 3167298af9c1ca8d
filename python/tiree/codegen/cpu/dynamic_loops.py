"""`dynamic-loops`: a dispatch on tensors of sizes that are known only when it runs.

One nest of loops per store, over the dimensions of what is stored; the first dimension that may be larger than one is
split over the workgroups, the last runs in vectors and then in single elements. The host computes the number of
workgroups from the sizes; any number is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith as xarith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr
from xdsl.ir import Block, Operation, OpResult, SSAValue

from tiree.codegen.common.builder import INDEX, KernelBuilder
from tiree.codegen.common.graph import DispatchInfo, bits_of, storage_element
from tiree.codegen.common.linear import Lin
from tiree.codegen.cpu.dynamic_evaluator import (
    MOST,
    DynamicEvaluator,
    NotVectorizable,
    fail,
    maps_of,
    reduction_dims,
)
from tiree.codegen.cpu.strategy import Kernel
from tiree.dialects.arith import ConstantOp
from tiree.dialects.hal_executable import (
    ExecutableExportOp,
    InterfaceBindingSubspanOp,
    InterfaceWorkgroupCountOp,
    InterfaceWorkgroupIDOp,
)
from tiree.dialects.hal_executable import ReturnOp as HalReturnOp
from tiree.dialects.iree_tensor_ext import DispatchTensorType
from tiree.dialects.tensor_dims import dim_size
from tiree.support.cpu_target import TargetDescription
from tiree.support.typed import int_of, is_tensor_type, symbol_name, tensor_type

STRATEGY = "dynamic-loops"

_GRAIN = 16384
"""Elements, times the steps of a reduction, that a workgroup deserves."""
_MOST_WORKGROUPS = 64


def is_dynamic(function: Operation) -> bool:
    """Whether a dispatch function binds a tensor with `?`."""
    return any(_binds_dynamic(op) for op in function.regions[0].block.ops)


def _binds_dynamic(op: Operation) -> bool:
    type = op.result.type if isinstance(op, InterfaceBindingSubspanOp) else None
    if not isinstance(type, DispatchTensorType) or not is_tensor_type(type.bound_type):
        return False
    return DYNAMIC_INDEX in type.tensor_type.get_shape()


@dataclass
class _Nest:
    """Stores that one nest of loops does: results of one op, of equal sizes."""

    stores: list[Operation]

    @property
    def root(self) -> SSAValue:
        return self.stores[0].operands[0]


def _nests(block: Block) -> list[_Nest]:
    found: list[_Nest] = []
    for op in block.ops:
        if op.name == "iree_tensor_ext.dispatch.tensor.store":
            if found and _same_space(found[-1].root, op.operands[0]):
                found[-1].stores.append(op)
            else:
                found.append(_Nest([op]))
    return found


def _same_space(one: SSAValue, other: SSAValue) -> bool:
    """Whether two values are results of one generic that are written at the same points."""
    op = one.owner
    if other.owner is not op or not isinstance(op, Operation) or op.name != "linalg.generic":
        return False
    assert isinstance(one, OpResult)
    assert isinstance(other, OpResult)
    maps = maps_of(op)[len(op.operands) - len(op.results) :]
    return maps[one.index].plain_dims == maps[other.index].plain_dims


def _shape(value: SSAValue) -> tuple[int, ...]:
    return tensor_type(value).get_shape()


def lower_dynamic(function: Operation, target: TargetDescription) -> Kernel:
    """The kernel of a dispatch of dynamic shapes: vectors where they serve, else single elements."""
    try:
        return _Lowering(function, target, True).run()
    except NotVectorizable:
        return _Lowering(function, target, False).run()


class _Lowering:
    def __init__(self, function: Operation, target: TargetDescription, vectors: bool) -> None:
        self.function = function
        self.block = function.regions[0].block
        self.target = target
        self.vectors = vectors
        info = DispatchInfo(symbol_name(function), function)
        self.ev = DynamicEvaluator(info, self._written(), target.has_fma)

    def _written(self) -> frozenset[int]:
        found: set[int] = set()
        for op in self.block.ops:
            if op.name == "iree_tensor_ext.dispatch.tensor.store":
                subspan = op.operands[1].owner
                assert isinstance(subspan, InterfaceBindingSubspanOp)
                found.add(subspan.binding_index)
        return frozenset(found)

    def run(self) -> Kernel:
        for nest in _nests(self.block):
            self._emit(nest)
        return Kernel(self.ev.b)

    def _lanes(self, nest: _Nest) -> int:
        """The vector width of a nest's last loop; 0 for none."""
        shape = _shape(nest.root)
        if not self.vectors or not shape:
            return 0
        bits = 8
        for op in self.block.walk():
            for value in (*op.operands, *op.results):
                if is_tensor_type(value.type):
                    bits = max(bits, bits_of(storage_element(value.type.element_type)))
        lanes = max(1, self.target.vector_bytes * 8 // bits)
        if shape[-1] != DYNAMIC_INDEX:
            while lanes > max(shape[-1], 1):
                lanes //= 2
        return lanes if lanes > 1 else 0

    def _emit(self, nest: _Nest) -> None:
        ev, root = self.ev, nest.root
        sizes = [ev.dim(root, dim) for dim in range(len(_shape(root)))]
        lanes = self._lanes(nest)
        split = next((dim for dim, size in enumerate(sizes) if size != 1), None)
        self._loops(nest, sizes, split, lanes, [])

    def _range(self, size: int | SSAValue, multiple: int) -> tuple[SSAValue, SSAValue]:
        """The part of 0..size of this workgroup; it begins at a multiple of `multiple`."""
        b, ev = self.ev.b, self.ev
        dimension = {"dimension": IntegerAttr(0, IndexType())}
        number = b.emit(InterfaceWorkgroupIDOp, [], INDEX, dimension, "id")
        count = b.emit(InterfaceWorkgroupCountOp, [], INDEX, dimension, "count")
        total = ev.index_of(size)
        chunk = _ceil_div(b, total, count)
        if multiple > 1:
            step = b.constant(multiple, INDEX)
            chunk = b.binary(xarith.MuliOp, _ceil_div(b, chunk, step), step)
        low = b.binary(xarith.MuliOp, number, chunk)
        high = b.binary(xarith.MinSIOp, b.binary(xarith.AddiOp, low, chunk), total)
        return low, high

    def _loops(
        self, nest: _Nest, sizes: Sequence[int | SSAValue], split: int | None, lanes: int, idx: list[Lin]
    ) -> None:
        dim = len(idx)
        if dim == len(sizes):
            self._store(nest, tuple(idx))
            return
        last = dim == len(sizes) - 1
        width = lanes if last else 0
        size = sizes[dim]
        low: int | SSAValue = 0
        high: int | SSAValue = size
        if split == dim:
            low, high = self._range(size, max(width, 1) if last else 1)
        if dim == len(sizes) - 2 and lanes and reduces(nest.root):
            self._row_loops(nest, sizes, split, (low, high), lanes, idx)
            return
        if not width:
            self._one_loop(nest, sizes, split, (low, high), 0, lanes, idx)
            return
        middle = self._middle(low, high, width)
        self._one_loop(nest, sizes, split, (low, middle), width, lanes, idx)
        if middle != high:
            self._one_loop(nest, sizes, split, (middle, high), 0, lanes, idx)

    def _middle(self, low: int | SSAValue, high: int | SSAValue, step: int) -> int | SSAValue:
        """The end of the whole steps from `low` on."""
        if isinstance(low, int) and isinstance(high, int):
            return low + (high - low) // step * step
        b = self.ev.b
        length = b.binary(xarith.SubiOp, self.ev.index_of(high), self.ev.index_of(low))
        rest = b.binary(xarith.RemSIOp, length, b.constant(step, INDEX))
        return b.binary(xarith.SubiOp, self.ev.index_of(high), rest)

    def _row_loops(
        self,
        nest: _Nest,
        sizes: Sequence[int | SSAValue],
        split: int | None,
        limits: tuple[int | SSAValue, int | SSAValue],
        lanes: int,
        idx: list[Lin],
    ) -> None:
        """The rows of a reduction: several at a time share what they read, then one by one."""
        low, high = limits
        rows = 8 if self.target.vector_registers >= 32 else 4
        middle = self._middle(low, high, rows)
        self.open_rows = rows
        self._one_loop(nest, sizes, split, (low, middle), 0, lanes, idx, rows)
        self.open_rows = 1
        if middle != high:
            self._one_loop(nest, sizes, split, (middle, high), 0, lanes, idx)

    open_rows = 1

    def _one_loop(
        self,
        nest: _Nest,
        sizes: Sequence[int | SSAValue],
        split: int | None,
        limits: tuple[int | SSAValue, int | SSAValue],
        width: int,
        lanes: int,
        idx: list[Lin],
        step: int = 1,
    ) -> None:
        """A loop over one dimension, in vectors of `width` lanes if that is not 0."""
        ev, (low, high) = self.ev, limits
        known = isinstance(low, int) and isinstance(high, int)
        loop = ev.b.begin_for(low, high, max(width, step), (), None if known else (0, MOST))
        index = Lin.of(loop.sym)
        if width:
            ev.width, ev.lane = width, ev.b.lane_sym(width)
            index = index + Lin.of(ev.lane)
        self._loops(nest, sizes, split, lanes, [*idx, index])
        ev.width, ev.lane = 0, None
        ev.b.end_for(loop)

    def _store(self, nest: _Nest, idx: tuple[Lin, ...]) -> None:
        ev = self.ev
        points = [idx]
        if len(idx) > 1:
            points = [(*idx[:-2], idx[-2] + row, idx[-1]) for row in range(self.open_rows)]
        values = [ev.values_at(op.operands[0], points) for op in nest.stores]
        for op, column in zip(nest.stores, values, strict=True):
            access = ev.access(op)
            if len(access.strides) != len(idx):
                raise fail(op, f"{op.name} that adds dimensions")
            for at, value in zip(points, column, strict=True):
                ev.store(access.buffer, access.address(ev, at), value, access.element, None)
        for op in nest.stores:
            ev.b.wrote(ev.access(op).buffer)


def reduces(value: SSAValue) -> bool:
    """Whether a value is made by a reduction, elementwise ops behind it included."""
    op = value.owner
    if not isinstance(op, Operation) or op.name != "linalg.generic":
        return False
    return bool(reduction_dims(op)) or any(reduces(operand) for operand in op.operands)


def _ceil_div(b: KernelBuilder, value: SSAValue, divisor: SSAValue) -> SSAValue:
    one = b.constant(1, INDEX)
    return b.binary(xarith.DivUIOp, b.binary(xarith.AddiOp, value, b.binary(xarith.SubiOp, divisor, one)), divisor)


# The grid -----------------------------------------------------------------------------------------------------------


def set_dynamic_count(export: ExecutableExportOp, function: Operation) -> None:
    """Makes the count region of `export` compute the workgroups from the workload, which are the sizes."""
    block = Block(arg_types=[arg.type for arg in export.workgroup_count.block.args])
    ordinals: dict[SSAValue, int] = {
        op.results[0]: int_of(op.properties["ordinal"])
        for op in function.regions[0].block.ops
        if op.name == "iree_tensor_ext.dispatch.workload.ordinal"
    }
    constant, sizes = _work(function, ordinals)
    one = ConstantOp.index(1)
    ops: list[Operation] = [one]
    count: SSAValue = one.result
    if sizes:
        count = block.args[1 + sizes[0]]
        for number in sizes[1:]:
            ops.append(xarith.MuliOp(count, block.args[1 + number]))
            count = ops[-1].results[0]
        grain, most = ConstantOp.index(max(1, _GRAIN // constant)), ConstantOp.index(_MOST_WORKGROUPS - 1)
        divide = xarith.DivUIOp(count, grain.result)
        least = xarith.MinUIOp(divide.result, most.result)
        add = xarith.AddiOp(least.result, one.result)
        ops += [grain, most, divide, least, add]
        count = add.result
    block.add_ops([*ops, HalReturnOp(count, one.result, one.result)])
    region = export.workgroup_count
    old = region.blocks.first
    assert old is not None
    region.detach_block(old)
    old.erase()
    region.add_block(block)


def _work(function: Operation, ordinals: dict[SSAValue, int]) -> tuple[int, list[int]]:
    """What the largest nest computes: a constant factor and the workload entries to multiply with."""
    most: tuple[int, list[int]] = (1, [])
    for nest in _nests(function.regions[0].block):
        constant, sizes = 1, list[int]()
        dims = [dim_size(nest.root, dim) for dim in range(len(_shape(nest.root)))]
        owner = nest.root.owner
        if isinstance(nest.root, OpResult) and isinstance(owner, Operation) and owner.name == "linalg.generic":
            dims += _reduced(owner)
        for size in dims:
            if isinstance(size, int):
                constant *= max(size, 1)
            elif size is not None and size in ordinals:
                sizes.append(ordinals[size])
        if (len(sizes), constant) > (len(most[1]), most[0]):
            most = constant, sizes
    return most


def _reduced(op: Operation) -> list[int | SSAValue | None]:
    """The sizes of the reduction loops of a generic and of those that it reads."""
    found: list[int | SSAValue | None] = []
    for loop in reduction_dims(op):
        for operand, map in zip(op.operands, maps_of(op), strict=True):
            if loop in map.plain_dims:
                found.append(dim_size(operand, map.plain_dims.index(loop)))
                break
    for operand in op.operands:
        owner = operand.owner
        if isinstance(owner, Operation) and owner.name == "linalg.generic":
            found += _reduced(owner)
    return found
