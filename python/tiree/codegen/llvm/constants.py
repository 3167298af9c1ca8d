"""Text of LLVM constants: scalars, splats and vectors from numbers and from raw bytes."""

from __future__ import annotations

import struct

from tiree.codegen.llvm.types import LType


def float_bits_text(bits: int, width: int) -> str:
    """The LLVM constant of the IEEE f32 or f64 with these bits. LLVM writes an f32 as the f64 of equal value."""
    if width == 64:
        return f"0x{bits:016X}"
    if (bits >> 23) & 0xFF == 0xFF:
        # NaN payloads must not pass through a conversion, which would quiet them.
        wide = ((bits >> 31) << 63) | (0x7FF << 52) | ((bits & 0x7FFFFF) << 29)
        return f"0x{wide:016X}"
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def float_bits(type: LType, value: float) -> int:
    """The bits of `value` rounded to the float type (nearest even)."""
    from tiree.dialects.dense import encode_scalar

    if type.kind == "f":
        if type.bits == 64:
            return struct.unpack("<Q", struct.pack("<d", value))[0]
        try:
            return struct.unpack("<I", struct.pack("<f", value))[0]
        except OverflowError:
            return 0x7F800000 if value > 0 else 0xFF800000
    from xdsl.dialects.builtin import BFloat16Type, Float16Type

    mlir = Float16Type() if type.kind == "h" else BFloat16Type()
    try:
        return int.from_bytes(encode_scalar(mlir, value), "little")
    except OverflowError:
        infinity = 0x7C00 if type.kind == "h" else 0x7F80
        return infinity if value > 0 else infinity | 0x8000


def element_text(type: LType, raw: int) -> str:
    """One element from its bits, without its type."""
    if type.kind == "f":
        return float_bits_text(raw, type.bits)
    if type.bits == 1:
        return "true" if raw & 1 else "false"
    raw &= (1 << type.bits) - 1
    return str(raw - (1 << type.bits) if raw >> (type.bits - 1) else raw)


def splat_text(type: LType, element: str) -> str:
    """A constant of `type` with every lane equal to the constant `element`."""
    return f"splat ({type.elem} {element})" if type.lanes else element


def number_text(type: LType, value: int | float) -> str:
    """A scalar or splat constant of a Python number."""
    if type.kind == "i":
        return splat_text(type, element_text(type, int(value)))
    return splat_text(type, element_text(type, float_bits(type, float(value))))


def vector_text(type: LType, elements: list[str]) -> str:
    """A vector constant from its elements' texts."""
    if all(element == elements[0] for element in elements):
        return splat_text(type, elements[0])
    elem = type.elem
    return "<" + ", ".join(f"{elem} {element}" for element in elements) + ">"


def set_lanes(type: LType, mask: str) -> list[int] | None:
    """The lanes that a mask constant for vectors of `type` sets; None where the mask is not a constant."""
    if mask[0] == "%":
        return None
    if not mask.startswith("<"):
        return list(range(type.lanes)) if "true" in mask else []
    return [lane for lane, flag in enumerate(mask.split(",")) if "true" in flag]


def buffer_text(type: LType, buffer: memoryview, splat: bool) -> str:
    """A scalar, splat or vector constant from little-endian element bytes (`i1` one byte an element)."""
    size = type.bytes
    if splat:
        return splat_text(type, element_text(type, int.from_bytes(buffer[:size], "little")))
    raw = [int.from_bytes(buffer[i : i + size], "little") for i in range(0, len(buffer), size)]
    return vector_text(type, [element_text(type, bits) for bits in raw])
