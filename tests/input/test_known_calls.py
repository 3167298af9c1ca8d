"""Custom calls that name functions: ApproxTopK, and CHLO's functions as older programs have them."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
import tiree
from tiree.support.errors import CompileError

RANDOM = np.random.RandomState(4)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(("shape", "dim", "k"), [((300,), 0, 7), ((3, 40, 2), 1, 5), ((2, 9), -1, 9)])
def test_approximate_top_k(shape: Any, dim: int, k: int, largest: bool, dtype: Any) -> None:
    x = RANDOM.permutation(int(np.prod(shape))).reshape(shape).astype(dtype)

    def choose(x: Any) -> Any:
        function = jax.lax.approx_max_k if largest else jax.lax.approx_min_k
        return function(x, k, reduction_dimension=dim)

    values, places = tiree.load(tiree.compile(choose, x), device="local-sync").main(x)
    order = np.argsort(-x if largest else x, axis=dim, kind="stable").take(range(k), axis=dim)
    np.testing.assert_array_equal(np.asarray(places), order)
    np.testing.assert_array_equal(np.asarray(values), np.take_along_axis(x, order, dim))


FUNCTIONS = {"erf": jax.scipy.special.erf, "asinh": np.arcsinh, "tan": np.tan, "cosh": np.cosh, "acos": np.arccos}


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_functions_by_older_names(name: str) -> None:
    text = f"""func.func @f(%x: tensor<9xf32>) -> tensor<9xf32> {{
  %r = stablehlo.custom_call @mhlo.{name}(%x) {{mhlo.attributes = {{}}, mhlo.version = 1 : i64}}
    : (tensor<9xf32>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}}"""
    x = np.linspace(-0.9, 0.9, 9, dtype=np.float32)
    got = np.asarray(tiree.load(tiree.compile(text), device="local-sync").f(x))
    np.testing.assert_allclose(got, np.asarray(FUNCTIONS[name](x)), rtol=1e-6)


TOP_K = """func.func @f(%x: tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %r:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 3 : i64, largest = LARGEST}}
    : (tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xi32>
}"""


def test_top_k_by_its_older_name() -> None:
    x = RANDOM.permutation(18).reshape(2, 9).astype(np.float32)
    values, places = tiree.load(tiree.compile(TOP_K.replace("LARGEST", "true")), device="local-sync").f(x)
    order = np.argsort(-x, axis=1)[:, :3]
    np.testing.assert_array_equal(np.asarray(places), order)
    np.testing.assert_array_equal(np.asarray(values), np.take_along_axis(x, order, 1))
    with pytest.raises(CompileError, match="of the smallest"):
        tiree.compile(TOP_K.replace("LARGEST", "false"))


def test_matrices_that_lie_by_rows() -> None:
    layouts = "operand_layouts = [dense<{0}> : tensor<2xindex>], result_layouts = [dense<{0}> : tensor<2xindex>, {1}]"
    text = """func.func @f(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {{
  %r:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {{mhlo.backend_config = {{uplo = 76 : ui8}}, {0}}}
    : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  return %r#0 : tensor<2x2xf32>
}}"""
    scalar = "dense<> : tensor<0xindex>"
    tiree.compile(text.format(layouts.format([0, 1], scalar)))
    with pytest.raises(CompileError, match=r"with matrices in the order \[1, 0\]"):
        tiree.compile(text.format(layouts.format([1, 0], scalar)))
