"""Short forms of linalg against iree-opt."""

from __future__ import annotations

from dialects.iree_opt import same_for_iree
from tiree.dialects import print_module, read_module

TEXT = """
module {
func.func @f(%a: tensor<3x5xf32>, %s: tensor<3x5xi32>, %v: tensor<3xf32>, %e: tensor<5x3xf32>) -> tensor<3x5xf32> {
  %cst = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%cst : f32) outs(%a : tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = linalg.transpose ins(%a : tensor<3x5xf32>) outs(%e : tensor<5x3xf32>) permutation = [1, 0]
  %2 = linalg.reduce ins(%a : tensor<3x5xf32>) outs(%v : tensor<3xf32>) dimensions = [1]
    (%in: f32, %init: f32) {
      %9 = arith.addf %in, %init : f32
      linalg.yield %9 : f32
    }
  %3 = linalg.reduce { arith.addf } ins(%a : tensor<3x5xf32>) outs(%v : tensor<3xf32>) dimensions = [1]
  %4 = linalg.map { math.exp } ins(%a : tensor<3x5xf32>) outs(%a : tensor<3x5xf32>)
  %5 = linalg.map ins(%a, %0 : tensor<3x5xf32>, tensor<3x5xf32>) outs(%a : tensor<3x5xf32>)
    (%x: f32, %y: f32, %o: f32) {
      %z = arith.addf %x, %y : f32
      linalg.yield %z : f32
    }
  %6 = linalg.broadcast ins(%v : tensor<3xf32>) outs(%a : tensor<3x5xf32>) dimensions = [1]
  %7:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>,
    affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<3x5xf32>)
    outs(%a, %s : tensor<3x5xf32>, tensor<3x5xi32>) attrs = {foo = 1 : i32} {
  ^bb0(%x: f32, %y: f32, %q: i32):
    %i = linalg.index 0 : index
    %w = arith.index_cast %i : index to i32
    linalg.yield %x, %w : f32, i32
  } -> (tensor<3x5xf32>, tensor<3x5xi32>)
  %8 = linalg.copy ins(%a : tensor<3x5xf32>) outs(%0 : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %7#0 : tensor<3x5xf32>
}
func.func @on_memory(%a: memref<4xf32>, %k: f32) {
  linalg.fill ins(%k : f32) outs(%a : memref<4xf32>)
  return
}
}
"""


def test_ops_of_linalg() -> None:
    same_for_iree(
        TEXT.replace("math.exp }", "math.exp {fastmath = #arith.fastmath<none>} }").replace(
            "{ arith.addf }", "{ arith.addf {fastmath = #arith.fastmath<none>} }"
        )
    )


def test_named_contractions_have_the_body_that_their_name_means() -> None:
    text = """
    func.func @f(%a: tensor<2x3xi8>, %b: tensor<3x4xi8>, %c: tensor<2x4xi32>) -> tensor<2x4xi32> {
      %0 = linalg.matmul ins(%a, %b : tensor<2x3xi8>, tensor<3x4xi8>) outs(%c : tensor<2x4xi32>) -> tensor<2x4xi32>
      return %0 : tensor<2x4xi32>
    }
    """
    module = read_module(text)
    names = [op.name for op in module.walk()]
    assert names[2:8] == ["linalg.matmul", *["arith.extsi"] * 2, "arith.muli", "arith.addi", "linalg.yield"]
    printed = print_module(module)
    assert print_module(read_module(printed)) == printed
