"""`rng_bit_generator` bit for bit as XLA on the CPU, for all algorithms, types and odd shapes; moments of `rng`."""

from __future__ import annotations

from typing import Any, cast

import jax
import jax.lax
import jax.numpy
import ml_dtypes
import numpy as np
import pytest
import tiree

Array = np.ndarray
jnp: Any = jax.numpy
lax: Any = jax.lax
SHAPES = ((), (1,), (5, 7), (3, 4, 5), (6, 1, 3), (0, 4))
DTYPES: dict[str, Any] = {"ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64}
STATES = (np.array([1, 2], np.uint64), np.array([2**64 - 1, 2**64 - 3], np.uint64))


def text_of(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


@pytest.mark.parametrize(
    ("algorithm", "element"),
    [*((algorithm, element) for algorithm in ("THREE_FRY", "PHILOX") for element in DTYPES), ("DEFAULT", "ui32")],
)
def test_bits(algorithm: str, element: str) -> None:
    functions: list[str] = []
    for number, shape in enumerate(SHAPES):
        type = text_of(shape, element)
        functions.append(f"""func.func @f{number}(%s: tensor<2xui64>) -> (tensor<2xui64>, {type}) {{
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : (tensor<2xui64>) -> (tensor<2xui64>, {type})
  return %0#0, %0#1 : tensor<2xui64>, {type}
}}""")
    module: Any = tiree.load(tiree.compile("\n".join(functions)), device="local-sync")
    named = getattr(lax.RandomAlgorithm, f"RNG_{algorithm}")
    with jax.enable_x64(True):
        for number, shape in enumerate(SHAPES):
            for state in STATES:
                want = lax.rng_bit_generator(jnp.asarray(state), shape, dtype=DTYPES[element], algorithm=named)
                after, bits = cast("tuple[Any, Any]", getattr(module, f"f{number}")(state))
                np.testing.assert_array_equal(np.asarray(after), np.asarray(want[0]), err_msg=str(shape))
                np.testing.assert_array_equal(np.asarray(bits), np.asarray(want[1]), err_msg=str(shape))


def test_states_of_three_words_and_other_elements() -> None:
    text = """func.func @f(%s: tensor<3xui64>) -> (tensor<3xui64>, tensor<9xi32>, tensor<9xf32>, tensor<9xui32>) {
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<9xi32>)
  %1:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<9xf32>)
  %2:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<9xui32>)
  return %0#0, %0#1, %1#1, %2#1 : tensor<3xui64>, tensor<9xi32>, tensor<9xf32>, tensor<9xui32>
}"""
    f: Any = tiree.load(tiree.compile(text), device="local-sync").f
    state = np.array([5, 2**64 - 2, 8], np.uint64)
    after, ints, floats, bits = (np.asarray(one) for one in f(state))
    np.testing.assert_array_equal(after, np.array([5, 1, 9], np.uint64))
    np.testing.assert_array_equal(ints.view(np.uint32), bits)
    np.testing.assert_array_equal(floats.view(np.uint32), bits)
    # The counter's upper half is the third word: with the key there, it is what two words give.
    pair = """func.func @f(%s: tensor<2xui64>) -> tensor<9xui32> {
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<9xui32>)
  return %0#1 : tensor<9xui32>
}"""
    g: Any = tiree.load(tiree.compile(pair), device="local-sync").f
    three, two = f(np.array([7, 3, 7], np.uint64))[3], g(np.array([7, 3], np.uint64))
    np.testing.assert_array_equal(np.asarray(three), np.asarray(two))


@pytest.mark.parametrize("element", ["f32", "f64", "f16", "bf16"])
def test_numbers(element: str) -> None:
    t = f"tensor<100x97x{element}>"
    text = f"""func.func @f(%a: tensor<{element}>, %b: tensor<{element}>) -> ({t}, {t}) {{
  %shape = stablehlo.constant dense<[100, 97]> : tensor<2xi64>
  %u = stablehlo.rng %a, %b, %shape, distribution = UNIFORM
    : (tensor<{element}>, tensor<{element}>, tensor<2xi64>) -> {t}
  %n = stablehlo.rng %a, %b, %shape, distribution = NORMAL
    : (tensor<{element}>, tensor<{element}>, tensor<2xi64>) -> {t}
  return %u, %n : {t}, {t}
}}"""
    module = tiree.compile(text)
    f: Any = tiree.load(module, device="local-sync").f
    first, second = ([np.asarray(one).astype(np.float64) for one in f(-1.0, 3.0)] for _ in range(2))
    for uniform, normal in (first, second):
        assert -1 <= uniform.min() < -0.9 < 2.9 < uniform.max() <= 3
        assert abs(uniform.mean() - 1) < 0.06
        assert abs(normal.mean() + 1) < 0.12
        assert abs(normal.std() - 3) < 0.1
    assert not np.array_equal(first[0], second[0])
    again: Any = tiree.load(module, device="local-sync").f
    np.testing.assert_array_equal(np.asarray(again(-1.0, 3.0)[0]).astype(np.float64), first[0])


@pytest.mark.parametrize("element", ["f32", "f64", "bf16", "i32"])
def test_sizes_that_the_program_is_given(element: str) -> None:
    t = f"tensor<?x?x{element}>"
    kinds = ("UNIFORM", "NORMAL") if element != "i32" else ("UNIFORM", "UNIFORM")
    text = f"""func.func @f(%a: tensor<{element}>, %b: tensor<{element}>, %shape: tensor<2xi64>) -> ({t}, {t}) {{
  %u = stablehlo.rng %a, %b, %shape, distribution = {kinds[0]}
    : (tensor<{element}>, tensor<{element}>, tensor<2xi64>) -> {t}
  %n = stablehlo.rng %a, %b, %shape, distribution = {kinds[1]}
    : (tensor<{element}>, tensor<{element}>, tensor<2xi64>) -> {t}
  return %u, %n : {t}, {t}
}}"""
    f: Any = tiree.load(tiree.compile(text), device="local-sync").f
    for sizes in ((50, 97), (1, 3), (0, 4)):
        uniform, other = (np.asarray(one).astype(np.float64) for one in f(-1, 3, np.array(sizes)))
        assert uniform.shape == other.shape == sizes
        if sizes[0] == 50:
            assert -1 <= uniform.min() < -0.9
            assert abs(uniform.mean() - (0.5 if element == "i32" else 1)) < 0.08
            assert not np.array_equal(uniform, other)
            assert len(np.unique(uniform)) == 4 if element == "i32" else len(np.unique(uniform)) > 100
            if element != "i32":
                assert abs(other.std() - 3) < 0.15


def test_integers_and_loops() -> None:
    text = """func.func @f(%n: tensor<i32>) -> (tensor<50xi8>, tensor<4x8xui64>, tensor<9xi1>) {
  %shape = stablehlo.constant dense<50> : tensor<1xi64>
  %low = stablehlo.constant dense<-5> : tensor<i8>
  %high = stablehlo.constant dense<7> : tensor<i8>
  %a = stablehlo.rng %low, %high, %shape, distribution = UNIFORM
    : (tensor<i8>, tensor<i8>, tensor<1xi64>) -> tensor<50xi8>
  %no = stablehlo.constant dense<false> : tensor<i1>
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %nine = stablehlo.constant dense<9> : tensor<1xi64>
  %c = stablehlo.rng %no, %yes, %nine, distribution = UNIFORM : (tensor<i1>, tensor<i1>, tensor<1xi64>) -> tensor<9xi1>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<4x8xui64>
  %r:2 = stablehlo.while(%i = %zero, %b = %none) : tensor<i32>, tensor<4x8xui64>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %k = stablehlo.constant dense<0> : tensor<ui64>
      %m = stablehlo.constant dense<1000> : tensor<ui64>
      %eight = stablehlo.constant dense<[1, 8]> : tensor<2xi64>
      %v = stablehlo.rng %k, %m, %eight, distribution = UNIFORM
        : (tensor<ui64>, tensor<ui64>, tensor<2xi64>) -> tensor<1x8xui64>
      %d = stablehlo.dynamic_update_slice %b, %v, %i, %zero
        : (tensor<4x8xui64>, tensor<1x8xui64>, tensor<i32>, tensor<i32>) -> tensor<4x8xui64>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %d : tensor<i32>, tensor<4x8xui64>
    }
  return %a, %r#1, %c : tensor<50xi8>, tensor<4x8xui64>, tensor<9xi1>
}"""
    f: Any = tiree.load(tiree.compile(text), device="local-sync").f
    a, b, _ = (np.asarray(one) for one in f(np.int32(4)))
    assert set(a.tolist()) <= set(range(-5, 7))
    assert len(set(a.tolist())) > 6
    assert len({tuple(row) for row in b.tolist()}) == 4
    assert b.max() < 1000


FLOATS: dict[str, Any] = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}


@pytest.mark.parametrize("element", FLOATS)
def test_uniform_numbers_stay_below_the_upper_bound(element: str) -> None:
    """Rounding would reach it; the largest distance would be infinite."""
    dtype, count = FLOATS[element], 20_000
    text = f"""func.func @f(%a: tensor<{element}>, %b: tensor<{element}>) -> tensor<{count}xf64> {{
  %shape = stablehlo.constant dense<{count}> : tensor<1xi64>
  %u = stablehlo.rng %a, %b, %shape, distribution = UNIFORM
    : (tensor<{element}>, tensor<{element}>, tensor<1xi64>) -> tensor<{count}x{element}>
  %r = stablehlo.convert %u : (tensor<{count}x{element}>) -> tensor<{count}xf64>
  return %r : tensor<{count}xf64>
}}"""
    f: Any = tiree.load(tiree.compile(text), device="local-sync").f
    limits = ml_dtypes.finfo(dtype)
    largest, least, one = limits.max, limits.smallest_subnormal, dtype(1)
    bounds = [(0, 1), (1, 2), (-1, 1), (-3, -2), (-1, 0), (-0.5, -0.0), (one, np.nextafter(one, dtype(2)))]
    for bound in [*bounds, (-largest, largest), (0, largest), (0, least), (-least, 0)]:
        low, high = (np.array(one).astype(dtype) for one in bound)
        held = element in {"f8E3M4", "f6E3M2FN", "f4E2M1FN"}
        found = np.asarray(f(*(one.view(np.int8) if held else one for one in (low, high))))
        assert (found >= float(low)).all()
        assert (found < float(high)).all(), (bound, found.max())
        # The last number below the bound comes where it is not too rare, and others where there are more.
        last = np.nextafter(high, low)
        if dtype not in (np.float32, np.float64) and high != 0:
            assert found.max() == float(last)
        assert len(np.unique(found)) > 1 or last == low
