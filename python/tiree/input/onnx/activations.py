"""Activation functions."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.build import OnnxBuild, rank_of
from tiree.input.onnx.node import Conversion, Node


def _positive(build: OnnxBuild, value: SSAValue, then: SSAValue, otherwise: SSAValue) -> SSAValue:
    return build.select(build.compare("GT", value, build.like(value, 0)), then, otherwise)


def relu(build: OnnxBuild, value: SSAValue) -> SSAValue:
    return build.maximum(value, build.like(value, 0))


def softplus(build: OnnxBuild, value: SSAValue) -> SSAValue:
    """`log(1 + exp(x))`, without overflow."""
    small = build.unary("exponential", build.unary("negate", build.unary("abs", value)))
    return build.add_(relu(build, value), build.unary("log_plus_one", small))


def _elu(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    below = build.scale(build.unary("exponential_minus_one", value), node.float("alpha", 1.0))
    return _positive(build, value, value, below)


def _celu(node: Node) -> SSAValue:
    build, value, alpha = node.build, node.input(0), node.float("alpha", 1.0)
    inner = build.unary("exponential_minus_one", build.divide(value, build.like(value, alpha)))
    zero = build.like(value, 0)
    return build.add_(build.maximum(value, zero), build.minimum(build.scale(inner, alpha), zero))


def _selu(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    below = build.scale(build.unary("exponential_minus_one", value), node.float("alpha", 1.6732632423543772))
    return build.scale(_positive(build, value, value, below), node.float("gamma", 1.0507009873554805))


def _leaky_relu(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    below = build.scale(value, node.float("alpha", 0.01))
    return build.select(build.compare("LT", value, build.like(value, 0)), below, value)


def _parametric_relu(node: Node) -> SSAValue:
    build, value, slope = node.build, node.input(0), node.input(1)
    if node.version < 7 and rank_of(slope) == 1:
        slope = build.unsqueeze(slope, range(1, rank_of(value) - 1))
    return build.select(build.compare("LT", value, build.like(value, 0)), build.multiply(value, slope), value)


def _thresholded_relu(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    above = build.compare("GT", value, build.like(value, node.float("alpha", 1.0)))
    return build.select(above, value, build.like(value, 0))


def _gelu(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    match node.string("approximate", "none"):
        case "none":
            inner = build.unary("chlo.erf", build.scale(value, 1 / sqrt(2)))
        case "tanh":
            cube = build.multiply(build.multiply(value, value), value)
            inner = build.unary("tanh", build.scale(build.add_(value, build.scale(cube, 0.044715)), sqrt(2 / pi)))
        case other:
            raise Unsupported(f"with the approximation {other!r}")
    return build.multiply(build.scale(value, 0.5), build.add_(inner, build.like(inner, 1)))


def hard_sigmoid(build: OnnxBuild, value: SSAValue, alpha: float, beta: float) -> SSAValue:
    line = build.add_(build.scale(value, alpha), build.like(value, beta))
    return build.clamp(build.like(value, 0), line, build.like(value, 1))


def _hard_sigmoid(node: Node) -> SSAValue:
    return hard_sigmoid(node.build, node.input(0), node.float("alpha", 0.2), node.float("beta", 0.5))


def _hard_swish(node: Node) -> SSAValue:
    value = node.input(0)
    return node.build.multiply(value, hard_sigmoid(node.build, value, 1 / 6, 0.5))


def swish(build: OnnxBuild, value: SSAValue, alpha: float = 1.0) -> SSAValue:
    return build.multiply(value, build.unary("logistic", build.scale(value, alpha)))


def _swish(node: Node) -> SSAValue:
    return swish(node.build, node.input(0), node.float("alpha", 1.0))


def _mish(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    return build.multiply(value, build.unary("tanh", softplus(build, value)))


def _softsign(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    return build.divide(value, build.add_(build.unary("abs", value), build.like(value, 1)))


def _shrink(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    bias, bound = build.like(value, node.float("bias", 0.0)), node.float("lambd", 0.5)
    above = build.compare("GT", value, build.like(value, bound))
    below = build.compare("LT", value, build.like(value, -bound))
    rest = build.select(below, build.add_(value, bias), build.like(value, 0))
    return build.select(above, build.subtract(value, bias), rest)


def _dropout(node: Node) -> list[SSAValue | None]:
    """Outside of training, where all is kept."""
    build, value = node.build, node.input(0)
    training = node.int("is_test", 1) == 0 if node.version < 7 else False
    if node.version >= 12 and node.optional(2) is not None:
        mode = node.numbers(2)
        ratio = node.numbers(1)
        keeps = ratio is not None and float(ratio) == 0.0
        training = not keeps and (mode is None or bool(mode))
    if training:
        raise Unsupported("in training")
    if len(node.op.results) < 2:
        return [value]
    return [value, build.repeat(build.constant(i1, 1), build.sizes(value), [])]


def _simple(function: Callable[[OnnxBuild, SSAValue], SSAValue]) -> Conversion:
    return lambda node: function(node.build, node.input(0))


CONVERSIONS: dict[str, Conversion] = {
    "Celu": _celu,
    "Dropout": _dropout,
    "Elu": _elu,
    "Gelu": _gelu,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "LeakyRelu": _leaky_relu,
    "Mish": _mish,
    "PRelu": _parametric_relu,
    "Relu": _simple(relu),
    "Selu": _selu,
    "Shrink": _shrink,
    "Softplus": _simple(softplus),
    "Softsign": _softsign,
    "Swish": _swish,
    "ThresholdedRelu": _thresholded_relu,
}
