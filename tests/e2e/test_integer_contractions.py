"""Contractions of integers with float results: operands become floats before they are multiplied, as in XLA."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import tiree
from jax import lax

RANDOM = np.random.RandomState(2)
RESULTS = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


@pytest.mark.parametrize("element", ["i8", "i16", "ui8", "i32"])
@pytest.mark.parametrize("result", list(RESULTS))
def test_dot_general(element: str, result: str) -> None:
    text = f"""func.func @f(%a: tensor<4x9x{element}>, %b: tensor<9x5x{element}>) -> tensor<4x5x{result}> {{
  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<4x9x{element}>, tensor<9x5x{element}>) -> tensor<4x5x{result}>
  return %r : tensor<4x5x{result}>
}}"""
    kind: Any = {"i8": np.int8, "i16": np.int16, "ui8": np.uint8, "i32": np.int32}[element]
    low, high = (0, 200) if element == "ui8" else (-100, 100)
    a, b = (RANDOM.randint(low, high, shape).astype(kind) for shape in ((4, 9), (9, 5)))
    got = np.asarray(tiree.load(tiree.compile(text), device="local-sync").f(a, b))
    with np.errstate(over="ignore"):
        wanted = (a.astype(np.float64) @ b.astype(np.float64)).astype(RESULTS[result])
    np.testing.assert_array_equal(got.astype(np.float64), wanted.astype(np.float64))


@pytest.mark.parametrize("result", ["float32", "bfloat16"])
def test_convolution(result: str) -> None:
    x, w = (RANDOM.randint(-100, 100, shape).astype(np.int8) for shape in ((2, 3, 9, 10), (4, 3, 3, 2)))

    def convolve(x: Any, w: Any) -> Any:
        return lax.conv_general_dilated(x, w, (1, 2), "SAME", preferred_element_type=jnp.dtype(result))

    got = np.asarray(tiree.load(tiree.compile(convolve, x, w), device="local-sync").main(x, w))
    wanted = np.asarray(convolve(x, w))
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(
        got.astype(np.float32), wanted.astype(np.float32), rtol=2e-2 if result != "float32" else 0
    )
