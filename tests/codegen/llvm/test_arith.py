"""`arith` ops as scalars and vectors, on this machine and on plain x86-64, against numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.codegen.llvm.ops import FAST_NONE, NO_OVERFLOW, run_op

CPUS = ["host", "generic"]
INTS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def integers(dtype: type, count: int = 64, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max, count, dtype, endpoint=True)
    values[:6] = [info.min, info.max, 0, 1, -1, info.min]
    return values


def floats(dtype: type, count: int = 64, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.uniform(-8, 8, count)
    values[:10] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 65504, 1e-5, -3.5]
    return rng.permutation(values).astype(dtype)


def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a, b, strict=True)])


INT_OPS = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
    "arith.xori": lambda a, b: a ^ b,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.maxui": lambda a, b: np.maximum(a.view(f"u{a.itemsize}"), b.view(f"u{a.itemsize}")).view(a.dtype),
    "arith.minui": lambda a, b: np.minimum(a.view(f"u{a.itemsize}"), b.view(f"u{a.itemsize}")).view(a.dtype),
}


@pytest.mark.parametrize("lanes", [0, 1, 8])
@pytest.mark.parametrize("type", INTS)
@pytest.mark.parametrize("op", INT_OPS)
def test_integer_arithmetic(op: str, type: str, lanes: int) -> None:
    a, b = integers(INTS[type]), integers(INTS[type], seed=1)
    properties = NO_OVERFLOW if op in ("arith.addi", "arith.subi", "arith.muli") else ""
    with np.errstate(over="ignore"):
        expected = INT_OPS[op](a, b)
    np.testing.assert_array_equal(run_op(op, [a, b], [type, type], type, INTS[type], lanes, properties), expected)


@pytest.mark.parametrize("lanes", [0, 8])
@pytest.mark.parametrize("type", INTS)
def test_integer_division_rounds_as_its_name_says(type: str, lanes: int) -> None:
    a, b = integers(INTS[type]), integers(INTS[type], seed=2)
    bad = (b == 0) | ((b == -1) & (a == np.iinfo(a.dtype).min))
    b[bad] = 3
    quotient = divide(a, b).astype(a.dtype)
    cases = {
        "arith.divsi": quotient,
        "arith.remsi": (a - quotient * b).astype(a.dtype),
        "arith.floordivsi": np.floor_divide(a, b),
        "arith.ceildivsi": np.array([-(-int(x) // int(y)) for x, y in zip(a, b, strict=True)]).astype(a.dtype),
    }
    unsigned = f"u{a.itemsize}"
    cases["arith.divui"] = (a.view(unsigned) // b.view(unsigned)).view(a.dtype)
    cases["arith.remui"] = (a.view(unsigned) % b.view(unsigned)).view(a.dtype)
    up = [-(-int(x) // int(y)) for x, y in zip(a.view(unsigned), b.view(unsigned), strict=True)]
    cases["arith.ceildivui"] = np.array(up, unsigned).view(a.dtype)
    for op, expected in cases.items():
        np.testing.assert_array_equal(run_op(op, [a, b], [type, type], type, INTS[type], lanes), expected, op)


@pytest.mark.parametrize("op", ["arith.divsi", "arith.remsi", "arith.divui", "arith.remui", "arith.floordivsi"])
def test_division_that_would_trap_goes_on(op: str) -> None:
    a = np.array([5, -5, -(2**31), 2**31 - 1] * 4, np.int32)
    b = np.array([0, 0, -1, 0] * 4, np.int32)
    run_op(op, [a, b], ["i32", "i32"], "i32", np.int32, 8)
    run_op(op, [a, b], ["i32", "i32"], "i32", np.int32, 0)


@pytest.mark.parametrize("type", INTS)
@pytest.mark.parametrize("op", ["arith.shli", "arith.shrsi", "arith.shrui"])
def test_shifts(op: str, type: str) -> None:
    a = integers(INTS[type])
    b = (np.arange(64) % (8 * a.itemsize)).astype(a.dtype)
    expected = {
        "arith.shli": lambda: a << b,
        "arith.shrsi": lambda: a >> b,
        "arith.shrui": lambda: (a.view(f"u{a.itemsize}") >> b.view(f"u{a.itemsize}")).view(a.dtype),
    }[op]()
    properties = NO_OVERFLOW if op == "arith.shli" else ""
    np.testing.assert_array_equal(run_op(op, [a, b], [type, type], type, INTS[type], 8, properties), expected)


FLOAT_OPS = {
    "arith.addf": lambda a, b: a + b,
    "arith.subf": lambda a, b: a - b,
    "arith.mulf": lambda a, b: a * b,
    "arith.divf": lambda a, b: a / b,
}


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("lanes", [0, 8])
@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("op", FLOAT_OPS)
def test_float_arithmetic_rounds_once(op: str, type: str, lanes: int, cpu: str) -> None:
    a, b = floats(FLOATS[type]), floats(FLOATS[type], seed=1)
    actual = run_op(op, [a, b], [type, type], type, FLOATS[type], lanes, FAST_NONE, cpu)
    with np.errstate(all="ignore"):
        expected = FLOAT_OPS[op](a, b).astype(FLOATS[type])
    np.testing.assert_array_equal(actual.astype(np.float64), expected.astype(np.float64))
    zero = actual == 0
    np.testing.assert_array_equal(np.signbit(actual[zero]), np.signbit(expected[zero]))


def ieee_minmax(a: np.ndarray, b: np.ndarray, bigger: bool, propagate: bool) -> np.ndarray:
    """IEEE 754-2019 maximum/minimum, or maxNum/minNum, one element after the other."""
    out = []
    for x, y in zip(a, b, strict=True):
        if np.isnan(x) or np.isnan(y):
            out.append(np.nan if propagate or (np.isnan(x) and np.isnan(y)) else y if np.isnan(x) else x)
        elif x == y:
            out.append((x if np.signbit(x) != bigger else y) if propagate else x)
        else:
            out.append(x if (x > y) == bigger else y)
    return np.array(out, a.dtype)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("op", ["maximumf", "minimumf", "maxnumf", "minnumf"])
def test_minmax_follow_ieee(op: str, type: str, cpu: str) -> None:
    special = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 2.0])
    a, b = (g.ravel().astype(FLOATS[type]) for g in np.meshgrid(special, special))
    propagate = op in ("maximumf", "minimumf")
    expected = ieee_minmax(a, b, op.startswith("max"), propagate)
    for lanes in (0, 8):
        actual = run_op(f"arith.{op}", [a, b], [type, type], type, FLOATS[type], lanes, FAST_NONE, cpu)
        np.testing.assert_array_equal(actual.astype(np.float64), expected.astype(np.float64))
        if propagate:
            same = (actual == 0) & (expected == 0)
            np.testing.assert_array_equal(np.signbit(actual[same]), np.signbit(expected[same]))


PREDICATES = [
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"
]  # fmt: skip


@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("number", range(16))
def test_float_compares(number: int, type: str) -> None:
    special = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 2.0])
    a, b = (g.ravel().astype(FLOATS[type]) for g in np.meshgrid(special, special))
    nan = np.isnan(a) | np.isnan(b)
    with np.errstate(invalid="ignore"):
        relation = {"eq": a == b, "gt": a > b, "ge": a >= b, "lt": a < b, "le": a <= b, "ne": a != b}
    name = PREDICATES[number]
    if name in ("false", "true"):
        expected = np.full(64, name == "true")
    elif name in ("ord", "uno"):
        expected = nan if name == "uno" else ~nan
    else:
        expected = relation[name[1:]] & ~nan if name[0] == "o" else relation[name[1:]] | nan
    properties = f"<{{predicate = {number} : i64, fastmath = #arith.fastmath<none>}}> "
    for lanes in (0, 8):
        actual = run_op("arith.cmpf", [a, b], [type, type], "i1", np.int8, lanes, properties)
        np.testing.assert_array_equal(actual, expected.astype(np.int8), name)


@pytest.mark.parametrize("number", range(10))
def test_integer_compares(number: int) -> None:
    a, b = integers(np.int16), integers(np.int16, seed=3)
    b[::3] = a[::3]
    u, v = a.view(np.uint16), b.view(np.uint16)
    expected = [a == b, a != b, a < b, a <= b, a > b, a >= b, u < v, u <= v, u > v, u >= v][number]
    properties = f"<{{predicate = {number} : i64}}> "
    for lanes in (0, 8):
        actual = run_op("arith.cmpi", [a, b], ["i16", "i16"], "i1", np.int8, lanes, properties)
        np.testing.assert_array_equal(actual, expected.astype(np.int8))


@pytest.mark.parametrize("type", [*INTS, *FLOATS])
@pytest.mark.parametrize("lanes", [0, 16])
def test_select(type: str, lanes: int) -> None:
    dtype = {**INTS, **FLOATS}[type]
    a, b = np.arange(64).astype(dtype), -np.arange(64).astype(dtype)
    mask = (np.arange(64) % 3 == 0).astype(np.int8)
    actual = run_op("arith.select", [mask, a, b], ["i1", type, type], type, dtype, lanes)
    np.testing.assert_array_equal(actual.astype(np.float64), np.where(mask, a, b).astype(np.float64))


@pytest.mark.parametrize("op", ["arith.addui_extended", "arith.mulsi_extended", "arith.mului_extended"])
def test_wide_results(op: str) -> None:
    from tests.codegen.harness import bindings, compile_kernel

    a, b = integers(np.int32, 8), integers(np.int32, 8, seed=5)
    high_type = "i1" if op == "arith.addui_extended" else "i32"
    text = f"""
