"""`vector` ops on registers and memory."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.codegen.harness import bindings, compile_kernel, target
from tests.codegen.llvm.ops import run_op

CPUS = ["host", "generic"]


def run(body: str, *arrays: np.ndarray, types: list[str], cpu: str = "host", **options) -> None:
    """A straight-line kernel over bindings `%b0`, ... of the given memref types."""
    text = f"func.func @kernel() {{\n{bindings(*types)}\n{body}\nfunc.return\n}}"
    compile_kernel(text, cpu=cpu).run(*arrays, **options)


def reference(kind: str, values: np.ndarray):
    """The reduction of all values by numpy, in a wider type where rounding matters."""
    exact = values.astype(np.float64) if values.dtype.kind not in "iub" else values
    unsigned = values.view(f"u{values.itemsize}") if values.dtype.kind == "i" else values
    return {
        "add": lambda: exact.sum(dtype=values.dtype if values.dtype.kind == "i" else np.float64),
        "mul": lambda: exact.prod(dtype=values.dtype if values.dtype.kind == "i" else np.float64),
        "and": lambda: np.bitwise_and.reduce(values),
        "or": lambda: np.bitwise_or.reduce(values),
        "xor": lambda: np.bitwise_xor.reduce(values),
        "minsi": values.min,
        "maxsi": values.max,
        "minui": lambda: unsigned.min().astype(values.dtype),
        "maxui": lambda: unsigned.max().astype(values.dtype),
        "minimumf": values.min,
        "maximumf": values.max,
        "minnumf": values.min,
        "maxnumf": values.max,
    }[kind]()


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("lanes", [1, 3, 8, 16, 37])
@pytest.mark.parametrize("kind", ["add", "mul", "and", "or", "xor", "minsi", "maxsi", "minui", "maxui"])
def test_integer_reductions(kind: str, lanes: int, cpu: str) -> None:
    values = np.random.default_rng(lanes).integers(-(2**31), 2**31 - 1, lanes).astype(np.int32)
    out = np.zeros(1, np.int32)
    body = f"""
      %v = vector.load %b0[%c0] : memref<{lanes}xi32>, vector<{lanes}xi32>
      %r = vector.reduction <{kind}>, %v : vector<{lanes}xi32> into i32
      memref.store %r, %b1[%c0] : memref<1xi32>"""
    run(body, values, out, types=[f"{lanes}xi32", "1xi32"], cpu=cpu)
    with np.errstate(over="ignore"):
        assert out[0] == reference(kind, values)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("lanes", [1, 5, 16])
@pytest.mark.parametrize("type", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("kind", ["add", "mul", "minimumf", "maximumf", "minnumf", "maxnumf"])
def test_float_reductions_with_accumulator(kind: str, type: str, lanes: int, cpu: str) -> None:
    dtype = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}[type]
    values = np.random.default_rng(lanes).uniform(0.5, 1.5, lanes + 1).astype(dtype)
    out = np.zeros(1, dtype)
    body = f"""
      %v = vector.load %b0[%c0] : memref<{lanes}x{type}>, vector<{lanes}x{type}>
      %a = memref.load %b1[%c0] : memref<1x{type}>
      %r = vector.reduction <{kind}>, %v, %a : vector<{lanes}x{type}> into {type}
      memref.store %r, %b2[%c0] : memref<1x{type}>"""
    run(body, values[1:].copy(), values[:1].copy(), out, types=[f"{lanes}x{type}", f"1x{type}", f"1x{type}"], cpu=cpu)
    tolerance = 8 * float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(float(out[0]), float(reference(kind, values)), rtol=tolerance)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("kind", ["and", "or", "xor"])
@pytest.mark.parametrize("lanes", [1, 8, 13, 64])
def test_mask_reductions(kind: str, lanes: int, cpu: str) -> None:
    for pattern in range(4):
        values = np.array([(i * (pattern + 1) + pattern) % 3 < 2 - (pattern == 3) * 5 for i in range(lanes)], np.int8)
        if pattern == 0:
            values[:] = 1
        out = np.zeros(1, np.int8)
        body = f"""
          %v = vector.load %b0[%c0] : memref<{lanes}xi1>, vector<{lanes}xi1>
          %r = vector.reduction <{kind}>, %v : vector<{lanes}xi1> into i1
          memref.store %r, %b1[%c0] : memref<1xi1>"""
        run(body, values, out, types=[f"{lanes}xi1", "1xi1"], cpu=cpu)
        assert out[0] == reference(kind, values)


def test_a_reduction_gives_the_same_bits_on_every_target() -> None:
    values = np.random.default_rng(0).standard_normal(64).astype(np.float32)
    results = []
    for cpu in ("generic", "haswell", "skylake-avx512") if _has_avx512() else ("generic", "host"):
        out = np.zeros(1, np.float32)
        body = """
          %v = vector.load %b0[%c0] : memref<64xf32>, vector<64xf32>
          %r = vector.reduction <add>, %v : vector<64xf32> into f32
          memref.store %r, %b1[%c0] : memref<1xf32>"""
        run(body, values, out, types=["64xf32", "1xf32"], cpu=cpu)
        results.append(out.tobytes())
    assert len(set(results)) == 1


def _has_avx512() -> bool:
    from tests.codegen.harness import target

    return target("host").has_avx512


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize(
    ("lanes", "type", "dtype"), [(8, "f32", np.float32), (16, "i8", np.int8), (4, "f64", np.float64)]
)
@pytest.mark.parametrize("size", [-1, 0, 1, 3, 100])
def test_masked_memory_touches_only_its_lanes(lanes: int, type: str, dtype: type, size: int, cpu: str) -> None:
    source = np.arange(1, lanes + 1).astype(dtype)
    out = np.full(lanes, 77).astype(dtype)
    bound = np.array([size], np.int64)
    memref, vector, mask = f"memref<{lanes}x{type}>", f"vector<{lanes}x{type}>", f"vector<{lanes}xi1>"
    body = f"""
      %n = memref.load %b0[%c0] : memref<1xindex>
      %m = vector.create_mask %n : vector<{lanes}xi1>
      %p = arith.constant dense<-5{"" if dtype == np.int8 else ".0"}> : vector<{lanes}x{type}>
      %v = vector.maskedload %b1[%c0], %m, %p : {memref}, {mask}, {vector} into {vector}
      vector.maskedstore %b2[%c0], %m, %v : {memref}, {mask}, {vector}
      vector.store %v, %b3[%c0] : {memref}, {vector}"""
    loaded = np.zeros(lanes, dtype)
    types = ["1xindex", *[f"{lanes}x{type}"] * 3]
    run(body, bound, source, out, loaded, types=types, cpu=cpu)
    active = np.arange(lanes) < size
    np.testing.assert_array_equal(out, np.where(active, source, dtype(77)))
    np.testing.assert_array_equal(loaded, np.where(active, source, dtype(-5)))


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("index", ["i32", "i64"])
def test_gather_and_scatter(index: str, cpu: str) -> None:
    table = np.arange(100, dtype=np.float32).reshape(10, 10)
    where = np.array([3, 0, 9, 7, 7, 1, 2, 5], np.int32 if index == "i32" else np.int64)
    mask = np.array([1, 1, 0, 1, 1, 1, 1, 0], np.int8)
    out, scattered = np.zeros(8, np.float32), np.zeros((10, 10), np.float32)
    vi, vm, vf = f"vector<8x{index}>", "vector<8xi1>", "vector<8xf32>"
    body = f"""
      %c2 = arith.constant 2 : index
      %i = vector.load %b1[%c0] : memref<8x{index}>, {vi}
      %m = vector.load %b2[%c0] : memref<8xi1>, {vm}
      %p = arith.constant dense<-1.0> : {vf}
      %v = vector.gather %b0[%c2, %c0][%i], %m, %p : memref<10x10xf32>, {vi}, {vm}, {vf} into {vf}
      vector.store %v, %b3[%c0] : memref<8xf32>, {vf}
      vector.scatter %b4[%c2, %c0][%i], %m, %v : memref<10x10xf32>, {vi}, {vm}, {vf}"""
    types = ["10x10xf32", f"8x{index}", "8xi1", "8xf32", "10x10xf32"]
    run(body, table, where, mask, out, scattered, types=types, cpu=cpu)
    np.testing.assert_array_equal(out, np.where(mask, table[2][where], -1))
    expected = np.zeros((10, 10), np.float32)
    for lane, i in enumerate(where):
        if mask[lane]:
            expected[2, i] = out[lane]
    np.testing.assert_array_equal(scattered, expected)


def test_lane_movement() -> None:
    a, b = np.arange(4, dtype=np.float32), np.arange(4, 12, dtype=np.float32)
    out = np.zeros(6, np.float32)
    scalars = np.zeros(3, np.float32)
    body = """
      %a = vector.load %b0[%c0] : memref<4xf32>, vector<4xf32>
      %b = vector.load %b1[%c0] : memref<8xf32>, vector<8xf32>
      %s = vector.shuffle %a, %b [0, 5, 3, 11, 4, 1] : vector<4xf32>, vector<8xf32>
      vector.store %s, %b2[%c0] : memref<6xf32>, vector<6xf32>
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %x = vector.extract %b[7] : f32 from vector<8xf32>
      %y = vector.extract %b[%c2] : f32 from vector<8xf32>
      %i = vector.insert %x, %a [%c1] : f32 into vector<4xf32>
      %z = vector.extract %i[1] : f32 from vector<4xf32>
      memref.store %x, %b3[%c0] : memref<3xf32>
      memref.store %y, %b3[%c1] : memref<3xf32>
      memref.store %z, %b3[%c2] : memref<3xf32>"""
    run(body, a, b, out, scalars, types=["4xf32", "8xf32", "6xf32", "3xf32"])
    both = np.concatenate([a, b])
    np.testing.assert_array_equal(out, both[[0, 5, 3, 11, 4, 1]])
    np.testing.assert_array_equal(scalars, [11, 6, 11])


def test_step_broadcast_bitcast_and_elements() -> None:
    out = np.zeros(8, np.int64)
    spread = np.zeros(4, np.float32)
    halves = np.zeros(4, np.int32)
    value = np.array([2.5], np.float32)
    body = """
      %s = vector.step : vector<8xindex>
      vector.store %s, %b0[%c0] : memref<8xindex>, vector<8xindex>
      %x = memref.load %b3[%c0] : memref<1xf32>
      %v = vector.broadcast %x : f32 to vector<4xf32>
      vector.store %v, %b1[%c0] : memref<4xf32>, vector<4xf32>
      %f = arith.constant 1.0 : f32
      %e = "vector.from_elements"(%x, %f, %x, %f) : (f32, f32, f32, f32) -> vector<4xf32>
      %c = vector.bitcast %e : vector<4xf32> to vector<4xi32>
      vector.store %c, %b2[%c0] : memref<4xi32>, vector<4xi32>"""
    run(body, out, spread, halves, value, types=["8xindex", "4xf32", "4xi32", "1xf32"])
    np.testing.assert_array_equal(out, np.arange(8))
    np.testing.assert_array_equal(spread, 2.5)
    np.testing.assert_array_equal(halves.view(np.float32), [2.5, 1, 2.5, 1])


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("type", ["f32", "f64", "f16", "bf16"])
def test_math_fma_rounds_once(type: str, cpu: str) -> None:
    from fractions import Fraction

    dtype = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}[type]
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(-2, 2, 512).astype(dtype) for _ in range(2))
    # Addends near minus the product: the sum cancels and shows the product's low bits.
    c = (-(a.astype(np.float64) * b.astype(np.float64)) * rng.choice([1, 1 + 2**-9, 0.5], 512)).astype(dtype)
    actual = run_op("math.fma", [a, b, c], [type] * 3, type, dtype, 8, "<{fastmath = #arith.fastmath<none>}> ", cpu=cpu)
    for x, y, z, got in zip(a, b, c, actual, strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        error = abs(Fraction(float(got)) - exact)
        for neighbour in (np.nextafter(got, dtype(np.inf)), np.nextafter(got, dtype(-np.inf))):
            assert error <= abs(Fraction(float(neighbour)) - exact)


def test_vector_fma_accumulates() -> None:
    a, b, c = (np.random.default_rng(i).standard_normal(64).astype(np.float32) for i in range(3))
    for cpu in CPUS:
        actual = run_op("vector.fma", [a, b, c], ["f32"] * 3, "f32", np.float32, 16, cpu=cpu)
        np.testing.assert_allclose(actual, a * b + c, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("cpu", ["host", "x86-64-v4", "generic"])
@pytest.mark.parametrize("lanes", [4, 16])
@pytest.mark.parametrize(("wide", "narrow"), [("i64", "i8"), ("i32", "i16"), ("i64", "i32")])
def test_truncating_store_under_a_constant_mask(wide: str, narrow: str, lanes: int, cpu: str) -> None:
    """LLVM 22 writes the wide element's bytes when one lane is set."""
    if cpu == "x86-64-v4" and not target("host").has_avx512:
        pytest.skip("this machine has no AVX-512")
    values = np.arange(1, lanes + 1).astype(f"i{int(wide[1:]) // 8}")
    for chosen in ([], [0], [2], [1, 2], range(lanes)):
        mask = np.isin(np.arange(lanes), list(chosen))
        out = np.full(lanes + 8, 77, f"i{int(narrow[1:]) // 8}")
        flags = ", ".join("true" if flag else "false" for flag in mask)
        body = f"""
          %m = arith.constant dense<[{flags}]> : vector<{lanes}xi1>
          %x = vector.load %b0[%c0] : memref<{lanes}x{wide}>, vector<{lanes}x{wide}>
          %y = arith.trunci %x : vector<{lanes}x{wide}> to vector<{lanes}x{narrow}>
          vector.maskedstore %b1[%c0], %m, %y
            : memref<{lanes + 8}x{narrow}>, vector<{lanes}xi1>, vector<{lanes}x{narrow}>
        """
        run(body, values, out, types=[f"{lanes}x{wide}", f"{lanes + 8}x{narrow}"], cpu=cpu)
        expected = np.full_like(out, 77)
        expected[:lanes][mask] = values[mask]
        np.testing.assert_array_equal(out, expected)
