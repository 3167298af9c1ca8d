"""Quantized elements, `!quant.uniform<storage:expressed, scale:zero_point>`: read from their text, and arithmetic.

A quantized element is an integer of the storage type that stands for `(integer - zero_point) * scale`. The formulas are
the specification's, step by step in the expressed type; the difference to the zero point is computed in a type that
holds it.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import lru_cache

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    TensorType,
    UnregisteredAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from tiree.dialects.dense import DenseAttr, encode_scalar
from tiree.input.expansions.build import Build, element_of
from tiree.input.lowering.context import Unsupported
from tiree.support.typed import is_tensor_type

_TEXT = re.compile(
    r"\s*<?\s*(?P<kind>[iu]|[su]i)(?P<width>\d+)\s*(?:<\s*(?P<low>-?\d+)\s*:\s*(?P<high>-?\d+)\s*>)?"
    r"\s*:\s*(?P<expressed>\w+)\s*(?::\s*(?P<axis>\d+))?\s*,\s*(?P<parameters>.*?)\s*>?\s*",
    re.DOTALL,
)
_PARAMETER = re.compile(r"\s*(?P<scale>[-+.\w]+?)\s*(?::\s*(?P<zero>-?\d+))?\s*")
_EXPRESSED: dict[str, Attribute] = {
    "f16": Float16Type(), "bf16": BFloat16Type(), "f32": Float32Type(), "f64": Float64Type(),
}  # fmt: skip


@dataclass(frozen=True)
class Quantized:
    """A quantized element type; `axis` is None where one scale holds for all elements."""

    storage: IntegerType
    low: int
    high: int
    expressed: Attribute
    axis: int | None
    scales: tuple[float, ...]
    zeros: tuple[int, ...]


@lru_cache(maxsize=256)
def quantized(element: Attribute) -> Quantized | None:
    """A quantized element type taken apart; None for other types.

    Raises `Unsupported` for forms beyond one scale for all elements or one for each place of a dimension.
    """
    if not isinstance(element, UnregisteredAttr) or not element.attr_name.data.startswith("quant."):
        return None
    match = _TEXT.fullmatch(element.value.data)
    if element.attr_name.data != "quant.uniform" or match is None or match["expressed"] not in _EXPRESSED:
        raise Unsupported(f"with elements of type {element}")
    unsigned, width = match["kind"].startswith("u"), int(match["width"])
    low, high = (0, (1 << width) - 1) if unsigned else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    text = match["parameters"]
    pairs = [_PARAMETER.fullmatch(part) for part in text.strip("{} \n").split(",")]
    scales = [float(pair["scale"]) for pair in pairs if pair is not None]
    if (
        len(scales) != len(pairs)
        or text.startswith("{") != (match["axis"] is not None)
        or width not in (2, 4, 8, 16, 32)
    ):
        raise Unsupported(f"with elements of type {element}")
    least = low if match["low"] is None else int(match["low"])
    most = high if match["high"] is None else int(match["high"])
    if not low <= least <= most <= high:
        raise Unsupported(f"with elements of type {element}: {least} to {most} is no range of {width}-bit storage")
    for pair, scale in zip(pairs, scales, strict=True):
        zero = int(pair["zero"] or 0) if pair is not None else 0
        if not 0 < scale < float("inf"):
            raise Unsupported(f"with elements of type {element}: the scale {scale} is not positive and finite")
        if not least <= zero <= most:
            raise Unsupported(f"with elements of type {element}: the zero point {zero} is beyond {least} to {most}")
    return Quantized(
        storage=IntegerType(width, Signedness.UNSIGNED if unsigned else Signedness.SIGNLESS),
        low=least,
        high=most,
        expressed=_EXPRESSED[match["expressed"]],
        axis=None if match["axis"] is None else int(match["axis"]),
        scales=tuple(scales),
        zeros=tuple(int(pair["zero"] or 0) for pair in pairs if pair is not None),
    )


def quantized_type(type: Attribute) -> Quantized | None:
    """The quantized element type of a tensor type."""
    if not is_tensor_type(type) or not isinstance(type.element_type, UnregisteredAttr):
        return None
    return quantized(type.element_type)


def _parameters(build: Build, type: Quantized, element: Attribute, values: tuple[float, ...], x: SSAValue) -> SSAValue:
    """Scales or zero points for the elements of `x`."""
    if type.axis is None:
        return build.broadcast(build.constant(element, values[0]), [], x)
    shape = x.type.get_shape() if is_tensor_type(x.type) else ()
    if type.axis >= len(shape) or shape[type.axis] not in (len(values), DYNAMIC_INDEX):
        raise Unsupported(f"with {len(values)} scales for dimension {type.axis} of {x.type}")
    raw = b"".join(encode_scalar(element, value) for value in values)
    vector = build.dense(DenseAttr.from_buffer(TensorType(element, [len(values)]), raw, splat=len(values) == 1))
    return build.broadcast(vector, [type.axis], x)


def dequantize(build: Build, x: SSAValue, type: Quantized) -> SSAValue:
    """The numbers that the quantized `x` stands for."""
    wide = i64 if type.storage.width.data > 16 else i32
    number = build.convert(x, wide)
    if any(type.zeros):
        number = build.subtract(number, _parameters(build, type, wide, type.zeros, x))
    number = build.convert(number, type.expressed)
    return build.multiply(number, _parameters(build, type, type.expressed, type.scales, x))


def quantize(build: Build, x: SSAValue, type: Quantized, element: Attribute) -> SSAValue:
    """`x`, of the expressed type, as elements of the quantized type `element`."""
    expressed = type.expressed
    x = build.convert(x, expressed)
    scaled = build.divide(x, _parameters(build, type, expressed, type.scales, x))
    if any(type.zeros):
        scaled = build.add_(scaled, _parameters(build, type, expressed, type.zeros, x))
    low, high = (build.constant(expressed, _nearest(expressed, bound)) for bound in (type.low, type.high))
    rounded = build.unary("round_nearest_even", build.clamp(low, scaled, high))
    if element_of(x) != expressed:
        raise Unsupported(f"from {x.type} to {element}")
    return build.convert(rounded, element)


def _nearest(expressed: Attribute, bound: int) -> float:
    """A bound of the storage type as a number that the expressed type has, so that it can be written as a constant."""
    if isinstance(expressed, Float16Type):
        bound = max(-65504, min(65504, bound))
    return struct.unpack("<f", struct.pack("<f", bound))[0] if isinstance(expressed, Float32Type) else float(bound)
