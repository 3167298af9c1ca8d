"""`Tile`: a value of a kernel function in Python. Operators and methods record what is computed, for all its elements.

Operands are tiles of one type, or one tile and numbers of Python, which take its type. Integers are signed. Comparisons
give tiles of bits for `where`. Nothing is computed while the function runs.
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, i1
from xdsl.ir import Operation, SSAValue

from tiree.input.lowering.scalar import ScalarBuilder

Number: TypeAlias = "Tile | float | int"


class Tile:
    """Elements of one type; `value` stands for any of them."""

    def __init__(self, value: SSAValue, builder: ScalarBuilder) -> None:
        self.value = value
        self._builder = builder

    @property
    def is_float(self) -> bool:
        return isinstance(self.value.type, AnyFloat)

    def _other(self, other: Number) -> SSAValue:
        if isinstance(other, Tile):
            if other.value.type != self.value.type:
                raise TypeError(f"tiles of {self.value.type} and {other.value.type} do not go together")
            return other.value
        return self._builder.constant(self.value.type, other)

    def _new(self, value: SSAValue) -> Tile:
        return Tile(value, self._builder)

    def _binary(self, float_op: type[Operation], integer_op: type[Operation] | None, other: Number) -> Tile:
        op = float_op if self.is_float else integer_op
        if op is None:
            raise TypeError(f"{float_op.name} needs floats, not {self.value.type}")
        return self._new(self._builder.binary(op, self.value, self._other(other)))

    def _float(self, op: type[Operation]) -> Tile:
        if not self.is_float:
            raise TypeError(f"{op.name} needs floats, not {self.value.type}")
        return self._new(self._builder.unary(op, self.value))

    def _compare(self, name: str, other: Number) -> Tile:
        if self.is_float:
            return self._new(
                self._builder.cmpf("u" + name if name == "ne" else "o" + name, self.value, self._other(other))
            )
        signed = name if name in ("eq", "ne") else "s" + name
        return self._new(self._builder.cmpi(signed, self.value, self._other(other)))

    def constant(self, number: float | int) -> Tile:
        """A tile of that number, of this type."""
        return self._new(self._other(number))

    # Arithmetic.

    def __add__(self, other: Number) -> Tile:
        return self._binary(arith.AddfOp, arith.AddiOp, other)

    def __sub__(self, other: Number) -> Tile:
        return self._binary(arith.SubfOp, arith.SubiOp, other)

    def __mul__(self, other: Number) -> Tile:
        return self._binary(arith.MulfOp, arith.MuliOp, other)

    def __truediv__(self, other: Number) -> Tile:
        return self._binary(arith.DivfOp, None, other)

    def __radd__(self, other: Number) -> Tile:
        return self.constant(_number(other)) + self

    def __rsub__(self, other: Number) -> Tile:
        return self.constant(_number(other)) - self

    def __rmul__(self, other: Number) -> Tile:
        return self.constant(_number(other)) * self

    def __rtruediv__(self, other: Number) -> Tile:
        return self.constant(_number(other)) / self

    def __neg__(self) -> Tile:
        return self._new(self._builder.neg(self.value))

    def __abs__(self) -> Tile:
        return self._float(math.AbsFOp) if self.is_float else (self < 0).where(-self, self)

    def maximum(self, other: Number) -> Tile:
        """The larger of two; NaN if one is."""
        return self._binary(arith.MaximumfOp, arith.MaxSIOp, other)

    def minimum(self, other: Number) -> Tile:
        """The smaller of two; NaN if one is."""
        return self._binary(arith.MinimumfOp, arith.MinSIOp, other)

    def fma(self, factor: Number, addend: Number) -> Tile:
        """`self * factor + addend` of floats, rounded once."""
        if not self.is_float:
            raise TypeError(f"fma needs floats, not {self.value.type}")
        return self._new(self._builder.fma(self.value, self._other(factor), self._other(addend)))

    # Bits.

    def __and__(self, other: Number) -> Tile:
        return self._new(self._builder.and_(self._bits(), self._other(other)))

    def __or__(self, other: Number) -> Tile:
        return self._new(self._builder.or_(self._bits(), self._other(other)))

    def __invert__(self) -> Tile:
        return self._new(self._builder.not_(self._bits()))

    def _bits(self) -> SSAValue:
        if self.is_float:
            raise TypeError(f"operators of bits need integers, not {self.value.type}")
        return self.value

    # Comparisons.

    def __lt__(self, other: Number) -> Tile:
        return self._compare("lt", other)

    def __le__(self, other: Number) -> Tile:
        return self._compare("le", other)

    def __gt__(self, other: Number) -> Tile:
        return self._compare("gt", other)

    def __ge__(self, other: Number) -> Tile:
        return self._compare("ge", other)

    def equals(self, other: Number) -> Tile:
        return self._compare("eq", other)

    def differs(self, other: Number) -> Tile:
        return self._compare("ne", other)

    def where(self, then: Tile, other: Number) -> Tile:
        """`then` where this tile of bits is 1, else `other`."""
        if self.value.type != i1:
            raise TypeError(f"where() chooses by the result of a comparison, not by {self.value.type}")
        return then._new(self._builder.select(self.value, then.value, then._other(other)))

    def __bool__(self) -> bool:
        raise TypeError("a tile has many elements; choose between them with condition.where(then, other)")

    # Functions of floats.

    def exp(self) -> Tile:
        return self._float(math.ExpOp)

    def log(self) -> Tile:
        return self._float(math.LogOp)

    def sqrt(self) -> Tile:
        return self._float(math.SqrtOp)

    def tanh(self) -> Tile:
        return self._float(math.TanhOp)

    def sin(self) -> Tile:
        return self._float(math.SinOp)

    def cos(self) -> Tile:
        return self._float(math.CosOp)

    def erf(self) -> Tile:
        return self._float(math.ErfOp)

    def floor(self) -> Tile:
        return self._float(math.FloorOp)


def _number(value: Number) -> float | int:
    if isinstance(value, Tile):
        raise TypeError("two tiles of different types")
    return value
