// Structured ops, generic and named.

func.func @linalg_generic(%a: tensor<3x5xf32>, %s: tensor<3x5xi32>, %v: tensor<3xf32>, %k: f32) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<3x5xf32>) outs(%a, %s : tensor<3x5xf32>, tensor<3x5xi32>) attrs = {foo = 1 : i32} {
  ^bb0(%x: f32, %y: f32, %q: i32):
    %i = linalg.index 0 : index
    %w = arith.index_cast %i : index to i32
    linalg.yield %x, %w : f32, i32
  } -> (tensor<3x5xf32>, tensor<3x5xi32>)
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<3x5xf32>) outs(%v : tensor<3xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<3xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], doc = "text", library_call = "lib"} ins(%k : f32) outs(%a : tensor<3x5xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<3x5xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 mod 2, d1 floordiv 2 + 1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<3x5xf32>) outs(%a : tensor<3x5xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<3x5xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%a : tensor<3x5xf32>) {
  ^bb0(%y: f32):
    linalg.yield %y : f32
  } -> tensor<3x5xf32>
  return
}

func.func @linalg_moves(%a: tensor<3x5xf32>, %v: tensor<3xf32>, %e: tensor<5x3xf32>, %k: f32, %i: tensor<3xi32>) {
  %0 = linalg.fill ins(%k : f32) outs(%a : tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = linalg.transpose ins(%a : tensor<3x5xf32>) outs(%e : tensor<5x3xf32>) permutation = [1, 0]
  %2 = linalg.reduce ins(%a : tensor<3x5xf32>) outs(%v : tensor<3xf32>) dimensions = [1]
    (%in: f32, %init: f32) {
      %9 = arith.addf %in, %init : f32
      %10 = arith.mulf %9, %init : f32
      linalg.yield %10 : f32
    }
  %3 = linalg.reduce { arith.addf } ins(%a : tensor<3x5xf32>) outs(%v : tensor<3xf32>) dimensions = [1]
  %4 = linalg.map { math.exp } ins(%a : tensor<3x5xf32>) outs(%a : tensor<3x5xf32>)
  %5 = linalg.map ins(%a, %0 : tensor<3x5xf32>, tensor<3x5xf32>) outs(%a : tensor<3x5xf32>)
    (%x: f32, %y: f32, %o: f32) {
      %z = arith.addf %x, %y : f32
      linalg.yield %z : f32
    }
  %6 = linalg.broadcast ins(%v : tensor<3xf32>) outs(%a : tensor<3x5xf32>) dimensions = [1]
  %8 = linalg.copy ins(%a : tensor<3x5xf32>) outs(%0 : tensor<3x5xf32>) -> tensor<3x5xf32>
  %11:2 = linalg.reduce ins(%a, %a : tensor<3x5xf32>, tensor<3x5xf32>) outs(%v, %v : tensor<3xf32>, tensor<3xf32>) dimensions = [1]
    (%in: f32, %in2: f32, %init: f32, %init2: f32) {
      %9 = arith.addf %in, %init : f32
      %10 = arith.mulf %in2, %init2 : f32
      linalg.yield %9, %10 : f32, f32
    }
  %12 = linalg.map outs(%a : tensor<3x5xf32>)
    (%o: f32) {
      linalg.yield %k : f32
    }
  %13 = linalg.map { arith.addf {fastmath = #arith.fastmath<fast>} } ins(%a, %a : tensor<3x5xf32>, tensor<3x5xf32>) outs(%a : tensor<3x5xf32>)
  return
}

func.func @linalg_elementwise(%a: tensor<3x5xf32>, %b: tensor<5xf32>) {
  %0 = linalg.elementwise <exp> ins(%a : tensor<3x5xf32>) outs(%a : tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = linalg.elementwise <add> indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>] ins(%a, %b : tensor<3x5xf32>, tensor<5xf32>) outs(%a : tensor<3x5xf32>) -> tensor<3x5xf32>
  return
}

func.func @linalg_matmul(%a: tensor<3x5xf32>, %b: tensor<5x4xf32>, %c: tensor<3x4xf32>, %bt: tensor<4x5xf32>, %q: tensor<3x5xi8>, %r: tensor<5x4xi8>, %s: tensor<3x4xi32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x4xf32>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %bt : tensor<3x5xf32>, tensor<4x5xf32>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%q, %r : tensor<3x5xi8>, tensor<5x4xi8>) outs(%s : tensor<3x4xi32>) -> tensor<3x4xi32>
  %3 = linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %b : tensor<3x5xf32>, tensor<5x4xf32>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

func.func @linalg_batch_matmul(%a: tensor<2x3x5xf32>, %b: tensor<2x5x4xf32>, %c: tensor<2x3x4xf32>) {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x3x5xf32>, tensor<2x5x4xf32>) outs(%c : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

func.func @linalg_batch_reduce_matmul(%a: tensor<2x3x5xf32>, %b: tensor<2x5x4xf32>, %c: tensor<3x4xf32>) {
  %0 = linalg.batch_reduce_matmul ins(%a, %b : tensor<2x3x5xf32>, tensor<2x5x4xf32>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

func.func @linalg_matvec(%a: tensor<3x5xf32>, %b: tensor<5xf32>, %c: tensor<3xf32>) {
  %0 = linalg.matvec ins(%a, %b : tensor<3x5xf32>, tensor<5xf32>) outs(%c : tensor<3xf32>) -> tensor<3xf32>
  return
}

func.func @linalg_vecmat(%a: tensor<3xf32>, %b: tensor<3x5xf32>, %c: tensor<5xf32>) {
  %0 = linalg.vecmat ins(%a, %b : tensor<3xf32>, tensor<3x5xf32>) outs(%c : tensor<5xf32>) -> tensor<5xf32>
  return
}

func.func @linalg_batch_matvec(%a: tensor<2x3x5xf32>, %b: tensor<2x5xf32>, %c: tensor<2x3xf32>) {
  %0 = linalg.batch_matvec ins(%a, %b : tensor<2x3x5xf32>, tensor<2x5xf32>) outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @linalg_batch_vecmat(%a: tensor<2x3xf32>, %b: tensor<2x3x5xf32>, %c: tensor<2x5xf32>) {
  %0 = linalg.batch_vecmat ins(%a, %b : tensor<2x3xf32>, tensor<2x3x5xf32>) outs(%c : tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}

func.func @linalg_dot(%a: tensor<5xf32>, %b: tensor<5xf32>, %c: tensor<f32>) {
  %0 = linalg.dot ins(%a, %b : tensor<5xf32>, tensor<5xf32>) outs(%c : tensor<f32>) -> tensor<f32>
  return
}

func.func @linalg_mmt4d(%a: tensor<2x3x4x1xf32>, %b: tensor<5x3x6x1xf32>, %c: tensor<2x5x4x6xf32>) {
  %0 = linalg.mmt4d ins(%a, %b : tensor<2x3x4x1xf32>, tensor<5x3x6x1xf32>) outs(%c : tensor<2x5x4x6xf32>) -> tensor<2x5x4x6xf32>
  return
}

func.func @linalg_batch_mmt4d(%a: tensor<7x2x3x4x1xf32>, %b: tensor<7x5x3x6x1xf32>, %c: tensor<7x2x5x4x6xf32>) {
  %0 = linalg.batch_mmt4d ins(%a, %b : tensor<7x2x3x4x1xf32>, tensor<7x5x3x6x1xf32>) outs(%c : tensor<7x2x5x4x6xf32>) -> tensor<7x2x5x4x6xf32>
  return
}

func.func @linalg_conv_1d(%a: tensor<9xf32>, %b: tensor<3xf32>, %c: tensor<7xf32>) {
  %0 = linalg.conv_1d ins(%a, %b : tensor<9xf32>, tensor<3xf32>) outs(%c : tensor<7xf32>) -> tensor<7xf32>
  return
}

func.func @linalg_conv_2d(%a: tensor<9x9xf32>, %b: tensor<3x3xf32>, %c: tensor<7x7xf32>) {
  %0 = linalg.conv_2d ins(%a, %b : tensor<9x9xf32>, tensor<3x3xf32>) outs(%c : tensor<7x7xf32>) -> tensor<7x7xf32>
  return
}

func.func @linalg_conv_3d(%a: tensor<9x9x9xf32>, %b: tensor<3x3x3xf32>, %c: tensor<7x7x7xf32>) {
  %0 = linalg.conv_3d ins(%a, %b : tensor<9x9x9xf32>, tensor<3x3x3xf32>) outs(%c : tensor<7x7x7xf32>) -> tensor<7x7x7xf32>
  return
}

func.func @linalg_conv_1d_nwc_wcf(%a: tensor<1x9x4xf32>, %b: tensor<3x4x8xf32>, %c: tensor<1x7x8xf32>) {
  %0 = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x9x4xf32>, tensor<3x4x8xf32>) outs(%c : tensor<1x7x8xf32>) -> tensor<1x7x8xf32>
  return
}

func.func @linalg_conv_1d_ncw_fcw(%a: tensor<1x4x9xf32>, %b: tensor<8x4x3xf32>, %c: tensor<1x8x7xf32>) {
  %0 = linalg.conv_1d_ncw_fcw {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x4x9xf32>, tensor<8x4x3xf32>) outs(%c : tensor<1x8x7xf32>) -> tensor<1x8x7xf32>
  return
}

func.func @linalg_conv_2d_nhwc_hwcf(%a: tensor<1x9x9x4xf32>, %b: tensor<3x3x4x8xf32>, %c: tensor<1x7x7x8xf32>) {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x9x9x4xf32>, tensor<3x3x4x8xf32>) outs(%c : tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32>
  return
}

func.func @linalg_conv_2d_nhwc_fhwc(%a: tensor<1x9x9x4xf32>, %b: tensor<8x3x3x4xf32>, %c: tensor<1x7x7x8xf32>) {
  %0 = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x9x9x4xf32>, tensor<8x3x3x4xf32>) outs(%c : tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32>
  return
}

func.func @linalg_conv_2d_nchw_fchw(%a: tensor<1x4x9x9xf32>, %b: tensor<8x4x3x3xf32>, %c: tensor<1x8x7x7xf32>) {
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x4x9x9xf32>, tensor<8x4x3x3xf32>) outs(%c : tensor<1x8x7x7xf32>) -> tensor<1x8x7x7xf32>
  return
}

func.func @linalg_conv_2d_ngchw_fgchw(%a: tensor<1x2x4x9x9xf32>, %b: tensor<8x2x4x3x3xf32>, %c: tensor<1x2x8x7x7xf32>) {
  %0 = linalg.conv_2d_ngchw_fgchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x2x4x9x9xf32>, tensor<8x2x4x3x3xf32>) outs(%c : tensor<1x2x8x7x7xf32>) -> tensor<1x2x8x7x7xf32>
  return
}

func.func @linalg_conv_2d_ngchw_gfchw(%a: tensor<1x2x4x9x9xf32>, %b: tensor<2x8x4x3x3xf32>, %c: tensor<1x2x8x7x7xf32>) {
  %0 = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x2x4x9x9xf32>, tensor<2x8x4x3x3xf32>) outs(%c : tensor<1x2x8x7x7xf32>) -> tensor<1x2x8x7x7xf32>
  return
}

func.func @linalg_conv_2d_nhwgc_gfhwc(%a: tensor<1x9x9x2x4xf32>, %b: tensor<2x8x3x3x4xf32>, %c: tensor<1x7x7x2x8xf32>) {
  %0 = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x9x9x2x4xf32>, tensor<2x8x3x3x4xf32>) outs(%c : tensor<1x7x7x2x8xf32>) -> tensor<1x7x7x2x8xf32>
  return
}

func.func @linalg_conv_3d_ndhwc_dhwcf(%a: tensor<1x9x9x9x4xf32>, %b: tensor<3x3x3x4x8xf32>, %c: tensor<1x7x7x7x8xf32>) {
  %0 = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x9x9x9x4xf32>, tensor<3x3x3x4x8xf32>) outs(%c : tensor<1x7x7x7x8xf32>) -> tensor<1x7x7x7x8xf32>
  return
}

func.func @linalg_conv_3d_ncdhw_fcdhw(%a: tensor<1x4x9x9x9xf32>, %b: tensor<8x4x3x3x3xf32>, %c: tensor<1x8x7x7x7xf32>) {
  %0 = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x4x9x9x9xf32>, tensor<8x4x3x3x3xf32>) outs(%c : tensor<1x8x7x7x7xf32>) -> tensor<1x8x7x7x7xf32>
  return
}

func.func @linalg_depthwise_conv_1d_nwc_wc(%a: tensor<1x9x4xf32>, %b: tensor<3x4xf32>, %c: tensor<1x7x4xf32>) {
  %0 = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x9x4xf32>, tensor<3x4xf32>) outs(%c : tensor<1x7x4xf32>) -> tensor<1x7x4xf32>
  return
}

