"""Argument reduction modulo pi/2 for arguments too large for floating point: Payne and Hanek's method in integers.

A product of the 53-bit mantissa with the 192 bits of 2/pi that matter for the argument's exponent gives the quarter
(two bits) and the fraction to far more bits than the worst cancellation of a double takes away.
"""

from __future__ import annotations

from functools import cache

from tiree.codegen.llvm import constants
from tiree.codegen.llvm.emitter import Emitter
from tiree.codegen.llvm.types import F64, I64
from tiree.codegen.math.builder import Value
from tiree.codegen.math.slow_lanes import slow_lanes

_WORDS = 22
"""64-bit words of the table: two of zeros, then 2/pi from its first bit on, enough for the largest double."""


@cache
def two_over_pi_words() -> tuple[int, ...]:
    """2/pi as a binary fraction, by Machin's formula in integers."""
    bits = 64 * _WORDS + 64
    one = 1 << bits

    def arctan_inverse(n: int) -> int:
        total = term = one // n
        square, k = n * n, 1
        while term:
            term //= -square
            k += 2
            total += term // k
        return total

    pi = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
    fraction = (one * one * 2) // pi >> 64
    count = _WORDS - 2
    fraction >>= 64 * _WORDS - 64 * count
    words = [(fraction >> (64 * (count - 1 - i))) & (2**64 - 1) for i in range(count)]
    return (0, 0, *words)


_NUMBERS = {
    "pi": 1.5707963267948966,
    "pi_low": 6.123233995736766e-17,
    "pi_head": 1.5707963407039642,
    "pi_tail": -1.3909067675399456e-08,
    "splitter": 134217729.0,
    "down11": 2.0**-11,
    "two32": 2.0**32,
}
"""pi/2, what its rounding left, its upper 26 bits and the rest; constants that split a double."""

_HELPER = """\
define internal {{ double, i64 }} @tiree.reduce_large(double %x) noinline nounwind "no-builtins" {features} {{
  %bits = bitcast double %x to i64
  %field = lshr i64 %bits, 52
  %biased = and i64 %field, 2047
  %capped = call i64 @llvm.umin.i64(i64 %biased, i64 2046)
  %finite = call i64 @llvm.umax.i64(i64 %capped, i64 949)
  %low = and i64 %bits, 4503599627370495
  %mantissa = or i64 %low, 4503599627370496
  ; x = mantissa * 2^(biased - 1075). Bits of 2/pi of weight above 2 / 2^exponent only add whole turns.
  %first = sub i64 %finite, 949
  %word = lshr i64 %first, 6
  %shift = and i64 %first, 63
  %p0 = getelementptr i64, ptr {table}, i64 %word
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %a0 = load i64, ptr %p0, align 8
  %a1 = load i64, ptr %p1, align 8
  %a2 = load i64, ptr %p2, align 8
  %a3 = load i64, ptr %p3, align 8
  %w2 = call i64 @llvm.fshl.i64(i64 %a0, i64 %a1, i64 %shift)
  %w1 = call i64 @llvm.fshl.i64(i64 %a1, i64 %a2, i64 %shift)
  %w0 = call i64 @llvm.fshl.i64(i64 %a2, i64 %a3, i64 %shift)
  %m = zext i64 %mantissa to i128
  %e0 = zext i64 %w0 to i128
  %e1 = zext i64 %w1 to i128
  %t0 = mul i128 %m, %e0
  %t1 = mul i128 %m, %e1
  %t2 = mul i64 %mantissa, %w2
  %c0 = lshr i128 %t0, 64
  %s1 = add i128 %t1, %c0
  %top = zext i64 %t2 to i128
  %high = shl i128 %top, 64
  ; The product modulo 4, in units of 2^-126: two bits of quarter turns, then the fraction.
  %product = add i128 %s1, %high
  %half = shl i128 1, 125
  %rounded = add i128 %product, %half
  %quarter = lshr i128 %rounded, 126
  %whole = shl i128 %quarter, 126
  %rest = sub i128 %product, %whole
  %negative = icmp slt i128 %rest, 0
  %size = call i128 @llvm.abs.i128(i128 %rest, i1 false)
  %zeros = call i128 @llvm.ctlz.i128(i128 %size, i1 false)
  %normal = shl i128 %size, %zeros
  %topbits = lshr i128 %normal, 64
  %top64 = trunc i128 %topbits to i64
  %highbits = lshr i64 %top64, 11
  %lowbits = and i64 %top64, 2047
  ; In halves of 32 bits, which every target converts without a library.
  %h1 = lshr i64 %highbits, 32
  %h2 = trunc i64 %h1 to i32
  %h3 = sitofp i32 %h2 to double
  %h4 = trunc i64 %highbits to i32
  %h5 = uitofp i32 %h4 to double
  %h6 = fmul double %h3, {two32}
  %h = fadd double %h6, %h5
  %low32 = trunc i64 %lowbits to i32
  %l0 = sitofp i32 %low32 to double
  %l = fmul double %l0, {down11}
  %zeros64 = trunc i128 %zeros to i64
  ; h + l has weight 2^-126 * 2^75 / 2^zeros.
  %power = sub i64 972, %zeros64
  %scalebits = shl i64 %power, 52
  %scale = bitcast i64 %scalebits to double
  ; (h + l) pi/2 with the error of the large product, rounded once.
  %p = fmul double %h, {pi}
  %split = fmul double %h, {splitter}
  %over = fsub double %split, %h
  %hh = fsub double %split, %over
  %hl = fsub double %h, %hh
  %q0 = fmul double %hh, {pi_head}
  %q1 = fsub double %q0, %p
  %q2 = fmul double %hh, {pi_tail}
  %q3 = fadd double %q1, %q2
  %q4 = fmul double %hl, {pi_head}
  %q5 = fadd double %q3, %q4
  %q6 = fmul double %hl, {pi_tail}
  %q7 = fadd double %q5, %q6
  %q8 = fmul double %h, {pi_low}
  %q9 = fmul double %l, {pi}
  %q10 = fadd double %q8, %q9
  %q11 = fadd double %q7, %q10
  %sum = fadd double %p, %q11
  %angle = fmul double %sum, %scale
  %flip = fneg double %angle
  %signed = select i1 %negative, double %flip, double %angle
  %n = trunc i128 %quarter to i64
  %below = icmp slt i64 %bits, 0
  %mirror = fneg double %signed
  %minus = sub i64 0, %n
  %r = select i1 %below, double %mirror, double %signed
  %q = select i1 %below, i64 %minus, i64 %n
  %result0 = insertvalue {{ double, i64 }} poison, double %r, 0
  %result1 = insertvalue {{ double, i64 }} %result0, i64 %q, 1
  ret {{ double, i64 }} %result1
}}"""


def _helper(e: Emitter) -> str:
    words = ", ".join(f"i64 {constants.element_text(I64, word)}" for word in two_over_pi_words())
    table = e.module.use_constant_data("tiree.two_over_pi", f"[{_WORDS} x i64] [{words}], align 8")
    numbers = {name: constants.number_text(F64, value) for name, value in _NUMBERS.items()}
    text = _HELPER.format(table=table, features=e.module.function_attributes, **numbers)
    return e.module.use_helper("tiree.reduce_large", text)


def reduce_large(x: Value, limit: float, r: Value, n: Value) -> tuple[Value, Value]:
    """(r, n), replaced in the f64 lanes with |x| > limit; the common case pays one compare and branch."""
    r, n = slow_lanes(_helper(x.e), [x], [r, n], x.abs().gt(limit))
    return r, n
