"""Programs that lowered JAX does not show: functions, state, parameters, linalg; and those of the file beside this."""

from __future__ import annotations

import numpy as np
from phases.phase_program import PhaseProgram, values
from phases.tensor_programs import control_flow_programs, dynamic_programs


def function_programs() -> list[PhaseProgram]:
    a, b = values(4), values(4, seed=9)
    return [
        PhaseProgram(
            "a_function_called_twice",
            """
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @twice(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
""",
            [("main", [a], [4 * a])],
        ),
        PhaseProgram(
            "two_entry_points",
            """
func.func private @norm(%x: tensor<4xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %x : tensor<4xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func @one(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = call @norm(%x) : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @both(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %0 = call @norm(%x) : (tensor<4xf32>) -> tensor<f32>
  %1 = stablehlo.subtract %x, %y : tensor<4xf32>
  return %0, %1 : tensor<f32>, tensor<4xf32>
}
""",
            [("one", [a], [(a * a).sum()]), ("both", [a, b], [(a * a).sum(), a - b])],
        ),
        PhaseProgram(
            "a_function_in_a_loop",
            """
func.func private @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %a) -> (tensor<4xf32>) {
    %w = func.call @step(%v, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %w : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
""",
            [("main", [a, b], [a + 4 * b])],
        ),
        PhaseProgram(
            "functions_of_dynamic_tensors",
            """
func.func private @squares(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = call @squares(%a) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = stablehlo.negate %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}
""",
            [("main", [values(n)], [-(values(n) ** 2)]) for n in (1, 7)],
        ),
        PhaseProgram(
            "scalars_and_several_results",
            """
func.func @main(%i: i32, %x: f32, %t: tensor<2x2xf32>) -> (i32, f32, tensor<2x2xf32>, tensor<2xf32>) {
  %one = arith.constant 1 : i32
  %j = arith.addi %i, %one : i32
  %y = arith.mulf %x, %x : f32
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.negate %t : tensor<2x2xf32>
  %1 = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [1]
      : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  return %j, %y, %0, %1 : i32, f32, tensor<2x2xf32>, tensor<2xf32>
}
""",
            [("main", [4, 1.5, values(2, 2)], [5, 2.25, -values(2, 2), values(2, 2).sum(1)])],
        ),
    ]


def state_programs() -> list[PhaseProgram]:
    w, b, x = values(4, 6), values(6), values(3, 4)
    load = """
  util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<4x6xf32>
  util.global private @b = #flow.parameter.named<SCOPE"b"> : tensor<6xf32>
  func.func @main(%x: tensor<DIMx4xf32>) -> tensor<DIMx6xf32> {
    %w = util.global.load @w : tensor<4x6xf32>
    %b = util.global.load @b : tensor<6xf32>
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<DIMx4xf32>, tensor<4x6xf32>) -> tensor<DIMx6xf32>
    BROADCAST
    %2 = stablehlo.add %0, %1 : tensor<DIMx6xf32>
    return %2 : tensor<DIMx6xf32>
  }
"""
    static = "%1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<6xf32>) -> tensor<3x6xf32>"
    dynamic = """%c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x4xf32>
    %e = tensor.empty(%n) : tensor<?x6xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel"]} ins(%b : tensor<6xf32>) outs(%e : tensor<?x6xf32>) {
    ^bb0(%y: f32, %o: f32):
      linalg.yield %y : f32
    } -> tensor<?x6xf32>"""
    one = {("model", "w"): w, ("model", "b"): b}
    plain = load.replace("DIM", "3").replace("BROADCAST", static)
    return [
        PhaseProgram(
            "parameters",
            plain.replace("SCOPE", '"model"::'),
            [("main", [x], [x @ w + b]), ("main", [-x], [b - x @ w])],
            parameters=one,
        ),
        PhaseProgram(
            "parameters_of_two_scopes",
            plain.replace("SCOPE", ""),
            [("main", [x], [x @ w + b])],
            parameters={("model", "w"): w, ("", "b"): b},
        ),
        PhaseProgram(
            "parameters_of_a_dynamic_layer",
            load.replace("DIM", "?").replace("BROADCAST", dynamic).replace("SCOPE", '"model"::'),
            [("main", [values(n, 4)], [values(n, 4) @ w + b]) for n in (1, 5)],
            parameters=one,
        ),
        PhaseProgram(
            "a_parameter_that_changes",
            """
  util.global private mutable @sum = #flow.parameter.named<"model"::"b"> : tensor<6xf32>
  func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
    %0 = util.global.load @sum : tensor<6xf32>
    %1 = stablehlo.add %0, %x : tensor<6xf32>
    util.global.store %1, @sum : tensor<6xf32>
    return %1 : tensor<6xf32>
  }
""",
            [("main", [values(6, seed=3)], [b + n * values(6, seed=3)]) for n in (1, 2, 3)],
            parameters={("model", "b"): b},
        ),
        PhaseProgram(
            "a_counter",
            """
  util.global private mutable @count = dense<0> : tensor<i32>
  func.func @next(%by: tensor<i32>) -> tensor<i32> {
    %0 = util.global.load @count : tensor<i32>
    %1 = stablehlo.add %0, %by : tensor<i32>
    util.global.store %1, @count : tensor<i32>
    return %1 : tensor<i32>
  }
  func.func @reset() -> tensor<i32> {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    util.global.store %0, @count : tensor<i32>
    return %0 : tensor<i32>
  }
""",
            [
                ("next", [np.int32(3)], [np.int32(3)]),
                ("next", [np.int32(4)], [np.int32(7)]),
                ("reset", [], [np.int32(0)]),
                ("next", [np.int32(1)], [np.int32(1)]),
            ],
        ),
    ]


