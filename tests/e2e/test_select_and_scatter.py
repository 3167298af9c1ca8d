"""select_and_scatter against a plain loop over windows, for many windows and types."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

RNG = np.random.default_rng(6)
ELEMENTS = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f16": np.dtype(np.float16),
    "i32": np.dtype(np.int32),
    "ui8": np.dtype(np.uint8),
}
# Shape, window, strides, padding (low and high of each dimension), element, how to compare.
CASES: list[tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int], str, str]] = [
    ((4,), (2,), (2,), (0, 0), "f32", "GE"),
    ((7,), (3,), (1,), (0, 0), "f32", "GE"),
    ((7,), (3,), (2,), (2, 2), "f64", "LT"),
    ((5,), (1,), (2,), (0, 0), "i32", "GE"),
    ((6,), (2,), (5,), (-1, 1), "i32", "LT"),
    ((2, 8, 9, 3), (1, 2, 3, 1), (1, 2, 3, 1), (0, 0, 0, 0, 0, 0, 0, 0), "f32", "GE"),
    ((8, 9, 3), (3, 2, 1), (2, 1, 1), (1, 1, 0, 1, 0, 0), "f32", "GE"),
    ((5, 6), (3, 3), (1, 2), (2, 2, 1, 1), "ui8", "GE"),
    ((5, 6), (5, 6), (1, 1), (0, 0, 0, 0), "f16", "LE"),
    ((3, 3), (1, 1), (1, 1), (1, 1, 0, 0), "f32", "GE"),
    ((2, 2, 2, 2, 2), (2, 1, 2, 1, 2), (1, 1, 1, 1, 1), (0,) * 10, "f32", "GT"),
    ((0, 3), (1, 2), (1, 1), (0, 0, 0, 0), "f32", "GE"),
]
KEEPS = {"GE": np.greater_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater}


def counts(case: tuple[Any, ...]) -> list[int]:
    shape, window, strides, padding = case[:4]
    padded = [n + low + high for n, low, high in zip(shape, padding[0::2], padding[1::2], strict=True)]
    return [max((n - w) // s + 1, 0) if n >= w else 0 for n, w, s in zip(padded, window, strides, strict=True)]


def text(name: str, case: tuple[Any, ...]) -> str:
    shape, window, strides, padding, element, compare = case
    operand, source = ("".join(f"{n}x" for n in sizes) for sizes in (shape, counts(case)))
    pairs = [list(pair) for pair in zip(padding[0::2], padding[1::2], strict=True)]
    e = element
    return f"""func.func @{name}(%a: tensor<{operand}{e}>, %b: tensor<{source}{e}>, %c: tensor<{e}>)
    -> tensor<{operand}{e}> {{
  %0 = "stablehlo.select_and_scatter"(%a, %b, %c) <{{padding = dense<{pairs}> : tensor<{len(shape)}x2xi64>,
    window_dimensions = array<i64: {", ".join(map(str, window))}>,
    window_strides = array<i64: {", ".join(map(str, strides))}>}}> ({{
  ^bb0(%x: tensor<{e}>, %y: tensor<{e}>):
    %s = stablehlo.compare {compare}, %x, %y : (tensor<{e}>, tensor<{e}>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }}, {{
  ^bb0(%x: tensor<{e}>, %y: tensor<{e}>):
    %s = stablehlo.add %x, %y : tensor<{e}>
    stablehlo.return %s : tensor<{e}>
  }}) : (tensor<{operand}{e}>, tensor<{source}{e}>, tensor<{e}>) -> tensor<{operand}{e}>
  return %0 : tensor<{operand}{e}>
}}"""


def expected(case: tuple[Any, ...], a: np.ndarray, b: np.ndarray, start: Any) -> np.ndarray:
    shape, window, strides, padding, _, compare = case
    result = np.full(shape, start, a.dtype)
    for at in itertools.product(*map(range, b.shape)):
        best: tuple[int, ...] | None = None
        for inside in itertools.product(*map(range, window)):
            index = tuple(i * s + j - low for i, s, j, low in zip(at, strides, inside, padding[0::2], strict=True))
            if all(0 <= i < n for i, n in zip(index, shape, strict=True)):
                best = index if best is None or not KEEPS[compare](a[best], a[index]) else best
        if best is not None:
            result[best] += b[at]
    return result


@pytest.fixture(scope="module")
def loaded() -> Any:
    return rt.load(tiree.compile("\n".join(text(f"f{n}", case) for n, case in enumerate(CASES))))


@pytest.mark.parametrize("number", range(len(CASES)))
def test_against_a_plain_loop(loaded: Any, number: int) -> None:
    case = CASES[number]
    dtype = ELEMENTS[case[4]]
    # Few different values, so that windows have equal ones; sums of small integers are exact in every order.
    a, b = (RNG.integers(0, 9, size).astype(dtype) for size in (case[0], counts(case)))
    start = dtype.type(3)
    got = np.asarray(getattr(loaded, f"f{number}")(a, b, start))
    np.testing.assert_array_equal(got, expected(case, a, b, start))


def test_nan_wins_where_the_function_says_so(loaded: Any) -> None:
    """`x >= y` is false for NaN: the later element is taken, and taken over by the next."""
    a = np.array([1, np.nan, np.nan, 2, 5, 4, 6], np.float32)
    b = np.arange(1, 6, dtype=np.float32)
    case = CASES[1]
    got = np.asarray(loaded.f1(a, b, np.float32(0)))
    np.testing.assert_array_equal(got, expected(case, a, b, 0))


def test_sizes_that_only_the_run_knows() -> None:
    """The gradient of JAX's pools over `?`, and numbers of windows that do not fit."""
    text = """func.func @f(%a: tensor<?x?xf32>, %s: tensor<?x?xf32>, %i: tensor<f32>) -> tensor<?x?xf32> {
  %0 = "stablehlo.select_and_scatter"(%a, %s, %i) <{window_dimensions = array<i64: 2, 3>,
    window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [1, 2]]> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}"""
    loaded = rt.load(tiree.compile(text))
    for shape in ((1, 1), (3, 6), (5, 2), (0, 4), (4, 0)):
        known = text
        operand = RNG.standard_normal(shape).astype(np.float32)
        windows = [shape[0], max(0, (shape[1] + 3 - 3) // 2 + 1)]
        source = RNG.standard_normal(windows).astype(np.float32)
        for value, sizes in (("%a", shape), ("%s", windows)):
            known = known.replace(f"{value}: tensor<?x?xf32>", f"{value}: tensor<{sizes[0]}x{sizes[1]}xf32>")
        whole, parts = (f"tensor<{sizes[0]}x{sizes[1]}xf32>" for sizes in (shape, windows))
        known = known.replace("(tensor<?x?xf32>, tensor<?x?xf32>, ", f"({whole}, {parts}, ")
        known = known.replace("tensor<?x?xf32>", whole)
        want = rt.load(tiree.compile(known)).f(operand, source, np.float32(0.5))
        got = loaded.f(operand, source, np.float32(0.5))
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
    with pytest.raises(Exception, match=r"for stablehlo.select_and_scatter"):
        loaded.f(np.zeros((3, 6), np.float32), np.zeros((3, 3), np.float32), np.float32(0))
