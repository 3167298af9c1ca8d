"""sin, cos, tan of any argument.

x = n pi/2 + r with |r| <= pi/4. Up to 2^20 quarter turns the reduction subtracts pi/2 in parts whose products with n
are exact. Where any lane is larger, a branch leads to a loop over the lanes that multiplies by enough bits of 2/pi in
integers (`reduction.py`). f32 reduces in f64, which needs two parts only.
"""

from __future__ import annotations

from tiree.codegen.llvm.types import ltype
from tiree.codegen.math import coefficients as c
from tiree.codegen.math.builder import Value, fma, horner, quick_two_sum, round_to_int, two_product
from tiree.codegen.math.reduction import reduce_large

_PARTS = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
"""pi/2: two parts of 33 bits and the rest."""
_TWO_OVER_PI = 0.6366197723675814
_LIMIT = 1.0e6
"""Largest argument of the quick reduction."""


def _reduce(x: Value) -> tuple[Value, Value]:
    """(r, n) of an f64 argument; n is an integer whose low two bits count."""
    safe = x.abs().le(_LIMIT).where(x, 0.0)
    n, number = round_to_int(safe * _TWO_OVER_PI)
    rest = safe - n * _PARTS[0]
    middle, error = two_product(n, n.const(_PARTS[1]))
    r, lost = quick_two_sum(rest, -middle)
    # Near a multiple of pi/2 the first difference cancels; what it lost is added last.
    r = r + ((lost - error) - n * _PARTS[2])
    return reduce_large(x, _LIMIT, r, number)


def _reduce_f32(x: Value) -> tuple[Value, Value]:
    """(r in f32, n) of an f32 argument."""
    wide = x.to(ltype("f", 64, x.type.lanes))
    safe = wide.abs().le(_LIMIT).where(wide, 0.0)
    n, number = round_to_int(safe * _TWO_OVER_PI)
    r = (safe - n * _PARTS[0]) - n * _PARTS[1]
    r, number = reduce_large(wide, _LIMIT, r, number)
    return r.to(x.type), number.to(x.int_type)


def _kernels(r: Value) -> tuple[Value, Value]:
    """(sin r, cos r) for |r| <= pi/4."""
    sine, cosine = (c.SIN_F32, c.COS_F32) if r.type.bits == 32 else (c.SIN_F64, c.COS_F64)
    z = r * r
    s = fma(r * z, horner(z, sine), r)
    half = z * 0.5
    head = 1.0 - half
    # 1 - z/2 is rounded; the rounding error goes in with the polynomial.
    k = head + (((1.0 - head) - half) + z * z * horner(z, cosine))
    return s, k


def _finite(x: Value, result: Value) -> Value:
    return x.abs().lt(float("inf")).where(result, float("nan"))


def _sine(x: Value, quarter: int) -> Value:
    """sin(x + quarter pi/2)."""
    r, n = _reduce_f32(x) if x.type.bits == 32 else _reduce(x)
    s, k = _kernels(r)
    n = n + quarter if quarter else n
    value = (n & 1).ne(0).where(k, s)
    sign = (n & 2) << (x.type.bits - 2)
    return _finite(x, (value.bits() ^ sign).as_float())


def sin(x: Value, single: bool = False) -> Value:
    del single
    result = _sine(x, 0)
    return x.eq(0.0).where(x, result)


def cos(x: Value, single: bool = False) -> Value:
    del single
    return _sine(x, 1)


def tan(x: Value, single: bool = False) -> Value:
    """sin / cos, or -cos / sin in odd quarters."""
    del single
    r, n = _reduce(x)
    s, k = _kernels(r)
    odd = (n & 1).ne(0)
    result = odd.where(-k, s) / odd.where(s, k)
    return x.eq(0.0).where(x, _finite(x, result))
