"""dot, dot_general and convolution."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation

from tiree.dialects.stablehlo_attrs import (
    ConvDimensionNumbers,
    ConvDimensionNumbersAttr,
    DotAlgorithmAttr,
    DotDimensionNumbers,
    DotDimensionNumbersAttr,
    PrecisionAttr,
)
from tiree.input.checks.movement import padded
from tiree.input.checks.values import (
    Wrong,
    element,
    fits,
    integer,
    integers,
    kind,
    need,
    need_dims,
    need_shape,
    same_shape,
    shape,
    tensor,
    text,
)
from tiree.scalars.builder import inherent
from tiree.support.typed import is_array_attr


def _need_precision(op: Operation) -> None:
    """At most a precision for each operand, and none beside an algorithm."""
    config = inherent(op, "precision_config")
    said = list(config.data) if is_array_attr(config) else []
    words = [getattr(one, "data", None) if isinstance(one, PrecisionAttr) else str(one) for one in said]
    wrong = [str(word) for word in words if word not in PrecisionAttr.VALUES]
    need(not wrong, f"its precision_config must be of {', '.join(PrecisionAttr.VALUES)}; it has {', '.join(wrong)}")
    need(len(said) <= 2, f"its precision_config has {len(said)} entries; it has 2 operands")
    algorithm = inherent(op, "algorithm")
    if not isinstance(algorithm, DotAlgorithmAttr):
        return
    need(set(words) <= {"DEFAULT"}, "its precision_config must be DEFAULT, since it has an algorithm")
    counts = ("lhs_component_count", "rhs_component_count", "num_primitive_operations")
    for name in counts:
        count = getattr(algorithm.data, name)
        need(count > 0, f"{name} of its algorithm must be positive; it is {count}")
    for name in ("lhs_precision_type", "rhs_precision_type", "accumulation_type"):
        type = getattr(algorithm.data, name)
        need(type == "tf32" or not _is_integer(type), f"{name} of its algorithm must be a float type; it is {type}")


def _is_integer(type: str) -> bool:
    """Whether the name of an element type is that of integers."""
    return type.lstrip("su").startswith("i") and type.lstrip("sui").isdigit()


def _need_kinds(op: Operation) -> None:
    """Operands of one kind, and a result of theirs; integers may have a float result."""
    lhs, rhs = op.operands[:2]
    kinds = [kind(lhs), kind(rhs), kind(op.results[0])]
    if "" not in kinds and "f" in kinds[:2] and kinds != ["f", "f", "f"]:
        types = f"{tensor(lhs)}, {tensor(rhs)} and {tensor(op.results[0])}"
        raise Wrong(f"operands must be both floats or both integers, and floats have a float result; they are {types}")


def _dot_general(op: Operation) -> None:
    attr = inherent(op, "dot_dimension_numbers")
    if not isinstance(attr, DotDimensionNumbersAttr):
        raise Wrong("it needs dot_dimension_numbers")
    _contract(op, attr.data)


def _dot(op: Operation) -> None:
    lhs, rhs = (shape(operand) for operand in op.operands)
    need(1 <= len(lhs) <= 2 and 1 <= len(rhs) <= 2, f"it takes vectors and matrices, not {text(lhs)} and {text(rhs)}")
    numbers = DotDimensionNumbers(lhs_contracting_dimensions=(len(lhs) - 1,), rhs_contracting_dimensions=(0,))
    _contract(op, numbers)


def _contract(op: Operation, numbers: DotDimensionNumbers) -> None:
    lhs, rhs = (shape(operand) for operand in op.operands)
    need_dims((*numbers.lhs_batching_dimensions, *numbers.lhs_contracting_dimensions), len(lhs), "the left side")
    need_dims((*numbers.rhs_batching_dimensions, *numbers.rhs_contracting_dimensions), len(rhs), "the right side")
    pairs = (
        ("batch", numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions),
        ("contracted", numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions),
    )
    for what, left, right in pairs:
        need(len(left) == len(right), f"there are {len(left)} {what} dimensions on the left, {len(right)} on the right")
        for a, b in zip(left, right, strict=True):
            same = fits(lhs[a], rhs[b])
            need(same, f"{what} dimensions differ: {a} of {text(lhs)} is {lhs[a]}, {b} of {text(rhs)} is {rhs[b]}")
    used = (
        {*numbers.lhs_batching_dimensions, *numbers.lhs_contracting_dimensions},
        {*numbers.rhs_batching_dimensions, *numbers.rhs_contracting_dimensions},
    )
    wanted = [lhs[dim] for dim in numbers.lhs_batching_dimensions]
    for sizes, gone in zip((lhs, rhs), used, strict=True):
        wanted += [size for dim, size in enumerate(sizes) if dim not in gone]
    need_shape(op, wanted)
    _need_kinds(op)
    _need_precision(op)


def _convolution(op: Operation) -> None:
    attr = inherent(op, "dimension_numbers")
    if not isinstance(attr, ConvDimensionNumbersAttr):
        raise Wrong("it needs dimension_numbers")
    n = attr.data
    rank = len(n.input_spatial_dimensions) + 2
    ranks = [len(shape(value)) for value in (*op.operands[:2], op.results[0])]
    need(ranks == [rank] * 3, f"dimension_numbers are for rank {rank}; the tensors have ranks {ranks}")
    counts = [len(n.input_spatial_dimensions), len(n.kernel_spatial_dimensions), len(n.output_spatial_dimensions)]
    need(
        len(set(counts)) == 1, f"dimension_numbers have {', '.join(map(str, counts))} spatial dimensions; needs as many"
    )
    _need_groups(op, n)
    _need_kinds(op)
    _need_precision(op)
    types = [element(operand) for operand in op.operands[:2]]
    need(types[0] == types[1], f"operands must have one element type; they are {types[0]} and {types[1]}")
    lhs, rhs = (shape(operand) for operand in op.operands[:2])
    spatial = rank - 2
    ones = [1] * spatial
    strides = integers(op, "window_strides", spatial, ones)
    given = len(op.operands) > 2
    if given:
        wanted = f"its padding must be a tensor of {spatial}x2 integers; it is {tensor(op.operands[2])}"
        need(same_shape(shape(op.operands[2]), (spatial, 2)) and kind(op.operands[2]) == "i", wanted)
    padding = integers(op, "padding", 2 * spatial, [0] * (2 * spatial))
    lhs_dilation = integers(op, "lhs_dilation", spatial, ones)
    rhs_dilation = integers(op, "rhs_dilation", spatial, ones)
    integers(op, "window_reversal", spatial, [0] * spatial)
    windows = [rhs[dim] for dim in n.kernel_spatial_dimensions]
    need(0 not in windows, f"its kernel has a window of {text(windows)}; every size must be positive")
    sizes = windowed(
        [lhs[dim] for dim in n.input_spatial_dimensions], windows, strides, padding, lhs_dilation, rhs_dilation
    )
    extents = [0] * rank
    batch = lhs[n.input_batch_dimension]
    groups = integer(op, "batch_group_count", 1)
    extents[n.output_batch_dimension] = batch if batch == DYNAMIC_INDEX else batch // groups
    extents[n.output_feature_dimension] = rhs[n.kernel_output_feature_dimension]
    for dim, size in zip(n.output_spatial_dimensions, sizes, strict=True):
        extents[dim] = DYNAMIC_INDEX if given else size
    need_shape(op, extents)


def _need_groups(op: Operation, n: ConvDimensionNumbers) -> None:
    lhs, rhs = (shape(operand) for operand in op.operands[:2])
    features, batches = integer(op, "feature_group_count", 1), integer(op, "batch_group_count", 1)
    need(features > 0 and batches > 0, "feature_group_count and batch_group_count must be positive")
    need(features == 1 or batches == 1, "feature_group_count and batch_group_count cannot both be more than 1")
    given, taken = lhs[n.input_feature_dimension], rhs[n.kernel_input_feature_dimension]
    made = rhs[n.kernel_output_feature_dimension]
    if DYNAMIC_INDEX not in (given, taken):
        need(given == taken * features, f"the input has {given} features; {features} groups of {taken} need another")
    need(made % (features * batches) == 0, f"{made} output features do not divide into {features * batches} groups")
    need(lhs[n.input_batch_dimension] % batches == 0, f"the batch does not divide into {batches} groups")


def windowed(
    sizes: Sequence[int],
    windows: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    base: Sequence[int],
    dilations: Sequence[int],
) -> list[int]:
    """How many windows fit in each padded and dilated extent."""
    for name, values in (("strides", strides), ("dilations", (*base, *dilations))):
        need(min(values, default=1) > 0, f"{name} must be positive: {list(values)}")
    need(min((w for w in windows if w != DYNAMIC_INDEX), default=1) >= 0, f"a window of {text(windows)}")
    wide = padded(tuple(sizes), padding[0::2], padding[1::2], [b - 1 for b in base])
    wanted: list[int] = []
    for size, window, stride, dilation in zip(wide, windows, strides, dilations, strict=True):
        reach = (window - 1) * dilation + 1 if window else 0
        dynamic = DYNAMIC_INDEX in (size, window)
        wanted.append(DYNAMIC_INDEX if dynamic else (size - reach) // stride + 1 if size >= reach and size > 0 else 0)
    return wanted


CHECKS = {
    "stablehlo.dot_general": _dot_general,
    "stablehlo.dot": _dot,
    "stablehlo.convolution": _convolution,
    "stablehlo.dynamic_conv": _convolution,
}
