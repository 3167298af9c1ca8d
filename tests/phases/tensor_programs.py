"""Programs whose sizes are known at run time, and loops and branches."""

from __future__ import annotations

import numpy as np
from phases.phase_program import PhaseProgram, one_function, values

_ROWS = [[values(n, 8)] for n in (1, 3, 6)]
_PAIRS = [[values(n, 8), values(n, 8, seed=1)] for n in (1, 5)]


def dynamic_programs() -> list[PhaseProgram]:
    dynamic = "tensor<?x8xf32>"
    return [
        one_function(
            "dynamic_sum", f"{dynamic}; {dynamic}", dynamic, f"  %r = stablehlo.add %a, %b : {dynamic}", _PAIRS, np.add
        ),
        one_function(
            "dynamic_product_of_matrices",
            f"{dynamic}; tensor<8x5xf32>",
            "tensor<?x5xf32>",
            "  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
            f" : ({dynamic}, tensor<8x5xf32>) -> tensor<?x5xf32>",
            [[values(n, 8), values(8, 5)] for n in (1, 4, 9)],
            np.matmul,
        ),
        one_function(
            "dynamic_contraction",
            "tensor<4x?xf32>; tensor<?x6xf32>",
            "tensor<4x6xf32>",
            "  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
            " : (tensor<4x?xf32>, tensor<?x6xf32>) -> tensor<4x6xf32>",
            [[values(4, n), values(n, 6)] for n in (2, 11)],
            np.matmul,
        ),
        one_function(
            "dynamic_reduction",
            dynamic,
            "tensor<8xf32>",
            "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
            "  %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0]"
            f" : ({dynamic}, tensor<f32>) -> tensor<8xf32>",
            _ROWS,
            lambda a: a.sum(0),
        ),
        one_function(
            "dynamic_rows_minus_their_largest",
            dynamic,
            dynamic,
            f"""
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1]
      : ({dynamic}, tensor<f32>) -> tensor<?xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : {dynamic}
  %e = tensor.empty(%n) : {dynamic}
  %r = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}}
      ins(%a, %m : {dynamic}, tensor<?xf32>) outs(%e : {dynamic}) {{
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32
    linalg.yield %d : f32
  }} -> {dynamic}""",
            _ROWS,
            lambda a: a - a.max(1, keepdims=True),
        ),
        one_function(
            "dynamic_transposition",
            dynamic,
            "tensor<8x?xf32>",
            f"  %r = stablehlo.transpose %a, dims = [1, 0] : ({dynamic}) -> tensor<8x?xf32>",
            _ROWS,
            np.transpose,
        ),
        one_function(
            "dynamic_reshape",
            dynamic,
            "tensor<?xf32>",
            f"  %r = tensor.collapse_shape %a [[0, 1]] : {dynamic} into tensor<?xf32>",
            _ROWS,
            np.ravel,
        ),
        one_function(
            "dynamic_concatenation",
            f"{dynamic}; {dynamic}",
            dynamic,
            f"  %r = stablehlo.concatenate %a, %b, dim = 0 : ({dynamic}, {dynamic}) -> {dynamic}",
            [[values(n, 8), values(m, 8)] for n, m in ((1, 4), (5, 2))],
            lambda a, b: np.concatenate([a, b]),
        ),
        one_function(
            "dynamic_padding",
            f"{dynamic}",
            "tensor<?x9xf32>",
            "  %z = stablehlo.constant dense<2.0> : tensor<f32>\n"
            "  %r = stablehlo.pad %a, %z, low = [1, 0], high = [2, 1], interior = [0, 0]"
            f" : ({dynamic}, tensor<f32>) -> tensor<?x9xf32>",
            _ROWS,
            lambda a: np.pad(a, ((1, 2), (0, 1)), constant_values=2),
        ),
        one_function(
            "dynamic_comparison",
            f"{dynamic}; {dynamic}",
            dynamic,
            f"  %c = stablehlo.compare GT, %a, %b : ({dynamic}, {dynamic}) -> tensor<?x8xi1>\n"
            f"  %r = stablehlo.select %c, %a, %b : (tensor<?x8xi1>, {dynamic}, {dynamic}) -> {dynamic}",
            _PAIRS,
            np.maximum,
        ),
        one_function(
            "dynamic_in_two_dimensions",
            "tensor<?x?xf32>",
            "tensor<f32>",
            "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n  %s = stablehlo.multiply %a, %a : tensor<?x?xf32>\n"
            "  %r = stablehlo.reduce(%s init: %z) applies stablehlo.add across dimensions = [0, 1]"
            " : (tensor<?x?xf32>, tensor<f32>) -> tensor<f32>",
            [[values(n, m)] for n, m in ((1, 1), (3, 7), (8, 2))],
            lambda a: (a * a).sum(dtype=np.float32),
        ),
        one_function(
            "dynamic_batches_of_matrices",
            "tensor<?x3x4xf32>; tensor<?x4x2xf32>",
            "tensor<?x3x2xf32>",
            "  %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]"
            " : (tensor<?x3x4xf32>, tensor<?x4x2xf32>) -> tensor<?x3x2xf32>",
            [[values(n, 3, 4), values(n, 4, 2)] for n in (1, 5)],
            np.matmul,
        ),
    ]


