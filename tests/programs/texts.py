"""Programs written as MLIR: what JAX does not emit, named linalg ops, the ABI's corners."""

from __future__ import annotations

import numpy as np

from programs.bundle import TextProgram

F32 = np.float32
I32 = np.int32


def _f(*values: float, shape: tuple[int, ...] | None = None) -> np.ndarray:
    array = np.array(values, F32)
    return array if shape is None else array.reshape(shape)


def _i(*values: int) -> np.ndarray:
    return np.array(values, np.int64).astype(I32)


_RNG = np.random.default_rng(7)
A, B = _RNG.standard_normal((3, 4)).astype(F32), _RNG.standard_normal((4, 5)).astype(F32)
SERIES = np.random.default_rng(8).standard_normal((3, 37)).astype(F32)
COUNTS = np.random.default_rng(9).integers(-99, 99, (9, 20)).astype(I32)
IMAGE, KERNEL = _RNG.standard_normal((1, 6, 7, 2)).astype(F32), _RNG.standard_normal((3, 3, 2, 4)).astype(F32)

INTEGER_POWER = TextProgram(
    "integer_power",
    """
module @m {
  func.func @i32(%a: tensor<8xi32>, %b: tensor<8xi32>) -> tensor<8xi32> {
    %r = "stablehlo.power"(%a, %b) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    func.return %r : tensor<8xi32>
  }
  func.func @u8(%a: tensor<4xui8>, %b: tensor<4xui8>) -> tensor<4xui8> {
    %r = "stablehlo.power"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
    func.return %r : tensor<4xui8>
  }
}
""",
    (
        (
            "i32",
            (_i(2, 2, 1, -1, -1, 0, 3, -3), _i(10, -1, -5, -3, -2, 0, 40, 3)),
            (_i(1024, 0, 1, -1, 1, 1, 689956897, -27),),
        ),
        (
            "u8",
            (np.array([2, 255, 3, 0], np.uint8), np.array([7, 2, 200, 0], np.uint8)),
            (np.array([128, 1, pow(3, 200, 256), 1], np.uint8),),
        ),
    ),
)

TOTAL_ORDER = TextProgram(
    "total_order",
    """
module @m {
  func.func @lt(%a: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<5xi1> {
    %r = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>,
      compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
    func.return %r : tensor<5xi1>
  }
}
""",
    (
        (
            "lt",
            (_f(-0.0, 0.0, np.inf, 1.0, -2.0), _f(0.0, -0.0, np.nan, 2.0, -1.0)),
            (np.array([True, False, True, True, True]),),
        ),
    ),
)

SIGNATURES = TextProgram(
    "signatures",
    """
module @m {
  func.func @scalars(%a: i32, %b: f32, %t: tensor<2xf32>) -> (i32, f32, tensor<2xf32>) {
    %c = arith.addi %a, %a : i32
    %d = arith.mulf %b, %b : f32
    func.return %c, %d, %t : i32, f32, tensor<2xf32>
  }
  func.func @halve(%a: tensor<3xui8>) -> tensor<3xui8> {
    %c = "stablehlo.constant"() <{value = dense<2> : tensor<3xui8>}> : () -> tensor<3xui8>
    %r = "stablehlo.divide"(%a, %c) : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
    func.return %r : tensor<3xui8>
  }
  func.func @unused(%a: tensor<3xf32>, %b: tensor<2xf32>) -> tensor<3xf32> {
    func.return %a : tensor<3xf32>
  }
}
""",
    (
        ("scalars", (21, 1.5, _f(1, 2)), (42, 2.25, _f(1, 2))),
        ("halve", (np.array([255, 6, 1], np.uint8),), (np.array([127, 3, 0], np.uint8),)),
        ("unused", (_f(1, 2, 3), _f(4, 5)), (_f(1, 2, 3),)),
    ),
)


def _conv(image: np.ndarray, kernel: np.ndarray, stride: int, dilation: int) -> np.ndarray:
    rows = (image.shape[1] - 2 * dilation - 1) // stride + 1
    columns = (image.shape[2] - 2 * dilation - 1) // stride + 1
    out = np.zeros((1, rows, columns, kernel.shape[3]), F32)
    for y in range(rows):
        for x in range(columns):
            top, left = y * stride, x * stride
            patch = image[0, top : top + 2 * dilation + 1 : dilation, left : left + 2 * dilation + 1 : dilation]
            out[0, y, x] = np.einsum("hwc,hwcf->f", patch, kernel)
    return out


