"""Evaluates tensors of a dispatch whose sizes are known only when the kernel runs.

A tensor value is asked for single elements (or a vector of them along one loop) at linear indices; what it asks of
other values is computed on the spot, so that a dispatch of several structured ops needs no memory between them.
Addresses are products with sizes, which are values. No read is moved out of a loop that may run zero times: its tensor
may be empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith as xarith
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, ArrayAttr, MemRefType, i1
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from tiree.codegen.common.body import TRAPPING, BodyEvaluator, Value
from tiree.codegen.common.builder import CONDITIONAL, DYNAMIC_LOOP, I64, INDEX, Buffer, KernelBuilder, OpenLoop
from tiree.codegen.common.combine import products_of_sums
from tiree.codegen.common.evaluate import Evaluator
from tiree.codegen.common.graph import DispatchInfo, storage_element
from tiree.codegen.common.linear import ZERO, Lin, LinearMap, substitute
from tiree.codegen.common.reading import read
from tiree.codegen.cpu.dynamic_access import Access, fail
from tiree.codegen.cpu.dynamic_rows import reduce_lanes, splits
from tiree.codegen.cpu.size_bounds import MOST, SAME, UNBOUNDED, SizeBounds, assumed
from tiree.dialects.arith import constant_int, constant_of
from tiree.dialects.dense import DenseAttr, decode_scalar
from tiree.dialects.hal_executable import InterfaceBindingSubspanOp
from tiree.dialects.iree_tensor_ext import DispatchTensorType
from tiree.dialects.tensor_dims import dim_size
from tiree.support.typed import is_tensor_type, tensor_type


class NotVectorizable(Exception):
    """This dispatch has to run lane by lane."""


class DynamicBuilder(KernelBuilder):
    """Reads stay in loops that may run zero times."""

    def _read_level(self, buffer: Buffer) -> int:
        level = self.barrier(CONDITIONAL, DYNAMIC_LOOP)
        return max(level, min(buffer.level, self.level)) if buffer.writable else level


class DynamicEvaluator(Evaluator):
    """See the module's docstring. `value_at` is the one entry."""

    def __init__(self, info: DispatchInfo, written: frozenset[int], fuse: bool = False) -> None:
        super().__init__(DynamicBuilder(), info)
        self.written = written
        self.fuse = fuse
        """Whether the target has a multiply-add."""
        self.mask: SSAValue | None = None
        self.tail: SSAValue | None = None
        """The mask of the open vector loop, which has a lane that is on."""
        self.row_lanes = 0
        """The vector width of reductions along lanes; 0 for none."""
        self.bounds: dict[SSAValue, SizeBounds] = {}
        """What is known of values of the kernel that are sizes, or parts of them."""
        self._accesses: dict[Operation, Access] = {}
        self._memory: dict[object, Buffer] = {}

    # Sizes -----------------------------------------------------------------------------------------------------------

    def outer(self, value: SSAValue) -> Value:
        op = value.owner
        if isinstance(op, Operation) and op.name in SAME:
            index = value.index if isinstance(value, OpResult) else 0
            return self.outer(op.operands[index])
        return super().outer(value)

    def size(self, size: int | SSAValue) -> int | SSAValue:
        """A size of the dispatch function as a number, or a value of the kernel."""
        if isinstance(size, int):
            return size
        known = constant_int(size)
        if known is not None:
            return known
        made = self.b.convert(self._scalar(size), INDEX)
        self.bounds.setdefault(made, assumed(size))
        return made

    def _scalar(self, value: SSAValue) -> SSAValue:
        width, self.width = self.width, 0
        found = self.ssa(self.outer(value))
        self.width = width
        return found

    def whole_steps(self, low: int | SSAValue, high: int | SSAValue, step: int) -> int | SSAValue:
        """The end of the whole steps from `low` on."""
        if isinstance(low, int) and isinstance(high, int):
            return low + (high - low) // step * step
        if self.divides(step, low) and self.divides(step, high):
            return high
        b = self.b
        length = b.binary(xarith.SubiOp, self.index_of(high), self.index_of(low))
        rest = b.binary(xarith.RemUIOp, length, b.constant(step, INDEX))
        return b.binary(xarith.SubiOp, self.index_of(high), rest)

    def open_loop(
        self, low: int | SSAValue, high: int | SSAValue, step: int, carried: Sequence[SSAValue] = ()
    ) -> OpenLoop:
        known = isinstance(low, int) and isinstance(high, int)
        return self.b.begin_for(low, high, step, carried, None if known else (0, self.most(high)))

    def divides(self, step: int, size: int | SSAValue) -> bool:
        """Whether a size, or where a part of it begins or ends, is known to be a multiple of `step`."""
        return (size if isinstance(size, int) else self.bounds.get(size, UNBOUNDED).divisor) % step == 0

    def most(self, size: int | SSAValue) -> int:
        """What a size does not exceed."""
        return size if isinstance(size, int) else self.bounds.get(size, UNBOUNDED).high

    def lin(self, value: int | SSAValue) -> Lin:
        """A size or offset of the dispatch function as a linear form."""
        if isinstance(value, int):
            return Lin(value)
        return self.b.opaque(self.b.convert(self._scalar(value), INDEX), -MOST, MOST)

    def dim(self, value: SSAValue, dim: int) -> int | SSAValue:
        """A size of a tensor value, for the kernel."""
        found = dim_size(value, dim)
        if found is None:
            op = value.owner if isinstance(value.owner, Operation) else self.info.op
            raise fail(op, f"dispatch {self.info.name}: a size of {value.type} is not known")
        return self.size(found)

    def product(self, a: int | SSAValue, b: int | SSAValue) -> int | SSAValue:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if 1 in (a, b):
            return b if a == 1 else a
        return self.b.binary(xarith.MuliOp, self.index_of(a), self.index_of(b))

    def index_of(self, size: int | SSAValue) -> SSAValue:
        return self.b.constant(size, INDEX) if isinstance(size, int) else size

    def times(self, index: Lin, size: int | SSAValue) -> Lin:
        """`index * size`."""
        if isinstance(size, int):
            return index * size
        if index.is_const:
            return self.b.opaque(size, 0, self.most(size)) * index.const
        uniform, varying = self.b.uniform_part(index)
        total = ZERO
        if uniform.terms or uniform.const:
            product = self.b.binary(xarith.MuliOp, self.b.index(uniform), size)
            total = self.b.opaque(product, -MOST, MOST)
        if varying.terms:
            lanes = self.b.integers(varying, I64, self.width)
            product = self.b.binary(xarith.MuliOp, lanes, self.b.convert(size, I64))
            total = total + self.b.opaque(product, -MOST, MOST)
        return total

    # Memory ----------------------------------------------------------------------------------------------------------

    def binding(self, subspan: InterfaceBindingSubspanOp, sizes: Sequence[int | SSAValue]) -> Buffer:
        """The flat memory of a binding."""
        count: int | SSAValue = 1
        for size in sizes:
            count = self.product(count, size)
        assert isinstance(subspan.result.type, DispatchTensorType)
        element = storage_element(subspan.result.type.tensor_type.element_type)
        offset = None if subspan.byte_offset is None else self.index_of(self.size(subspan.byte_offset))
        number = subspan.binding_index
        key = (number, offset, element, count)
        found = self._memory.get(key)
        if found is None:
            type = MemRefType(element, [count if isinstance(count, int) else DYNAMIC_INDEX])
            dims = [] if isinstance(count, int) else [count]
            alignment = subspan.alignment.value.data if subspan.alignment is not None else 1
            op = InterfaceBindingSubspanOp(subspan.layout, number, offset, type, dims, alignment)
            self.b.frames[0].block.add_op(op)
            known = count if isinstance(count, int) else MOST
            found = self._memory[key] = Buffer(op.result, element, known, number in self.written)
        return found

    def access(self, op: Operation) -> Access:
        found = self._accesses.get(op)
        if found is None:
            loads = op.name.endswith(".load")
            found = self._accesses[op] = Access(self, op, op.operands[0 if loads else 1], 2 if loads else 3)
        return found

    def read(self, access: Access, idx: Sequence[Lin]) -> Value:
        address = access.address(self, idx)
        if not self.width or address.is_uniform:
            return self.from_storage(self.b.load(access.buffer, address), access.element)
        assert self.lane is not None
        contiguous = address.coefficient(self.lane) == 1 and all(s.kind != "vector" for s, _ in address.terms)
        if contiguous:
            uniform, _ = self.b.uniform_part(address)
            loaded = self.b.load_vector(access.buffer, uniform, self.width, self.mask)
        else:
            loaded = read(self, access.buffer, address, self.mask)
        return self.from_storage(loaded, access.element)

    # Values ----------------------------------------------------------------------------------------------------------

    def node_of(self, value: SSAValue):  # pyright: ignore[reportIncompatibleMethodOverride]: tensors are their own nodes
        return value

    def value(self, node: object, idx: tuple[Lin, ...], mask: SSAValue | None = None) -> Value:
        """Asked by bodies that read an element of a tensor."""
        del mask
        return self.value_at(cast("SSAValue", node), idx)

    def value_at(self, tensor: SSAValue, idx: tuple[Lin, ...]) -> Value:
        """The element of a tensor value at `idx`: a scalar, or a vector along the open lanes."""
        return self.values_at(tensor, [idx])[0]

    def values_at(self, tensor: SSAValue, points: Sequence[tuple[Lin, ...]]) -> list[Value]:
        """The elements at several points; a reduction runs once for all of them. What no lane enters is a scalar."""
        if self.width and self.mask is self.tail and all(index.is_uniform for idx in points for index in idx):
            saved = self.width, self.lane, self.mask, self.tail
            self.width, self.lane, self.mask, self.tail = 0, None, None, None
            try:
                return self.values_at(tensor, points)
            finally:
                self.width, self.lane, self.mask, self.tail = saved
        found = [self._known(tensor, idx) for idx in points]
        wanted = list(dict.fromkeys(idx for idx, value in zip(points, found, strict=True) if value is None))
        if wanted:
            made = dict(zip(wanted, self._evaluate(tensor, wanted), strict=True))
            for idx, value in made.items():
                self.remember(tensor, idx, value)
            found = [made[idx] if value is None else value for idx, value in zip(points, found, strict=True)]
        return [value for value in found if value is not None]

    def _known(self, tensor: SSAValue, idx: tuple[Lin, ...]) -> Value | None:
        key = (tensor, self.width, idx, self.mask)
        for frame in reversed(self.b.frames):
            found = frame.values.get(key)
            if found is not None:
                return found
        return None

    def remember(self, tensor: SSAValue, idx: tuple[Lin, ...], value: Value) -> None:
        self.b.frames[-1].values[tensor, self.width, idx, self.mask] = value

    def _evaluate(self, tensor: SSAValue, points: list[tuple[Lin, ...]]) -> list[Value]:
        if not is_tensor_type(tensor.type):
            return [self.outer(tensor)] * len(points)
        op = tensor.owner
        if not isinstance(op, Operation):
            raise fail(self.info.op, f"dispatch {self.info.name} has a tensor argument")
        match op.name:
            case "iree_tensor_ext.dispatch.tensor.load":
                access = self.access(op)
                return [self.read(access, idx) for idx in points]
            case "linalg.fill" | "tensor.splat":
                return [self.outer(op.operands[0])] * len(points)
            case "tensor.empty":
                return [self.b.constant(0, tensor_type(tensor).element_type)] * len(points)
            case "arith.constant":
                return [self._constant(op)] * len(points)
            case "tensor.cast":
                return self.values_at(op.operands[0], points)
            case "linalg.generic":
                assert isinstance(tensor, OpResult)
                return self._generic(op, tensor.index, points)
            case _:
                raise fail(op, f"codegen has no lowering for {op.name} on dynamic shapes in {self.info.name}")

    def _constant(self, op: Operation) -> Value:
        value = constant_of(op.results[0])
        if not isinstance(value, DenseAttr) or not value.is_splat:
            raise fail(op, f"dispatch {self.info.name} of dynamic shape holds a constant of many values")
        return self.b.constant(decode_scalar(value.element_type, bytes(value.buffer)), value.element_type)

    # Structured ops --------------------------------------------------------------------------------------------------

    def loops_of(self, op: Operation, number: int, idx: tuple[Lin, ...]) -> list[Lin]:
        """The loop indices at which result `number` of a generic is written at `idx`; reductions start at 0."""
        maps = maps_of(op)
        inputs = len(op.operands) - len(op.results)
        store = maps[inputs + number]
        dims = store.plain_dims
        loops = [ZERO] * store.num_dims
        for dim, index in zip(dims, idx, strict=True):
            if dim is None:
                raise fail(op, f"{op.name} writes its result through a map that does not select loops")
            loops[dim] = index
        return loops

    def _generic(self, op: Operation, number: int, points: list[tuple[Lin, ...]]) -> list[Value]:
        loops = [self.loops_of(op, number, idx) for idx in points]
        reductions = reduction_dims(op)
        rows = self._reduce(op, loops, reductions) if reductions else self.bodies_at(op, loops, None)
        maps = maps_of(op)[len(op.operands) - len(op.results) :]
        for other, map in enumerate(maps):
            if other != number:
                for at, row in zip(loops, rows, strict=True):
                    self.remember(op.results[other], tuple(at[dim] for dim in map.bare_dims), row[other])
        return [row[number] for row in rows]

    def bodies_at(
        self, op: Operation, loops: Sequence[Sequence[Lin]], accumulators: Sequence[Sequence[Value]] | None
    ) -> list[list[Value]]:
        """The results of a generic's body at each of several points of its loops."""
        block = op.regions[0].block
        inputs = len(op.operands) - len(op.results)
        columns: list[Sequence[Value | None]] = []
        for position, (operand, map) in enumerate(zip(op.operands, maps_of(op), strict=True)):
            if position >= inputs and accumulators is not None:
                columns.append([row[position - inputs] for row in accumulators])
            elif block.args[position].first_use is None:
                columns.append([None] * len(loops))
            else:
                columns.append(self.values_at(operand, [self.apply_map(map, at) for at in loops]))
        fused = products_of_sums(op.regions[0].block) if accumulators is not None and self.fuse else {}
        rows: list[list[Value]] = []
        for number, at in enumerate(loops):
            body = DynamicBody(self, at)
            body.fused = fused
            rows.append(body.run(block, [column[number] for column in columns]))
        return rows

    def apply_map(self, map: LinearMap, loops: Sequence[Lin]) -> tuple[Lin, ...]:
        return tuple(
            substitute(result, loops) if isinstance(result, tuple) else self.affine(result, loops)
            for result in map.results
        )

    def extent(self, op: Operation, loop: int) -> int | SSAValue:
        """The trip count of a loop of a generic."""
        for operand, map in reversed(list(zip(op.operands, maps_of(op), strict=True))):
            for position, dim in enumerate(map.plain_dims):
                if dim == loop and is_tensor_type(operand.type):
                    return self.dim(operand, position)
        raise fail(op, f"no operand of {op.name} gives the extent of loop d{loop}")

    def _reduce(self, op: Operation, loops: list[list[Lin]], reductions: Sequence[int]) -> list[list[Value]]:
        """A nest of loops over the reduction dims that carries the accumulators of all points, in program order."""
        inputs = len(op.operands) - len(op.results)
        maps = maps_of(op)[inputs:]
        columns = [
            self.values_at(operand, [self.apply_map(map, at) for at in loops])
            for operand, map in zip(op.operands[inputs:], maps, strict=True)
        ]
        carried: list[SSAValue] = []
        for number in range(len(loops)):
            for result, column in zip(op.results, columns, strict=True):
                carried.append(self.to_accumulator(column[number], tensor_type(result).element_type))
        count = len(op.results)
        combiners = None if self.width else splits(self, op)
        found: list[SSAValue] = []
        if combiners is not None:
            for number, at in enumerate(loops):
                inits = carried[number * count : (number + 1) * count]
                found += reduce_lanes(self, op, at, reductions, inits, combiners)
        else:
            found += self._nest(op, loops, list(reductions), carried)
        return [[*found[number * count : (number + 1) * count]] for number in range(len(loops))]

    def to_accumulator(self, value: Value, element: Attribute) -> SSAValue:
        return self.b.broadcast(self.b.narrow(self.ssa(value), element), self.width)

    def _nest(
        self, op: Operation, loops: list[list[Lin]], reductions: list[int], carried: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        count = len(op.results)
        if not reductions:
            given = [carried[number * count : (number + 1) * count] for number in range(len(loops))]
            elements = [tensor_type(result).element_type for result in op.results]
            return [
                self.to_accumulator(value, element)
                for row in self.bodies_at(op, loops, given)
                for value, element in zip(row, elements, strict=True)
            ]
        high = self.extent(op, reductions[0])
        opened = self.open_loop(0, high, 1, carried)
        inner = [list(at) for at in loops]
        for at in inner:
            at[reductions[0]] = Lin.of(opened.sym)
        results = self._nest(op, inner, reductions[1:], list(opened.args))
        return list(self.b.end_for(opened, results))


class DynamicBody(BodyEvaluator):
    """A body in which conditionals may read tensors: only the side that is taken does."""

    def __init__(self, ev: DynamicEvaluator, indices: Sequence[Lin]) -> None:
        super().__init__(ev, None, indices, None)
        self.dynamic = ev

    def copy_region_op(self, op: Operation) -> None:
        if op.name != "scf.if":
            super().copy_region_op(op)
            return
        condition = self.ev.ssa(self.get(op.operands[0]))
        sides = [region.block for region in op.regions]
        values = self._selected(sides, condition) if _lanes(condition) else self._branched(sides, condition, op)
        for old, new in zip(op.results, values, strict=True):
            self.env[old] = self.wrap(new)

    def _side(self, block: Block) -> list[SSAValue]:
        for op in block.ops:
            if op.name == "scf.yield":
                return [self.ev.ssa(self.get(value)) for value in op.operands]
            self.visit(op)
        raise AssertionError("a conditional without scf.yield")

    def _branched(self, sides: Sequence[Block], condition: SSAValue, op: Operation) -> Sequence[SSAValue]:
        blocks: list[Block] = []
        lanes = self.ev.width
        types = [self.b.vector_type(r.type, lanes) if lanes else r.type for r in op.results]
        for side in sides:
            self.b.begin_if()
            values = self._side(side)
            narrow = [self.b.narrow(v, r.type) for v, r in zip(values, op.results, strict=True)]
            blocks.append(self.b.end_side([self.b.broadcast(v, lanes) for v in narrow]))
        return self.b.finish_if(condition, blocks[0], blocks[1], types)

    def _selected(self, sides: Sequence[Block], condition: SSAValue) -> list[SSAValue]:
        """Both sides, each reading only in its lanes."""
        if any(inner.name in TRAPPING for side in sides for inner in side.walk()):
            raise NotVectorizable
        ev, b = self.dynamic, self.b
        outer = ev.mask
        negated = b.binary(xarith.XOrIOp, condition, b.splat(1, i1, ev.width))
        found: list[list[SSAValue]] = []
        for side, lanes in zip(sides, (condition, negated), strict=True):
            ev.mask = b.both(outer, lanes)
            found.append(self._side(side))
        ev.mask = outer
        return [b.select(condition, one, two) for one, two in zip(*found, strict=True)]


def _lanes(value: SSAValue) -> int:
    from tiree.codegen.common.builder import lanes_of

    return lanes_of(value)


def maps_of(op: Operation) -> list[LinearMap]:
    maps = cast("ArrayAttr[AffineMapAttr]", op.properties["indexing_maps"])
    return [LinearMap(attr.data) for attr in maps.data]


def reduction_dims(op: Operation) -> list[int]:
    types = cast("ArrayAttr[IteratorTypeAttr]", op.properties["iterator_types"])
    return [dim for dim, attr in enumerate(types.data) if attr.data is not IteratorType.PARALLEL]
