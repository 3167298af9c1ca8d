"""`Real`: a float value of a body that is written with Python's operators, for formulas longer than a line."""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.scalars.builder import ScalarBuilder


class Real:
    """A value and the builder that its operations go to. Numbers stand for constants of the value's type."""

    __slots__ = ("s", "value")

    def __init__(self, s: ScalarBuilder, value: SSAValue) -> None:
        self.s = s
        self.value = value

    @property
    def type(self) -> Attribute:
        return self.value.type

    def constant(self, number: float) -> Real:
        """A constant of this value's type."""
        return Real(self.s, self.s.constant(self.value.type, number))

    def _other(self, other: Real | float) -> Real:
        return other if isinstance(other, Real) else self.constant(other)

    def _unary(self, op: type[Operation]) -> Real:
        return Real(self.s, self.s.unary(op, self.value))

    def _binary(self, op: type[Operation], other: Real | float) -> Real:
        return Real(self.s, self.s.binary(op, self.value, self._other(other).value))

    # Arithmetic.

    def __add__(self, other: Real | float) -> Real:
        return self._binary(arith.AddfOp, other)

    def __sub__(self, other: Real | float) -> Real:
        return self._binary(arith.SubfOp, other)

    def __mul__(self, other: Real | float) -> Real:
        return self._binary(arith.MulfOp, other)

    def __truediv__(self, other: Real | float) -> Real:
        return self._binary(arith.DivfOp, other)

    def __neg__(self) -> Real:
        return self._unary(arith.NegfOp)

    def __abs__(self) -> Real:
        return self._unary(math.AbsFOp)

    # Functions.

    def sqrt(self) -> Real:
        return self._unary(math.SqrtOp)

    def cbrt(self) -> Real:
        return self._unary(math.CbrtOp)

    def exp(self) -> Real:
        return self._unary(math.ExpOp)

    def expm1(self) -> Real:
        return self._unary(math.ExpM1Op)

    def log(self) -> Real:
        return self._unary(math.LogOp)

    def log1p(self) -> Real:
        return self._unary(math.Log1pOp)

    def sin(self) -> Real:
        return self._unary(math.SinOp)

    def cos(self) -> Real:
        return self._unary(math.CosOp)

    def tan(self) -> Real:
        return self._unary(math.TanOp)

    def atan2(self, x: Real | float) -> Real:
        """The angle of the point (`x`, self)."""
        return self._binary(math.Atan2Op, x)

    def max(self, other: Real | float) -> Real:
        """The greater; NaN if either is NaN."""
        return self._binary(arith.MaximumfOp, other)

    def min(self, other: Real | float) -> Real:
        """The lesser; NaN if either is NaN."""
        return self._binary(arith.MinimumfOp, other)

    def with_sign(self, other: Real) -> Real:
        """The magnitude of self with the sign of `other`."""
        return self._binary(math.CopySignOp, other)

    # Tests.

    def compare(self, predicate: str, other: Real | float) -> SSAValue:
        """`arith.cmpf`: an `i1`."""
        return self.s.cmpf(predicate, self.value, self._other(other).value)

    def is_zero(self) -> SSAValue:
        return self.compare("oeq", 0.0)

    def is_infinite(self) -> SSAValue:
        return abs(self).compare("oeq", float("inf"))

    def where(self, condition: SSAValue, otherwise: Real | float) -> Real:
        """Self where `condition` holds."""
        return Real(self.s, self.s.select(condition, self.value, self._other(otherwise).value))

    def unless(self, condition: SSAValue, then: Real | float) -> Real:
        """Self but where `condition` holds, there `then`."""
        return self._other(then).where(condition, self)
