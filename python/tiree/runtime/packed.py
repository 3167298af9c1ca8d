"""Elements of 2 and 4 bits, which share bytes on devices and have a byte each in numpy (`ml_dtypes.int4` and its like).

The first element is in the lowest bits of its byte; the bits that are left over in the last byte are zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

NAMES = {"i2": "int2", "i4": "int4", "si2": "int2", "si4": "int4", "ui2": "uint2", "ui4": "uint4"}
"""Element types as functions declare them, and names of dtypes of ml_dtypes."""


def bits_of(element_type: int) -> int:
    """2 or 4 for the number of an integer type that shares bytes, else 0."""
    bits = element_type & 0xFF
    # The sign is in the lowest bits of the numerical type.
    return bits if element_type >> 26 == 0x10 >> 2 and bits in (2, 4) else 0


def dtype_for(element_type: int) -> np.dtype:
    """The dtype of a type that shares bytes; signless integers are signed, as all are."""
    import ml_dtypes
    import numpy as np

    sign = "u" if element_type >> 24 == 0x12 else ""
    return np.dtype(getattr(ml_dtypes, f"{sign}int{bits_of(element_type)}"))


def pack(array: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The bytes of a device for an array of a byte each."""
    import numpy as np

    each = 8 // bits
    # Casting keeps the value; only its lowest bits are stored.
    flat = np.ascontiguousarray(array).astype(np.int8).view(np.uint8).ravel() & ((1 << bits) - 1)
    rows = np.zeros((-(-flat.size // each), each), np.uint8)
    rows.ravel()[: flat.size] = flat
    return np.bitwise_or.reduce(rows << (np.arange(each, dtype=np.uint8) * bits), axis=1).astype(np.uint8)


def unpack(data: Any, shape: Sequence[int], dtype: np.dtype, bits: int) -> np.ndarray[Any, Any]:
    """The array for the bytes of a device."""
    import numpy as np

    count = int(np.prod(shape, dtype=np.int64))
    each = 8 // bits
    packed = np.frombuffer(data, np.uint8)[: -(-count // each)]
    flat = (packed[:, None] >> (np.arange(each, dtype=np.uint8) * bits)) & ((1 << bits) - 1)
    values = flat.ravel()[:count]
    if dtype.name.startswith("int"):
        shift = 8 - bits
        values = (values << shift).astype(np.uint8).view(np.int8) >> shift
    return values.astype(dtype).reshape(shape)
