"""`KernelBuilder`: emits kernel form with loops, hoisting and common-subexpression elimination as it goes.

The builder keeps a stack of frames, one per open loop or conditional. A pure operation goes into the outermost frame
that dominates its operands (so loop-invariant code is born outside the loop) and is looked up there first (so nothing
is computed twice). Blocks stay detached until their loop is closed; therefore "append to an outer frame" always means
"before the loop that is being built". Memory is seen through `Buffer`s: reads of memory that the kernel never writes
hoist like arithmetic, other reads stay after the last write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import arith as xarith
from xdsl.dialects import memref, scf, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from tiree.codegen.common.linear import LANE, SCALAR, VECTOR, Lin, Sym
from tiree.dialects.arith import ConstantOp
from tiree.dialects.arith_ext import CmpIOp, SelectOp
from tiree.dialects.dense import DenseAttr, decode_scalar, encode_scalar
from tiree.dialects.vector_ext import GatherOp, ScatterOp
from tiree.support.typed import is_float_attr, is_integer_attr, is_integer_type, is_vector_type, number_of

if TYPE_CHECKING:
    from tiree.codegen.common.body import Value

INDEX = IndexType()
BF16 = BFloat16Type()
F32 = Float32Type()
I8 = IntegerType(8)
I32 = IntegerType(32)
I64 = IntegerType(64)
NO_FASTMATH = {"fastmath": xarith.FastMathFlagsAttr("none")}
NO_OVERFLOW = {"overflowFlags": xarith.IntegerOverflowAttr("none")}

LOOP = "loop"
DYNAMIC_LOOP = "dynamic-loop"
"""A loop that may run zero times."""
CONDITIONAL = "conditional"


class Buffer:
    """A flat (1-D) memref. `writable` memory is re-read after a write; `element` is the type in memory."""

    __slots__ = ("element", "level", "memref", "size", "version", "writable")

    def __init__(self, memref: SSAValue, element: Attribute, size: int, writable: bool) -> None:
        self.memref = memref
        self.element = element
        self.size = size
        self.writable = writable
        self.version = 0
        self.level = 0


class Frame:
    """One open block: results of operations by their keys, symbols of computed indices, values that evaluation made."""

    __slots__ = ("block", "kind", "memo", "syms", "values")

    def __init__(self, block: Block, kind: str) -> None:
        self.block = block
        self.kind = kind
        self.memo: dict[object, SSAValue] = {}
        self.syms: dict[tuple[SSAValue, int, int], Sym] = {}
        self.values: dict[object, Value] = {}


class OpenLoop:
    """A loop under construction: its induction variable as a symbol and its loop-carried values."""

    __slots__ = ("args", "bounds", "inits", "sym")

    def __init__(self, bounds: tuple[SSAValue, SSAValue, SSAValue], inits: Sequence[SSAValue], sym: Sym) -> None:
        self.bounds = bounds
        self.inits = inits
        self.sym = sym
        self.args: Sequence[SSAValue] = ()


class KernelBuilder:
    """Builds one kernel body; `entry` is its block."""

    def __init__(self) -> None:
        self.entry = Block()
        self.frames = [Frame(self.entry, LOOP)]
        self.levels: dict[SSAValue, int] = {}
        self._orders = 0
        self._vector_types: dict[tuple[Attribute, int], VectorType] = {}

    # Types and symbols -------------------------------------------------------------------------------------------

    def vector_type(self, element: Attribute, lanes: int) -> VectorType:
        key = (element, lanes)
        found = self._vector_types.get(key)
        if found is None:
            found = self._vector_types[key] = VectorType(element, [lanes])
        return found

    def sym(self, kind: str, value: SSAValue | None, low: int, high: int) -> Sym:
        self._orders += 1
        return Sym(self._orders, kind, value, low, high)

    def lane_sym(self, width: int) -> Sym:
        return self.sym(LANE, None, 0, width - 1)

    def opaque(self, value: SSAValue, low: int, high: int) -> Lin:
        """A computed index (scalar index, or vector of index or integers) as a linear form of its own."""
        # The bounds belong to the symbol: what is known of a value depends on the conditionals around it.
        key = (value, low, high)
        syms = self.frames[self.level_of(value)].syms
        sym = syms.get(key)
        if sym is None:
            kind = VECTOR if is_vector_type(value.type) else SCALAR
            sym = syms[key] = self.sym(kind, value, low, high)
        return Lin.of(sym)

    # Emission ----------------------------------------------------------------------------------------------------

    @property
    def level(self) -> int:
        return len(self.frames) - 1

    def level_of(self, value: SSAValue) -> int:
        return self.levels.get(value, 0)

    def emit(
        self,
        op_class: type[Operation],
        operands: Sequence[SSAValue],
        type: Attribute,
        properties: Mapping[str, Attribute] | None = None,
        extra: object = None,
        min_level: int = 0,
    ) -> SSAValue:
        """A pure one-result op, hoisted and deduplicated. `extra` completes the key when properties matter."""
        level = min_level
        levels = self.levels
        for operand in operands:
            found = levels.get(operand, 0)
            if found > level:
                level = found
        frame = self.frames[level]
        key = (op_class, *operands, type, extra)
        value = frame.memo.get(key)
        if value is None:
            op = op_class.create(operands=operands, result_types=[type], properties=properties or {})
            frame.block.add_op(op)
            value = frame.memo[key] = op.results[0]
            levels[value] = level
        return value

    def append(self, op: Operation) -> Sequence[OpResult]:
        """An op with effects, at the end of the innermost block."""
        self.frames[-1].block.add_op(op)
        for result in op.results:
            self.levels[result] = self.level
        return op.results

    def barrier(self, *kinds: str) -> int:
        """The level of the innermost frame of these kinds: speculation must not pass above it."""
        for level in range(self.level, 0, -1):
            if self.frames[level].kind in kinds:
                return level
        return 0

    # Constants ---------------------------------------------------------------------------------------------------

    def constant(self, value: int | float, type: Attribute) -> SSAValue:
        """A scalar constant; integers are taken modulo the width."""
        if isinstance(type, AnyFloat):
            # The bits are the key: -0.0 equals 0.0 and no NaN equals itself.
            key = ("constant", encode_scalar(type, value), type)
        else:
            key = ("constant", int(value), type)
        memo = self.frames[0].memo
        found = memo.get(key)
        if found is None:
            if isinstance(type, AnyFloat):
                attr = FloatAttr(float(value), type)
            else:
                assert is_integer_type(type) or isinstance(type, IndexType)
                attr = IntegerAttr(_wrap(int(value), type), type)
            found = memo[key] = self._constant(attr)
        return found

    def _constant(self, attr: FloatAttr | IntegerAttr | DenseAttr, type: Attribute | None = None) -> SSAValue:
        op = ConstantOp.create(result_types=[type or attr.type], properties={"value": attr})
        self.frames[0].block.add_op(op)
        return op.results[0]

    def splat(self, value: int | float, element: Attribute, lanes: int) -> SSAValue:
        """A vector constant of equal lanes, or a scalar constant when `lanes` is 0."""
        if not lanes:
            return self.constant(value, element)
        return self.vector_constant([value], element, lanes)

    def vector_constant(self, values: Sequence[int | float], element: Attribute, lanes: int) -> SSAValue:
        """A vector constant from one value (all lanes) or `lanes` values."""
        raw = b"".join([encode_scalar(element, v) for v in values])
        key = ("dense", raw, element, lanes)
        memo = self.frames[0].memo
        found = memo.get(key)
        if found is None:
            type, splat = self.vector_type(element, lanes), len(values) == 1
            found = memo[key] = self._constant(DenseAttr.from_buffer(type, raw, splat), type)
        return found

    def broadcast(self, value: SSAValue, lanes: int) -> SSAValue:
        """`value` in every lane (itself when it is a vector already or `lanes` is 0)."""
        if not lanes or is_vector_type(value.type):
            return value
        owner = value.owner
        if isinstance(owner, ConstantOp):
            return self.splat(number_of(owner.value), value.type, lanes)
        return self.emit(vector.BroadcastOp, [value], self.vector_type(value.type, lanes))

    # Arithmetic --------------------------------------------------------------------------------------------------

    def binary(self, op_class: type[Operation], a: SSAValue, b: SSAValue) -> SSAValue:
        """An integer or float op of two operands of one type; scalars are broadcast to meet vectors."""
        a, b = self.match(a, b)
        return self.emit(op_class, [a, b], a.type, _default_properties(op_class))

    def match(self, *values: SSAValue) -> Sequence[SSAValue]:
        lanes = max(lanes_of(v) for v in values)
        return [self.broadcast(v, lanes) for v in values] if lanes else values

    def compare(self, predicate: int, a: SSAValue, b: SSAValue) -> SSAValue:
        """`arith.cmpi` with MLIR's predicate number."""
        a, b = self.match(a, b)
        lanes = lanes_of(a)
        type = self.vector_type(i1, lanes) if lanes else i1
        properties: dict[str, Attribute] = {"predicate": IntegerAttr(predicate, I64)}
        return self.emit(CmpIOp, [a, b], type, properties, predicate)

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        if a is b:
            return a
        if element_of(a) != element_of(b):
            a, b = self.widen(a), self.widen(b)
        if lanes_of(condition):
            condition, a, b = self.match(condition, a, b)
        else:
            a, b = self.match(a, b)
        return self.emit(SelectOp, [condition, a, b], a.type)

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        """The conjunction of two conditions, where None is true."""
        if a is None or b is None:
            return b if a is None else a
        return self.binary(xarith.AndIOp, a, b)

    def widen(self, value: SSAValue) -> SSAValue:
        """A bf16 value as f32; any other value as it is."""
        if element_of(value) != BF16:
            return value
        owner = value.owner
        if isinstance(owner, ConstantOp) and is_float_attr(owner.value):
            raw = encode_scalar(BF16, owner.value.value.data)
            return self.constant(decode_scalar(BF16, raw), F32)
        return self.cast(xarith.ExtFOp, value, F32)

    def narrow(self, value: SSAValue, element: Attribute) -> SSAValue:
        """The inverse of `widen`, where the program's type is bf16."""
        if element == BF16 and element_of(value) == F32:
            return self.cast(xarith.TruncFOp, value, BF16)
        return value

    def cast(self, op_class: type[Operation], value: SSAValue, element: Attribute) -> SSAValue:
        lanes = lanes_of(value)
        return self.emit(op_class, [value], self.vector_type(element, lanes) if lanes else element)

    # Indices -----------------------------------------------------------------------------------------------------

    def index(self, lin: Lin) -> SSAValue:
        """The `index` value of a uniform linear form."""
        total: SSAValue | None = None
        for sym, coefficient in lin.terms:
            term: SSAValue = sym.value
            if coefficient != 1:
                term = self.emit(xarith.MuliOp, [term, self.constant(coefficient, INDEX)], INDEX, NO_OVERFLOW)
            total = term if total is None else self.emit(xarith.AddiOp, [total, term], INDEX, NO_OVERFLOW)
        if total is None:
            return self.constant(lin.const, INDEX)
        if lin.const:
            total = self.emit(xarith.AddiOp, [total, self.constant(lin.const, INDEX)], INDEX, NO_OVERFLOW)
        return total

    def uniform_part(self, lin: Lin) -> tuple[Lin, Lin]:
        """`lin` as (uniform form, form of the lane and vector symbols only)."""
        if lin.is_uniform:
            return lin, Lin(0)
        uniform = Lin(lin.const, tuple(t for t in lin.terms if t[0].kind is SCALAR))
        return uniform, Lin(0, tuple(t for t in lin.terms if t[0].kind is not SCALAR))

    def integers(self, lin: Lin, type: Attribute, lanes: int) -> SSAValue:
        """`lin` as integers of `type` (index or iN): a scalar when it is uniform, else a vector of `lanes`."""
        uniform, varying = self.uniform_part(lin)
        base = self.convert(self.index(uniform), type)
        if not varying.terms:
            return base
        total: SSAValue | None = None
        for sym, coefficient in varying.terms:
            if sym.kind is LANE:
                term = self.vector_constant([coefficient * lane for lane in range(lanes)], type, lanes)
            else:
                term = self.convert(sym.value, type)
                if coefficient != 1:
                    term = self.binary(xarith.MuliOp, term, self.constant(coefficient, type))
            total = term if total is None else self.binary(xarith.AddiOp, total, term)
        assert total is not None
        if uniform.is_const and uniform.const == 0:
            return total
        return self.binary(xarith.AddiOp, self.broadcast(base, lanes), total)

    def convert(self, value: SSAValue, type: Attribute) -> SSAValue:
        """Between index and integers, scalar or vector."""
        source = element_of(value)
        if source == type:
            return value
        owner = value.owner
        if isinstance(owner, ConstantOp) and is_integer_attr(owner.value):
            return self.constant(owner.value.value.data, type)
        if isinstance(source, IndexType) or isinstance(type, IndexType):
            return self.cast(xarith.IndexCastOp, value, type)
        assert is_integer_type(source)
        assert is_integer_type(type)
        wider = type.width.data > source.width.data
        return self.cast(xarith.ExtSIOp if wider else xarith.TruncIOp, value, type)

    # Control flow ------------------------------------------------------------------------------------------------

    def begin_for(
        self,
        low: int | SSAValue,
        high: int | SSAValue,
        step: int,
        inits: Sequence[SSAValue] = (),
        bounds: tuple[int, int] | None = None,
    ) -> OpenLoop:
        """Opens `for low to high step step`; `bounds` (inclusive) are needed where the limits are not constants."""
        dynamic = not isinstance(low, int) or not isinstance(high, int)
        if bounds is None:
            assert isinstance(low, int)
            assert isinstance(high, int)
            bounds = (low, low + (max(high - low - 1, 0) // step) * step)
        low, high = (v if isinstance(v, SSAValue) else self.constant(v, INDEX) for v in (low, high))

        block = Block(arg_types=[INDEX, *[v.type for v in inits]])
        self.frames.append(Frame(block, DYNAMIC_LOOP if dynamic else LOOP))
        for arg in block.args:
            self.levels[arg] = self.level
        loop = OpenLoop((low, high, self.constant(step, INDEX)), inits, self.sym(SCALAR, block.args[0], *bounds))
        loop.args = block.args[1:]
        return loop

    def end_for(self, loop: OpenLoop, yields: Sequence[SSAValue] = ()) -> Sequence[OpResult]:
        frame = self.frames.pop()
        frame.block.add_op(scf.YieldOp.create(operands=yields))
        op = scf.ForOp.create(
            operands=[*loop.bounds, *loop.inits],
            result_types=[v.type for v in loop.inits],
            regions=[Region(frame.block)],
        )
        return self.append(op)

    def begin_if(self) -> None:
        """Opens the first (or, after `switch_if`, the other) side of a conditional."""
        self.frames.append(Frame(Block(), CONDITIONAL))

    def end_side(self, yields: Sequence[SSAValue] = ()) -> Block:
        """Closes one side; hand the block to `finish_if`."""
        block = self.frames.pop().block
        block.add_op(scf.YieldOp.create(operands=yields))
        return block

    def finish_if(
        self, condition: SSAValue, then: Block, otherwise: Block | None, types: Sequence[Attribute] = ()
    ) -> Sequence[OpResult]:
        regions = [Region(then), Region(otherwise) if otherwise is not None else Region()]
        return self.append(scf.IfOp.create(operands=[condition], result_types=types, regions=regions))

    # Memory ------------------------------------------------------------------------------------------------------

    def _read_level(self, buffer: Buffer) -> int:
        level = self.barrier(CONDITIONAL)
        return max(level, min(buffer.level, self.level)) if buffer.writable else level

    def wrote(self, buffer: Buffer) -> None:
        """Reads from here on must not be taken from before this point."""
        buffer.version += 1
        buffer.level = self.level

    def load(self, buffer: Buffer, address: Lin) -> SSAValue:
        """One element; `address` is uniform."""
        operands = [buffer.memref, self.index(address)]
        return self.emit(memref.LoadOp, operands, buffer.element, None, buffer.version, self._read_level(buffer))

    def load_vector(self, buffer: Buffer, address: Lin, lanes: int, mask: SSAValue | None = None) -> SSAValue:
        """`lanes` contiguous elements from the uniform `address` on; masked-off lanes are not read and are 0."""
        type = self.vector_type(buffer.element, lanes)
        operands = [buffer.memref, self.index(address)]
        level = self._read_level(buffer)
        if mask is None:
            return self.emit(vector.LoadOp, operands, type, None, buffer.version, level)
        operands += [mask, self.splat(0, buffer.element, lanes)]
        return self.emit(vector.MaskedLoadOp, operands, type, None, buffer.version, level)

    def gather(self, buffer: Buffer, address: Lin, lanes: int, mask: SSAValue | None = None) -> SSAValue:
        """The elements at an `address` that differs between lanes."""
        uniform, varying = self.uniform_part(address)
        low, high = varying.bounds()
        bits = I32 if low >= -(1 << 31) and high < 1 << 31 else I64
        offsets = self.integers(varying, bits, lanes)
        mask = mask if mask is not None else self.splat(1, i1, lanes)
        operands = [buffer.memref, self.index(uniform), offsets, mask, self.splat(0, buffer.element, lanes)]
        type = self.vector_type(buffer.element, lanes)
        return self.emit(GatherOp, operands, type, None, buffer.version, self._read_level(buffer))

    def store(self, buffer: Buffer, address: Lin, value: SSAValue) -> None:
        self.append(memref.StoreOp.create(operands=[value, buffer.memref, self.index(address)]))

    def store_vector(self, buffer: Buffer, address: Lin, value: SSAValue, mask: SSAValue | None = None) -> None:
        """Contiguous lanes from the uniform `address` on; only those that `mask` names."""
        index = self.index(address)
        if mask is None:
            self.append(vector.StoreOp.create(operands=[value, buffer.memref, index]))
        else:
            self.append(vector.MaskedStoreOp.create(operands=[buffer.memref, index, mask, value]))

    def scatter(self, buffer: Buffer, address: Lin, value: SSAValue, mask: SSAValue | None = None) -> None:
        """Each lane to its own `address`."""
        lanes = lanes_of(value)
        uniform, varying = self.uniform_part(address)
        low, high = varying.bounds()
        bits = I32 if low >= -(1 << 31) and high < 1 << 31 else I64
        offsets = self.integers(varying, bits, lanes)
        mask = mask if mask is not None else self.splat(1, i1, lanes)
        operands = [buffer.memref, self.index(uniform), offsets, mask, value]
        self.append(ScatterOp.create(operands=operands))

    def alloca(self, element: Attribute, size: int, attributes: dict[str, Attribute] | None = None) -> Buffer:
        """Scratch of the workgroup, for the whole kernel."""
        op = memref.AllocaOp.create(
            result_types=[MemRefType(element, [size])],
            properties={"operandSegmentSizes": _NO_OPERANDS, "alignment": IntegerAttr(64, I64)},
            attributes=attributes or {},
        )
        self.frames[0].block.add_op(op)
        return Buffer(op.results[0], element, size, writable=True)


def lanes_of(value: SSAValue) -> int:
    """The lanes of a vector, 0 for a scalar."""
    type = value.type
    return type.shape.data[0].data if is_vector_type(type) else 0


def element_of(value: SSAValue) -> Attribute:
    type = value.type
    return type.element_type if is_vector_type(type) else type


def _wrap(value: int, type: Attribute) -> int:
    """The signed representative modulo the width (i1: 0 or 1 as MLIR's true = -1 is printed as `true`)."""
    width = type.width.data if is_integer_type(type) else 64
    if width == 1:
        return value & 1
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def _default_properties(op_class: type[Operation]) -> Mapping[str, Attribute] | None:
    """The flag property that MLIR's parser would fill in."""
    if op_class in _OVERFLOW_OPS:
        return NO_OVERFLOW
    if issubclass(op_class, xarith.FloatingPointLikeBinaryOperation):
        return NO_FASTMATH
    return None


_OVERFLOW_OPS = frozenset([xarith.AddiOp, xarith.SubiOp, xarith.MuliOp, xarith.ShLIOp])
_NO_OPERANDS = memref.AllocaOp.build(
    operands=[[], []], result_types=[MemRefType(I8, [1])], properties={"alignment": IntegerAttr(64, I64)}
).properties["operandSegmentSizes"]