func.func @kernel() {{
  {bindings("8xi32", "8xi32", "8xi32", f"8x{high_type}")}
  %a = vector.load %b0[%c0] : memref<8xi32>, vector<8xi32>
  %b = vector.load %b1[%c0] : memref<8xi32>, vector<8xi32>
  %low, %high = "{op}"(%a, %b) : (vector<8xi32>, vector<8xi32>) -> (vector<8xi32>, vector<8x{high_type}>)
  vector.store %low, %b2[%c0] : memref<8xi32>, vector<8xi32>
  vector.store %high, %b3[%c0] : memref<8x{high_type}>, vector<8x{high_type}>
  func.return
}}"""
    low, high = np.zeros(8, np.int32), np.zeros(8, np.int8 if high_type == "i1" else np.int32)
    compile_kernel(text).run(a, b, low, high)
    signed = op == "arith.mulsi_extended"
    x, y = ([int(v) if signed else int(v) % 2**32 for v in array] for array in (a, b))
    whole = [p + q if "add" in op else p * q for p, q in zip(x, y, strict=True)]
    np.testing.assert_array_equal(low.view(np.uint32), [w % 2**32 for w in whole])
    np.testing.assert_array_equal(high, np.array([w >> 32 for w in whole], np.int64).astype(high.dtype))
