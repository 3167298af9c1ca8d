"""What functions take: every element type, layout and origin of arrays; numbers; objects of the runtime."""

from __future__ import annotations

import array

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, ELEMENTS, iree_module, movements, tiree_module

FLOATS = [name for name, dtype in ELEMENTS.items() if name != "i1" and dtype.kind in "fV"]
INTEGERS = [name for name, dtype in ELEMENTS.items() if dtype.kind in "iu"]


@pytest.fixture(scope="module")
def turned() -> rt.Module:
    return rt.load(iree_module(movements()))


def sample(dtype: np.dtype) -> np.ndarray:
    """2x3 values that differ, with the extremes of integers."""
    if dtype.kind == "b":
        return np.array([[True, False, False], [True, True, False]])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.array([[limits.min, 1, 2], [3, limits.max - 1, limits.max]], dtype)
    return np.array([[0.5, 1, -2], [4, -0.25, 8]], np.float32).astype(dtype)


def bits(a: np.ndarray) -> np.ndarray:
    """Compared as bits: NaN and types that numpy cannot compare included."""
    return np.ascontiguousarray(a).view(np.uint8)


@pytest.mark.parametrize("name", ELEMENTS)
def test_every_element_type(turned: rt.Module, name: str):
    given = sample(ELEMENTS[name])
    result = turned[f"turn_{name}"](given)
    assert result.dtype == ELEMENTS[name] or (result.dtype.kind in "iu" and result.dtype.itemsize == given.itemsize)
    assert result.shape == [3, 2]
    assert bits(result.to_host()).tolist() == bits(given.T).tolist()
    seen = np.asarray(result)
    assert (seen.dtype, seen.ctypes.data) == (result.dtype, result.to_host().ctypes.data)
    assert bits(result[1:]).tolist() == bits(given.T[1:]).tolist()


@pytest.mark.parametrize("name", ELEMENTS)
@pytest.mark.parametrize("form", ["0-d array", "numpy scalar", "DeviceArray"])
def test_rank_zero(turned: rt.Module, name: str, form: str):
    value = sample(ELEMENTS[name])[1, 1]
    given = {
        "0-d array": lambda: np.array(value),
        "numpy scalar": lambda: value,
        "DeviceArray": lambda: rt.asdevicearray(rt.get_device("local-task"), np.array(value)),
    }[form]()
    result = turned[f"pair_{name}"](given).to_host()
    assert bits(result).tolist() == bits(np.array([value, value])).tolist()


@pytest.mark.parametrize("name", ["i1", *INTEGERS, *FLOATS])
def test_python_numbers_lists_and_bools(turned: rt.Module, name: str):
    dtype = ELEMENTS[name]
    values = [[True, False, True], [False, True, True]] if name == "i1" else [[0, 1, 2], [3, 4, 6]]
    expected = np.array(values).astype(dtype)
    assert bits(turned[f"turn_{name}"](values).to_host()).tolist() == bits(expected.T).tolist()
    one = turned[f"pair_{name}"](values[0][0]).to_host()
    assert bits(one).tolist() == bits(np.array([values[0][0]] * 2).astype(dtype)).tolist()


