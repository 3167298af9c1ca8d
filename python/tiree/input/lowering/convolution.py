"""Convolutions of any layout, stride, padding, dilation and grouping as one `linalg.generic` of multiply and add.

Loops are the output dimensions in the output's own layout (a group's dimension split in two), then the kernel's spatial
dimensions and its input features. Groups are dimensions of their own: the grouped dimension of each tensor is expanded
to `groups x rest`, and the output's is collapsed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import AffineMapAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tiree.dialects.dense import DenseAttr
from tiree.dialects.stablehlo_attrs import ConvDimensionNumbers, ConvDimensionNumbersAttr
from tiree.input.lowering.context import Lowering, ScalarAttr, Size, Unsupported, ranked_type
from tiree.input.lowering.contraction import multiply_add
from tiree.input.lowering.dims import arithmetic, concerns_dynamic, is_dynamic, refine, require_equal, sizes_of_new
from tiree.input.lowering.dynamic_movement import (
    dynamic_type,
    pad_value,
    padded_sizes,
    reshape_to,
    reverse_value,
    window_size,
)
from tiree.input.lowering.scalar import encoded, inherent, number_attribute
from tiree.input.lowering.shape_values import integers_of
from tiree.input.lowering.structural import (
    int_property,
    ints_property,
    new_type,
    pad_edges,
    pad_general,
    reshape,
    reverse,
)
from tiree.support.typed import is_tensor_type


@dataclass
class _Dim:
    """One dimension of a tensor: its size and the expression that indexes it."""

    size: Size
    expr: AffineExpr


def _convolution(lowering: Lowering, op: Operation) -> None:
    attr = inherent(op, "dimension_numbers")
    if not isinstance(attr, ConvDimensionNumbersAttr):
        raise Unsupported("without dimension_numbers")
    numbers = attr.data
    lhs, rhs = op.operands[:2]
    type = new_type(op)
    if 0 in type.get_shape() and not concerns_dynamic(op):
        # A kernel that fits nowhere would read beyond its input.
        lowering.set(op.results[0], lowering.empty(type))
        return
    spatial = len(numbers.input_spatial_dimensions)
    ones = [1] * spatial
    strides = ints_property(op, "window_strides", ones)
    rhs_dilation = ints_property(op, "rhs_dilation", ones)
    feature_groups = int_property(op, "feature_group_count", 1)
    batch_groups = int_property(op, "batch_group_count", 1)
    value = _padded_input(lowering, op, numbers)
    kernel = lowering.get(rhs)
    reversal = ints_property(op, "window_reversal", [0] * spatial)
    flipped = [numbers.kernel_spatial_dimensions[i] for i in range(spatial) if reversal[i]]
    if is_dynamic(kernel.type) and flipped and is_tensor_type(kernel.type):
        kernel = reverse_value(lowering, kernel, flipped, (kernel.type, sizes_of_new(lowering, kernel)))
    else:
        kernel = reverse(lowering, kernel, flipped)
    builder = _Loops(numbers, strides, rhs_dilation, feature_groups, batch_groups)
    sizes: Sequence[Size] = type.get_shape()
    if concerns_dynamic(op) or is_dynamic(value.type):
        sizes = refine(lowering, op, builder.result_sizes(lowering, op, value, kernel), op.results[0].type)
    result = builder.build(
        lowering, (value, ranked_type(lhs).element_type), (kernel, ranked_type(rhs).element_type), type, sizes
    )
    lowering.set(op.results[0], result)


def _padded_input(lowering: Lowering, op: Operation, numbers: ConvDimensionNumbers) -> SSAValue:
    """The input with padding and lhs_dilation applied."""
    spatial = len(numbers.input_spatial_dimensions)
    if op.name == "stablehlo.dynamic_conv":
        padding: Sequence[Size] = integers_of(lowering, op.operands[2])
    else:
        padding = ints_property(op, "padding", [0] * (2 * spatial))
    dilation = ints_property(op, "lhs_dilation", [1] * spatial)
    value = lowering.get(op.operands[0])
    assert is_tensor_type(value.type)
    shape = value.type.get_shape()
    low, high, interior = [list[Size]([0] * len(shape)) for _ in range(3)]
    for i, dim in enumerate(numbers.input_spatial_dimensions):
        low[dim], high[dim] = padding[2 * i], padding[2 * i + 1]
        interior[dim] = dilation[i] - 1
    if all(amount == 0 for amount in (*low, *high, *interior)):
        return value
    zero = number_attribute(value.type.element_type, 0)
    low_, high_, interior_ = [_numbers(amounts) for amounts in (low, high, interior)]
    if is_dynamic(value.type) or low_ is None or high_ is None or interior_ is None:
        given = sizes_of_new(lowering, value)
        sizes = padded_sizes(lowering, op, given, low, high, interior)
        padded = dynamic_type(value.type.element_type, sizes)
        return pad_value(lowering, (value, given), lowering.constant(_rank0(zero)), low, interior, (padded, sizes))
    if not any(interior_):
        return pad_edges(lowering, value, zero, low_, high_)
    shape = [a + max(0, s + (s - 1) * i) + b for a, s, b, i in zip(low_, shape, high_, interior_, strict=True)]
    fill = lowering.constant(_rank0(zero))
    return pad_general(lowering, value, fill, low_, interior_, TensorType(value.type.element_type, shape))


def _numbers(amounts: Sequence[Size]) -> list[int] | None:
    """`amounts` where all are numbers."""
    known = [amount for amount in amounts if isinstance(amount, int)]
    return known if len(known) == len(amounts) else None


def _rank0(scalar: ScalarAttr) -> DenseAttr:
    return DenseAttr.from_buffer(TensorType(scalar.type, []), encoded(scalar), splat=True)


class _Loops:
    """Numbers the loops and builds the generic."""

    def __init__(
        self,
        numbers: ConvDimensionNumbers,
        strides: Sequence[int],
        dilation: Sequence[int],
        feature_groups: int,
        batch_groups: int,
    ) -> None:
        self.numbers = numbers
        self.strides = strides
        self.dilation = dilation
        self.feature_groups = feature_groups
        self.batch_groups = batch_groups
        self.groups = max(feature_groups, batch_groups)

    def result_sizes(self, lowering: Lowering, op: Operation, value: SSAValue, kernel: SSAValue) -> list[Size]:
        """The sizes that the padded input and the kernel give; those that must agree are checked."""
        n = self.numbers
        given, window = sizes_of_new(lowering, value), sizes_of_new(lowering, kernel)
        features = arithmetic(lowering, "mul", window[n.kernel_input_feature_dimension], self.feature_groups)
        wanted = f"{self.feature_groups} times the input features of the kernel"
        called = wanted, f"dimension {n.input_feature_dimension} of operand 1"
        require_equal(lowering, op, features, given[n.input_feature_dimension], called)
        sizes: dict[int, Size] = {
            n.output_batch_dimension: given[n.input_batch_dimension],
            n.output_feature_dimension: window[n.kernel_output_feature_dimension],
        }
        if self.batch_groups > 1:
            sizes[n.output_batch_dimension] = _part(given[n.input_batch_dimension], self.batch_groups)
        for i, dim in enumerate(n.output_spatial_dimensions):
            extent = window[n.kernel_spatial_dimensions[i]]
            place = given[n.input_spatial_dimensions[i]]
            sizes[dim] = window_size(lowering, place, extent, self.strides[i], self.dilation[i])
        return [sizes[dim] for dim in range(len(given))]

    def build(
        self,
        lowering: Lowering,
        lhs: tuple[SSAValue, Attribute],
        rhs: tuple[SSAValue, Attribute],
        type: TensorType,
        shape: Sequence[Size],
    ) -> SSAValue:
        """`lhs` and `rhs` are new values with their old element types; `shape` has the sizes of the result."""
        n = self.numbers
        output_dims: list[int] = []
        # Parallel loops: one for each output dimension, the feature's split in group and rest.
        loop_of: dict[str | int, int] = {}
        output_shape: list[Size] = []
        for dim in range(len(shape)):
            if dim == n.output_batch_dimension:
                names: list[tuple[str | int, Size]] = [("batch", shape[dim])]
            elif dim == n.output_feature_dimension:
                names = [("group", self.groups)] if self.groups > 1 else []
                features = _part(shape[dim], self.groups)
                # A depthwise convolution has the group alone, so that nothing but the generic makes its result.
                if features != 1 or not names:
                    names.append(("feature", features))
            else:
                names = [(n.output_spatial_dimensions.index(dim), shape[dim])]
            for name, size in names:
                loop_of[name] = len(output_shape)
                output_dims.append(dim)
                output_shape.append(size)
        parallel = len(output_shape)
        kernel_shape = sizes_of_new(lowering, rhs[0])
        window = [kernel_shape[d] for d in n.kernel_spatial_dimensions]
        features = kernel_shape[n.kernel_input_feature_dimension]
        loops = parallel
        window_loop: dict[int, int] = {}
        for i, size in enumerate(window):
            if size != 1:
                window_loop[i] = loops
                loops += 1
        feature_loop = -1
        if features != 1 or loops == parallel:
            feature_loop = loops
            loops += 1
        value, value_map = self._input(lowering, lhs[0], loop_of, window_loop, feature_loop, loops)
        kernel, kernel_map = self._kernel(lowering, rhs[0], loop_of, window_loop, feature_loop, loops)
        output_map = AffineMapAttr(AffineMap(loops, 0, tuple(AffineExpr.dimension(d) for d in range(parallel))))
        grouped = dynamic_type(type.element_type, output_shape)
        operands = [(value, lhs[1], value_map), (kernel, rhs[1], kernel_map)]
        sizes = output_shape if is_dynamic(grouped) else None
        result = multiply_add(lowering, operands, output_map, parallel, loops, grouped, sizes)
        return _reshaped(lowering, result, shape)

    def _input(
        self,
        lowering: Lowering,
        value: SSAValue,
        loop_of: dict[str | int, int],
        window_loop: dict[int, int],
        feature_loop: int,
        loops: int,
    ) -> tuple[SSAValue, AffineMapAttr]:
        n = self.numbers
        dims: list[_Dim] = []
        for dim, size in enumerate(sizes_of_new(lowering, value)):
            if dim == n.input_batch_dimension:
                if self.batch_groups > 1:
                    dims.append(_Dim(self.groups, AffineExpr.dimension(loop_of["group"])))
                    size = _part(size, self.batch_groups)
                dims.append(_Dim(size, AffineExpr.dimension(loop_of["batch"])))
            elif dim == n.input_feature_dimension:
                if self.feature_groups > 1:
                    dims.append(_Dim(self.groups, AffineExpr.dimension(loop_of["group"])))
                if feature_loop >= 0:
                    dims.append(_Dim(_part(size, self.feature_groups), AffineExpr.dimension(feature_loop)))
            else:
                i = n.input_spatial_dimensions.index(dim)
                dims.append(_Dim(size, self._position(i, loop_of[i], window_loop)))
        return _shaped(lowering, value, dims, loops)

    def _position(self, i: int, loop: int, window_loop: dict[int, int]) -> AffineExpr:
        expr: AffineExpr = AffineExpr.dimension(loop)
        if self.strides[i] != 1:
            expr = expr * self.strides[i]
        if i in window_loop:
            inner: AffineExpr = AffineExpr.dimension(window_loop[i])
            expr = expr + (inner * self.dilation[i] if self.dilation[i] != 1 else inner)
        return expr

    def _kernel(
        self,
        lowering: Lowering,
        kernel: SSAValue,
        loop_of: dict[str | int, int],
        window_loop: dict[int, int],
        feature_loop: int,
        loops: int,
    ) -> tuple[SSAValue, AffineMapAttr]:
        n = self.numbers
        dims: list[_Dim] = []
        for dim, size in enumerate(sizes_of_new(lowering, kernel)):
            if dim == n.kernel_output_feature_dimension:
                if self.groups > 1:
                    dims.append(_Dim(self.groups, AffineExpr.dimension(loop_of["group"])))
                if "feature" in loop_of:
                    dims.append(_Dim(_part(size, self.groups), AffineExpr.dimension(loop_of["feature"])))
            elif dim == n.kernel_input_feature_dimension:
                if feature_loop >= 0:
                    dims.append(_Dim(size, AffineExpr.dimension(feature_loop)))
            else:
                i = n.kernel_spatial_dimensions.index(dim)
                if i in window_loop:
                    dims.append(_Dim(size, AffineExpr.dimension(window_loop[i])))
        return _shaped(lowering, kernel, dims, loops)


def _shaped(lowering: Lowering, value: SSAValue, dims: Sequence[_Dim], loops: int) -> tuple[SSAValue, AffineMapAttr]:
    """`value` reshaped to the sizes of `dims`, and the map of their expressions."""
    value = _reshaped(lowering, value, [dim.size for dim in dims])
    return value, AffineMapAttr(AffineMap(loops, 0, tuple(dim.expr for dim in dims)))


def _reshaped(lowering: Lowering, value: SSAValue, sizes: Sequence[Size]) -> SSAValue:
    """`value` with other sizes of as many elements."""
    if not is_dynamic(value.type):
        return reshape(lowering, value, [_whole(size) for size in sizes])
    assert is_tensor_type(value.type)
    type = dynamic_type(value.type.element_type, sizes)
    return reshape_to(lowering, value, sizes_of_new(lowering, value), type, sizes)


def _whole(size: Size) -> int:
    """A size that must be a number. Raises `Unsupported` for `?`."""
    if isinstance(size, int):
        return size
    raise Unsupported("with a ? dimension among features or groups")


def _part(size: Size, groups: int) -> Size:
    """One of `groups` equal parts of a size."""
    return size if groups == 1 else _whole(size) // groups


HANDLERS = {"stablehlo.convolution": _convolution, "stablehlo.dynamic_conv": _convolution}
