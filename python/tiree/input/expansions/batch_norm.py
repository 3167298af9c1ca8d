"""The three batch_norm ops, by the formulas of the specification; sums of 16-bit floats are made in f32."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.input.expansions.build import Build, element_of, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.lowering.scalar import inherent, widened
from tiree.input.lowering.structural import int_property


class _Norm:
    """What the three ops share: operands in the type that is computed in, and the feature dimension."""

    def __init__(self, build: Build, op: Operation) -> None:
        self.build = build
        self.types = [element_of(result) for result in op.results]
        self.wide = widened(element_of(op.operands[0]))
        self.feature = int_property(op, "feature_index")
        self.operands = [build.convert(operand, self.wide) for operand in op.operands]
        self.x = self.operands[0]
        self.others = [dim for dim in range(len(shape_of(self.x))) if dim != self.feature]
        epsilon = inherent(op, "epsilon")
        if not isinstance(epsilon, FloatAttr):
            raise Unsupported("without a float epsilon")
        self.epsilon = build.constant(self.wide, epsilon.value.data)

    def spread(self, value: SSAValue) -> SSAValue:
        """One number a feature, for each element of the operand."""
        return self.build.broadcast(value, [self.feature], self.x)

    def sum(self, value: SSAValue) -> SSAValue:
        return self.build.reduce(value, self.others)

    def count(self) -> SSAValue:
        """Elements of each feature."""
        result = self.build.constant(self.wide, 1)
        for dim in self.others:
            result = self.build.multiply(result, self.build.size(self.x, dim, self.wide))
        return result

    def deviation(self, variance: SSAValue) -> SSAValue:
        return self.build.unary("sqrt", self.build.add_(variance, self.epsilon))

    def centered(self, mean: SSAValue) -> SSAValue:
        return self.build.subtract(self.x, self.spread(mean))

    def normalized(self, scale: SSAValue, offset: SSAValue, mean: SSAValue, variance: SSAValue) -> SSAValue:
        build = self.build
        unit = build.divide(self.centered(mean), self.spread(self.deviation(variance)))
        return build.add_(build.multiply(self.spread(scale), unit), self.spread(offset))

    def results(self, *values: SSAValue) -> list[SSAValue]:
        """The values in the types of the op."""
        return [self._narrow(value, type) for value, type in zip(values, self.types, strict=True)]

    def _narrow(self, value: SSAValue, element: Attribute) -> SSAValue:
        return self.build.convert(value, element)


def _inference(build: Build, op: Operation) -> Sequence[SSAValue]:
    norm = _Norm(build, op)
    return norm.results(norm.normalized(*norm.operands[1:]))


def _training(build: Build, op: Operation) -> Sequence[SSAValue]:
    norm = _Norm(build, op)
    scale, offset = norm.operands[1:]
    count = norm.count()
    mean = build.divide(norm.sum(norm.x), count)
    centered = norm.centered(mean)
    variance = build.divide(norm.sum(build.multiply(centered, centered)), count)
    return norm.results(norm.normalized(scale, offset, mean, variance), mean, variance)


def _grad(build: Build, op: Operation) -> Sequence[SSAValue]:
    norm = _Norm(build, op)
    scale, mean, variance, grad = norm.operands[1:]
    count = norm.count()
    centered = norm.centered(mean)
    deviation = norm.deviation(variance)
    total = norm.sum(grad)
    weighted = norm.sum(build.multiply(grad, centered))
    # i1 .. i6 of the specification.
    first = build.multiply(grad, count)
    second = norm.spread(total)
    slope = build.divide(weighted, build.add_(variance, norm.epsilon))
    rest = build.subtract(build.subtract(first, second), build.multiply(norm.spread(slope), centered))
    factor = build.divide(build.divide(scale, deviation), count)
    grad_operand = build.multiply(norm.spread(factor), rest)
    grad_scale = norm.sum(build.multiply(grad, build.divide(centered, norm.spread(deviation))))
    return norm.results(grad_operand, grad_scale, total)


EXPANSIONS = {
    "stablehlo.batch_norm_inference": _inference,
    "stablehlo.batch_norm_training": _training,
    "stablehlo.batch_norm_grad": _grad,
}
