"""`Build`: makes StableHLO ops at a place, with the types of their results.

Elementwise ops take rank-0 operands beside larger ones: the lowering repeats them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerAttr, TensorType, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tiree.dialects import chlo, stablehlo
from tiree.dialects.dense import DenseAttr, encode_scalar
from tiree.dialects.stablehlo_attrs import ComparisonDirectionAttr, DotDimensionNumbersAttr
from tiree.input.lowering.context import ranked_type
from tiree.support.locations import take_location

OPS = {**stablehlo.OPS, **chlo.OPS}


def i64_array(values: Sequence[int]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, list(values))


def element_of(value: SSAValue) -> Attribute:
    return ranked_type(value).element_type


def shape_of(value: SSAValue) -> tuple[int, ...]:
    return ranked_type(value).get_shape()


def of_element(value: SSAValue, element: Attribute) -> TensorType:
    """The type of `value` with another element type."""
    return TensorType(element, ranked_type(value).shape)


def larger(*values: SSAValue) -> SSAValue:
    """The value that says the shape of an elementwise op: of the highest rank, the first with the fewest `?`."""
    return min(values, key=lambda value: (-len(shape_of(value)), shape_of(value).count(DYNAMIC_INDEX)))


class Build:
    """Makes ops before `place`, or at the end of a block inside of `region`."""

    def __init__(self, place: Operation) -> None:
        self.place = place
        self._block: Block | None = None

    def make(
        self,
        name: str,
        operands: Sequence[SSAValue],
        types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Sequence[SSAValue]:
        """Any op of StableHLO or CHLO, by name without `stablehlo.`."""
        op = OPS[name if "." in name else f"stablehlo.{name}"].create(
            operands=operands, result_types=types, properties=dict(properties or {}), regions=regions
        )
        return self.add(op).results

    def add(self, op: Operation) -> Operation:
        take_location(op, self.place)
        if self._block is not None:
            self._block.add_op(op)
        else:
            block = self.place.parent
            assert block is not None
            block.insert_op_before(op, self.place)
        return op

    @contextmanager
    def inside(self, block: Block) -> Generator[Block]:
        """Makes ops at the end of `block` for a while."""
        outer, self._block = self._block, block
        try:
            yield block
        finally:
            self._block = outer

    def region(self, types: Sequence[Attribute], body: Callable[[Sequence[SSAValue]], Sequence[SSAValue]]) -> Region:
        """A region of one block that returns what `body` makes of its arguments."""
        block = Block(arg_types=types)
        with self.inside(block):
            self.make("return", list(body(block.args)), [])
        return Region(block)

    def value(
        self,
        name: str,
        operands: Sequence[SSAValue],
        type: Attribute,
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> SSAValue:
        """The only result of an op."""
        return self.make(name, operands, [type], properties, regions)[0]

    # Constants.

    def dense(self, attr: DenseAttr) -> SSAValue:
        return self.value("constant", [], attr.type, {"value": attr})

    def constant(self, element: Attribute, value: int | float) -> SSAValue:
        """A rank-0 constant."""
        raw = encode_scalar(element, value)
        return self.dense(DenseAttr.from_buffer(TensorType(element, []), raw, splat=True))

    def index_vector(self, values: Sequence[int]) -> SSAValue:
        """A constant `tensor<Nxi32>`."""
        raw = b"".join(value.to_bytes(4, "little", signed=True) for value in values)
        return self.dense(DenseAttr.from_buffer(TensorType(i32, [len(values)]), raw))

    # Elementwise.

    def unary(self, name: str, a: SSAValue) -> SSAValue:
        return self.value(name, [a], a.type)

    def binary(self, name: str, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.value(name, [a, b], larger(a, b).type)

    def add_(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.binary("add", a, b)

    def subtract(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.binary("subtract", a, b)

    def multiply(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.binary("multiply", a, b)

    def divide(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.binary("divide", a, b)

    def compare(self, direction: str, a: SSAValue, b: SSAValue) -> SSAValue:
        type = of_element(larger(a, b), i1)
        return self.value("compare", [a, b], type, {"comparison_direction": ComparisonDirectionAttr(direction)})

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.value("select", [condition, a, b], of_element(larger(condition, a, b), element_of(a)))

    def clamp(self, low: SSAValue, a: SSAValue, high: SSAValue) -> SSAValue:
        return self.value("clamp", [low, a, high], a.type)

    def convert(self, a: SSAValue, element: Attribute) -> SSAValue:
        if element_of(a) == element:
            return a
        return self.value("convert", [a], of_element(a, element))

    # Shapes.

    def size(self, value: SSAValue, dim: int, element: Attribute = i32) -> SSAValue:
        """The size of a dimension as a rank-0 tensor."""
        extent = shape_of(value)[dim]
        if extent != DYNAMIC_INDEX:
            return self.constant(element, extent)
        found = self.value("get_dimension_size", [value], TensorType(i32, []), {"dimension": IntegerAttr(dim, i64)})
        return self.convert(found, element)

    def shape(self, value: SSAValue) -> SSAValue:
        """The sizes of a value as `tensor<Nxi32>`."""
        return self.vector([self.size(value, dim) for dim in range(len(shape_of(value)))])

    def vector(self, numbers: Sequence[SSAValue]) -> SSAValue:
        """Rank-0 numbers as `tensor<Nxi32>`."""
        if not numbers:
            return self.index_vector([])
        parts = [self.value("reshape", [number], TensorType(i32, [1])) for number in numbers]
        return self.value("concatenate", parts, TensorType(i32, [len(parts)]), {"dimension": IntegerAttr(0, i64)})

    def broadcast(self, value: SSAValue, dims: Sequence[int], like: SSAValue) -> SSAValue:
        """`value` repeated into the shape of `like`; its dimension i becomes `dims[i]`."""
        type = of_element(like, element_of(value))
        properties = {"broadcast_dimensions": i64_array(dims)}
        if DYNAMIC_INDEX in type.get_shape():
            return self.value("dynamic_broadcast_in_dim", [value, self.shape(like)], type, properties)
        return self.value("broadcast_in_dim", [value], type, properties)

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        return self.value("reshape", [value], TensorType(element_of(value), shape))

    def transpose(self, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
        if list(permutation) == list(range(len(permutation))):
            return value
        shape = shape_of(value)
        type = TensorType(element_of(value), [shape[dim] for dim in permutation])
        return self.value("transpose", [value], type, {"permutation": i64_array(permutation)})

    def iota(self, type: TensorType, dim: int) -> SSAValue:
        return self.value("iota", [], type, {"iota_dimension": IntegerAttr(dim, i64)})

    def reduce(self, value: SSAValue, dims: Sequence[int], name: str = "add", start: int | float = 0) -> SSAValue:
        """`value` reduced along `dims` by a binary op."""
        element = element_of(value)
        scalar = TensorType(element, [])
        region = self.region([scalar, scalar], lambda args: [self.binary(name, args[0], args[1])])
        kept = [size for dim, size in enumerate(shape_of(value)) if dim not in dims]
        return self.value(
            "reduce",
            [value, self.constant(element, start)],
            TensorType(element, kept),
            {"dimensions": i64_array(dims)},
            [region],
        )

    def slice(self, value: SSAValue, starts: Sequence[int], limits: Sequence[int]) -> SSAValue:
        type = TensorType(element_of(value), [b - a for a, b in zip(starts, limits, strict=True)])
        properties = {"start_indices": starts, "limit_indices": limits, "strides": [1] * len(starts)}
        return self.value("slice", [value], type, {key: i64_array(list(values)) for key, values in properties.items()})

    def dynamic_slice(self, value: SSAValue, starts: Sequence[SSAValue], sizes: Sequence[int]) -> SSAValue:
        type = TensorType(element_of(value), sizes)
        return self.value("dynamic_slice", [value, *starts], type, {"slice_sizes": i64_array(sizes)})

    def update_slice(self, value: SSAValue, part: SSAValue, starts: Sequence[SSAValue]) -> SSAValue:
        return self.value("dynamic_update_slice", [value, part, *starts], value.type)

    def concatenate(self, values: Sequence[SSAValue], dim: int) -> SSAValue:
        shape = list(shape_of(values[0]))
        shape[dim] = sum(shape_of(value)[dim] for value in values)
        type = TensorType(element_of(values[0]), shape)
        return self.value("concatenate", values, type, {"dimension": IntegerAttr(dim, i64)})

    def dot(self, lhs: SSAValue, rhs: SSAValue, type: TensorType, numbers: DotDimensionNumbersAttr) -> SSAValue:
        return self.value("dot_general", [lhs, rhs], type, {"dot_dimension_numbers": numbers})

    # Loops.

    def count_up(
        self,
        count: SSAValue,
        inits: Sequence[SSAValue],
        body: Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """`body(i, values)` for i from 0 up to `count` (a rank-0 integer); gives the last values."""
        element = element_of(count)
        start = self.constant(element, 0)
        types = [start.type, *(init.type for init in inits)]
        before = self.region(types, lambda args: [self.compare("LT", args[0], count)])

        def step(args: Sequence[SSAValue]) -> Sequence[SSAValue]:
            values = body(args[0], args[1:])
            return [self.add_(args[0], self.constant(element, 1)), *values]

        after = self.region(types, step)
        return self.make("while", [start, *inits], types, regions=[before, after])[1:]
