"""Triangular systems and Cholesky factors against numpy, through Tiree's compiler and, from phase `input`, IREE's."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

RNG = np.random.default_rng(5)
NAMES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
SIZES = [
    ((), 1, 1),
    ((2,), 3, 2),
    ((), 17, 1),
    ((2, 1), 17, 20),
    ((), 64, 3),
    ((), 0, 2),
    ((0,), 2, 2),
    ((), 130, 9),
    ((2,), 19, 140),
]
FLAGS = list(itertools.product((True, False), (True, False), (True, False), ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")))


def tensor(shape: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def solve_text(name: str, a: str, b: str, flags: tuple[bool, bool, bool, str]) -> str:
    left, lower, unit = (str(flag).lower() for flag in flags[:3])
    return f"""func.func @{name}(%a: {a}, %b: {b}) -> {b} {{
  %0 = "stablehlo.triangular_solve"(%a, %b) <{{left_side = {left}, lower = {lower}, unit_diagonal = {unit},
    transpose_a = #stablehlo<transpose {flags[3]}>}}> : ({a}, {b}) -> {b}
  return %0 : {b}
}}"""


def expected(a: np.ndarray, b: np.ndarray, flags: tuple[bool, bool, bool, str]) -> np.ndarray:
    left, lower, unit, transpose = flags
    t = np.tril(a) if lower else np.triu(a)
    if unit:
        eye = np.eye(a.shape[-1])
        t = t * (1 - eye) + eye
    if (transpose == "NO_TRANSPOSE") != left:
        t = np.swapaxes(t, -1, -2)
    sides = b if left else np.swapaxes(b, -1, -2)
    if a.shape[-1] == 0 or b.size == 0:
        return b
    x = np.linalg.solve(t.astype(np.float64), sides.astype(np.float64))
    return x if left else np.swapaxes(x, -1, -2)


def operands(batch: Sequence[int], n: int, m: int, left: bool, element: str) -> tuple[np.ndarray, np.ndarray]:
    a = RNG.standard_normal((*batch, n, n)) / np.sqrt(max(n, 1)) / 2 + np.eye(n) * 2
    b = RNG.standard_normal((*batch, n, m) if left else (*batch, m, n))
    return a.astype(NAMES[element]), b.astype(NAMES[element])


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_triangular_solve(size: tuple[tuple[int, ...], int, int], element: str) -> None:
    batch, n, m = size
    flags = FLAGS if element == "f32" and n <= 17 else FLAGS[::5]
    texts: list[str] = []
    for number, (left, *rest) in enumerate(flags):
        a, b = (tensor(x.shape, element) for x in operands(batch, n, m, left, element))
        texts.append(solve_text(f"f{number}", a, b, (left, rest[0], rest[1], rest[2])))
    loaded: Any = rt.load(tiree.compile("\n".join(texts)))
    for number, flag in enumerate(flags):
        a, b = operands(batch, n, m, flag[0], element)
        got = np.asarray(getattr(loaded, f"f{number}")(a, b))
        want = expected(a, b, flag)
        tolerance = 40 * np.finfo(NAMES[element]).eps
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * max(np.abs(want).max(initial=0), 1))


def test_what_is_not_read_may_be_anything() -> None:
    """The other triangle, and the diagonal where it is ones."""
    a = np.array([[np.nan, np.nan], [3.0, np.nan]], np.float32)
    text = solve_text("main", "tensor<2x2xf32>", "tensor<2x1xf32>", (True, True, True, "NO_TRANSPOSE"))
    loaded: Any = rt.load(tiree.compile(text))
    got = np.asarray(loaded.main(a, np.array([[2.0], [1.0]], np.float32)))
    np.testing.assert_array_equal(got, [[2.0], [-5.0]])


def test_singular_systems() -> None:
    """A zero on the diagonal divides, as everywhere."""
    a = np.array([[0.0, 0.0], [1.0, 1.0]], np.float32)
    text = solve_text("main", "tensor<2x2xf32>", "tensor<2x1xf32>", (True, True, False, "NO_TRANSPOSE"))
    loaded: Any = rt.load(tiree.compile(text))
    got = np.asarray(loaded.main(a, np.array([[2.0], [1.0]], np.float32)))
    np.testing.assert_array_equal(got, [[np.inf], [-np.inf]])


def cholesky_text(name: str, shape: Sequence[int], element: str, lower: bool) -> str:
    type = tensor(shape, element)
    return f"""func.func @{name}(%a: {type}) -> {type} {{
  %0 = stablehlo.cholesky %a, lower = {str(lower).lower()} : {type}
  return %0 : {type}
}}"""


CHOLESKY = [
    (shape, element, lower)
    for element in ("f32", "f64", "f16")
    for shape in ((1, 1), (0, 0), (2, 3, 3), (2, 2, 17, 17), (0, 3, 3), (64, 64))
    for lower in (True, False)
    if element != "f16" or shape == (2, 3, 3)
]


def check_cholesky(call: Any) -> None:
    for number, (shape, element, lower) in enumerate(CHOLESKY):
        full = RNG.standard_normal(shape)
        full = full @ np.swapaxes(full, -1, -2) + np.eye(shape[-1])
        a = full.astype(NAMES[element])
        want = np.linalg.cholesky(a.astype(np.float64))
        # Only one triangle is read; the other one of the result is zero.
        got = call(f"f{number}", np.tril(a) if lower else np.triu(a))
        tolerance = 60 * np.finfo(NAMES[element]).eps
        np.testing.assert_allclose(
            got, want if lower else np.swapaxes(want, -1, -2), rtol=tolerance, atol=tolerance * shape[-1]
        )
        if a.size and shape[-1] > 1:
            a[..., 1, 1] = -1
            assert np.isnan(call(f"f{number}", a)).all(), "not positive definite"


def cholesky_program() -> str:
    return "\n".join(cholesky_text(f"f{n}", *one) for n, one in enumerate(CHOLESKY))


def test_cholesky() -> None:
    loaded: Any = rt.load(tiree.compile(cholesky_program()))
    check_cholesky(lambda name, a: np.asarray(getattr(loaded, name)(a)))


def test_one_matrix_of_a_batch_that_fails() -> None:
    loaded: Any = rt.load(tiree.compile(cholesky_text("main", (2, 2, 2), "f32", True)))
    got = np.asarray(loaded.main(np.array([[[4, 0], [2, 5]], [[1, 0], [2, 1]]], np.float32)))
    np.testing.assert_array_equal(got[0], [[2, 0], [1, 2]])
    assert np.isnan(got[1]).all()
