"""Expressions on LLVM values: `x * y + 1.0` appends instructions and gives the result.

A `Value` is an operand text with its type; Python numbers become constants of the other side's type. Everything is
pure, so the emitter's common subexpressions apply.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

from tiree.codegen.llvm import constants
from tiree.codegen.llvm.emitter import Emitter
from tiree.codegen.llvm.types import LType, ltype

Number = Union["Value", int, float]


@dataclass(frozen=True, eq=False)
class Value:
    """An f32/f64, integer or mask value, scalar or vector."""

    e: Emitter
    type: LType
    text: str

    # --- making ---------------------------------------------------------------------------------------------------

    def const(self, number: int | float) -> Value:
        """A constant of this value's type."""
        return Value(self.e, self.type, constants.number_text(self.type, number))

    def of(self, other: Number) -> str:
        return other.text if isinstance(other, Value) else constants.number_text(self.type, other)

    def make(self, text: str, type: LType | None = None) -> Value:
        return Value(self.e, type or self.type, self.e.pure(text))

    @property
    def mask_type(self) -> LType:
        return ltype("i", 1, self.type.lanes)

    @property
    def int_type(self) -> LType:
        """The integer type of the same width."""
        return ltype("i", self.type.bits, self.type.lanes)

    # --- arithmetic -----------------------------------------------------------------------------------------------

    def _binary(self, float_op: str, int_op: str, a: str, b: str) -> Value:
        return self.make(f"{float_op if self.type.kind == 'f' else int_op} {self.type.text} {a}, {b}")

    def __add__(self, other: Number) -> Value:
        return self._binary("fadd", "add", self.text, self.of(other))

    def __radd__(self, other: Number) -> Value:
        return self._binary("fadd", "add", self.of(other), self.text)

    def __sub__(self, other: Number) -> Value:
        return self._binary("fsub", "sub", self.text, self.of(other))

    def __rsub__(self, other: Number) -> Value:
        return self._binary("fsub", "sub", self.of(other), self.text)

    def __mul__(self, other: Number) -> Value:
        return self._binary("fmul", "mul", self.text, self.of(other))

    def __rmul__(self, other: Number) -> Value:
        return self._binary("fmul", "mul", self.of(other), self.text)

    def __truediv__(self, other: Number) -> Value:
        return self._binary("fdiv", "sdiv", self.text, self.of(other))

    def __rtruediv__(self, other: Number) -> Value:
        return self._binary("fdiv", "sdiv", self.of(other), self.text)

    def __neg__(self) -> Value:
        if self.type.kind == "f":
            return self.make(f"fneg {self.type.text} {self.text}")
        return 0 - self

    def __and__(self, other: Number) -> Value:
        return self.make(f"and {self.type.text} {self.text}, {self.of(other)}")

    def __or__(self, other: Number) -> Value:
        return self.make(f"or {self.type.text} {self.text}, {self.of(other)}")

    def __xor__(self, other: Number) -> Value:
        return self.make(f"xor {self.type.text} {self.text}, {self.of(other)}")

    def __invert__(self) -> Value:
        return self ^ -1

    def __lshift__(self, other: Number) -> Value:
        return self.make(f"shl {self.type.text} {self.text}, {self.of(other)}")

    def __rshift__(self, other: Number) -> Value:
        """Arithmetic shift."""
        return self.make(f"ashr {self.type.text} {self.text}, {self.of(other)}")

    def shift_right_logical(self, other: Number) -> Value:
        return self.make(f"lshr {self.type.text} {self.text}, {self.of(other)}")

    # --- compares (ordered for floats, signed for integers) ---------------------------------------------------------

    def _compare(self, predicate: str, other: Number) -> Value:
        if self.type.kind == "f":
            text = f"fcmp o{predicate} {self.type.text} {self.text}, {self.of(other)}"
        else:
            signed = predicate if predicate in ("eq", "ne") else f"s{predicate}"
            text = f"icmp {signed} {self.type.text} {self.text}, {self.of(other)}"
        return self.make(text, self.mask_type)

    def lt(self, other: Number) -> Value:
        return self._compare("lt", other)

    def le(self, other: Number) -> Value:
        return self._compare("le", other)

    def gt(self, other: Number) -> Value:
        return self._compare("gt", other)

    def ge(self, other: Number) -> Value:
        return self._compare("ge", other)

    def eq(self, other: Number) -> Value:
        return self._compare("eq", other)

    def ne(self, other: Number) -> Value:
        """Not equal; for floats true of NaN."""
        if self.type.kind == "f":
            return self.make(f"fcmp une {self.type.text} {self.text}, {self.of(other)}", self.mask_type)
        return self._compare("ne", other)

    def is_nan(self) -> Value:
        return self.make(f"fcmp uno {self.type.text} {self.text}, {self.text}", self.mask_type)

    def where(self, yes: Number, no: Number) -> Value:
        """`yes` in the lanes where this mask is set, else `no`; one of them is a `Value`."""
        kind = yes if isinstance(yes, Value) else no
        assert isinstance(kind, Value)
        a, b = kind.of(yes), kind.of(no)
        return kind.make(f"select {self.type.text} {self.text}, {kind.type.text} {a}, {kind.type.text} {b}")

    # --- other instructions -----------------------------------------------------------------------------------------

    def call(self, name: str, *others: Number) -> Value:
        """`llvm.<name>` of values of this type."""
        arguments = [(self.type, self.text), *((self.type, self.of(other)) for other in others)]
        return Value(self.e, self.type, self.e.intrinsic(name, self.type, *arguments))

    def abs(self) -> Value:
        if self.type.kind == "f":
            return self.call("fabs")
        return self.make(f"call {self.type.text} @llvm.abs.{self.type.mangled}({self.type.text} {self.text}, i1 false)")

    def sqrt(self) -> Value:
        return self.call("sqrt")

    def copysign(self, sign: Value) -> Value:
        return self.call("copysign", sign)

    def bits(self) -> Value:
        """The float's bits as an integer."""
        return self.make(f"bitcast {self.type.text} {self.text} to {self.int_type.text}", self.int_type)

    def as_float(self) -> Value:
        """The integer's bits as a float."""
        float_type = ltype("f", self.type.bits, self.type.lanes)
        return self.make(f"bitcast {self.type.text} {self.text} to {float_type.text}", float_type)

    def to(self, type: LType) -> Value:
        """Converted by value: float to float, integer to integer (signed), integer to float, float to integer."""
        if type is self.type:
            return self
        if self.type.kind == "f" and type.kind == "f":
            opcode = "fptrunc" if self.type.bits > type.bits else "fpext"
        elif self.type.kind == "i" and type.kind == "i":
            opcode = "trunc" if self.type.bits > type.bits else "zext" if self.type.bits == 1 else "sext"
        elif self.type.kind == "i":
            from tiree.codegen.llvm.convert import int_to_float

            return Value(self.e, type, int_to_float(self.e, self.type, type, self.text, signed=True))
        else:
            opcode = "fptosi"
        return self.make(f"{opcode} {self.type.text} {self.text} to {type.text}", type)

    def any(self) -> Value:
        """Whether any lane of a mask is set, as a scalar i1."""
        lanes = self.type.lanes
        if not lanes:
            return self
        packed = self.e.pure(f"bitcast {self.type.text} {self.text} to i{lanes}")
        return Value(self.e, ltype("i", 1), self.e.pure(f"icmp ne i{lanes} {packed}, 0"))


