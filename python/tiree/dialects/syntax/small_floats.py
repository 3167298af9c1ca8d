"""Floats of 4, 6 and 8 bits: their formats, and numbers to bits and back.

Every format has a sign bit (except `f8E8M0FNU`), exponent bits and mantissa bits, and subnormals. What differs is what
the largest codes mean: infinity and NaN as in IEEE 754, one NaN and no infinity (`FN`), NaN in the place of minus zero
(`FNUZ`), or numbers only (4 and 6 bits). Rounding is to nearest even. Beyond the range a number becomes infinity where
the format has one, else NaN, else the largest number. Assumes xDSL's builtin types.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E3M4Type,
    Float8E4M3B11FNUZType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E4M3Type,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
)
from xdsl.ir import Attribute

Kind = Literal["ieee", "nan", "unsigned zero", "finite", "scale"]


@dataclass(frozen=True)
class SmallFloat:
    """A format. `code` is what is left of the bits without the sign."""

    exponent: int
    mantissa: int
    bias: int
    kind: Kind
    in_hal: bool = False
    """Whether buffers of a program's arguments and results can say that they hold it."""

    @property
    def width(self) -> int:
        return self.exponent + self.mantissa + (self.kind != "scale")

    @property
    def sign_bit(self) -> int:
        return 0 if self.kind == "scale" else 1 << (self.width - 1)

    @property
    def largest(self) -> int:
        """The code of the largest number."""
        codes = 1 << (self.exponent + self.mantissa)
        reserved = {"ieee": 1 << self.mantissa, "nan": 1, "scale": 1}.get(self.kind, 0)
        return codes - 1 - reserved

    @property
    def nan(self) -> int | None:
        """The bits of NaN, without sign where it may have one."""
        match self.kind:
            case "ieee":
                return self.largest + 1 + (1 << (self.mantissa - 1))
            case "nan" | "scale":
                return self.largest + 1
            case "unsigned zero":
                return self.sign_bit
            case "finite":
                return None

    @property
    def beyond(self) -> int:
        """The bits, without sign where it may have one, of what is too large."""
        if self.kind == "ieee":
            return self.largest + 1
        return self.largest if self.nan is None else self.nan

    def bits(self, value: float) -> int:
        """The bits of the nearest number of this format."""
        negative = math.copysign(1.0, value) < 0
        sign = self.sign_bit if negative else 0
        if self.kind == "scale":
            return self._scale_bits(value)
        if value != value:
            # Without NaN, zero stands for it; its sign is the other one, as `ml_dtypes` and XLA have it.
            return self.sign_bit - sign if self.nan is None else self.nan | sign
        code = self.beyond if math.isinf(value) else self._code(abs(value))
        if self.kind == "unsigned zero":
            return code if code in (0, self.nan) else code | sign
        return code | sign

    def _code(self, value: float) -> int:
        """The code of a number that is not negative."""
        if value == 0:
            return 0
        power = max(math.frexp(value)[1] - 1, 1 - self.bias) - self.mantissa
        # Python rounds to nearest even, and the carry into the next power of two is right as it is.
        count = round(math.ldexp(value, -power))
        code = count + ((power + self.mantissa + self.bias - 1) << self.mantissa)
        return code if code <= self.largest else self.beyond

    def _scale_bits(self, value: float) -> int:
        """A power of two; halfway is up. Zero and negative numbers are none, and NaN stands for them.

        What is above the smallest one is at least the next: so `ml_dtypes` and XLA have it.
        """
        if not 0 < value < math.inf:
            return self.beyond
        fraction, power = math.frexp(value)
        code = power - 1 + (fraction >= 0.75) + self.bias
        least = int(value > math.ldexp(1.0, -self.bias))
        return min(max(code, least), self.beyond)

    def value(self, bits: int) -> float:
        """The number that `bits` are."""
        sign = -1.0 if bits & self.sign_bit else 1.0
        code = bits & ~self.sign_bit
        if self.kind == "scale":
            return math.nan if code == self.nan else math.ldexp(1.0, code - self.bias)
        if self.kind == "unsigned zero" and bits == self.nan:
            return math.nan
        if code > self.largest:
            return math.copysign(math.inf if self.kind == "ieee" and code == self.beyond else math.nan, sign)
        exponent, fraction = code >> self.mantissa, code & ((1 << self.mantissa) - 1)
        if exponent:
            fraction += 1 << self.mantissa
        return sign * math.ldexp(fraction, max(exponent, 1) - self.bias - self.mantissa)


FORMATS: dict[type[Attribute], SmallFloat] = {
    Float4E2M1FNType: SmallFloat(2, 1, 1, "finite"),
    Float6E2M3FNType: SmallFloat(2, 3, 1, "finite"),
    Float6E3M2FNType: SmallFloat(3, 2, 3, "finite"),
    Float8E3M4Type: SmallFloat(3, 4, 3, "ieee"),
    Float8E4M3Type: SmallFloat(4, 3, 7, "ieee"),
    Float8E4M3FNType: SmallFloat(4, 3, 7, "nan", in_hal=True),
    Float8E4M3FNUZType: SmallFloat(4, 3, 8, "unsigned zero", in_hal=True),
    Float8E4M3B11FNUZType: SmallFloat(4, 3, 11, "unsigned zero"),
    Float8E5M2Type: SmallFloat(5, 2, 15, "ieee", in_hal=True),
    Float8E5M2FNUZType: SmallFloat(5, 2, 16, "unsigned zero", in_hal=True),
    Float8E8M0FNUType: SmallFloat(8, 0, 127, "scale", in_hal=True),
}


def small_float(type: Attribute) -> SmallFloat | None:
    """The format of an element type; None for other types."""
    return FORMATS.get(type.__class__)


@lru_cache(maxsize=16)
def values_of(format: SmallFloat) -> tuple[float, ...]:
    """The numbers of all bit patterns of a format."""
    return tuple(format.value(bits) for bits in range(1 << format.width))
