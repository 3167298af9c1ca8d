"""Programs for every execution model: sizes known and not, control flow, memory written in place, several functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """MLIR text, and calls in order: function and arguments."""

    name: str
    text: str
    calls: Sequence[tuple[str, Sequence[Any]]]


def _f(*shape: int) -> np.ndarray:
    count = int(np.prod(shape))
    return ((np.arange(count) * 37 % 101) / 25 - 2).astype(np.float32).reshape(shape)


def _i(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def _n(value: int) -> np.ndarray:
    return np.array(value, np.int32)


ELEMENTWISE = Program(
    "elementwise",
    """func.func @main(%a: tensor<6x7xf32>, %b: tensor<6x7xf32>) -> tensor<6x7xf32> {
  %0 = stablehlo.add %a, %b : tensor<6x7xf32>
  %1 = stablehlo.tanh %0 : tensor<6x7xf32>
  return %1 : tensor<6x7xf32>
}""",
    [("main", [_f(6, 7), _f(6, 7)])],
)
MATMUL = Program(
    "matmul",
    """func.func @main(%a: tensor<33x24xf32>, %b: tensor<24x70xf32>) -> tensor<33x70xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<33x24xf32>, tensor<24x70xf32>) -> tensor<33x70xf32>
  return %0 : tensor<33x70xf32>
}""",
    [("main", [_f(33, 24), _f(24, 70)])],
)
CONSTANTS = Program(
    "constants",
    """func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xi8>) {
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %s = stablehlo.constant dense<7> : tensor<2xi8>
  %0 = stablehlo.multiply %a, %c : tensor<4xf32>
  return %0, %c, %s : tensor<4xf32>, tensor<4xf32>, tensor<2xi8>
}
func.func @part() -> tensor<2xf32> {
  %c = stablehlo.constant dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf32>
  %0 = stablehlo.slice %c [1:3] : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}""",
    [("main", [_f(4)]), ("part", [])],
)
REDUCTIONS = Program(
    "reductions",
    """func.func @main(%a: tensor<5x40xf32>) -> (tensor<5xf32>, tensor<40xf32>, tensor<5x40xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %l) applies stablehlo.maximum across dimensions = [1]
      : (tensor<5x40xf32>, tensor<f32>) -> tensor<5xf32>
  %1 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0]
      : (tensor<5x40xf32>, tensor<f32>) -> tensor<40xf32>
  %2 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<5xf32>) -> tensor<5x40xf32>
  %3 = stablehlo.subtract %a, %2 : tensor<5x40xf32>
  %4 = stablehlo.exponential %3 : tensor<5x40xf32>
  return %0, %1, %4 : tensor<5xf32>, tensor<40xf32>, tensor<5x40xf32>
}""",
    [("main", [_f(5, 40)])],
)
TRANSPOSE_PAD = Program(
    "transpose_and_pad",
    """func.func @main(%a: tensor<3x5xi32>) -> (tensor<5x3xi32>, tensor<5x9xi32>) {
  %z = stablehlo.constant dense<-1> : tensor<i32>
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x5xi32>) -> tensor<5x3xi32>
  %1 = stablehlo.pad %a, %z, low = [1, 2], high = [1, 2], interior = [0, 0]
      : (tensor<3x5xi32>, tensor<i32>) -> tensor<5x9xi32>
  return %0, %1 : tensor<5x3xi32>, tensor<5x9xi32>
}""",
    [("main", [np.arange(15, dtype=np.int32).reshape(3, 5)])],
)
CONVOLUTION = Program(
    "convolution",
    """func.func @main(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<1x8x8x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x8x8x4xf32>
  return %0 : tensor<1x8x8x4xf32>
}""",
    [("main", [_f(1, 8, 8, 3), _f(3, 3, 3, 4)])],
)
SMALL_TYPES = Program(
    "small_types",
    """func.func @main(%a: tensor<9xi8>, %b: tensor<9xf16>, %c: tensor<9xi1>)
    -> (tensor<9xi8>, tensor<9xf16>, tensor<9xi1>) {
  %0 = stablehlo.multiply %a, %a : tensor<9xi8>
  %1 = stablehlo.add %b, %b : tensor<9xf16>
  %2 = stablehlo.not %c : tensor<9xi1>
  return %0, %1, %2 : tensor<9xi8>, tensor<9xf16>, tensor<9xi1>
}""",
    [("main", [np.arange(9, dtype=np.int8), _f(9).astype(np.float16), np.arange(9) % 2 == 0])],
)
WIDE_TYPES = Program(
    "wide_types",
    """func.func @main(%a: tensor<7xi64>, %b: tensor<7xf64>) -> (tensor<7xi64>, tensor<7xf64>, tensor<7xi32>) {
  %0 = stablehlo.subtract %a, %a : tensor<7xi64>
  %1 = stablehlo.sqrt %b : tensor<7xf64>
  %2 = stablehlo.convert %b : (tensor<7xf64>) -> tensor<7xi32>
  return %0, %1, %2 : tensor<7xi64>, tensor<7xf64>, tensor<7xi32>
}""",
    [("main", [np.arange(7) << 40, np.arange(7) * 1.5])],
)
SORT = Program(
    "sort",
    """func.func @main(%a: tensor<4x9xi32>) -> tensor<4x9xi32> {
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %c = stablehlo.compare LT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x9xi32>) -> tensor<4x9xi32>
  return %0 : tensor<4x9xi32>
}""",
    [("main", [(np.arange(36, dtype=np.int32) * 29 % 31).reshape(4, 9)])],
)
GATHER = Program(
    "gather",
    """func.func @main(%a: tensor<10x4xf32>, %i: tensor<3x1xi32>) -> tensor<3x4xf32> {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}""",
    [("main", [_f(10, 4), _i(7, 0, 3).reshape(3, 1)])],
)
DYNAMIC_ROWS = Program(
    "dynamic_rows",
    """func.func @main(%a: tensor<?x48xf32>, %w: tensor<48x20xf32>) -> tensor<?x20xf32> {
  %0 = stablehlo.exponential %a : tensor<?x48xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0]
      : (tensor<?x48xf32>, tensor<48x20xf32>) -> tensor<?x20xf32>
  return %1 : tensor<?x20xf32>
}""",
    [("main", [_f(rows, 48), _f(48, 20)]) for rows in (0, 1, 13)],
)
DYNAMIC_SUM = Program(
    "dynamic_sum",
    """func.func @main(%a: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<f32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1]
      : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0]
      : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<?xf32>, tensor<f32>
}""",
    [("main", [_f(3, 50)]), ("main", [_f(200, 2)])],
)
DYNAMIC_JOIN = Program(
    "dynamic_join",
    """func.func @main(%a: tensor<?xi32>, %b: tensor<?xi32>) -> tensor<?xi32> {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
  %1 = stablehlo.add %0, %0 : tensor<?xi32>
  return %1 : tensor<?xi32>
}""",
    [("main", [_i(1, 2, 3), _i(9, 8)])],
)
WHILE = Program(
    "while",
    """func.func @main(%n: tensor<i32>, %a: tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %h = stablehlo.constant dense<0.5> : tensor<8xf32>
  %r:2 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<8xf32>
   cond {
    %c = stablehlo.compare GT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %i, %one : tensor<i32>
    %y = stablehlo.multiply %x, %h : tensor<8xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<8xf32>
}""",
    [("main", [_n(3), _f(8)]), ("main", [_n(0), _f(8)])],
)
CASES = Program(
    "cases",
    """func.func @main(%n: tensor<i32>, %a: tensor<5xf32>) -> tensor<5xf32> {
  %r = "stablehlo.case"(%n) ({
    %0 = stablehlo.add %a, %a : tensor<5xf32>
    stablehlo.return %0 : tensor<5xf32>
  }, {
    %0 = stablehlo.negate %a : tensor<5xf32>
    stablehlo.return %0 : tensor<5xf32>
  }, {
    stablehlo.return %a : tensor<5xf32>
  }) : (tensor<i32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}""",
    [("main", [_n(number), _f(5)]) for number in (0, 1, 2, 9)],
)
HOST_LOOP = Program(
    "host_loop",
    """func.func @main(%n: index, %a: tensor<6xf32>) -> tensor<6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<6xf32> {
    %y = arith.addf %x, %a : tensor<6xf32>
    scf.yield %y : tensor<6xf32>
  }
  return %r : tensor<6xf32>
}""",
    [("main", [4, _f(6)]), ("main", [0, _f(6)])],
)
IN_PLACE = Program(
    "in_place",
    """func.func @main(%a: tensor<16xf32>, %u: tensor<3xf32>, %i: tensor<i32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %0 = stablehlo.add %a, %a : tensor<16xf32>
  %1 = stablehlo.dynamic_update_slice %0, %u, %i : (tensor<16xf32>, tensor<3xf32>, tensor<i32>) -> tensor<16xf32>
  %2 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<16xf32>, tensor<3xf32>, tensor<i32>) -> tensor<16xf32>
  return %1, %2 : tensor<16xf32>, tensor<16xf32>
}""",
    [("main", [_f(16), _f(3), _n(5)])],
)
STATE = Program(
    "state",
    """util.global private mutable @sum = dense<0.0> : tensor<4xf32>
