"""Numpy arrays in parameter archives: an entry's metadata is JSON with its dtype and shape, as IREE writes it."""

from __future__ import annotations

import json
import os
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tiree._native import ParameterIndex, ParameterIndexEntry

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "SplatValue",
    "parameter_index_add_numpy_ndarray",
    "parameter_index_entry_as_numpy_flat_ndarray",
    "parameter_index_entry_as_numpy_ndarray",
    "save_archive_file",
]

_PREFIX = b"TENSORv0:"


class SplatValue:
    """A pattern (one element, such as `np.float32(0)`) repeated to fill `count` elements or a shape."""

    def __init__(self, pattern: array[Any] | np.ndarray | np.generic, count: Sequence[int] | int) -> None:
        import numpy as np

        from tiree.runtime.dtypes import native_order

        element = native_order(np.asarray(pattern))
        if element.size != 1:
            raise ValueError(f"a splat repeats one element; got {element.size}")
        if element.dtype.hasobject or element.dtype.name in _UNPACKED:
            raise TypeError(f"a splat repeats a number of whole bytes; got {element.dtype}")
        self.item = element.reshape(())
        self.shape = [count] if isinstance(count, int) else list(count)
        self.total_length = int(np.prod(self.shape, dtype=np.int64)) * element.dtype.itemsize


def _metadata(dtype: np.dtype, shape: Sequence[int]) -> bytes:
    from tiree.runtime.dtypes import map_dtype_to_dtype_info

    info = map_dtype_to_dtype_info(dtype)
    description = {
        "class_name": type(dtype).__name__,
        "is_complex": info.is_complex,
        "is_floating_point": info.is_floating_point,
        "is_signed": info.is_signed,
        "itemsize": dtype.itemsize,
    }
    found = {"type": "Tensor", "dtype": info.name, "shape": list(shape), "dtype_desc": description}
    return _PREFIX + json.dumps(found).encode()


def parameter_index_add_numpy_ndarray(index: ParameterIndex, name: str, array: np.ndarray) -> None:
    """Adds `array` without a copy when it is contiguous and in native byte order; it must not change.

    Raises `KeyError` for other dtypes.
    """
    index.add_buffer(name, _bytes_of(name, array), metadata=_metadata(array.dtype.newbyteorder("="), array.shape))


# Numbers of fewer than eight bits, of which numpy has one in each byte and programs have several.
_UNPACKED = frozenset(
    ("int1", "uint1", "int2", "uint2", "int4", "uint4", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn")
)


def _bytes_of(name: str, array: np.ndarray) -> np.ndarray:
    """The elements as bytes in native order: the buffer protocol has no name for every dtype."""
    import numpy as np

    from tiree.runtime.dtypes import native_order

    if array.dtype.hasobject:
        raise TypeError(f'parameter "{name}" is an array of {array.dtype}; needs one of numbers')
    if array.dtype.name in _UNPACKED:
        raise TypeError(
            f'parameter "{name}" is an array of {array.dtype} with one number in each byte; needs packed ones, as an'
            " array of uint8"
        )
    flat = native_order(np.ascontiguousarray(array).reshape(-1))
    return flat.view(np.uint8) if flat.size else np.zeros(0, np.uint8)


def _is_structure(value: Any) -> bool:
    ctypes = sys.modules.get("ctypes")
    return ctypes is not None and isinstance(value, (ctypes.Structure, ctypes.Union))


def _other_order(value: Any) -> np.ndarray | None:
    """A buffer as an array if its elements, or fields of them, are declared with the other byte order."""
    import numpy as np

    try:
        with memoryview(value) as view:
            # The letters of the order that is not native here.
            if not any(letter in view.format for letter in (">!" if sys.byteorder == "little" else "<")):
                return None
            # What numpy makes of the format of a structure of ctypes is a guess.
            if _is_structure(value):
                declared: Any = np.dtype(value.__class__)
                return np.frombuffer(view, declared).copy()
            return np.asarray(view).copy()
    except (TypeError, ValueError, BufferError):
        # No buffer, or a format that is not numpy's: bytes are bytes.
        return None


def parameter_index_entry_as_numpy_flat_ndarray(index_entry: ParameterIndexEntry) -> np.ndarray:
    """The entry's bytes: read-only and without a copy, those of a splat as a new array."""
    import numpy as np

    if not index_entry.is_splat:
        return np.frombuffer(index_entry.file_view, np.uint8)
    pattern = np.frombuffer(index_entry.splat_pattern, np.uint8)
    return np.resize(pattern, index_entry.length)


def parameter_index_entry_as_numpy_ndarray(index_entry: ParameterIndexEntry) -> np.ndarray:
    """The entry as an array of the dtype and shape that its metadata says; without a copy unless it is a splat.

    Raises `ValueError` for metadata that does not say them.
    """
    from tiree.runtime.dtypes import map_name_to_dtype_info

    metadata = index_entry.metadata
    try:
        found: dict[str, Any] = json.loads(metadata.removeprefix(_PREFIX)) if metadata.startswith(_PREFIX) else {}
        dtype, shape = map_name_to_dtype_info(found["dtype"]).dtype, [int(d) for d in found["shape"]]
    except (ValueError, KeyError, TypeError) as error:
        what = "does not say dtype and shape" if metadata else "is empty"
        raise ValueError(f'parameter "{index_entry.key}": its metadata {what}; needs {_PREFIX!r} and JSON') from error
    return parameter_index_entry_as_numpy_flat_ndarray(index_entry).view(dtype).reshape(shape)


def save_archive_file(entries: Mapping[str, Any | SplatValue], file_path: str | os.PathLike[str]) -> None:
    """Writes an `.irpa` archive of arrays, splats and anything with a buffer, elements in native byte order.

    Entries have no metadata, as in IREE. Raises `TypeError` that names the entry for what has no bytes, such as plain
    numbers, whose size is not known, and arrays of objects.
    """
    import numpy as np

    from tiree.runtime.dtypes import is_numpy_array, is_numpy_scalar

    index = ParameterIndex()
    for key, value in entries.items():
        if isinstance(value, SplatValue):
            index.add_splat(key, value.item.reshape(1).view(np.uint8), value.total_length)
        elif is_numpy_array(value) or is_numpy_scalar(value):
            index.add_buffer(key, _bytes_of(key, np.asarray(value)))
        elif (array := _other_order(value)) is not None:
            index.add_buffer(key, _bytes_of(key, array))
        else:
            try:
                index.add_buffer(key, value)
            except (TypeError, ValueError, BufferError) as error:
                raise type(error)(f'parameter "{key}": {error}') from None
    index.create_archive_file(os.fspath(file_path))
