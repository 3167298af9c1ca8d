"""`OnnxBuild`: makes StableHLO with numpy's broadcasting, as ONNX has it; dimensions may be `?` where it says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, TensorType, i1, i32, i64
from xdsl.ir import Attribute, Block, SSAValue

from tiree.dialects.dense import DenseAttr, numpy_dtype_name
from tiree.dialects.stablehlo_attrs import ComparisonDirectionAttr, DotDimensionNumbers, DotDimensionNumbersAttr
from tiree.input.expansions.build import Build, element_of, i64_array, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.support.typed import is_integer_type

Array: TypeAlias = "np.ndarray"
Size: TypeAlias = "int | SSAValue"
"""A size: a number, or a rank-0 `i32` tensor."""


def broadcast_shape(*shapes: Sequence[int]) -> tuple[int, ...]:
    """numpy's rule; of `?` and a number other than 1, the number. Raises `Unsupported` for shapes that do not fit."""
    rank = max(map(len, shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for dim, size in enumerate(shape, rank - len(shape)):
            if size == 1 or size == result[dim]:
                continue
            if result[dim] == 1 or (result[dim] == DYNAMIC_INDEX and size != 1):
                result[dim] = size
            elif size != DYNAMIC_INDEX:
                raise Unsupported(f"on shapes that cannot be broadcast: {', '.join(map(shape_text, shapes))}")
    return tuple(result)


def shape_text(shape: Sequence[int]) -> str:
    """`[2,?]`."""
    return f"[{','.join('?' if size == DYNAMIC_INDEX else str(size) for size in shape)}]"


def is_static(value: SSAValue) -> bool:
    return DYNAMIC_INDEX not in shape_of(value)


def rank_of(value: SSAValue) -> int:
    return len(shape_of(value))


def is_float(element: Attribute) -> bool:
    return not is_integer_type(element)


def is_unsigned(element: Attribute) -> bool:
    return is_integer_type(element) and element.signedness.data.name == "UNSIGNED"


def width_of(element: Attribute) -> int:
    """Bits of an integer type."""
    assert is_integer_type(element)
    return element.width.data


def integer_range(element: Attribute) -> tuple[int, int]:
    """The smallest and the largest number of an integer type."""
    width = width_of(element)
    if is_unsigned(element) or width == 1:
        return 0, (1 << width) - 1
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


def numpy_dtype(element: Attribute) -> np.dtype:
    name = numpy_dtype_name(element)
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


class OnnxBuild(Build):
    """`Build`, with operands of different shapes and sizes that are known late."""

    # Constants.

    def array(self, array: Array, element: Attribute) -> SSAValue:
        """A constant with the values of `array`."""
        type = TensorType(element, array.shape)
        return self.dense(DenseAttr.from_numpy(np.asarray(array).astype(numpy_dtype(element)), type))

    def full(self, element: Attribute, shape: Sequence[int], value: int | float) -> SSAValue:
        """A constant of one value everywhere."""
        return self.spread(self.constant(element, value), shape)

    def like(self, value: SSAValue, number: int | float) -> SSAValue:
        """A rank-0 constant of the element type of `value`."""
        return self.constant(element_of(value), number)

    # Elementwise.

    def spread(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """`value` repeated into a shape without `?`."""
        own = shape_of(value)
        if own == tuple(shape):
            return value
        start = len(shape) - len(own)
        type = TensorType(element_of(value), shape)
        return self.value(
            "broadcast_in_dim", [value], type, {"broadcast_dimensions": i64_array(range(start, len(shape)))}
        )

    def binary(self, name: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """An op by its name, of StableHLO or CHLO, on operands of one element type."""
        if element_of(a) != element_of(b):
            raise Unsupported(f"on elements of different types: {element_of(a)} and {element_of(b)}")
        shape = broadcast_shape(shape_of(a), shape_of(b))
        type = TensorType(element_of(a), shape)
        if DYNAMIC_INDEX in shape and a is not b:
            return self.value(f"chlo.broadcast_{name.removeprefix('chlo.')}", [a, b], type)
        return self.value(name, self._same_shape(shape, a, b), type)

    def _same_shape(self, shape: Sequence[int], *values: SSAValue) -> list[SSAValue]:
        if DYNAMIC_INDEX in shape:
            return list(values)
        return [self.spread(value, shape) for value in values]

    def maximum(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.binary("maximum", a, b)

    def minimum(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.binary("minimum", a, b)

    def compare(self, direction: str, a: SSAValue, b: SSAValue) -> SSAValue:
        shape = broadcast_shape(shape_of(a), shape_of(b))
        properties = {"comparison_direction": ComparisonDirectionAttr(direction)}
        name = "chlo.broadcast_compare" if DYNAMIC_INDEX in shape and a is not b else "compare"
        return self.value(name, self._same_shape(shape, a, b), TensorType(i1, shape), properties)

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        shape = broadcast_shape(shape_of(condition), shape_of(a), shape_of(b))
        name = "chlo.broadcast_select" if DYNAMIC_INDEX in shape else "select"
        return self.value(name, self._same_shape(shape, condition, a, b), TensorType(element_of(a), shape))

    def clamp(self, low: SSAValue, a: SSAValue, high: SSAValue) -> SSAValue:
        return self.minimum(self.maximum(a, low), high)

    def scale(self, a: SSAValue, factor: float) -> SSAValue:
        return a if factor == 1 else self.multiply(a, self.like(a, factor))

    def convert(self, a: SSAValue, element: Attribute) -> SSAValue:
        """Numbers to booleans are what is not zero."""
        if element == i1 and element_of(a) != i1:
            return self.compare("NE", a, self.like(a, 0))
        return super().convert(a, element)

    # Shapes.

    def sizes(self, value: SSAValue) -> list[Size]:
        """The sizes of `value`: numbers where they are known."""
        return [self.size(value, dim) if size == DYNAMIC_INDEX else size for dim, size in enumerate(shape_of(value))]

    def size_vector(self, sizes: Sequence[Size]) -> SSAValue:
        """Sizes as `tensor<Nxi32>`."""
        if all(isinstance(size, int) for size in sizes):
            return self.array(np.array(sizes, np.int32), i32)
        parts = [self.constant(i32, size) if isinstance(size, int) else size for size in sizes]
        return self.concatenate([self.value("reshape", [part], TensorType(i32, [1])) for part in parts], 0)

    def product(self, sizes: Sequence[Size]) -> Size:
        known = prod(size for size in sizes if isinstance(size, int))
        result: Size = known
        for size in sizes:
            if not isinstance(size, int):
                result = size if isinstance(result, int) and result == 1 else self._times(result, size)
        return result

    def _times(self, a: Size, b: SSAValue) -> SSAValue:
        return self.multiply(self.constant(i32, a) if isinstance(a, int) else a, b)

    def reshape(self, value: SSAValue, shape: Sequence[Size]) -> SSAValue:
        """Into sizes of which some may be known late only."""
        numbers = [size if isinstance(size, int) else DYNAMIC_INDEX for size in shape]
        if DYNAMIC_INDEX not in numbers and is_static(value):
            if prod(numbers) != prod(shape_of(value)):
                raise Unsupported(
                    f"from {shape_text(shape_of(value))} to {shape_text(numbers)}, which is another size,"
                )
            return value if tuple(numbers) == shape_of(value) else super().reshape(value, numbers)
        type = TensorType(element_of(value), numbers)
        return self.value("dynamic_reshape", [value, self.size_vector(shape)], type)

    def repeat(self, value: SSAValue, shape: Sequence[Size], dims: Sequence[int]) -> SSAValue:
        """`broadcast_in_dim`; dimension i of `value` becomes `dims[i]`."""
        numbers = [size if isinstance(size, int) else DYNAMIC_INDEX for size in shape]
        type = TensorType(element_of(value), numbers)
        properties = {"broadcast_dimensions": i64_array(list(dims))}
        if DYNAMIC_INDEX in numbers:
            return self.value("dynamic_broadcast_in_dim", [value, self.size_vector(shape)], type, properties)
        return self.value("broadcast_in_dim", [value], type, properties)

    def unsqueeze(self, value: SSAValue, axes: Sequence[int]) -> SSAValue:
        """With dimensions of 1 at `axes` of the result."""
        sizes = self.sizes(value)
        for axis in sorted(axes):
            sizes.insert(axis, 1)
        return self.reshape(value, sizes)

    def squeeze(self, value: SSAValue, axes: Sequence[int]) -> SSAValue:
        return self.reshape(value, [size for dim, size in enumerate(self.sizes(value)) if dim not in axes])

    def along(self, value: SSAValue, axis: int, rank: int) -> SSAValue:
        """A vector as dimension `axis` of a tensor of `rank`, to be broadcast."""
        return self.unsqueeze(value, [dim for dim in range(rank) if dim != axis])

    def transpose(self, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
        return super().transpose(value, list(permutation))

    def concatenate(self, values: Sequence[SSAValue], dim: int) -> SSAValue:
        if len(values) == 1:
            return values[0]
        shape = list(shape_of(values[0]))
        for other in values[1:]:
            shape = [max(a, b) for a, b in zip(shape, shape_of(other), strict=True)]
        sizes = [shape_of(value)[dim] for value in values]
        shape[dim] = DYNAMIC_INDEX if DYNAMIC_INDEX in sizes else sum(sizes)
        type = TensorType(element_of(values[0]), shape)
        return self.value("concatenate", values, type, {"dimension": IntegerAttr(dim, i64)})

    def strided_slice(
        self, value: SSAValue, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int]
    ) -> SSAValue:
        """Dimensions with `?` must be whole: start 0, stride 1, and a limit of `DYNAMIC_INDEX`."""
        own = shape_of(value)
        if DYNAMIC_INDEX in limits:
            limit = self.size_vector(
                [self.size(value, dim) if end == DYNAMIC_INDEX else end for dim, end in enumerate(limits)]
            )
            vectors = [self.array(np.array(numbers, np.int32), i32) for numbers in (starts, strides)]
            shape = [
                DYNAMIC_INDEX if end == DYNAMIC_INDEX else max(0, -(-(end - start) // step))
                for start, end, step in zip(starts, limits, strides, strict=True)
            ]
            type = TensorType(element_of(value), shape)
            return self.value("real_dynamic_slice", [value, vectors[0], limit, vectors[1]], type)
        if all(not start and step == 1 for start, step in zip(starts, strides, strict=True)) and tuple(limits) == own:
            return value
        shape = [max(0, -(-(end - start) // step)) for start, end, step in zip(starts, limits, strides, strict=True)]
        properties = {"start_indices": starts, "limit_indices": limits, "strides": strides}
        type = TensorType(element_of(value), shape)
        return self.value("slice", [value], type, {key: i64_array(list(values)) for key, values in properties.items()})

    def part(self, value: SSAValue, axis: int, start: int, end: int, step: int = 1) -> SSAValue:
        """A range of one dimension."""
        rank = rank_of(value)
        limits = list(shape_of(value))
        starts, strides = [0] * rank, [1] * rank
        starts[axis], limits[axis], strides[axis] = start, end, step
        return self.strided_slice(value, starts, limits, strides)

    def flip(self, value: SSAValue, dims: Sequence[int]) -> SSAValue:
        return self.value("reverse", [value], value.type, {"dimensions": i64_array(list(dims))}) if dims else value

    def pad(
        self,
        value: SSAValue,
        low: Sequence[int],
        high: Sequence[int],
        fill: SSAValue,
        interior: Sequence[int] | None = None,
    ) -> SSAValue:
        """With `fill` around; negative numbers cut."""
        between = list(interior or [0] * len(low))
        if not any([*low, *high, *between]):
            return value
        shape = [
            size if size == DYNAMIC_INDEX and not (a or b or n) else self._padded(size, a, b, n)
            for size, a, b, n in zip(shape_of(value), low, high, between, strict=True)
        ]
        properties = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": between}
        type = TensorType(element_of(value), shape)
        return self.value(
            "pad", [value, fill], type, {key: i64_array(list(values)) for key, values in properties.items()}
        )

    def _padded(self, size: int, low: int, high: int, between: int) -> int:
        if size == DYNAMIC_INDEX:
            return size
        return max(0, size + low + high + max(0, size - 1) * between)

    def counted(self, shape: Sequence[int], dim: int, element: Attribute) -> SSAValue:
        """The place along `dim`, for each element of a shape without `?`."""
        return self.iota(TensorType(element, shape), dim)

    def places(self, shape: Sequence[Size], dim: int, element: Attribute) -> SSAValue:
        """The same, of sizes of which some are known late only."""
        numbers = [size if isinstance(size, int) else DYNAMIC_INDEX for size in shape]
        if DYNAMIC_INDEX not in numbers:
            return self.counted(numbers, dim, element)
        properties = {"iota_dimension": IntegerAttr(dim, i64)}
        return self.value("dynamic_iota", [self.size_vector(shape)], TensorType(element, numbers), properties)

    def current(self) -> Block:
        """The block in which operations are made."""
        assert self._block is not None
        return self._block

    # Reductions and products.

    def reduce(self, value: SSAValue, dims: Sequence[int], name: str = "add", start: int | float = 0) -> SSAValue:
        return value if not dims else super().reduce(value, list(dims), name, start)

    def reduce_keeping(
        self, value: SSAValue, dims: Sequence[int], name: str = "add", start: int | float = 0
    ) -> SSAValue:
        """With the reduced dimensions kept as 1."""
        return self.unsqueeze(self.reduce(value, dims, name, start), dims)

    def contract(
        self,
        a: SSAValue,
        b: SSAValue,
        contracting: tuple[Sequence[int], Sequence[int]],
        batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
        element: Attribute | None = None,
    ) -> SSAValue:
        """`dot_general`: batch dimensions, the rest of `a`, the rest of `b`."""
        shapes = shape_of(a), shape_of(b)
        rest = [
            size
            for shape, summed, batched in zip(shapes, contracting, batch, strict=True)
            for dim, size in enumerate(shape)
            if dim not in summed and dim not in batched
        ]
        batches = [max(shapes[0][i], shapes[1][j]) for i, j in zip(*batch, strict=True)]
        for i, j in zip(*contracting, strict=True):
            sizes = shapes[0][i], shapes[1][j]
            if sizes[0] != sizes[1] and DYNAMIC_INDEX not in sizes:
                raise Unsupported(f"on {shape_text(shapes[0])} and {shape_text(shapes[1])}, which do not fit,")
        numbers = DotDimensionNumbers(tuple(batch[0]), tuple(batch[1]), tuple(contracting[0]), tuple(contracting[1]))
        type = TensorType(element or element_of(a), [*batches, *rest])
        return self.dot(a, b, type, DotDimensionNumbersAttr(numbers))

    def window(
        self,
        value: SSAValue,
        start: SSAValue,
        name: str,
        sizes: Sequence[int],
        strides: Sequence[int],
        dilations: Sequence[int],
        padding: Sequence[tuple[int, int]],
    ) -> SSAValue:
        """`reduce_window` by a binary op over all dimensions; those with `?` have a window of 1."""
        shape: list[int] = []
        for size, k, stride, dilation, (low, high) in zip(
            shape_of(value), sizes, strides, dilations, padding, strict=True
        ):
            room = size + low + high - dilation * (k - 1) - 1
            shape.append(size if size == DYNAMIC_INDEX else max(0, room // stride + 1))
        scalar = TensorType(element_of(value), [])
        region = self.region([scalar, scalar], lambda args: [self.binary(name, args[0], args[1])])
        pads = np.array(padding, np.int64).reshape(-1, 2)
        properties: dict[str, Attribute] = {
            "window_dimensions": i64_array(list(sizes)),
            "window_strides": i64_array(list(strides)),
            "window_dilations": i64_array(list(dilations)),
            "padding": DenseAttr.from_numpy(pads, TensorType(i64, pads.shape)),
        }
        return self.value("reduce_window", [value, start], TensorType(element_of(value), shape), properties, [region])

    def mapped(self, value: SSAValue, element: Attribute, body: Callable[[SSAValue], SSAValue]) -> SSAValue:
        """`body` in another element type, the result in that of `value`."""
        return self.convert(body(self.convert(value, element)), element_of(value))

    def dims(self, dims: Sequence[int]) -> dict[str, Attribute]:
        """The properties of ops that broadcast."""
        return {"broadcast_dimensions": i64_array(list(dims))}