def fma(a: Value, b: Number, c: Number) -> Value:
    """a * b + c: fused where the target can, two roundings where it cannot."""
    if a.e.target.has_fma:
        return a.call("fma", b, c)
    return a * b + c


def horner(x: Value, coefficients: Sequence[float]) -> Value:
    """The polynomial with these coefficients, lowest power first."""
    result: Value = x.const(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = fma(result, x, coefficient)
    return result


def two_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """a + b as a rounded sum and its exact error."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def quick_two_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """As `two_sum`, for |a| >= |b|."""
    total = a + b
    return total, b - (total - a)


def two_product(a: Value, b: Value) -> tuple[Value, Value]:
    """a * b as a rounded product and its exact error (of factors far from overflow, where the target has no fma)."""
    product = a * b
    if a.e.target.has_fma:
        return product, a.call("fma", b, -product)
    split = float(2 ** (27 if a.type.bits == 64 else 12) + 1)

    def halves(x: Value) -> tuple[Value, Value]:
        scaled = x * split
        high = scaled - (scaled - x)
        return high, x - high

    a_high, a_low = halves(a)
    b_high, b_low = halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def float_from_bits(bits: int, width: int) -> float:
    """The float of these bits, for constants that are easier to read in hex."""
    return struct.unpack("<f" if width == 32 else "<d", bits.to_bytes(width // 8, "little"))[0]


def round_to_int(x: Value) -> tuple[Value, Value]:
    """Nearest integer of a value below 2^22 (f32) or 2^51 (f64): as a float, and as an integer of equal width.

    Adding 1.5 * 2^(mantissa bits) leaves the integer in the low bits of the sum; no conversion instruction is needed.
    """
    magic = 1.5 * 2.0 ** (23 if x.type.bits == 32 else 52)
    shifted = x + magic
    number = shifted.bits() - constants.float_bits(x.type, magic)
    return shifted - magic, number


def power_of_two(n: Value) -> Value:
    """2^n of an integer n within the normal exponents of the float of equal width."""
    bits, bias = (23, 127) if n.type.bits == 32 else (52, 1023)
    return ((n + bias) << bits).as_float()


def scale(x: Value, n: Value, as_float: Value) -> Value:
    """x * 2^n, rounded once, for results from subnormal to infinite; n comes as an integer and as a float.

    One instruction where there is one for whole registers, else the factor is split in two normal ones.
    """
    register = x.e.target.vector_bytes * 8 // x.type.bits
    if x.e.target.has_avx512 and x.type.lanes * x.type.bits in (128, 256):
        return _scale_registers(x, as_float, x.type.lanes)
    if x.e.target.has_avx512 and x.type.lanes and x.type.lanes % register == 0:
        return _scale_registers(x, as_float, register)
    half = n >> 1
    return x * power_of_two(half) * power_of_two(n - half)


def _scale_registers(x: Value, n: Value, lanes: int) -> Value:
    """x * 2^n by AVX-512's instruction, `lanes` at a time."""
    part = x.type.vector(lanes)
    name = f"llvm.x86.avx512.mask.scalef.p{'s' if part.bits == 32 else 'd'}.{lanes * part.bits}"
    mask = f"i{max(8, lanes)}"
    rounding = ", i32 4" if lanes * part.bits == 512 else ""
    pieces: list[Value] = []
    for start in range(0, x.type.lanes, lanes):
        a, b = (_piece(value, start, lanes) for value in (x, n))
        arguments = f"{part.text} {a}, {part.text} {b}, {part.text} zeroinitializer, {mask} -1{rounding}"
        pieces.append(Value(x.e, part, x.e.pure(f"call {part.text} @{name}({arguments})")))
    return _joined(pieces)


def _piece(x: Value, start: int, lanes: int) -> str:
    """Lanes of a vector as a shorter one."""
    if lanes == x.type.lanes:
        return x.text
    numbers = ", ".join(f"i32 {start + i}" for i in range(lanes))
    return x.e.pure(f"shufflevector {x.type.text} {x.text}, {x.type.text} poison, <{lanes} x i32> <{numbers}>")


def _joined(pieces: list[Value]) -> Value:
    """Vectors of equal length one after the other."""
    joined = pieces[0]
    for piece in pieces[1:]:
        # A shuffle takes two vectors of one type, so the next piece is widened first.
        have, more = joined.type.lanes, piece.type.lanes
        numbers = ", ".join(f"i32 {min(i, more - 1)}" for i in range(have))
        wide = piece.e.pure(
            f"shufflevector {piece.type.text} {piece.text}, {piece.type.text} poison, <{have} x i32> <{numbers}>"
        )
        order = ", ".join(f"i32 {i}" for i in range(have + more))
        type = joined.type.vector(have + more)
        joined = joined.make(
            f"shufflevector {joined.type.text} {joined.text}, {joined.type.text} {wide}, "
            f"<{have + more} x i32> <{order}>",
            type,
        )
    return joined
