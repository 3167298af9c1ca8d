"""numpy dtypes and the HAL's element types."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tiree.runtime import packed
from tiree.runtime.enums import HalElementType

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import TypeIs

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
    np.dtype(name): abi
    for name, abi in {
        "float16": "f16", "float32": "f32", "float64": "f64", "int8": "i8", "uint8": "i8", "int16": "i16",
        "uint16": "i16", "int32": "i32", "uint32": "i32", "int64": "i64", "uint64": "i64", "bool": "i1",
        "complex64": "complex<f32>", "complex128": "complex<f64>",
    }.items()
}  # fmt: skip
"""Names of element types in MLIR, where integers have no sign."""

_ABI_TYPES = {
    "bfloat16": "bf16", "float8_e5m2": "f8E5M2", "float8_e4m3fn": "f8E4M3FN", "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e4m3fnuz": "f8E4M3FNUZ", "float8_e8m0fnu": "f8E8M0FNU",
}  # fmt: skip


@dataclass(frozen=True)
class DTypeInfo:
    """A dtype with its names and its element type."""

    dtype: np.dtype
    name: str
    abi_type: str
    hal_type: HalElementType

    @property
    def is_complex(self) -> bool:
        return self.dtype.kind == "c"

    @property
    def is_floating_point(self) -> bool:
        return self.dtype.kind == "f" or self.name in _ABI_TYPES

    @property
    def is_integer(self) -> bool:
        return self.dtype.kind in "iu"

    @property
    def is_signed(self) -> bool:
        """Whether it is a signed integer; floats are not, as in IREE."""
        return self.dtype.kind == "i"


@cache
def dtype_of(element_type: int) -> np.dtype:
    """The numpy dtype of an element type's number. Raises `ValueError` for types that numpy has not."""
    if packed.bits_of(element_type):
        return packed.dtype_for(element_type)
    try:
        name = _NAMES[HalElementType(element_type)]
    except (ValueError, KeyError):
        raise ValueError(f"element type {element_type:#010x} has no numpy dtype") from None
    if name.startswith(("bfloat", "float8")):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    return np.dtype(name)


def map_dtype_to_hal_element_type(dtype: Any) -> HalElementType | None:
    """The element type of a numpy dtype, or None, as for the other byte order."""
    plain = np.dtype(dtype)
    return _ELEMENT_TYPES.get(plain.name) if plain.isnative else None


def native_order(array: np.ndarray) -> np.ndarray:
    """`array`, or a copy where its elements have the other byte order: element types of devices have none."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def map_dtype_to_dtype_info(dtype: Any) -> DTypeInfo:
    """Raises `KeyError` for a dtype that no device has."""
    plain = np.dtype(dtype)
    element = map_dtype_to_hal_element_type(plain)
    abi = DTYPE_TO_ABI_TYPE.get(plain) or _ABI_TYPES.get(plain.name)
    if element is None or abi is None:
        raise KeyError(f"dtype {dtype} has no device element type")
    return DTypeInfo(plain, plain.name, abi, element)


def map_name_to_dtype_info(name: str) -> DTypeInfo:
    """From numpy's name, such as `float32` or `bfloat16`. Raises `KeyError` for a name that is no dtype."""
    element = _ELEMENT_TYPES.get(name)
    if element is None:
        raise KeyError(f"'{name}' is not the name of a known dtype")
    return map_dtype_to_dtype_info(dtype_of(element))


def map_abi_type_to_dtype_info(abi_type: str) -> DTypeInfo:
    """From MLIR's name, such as `f32`; integers are signed. Raises `KeyError` for others."""
    for name, element in _ELEMENT_TYPES.items():
        dtype = dtype_of(element)
        if (DTYPE_TO_ABI_TYPE.get(dtype) or _ABI_TYPES.get(name)) == abi_type and dtype.kind != "u":
            return map_dtype_to_dtype_info(dtype)
    raise KeyError(f"'{abi_type}' is not a known ABI type")


def is_numpy_array(value: object) -> TypeIs[npt.NDArray[Any]]:
    return isinstance(value, np.ndarray)


def is_numpy_scalar(value: object) -> TypeIs[np.generic[Any]]:
    return isinstance(value, np.generic)
