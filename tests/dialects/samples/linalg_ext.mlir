// Ops of iree_linalg_ext, iree_codegen and linalg that iree-compile brings in or keeps.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<8x4xf32>, tensor<8xi32>, tensor<2x4x4x4xf32>, f32, tensor<8x16xf32>, tensor<3x1xi32>, tensor<3x4xf32>, tensor<8xf32>, tensor<2xf32>, tensor<2xi32>) -> (), sym_name = "f"}> ({
  ^bb0(%s: tensor<8x4xf32>, %i: tensor<8xi32>, %p: tensor<2x4x4x4xf32>, %z: f32, %u: tensor<8x16xf32>, %at: tensor<3x1xi32>, %upd: tensor<3x4xf32>, %o: tensor<8xf32>, %best: tensor<2xf32>, %place: tensor<2xi32>):
    %0 = "linalg.pack"(%u, %p, %z) <{inner_dims_pos = array<i64: 1, 0>, operandSegmentSizes = array<i32: 1, 1, 1, 0>, outer_dims_perm = array<i64: 0, 1>, static_inner_tiles = array<i64: 4, 4>}> : (tensor<8x16xf32>, tensor<2x4x4x4xf32>, f32) -> tensor<2x4x4x4xf32>
    %1 = "linalg.unpack"(%0, %u) <{inner_dims_pos = array<i64: 1, 0>, operandSegmentSizes = array<i32: 1, 1, 0, 0>, outer_dims_perm = array<i64: 0, 1>, static_inner_tiles = array<i64: 4, 4>}> : (tensor<2x4x4x4xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = "linalg.softmax"(%s, %s) <{dimension = 1 : i64}> : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %3:2 = "iree_linalg_ext.sort"(%o, %i) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 0, 2>}> ({
    ^bb0(%a: f32, %b: f32, %c: i32, %d: i32):
      %less = "arith.cmpf"(%a, %b) <{fastmath = #arith.fastmath<none>, predicate = 4 : i64}> : (f32, f32) -> i1
      "iree_linalg_ext.yield"(%less) : (i1) -> ()
    }) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
    %4 = "iree_linalg_ext.scatter"(%upd, %at, %s) <{dimension_map = array<i64: 0>, unique_indices = true}> ({
    ^bb0(%a: f32, %b: f32):
      %sum = "arith.addf"(%a, %b) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "iree_linalg_ext.yield"(%sum) : (f32) -> ()
    }) : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %5 = "iree_linalg_ext.gather"(%s, %at, %upd) <{dimension_map = array<i64: 0>}> : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %6:2 = "iree_linalg_ext.scan"(%s, %s, %o) <{dimension = 1 : i64, inclusive = true}> ({
    ^bb0(%a: f32, %b: f32):
      %sum = "arith.addf"(%a, %b) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "iree_linalg_ext.yield"(%sum) : (f32) -> ()
    }) : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8xf32>) -> (tensor<8x4xf32>, tensor<8xf32>)
    %7:2 = "iree_linalg_ext.topk"(%o, %best, %place) <{dimension = 0 : i64}> ({
    ^bb0(%a: f32, %b: f32):
      %more = "arith.cmpf"(%a, %b) <{fastmath = #arith.fastmath<none>, predicate = 2 : i64}> : (f32, f32) -> i1
      "iree_linalg_ext.yield"(%more) : (i1) -> ()
    }) : (tensor<8xf32>, tensor<2xf32>, tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>)
    %8 = "iree_linalg_ext.attention"(%s, %upd, %upd, %z, %s) <{indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d3, d1)>, affine_map<(d0, d1, d2, d3) -> ()>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>]}> ({
    ^bb0(%score: f32):
      "iree_linalg_ext.yield"(%score) : (f32) -> ()
    }) : (tensor<8x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, f32, tensor<8x4xf32>) -> tensor<8x4xf32>
    %9:3 = "iree_linalg_ext.online_attention"(%s, %upd, %upd, %z, %s, %o, %o) <{indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d3, d1)>, affine_map<(d0, d1, d2, d3) -> ()>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>, affine_map<(d0, d1, d2, d3) -> (d0)>, affine_map<(d0, d1, d2, d3) -> (d0)>]}> ({
    ^bb0(%score: f32):
      "iree_linalg_ext.yield"(%score) : (f32) -> ()
    }) : (tensor<8x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, f32, tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "k"}> ({
    %m = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf32>
    %t = "iree_codegen.load_from_buffer"(%m) : (memref<4xf32>) -> tensor<4xf32>
    "iree_codegen.store_to_buffer"(%t, %m) : (tensor<4xf32>, memref<4xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
  "iree_codegen.dispatch_config"() <{function_ref = @k}> ({
  ^bb0(%d: !hal.device):
    %c1 = "arith.constant"() <{value = 1 : index}> : () -> index
    "iree_codegen.yield"(%c1, %c1, %c1) : (index, index, index) -> ()
  }) : () -> ()
}) : () -> ()
