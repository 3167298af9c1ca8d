"""Elements of tensors computed on the host: what an element is in terms of numbers that the host has.

An element of a structured op is what its body yields at that point; its inputs are elements again. It ends at numbers
of the host that were put into a tensor, at constants, or at a tensor for which the caller allows one read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, Float32Type, Float64Type, IndexType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from tiree.dialects.arith import ConstantOp, constant_int, constant_of
from tiree.dialects.dense import DenseAttr, decode_scalar, element_byte_size
from tiree.flow.index_math import IndexBuilder
from tiree.flow.scalars import Number, scalar_attr
from tiree.flow.simplify_generic import fold_scalar
from tiree.flow.sink_scalars import is_host_arithmetic, reads_tensor
from tiree.flow.structured import (
    body_of,
    defining_op,
    element_count,
    element_type_of,
    erase_op,
    input_count,
    is_generic,
    is_tensor,
    iterators_of,
    maps_of,
    segments,
    shape_of,
    yielded,
)
from tiree.support.typed import int_of, ints_of, is_integer_type

MAX_OPS = 96
"""What takes more operations than this stays on the device."""

MAX_TABLE = 16
"""A constant of more elements than this is not looked up by comparisons."""

_EXACT = frozenset(
    f"arith.{name}"
    for name in (
        "addf", "addi", "andi", "bitcast", "ceildivsi", "ceildivui", "cmpf", "cmpi", "divf", "divsi", "divui", "extf",
        "extsi", "extui", "floordivsi", "fptosi", "fptoui", "index_cast", "index_castui", "maximumf", "maxnumf",
        "maxsi", "maxui", "minimumf", "minnumf", "minsi", "minui", "mulf", "muli", "negf", "ori", "remf", "remsi",
        "remui", "select", "shli", "shrsi", "shrui", "sitofp", "subf", "subi", "truncf", "trunci", "uitofp", "xori",
    )
) | frozenset(
    f"math.{name}"
    for name in (
        "absf", "absi", "ceil", "copysign", "ctlz", "ctpop", "cttz", "floor", "round", "roundeven", "sqrt", "trunc",
    )
)  # fmt: skip
"""Operations with one right result, which host and device give alike."""

Index = int | SSAValue


class Unknown(Exception):
    """The host cannot tell."""


def is_host_type(type: Attribute) -> bool:
    """Whether numbers of this type live on the host."""
    if is_integer_type(type):
        return type.width.data in (1, 8, 16, 32, 64)
    return isinstance(type, IndexType | Float32Type | Float64Type)


class Elements:
    """Appends what it needs to `block`."""

    def __init__(self, block: Block, read: Callable[[SSAValue, Sequence[int]], SSAValue | None]) -> None:
        self.block = block
        self.read = read
        """Reads an element of a tensor that the host does not know, or declines."""
        self.known: dict[SSAValue, SSAValue] = {}
        """Tensors of one element whose elements the host has."""
        self.used: set[SSAValue] = set()
        """Those of them that were asked for."""
        self._count = 0
        self._done: dict[tuple[SSAValue, tuple[Index, ...]], SSAValue] = {}
        self._index = IndexBuilder(block)

    def element(self, value: SSAValue, index: Sequence[Index]) -> SSAValue:
        """The element of tensor `value` at `index`. Raises `Unknown`."""
        key = value, tuple(index)
        found = self._done.get(key)
        if found is None:
            found = self._done[key] = self._element(value, index)
        return found

    def _element(self, value: SSAValue, index: Sequence[Index]) -> SSAValue:
        known = self.known.get(value)
        if known is not None:
            self.used.add(value)
            return known
        if not is_host_type(element_type_of(value)):
            raise Unknown
        constant = self._of_constant(value, index)
        if constant is not None:
            return constant
        op = defining_op(value)
        if op is not None:
            try:
                return self._of_op(op, value, index)
            except Unknown:
                pass
        return self._read(value, index)

    def _read(self, value: SSAValue, index: Sequence[Index]) -> SSAValue:
        numbers = [number for at in index if (number := _known(at)) is not None]
        found = self.read(value, numbers) if len(numbers) == len(index) else None
        if found is None:
            raise Unknown
        return found

    # Constants.

    def _of_constant(self, value: SSAValue, index: Sequence[Index]) -> SSAValue | None:
        constant = constant_of(value)
        if not isinstance(constant, DenseAttr):
            return None
        if constant.is_splat or element_count(value) == 1:
            return self._constant(_number_at(constant, 0), element_type_of(value))
        place: SSAValue = self._index.constant(0)
        for position, size in zip(index, shape_of(value), strict=True):
            place = self._add(self._multiply(place, size), self._value(position))
        number = constant_int(place)
        if number is not None:
            return self._constant(_number_at(constant, number), element_type_of(value))
        count = element_count(value)
        if count > MAX_TABLE:
            raise Unknown
        chosen = self._constant(_number_at(constant, count - 1), element_type_of(value))
        for at in range(count - 1):
            self._spend(2)
            is_it = self._index.compare(0, place, self._index.constant(at))
            chosen = self._index.select(is_it, self._constant(_number_at(constant, at), element_type_of(value)), chosen)
        return chosen

    def _constant(self, number: Number, type: Attribute) -> SSAValue:
        attr = scalar_attr(number, type)
        if attr is None:
            raise Unknown
        return self._append(ConstantOp(attr))

    # Operations that make tensors.

    def _of_op(self, op: Operation, value: SSAValue, index: Sequence[Index]) -> SSAValue:
        if is_generic(op):
            return self._of_generic(op, value, index)
        match op.name:
            case "tensor.from_elements":
                place = 0
                for at, size in zip(index, shape_of(value), strict=True):
                    number = 0 if size == 1 else _known(at)
                    if number is None:
                        raise Unknown
                    place = place * size + number
                return self.scalar(op.operands[place])
            case "linalg.fill" | "tensor.splat":
                return self.scalar(op.operands[0])
            case "tensor.cast" | "util.optimization_barrier" | "flow.tensor.tie_shape":
                return self.element(op.operands[0], index)
            case "tensor.collapse_shape" | "tensor.expand_shape" | "tensor.reshape" if element_count(value) == 1:
                source = op.operands[0]
                if element_count(source) != 1:
                    raise Unknown
                return self.element(source, [0] * len(shape_of(source)))
            case "tensor.extract_slice":
                return self._of_slice(op, index)
            case _:
                raise Unknown

    def _of_slice(self, op: Operation, index: Sequence[Index]) -> SSAValue:
        source, (_, offsets, *_) = op.operands[0], segments(op)
        if segments(op)[2] or segments(op)[3]:
            raise Unknown
        dynamic = iter(op.operands[1 : 1 + offsets])
        given, sizes, strides = (ints_of(op.properties[f"static_{name}"]) for name in ("offsets", "sizes", "strides"))
        starts: list[Index] = [next(dynamic) if start == DYNAMIC_INDEX else start for start in given]
        kept = list(index)
        dropped = len(starts) - len(kept)
        places: list[Index] = []
        for start, size, stride in zip(starts, sizes, strides, strict=True):
            at: Index = 0
            if dropped and size == 1:
                dropped -= 1
            elif kept:
                at = kept.pop(0)
            places.append(self._add(self._value(start), self._multiply(self._value(at), stride)))
        if dropped or kept:
            raise Unknown
        return self.element(source, places)

    def _of_generic(self, op: Operation, value: SSAValue, index: Sequence[Index]) -> SSAValue:
        if not all(iterators_of(op)):
            raise Unknown
        result = next(number for number, each in enumerate(op.results) if each is value)
        count, maps = input_count(op), maps_of(op)
        loops: list[Index | None] = [None] * maps[0].num_dims
        for expr, at in zip(maps[count + result].results, index, strict=True):
            if not isinstance(expr, AffineDimExpr):
                raise Unknown
            loops[expr.position] = at
        places = [at for at in loops if at is not None]
        if len(places) != len(loops):
            raise Unknown
        return _Body(self, op, places).value(yielded(op)[result])

    # Numbers of the host.

    def scalar(self, value: SSAValue) -> SSAValue:
        """A number of the host, without reads of tensors."""
        if not is_host_type(value.type):
            raise Unknown
        if not reads_tensor(value):
            return value
        op = defining_op(value)
        assert op is not None
        operands = [operand if is_tensor(operand) else self.scalar(operand) for operand in op.operands]
        if op.name == "tensor.extract":
            return self.element(operands[0], operands[1:])
        if not is_host_arithmetic(op):
            raise Unknown
        return self.apply(op, operands)

    def apply(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
        """What `op`, which has one result, gives for other operands. Folds what is known already."""
        if op.name not in _EXACT or not is_host_type(op.results[0].type):
            raise Unknown
        types = [result.type for result in op.results]
        made = type(op).create(operands=operands, result_types=types, properties=dict(op.properties))
        result = self._append(made)
        folded = fold_scalar(made)
        if folded is not None:
            erase_op(made)
            return folded
        self._spend(1)
        return result

    def scalar_constant(self, op: Operation) -> SSAValue:
        """A constant of a body."""
        if not is_host_type(op.results[0].type):
            raise Unknown
        return self._append(op.clone())

    # Index arithmetic.

    def _value(self, index: Index) -> SSAValue:
        return self._index.constant(index) if isinstance(index, int) else index

    def _add(self, left: SSAValue, right: SSAValue) -> SSAValue:
        a, b = constant_int(left), constant_int(right)
        return self._index.constant(a + b) if a is not None and b is not None else self._index.add(left, right)

    def _multiply(self, value: SSAValue, factor: int) -> SSAValue:
        number = constant_int(value)
        if number is not None:
            return self._index.constant(number * factor)
        return self._index.mul(value, self._index.constant(factor))

    def place(self, expr: AffineExpr, loops: Sequence[Index]) -> Index:
        """An index expression at a point."""
        match expr:
            case AffineConstantExpr():
                return expr.value
            case AffineDimExpr():
                return loops[expr.position]
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
                return self._add(self._value(self.place(expr.lhs, loops)), self._value(self.place(expr.rhs, loops)))
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=AffineConstantExpr(value=factor)):
                return self._multiply(self._value(self.place(lhs, loops)), factor)
            case _:
                raise Unknown

    def index_value(self, index: Index) -> SSAValue:
        """An index as a number of the host."""
        return self._value(index)

    def _append(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def _spend(self, count: int) -> None:
        self._count += count
        if self._count > MAX_OPS:
            raise Unknown


class _Body:
    """The body of one structured op at one point."""

    def __init__(self, elements: Elements, op: Operation, loops: Sequence[Index]) -> None:
        self.elements, self.op, self.loops = elements, op, loops
        self.block = body_of(op)
        self.done: dict[SSAValue, SSAValue] = {}

    def value(self, value: SSAValue) -> SSAValue:
        found = self.done.get(value)
        if found is None:
            found = self.done[value] = self._value(value)
        return found

    def _value(self, value: SSAValue) -> SSAValue:
        elements, owner = self.elements, value.owner
        if owner is self.block:
            number = next(n for n, argument in enumerate(self.block.args) if argument is value)
            place = [elements.place(expr, self.loops) for expr in maps_of(self.op)[number].results]
            return elements.element(self.op.operands[number], place)
        if isinstance(owner, Block) or owner.parent is not self.block:
            return elements.scalar(value)
        if owner.name == "arith.constant":
            return elements.scalar_constant(owner)
        if owner.name == "linalg.index":
            dim = owner.properties["dim"]
            return elements.index_value(self.loops[int_of(dim)])
        if owner.regions or len(owner.results) != 1:
            raise Unknown
        operands = [operand if is_tensor(operand) else self.value(operand) for operand in owner.operands]
        if owner.name == "tensor.extract":
            return elements.element(operands[0], operands[1:])
        return elements.apply(owner, operands)


def _known(index: Index) -> int | None:
    return index if isinstance(index, int) else constant_int(index)


def _number_at(constant: DenseAttr, place: int) -> Number:
    size = element_byte_size(constant.element_type)
    start = 0 if constant.is_splat else place * size
    return decode_scalar(constant.element_type, bytes(constant.buffer[start : start + size]))
