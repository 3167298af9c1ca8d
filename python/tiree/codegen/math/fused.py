"""A fused multiply-add on targets without the instruction, and for the small floats."""

from __future__ import annotations

from tiree.codegen.llvm import convert
from tiree.codegen.llvm.emitter import Emitter
from tiree.codegen.llvm.types import LType, ltype
from tiree.codegen.math.builder import Value, two_product, two_sum


def fused_multiply_add(e: Emitter, type: LType, a: str, b: str, c: str) -> str:
    """a * b + c rounded once.

    For f64 without the instruction the product must stay clear of overflow and underflow by 2^54; beyond, the result
    may be off by the rounding of the product.
    """
    if type.kind == "f" and e.target.has_fma:
        return e.intrinsic("fma", type, (type, a), (type, b), (type, c))
    f64 = ltype("f", 64, type.lanes)
    x, y, z = (Value(e, f64, convert.convert_float(e, type, f64, v)) for v in (a, b, c))
    if type.bits == 64:
        product, error = two_product(x, y)
        total, lost = two_sum(product, z)
        once = total + (lost + error)
        # Not finite also where the halves of a large factor overflow.
        return once.abs().lt(float("inf")).where(once, product + z).text
    # The product of two f32 is exact in f64; the sum is rounded to odd, so that the last rounding sees what it dropped.
    product = x * y
    total, lost = two_sum(product, z)
    bits = total.bits()
    inexact = lost.ne(0.0) & lost.abs().lt(float("inf")) & (bits & 1).eq(0)
    towards = (lost.bits() ^ bits).lt(0)
    step = towards.where(bits.const(-1), 1)
    odd = inexact.where(bits + step, bits).as_float()
    return convert.convert_float(e, f64, type, odd.text)
