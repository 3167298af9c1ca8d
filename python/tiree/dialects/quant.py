"""The `quant` dialect: the element type `!quant.uniform<storage:expressed, scale:zero_point>`.

However a type is written (text of StableHLO or VHLO, bytecode), it is read into one form here: two types are one just
where MLIR's are. The bounds that storage has anyway and a zero point of 0 need not be said; a scale is its f64.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntAttr,
    IntegerType,
    NoneAttr,
    Signedness,
    StringAttr,
    f64,
)
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tiree.dialects.syntax.floats import float_bits, float_of_bits, format_float

if TYPE_CHECKING:
    from tiree.dialects.syntax.attributes import AttributeReader

_STORAGE = re.compile(r"\s*([us]?i|u)(\d{1,9})\b")
_SCALE = re.compile(r"\s*(-?)\s*(0x[0-9a-fA-F]+|\d+(?:\.\d*(?:[eE][-+]?\d+)?)?)")
_WHOLE = re.compile(r"\s*(-?)\s*(0x[0-9a-fA-F]+|\d+)")
_WIDEST = 32
"""The most bits of storage."""

_SIGNEDNESS = {"i": Signedness.SIGNLESS, "u": Signedness.SIGNLESS, "ui": Signedness.UNSIGNED, "si": Signedness.SIGNED}
_LARGEST: dict[type[Attribute], int] = {
    Float16Type: 0x7BFF,
    BFloat16Type: 0x7F7F,
    Float32Type: 0x7F7FFFFF,
    Float64Type: 0x7FEFFFFFFFFFFFFF,
}
"""The bits of the largest number of a type. Those of the smallest above zero are 1."""


@irdl_attr_definition
class UniformQuantizedType(ParametrizedAttribute, TypeAttribute):
    """Integers that stand for `(integer - zero_point) * scale`.

    Raises `VerifyException` for what MLIR takes for no type. What only StableHLO refuses is left to its checks.
    """

    name = "quant.uniform"
    storage: IntegerType = param_def()
    signed: IntAttr = param_def()
    low: IntAttr = param_def()
    high: IntAttr = param_def()
    expressed: Attribute = param_def()
    axis: IntAttr | NoneAttr = param_def()
    scales: ArrayAttr[FloatAttr] = param_def()
    zeros: ArrayAttr[IntAttr] = param_def()
    blocks: StringAttr = param_def()
    """Sub-channel quantization, as written: it is carried, and no scales are known."""

    def verify(self) -> None:
        width = self.storage.width.data
        if not 1 <= width <= _WIDEST:
            raise VerifyException(f"the storage {self.storage} must have 1 to {_WIDEST} bits")
        least, most = storage_bounds(width, bool(self.signed.data))
        if not least <= self.low.data < self.high.data <= most:
            raise VerifyException(
                f"{self.low.data} to {self.high.data} is no range of {width}-bit storage, which has {least} to {most}"
            )
        if not isinstance(self.expressed, AnyFloat):
            raise VerifyException(f"the expressed type must be a float; it is {self.expressed}")
        if isinstance(self.axis, IntAttr) and not 0 <= self.axis.data < 1 << 31:
            raise VerifyException(f"the scales must be for a dimension from 0 on; they are for {self.axis.data}")
        if len(self.scales) != len(self.zeros):
            raise VerifyException(f"{len(self.scales)} scales need as many zero points; it has {len(self.zeros)}")
        for scale in self.scales:
            _check_scale(scale.value.data, self.expressed)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        from tiree.dialects.syntax.attributes import AttributeReader

        assert isinstance(parser, AttributeReader)
        parser.to_chars()
        found = _read(parser)
        parser.to_tokens()
        return found.parameters

    def print_parameters(self, printer: Printer) -> None:
        width, signedness = self.storage.width.data, self.storage.signedness.data
        storage = str(self.storage)
        if signedness is Signedness.SIGNLESS and not self.signed.data:
            storage = f"u{width}"
        bounds = (self.low.data, self.high.data)
        if bounds != storage_bounds(width, bool(self.signed.data)):
            storage += f"<{self.low.data}:{self.high.data}>"
        points = ",".join(
            _written(scale.value.data) + (f":{zero.data}" if zero.data else "")
            for scale, zero in zip(self.scales, self.zeros, strict=True)
        )
        rest = f", {points}"
        if self.blocks.data:
            rest = f":{self.blocks.data}"
        elif isinstance(self.axis, IntAttr):
            rest = f":{self.axis.data}, {{{points}}}"
        printer.print_string(f"<{storage}:{self.expressed}{rest}>")


def storage_bounds(width: int, signed: bool) -> tuple[int, int]:
    """The least and the largest integer of storage."""
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)


def uniform_type(
    storage: IntegerType,
    signed: bool,
    bounds: tuple[int, int] | None,
    expressed: Attribute,
    scales: Sequence[float],
    zeros: Sequence[int],
    axis: int | None = None,
    blocks: str = "",
) -> UniformQuantizedType:
    """The type of these parts; `bounds` are all of storage where none are given. Raises `VerifyException`."""
    width = storage.width.data
    low, high = bounds or (storage_bounds(width, signed) if 0 < width <= _WIDEST else (0, 0))
    return UniformQuantizedType(
        storage,
        IntAttr(int(signed)),
        IntAttr(low),
        IntAttr(high),
        expressed,
        NoneAttr() if axis is None else IntAttr(axis),
        ArrayAttr([FloatAttr(scale, f64) for scale in scales]),
        ArrayAttr([IntAttr(zero) for zero in zeros]),
        StringAttr(blocks),
    )


def _check_scale(scale: float, expressed: Attribute) -> None:
    if not 0 < scale < math.inf:
        raise VerifyException(f"the scale {scale} is not positive and finite")
    format = type(expressed)
    if format in _LARGEST:
        least, most = float_of_bits(1, format), float_of_bits(_LARGEST[format], format)
        if not least <= scale <= most:
            raise VerifyException(f"the scale {scale} is beyond what {expressed} has: {least} to {most}")


def _written(scale: float) -> str:
    return format_float(float_bits(scale, Float64Type), Float64Type, 64)


# Text.


def read_scale(reader: AttributeReader) -> float:
    """A scale, as digits with a point or as the bits of an f64."""
    start = reader.skip()
    match = _SCALE.match(reader.text, start)
    if match is None:
        reader.fail(f"expected a scale, found {reader.found()}")
    sign, digits = match.groups()
    reader.p = match.end()
    if digits.startswith("0x"):
        if sign or len(digits.lstrip("0x")) > 16:
            reader.fail(f"a scale in hexadecimal is the bits of an f64, without a sign; it is {match.group()}", start)
        return float_of_bits(int(digits, 16), Float64Type)
    if "." not in digits:
        reader.fail(f"a scale needs a point, such as 1.0 or 1.0e-03, found {sign}{digits[:20]}", start)
    return float(sign + digits)


def read_whole(reader: AttributeReader) -> int:
    """An integer of at most 64 bits."""
    start = reader.skip()
    match = _WHOLE.match(reader.text, start)
    if match is None:
        reader.fail(f"expected an integer, found {reader.found()}")
    sign, digits = match.groups()
    reader.p = match.end()
    hexadecimal = digits.startswith("0x")
    size = len(digits.lstrip("0x") if hexadecimal else digits.lstrip("0"))
    value = int(digits, 16 if hexadecimal else 10) if size < 20 else 1 << 64
    value = -value if sign else value
    if not -(1 << 63) <= value < 1 << 63:
        reader.fail("this integer does not fit into 64 bits", start)
    return value


def checked(
    reader: AttributeReader,
    start: int,
    storage: IntegerType,
    signed: bool,
    bounds: tuple[int, int] | None,
    expressed: Attribute,
    scales: Sequence[float],
    zeros: Sequence[int],
    axis: int | None = None,
    blocks: str = "",
) -> UniformQuantizedType:
    """`uniform_type` of the parts; what it refuses is said to be wrong at `start`."""
    try:
        return uniform_type(storage, signed, bounds, expressed, scales, zeros, axis, blocks)
    except VerifyException as error:
        reader.fail(str(error), start)


def _read(reader: AttributeReader) -> UniformQuantizedType:
    """`<storage<low:high>:expressed:axis, {scale:zero, ...}>`, perhaps without bounds, axis and zero points."""
    start = reader.skip()
    reader.want("<")
    match = _STORAGE.match(reader.text, reader.skip())
    if match is None:
        reader.fail(f"expected an integer type that stores quantized values, such as i8 or u8, found {reader.found()}")
    reader.p = match.end()
    kind, width = match.group(1), int(match.group(2))
    if not 1 <= width <= _WIDEST:
        reader.fail(f"the storage {match.group().strip()} must have 1 to {_WIDEST} bits", start)
    bounds = None
    if reader.take("<"):
        low = read_whole(reader)
        reader.want(":", " and the largest integer of storage")
        bounds = (low, read_whole(reader))
        reader.want(">")
    reader.want(":", " and the expressed type")
    expressed = reader.read_type()
    axis: int | None = None
    blocks = ""
    scales: list[float] = []
    zeros: list[int] = []

    def read_pair() -> None:
        scales.append(read_scale(reader))
        zeros.append(read_whole(reader) if reader.take(":") else 0)

    if reader.take(":"):
        if reader.at("{"):
            blocks = _blocks(reader)
        else:
            axis = read_whole(reader)
    if not blocks:
        reader.want(",", " and a scale")
        if axis is not None:
            reader.want("{", " and a scale for each place of the dimension")
        read_pair()
        while axis is not None and reader.take(","):
            read_pair()
        if axis is not None:
            reader.want("}", " or ',' after a scale")
    reader.want(">", " after the scales")
    storage = IntegerType(width, _SIGNEDNESS[kind])
    return checked(reader, start, storage, not kind.startswith("u"), bounds, expressed, scales, zeros, axis, blocks)


def _blocks(reader: AttributeReader) -> str:
    """What sub-channel quantization says, up to the end of the type."""
    start = reader.skip()
    end = reader.text.find(">", start)
    if end < 0:
        reader.fail("expected '>' after the scales", len(reader.text))
    reader.p = end
    return " ".join(reader.text[start:end].split())


Quant = Dialect("quant", [], [UniformQuantizedType])
