"""`Num`: a scalar of a loop kernel as Python sees it, real or complex, with the operators that algorithms need.

Arithmetic of floats may be contracted (a product and the sum behind it round once where the target can); sums that
say so may be reassociated. Integers and plain Python numbers become constants of the other operand's type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import arith, math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import AnyFloat, IndexType, i1
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

if TYPE_CHECKING:
    from tiree.input.factorizations.kernel import LoopKernel


_CONTRACT = FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
_REASSOCIATE = FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT, FastMathFlag.REASSOC])


class Num:
    """An index, an integer, a boolean or a float `re`; a complex number has `im`, too."""

    __slots__ = ("im", "kernel", "re")

    def __init__(self, kernel: LoopKernel, re: SSAValue, im: SSAValue | None = None) -> None:
        self.kernel = kernel
        self.re = re
        self.im = im

    def __bool__(self) -> bool:
        raise TypeError("a number of a kernel is not known while the kernel is made: use `when` or `where`")

    # Parts and types.

    @property
    def type(self) -> Attribute:
        """The type of a part."""
        return self.re.type

    @property
    def real(self) -> Num:
        return Num(self.kernel, self.re)

    @property
    def imag(self) -> Num:
        """The imaginary part; zero of a real number."""
        return self.kernel.number(0.0, self.type) if self.im is None else Num(self.kernel, self.im)

    def conj(self) -> Num:
        return self if self.im is None else Num(self.kernel, self.re, (-self.imag).re)

    def _other(self, other: Num | int | float) -> Num:
        return other if isinstance(other, Num) else self.kernel.number(other, self.type)

    # Arithmetic.

    def _binary(self, op: type[Operation], other: Num, flags: FastMathFlagsAttr = _CONTRACT) -> Num:
        code = self.kernel.code
        if isinstance(self.type, AnyFloat):
            new = op.create(operands=[self.re, other.re], result_types=[self.type], properties={"fastmath": flags})
            return Num(self.kernel, code.add(new).results[0])
        return Num(self.kernel, code.binary(op, self.re, other.re))

    def _part(self, a: Num, b: Num, which: str, flags: FastMathFlagsAttr = _CONTRACT) -> Num:
        floats, integers = _OPS[which]
        return a._binary(floats if isinstance(a.type, AnyFloat) else integers, b, flags)

    def _plus(self, other: Num, which: str, flags: FastMathFlagsAttr = _CONTRACT) -> Num:
        re = self._part(self.real, other.real, which, flags)
        if self.im is None and other.im is None:
            return re
        if other.im is None:
            return Num(self.kernel, re.re, self.im)
        if self.im is None:
            return Num(self.kernel, re.re, other.im if which == "add" else (-other.imag).re)
        return Num(self.kernel, re.re, self._part(self.imag, other.imag, which, flags).re)

    def __add__(self, other: Num | int | float) -> Num:
        return self._plus(self._other(other), "add")

    def __radd__(self, other: int | float) -> Num:
        return self._other(other) + self

    def __sub__(self, other: Num | int | float) -> Num:
        return self._plus(self._other(other), "sub")

    def __rsub__(self, other: int | float) -> Num:
        return self._other(other) - self

    def plus_in_any_order(self, other: Num) -> Num:
        """A sum that may be reassociated with its neighbours."""
        return self._plus(other, "add", _REASSOCIATE)

    def __mul__(self, other: Num | int | float) -> Num:
        other = self._other(other)
        if self.im is None and other.im is None:
            return self._part(self, other, "mul")
        if other.im is None:
            return Num(self.kernel, (self.real * other).re, (self.imag * other).re)
        if self.im is None:
            return other * self
        re = self.real * other.real - self.imag * other.imag
        return Num(self.kernel, re.re, (self.real * other.imag + self.imag * other.real).re)

    def __rmul__(self, other: int | float) -> Num:
        return self._other(other) * self

    def __truediv__(self, other: Num | int | float) -> Num:
        """Of complex numbers by Smith's way: scaled by the larger part of the divisor."""
        other = self._other(other)
        if other.im is None:
            if self.im is None:
                return self._binary(arith.DivfOp, other)
            return Num(self.kernel, (self.real / other).re, (self.imag / other).re)
        k, c, d = self.kernel, other.real, other.imag
        wide = c.abs() >= d.abs()
        large, small = k.where(wide, c, d), k.where(wide, d, c)
        ratio = small / large
        bottom = large + small * ratio
        a, b = self.real, self.imag
        re = k.where(wide, a + b * ratio, a * ratio + b) / bottom
        im = k.where(wide, b - a * ratio, b * ratio - a) / bottom
        return Num(k, re.re, im.re)

    def __rtruediv__(self, other: int | float) -> Num:
        return self._other(other) / self

    def __neg__(self) -> Num:
        if not isinstance(self.type, AnyFloat):
            return 0 - self
        re = self._unary(arith.NegfOp)
        return re if self.im is None else Num(self.kernel, re.re, (-self.imag).re)

    def _unary(self, op: type[Operation]) -> Num:
        return Num(self.kernel, self.kernel.code.unary(op, self.re))

    def abs(self) -> Num:
        """The magnitude; of complex numbers without overflow on the way."""
        if self.im is None:
            if isinstance(self.type, AnyFloat):
                return self._unary(math.AbsFOp)
            return self.kernel.where(self < 0, -self, self)
        a, b = self.real.abs(), self.imag.abs()
        return self.kernel.hypot(a, b)

    def abs1(self) -> Num:
        """|re| + |im|."""
        return self.real.abs() if self.im is None else self.real.abs() + self.imag.abs()

    def abs2(self) -> Num:
        """The square of the magnitude."""
        return self * self if self.im is None else self.real * self.real + self.imag * self.imag

    def sqrt(self) -> Num:
        """Of a real number."""
        return self._unary(math.SqrtOp)

    # Comparisons: of the real parts; unequal to NaN in every order but `!=`.

    def _compare(self, other: Num | int | float, ordered: str, signed: str) -> Num:
        code, right = self.kernel.code, self._other(other)
        if isinstance(self.type, AnyFloat):
            return Num(self.kernel, code.cmpf(ordered, self.re, right.re))
        return Num(self.kernel, code.cmpi(signed, self.re, right.re))

    def __lt__(self, other: Num | int | float) -> Num:
        return self._compare(other, "olt", "slt")

    def __le__(self, other: Num | int | float) -> Num:
        return self._compare(other, "ole", "sle")

    def __gt__(self, other: Num | int | float) -> Num:
        return self._compare(other, "ogt", "sgt")

    def __ge__(self, other: Num | int | float) -> Num:
        return self._compare(other, "oge", "sge")

    def eq(self, other: Num | int | float) -> Num:
        found = self._compare(other, "oeq", "eq")
        if self.im is None and (not isinstance(other, Num) or other.im is None):
            return found
        return found & self.imag.eq(other.imag if isinstance(other, Num) else 0.0)

    def ne(self, other: Num | int | float) -> Num:
        return ~self.eq(other)

    # Booleans.

    def __and__(self, other: Num) -> Num:
        return Num(self.kernel, self.kernel.code.and_(self.re, other.re))

    def __or__(self, other: Num) -> Num:
        return Num(self.kernel, self.kernel.code.or_(self.re, other.re))

    def __invert__(self) -> Num:
        return self._binary(arith.XOrIOp, self.kernel.number(1, i1))

    def to_type(self, type: Attribute) -> Num:
        """An index or integer as another integer type, or as a float."""
        code = self.kernel.code
        if self.type == i1 and isinstance(type, IndexType):
            return Num(self.kernel, code.to_index(self.re, unsigned=True))
        if isinstance(self.type, IndexType) or isinstance(type, IndexType):
            return Num(self.kernel, code.cast(arith.IndexCastOp, self.re, type))
        if self.type == i1:
            return Num(self.kernel, code.cast(arith.ExtUIOp, self.re, type))
        if isinstance(type, AnyFloat):
            return Num(self.kernel, code.cast(arith.SIToFPOp, self.re, type))
        return Num(self.kernel, code.cast(arith.ExtSIOp, self.re, type))

    def halved(self) -> Num:
        """An index divided by two, towards zero."""
        return self._binary(arith.ShRUIOp, self._other(1))

    def quotient(self, other: Num | int) -> Num:
        """Of a non-negative index, towards zero."""
        return self._binary(arith.DivUIOp, self._other(other))

    def remainder(self, other: Num | int) -> Num:
        """Of a non-negative index."""
        return self._binary(arith.RemUIOp, self._other(other))

    def least(self, other: Num | int) -> Num:
        """The smaller of two indices."""
        return self._binary(arith.MinSIOp, self._other(other))

    def most(self, other: Num | int) -> Num:
        """The larger of two indices."""
        return self._binary(arith.MaxSIOp, self._other(other))


_OPS: dict[str, tuple[type[Operation], type[Operation]]] = {
    "add": (arith.AddfOp, arith.AddiOp),
    "sub": (arith.SubfOp, arith.SubiOp),
    "mul": (arith.MulfOp, arith.MuliOp),
}
