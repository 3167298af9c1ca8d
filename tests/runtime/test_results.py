"""What functions return: DeviceArrays that behave as arrays, numbers, tuples, None; whose memory it is."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import weakref

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from runtime.modules import ADD, tiree_module

A = np.array([1, 2, 3, 4], np.float32)
B = np.array([5, 6, 7, 8], np.float32)
SUM = A + B


@pytest.fixture
def result(add: rt.FunctionInvoker) -> rt.DeviceArray:
    return add(A, B)


def test_kinds_of_results(mixed: rt.Module):
    assert mixed.nothing() is None
    pair = mixed.split(np.ones((2, 3), np.float32))
    assert isinstance(pair, tuple)
    assert [r.shape for r in pair] == [[2, 3], [3, 2]]
    assert mixed.small(True, 7, -3) == (1, 7, -3)
    assert mixed.constant().to_host().tolist() == [1, 2, 3]


def test_properties(result: rt.DeviceArray):
    assert isinstance(result, rt.DeviceArray)
    assert isinstance(result, rt.HalBufferView)
    assert result.shape == [4]
    assert result.dtype == np.float32
    assert (result.ndim, result.size, len(result)) == (1, 4, 4)
    assert result.is_host_accessible
    assert result.element_type == rt.HalElementType.FLOAT_32 == 0x21000020
    assert repr(result) == "<Tiree DeviceArray: shape=[4], dtype=float32>"


BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"]
COMPARISONS = ["lt", "le", "gt", "ge", "eq", "ne"]


@pytest.mark.parametrize("name", [*BINARY, *COMPARISONS])
@pytest.mark.parametrize("order", ["array first", "array last", "both"])
def test_binary_operators(result: rt.DeviceArray, name: str, order: str):
    function = getattr(operator, name)
    left = result if order != "array last" else B
    right = result if order != "array first" else B
    expected = function(SUM if left is result else B, SUM if right is result else B)
    found = function(left, right)
    assert type(found) is type(expected)
    assert np.array_equal(found, expected)


def test_scalars_as_other_operand(result: rt.DeviceArray):
    assert np.array_equal(result + 1, SUM + 1)
    assert np.array_equal(10 - result, 10 - SUM)
    assert np.array_equal(2**result, 2**SUM)
    assert [q.tolist() for q in divmod(result, 4)] == [q.tolist() for q in divmod(SUM, 4)]
    assert (result + 1).dtype == np.float32
    added = result
    added += 1
    assert np.array_equal(added, SUM + 1)


@pytest.mark.parametrize("name", ["neg", "pos", "abs"])
def test_unary_operators(result: rt.DeviceArray, name: str):
    assert np.array_equal(getattr(operator, name)(result), getattr(operator, name)(SUM))


def test_integer_and_bool_operators(mixed: rt.Module):
    result = mixed.constant()
    host = np.array([1, 2, 3], np.int32)
    for name in ("and_", "or_", "xor", "lshift", "rshift"):
        assert np.array_equal(getattr(operator, name)(result, 2), getattr(operator, name)(host, 2))
        assert np.array_equal(getattr(operator, name)(2, result), getattr(operator, name)(2, host))
    assert np.array_equal(~result, ~host)


@pytest.mark.parametrize(
    "index",
    [0, -1, slice(1, 3), slice(None, None, -1), np.array([True, False, True, False]), [0, 2], ..., None, (..., 1)],
    ids=repr,
)
def test_indexing(result: rt.DeviceArray, index: object):
    assert np.array_equal(result[index], SUM[index])


def test_as_a_sequence(result: rt.DeviceArray):
    assert list(result) == SUM.tolist()
    assert 8.0 in result
    with pytest.raises(IndexError):
        result[4]
    with pytest.raises(TypeError):
        result[0] = 1  # pyright: ignore[reportIndexIssue]
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)


def test_rank_zero_is_a_number(mixed: rt.Module):
    nine = mixed.square(np.float32(3))
    assert (float(nine), int(nine), bool(nine)) == (9.0, 9, True)
    assert mixed.next().__index__() >= 1
    assert nine + 1 == 10
    with pytest.raises(TypeError, match="len"):
        len(nine)


def test_conversions_to_plain_python(result: rt.DeviceArray, mixed: rt.Module):
    assert result.tolist() == SUM.tolist()
    assert result.item(2) == 10.0
    assert type(result.item(2)) is float
    nine = mixed.square(np.float32(3))
    assert (nine.item(), nine.tolist(), complex(nine), f"{nine:.2f}", round(float(nine))) == (
        9.0,
        9.0,
        9 + 0j,
        "9.00",
        9,
    )
    assert f"{result}" == str(result) == repr(result)
    with pytest.raises(TypeError, match="format"):
        format(result, ".2f")
    with pytest.raises(ValueError, match="size 1"):
        result.item()
    with pytest.raises(ValueError, match="ambiguous"):
        bool(result)


def test_layout_of_the_result(mixed: rt.Module):
    result = mixed.split(np.ones((2, 3), np.float32))[1]
    assert (result.nbytes, result.T.shape) == (24, (2, 3))
    assert result.T.ctypes.data == result.to_host().ctypes.data


def test_numpy_functions(result: rt.DeviceArray):
    assert np.sum(result) == SUM.sum()
    assert np.array_equal(np.concatenate([result, result]), np.concatenate([SUM, SUM]))
    assert np.allclose(result, SUM)
    np.testing.assert_array_equal(result, SUM)
    assert np.array_equal(np.where(result > 8, result, 0), np.where(SUM > 8, SUM, 0))
    assert np.array_equal(np.add(result, result), SUM * 2)
    assert np.add.reduce(result) == SUM.sum()
    assert np.array(result, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        np.asarray(result, dtype=np.float64, copy=False)


def test_reshape_and_astype_give_numpy(result: rt.DeviceArray):
    for shape in ((2, 2), (-1, 1)):
        assert np.array_equal(result.reshape(shape), SUM.reshape(shape))
        assert np.array_equal(result.reshape(*shape), SUM.reshape(shape))
    assert result.astype(np.int32).tolist() == SUM.astype(np.int32).tolist()
    assert result.astype(np.float32, copy=False) is result
    with pytest.raises(TypeError, match="Cannot cast"):
        result.astype(np.int32, casting="safe")


def test_numpy_sees_the_memory_itself(result: rt.DeviceArray):
    first, second = np.asarray(result), result.to_host()
    assert first.ctypes.data == second.ctypes.data == np.from_dlpack(result).ctypes.data
    assert first.ctypes.data == np.frombuffer(result.map(), np.float32).ctypes.data
    assert np.array(result).ctypes.data != first.ctypes.data
    assert np.asarray(result, copy=True).ctypes.data != first.ctypes.data
    first[0] = 100
    assert result[0] == 100


def test_buffer_protocol(mixed: rt.Module):
    view = memoryview(mixed.split(np.arange(6, dtype=np.float32).reshape(2, 3))[1])
    assert (view.format, view.shape, view.strides, view.itemsize, view.readonly) == ("f", (3, 2), (8, 4), 4, False)
    assert view.tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize("keep", ["numpy", "memoryview", "dlpack", "map", "slice"])
def test_memory_outlives_everything(add_file, keep: str):
    """What numpy holds stays valid when the array, the function, the module and the device are gone."""
    device = rt.HalDevice.open("local-task", group_count=1)
    module = rt.load(add_file, device)
    result = module.add(A, B)
    kept = {
        "numpy": np.asarray,
        "memoryview": memoryview,
        "dlpack": np.from_dlpack,
        "map": lambda r: r.map().asarray((4,), np.float32),
        "slice": lambda r: r.to_host()[1:],
    }[keep](result)
    gone = weakref.ref(module)
    del result, module, device
    gc.collect()
    assert gone() is None
    for _ in range(50):
        rt.load(add_file).add(B, B)
    assert np.asarray(kept).tolist() == (SUM[1:] if keep == "slice" else SUM).tolist()


def test_results_of_one_call_survive_the_next(add: rt.FunctionInvoker):
    results = [add(A * i, B) for i in range(20)]
    assert [r.to_host().tolist() for r in results] == [(A * i + B).tolist() for i in range(20)]


IDENTITY = """
func.func @same(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
"""


def test_an_argument_passed_through_is_the_callers_no_more():
    same = rt.load(tiree_module(IDENTITY)).same
    raw = np.zeros(16, np.float32)
    given = raw[-raw.ctypes.data % 64 // 4 :][:4]
    given[:] = A
    result = same(given)
    given[:] = 0
    assert result.to_host().tolist() == A.tolist()


def test_pickle_and_copies(result: rt.DeviceArray):
    for found in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert type(found) is np.ndarray
        assert np.array_equal(found, SUM)


@pytest.mark.parametrize("source", ["path", "bytes", "bytearray", "memoryview"])
def test_load_and_pickle_a_module(add_file, source: str):
    data = add_file.read_bytes()
    given = {"path": add_file, "bytes": data, "bytearray": bytearray(data), "memoryview": memoryview(data)}[source]
    module = rt.load(given, "local-sync")
    assert repr(module) == "<tiree.Module module on local-sync: add(input0: f32[4], input1: f32[4])>"
    again = pickle.loads(pickle.dumps(module))
    assert again.add(A, B).to_host().tolist() == SUM.tolist()
    assert again.device == "local-sync"


def test_short_way():
    module = tiree.load(tiree.compile(ADD))
    assert np.asarray(module.add(A, B)).tolist() == SUM.tolist()
    assert tiree.compile(ADD).load("local-sync").add(A, B)[0] == 6


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        rt.load(tmp_path / "nothing.vmfb")
    assert caught.value.filename == str(tmp_path / "nothing.vmfb")


class TestWithoutImplicitTransfer:
    """Arrays that a program places on a device itself say when their contents move to the host."""

    @pytest.fixture
    def placed(self, device: rt.HalDevice) -> rt.DeviceArray:
        return rt.asdevicearray(device, A)

    @pytest.mark.parametrize(
        "use",
        [lambda a: a + 1, lambda a: 1 + a, lambda a: a == a, lambda a: -a, np.asarray, np.sum, bool, float],
        ids=["add", "radd", "eq", "neg", "asarray", "sum", "bool", "float"],
    )
    def test_refuses(self, placed: rt.DeviceArray, use):
        with pytest.raises(ValueError, match="cannot be implicitly transferred"):
            use(placed)

    def test_allows(self, placed: rt.DeviceArray, add: rt.FunctionInvoker):
        assert placed.to_host().tolist() == A.tolist()
        assert placed[1] == 2
        assert list(placed) == A.tolist()
        assert placed.reshape(2, 2).shape == (2, 2)
        assert add(placed, placed).to_host().tolist() == (A * 2).tolist()

    def test_allowed_on_request(self, device: rt.HalDevice):
        placed = rt.asdevicearray(device, [1, 2], dtype=np.int16, implicit_host_transfer=True)
        assert (placed + 1).tolist() == [2, 3]
        assert placed.dtype == np.int16

    def test_made_by_hand(self, device: rt.HalDevice, result: rt.DeviceArray):
        by_hand = rt.DeviceArray(device, result, implicit_host_transfer=True, override_dtype=np.int32)
        assert by_hand.dtype == np.int32
        assert np.array_equal(by_hand, SUM.astype(np.int32))
        with pytest.raises(TypeError, match="HalBufferView"):
            rt.DeviceArray(device)

    def test_element_type_for_functions_dtype_for_python(self, device: rt.HalDevice):
        placed = rt.asdevicearray(device, np.array([1, 255], np.uint8), element_type=rt.HalElementType.INT_8)
        assert placed.element_type == rt.HalElementType.INT_8
        assert placed.dtype == np.uint8
        assert placed.to_host().tolist() == [1, 255]

    @pytest.mark.parametrize("given", [np.zeros((0, 3), np.float32), np.array(2.0), [True], np.zeros(2, np.complex64)])
    def test_any_array(self, device: rt.HalDevice, given: object):
        assert np.array_equal(rt.asdevicearray(device, given).to_host(), np.asarray(given))

    def test_not_an_array(self, device: rt.HalDevice):
        with pytest.raises(ValueError, match="no device element type"):
            rt.asdevicearray(device, ["text"])
