"""C's fmod, exact.

Quotients below 2^29 (f32) or, with a fused multiply-add, 2^52 (f64) take one division and one exact product; where a
lane has a larger one, a branch leads to long division in integers, lane by lane.
"""

from __future__ import annotations

from tiree.codegen.llvm.emitter import Emitter
from tiree.codegen.llvm.types import LType, ltype
from tiree.codegen.math.builder import Value
from tiree.codegen.math.rounding import trunc
from tiree.codegen.math.slow_lanes import slow_lanes

_HELPER = """\
define internal double @tiree.fmod(double %x, double %y) noinline nounwind "no-builtins" {features} {{
entry:
  %ax = call double @llvm.fabs.f64(double %x)
  %ay = call double @llvm.fabs.f64(double %y)
  %xb = bitcast double %ax to i64
  %yb = bitcast double %ay to i64
  %xe0 = lshr i64 %xb, 52
  %ye0 = lshr i64 %yb, 52
  %xm0 = and i64 %xb, 4503599627370495
  %ym0 = and i64 %yb, 4503599627370495
  %xn = or i64 %xm0, 4503599627370496
  %yn = or i64 %ym0, 4503599627370496
  %xs = icmp eq i64 %xe0, 0
  %ys = icmp eq i64 %ye0, 0
  %xm = select i1 %xs, i64 %xm0, i64 %xn
  %ym1 = select i1 %ys, i64 %ym0, i64 %yn
  %ym = call i64 @llvm.umax.i64(i64 %ym1, i64 1)
  %xe = call i64 @llvm.umax.i64(i64 %xe0, i64 1)
  %ye = call i64 @llvm.umax.i64(i64 %ye0, i64 1)
  %smaller = icmp ult i64 %xb, %yb
  %first = urem i64 %xm, %ym
  %gap = sub i64 %xe, %ye
  br i1 %smaller, label %done, label %loop
loop:
  %rest = phi i64 [ %first, %entry ], [ %next, %step ]
  %left = phi i64 [ %gap, %entry ], [ %remaining, %step ]
  %more = icmp sgt i64 %left, 0
  br i1 %more, label %step, label %pack
step:
  %shift = call i64 @llvm.smin.i64(i64 %left, i64 11)
  %wide = shl i64 %rest, %shift
  %next = urem i64 %wide, %ym
  %remaining = sub i64 %left, %shift
  br label %loop
pack:
  ; rest has the weight of y's last bit: normalise it, or leave it subnormal.
  %zeros = call i64 @llvm.ctlz.i64(i64 %rest, i1 false)
  %room = sub i64 %zeros, 11
  %lower = sub i64 %ye, 1
  %up0 = call i64 @llvm.smin.i64(i64 %room, i64 %lower)
  %iszero = icmp eq i64 %rest, 0
  %up = select i1 %iszero, i64 0, i64 %up0
  %mantissa = shl i64 %rest, %up
  %exponent = sub i64 %lower, %up
  %field = shl i64 %exponent, 52
  %bits0 = add i64 %field, %mantissa
  %bits = select i1 %iszero, i64 0, i64 %bits0
  %packed = bitcast i64 %bits to double
  br label %done
done:
  %size = phi double [ %ax, %entry ], [ %packed, %pack ]
  %result = call double @llvm.copysign.f64(double %size, double %x)
  ret double %result
}}"""


def _quick(x: Value, y: Value) -> tuple[Value, Value]:
    """(x - y trunc(x/y), mask of the lanes where that is not known to be exact); |operands| in f64."""
    quotient = trunc(x / y)
    limit = 2.0**29
    if x.e.target.has_fma:
        rest = quotient.call("fma", -y, x)
        limit = 2.0**52
    else:
        rest = x - quotient * y
    # The division may have rounded up to an integer: then the remainder is negative, by less than y.
    rest = rest.lt(0.0).where(rest + y, rest)
    rest = rest.ge(y).where(rest - y, rest)
    return rest, ~quotient.lt(limit)


def fmod(e: Emitter, type: LType, x_text: str, y_text: str) -> str:
    """The remainder of f32 or f64 operands: sign of x, NaN for y = 0 or infinite x, x for infinite y."""
    wide = ltype("f", 64, type.lanes)
    x, y = Value(e, type, x_text).to(wide), Value(e, type, y_text).to(wide)
    a, b = x.abs(), y.abs()
    infinity = float("inf")
    valid = b.gt(0.0) & a.lt(infinity)
    trivial = a.lt(b)
    usual = valid & ~trivial
    safe_a, safe_b = usual.where(a, 0.0), usual.where(b, 1.0)
    rest, hard = _quick(safe_a, safe_b)
    if type.bits == 64 and not e.target.has_fma:
        # Products of 53-bit numbers are not exact: only equal operands are easy.
        hard = usual
    helper = e.module.use_helper("tiree.fmod", _HELPER.format(features=e.module.function_attributes))
    (rest,) = slow_lanes(helper, [safe_a, safe_b], [rest], hard & usual)
    result = trivial.where(a, rest).copysign(x)
    result = (valid | b.is_nan()).where(result, float("nan"))
    result = (x.is_nan() | y.is_nan()).where(float("nan"), result)
    return result.to(type).text