def control_flow_programs() -> list[PhaseProgram]:
    return [
        one_function(
            "case_of_three",
            "tensor<4xf32>; tensor<i32>",
            "tensor<4xf32>",
            """
  %r = "stablehlo.case"(%b) ({
    %0 = stablehlo.negate %a : tensor<4xf32>
    stablehlo.return %0 : tensor<4xf32>
  }, {
    %1 = stablehlo.add %a, %a : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>""",
            [[values(4), np.int32(n)] for n in (0, 1, 2)],
            lambda a, n: [-a, a + a, a][int(n)],
        ),
        one_function(
            "loops_in_loops",
            "tensor<4x4xf32>",
            "tensor<4x4xf32>",
            """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %a) -> (tensor<4x4xf32>) {
    %w = scf.for %j = %c0 to %c2 step %c1 iter_args(%u = %v) -> (tensor<4x4xf32>) {
      %s = stablehlo.add %u, %a : tensor<4x4xf32>
      scf.yield %s : tensor<4x4xf32>
    }
    scf.yield %w : tensor<4x4xf32>
  }""",
            [[values(4, 4)]],
            lambda a: 7 * a,
        ),
        one_function(
            "a_loop_until_the_data_says_so",
            "tensor<i32>",
            "tensor<i32>",
            """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %q:2 = stablehlo.while(%n = %a, %k = %zero) : tensor<i32>, tensor<i32>
  cond {
    %c = stablehlo.compare NE, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %m = stablehlo.remainder %n, %two : tensor<i32>
    %odd = stablehlo.compare EQ, %m, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %h = stablehlo.divide %n, %two : tensor<i32>
    %t = stablehlo.multiply %n, %three : tensor<i32>
    %u = stablehlo.add %t, %one : tensor<i32>
    %w = stablehlo.select %odd, %u, %h : tensor<i1>, tensor<i32>
    %l = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %w, %l : tensor<i32>, tensor<i32>
  }
  %r = stablehlo.add %q#1, %zero : tensor<i32>""",
            [[np.int32(n)] for n in (1, 6, 7)],
            lambda n: np.int32({1: 0, 6: 8, 7: 16}[int(n)]),
        ),
        one_function(
            "a_branch_on_a_dynamic_tensor",
            "tensor<?xf32>; i32",
            "tensor<?xf32>",
            """
  %one = arith.constant 1 : i32
  %c = arith.cmpi sgt, %b, %one : i32
  %q = scf.if %c -> (tensor<?xf32>) {
    %x = stablehlo.concatenate %a, %a, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %x : tensor<?xf32>
  } else {
    %y = stablehlo.negate %a : tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  %r = stablehlo.add %q, %q : tensor<?xf32>""",
            [[values(5), 0], [values(3), 7]],
            lambda a, n: 2 * (np.concatenate([a, a]) if n > 1 else -a),
        ),
        one_function(
            "a_dynamic_tensor_that_a_loop_changes",
            "tensor<?xf32>",
            "tensor<?xf32>",
            """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %a) -> (tensor<?xf32>) {
    %s = stablehlo.add %v, %a : tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }""",
            [[values(6)], [values(1)]],
            lambda a: 6 * a,
        ),
        PhaseProgram(
            "branches_of_the_user",
            """
func.func @main(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%zero, %x : i32, tensor<4xf32>)
^head(%k: i32, %v: tensor<4xf32>):
  %more = arith.cmpi slt, %k, %n : i32
  cf.cond_br %more, ^body, ^end
^body:
  %w = stablehlo.add %v, %x : tensor<4xf32>
  %m = arith.addi %k, %one : i32
  cf.br ^head(%m, %w : i32, tensor<4xf32>)
^end:
  return %v : tensor<4xf32>
}
""",
            [("main", [values(4), n], [(n + 1) * values(4)]) for n in (0, 3)],
        ),
    ]
