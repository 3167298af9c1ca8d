"""numpy's methods on results: every public name of `ndarray` is there and gives what numpy gives, or is left out with a
reason."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any

import numpy as np
import pytest
import tiree.runtime as rt
from tiree.runtime import array_methods

PLAIN = np.array([[3.0, 1.0, 2.0], [-1.5, 0.0, 7.25]], np.float32)
CALLS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "all": [((), {}), ((0,), {}), ((), {"axis": 1, "keepdims": True})],
    "any": [((), {}), ((1,), {})],
    "argmax": [((), {}), ((1,), {})],
    "argmin": [((), {}), ((), {"axis": 0})],
    "argpartition": [((1,), {})],
    "argsort": [((), {}), ((0,), {})],
    "choose": [(([PLAIN, PLAIN],), {})],
    "clip": [((0, 2), {}), ((), {"min": 1})],
    "compress": [(([True, False],), {"axis": 0})],
    "cumprod": [((), {}), ((1,), {})],
    "cumsum": [((), {}), ((1,), {})],
    "diagonal": [((), {}), ((1,), {})],
    "dot": [((PLAIN.T,), {})],
    "flatten": [((), {}), (("F",), {})],
    "max": [((), {}), ((1,), {}), ((), {"initial": 9})],
    "mean": [((), {}), ((0,), {}), ((), {"dtype": np.float64})],
    "min": [((), {}), ((1,), {})],
    "prod": [((), {}), ((0,), {})],
    "ravel": [((), {}), (("F",), {})],
    "repeat": [((2,), {}), ((2,), {"axis": 1})],
    "round": [((), {}), ((1,), {})],
    "searchsorted": [((2,), {})],
    "std": [((), {}), ((1,), {"ddof": 1})],
    "sum": [((), {}), ((0,), {}), ((), {"axis": 1, "keepdims": True}), ((), {"where": PLAIN > 0})],
    "swapaxes": [((0, 1), {})],
    "take": [(([0, 2],), {"axis": 1})],
    "tobytes": [((), {}), (("F",), {})],
    "transpose": [((), {}), ((1, 0), {})],
    "var": [((), {}), ((1,), {})],
    "view": [((np.int32,), {})],
    "reshape": [((3, 2), {}), ((-1,), {}), ((3, 2), {"order": "F"})],
    "astype": [((np.int8,), {}), ((np.int8,), {"order": "F", "subok": False, "casting": "unsafe", "copy": True})],
    "tolist": [((), {})],
    "item": [((0, 1), {}), ((4,), {})],
}
ARRAYS: dict[str, np.ndarray] = {
    "choose": np.array([0, 1, 1], np.int32),
    "searchsorted": np.arange(5, dtype=np.float32),
}


def as_result(array: np.ndarray) -> rt.DeviceArray:
    return rt.asdevicearray(rt.get_device("local-sync"), array, implicit_host_transfer=True)


@pytest.fixture
def x() -> rt.DeviceArray:
    return as_result(PLAIN)


def test_every_public_name_of_numpy_arrays(x: rt.DeviceArray) -> None:
    public = {name for name in dir(np.ndarray) if not name.startswith("_")}
    missing = {name for name in public if not hasattr(rt.DeviceArray, name)}
    assert missing <= array_methods.LEFT_OUT.keys(), missing - array_methods.LEFT_OUT.keys()
    assert not any(hasattr(rt.DeviceArray, name) for name in array_methods.LEFT_OUT)
    for name, reason in array_methods.LEFT_OUT.items():
        with pytest.raises(AttributeError, match="has no attribute") as caught:
            getattr(x, name)
        assert reason in str(caught.value)
    with pytest.raises(AttributeError, match=r"^'DeviceArray' object has no attribute 'nothing'$"):
        _ = x.nothing


def test_every_method_is_compared() -> None:
    plain = {"squeeze", "conj", "conjugate", "copy", "nonzero", "trace", "tofile"}
    assert plain | CALLS.keys() >= set(array_methods.METHODS)


@pytest.mark.parametrize("name", [*CALLS, "squeeze", "conj", "conjugate", "copy", "nonzero", "trace"])
def test_methods_give_what_numpy_gives(name: str) -> None:
    plain = ARRAYS.get(name, PLAIN)
    for arguments, keywords in CALLS.get(name, [((), {})]):
        found = getattr(as_result(plain), name)(*arguments, **keywords)
        expected = getattr(plain, name)(*arguments, **keywords)
        assert type(found) is type(expected)
        np.testing.assert_array_equal(found, expected)
        assert getattr(found, "dtype", None) == getattr(expected, "dtype", None)


def test_properties(x: rt.DeviceArray) -> None:
    assert (x.itemsize, x.nbytes, x.strides, x.size, x.ndim) == (4, 24, (12, 4), 6, 2)
    assert x.flags.c_contiguous
    np.testing.assert_array_equal(x.real, PLAIN)
    np.testing.assert_array_equal(x.imag, PLAIN * 0)
    np.testing.assert_array_equal(x.T, PLAIN.T)
    assert list(x.flat) == PLAIN.ravel().tolist()
    if hasattr(np.ndarray, "mT"):
        np.testing.assert_array_equal(x.mT, PLAIN.T)
    assert 7.25 in x
    assert 5 not in x


def test_results_as_arguments_of_methods(x: rt.DeviceArray) -> None:
    np.testing.assert_array_equal(x.dot(as_result(PLAIN.T.copy())), PLAIN @ PLAIN.T)
    mask = as_result(PLAIN > 0)
    assert x.sum(where=mask) == PLAIN.sum(where=PLAIN > 0)
    np.testing.assert_array_equal(PLAIN.clip(max=x), PLAIN)


FUNCTIONS = [
    np.sum, np.mean, np.max, np.min, np.prod, np.argmax, np.std, np.cumsum, np.sort, np.argsort, np.unique, np.copy,
    np.ravel, np.squeeze, np.transpose, np.round, np.clip, np.where, np.concatenate, np.stack, np.vstack, np.isnan,
    np.linalg.norm, np.any, np.all, np.array_equal, np.allclose, np.flip, np.roll, np.tile, np.split, np.percentile,
    np.median, np.histogram, np.ndim, np.size, np.zeros_like, np.array2string, np.dot, np.outer, np.einsum, np.diff,
    np.pad,
]  # fmt: skip
ARGUMENTS: dict[str, Any] = {
    "clip": lambda a: (a, 0, 2), "where": lambda a: (a > 0, a, 0), "concatenate": lambda a: ([a, a],),
    "stack": lambda a: ([a, a],), "vstack": lambda a: ([a, a],), "array_equal": lambda a: (a, a),
    "allclose": lambda a: (a, a), "roll": lambda a: (a, 1), "tile": lambda a: (a, 2), "split": lambda a: (a, 2),
    "percentile": lambda a: (a, 30), "dot": lambda a: (a, a.T), "outer": lambda a: (a, a),
    "einsum": lambda a: ("ij->j", a), "pad": lambda a: (a, 1),
}  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions_of_numpy(function: Any, x: rt.DeviceArray) -> None:
    arguments = ARGUMENTS.get(function.__name__, lambda a: (a,))
    found, expected = function(*arguments(x)), function(*arguments(PLAIN))
    assert type(found) is type(expected)
    for one, other in zip(found, expected, strict=True) if isinstance(expected, list | tuple) else [(found, expected)]:
        np.testing.assert_array_equal(one, other)


def test_ufuncs(x: rt.DeviceArray) -> None:
    np.testing.assert_array_equal(np.add(x, x), PLAIN * 2)
    np.testing.assert_array_equal(np.add.reduce(x, axis=0), PLAIN.sum(0))
    np.testing.assert_array_equal(np.maximum.accumulate(x, axis=1), np.maximum.accumulate(PLAIN, 1))
    np.testing.assert_array_equal(np.subtract.outer(x, x), np.subtract.outer(PLAIN, PLAIN))
    target = np.zeros((2, 3), np.float32)
    assert np.add(x, 1, out=target) is target
    np.testing.assert_array_equal(np.add(x, 1, where=as_result(PLAIN > 0), out=np.zeros_like(PLAIN))[1, 0], 0)
    found = PLAIN.copy()
    found += x
    np.testing.assert_array_equal(found, PLAIN * 2)
    # Memory that is asked for by name is written, as IREE's is.
    np.multiply(PLAIN, 3, out=x)
    np.testing.assert_array_equal(x, PLAIN * 3)
    np.add.at(x, (0, 0), 1)
    assert x[0, 0] == 10
    x.to_host()[0, 0] = 11
    assert x[0, 0] == 11


OPERATORS: dict[str, Any] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv, "mod": operator.mod,
    "floordiv": operator.floordiv, "pow": pow, "matmul": operator.matmul, "divmod": divmod, "lt": operator.lt,
    "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip
BITS = {
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "lshift": operator.lshift, "rshift": operator.rshift,
}  # fmt: skip


class Strict:
    """An array that knows numpy's only, as those of other libraries do; it answers before numpy's."""

    __array_priority__ = 1000
    __hash__ = None  # pyright: ignore[reportAssignmentType]: as arrays have it

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.values


def _answer(name: str) -> Any:
    def answer(self: Strict, other: object) -> Any:
        operation = OPERATORS.get(name) or BITS[name]
        if not isinstance(other, np.ndarray):
            return NotImplemented
        return operation(other, self.values) if name not in _COMPARED else operation(self.values, other)

    return answer


_COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")
for _name in (*OPERATORS, *BITS):
    setattr(Strict, f"__{_name}__" if _name in _COMPARED else f"__r{_name}__", _answer(_name))


@pytest.mark.parametrize("name", [*OPERATORS, *BITS])
def test_operators_with_arrays_of_others(name: str) -> None:
    """The left operand is numpy's array for whoever is asked next, so no comparison ends as that of two objects."""
    operation = OPERATORS.get(name) or BITS[name]
    plain = np.array([[3, 1], [2, 5]], np.float32 if name in OPERATORS else np.int32)
    mine = as_result(plain)
    more = plain + 1
    for other, theirs in ((Strict(more), more), (more, more), (as_result(more), more), (2, 2), ([1, 2], [1, 2])):
        if name == "matmul" and isinstance(theirs, int):
            continue
        found, expected = operation(mine, other), operation(plain, theirs)
        np.testing.assert_array_equal(found, expected)
        assert type(found) is type(expected)
        if not isinstance(other, Strict):
            np.testing.assert_array_equal(operation(other, mine), operation(theirs, plain))


