"""Sorts and top_k along lines whose length is known when the program runs: values, order of equals, and the work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from tiree.runtime.errors import StatusError

RNG = np.random.default_rng(11)

PROGRAM = """
func.func @line(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @pairs(%a: tensor<?x?x3xi32>, %b: tensor<?x?x3xf64>) -> (tensor<?x?x3xi32>, tensor<?x?x3xf64>) {
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<f64>, %v: tensor<f64>):
    %s = stablehlo.compare GE, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<?x?x3xi32>, tensor<?x?x3xf64>) -> (tensor<?x?x3xi32>, tensor<?x?x3xf64>)
  return %0#0, %0#1 : tensor<?x?x3xi32>, tensor<?x?x3xf64>
}
func.func @known(%a: tensor<?x40xi8>) -> tensor<?x40xi8> {
  %0 = "stablehlo.sort"(%a) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<i8>, %y: tensor<i8>):
    %s = stablehlo.compare LT, %x, %y : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<?x40xi8>) -> tensor<?x40xi8>
  %1 = stablehlo.add %0, %0 : tensor<?x40xi8>
  return %1 : tensor<?x40xi8>
}
func.func @top(%a: tensor<?x?xf32>) -> (tensor<?x4xf32>, tensor<?x4xi32>) {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<?x?xf32> -> (tensor<?x4xf32>, tensor<?x4xi32>)
  return %0#0, %0#1 : tensor<?x4xf32>, tensor<?x4xi32>
}
"""


@pytest.fixture(scope="module")
def loaded() -> Any:
    return rt.load(tiree.compile(PROGRAM))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 31, 100, 1023])
def test_sort(loaded: Any, size: int) -> None:
    a = RNG.standard_normal(size).astype(np.float32)
    np.testing.assert_array_equal(np.asarray(loaded.line(a)), np.sort(a))
    keys = RNG.integers(0, 5, (2, size, 3)).astype(np.int32)
    values = RNG.standard_normal(keys.shape)
    order = np.argsort(-keys, axis=1, kind="stable")
    got = loaded.pairs(keys, values)
    np.testing.assert_array_equal(np.asarray(got[0]), np.take_along_axis(keys, order, 1))
    np.testing.assert_array_equal(np.asarray(got[1]), np.take_along_axis(values, order, 1))
    b = RNG.integers(-60, 60, (size, 40)).astype(np.int8)
    np.testing.assert_array_equal(np.asarray(loaded.known(b)), 2 * np.sort(b, axis=-1))


@pytest.mark.parametrize("size", [4, 5, 40])
def test_top_k(loaded: Any, size: int) -> None:
    a = RNG.integers(0, 9, (3, size)).astype(np.float32)
    values, places = loaded.top(a)
    order = np.argsort(-a, axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(np.asarray(values), np.take_along_axis(a, order, 1))
    np.testing.assert_array_equal(np.asarray(places), order)


def test_top_k_of_too_few(loaded: Any) -> None:
    with pytest.raises(StatusError, match="k = 4 is out of range"):
        loaded.top(np.zeros((3, 3), np.float32))


def test_no_line_is_compared_with_itself() -> None:
    """The work does not grow with the square of the line: no dispatch goes over the line for each of its elements."""
    text = bytes(tiree.compile(PROGRAM, flags=["--compile-to=flow"])).decode()
    assert "linalg.generic" in text
    assert "reduction" not in text


def test_calls_for_the_greatest() -> None:
    """What JAX writes for `approx_max_k`, and for a `k` that is a size."""
    jax = pytest.importorskip("jax", reason="the programs come from JAX")
    from jax import export

    def compiled(function: Any, *shapes: str) -> Any:
        scope = export.SymbolicScope()
        types = [jax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope), np.float32) for text in shapes]
        return rt.load(tiree.compile(export.export(jax.jit(function))(*types).mlir_module()))

    lines = compiled(lambda x: jax.lax.approx_max_k(x, 3), "b,40")
    columns = compiled(lambda x: jax.lax.approx_min_k(x, 2, reduction_dimension=0), "9,b")
    some = compiled(lambda x, y: jax.lax.top_k(x, y.shape[0]), "b,n+k", "k")
    for b, n, k in ((1, 1, 1), (3, 20, 7)):
        x, y = (RNG.standard_normal(shape).astype(np.float32) for shape in ((b, 40), (9, b)))
        order = np.argsort(-x, axis=1, kind="stable")[:, :3]
        got = [np.asarray(one) for one in lines.main(x)]
        np.testing.assert_array_equal(got[0], np.take_along_axis(x, order, 1))
        np.testing.assert_array_equal(got[1], order)
        np.testing.assert_array_equal(np.asarray(columns.main(y)[0]), np.sort(y, axis=0)[:2])
        z = RNG.standard_normal((b, n + k)).astype(np.float32)
        got = [np.asarray(one) for one in some.main(z, np.zeros(k, np.float32))]
        np.testing.assert_array_equal(got[0], -np.sort(-z, axis=1)[:, :k])
