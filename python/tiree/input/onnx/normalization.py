"""Normalisations. 16-bit floats are computed in f32."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from tiree.input.expansions.build import element_of
from tiree.input.lowering.context import Unsupported
from tiree.input.lowering.scalar import widened
from tiree.input.onnx.build import OnnxBuild
from tiree.input.onnx.node import Conversion, Node, normalized
from tiree.input.onnx.reductions import mean


def _keeping(build: OnnxBuild, value: SSAValue, axes: list[int]) -> SSAValue:
    return build.unsqueeze(mean(build, value, axes), axes)


def moments(build: OnnxBuild, value: SSAValue, axes: list[int]) -> tuple[SSAValue, SSAValue]:
    """What is left without the mean, and the variance, along `axes`, which stay as 1."""
    centered = build.subtract(value, _keeping(build, value, axes))
    return centered, _keeping(build, build.multiply(centered, centered), axes)


def inverse_deviation(build: OnnxBuild, variance: SSAValue, epsilon: float) -> SSAValue:
    return build.unary("rsqrt", build.add_(variance, build.like(variance, epsilon)))


def _batch(node: Node) -> list[SSAValue | None]:
    build, value, rank = node.build, node.input(0), node.rank()
    element, epsilon = element_of(value), node.float("epsilon", 1e-5)
    wide = widened(element)
    x = build.convert(value, wide)
    scale, offset, mean_, variance = (build.convert(node.input(index), wide) for index in range(1, 5))
    trains = bool(node.int("training_mode", 0)) if node.version >= 14 else any(node.is_used(i) for i in range(1, 5))
    if trains and node.version < 14:
        raise Unsupported(f"in training, of opset {node.version},")
    results: list[SSAValue | None] = []
    if trains:
        axes = [dim for dim in range(rank) if dim != 1]
        now = mean(build, x, axes)
        centered = build.subtract(x, build.along(now, 1, rank))
        spread = mean(build, build.multiply(centered, centered), axes)
        momentum = node.float("momentum", 0.9)
        for index, (old, new) in enumerate(((mean_, now), (variance, spread)), 3):
            moved = build.add_(build.scale(old, momentum), build.scale(new, 1 - momentum))
            results.append(build.convert(moved, node.element(index)))
        mean_, variance = now, spread
    if node.version < 9 and not node.int("spatial", 1):
        raise Unsupported("that is not spatial")
    factor = build.multiply(scale, inverse_deviation(build, variance, epsilon))
    lower = build.subtract(x, build.along(mean_, 1, rank))
    y = build.add_(build.multiply(lower, build.along(factor, 1, rank)), build.along(offset, 1, rank))
    return [build.convert(y, element), *results]


def _instance(node: Node) -> SSAValue:
    build, value, rank = node.build, node.input(0), node.rank()
    element = element_of(value)
    wide = widened(element)
    centered, variance = moments(build, build.convert(value, wide), list(range(2, rank)))
    unit = build.multiply(centered, inverse_deviation(build, variance, node.float("epsilon", 1e-5)))
    scale, offset = (build.along(build.convert(node.input(index), wide), 1, rank) for index in (1, 2))
    return build.convert(build.add_(build.multiply(unit, scale), offset), element)


def _stash(node: Node, value: SSAValue) -> SSAValue:
    """In the type that it is computed in."""
    if node.int("stash_type", 1) != 1:
        return value
    wide = widened(element_of(value))
    return node.build.convert(value, wide if wide.name == "f64" else f32)


def _group(node: Node) -> SSAValue:
    """From opset 21 on there is a scale for each channel, before for each group."""
    build, value, rank, groups = node.build, node.input(0), node.rank(), node.int("num_groups")
    sizes = build.sizes(value)
    channels = sizes[1]
    if not isinstance(channels, int):
        raise Unsupported("with channels whose number is known late only")
    apart = build.reshape(_stash(node, value), [sizes[0], groups, channels // groups, *sizes[2:]])
    centered, variance = moments(build, apart, list(range(2, rank + 1)))
    unit = build.multiply(centered, inverse_deviation(build, variance, node.float("epsilon", 1e-5)))
    factors = [build.convert(node.input(index), element_of(unit)) for index in (1, 2)]
    if node.version < 21:
        scale, offset = (build.along(factor, 1, rank + 1) for factor in factors)
        result = build.reshape(build.add_(build.multiply(unit, scale), offset), sizes)
    else:
        scale, offset = (build.along(factor, 1, rank) for factor in factors)
        result = build.add_(build.multiply(build.reshape(unit, sizes), scale), offset)
    return build.convert(result, element_of(value))


def _layer(node: Node) -> list[SSAValue | None]:
    build, value, rank = node.build, node.input(0), node.rank()
    element = element_of(value)
    axes = list(range(node.axis(-1, rank), rank))
    wide = _stash(node, value)
    center = _keeping(build, wide, axes)
    lower = build.subtract(wide, center)
    inverse = inverse_deviation(build, _keeping(build, build.multiply(lower, lower), axes), node.float("epsilon", 1e-5))
    unit = build.convert(build.multiply(lower, inverse), element)
    result = build.multiply(unit, node.input(1))
    offset = node.optional(2)
    return [result if offset is None else build.add_(result, offset), center, inverse]


def root_mean_square(build: OnnxBuild, value: SSAValue, axes: list[int], epsilon: float) -> SSAValue:
    return build.multiply(value, inverse_deviation(build, _keeping(build, build.multiply(value, value), axes), epsilon))


def _rms(node: Node) -> SSAValue:
    build, value, rank = node.build, node.input(0), node.rank()
    axes = list(range(node.axis(-1, rank), rank))
    unit = root_mean_square(build, _stash(node, value), axes, node.float("epsilon", 1e-5))
    scale = node.input(1)
    return build.multiply(build.convert(unit, element_of(scale)), scale)


def _local_response(node: Node) -> SSAValue:
    build, value, rank, size = node.build, node.input(0), node.rank(), node.int("size")
    ones = [1] * rank
    sizes, padding = list(ones), [(0, 0)] * rank
    sizes[1], padding[1] = size, ((size - 1) // 2, size // 2)
    squares = build.window(build.multiply(value, value), build.like(value, 0), "add", sizes, ones, ones, padding)
    base = build.add_(
        build.scale(squares, node.float("alpha", 1e-4) / size), build.like(value, node.float("bias", 1.0))
    )
    return build.divide(value, build.binary("power", base, build.like(value, node.float("beta", 0.75))))


def _lp(node: Node) -> SSAValue:
    """Rows whose norm is zero stay zero."""
    build, value, p = node.build, node.input(0), node.int("p", 2)
    axis = node.axis(-1, node.rank())
    if p == 1:
        norm = build.reduce_keeping(build.unary("abs", value), [axis])
    elif p == 2:
        norm = build.unary("sqrt", build.reduce_keeping(build.multiply(value, value), [axis]))
    else:
        raise Unsupported(f"of order {p}")
    zero = build.compare("EQ", norm, build.like(norm, 0))
    return build.divide(value, build.select(zero, build.like(norm, 1), norm))


def _mean_variance(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    axes: Sequence[int] = [normalized(axis, node.rank()) for axis in node.ints("axes", [0, 2, 3])]
    centered, variance = moments(build, value, list(axes))
    deviation = build.add_(build.unary("sqrt", variance), build.like(variance, 1e-9))
    return build.divide(centered, deviation)


CONVERSIONS: dict[str, Conversion] = {
    "BatchNormalization": _batch,
    "GroupNormalization": _group,
    "InstanceNormalization": _instance,
    "LRN": _local_response,
    "LayerNormalization": _layer,
    "LpNormalization": _lp,
    "MeanVarianceNormalization": _mean_variance,
    "RMSNormalization": _rms,
}