func.func @linalg_depthwise_conv_1d_ncw_cw(%a: tensor<1x4x9xf32>, %b: tensor<4x3xf32>, %c: tensor<1x4x7xf32>) {
  %0 = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x4x9xf32>, tensor<4x3xf32>) outs(%c : tensor<1x4x7xf32>) -> tensor<1x4x7xf32>
  return
}

func.func @linalg_depthwise_conv_1d_nwc_wcm(%a: tensor<1x9x4xf32>, %b: tensor<3x4x2xf32>, %c: tensor<1x7x4x2xf32>) {
  %0 = linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x9x4xf32>, tensor<3x4x2xf32>) outs(%c : tensor<1x7x4x2xf32>) -> tensor<1x7x4x2xf32>
  return
}

func.func @linalg_depthwise_conv_2d_nhwc_hwc(%a: tensor<1x9x9x4xf32>, %b: tensor<3x3x4xf32>, %c: tensor<1x7x7x4xf32>) {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x9x9x4xf32>, tensor<3x3x4xf32>) outs(%c : tensor<1x7x7x4xf32>) -> tensor<1x7x7x4xf32>
  return
}

func.func @linalg_depthwise_conv_2d_nchw_chw(%a: tensor<1x4x9x9xf32>, %b: tensor<4x3x3xf32>, %c: tensor<1x4x7x7xf32>) {
  %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x4x9x9xf32>, tensor<4x3x3xf32>) outs(%c : tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
  return
}