@pytest.mark.parametrize(
    ("layout", "make"),
    [
        ("Fortran order", np.asfortranarray),
        ("transposed view", lambda a: np.ascontiguousarray(a.T).T),
        ("every second element", lambda a: np.repeat(a, 2, axis=1)[:, ::2]),
        ("reversed", lambda a: np.ascontiguousarray(a[::-1])[::-1]),
        ("broadcast of a row", lambda a: np.broadcast_to(a[:1], a.shape)),
        ("big endian", lambda a: a.astype(a.dtype.newbyteorder(">"))),
        ("off by one byte", lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(a.dtype).reshape(a.shape)),
        ("off by 4 bytes", lambda a: np.frombuffer(b"xxxx" + a.tobytes(), np.uint8)[4:].view(a.dtype).reshape(a.shape)),
        ("subclass", lambda a: a.view(type("Sub", (np.ndarray,), {}))),
        ("masked without mask", np.ma.asarray),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_layouts(mixed: rt.Module, layout: str, make):
    given = make(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert np.array_equal(mixed.split(given)[0], np.asarray(given, np.float32) * 2), layout


def test_read_only_array(mixed: rt.Module):
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    given.flags.writeable = False
    assert np.array_equal(mixed.split(given)[0], given * 2)


class OnlyDLPack:
    """An array of another library: DLPack and nothing else."""

    def __init__(self, a: np.ndarray) -> None:
        self.a = a

    def __dlpack__(self, **keywords: object) -> object:
        return self.a.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class OnlyArray:
    """Something that can become an array."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.arange(6, dtype=np.float32).reshape(2, 3)


def test_arrays_of_other_libraries(mixed: rt.Module):
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    for form in (
        OnlyDLPack(given),
        OnlyArray(),
        memoryview(given),
        rt.asdevicearray(rt.get_device("local-sync"), given),
    ):
        assert np.array_equal(mixed.split(form)[0], given * 2), type(form)


def test_array_array_and_bytes(add: rt.FunctionInvoker):
    ones = np.ones(4, np.float32)
    assert add(array.array("f", [1, 2, 3, 4]), ones).to_host().tolist() == [2, 3, 4, 5]


def test_jax_array(mixed: rt.Module):
    jnp = pytest.importorskip("jax.numpy", reason="jax is a development dependency")
    given = jnp.arange(6, dtype=jnp.float32).reshape(2, 3)
    assert np.array_equal(mixed.split(given)[0], np.asarray(given) * 2)


def test_result_as_argument_shares_memory(add: rt.FunctionInvoker):
    first = add(np.ones(4, np.float32), np.ones(4, np.float32))
    assert add(first, first).to_host().tolist() == [4, 4, 4, 4]
    view = rt.HalBufferView(first.get_buffer(), [4], rt.HalElementType.FLOAT_32)
    assert add(view, first.ref).to_host().tolist() == [4, 4, 4, 4]


def test_dynamic_dimension(mixed: rt.Module):
    for rows in (0, 1, 7):
        given = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
        result = mixed.double(given)
        assert result.shape == [rows, 3]
        assert np.array_equal(result, given * 2)


@pytest.mark.parametrize(
    "given",
    [
        (5, 6, 1.5, 2.5),
        (np.int32(5), np.int64(6), np.float32(1.5), np.float64(2.5)),
        (np.array(5, np.int8), np.array(6), np.array(1.5, np.float16), np.array(2.5)),
        (True, False, 1, 2),
        (-(2**31), 2**62, -0.0, 1e300),
        (np.uint32(2**32 - 1), 2**63 - 1, 3, 4),
        (3, 4, 2.0**126, float("inf")),
        (np.uint32(3), np.array(4, np.uint64), np.float16(0.5), np.array(True)),
    ],
    ids=str,
)
def test_scalars(mixed: rt.Module, given: tuple):
    integers = [int(value) for value in given[:2]]
    expected = (
        np.int32((integers[0] * 2 + 2**31) % 2**32 - 2**31).item(),
        (integers[1] * 2 + 2**63) % 2**64 - 2**63,
        float(given[2]) * 2,
        float(given[3]) * 2,
    )
    result = mixed.scalars(*given)
    assert result == expected
    assert [type(value) for value in result] == [int, int, float, float]


def test_scalar_and_tensor(mixed: rt.Module):
    assert mixed.scale(2.5, np.array([1, 2, 3, 4], np.float32)).to_host().tolist() == [2.5, 5, 7.5, 10]


def test_keyword_arguments_by_declared_name(mixed: rt.Module):
    x = np.array([1, 2, 3, 4], np.float32)
    # iree-compile drops the names of the source.
    assert mixed.scale(input1=x, input0=2.0).to_host().tolist() == [2, 4, 6, 8]
    assert mixed.scale(2.0, input1=x).to_host().tolist() == [2, 4, 6, 8]


def test_aligned_arrays_are_not_copied(device: rt.HalDevice):
    """Counted by the allocator: a call of Tiree's own kernels allocates its result and nothing else."""
    add = rt.load(tiree_module(ADD), device).add
    raw = np.zeros(16, np.float32)
    start = -raw.ctypes.data % 16 // 4
    aligned, shifted = raw[start : start + 4], raw[start + 1 : start + 5]
    for given, copies in ((aligned, 0), (shifted, 2)):
        before = device.allocator.statistics["device_bytes_allocated"]
        add(given, given)
        assert device.allocator.statistics["device_bytes_allocated"] - before == (1 + copies) * 16


def test_arguments_stay_unchanged(mixed: rt.Module):
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    mixed.split(given)
    assert given.tolist() == [[0, 1, 2], [3, 4, 5]]
