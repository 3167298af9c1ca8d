"""Complex tensors of sizes that are known when the program runs, and fills with a complex number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

RNG = np.random.default_rng(3)

PROGRAM = """
func.func @elem(%a: tensor<?x?xcomplex<f32>>, %b: tensor<?x?xcomplex<f32>>) -> (tensor<?x?xcomplex<f32>>,
    tensor<?x?xf32>) {
  %0 = stablehlo.multiply %a, %b : tensor<?x?xcomplex<f32>>
  %c = stablehlo.exponential %0 : tensor<?x?xcomplex<f32>>
  %1 = stablehlo.imag %c : (tensor<?x?xcomplex<f32>>) -> tensor<?x?xf32>
  return %c, %1 : tensor<?x?xcomplex<f32>>, tensor<?x?xf32>
}
func.func @sum(%a: tensor<?x?xcomplex<f64>>) -> tensor<?xcomplex<f64>> {
  %z = stablehlo.constant dense<(0.0,1.0)> : tensor<complex<f64>>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<?x?xcomplex<f64>>,
    tensor<complex<f64>>) -> tensor<?xcomplex<f64>>
  return %0 : tensor<?xcomplex<f64>>
}
func.func @dot(%a: tensor<?x?xcomplex<f32>>, %b: tensor<?x5xcomplex<f32>>) -> tensor<?x5xcomplex<f32>> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x?xcomplex<f32>>,
    tensor<?x5xcomplex<f32>>) -> tensor<?x5xcomplex<f32>>
  return %0 : tensor<?x5xcomplex<f32>>
}
func.func @move(%a: tensor<?x4xcomplex<f32>>) -> (tensor<4x?xcomplex<f32>>, tensor<?x4xcomplex<f32>>,
    tensor<?x6xcomplex<f32>>, tensor<?x4xcomplex<f32>>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<?x4xcomplex<f32>>) -> tensor<4x?xcomplex<f32>>
  %1 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<?x4xcomplex<f32>>,
    tensor<?x4xcomplex<f32>>) -> tensor<?x4xcomplex<f32>>
  %z = stablehlo.constant dense<(7.0,1.0)> : tensor<complex<f32>>
  %2 = stablehlo.pad %a, %z, low = [0, 1], high = [1, 1], interior = [0, 0] : (tensor<?x4xcomplex<f32>>,
    tensor<complex<f32>>) -> tensor<?x6xcomplex<f32>>
  %3 = stablehlo.reverse %a, dims = [0] : tensor<?x4xcomplex<f32>>
  return %0, %1, %2, %3 : tensor<4x?xcomplex<f32>>, tensor<?x4xcomplex<f32>>, tensor<?x6xcomplex<f32>>,
    tensor<?x4xcomplex<f32>>
}
func.func @loop(%a: tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%k = %i, %z = %a) : tensor<i32>, tensor<?xcomplex<f32>>
    cond { %p = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1> }
    do { %w = stablehlo.multiply %z, %z : tensor<?xcomplex<f32>>
      %m = stablehlo.add %k, %1 : tensor<i32>
      stablehlo.return %m, %w : tensor<i32>, tensor<?xcomplex<f32>> }
  return %r#1 : tensor<?xcomplex<f32>>
}
func.func @fills(%a: tensor<?xcomplex<f64>>) -> (tensor<3xcomplex<f32>>, tensor<4xcomplex<f64>>,
    tensor<?xcomplex<f64>>, tensor<5xcomplex<f32>>) {
  %c = stablehlo.constant dense<(1.5,-2.0)> : tensor<3xcomplex<f32>>
  %d = stablehlo.constant dense<(1.5,-2.0)> : tensor<4xcomplex<f64>>
  %z = stablehlo.constant dense<(1.5,-2.0)> : tensor<complex<f64>>
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xcomplex<f64>>) -> tensor<i32>
  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %b = stablehlo.dynamic_broadcast_in_dim %z, %s, dims = [] : (tensor<complex<f64>>,
    tensor<1xi32>) -> tensor<?xcomplex<f64>>
  %0 = stablehlo.constant dense<(0.0,0.0)> : tensor<5xcomplex<f32>>
  return %c, %d, %b, %0 : tensor<3xcomplex<f32>>, tensor<4xcomplex<f64>>, tensor<?xcomplex<f64>>,
    tensor<5xcomplex<f32>>
}
"""


def numbers(*shape: int) -> Any:
    made: Any = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)
    return made.astype(np.complex64)


def close(got: Any, *wanted: Any) -> None:
    values: list[Any] = list(got) if isinstance(got, (tuple, list)) else [got]
    for one, other in zip(values, wanted, strict=True):
        assert np.asarray(one).dtype == other.dtype
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-5, atol=1e-5)


@pytest.fixture(scope="module")
def loaded() -> Any:
    return rt.load(tiree.compile(PROGRAM))


@pytest.mark.parametrize("shape", [(5, 7), (1, 1), (3, 33), (0, 4), (4, 0)])
def test_elements_and_sums(loaded: Any, shape: tuple[int, int]) -> None:
    a, b = numbers(*shape), numbers(*shape)
    result = np.exp(a * b)
    close(loaded.elem(a, b), result, result.imag)
    wide = a.astype(np.complex128)
    close(loaded.sum(wide), 1j + wide.sum(1))


@pytest.mark.parametrize("shape", [(6, 9), (40, 90), (1, 1), (3, 0)])
def test_contraction(loaded: Any, shape: tuple[int, int]) -> None:
    a, b = numbers(*shape), numbers(shape[1], 5)
    close(loaded.dot(a, b), a @ b)


def test_movement_and_loops(loaded: Any) -> None:
    a = numbers(5, 4)
    padded = np.pad(a, ((0, 1), (1, 1)), constant_values=7 + 1j)
    close(loaded.move(a), a.T, np.concatenate([a, a]), padded, a[::-1])
    b = numbers(5)
    close(loaded.loop(b), b**8)


def test_fills(loaded: Any) -> None:
    value = 1.5 - 2j
    wanted = (
        np.full(3, value, np.complex64),
        np.full(4, value),
        np.full(7, value),
        np.zeros(5, np.complex64),
    )
    close(loaded.fills(np.zeros(7, np.complex128)), *wanted)
