"""linalg, arith and CHLO's constants on floats of 4, 6 and 8 bits: computed in f32, rounded back after each op."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tiree

IN_HAL: dict[str, Any] = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}
OTHERS: dict[str, Any] = {
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}
ALL = {**IN_HAL, **OTHERS}


def run(text: str, *arguments: Any) -> Any:
    return tiree.load(tiree.compile(text), device="local-sync").f(*arguments)


@pytest.mark.parametrize("name", IN_HAL)
def test_bodies(name: str) -> None:
    """A body of linalg.generic, with a constant and a comparison of its own."""
    text = f"""
#m = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<40x{name}>, %b: tensor<40x{name}>) -> (tensor<40x{name}>, tensor<40xf32>) {{
  %e = tensor.empty() : tensor<40x{name}>
  %w = tensor.empty() : tensor<40xf32>
  %c = arith.constant 1.5 : {name}
  %0:2 = linalg.generic {{indexing_maps = [#m, #m, #m, #m], iterator_types = ["parallel"]}}
      ins(%a, %b : tensor<40x{name}>, tensor<40x{name}>) outs(%e, %w : tensor<40x{name}>, tensor<40xf32>) {{
  ^bb0(%x: {name}, %y: {name}, %o: {name}, %p: f32):
    %p1 = arith.mulf %x, %y : {name}
    %p2 = arith.addf %p1, %c : {name}
    %less = arith.cmpf olt, %x, %y : {name}
    %s = arith.select %less, %p2, %x : {name}
    %wide = arith.extf %s : {name} to f32
    linalg.yield %s, %wide : {name}, f32
  }} -> (tensor<40x{name}>, tensor<40xf32>)
  return %0#0, %0#1 : tensor<40x{name}>, tensor<40xf32>
}}
"""
    random = np.random.RandomState(0)
    a, b = (random.uniform(-4, 4, 40).astype(IN_HAL[name]) for _ in range(2))
    product = (a.astype(np.float32) * b.astype(np.float32)).astype(IN_HAL[name])
    total = (product.astype(np.float32) + 1.5).astype(IN_HAL[name])
    want = np.where(a.astype(np.float32) < b.astype(np.float32), total, a)
    got, wide = run(text, a, b)
    np.testing.assert_array_equal(np.asarray(got).view(np.uint8), want.view(np.uint8))
    np.testing.assert_array_equal(np.asarray(wide), want.astype(np.float32))


def test_named_ops_read_numbers_and_not_bytes() -> None:
    text = """
func.func @f(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x4xf8E4M3FN>) -> tensor<4x4xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf8E4M3FN>, tensor<8x4xf8E4M3FN>) outs(%z : tensor<4x4xf32>)
      -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""
    random = np.random.RandomState(1)
    a, b = (random.uniform(-4, 4, shape).astype(ml_dtypes.float8_e4m3fn) for shape in ((4, 8), (8, 4)))
    want = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_allclose(np.asarray(run(text, a, b)), want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", IN_HAL)
def test_ops_on_tensors(name: str) -> None:
    text = f"""
func.func @f(%a: tensor<3x5x{name}>) -> (tensor<3x5x{name}>, tensor<3x5xf64>, tensor<3x5xi32>) {{
  %0 = math.exp %a : tensor<3x5x{name}>
  %1 = arith.extf %a : tensor<3x5x{name}> to tensor<3x5xf64>
  %2 = arith.fptosi %a : tensor<3x5x{name}> to tensor<3x5xi32>
  return %0, %1, %2 : tensor<3x5x{name}>, tensor<3x5xf64>, tensor<3x5xi32>
}}
"""
    a = np.random.RandomState(2).uniform(-3, 3, (3, 5)).astype(IN_HAL[name])
    exps, wide, whole = (np.asarray(one) for one in run(text, a))
    wanted = np.exp(a.astype(np.float32)).astype(IN_HAL[name])
    np.testing.assert_array_equal(exps.view(np.uint8), wanted.view(np.uint8))
    np.testing.assert_array_equal(wide, a.astype(np.float64))
    np.testing.assert_array_equal(whole, a.astype(np.float32).astype(np.int32))


def test_scalars_outside_of_kernels() -> None:
    text = """
func.func @f(%a: tensor<4xf8E5M2>, %i: index) -> f32 {
  %0 = tensor.extract %a[%i] : tensor<4xf8E5M2>
  %1 = arith.extf %0 : f8E5M2 to f32
  return %1 : f32
}
"""
    assert run(text, np.array([1.5, 3, 4, -320], ml_dtypes.float8_e5m2), 3) == -320


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("op", ["chlo.constant dense<[1.0, 2.0]>", '"chlo.constant_like"'])
def test_chlo_constants(name: str, op: str) -> None:
    type = f"tensor<2x{name}>"
    line = f"%0 = {op} : {type}"
    if "like" in op:
        line = f"%0 = {op}(%a) <{{value = 2.0 : {name}}}> : (tensor<2xf32>) -> {type}"
    text = f"func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {{\n  {line}\n"
    text += f"  %1 = stablehlo.convert %0 : ({type}) -> tensor<2xf32>\n  return %1 : tensor<2xf32>\n}}\n"
    np.testing.assert_array_equal(np.asarray(run(text, np.zeros(2, np.float32))), [2, 2] if "like" in op else [1, 2])