@pytest.mark.parametrize("name", [*OPERATORS, *BITS])
def test_operators_with_arrays_of_jax(name: str) -> None:
    jnp = pytest.importorskip("jax.numpy", reason="a development dependency")
    operation = OPERATORS.get(name) or BITS[name]
    plain = np.array([[3, 1], [2, 5]], np.float32 if name in OPERATORS else np.int32)
    mine, other = as_result(plain), jnp.asarray(plain)
    np.testing.assert_array_equal(operation(mine, other), operation(plain, plain))
    np.testing.assert_array_equal(operation(other, mine), operation(plain, plain))


def test_operators_that_have_no_answer(x: rt.DeviceArray) -> None:
    for operation in (lambda: x + None, lambda: None + x, lambda: pow(x, 2, 3), lambda: x < object()):
        with pytest.raises(TypeError):
            operation()
    assert not (x == None).any()  # noqa: E711
    np.testing.assert_array_equal(pow(x, 2, None), PLAIN**2)
    np.testing.assert_array_equal(-x, -PLAIN)
    np.testing.assert_array_equal(abs(+x), abs(PLAIN))
    np.testing.assert_array_equal(~as_result(PLAIN > 0), PLAIN <= 0)


def test_keywords_of_copies() -> None:
    grid = np.arange(6, dtype=np.float32).reshape(2, 3)
    mine = as_result(grid)
    found = mine.astype(np.int64, order="F", copy=True, casting="unsafe", subok=False)
    assert found.flags.f_contiguous
    np.testing.assert_array_equal(found, grid)
    assert np.shares_memory(mine.astype(np.float32, copy=False), mine.to_host())
    with pytest.raises(TypeError, match="same_kind"):
        mine.astype(np.int64, "same_kind")
    np.testing.assert_array_equal(mine.reshape(3, 2, order="F"), grid.reshape((3, 2), order="F"))
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert not np.shares_memory(mine.reshape(3, 2, copy=True), mine.to_host())
    with pytest.raises(TypeError, match="nothing"):
        mine.reshape(3, 2, nothing=1)
    np.testing.assert_array_equal(mine.copy(order="F"), grid)