func.func @linalg_depthwise_conv_2d_nhwc_hwcm(%a: tensor<1x9x9x4xf32>, %b: tensor<3x3x4x2xf32>, %c: tensor<1x7x7x4x2xf32>) {
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x9x9x4xf32>, tensor<3x3x4x2xf32>) outs(%c : tensor<1x7x7x4x2xf32>) -> tensor<1x7x7x4x2xf32>
  return
}

func.func @linalg_depthwise_conv_3d_ndhwc_dhwc(%a: tensor<1x9x9x9x4xf32>, %b: tensor<3x3x3x4xf32>, %c: tensor<1x7x7x7x4xf32>) {
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwc {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x9x9x9x4xf32>, tensor<3x3x3x4xf32>) outs(%c : tensor<1x7x7x7x4xf32>) -> tensor<1x7x7x7x4xf32>
  return
}

func.func @linalg_depthwise_conv_3d_ncdhw_cdhw(%a: tensor<1x4x9x9x9xf32>, %b: tensor<4x3x3x3xf32>, %c: tensor<1x4x7x7x7xf32>) {
  %0 = linalg.depthwise_conv_3d_ncdhw_cdhw {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x4x9x9x9xf32>, tensor<4x3x3x3xf32>) outs(%c : tensor<1x4x7x7x7xf32>) -> tensor<1x4x7x7x7xf32>
  return
}

