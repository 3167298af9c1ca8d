"""Ops that stand for others: rank, bitcast, generate, sincos, clampf, execute_region, softmax, pack, elementwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from tiree.support.errors import CompileError

X = np.linspace(-2, 2, 15, dtype=np.float32).reshape(3, 5)


def call(text: str, *inputs: Any) -> list[np.ndarray]:
    found = rt.load(tiree.compile(text), device="local-sync").f(*inputs)
    return [np.asarray(one) for one in (found if isinstance(found, tuple) else (found,))]


def check(text: str, inputs: Sequence[Any], *wanted: Any) -> None:
    results = call(text, *inputs)
    assert len(results) == len(wanted)
    for got, want in zip(results, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_of_tensor() -> None:
    text = """func.func @f(%x: tensor<3x5xf32>, %k: f32) -> (index, tensor<3x5xi32>, tensor<3x5xf32>) {
  %rank = tensor.rank %x : tensor<3x5xf32>
  %bits = tensor.bitcast %x : tensor<3x5xf32> to tensor<3x5xi32>
  %made = tensor.generate {
  ^bb0(%i: index, %j: index):
    %a = tensor.extract %x[%i, %j] : tensor<3x5xf32>
    %n = arith.index_cast %j : index to i32
    %b = arith.sitofp %n : i32 to f32
    %c = arith.addf %a, %b : f32
    %d = arith.mulf %c, %k : f32
    tensor.yield %d : f32
  } : tensor<3x5xf32>
  return %rank, %bits, %made : index, tensor<3x5xi32>, tensor<3x5xf32>
}
"""
    check(text, (X, 2.0), 2, X.view(np.int32), (X + np.arange(5, dtype=np.float32)) * 2)


def test_of_math_and_scf() -> None:
    text = """func.func @f(%x: tensor<3x5xf32>, %k: f32) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, f32) {
  %sin, %cos = math.sincos %x : tensor<3x5xf32>
  %low = arith.constant dense<-1.0> : tensor<3x5xf32>
  %high = arith.constant dense<0.5> : tensor<3x5xf32>
  %clamped = math.clampf %x to [%low, %high] : tensor<3x5xf32>
  %r = scf.execute_region -> f32 {
    %a = arith.addf %k, %k : f32
    scf.yield %a : f32
  }
  return %sin, %cos, %clamped, %r : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, f32
}
"""
    check(text, (X, 1.5), np.sin(X), np.cos(X), np.clip(X, -1, 0.5), 3.0)


def test_unsigned_loops() -> None:
    text = """func.func @f(%from: i32, %to: i32) -> i32 {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %n = scf.for unsigned %i = %from to %to step %one iter_args(%c = %zero) -> i32 : i32 {
    %d = arith.addi %c, %one : i32
    scf.yield %d : i32
  }
  return %n : i32
}
"""
    check(text, (2**31 - 2, -(2**31) + 2), 4)
    check(text.replace("unsigned ", ""), (2**31 - 2, -(2**31) + 2), 0)


def test_softmax() -> None:
    text = """func.func @f(%x: tensor<3x5xf32>, %o: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  %0 = linalg.softmax dimension(1) ins(%x : tensor<3x5xf32>) outs(%o : tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = linalg.softmax dimension(0) ins(%x : tensor<3x5xf32>) outs(%o : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0, %1 : tensor<3x5xf32>, tensor<3x5xf32>
}
"""
    powers = np.exp(X)
    check(text, (X, X), powers / powers.sum(1, keepdims=True), powers / powers.sum(0, keepdims=True))


def test_pack_and_unpack() -> None:
    text = """func.func @f(%x: tensor<15x7xf32>, %k: f32, %p: tensor<4x2x8x2xf32>, %q: tensor<4x2x2x8xf32>)
    -> (tensor<4x2x8x2xf32>, tensor<15x7xf32>, tensor<4x2x2x8xf32>, tensor<15x7xf32>) {
  %0 = linalg.pack %x padding_value(%k : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 2]
    into %p : tensor<15x7xf32> -> tensor<4x2x8x2xf32>
  %1 = linalg.unpack %0 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 2]
    into %x : tensor<4x2x8x2xf32> -> tensor<15x7xf32>
  %2 = linalg.pack %x padding_value(%k : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [2, 8]
    into %q : tensor<15x7xf32> -> tensor<4x2x2x8xf32>
  %3 = linalg.unpack %2 outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [2, 8]
    into %x : tensor<4x2x2x8xf32> -> tensor<15x7xf32>
  return %0, %1, %2, %3 : tensor<4x2x8x2xf32>, tensor<15x7xf32>, tensor<4x2x2x8xf32>, tensor<15x7xf32>
}
"""
    plain = np.arange(105, dtype=np.float32).reshape(15, 7)
    tiles = np.pad(plain, ((0, 1), (0, 1)), constant_values=9).reshape(2, 8, 4, 2)
    packed, swapped = tiles.transpose(2, 0, 1, 3), tiles.transpose(2, 0, 3, 1)
    check(text, (plain, 9.0, packed, swapped), packed, plain, swapped, plain)


def test_elementwise_kinds() -> None:
    text = """func.func @f(%x: tensor<3x5xf32>, %v: tensor<5xf32>, %n: tensor<4xi32>, %p: tensor<2x2xi1>)
    -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<4xi32>, tensor<2x2xi1>) {
  %0 = linalg.elementwise <exp> ins(%x : tensor<3x5xf32>) outs(%x : tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = linalg.elementwise kind=#linalg.elementwise_kind<add> indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
    affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]
    ins(%x, %v : tensor<3x5xf32>, tensor<5xf32>) outs(%x : tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = linalg.elementwise <max_unsigned> ins(%n, %n : tensor<4xi32>, tensor<4xi32>)
    outs(%n : tensor<4xi32>) -> tensor<4xi32>
  %3 = linalg.matmul ins(%p, %p : tensor<2x2xi1>, tensor<2x2xi1>) outs(%p : tensor<2x2xi1>) -> tensor<2x2xi1>
  return %0, %1, %2, %3 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<4xi32>, tensor<2x2xi1>
}
"""
    v = np.arange(5, dtype=np.float32)
    n = np.array([-1, 5, 0, -7], np.int32)
    p = np.array([[True, True], [True, True]])
    check(text, (X, v, n, p), np.exp(X), X + v, n, p)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%0 = arith.truncf %x toward_zero : f32 to f16", "rounding mode toward_zero is not supported"),
        ("%0 = scf.execute_region -> i32 {\n cf.br ^a\n^a:\n %1 = arith.constant 1 : i32\n scf.yield %1 : i32\n}",
         "scf.execute_region with several blocks is not supported"),
        ("%0 = tensor.gather %t[%i] gather_dims([0]) : (tensor<4x5xf32>, tensor<3x1xindex>) -> tensor<3x5xf32>",
         "tensor.gather"),
    ],
)  # fmt: skip
def test_what_is_not_supported_says_so(line: str, message: str) -> None:
    arguments = "%x: f32, %t: tensor<4x5xf32>, %i: tensor<3x1xindex>"
    with pytest.raises(CompileError, match=message):
        tiree.compile(f"func.func @f({arguments}) {{\n  {line}\n  return\n}}\n")