@pytest.mark.parametrize("letters", ["i2", "i4", "i8", "u4", "f2", "f4", "f8", "c8", "c16"])
def test_arrays_of_the_other_byte_order(letters: str) -> None:
    device = rt.get_device("local-sync")
    numbers = np.arange(6).reshape(2, 3)
    for given, dtype in ((numbers.astype(f">{letters}"), None), (numbers.tolist(), f">{letters}")):
        found = rt.asdevicearray(device, given, dtype=dtype, implicit_host_transfer=True)
        assert found.dtype == np.dtype(letters)
        assert found.dtype.isnative
        np.testing.assert_array_equal(found, numbers)
    scalar = rt.asdevicearray(None, np.array(3, f">{letters}"), implicit_host_transfer=True)
    assert scalar.item() == 3
    assert rt.array_interop.map_dtype_to_element_type(f">{letters}") is None


def test_nothing_else_changes_in_place(x: rt.DeviceArray) -> None:
    with pytest.raises(TypeError, match=r"not changed in place; x\.copy\(\)"):
        x[0] = 1
    before = x
    x += 1
    assert type(x) is np.ndarray
    np.testing.assert_array_equal(before, PLAIN)
    mine = before.copy()
    mine[:] = 0
    np.testing.assert_array_equal(before, PLAIN)