func.func @linalg_depthwise_conv_3d_ndhwc_dhwcm(%a: tensor<1x9x9x9x4xf32>, %b: tensor<3x3x3x4x2xf32>, %c: tensor<1x7x7x7x4x2xf32>) {
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwcm {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x9x9x9x4xf32>, tensor<3x3x3x4x2xf32>) outs(%c : tensor<1x7x7x7x4x2xf32>) -> tensor<1x7x7x7x4x2xf32>
  return
}

func.func @linalg_pooling_nhwc_sum(%a: tensor<1x9x9x4xf32>, %b: tensor<3x3xf32>, %c: tensor<1x7x7x4xf32>) {
  %0 = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x9x9x4xf32>, tensor<3x3xf32>) outs(%c : tensor<1x7x7x4xf32>) -> tensor<1x7x7x4xf32>
  return
}

func.func @linalg_pooling_nhwc_max(%a: tensor<1x9x9x4xf32>, %b: tensor<3x3xf32>, %c: tensor<1x7x7x4xf32>) {
  %0 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x9x9x4xf32>, tensor<3x3xf32>) outs(%c : tensor<1x7x7x4xf32>) -> tensor<1x7x7x4xf32>
  return
}

func.func @linalg_pooling_nhwc_max_unsigned(%a: tensor<1x9x9x4xi32>, %b: tensor<3x3xi32>, %c: tensor<1x7x7x4xi32>) {
  %0 = linalg.pooling_nhwc_max_unsigned {dilations = dense<1> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x9x9x4xi32>, tensor<3x3xi32>) outs(%c : tensor<1x7x7x4xi32>) -> tensor<1x7x7x4xi32>
  return
}

