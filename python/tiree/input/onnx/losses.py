"""Losses of classifications."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from tiree.input.expansions.build import element_of, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.lowering.scalar import widened
from tiree.input.onnx.node import Conversion, Node
from tiree.input.onnx.reductions import log_softmax


def _loss(node: Node, chances: SSAValue) -> SSAValue:
    """What is at the target of each, negative; `chances` has the classes as dimension 1."""
    build, shape = node.build, node.static(0)
    target, weights = build.convert(node.input(1), i64), node.optional(2)
    element = element_of(chances)
    classes = build.counted(shape, 1, i64)
    hit = build.compare("EQ", classes, build.unsqueeze(target, [1]))
    if node.has("ignore_index"):
        counts = build.compare("NE", target, build.constant(i64, node.int("ignore_index")))
        hit = build.binary("and", hit, build.unsqueeze(counts, [1]))
    zero = build.like(chances, 0)
    factor = build.like(chances, 1)
    if weights is not None:
        factor = build.along(build.convert(weights, element), 1, len(shape))
    each = build.reduce(build.select(hit, build.multiply(chances, factor), zero), [1])
    loss = build.unary("negate", each)
    reduction = node.string("reduction", "mean")
    if reduction == "none":
        return loss
    dims = list(range(len(shape) - 1))
    total = build.reduce(loss, dims)
    if reduction == "sum":
        return total
    if reduction != "mean":
        raise Unsupported(f"with the reduction {reduction!r}")
    parts = build.select(hit, build.spread(factor, shape_of(hit)), zero)
    return build.divide(total, build.reduce(parts, list(range(len(shape)))))


def _negative_log_likelihood(node: Node) -> SSAValue:
    value = node.input(0)
    build = node.build
    return build.convert(_loss(node, build.convert(value, widened(element_of(value)))), element_of(value))


def _cross_entropy(node: Node) -> list[SSAValue | None]:
    build, value = node.build, node.input(0)
    element = element_of(value)
    chances = log_softmax(build, build.convert(value, widened(element)), 1)
    return [build.convert(_loss(node, chances), element), build.convert(chances, element)]


CONVERSIONS: dict[str, Conversion] = {
    "NegativeLogLikelihoodLoss": _negative_log_likelihood,
    "SoftmaxCrossEntropyLoss": _cross_entropy,
}
