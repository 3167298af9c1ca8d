"""Conversions between small floats, which are carried as bytes (`i8`), and f32 or f64, in integer arithmetic.

A number of any small format is a number of f32, so reading is exact. Writing rounds once, to nearest even.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType, i8, i32
from xdsl.ir import Attribute, SSAValue

from tiree.dialects.syntax.small_floats import SmallFloat
from tiree.input.lowering.scalar import ScalarBuilder

_F32 = Float32Type()
_MANTISSA = {32: (23, 127), 64: (52, 1023)}
"""Mantissa bits and exponent bias of f32 and f64, by width."""


def decode(s: ScalarBuilder, format: SmallFloat, byte: SSAValue) -> SSAValue:
    """The number in `byte` as f32."""
    bits = s.cast(arith.ExtUIOp, byte, i32)
    if format.kind == "scale":
        return _decode_scale(s, format, bits)
    sign = s.and_(bits, s.constant(i32, format.sign_bit))
    code = s.binary(arith.XOrIOp, bits, sign)
    placed = s.binary(arith.ShLIOp, code, s.constant(i32, 23 - format.mantissa))
    # A subnormal of the format is one of f32 here, and a multiplication makes both kinds what they are.
    number = s.mul(s.bitcast(placed, _F32), s.constant(_F32, 2.0 ** (127 - format.bias)))
    pattern = s.bitcast(number, i32)
    if format.kind == "ieee":
        special = s.or_(placed, s.constant(i32, 0x7F800000))
        pattern = s.select(s.cmpi("ugt", code, s.constant(i32, format.largest)), special, pattern)
    elif format.kind == "nan":
        pattern = s.select(s.cmpi("eq", code, s.constant(i32, format.largest + 1)), _nan(s), pattern)
    sign = s.binary(arith.ShLIOp, sign, s.constant(i32, 32 - format.width))
    pattern = s.or_(pattern, sign)
    if format.kind == "unsigned zero":
        pattern = s.select(s.cmpi("eq", bits, s.constant(i32, format.sign_bit)), _nan(s), pattern)
    return s.bitcast(pattern, _F32)


def _nan(s: ScalarBuilder) -> SSAValue:
    return s.constant(i32, 0x7FC00000)


def _decode_scale(s: ScalarBuilder, format: SmallFloat, bits: SSAValue) -> SSAValue:
    pattern = s.binary(arith.ShLIOp, bits, s.constant(i32, 23))
    # 2^-127 is subnormal.
    pattern = s.select(s.cmpi("eq", bits, s.constant(i32, 0)), s.constant(i32, 1 << 22), pattern)
    pattern = s.select(s.cmpi("eq", bits, s.constant(i32, format.beyond)), _nan(s), pattern)
    return s.bitcast(pattern, _F32)


def encode(s: ScalarBuilder, format: SmallFloat, x: SSAValue) -> SSAValue:
    """`x`, an f32 or f64, as a byte."""
    width = 64 if isinstance(x.type, Float64Type) else 32
    itype = IntegerType(width)
    bits = s.bitcast(x, itype)
    sign = s.and_(bits, s.constant(itype, 1 << (width - 1)))
    magnitude = s.binary(arith.XOrIOp, bits, sign)
    if format.kind == "scale":
        return _encode_scale(s, format, x, magnitude)
    code = _rounded(s, format, x, magnitude)
    code = s.select(s.cmpi("ugt", code, s.constant(itype, format.largest)), s.constant(itype, format.beyond), code)
    sign = s.binary(arith.ShRUIOp, sign, s.constant(itype, width - format.width))
    is_nan = s.cmpf("uno", x, x)
    if format.kind == "unsigned zero":
        nan = s.constant(itype, format.sign_bit)
        plain = s.cmpi("eq", s.and_(code, s.constant(itype, format.sign_bit - 1)), s.constant(itype, 0))
        result = s.select(is_nan, nan, s.select(plain, code, s.or_(code, sign)))
    elif format.nan is None:
        other = s.binary(arith.XOrIOp, sign, s.constant(itype, format.sign_bit))
        result = s.select(is_nan, other, s.or_(code, sign))
    else:
        result = s.or_(s.select(is_nan, s.constant(itype, format.nan), code), sign)
    return s.cast(arith.TruncIOp, result, i8)


def _rounded(s: ScalarBuilder, format: SmallFloat, x: SSAValue, magnitude: SSAValue) -> SSAValue:
    """The code of |x| rounded to nearest even, as if the format had no largest number."""
    itype = magnitude.type
    mantissa, bias = _MANTISSA[64 if isinstance(x.type, Float64Type) else 32]
    dropped = mantissa - format.mantissa
    last = s.and_(s.binary(arith.ShRUIOp, magnitude, s.constant(itype, dropped)), s.constant(itype, 1))
    half = s.add_(last, s.constant(itype, (1 << (dropped - 1)) - 1))
    normal = s.binary(arith.ShRUIOp, s.add_(magnitude, half), s.constant(itype, dropped))
    normal = s.sub(normal, s.constant(itype, (bias - format.bias) << format.mantissa))
    # Below the smallest normal number the code counts units; adding a power of two rounds to them.
    power = 1 - format.bias - format.mantissa + mantissa
    magic = s.constant(x.type, 2.0**power)
    units = s.sub(s.bitcast(s.add_(s.bitcast(magnitude, x.type), magic), itype), s.bitcast(magic, itype))
    smallest = s.constant(itype, (1 - format.bias + bias) << mantissa)
    return s.select(s.cmpi("ult", magnitude, smallest), units, normal)


def _encode_scale(s: ScalarBuilder, format: SmallFloat, x: SSAValue, magnitude: SSAValue) -> SSAValue:
    """The nearest power of two, halfway up; NaN for what is not above zero (see `SmallFloat`)."""
    itype = magnitude.type
    mantissa, bias = _MANTISSA[64 if isinstance(x.type, Float64Type) else 32]
    rounded = s.add_(magnitude, s.constant(itype, 1 << (mantissa - 1)))
    code = s.sub(s.binary(arith.ShRUIOp, rounded, s.constant(itype, mantissa)), s.constant(itype, bias - format.bias))
    # 2^-127, subnormal in f32, is the smallest number; what is above it is at least the next.
    smallest = 1 << (mantissa - 1) if bias == format.bias else (bias - format.bias) << mantissa
    above = s.cmpi("ugt", magnitude, s.constant(itype, smallest))
    if bias == format.bias:
        code = s.select(s.cmpi("ult", magnitude, s.constant(itype, 1 << mantissa)), _zero(s, itype), code)
    code = s.binary(arith.MaxSIOp, code, s.select(above, s.constant(itype, 1), _zero(s, itype)))
    code = s.binary(arith.MinSIOp, code, s.constant(itype, format.beyond))
    positive = s.cmpf("ogt", x, s.constant(x.type, 0.0))
    return s.cast(arith.TruncIOp, s.select(positive, code, s.constant(itype, format.beyond)), i8)


def _zero(s: ScalarBuilder, type: Attribute) -> SSAValue:
    return s.constant(type, 0)