def linalg_programs() -> list[PhaseProgram]:
    a, b = values(6, 4), values(4, 5)
    row = values(7)
    return [
        PhaseProgram(
            "linalg_matmul",
            """
func.func @main(%a: tensor<6x4xf32>, %b: tensor<4x5xf32>) -> tensor<6x5xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<6x5xf32>) -> tensor<6x5xf32>
  %r = linalg.matmul ins(%a, %b : tensor<6x4xf32>, tensor<4x5xf32>) outs(%f : tensor<6x5xf32>) -> tensor<6x5xf32>
  return %r : tensor<6x5xf32>
}
""",
            [("main", [a, b], [a @ b])],
        ),
        PhaseProgram(
            "linalg_generic_with_indices",
            """
#row = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<7xf32>) -> tensor<7xf32> {
  %e = tensor.empty() : tensor<7xf32>
  %r = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%a : tensor<7xf32>) outs(%e : tensor<7xf32>) {
  ^bb0(%x: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %s = arith.mulf %x, %f : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}
""",
            [("main", [row], [row * np.arange(7, dtype=np.float32)])],
        ),
        PhaseProgram(
            "tensors_cut_and_put_together",
            """
func.func @main(%a: tensor<6x4xf32>, %i: index) -> tensor<6x4xf32> {
  %s = tensor.extract_slice %a[%i, 0] [2, 4] [1, 1] : tensor<6x4xf32> to tensor<2x4xf32>
  %d = arith.addf %s, %s : tensor<2x4xf32>
  %r = tensor.insert_slice %d into %a[0, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}
""",
            [("main", [a, n], [np.concatenate([2 * a[n : n + 2], a[2:]])]) for n in (0, 4)],
        ),
        PhaseProgram(
            "rows_looked_up_by_number",
            """
func.func @main(%table: tensor<9x4xf32>, %ids: tensor<?xi32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<?xi32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%id: i32, %o: f32):
    %i = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%i, %j] : tensor<9x4xf32>
    linalg.yield %x : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
""",
            [("main", [values(9, 4), np.array(ids, np.int32)], [values(9, 4)[ids]]) for ids in ([3], [8, 0, 0, 5])],
        ),
    ]


def text_programs() -> list[PhaseProgram]:
    """All of them, one of each kind in turn."""
    kinds = [
        dynamic_programs(),
        function_programs(),
        state_programs(),
        control_flow_programs(),
        linalg_programs(),
    ]
    return [kind[n] for n in range(max(map(len, kinds))) for kind in kinds if n < len(kind)]