func.func @linalg_pooling_nhwc_min(%a: tensor<1x9x9x4xf32>, %b: tensor<3x3xf32>, %c: tensor<1x7x7x4xf32>) {
  %0 = linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x9x9x4xf32>, tensor<3x3xf32>) outs(%c : tensor<1x7x7x4xf32>) -> tensor<1x7x7x4xf32>
  return
}

func.func @linalg_pooling_nhwc_min_unsigned(%a: tensor<1x9x9x4xi32>, %b: tensor<3x3xi32>, %c: tensor<1x7x7x4xi32>) {
  %0 = linalg.pooling_nhwc_min_unsigned {dilations = dense<1> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x9x9x4xi32>, tensor<3x3xi32>) outs(%c : tensor<1x7x7x4xi32>) -> tensor<1x7x7x4xi32>
  return
}

func.func @linalg_pooling_nchw_sum(%a: tensor<1x4x9x9xf32>, %b: tensor<3x3xf32>, %c: tensor<1x4x7x7xf32>) {
  %0 = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x4x9x9xf32>, tensor<3x3xf32>) outs(%c : tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
  return
}

func.func @linalg_pooling_nchw_max(%a: tensor<1x4x9x9xf32>, %b: tensor<3x3xf32>, %c: tensor<1x4x7x7xf32>) {
  %0 = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x4x9x9xf32>, tensor<3x3xf32>) outs(%c : tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
  return
}

func.func @linalg_pooling_nwc_sum(%a: tensor<1x9x4xf32>, %b: tensor<3xf32>, %c: tensor<1x7x4xf32>) {
  %0 = linalg.pooling_nwc_sum {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x9x4xf32>, tensor<3xf32>) outs(%c : tensor<1x7x4xf32>) -> tensor<1x7x4xf32>
  return
}

func.func @linalg_pooling_nwc_max(%a: tensor<1x9x4xf32>, %b: tensor<3xf32>, %c: tensor<1x7x4xf32>) {
  %0 = linalg.pooling_nwc_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x9x4xf32>, tensor<3xf32>) outs(%c : tensor<1x7x4xf32>) -> tensor<1x7x4xf32>
  return
}

