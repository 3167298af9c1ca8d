"""`dynamic-loops`: a dispatch on tensors of sizes that are known only when it runs.

One nest of loops per store, over the dimensions of what is stored; the first dimension that may be larger than one is
split over the first dimension of the grid of workgroups, the last over the second. The last runs in vectors and then in
single elements; in a reduction blocks of rows and vectors share what they read, and the last vector is masked. The host
computes the numbers of workgroups from the sizes; any numbers are right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith as xarith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr
from xdsl.ir import Block, Operation, OpResult, SSAValue

from tiree.codegen.common.body import TRAPPING
from tiree.codegen.common.builder import I32, I64, INDEX, KernelBuilder
from tiree.codegen.common.graph import DispatchInfo, bits_of, storage_element
from tiree.codegen.common.linear import Lin
from tiree.codegen.common.writing import Write, write_all
from tiree.codegen.cpu.dynamic_evaluator import (
    DynamicEvaluator,
    NotVectorizable,
    maps_of,
    reduction_dims,
)
from tiree.codegen.cpu.dynamic_rows import row_reductions, runs_along_rows
from tiree.codegen.cpu.dynamic_staging import reduces, store_by_rows
from tiree.codegen.cpu.size_bounds import UNBOUNDED, part_bounds
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

_GRAIN, _REDUCED_GRAIN = 16384, 131072
"""Elements that a workgroup deserves, and steps of a reduction, which are multiplications mostly."""
_MOST_WORKGROUPS = 64
_PANEL = 32
"""Columns of a reduction that a workgroup takes at least."""
_ALONE = 4
"""Vectors that a single row of a reduction has under way."""


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


_Limits = tuple[int | SSAValue, int | SSAValue]
_SLT = 2


@dataclass
class _Walk:
    """How the loops of a nest go."""

    root: SSAValue
    lanes: int
    """Elements of a vector; 0 for no vectors."""
    split: int | None
    """The dimension that is split over the first dimension of the grid."""
    once: list[Operation]
    """Reductions that are made once for each row."""
    masked: bool = False
    """Whether the last vector is masked; else its elements come one by one."""
    rows: int = 1
    columns: int = 1
    """A block: so many rows, so many vectors of each."""
    alone: int = _ALONE
    """Vectors of a row that is on its own."""
    open_rows: int = 1
    open_columns: int = 1
    width: int = 0
    tail: bool = False
    """What the loops that are open do."""


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
        if vectors and self._masks() and self._vector() > 1:
            self.ev.row_lanes = self._vector()

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
        if not self.vectors or not shape or runs_along_rows(self.ev, nest.root):
            return 0
        lanes = self._vector()
        if shape[-1] != DYNAMIC_INDEX:
            while lanes > max(shape[-1], 1):
                lanes //= 2
        return lanes if lanes > 1 else 0

    def _vector(self) -> int:
        return max(1, self.target.vector_bytes * 8 // max(self._widths(), default=8))

    def _widths(self) -> set[int]:
        """The bits of all elements of the dispatch."""
        values = (value for op in self.block.walk() for value in (*op.operands, *op.results))
        return {bits_of(storage_element(v.type.element_type)) for v in values if is_tensor_type(v.type)}

    def _masks(self) -> bool:
        """Whether vectors of which some lanes are off serve here: nothing traps, and the target can read them."""
        if any(op.name in TRAPPING for op in self.block.walk()):
            return False
        return self.target.has_avx512 or (self.target.has_avx2 and self._widths() <= {32, 64})

    def _emit(self, nest: _Nest) -> None:
        ev, root = self.ev, nest.root
        sizes = [ev.dim(root, dim) for dim in range(len(_shape(root)))]
        lanes = self._lanes(nest)
        split = next((dim for dim, size in enumerate(sizes) if size != 1), None)
        walk = _Walk(nest.root, lanes, split, row_reductions(root))
        if walk.once:
            walk.masked = self._masks()
        elif lanes and len(sizes) > 1 and reduces(root):
            wide = self.target.vector_registers >= 32
            walk.masked = len(nest.stores) == 1 and self._masks()
            walk.rows, walk.columns = (8 if wide else 4), (2 if walk.masked else 1)
            size = sizes[-1]
            if isinstance(size, int):
                if walk.masked and self.target.has_avx512 and walk.lanes < size < self._vector():
                    # One vector with lanes that are off, instead of a whole and an incomplete one.
                    walk.lanes *= 2
                walk.columns = max(1, min(walk.columns, size // walk.lanes))
                walk.alone = max(1, min(_ALONE, size // walk.lanes))
        self._loops(nest, walk, sizes, [])

    def _range(self, size: int | SSAValue, multiple: int, axis: int) -> tuple[SSAValue, SSAValue]:
        """The part of 0..size of this workgroup; it begins at a multiple of `multiple`."""
        b, ev = self.ev.b, self.ev
        dimension = {"dimension": IntegerAttr(axis, IndexType())}
        number = b.emit(InterfaceWorkgroupIDOp, [], INDEX, dimension, f"id {axis}")
        count = b.emit(InterfaceWorkgroupCountOp, [], INDEX, dimension, f"count {axis}")
        total = ev.index_of(size)
        if isinstance(size, int) and size <= multiple:
            # The first workgroup has it all, however many there are.
            chunk = b.constant(multiple, INDEX)
        else:
            chunk = _ceil_div(b, total, count)
            if multiple > 1:
                step = b.constant(multiple, INDEX)
                chunk = b.binary(xarith.MuliOp, _ceil_div(b, chunk, step), step)
        low = b.binary(xarith.MinSIOp, b.binary(xarith.MuliOp, number, chunk), total)
        high = b.binary(xarith.MinSIOp, b.binary(xarith.AddiOp, low, chunk), total)
        if not isinstance(size, int):
            ev.bounds[low] = ev.bounds[high] = part_bounds(ev.bounds.get(size, UNBOUNDED), multiple)
        return low, high

    def _loops(self, nest: _Nest, walk: _Walk, sizes: Sequence[int | SSAValue], idx: list[Lin]) -> None:
        dim, rank = len(idx), len(sizes)
        for op in walk.once:
            if len(_shape(op.results[0])) == dim:
                self.ev.value_at(op.results[0], tuple(idx))
        if dim == rank:
            self._store(nest, walk, tuple(idx))
            return
        rows = dim == rank - 2 and walk.rows > 1
        step = walk.rows if rows else max(walk.lanes * walk.columns, 1) if dim == rank - 1 else 1
        size = sizes[dim]
        low: int | SSAValue = 0
        high: int | SSAValue = size
        if walk.split == dim or (dim == rank - 1 and size != 1 and walk.split is not None):
            low, high = self._range(size, step, 0 if walk.split == dim else 1)
        if rows:
            self._row_loops(nest, walk, sizes, (low, high), idx)
        elif dim < rank - 1 or not walk.lanes:
            self._one_loop(nest, walk, sizes, (low, high), idx)
        else:
            self._lane_loops(nest, walk, sizes, (low, high), idx)

    def _row_loops(
        self, nest: _Nest, walk: _Walk, sizes: Sequence[int | SSAValue], limits: _Limits, idx: list[Lin]
    ) -> None:
        """The rows of a reduction: several at a time share what they read, then one by one."""
        low, high = limits
        middle = self.ev.whole_steps(low, high, walk.rows)
        self._one_loop(nest, replace(walk, open_rows=walk.rows), sizes, (low, middle), idx, walk.rows)
        if middle != high:
            self._one_loop(nest, walk, sizes, (middle, high), idx)

    def _lane_loops(
        self, nest: _Nest, walk: _Walk, sizes: Sequence[int | SSAValue], limits: _Limits, idx: list[Lin]
    ) -> None:
        """The last dimension: whole vectors, several at a time, then masked ones or single elements."""
        ev, (low, high) = self.ev, limits
        size = sizes[-1]
        # Parts of the dimension begin at multiples of this, so that nothing remains of a size that is one.
        part = walk.lanes * walk.columns
        whole = ev.divides(part, size)
        alone = walk.open_rows == 1 and walk.masked and walk.rows > 1
        for columns in (walk.alone, walk.columns) if alone and walk.alone > walk.columns else (walk.columns,):
            step = walk.lanes * columns
            if isinstance(size, int) and size < step:
                continue
            middle = high if whole and step == part else ev.whole_steps(low, high, step)
            self._one_loop(nest, replace(walk, width=walk.lanes, open_columns=columns), sizes, (low, middle), idx)
            low = middle
            if low == high or not whole:
                break
        if low == high:
            return
        if ev.divides(walk.lanes, low) and ev.divides(walk.lanes, high):
            tail = replace(walk, width=walk.lanes)
        else:
            tail = replace(walk, width=walk.lanes, tail=True) if walk.masked else walk
        self._one_loop(nest, tail, sizes, (low, high), idx)

    def _one_loop(
        self,
        nest: _Nest,
        walk: _Walk,
        sizes: Sequence[int | SSAValue],
        limits: _Limits,
        idx: list[Lin],
        step: int = 1,
    ) -> None:
        """A loop over one dimension, in vectors if the walk has a width by now."""
        ev, (low, high) = self.ev, limits
        width = walk.width
        loop = ev.open_loop(low, high, max(width * walk.open_columns, step))
        index = Lin.of(loop.sym)
        if width:
            ev.width, ev.lane = width, ev.b.lane_sym(width)
            index = index + Lin.of(ev.lane)
            if walk.tail:
                type = I32 if ev.most(sizes[len(idx)]) + width < 1 << 31 else I64
                limit = ev.b.broadcast(ev.b.convert(ev.index_of(high), type), width)
                ev.mask = ev.tail = ev.b.compare(_SLT, ev.b.integers(index, type, width), limit)
        self._loops(nest, walk, sizes, [*idx, index])
        ev.width, ev.lane, ev.mask, ev.tail = 0, None, None, None
        ev.b.end_for(loop)

    def _store(self, nest: _Nest, walk: _Walk, idx: tuple[Lin, ...]) -> None:
        def points(rows: Sequence[Lin]) -> list[tuple[Lin, ...]]:
            columns = [column * walk.width for column in range(walk.open_columns)]
            return [(*idx[:-2], idx[-2] + row, idx[-1] + column) for row in rows for column in columns]

        if (
            len(nest.stores) == 1
            and walk.open_rows > 1
            and store_by_rows(self.ev, nest.root, walk.open_rows, points, lambda at: self._store_at(nest, at))
        ):
            return
        self._store_at(nest, points([Lin(row) for row in range(walk.open_rows)]) if len(idx) > 1 else [idx])

    def _store_at(self, nest: _Nest, points: Sequence[tuple[Lin, ...]]) -> None:
        ev = self.ev
        values = [ev.values_at(op.operands[0], points) for op in nest.stores]
        writes: list[Write] = []
        for op, column in zip(nest.stores, values, strict=True):
            access = ev.access(op)
            for at, value in zip(points, column, strict=True):
                writes.append(Write(access.buffer, access.address(ev, at), value, access.element, ev.mask))
        write_all(ev, writes)
        for op in nest.stores:
            ev.b.wrote(ev.access(op).buffer)


def _ceil_div(b: KernelBuilder, value: SSAValue, divisor: SSAValue) -> SSAValue:
    one = b.constant(1, INDEX)
    return b.binary(xarith.DivUIOp, b.binary(xarith.AddiOp, value, b.binary(xarith.SubiOp, divisor, one)), divisor)


# The grid -----------------------------------------------------------------------------------------------------------


@dataclass
class _Work:
    """What a nest computes: a constant factor, the workload entries to multiply with, and how the grid divides it."""

    constant: int
    sizes: list[int]
    first: int | SSAValue | None
    """The size of a dimension that takes as many workgroups as it has pieces; the other dimension takes the rest."""
    piece: int
    on_second: bool
    """Whether that dimension is the last, which is split over the second dimension of the grid."""

    @property
    def grain(self) -> int:
        return _REDUCED_GRAIN if self.on_second else _GRAIN


def set_dynamic_count(export: ExecutableExportOp, function: Operation) -> None:
    """Makes the count region of `export` compute the workgroups from the workload, which are the sizes."""
    block = Block(arg_types=[arg.type for arg in export.workgroup_count.block.args])
    ordinals: dict[SSAValue, int] = {
        op.results[0]: int_of(op.properties["ordinal"])
        for op in function.regions[0].block.ops
        if op.name == "iree_tensor_ext.dispatch.workload.ordinal"
    }
    work = _work(function, ordinals)
    one = ConstantOp.index(1)
    ops: list[Operation] = [one]

    def emit(op: Operation) -> SSAValue:
        ops.append(op)
        return op.results[0]

    def constant(value: int) -> SSAValue:
        return one.result if value == 1 else emit(ConstantOp.index(value))

    counts: list[SSAValue] = [one.result, one.result]
    if work.sizes:
        steps = block.args[1 + work.sizes[0]]
        for number in work.sizes[1:]:
            steps = emit(xarith.MuliOp(steps, block.args[1 + number]))
        grains = emit(xarith.DivUIOp(steps, constant(max(1, work.grain // work.constant))))
        least = emit(xarith.MinUIOp(grains, constant(_MOST_WORKGROUPS - 1)))
        counts[0] = emit(xarith.AddiOp(least, one.result))
        pieces = _pieces(work, block, ordinals, emit, constant)
        if pieces is not None:
            first = emit(xarith.MinUIOp(counts[0], pieces))
            counts = [first, emit(xarith.DivUIOp(counts[0], first))]
    if work.on_second:
        counts.reverse()
    block.add_ops([*ops, HalReturnOp(*counts, one.result)])
    region = export.workgroup_count
    old = region.blocks.first
    assert old is not None
    region.detach_block(old)
    old.erase()
    region.add_block(block)


def _pieces(
    work: _Work,
    block: Block,
    ordinals: dict[SSAValue, int],
    emit: Callable[[Operation], SSAValue],
    constant: Callable[[int], SSAValue],
) -> SSAValue | None:
    """How many pieces the first dimension to be divided has, at least 1; None for no division."""
    size = work.first
    if isinstance(size, int):
        return constant(max(1, -(-size // work.piece)))
    if size is None or size not in ordinals:
        return None
    given = block.args[1 + ordinals[size]]
    if work.piece == 1:
        return emit(xarith.MaxUIOp(given, constant(1)))
    return emit(xarith.AddiOp(emit(xarith.DivUIOp(given, constant(work.piece))), constant(1)))


def _work(function: Operation, ordinals: dict[SSAValue, int]) -> _Work:
    """What the largest nest computes."""
    most = _Work(1, [], None, 1, on_second=False)
    for nest in _nests(function.regions[0].block):
        constant, sizes = 1, list[int]()
        dims = [dim_size(nest.root, dim) for dim in range(len(_shape(nest.root)))]
        split = next((dim for dim, size in enumerate(dims) if size != 1), None)
        first: int | SSAValue | None = None
        once = row_reductions(nest.root)
        blocked = reduces(nest.root) and not once
        if split is not None and split != len(dims) - 1:
            first = dims[-1] if blocked else None if once else dims[split]
        owner = nest.root.owner
        if once:
            dims = [dim_size(once[0].results[0], dim) for dim in range(len(_shape(once[0].results[0])))]
            dims += _reduced(once[0])
        elif isinstance(nest.root, OpResult) and isinstance(owner, Operation) and owner.name == "linalg.generic":
            dims += _reduced(owner)
        for size in dims:
            if isinstance(size, int):
                constant *= max(size, 1)
            elif size is not None and size in ordinals:
                sizes.append(ordinals[size])
        if (len(sizes), constant) > (len(most.sizes), most.constant):
            most = _Work(constant, sizes, first, _PANEL if blocked else 1, blocked)
    return most


def _reduced(op: Operation) -> list[int | SSAValue | None]:
    """The sizes of the reduction loops of a generic and of those that it reads."""
    found: list[int | SSAValue | None] = []
    for loop in reduction_dims(op):
        for operand, map in zip(op.operands, maps_of(op), strict=True):
            if loop in map.plain_dims:
                found.append(dim_size(operand, map.plain_dims.index(loop)))
                break
    if found:
        return found
    for operand in op.operands:
        owner = operand.owner
        if isinstance(owner, Operation) and owner.name == "linalg.generic":
            found += _reduced(owner)
    return found