def test_other_element_types() -> None:
    import ml_dtypes

    half = as_result(np.array([1, 2, 3], ml_dtypes.bfloat16))
    assert half.sum() == 6
    assert half.max() == 3
    assert half.tobytes() == np.array([1, 2, 3], ml_dtypes.bfloat16).tobytes()
    empty = as_result(np.zeros((0, 3), np.int32))
    assert empty.sum() == 0
    assert empty.ravel().shape == (0,)
    with pytest.raises(ValueError, match="zero-size"):
        empty.max()
    scalar = as_result(np.array(2.5))
    assert scalar.item() == 2.5
    assert scalar.squeeze().shape == ()
    assert as_result(np.array([1 + 2j], np.complex64)).conj()[0] == 1 - 2j


def test_arrays_that_do_not_move_by_themselves() -> None:
    placed = rt.asdevicearray(rt.get_device("local-sync"), PLAIN)
    for use in (lambda: placed.sum(), lambda: placed.flags, lambda: 1 in placed):
        with pytest.raises(ValueError, match="cannot be implicitly transferred"):
            use()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_in_every_protocol(protocol: int, x: rt.DeviceArray) -> None:
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x, protocol)), PLAIN)
    for found in (copy.copy(x), copy.deepcopy(x)):
        assert type(found) is np.ndarray
        found[:] = 0
    np.testing.assert_array_equal(x, PLAIN)