func.func @add(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = util.global.load @sum : tensor<4xf32>
  %1 = arith.addf %0, %a : tensor<4xf32>
  util.global.store %1, @sum : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @get() -> tensor<4xf32> {
  %0 = util.global.load @sum : tensor<4xf32>
  return %0 : tensor<4xf32>
}""",
    [("add", [_f(4)])],
)
FUNCTIONS = Program(
    "functions",
    """func.func private @square(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.multiply %a, %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @twice(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = call @square(%a) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = call @square(%0) : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
func.func @cast(%a: tensor<4xf32>) -> tensor<4xi32> {
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}""",
    [("twice", [_f(5)]), ("cast", [_f(4)])],
)
SCALARS = Program(
    "scalars",
    """func.func @main(%a: i32, %b: f32) -> (i32, f32) {
  %0 = arith.muli %a, %a : i32
  %1 = arith.addf %b, %b : f32
  return %0, %1 : i32, f32
}""",
    [("main", [7, 1.25])],
)
PASS_THROUGH = Program(
    "pass_through",
    """func.func @main(%a: tensor<3xf32>, %b: tensor<2xi32>) -> (tensor<2xi32>, tensor<3xf32>) {
  return %b, %a : tensor<2xi32>, tensor<3xf32>
}""",
    [("main", [_f(3), _i(4, 5)])],
)
PROGRAMS = (
    ELEMENTWISE, MATMUL, CONSTANTS, REDUCTIONS, TRANSPOSE_PAD, CONVOLUTION, SMALL_TYPES, WIDE_TYPES, SORT, GATHER,
    DYNAMIC_ROWS, DYNAMIC_SUM, DYNAMIC_JOIN, WHILE, CASES, HOST_LOOP, IN_PLACE, STATE, FUNCTIONS, SCALARS, PASS_THROUGH,
)  # fmt: skip
