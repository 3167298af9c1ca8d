"""Reductions that accumulate in memory that the program gave away: right at every size, and not in scratch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

RNG = np.random.default_rng(31)


def program(rows: int, columns: int, count: int, element: str, combine: str) -> str:
    scalar = f"tensor<{element}>"
    return f"""
func.func @main(%x: tensor<{rows}x{columns}x{element}>, %i: tensor<{count}x1xi32>,
    %u: tensor<{count}x{columns}x{element}>) -> tensor<{rows}x{columns}x{element}> {{
  %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
  ^bb0(%a: {scalar}, %b: {scalar}):
    %s = stablehlo.{combine} %a, %b : {scalar}
    stablehlo.return %s : {scalar}
  }}) : (tensor<{rows}x{columns}x{element}>, tensor<{count}x1xi32>, tensor<{count}x{columns}x{element}>)
    -> tensor<{rows}x{columns}x{element}>
  return %0 : tensor<{rows}x{columns}x{element}>
}}
"""


@pytest.mark.parametrize(("element", "dtype"), [("f32", np.float32), ("i16", np.int16), ("complex<f32>", np.complex64)])
@pytest.mark.parametrize(("rows", "columns", "count"), [(7, 3, 11), (600, 300, 40), (1031, 129, 17)])
@pytest.mark.parametrize("combine", ["add", "multiply"])
def test_scatter(element: str, dtype: Any, rows: int, columns: int, count: int, combine: str) -> None:
    """Also where the result is larger than a workgroup's memory."""
    x, u = (RNG.integers(-3, 4, (size, columns)).astype(dtype) for size in (rows, count))
    if dtype is np.complex64:
        x, u = x + 1j * RNG.integers(-3, 4, x.shape), u * 1j
        x, u = x.astype(dtype), u.astype(dtype)
    places = RNG.integers(0, rows + 2, count).astype(np.int32)
    wanted = x.copy()
    for place, row in zip(places, u, strict=True):
        if place < rows:
            wanted[place] = wanted[place] + row if combine == "add" else wanted[place] * row
    text = program(rows, columns, count, element, combine)
    module = rt.load(tiree.compile(text))
    np.testing.assert_array_equal(np.asarray(module.main(x, places[:, None], u)), wanted)
    plan = tiree.compile(text, flags=["--compile-to=executable-configurations"]).decode()
    assert "scalar-fallback" not in plan


MATMUL = """
func.func @main(%c: tensor<300x280xf32>, %a: tensor<300x5xf32>, %b: tensor<5x280xf32>) -> tensor<300x280xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<300x5xf32>, tensor<5x280xf32>)
    outs(%c : tensor<300x280xf32>) -> tensor<300x280xf32>
  return %0 : tensor<300x280xf32>
}
"""


def test_contraction_on_top_of_an_argument() -> None:
    c, a, b = (RNG.standard_normal(shape).astype(np.float32) for shape in ((300, 280), (300, 5), (5, 280)))
    got = np.asarray(rt.load(tiree.compile(MATMUL)).main(c, a, b))
    np.testing.assert_allclose(got, c + a @ b, rtol=1e-5, atol=1e-5)