func.func @linalg_pooling_nwc_max_unsigned(%a: tensor<1x9x4xi32>, %b: tensor<3xi32>, %c: tensor<1x7x4xi32>) {
  %0 = linalg.pooling_nwc_max_unsigned {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x9x4xi32>, tensor<3xi32>) outs(%c : tensor<1x7x4xi32>) -> tensor<1x7x4xi32>
  return
}

func.func @linalg_pooling_nwc_min(%a: tensor<1x9x4xf32>, %b: tensor<3xf32>, %c: tensor<1x7x4xf32>) {
  %0 = linalg.pooling_nwc_min {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x9x4xf32>, tensor<3xf32>) outs(%c : tensor<1x7x4xf32>) -> tensor<1x7x4xf32>
  return
}

func.func @linalg_pooling_nwc_min_unsigned(%a: tensor<1x9x4xi32>, %b: tensor<3xi32>, %c: tensor<1x7x4xi32>) {
  %0 = linalg.pooling_nwc_min_unsigned {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x9x4xi32>, tensor<3xi32>) outs(%c : tensor<1x7x4xi32>) -> tensor<1x7x4xi32>
  return
}

func.func @linalg_pooling_ncw_sum(%a: tensor<1x4x9xf32>, %b: tensor<3xf32>, %c: tensor<1x4x7xf32>) {
  %0 = linalg.pooling_ncw_sum {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x4x9xf32>, tensor<3xf32>) outs(%c : tensor<1x4x7xf32>) -> tensor<1x4x7xf32>
  return
}

func.func @linalg_pooling_ncw_max(%a: tensor<1x4x9xf32>, %b: tensor<3xf32>, %c: tensor<1x4x7xf32>) {
  %0 = linalg.pooling_ncw_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<1x4x9xf32>, tensor<3xf32>) outs(%c : tensor<1x4x7xf32>) -> tensor<1x4x7xf32>
  return
}

func.func @linalg_pooling_ndhwc_sum(%a: tensor<1x9x9x9x4xf32>, %b: tensor<3x3x3xf32>, %c: tensor<1x7x7x7x4xf32>) {
  %0 = linalg.pooling_ndhwc_sum {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x9x9x9x4xf32>, tensor<3x3x3xf32>) outs(%c : tensor<1x7x7x7x4xf32>) -> tensor<1x7x7x7x4xf32>
  return
}

func.func @linalg_pooling_ndhwc_max(%a: tensor<1x9x9x9x4xf32>, %b: tensor<3x3x3xf32>, %c: tensor<1x7x7x7x4xf32>) {
  %0 = linalg.pooling_ndhwc_max {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x9x9x9x4xf32>, tensor<3x3x3xf32>) outs(%c : tensor<1x7x7x7x4xf32>) -> tensor<1x7x7x7x4xf32>
  return
}

func.func @linalg_pooling_ndhwc_min(%a: tensor<1x9x9x9x4xf32>, %b: tensor<3x3x3xf32>, %c: tensor<1x7x7x7x4xf32>) {
  %0 = linalg.pooling_ndhwc_min {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x9x9x9x4xf32>, tensor<3x3x3xf32>) outs(%c : tensor<1x7x7x7x4xf32>) -> tensor<1x7x7x7x4xf32>
  return
}

func.func @linalg_pack(%a: tensor<16x8xf32>, %d: tensor<2x4x8x2xf32>) {
  %0 = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [8, 2] into %d : tensor<16x8xf32> -> tensor<2x4x8x2xf32>
  %1 = linalg.unpack %d inner_dims_pos = [0, 1] inner_tiles = [8, 2] into %a : tensor<2x4x8x2xf32> -> tensor<16x8xf32>
  return
}

func.func @linalg_softmax(%a: tensor<3x5xf32>) {
  %0 = linalg.softmax dimension(1) ins(%a : tensor<3x5xf32>) outs(%a : tensor<3x5xf32>) -> tensor<3x5xf32>
  return
}