def _pool(image: np.ndarray) -> np.ndarray:
    return np.stack(
        [[image[:, y : y + 2, x : x + 2].max((1, 2)) for x in range(0, 6, 2)] for y in range(0, 5, 2)]
    ).transpose(2, 0, 1, 3)


LINALG = TextProgram(
    "linalg_named",
    """
module @m {
  func.func @matmul(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3x5xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3x5xf32>
    %f = "linalg.fill"(%z, %e) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: f32, %y: f32):
      "linalg.yield"(%x) : (f32) -> ()
    }) : (f32, tensor<3x5xf32>) -> tensor<3x5xf32>
    %r = "linalg.matmul"(%a, %b, %f) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %o, %p : f32
      "linalg.yield"(%s) : (f32) -> ()
    }) : (tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    %m = arith.mulf %r, %r : tensor<3x5xf32>
    %t = math.tanh %m : tensor<3x5xf32>
    func.return %t : tensor<3x5xf32>
  }
  func.func @conv(%a: tensor<1x6x7x2xf32>, %k: tensor<3x3x2x4xf32>, %o: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
    %r = "linalg.conv_2d_nhwc_hwcf"(%a, %k, %o) <{operandSegmentSizes = array<i32: 2, 1>,
      strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}> ({
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      "linalg.yield"(%s) : (f32) -> ()
    }) : (tensor<1x6x7x2xf32>, tensor<3x3x2x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
    func.return %r : tensor<1x2x3x4xf32>
  }
  func.func @pool(%a: tensor<1x6x7x2xf32>, %w: tensor<2x2xf32>, %o: tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32> {
    %r = "linalg.pooling_nhwc_max"(%a, %w, %o) <{operandSegmentSizes = array<i32: 2, 1>,
      strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}> ({
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %s = arith.maximumf %acc, %x : f32
      "linalg.yield"(%s) : (f32) -> ()
    }) : (tensor<1x6x7x2xf32>, tensor<2x2xf32>, tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
    func.return %r : tensor<1x3x3x2xf32>
  }
  func.func @reduce(%a: tensor<3x4xf32>, %o: tensor<3xf32>) -> tensor<3xf32> {
    %r = "linalg.reduce"(%a, %o) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: f32, %acc: f32):
      %s = arith.addf %acc, %x : f32
      "linalg.yield"(%s) : (f32) -> ()
    }) : (tensor<3x4xf32>, tensor<3xf32>) -> tensor<3xf32>
    func.return %r : tensor<3xf32>
  }
  func.func @moves(%a: tensor<3x4xf32>, %b: tensor<4xf32>, %o: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
    %t = "linalg.transpose"(%a, %o) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%x: f32, %y: f32):
      "linalg.yield"(%x) : (f32) -> ()
    }) : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %c = "linalg.broadcast"(%b, %o) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: f32, %y: f32):
      "linalg.yield"(%x) : (f32) -> ()
    }) : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    func.return %t, %c : tensor<4x3xf32>, tensor<4x3xf32>
  }
  func.func @loop(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %r = scf.for %i = %0 to %n step %1 iter_args(%x = %a) -> (tensor<4xf32>) {
      %y = arith.addf %x, %a : tensor<4xf32>
      scf.yield %y : tensor<4xf32>
    }
    func.return %r : tensor<4xf32>
  }
  func.func @blocks(%p: i1, %a: tensor<4xf32>) -> tensor<4xf32> {
    "cf.cond_br"(%p)[^yes, ^no] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^yes:
    func.return %a : tensor<4xf32>
  ^no:
    %b = arith.negf %a : tensor<4xf32>
    func.return %b : tensor<4xf32>
  }
}
""",
    (
        ("matmul", (A, B), (np.tanh((A @ B) ** 2),)),
        ("conv", (IMAGE, KERNEL, np.ones((1, 2, 3, 4), F32)), (1 + _conv(IMAGE, KERNEL, 2, 1),)),
        ("pool", (IMAGE, np.zeros((2, 2), F32), np.full((1, 3, 3, 2), -np.inf, F32)), (_pool(IMAGE),)),
        ("reduce", (A, np.ones(3, F32)), (1 + A.sum(1),)),
        ("moves", (A, B[:, 0], np.zeros((4, 3), F32)), (A.T, np.repeat(B[:, :1], 3, 1))),
        ("loop", (_f(1, 2, 3, 4), 3), (_f(4, 8, 12, 16),)),
        ("blocks", (1, _f(1, 2, 3, 4)), (_f(1, 2, 3, 4),)),
        ("blocks", (0, _f(1, 2, 3, 4)), (_f(-1, -2, -3, -4),)),
    ),
    rtol=1e-5,
    atol=1e-5,
)

