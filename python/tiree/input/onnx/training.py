"""One step of an optimiser, for any number of tensors."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from tiree.input.expansions.build import element_of
from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.node import Conversion, Node

Step = Callable[[Node, SSAValue, SSAValue, "list[SSAValue]"], "list[SSAValue]"]
"""The new values from the rate, the number of steps so far, and what is known of a tensor."""


def _optimizer(step: Step, kinds: int) -> Conversion:
    """Operands are rate, count, then `kinds` of tensor, each for all of them; results all kinds but the gradients."""

    def convert(node: Node) -> list[SSAValue | None]:
        count = (len(node) - 2) // kinds
        rate, steps = node.input(0), node.input(1)
        results: list[list[SSAValue]] = []
        for number in range(count):
            values = [node.input(2 + kind * count + number) for kind in range(kinds)]
            results.append(step(node, rate, steps, values))
        return [made[kind] for kind in range(kinds - 1) for made in results]

    return convert


def _regularized(node: Node, value: SSAValue, gradient: SSAValue) -> SSAValue:
    return node.build.add_(node.build.scale(value, node.float("norm_coefficient", 0.0)), gradient)


def _adagrad(node: Node, rate: SSAValue, steps: SSAValue, values: list[SSAValue]) -> list[SSAValue]:
    build, (x, gradient, squares) = node.build, values
    count = build.convert(steps, element_of(rate))
    decayed = build.add_(build.scale(count, node.float("decay_factor", 0.0)), build.like(rate, 1))
    gradient = _regularized(node, x, gradient)
    squares = build.add_(squares, build.multiply(gradient, gradient))
    root = build.add_(build.unary("sqrt", squares), build.like(squares, node.float("epsilon", 1e-6)))
    moved = build.divide(build.multiply(build.divide(rate, decayed), gradient), root)
    return [build.subtract(x, moved), squares]


def _adam(node: Node, rate: SSAValue, steps: SSAValue, values: list[SSAValue]) -> list[SSAValue]:
    build, (x, gradient, mean, squares) = node.build, values
    alpha, beta = node.float("alpha", 0.9), node.float("beta", 0.999)
    gradient = _regularized(node, x, gradient)
    mean = build.add_(build.scale(mean, alpha), build.scale(gradient, 1 - alpha))
    squares = build.add_(build.scale(squares, beta), build.scale(build.multiply(gradient, gradient), 1 - beta))
    root = build.add_(build.unary("sqrt", squares), build.like(squares, node.float("epsilon", 1e-6)))
    count = build.convert(steps, element_of(rate))
    one = build.like(rate, 1)

    def left(factor: float) -> SSAValue:
        return build.subtract(one, build.binary("power", build.like(rate, factor), count))

    adjusted = build.divide(build.multiply(rate, build.unary("sqrt", left(beta))), left(alpha))
    first = build.compare("GT", count, build.like(count, 0))
    moved = build.multiply(build.select(first, adjusted, rate), build.divide(mean, root))
    fresh = build.scale(build.subtract(x, moved), 1 - node.float("norm_coefficient_post", 0.0))
    return [fresh, mean, squares]


def _momentum(node: Node, rate: SSAValue, steps: SSAValue, values: list[SSAValue]) -> list[SSAValue]:
    build, (x, gradient, speed) = node.build, values
    alpha, mode = node.float("alpha"), node.string("mode")
    gradient = _regularized(node, x, gradient)
    later = build.compare("GT", steps, build.like(steps, 0))
    factor = build.select(later, build.like(x, node.float("beta")), build.like(x, 1))
    speed = build.add_(build.scale(speed, alpha), build.multiply(factor, gradient))
    if mode == "standard":
        direction = speed
    elif mode == "nesterov":
        direction = build.add_(gradient, build.scale(speed, alpha))
    else:
        raise Unsupported(f"with the mode {mode!r}")
    return [build.subtract(x, build.multiply(rate, direction)), speed]


CONVERSIONS: dict[str, Conversion] = {
    "Adagrad": _optimizer(_adagrad, 3),
    "Adam": _optimizer(_adam, 4),
    "Momentum": _optimizer(_momentum, 3),
}
