"""Casts, above all the small floats: every value, every rounding case, with and without hardware conversions."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.codegen.harness import compile_kernel, target
from tests.codegen.llvm.ops import FAST_NONE, op_kernel, run_op

CPUS = ["host", "generic"]
SMALL = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}


def all_bits(dtype: type) -> np.ndarray:
    return np.arange(65536, dtype=np.uint16).view(dtype)


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Bit for bit, but for the payload of a NaN."""
    bits = f"u{actual.itemsize}"
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(actual), nan)
    np.testing.assert_array_equal(actual.view(bits)[~nan], expected.view(bits)[~nan])


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("type", SMALL)
@pytest.mark.parametrize("wide", ["f32", "f64"])
def test_widening_is_exact(type: str, wide: str, cpu: str) -> None:
    values = all_bits(SMALL[type])
    dtype = np.float32 if wide == "f32" else np.float64
    with np.errstate(invalid="ignore"):
        expected = values.astype(dtype)
    assert_same(run_op("arith.extf", [values], [type], wide, dtype, 16, cpu=cpu), expected)


def near_ties(dtype: type, wide: type) -> np.ndarray:
    """Every small float, the midpoints between neighbours, and what lies just beside those."""
    with np.errstate(all="ignore"):
        values = np.sort(all_bits(dtype).astype(np.float64))
        values = values[np.isfinite(values)]
        middle = (values[:-1] + values[1:]) / 2
        beside = [np.nextafter(middle.astype(wide), wide(side)) for side in (-np.inf, np.inf)]
        largest = values[-1]
        edge = np.array([largest * 1.001, largest * 1.01, 1e30, -1e30, np.inf, -np.inf, np.nan, 0.0, -0.0], wide)
        found = np.concatenate([values.astype(wide), middle.astype(wide), *beside, edge])
    return found[: len(found) // 16 * 16] if len(found) % 16 == 0 else np.resize(found, -(-len(found) // 16) * 16)


def round_to_small(value: np.ndarray, dtype: type) -> np.ndarray:
    """Rounded once to nearest even, decided by exact distances; numpy's own cast may round twice."""
    with np.errstate(invalid="ignore"):
        table = np.sort(all_bits(dtype).astype(np.float64))
    table = np.unique(table[np.isfinite(table)])
    wide = value.astype(np.float64)
    step = table[-1] - table[-2]
    ladder = np.concatenate([[table[0] - step], table, [table[-1] + step]])
    magnitude = np.clip(np.nan_to_num(wide, nan=0.0), ladder[0], ladder[-1])
    above = np.clip(np.searchsorted(ladder, magnitude), 1, len(ladder) - 1)
    low, high = ladder[above - 1], ladder[above]
    with np.errstate(all="ignore"):
        low_bits = low.astype(dtype).view(np.uint16)
        take_high = (high - magnitude < magnitude - low) | ((high - magnitude == magnitude - low) & (low_bits & 1 == 1))
        result = np.where(take_high, high, low).astype(dtype)
        result = np.where(magnitude == 0, np.copysign(0.0, wide), result.astype(np.float64)).astype(dtype)
        result = np.where((result == 0) & np.signbit(wide), -np.zeros(1), result.astype(np.float64)).astype(dtype)
    return np.where(np.isnan(wide), dtype(np.nan), result)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("type", SMALL)
def test_f32_rounds_once_to_nearest_even(type: str, cpu: str) -> None:
    values = near_ties(SMALL[type], np.float32)
    with np.errstate(all="ignore"):
        expected = values.astype(SMALL[type])
    assert_same(run_op("arith.truncf", [values], ["f32"], type, SMALL[type], 16, cpu=cpu), expected)


LEVELS = ["host", "x86-64-v3", "generic"]


def skip_unless_runnable(cpu: str) -> None:
    if cpu == "x86-64-v3" and not target("host").has_avx2:
        pytest.skip("this machine has no AVX2")


@pytest.mark.parametrize("optimise", [False, True])
@pytest.mark.parametrize("lanes", [0, 16])
@pytest.mark.parametrize("cpu", LEVELS)
@pytest.mark.parametrize("type", SMALL)
def test_f64_rounds_once_to_nearest_even(type: str, cpu: str, lanes: int, optimise: bool) -> None:
    """Midpoints and their neighbours, which a rounding by way of f32 gets wrong."""
    skip_unless_runnable(cpu)
    values = near_ties(SMALL[type], np.float64)
    expected = round_to_small(values, SMALL[type])
    actual = run_op("arith.truncf", [values], ["f64"], type, SMALL[type], lanes, cpu=cpu, optimise=optimise)
    assert_same(actual, expected)


@pytest.mark.parametrize("optimise", [False, True])
@pytest.mark.parametrize("lanes", [0, 8])
@pytest.mark.parametrize("cpu", LEVELS)
def test_no_cast_needs_a_library(cpu: str, lanes: int, optimise: bool) -> None:
    """All casts in one kernel: the linker refuses an undefined symbol."""
    floats, integers = ["f16", "bf16", "f32", "f64"], ["i8", "i16", "i32", "i64"]
    width = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
    casts = [("arith.truncf", a, b) for a in floats for b in floats if width[a] > width[b]]
    casts += [("arith.extf", a, b) for a in floats for b in floats if width[a] < width[b]]
    casts += [(op, a, b) for op in ("arith.sitofp", "arith.uitofp") for a in integers for b in floats]
    casts += [(op, a, b) for op in ("arith.fptosi", "arith.fptoui") for a in floats for b in integers]
    kernels = [op_kernel(op, [a], b, 16, lanes).replace("@kernel", f"@kernel{i}") for i, (op, a, b) in enumerate(casts)]
    compile_kernel("\n".join(kernels), cpu=cpu, optimise=optimise)


@pytest.mark.parametrize("cpu", LEVELS)
@pytest.mark.parametrize("op", ["math.exp", "math.tanh", "math.erf", "math.log", "math.sqrt", "arith.negf"])
@pytest.mark.parametrize("type", SMALL)
def test_nans_survive_a_function_and_its_rounding(type: str, op: str, cpu: str) -> None:
    """Every NaN, signalling ones too, widened, put through a function in f32 and rounded back."""
    skip_unless_runnable(cpu)
    with np.errstate(invalid="ignore"):
        values = all_bits(SMALL[type])
        values = np.resize(values[np.isnan(values.astype(np.float32))], 2048)
    for lanes in (0, 16):
        text = op_kernel(op, [type], type, len(values), lanes, FAST_NONE)
        wide, small = (f"vector<{lanes}x{t}>" if lanes else t for t in ("f32", type))
        lines = [
            f'%w = "arith.extf"(%x0) : ({small}) -> {wide}',
            f'%z = "{op}"(%w) {FAST_NONE}: ({wide}) -> {wide}',
            f'%y = "arith.truncf"(%z) : ({wide}) -> {small}',
        ]
        text = "\n".join("\n".join(lines) if line.strip().startswith("%y =") else line for line in text.split("\n"))
        out = np.zeros(len(values), SMALL[type])
        compile_kernel(text, cpu=cpu).run(values, out)
        assert np.isnan(out.astype(np.float32)).all()


@pytest.mark.parametrize("cpu", CPUS)
def test_between_the_small_floats(cpu: str) -> None:
    halves, brains = all_bits(np.float16), all_bits(ml_dtypes.bfloat16)
    with np.errstate(all="ignore"):
        to_brain = halves.astype(np.float32).astype(ml_dtypes.bfloat16)
        to_half = brains.astype(np.float32).astype(np.float16)
    assert_same(run_op("arith.truncf", [halves], ["f16"], "bf16", ml_dtypes.bfloat16, 16, cpu=cpu), to_brain)
    assert_same(run_op("arith.truncf", [brains], ["bf16"], "f16", np.float16, 16, cpu=cpu), to_half)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("lanes", [0, 8])
@pytest.mark.parametrize("source", ["i8", "i32", "i64"])
@pytest.mark.parametrize("target", ["f16", "bf16", "f32", "f64"])
def test_integers_round_once(source: str, target: str, lanes: int, cpu: str) -> None:
    width = int(source[1:])
    rng = np.random.default_rng(0)
    values = rng.integers(-(2 ** (width - 1)), 2 ** (width - 1) - 1, 1024).astype(f"i{width // 8}")
    shifts = rng.integers(0, width - 1, 1024)
    values = (values >> shifts).astype(values.dtype)
    if width == 64:
        # Just beside the midpoint of two bf16: f64 alone would land on the midpoint.
        values[:4] = [
            (1 << 62) + (1 << 54) + 1,
            (1 << 62) + (1 << 54) - 1,
            -(1 << 62) - (1 << 54) - 1,
            (1 << 62) + (1 << 54),
        ]
    dtype = {**SMALL, "f32": np.float32, "f64": np.float64}[target]
    for op, typed in (("arith.sitofp", values), ("arith.uitofp", values.view(f"u{values.itemsize}"))):
        with np.errstate(all="ignore"):
            small = target in SMALL
            expected = np.array([_nearest(int(v), dtype) for v in typed]) if small else typed.astype(dtype)
        actual = run_op(op, [values], [source], target, dtype, lanes, cpu=cpu)
        assert_same(actual, expected.astype(dtype))


def _nearest(value: int, dtype: type):
    """The small float nearest to an integer, ties to even, in exact arithmetic."""
    bits = {np.float16: 11, ml_dtypes.bfloat16: 8}[dtype]
    size = abs(value)
    drop = max(0, size.bit_length() - bits)
    kept, rest = size >> drop, size & ((1 << drop) - 1)
    half = 1 << (drop - 1) if drop else 0
    if drop and (rest > half or (rest == half and kept & 1)):
        kept += 1
    with np.errstate(over="ignore"):
        return dtype(float(kept << drop) * (-1 if value < 0 else 1))


@pytest.mark.parametrize("source", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("target", ["i8", "i32", "i64"])
def test_floats_truncate_to_integers(source: str, target: str) -> None:
    values = np.linspace(-120, 120, 64).astype({**SMALL, "f32": np.float32, "f64": np.float64}[source])
    dtype = np.dtype(f"i{int(target[1:]) // 8}")
    expected = np.trunc(values.astype(np.float64)).astype(dtype)
    np.testing.assert_array_equal(run_op("arith.fptosi", [values], [source], target, dtype), expected)
    positive = np.abs(values)
    actual = run_op("arith.fptoui", [positive], [source], target, dtype)
    np.testing.assert_array_equal(actual, np.trunc(positive.astype(np.float64)).astype(dtype))


@pytest.mark.parametrize(("source", "target"), [("i8", "i32"), ("i16", "i64"), ("i8", "i16")])
def test_integer_widths(source: str, target: str) -> None:
    narrow = np.arange(-32, 32).astype(f"i{int(source[1:]) // 8}")
    wide = np.dtype(f"i{int(target[1:]) // 8}")
    np.testing.assert_array_equal(run_op("arith.extsi", [narrow], [source], target, wide), narrow.astype(wide))
    unsigned = narrow.view(f"u{narrow.itemsize}").astype(wide)
    np.testing.assert_array_equal(run_op("arith.extui", [narrow], [source], target, wide), unsigned)
    back = (np.arange(64) * 1234567).astype(wide)
    np.testing.assert_array_equal(
        run_op("arith.trunci", [back], [target], source, narrow.dtype), back.astype(narrow.dtype)
    )


def test_bitcasts() -> None:
    values = np.arange(64, dtype=np.float32)
    np.testing.assert_array_equal(run_op("arith.bitcast", [values], ["f32"], "i32", np.int32), values.view(np.int32))
    halves = np.arange(64, dtype=np.float16)
    np.testing.assert_array_equal(run_op("arith.bitcast", [halves], ["f16"], "i16", np.int16), halves.view(np.int16))
