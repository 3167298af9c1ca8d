"""numpy dtypes and the HAL's element types."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tiree.runtime.enums import HalElementType

_NAMES = {
    HalElementType.BOOL_8: "bool", HalElementType.INT_8: "int8", HalElementType.INT_16: "int16",
    HalElementType.INT_32: "int32", HalElementType.INT_64: "int64", HalElementType.SINT_8: "int8",
    HalElementType.SINT_16: "int16", HalElementType.SINT_32: "int32", HalElementType.SINT_64: "int64",
    HalElementType.UINT_8: "uint8", HalElementType.UINT_16: "uint16", HalElementType.UINT_32: "uint32",
    HalElementType.UINT_64: "uint64", HalElementType.FLOAT_16: "float16", HalElementType.FLOAT_32: "float32",
    HalElementType.FLOAT_64: "float64", HalElementType.COMPLEX_64: "complex64",
    HalElementType.COMPLEX_128: "complex128", HalElementType.BFLOAT_16: "bfloat16",
    HalElementType.FLOAT_8_E5M2: "float8_e5m2", HalElementType.FLOAT_8_E4M3_FN: "float8_e4m3fn",
    HalElementType.FLOAT_8_E5M2_FNUZ: "float8_e5m2fnuz", HalElementType.FLOAT_8_E4M3_FNUZ: "float8_e4m3fnuz",
    HalElementType.FLOAT_8_E8M0_FNU: "float8_e8m0fnu", HalElementType.OPAQUE_8: "uint8",
    HalElementType.OPAQUE_16: "uint16", HalElementType.OPAQUE_32: "uint32", HalElementType.OPAQUE_64: "uint64",
}  # fmt: skip

_ELEMENT_TYPES = {name: element for element, name in reversed(_NAMES.items())} | {
    "int8": HalElementType.SINT_8,
    "int16": HalElementType.SINT_16,
    "int32": HalElementType.SINT_32,
    "int64": HalElementType.SINT_64,
    "uint8": HalElementType.UINT_8,
    "uint16": HalElementType.UINT_16,
    "uint32": HalElementType.UINT_32,
    "uint64": HalElementType.UINT_64,
}

DTYPE_TO_ABI_TYPE = {
    np.dtype(np.float32): "f32", np.dtype(np.int32): "i32", np.dtype(np.int64): "i64", np.dtype(np.float64): "f64",
    np.dtype(np.int16): "i16", np.dtype(np.int8): "i8", np.dtype(np.bool_): "i1",
}  # fmt: skip
"""Names that `--input=` uses."""


@dataclass(frozen=True)
class DTypeInfo:
    """What is known of a dtype."""

    name: str
    dtype: np.dtype
    element_type: HalElementType


@cache
def dtype_of(element_type: int) -> np.dtype:
    """The numpy dtype of an element type's number. Raises `ValueError` for types that numpy has not."""
    try:
        name = _NAMES[HalElementType(element_type)]
    except (ValueError, KeyError):
        raise ValueError(f"element type {element_type:#010x} has no numpy dtype") from None
    if name.startswith(("bfloat", "float8")):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    return np.dtype(name)


def map_dtype_to_hal_element_type(dtype: Any) -> HalElementType | None:
    """The element type of a numpy dtype, or None."""
    return _ELEMENT_TYPES.get(np.dtype(dtype).name)


def map_dtype_to_dtype_info(dtype: Any) -> DTypeInfo:
    """Raises `ValueError` for a dtype that no device has."""
    element = map_dtype_to_hal_element_type(dtype)
    if element is None:
        raise ValueError(f"dtype {dtype} has no device element type")
    return DTypeInfo(np.dtype(dtype).name, np.dtype(dtype), element)


def map_name_to_dtype_info(name: str) -> DTypeInfo:
    """Raises `ValueError` for a name that is no dtype."""
    element = _ELEMENT_TYPES.get(name)
    if element is None:
        raise ValueError(f"'{name}' is not a known dtype")
    return DTypeInfo(name, dtype_of(element), element)


def map_abi_type_to_dtype_info(abi_type: str) -> DTypeInfo:
    """From names such as `f32`. Raises `ValueError` for others."""
    for dtype, abi in DTYPE_TO_ABI_TYPE.items():
        if abi == abi_type:
            return map_dtype_to_dtype_info(dtype)
    raise ValueError(f"'{abi_type}' is not a known ABI type")
