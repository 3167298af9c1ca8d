"""`Evaluator`: the value of any node of a dispatch at any point, computed on demand.

`values(node, points)` emits code for one element (width 0) or one vector of elements (width W, the lane symbol
running through some index) per point. Elementwise producers, slices, pads and reshapes dissolve into index
arithmetic; a reduction becomes a loop around all points at once, which is what blocks registers: two points that need
the same operand share its load. Nodes that a plan materialised are read from scratch instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from xdsl.dialects import arith as xarith
from xdsl.dialects import memref
from xdsl.dialects.builtin import IndexType, MemRefType, SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tiree.codegen.common.analyze import fail
from tiree.codegen.common.body import BodyEvaluator, IndexValue, Value
from tiree.codegen.common.builder import I8, I32, I64, INDEX, Buffer, KernelBuilder, lanes_of
from tiree.codegen.common.graph import (
    BindingRef,
    ConcatNode,
    DispatchInfo,
    ElementsNode,
    FillNode,
    GenericNode,
    InsertNode,
    LoadNode,
    Node,
    PadNode,
    ReshapeNode,
    ResultNode,
    SliceNode,
    TableRef,
    storage_element,
)
from tiree.codegen.common.linear import ZERO, Lin, LinearMap, Sym, substitute
from tiree.codegen.common.points import Point, Scratch, Tuning
from tiree.codegen.common.reading import read_points
from tiree.codegen.common.reduce import reduce_points
from tiree.codegen.common.views import element_count, row_major_strides
from tiree.dialects.hal_executable import InterfaceBindingSubspanOp
from tiree.support.typed import is_integer_type

Condition: TypeAlias = "SSAValue | Literal[False] | None"
"""A condition that is decided when the kernel runs, or never true, or (None) always true."""


class Evaluator:
    """State of one kernel: open vector width, buffers, scratch and tables."""

    def __init__(self, builder: KernelBuilder, info: DispatchInfo, tuning: Tuning | None = None) -> None:
        self.b = builder
        self.info = info
        self.tuning = tuning or Tuning()
        self.width = 0
        self.lane: Sym | None = None
        self.scratch: dict[ResultNode, Scratch] = {}
        self.ranges: dict[SSAValue, tuple[int, int]] = {}
        self.tables: list[TableRef] = []
        self.nodes: dict[SSAValue, Node] = {}
        self._buffers: dict[object, Buffer] = {}

    def fail(self, op: Operation, message: str) -> Exception:
        return fail(op, f"{message} (dispatch {self.info.name})")

    # Scalars of the dispatch function ----------------------------------------------------------------------------

    def node_of(self, value: SSAValue) -> Node:
        return self.info.nodes[value]

    def outer(self, value: SSAValue) -> Value:
        """A scalar defined in the dispatch function, outside every body."""
        key = ("outer", value)
        for frame in self.b.frames:
            found = frame.values.get(key)
            if found is not None:
                return found
        op = value.owner
        if not isinstance(op, Operation):
            raise self.fail(self.info.op, "the dispatch function has a scalar argument")
        saved, self.width = self.width, 0
        body = BodyEvaluator(self, None, (), None)
        if op.name == "hal.interface.constant.load" or op.name.startswith("hal.interface.workgroup"):
            copied = self.b.emit(type(op), [], value.type, op.properties, tuple(op.properties.values()))
            result: Value = body.wrap(copied)
        else:
            body.visit(op)
            result = body.env[value]
        self.width = saved
        level = self.b.level_of(result) if isinstance(result, SSAValue) else self.b.level
        self.b.frames[level].values[key] = result
        return result

    def outer_index(self, value: SSAValue) -> Lin:
        found = self.outer(value)
        if isinstance(found, IndexValue):
            return found.lin
        return self.b.opaque(self.b.convert(found, INDEX), *self.ranges.get(found, (-(1 << 62), 1 << 62)))

    def offset(self, value: int | SSAValue) -> Lin:
        return Lin(value) if isinstance(value, int) else self.outer_index(value)

    def ssa(self, value: Value) -> SSAValue:
        """The SSA value (scalar where uniform) of an element."""
        if isinstance(value, IndexValue):
            return self.b.integers(value.lin, value.type, self.width)
        return value

    # Memory ------------------------------------------------------------------------------------------------------

    def buffer(self, ref: BindingRef | TableRef) -> Buffer:
        key = ref if isinstance(ref, TableRef) else (ref.binding, ref.offset, ref.element, ref.size)
        found = self._buffers.get(key)
        if found is None:
            found = self._buffers[key] = self._table(ref) if isinstance(ref, TableRef) else self._binding(ref)
        return found

    def _binding(self, ref: BindingRef) -> Buffer:
        offset = self.b.index(self.offset(ref.offset))
        element = storage_element(ref.element)
        type = MemRefType(element, [ref.size])
        op = InterfaceBindingSubspanOp(ref.layout, ref.binding, offset, type, alignment=ref.alignment)
        self.b.frames[0].block.add_op(op)
        return Buffer(op.result, element, ref.size, ref.binding in self.info.written_bindings and ref.writable)

    def _table(self, ref: TableRef) -> Buffer:
        if ref not in self.tables:
            self.tables.append(ref)
        element = storage_element(ref.element)
        size = element_count(ref.value.shape)
        name = f"{self.info.name}_table_{self.tables.index(ref)}"
        op = memref.GetGlobalOp.create(
            result_types=[MemRefType(element, [size])],
            properties={"name": SymbolRefAttr(name)},
        )
        self.b.frames[0].block.add_op(op)
        return Buffer(op.results[0], element, size, writable=False)

    def from_storage(self, value: SSAValue, element: Attribute) -> Value:
        """A value read from memory, as the program sees it."""
        if is_integer_type(element) and element.width.data == 1:
            return self.b.compare(1, value, self.b.constant(0, I8))
        if isinstance(element, IndexType):
            cast = self.b.cast(xarith.IndexCastOp, value, INDEX)
            return IndexValue(self.b.opaque(cast, -(1 << 62), 1 << 62), INDEX)
        return value

    def to_storage(self, value: Value, element: Attribute) -> SSAValue:
        ssa = self.ssa(value)
        if is_integer_type(element) and element.width.data == 1:
            return self.b.cast(xarith.ExtUIOp, ssa, I8)
        if isinstance(element, IndexType):
            return self.b.cast(xarith.IndexCastOp, ssa, I64)
        return self.b.narrow(ssa, element)

    def store(self, buffer: Buffer, address: Lin, value: Value, element: Attribute, mask: SSAValue | None) -> None:
        """One element or vector; lanes may be any distance apart."""
        ssa = self.to_storage(value, element)
        if not self.width or self.lane is None or address.is_uniform:
            assert not lanes_of(ssa)
            self.b.store(buffer, address, ssa)
            return
        ssa = self.b.broadcast(ssa, self.width)
        if address.coefficient(self.lane) == 1 and all(s.kind != "vector" for s, _ in address.terms):
            uniform, _ = self.b.uniform_part(address)
            self.b.store_vector(buffer, uniform, ssa, mask)
        else:
            self.b.scatter(buffer, address, ssa, mask)

    # Values ------------------------------------------------------------------------------------------------------

    def value(self, node: Node, idx: tuple[Lin, ...], mask: SSAValue | None = None) -> Value:
        return self.values(node, [Point(idx, mask)])[0]

    def values(self, node: Node, points: Sequence[Point]) -> list[Value]:
        """The element (or vector) of `node` at each point. Equal points are computed once."""
        if self.width:
            # What no lane index enters is the same in all lanes, and safe to read whatever the mask.
            points = [Point(p.idx) if p.mask is not None and p.is_uniform else p for p in points]
        results = [self._remembered(node, point) for point in points]
        computed: dict[Point, Value] = {}
        if None in results:
            wanted = list(dict.fromkeys(p for r, p in zip(results, points, strict=True) if r is None))
            computed = dict(zip(wanted, self._compute(node, wanted), strict=True))
            for point, value in computed.items():
                self.provide(node, point, value)
        return [computed[p] if r is None else r for r, p in zip(results, points, strict=True)]

    def _remembered(self, node: Node, point: Point) -> Value | None:
        key = (node, 0 if point.is_uniform else self.width, point)
        for frame in reversed(self.b.frames):
            found = frame.values.get(key)
            if found is not None:
                return found
        return None

    def provide(self, node: Node, point: Point, value: Value) -> None:
        """Makes `value` the element of `node` at `point` wherever it is valid: what evaluation computed, or a strategy.

        A microkernel hands its accumulators in this way and then asks for the values of the epilogue.
        """
        level = self.b.level_of(value) if isinstance(value, SSAValue) else self.b.level
        width = 0 if point.is_uniform else self.width
        self.b.frames[level].values[(node, width, point)] = value

    def _compute(self, node: Node, points: list[Point]) -> list[Value]:
        match node:
            case ResultNode():
                scratch = self.scratch.get(node)
                if scratch is not None:
                    return self._from_scratch(node, scratch, points)
                return self.generic_results(node.generic, node.number, points)
            case LoadNode():
                base = Lin(node.view.base)
                for value, factor in node.view.dynamic:
                    base = base + self.outer_index(value) * factor
                addresses = [_address(base, p.idx, node.view.strides) for p in points]
                return read_points(self, self.buffer(node.ref), node.element, addresses, [p.mask for p in points])
            case FillNode():
                value = node.value
                found = self.outer(value) if isinstance(value, SSAValue) else self.b.constant(value, node.element)
                return [found] * len(points)
            case PadNode():
                return [self._pad(node, p) for p in points]
            case SliceNode():
                return self.values(node.source, [self._slice_point(node, p) for p in points])
            case InsertNode():
                return [self._insert(node, p) for p in points]
            case ReshapeNode():
                return self.values(node.source, [self._reshape_point(node, p) for p in points])
            case ConcatNode():
                return [self._concat(node, p) for p in points]
            case ElementsNode():
                return [self._element(node, p) for p in points]
            case _:
                raise TypeError(f"no value for {node}")

    def _from_scratch(self, node: ResultNode, scratch: Scratch, points: list[Point]) -> list[Value]:
        addresses = [_address(scratch.base, p.idx, scratch.strides) for p in points]
        return read_points(self, scratch.buffer, node.element, addresses, [p.mask for p in points])

    # Generics ----------------------------------------------------------------------------------------------------

    def generic_results(self, generic: GenericNode, number: int, points: list[Point]) -> list[Value]:
        """Result `number`; the other results at these points are remembered on the way."""
        if not generic.invertible:
            raise self.fail(generic.op, f"{generic.op.name} writes its result through a map that is not a permutation")
        order = generic.output_map(number).bare_dims
        loops: list[Point] = []
        for point in points:
            indices = [ZERO] * len(generic.loops)
            for dim, index in zip(order, point.idx, strict=True):
                indices[dim] = index
            loops.append(Point(tuple(indices), point.mask))
        rows = reduce_points(self, generic, loops) if generic.reduction_dims else self.bodies(generic, loops)
        for other in generic.results:
            if other.number != number:
                back = generic.output_map(other.number).bare_dims
                for point, row in zip(loops, rows, strict=True):
                    moved = Point(tuple(point.idx[d] for d in back), point.mask)
                    self.provide(other, moved, row[other.number])
        return [row[number] for row in rows]

    def bodies(
        self, generic: GenericNode, loops: Sequence[Point], accumulators: Sequence[Sequence[Value]] | None = None
    ) -> list[list[Value]]:
        """The body's results at each point of the loop nest; `accumulators` replace the outputs' initial values."""
        columns: list[Sequence[Value | None]] = []
        nothing: list[Value | None] = [None] * len(loops)
        for position, operand in enumerate(generic.operands):
            result = position - generic.num_inputs
            if result >= 0 and accumulators is not None:
                columns.append([row[result] for row in accumulators])
            elif not generic.used_args[position]:
                columns.append(nothing)
            else:
                map = generic.maps[position]
                columns.append(self.values(operand, [Point(self.apply(map, p.idx), p.mask) for p in loops]))
        return [
            BodyEvaluator(self, generic, point.idx, point).run(generic.body, [column[n] for column in columns])
            for n, point in enumerate(loops)
        ]

    def apply(self, map: LinearMap, indices: Sequence[Lin]) -> tuple[Lin, ...]:
        """The results of an indexing map at these loop indices."""
        return tuple(
            substitute(result, indices) if isinstance(result, tuple) else self.affine(result, indices)
            for result in map.results
        )

    def affine(self, expr: AffineExpr, indices: Sequence[Lin]) -> Lin:
        """An affine expression with floordiv, ceildiv or mod."""
        from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr

        match expr:
            case AffineConstantExpr():
                return Lin(expr.value)
            case AffineDimExpr():
                return indices[expr.position]
            case AffineBinaryOpExpr(kind, lhs, rhs):
                a, b = self.affine(lhs, indices), self.affine(rhs, indices)
                if kind is AffineBinaryOpKind.Add:
                    return a + b
                if kind is AffineBinaryOpKind.Mul and (a.is_const or b.is_const):
                    return a * b.const if b.is_const else b * a.const
                if b.is_const and b.const > 0:
                    if kind is AffineBinaryOpKind.FloorDiv:
                        return self.divide(a, b.const)[0]
                    if kind is AffineBinaryOpKind.CeilDiv:
                        return self.divide(a + (b.const - 1), b.const)[0]
                    if kind is AffineBinaryOpKind.Mod:
                        return self.divide(a, b.const)[1]
            case _:
                pass
        raise self.fail(self.info.op, f"indexing map expression {expr} is not supported")

    def divide(self, lin: Lin, divisor: int) -> tuple[Lin, Lin]:
        """(floor quotient, remainder) by a positive constant."""
        split = lin.split(divisor)
        if split is not None:
            return split
        low, high = lin.bounds()
        if low < 0:
            # Shift into the non-negative range, where unsigned division is floor division.
            shift = -(low // divisor)
            quotient, remainder = self.divide(lin + shift * divisor, divisor)
            return quotient - shift, remainder
        small = high < 1 << 31
        type = INDEX if lin.is_uniform else (I32 if small else I64)
        value = self.b.integers(lin, type, self.width)
        quotient = self.b.binary(xarith.DivUIOp, value, self.b.constant(divisor, type))
        q = self.b.opaque(quotient, low // divisor, high // divisor if high < 1 << 62 else 1 << 62)
        remainder = self.b.binary(xarith.RemUIOp, value, self.b.constant(divisor, type))
        return q, self.b.opaque(remainder, 0, divisor - 1)

    # Shape changes -----------------------------------------------------------------------------------------------

    def condition(self, lin: Lin, low: int, high: int) -> Condition:
        """`low <= lin < high`: None when always true, False when never, else a scalar or vector condition."""
        bottom, top = lin.bounds()
        if bottom >= low and top < high:
            return None
        if top < low or bottom >= high:
            return False
        fits = bottom >= -(1 << 31) and top < 1 << 31 and low >= -(1 << 31) and high < 1 << 31
        type = I32 if fits and not lin.is_uniform else (INDEX if lin.is_uniform else I64)
        result: SSAValue | None = None
        if bottom < low:
            result = self.b.compare(5, self.b.integers(lin, type, self.width), self.b.constant(low, type))
        if top >= high:
            below = self.b.compare(2, self.b.integers(lin, type, self.width), self.b.constant(high, type))
            result = self.b.both(result, below)
        return result

    def guarded(
        self, node: Node, idx: Sequence[Lin], mask: SSAValue | None, dims: Sequence[int]
    ) -> tuple[Condition, Point]:
        """Whether `idx` lies inside `node` along `dims`, and a point that is safe to read either way.

        Uniform indices are clamped; lanes outside are masked off. Other dims are not looked at: their index may stand
        for several merged dims.
        """
        inside: SSAValue | None = None
        safe: list[Lin] = []
        for dim, (index, size) in enumerate(zip(idx, node.shape, strict=True)):
            condition = self.condition(index, 0, size) if dim in dims else None
            if condition is False:
                return False, Point(tuple(idx), mask)
            if condition is not None:
                inside = self.b.both(inside, condition)
                if lanes_of(condition):
                    mask = self.b.both(mask, condition)
                else:
                    clamped = self.b.select(condition, self.b.index(index), self.b.constant(0, INDEX))
                    low, high = index.bounds()
                    index = self.b.opaque(clamped, max(low, 0), min(high, size - 1))
            safe.append(index)
        return inside, Point(tuple(safe), mask)

    def _choose(self, condition: Condition, node: Node, point: Point, other: Value) -> Value:
        """`node` at `point` where the condition holds, else `other`."""
        if condition is False:
            return other
        value = self.values(node, [point])[0]
        if condition is None:
            return value
        if self.tuning.mask_registers and self.width and lanes_of(condition) != self.width:
            # As a load under a mask, which is one instruction without a branch.
            condition, value = self.b.broadcast(condition, self.width), self.b.broadcast(self.ssa(value), self.width)
        return self.b.select(condition, self.ssa(value), self.ssa(other))

    def _pad(self, node: PadNode, point: Point) -> Value:
        other = self.values(node.value, [Point((), point.mask)])[0]
        idx = [index - self.offset(low) for index, low in zip(point.idx, node.low, strict=True)]
        dims = [d for d, low in enumerate(node.low) if low != 0 or node.shape[d] != node.source.shape[d]]
        condition, inner = self.guarded(node.source, idx, point.mask, dims)
        return self._choose(condition, node.source, inner, other)

    def _slice_point(self, node: SliceNode, point: Point) -> Point:
        idx = [self.offset(offset) for offset in node.offsets]
        for index, dim in zip(point.idx, node.kept, strict=True):
            idx[dim] = idx[dim] + index * node.steps[dim]
        return Point(tuple(idx), point.mask)

    def _insert(self, node: InsertNode, point: Point) -> Value:
        other = self.values(node.dest, [point])[0]
        idx: list[Lin] = []
        aligned: SSAValue | None = None
        for dim, (index, offset, step) in enumerate(zip(point.idx, node.offsets, node.steps, strict=True)):
            shifted = index - self.offset(offset)
            if step != 1:
                shifted, rest = self.divide(shifted, step)
                match = self.condition(rest, 0, 1)
                if match is False:
                    return other
                aligned = self.b.both(aligned, match)
            if dim in node.kept:
                idx.append(shifted)
            else:
                match = self.condition(shifted, 0, 1)
                if match is False:
                    return other
                aligned = self.b.both(aligned, match)
        condition, inner = self.guarded(node.source, idx, point.mask, range(len(idx)))
        if condition is not False:
            condition = self.b.both(condition, aligned)
        return self._choose(condition, node.source, inner, other)

    def _reshape_point(self, node: ReshapeNode, point: Point) -> Point:
        linear = _address(ZERO, point.idx, row_major_strides(node.shape))
        return Point(tuple(self._delinearize(linear, node.source.shape)), point.mask)

    def _delinearize(self, linear: Lin, shape: Sequence[int]) -> list[Lin]:
        """Row-major indices of element `linear`; splits that stay linear are found first."""
        if len(shape) == 0:
            return []
        if len(shape) == 1:
            return [linear]
        strides = row_major_strides(shape)
        for position in range(1, len(shape)):
            split = linear.split(strides[position - 1])
            if split is not None:
                return self._delinearize(split[0], shape[:position]) + self._delinearize(split[1], shape[position:])
        quotient, remainder = self.divide(linear, strides[0])
        return [quotient, *self._delinearize(remainder, shape[1:])]

    def _concat(self, node: ConcatNode, point: Point) -> Value:
        position = 0
        result: Value | None = None
        for source in node.sources:
            idx = list(point.idx)
            idx[node.dim] = idx[node.dim] - position
            position += source.shape[node.dim]
            condition, inner = self.guarded(source, idx, point.mask, [node.dim])
            if condition is False:
                continue
            value = self.values(source, [inner])[0]
            if condition is None or result is None:
                result = value
            else:
                result = self.b.select(condition, self.ssa(value), self.ssa(result))
            if condition is None:
                break
        assert result is not None
        return result

    def _element(self, node: ElementsNode, point: Point) -> Value:
        linear = _address(ZERO, point.idx, row_major_strides(node.shape))
        if linear.is_const:
            return self.outer(node.values[linear.const])
        result = self.outer(node.values[0])
        for number, value in enumerate(node.values[1:], 1):
            condition = self.condition(linear, number, number + 1)
            if condition is None:
                return self.outer(value)
            if condition is not False:
                result = self.b.select(condition, self.ssa(self.outer(value)), self.ssa(result))
        return result


def _address(base: Lin, idx: Sequence[Lin], strides: Sequence[int]) -> Lin:
    for index, stride in zip(idx, strides, strict=True):
        if stride:
            base = base + index * stride
    return base
