"""What arrays of every kind are in a parameter archive: their elements in native order, or an error that names them."""

from __future__ import annotations

import array
import ctypes
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tiree.runtime as rt

COUNT = np.arange(12)
RECORD = np.dtype([("a", ">i4"), ("b", "<f8"), ("c", ">u2", (2,))])
RECORDS = np.zeros(3, RECORD)
RECORDS["a"], RECORDS["b"], RECORDS["c"] = [1, 2, 3], 1.5, [[4, 5]] * 3
NATIVE = RECORDS.astype(RECORD.newbyteorder("="))
TYPES = (
    ">i2", ">f4", ">f8", ">c8", ">c16", ">u8", "?", ">m8[s]", ">U3", "S3", "f2", ml_dtypes.bfloat16,
    ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
)  # fmt: skip


class BigStructure(ctypes.BigEndianStructure):
    _fields_ = (("a", ctypes.c_int32), ("b", ctypes.c_double))


def saved(value: Any, folder: Path) -> bytes:
    path = folder / "x.irpa"
    rt.save_archive_file({"k": value}, path)
    index = rt.ParameterIndex()
    index.load(str(path))
    return rt.parameter_index_entry_as_numpy_flat_ndarray(index.items()[0][1]).tobytes()


def expected(values: np.ndarray) -> bytes:
    """Element by element, so that no layout of the array plays a part."""
    native = values.dtype.newbyteorder("=")
    return b"".join(np.array([value]).astype(native).tobytes() for value in values.reshape(-1))


@pytest.mark.parametrize("dtype", TYPES)
def test_arrays(dtype: Any, tmp_path: Path) -> None:
    values = COUNT.astype(dtype)
    for layout in (values, values[::2], values[::-1], values.reshape(3, 4).T, values.reshape(3, 4)[:, 1:3], values[:0]):
        assert saved(layout, tmp_path) == expected(layout)
    assert saved(values[3:4].reshape(()), tmp_path) == expected(values[3:4])
    if values.dtype.kind not in "US":  # A scalar of text is as long as its text.
        assert saved(values[3], tmp_path) == expected(values[3:4])
    with pytest.raises(ValueError, match="not C-contiguous"):
        rt.ParameterIndex().add_buffer("k", values.view(np.uint8)[::2])


@pytest.mark.parametrize("dtype", TYPES)
def test_splats(dtype: Any, tmp_path: Path) -> None:
    value = COUNT.astype(dtype)[3:4]
    if value.itemsize in (1, 2, 4, 8, 16):
        assert saved(rt.SplatValue(value, [2, 2]), tmp_path) == 4 * expected(value)
    else:
        with pytest.raises(ValueError, match="must be 1, 2, 4, 8, or 16 bytes"):
            saved(rt.SplatValue(value, 4), tmp_path)


@pytest.mark.parametrize("value", [RECORDS, memoryview(RECORDS), RECORDS.reshape(3, 1)])
def test_records(value: Any, tmp_path: Path) -> None:
    assert saved(value, tmp_path) == NATIVE.tobytes()
    assert saved(RECORDS[::2], tmp_path) == NATIVE[::2].tobytes()


def test_buffers(tmp_path: Path) -> None:
    numbers = np.arange(6, dtype=">i4").reshape(2, 3)
    for value, same in (
        (memoryview(numbers), numbers),
        (memoryview(numbers)[:1], numbers[:1]),
        (memoryview(numbers.T), numbers.T),
        ((ctypes.c_int32.__ctype_be__ * 3)(1, 2, 3), np.array([1, 2, 3], np.int32)),
        (array.array("h", [1, 2]), np.array([1, 2], np.int16)),
    ):
        assert saved(value, tmp_path) == expected(same)
    record = np.array([(1, 2.0)], [("a", "<i4"), ("b", "<f8")])
    assert saved(BigStructure(1, 2.0), tmp_path)[:4] == record["a"].tobytes()
    assert saved(b"abc", tmp_path) == b"abc"
    # Bytes of what is no array are bytes, whatever is said of them.
    index = rt.ParameterIndex()
    index.add_buffer("k", memoryview(numbers))
    assert index.items()[0][1].file_view[:4] == numbers.tobytes()[:4]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.array([1, None]), 'parameter "k" is an array of object; needs one of numbers'),
        (COUNT.astype(ml_dtypes.int4), 'parameter "k" is an array of int4 with one number in each byte; needs packed'),
        (3, "parameter \"k\": a bytes-like object is required, not 'int'"),
        (True, "parameter \"k\": a bytes-like object is required, not 'bool'"),
        ([1.0], "parameter \"k\": a bytes-like object is required, not 'list'"),
        ("text", "parameter \"k\": a bytes-like object is required, not 'str'"),
        (None, "parameter \"k\": a bytes-like object is required, not 'NoneType'"),
    ],
)
def test_refusals(value: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError) as caught:
        saved(value, tmp_path)
    assert words in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_splats_of_no_numbers() -> None:
    for value in (None, COUNT.astype(ml_dtypes.uint4)[0]):
        with pytest.raises(TypeError, match="a splat repeats a number of whole bytes; got"):
            rt.SplatValue(value, 3)  # type: ignore[arg-type]
