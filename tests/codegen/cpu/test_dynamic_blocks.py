"""Contractions of unknown sizes run in blocks of rows and vectors: values at every edge of the blocks, on CPUs with and
without masks, and the grid that the host makes of the sizes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tiree
import tiree.runtime as rt

RNG = np.random.default_rng(3)
TYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "i32": np.int32,
    "i8": np.int8,
}


def program(type: str) -> str:
    result = "i32" if type == "i8" else type
    a, c = f"tensor<?x?x{type}>", f"tensor<?x?x{result}>"
    bias = f"tensor<?x{result}>"
    return f"""
func.func @plain(%a: {a}, %b: {a}) -> {c} {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({a}, {a}) -> {c}
  return %0 : {c}
}}
func.func @turned(%a: {a}, %b: {a}) -> {c} {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : ({a}, {a}) -> {c}
  return %0 : {c}
}}
func.func @biased(%a: tensor<?x33x{type}>, %b: tensor<33x?x{type}>, %c: {bias}) -> {c} {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<?x33x{type}>, tensor<33x?x{type}>) -> {c}
  %d0 = stablehlo.get_dimension_size %0, dim = 0 : ({c}) -> tensor<i32>
  %d1 = stablehlo.get_dimension_size %0, dim = 1 : ({c}) -> tensor<i32>
  %e0 = stablehlo.reshape %d0 : (tensor<i32>) -> tensor<1xi32>
  %e1 = stablehlo.reshape %d1 : (tensor<i32>) -> tensor<1xi32>
  %s = stablehlo.concatenate %e0, %e1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %1 = stablehlo.dynamic_broadcast_in_dim %c, %s, dims = [1] : ({bias}, tensor<2xi32>) -> {c}
  %2 = stablehlo.add %0, %1 : {c}
  return %2 : {c}
}}
"""


def values(type: str, *shape: int) -> np.ndarray:
    if type[0] == "i":
        return RNG.integers(-9, 9, shape).astype(TYPES[type])
    return RNG.uniform(-1, 1, shape).astype(TYPES[type])


@pytest.mark.parametrize("cpu", ["host", "x86-64-v3", "x86-64"])
@pytest.mark.parametrize("type", list(TYPES))
def test_values(type: str, cpu: str) -> None:
    module: Any = rt.load(tiree.compile(program(type), flags=[f"--iree-llvmcpu-target-cpu={cpu}"]))
    wide = np.int32 if type[0] == "i" else np.float64
    tolerance = {"bf16": 3e-2, "f16": 1e-2}.get(type, 1e-5)
    for m, k, n in [(1, 5, 1), (8, 3, 32), (9, 7, 31), (17, 20, 65), (3, 1, 130), (40, 33, 16), (0, 4, 9), (5, 0, 7)]:
        a, b, c = values(type, m, k), values(type, k, n), values("i32" if type == "i8" else type, n)
        want = a.astype(wide) @ b.astype(wide)
        for got in (module.plain(a, b), module.turned(a, np.ascontiguousarray(b.T))):
            np.testing.assert_allclose(np.asarray(got).astype(wide), want, rtol=tolerance, atol=tolerance * 4)
        a, b = values(type, m, 33), values(type, 33, n)
        want = a.astype(wide) @ b.astype(wide) + c.astype(wide)
        got = np.asarray(module.biased(a, b, c)).astype(wide)
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * 9)


def test_results_in_slices_of_the_grid() -> None:
    """Enough work for many workgroups in both directions; no element is left out or made twice."""
    module: Any = rt.load(tiree.compile(program("i32")))
    for m, k, n in [(1, 3000, 500), (300, 200, 70), (70, 200, 300), (2, 5000, 33)]:
        a, b = values("i32", m, k), values("i32", k, n)
        np.testing.assert_array_equal(np.asarray(module.plain(a, b)), a @ b)
