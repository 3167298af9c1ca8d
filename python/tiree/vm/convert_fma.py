"""`math.fma` in bytecode, rounded once as in machine code; the instruction of that name rounds twice."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import f32, f64, i32, i64
from xdsl.ir import Operation, SSAValue

from tiree.vm.builder import FunctionBuilder
from tiree.vm.convert_arith import bits

# Cuts the 53 digits of a number into halves whose products are exact (Veltkamp).
_SPLITTER = 2.0**27 + 1


class _Doubles:
    """Arithmetic on f64 registers."""

    def __init__(self, b: FunctionBuilder) -> None:
        self.b = b

    def __call__(self, name: str, *operands: SSAValue) -> SSAValue:
        return self.b.value(f"{name}.f64", list(operands), f64)

    def two_sum(self, x: SSAValue, y: SSAValue) -> tuple[SSAValue, SSAValue]:
        """x + y, and what rounding lost of it (Knuth)."""
        total = self("add", x, y)
        other = self("sub", total, x)
        return total, self("add", self("sub", x, self("sub", total, other)), self("sub", y, other))

    def halves(self, x: SSAValue) -> tuple[SSAValue, SSAValue]:
        scaled = self("mul", x, self.b.constant(_SPLITTER, f64))
        high = self("sub", scaled, self("sub", scaled, x))
        return high, self("sub", x, high)

    def lost_of_product(self, x: SSAValue, y: SSAValue, product: SSAValue) -> SSAValue:
        """x y - product (Dekker)."""
        (a, b), (c, d) = self.halves(x), self.halves(y)
        rest = self("sub", self("mul", a, c), product)
        rest = self("add", self("add", rest, self("mul", a, d)), self("mul", b, c))
        return self("add", rest, self("mul", b, d))

    def is_finite(self, x: SSAValue) -> SSAValue:
        return self.b.value("cmp.lt.f64.o", [self("abs", x), self.b.constant(math.inf, f64)], i32)


def fused_multiply_add(b: FunctionBuilder, op: Operation) -> None:
    """In f64: near the ends of its range the result may be off by the rounding of the product."""
    x, y, z = (b.get(v) for v in op.operands)
    narrow, f = x.type == f32, _Doubles(b)
    if narrow:
        x, y, z = (b.value("ext.f32.f64", [v], f64) for v in (x, y, z))
    product = f("mul", x, y)
    total, lost = f.two_sum(product, z)
    if narrow:
        b.values[op.results[0]] = b.value("trunc.f64.f32", [_to_odd(b, f, total, lost)], f32)
        return
    once = f("add", total, f("add", lost, f.lost_of_product(x, y, product)))
    b.values[op.results[0]] = b.value("select.f64", [f.is_finite(once), once, f("add", product, z)], f64)


def _to_odd(b: FunctionBuilder, f: _Doubles, total: SSAValue, lost: SSAValue) -> SSAValue:
    """The exact sum rounded to odd, so that the last rounding sees what this one dropped."""

    def op(name: str, left: SSAValue, right: SSAValue) -> SSAValue:
        return b.value(f"{name}.i64", [left, right], i64)

    pattern, sign = bits(b, total), op("xor", bits(b, lost), bits(b, total))
    negative = b.value("shr.i64.s", [sign, b.i32(63)], i64)
    step = op("or", negative, b.i64(1))  # -1 towards zero, 1 away from it
    moved = b.value("bitcast.i64.f64", [op("add", pattern, step)], f64)
    zero = b.constant(0.0, f64)
    inexact = b.value("and.i32", [b.value("cmp.ne.f64.o", [lost, zero], i32), f.is_finite(lost)], i32)
    even = b.value("cmp.eq.i64", [op("and", pattern, b.i64(1)), b.i64(0)], i32)
    return b.value("select.f64", [b.value("and.i32", [inexact, even], i32), moved, total], f64)