ROTATE = TextProgram(
    "affine_mod_rotate",
    """
module @m {
  func.func @rotate(%a: tensor<6xf32>) -> tensor<6xf32> {
    %e = tensor.empty() : tensor<6xf32>
    %r = "linalg.generic"(%a, %e) <{indexing_maps = [affine_map<(d0) -> ((d0 + 3) mod 6)>, affine_map<(d0) -> (d0)>],
      iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: f32, %y: f32):
      "linalg.yield"(%x) : (f32) -> ()
    }) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    func.return %r : tensor<6xf32>
  }
}
""",
    (("rotate", (_f(1, 2, 3, 4, 5, 6),), (_f(4, 5, 6, 1, 2, 3),)),),
    differs="iree-compile refuses to tile a map with mod",
)

SHARDING = TextProgram(
    "identity_custom_call",
    """
module @m {
  func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.custom_call"(%a) <{call_target_name = "Sharding", api_version = 1 : i32}>
      : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.add"(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    func.return %1 : tensor<4xf32>
  }
}
""",
    (("f", (_f(1, 2, 3, 4),), (_f(2, 4, 6, 8),)),),
)

DIVISIONS = TextProgram(
    "divisions_in_kernels",
    """
module @m {
  func.func @tensor(%a: tensor<4xi32>, %b: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
    %q = arith.divsi %a, %b : tensor<4xi32>
    %r = arith.remsi %a, %b : tensor<4xi32>
    func.return %q, %r : tensor<4xi32>, tensor<4xi32>
  }
  func.func @body(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
    %e = tensor.empty() : tensor<4xi32>
    %r = "linalg.generic"(%a, %b, %e) <{
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%x: i32, %y: i32, %o: i32):
      %q = arith.divui %x, %y : i32
      "linalg.yield"(%q) : (i32) -> ()
    }) : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    func.return %r : tensor<4xi32>
  }
}
""",
    (
        (
            "tensor",
            (_i(7, -7, -(2**31), 9), _i(0, 2, -1, 4)),
            (_i(-1, -3, -(2**31), 2), _i(7, -1, 0, 1)),
        ),
        ("body", (_i(7, 9, 5, -1), _i(0, 2, 5, 1)), (_i(-1, 4, 1, -1),)),
    ),
)

CUMULATIVE = TextProgram(
    "cumulative",
    """
module @m {
  func.func @sum(%a: tensor<3x37xf32>) -> tensor<3x37xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %r = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 1, 37>, window_strides = array<i64: 1, 1>,
      padding = dense<[[0, 0], [36, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3x37xf32>, tensor<f32>) -> tensor<3x37xf32>
    func.return %r : tensor<3x37xf32>
  }
  func.func @most_from_here(%a: tensor<9x20xi32>) -> tensor<9x20xi32> {
    %z = stablehlo.constant dense<-2147483648> : tensor<i32>
    %r = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 9, 1>, window_strides = array<i64: 1, 1>,
      padding = dense<[[0, 8], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %s = stablehlo.maximum %x, %y : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<9x20xi32>, tensor<i32>) -> tensor<9x20xi32>
    %d = stablehlo.add %r, %r : tensor<9x20xi32>
    func.return %d : tensor<9x20xi32>
  }
}
""",
    (
        ("sum", (SERIES,), (np.cumsum(SERIES, axis=1, dtype=np.float64).astype(F32),)),
        ("most_from_here", (COUNTS,), (2 * np.maximum.accumulate(COUNTS[::-1], axis=0)[::-1],)),
    ),
    rtol=1e-5,
    atol=1e-5,
)

PROGRAMS = [CUMULATIVE, DIVISIONS, INTEGER_POWER, TOTAL_ORDER, SIGNATURES, LINALG, ROTATE, SHARDING]
