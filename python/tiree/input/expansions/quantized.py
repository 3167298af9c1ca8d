"""Quantized elements, `!quant.uniform<storage:expressed, scale:zero_point>`: what they are, and arithmetic.

A quantized element is an integer of the storage type that stands for `(integer - zero_point) * scale`. The formulas are
the specification's, step by step in the expressed type; the difference to the zero point is computed in a type that
holds it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntAttr,
    IntegerType,
    Signedness,
    TensorType,
    UnregisteredAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from tiree.dialects.dense import DenseAttr, encode_scalar
from tiree.dialects.quant import UniformQuantizedType
from tiree.input.expansions.build import Build, element_of
from tiree.input.lowering.context import Unsupported
from tiree.support.typed import is_tensor_type

_EXPRESSED = (Float16Type, BFloat16Type, Float32Type, Float64Type)
_WIDTHS = (2, 4, 8, 16, 32)


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

    Raises `Unsupported` for forms beyond one scale for all elements or one for each place of a dimension, and for types
    that StableHLO does not take.
    """
    if not isinstance(element, UniformQuantizedType):
        if isinstance(element, UnregisteredAttr) and element.attr_name.data.startswith("quant."):
            raise Unsupported(f"with elements of type {element}")
        return None
    storage, signed, low, high = element.storage, bool(element.signed.data), element.low.data, element.high.data
    if element.blocks.data or not isinstance(element.expressed, _EXPRESSED):
        raise Unsupported(f"with elements of type {element}")
    if storage.width.data not in _WIDTHS or storage.signedness.data is Signedness.SIGNED:
        raise Unsupported(f"with elements of type {element} (its storage must be i or u of 2, 4, 8, 16 or 32 bits)")
    zeros = tuple(zero.data for zero in element.zeros)
    for zero in zeros:
        if not low <= zero <= high:
            raise Unsupported(f"with elements of type {element}: the zero point {zero} is beyond {low} to {high}")
    return Quantized(
        storage=IntegerType(storage.width.data, Signedness.SIGNLESS if signed else Signedness.UNSIGNED),
        low=low,
        high=high,
        expressed=element.expressed,
        axis=element.axis.data if isinstance(element.axis, IntAttr) else None,
        scales=tuple(scale.value.data for scale in element.scales),
        zeros=zeros,
    )


def quantized_type(type: Attribute) -> Quantized | None:
    """The quantized element type of a tensor type."""
    return quantized(type.element_type) if is_tensor_type(type) else None


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
