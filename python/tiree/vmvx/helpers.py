"""Functions that kernels call for what bytecode has no instruction for, as text of the host language."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tiree.support.typed import symbol_of

# A number that is a bf16 or f16 already, as bits: signalling NaN keeps its own, which `narrow` makes quiet.
_BITS_BF16 = """
util.func private @bits_bf16(%value: f32) -> i32 {
  %c16 = arith.constant 16 : i32
  %bits = arith.bitcast %value : f32 to i32
  %high = arith.shrui %bits, %c16 : i32
  util.return %high : i32
}"""
_BITS_F16 = """
util.func private @bits_f16(%value: f32) -> i32 {
  %c13 = arith.constant 13 : i32
  %c16 = arith.constant 16 : i32
  %top = arith.constant 32768 : i32
  %low = arith.constant 32767 : i32
  %scale = arith.constant 0x07800000 : f32
  %all = arith.constant 2147483647 : i32
  %infinite = arith.constant 2139095040 : i32
  %special = arith.constant 31744 : i32
  %bits = arith.bitcast %value : f32 to i32
  %magnitude = arith.andi %bits, %all : i32
  %absolute = arith.bitcast %magnitude : i32 to f32
  %scaled = arith.mulf %absolute, %scale : f32
  %scaled_bits = arith.bitcast %scaled : f32 to i32
  %finite = arith.shrui %scaled_bits, %c13 : i32
  %moved = arith.shrui %magnitude, %c13 : i32
  %cut = arith.andi %moved, %low : i32
  %endless = arith.ori %cut, %special : i32
  %is_endless = arith.cmpi uge, %magnitude, %infinite : i32
  %chosen = arith.select %is_endless, %endless, %finite : i32
  %sign_bits = arith.shrui %bits, %c16 : i32
  %sign = arith.andi %sign_bits, %top : i32
  %result = arith.ori %chosen, %sign : i32
  util.return %result : i32
}"""
_WIDEN_BF16 = """
util.func private @widen_bf16(%bits: i32) -> f32 {
  %c16 = arith.constant 16 : i32
  %high = arith.shli %bits, %c16 : i32
  %value = arith.bitcast %high : i32 to f32
  util.return %value : f32
}"""
_NARROW_BF16 = """
util.func private @narrow_bf16(%value: f32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %quiet = arith.constant 64 : i32
  %half = arith.constant 32767 : i32
  %bits = arith.bitcast %value : f32 to i32
  %high = arith.shrui %bits, %c16 : i32
  %odd = arith.andi %high, %c1 : i32
  %bias = arith.addi %odd, %half : i32
  %sum = arith.addi %bits, %bias : i32
  %rounded = arith.shrui %sum, %c16 : i32
  %nan = arith.ori %high, %quiet : i32
  %is_nan = arith.cmpf uno, %value, %value : f32
  %result = arith.select %is_nan, %nan, %rounded : i32
  util.return %result : i32
}"""
# The magnitude, moved to the place of an f32's, is the value times 2^-112; subnormals are normal after the product.
_WIDEN_F16 = """
util.func private @widen_f16(%bits: i32) -> f32 {
  %c13 = arith.constant 13 : i32
  %c16 = arith.constant 16 : i32
  %low = arith.constant 32767 : i32
  %top = arith.constant 32768 : i32
  %infinite = arith.constant 31744 : i32
  %exponent = arith.constant 2139095040 : i32
  %scale = arith.constant 0x77800000 : f32
  %magnitude = arith.andi %bits, %low : i32
  %moved = arith.shli %magnitude, %c13 : i32
  %small = arith.bitcast %moved : i32 to f32
  %scaled = arith.mulf %small, %scale : f32
  %finite = arith.bitcast %scaled : f32 to i32
  %special = arith.ori %moved, %exponent : i32
  %is_special = arith.cmpi uge, %magnitude, %infinite : i32
  %chosen = arith.select %is_special, %special, %finite : i32
  %sign = arith.andi %bits, %top : i32
  %signed = arith.shli %sign, %c16 : i32
  %all = arith.ori %chosen, %signed : i32
  %value = arith.bitcast %all : i32 to f32
  util.return %value : f32
}"""
# Below 2^-14 the sum with 0.5 rounds to a multiple of 2^-24, the least f16.
_NARROW_F16 = """
util.func private @narrow_f16(%value: f32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c13 = arith.constant 13 : i32
  %c16 = arith.constant 16 : i32
  %top = arith.constant 32768 : i32
  %low = arith.constant 2147483647 : i32
  %half = arith.constant 0.5 : f32
  %half_bits = arith.constant 1056964608 : i32
  %least_normal = arith.constant 947912704 : i32
  %beyond = arith.constant 1199570944 : i32
  %rebias = arith.constant 939524096 : i32
  %ties = arith.constant 4095 : i32
  %infinity = arith.constant 31744 : i32
  %nan = arith.constant 32256 : i32
  %payload_mask = arith.constant 511 : i32
  %bits = arith.bitcast %value : f32 to i32
  %magnitude = arith.andi %bits, %low : i32
  %absolute = arith.bitcast %magnitude : i32 to f32
  %sum = arith.addf %absolute, %half : f32
  %sum_bits = arith.bitcast %sum : f32 to i32
  %subnormal = arith.subi %sum_bits, %half_bits : i32
  %moved = arith.shrui %magnitude, %c13 : i32
  %odd = arith.andi %moved, %c1 : i32
  %rebiased = arith.subi %magnitude, %rebias : i32
  %up = arith.addi %rebiased, %ties : i32
  %even = arith.addi %up, %odd : i32
  %normal = arith.shrui %even, %c13 : i32
  %is_subnormal = arith.cmpi ult, %magnitude, %least_normal : i32
  %finite = arith.select %is_subnormal, %subnormal, %normal : i32
  %is_beyond = arith.cmpi uge, %magnitude, %beyond : i32
  %bounded = arith.select %is_beyond, %infinity, %finite : i32
  %payload = arith.andi %moved, %payload_mask : i32
  %quiet = arith.ori %payload, %nan : i32
  %is_nan = arith.cmpf uno, %value, %value : f32
  %chosen = arith.select %is_nan, %quiet, %bounded : i32
  %sign_bits = arith.shrui %bits, %c16 : i32
  %sign = arith.andi %sign_bits, %top : i32
  %result = arith.ori %chosen, %sign : i32
  util.return %result : i32
}"""
# To odd: what is lost makes the last bit 1, so that a second rounding sees it.
_TO_ODD = """
util.func private @to_odd(%value: f64) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %near = arith.truncf %value : f64 to f32
  %back = arith.extf %near : f32 to f64
  %bits = arith.bitcast %near : f32 to i32
  %a = math.absf %back : f64
  %b = math.absf %value : f64
  %is_over = arith.cmpf ogt, %a, %b : f64
  %over = arith.select %is_over, %c1, %c0 : i32
  %cut = arith.subi %bits, %over : i32
  %odd = arith.ori %cut, %c1 : i32
  %is_inexact = arith.cmpf one, %back, %value : f64
  %result = arith.select %is_inexact, %odd, %bits : i32
  %float = arith.bitcast %result : i32 to f32
  util.return %float : f32
}"""
_POPULATION = """
util.func private @population(%value: i64) -> i64 {
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c4 = arith.constant 4 : i64
  %c56 = arith.constant 56 : i64
  %pairs = arith.constant 6148914691236517205 : i64
  %fours = arith.constant 3689348814741910323 : i64
  %bytes = arith.constant 1085102592571150095 : i64
  %ones = arith.constant 72340172838076673 : i64
  %0 = arith.shrui %value, %c1 : i64
  %1 = arith.andi %0, %pairs : i64
  %2 = arith.subi %value, %1 : i64
  %3 = arith.shrui %2, %c2 : i64
  %4 = arith.andi %3, %fours : i64
  %5 = arith.andi %2, %fours : i64
  %6 = arith.addi %4, %5 : i64
  %7 = arith.shrui %6, %c4 : i64
  %8 = arith.addi %6, %7 : i64
  %9 = arith.andi %8, %bytes : i64
  %10 = arith.muli %9, %ones : i64
  %11 = arith.shrui %10, %c56 : i64
  util.return %11 : i64
}"""
# A power gives all digits but the last, a step of Newton's method that. Zero, infinity and NaN are their own root.
_CUBE_ROOT = """
util.func private @cube_root(%value: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %third = arith.constant 0.3333333333333333 : f64
  %infinity = arith.constant 0x7FF0000000000000 : f64
  %a = math.absf %value : f64
  %guess = math.powf %a, %third : f64
  %square = arith.mulf %guess, %guess : f64
  %quotient = arith.divf %a, %square : f64
  %error = arith.subf %quotient, %guess : f64
  %step = arith.mulf %error, %third : f64
  %root = arith.addf %guess, %step : f64
  %negative = arith.negf %root : f64
  %below = arith.cmpf olt, %value, %zero : f64
  %signed = arith.select %below, %negative, %root : f64
  %positive = arith.cmpf ogt, %a, %zero : f64
  %finite = arith.cmpf olt, %a, %infinity : f64
  %regular = arith.andi %positive, %finite : i1
  %result = arith.select %regular, %signed, %value : f64
  util.return %result : f64
}"""

HELPERS = {
    "bits_bf16": _BITS_BF16,
    "bits_f16": _BITS_F16,
    "widen_bf16": _WIDEN_BF16,
    "narrow_bf16": _NARROW_BF16,
    "widen_f16": _WIDEN_F16,
    "narrow_f16": _NARROW_F16,
    "to_odd": _TO_ODD,
    "population": _POPULATION,
    "cube_root": _CUBE_ROOT,
}
"""Text by name."""


def add_helpers(module: ModuleOp) -> None:
    """Adds the functions that are called to a module of kernels."""
    from tiree.dialects import read_module

    called = {symbol_of(op.properties["callee"]) for op in module.walk() if op.name == "util.call"}
    for name, text in HELPERS.items():
        if name in called:
            (function,) = read_module(f"builtin.module {{{text}\n}}\n").body.block.ops
            function.detach()
            module.body.block.add_op(function)
