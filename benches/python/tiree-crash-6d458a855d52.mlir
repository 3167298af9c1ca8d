// failed in: tiree-hal-convert
// flags: --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=host --mlir-timing=true
// from phase: start
module @jit___call attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x64xi32>, %arg1: tensor<50257x768xf32>, %arg2: tensor<80x768xf32>, %arg3: tensor<768xf32>, %arg4: tensor<768xf32>, %arg5: tensor<768x2304xf32>, %arg6: tensor<2304xf32>, %arg7: tensor<768x768xf32>, %arg8: tensor<768xf32>, %arg9: tensor<768xf32>, %arg10: tensor<768xf32>, %arg11: tensor<768x3072xf32>, %arg12: tensor<3072xf32>, %arg13: tensor<3072x768xf32>, %arg14: tensor<768xf32>, %arg15: tensor<768xf32>, %arg16: tensor<768xf32>, %arg17: tensor<768x2304xf32>, %arg18: tensor<2304xf32>, %arg19: tensor<768x768xf32>, %arg20: tensor<768xf32>, %arg21: tensor<768xf32>, %arg22: tensor<768xf32>, %arg23: tensor<768x3072xf32>, %arg24: tensor<3072xf32>, %arg25: tensor<3072x768xf32>, %arg26: tensor<768xf32>, %arg27: tensor<768xf32>, %arg28: tensor<768xf32>, %arg29: tensor<768x2304xf32>, %arg30: tensor<2304xf32>, %arg31: tensor<768x768xf32>, %arg32: tensor<768xf32>, %arg33: tensor<768xf32>, %arg34: tensor<768xf32>, %arg35: tensor<768x3072xf32>, %arg36: tensor<3072xf32>, %arg37: tensor<3072x768xf32>, %arg38: tensor<768xf32>, %arg39: tensor<768xf32>, %arg40: tensor<768xf32>, %arg41: tensor<768x2304xf32>, %arg42: tensor<2304xf32>, %arg43: tensor<768x768xf32>, %arg44: tensor<768xf32>, %arg45: tensor<768xf32>, %arg46: tensor<768xf32>, %arg47: tensor<768x3072xf32>, %arg48: tensor<3072xf32>, %arg49: tensor<3072x768xf32>, %arg50: tensor<768xf32>, %arg51: tensor<768xf32>, %arg52: tensor<768xf32>, %arg53: tensor<768x2304xf32>, %arg54: tensor<2304xf32>, %arg55: tensor<768x768xf32>, %arg56: tensor<768xf32>, %arg57: tensor<768xf32>, %arg58: tensor<768xf32>, %arg59: tensor<768x3072xf32>, %arg60: tensor<3072xf32>, %arg61: tensor<3072x768xf32>, %arg62: tensor<768xf32>, %arg63: tensor<768xf32>, %arg64: tensor<768xf32>, %arg65: tensor<768x2304xf32>, %arg66: tensor<2304xf32>, %arg67: tensor<768x768xf32>, %arg68: tensor<768xf32>, %arg69: tensor<768xf32>, %arg70: tensor<768xf32>, %arg71: tensor<768x3072xf32>, %arg72: tensor<3072xf32>, %arg73: tensor<3072x768xf32>, %arg74: tensor<768xf32>, %arg75: tensor<768xf32>, %arg76: tensor<768xf32>, %arg77: tensor<768x2304xf32>, %arg78: tensor<2304xf32>, %arg79: tensor<768x768xf32>, %arg80: tensor<768xf32>, %arg81: tensor<768xf32>, %arg82: tensor<768xf32>, %arg83: tensor<768x3072xf32>, %arg84: tensor<3072xf32>, %arg85: tensor<3072x768xf32>, %arg86: tensor<768xf32>, %arg87: tensor<768xf32>, %arg88: tensor<768xf32>, %arg89: tensor<768x2304xf32>, %arg90: tensor<2304xf32>, %arg91: tensor<768x768xf32>, %arg92: tensor<768xf32>, %arg93: tensor<768xf32>, %arg94: tensor<768xf32>, %arg95: tensor<768x3072xf32>, %arg96: tensor<3072xf32>, %arg97: tensor<3072x768xf32>, %arg98: tensor<768xf32>, %arg99: tensor<768xf32>, %arg100: tensor<768xf32>, %arg101: tensor<768x2304xf32>, %arg102: tensor<2304xf32>, %arg103: tensor<768x768xf32>, %arg104: tensor<768xf32>, %arg105: tensor<768xf32>, %arg106: tensor<768xf32>, %arg107: tensor<768x3072xf32>, %arg108: tensor<3072xf32>, %arg109: tensor<3072x768xf32>, %arg110: tensor<768xf32>, %arg111: tensor<768xf32>, %arg112: tensor<768xf32>, %arg113: tensor<768x2304xf32>, %arg114: tensor<2304xf32>, %arg115: tensor<768x768xf32>, %arg116: tensor<768xf32>, %arg117: tensor<768xf32>, %arg118: tensor<768xf32>, %arg119: tensor<768x3072xf32>, %arg120: tensor<3072xf32>, %arg121: tensor<3072x768xf32>, %arg122: tensor<768xf32>, %arg123: tensor<768xf32>, %arg124: tensor<768xf32>, %arg125: tensor<768x2304xf32>, %arg126: tensor<2304xf32>, %arg127: tensor<768x768xf32>, %arg128: tensor<768xf32>, %arg129: tensor<768xf32>, %arg130: tensor<768xf32>, %arg131: tensor<768x3072xf32>, %arg132: tensor<3072xf32>, %arg133: tensor<3072x768xf32>, %arg134: tensor<768xf32>, %arg135: tensor<768xf32>, %arg136: tensor<768xf32>, %arg137: tensor<768x2304xf32>, %arg138: tensor<2304xf32>, %arg139: tensor<768x768xf32>, %arg140: tensor<768xf32>, %arg141: tensor<768xf32>, %arg142: tensor<768xf32>, %arg143: tensor<768x3072xf32>, %arg144: tensor<3072xf32>, %arg145: tensor<3072x768xf32>, %arg146: tensor<768xf32>, %arg147: tensor<768xf32>, %arg148: tensor<768xf32>) -> (tensor<1x16xi32> {jax.result_info = "result[0]"}, tensor<1x50257xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x12x80x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1x64xi32>
    %2 = stablehlo.compare LT, %arg0, %1, SIGNED : (tensor<1x64xi32>, tensor<1x64xi32>) -> tensor<1x64xi1>
    %c_0 = stablehlo.constant dense<50257> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1x64xi32>
    %4 = stablehlo.add %arg0, %3 : tensor<1x64xi32>
    %5 = stablehlo.select %2, %4, %arg0 : tensor<1x64xi1>, tensor<1x64xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x64xi32>) -> tensor<1x64x1xi32>
    %7 = "stablehlo.gather"(%arg1, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 768>}> : (tensor<50257x768xf32>, tensor<1x64x1xi32>) -> tensor<1x64x768xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.dynamic_slice %arg2, %c_1, %c_2, sizes = [64, 768] : (tensor<80x768xf32>, tensor<i32>, tensor<i32>) -> tensor<64x768xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [1, 2] : (tensor<64x768xf32>) -> tensor<1x64x768xf32>
    %10 = stablehlo.add %7, %9 : tensor<1x64x768xf32>
    %11 = stablehlo.iota dim = 0 : tensor<80xi32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [1] : (tensor<80xi32>) -> tensor<1x80xi32>
    %13 = stablehlo.iota dim = 0 : tensor<64xi32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<64xi32>) -> tensor<64x1xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<64x1xi32>
    %16 = stablehlo.add %15, %14 : tensor<64x1xi32>
    %17 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<1x80xi32>) -> tensor<64x80xi32>
    %18 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<64x1xi32>) -> tensor<64x80xi32>
    %19 = stablehlo.compare LE, %17, %18, SIGNED : (tensor<64x80xi32>, tensor<64x80xi32>) -> tensor<64x80xi1>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%10 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_5 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %23 = stablehlo.divide %21, %22 : tensor<1x64x1xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %25 = stablehlo.subtract %10, %24 : tensor<1x64x768xf32>
    %26 = stablehlo.multiply %25, %25 : tensor<1x64x768xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_7 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %30 = stablehlo.divide %28, %29 : tensor<1x64x1xf32>
    %31 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %32 = stablehlo.subtract %10, %31 : tensor<1x64x768xf32>
    %cst_8 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %34 = stablehlo.add %30, %33 : tensor<1x64x1xf32>
    %35 = stablehlo.rsqrt %34 : tensor<1x64x1xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %37 = stablehlo.multiply %32, %36 : tensor<1x64x768xf32>
    %38 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %40 = stablehlo.multiply %37, %39 : tensor<1x64x768xf32>
    %41 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %43 = stablehlo.add %40, %42 : tensor<1x64x768xf32>
    %44 = stablehlo.dot_general %43, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x2304xf32>) -> tensor<1x64x2304xf32>
    %45 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x64x2304xf32>
    %47 = stablehlo.add %44, %46 : tensor<1x64x2304xf32>
    %48 = stablehlo.slice %47 [0:1, 0:64, 0:768] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %49 = stablehlo.slice %47 [0:1, 0:64, 768:1536] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %50 = stablehlo.slice %47 [0:1, 0:64, 1536:2304] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %51 = stablehlo.reshape %48 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %52 = stablehlo.transpose %51, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %53 = stablehlo.reshape %49 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %54 = stablehlo.transpose %53, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %55 = stablehlo.reshape %50 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %56 = stablehlo.transpose %55, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %57 = stablehlo.dynamic_update_slice %0, %54, %c_9, %c_10, %c_11, %c_12 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %58 = stablehlo.dynamic_update_slice %0, %56, %c_13, %c_14, %c_15, %c_16 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %59 = stablehlo.transpose %57, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %60 = stablehlo.reshape %52 : (tensor<1x12x64x64xf32>) -> tensor<12x64x64xf32>
    %61 = stablehlo.reshape %59 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %62 = stablehlo.dot_general %60, %61, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x64xf32>, tensor<12x64x80xf32>) -> tensor<12x64x80xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [1, 2, 3] : (tensor<12x64x80xf32>) -> tensor<1x12x64x80xf32>
    %cst_17 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<1x12x64x80xf32>
    %65 = stablehlo.divide %63, %64 : tensor<1x12x64x80xf32>
    %cst_18 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %66 = call @_where(%19, %65, %cst_18) : (tensor<64x80xi1>, tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64x80xf32>
    %cst_19 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %67 = stablehlo.reduce(%66 init: %cst_19) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %cst_20 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<1x12x64xf32>
    %69 = stablehlo.maximum %68, %67 : tensor<1x12x64xf32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %71 = stablehlo.broadcast_in_dim %70, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %72 = stablehlo.subtract %66, %71 : tensor<1x12x64x80xf32>
    %73 = stablehlo.exponential %72 : tensor<1x12x64x80xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %74 = stablehlo.reduce(%73 init: %cst_21) applies stablehlo.add across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %76 = stablehlo.broadcast_in_dim %75, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %77 = stablehlo.divide %73, %76 : tensor<1x12x64x80xf32>
    %78 = stablehlo.reshape %77 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %79 = stablehlo.reshape %58 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %80 = stablehlo.dot_general %78, %79, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x80xf32>, tensor<12x80x64xf32>) -> tensor<12x64x64xf32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [1, 2, 3] : (tensor<12x64x64xf32>) -> tensor<1x12x64x64xf32>
    %82 = stablehlo.transpose %81, dims = [0, 2, 1, 3] : (tensor<1x12x64x64xf32>) -> tensor<1x64x12x64xf32>
    %83 = stablehlo.reshape %82 : (tensor<1x64x12x64xf32>) -> tensor<1x64x768xf32>
    %84 = stablehlo.dot_general %83, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x768xf32>) -> tensor<1x64x768xf32>
    %85 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %87 = stablehlo.add %84, %86 : tensor<1x64x768xf32>
    %88 = stablehlo.add %10, %87 : tensor<1x64x768xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %89 = stablehlo.reduce(%88 init: %cst_22) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %90 = stablehlo.broadcast_in_dim %89, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_23 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %92 = stablehlo.divide %90, %91 : tensor<1x64x1xf32>
    %93 = stablehlo.broadcast_in_dim %92, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %94 = stablehlo.subtract %88, %93 : tensor<1x64x768xf32>
    %95 = stablehlo.multiply %94, %94 : tensor<1x64x768xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %96 = stablehlo.reduce(%95 init: %cst_24) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %97 = stablehlo.broadcast_in_dim %96, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_25 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %99 = stablehlo.divide %97, %98 : tensor<1x64x1xf32>
    %100 = stablehlo.broadcast_in_dim %92, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %101 = stablehlo.subtract %88, %100 : tensor<1x64x768xf32>
    %cst_26 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %103 = stablehlo.add %99, %102 : tensor<1x64x1xf32>
    %104 = stablehlo.rsqrt %103 : tensor<1x64x1xf32>
    %105 = stablehlo.broadcast_in_dim %104, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %106 = stablehlo.multiply %101, %105 : tensor<1x64x768xf32>
    %107 = stablehlo.broadcast_in_dim %arg9, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %108 = stablehlo.broadcast_in_dim %107, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %109 = stablehlo.multiply %106, %108 : tensor<1x64x768xf32>
    %110 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %111 = stablehlo.broadcast_in_dim %110, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %112 = stablehlo.add %109, %111 : tensor<1x64x768xf32>
    %113 = stablehlo.dot_general %112, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x3072xf32>) -> tensor<1x64x3072xf32>
    %114 = stablehlo.broadcast_in_dim %arg12, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %115 = stablehlo.broadcast_in_dim %114, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x64x3072xf32>
    %116 = stablehlo.add %113, %115 : tensor<1x64x3072xf32>
    %117 = stablehlo.multiply %116, %116 : tensor<1x64x3072xf32>
    %118 = stablehlo.multiply %117, %116 : tensor<1x64x3072xf32>
    %cst_27 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %120 = stablehlo.multiply %119, %118 : tensor<1x64x3072xf32>
    %121 = stablehlo.add %116, %120 : tensor<1x64x3072xf32>
    %cst_28 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %123 = stablehlo.multiply %122, %121 : tensor<1x64x3072xf32>
    %124 = stablehlo.tanh %123 : tensor<1x64x3072xf32>
    %cst_29 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %126 = stablehlo.add %125, %124 : tensor<1x64x3072xf32>
    %cst_30 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %128 = stablehlo.multiply %127, %126 : tensor<1x64x3072xf32>
    %129 = stablehlo.multiply %116, %128 : tensor<1x64x3072xf32>
    %130 = stablehlo.dot_general %129, %arg13, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x3072xf32>, tensor<3072x768xf32>) -> tensor<1x64x768xf32>
    %131 = stablehlo.broadcast_in_dim %arg14, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %132 = stablehlo.broadcast_in_dim %131, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %133 = stablehlo.add %130, %132 : tensor<1x64x768xf32>
    %134 = stablehlo.add %88, %133 : tensor<1x64x768xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %135 = stablehlo.reduce(%134 init: %cst_31) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %136 = stablehlo.broadcast_in_dim %135, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_32 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %138 = stablehlo.divide %136, %137 : tensor<1x64x1xf32>
    %139 = stablehlo.broadcast_in_dim %138, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %140 = stablehlo.subtract %134, %139 : tensor<1x64x768xf32>
    %141 = stablehlo.multiply %140, %140 : tensor<1x64x768xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %142 = stablehlo.reduce(%141 init: %cst_33) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %143 = stablehlo.broadcast_in_dim %142, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_34 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %145 = stablehlo.divide %143, %144 : tensor<1x64x1xf32>
    %146 = stablehlo.broadcast_in_dim %138, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %147 = stablehlo.subtract %134, %146 : tensor<1x64x768xf32>
    %cst_35 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %149 = stablehlo.add %145, %148 : tensor<1x64x1xf32>
    %150 = stablehlo.rsqrt %149 : tensor<1x64x1xf32>
    %151 = stablehlo.broadcast_in_dim %150, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %152 = stablehlo.multiply %147, %151 : tensor<1x64x768xf32>
    %153 = stablehlo.broadcast_in_dim %arg15, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %154 = stablehlo.broadcast_in_dim %153, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %155 = stablehlo.multiply %152, %154 : tensor<1x64x768xf32>
    %156 = stablehlo.broadcast_in_dim %arg16, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %157 = stablehlo.broadcast_in_dim %156, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %158 = stablehlo.add %155, %157 : tensor<1x64x768xf32>
    %159 = stablehlo.dot_general %158, %arg17, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x2304xf32>) -> tensor<1x64x2304xf32>
    %160 = stablehlo.broadcast_in_dim %arg18, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %161 = stablehlo.broadcast_in_dim %160, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x64x2304xf32>
    %162 = stablehlo.add %159, %161 : tensor<1x64x2304xf32>
    %163 = stablehlo.slice %162 [0:1, 0:64, 0:768] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %164 = stablehlo.slice %162 [0:1, 0:64, 768:1536] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %165 = stablehlo.slice %162 [0:1, 0:64, 1536:2304] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %166 = stablehlo.reshape %163 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %167 = stablehlo.transpose %166, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %168 = stablehlo.reshape %164 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %169 = stablehlo.transpose %168, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %170 = stablehlo.reshape %165 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %171 = stablehlo.transpose %170, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %c_36 = stablehlo.constant dense<0> : tensor<i32>
    %c_37 = stablehlo.constant dense<0> : tensor<i32>
    %c_38 = stablehlo.constant dense<0> : tensor<i32>
    %c_39 = stablehlo.constant dense<0> : tensor<i32>
    %172 = stablehlo.dynamic_update_slice %0, %169, %c_36, %c_37, %c_38, %c_39 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_40 = stablehlo.constant dense<0> : tensor<i32>
    %c_41 = stablehlo.constant dense<0> : tensor<i32>
    %c_42 = stablehlo.constant dense<0> : tensor<i32>
    %c_43 = stablehlo.constant dense<0> : tensor<i32>
    %173 = stablehlo.dynamic_update_slice %0, %171, %c_40, %c_41, %c_42, %c_43 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %174 = stablehlo.transpose %172, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %175 = stablehlo.reshape %167 : (tensor<1x12x64x64xf32>) -> tensor<12x64x64xf32>
    %176 = stablehlo.reshape %174 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %177 = stablehlo.dot_general %175, %176, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x64xf32>, tensor<12x64x80xf32>) -> tensor<12x64x80xf32>
    %178 = stablehlo.broadcast_in_dim %177, dims = [1, 2, 3] : (tensor<12x64x80xf32>) -> tensor<1x12x64x80xf32>
    %cst_44 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %179 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<1x12x64x80xf32>
    %180 = stablehlo.divide %178, %179 : tensor<1x12x64x80xf32>
    %cst_45 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %181 = call @_where(%19, %180, %cst_45) : (tensor<64x80xi1>, tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64x80xf32>
    %cst_46 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %182 = stablehlo.reduce(%181 init: %cst_46) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %cst_47 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<1x12x64xf32>
    %184 = stablehlo.maximum %183, %182 : tensor<1x12x64xf32>
    %185 = stablehlo.broadcast_in_dim %184, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %186 = stablehlo.broadcast_in_dim %185, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %187 = stablehlo.subtract %181, %186 : tensor<1x12x64x80xf32>
    %188 = stablehlo.exponential %187 : tensor<1x12x64x80xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %189 = stablehlo.reduce(%188 init: %cst_48) applies stablehlo.add across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %190 = stablehlo.broadcast_in_dim %189, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %191 = stablehlo.broadcast_in_dim %190, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %192 = stablehlo.divide %188, %191 : tensor<1x12x64x80xf32>
    %193 = stablehlo.reshape %192 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %194 = stablehlo.reshape %173 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %195 = stablehlo.dot_general %193, %194, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x80xf32>, tensor<12x80x64xf32>) -> tensor<12x64x64xf32>
    %196 = stablehlo.broadcast_in_dim %195, dims = [1, 2, 3] : (tensor<12x64x64xf32>) -> tensor<1x12x64x64xf32>
    %197 = stablehlo.transpose %196, dims = [0, 2, 1, 3] : (tensor<1x12x64x64xf32>) -> tensor<1x64x12x64xf32>
    %198 = stablehlo.reshape %197 : (tensor<1x64x12x64xf32>) -> tensor<1x64x768xf32>
    %199 = stablehlo.dot_general %198, %arg19, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x768xf32>) -> tensor<1x64x768xf32>
    %200 = stablehlo.broadcast_in_dim %arg20, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %201 = stablehlo.broadcast_in_dim %200, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %202 = stablehlo.add %199, %201 : tensor<1x64x768xf32>
    %203 = stablehlo.add %134, %202 : tensor<1x64x768xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %204 = stablehlo.reduce(%203 init: %cst_49) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %205 = stablehlo.broadcast_in_dim %204, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_50 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %206 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %207 = stablehlo.divide %205, %206 : tensor<1x64x1xf32>
    %208 = stablehlo.broadcast_in_dim %207, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %209 = stablehlo.subtract %203, %208 : tensor<1x64x768xf32>
    %210 = stablehlo.multiply %209, %209 : tensor<1x64x768xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %211 = stablehlo.reduce(%210 init: %cst_51) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %212 = stablehlo.broadcast_in_dim %211, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_52 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %213 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %214 = stablehlo.divide %212, %213 : tensor<1x64x1xf32>
    %215 = stablehlo.broadcast_in_dim %207, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %216 = stablehlo.subtract %203, %215 : tensor<1x64x768xf32>
    %cst_53 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %217 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %218 = stablehlo.add %214, %217 : tensor<1x64x1xf32>
    %219 = stablehlo.rsqrt %218 : tensor<1x64x1xf32>
    %220 = stablehlo.broadcast_in_dim %219, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %221 = stablehlo.multiply %216, %220 : tensor<1x64x768xf32>
    %222 = stablehlo.broadcast_in_dim %arg21, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %223 = stablehlo.broadcast_in_dim %222, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %224 = stablehlo.multiply %221, %223 : tensor<1x64x768xf32>
    %225 = stablehlo.broadcast_in_dim %arg22, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %226 = stablehlo.broadcast_in_dim %225, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %227 = stablehlo.add %224, %226 : tensor<1x64x768xf32>
    %228 = stablehlo.dot_general %227, %arg23, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x3072xf32>) -> tensor<1x64x3072xf32>
    %229 = stablehlo.broadcast_in_dim %arg24, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %230 = stablehlo.broadcast_in_dim %229, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x64x3072xf32>
    %231 = stablehlo.add %228, %230 : tensor<1x64x3072xf32>
    %232 = stablehlo.multiply %231, %231 : tensor<1x64x3072xf32>
    %233 = stablehlo.multiply %232, %231 : tensor<1x64x3072xf32>
    %cst_54 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %234 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %235 = stablehlo.multiply %234, %233 : tensor<1x64x3072xf32>
    %236 = stablehlo.add %231, %235 : tensor<1x64x3072xf32>
    %cst_55 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %237 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %238 = stablehlo.multiply %237, %236 : tensor<1x64x3072xf32>
    %239 = stablehlo.tanh %238 : tensor<1x64x3072xf32>
    %cst_56 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %241 = stablehlo.add %240, %239 : tensor<1x64x3072xf32>
    %cst_57 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %242 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %243 = stablehlo.multiply %242, %241 : tensor<1x64x3072xf32>
    %244 = stablehlo.multiply %231, %243 : tensor<1x64x3072xf32>
    %245 = stablehlo.dot_general %244, %arg25, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x3072xf32>, tensor<3072x768xf32>) -> tensor<1x64x768xf32>
    %246 = stablehlo.broadcast_in_dim %arg26, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %247 = stablehlo.broadcast_in_dim %246, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %248 = stablehlo.add %245, %247 : tensor<1x64x768xf32>
    %249 = stablehlo.add %203, %248 : tensor<1x64x768xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %250 = stablehlo.reduce(%249 init: %cst_58) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %251 = stablehlo.broadcast_in_dim %250, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_59 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %252 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %253 = stablehlo.divide %251, %252 : tensor<1x64x1xf32>
    %254 = stablehlo.broadcast_in_dim %253, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %255 = stablehlo.subtract %249, %254 : tensor<1x64x768xf32>
    %256 = stablehlo.multiply %255, %255 : tensor<1x64x768xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %257 = stablehlo.reduce(%256 init: %cst_60) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %258 = stablehlo.broadcast_in_dim %257, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_61 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %259 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %260 = stablehlo.divide %258, %259 : tensor<1x64x1xf32>
    %261 = stablehlo.broadcast_in_dim %253, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %262 = stablehlo.subtract %249, %261 : tensor<1x64x768xf32>
    %cst_62 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %263 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %264 = stablehlo.add %260, %263 : tensor<1x64x1xf32>
    %265 = stablehlo.rsqrt %264 : tensor<1x64x1xf32>
    %266 = stablehlo.broadcast_in_dim %265, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %267 = stablehlo.multiply %262, %266 : tensor<1x64x768xf32>
    %268 = stablehlo.broadcast_in_dim %arg27, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %269 = stablehlo.broadcast_in_dim %268, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %270 = stablehlo.multiply %267, %269 : tensor<1x64x768xf32>
    %271 = stablehlo.broadcast_in_dim %arg28, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %272 = stablehlo.broadcast_in_dim %271, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %273 = stablehlo.add %270, %272 : tensor<1x64x768xf32>
    %274 = stablehlo.dot_general %273, %arg29, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x2304xf32>) -> tensor<1x64x2304xf32>
    %275 = stablehlo.broadcast_in_dim %arg30, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %276 = stablehlo.broadcast_in_dim %275, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x64x2304xf32>
    %277 = stablehlo.add %274, %276 : tensor<1x64x2304xf32>
    %278 = stablehlo.slice %277 [0:1, 0:64, 0:768] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %279 = stablehlo.slice %277 [0:1, 0:64, 768:1536] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %280 = stablehlo.slice %277 [0:1, 0:64, 1536:2304] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %281 = stablehlo.reshape %278 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %282 = stablehlo.transpose %281, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %283 = stablehlo.reshape %279 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %284 = stablehlo.transpose %283, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %285 = stablehlo.reshape %280 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %286 = stablehlo.transpose %285, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %c_63 = stablehlo.constant dense<0> : tensor<i32>
    %c_64 = stablehlo.constant dense<0> : tensor<i32>
    %c_65 = stablehlo.constant dense<0> : tensor<i32>
    %c_66 = stablehlo.constant dense<0> : tensor<i32>
    %287 = stablehlo.dynamic_update_slice %0, %284, %c_63, %c_64, %c_65, %c_66 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_67 = stablehlo.constant dense<0> : tensor<i32>
    %c_68 = stablehlo.constant dense<0> : tensor<i32>
    %c_69 = stablehlo.constant dense<0> : tensor<i32>
    %c_70 = stablehlo.constant dense<0> : tensor<i32>
    %288 = stablehlo.dynamic_update_slice %0, %286, %c_67, %c_68, %c_69, %c_70 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %289 = stablehlo.transpose %287, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %290 = stablehlo.reshape %282 : (tensor<1x12x64x64xf32>) -> tensor<12x64x64xf32>
    %291 = stablehlo.reshape %289 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %292 = stablehlo.dot_general %290, %291, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x64xf32>, tensor<12x64x80xf32>) -> tensor<12x64x80xf32>
    %293 = stablehlo.broadcast_in_dim %292, dims = [1, 2, 3] : (tensor<12x64x80xf32>) -> tensor<1x12x64x80xf32>
    %cst_71 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %294 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<1x12x64x80xf32>
    %295 = stablehlo.divide %293, %294 : tensor<1x12x64x80xf32>
    %cst_72 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %296 = call @_where(%19, %295, %cst_72) : (tensor<64x80xi1>, tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64x80xf32>
    %cst_73 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %297 = stablehlo.reduce(%296 init: %cst_73) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %cst_74 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %298 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<1x12x64xf32>
    %299 = stablehlo.maximum %298, %297 : tensor<1x12x64xf32>
    %300 = stablehlo.broadcast_in_dim %299, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %301 = stablehlo.broadcast_in_dim %300, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %302 = stablehlo.subtract %296, %301 : tensor<1x12x64x80xf32>
    %303 = stablehlo.exponential %302 : tensor<1x12x64x80xf32>
    %cst_75 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %304 = stablehlo.reduce(%303 init: %cst_75) applies stablehlo.add across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %305 = stablehlo.broadcast_in_dim %304, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %306 = stablehlo.broadcast_in_dim %305, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %307 = stablehlo.divide %303, %306 : tensor<1x12x64x80xf32>
    %308 = stablehlo.reshape %307 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %309 = stablehlo.reshape %288 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %310 = stablehlo.dot_general %308, %309, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x80xf32>, tensor<12x80x64xf32>) -> tensor<12x64x64xf32>
    %311 = stablehlo.broadcast_in_dim %310, dims = [1, 2, 3] : (tensor<12x64x64xf32>) -> tensor<1x12x64x64xf32>
    %312 = stablehlo.transpose %311, dims = [0, 2, 1, 3] : (tensor<1x12x64x64xf32>) -> tensor<1x64x12x64xf32>
    %313 = stablehlo.reshape %312 : (tensor<1x64x12x64xf32>) -> tensor<1x64x768xf32>
    %314 = stablehlo.dot_general %313, %arg31, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x768xf32>) -> tensor<1x64x768xf32>
    %315 = stablehlo.broadcast_in_dim %arg32, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %316 = stablehlo.broadcast_in_dim %315, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %317 = stablehlo.add %314, %316 : tensor<1x64x768xf32>
    %318 = stablehlo.add %249, %317 : tensor<1x64x768xf32>
    %cst_76 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %319 = stablehlo.reduce(%318 init: %cst_76) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %320 = stablehlo.broadcast_in_dim %319, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_77 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %321 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %322 = stablehlo.divide %320, %321 : tensor<1x64x1xf32>
    %323 = stablehlo.broadcast_in_dim %322, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %324 = stablehlo.subtract %318, %323 : tensor<1x64x768xf32>
    %325 = stablehlo.multiply %324, %324 : tensor<1x64x768xf32>
    %cst_78 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %326 = stablehlo.reduce(%325 init: %cst_78) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %327 = stablehlo.broadcast_in_dim %326, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_79 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %328 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %329 = stablehlo.divide %327, %328 : tensor<1x64x1xf32>
    %330 = stablehlo.broadcast_in_dim %322, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %331 = stablehlo.subtract %318, %330 : tensor<1x64x768xf32>
    %cst_80 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %332 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %333 = stablehlo.add %329, %332 : tensor<1x64x1xf32>
    %334 = stablehlo.rsqrt %333 : tensor<1x64x1xf32>
    %335 = stablehlo.broadcast_in_dim %334, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %336 = stablehlo.multiply %331, %335 : tensor<1x64x768xf32>
    %337 = stablehlo.broadcast_in_dim %arg33, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %338 = stablehlo.broadcast_in_dim %337, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %339 = stablehlo.multiply %336, %338 : tensor<1x64x768xf32>
    %340 = stablehlo.broadcast_in_dim %arg34, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %341 = stablehlo.broadcast_in_dim %340, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %342 = stablehlo.add %339, %341 : tensor<1x64x768xf32>
    %343 = stablehlo.dot_general %342, %arg35, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x3072xf32>) -> tensor<1x64x3072xf32>
    %344 = stablehlo.broadcast_in_dim %arg36, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %345 = stablehlo.broadcast_in_dim %344, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x64x3072xf32>
    %346 = stablehlo.add %343, %345 : tensor<1x64x3072xf32>
    %347 = stablehlo.multiply %346, %346 : tensor<1x64x3072xf32>
    %348 = stablehlo.multiply %347, %346 : tensor<1x64x3072xf32>
    %cst_81 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %349 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %350 = stablehlo.multiply %349, %348 : tensor<1x64x3072xf32>
    %351 = stablehlo.add %346, %350 : tensor<1x64x3072xf32>
    %cst_82 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %352 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %353 = stablehlo.multiply %352, %351 : tensor<1x64x3072xf32>
    %354 = stablehlo.tanh %353 : tensor<1x64x3072xf32>
    %cst_83 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %355 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %356 = stablehlo.add %355, %354 : tensor<1x64x3072xf32>
    %cst_84 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %357 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %358 = stablehlo.multiply %357, %356 : tensor<1x64x3072xf32>
    %359 = stablehlo.multiply %346, %358 : tensor<1x64x3072xf32>
    %360 = stablehlo.dot_general %359, %arg37, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x3072xf32>, tensor<3072x768xf32>) -> tensor<1x64x768xf32>
    %361 = stablehlo.broadcast_in_dim %arg38, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %362 = stablehlo.broadcast_in_dim %361, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %363 = stablehlo.add %360, %362 : tensor<1x64x768xf32>
    %364 = stablehlo.add %318, %363 : tensor<1x64x768xf32>
    %cst_85 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %365 = stablehlo.reduce(%364 init: %cst_85) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %366 = stablehlo.broadcast_in_dim %365, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_86 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %367 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %368 = stablehlo.divide %366, %367 : tensor<1x64x1xf32>
    %369 = stablehlo.broadcast_in_dim %368, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %370 = stablehlo.subtract %364, %369 : tensor<1x64x768xf32>
    %371 = stablehlo.multiply %370, %370 : tensor<1x64x768xf32>
    %cst_87 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %372 = stablehlo.reduce(%371 init: %cst_87) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %373 = stablehlo.broadcast_in_dim %372, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_88 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %374 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %375 = stablehlo.divide %373, %374 : tensor<1x64x1xf32>
    %376 = stablehlo.broadcast_in_dim %368, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %377 = stablehlo.subtract %364, %376 : tensor<1x64x768xf32>
    %cst_89 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %378 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %379 = stablehlo.add %375, %378 : tensor<1x64x1xf32>
    %380 = stablehlo.rsqrt %379 : tensor<1x64x1xf32>
    %381 = stablehlo.broadcast_in_dim %380, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %382 = stablehlo.multiply %377, %381 : tensor<1x64x768xf32>
    %383 = stablehlo.broadcast_in_dim %arg39, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %384 = stablehlo.broadcast_in_dim %383, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %385 = stablehlo.multiply %382, %384 : tensor<1x64x768xf32>
    %386 = stablehlo.broadcast_in_dim %arg40, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %387 = stablehlo.broadcast_in_dim %386, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %388 = stablehlo.add %385, %387 : tensor<1x64x768xf32>
    %389 = stablehlo.dot_general %388, %arg41, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x2304xf32>) -> tensor<1x64x2304xf32>
    %390 = stablehlo.broadcast_in_dim %arg42, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %391 = stablehlo.broadcast_in_dim %390, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x64x2304xf32>
    %392 = stablehlo.add %389, %391 : tensor<1x64x2304xf32>
    %393 = stablehlo.slice %392 [0:1, 0:64, 0:768] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %394 = stablehlo.slice %392 [0:1, 0:64, 768:1536] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %395 = stablehlo.slice %392 [0:1, 0:64, 1536:2304] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %396 = stablehlo.reshape %393 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %397 = stablehlo.transpose %396, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %398 = stablehlo.reshape %394 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %399 = stablehlo.transpose %398, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %400 = stablehlo.reshape %395 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %401 = stablehlo.transpose %400, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %c_90 = stablehlo.constant dense<0> : tensor<i32>
    %c_91 = stablehlo.constant dense<0> : tensor<i32>
    %c_92 = stablehlo.constant dense<0> : tensor<i32>
    %c_93 = stablehlo.constant dense<0> : tensor<i32>
    %402 = stablehlo.dynamic_update_slice %0, %399, %c_90, %c_91, %c_92, %c_93 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_94 = stablehlo.constant dense<0> : tensor<i32>
    %c_95 = stablehlo.constant dense<0> : tensor<i32>
    %c_96 = stablehlo.constant dense<0> : tensor<i32>
    %c_97 = stablehlo.constant dense<0> : tensor<i32>
    %403 = stablehlo.dynamic_update_slice %0, %401, %c_94, %c_95, %c_96, %c_97 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %404 = stablehlo.transpose %402, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %405 = stablehlo.reshape %397 : (tensor<1x12x64x64xf32>) -> tensor<12x64x64xf32>
    %406 = stablehlo.reshape %404 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %407 = stablehlo.dot_general %405, %406, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x64xf32>, tensor<12x64x80xf32>) -> tensor<12x64x80xf32>
    %408 = stablehlo.broadcast_in_dim %407, dims = [1, 2, 3] : (tensor<12x64x80xf32>) -> tensor<1x12x64x80xf32>
    %cst_98 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %409 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<1x12x64x80xf32>
    %410 = stablehlo.divide %408, %409 : tensor<1x12x64x80xf32>
    %cst_99 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %411 = call @_where(%19, %410, %cst_99) : (tensor<64x80xi1>, tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64x80xf32>
    %cst_100 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %412 = stablehlo.reduce(%411 init: %cst_100) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %cst_101 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %413 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<1x12x64xf32>
    %414 = stablehlo.maximum %413, %412 : tensor<1x12x64xf32>
    %415 = stablehlo.broadcast_in_dim %414, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %416 = stablehlo.broadcast_in_dim %415, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %417 = stablehlo.subtract %411, %416 : tensor<1x12x64x80xf32>
    %418 = stablehlo.exponential %417 : tensor<1x12x64x80xf32>
    %cst_102 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %419 = stablehlo.reduce(%418 init: %cst_102) applies stablehlo.add across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %420 = stablehlo.broadcast_in_dim %419, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %421 = stablehlo.broadcast_in_dim %420, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %422 = stablehlo.divide %418, %421 : tensor<1x12x64x80xf32>
    %423 = stablehlo.reshape %422 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %424 = stablehlo.reshape %403 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %425 = stablehlo.dot_general %423, %424, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x80xf32>, tensor<12x80x64xf32>) -> tensor<12x64x64xf32>
    %426 = stablehlo.broadcast_in_dim %425, dims = [1, 2, 3] : (tensor<12x64x64xf32>) -> tensor<1x12x64x64xf32>
    %427 = stablehlo.transpose %426, dims = [0, 2, 1, 3] : (tensor<1x12x64x64xf32>) -> tensor<1x64x12x64xf32>
    %428 = stablehlo.reshape %427 : (tensor<1x64x12x64xf32>) -> tensor<1x64x768xf32>
    %429 = stablehlo.dot_general %428, %arg43, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x768xf32>) -> tensor<1x64x768xf32>
    %430 = stablehlo.broadcast_in_dim %arg44, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %431 = stablehlo.broadcast_in_dim %430, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %432 = stablehlo.add %429, %431 : tensor<1x64x768xf32>
    %433 = stablehlo.add %364, %432 : tensor<1x64x768xf32>
    %cst_103 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %434 = stablehlo.reduce(%433 init: %cst_103) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %435 = stablehlo.broadcast_in_dim %434, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_104 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %436 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %437 = stablehlo.divide %435, %436 : tensor<1x64x1xf32>
    %438 = stablehlo.broadcast_in_dim %437, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %439 = stablehlo.subtract %433, %438 : tensor<1x64x768xf32>
    %440 = stablehlo.multiply %439, %439 : tensor<1x64x768xf32>
    %cst_105 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %441 = stablehlo.reduce(%440 init: %cst_105) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %442 = stablehlo.broadcast_in_dim %441, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_106 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %443 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %444 = stablehlo.divide %442, %443 : tensor<1x64x1xf32>
    %445 = stablehlo.broadcast_in_dim %437, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %446 = stablehlo.subtract %433, %445 : tensor<1x64x768xf32>
    %cst_107 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %447 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %448 = stablehlo.add %444, %447 : tensor<1x64x1xf32>
    %449 = stablehlo.rsqrt %448 : tensor<1x64x1xf32>
    %450 = stablehlo.broadcast_in_dim %449, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %451 = stablehlo.multiply %446, %450 : tensor<1x64x768xf32>
    %452 = stablehlo.broadcast_in_dim %arg45, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %453 = stablehlo.broadcast_in_dim %452, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %454 = stablehlo.multiply %451, %453 : tensor<1x64x768xf32>
    %455 = stablehlo.broadcast_in_dim %arg46, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %456 = stablehlo.broadcast_in_dim %455, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %457 = stablehlo.add %454, %456 : tensor<1x64x768xf32>
    %458 = stablehlo.dot_general %457, %arg47, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x3072xf32>) -> tensor<1x64x3072xf32>
    %459 = stablehlo.broadcast_in_dim %arg48, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %460 = stablehlo.broadcast_in_dim %459, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x64x3072xf32>
    %461 = stablehlo.add %458, %460 : tensor<1x64x3072xf32>
    %462 = stablehlo.multiply %461, %461 : tensor<1x64x3072xf32>
    %463 = stablehlo.multiply %462, %461 : tensor<1x64x3072xf32>
    %cst_108 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %464 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %465 = stablehlo.multiply %464, %463 : tensor<1x64x3072xf32>
    %466 = stablehlo.add %461, %465 : tensor<1x64x3072xf32>
    %cst_109 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %467 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %468 = stablehlo.multiply %467, %466 : tensor<1x64x3072xf32>
    %469 = stablehlo.tanh %468 : tensor<1x64x3072xf32>
    %cst_110 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %470 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %471 = stablehlo.add %470, %469 : tensor<1x64x3072xf32>
    %cst_111 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %472 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %473 = stablehlo.multiply %472, %471 : tensor<1x64x3072xf32>
    %474 = stablehlo.multiply %461, %473 : tensor<1x64x3072xf32>
    %475 = stablehlo.dot_general %474, %arg49, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x3072xf32>, tensor<3072x768xf32>) -> tensor<1x64x768xf32>
    %476 = stablehlo.broadcast_in_dim %arg50, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %477 = stablehlo.broadcast_in_dim %476, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %478 = stablehlo.add %475, %477 : tensor<1x64x768xf32>
    %479 = stablehlo.add %433, %478 : tensor<1x64x768xf32>
    %cst_112 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %480 = stablehlo.reduce(%479 init: %cst_112) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %481 = stablehlo.broadcast_in_dim %480, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_113 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %482 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %483 = stablehlo.divide %481, %482 : tensor<1x64x1xf32>
    %484 = stablehlo.broadcast_in_dim %483, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %485 = stablehlo.subtract %479, %484 : tensor<1x64x768xf32>
    %486 = stablehlo.multiply %485, %485 : tensor<1x64x768xf32>
    %cst_114 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %487 = stablehlo.reduce(%486 init: %cst_114) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %488 = stablehlo.broadcast_in_dim %487, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_115 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %489 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %490 = stablehlo.divide %488, %489 : tensor<1x64x1xf32>
    %491 = stablehlo.broadcast_in_dim %483, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %492 = stablehlo.subtract %479, %491 : tensor<1x64x768xf32>
    %cst_116 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %493 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %494 = stablehlo.add %490, %493 : tensor<1x64x1xf32>
    %495 = stablehlo.rsqrt %494 : tensor<1x64x1xf32>
    %496 = stablehlo.broadcast_in_dim %495, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %497 = stablehlo.multiply %492, %496 : tensor<1x64x768xf32>
    %498 = stablehlo.broadcast_in_dim %arg51, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %499 = stablehlo.broadcast_in_dim %498, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %500 = stablehlo.multiply %497, %499 : tensor<1x64x768xf32>
    %501 = stablehlo.broadcast_in_dim %arg52, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %502 = stablehlo.broadcast_in_dim %501, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %503 = stablehlo.add %500, %502 : tensor<1x64x768xf32>
    %504 = stablehlo.dot_general %503, %arg53, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x2304xf32>) -> tensor<1x64x2304xf32>
    %505 = stablehlo.broadcast_in_dim %arg54, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %506 = stablehlo.broadcast_in_dim %505, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x64x2304xf32>
    %507 = stablehlo.add %504, %506 : tensor<1x64x2304xf32>
    %508 = stablehlo.slice %507 [0:1, 0:64, 0:768] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %509 = stablehlo.slice %507 [0:1, 0:64, 768:1536] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %510 = stablehlo.slice %507 [0:1, 0:64, 1536:2304] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %511 = stablehlo.reshape %508 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %512 = stablehlo.transpose %511, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %513 = stablehlo.reshape %509 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %514 = stablehlo.transpose %513, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %515 = stablehlo.reshape %510 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %516 = stablehlo.transpose %515, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %c_117 = stablehlo.constant dense<0> : tensor<i32>
    %c_118 = stablehlo.constant dense<0> : tensor<i32>
    %c_119 = stablehlo.constant dense<0> : tensor<i32>
    %c_120 = stablehlo.constant dense<0> : tensor<i32>
    %517 = stablehlo.dynamic_update_slice %0, %514, %c_117, %c_118, %c_119, %c_120 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_121 = stablehlo.constant dense<0> : tensor<i32>
    %c_122 = stablehlo.constant dense<0> : tensor<i32>
    %c_123 = stablehlo.constant dense<0> : tensor<i32>
    %c_124 = stablehlo.constant dense<0> : tensor<i32>
    %518 = stablehlo.dynamic_update_slice %0, %516, %c_121, %c_122, %c_123, %c_124 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %519 = stablehlo.transpose %517, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %520 = stablehlo.reshape %512 : (tensor<1x12x64x64xf32>) -> tensor<12x64x64xf32>
    %521 = stablehlo.reshape %519 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %522 = stablehlo.dot_general %520, %521, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x64xf32>, tensor<12x64x80xf32>) -> tensor<12x64x80xf32>
    %523 = stablehlo.broadcast_in_dim %522, dims = [1, 2, 3] : (tensor<12x64x80xf32>) -> tensor<1x12x64x80xf32>
    %cst_125 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %524 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<1x12x64x80xf32>
    %525 = stablehlo.divide %523, %524 : tensor<1x12x64x80xf32>
    %cst_126 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %526 = call @_where(%19, %525, %cst_126) : (tensor<64x80xi1>, tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64x80xf32>
    %cst_127 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %527 = stablehlo.reduce(%526 init: %cst_127) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %cst_128 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %528 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<1x12x64xf32>
    %529 = stablehlo.maximum %528, %527 : tensor<1x12x64xf32>
    %530 = stablehlo.broadcast_in_dim %529, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %531 = stablehlo.broadcast_in_dim %530, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %532 = stablehlo.subtract %526, %531 : tensor<1x12x64x80xf32>
    %533 = stablehlo.exponential %532 : tensor<1x12x64x80xf32>
    %cst_129 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %534 = stablehlo.reduce(%533 init: %cst_129) applies stablehlo.add across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %535 = stablehlo.broadcast_in_dim %534, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %536 = stablehlo.broadcast_in_dim %535, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %537 = stablehlo.divide %533, %536 : tensor<1x12x64x80xf32>
    %538 = stablehlo.reshape %537 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %539 = stablehlo.reshape %518 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %540 = stablehlo.dot_general %538, %539, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x80xf32>, tensor<12x80x64xf32>) -> tensor<12x64x64xf32>
    %541 = stablehlo.broadcast_in_dim %540, dims = [1, 2, 3] : (tensor<12x64x64xf32>) -> tensor<1x12x64x64xf32>
    %542 = stablehlo.transpose %541, dims = [0, 2, 1, 3] : (tensor<1x12x64x64xf32>) -> tensor<1x64x12x64xf32>
    %543 = stablehlo.reshape %542 : (tensor<1x64x12x64xf32>) -> tensor<1x64x768xf32>
    %544 = stablehlo.dot_general %543, %arg55, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x768xf32>) -> tensor<1x64x768xf32>
    %545 = stablehlo.broadcast_in_dim %arg56, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %546 = stablehlo.broadcast_in_dim %545, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %547 = stablehlo.add %544, %546 : tensor<1x64x768xf32>
    %548 = stablehlo.add %479, %547 : tensor<1x64x768xf32>
    %cst_130 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %549 = stablehlo.reduce(%548 init: %cst_130) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %550 = stablehlo.broadcast_in_dim %549, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_131 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %551 = stablehlo.broadcast_in_dim %cst_131, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %552 = stablehlo.divide %550, %551 : tensor<1x64x1xf32>
    %553 = stablehlo.broadcast_in_dim %552, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %554 = stablehlo.subtract %548, %553 : tensor<1x64x768xf32>
    %555 = stablehlo.multiply %554, %554 : tensor<1x64x768xf32>
    %cst_132 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %556 = stablehlo.reduce(%555 init: %cst_132) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %557 = stablehlo.broadcast_in_dim %556, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_133 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %558 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %559 = stablehlo.divide %557, %558 : tensor<1x64x1xf32>
    %560 = stablehlo.broadcast_in_dim %552, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %561 = stablehlo.subtract %548, %560 : tensor<1x64x768xf32>
    %cst_134 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %562 = stablehlo.broadcast_in_dim %cst_134, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %563 = stablehlo.add %559, %562 : tensor<1x64x1xf32>
    %564 = stablehlo.rsqrt %563 : tensor<1x64x1xf32>
    %565 = stablehlo.broadcast_in_dim %564, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %566 = stablehlo.multiply %561, %565 : tensor<1x64x768xf32>
    %567 = stablehlo.broadcast_in_dim %arg57, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %568 = stablehlo.broadcast_in_dim %567, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %569 = stablehlo.multiply %566, %568 : tensor<1x64x768xf32>
    %570 = stablehlo.broadcast_in_dim %arg58, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %571 = stablehlo.broadcast_in_dim %570, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %572 = stablehlo.add %569, %571 : tensor<1x64x768xf32>
    %573 = stablehlo.dot_general %572, %arg59, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x3072xf32>) -> tensor<1x64x3072xf32>
    %574 = stablehlo.broadcast_in_dim %arg60, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %575 = stablehlo.broadcast_in_dim %574, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x64x3072xf32>
    %576 = stablehlo.add %573, %575 : tensor<1x64x3072xf32>
    %577 = stablehlo.multiply %576, %576 : tensor<1x64x3072xf32>
    %578 = stablehlo.multiply %577, %576 : tensor<1x64x3072xf32>
    %cst_135 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %579 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %580 = stablehlo.multiply %579, %578 : tensor<1x64x3072xf32>
    %581 = stablehlo.add %576, %580 : tensor<1x64x3072xf32>
    %cst_136 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %582 = stablehlo.broadcast_in_dim %cst_136, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %583 = stablehlo.multiply %582, %581 : tensor<1x64x3072xf32>
    %584 = stablehlo.tanh %583 : tensor<1x64x3072xf32>
    %cst_137 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %585 = stablehlo.broadcast_in_dim %cst_137, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %586 = stablehlo.add %585, %584 : tensor<1x64x3072xf32>
    %cst_138 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %587 = stablehlo.broadcast_in_dim %cst_138, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %588 = stablehlo.multiply %587, %586 : tensor<1x64x3072xf32>
    %589 = stablehlo.multiply %576, %588 : tensor<1x64x3072xf32>
    %590 = stablehlo.dot_general %589, %arg61, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x3072xf32>, tensor<3072x768xf32>) -> tensor<1x64x768xf32>
    %591 = stablehlo.broadcast_in_dim %arg62, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %592 = stablehlo.broadcast_in_dim %591, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %593 = stablehlo.add %590, %592 : tensor<1x64x768xf32>
    %594 = stablehlo.add %548, %593 : tensor<1x64x768xf32>
    %cst_139 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %595 = stablehlo.reduce(%594 init: %cst_139) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %596 = stablehlo.broadcast_in_dim %595, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_140 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %597 = stablehlo.broadcast_in_dim %cst_140, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %598 = stablehlo.divide %596, %597 : tensor<1x64x1xf32>
    %599 = stablehlo.broadcast_in_dim %598, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %600 = stablehlo.subtract %594, %599 : tensor<1x64x768xf32>
    %601 = stablehlo.multiply %600, %600 : tensor<1x64x768xf32>
    %cst_141 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %602 = stablehlo.reduce(%601 init: %cst_141) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %603 = stablehlo.broadcast_in_dim %602, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_142 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %604 = stablehlo.broadcast_in_dim %cst_142, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %605 = stablehlo.divide %603, %604 : tensor<1x64x1xf32>
    %606 = stablehlo.broadcast_in_dim %598, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %607 = stablehlo.subtract %594, %606 : tensor<1x64x768xf32>
    %cst_143 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %608 = stablehlo.broadcast_in_dim %cst_143, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %609 = stablehlo.add %605, %608 : tensor<1x64x1xf32>
    %610 = stablehlo.rsqrt %609 : tensor<1x64x1xf32>
    %611 = stablehlo.broadcast_in_dim %610, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %612 = stablehlo.multiply %607, %611 : tensor<1x64x768xf32>
    %613 = stablehlo.broadcast_in_dim %arg63, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %614 = stablehlo.broadcast_in_dim %613, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %615 = stablehlo.multiply %612, %614 : tensor<1x64x768xf32>
    %616 = stablehlo.broadcast_in_dim %arg64, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %617 = stablehlo.broadcast_in_dim %616, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %618 = stablehlo.add %615, %617 : tensor<1x64x768xf32>
    %619 = stablehlo.dot_general %618, %arg65, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x2304xf32>) -> tensor<1x64x2304xf32>
    %620 = stablehlo.broadcast_in_dim %arg66, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %621 = stablehlo.broadcast_in_dim %620, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x64x2304xf32>
    %622 = stablehlo.add %619, %621 : tensor<1x64x2304xf32>
    %623 = stablehlo.slice %622 [0:1, 0:64, 0:768] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %624 = stablehlo.slice %622 [0:1, 0:64, 768:1536] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %625 = stablehlo.slice %622 [0:1, 0:64, 1536:2304] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %626 = stablehlo.reshape %623 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %627 = stablehlo.transpose %626, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %628 = stablehlo.reshape %624 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %629 = stablehlo.transpose %628, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %630 = stablehlo.reshape %625 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %631 = stablehlo.transpose %630, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %c_144 = stablehlo.constant dense<0> : tensor<i32>
    %c_145 = stablehlo.constant dense<0> : tensor<i32>
    %c_146 = stablehlo.constant dense<0> : tensor<i32>
    %c_147 = stablehlo.constant dense<0> : tensor<i32>
    %632 = stablehlo.dynamic_update_slice %0, %629, %c_144, %c_145, %c_146, %c_147 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_148 = stablehlo.constant dense<0> : tensor<i32>
    %c_149 = stablehlo.constant dense<0> : tensor<i32>
    %c_150 = stablehlo.constant dense<0> : tensor<i32>
    %c_151 = stablehlo.constant dense<0> : tensor<i32>
    %633 = stablehlo.dynamic_update_slice %0, %631, %c_148, %c_149, %c_150, %c_151 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %634 = stablehlo.transpose %632, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %635 = stablehlo.reshape %627 : (tensor<1x12x64x64xf32>) -> tensor<12x64x64xf32>
    %636 = stablehlo.reshape %634 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %637 = stablehlo.dot_general %635, %636, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x64xf32>, tensor<12x64x80xf32>) -> tensor<12x64x80xf32>
    %638 = stablehlo.broadcast_in_dim %637, dims = [1, 2, 3] : (tensor<12x64x80xf32>) -> tensor<1x12x64x80xf32>
    %cst_152 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %639 = stablehlo.broadcast_in_dim %cst_152, dims = [] : (tensor<f32>) -> tensor<1x12x64x80xf32>
    %640 = stablehlo.divide %638, %639 : tensor<1x12x64x80xf32>
    %cst_153 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %641 = call @_where(%19, %640, %cst_153) : (tensor<64x80xi1>, tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64x80xf32>
    %cst_154 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %642 = stablehlo.reduce(%641 init: %cst_154) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %cst_155 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %643 = stablehlo.broadcast_in_dim %cst_155, dims = [] : (tensor<f32>) -> tensor<1x12x64xf32>
    %644 = stablehlo.maximum %643, %642 : tensor<1x12x64xf32>
    %645 = stablehlo.broadcast_in_dim %644, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %646 = stablehlo.broadcast_in_dim %645, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %647 = stablehlo.subtract %641, %646 : tensor<1x12x64x80xf32>
    %648 = stablehlo.exponential %647 : tensor<1x12x64x80xf32>
    %cst_156 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %649 = stablehlo.reduce(%648 init: %cst_156) applies stablehlo.add across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %650 = stablehlo.broadcast_in_dim %649, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %651 = stablehlo.broadcast_in_dim %650, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %652 = stablehlo.divide %648, %651 : tensor<1x12x64x80xf32>
    %653 = stablehlo.reshape %652 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %654 = stablehlo.reshape %633 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %655 = stablehlo.dot_general %653, %654, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x80xf32>, tensor<12x80x64xf32>) -> tensor<12x64x64xf32>
    %656 = stablehlo.broadcast_in_dim %655, dims = [1, 2, 3] : (tensor<12x64x64xf32>) -> tensor<1x12x64x64xf32>
    %657 = stablehlo.transpose %656, dims = [0, 2, 1, 3] : (tensor<1x12x64x64xf32>) -> tensor<1x64x12x64xf32>
    %658 = stablehlo.reshape %657 : (tensor<1x64x12x64xf32>) -> tensor<1x64x768xf32>
    %659 = stablehlo.dot_general %658, %arg67, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x768xf32>) -> tensor<1x64x768xf32>
    %660 = stablehlo.broadcast_in_dim %arg68, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %661 = stablehlo.broadcast_in_dim %660, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %662 = stablehlo.add %659, %661 : tensor<1x64x768xf32>
    %663 = stablehlo.add %594, %662 : tensor<1x64x768xf32>
    %cst_157 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %664 = stablehlo.reduce(%663 init: %cst_157) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %665 = stablehlo.broadcast_in_dim %664, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_158 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %666 = stablehlo.broadcast_in_dim %cst_158, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %667 = stablehlo.divide %665, %666 : tensor<1x64x1xf32>
    %668 = stablehlo.broadcast_in_dim %667, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %669 = stablehlo.subtract %663, %668 : tensor<1x64x768xf32>
    %670 = stablehlo.multiply %669, %669 : tensor<1x64x768xf32>
    %cst_159 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %671 = stablehlo.reduce(%670 init: %cst_159) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %672 = stablehlo.broadcast_in_dim %671, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_160 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %673 = stablehlo.broadcast_in_dim %cst_160, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %674 = stablehlo.divide %672, %673 : tensor<1x64x1xf32>
    %675 = stablehlo.broadcast_in_dim %667, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %676 = stablehlo.subtract %663, %675 : tensor<1x64x768xf32>
    %cst_161 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %677 = stablehlo.broadcast_in_dim %cst_161, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %678 = stablehlo.add %674, %677 : tensor<1x64x1xf32>
    %679 = stablehlo.rsqrt %678 : tensor<1x64x1xf32>
    %680 = stablehlo.broadcast_in_dim %679, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %681 = stablehlo.multiply %676, %680 : tensor<1x64x768xf32>
    %682 = stablehlo.broadcast_in_dim %arg69, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %683 = stablehlo.broadcast_in_dim %682, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %684 = stablehlo.multiply %681, %683 : tensor<1x64x768xf32>
    %685 = stablehlo.broadcast_in_dim %arg70, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %686 = stablehlo.broadcast_in_dim %685, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %687 = stablehlo.add %684, %686 : tensor<1x64x768xf32>
    %688 = stablehlo.dot_general %687, %arg71, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x3072xf32>) -> tensor<1x64x3072xf32>
    %689 = stablehlo.broadcast_in_dim %arg72, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %690 = stablehlo.broadcast_in_dim %689, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x64x3072xf32>
    %691 = stablehlo.add %688, %690 : tensor<1x64x3072xf32>
    %692 = stablehlo.multiply %691, %691 : tensor<1x64x3072xf32>
    %693 = stablehlo.multiply %692, %691 : tensor<1x64x3072xf32>
    %cst_162 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %694 = stablehlo.broadcast_in_dim %cst_162, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %695 = stablehlo.multiply %694, %693 : tensor<1x64x3072xf32>
    %696 = stablehlo.add %691, %695 : tensor<1x64x3072xf32>
    %cst_163 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %697 = stablehlo.broadcast_in_dim %cst_163, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %698 = stablehlo.multiply %697, %696 : tensor<1x64x3072xf32>
    %699 = stablehlo.tanh %698 : tensor<1x64x3072xf32>
    %cst_164 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %700 = stablehlo.broadcast_in_dim %cst_164, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %701 = stablehlo.add %700, %699 : tensor<1x64x3072xf32>
    %cst_165 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %702 = stablehlo.broadcast_in_dim %cst_165, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %703 = stablehlo.multiply %702, %701 : tensor<1x64x3072xf32>
    %704 = stablehlo.multiply %691, %703 : tensor<1x64x3072xf32>
    %705 = stablehlo.dot_general %704, %arg73, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x3072xf32>, tensor<3072x768xf32>) -> tensor<1x64x768xf32>
    %706 = stablehlo.broadcast_in_dim %arg74, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %707 = stablehlo.broadcast_in_dim %706, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %708 = stablehlo.add %705, %707 : tensor<1x64x768xf32>
    %709 = stablehlo.add %663, %708 : tensor<1x64x768xf32>
    %cst_166 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %710 = stablehlo.reduce(%709 init: %cst_166) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %711 = stablehlo.broadcast_in_dim %710, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_167 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %712 = stablehlo.broadcast_in_dim %cst_167, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %713 = stablehlo.divide %711, %712 : tensor<1x64x1xf32>
    %714 = stablehlo.broadcast_in_dim %713, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %715 = stablehlo.subtract %709, %714 : tensor<1x64x768xf32>
    %716 = stablehlo.multiply %715, %715 : tensor<1x64x768xf32>
    %cst_168 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %717 = stablehlo.reduce(%716 init: %cst_168) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %718 = stablehlo.broadcast_in_dim %717, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_169 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %719 = stablehlo.broadcast_in_dim %cst_169, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %720 = stablehlo.divide %718, %719 : tensor<1x64x1xf32>
    %721 = stablehlo.broadcast_in_dim %713, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %722 = stablehlo.subtract %709, %721 : tensor<1x64x768xf32>
    %cst_170 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %723 = stablehlo.broadcast_in_dim %cst_170, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %724 = stablehlo.add %720, %723 : tensor<1x64x1xf32>
    %725 = stablehlo.rsqrt %724 : tensor<1x64x1xf32>
    %726 = stablehlo.broadcast_in_dim %725, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %727 = stablehlo.multiply %722, %726 : tensor<1x64x768xf32>
    %728 = stablehlo.broadcast_in_dim %arg75, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %729 = stablehlo.broadcast_in_dim %728, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %730 = stablehlo.multiply %727, %729 : tensor<1x64x768xf32>
    %731 = stablehlo.broadcast_in_dim %arg76, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %732 = stablehlo.broadcast_in_dim %731, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %733 = stablehlo.add %730, %732 : tensor<1x64x768xf32>
    %734 = stablehlo.dot_general %733, %arg77, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x2304xf32>) -> tensor<1x64x2304xf32>
    %735 = stablehlo.broadcast_in_dim %arg78, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %736 = stablehlo.broadcast_in_dim %735, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x64x2304xf32>
    %737 = stablehlo.add %734, %736 : tensor<1x64x2304xf32>
    %738 = stablehlo.slice %737 [0:1, 0:64, 0:768] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %739 = stablehlo.slice %737 [0:1, 0:64, 768:1536] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %740 = stablehlo.slice %737 [0:1, 0:64, 1536:2304] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %741 = stablehlo.reshape %738 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %742 = stablehlo.transpose %741, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %743 = stablehlo.reshape %739 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %744 = stablehlo.transpose %743, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %745 = stablehlo.reshape %740 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %746 = stablehlo.transpose %745, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %c_171 = stablehlo.constant dense<0> : tensor<i32>
    %c_172 = stablehlo.constant dense<0> : tensor<i32>
    %c_173 = stablehlo.constant dense<0> : tensor<i32>
    %c_174 = stablehlo.constant dense<0> : tensor<i32>
    %747 = stablehlo.dynamic_update_slice %0, %744, %c_171, %c_172, %c_173, %c_174 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_175 = stablehlo.constant dense<0> : tensor<i32>
    %c_176 = stablehlo.constant dense<0> : tensor<i32>
    %c_177 = stablehlo.constant dense<0> : tensor<i32>
    %c_178 = stablehlo.constant dense<0> : tensor<i32>
    %748 = stablehlo.dynamic_update_slice %0, %746, %c_175, %c_176, %c_177, %c_178 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %749 = stablehlo.transpose %747, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %750 = stablehlo.reshape %742 : (tensor<1x12x64x64xf32>) -> tensor<12x64x64xf32>
    %751 = stablehlo.reshape %749 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %752 = stablehlo.dot_general %750, %751, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x64xf32>, tensor<12x64x80xf32>) -> tensor<12x64x80xf32>
    %753 = stablehlo.broadcast_in_dim %752, dims = [1, 2, 3] : (tensor<12x64x80xf32>) -> tensor<1x12x64x80xf32>
    %cst_179 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %754 = stablehlo.broadcast_in_dim %cst_179, dims = [] : (tensor<f32>) -> tensor<1x12x64x80xf32>
    %755 = stablehlo.divide %753, %754 : tensor<1x12x64x80xf32>
    %cst_180 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %756 = call @_where(%19, %755, %cst_180) : (tensor<64x80xi1>, tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64x80xf32>
    %cst_181 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %757 = stablehlo.reduce(%756 init: %cst_181) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %cst_182 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %758 = stablehlo.broadcast_in_dim %cst_182, dims = [] : (tensor<f32>) -> tensor<1x12x64xf32>
    %759 = stablehlo.maximum %758, %757 : tensor<1x12x64xf32>
    %760 = stablehlo.broadcast_in_dim %759, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %761 = stablehlo.broadcast_in_dim %760, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %762 = stablehlo.subtract %756, %761 : tensor<1x12x64x80xf32>
    %763 = stablehlo.exponential %762 : tensor<1x12x64x80xf32>
    %cst_183 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %764 = stablehlo.reduce(%763 init: %cst_183) applies stablehlo.add across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %765 = stablehlo.broadcast_in_dim %764, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %766 = stablehlo.broadcast_in_dim %765, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %767 = stablehlo.divide %763, %766 : tensor<1x12x64x80xf32>
    %768 = stablehlo.reshape %767 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %769 = stablehlo.reshape %748 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %770 = stablehlo.dot_general %768, %769, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x80xf32>, tensor<12x80x64xf32>) -> tensor<12x64x64xf32>
    %771 = stablehlo.broadcast_in_dim %770, dims = [1, 2, 3] : (tensor<12x64x64xf32>) -> tensor<1x12x64x64xf32>
    %772 = stablehlo.transpose %771, dims = [0, 2, 1, 3] : (tensor<1x12x64x64xf32>) -> tensor<1x64x12x64xf32>
    %773 = stablehlo.reshape %772 : (tensor<1x64x12x64xf32>) -> tensor<1x64x768xf32>
    %774 = stablehlo.dot_general %773, %arg79, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x768xf32>) -> tensor<1x64x768xf32>
    %775 = stablehlo.broadcast_in_dim %arg80, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %776 = stablehlo.broadcast_in_dim %775, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %777 = stablehlo.add %774, %776 : tensor<1x64x768xf32>
    %778 = stablehlo.add %709, %777 : tensor<1x64x768xf32>
    %cst_184 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %779 = stablehlo.reduce(%778 init: %cst_184) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %780 = stablehlo.broadcast_in_dim %779, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_185 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %781 = stablehlo.broadcast_in_dim %cst_185, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %782 = stablehlo.divide %780, %781 : tensor<1x64x1xf32>
    %783 = stablehlo.broadcast_in_dim %782, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %784 = stablehlo.subtract %778, %783 : tensor<1x64x768xf32>
    %785 = stablehlo.multiply %784, %784 : tensor<1x64x768xf32>
    %cst_186 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %786 = stablehlo.reduce(%785 init: %cst_186) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %787 = stablehlo.broadcast_in_dim %786, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_187 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %788 = stablehlo.broadcast_in_dim %cst_187, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %789 = stablehlo.divide %787, %788 : tensor<1x64x1xf32>
    %790 = stablehlo.broadcast_in_dim %782, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %791 = stablehlo.subtract %778, %790 : tensor<1x64x768xf32>
    %cst_188 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %792 = stablehlo.broadcast_in_dim %cst_188, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %793 = stablehlo.add %789, %792 : tensor<1x64x1xf32>
    %794 = stablehlo.rsqrt %793 : tensor<1x64x1xf32>
    %795 = stablehlo.broadcast_in_dim %794, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %796 = stablehlo.multiply %791, %795 : tensor<1x64x768xf32>
    %797 = stablehlo.broadcast_in_dim %arg81, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %798 = stablehlo.broadcast_in_dim %797, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %799 = stablehlo.multiply %796, %798 : tensor<1x64x768xf32>
    %800 = stablehlo.broadcast_in_dim %arg82, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %801 = stablehlo.broadcast_in_dim %800, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %802 = stablehlo.add %799, %801 : tensor<1x64x768xf32>
    %803 = stablehlo.dot_general %802, %arg83, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x3072xf32>) -> tensor<1x64x3072xf32>
    %804 = stablehlo.broadcast_in_dim %arg84, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %805 = stablehlo.broadcast_in_dim %804, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x64x3072xf32>
    %806 = stablehlo.add %803, %805 : tensor<1x64x3072xf32>
    %807 = stablehlo.multiply %806, %806 : tensor<1x64x3072xf32>
    %808 = stablehlo.multiply %807, %806 : tensor<1x64x3072xf32>
    %cst_189 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %809 = stablehlo.broadcast_in_dim %cst_189, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %810 = stablehlo.multiply %809, %808 : tensor<1x64x3072xf32>
    %811 = stablehlo.add %806, %810 : tensor<1x64x3072xf32>
    %cst_190 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %812 = stablehlo.broadcast_in_dim %cst_190, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %813 = stablehlo.multiply %812, %811 : tensor<1x64x3072xf32>
    %814 = stablehlo.tanh %813 : tensor<1x64x3072xf32>
    %cst_191 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %815 = stablehlo.broadcast_in_dim %cst_191, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %816 = stablehlo.add %815, %814 : tensor<1x64x3072xf32>
    %cst_192 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %817 = stablehlo.broadcast_in_dim %cst_192, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %818 = stablehlo.multiply %817, %816 : tensor<1x64x3072xf32>
    %819 = stablehlo.multiply %806, %818 : tensor<1x64x3072xf32>
    %820 = stablehlo.dot_general %819, %arg85, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x3072xf32>, tensor<3072x768xf32>) -> tensor<1x64x768xf32>
    %821 = stablehlo.broadcast_in_dim %arg86, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %822 = stablehlo.broadcast_in_dim %821, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %823 = stablehlo.add %820, %822 : tensor<1x64x768xf32>
    %824 = stablehlo.add %778, %823 : tensor<1x64x768xf32>
    %cst_193 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %825 = stablehlo.reduce(%824 init: %cst_193) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %826 = stablehlo.broadcast_in_dim %825, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_194 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %827 = stablehlo.broadcast_in_dim %cst_194, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %828 = stablehlo.divide %826, %827 : tensor<1x64x1xf32>
    %829 = stablehlo.broadcast_in_dim %828, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %830 = stablehlo.subtract %824, %829 : tensor<1x64x768xf32>
    %831 = stablehlo.multiply %830, %830 : tensor<1x64x768xf32>
    %cst_195 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %832 = stablehlo.reduce(%831 init: %cst_195) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %833 = stablehlo.broadcast_in_dim %832, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_196 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %834 = stablehlo.broadcast_in_dim %cst_196, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %835 = stablehlo.divide %833, %834 : tensor<1x64x1xf32>
    %836 = stablehlo.broadcast_in_dim %828, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %837 = stablehlo.subtract %824, %836 : tensor<1x64x768xf32>
    %cst_197 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %838 = stablehlo.broadcast_in_dim %cst_197, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %839 = stablehlo.add %835, %838 : tensor<1x64x1xf32>
    %840 = stablehlo.rsqrt %839 : tensor<1x64x1xf32>
    %841 = stablehlo.broadcast_in_dim %840, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %842 = stablehlo.multiply %837, %841 : tensor<1x64x768xf32>
    %843 = stablehlo.broadcast_in_dim %arg87, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %844 = stablehlo.broadcast_in_dim %843, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %845 = stablehlo.multiply %842, %844 : tensor<1x64x768xf32>
    %846 = stablehlo.broadcast_in_dim %arg88, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %847 = stablehlo.broadcast_in_dim %846, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %848 = stablehlo.add %845, %847 : tensor<1x64x768xf32>
    %849 = stablehlo.dot_general %848, %arg89, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x2304xf32>) -> tensor<1x64x2304xf32>
    %850 = stablehlo.broadcast_in_dim %arg90, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %851 = stablehlo.broadcast_in_dim %850, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x64x2304xf32>
    %852 = stablehlo.add %849, %851 : tensor<1x64x2304xf32>
    %853 = stablehlo.slice %852 [0:1, 0:64, 0:768] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %854 = stablehlo.slice %852 [0:1, 0:64, 768:1536] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %855 = stablehlo.slice %852 [0:1, 0:64, 1536:2304] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %856 = stablehlo.reshape %853 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %857 = stablehlo.transpose %856, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %858 = stablehlo.reshape %854 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %859 = stablehlo.transpose %858, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %860 = stablehlo.reshape %855 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %861 = stablehlo.transpose %860, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %c_198 = stablehlo.constant dense<0> : tensor<i32>
    %c_199 = stablehlo.constant dense<0> : tensor<i32>
    %c_200 = stablehlo.constant dense<0> : tensor<i32>
    %c_201 = stablehlo.constant dense<0> : tensor<i32>
    %862 = stablehlo.dynamic_update_slice %0, %859, %c_198, %c_199, %c_200, %c_201 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_202 = stablehlo.constant dense<0> : tensor<i32>
    %c_203 = stablehlo.constant dense<0> : tensor<i32>
    %c_204 = stablehlo.constant dense<0> : tensor<i32>
    %c_205 = stablehlo.constant dense<0> : tensor<i32>
    %863 = stablehlo.dynamic_update_slice %0, %861, %c_202, %c_203, %c_204, %c_205 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %864 = stablehlo.transpose %862, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %865 = stablehlo.reshape %857 : (tensor<1x12x64x64xf32>) -> tensor<12x64x64xf32>
    %866 = stablehlo.reshape %864 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %867 = stablehlo.dot_general %865, %866, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x64xf32>, tensor<12x64x80xf32>) -> tensor<12x64x80xf32>
    %868 = stablehlo.broadcast_in_dim %867, dims = [1, 2, 3] : (tensor<12x64x80xf32>) -> tensor<1x12x64x80xf32>
    %cst_206 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %869 = stablehlo.broadcast_in_dim %cst_206, dims = [] : (tensor<f32>) -> tensor<1x12x64x80xf32>
    %870 = stablehlo.divide %868, %869 : tensor<1x12x64x80xf32>
    %cst_207 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %871 = call @_where(%19, %870, %cst_207) : (tensor<64x80xi1>, tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64x80xf32>
    %cst_208 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %872 = stablehlo.reduce(%871 init: %cst_208) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %cst_209 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %873 = stablehlo.broadcast_in_dim %cst_209, dims = [] : (tensor<f32>) -> tensor<1x12x64xf32>
    %874 = stablehlo.maximum %873, %872 : tensor<1x12x64xf32>
    %875 = stablehlo.broadcast_in_dim %874, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %876 = stablehlo.broadcast_in_dim %875, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %877 = stablehlo.subtract %871, %876 : tensor<1x12x64x80xf32>
    %878 = stablehlo.exponential %877 : tensor<1x12x64x80xf32>
    %cst_210 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %879 = stablehlo.reduce(%878 init: %cst_210) applies stablehlo.add across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %880 = stablehlo.broadcast_in_dim %879, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %881 = stablehlo.broadcast_in_dim %880, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %882 = stablehlo.divide %878, %881 : tensor<1x12x64x80xf32>
    %883 = stablehlo.reshape %882 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %884 = stablehlo.reshape %863 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %885 = stablehlo.dot_general %883, %884, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x80xf32>, tensor<12x80x64xf32>) -> tensor<12x64x64xf32>
    %886 = stablehlo.broadcast_in_dim %885, dims = [1, 2, 3] : (tensor<12x64x64xf32>) -> tensor<1x12x64x64xf32>
    %887 = stablehlo.transpose %886, dims = [0, 2, 1, 3] : (tensor<1x12x64x64xf32>) -> tensor<1x64x12x64xf32>
    %888 = stablehlo.reshape %887 : (tensor<1x64x12x64xf32>) -> tensor<1x64x768xf32>
    %889 = stablehlo.dot_general %888, %arg91, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x768xf32>) -> tensor<1x64x768xf32>
    %890 = stablehlo.broadcast_in_dim %arg92, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %891 = stablehlo.broadcast_in_dim %890, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %892 = stablehlo.add %889, %891 : tensor<1x64x768xf32>
    %893 = stablehlo.add %824, %892 : tensor<1x64x768xf32>
    %cst_211 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %894 = stablehlo.reduce(%893 init: %cst_211) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %895 = stablehlo.broadcast_in_dim %894, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_212 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %896 = stablehlo.broadcast_in_dim %cst_212, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %897 = stablehlo.divide %895, %896 : tensor<1x64x1xf32>
    %898 = stablehlo.broadcast_in_dim %897, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %899 = stablehlo.subtract %893, %898 : tensor<1x64x768xf32>
    %900 = stablehlo.multiply %899, %899 : tensor<1x64x768xf32>
    %cst_213 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %901 = stablehlo.reduce(%900 init: %cst_213) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %902 = stablehlo.broadcast_in_dim %901, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_214 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %903 = stablehlo.broadcast_in_dim %cst_214, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %904 = stablehlo.divide %902, %903 : tensor<1x64x1xf32>
    %905 = stablehlo.broadcast_in_dim %897, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %906 = stablehlo.subtract %893, %905 : tensor<1x64x768xf32>
    %cst_215 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %907 = stablehlo.broadcast_in_dim %cst_215, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %908 = stablehlo.add %904, %907 : tensor<1x64x1xf32>
    %909 = stablehlo.rsqrt %908 : tensor<1x64x1xf32>
    %910 = stablehlo.broadcast_in_dim %909, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %911 = stablehlo.multiply %906, %910 : tensor<1x64x768xf32>
    %912 = stablehlo.broadcast_in_dim %arg93, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %913 = stablehlo.broadcast_in_dim %912, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %914 = stablehlo.multiply %911, %913 : tensor<1x64x768xf32>
    %915 = stablehlo.broadcast_in_dim %arg94, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %916 = stablehlo.broadcast_in_dim %915, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %917 = stablehlo.add %914, %916 : tensor<1x64x768xf32>
    %918 = stablehlo.dot_general %917, %arg95, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x3072xf32>) -> tensor<1x64x3072xf32>
    %919 = stablehlo.broadcast_in_dim %arg96, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %920 = stablehlo.broadcast_in_dim %919, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x64x3072xf32>
    %921 = stablehlo.add %918, %920 : tensor<1x64x3072xf32>
    %922 = stablehlo.multiply %921, %921 : tensor<1x64x3072xf32>
    %923 = stablehlo.multiply %922, %921 : tensor<1x64x3072xf32>
    %cst_216 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %924 = stablehlo.broadcast_in_dim %cst_216, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %925 = stablehlo.multiply %924, %923 : tensor<1x64x3072xf32>
    %926 = stablehlo.add %921, %925 : tensor<1x64x3072xf32>
    %cst_217 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %927 = stablehlo.broadcast_in_dim %cst_217, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %928 = stablehlo.multiply %927, %926 : tensor<1x64x3072xf32>
    %929 = stablehlo.tanh %928 : tensor<1x64x3072xf32>
    %cst_218 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %930 = stablehlo.broadcast_in_dim %cst_218, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %931 = stablehlo.add %930, %929 : tensor<1x64x3072xf32>
    %cst_219 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %932 = stablehlo.broadcast_in_dim %cst_219, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %933 = stablehlo.multiply %932, %931 : tensor<1x64x3072xf32>
    %934 = stablehlo.multiply %921, %933 : tensor<1x64x3072xf32>
    %935 = stablehlo.dot_general %934, %arg97, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x3072xf32>, tensor<3072x768xf32>) -> tensor<1x64x768xf32>
    %936 = stablehlo.broadcast_in_dim %arg98, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %937 = stablehlo.broadcast_in_dim %936, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %938 = stablehlo.add %935, %937 : tensor<1x64x768xf32>
    %939 = stablehlo.add %893, %938 : tensor<1x64x768xf32>
    %cst_220 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %940 = stablehlo.reduce(%939 init: %cst_220) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %941 = stablehlo.broadcast_in_dim %940, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_221 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %942 = stablehlo.broadcast_in_dim %cst_221, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %943 = stablehlo.divide %941, %942 : tensor<1x64x1xf32>
    %944 = stablehlo.broadcast_in_dim %943, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %945 = stablehlo.subtract %939, %944 : tensor<1x64x768xf32>
    %946 = stablehlo.multiply %945, %945 : tensor<1x64x768xf32>
    %cst_222 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %947 = stablehlo.reduce(%946 init: %cst_222) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %948 = stablehlo.broadcast_in_dim %947, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_223 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %949 = stablehlo.broadcast_in_dim %cst_223, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %950 = stablehlo.divide %948, %949 : tensor<1x64x1xf32>
    %951 = stablehlo.broadcast_in_dim %943, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %952 = stablehlo.subtract %939, %951 : tensor<1x64x768xf32>
    %cst_224 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %953 = stablehlo.broadcast_in_dim %cst_224, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %954 = stablehlo.add %950, %953 : tensor<1x64x1xf32>
    %955 = stablehlo.rsqrt %954 : tensor<1x64x1xf32>
    %956 = stablehlo.broadcast_in_dim %955, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %957 = stablehlo.multiply %952, %956 : tensor<1x64x768xf32>
    %958 = stablehlo.broadcast_in_dim %arg99, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %959 = stablehlo.broadcast_in_dim %958, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %960 = stablehlo.multiply %957, %959 : tensor<1x64x768xf32>
    %961 = stablehlo.broadcast_in_dim %arg100, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %962 = stablehlo.broadcast_in_dim %961, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %963 = stablehlo.add %960, %962 : tensor<1x64x768xf32>
    %964 = stablehlo.dot_general %963, %arg101, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x2304xf32>) -> tensor<1x64x2304xf32>
    %965 = stablehlo.broadcast_in_dim %arg102, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %966 = stablehlo.broadcast_in_dim %965, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x64x2304xf32>
    %967 = stablehlo.add %964, %966 : tensor<1x64x2304xf32>
    %968 = stablehlo.slice %967 [0:1, 0:64, 0:768] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %969 = stablehlo.slice %967 [0:1, 0:64, 768:1536] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %970 = stablehlo.slice %967 [0:1, 0:64, 1536:2304] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %971 = stablehlo.reshape %968 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %972 = stablehlo.transpose %971, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %973 = stablehlo.reshape %969 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %974 = stablehlo.transpose %973, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %975 = stablehlo.reshape %970 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %976 = stablehlo.transpose %975, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %c_225 = stablehlo.constant dense<0> : tensor<i32>
    %c_226 = stablehlo.constant dense<0> : tensor<i32>
    %c_227 = stablehlo.constant dense<0> : tensor<i32>
    %c_228 = stablehlo.constant dense<0> : tensor<i32>
    %977 = stablehlo.dynamic_update_slice %0, %974, %c_225, %c_226, %c_227, %c_228 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_229 = stablehlo.constant dense<0> : tensor<i32>
    %c_230 = stablehlo.constant dense<0> : tensor<i32>
    %c_231 = stablehlo.constant dense<0> : tensor<i32>
    %c_232 = stablehlo.constant dense<0> : tensor<i32>
    %978 = stablehlo.dynamic_update_slice %0, %976, %c_229, %c_230, %c_231, %c_232 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %979 = stablehlo.transpose %977, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %980 = stablehlo.reshape %972 : (tensor<1x12x64x64xf32>) -> tensor<12x64x64xf32>
    %981 = stablehlo.reshape %979 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %982 = stablehlo.dot_general %980, %981, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x64xf32>, tensor<12x64x80xf32>) -> tensor<12x64x80xf32>
    %983 = stablehlo.broadcast_in_dim %982, dims = [1, 2, 3] : (tensor<12x64x80xf32>) -> tensor<1x12x64x80xf32>
    %cst_233 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %984 = stablehlo.broadcast_in_dim %cst_233, dims = [] : (tensor<f32>) -> tensor<1x12x64x80xf32>
    %985 = stablehlo.divide %983, %984 : tensor<1x12x64x80xf32>
    %cst_234 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %986 = call @_where(%19, %985, %cst_234) : (tensor<64x80xi1>, tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64x80xf32>
    %cst_235 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %987 = stablehlo.reduce(%986 init: %cst_235) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %cst_236 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %988 = stablehlo.broadcast_in_dim %cst_236, dims = [] : (tensor<f32>) -> tensor<1x12x64xf32>
    %989 = stablehlo.maximum %988, %987 : tensor<1x12x64xf32>
    %990 = stablehlo.broadcast_in_dim %989, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %991 = stablehlo.broadcast_in_dim %990, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %992 = stablehlo.subtract %986, %991 : tensor<1x12x64x80xf32>
    %993 = stablehlo.exponential %992 : tensor<1x12x64x80xf32>
    %cst_237 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %994 = stablehlo.reduce(%993 init: %cst_237) applies stablehlo.add across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %995 = stablehlo.broadcast_in_dim %994, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %996 = stablehlo.broadcast_in_dim %995, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %997 = stablehlo.divide %993, %996 : tensor<1x12x64x80xf32>
    %998 = stablehlo.reshape %997 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %999 = stablehlo.reshape %978 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %1000 = stablehlo.dot_general %998, %999, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x80xf32>, tensor<12x80x64xf32>) -> tensor<12x64x64xf32>
    %1001 = stablehlo.broadcast_in_dim %1000, dims = [1, 2, 3] : (tensor<12x64x64xf32>) -> tensor<1x12x64x64xf32>
    %1002 = stablehlo.transpose %1001, dims = [0, 2, 1, 3] : (tensor<1x12x64x64xf32>) -> tensor<1x64x12x64xf32>
    %1003 = stablehlo.reshape %1002 : (tensor<1x64x12x64xf32>) -> tensor<1x64x768xf32>
    %1004 = stablehlo.dot_general %1003, %arg103, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x768xf32>) -> tensor<1x64x768xf32>
    %1005 = stablehlo.broadcast_in_dim %arg104, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1006 = stablehlo.broadcast_in_dim %1005, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1007 = stablehlo.add %1004, %1006 : tensor<1x64x768xf32>
    %1008 = stablehlo.add %939, %1007 : tensor<1x64x768xf32>
    %cst_238 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1009 = stablehlo.reduce(%1008 init: %cst_238) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1010 = stablehlo.broadcast_in_dim %1009, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_239 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1011 = stablehlo.broadcast_in_dim %cst_239, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1012 = stablehlo.divide %1010, %1011 : tensor<1x64x1xf32>
    %1013 = stablehlo.broadcast_in_dim %1012, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1014 = stablehlo.subtract %1008, %1013 : tensor<1x64x768xf32>
    %1015 = stablehlo.multiply %1014, %1014 : tensor<1x64x768xf32>
    %cst_240 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1016 = stablehlo.reduce(%1015 init: %cst_240) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1017 = stablehlo.broadcast_in_dim %1016, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_241 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1018 = stablehlo.broadcast_in_dim %cst_241, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1019 = stablehlo.divide %1017, %1018 : tensor<1x64x1xf32>
    %1020 = stablehlo.broadcast_in_dim %1012, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1021 = stablehlo.subtract %1008, %1020 : tensor<1x64x768xf32>
    %cst_242 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1022 = stablehlo.broadcast_in_dim %cst_242, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1023 = stablehlo.add %1019, %1022 : tensor<1x64x1xf32>
    %1024 = stablehlo.rsqrt %1023 : tensor<1x64x1xf32>
    %1025 = stablehlo.broadcast_in_dim %1024, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1026 = stablehlo.multiply %1021, %1025 : tensor<1x64x768xf32>
    %1027 = stablehlo.broadcast_in_dim %arg105, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1028 = stablehlo.broadcast_in_dim %1027, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1029 = stablehlo.multiply %1026, %1028 : tensor<1x64x768xf32>
    %1030 = stablehlo.broadcast_in_dim %arg106, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1031 = stablehlo.broadcast_in_dim %1030, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1032 = stablehlo.add %1029, %1031 : tensor<1x64x768xf32>
    %1033 = stablehlo.dot_general %1032, %arg107, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x3072xf32>) -> tensor<1x64x3072xf32>
    %1034 = stablehlo.broadcast_in_dim %arg108, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1035 = stablehlo.broadcast_in_dim %1034, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x64x3072xf32>
    %1036 = stablehlo.add %1033, %1035 : tensor<1x64x3072xf32>
    %1037 = stablehlo.multiply %1036, %1036 : tensor<1x64x3072xf32>
    %1038 = stablehlo.multiply %1037, %1036 : tensor<1x64x3072xf32>
    %cst_243 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1039 = stablehlo.broadcast_in_dim %cst_243, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1040 = stablehlo.multiply %1039, %1038 : tensor<1x64x3072xf32>
    %1041 = stablehlo.add %1036, %1040 : tensor<1x64x3072xf32>
    %cst_244 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1042 = stablehlo.broadcast_in_dim %cst_244, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1043 = stablehlo.multiply %1042, %1041 : tensor<1x64x3072xf32>
    %1044 = stablehlo.tanh %1043 : tensor<1x64x3072xf32>
    %cst_245 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1045 = stablehlo.broadcast_in_dim %cst_245, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1046 = stablehlo.add %1045, %1044 : tensor<1x64x3072xf32>
    %cst_246 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1047 = stablehlo.broadcast_in_dim %cst_246, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1048 = stablehlo.multiply %1047, %1046 : tensor<1x64x3072xf32>
    %1049 = stablehlo.multiply %1036, %1048 : tensor<1x64x3072xf32>
    %1050 = stablehlo.dot_general %1049, %arg109, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x3072xf32>, tensor<3072x768xf32>) -> tensor<1x64x768xf32>
    %1051 = stablehlo.broadcast_in_dim %arg110, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1052 = stablehlo.broadcast_in_dim %1051, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1053 = stablehlo.add %1050, %1052 : tensor<1x64x768xf32>
    %1054 = stablehlo.add %1008, %1053 : tensor<1x64x768xf32>
    %cst_247 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1055 = stablehlo.reduce(%1054 init: %cst_247) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1056 = stablehlo.broadcast_in_dim %1055, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_248 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1057 = stablehlo.broadcast_in_dim %cst_248, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1058 = stablehlo.divide %1056, %1057 : tensor<1x64x1xf32>
    %1059 = stablehlo.broadcast_in_dim %1058, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1060 = stablehlo.subtract %1054, %1059 : tensor<1x64x768xf32>
    %1061 = stablehlo.multiply %1060, %1060 : tensor<1x64x768xf32>
    %cst_249 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1062 = stablehlo.reduce(%1061 init: %cst_249) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1063 = stablehlo.broadcast_in_dim %1062, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_250 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1064 = stablehlo.broadcast_in_dim %cst_250, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1065 = stablehlo.divide %1063, %1064 : tensor<1x64x1xf32>
    %1066 = stablehlo.broadcast_in_dim %1058, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1067 = stablehlo.subtract %1054, %1066 : tensor<1x64x768xf32>
    %cst_251 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1068 = stablehlo.broadcast_in_dim %cst_251, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1069 = stablehlo.add %1065, %1068 : tensor<1x64x1xf32>
    %1070 = stablehlo.rsqrt %1069 : tensor<1x64x1xf32>
    %1071 = stablehlo.broadcast_in_dim %1070, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1072 = stablehlo.multiply %1067, %1071 : tensor<1x64x768xf32>
    %1073 = stablehlo.broadcast_in_dim %arg111, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1074 = stablehlo.broadcast_in_dim %1073, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1075 = stablehlo.multiply %1072, %1074 : tensor<1x64x768xf32>
    %1076 = stablehlo.broadcast_in_dim %arg112, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1077 = stablehlo.broadcast_in_dim %1076, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1078 = stablehlo.add %1075, %1077 : tensor<1x64x768xf32>
    %1079 = stablehlo.dot_general %1078, %arg113, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x2304xf32>) -> tensor<1x64x2304xf32>
    %1080 = stablehlo.broadcast_in_dim %arg114, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %1081 = stablehlo.broadcast_in_dim %1080, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x64x2304xf32>
    %1082 = stablehlo.add %1079, %1081 : tensor<1x64x2304xf32>
    %1083 = stablehlo.slice %1082 [0:1, 0:64, 0:768] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %1084 = stablehlo.slice %1082 [0:1, 0:64, 768:1536] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %1085 = stablehlo.slice %1082 [0:1, 0:64, 1536:2304] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %1086 = stablehlo.reshape %1083 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %1087 = stablehlo.transpose %1086, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %1088 = stablehlo.reshape %1084 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %1089 = stablehlo.transpose %1088, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %1090 = stablehlo.reshape %1085 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %1091 = stablehlo.transpose %1090, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %c_252 = stablehlo.constant dense<0> : tensor<i32>
    %c_253 = stablehlo.constant dense<0> : tensor<i32>
    %c_254 = stablehlo.constant dense<0> : tensor<i32>
    %c_255 = stablehlo.constant dense<0> : tensor<i32>
    %1092 = stablehlo.dynamic_update_slice %0, %1089, %c_252, %c_253, %c_254, %c_255 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_256 = stablehlo.constant dense<0> : tensor<i32>
    %c_257 = stablehlo.constant dense<0> : tensor<i32>
    %c_258 = stablehlo.constant dense<0> : tensor<i32>
    %c_259 = stablehlo.constant dense<0> : tensor<i32>
    %1093 = stablehlo.dynamic_update_slice %0, %1091, %c_256, %c_257, %c_258, %c_259 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %1094 = stablehlo.transpose %1092, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %1095 = stablehlo.reshape %1087 : (tensor<1x12x64x64xf32>) -> tensor<12x64x64xf32>
    %1096 = stablehlo.reshape %1094 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %1097 = stablehlo.dot_general %1095, %1096, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x64xf32>, tensor<12x64x80xf32>) -> tensor<12x64x80xf32>
    %1098 = stablehlo.broadcast_in_dim %1097, dims = [1, 2, 3] : (tensor<12x64x80xf32>) -> tensor<1x12x64x80xf32>
    %cst_260 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %1099 = stablehlo.broadcast_in_dim %cst_260, dims = [] : (tensor<f32>) -> tensor<1x12x64x80xf32>
    %1100 = stablehlo.divide %1098, %1099 : tensor<1x12x64x80xf32>
    %cst_261 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %1101 = call @_where(%19, %1100, %cst_261) : (tensor<64x80xi1>, tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64x80xf32>
    %cst_262 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1102 = stablehlo.reduce(%1101 init: %cst_262) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %cst_263 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1103 = stablehlo.broadcast_in_dim %cst_263, dims = [] : (tensor<f32>) -> tensor<1x12x64xf32>
    %1104 = stablehlo.maximum %1103, %1102 : tensor<1x12x64xf32>
    %1105 = stablehlo.broadcast_in_dim %1104, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %1106 = stablehlo.broadcast_in_dim %1105, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %1107 = stablehlo.subtract %1101, %1106 : tensor<1x12x64x80xf32>
    %1108 = stablehlo.exponential %1107 : tensor<1x12x64x80xf32>
    %cst_264 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1109 = stablehlo.reduce(%1108 init: %cst_264) applies stablehlo.add across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %1110 = stablehlo.broadcast_in_dim %1109, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %1111 = stablehlo.broadcast_in_dim %1110, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %1112 = stablehlo.divide %1108, %1111 : tensor<1x12x64x80xf32>
    %1113 = stablehlo.reshape %1112 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %1114 = stablehlo.reshape %1093 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %1115 = stablehlo.dot_general %1113, %1114, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x80xf32>, tensor<12x80x64xf32>) -> tensor<12x64x64xf32>
    %1116 = stablehlo.broadcast_in_dim %1115, dims = [1, 2, 3] : (tensor<12x64x64xf32>) -> tensor<1x12x64x64xf32>
    %1117 = stablehlo.transpose %1116, dims = [0, 2, 1, 3] : (tensor<1x12x64x64xf32>) -> tensor<1x64x12x64xf32>
    %1118 = stablehlo.reshape %1117 : (tensor<1x64x12x64xf32>) -> tensor<1x64x768xf32>
    %1119 = stablehlo.dot_general %1118, %arg115, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x768xf32>) -> tensor<1x64x768xf32>
    %1120 = stablehlo.broadcast_in_dim %arg116, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1121 = stablehlo.broadcast_in_dim %1120, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1122 = stablehlo.add %1119, %1121 : tensor<1x64x768xf32>
    %1123 = stablehlo.add %1054, %1122 : tensor<1x64x768xf32>
    %cst_265 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1124 = stablehlo.reduce(%1123 init: %cst_265) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1125 = stablehlo.broadcast_in_dim %1124, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_266 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1126 = stablehlo.broadcast_in_dim %cst_266, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1127 = stablehlo.divide %1125, %1126 : tensor<1x64x1xf32>
    %1128 = stablehlo.broadcast_in_dim %1127, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1129 = stablehlo.subtract %1123, %1128 : tensor<1x64x768xf32>
    %1130 = stablehlo.multiply %1129, %1129 : tensor<1x64x768xf32>
    %cst_267 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1131 = stablehlo.reduce(%1130 init: %cst_267) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1132 = stablehlo.broadcast_in_dim %1131, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_268 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1133 = stablehlo.broadcast_in_dim %cst_268, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1134 = stablehlo.divide %1132, %1133 : tensor<1x64x1xf32>
    %1135 = stablehlo.broadcast_in_dim %1127, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1136 = stablehlo.subtract %1123, %1135 : tensor<1x64x768xf32>
    %cst_269 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1137 = stablehlo.broadcast_in_dim %cst_269, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1138 = stablehlo.add %1134, %1137 : tensor<1x64x1xf32>
    %1139 = stablehlo.rsqrt %1138 : tensor<1x64x1xf32>
    %1140 = stablehlo.broadcast_in_dim %1139, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1141 = stablehlo.multiply %1136, %1140 : tensor<1x64x768xf32>
    %1142 = stablehlo.broadcast_in_dim %arg117, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1143 = stablehlo.broadcast_in_dim %1142, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1144 = stablehlo.multiply %1141, %1143 : tensor<1x64x768xf32>
    %1145 = stablehlo.broadcast_in_dim %arg118, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1146 = stablehlo.broadcast_in_dim %1145, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1147 = stablehlo.add %1144, %1146 : tensor<1x64x768xf32>
    %1148 = stablehlo.dot_general %1147, %arg119, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x3072xf32>) -> tensor<1x64x3072xf32>
    %1149 = stablehlo.broadcast_in_dim %arg120, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1150 = stablehlo.broadcast_in_dim %1149, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x64x3072xf32>
    %1151 = stablehlo.add %1148, %1150 : tensor<1x64x3072xf32>
    %1152 = stablehlo.multiply %1151, %1151 : tensor<1x64x3072xf32>
    %1153 = stablehlo.multiply %1152, %1151 : tensor<1x64x3072xf32>
    %cst_270 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1154 = stablehlo.broadcast_in_dim %cst_270, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1155 = stablehlo.multiply %1154, %1153 : tensor<1x64x3072xf32>
    %1156 = stablehlo.add %1151, %1155 : tensor<1x64x3072xf32>
    %cst_271 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1157 = stablehlo.broadcast_in_dim %cst_271, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1158 = stablehlo.multiply %1157, %1156 : tensor<1x64x3072xf32>
    %1159 = stablehlo.tanh %1158 : tensor<1x64x3072xf32>
    %cst_272 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1160 = stablehlo.broadcast_in_dim %cst_272, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1161 = stablehlo.add %1160, %1159 : tensor<1x64x3072xf32>
    %cst_273 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1162 = stablehlo.broadcast_in_dim %cst_273, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1163 = stablehlo.multiply %1162, %1161 : tensor<1x64x3072xf32>
    %1164 = stablehlo.multiply %1151, %1163 : tensor<1x64x3072xf32>
    %1165 = stablehlo.dot_general %1164, %arg121, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x3072xf32>, tensor<3072x768xf32>) -> tensor<1x64x768xf32>
    %1166 = stablehlo.broadcast_in_dim %arg122, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1167 = stablehlo.broadcast_in_dim %1166, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1168 = stablehlo.add %1165, %1167 : tensor<1x64x768xf32>
    %1169 = stablehlo.add %1123, %1168 : tensor<1x64x768xf32>
    %cst_274 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1170 = stablehlo.reduce(%1169 init: %cst_274) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1171 = stablehlo.broadcast_in_dim %1170, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_275 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1172 = stablehlo.broadcast_in_dim %cst_275, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1173 = stablehlo.divide %1171, %1172 : tensor<1x64x1xf32>
    %1174 = stablehlo.broadcast_in_dim %1173, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1175 = stablehlo.subtract %1169, %1174 : tensor<1x64x768xf32>
    %1176 = stablehlo.multiply %1175, %1175 : tensor<1x64x768xf32>
    %cst_276 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1177 = stablehlo.reduce(%1176 init: %cst_276) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1178 = stablehlo.broadcast_in_dim %1177, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_277 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1179 = stablehlo.broadcast_in_dim %cst_277, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1180 = stablehlo.divide %1178, %1179 : tensor<1x64x1xf32>
    %1181 = stablehlo.broadcast_in_dim %1173, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1182 = stablehlo.subtract %1169, %1181 : tensor<1x64x768xf32>
    %cst_278 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1183 = stablehlo.broadcast_in_dim %cst_278, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1184 = stablehlo.add %1180, %1183 : tensor<1x64x1xf32>
    %1185 = stablehlo.rsqrt %1184 : tensor<1x64x1xf32>
    %1186 = stablehlo.broadcast_in_dim %1185, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1187 = stablehlo.multiply %1182, %1186 : tensor<1x64x768xf32>
    %1188 = stablehlo.broadcast_in_dim %arg123, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1189 = stablehlo.broadcast_in_dim %1188, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1190 = stablehlo.multiply %1187, %1189 : tensor<1x64x768xf32>
    %1191 = stablehlo.broadcast_in_dim %arg124, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1192 = stablehlo.broadcast_in_dim %1191, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1193 = stablehlo.add %1190, %1192 : tensor<1x64x768xf32>
    %1194 = stablehlo.dot_general %1193, %arg125, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x2304xf32>) -> tensor<1x64x2304xf32>
    %1195 = stablehlo.broadcast_in_dim %arg126, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %1196 = stablehlo.broadcast_in_dim %1195, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x64x2304xf32>
    %1197 = stablehlo.add %1194, %1196 : tensor<1x64x2304xf32>
    %1198 = stablehlo.slice %1197 [0:1, 0:64, 0:768] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %1199 = stablehlo.slice %1197 [0:1, 0:64, 768:1536] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %1200 = stablehlo.slice %1197 [0:1, 0:64, 1536:2304] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %1201 = stablehlo.reshape %1198 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %1202 = stablehlo.transpose %1201, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %1203 = stablehlo.reshape %1199 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %1204 = stablehlo.transpose %1203, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %1205 = stablehlo.reshape %1200 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %1206 = stablehlo.transpose %1205, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %c_279 = stablehlo.constant dense<0> : tensor<i32>
    %c_280 = stablehlo.constant dense<0> : tensor<i32>
    %c_281 = stablehlo.constant dense<0> : tensor<i32>
    %c_282 = stablehlo.constant dense<0> : tensor<i32>
    %1207 = stablehlo.dynamic_update_slice %0, %1204, %c_279, %c_280, %c_281, %c_282 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_283 = stablehlo.constant dense<0> : tensor<i32>
    %c_284 = stablehlo.constant dense<0> : tensor<i32>
    %c_285 = stablehlo.constant dense<0> : tensor<i32>
    %c_286 = stablehlo.constant dense<0> : tensor<i32>
    %1208 = stablehlo.dynamic_update_slice %0, %1206, %c_283, %c_284, %c_285, %c_286 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %1209 = stablehlo.transpose %1207, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %1210 = stablehlo.reshape %1202 : (tensor<1x12x64x64xf32>) -> tensor<12x64x64xf32>
    %1211 = stablehlo.reshape %1209 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %1212 = stablehlo.dot_general %1210, %1211, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x64xf32>, tensor<12x64x80xf32>) -> tensor<12x64x80xf32>
    %1213 = stablehlo.broadcast_in_dim %1212, dims = [1, 2, 3] : (tensor<12x64x80xf32>) -> tensor<1x12x64x80xf32>
    %cst_287 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %1214 = stablehlo.broadcast_in_dim %cst_287, dims = [] : (tensor<f32>) -> tensor<1x12x64x80xf32>
    %1215 = stablehlo.divide %1213, %1214 : tensor<1x12x64x80xf32>
    %cst_288 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %1216 = call @_where(%19, %1215, %cst_288) : (tensor<64x80xi1>, tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64x80xf32>
    %cst_289 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1217 = stablehlo.reduce(%1216 init: %cst_289) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %cst_290 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1218 = stablehlo.broadcast_in_dim %cst_290, dims = [] : (tensor<f32>) -> tensor<1x12x64xf32>
    %1219 = stablehlo.maximum %1218, %1217 : tensor<1x12x64xf32>
    %1220 = stablehlo.broadcast_in_dim %1219, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %1221 = stablehlo.broadcast_in_dim %1220, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %1222 = stablehlo.subtract %1216, %1221 : tensor<1x12x64x80xf32>
    %1223 = stablehlo.exponential %1222 : tensor<1x12x64x80xf32>
    %cst_291 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1224 = stablehlo.reduce(%1223 init: %cst_291) applies stablehlo.add across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %1225 = stablehlo.broadcast_in_dim %1224, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %1226 = stablehlo.broadcast_in_dim %1225, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %1227 = stablehlo.divide %1223, %1226 : tensor<1x12x64x80xf32>
    %1228 = stablehlo.reshape %1227 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %1229 = stablehlo.reshape %1208 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %1230 = stablehlo.dot_general %1228, %1229, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x80xf32>, tensor<12x80x64xf32>) -> tensor<12x64x64xf32>
    %1231 = stablehlo.broadcast_in_dim %1230, dims = [1, 2, 3] : (tensor<12x64x64xf32>) -> tensor<1x12x64x64xf32>
    %1232 = stablehlo.transpose %1231, dims = [0, 2, 1, 3] : (tensor<1x12x64x64xf32>) -> tensor<1x64x12x64xf32>
    %1233 = stablehlo.reshape %1232 : (tensor<1x64x12x64xf32>) -> tensor<1x64x768xf32>
    %1234 = stablehlo.dot_general %1233, %arg127, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x768xf32>) -> tensor<1x64x768xf32>
    %1235 = stablehlo.broadcast_in_dim %arg128, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1236 = stablehlo.broadcast_in_dim %1235, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1237 = stablehlo.add %1234, %1236 : tensor<1x64x768xf32>
    %1238 = stablehlo.add %1169, %1237 : tensor<1x64x768xf32>
    %cst_292 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1239 = stablehlo.reduce(%1238 init: %cst_292) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1240 = stablehlo.broadcast_in_dim %1239, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_293 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1241 = stablehlo.broadcast_in_dim %cst_293, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1242 = stablehlo.divide %1240, %1241 : tensor<1x64x1xf32>
    %1243 = stablehlo.broadcast_in_dim %1242, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1244 = stablehlo.subtract %1238, %1243 : tensor<1x64x768xf32>
    %1245 = stablehlo.multiply %1244, %1244 : tensor<1x64x768xf32>
    %cst_294 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1246 = stablehlo.reduce(%1245 init: %cst_294) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1247 = stablehlo.broadcast_in_dim %1246, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_295 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1248 = stablehlo.broadcast_in_dim %cst_295, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1249 = stablehlo.divide %1247, %1248 : tensor<1x64x1xf32>
    %1250 = stablehlo.broadcast_in_dim %1242, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1251 = stablehlo.subtract %1238, %1250 : tensor<1x64x768xf32>
    %cst_296 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1252 = stablehlo.broadcast_in_dim %cst_296, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1253 = stablehlo.add %1249, %1252 : tensor<1x64x1xf32>
    %1254 = stablehlo.rsqrt %1253 : tensor<1x64x1xf32>
    %1255 = stablehlo.broadcast_in_dim %1254, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1256 = stablehlo.multiply %1251, %1255 : tensor<1x64x768xf32>
    %1257 = stablehlo.broadcast_in_dim %arg129, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1258 = stablehlo.broadcast_in_dim %1257, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1259 = stablehlo.multiply %1256, %1258 : tensor<1x64x768xf32>
    %1260 = stablehlo.broadcast_in_dim %arg130, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1261 = stablehlo.broadcast_in_dim %1260, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1262 = stablehlo.add %1259, %1261 : tensor<1x64x768xf32>
    %1263 = stablehlo.dot_general %1262, %arg131, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x3072xf32>) -> tensor<1x64x3072xf32>
    %1264 = stablehlo.broadcast_in_dim %arg132, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1265 = stablehlo.broadcast_in_dim %1264, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x64x3072xf32>
    %1266 = stablehlo.add %1263, %1265 : tensor<1x64x3072xf32>
    %1267 = stablehlo.multiply %1266, %1266 : tensor<1x64x3072xf32>
    %1268 = stablehlo.multiply %1267, %1266 : tensor<1x64x3072xf32>
    %cst_297 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1269 = stablehlo.broadcast_in_dim %cst_297, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1270 = stablehlo.multiply %1269, %1268 : tensor<1x64x3072xf32>
    %1271 = stablehlo.add %1266, %1270 : tensor<1x64x3072xf32>
    %cst_298 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1272 = stablehlo.broadcast_in_dim %cst_298, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1273 = stablehlo.multiply %1272, %1271 : tensor<1x64x3072xf32>
    %1274 = stablehlo.tanh %1273 : tensor<1x64x3072xf32>
    %cst_299 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1275 = stablehlo.broadcast_in_dim %cst_299, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1276 = stablehlo.add %1275, %1274 : tensor<1x64x3072xf32>
    %cst_300 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1277 = stablehlo.broadcast_in_dim %cst_300, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1278 = stablehlo.multiply %1277, %1276 : tensor<1x64x3072xf32>
    %1279 = stablehlo.multiply %1266, %1278 : tensor<1x64x3072xf32>
    %1280 = stablehlo.dot_general %1279, %arg133, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x3072xf32>, tensor<3072x768xf32>) -> tensor<1x64x768xf32>
    %1281 = stablehlo.broadcast_in_dim %arg134, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1282 = stablehlo.broadcast_in_dim %1281, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1283 = stablehlo.add %1280, %1282 : tensor<1x64x768xf32>
    %1284 = stablehlo.add %1238, %1283 : tensor<1x64x768xf32>
    %cst_301 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1285 = stablehlo.reduce(%1284 init: %cst_301) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1286 = stablehlo.broadcast_in_dim %1285, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_302 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1287 = stablehlo.broadcast_in_dim %cst_302, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1288 = stablehlo.divide %1286, %1287 : tensor<1x64x1xf32>
    %1289 = stablehlo.broadcast_in_dim %1288, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1290 = stablehlo.subtract %1284, %1289 : tensor<1x64x768xf32>
    %1291 = stablehlo.multiply %1290, %1290 : tensor<1x64x768xf32>
    %cst_303 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1292 = stablehlo.reduce(%1291 init: %cst_303) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1293 = stablehlo.broadcast_in_dim %1292, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_304 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1294 = stablehlo.broadcast_in_dim %cst_304, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1295 = stablehlo.divide %1293, %1294 : tensor<1x64x1xf32>
    %1296 = stablehlo.broadcast_in_dim %1288, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1297 = stablehlo.subtract %1284, %1296 : tensor<1x64x768xf32>
    %cst_305 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1298 = stablehlo.broadcast_in_dim %cst_305, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1299 = stablehlo.add %1295, %1298 : tensor<1x64x1xf32>
    %1300 = stablehlo.rsqrt %1299 : tensor<1x64x1xf32>
    %1301 = stablehlo.broadcast_in_dim %1300, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1302 = stablehlo.multiply %1297, %1301 : tensor<1x64x768xf32>
    %1303 = stablehlo.broadcast_in_dim %arg135, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1304 = stablehlo.broadcast_in_dim %1303, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1305 = stablehlo.multiply %1302, %1304 : tensor<1x64x768xf32>
    %1306 = stablehlo.broadcast_in_dim %arg136, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1307 = stablehlo.broadcast_in_dim %1306, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1308 = stablehlo.add %1305, %1307 : tensor<1x64x768xf32>
    %1309 = stablehlo.dot_general %1308, %arg137, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x2304xf32>) -> tensor<1x64x2304xf32>
    %1310 = stablehlo.broadcast_in_dim %arg138, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %1311 = stablehlo.broadcast_in_dim %1310, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x64x2304xf32>
    %1312 = stablehlo.add %1309, %1311 : tensor<1x64x2304xf32>
    %1313 = stablehlo.slice %1312 [0:1, 0:64, 0:768] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %1314 = stablehlo.slice %1312 [0:1, 0:64, 768:1536] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %1315 = stablehlo.slice %1312 [0:1, 0:64, 1536:2304] : (tensor<1x64x2304xf32>) -> tensor<1x64x768xf32>
    %1316 = stablehlo.reshape %1313 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %1317 = stablehlo.transpose %1316, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %1318 = stablehlo.reshape %1314 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %1319 = stablehlo.transpose %1318, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %1320 = stablehlo.reshape %1315 : (tensor<1x64x768xf32>) -> tensor<1x64x12x64xf32>
    %1321 = stablehlo.transpose %1320, dims = [0, 2, 1, 3] : (tensor<1x64x12x64xf32>) -> tensor<1x12x64x64xf32>
    %c_306 = stablehlo.constant dense<0> : tensor<i32>
    %c_307 = stablehlo.constant dense<0> : tensor<i32>
    %c_308 = stablehlo.constant dense<0> : tensor<i32>
    %c_309 = stablehlo.constant dense<0> : tensor<i32>
    %1322 = stablehlo.dynamic_update_slice %0, %1319, %c_306, %c_307, %c_308, %c_309 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_310 = stablehlo.constant dense<0> : tensor<i32>
    %c_311 = stablehlo.constant dense<0> : tensor<i32>
    %c_312 = stablehlo.constant dense<0> : tensor<i32>
    %c_313 = stablehlo.constant dense<0> : tensor<i32>
    %1323 = stablehlo.dynamic_update_slice %0, %1321, %c_310, %c_311, %c_312, %c_313 : (tensor<1x12x80x64xf32>, tensor<1x12x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %1324 = stablehlo.transpose %1322, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %1325 = stablehlo.reshape %1317 : (tensor<1x12x64x64xf32>) -> tensor<12x64x64xf32>
    %1326 = stablehlo.reshape %1324 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %1327 = stablehlo.dot_general %1325, %1326, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x64xf32>, tensor<12x64x80xf32>) -> tensor<12x64x80xf32>
    %1328 = stablehlo.broadcast_in_dim %1327, dims = [1, 2, 3] : (tensor<12x64x80xf32>) -> tensor<1x12x64x80xf32>
    %cst_314 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %1329 = stablehlo.broadcast_in_dim %cst_314, dims = [] : (tensor<f32>) -> tensor<1x12x64x80xf32>
    %1330 = stablehlo.divide %1328, %1329 : tensor<1x12x64x80xf32>
    %cst_315 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %1331 = call @_where(%19, %1330, %cst_315) : (tensor<64x80xi1>, tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64x80xf32>
    %cst_316 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1332 = stablehlo.reduce(%1331 init: %cst_316) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %cst_317 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1333 = stablehlo.broadcast_in_dim %cst_317, dims = [] : (tensor<f32>) -> tensor<1x12x64xf32>
    %1334 = stablehlo.maximum %1333, %1332 : tensor<1x12x64xf32>
    %1335 = stablehlo.broadcast_in_dim %1334, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %1336 = stablehlo.broadcast_in_dim %1335, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %1337 = stablehlo.subtract %1331, %1336 : tensor<1x12x64x80xf32>
    %1338 = stablehlo.exponential %1337 : tensor<1x12x64x80xf32>
    %cst_318 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1339 = stablehlo.reduce(%1338 init: %cst_318) applies stablehlo.add across dimensions = [3] : (tensor<1x12x64x80xf32>, tensor<f32>) -> tensor<1x12x64xf32>
    %1340 = stablehlo.broadcast_in_dim %1339, dims = [0, 1, 2] : (tensor<1x12x64xf32>) -> tensor<1x12x64x1xf32>
    %1341 = stablehlo.broadcast_in_dim %1340, dims = [0, 1, 2, 3] : (tensor<1x12x64x1xf32>) -> tensor<1x12x64x80xf32>
    %1342 = stablehlo.divide %1338, %1341 : tensor<1x12x64x80xf32>
    %1343 = stablehlo.reshape %1342 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %1344 = stablehlo.reshape %1323 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %1345 = stablehlo.dot_general %1343, %1344, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x64x80xf32>, tensor<12x80x64xf32>) -> tensor<12x64x64xf32>
    %1346 = stablehlo.broadcast_in_dim %1345, dims = [1, 2, 3] : (tensor<12x64x64xf32>) -> tensor<1x12x64x64xf32>
    %1347 = stablehlo.transpose %1346, dims = [0, 2, 1, 3] : (tensor<1x12x64x64xf32>) -> tensor<1x64x12x64xf32>
    %1348 = stablehlo.reshape %1347 : (tensor<1x64x12x64xf32>) -> tensor<1x64x768xf32>
    %1349 = stablehlo.dot_general %1348, %arg139, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x768xf32>) -> tensor<1x64x768xf32>
    %1350 = stablehlo.broadcast_in_dim %arg140, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1351 = stablehlo.broadcast_in_dim %1350, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1352 = stablehlo.add %1349, %1351 : tensor<1x64x768xf32>
    %1353 = stablehlo.add %1284, %1352 : tensor<1x64x768xf32>
    %cst_319 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1354 = stablehlo.reduce(%1353 init: %cst_319) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1355 = stablehlo.broadcast_in_dim %1354, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_320 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1356 = stablehlo.broadcast_in_dim %cst_320, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1357 = stablehlo.divide %1355, %1356 : tensor<1x64x1xf32>
    %1358 = stablehlo.broadcast_in_dim %1357, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1359 = stablehlo.subtract %1353, %1358 : tensor<1x64x768xf32>
    %1360 = stablehlo.multiply %1359, %1359 : tensor<1x64x768xf32>
    %cst_321 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1361 = stablehlo.reduce(%1360 init: %cst_321) applies stablehlo.add across dimensions = [2] : (tensor<1x64x768xf32>, tensor<f32>) -> tensor<1x64xf32>
    %1362 = stablehlo.broadcast_in_dim %1361, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<1x64x1xf32>
    %cst_322 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1363 = stablehlo.broadcast_in_dim %cst_322, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1364 = stablehlo.divide %1362, %1363 : tensor<1x64x1xf32>
    %1365 = stablehlo.broadcast_in_dim %1357, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1366 = stablehlo.subtract %1353, %1365 : tensor<1x64x768xf32>
    %cst_323 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1367 = stablehlo.broadcast_in_dim %cst_323, dims = [] : (tensor<f32>) -> tensor<1x64x1xf32>
    %1368 = stablehlo.add %1364, %1367 : tensor<1x64x1xf32>
    %1369 = stablehlo.rsqrt %1368 : tensor<1x64x1xf32>
    %1370 = stablehlo.broadcast_in_dim %1369, dims = [0, 1, 2] : (tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %1371 = stablehlo.multiply %1366, %1370 : tensor<1x64x768xf32>
    %1372 = stablehlo.broadcast_in_dim %arg141, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1373 = stablehlo.broadcast_in_dim %1372, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1374 = stablehlo.multiply %1371, %1373 : tensor<1x64x768xf32>
    %1375 = stablehlo.broadcast_in_dim %arg142, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1376 = stablehlo.broadcast_in_dim %1375, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1377 = stablehlo.add %1374, %1376 : tensor<1x64x768xf32>
    %1378 = stablehlo.dot_general %1377, %arg143, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x768xf32>, tensor<768x3072xf32>) -> tensor<1x64x3072xf32>
    %1379 = stablehlo.broadcast_in_dim %arg144, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1380 = stablehlo.broadcast_in_dim %1379, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x64x3072xf32>
    %1381 = stablehlo.add %1378, %1380 : tensor<1x64x3072xf32>
    %1382 = stablehlo.multiply %1381, %1381 : tensor<1x64x3072xf32>
    %1383 = stablehlo.multiply %1382, %1381 : tensor<1x64x3072xf32>
    %cst_324 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1384 = stablehlo.broadcast_in_dim %cst_324, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1385 = stablehlo.multiply %1384, %1383 : tensor<1x64x3072xf32>
    %1386 = stablehlo.add %1381, %1385 : tensor<1x64x3072xf32>
    %cst_325 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1387 = stablehlo.broadcast_in_dim %cst_325, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1388 = stablehlo.multiply %1387, %1386 : tensor<1x64x3072xf32>
    %1389 = stablehlo.tanh %1388 : tensor<1x64x3072xf32>
    %cst_326 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1390 = stablehlo.broadcast_in_dim %cst_326, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1391 = stablehlo.add %1390, %1389 : tensor<1x64x3072xf32>
    %cst_327 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1392 = stablehlo.broadcast_in_dim %cst_327, dims = [] : (tensor<f32>) -> tensor<1x64x3072xf32>
    %1393 = stablehlo.multiply %1392, %1391 : tensor<1x64x3072xf32>
    %1394 = stablehlo.multiply %1381, %1393 : tensor<1x64x3072xf32>
    %1395 = stablehlo.dot_general %1394, %arg145, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64x3072xf32>, tensor<3072x768xf32>) -> tensor<1x64x768xf32>
    %1396 = stablehlo.broadcast_in_dim %arg146, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1397 = stablehlo.broadcast_in_dim %1396, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x64x768xf32>
    %1398 = stablehlo.add %1395, %1397 : tensor<1x64x768xf32>
    %1399 = stablehlo.add %1353, %1398 : tensor<1x64x768xf32>
    %1400 = stablehlo.slice %1399 [0:1, 63:64, 0:768] : (tensor<1x64x768xf32>) -> tensor<1x1x768xf32>
    %1401 = stablehlo.reshape %1400 : (tensor<1x1x768xf32>) -> tensor<1x768xf32>
    %cst_328 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1402 = stablehlo.reduce(%1401 init: %cst_328) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %1403 = stablehlo.broadcast_in_dim %1402, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_329 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1404 = stablehlo.broadcast_in_dim %cst_329, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1405 = stablehlo.divide %1403, %1404 : tensor<1x1xf32>
    %1406 = stablehlo.broadcast_in_dim %1405, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1407 = stablehlo.subtract %1401, %1406 : tensor<1x768xf32>
    %1408 = stablehlo.multiply %1407, %1407 : tensor<1x768xf32>
    %cst_330 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1409 = stablehlo.reduce(%1408 init: %cst_330) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %1410 = stablehlo.broadcast_in_dim %1409, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_331 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1411 = stablehlo.broadcast_in_dim %cst_331, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1412 = stablehlo.divide %1410, %1411 : tensor<1x1xf32>
    %1413 = stablehlo.broadcast_in_dim %1405, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1414 = stablehlo.subtract %1401, %1413 : tensor<1x768xf32>
    %cst_332 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1415 = stablehlo.broadcast_in_dim %cst_332, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1416 = stablehlo.add %1412, %1415 : tensor<1x1xf32>
    %1417 = stablehlo.rsqrt %1416 : tensor<1x1xf32>
    %1418 = stablehlo.broadcast_in_dim %1417, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1419 = stablehlo.multiply %1414, %1418 : tensor<1x768xf32>
    %1420 = stablehlo.broadcast_in_dim %arg147, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1421 = stablehlo.multiply %1419, %1420 : tensor<1x768xf32>
    %1422 = stablehlo.broadcast_in_dim %arg148, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1423 = stablehlo.add %1421, %1422 : tensor<1x768xf32>
    %1424 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<50257x768xf32>) -> tensor<768x50257xf32>
    %1425 = stablehlo.dot_general %1423, %1424, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x50257xf32>) -> tensor<1x50257xf32>
    %c_333 = stablehlo.constant dense<0> : tensor<i32>
    %1426 = stablehlo.broadcast_in_dim %c_333, dims = [] : (tensor<i32>) -> tensor<1x16xi32>
    %c_334 = stablehlo.constant dense<0> : tensor<i32>
    %c_335 = stablehlo.constant dense<0> : tensor<i32>
    %1427:176 = stablehlo.while(%iterArg = %arg1, %iterArg_336 = %arg2, %iterArg_337 = %arg3, %iterArg_338 = %arg4, %iterArg_339 = %arg5, %iterArg_340 = %arg6, %iterArg_341 = %arg7, %iterArg_342 = %arg8, %iterArg_343 = %arg9, %iterArg_344 = %arg10, %iterArg_345 = %arg11, %iterArg_346 = %arg12, %iterArg_347 = %arg13, %iterArg_348 = %arg14, %iterArg_349 = %arg15, %iterArg_350 = %arg16, %iterArg_351 = %arg17, %iterArg_352 = %arg18, %iterArg_353 = %arg19, %iterArg_354 = %arg20, %iterArg_355 = %arg21, %iterArg_356 = %arg22, %iterArg_357 = %arg23, %iterArg_358 = %arg24, %iterArg_359 = %arg25, %iterArg_360 = %arg26, %iterArg_361 = %arg27, %iterArg_362 = %arg28, %iterArg_363 = %arg29, %iterArg_364 = %arg30, %iterArg_365 = %arg31, %iterArg_366 = %arg32, %iterArg_367 = %arg33, %iterArg_368 = %arg34, %iterArg_369 = %arg35, %iterArg_370 = %arg36, %iterArg_371 = %arg37, %iterArg_372 = %arg38, %iterArg_373 = %arg39, %iterArg_374 = %arg40, %iterArg_375 = %arg41, %iterArg_376 = %arg42, %iterArg_377 = %arg43, %iterArg_378 = %arg44, %iterArg_379 = %arg45, %iterArg_380 = %arg46, %iterArg_381 = %arg47, %iterArg_382 = %arg48, %iterArg_383 = %arg49, %iterArg_384 = %arg50, %iterArg_385 = %arg51, %iterArg_386 = %arg52, %iterArg_387 = %arg53, %iterArg_388 = %arg54, %iterArg_389 = %arg55, %iterArg_390 = %arg56, %iterArg_391 = %arg57, %iterArg_392 = %arg58, %iterArg_393 = %arg59, %iterArg_394 = %arg60, %iterArg_395 = %arg61, %iterArg_396 = %arg62, %iterArg_397 = %arg63, %iterArg_398 = %arg64, %iterArg_399 = %arg65, %iterArg_400 = %arg66, %iterArg_401 = %arg67, %iterArg_402 = %arg68, %iterArg_403 = %arg69, %iterArg_404 = %arg70, %iterArg_405 = %arg71, %iterArg_406 = %arg72, %iterArg_407 = %arg73, %iterArg_408 = %arg74, %iterArg_409 = %arg75, %iterArg_410 = %arg76, %iterArg_411 = %arg77, %iterArg_412 = %arg78, %iterArg_413 = %arg79, %iterArg_414 = %arg80, %iterArg_415 = %arg81, %iterArg_416 = %arg82, %iterArg_417 = %arg83, %iterArg_418 = %arg84, %iterArg_419 = %arg85, %iterArg_420 = %arg86, %iterArg_421 = %arg87, %iterArg_422 = %arg88, %iterArg_423 = %arg89, %iterArg_424 = %arg90, %iterArg_425 = %arg91, %iterArg_426 = %arg92, %iterArg_427 = %arg93, %iterArg_428 = %arg94, %iterArg_429 = %arg95, %iterArg_430 = %arg96, %iterArg_431 = %arg97, %iterArg_432 = %arg98, %iterArg_433 = %arg99, %iterArg_434 = %arg100, %iterArg_435 = %arg101, %iterArg_436 = %arg102, %iterArg_437 = %arg103, %iterArg_438 = %arg104, %iterArg_439 = %arg105, %iterArg_440 = %arg106, %iterArg_441 = %arg107, %iterArg_442 = %arg108, %iterArg_443 = %arg109, %iterArg_444 = %arg110, %iterArg_445 = %arg111, %iterArg_446 = %arg112, %iterArg_447 = %arg113, %iterArg_448 = %arg114, %iterArg_449 = %arg115, %iterArg_450 = %arg116, %iterArg_451 = %arg117, %iterArg_452 = %arg118, %iterArg_453 = %arg119, %iterArg_454 = %arg120, %iterArg_455 = %arg121, %iterArg_456 = %arg122, %iterArg_457 = %arg123, %iterArg_458 = %arg124, %iterArg_459 = %arg125, %iterArg_460 = %arg126, %iterArg_461 = %arg127, %iterArg_462 = %arg128, %iterArg_463 = %arg129, %iterArg_464 = %arg130, %iterArg_465 = %arg131, %iterArg_466 = %arg132, %iterArg_467 = %arg133, %iterArg_468 = %arg134, %iterArg_469 = %arg135, %iterArg_470 = %arg136, %iterArg_471 = %arg137, %iterArg_472 = %arg138, %iterArg_473 = %arg139, %iterArg_474 = %arg140, %iterArg_475 = %arg141, %iterArg_476 = %arg142, %iterArg_477 = %arg143, %iterArg_478 = %arg144, %iterArg_479 = %arg145, %iterArg_480 = %arg146, %iterArg_481 = %arg147, %iterArg_482 = %arg148, %iterArg_483 = %c_335, %iterArg_484 = %c_334, %iterArg_485 = %1426, %iterArg_486 = %1425, %iterArg_487 = %57, %iterArg_488 = %58, %iterArg_489 = %172, %iterArg_490 = %173, %iterArg_491 = %287, %iterArg_492 = %288, %iterArg_493 = %402, %iterArg_494 = %403, %iterArg_495 = %517, %iterArg_496 = %518, %iterArg_497 = %632, %iterArg_498 = %633, %iterArg_499 = %747, %iterArg_500 = %748, %iterArg_501 = %862, %iterArg_502 = %863, %iterArg_503 = %977, %iterArg_504 = %978, %iterArg_505 = %1092, %iterArg_506 = %1093, %iterArg_507 = %1207, %iterArg_508 = %1208, %iterArg_509 = %1322, %iterArg_510 = %1323) : tensor<50257x768xf32>, tensor<80x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<i32>, tensor<i32>, tensor<1x16xi32>, tensor<1x50257xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>
    cond {
      %c_511 = stablehlo.constant dense<16> : tensor<i32>
      %1428 = stablehlo.compare LT, %iterArg_483, %c_511, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1428 : tensor<i1>
    } do {
      %1428:27 = func.call @closed_call(%iterArg, %iterArg_336, %iterArg_337, %iterArg_338, %iterArg_339, %iterArg_340, %iterArg_341, %iterArg_342, %iterArg_343, %iterArg_344, %iterArg_345, %iterArg_346, %iterArg_347, %iterArg_348, %iterArg_349, %iterArg_350, %iterArg_351, %iterArg_352, %iterArg_353, %iterArg_354, %iterArg_355, %iterArg_356, %iterArg_357, %iterArg_358, %iterArg_359, %iterArg_360, %iterArg_361, %iterArg_362, %iterArg_363, %iterArg_364, %iterArg_365, %iterArg_366, %iterArg_367, %iterArg_368, %iterArg_369, %iterArg_370, %iterArg_371, %iterArg_372, %iterArg_373, %iterArg_374, %iterArg_375, %iterArg_376, %iterArg_377, %iterArg_378, %iterArg_379, %iterArg_380, %iterArg_381, %iterArg_382, %iterArg_383, %iterArg_384, %iterArg_385, %iterArg_386, %iterArg_387, %iterArg_388, %iterArg_389, %iterArg_390, %iterArg_391, %iterArg_392, %iterArg_393, %iterArg_394, %iterArg_395, %iterArg_396, %iterArg_397, %iterArg_398, %iterArg_399, %iterArg_400, %iterArg_401, %iterArg_402, %iterArg_403, %iterArg_404, %iterArg_405, %iterArg_406, %iterArg_407, %iterArg_408, %iterArg_409, %iterArg_410, %iterArg_411, %iterArg_412, %iterArg_413, %iterArg_414, %iterArg_415, %iterArg_416, %iterArg_417, %iterArg_418, %iterArg_419, %iterArg_420, %iterArg_421, %iterArg_422, %iterArg_423, %iterArg_424, %iterArg_425, %iterArg_426, %iterArg_427, %iterArg_428, %iterArg_429, %iterArg_430, %iterArg_431, %iterArg_432, %iterArg_433, %iterArg_434, %iterArg_435, %iterArg_436, %iterArg_437, %iterArg_438, %iterArg_439, %iterArg_440, %iterArg_441, %iterArg_442, %iterArg_443, %iterArg_444, %iterArg_445, %iterArg_446, %iterArg_447, %iterArg_448, %iterArg_449, %iterArg_450, %iterArg_451, %iterArg_452, %iterArg_453, %iterArg_454, %iterArg_455, %iterArg_456, %iterArg_457, %iterArg_458, %iterArg_459, %iterArg_460, %iterArg_461, %iterArg_462, %iterArg_463, %iterArg_464, %iterArg_465, %iterArg_466, %iterArg_467, %iterArg_468, %iterArg_469, %iterArg_470, %iterArg_471, %iterArg_472, %iterArg_473, %iterArg_474, %iterArg_475, %iterArg_476, %iterArg_477, %iterArg_478, %iterArg_479, %iterArg_480, %iterArg_481, %iterArg_482, %iterArg_484, %iterArg_485, %iterArg_486, %iterArg_487, %iterArg_488, %iterArg_489, %iterArg_490, %iterArg_491, %iterArg_492, %iterArg_493, %iterArg_494, %iterArg_495, %iterArg_496, %iterArg_497, %iterArg_498, %iterArg_499, %iterArg_500, %iterArg_501, %iterArg_502, %iterArg_503, %iterArg_504, %iterArg_505, %iterArg_506, %iterArg_507, %iterArg_508, %iterArg_509, %iterArg_510) : (tensor<50257x768xf32>, tensor<80x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<i32>, tensor<1x16xi32>, tensor<1x50257xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>) -> (tensor<i32>, tensor<1x16xi32>, tensor<1x50257xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>)
      %c_511 = stablehlo.constant dense<1> : tensor<i32>
      %1429 = stablehlo.add %iterArg_483, %c_511 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_336, %iterArg_337, %iterArg_338, %iterArg_339, %iterArg_340, %iterArg_341, %iterArg_342, %iterArg_343, %iterArg_344, %iterArg_345, %iterArg_346, %iterArg_347, %iterArg_348, %iterArg_349, %iterArg_350, %iterArg_351, %iterArg_352, %iterArg_353, %iterArg_354, %iterArg_355, %iterArg_356, %iterArg_357, %iterArg_358, %iterArg_359, %iterArg_360, %iterArg_361, %iterArg_362, %iterArg_363, %iterArg_364, %iterArg_365, %iterArg_366, %iterArg_367, %iterArg_368, %iterArg_369, %iterArg_370, %iterArg_371, %iterArg_372, %iterArg_373, %iterArg_374, %iterArg_375, %iterArg_376, %iterArg_377, %iterArg_378, %iterArg_379, %iterArg_380, %iterArg_381, %iterArg_382, %iterArg_383, %iterArg_384, %iterArg_385, %iterArg_386, %iterArg_387, %iterArg_388, %iterArg_389, %iterArg_390, %iterArg_391, %iterArg_392, %iterArg_393, %iterArg_394, %iterArg_395, %iterArg_396, %iterArg_397, %iterArg_398, %iterArg_399, %iterArg_400, %iterArg_401, %iterArg_402, %iterArg_403, %iterArg_404, %iterArg_405, %iterArg_406, %iterArg_407, %iterArg_408, %iterArg_409, %iterArg_410, %iterArg_411, %iterArg_412, %iterArg_413, %iterArg_414, %iterArg_415, %iterArg_416, %iterArg_417, %iterArg_418, %iterArg_419, %iterArg_420, %iterArg_421, %iterArg_422, %iterArg_423, %iterArg_424, %iterArg_425, %iterArg_426, %iterArg_427, %iterArg_428, %iterArg_429, %iterArg_430, %iterArg_431, %iterArg_432, %iterArg_433, %iterArg_434, %iterArg_435, %iterArg_436, %iterArg_437, %iterArg_438, %iterArg_439, %iterArg_440, %iterArg_441, %iterArg_442, %iterArg_443, %iterArg_444, %iterArg_445, %iterArg_446, %iterArg_447, %iterArg_448, %iterArg_449, %iterArg_450, %iterArg_451, %iterArg_452, %iterArg_453, %iterArg_454, %iterArg_455, %iterArg_456, %iterArg_457, %iterArg_458, %iterArg_459, %iterArg_460, %iterArg_461, %iterArg_462, %iterArg_463, %iterArg_464, %iterArg_465, %iterArg_466, %iterArg_467, %iterArg_468, %iterArg_469, %iterArg_470, %iterArg_471, %iterArg_472, %iterArg_473, %iterArg_474, %iterArg_475, %iterArg_476, %iterArg_477, %iterArg_478, %iterArg_479, %iterArg_480, %iterArg_481, %iterArg_482, %1429, %1428#0, %1428#1, %1428#2, %1428#3, %1428#4, %1428#5, %1428#6, %1428#7, %1428#8, %1428#9, %1428#10, %1428#11, %1428#12, %1428#13, %1428#14, %1428#15, %1428#16, %1428#17, %1428#18, %1428#19, %1428#20, %1428#21, %1428#22, %1428#23, %1428#24, %1428#25, %1428#26 : tensor<50257x768xf32>, tensor<80x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x2304xf32>, tensor<2304xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768x3072xf32>, tensor<3072xf32>, tensor<3072x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<i32>, tensor<i32>, tensor<1x16xi32>, tensor<1x50257xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>
    }
    return %1427#150, %1427#151 : tensor<1x16xi32>, tensor<1x50257xf32>
  }
  func.func private @_where(%arg0: tensor<64x80xi1>, %arg1: tensor<1x12x64x80xf32>, %arg2: tensor<f32>) -> tensor<1x12x64x80xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<64x80xi1>) -> tensor<1x12x64x80xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x12x64x80xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<1x12x64x80xi1>, tensor<1x12x64x80xf32>
    return %3 : tensor<1x12x64x80xf32>
  }
  func.func private @closed_call(%arg0: tensor<50257x768xf32>, %arg1: tensor<80x768xf32>, %arg2: tensor<768xf32>, %arg3: tensor<768xf32>, %arg4: tensor<768x2304xf32>, %arg5: tensor<2304xf32>, %arg6: tensor<768x768xf32>, %arg7: tensor<768xf32>, %arg8: tensor<768xf32>, %arg9: tensor<768xf32>, %arg10: tensor<768x3072xf32>, %arg11: tensor<3072xf32>, %arg12: tensor<3072x768xf32>, %arg13: tensor<768xf32>, %arg14: tensor<768xf32>, %arg15: tensor<768xf32>, %arg16: tensor<768x2304xf32>, %arg17: tensor<2304xf32>, %arg18: tensor<768x768xf32>, %arg19: tensor<768xf32>, %arg20: tensor<768xf32>, %arg21: tensor<768xf32>, %arg22: tensor<768x3072xf32>, %arg23: tensor<3072xf32>, %arg24: tensor<3072x768xf32>, %arg25: tensor<768xf32>, %arg26: tensor<768xf32>, %arg27: tensor<768xf32>, %arg28: tensor<768x2304xf32>, %arg29: tensor<2304xf32>, %arg30: tensor<768x768xf32>, %arg31: tensor<768xf32>, %arg32: tensor<768xf32>, %arg33: tensor<768xf32>, %arg34: tensor<768x3072xf32>, %arg35: tensor<3072xf32>, %arg36: tensor<3072x768xf32>, %arg37: tensor<768xf32>, %arg38: tensor<768xf32>, %arg39: tensor<768xf32>, %arg40: tensor<768x2304xf32>, %arg41: tensor<2304xf32>, %arg42: tensor<768x768xf32>, %arg43: tensor<768xf32>, %arg44: tensor<768xf32>, %arg45: tensor<768xf32>, %arg46: tensor<768x3072xf32>, %arg47: tensor<3072xf32>, %arg48: tensor<3072x768xf32>, %arg49: tensor<768xf32>, %arg50: tensor<768xf32>, %arg51: tensor<768xf32>, %arg52: tensor<768x2304xf32>, %arg53: tensor<2304xf32>, %arg54: tensor<768x768xf32>, %arg55: tensor<768xf32>, %arg56: tensor<768xf32>, %arg57: tensor<768xf32>, %arg58: tensor<768x3072xf32>, %arg59: tensor<3072xf32>, %arg60: tensor<3072x768xf32>, %arg61: tensor<768xf32>, %arg62: tensor<768xf32>, %arg63: tensor<768xf32>, %arg64: tensor<768x2304xf32>, %arg65: tensor<2304xf32>, %arg66: tensor<768x768xf32>, %arg67: tensor<768xf32>, %arg68: tensor<768xf32>, %arg69: tensor<768xf32>, %arg70: tensor<768x3072xf32>, %arg71: tensor<3072xf32>, %arg72: tensor<3072x768xf32>, %arg73: tensor<768xf32>, %arg74: tensor<768xf32>, %arg75: tensor<768xf32>, %arg76: tensor<768x2304xf32>, %arg77: tensor<2304xf32>, %arg78: tensor<768x768xf32>, %arg79: tensor<768xf32>, %arg80: tensor<768xf32>, %arg81: tensor<768xf32>, %arg82: tensor<768x3072xf32>, %arg83: tensor<3072xf32>, %arg84: tensor<3072x768xf32>, %arg85: tensor<768xf32>, %arg86: tensor<768xf32>, %arg87: tensor<768xf32>, %arg88: tensor<768x2304xf32>, %arg89: tensor<2304xf32>, %arg90: tensor<768x768xf32>, %arg91: tensor<768xf32>, %arg92: tensor<768xf32>, %arg93: tensor<768xf32>, %arg94: tensor<768x3072xf32>, %arg95: tensor<3072xf32>, %arg96: tensor<3072x768xf32>, %arg97: tensor<768xf32>, %arg98: tensor<768xf32>, %arg99: tensor<768xf32>, %arg100: tensor<768x2304xf32>, %arg101: tensor<2304xf32>, %arg102: tensor<768x768xf32>, %arg103: tensor<768xf32>, %arg104: tensor<768xf32>, %arg105: tensor<768xf32>, %arg106: tensor<768x3072xf32>, %arg107: tensor<3072xf32>, %arg108: tensor<3072x768xf32>, %arg109: tensor<768xf32>, %arg110: tensor<768xf32>, %arg111: tensor<768xf32>, %arg112: tensor<768x2304xf32>, %arg113: tensor<2304xf32>, %arg114: tensor<768x768xf32>, %arg115: tensor<768xf32>, %arg116: tensor<768xf32>, %arg117: tensor<768xf32>, %arg118: tensor<768x3072xf32>, %arg119: tensor<3072xf32>, %arg120: tensor<3072x768xf32>, %arg121: tensor<768xf32>, %arg122: tensor<768xf32>, %arg123: tensor<768xf32>, %arg124: tensor<768x2304xf32>, %arg125: tensor<2304xf32>, %arg126: tensor<768x768xf32>, %arg127: tensor<768xf32>, %arg128: tensor<768xf32>, %arg129: tensor<768xf32>, %arg130: tensor<768x3072xf32>, %arg131: tensor<3072xf32>, %arg132: tensor<3072x768xf32>, %arg133: tensor<768xf32>, %arg134: tensor<768xf32>, %arg135: tensor<768xf32>, %arg136: tensor<768x2304xf32>, %arg137: tensor<2304xf32>, %arg138: tensor<768x768xf32>, %arg139: tensor<768xf32>, %arg140: tensor<768xf32>, %arg141: tensor<768xf32>, %arg142: tensor<768x3072xf32>, %arg143: tensor<3072xf32>, %arg144: tensor<3072x768xf32>, %arg145: tensor<768xf32>, %arg146: tensor<768xf32>, %arg147: tensor<768xf32>, %arg148: tensor<i32>, %arg149: tensor<1x16xi32>, %arg150: tensor<1x50257xf32>, %arg151: tensor<1x12x80x64xf32>, %arg152: tensor<1x12x80x64xf32>, %arg153: tensor<1x12x80x64xf32>, %arg154: tensor<1x12x80x64xf32>, %arg155: tensor<1x12x80x64xf32>, %arg156: tensor<1x12x80x64xf32>, %arg157: tensor<1x12x80x64xf32>, %arg158: tensor<1x12x80x64xf32>, %arg159: tensor<1x12x80x64xf32>, %arg160: tensor<1x12x80x64xf32>, %arg161: tensor<1x12x80x64xf32>, %arg162: tensor<1x12x80x64xf32>, %arg163: tensor<1x12x80x64xf32>, %arg164: tensor<1x12x80x64xf32>, %arg165: tensor<1x12x80x64xf32>, %arg166: tensor<1x12x80x64xf32>, %arg167: tensor<1x12x80x64xf32>, %arg168: tensor<1x12x80x64xf32>, %arg169: tensor<1x12x80x64xf32>, %arg170: tensor<1x12x80x64xf32>, %arg171: tensor<1x12x80x64xf32>, %arg172: tensor<1x12x80x64xf32>, %arg173: tensor<1x12x80x64xf32>, %arg174: tensor<1x12x80x64xf32>) -> (tensor<i32>, tensor<1x16xi32>, tensor<1x50257xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg148, %c : tensor<i32>
    %1 = call @argmax(%arg150) : (tensor<1x50257xf32>) -> tensor<1xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<1xi32>) -> tensor<1x1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %arg148, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.convert %arg148 : tensor<i32>
    %c_1 = stablehlo.constant dense<16> : tensor<i32>
    %5 = stablehlo.add %4, %c_1 : tensor<i32>
    %6 = stablehlo.select %3, %5, %arg148 : tensor<i1>, tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.dynamic_update_slice %arg149, %2, %c_2, %6 : (tensor<1x16xi32>, tensor<1x1xi32>, tensor<i32>, tensor<i32>) -> tensor<1x16xi32>
    %8 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<1xi32>) -> tensor<1x1xi32>
    %c_3 = stablehlo.constant dense<64> : tensor<i32>
    %9 = stablehlo.add %c_3, %arg148 : tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<1x1xi32>
    %11 = stablehlo.compare LT, %8, %10, SIGNED : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi1>
    %c_5 = stablehlo.constant dense<50257> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<1x1xi32>
    %13 = stablehlo.add %8, %12 : tensor<1x1xi32>
    %14 = stablehlo.select %11, %13, %8 : tensor<1x1xi1>, tensor<1x1xi32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<1x1x1xi32>
    %16 = "stablehlo.gather"(%arg0, %15) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 768>}> : (tensor<50257x768xf32>, tensor<1x1x1xi32>) -> tensor<1x1x768xf32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %17 = stablehlo.compare LT, %9, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %18 = stablehlo.convert %9 : tensor<i32>
    %c_7 = stablehlo.constant dense<80> : tensor<i32>
    %19 = stablehlo.add %18, %c_7 : tensor<i32>
    %20 = stablehlo.select %17, %19, %9 : tensor<i1>, tensor<i32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.dynamic_slice %arg1, %20, %c_8, sizes = [1, 768] : (tensor<80x768xf32>, tensor<i32>, tensor<i32>) -> tensor<1x768xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [1, 2] : (tensor<1x768xf32>) -> tensor<1x1x768xf32>
    %23 = stablehlo.add %16, %22 : tensor<1x1x768xf32>
    %24 = stablehlo.iota dim = 0 : tensor<80xi32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [1] : (tensor<80xi32>) -> tensor<1x80xi32>
    %26 = stablehlo.iota dim = 0 : tensor<1xi32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<1xi32>) -> tensor<1x1xi32>
    %28 = stablehlo.convert %9 : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<i32>) -> tensor<1x1xi32>
    %30 = stablehlo.add %29, %27 : tensor<1x1xi32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<1x80xi32>
    %32 = stablehlo.compare LE, %25, %31, SIGNED : (tensor<1x80xi32>, tensor<1x80xi32>) -> tensor<1x80xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%23 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_9 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %36 = stablehlo.divide %34, %35 : tensor<1x1x1xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %38 = stablehlo.subtract %23, %37 : tensor<1x1x768xf32>
    %39 = stablehlo.multiply %38, %38 : tensor<1x1x768xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%39 init: %cst_10) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_11 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %43 = stablehlo.divide %41, %42 : tensor<1x1x1xf32>
    %44 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %45 = stablehlo.subtract %23, %44 : tensor<1x1x768xf32>
    %cst_12 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %47 = stablehlo.add %43, %46 : tensor<1x1x1xf32>
    %48 = stablehlo.rsqrt %47 : tensor<1x1x1xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %50 = stablehlo.multiply %45, %49 : tensor<1x1x768xf32>
    %51 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %52 = stablehlo.multiply %50, %51 : tensor<1x1x768xf32>
    %53 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %54 = stablehlo.add %52, %53 : tensor<1x1x768xf32>
    %55 = stablehlo.dot_general %54, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x2304xf32>) -> tensor<1x1x2304xf32>
    %56 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %57 = stablehlo.add %55, %56 : tensor<1x1x2304xf32>
    %58 = stablehlo.slice %57 [0:1, 0:1, 0:768] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %59 = stablehlo.slice %57 [0:1, 0:1, 768:1536] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %60 = stablehlo.slice %57 [0:1, 0:1, 1536:2304] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %61 = stablehlo.reshape %58 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %62 = stablehlo.transpose %61, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %63 = stablehlo.reshape %59 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %64 = stablehlo.transpose %63, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %65 = stablehlo.reshape %60 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %66 = stablehlo.transpose %65, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %67 = stablehlo.compare LT, %9, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %68 = stablehlo.convert %9 : tensor<i32>
    %c_14 = stablehlo.constant dense<80> : tensor<i32>
    %69 = stablehlo.add %68, %c_14 : tensor<i32>
    %70 = stablehlo.select %67, %69, %9 : tensor<i1>, tensor<i32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %c_17 = stablehlo.constant dense<0> : tensor<i32>
    %71 = stablehlo.dynamic_update_slice %arg151, %64, %c_15, %c_16, %70, %c_17 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %72 = stablehlo.compare LT, %9, %c_18, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %73 = stablehlo.convert %9 : tensor<i32>
    %c_19 = stablehlo.constant dense<80> : tensor<i32>
    %74 = stablehlo.add %73, %c_19 : tensor<i32>
    %75 = stablehlo.select %72, %74, %9 : tensor<i1>, tensor<i32>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %c_21 = stablehlo.constant dense<0> : tensor<i32>
    %c_22 = stablehlo.constant dense<0> : tensor<i32>
    %76 = stablehlo.dynamic_update_slice %arg152, %66, %c_20, %c_21, %75, %c_22 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %77 = stablehlo.transpose %71, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %78 = stablehlo.reshape %62 : (tensor<1x12x1x64xf32>) -> tensor<12x1x64xf32>
    %79 = stablehlo.reshape %77 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %80 = stablehlo.dot_general %78, %79, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x64xf32>, tensor<12x64x80xf32>) -> tensor<12x1x80xf32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [1, 2, 3] : (tensor<12x1x80xf32>) -> tensor<1x12x1x80xf32>
    %cst_23 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<1x12x1x80xf32>
    %83 = stablehlo.divide %81, %82 : tensor<1x12x1x80xf32>
    %cst_24 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %84 = call @_where_0(%32, %83, %cst_24) : (tensor<1x80xi1>, tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1x80xf32>
    %cst_25 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %85 = stablehlo.reduce(%84 init: %cst_25) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %cst_26 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %87 = stablehlo.maximum %86, %85 : tensor<1x12x1xf32>
    %88 = stablehlo.broadcast_in_dim %87, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %89 = stablehlo.broadcast_in_dim %88, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %90 = stablehlo.subtract %84, %89 : tensor<1x12x1x80xf32>
    %91 = stablehlo.exponential %90 : tensor<1x12x1x80xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %92 = stablehlo.reduce(%91 init: %cst_27) applies stablehlo.add across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %93 = stablehlo.broadcast_in_dim %92, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %94 = stablehlo.broadcast_in_dim %93, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %95 = stablehlo.divide %91, %94 : tensor<1x12x1x80xf32>
    %96 = stablehlo.reshape %95 : (tensor<1x12x1x80xf32>) -> tensor<12x1x80xf32>
    %97 = stablehlo.reshape %76 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %98 = stablehlo.dot_general %96, %97, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x80xf32>, tensor<12x80x64xf32>) -> tensor<12x1x64xf32>
    %99 = stablehlo.broadcast_in_dim %98, dims = [1, 2, 3] : (tensor<12x1x64xf32>) -> tensor<1x12x1x64xf32>
    %100 = stablehlo.transpose %99, dims = [0, 2, 1, 3] : (tensor<1x12x1x64xf32>) -> tensor<1x1x12x64xf32>
    %101 = stablehlo.reshape %100 : (tensor<1x1x12x64xf32>) -> tensor<1x1x768xf32>
    %102 = stablehlo.dot_general %101, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x768xf32>) -> tensor<1x1x768xf32>
    %103 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %104 = stablehlo.add %102, %103 : tensor<1x1x768xf32>
    %105 = stablehlo.add %23, %104 : tensor<1x1x768xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %106 = stablehlo.reduce(%105 init: %cst_28) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %107 = stablehlo.broadcast_in_dim %106, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_29 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %108 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %109 = stablehlo.divide %107, %108 : tensor<1x1x1xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %111 = stablehlo.subtract %105, %110 : tensor<1x1x768xf32>
    %112 = stablehlo.multiply %111, %111 : tensor<1x1x768xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %113 = stablehlo.reduce(%112 init: %cst_30) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %114 = stablehlo.broadcast_in_dim %113, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_31 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %116 = stablehlo.divide %114, %115 : tensor<1x1x1xf32>
    %117 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %118 = stablehlo.subtract %105, %117 : tensor<1x1x768xf32>
    %cst_32 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %120 = stablehlo.add %116, %119 : tensor<1x1x1xf32>
    %121 = stablehlo.rsqrt %120 : tensor<1x1x1xf32>
    %122 = stablehlo.broadcast_in_dim %121, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %123 = stablehlo.multiply %118, %122 : tensor<1x1x768xf32>
    %124 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %125 = stablehlo.multiply %123, %124 : tensor<1x1x768xf32>
    %126 = stablehlo.broadcast_in_dim %arg9, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %127 = stablehlo.add %125, %126 : tensor<1x1x768xf32>
    %128 = stablehlo.dot_general %127, %arg10, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x3072xf32>) -> tensor<1x1x3072xf32>
    %129 = stablehlo.broadcast_in_dim %arg11, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %130 = stablehlo.add %128, %129 : tensor<1x1x3072xf32>
    %131 = stablehlo.multiply %130, %130 : tensor<1x1x3072xf32>
    %132 = stablehlo.multiply %131, %130 : tensor<1x1x3072xf32>
    %cst_33 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %133 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %134 = stablehlo.multiply %133, %132 : tensor<1x1x3072xf32>
    %135 = stablehlo.add %130, %134 : tensor<1x1x3072xf32>
    %cst_34 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %136 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %137 = stablehlo.multiply %136, %135 : tensor<1x1x3072xf32>
    %138 = stablehlo.tanh %137 : tensor<1x1x3072xf32>
    %cst_35 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %140 = stablehlo.add %139, %138 : tensor<1x1x3072xf32>
    %cst_36 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %141 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %142 = stablehlo.multiply %141, %140 : tensor<1x1x3072xf32>
    %143 = stablehlo.multiply %130, %142 : tensor<1x1x3072xf32>
    %144 = stablehlo.dot_general %143, %arg12, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x1x768xf32>
    %145 = stablehlo.broadcast_in_dim %arg13, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %146 = stablehlo.add %144, %145 : tensor<1x1x768xf32>
    %147 = stablehlo.add %105, %146 : tensor<1x1x768xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %148 = stablehlo.reduce(%147 init: %cst_37) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %149 = stablehlo.broadcast_in_dim %148, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_38 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %151 = stablehlo.divide %149, %150 : tensor<1x1x1xf32>
    %152 = stablehlo.broadcast_in_dim %151, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %153 = stablehlo.subtract %147, %152 : tensor<1x1x768xf32>
    %154 = stablehlo.multiply %153, %153 : tensor<1x1x768xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %155 = stablehlo.reduce(%154 init: %cst_39) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %156 = stablehlo.broadcast_in_dim %155, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_40 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %158 = stablehlo.divide %156, %157 : tensor<1x1x1xf32>
    %159 = stablehlo.broadcast_in_dim %151, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %160 = stablehlo.subtract %147, %159 : tensor<1x1x768xf32>
    %cst_41 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %161 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %162 = stablehlo.add %158, %161 : tensor<1x1x1xf32>
    %163 = stablehlo.rsqrt %162 : tensor<1x1x1xf32>
    %164 = stablehlo.broadcast_in_dim %163, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %165 = stablehlo.multiply %160, %164 : tensor<1x1x768xf32>
    %166 = stablehlo.broadcast_in_dim %arg14, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %167 = stablehlo.multiply %165, %166 : tensor<1x1x768xf32>
    %168 = stablehlo.broadcast_in_dim %arg15, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %169 = stablehlo.add %167, %168 : tensor<1x1x768xf32>
    %170 = stablehlo.dot_general %169, %arg16, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x2304xf32>) -> tensor<1x1x2304xf32>
    %171 = stablehlo.broadcast_in_dim %arg17, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %172 = stablehlo.add %170, %171 : tensor<1x1x2304xf32>
    %173 = stablehlo.slice %172 [0:1, 0:1, 0:768] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %174 = stablehlo.slice %172 [0:1, 0:1, 768:1536] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %175 = stablehlo.slice %172 [0:1, 0:1, 1536:2304] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %176 = stablehlo.reshape %173 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %177 = stablehlo.transpose %176, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %178 = stablehlo.reshape %174 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %179 = stablehlo.transpose %178, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %180 = stablehlo.reshape %175 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %181 = stablehlo.transpose %180, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %c_42 = stablehlo.constant dense<0> : tensor<i32>
    %182 = stablehlo.compare LT, %9, %c_42, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %183 = stablehlo.convert %9 : tensor<i32>
    %c_43 = stablehlo.constant dense<80> : tensor<i32>
    %184 = stablehlo.add %183, %c_43 : tensor<i32>
    %185 = stablehlo.select %182, %184, %9 : tensor<i1>, tensor<i32>
    %c_44 = stablehlo.constant dense<0> : tensor<i32>
    %c_45 = stablehlo.constant dense<0> : tensor<i32>
    %c_46 = stablehlo.constant dense<0> : tensor<i32>
    %186 = stablehlo.dynamic_update_slice %arg153, %179, %c_44, %c_45, %185, %c_46 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_47 = stablehlo.constant dense<0> : tensor<i32>
    %187 = stablehlo.compare LT, %9, %c_47, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %188 = stablehlo.convert %9 : tensor<i32>
    %c_48 = stablehlo.constant dense<80> : tensor<i32>
    %189 = stablehlo.add %188, %c_48 : tensor<i32>
    %190 = stablehlo.select %187, %189, %9 : tensor<i1>, tensor<i32>
    %c_49 = stablehlo.constant dense<0> : tensor<i32>
    %c_50 = stablehlo.constant dense<0> : tensor<i32>
    %c_51 = stablehlo.constant dense<0> : tensor<i32>
    %191 = stablehlo.dynamic_update_slice %arg154, %181, %c_49, %c_50, %190, %c_51 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %192 = stablehlo.transpose %186, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %193 = stablehlo.reshape %177 : (tensor<1x12x1x64xf32>) -> tensor<12x1x64xf32>
    %194 = stablehlo.reshape %192 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %195 = stablehlo.dot_general %193, %194, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x64xf32>, tensor<12x64x80xf32>) -> tensor<12x1x80xf32>
    %196 = stablehlo.broadcast_in_dim %195, dims = [1, 2, 3] : (tensor<12x1x80xf32>) -> tensor<1x12x1x80xf32>
    %cst_52 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %197 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<1x12x1x80xf32>
    %198 = stablehlo.divide %196, %197 : tensor<1x12x1x80xf32>
    %cst_53 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %199 = call @_where_0(%32, %198, %cst_53) : (tensor<1x80xi1>, tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1x80xf32>
    %cst_54 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %200 = stablehlo.reduce(%199 init: %cst_54) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %cst_55 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %202 = stablehlo.maximum %201, %200 : tensor<1x12x1xf32>
    %203 = stablehlo.broadcast_in_dim %202, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %204 = stablehlo.broadcast_in_dim %203, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %205 = stablehlo.subtract %199, %204 : tensor<1x12x1x80xf32>
    %206 = stablehlo.exponential %205 : tensor<1x12x1x80xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %207 = stablehlo.reduce(%206 init: %cst_56) applies stablehlo.add across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %208 = stablehlo.broadcast_in_dim %207, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %209 = stablehlo.broadcast_in_dim %208, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %210 = stablehlo.divide %206, %209 : tensor<1x12x1x80xf32>
    %211 = stablehlo.reshape %210 : (tensor<1x12x1x80xf32>) -> tensor<12x1x80xf32>
    %212 = stablehlo.reshape %191 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %213 = stablehlo.dot_general %211, %212, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x80xf32>, tensor<12x80x64xf32>) -> tensor<12x1x64xf32>
    %214 = stablehlo.broadcast_in_dim %213, dims = [1, 2, 3] : (tensor<12x1x64xf32>) -> tensor<1x12x1x64xf32>
    %215 = stablehlo.transpose %214, dims = [0, 2, 1, 3] : (tensor<1x12x1x64xf32>) -> tensor<1x1x12x64xf32>
    %216 = stablehlo.reshape %215 : (tensor<1x1x12x64xf32>) -> tensor<1x1x768xf32>
    %217 = stablehlo.dot_general %216, %arg18, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x768xf32>) -> tensor<1x1x768xf32>
    %218 = stablehlo.broadcast_in_dim %arg19, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %219 = stablehlo.add %217, %218 : tensor<1x1x768xf32>
    %220 = stablehlo.add %147, %219 : tensor<1x1x768xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %221 = stablehlo.reduce(%220 init: %cst_57) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %222 = stablehlo.broadcast_in_dim %221, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_58 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %223 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %224 = stablehlo.divide %222, %223 : tensor<1x1x1xf32>
    %225 = stablehlo.broadcast_in_dim %224, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %226 = stablehlo.subtract %220, %225 : tensor<1x1x768xf32>
    %227 = stablehlo.multiply %226, %226 : tensor<1x1x768xf32>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %228 = stablehlo.reduce(%227 init: %cst_59) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %229 = stablehlo.broadcast_in_dim %228, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_60 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %230 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %231 = stablehlo.divide %229, %230 : tensor<1x1x1xf32>
    %232 = stablehlo.broadcast_in_dim %224, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %233 = stablehlo.subtract %220, %232 : tensor<1x1x768xf32>
    %cst_61 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %234 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %235 = stablehlo.add %231, %234 : tensor<1x1x1xf32>
    %236 = stablehlo.rsqrt %235 : tensor<1x1x1xf32>
    %237 = stablehlo.broadcast_in_dim %236, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %238 = stablehlo.multiply %233, %237 : tensor<1x1x768xf32>
    %239 = stablehlo.broadcast_in_dim %arg20, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %240 = stablehlo.multiply %238, %239 : tensor<1x1x768xf32>
    %241 = stablehlo.broadcast_in_dim %arg21, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %242 = stablehlo.add %240, %241 : tensor<1x1x768xf32>
    %243 = stablehlo.dot_general %242, %arg22, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x3072xf32>) -> tensor<1x1x3072xf32>
    %244 = stablehlo.broadcast_in_dim %arg23, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %245 = stablehlo.add %243, %244 : tensor<1x1x3072xf32>
    %246 = stablehlo.multiply %245, %245 : tensor<1x1x3072xf32>
    %247 = stablehlo.multiply %246, %245 : tensor<1x1x3072xf32>
    %cst_62 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %248 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %249 = stablehlo.multiply %248, %247 : tensor<1x1x3072xf32>
    %250 = stablehlo.add %245, %249 : tensor<1x1x3072xf32>
    %cst_63 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %251 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %252 = stablehlo.multiply %251, %250 : tensor<1x1x3072xf32>
    %253 = stablehlo.tanh %252 : tensor<1x1x3072xf32>
    %cst_64 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %254 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %255 = stablehlo.add %254, %253 : tensor<1x1x3072xf32>
    %cst_65 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %256 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %257 = stablehlo.multiply %256, %255 : tensor<1x1x3072xf32>
    %258 = stablehlo.multiply %245, %257 : tensor<1x1x3072xf32>
    %259 = stablehlo.dot_general %258, %arg24, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x1x768xf32>
    %260 = stablehlo.broadcast_in_dim %arg25, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %261 = stablehlo.add %259, %260 : tensor<1x1x768xf32>
    %262 = stablehlo.add %220, %261 : tensor<1x1x768xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %263 = stablehlo.reduce(%262 init: %cst_66) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %264 = stablehlo.broadcast_in_dim %263, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_67 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %265 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %266 = stablehlo.divide %264, %265 : tensor<1x1x1xf32>
    %267 = stablehlo.broadcast_in_dim %266, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %268 = stablehlo.subtract %262, %267 : tensor<1x1x768xf32>
    %269 = stablehlo.multiply %268, %268 : tensor<1x1x768xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %270 = stablehlo.reduce(%269 init: %cst_68) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %271 = stablehlo.broadcast_in_dim %270, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_69 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %272 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %273 = stablehlo.divide %271, %272 : tensor<1x1x1xf32>
    %274 = stablehlo.broadcast_in_dim %266, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %275 = stablehlo.subtract %262, %274 : tensor<1x1x768xf32>
    %cst_70 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %276 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %277 = stablehlo.add %273, %276 : tensor<1x1x1xf32>
    %278 = stablehlo.rsqrt %277 : tensor<1x1x1xf32>
    %279 = stablehlo.broadcast_in_dim %278, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %280 = stablehlo.multiply %275, %279 : tensor<1x1x768xf32>
    %281 = stablehlo.broadcast_in_dim %arg26, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %282 = stablehlo.multiply %280, %281 : tensor<1x1x768xf32>
    %283 = stablehlo.broadcast_in_dim %arg27, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %284 = stablehlo.add %282, %283 : tensor<1x1x768xf32>
    %285 = stablehlo.dot_general %284, %arg28, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x2304xf32>) -> tensor<1x1x2304xf32>
    %286 = stablehlo.broadcast_in_dim %arg29, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %287 = stablehlo.add %285, %286 : tensor<1x1x2304xf32>
    %288 = stablehlo.slice %287 [0:1, 0:1, 0:768] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %289 = stablehlo.slice %287 [0:1, 0:1, 768:1536] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %290 = stablehlo.slice %287 [0:1, 0:1, 1536:2304] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %291 = stablehlo.reshape %288 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %292 = stablehlo.transpose %291, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %293 = stablehlo.reshape %289 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %294 = stablehlo.transpose %293, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %295 = stablehlo.reshape %290 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %296 = stablehlo.transpose %295, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %c_71 = stablehlo.constant dense<0> : tensor<i32>
    %297 = stablehlo.compare LT, %9, %c_71, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %298 = stablehlo.convert %9 : tensor<i32>
    %c_72 = stablehlo.constant dense<80> : tensor<i32>
    %299 = stablehlo.add %298, %c_72 : tensor<i32>
    %300 = stablehlo.select %297, %299, %9 : tensor<i1>, tensor<i32>
    %c_73 = stablehlo.constant dense<0> : tensor<i32>
    %c_74 = stablehlo.constant dense<0> : tensor<i32>
    %c_75 = stablehlo.constant dense<0> : tensor<i32>
    %301 = stablehlo.dynamic_update_slice %arg155, %294, %c_73, %c_74, %300, %c_75 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_76 = stablehlo.constant dense<0> : tensor<i32>
    %302 = stablehlo.compare LT, %9, %c_76, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %303 = stablehlo.convert %9 : tensor<i32>
    %c_77 = stablehlo.constant dense<80> : tensor<i32>
    %304 = stablehlo.add %303, %c_77 : tensor<i32>
    %305 = stablehlo.select %302, %304, %9 : tensor<i1>, tensor<i32>
    %c_78 = stablehlo.constant dense<0> : tensor<i32>
    %c_79 = stablehlo.constant dense<0> : tensor<i32>
    %c_80 = stablehlo.constant dense<0> : tensor<i32>
    %306 = stablehlo.dynamic_update_slice %arg156, %296, %c_78, %c_79, %305, %c_80 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %307 = stablehlo.transpose %301, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %308 = stablehlo.reshape %292 : (tensor<1x12x1x64xf32>) -> tensor<12x1x64xf32>
    %309 = stablehlo.reshape %307 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %310 = stablehlo.dot_general %308, %309, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x64xf32>, tensor<12x64x80xf32>) -> tensor<12x1x80xf32>
    %311 = stablehlo.broadcast_in_dim %310, dims = [1, 2, 3] : (tensor<12x1x80xf32>) -> tensor<1x12x1x80xf32>
    %cst_81 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %312 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<1x12x1x80xf32>
    %313 = stablehlo.divide %311, %312 : tensor<1x12x1x80xf32>
    %cst_82 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %314 = call @_where_0(%32, %313, %cst_82) : (tensor<1x80xi1>, tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1x80xf32>
    %cst_83 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %315 = stablehlo.reduce(%314 init: %cst_83) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %cst_84 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %316 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %317 = stablehlo.maximum %316, %315 : tensor<1x12x1xf32>
    %318 = stablehlo.broadcast_in_dim %317, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %319 = stablehlo.broadcast_in_dim %318, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %320 = stablehlo.subtract %314, %319 : tensor<1x12x1x80xf32>
    %321 = stablehlo.exponential %320 : tensor<1x12x1x80xf32>
    %cst_85 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %322 = stablehlo.reduce(%321 init: %cst_85) applies stablehlo.add across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %323 = stablehlo.broadcast_in_dim %322, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %324 = stablehlo.broadcast_in_dim %323, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %325 = stablehlo.divide %321, %324 : tensor<1x12x1x80xf32>
    %326 = stablehlo.reshape %325 : (tensor<1x12x1x80xf32>) -> tensor<12x1x80xf32>
    %327 = stablehlo.reshape %306 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %328 = stablehlo.dot_general %326, %327, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x80xf32>, tensor<12x80x64xf32>) -> tensor<12x1x64xf32>
    %329 = stablehlo.broadcast_in_dim %328, dims = [1, 2, 3] : (tensor<12x1x64xf32>) -> tensor<1x12x1x64xf32>
    %330 = stablehlo.transpose %329, dims = [0, 2, 1, 3] : (tensor<1x12x1x64xf32>) -> tensor<1x1x12x64xf32>
    %331 = stablehlo.reshape %330 : (tensor<1x1x12x64xf32>) -> tensor<1x1x768xf32>
    %332 = stablehlo.dot_general %331, %arg30, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x768xf32>) -> tensor<1x1x768xf32>
    %333 = stablehlo.broadcast_in_dim %arg31, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %334 = stablehlo.add %332, %333 : tensor<1x1x768xf32>
    %335 = stablehlo.add %262, %334 : tensor<1x1x768xf32>
    %cst_86 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %336 = stablehlo.reduce(%335 init: %cst_86) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %337 = stablehlo.broadcast_in_dim %336, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_87 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %338 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %339 = stablehlo.divide %337, %338 : tensor<1x1x1xf32>
    %340 = stablehlo.broadcast_in_dim %339, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %341 = stablehlo.subtract %335, %340 : tensor<1x1x768xf32>
    %342 = stablehlo.multiply %341, %341 : tensor<1x1x768xf32>
    %cst_88 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %343 = stablehlo.reduce(%342 init: %cst_88) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %344 = stablehlo.broadcast_in_dim %343, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_89 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %345 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %346 = stablehlo.divide %344, %345 : tensor<1x1x1xf32>
    %347 = stablehlo.broadcast_in_dim %339, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %348 = stablehlo.subtract %335, %347 : tensor<1x1x768xf32>
    %cst_90 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %349 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %350 = stablehlo.add %346, %349 : tensor<1x1x1xf32>
    %351 = stablehlo.rsqrt %350 : tensor<1x1x1xf32>
    %352 = stablehlo.broadcast_in_dim %351, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %353 = stablehlo.multiply %348, %352 : tensor<1x1x768xf32>
    %354 = stablehlo.broadcast_in_dim %arg32, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %355 = stablehlo.multiply %353, %354 : tensor<1x1x768xf32>
    %356 = stablehlo.broadcast_in_dim %arg33, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %357 = stablehlo.add %355, %356 : tensor<1x1x768xf32>
    %358 = stablehlo.dot_general %357, %arg34, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x3072xf32>) -> tensor<1x1x3072xf32>
    %359 = stablehlo.broadcast_in_dim %arg35, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %360 = stablehlo.add %358, %359 : tensor<1x1x3072xf32>
    %361 = stablehlo.multiply %360, %360 : tensor<1x1x3072xf32>
    %362 = stablehlo.multiply %361, %360 : tensor<1x1x3072xf32>
    %cst_91 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %363 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %364 = stablehlo.multiply %363, %362 : tensor<1x1x3072xf32>
    %365 = stablehlo.add %360, %364 : tensor<1x1x3072xf32>
    %cst_92 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %366 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %367 = stablehlo.multiply %366, %365 : tensor<1x1x3072xf32>
    %368 = stablehlo.tanh %367 : tensor<1x1x3072xf32>
    %cst_93 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %369 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %370 = stablehlo.add %369, %368 : tensor<1x1x3072xf32>
    %cst_94 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %371 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %372 = stablehlo.multiply %371, %370 : tensor<1x1x3072xf32>
    %373 = stablehlo.multiply %360, %372 : tensor<1x1x3072xf32>
    %374 = stablehlo.dot_general %373, %arg36, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x1x768xf32>
    %375 = stablehlo.broadcast_in_dim %arg37, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %376 = stablehlo.add %374, %375 : tensor<1x1x768xf32>
    %377 = stablehlo.add %335, %376 : tensor<1x1x768xf32>
    %cst_95 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %378 = stablehlo.reduce(%377 init: %cst_95) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %379 = stablehlo.broadcast_in_dim %378, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_96 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %380 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %381 = stablehlo.divide %379, %380 : tensor<1x1x1xf32>
    %382 = stablehlo.broadcast_in_dim %381, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %383 = stablehlo.subtract %377, %382 : tensor<1x1x768xf32>
    %384 = stablehlo.multiply %383, %383 : tensor<1x1x768xf32>
    %cst_97 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %385 = stablehlo.reduce(%384 init: %cst_97) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %386 = stablehlo.broadcast_in_dim %385, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_98 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %387 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %388 = stablehlo.divide %386, %387 : tensor<1x1x1xf32>
    %389 = stablehlo.broadcast_in_dim %381, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %390 = stablehlo.subtract %377, %389 : tensor<1x1x768xf32>
    %cst_99 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %391 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %392 = stablehlo.add %388, %391 : tensor<1x1x1xf32>
    %393 = stablehlo.rsqrt %392 : tensor<1x1x1xf32>
    %394 = stablehlo.broadcast_in_dim %393, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %395 = stablehlo.multiply %390, %394 : tensor<1x1x768xf32>
    %396 = stablehlo.broadcast_in_dim %arg38, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %397 = stablehlo.multiply %395, %396 : tensor<1x1x768xf32>
    %398 = stablehlo.broadcast_in_dim %arg39, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %399 = stablehlo.add %397, %398 : tensor<1x1x768xf32>
    %400 = stablehlo.dot_general %399, %arg40, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x2304xf32>) -> tensor<1x1x2304xf32>
    %401 = stablehlo.broadcast_in_dim %arg41, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %402 = stablehlo.add %400, %401 : tensor<1x1x2304xf32>
    %403 = stablehlo.slice %402 [0:1, 0:1, 0:768] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %404 = stablehlo.slice %402 [0:1, 0:1, 768:1536] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %405 = stablehlo.slice %402 [0:1, 0:1, 1536:2304] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %406 = stablehlo.reshape %403 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %407 = stablehlo.transpose %406, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %408 = stablehlo.reshape %404 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %409 = stablehlo.transpose %408, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %410 = stablehlo.reshape %405 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %411 = stablehlo.transpose %410, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %c_100 = stablehlo.constant dense<0> : tensor<i32>
    %412 = stablehlo.compare LT, %9, %c_100, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %413 = stablehlo.convert %9 : tensor<i32>
    %c_101 = stablehlo.constant dense<80> : tensor<i32>
    %414 = stablehlo.add %413, %c_101 : tensor<i32>
    %415 = stablehlo.select %412, %414, %9 : tensor<i1>, tensor<i32>
    %c_102 = stablehlo.constant dense<0> : tensor<i32>
    %c_103 = stablehlo.constant dense<0> : tensor<i32>
    %c_104 = stablehlo.constant dense<0> : tensor<i32>
    %416 = stablehlo.dynamic_update_slice %arg157, %409, %c_102, %c_103, %415, %c_104 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_105 = stablehlo.constant dense<0> : tensor<i32>
    %417 = stablehlo.compare LT, %9, %c_105, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %418 = stablehlo.convert %9 : tensor<i32>
    %c_106 = stablehlo.constant dense<80> : tensor<i32>
    %419 = stablehlo.add %418, %c_106 : tensor<i32>
    %420 = stablehlo.select %417, %419, %9 : tensor<i1>, tensor<i32>
    %c_107 = stablehlo.constant dense<0> : tensor<i32>
    %c_108 = stablehlo.constant dense<0> : tensor<i32>
    %c_109 = stablehlo.constant dense<0> : tensor<i32>
    %421 = stablehlo.dynamic_update_slice %arg158, %411, %c_107, %c_108, %420, %c_109 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %422 = stablehlo.transpose %416, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %423 = stablehlo.reshape %407 : (tensor<1x12x1x64xf32>) -> tensor<12x1x64xf32>
    %424 = stablehlo.reshape %422 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %425 = stablehlo.dot_general %423, %424, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x64xf32>, tensor<12x64x80xf32>) -> tensor<12x1x80xf32>
    %426 = stablehlo.broadcast_in_dim %425, dims = [1, 2, 3] : (tensor<12x1x80xf32>) -> tensor<1x12x1x80xf32>
    %cst_110 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %427 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<1x12x1x80xf32>
    %428 = stablehlo.divide %426, %427 : tensor<1x12x1x80xf32>
    %cst_111 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %429 = call @_where_0(%32, %428, %cst_111) : (tensor<1x80xi1>, tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1x80xf32>
    %cst_112 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %430 = stablehlo.reduce(%429 init: %cst_112) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %cst_113 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %431 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %432 = stablehlo.maximum %431, %430 : tensor<1x12x1xf32>
    %433 = stablehlo.broadcast_in_dim %432, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %434 = stablehlo.broadcast_in_dim %433, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %435 = stablehlo.subtract %429, %434 : tensor<1x12x1x80xf32>
    %436 = stablehlo.exponential %435 : tensor<1x12x1x80xf32>
    %cst_114 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %437 = stablehlo.reduce(%436 init: %cst_114) applies stablehlo.add across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %438 = stablehlo.broadcast_in_dim %437, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %439 = stablehlo.broadcast_in_dim %438, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %440 = stablehlo.divide %436, %439 : tensor<1x12x1x80xf32>
    %441 = stablehlo.reshape %440 : (tensor<1x12x1x80xf32>) -> tensor<12x1x80xf32>
    %442 = stablehlo.reshape %421 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %443 = stablehlo.dot_general %441, %442, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x80xf32>, tensor<12x80x64xf32>) -> tensor<12x1x64xf32>
    %444 = stablehlo.broadcast_in_dim %443, dims = [1, 2, 3] : (tensor<12x1x64xf32>) -> tensor<1x12x1x64xf32>
    %445 = stablehlo.transpose %444, dims = [0, 2, 1, 3] : (tensor<1x12x1x64xf32>) -> tensor<1x1x12x64xf32>
    %446 = stablehlo.reshape %445 : (tensor<1x1x12x64xf32>) -> tensor<1x1x768xf32>
    %447 = stablehlo.dot_general %446, %arg42, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x768xf32>) -> tensor<1x1x768xf32>
    %448 = stablehlo.broadcast_in_dim %arg43, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %449 = stablehlo.add %447, %448 : tensor<1x1x768xf32>
    %450 = stablehlo.add %377, %449 : tensor<1x1x768xf32>
    %cst_115 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %451 = stablehlo.reduce(%450 init: %cst_115) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %452 = stablehlo.broadcast_in_dim %451, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_116 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %453 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %454 = stablehlo.divide %452, %453 : tensor<1x1x1xf32>
    %455 = stablehlo.broadcast_in_dim %454, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %456 = stablehlo.subtract %450, %455 : tensor<1x1x768xf32>
    %457 = stablehlo.multiply %456, %456 : tensor<1x1x768xf32>
    %cst_117 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %458 = stablehlo.reduce(%457 init: %cst_117) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %459 = stablehlo.broadcast_in_dim %458, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_118 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %460 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %461 = stablehlo.divide %459, %460 : tensor<1x1x1xf32>
    %462 = stablehlo.broadcast_in_dim %454, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %463 = stablehlo.subtract %450, %462 : tensor<1x1x768xf32>
    %cst_119 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %464 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %465 = stablehlo.add %461, %464 : tensor<1x1x1xf32>
    %466 = stablehlo.rsqrt %465 : tensor<1x1x1xf32>
    %467 = stablehlo.broadcast_in_dim %466, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %468 = stablehlo.multiply %463, %467 : tensor<1x1x768xf32>
    %469 = stablehlo.broadcast_in_dim %arg44, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %470 = stablehlo.multiply %468, %469 : tensor<1x1x768xf32>
    %471 = stablehlo.broadcast_in_dim %arg45, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %472 = stablehlo.add %470, %471 : tensor<1x1x768xf32>
    %473 = stablehlo.dot_general %472, %arg46, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x3072xf32>) -> tensor<1x1x3072xf32>
    %474 = stablehlo.broadcast_in_dim %arg47, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %475 = stablehlo.add %473, %474 : tensor<1x1x3072xf32>
    %476 = stablehlo.multiply %475, %475 : tensor<1x1x3072xf32>
    %477 = stablehlo.multiply %476, %475 : tensor<1x1x3072xf32>
    %cst_120 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %478 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %479 = stablehlo.multiply %478, %477 : tensor<1x1x3072xf32>
    %480 = stablehlo.add %475, %479 : tensor<1x1x3072xf32>
    %cst_121 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %481 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %482 = stablehlo.multiply %481, %480 : tensor<1x1x3072xf32>
    %483 = stablehlo.tanh %482 : tensor<1x1x3072xf32>
    %cst_122 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %484 = stablehlo.broadcast_in_dim %cst_122, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %485 = stablehlo.add %484, %483 : tensor<1x1x3072xf32>
    %cst_123 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %486 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %487 = stablehlo.multiply %486, %485 : tensor<1x1x3072xf32>
    %488 = stablehlo.multiply %475, %487 : tensor<1x1x3072xf32>
    %489 = stablehlo.dot_general %488, %arg48, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x1x768xf32>
    %490 = stablehlo.broadcast_in_dim %arg49, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %491 = stablehlo.add %489, %490 : tensor<1x1x768xf32>
    %492 = stablehlo.add %450, %491 : tensor<1x1x768xf32>
    %cst_124 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %493 = stablehlo.reduce(%492 init: %cst_124) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %494 = stablehlo.broadcast_in_dim %493, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_125 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %495 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %496 = stablehlo.divide %494, %495 : tensor<1x1x1xf32>
    %497 = stablehlo.broadcast_in_dim %496, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %498 = stablehlo.subtract %492, %497 : tensor<1x1x768xf32>
    %499 = stablehlo.multiply %498, %498 : tensor<1x1x768xf32>
    %cst_126 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %500 = stablehlo.reduce(%499 init: %cst_126) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %501 = stablehlo.broadcast_in_dim %500, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_127 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %502 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %503 = stablehlo.divide %501, %502 : tensor<1x1x1xf32>
    %504 = stablehlo.broadcast_in_dim %496, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %505 = stablehlo.subtract %492, %504 : tensor<1x1x768xf32>
    %cst_128 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %506 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %507 = stablehlo.add %503, %506 : tensor<1x1x1xf32>
    %508 = stablehlo.rsqrt %507 : tensor<1x1x1xf32>
    %509 = stablehlo.broadcast_in_dim %508, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %510 = stablehlo.multiply %505, %509 : tensor<1x1x768xf32>
    %511 = stablehlo.broadcast_in_dim %arg50, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %512 = stablehlo.multiply %510, %511 : tensor<1x1x768xf32>
    %513 = stablehlo.broadcast_in_dim %arg51, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %514 = stablehlo.add %512, %513 : tensor<1x1x768xf32>
    %515 = stablehlo.dot_general %514, %arg52, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x2304xf32>) -> tensor<1x1x2304xf32>
    %516 = stablehlo.broadcast_in_dim %arg53, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %517 = stablehlo.add %515, %516 : tensor<1x1x2304xf32>
    %518 = stablehlo.slice %517 [0:1, 0:1, 0:768] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %519 = stablehlo.slice %517 [0:1, 0:1, 768:1536] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %520 = stablehlo.slice %517 [0:1, 0:1, 1536:2304] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %521 = stablehlo.reshape %518 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %522 = stablehlo.transpose %521, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %523 = stablehlo.reshape %519 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %524 = stablehlo.transpose %523, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %525 = stablehlo.reshape %520 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %526 = stablehlo.transpose %525, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %c_129 = stablehlo.constant dense<0> : tensor<i32>
    %527 = stablehlo.compare LT, %9, %c_129, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %528 = stablehlo.convert %9 : tensor<i32>
    %c_130 = stablehlo.constant dense<80> : tensor<i32>
    %529 = stablehlo.add %528, %c_130 : tensor<i32>
    %530 = stablehlo.select %527, %529, %9 : tensor<i1>, tensor<i32>
    %c_131 = stablehlo.constant dense<0> : tensor<i32>
    %c_132 = stablehlo.constant dense<0> : tensor<i32>
    %c_133 = stablehlo.constant dense<0> : tensor<i32>
    %531 = stablehlo.dynamic_update_slice %arg159, %524, %c_131, %c_132, %530, %c_133 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_134 = stablehlo.constant dense<0> : tensor<i32>
    %532 = stablehlo.compare LT, %9, %c_134, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %533 = stablehlo.convert %9 : tensor<i32>
    %c_135 = stablehlo.constant dense<80> : tensor<i32>
    %534 = stablehlo.add %533, %c_135 : tensor<i32>
    %535 = stablehlo.select %532, %534, %9 : tensor<i1>, tensor<i32>
    %c_136 = stablehlo.constant dense<0> : tensor<i32>
    %c_137 = stablehlo.constant dense<0> : tensor<i32>
    %c_138 = stablehlo.constant dense<0> : tensor<i32>
    %536 = stablehlo.dynamic_update_slice %arg160, %526, %c_136, %c_137, %535, %c_138 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %537 = stablehlo.transpose %531, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %538 = stablehlo.reshape %522 : (tensor<1x12x1x64xf32>) -> tensor<12x1x64xf32>
    %539 = stablehlo.reshape %537 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %540 = stablehlo.dot_general %538, %539, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x64xf32>, tensor<12x64x80xf32>) -> tensor<12x1x80xf32>
    %541 = stablehlo.broadcast_in_dim %540, dims = [1, 2, 3] : (tensor<12x1x80xf32>) -> tensor<1x12x1x80xf32>
    %cst_139 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %542 = stablehlo.broadcast_in_dim %cst_139, dims = [] : (tensor<f32>) -> tensor<1x12x1x80xf32>
    %543 = stablehlo.divide %541, %542 : tensor<1x12x1x80xf32>
    %cst_140 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %544 = call @_where_0(%32, %543, %cst_140) : (tensor<1x80xi1>, tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1x80xf32>
    %cst_141 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %545 = stablehlo.reduce(%544 init: %cst_141) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %cst_142 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %546 = stablehlo.broadcast_in_dim %cst_142, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %547 = stablehlo.maximum %546, %545 : tensor<1x12x1xf32>
    %548 = stablehlo.broadcast_in_dim %547, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %549 = stablehlo.broadcast_in_dim %548, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %550 = stablehlo.subtract %544, %549 : tensor<1x12x1x80xf32>
    %551 = stablehlo.exponential %550 : tensor<1x12x1x80xf32>
    %cst_143 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %552 = stablehlo.reduce(%551 init: %cst_143) applies stablehlo.add across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %553 = stablehlo.broadcast_in_dim %552, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %554 = stablehlo.broadcast_in_dim %553, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %555 = stablehlo.divide %551, %554 : tensor<1x12x1x80xf32>
    %556 = stablehlo.reshape %555 : (tensor<1x12x1x80xf32>) -> tensor<12x1x80xf32>
    %557 = stablehlo.reshape %536 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %558 = stablehlo.dot_general %556, %557, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x80xf32>, tensor<12x80x64xf32>) -> tensor<12x1x64xf32>
    %559 = stablehlo.broadcast_in_dim %558, dims = [1, 2, 3] : (tensor<12x1x64xf32>) -> tensor<1x12x1x64xf32>
    %560 = stablehlo.transpose %559, dims = [0, 2, 1, 3] : (tensor<1x12x1x64xf32>) -> tensor<1x1x12x64xf32>
    %561 = stablehlo.reshape %560 : (tensor<1x1x12x64xf32>) -> tensor<1x1x768xf32>
    %562 = stablehlo.dot_general %561, %arg54, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x768xf32>) -> tensor<1x1x768xf32>
    %563 = stablehlo.broadcast_in_dim %arg55, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %564 = stablehlo.add %562, %563 : tensor<1x1x768xf32>
    %565 = stablehlo.add %492, %564 : tensor<1x1x768xf32>
    %cst_144 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %566 = stablehlo.reduce(%565 init: %cst_144) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %567 = stablehlo.broadcast_in_dim %566, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_145 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %568 = stablehlo.broadcast_in_dim %cst_145, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %569 = stablehlo.divide %567, %568 : tensor<1x1x1xf32>
    %570 = stablehlo.broadcast_in_dim %569, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %571 = stablehlo.subtract %565, %570 : tensor<1x1x768xf32>
    %572 = stablehlo.multiply %571, %571 : tensor<1x1x768xf32>
    %cst_146 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %573 = stablehlo.reduce(%572 init: %cst_146) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %574 = stablehlo.broadcast_in_dim %573, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_147 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %575 = stablehlo.broadcast_in_dim %cst_147, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %576 = stablehlo.divide %574, %575 : tensor<1x1x1xf32>
    %577 = stablehlo.broadcast_in_dim %569, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %578 = stablehlo.subtract %565, %577 : tensor<1x1x768xf32>
    %cst_148 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %579 = stablehlo.broadcast_in_dim %cst_148, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %580 = stablehlo.add %576, %579 : tensor<1x1x1xf32>
    %581 = stablehlo.rsqrt %580 : tensor<1x1x1xf32>
    %582 = stablehlo.broadcast_in_dim %581, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %583 = stablehlo.multiply %578, %582 : tensor<1x1x768xf32>
    %584 = stablehlo.broadcast_in_dim %arg56, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %585 = stablehlo.multiply %583, %584 : tensor<1x1x768xf32>
    %586 = stablehlo.broadcast_in_dim %arg57, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %587 = stablehlo.add %585, %586 : tensor<1x1x768xf32>
    %588 = stablehlo.dot_general %587, %arg58, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x3072xf32>) -> tensor<1x1x3072xf32>
    %589 = stablehlo.broadcast_in_dim %arg59, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %590 = stablehlo.add %588, %589 : tensor<1x1x3072xf32>
    %591 = stablehlo.multiply %590, %590 : tensor<1x1x3072xf32>
    %592 = stablehlo.multiply %591, %590 : tensor<1x1x3072xf32>
    %cst_149 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %593 = stablehlo.broadcast_in_dim %cst_149, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %594 = stablehlo.multiply %593, %592 : tensor<1x1x3072xf32>
    %595 = stablehlo.add %590, %594 : tensor<1x1x3072xf32>
    %cst_150 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %596 = stablehlo.broadcast_in_dim %cst_150, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %597 = stablehlo.multiply %596, %595 : tensor<1x1x3072xf32>
    %598 = stablehlo.tanh %597 : tensor<1x1x3072xf32>
    %cst_151 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %599 = stablehlo.broadcast_in_dim %cst_151, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %600 = stablehlo.add %599, %598 : tensor<1x1x3072xf32>
    %cst_152 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %601 = stablehlo.broadcast_in_dim %cst_152, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %602 = stablehlo.multiply %601, %600 : tensor<1x1x3072xf32>
    %603 = stablehlo.multiply %590, %602 : tensor<1x1x3072xf32>
    %604 = stablehlo.dot_general %603, %arg60, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x1x768xf32>
    %605 = stablehlo.broadcast_in_dim %arg61, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %606 = stablehlo.add %604, %605 : tensor<1x1x768xf32>
    %607 = stablehlo.add %565, %606 : tensor<1x1x768xf32>
    %cst_153 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %608 = stablehlo.reduce(%607 init: %cst_153) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %609 = stablehlo.broadcast_in_dim %608, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_154 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %610 = stablehlo.broadcast_in_dim %cst_154, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %611 = stablehlo.divide %609, %610 : tensor<1x1x1xf32>
    %612 = stablehlo.broadcast_in_dim %611, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %613 = stablehlo.subtract %607, %612 : tensor<1x1x768xf32>
    %614 = stablehlo.multiply %613, %613 : tensor<1x1x768xf32>
    %cst_155 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %615 = stablehlo.reduce(%614 init: %cst_155) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %616 = stablehlo.broadcast_in_dim %615, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_156 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %617 = stablehlo.broadcast_in_dim %cst_156, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %618 = stablehlo.divide %616, %617 : tensor<1x1x1xf32>
    %619 = stablehlo.broadcast_in_dim %611, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %620 = stablehlo.subtract %607, %619 : tensor<1x1x768xf32>
    %cst_157 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %621 = stablehlo.broadcast_in_dim %cst_157, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %622 = stablehlo.add %618, %621 : tensor<1x1x1xf32>
    %623 = stablehlo.rsqrt %622 : tensor<1x1x1xf32>
    %624 = stablehlo.broadcast_in_dim %623, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %625 = stablehlo.multiply %620, %624 : tensor<1x1x768xf32>
    %626 = stablehlo.broadcast_in_dim %arg62, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %627 = stablehlo.multiply %625, %626 : tensor<1x1x768xf32>
    %628 = stablehlo.broadcast_in_dim %arg63, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %629 = stablehlo.add %627, %628 : tensor<1x1x768xf32>
    %630 = stablehlo.dot_general %629, %arg64, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x2304xf32>) -> tensor<1x1x2304xf32>
    %631 = stablehlo.broadcast_in_dim %arg65, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %632 = stablehlo.add %630, %631 : tensor<1x1x2304xf32>
    %633 = stablehlo.slice %632 [0:1, 0:1, 0:768] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %634 = stablehlo.slice %632 [0:1, 0:1, 768:1536] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %635 = stablehlo.slice %632 [0:1, 0:1, 1536:2304] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %636 = stablehlo.reshape %633 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %637 = stablehlo.transpose %636, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %638 = stablehlo.reshape %634 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %639 = stablehlo.transpose %638, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %640 = stablehlo.reshape %635 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %641 = stablehlo.transpose %640, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %c_158 = stablehlo.constant dense<0> : tensor<i32>
    %642 = stablehlo.compare LT, %9, %c_158, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %643 = stablehlo.convert %9 : tensor<i32>
    %c_159 = stablehlo.constant dense<80> : tensor<i32>
    %644 = stablehlo.add %643, %c_159 : tensor<i32>
    %645 = stablehlo.select %642, %644, %9 : tensor<i1>, tensor<i32>
    %c_160 = stablehlo.constant dense<0> : tensor<i32>
    %c_161 = stablehlo.constant dense<0> : tensor<i32>
    %c_162 = stablehlo.constant dense<0> : tensor<i32>
    %646 = stablehlo.dynamic_update_slice %arg161, %639, %c_160, %c_161, %645, %c_162 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_163 = stablehlo.constant dense<0> : tensor<i32>
    %647 = stablehlo.compare LT, %9, %c_163, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %648 = stablehlo.convert %9 : tensor<i32>
    %c_164 = stablehlo.constant dense<80> : tensor<i32>
    %649 = stablehlo.add %648, %c_164 : tensor<i32>
    %650 = stablehlo.select %647, %649, %9 : tensor<i1>, tensor<i32>
    %c_165 = stablehlo.constant dense<0> : tensor<i32>
    %c_166 = stablehlo.constant dense<0> : tensor<i32>
    %c_167 = stablehlo.constant dense<0> : tensor<i32>
    %651 = stablehlo.dynamic_update_slice %arg162, %641, %c_165, %c_166, %650, %c_167 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %652 = stablehlo.transpose %646, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %653 = stablehlo.reshape %637 : (tensor<1x12x1x64xf32>) -> tensor<12x1x64xf32>
    %654 = stablehlo.reshape %652 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %655 = stablehlo.dot_general %653, %654, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x64xf32>, tensor<12x64x80xf32>) -> tensor<12x1x80xf32>
    %656 = stablehlo.broadcast_in_dim %655, dims = [1, 2, 3] : (tensor<12x1x80xf32>) -> tensor<1x12x1x80xf32>
    %cst_168 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %657 = stablehlo.broadcast_in_dim %cst_168, dims = [] : (tensor<f32>) -> tensor<1x12x1x80xf32>
    %658 = stablehlo.divide %656, %657 : tensor<1x12x1x80xf32>
    %cst_169 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %659 = call @_where_0(%32, %658, %cst_169) : (tensor<1x80xi1>, tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1x80xf32>
    %cst_170 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %660 = stablehlo.reduce(%659 init: %cst_170) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %cst_171 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %661 = stablehlo.broadcast_in_dim %cst_171, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %662 = stablehlo.maximum %661, %660 : tensor<1x12x1xf32>
    %663 = stablehlo.broadcast_in_dim %662, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %664 = stablehlo.broadcast_in_dim %663, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %665 = stablehlo.subtract %659, %664 : tensor<1x12x1x80xf32>
    %666 = stablehlo.exponential %665 : tensor<1x12x1x80xf32>
    %cst_172 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %667 = stablehlo.reduce(%666 init: %cst_172) applies stablehlo.add across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %668 = stablehlo.broadcast_in_dim %667, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %669 = stablehlo.broadcast_in_dim %668, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %670 = stablehlo.divide %666, %669 : tensor<1x12x1x80xf32>
    %671 = stablehlo.reshape %670 : (tensor<1x12x1x80xf32>) -> tensor<12x1x80xf32>
    %672 = stablehlo.reshape %651 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %673 = stablehlo.dot_general %671, %672, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x80xf32>, tensor<12x80x64xf32>) -> tensor<12x1x64xf32>
    %674 = stablehlo.broadcast_in_dim %673, dims = [1, 2, 3] : (tensor<12x1x64xf32>) -> tensor<1x12x1x64xf32>
    %675 = stablehlo.transpose %674, dims = [0, 2, 1, 3] : (tensor<1x12x1x64xf32>) -> tensor<1x1x12x64xf32>
    %676 = stablehlo.reshape %675 : (tensor<1x1x12x64xf32>) -> tensor<1x1x768xf32>
    %677 = stablehlo.dot_general %676, %arg66, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x768xf32>) -> tensor<1x1x768xf32>
    %678 = stablehlo.broadcast_in_dim %arg67, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %679 = stablehlo.add %677, %678 : tensor<1x1x768xf32>
    %680 = stablehlo.add %607, %679 : tensor<1x1x768xf32>
    %cst_173 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %681 = stablehlo.reduce(%680 init: %cst_173) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %682 = stablehlo.broadcast_in_dim %681, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_174 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %683 = stablehlo.broadcast_in_dim %cst_174, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %684 = stablehlo.divide %682, %683 : tensor<1x1x1xf32>
    %685 = stablehlo.broadcast_in_dim %684, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %686 = stablehlo.subtract %680, %685 : tensor<1x1x768xf32>
    %687 = stablehlo.multiply %686, %686 : tensor<1x1x768xf32>
    %cst_175 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %688 = stablehlo.reduce(%687 init: %cst_175) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %689 = stablehlo.broadcast_in_dim %688, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_176 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %690 = stablehlo.broadcast_in_dim %cst_176, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %691 = stablehlo.divide %689, %690 : tensor<1x1x1xf32>
    %692 = stablehlo.broadcast_in_dim %684, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %693 = stablehlo.subtract %680, %692 : tensor<1x1x768xf32>
    %cst_177 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %694 = stablehlo.broadcast_in_dim %cst_177, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %695 = stablehlo.add %691, %694 : tensor<1x1x1xf32>
    %696 = stablehlo.rsqrt %695 : tensor<1x1x1xf32>
    %697 = stablehlo.broadcast_in_dim %696, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %698 = stablehlo.multiply %693, %697 : tensor<1x1x768xf32>
    %699 = stablehlo.broadcast_in_dim %arg68, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %700 = stablehlo.multiply %698, %699 : tensor<1x1x768xf32>
    %701 = stablehlo.broadcast_in_dim %arg69, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %702 = stablehlo.add %700, %701 : tensor<1x1x768xf32>
    %703 = stablehlo.dot_general %702, %arg70, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x3072xf32>) -> tensor<1x1x3072xf32>
    %704 = stablehlo.broadcast_in_dim %arg71, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %705 = stablehlo.add %703, %704 : tensor<1x1x3072xf32>
    %706 = stablehlo.multiply %705, %705 : tensor<1x1x3072xf32>
    %707 = stablehlo.multiply %706, %705 : tensor<1x1x3072xf32>
    %cst_178 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %708 = stablehlo.broadcast_in_dim %cst_178, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %709 = stablehlo.multiply %708, %707 : tensor<1x1x3072xf32>
    %710 = stablehlo.add %705, %709 : tensor<1x1x3072xf32>
    %cst_179 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %711 = stablehlo.broadcast_in_dim %cst_179, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %712 = stablehlo.multiply %711, %710 : tensor<1x1x3072xf32>
    %713 = stablehlo.tanh %712 : tensor<1x1x3072xf32>
    %cst_180 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %714 = stablehlo.broadcast_in_dim %cst_180, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %715 = stablehlo.add %714, %713 : tensor<1x1x3072xf32>
    %cst_181 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %716 = stablehlo.broadcast_in_dim %cst_181, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %717 = stablehlo.multiply %716, %715 : tensor<1x1x3072xf32>
    %718 = stablehlo.multiply %705, %717 : tensor<1x1x3072xf32>
    %719 = stablehlo.dot_general %718, %arg72, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x1x768xf32>
    %720 = stablehlo.broadcast_in_dim %arg73, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %721 = stablehlo.add %719, %720 : tensor<1x1x768xf32>
    %722 = stablehlo.add %680, %721 : tensor<1x1x768xf32>
    %cst_182 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %723 = stablehlo.reduce(%722 init: %cst_182) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %724 = stablehlo.broadcast_in_dim %723, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_183 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %725 = stablehlo.broadcast_in_dim %cst_183, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %726 = stablehlo.divide %724, %725 : tensor<1x1x1xf32>
    %727 = stablehlo.broadcast_in_dim %726, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %728 = stablehlo.subtract %722, %727 : tensor<1x1x768xf32>
    %729 = stablehlo.multiply %728, %728 : tensor<1x1x768xf32>
    %cst_184 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %730 = stablehlo.reduce(%729 init: %cst_184) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %731 = stablehlo.broadcast_in_dim %730, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_185 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %732 = stablehlo.broadcast_in_dim %cst_185, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %733 = stablehlo.divide %731, %732 : tensor<1x1x1xf32>
    %734 = stablehlo.broadcast_in_dim %726, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %735 = stablehlo.subtract %722, %734 : tensor<1x1x768xf32>
    %cst_186 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %736 = stablehlo.broadcast_in_dim %cst_186, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %737 = stablehlo.add %733, %736 : tensor<1x1x1xf32>
    %738 = stablehlo.rsqrt %737 : tensor<1x1x1xf32>
    %739 = stablehlo.broadcast_in_dim %738, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %740 = stablehlo.multiply %735, %739 : tensor<1x1x768xf32>
    %741 = stablehlo.broadcast_in_dim %arg74, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %742 = stablehlo.multiply %740, %741 : tensor<1x1x768xf32>
    %743 = stablehlo.broadcast_in_dim %arg75, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %744 = stablehlo.add %742, %743 : tensor<1x1x768xf32>
    %745 = stablehlo.dot_general %744, %arg76, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x2304xf32>) -> tensor<1x1x2304xf32>
    %746 = stablehlo.broadcast_in_dim %arg77, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %747 = stablehlo.add %745, %746 : tensor<1x1x2304xf32>
    %748 = stablehlo.slice %747 [0:1, 0:1, 0:768] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %749 = stablehlo.slice %747 [0:1, 0:1, 768:1536] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %750 = stablehlo.slice %747 [0:1, 0:1, 1536:2304] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %751 = stablehlo.reshape %748 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %752 = stablehlo.transpose %751, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %753 = stablehlo.reshape %749 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %754 = stablehlo.transpose %753, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %755 = stablehlo.reshape %750 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %756 = stablehlo.transpose %755, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %c_187 = stablehlo.constant dense<0> : tensor<i32>
    %757 = stablehlo.compare LT, %9, %c_187, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %758 = stablehlo.convert %9 : tensor<i32>
    %c_188 = stablehlo.constant dense<80> : tensor<i32>
    %759 = stablehlo.add %758, %c_188 : tensor<i32>
    %760 = stablehlo.select %757, %759, %9 : tensor<i1>, tensor<i32>
    %c_189 = stablehlo.constant dense<0> : tensor<i32>
    %c_190 = stablehlo.constant dense<0> : tensor<i32>
    %c_191 = stablehlo.constant dense<0> : tensor<i32>
    %761 = stablehlo.dynamic_update_slice %arg163, %754, %c_189, %c_190, %760, %c_191 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_192 = stablehlo.constant dense<0> : tensor<i32>
    %762 = stablehlo.compare LT, %9, %c_192, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %763 = stablehlo.convert %9 : tensor<i32>
    %c_193 = stablehlo.constant dense<80> : tensor<i32>
    %764 = stablehlo.add %763, %c_193 : tensor<i32>
    %765 = stablehlo.select %762, %764, %9 : tensor<i1>, tensor<i32>
    %c_194 = stablehlo.constant dense<0> : tensor<i32>
    %c_195 = stablehlo.constant dense<0> : tensor<i32>
    %c_196 = stablehlo.constant dense<0> : tensor<i32>
    %766 = stablehlo.dynamic_update_slice %arg164, %756, %c_194, %c_195, %765, %c_196 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %767 = stablehlo.transpose %761, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %768 = stablehlo.reshape %752 : (tensor<1x12x1x64xf32>) -> tensor<12x1x64xf32>
    %769 = stablehlo.reshape %767 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %770 = stablehlo.dot_general %768, %769, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x64xf32>, tensor<12x64x80xf32>) -> tensor<12x1x80xf32>
    %771 = stablehlo.broadcast_in_dim %770, dims = [1, 2, 3] : (tensor<12x1x80xf32>) -> tensor<1x12x1x80xf32>
    %cst_197 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %772 = stablehlo.broadcast_in_dim %cst_197, dims = [] : (tensor<f32>) -> tensor<1x12x1x80xf32>
    %773 = stablehlo.divide %771, %772 : tensor<1x12x1x80xf32>
    %cst_198 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %774 = call @_where_0(%32, %773, %cst_198) : (tensor<1x80xi1>, tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1x80xf32>
    %cst_199 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %775 = stablehlo.reduce(%774 init: %cst_199) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %cst_200 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %776 = stablehlo.broadcast_in_dim %cst_200, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %777 = stablehlo.maximum %776, %775 : tensor<1x12x1xf32>
    %778 = stablehlo.broadcast_in_dim %777, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %779 = stablehlo.broadcast_in_dim %778, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %780 = stablehlo.subtract %774, %779 : tensor<1x12x1x80xf32>
    %781 = stablehlo.exponential %780 : tensor<1x12x1x80xf32>
    %cst_201 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %782 = stablehlo.reduce(%781 init: %cst_201) applies stablehlo.add across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %783 = stablehlo.broadcast_in_dim %782, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %784 = stablehlo.broadcast_in_dim %783, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %785 = stablehlo.divide %781, %784 : tensor<1x12x1x80xf32>
    %786 = stablehlo.reshape %785 : (tensor<1x12x1x80xf32>) -> tensor<12x1x80xf32>
    %787 = stablehlo.reshape %766 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %788 = stablehlo.dot_general %786, %787, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x80xf32>, tensor<12x80x64xf32>) -> tensor<12x1x64xf32>
    %789 = stablehlo.broadcast_in_dim %788, dims = [1, 2, 3] : (tensor<12x1x64xf32>) -> tensor<1x12x1x64xf32>
    %790 = stablehlo.transpose %789, dims = [0, 2, 1, 3] : (tensor<1x12x1x64xf32>) -> tensor<1x1x12x64xf32>
    %791 = stablehlo.reshape %790 : (tensor<1x1x12x64xf32>) -> tensor<1x1x768xf32>
    %792 = stablehlo.dot_general %791, %arg78, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x768xf32>) -> tensor<1x1x768xf32>
    %793 = stablehlo.broadcast_in_dim %arg79, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %794 = stablehlo.add %792, %793 : tensor<1x1x768xf32>
    %795 = stablehlo.add %722, %794 : tensor<1x1x768xf32>
    %cst_202 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %796 = stablehlo.reduce(%795 init: %cst_202) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %797 = stablehlo.broadcast_in_dim %796, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_203 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %798 = stablehlo.broadcast_in_dim %cst_203, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %799 = stablehlo.divide %797, %798 : tensor<1x1x1xf32>
    %800 = stablehlo.broadcast_in_dim %799, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %801 = stablehlo.subtract %795, %800 : tensor<1x1x768xf32>
    %802 = stablehlo.multiply %801, %801 : tensor<1x1x768xf32>
    %cst_204 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %803 = stablehlo.reduce(%802 init: %cst_204) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %804 = stablehlo.broadcast_in_dim %803, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_205 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %805 = stablehlo.broadcast_in_dim %cst_205, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %806 = stablehlo.divide %804, %805 : tensor<1x1x1xf32>
    %807 = stablehlo.broadcast_in_dim %799, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %808 = stablehlo.subtract %795, %807 : tensor<1x1x768xf32>
    %cst_206 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %809 = stablehlo.broadcast_in_dim %cst_206, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %810 = stablehlo.add %806, %809 : tensor<1x1x1xf32>
    %811 = stablehlo.rsqrt %810 : tensor<1x1x1xf32>
    %812 = stablehlo.broadcast_in_dim %811, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %813 = stablehlo.multiply %808, %812 : tensor<1x1x768xf32>
    %814 = stablehlo.broadcast_in_dim %arg80, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %815 = stablehlo.multiply %813, %814 : tensor<1x1x768xf32>
    %816 = stablehlo.broadcast_in_dim %arg81, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %817 = stablehlo.add %815, %816 : tensor<1x1x768xf32>
    %818 = stablehlo.dot_general %817, %arg82, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x3072xf32>) -> tensor<1x1x3072xf32>
    %819 = stablehlo.broadcast_in_dim %arg83, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %820 = stablehlo.add %818, %819 : tensor<1x1x3072xf32>
    %821 = stablehlo.multiply %820, %820 : tensor<1x1x3072xf32>
    %822 = stablehlo.multiply %821, %820 : tensor<1x1x3072xf32>
    %cst_207 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %823 = stablehlo.broadcast_in_dim %cst_207, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %824 = stablehlo.multiply %823, %822 : tensor<1x1x3072xf32>
    %825 = stablehlo.add %820, %824 : tensor<1x1x3072xf32>
    %cst_208 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %826 = stablehlo.broadcast_in_dim %cst_208, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %827 = stablehlo.multiply %826, %825 : tensor<1x1x3072xf32>
    %828 = stablehlo.tanh %827 : tensor<1x1x3072xf32>
    %cst_209 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %829 = stablehlo.broadcast_in_dim %cst_209, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %830 = stablehlo.add %829, %828 : tensor<1x1x3072xf32>
    %cst_210 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %831 = stablehlo.broadcast_in_dim %cst_210, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %832 = stablehlo.multiply %831, %830 : tensor<1x1x3072xf32>
    %833 = stablehlo.multiply %820, %832 : tensor<1x1x3072xf32>
    %834 = stablehlo.dot_general %833, %arg84, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x1x768xf32>
    %835 = stablehlo.broadcast_in_dim %arg85, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %836 = stablehlo.add %834, %835 : tensor<1x1x768xf32>
    %837 = stablehlo.add %795, %836 : tensor<1x1x768xf32>
    %cst_211 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %838 = stablehlo.reduce(%837 init: %cst_211) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %839 = stablehlo.broadcast_in_dim %838, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_212 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %840 = stablehlo.broadcast_in_dim %cst_212, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %841 = stablehlo.divide %839, %840 : tensor<1x1x1xf32>
    %842 = stablehlo.broadcast_in_dim %841, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %843 = stablehlo.subtract %837, %842 : tensor<1x1x768xf32>
    %844 = stablehlo.multiply %843, %843 : tensor<1x1x768xf32>
    %cst_213 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %845 = stablehlo.reduce(%844 init: %cst_213) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %846 = stablehlo.broadcast_in_dim %845, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_214 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %847 = stablehlo.broadcast_in_dim %cst_214, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %848 = stablehlo.divide %846, %847 : tensor<1x1x1xf32>
    %849 = stablehlo.broadcast_in_dim %841, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %850 = stablehlo.subtract %837, %849 : tensor<1x1x768xf32>
    %cst_215 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %851 = stablehlo.broadcast_in_dim %cst_215, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %852 = stablehlo.add %848, %851 : tensor<1x1x1xf32>
    %853 = stablehlo.rsqrt %852 : tensor<1x1x1xf32>
    %854 = stablehlo.broadcast_in_dim %853, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %855 = stablehlo.multiply %850, %854 : tensor<1x1x768xf32>
    %856 = stablehlo.broadcast_in_dim %arg86, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %857 = stablehlo.multiply %855, %856 : tensor<1x1x768xf32>
    %858 = stablehlo.broadcast_in_dim %arg87, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %859 = stablehlo.add %857, %858 : tensor<1x1x768xf32>
    %860 = stablehlo.dot_general %859, %arg88, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x2304xf32>) -> tensor<1x1x2304xf32>
    %861 = stablehlo.broadcast_in_dim %arg89, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %862 = stablehlo.add %860, %861 : tensor<1x1x2304xf32>
    %863 = stablehlo.slice %862 [0:1, 0:1, 0:768] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %864 = stablehlo.slice %862 [0:1, 0:1, 768:1536] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %865 = stablehlo.slice %862 [0:1, 0:1, 1536:2304] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %866 = stablehlo.reshape %863 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %867 = stablehlo.transpose %866, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %868 = stablehlo.reshape %864 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %869 = stablehlo.transpose %868, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %870 = stablehlo.reshape %865 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %871 = stablehlo.transpose %870, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %c_216 = stablehlo.constant dense<0> : tensor<i32>
    %872 = stablehlo.compare LT, %9, %c_216, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %873 = stablehlo.convert %9 : tensor<i32>
    %c_217 = stablehlo.constant dense<80> : tensor<i32>
    %874 = stablehlo.add %873, %c_217 : tensor<i32>
    %875 = stablehlo.select %872, %874, %9 : tensor<i1>, tensor<i32>
    %c_218 = stablehlo.constant dense<0> : tensor<i32>
    %c_219 = stablehlo.constant dense<0> : tensor<i32>
    %c_220 = stablehlo.constant dense<0> : tensor<i32>
    %876 = stablehlo.dynamic_update_slice %arg165, %869, %c_218, %c_219, %875, %c_220 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_221 = stablehlo.constant dense<0> : tensor<i32>
    %877 = stablehlo.compare LT, %9, %c_221, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %878 = stablehlo.convert %9 : tensor<i32>
    %c_222 = stablehlo.constant dense<80> : tensor<i32>
    %879 = stablehlo.add %878, %c_222 : tensor<i32>
    %880 = stablehlo.select %877, %879, %9 : tensor<i1>, tensor<i32>
    %c_223 = stablehlo.constant dense<0> : tensor<i32>
    %c_224 = stablehlo.constant dense<0> : tensor<i32>
    %c_225 = stablehlo.constant dense<0> : tensor<i32>
    %881 = stablehlo.dynamic_update_slice %arg166, %871, %c_223, %c_224, %880, %c_225 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %882 = stablehlo.transpose %876, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %883 = stablehlo.reshape %867 : (tensor<1x12x1x64xf32>) -> tensor<12x1x64xf32>
    %884 = stablehlo.reshape %882 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %885 = stablehlo.dot_general %883, %884, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x64xf32>, tensor<12x64x80xf32>) -> tensor<12x1x80xf32>
    %886 = stablehlo.broadcast_in_dim %885, dims = [1, 2, 3] : (tensor<12x1x80xf32>) -> tensor<1x12x1x80xf32>
    %cst_226 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %887 = stablehlo.broadcast_in_dim %cst_226, dims = [] : (tensor<f32>) -> tensor<1x12x1x80xf32>
    %888 = stablehlo.divide %886, %887 : tensor<1x12x1x80xf32>
    %cst_227 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %889 = call @_where_0(%32, %888, %cst_227) : (tensor<1x80xi1>, tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1x80xf32>
    %cst_228 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %890 = stablehlo.reduce(%889 init: %cst_228) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %cst_229 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %891 = stablehlo.broadcast_in_dim %cst_229, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %892 = stablehlo.maximum %891, %890 : tensor<1x12x1xf32>
    %893 = stablehlo.broadcast_in_dim %892, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %894 = stablehlo.broadcast_in_dim %893, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %895 = stablehlo.subtract %889, %894 : tensor<1x12x1x80xf32>
    %896 = stablehlo.exponential %895 : tensor<1x12x1x80xf32>
    %cst_230 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %897 = stablehlo.reduce(%896 init: %cst_230) applies stablehlo.add across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %898 = stablehlo.broadcast_in_dim %897, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %899 = stablehlo.broadcast_in_dim %898, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %900 = stablehlo.divide %896, %899 : tensor<1x12x1x80xf32>
    %901 = stablehlo.reshape %900 : (tensor<1x12x1x80xf32>) -> tensor<12x1x80xf32>
    %902 = stablehlo.reshape %881 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %903 = stablehlo.dot_general %901, %902, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x80xf32>, tensor<12x80x64xf32>) -> tensor<12x1x64xf32>
    %904 = stablehlo.broadcast_in_dim %903, dims = [1, 2, 3] : (tensor<12x1x64xf32>) -> tensor<1x12x1x64xf32>
    %905 = stablehlo.transpose %904, dims = [0, 2, 1, 3] : (tensor<1x12x1x64xf32>) -> tensor<1x1x12x64xf32>
    %906 = stablehlo.reshape %905 : (tensor<1x1x12x64xf32>) -> tensor<1x1x768xf32>
    %907 = stablehlo.dot_general %906, %arg90, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x768xf32>) -> tensor<1x1x768xf32>
    %908 = stablehlo.broadcast_in_dim %arg91, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %909 = stablehlo.add %907, %908 : tensor<1x1x768xf32>
    %910 = stablehlo.add %837, %909 : tensor<1x1x768xf32>
    %cst_231 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %911 = stablehlo.reduce(%910 init: %cst_231) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %912 = stablehlo.broadcast_in_dim %911, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_232 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %913 = stablehlo.broadcast_in_dim %cst_232, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %914 = stablehlo.divide %912, %913 : tensor<1x1x1xf32>
    %915 = stablehlo.broadcast_in_dim %914, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %916 = stablehlo.subtract %910, %915 : tensor<1x1x768xf32>
    %917 = stablehlo.multiply %916, %916 : tensor<1x1x768xf32>
    %cst_233 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %918 = stablehlo.reduce(%917 init: %cst_233) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %919 = stablehlo.broadcast_in_dim %918, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_234 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %920 = stablehlo.broadcast_in_dim %cst_234, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %921 = stablehlo.divide %919, %920 : tensor<1x1x1xf32>
    %922 = stablehlo.broadcast_in_dim %914, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %923 = stablehlo.subtract %910, %922 : tensor<1x1x768xf32>
    %cst_235 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %924 = stablehlo.broadcast_in_dim %cst_235, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %925 = stablehlo.add %921, %924 : tensor<1x1x1xf32>
    %926 = stablehlo.rsqrt %925 : tensor<1x1x1xf32>
    %927 = stablehlo.broadcast_in_dim %926, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %928 = stablehlo.multiply %923, %927 : tensor<1x1x768xf32>
    %929 = stablehlo.broadcast_in_dim %arg92, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %930 = stablehlo.multiply %928, %929 : tensor<1x1x768xf32>
    %931 = stablehlo.broadcast_in_dim %arg93, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %932 = stablehlo.add %930, %931 : tensor<1x1x768xf32>
    %933 = stablehlo.dot_general %932, %arg94, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x3072xf32>) -> tensor<1x1x3072xf32>
    %934 = stablehlo.broadcast_in_dim %arg95, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %935 = stablehlo.add %933, %934 : tensor<1x1x3072xf32>
    %936 = stablehlo.multiply %935, %935 : tensor<1x1x3072xf32>
    %937 = stablehlo.multiply %936, %935 : tensor<1x1x3072xf32>
    %cst_236 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %938 = stablehlo.broadcast_in_dim %cst_236, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %939 = stablehlo.multiply %938, %937 : tensor<1x1x3072xf32>
    %940 = stablehlo.add %935, %939 : tensor<1x1x3072xf32>
    %cst_237 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %941 = stablehlo.broadcast_in_dim %cst_237, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %942 = stablehlo.multiply %941, %940 : tensor<1x1x3072xf32>
    %943 = stablehlo.tanh %942 : tensor<1x1x3072xf32>
    %cst_238 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %944 = stablehlo.broadcast_in_dim %cst_238, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %945 = stablehlo.add %944, %943 : tensor<1x1x3072xf32>
    %cst_239 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %946 = stablehlo.broadcast_in_dim %cst_239, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %947 = stablehlo.multiply %946, %945 : tensor<1x1x3072xf32>
    %948 = stablehlo.multiply %935, %947 : tensor<1x1x3072xf32>
    %949 = stablehlo.dot_general %948, %arg96, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x1x768xf32>
    %950 = stablehlo.broadcast_in_dim %arg97, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %951 = stablehlo.add %949, %950 : tensor<1x1x768xf32>
    %952 = stablehlo.add %910, %951 : tensor<1x1x768xf32>
    %cst_240 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %953 = stablehlo.reduce(%952 init: %cst_240) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %954 = stablehlo.broadcast_in_dim %953, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_241 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %955 = stablehlo.broadcast_in_dim %cst_241, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %956 = stablehlo.divide %954, %955 : tensor<1x1x1xf32>
    %957 = stablehlo.broadcast_in_dim %956, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %958 = stablehlo.subtract %952, %957 : tensor<1x1x768xf32>
    %959 = stablehlo.multiply %958, %958 : tensor<1x1x768xf32>
    %cst_242 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %960 = stablehlo.reduce(%959 init: %cst_242) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %961 = stablehlo.broadcast_in_dim %960, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_243 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %962 = stablehlo.broadcast_in_dim %cst_243, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %963 = stablehlo.divide %961, %962 : tensor<1x1x1xf32>
    %964 = stablehlo.broadcast_in_dim %956, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %965 = stablehlo.subtract %952, %964 : tensor<1x1x768xf32>
    %cst_244 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %966 = stablehlo.broadcast_in_dim %cst_244, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %967 = stablehlo.add %963, %966 : tensor<1x1x1xf32>
    %968 = stablehlo.rsqrt %967 : tensor<1x1x1xf32>
    %969 = stablehlo.broadcast_in_dim %968, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %970 = stablehlo.multiply %965, %969 : tensor<1x1x768xf32>
    %971 = stablehlo.broadcast_in_dim %arg98, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %972 = stablehlo.multiply %970, %971 : tensor<1x1x768xf32>
    %973 = stablehlo.broadcast_in_dim %arg99, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %974 = stablehlo.add %972, %973 : tensor<1x1x768xf32>
    %975 = stablehlo.dot_general %974, %arg100, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x2304xf32>) -> tensor<1x1x2304xf32>
    %976 = stablehlo.broadcast_in_dim %arg101, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %977 = stablehlo.add %975, %976 : tensor<1x1x2304xf32>
    %978 = stablehlo.slice %977 [0:1, 0:1, 0:768] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %979 = stablehlo.slice %977 [0:1, 0:1, 768:1536] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %980 = stablehlo.slice %977 [0:1, 0:1, 1536:2304] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %981 = stablehlo.reshape %978 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %982 = stablehlo.transpose %981, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %983 = stablehlo.reshape %979 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %984 = stablehlo.transpose %983, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %985 = stablehlo.reshape %980 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %986 = stablehlo.transpose %985, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %c_245 = stablehlo.constant dense<0> : tensor<i32>
    %987 = stablehlo.compare LT, %9, %c_245, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %988 = stablehlo.convert %9 : tensor<i32>
    %c_246 = stablehlo.constant dense<80> : tensor<i32>
    %989 = stablehlo.add %988, %c_246 : tensor<i32>
    %990 = stablehlo.select %987, %989, %9 : tensor<i1>, tensor<i32>
    %c_247 = stablehlo.constant dense<0> : tensor<i32>
    %c_248 = stablehlo.constant dense<0> : tensor<i32>
    %c_249 = stablehlo.constant dense<0> : tensor<i32>
    %991 = stablehlo.dynamic_update_slice %arg167, %984, %c_247, %c_248, %990, %c_249 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_250 = stablehlo.constant dense<0> : tensor<i32>
    %992 = stablehlo.compare LT, %9, %c_250, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %993 = stablehlo.convert %9 : tensor<i32>
    %c_251 = stablehlo.constant dense<80> : tensor<i32>
    %994 = stablehlo.add %993, %c_251 : tensor<i32>
    %995 = stablehlo.select %992, %994, %9 : tensor<i1>, tensor<i32>
    %c_252 = stablehlo.constant dense<0> : tensor<i32>
    %c_253 = stablehlo.constant dense<0> : tensor<i32>
    %c_254 = stablehlo.constant dense<0> : tensor<i32>
    %996 = stablehlo.dynamic_update_slice %arg168, %986, %c_252, %c_253, %995, %c_254 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %997 = stablehlo.transpose %991, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %998 = stablehlo.reshape %982 : (tensor<1x12x1x64xf32>) -> tensor<12x1x64xf32>
    %999 = stablehlo.reshape %997 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %1000 = stablehlo.dot_general %998, %999, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x64xf32>, tensor<12x64x80xf32>) -> tensor<12x1x80xf32>
    %1001 = stablehlo.broadcast_in_dim %1000, dims = [1, 2, 3] : (tensor<12x1x80xf32>) -> tensor<1x12x1x80xf32>
    %cst_255 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %1002 = stablehlo.broadcast_in_dim %cst_255, dims = [] : (tensor<f32>) -> tensor<1x12x1x80xf32>
    %1003 = stablehlo.divide %1001, %1002 : tensor<1x12x1x80xf32>
    %cst_256 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %1004 = call @_where_0(%32, %1003, %cst_256) : (tensor<1x80xi1>, tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1x80xf32>
    %cst_257 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1005 = stablehlo.reduce(%1004 init: %cst_257) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %cst_258 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1006 = stablehlo.broadcast_in_dim %cst_258, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %1007 = stablehlo.maximum %1006, %1005 : tensor<1x12x1xf32>
    %1008 = stablehlo.broadcast_in_dim %1007, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %1009 = stablehlo.broadcast_in_dim %1008, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %1010 = stablehlo.subtract %1004, %1009 : tensor<1x12x1x80xf32>
    %1011 = stablehlo.exponential %1010 : tensor<1x12x1x80xf32>
    %cst_259 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1012 = stablehlo.reduce(%1011 init: %cst_259) applies stablehlo.add across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %1013 = stablehlo.broadcast_in_dim %1012, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %1014 = stablehlo.broadcast_in_dim %1013, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %1015 = stablehlo.divide %1011, %1014 : tensor<1x12x1x80xf32>
    %1016 = stablehlo.reshape %1015 : (tensor<1x12x1x80xf32>) -> tensor<12x1x80xf32>
    %1017 = stablehlo.reshape %996 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %1018 = stablehlo.dot_general %1016, %1017, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x80xf32>, tensor<12x80x64xf32>) -> tensor<12x1x64xf32>
    %1019 = stablehlo.broadcast_in_dim %1018, dims = [1, 2, 3] : (tensor<12x1x64xf32>) -> tensor<1x12x1x64xf32>
    %1020 = stablehlo.transpose %1019, dims = [0, 2, 1, 3] : (tensor<1x12x1x64xf32>) -> tensor<1x1x12x64xf32>
    %1021 = stablehlo.reshape %1020 : (tensor<1x1x12x64xf32>) -> tensor<1x1x768xf32>
    %1022 = stablehlo.dot_general %1021, %arg102, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x768xf32>) -> tensor<1x1x768xf32>
    %1023 = stablehlo.broadcast_in_dim %arg103, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1024 = stablehlo.add %1022, %1023 : tensor<1x1x768xf32>
    %1025 = stablehlo.add %952, %1024 : tensor<1x1x768xf32>
    %cst_260 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1026 = stablehlo.reduce(%1025 init: %cst_260) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1027 = stablehlo.broadcast_in_dim %1026, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_261 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1028 = stablehlo.broadcast_in_dim %cst_261, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1029 = stablehlo.divide %1027, %1028 : tensor<1x1x1xf32>
    %1030 = stablehlo.broadcast_in_dim %1029, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1031 = stablehlo.subtract %1025, %1030 : tensor<1x1x768xf32>
    %1032 = stablehlo.multiply %1031, %1031 : tensor<1x1x768xf32>
    %cst_262 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1033 = stablehlo.reduce(%1032 init: %cst_262) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1034 = stablehlo.broadcast_in_dim %1033, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_263 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1035 = stablehlo.broadcast_in_dim %cst_263, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1036 = stablehlo.divide %1034, %1035 : tensor<1x1x1xf32>
    %1037 = stablehlo.broadcast_in_dim %1029, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1038 = stablehlo.subtract %1025, %1037 : tensor<1x1x768xf32>
    %cst_264 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1039 = stablehlo.broadcast_in_dim %cst_264, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1040 = stablehlo.add %1036, %1039 : tensor<1x1x1xf32>
    %1041 = stablehlo.rsqrt %1040 : tensor<1x1x1xf32>
    %1042 = stablehlo.broadcast_in_dim %1041, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1043 = stablehlo.multiply %1038, %1042 : tensor<1x1x768xf32>
    %1044 = stablehlo.broadcast_in_dim %arg104, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1045 = stablehlo.multiply %1043, %1044 : tensor<1x1x768xf32>
    %1046 = stablehlo.broadcast_in_dim %arg105, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1047 = stablehlo.add %1045, %1046 : tensor<1x1x768xf32>
    %1048 = stablehlo.dot_general %1047, %arg106, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x3072xf32>) -> tensor<1x1x3072xf32>
    %1049 = stablehlo.broadcast_in_dim %arg107, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1050 = stablehlo.add %1048, %1049 : tensor<1x1x3072xf32>
    %1051 = stablehlo.multiply %1050, %1050 : tensor<1x1x3072xf32>
    %1052 = stablehlo.multiply %1051, %1050 : tensor<1x1x3072xf32>
    %cst_265 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1053 = stablehlo.broadcast_in_dim %cst_265, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1054 = stablehlo.multiply %1053, %1052 : tensor<1x1x3072xf32>
    %1055 = stablehlo.add %1050, %1054 : tensor<1x1x3072xf32>
    %cst_266 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1056 = stablehlo.broadcast_in_dim %cst_266, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1057 = stablehlo.multiply %1056, %1055 : tensor<1x1x3072xf32>
    %1058 = stablehlo.tanh %1057 : tensor<1x1x3072xf32>
    %cst_267 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1059 = stablehlo.broadcast_in_dim %cst_267, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1060 = stablehlo.add %1059, %1058 : tensor<1x1x3072xf32>
    %cst_268 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1061 = stablehlo.broadcast_in_dim %cst_268, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1062 = stablehlo.multiply %1061, %1060 : tensor<1x1x3072xf32>
    %1063 = stablehlo.multiply %1050, %1062 : tensor<1x1x3072xf32>
    %1064 = stablehlo.dot_general %1063, %arg108, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x1x768xf32>
    %1065 = stablehlo.broadcast_in_dim %arg109, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1066 = stablehlo.add %1064, %1065 : tensor<1x1x768xf32>
    %1067 = stablehlo.add %1025, %1066 : tensor<1x1x768xf32>
    %cst_269 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1068 = stablehlo.reduce(%1067 init: %cst_269) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1069 = stablehlo.broadcast_in_dim %1068, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_270 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1070 = stablehlo.broadcast_in_dim %cst_270, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1071 = stablehlo.divide %1069, %1070 : tensor<1x1x1xf32>
    %1072 = stablehlo.broadcast_in_dim %1071, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1073 = stablehlo.subtract %1067, %1072 : tensor<1x1x768xf32>
    %1074 = stablehlo.multiply %1073, %1073 : tensor<1x1x768xf32>
    %cst_271 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1075 = stablehlo.reduce(%1074 init: %cst_271) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1076 = stablehlo.broadcast_in_dim %1075, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_272 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1077 = stablehlo.broadcast_in_dim %cst_272, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1078 = stablehlo.divide %1076, %1077 : tensor<1x1x1xf32>
    %1079 = stablehlo.broadcast_in_dim %1071, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1080 = stablehlo.subtract %1067, %1079 : tensor<1x1x768xf32>
    %cst_273 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1081 = stablehlo.broadcast_in_dim %cst_273, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1082 = stablehlo.add %1078, %1081 : tensor<1x1x1xf32>
    %1083 = stablehlo.rsqrt %1082 : tensor<1x1x1xf32>
    %1084 = stablehlo.broadcast_in_dim %1083, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1085 = stablehlo.multiply %1080, %1084 : tensor<1x1x768xf32>
    %1086 = stablehlo.broadcast_in_dim %arg110, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1087 = stablehlo.multiply %1085, %1086 : tensor<1x1x768xf32>
    %1088 = stablehlo.broadcast_in_dim %arg111, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1089 = stablehlo.add %1087, %1088 : tensor<1x1x768xf32>
    %1090 = stablehlo.dot_general %1089, %arg112, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x2304xf32>) -> tensor<1x1x2304xf32>
    %1091 = stablehlo.broadcast_in_dim %arg113, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %1092 = stablehlo.add %1090, %1091 : tensor<1x1x2304xf32>
    %1093 = stablehlo.slice %1092 [0:1, 0:1, 0:768] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %1094 = stablehlo.slice %1092 [0:1, 0:1, 768:1536] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %1095 = stablehlo.slice %1092 [0:1, 0:1, 1536:2304] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %1096 = stablehlo.reshape %1093 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %1097 = stablehlo.transpose %1096, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %1098 = stablehlo.reshape %1094 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %1099 = stablehlo.transpose %1098, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %1100 = stablehlo.reshape %1095 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %1101 = stablehlo.transpose %1100, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %c_274 = stablehlo.constant dense<0> : tensor<i32>
    %1102 = stablehlo.compare LT, %9, %c_274, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1103 = stablehlo.convert %9 : tensor<i32>
    %c_275 = stablehlo.constant dense<80> : tensor<i32>
    %1104 = stablehlo.add %1103, %c_275 : tensor<i32>
    %1105 = stablehlo.select %1102, %1104, %9 : tensor<i1>, tensor<i32>
    %c_276 = stablehlo.constant dense<0> : tensor<i32>
    %c_277 = stablehlo.constant dense<0> : tensor<i32>
    %c_278 = stablehlo.constant dense<0> : tensor<i32>
    %1106 = stablehlo.dynamic_update_slice %arg169, %1099, %c_276, %c_277, %1105, %c_278 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_279 = stablehlo.constant dense<0> : tensor<i32>
    %1107 = stablehlo.compare LT, %9, %c_279, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1108 = stablehlo.convert %9 : tensor<i32>
    %c_280 = stablehlo.constant dense<80> : tensor<i32>
    %1109 = stablehlo.add %1108, %c_280 : tensor<i32>
    %1110 = stablehlo.select %1107, %1109, %9 : tensor<i1>, tensor<i32>
    %c_281 = stablehlo.constant dense<0> : tensor<i32>
    %c_282 = stablehlo.constant dense<0> : tensor<i32>
    %c_283 = stablehlo.constant dense<0> : tensor<i32>
    %1111 = stablehlo.dynamic_update_slice %arg170, %1101, %c_281, %c_282, %1110, %c_283 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %1112 = stablehlo.transpose %1106, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %1113 = stablehlo.reshape %1097 : (tensor<1x12x1x64xf32>) -> tensor<12x1x64xf32>
    %1114 = stablehlo.reshape %1112 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %1115 = stablehlo.dot_general %1113, %1114, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x64xf32>, tensor<12x64x80xf32>) -> tensor<12x1x80xf32>
    %1116 = stablehlo.broadcast_in_dim %1115, dims = [1, 2, 3] : (tensor<12x1x80xf32>) -> tensor<1x12x1x80xf32>
    %cst_284 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %1117 = stablehlo.broadcast_in_dim %cst_284, dims = [] : (tensor<f32>) -> tensor<1x12x1x80xf32>
    %1118 = stablehlo.divide %1116, %1117 : tensor<1x12x1x80xf32>
    %cst_285 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %1119 = call @_where_0(%32, %1118, %cst_285) : (tensor<1x80xi1>, tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1x80xf32>
    %cst_286 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1120 = stablehlo.reduce(%1119 init: %cst_286) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %cst_287 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1121 = stablehlo.broadcast_in_dim %cst_287, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %1122 = stablehlo.maximum %1121, %1120 : tensor<1x12x1xf32>
    %1123 = stablehlo.broadcast_in_dim %1122, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %1124 = stablehlo.broadcast_in_dim %1123, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %1125 = stablehlo.subtract %1119, %1124 : tensor<1x12x1x80xf32>
    %1126 = stablehlo.exponential %1125 : tensor<1x12x1x80xf32>
    %cst_288 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1127 = stablehlo.reduce(%1126 init: %cst_288) applies stablehlo.add across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %1128 = stablehlo.broadcast_in_dim %1127, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %1129 = stablehlo.broadcast_in_dim %1128, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %1130 = stablehlo.divide %1126, %1129 : tensor<1x12x1x80xf32>
    %1131 = stablehlo.reshape %1130 : (tensor<1x12x1x80xf32>) -> tensor<12x1x80xf32>
    %1132 = stablehlo.reshape %1111 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %1133 = stablehlo.dot_general %1131, %1132, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x80xf32>, tensor<12x80x64xf32>) -> tensor<12x1x64xf32>
    %1134 = stablehlo.broadcast_in_dim %1133, dims = [1, 2, 3] : (tensor<12x1x64xf32>) -> tensor<1x12x1x64xf32>
    %1135 = stablehlo.transpose %1134, dims = [0, 2, 1, 3] : (tensor<1x12x1x64xf32>) -> tensor<1x1x12x64xf32>
    %1136 = stablehlo.reshape %1135 : (tensor<1x1x12x64xf32>) -> tensor<1x1x768xf32>
    %1137 = stablehlo.dot_general %1136, %arg114, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x768xf32>) -> tensor<1x1x768xf32>
    %1138 = stablehlo.broadcast_in_dim %arg115, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1139 = stablehlo.add %1137, %1138 : tensor<1x1x768xf32>
    %1140 = stablehlo.add %1067, %1139 : tensor<1x1x768xf32>
    %cst_289 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1141 = stablehlo.reduce(%1140 init: %cst_289) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1142 = stablehlo.broadcast_in_dim %1141, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_290 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1143 = stablehlo.broadcast_in_dim %cst_290, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1144 = stablehlo.divide %1142, %1143 : tensor<1x1x1xf32>
    %1145 = stablehlo.broadcast_in_dim %1144, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1146 = stablehlo.subtract %1140, %1145 : tensor<1x1x768xf32>
    %1147 = stablehlo.multiply %1146, %1146 : tensor<1x1x768xf32>
    %cst_291 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1148 = stablehlo.reduce(%1147 init: %cst_291) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1149 = stablehlo.broadcast_in_dim %1148, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_292 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1150 = stablehlo.broadcast_in_dim %cst_292, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1151 = stablehlo.divide %1149, %1150 : tensor<1x1x1xf32>
    %1152 = stablehlo.broadcast_in_dim %1144, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1153 = stablehlo.subtract %1140, %1152 : tensor<1x1x768xf32>
    %cst_293 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1154 = stablehlo.broadcast_in_dim %cst_293, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1155 = stablehlo.add %1151, %1154 : tensor<1x1x1xf32>
    %1156 = stablehlo.rsqrt %1155 : tensor<1x1x1xf32>
    %1157 = stablehlo.broadcast_in_dim %1156, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1158 = stablehlo.multiply %1153, %1157 : tensor<1x1x768xf32>
    %1159 = stablehlo.broadcast_in_dim %arg116, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1160 = stablehlo.multiply %1158, %1159 : tensor<1x1x768xf32>
    %1161 = stablehlo.broadcast_in_dim %arg117, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1162 = stablehlo.add %1160, %1161 : tensor<1x1x768xf32>
    %1163 = stablehlo.dot_general %1162, %arg118, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x3072xf32>) -> tensor<1x1x3072xf32>
    %1164 = stablehlo.broadcast_in_dim %arg119, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1165 = stablehlo.add %1163, %1164 : tensor<1x1x3072xf32>
    %1166 = stablehlo.multiply %1165, %1165 : tensor<1x1x3072xf32>
    %1167 = stablehlo.multiply %1166, %1165 : tensor<1x1x3072xf32>
    %cst_294 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1168 = stablehlo.broadcast_in_dim %cst_294, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1169 = stablehlo.multiply %1168, %1167 : tensor<1x1x3072xf32>
    %1170 = stablehlo.add %1165, %1169 : tensor<1x1x3072xf32>
    %cst_295 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1171 = stablehlo.broadcast_in_dim %cst_295, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1172 = stablehlo.multiply %1171, %1170 : tensor<1x1x3072xf32>
    %1173 = stablehlo.tanh %1172 : tensor<1x1x3072xf32>
    %cst_296 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1174 = stablehlo.broadcast_in_dim %cst_296, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1175 = stablehlo.add %1174, %1173 : tensor<1x1x3072xf32>
    %cst_297 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1176 = stablehlo.broadcast_in_dim %cst_297, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1177 = stablehlo.multiply %1176, %1175 : tensor<1x1x3072xf32>
    %1178 = stablehlo.multiply %1165, %1177 : tensor<1x1x3072xf32>
    %1179 = stablehlo.dot_general %1178, %arg120, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x1x768xf32>
    %1180 = stablehlo.broadcast_in_dim %arg121, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1181 = stablehlo.add %1179, %1180 : tensor<1x1x768xf32>
    %1182 = stablehlo.add %1140, %1181 : tensor<1x1x768xf32>
    %cst_298 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1183 = stablehlo.reduce(%1182 init: %cst_298) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1184 = stablehlo.broadcast_in_dim %1183, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_299 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1185 = stablehlo.broadcast_in_dim %cst_299, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1186 = stablehlo.divide %1184, %1185 : tensor<1x1x1xf32>
    %1187 = stablehlo.broadcast_in_dim %1186, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1188 = stablehlo.subtract %1182, %1187 : tensor<1x1x768xf32>
    %1189 = stablehlo.multiply %1188, %1188 : tensor<1x1x768xf32>
    %cst_300 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1190 = stablehlo.reduce(%1189 init: %cst_300) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1191 = stablehlo.broadcast_in_dim %1190, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_301 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1192 = stablehlo.broadcast_in_dim %cst_301, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1193 = stablehlo.divide %1191, %1192 : tensor<1x1x1xf32>
    %1194 = stablehlo.broadcast_in_dim %1186, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1195 = stablehlo.subtract %1182, %1194 : tensor<1x1x768xf32>
    %cst_302 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1196 = stablehlo.broadcast_in_dim %cst_302, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1197 = stablehlo.add %1193, %1196 : tensor<1x1x1xf32>
    %1198 = stablehlo.rsqrt %1197 : tensor<1x1x1xf32>
    %1199 = stablehlo.broadcast_in_dim %1198, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1200 = stablehlo.multiply %1195, %1199 : tensor<1x1x768xf32>
    %1201 = stablehlo.broadcast_in_dim %arg122, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1202 = stablehlo.multiply %1200, %1201 : tensor<1x1x768xf32>
    %1203 = stablehlo.broadcast_in_dim %arg123, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1204 = stablehlo.add %1202, %1203 : tensor<1x1x768xf32>
    %1205 = stablehlo.dot_general %1204, %arg124, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x2304xf32>) -> tensor<1x1x2304xf32>
    %1206 = stablehlo.broadcast_in_dim %arg125, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %1207 = stablehlo.add %1205, %1206 : tensor<1x1x2304xf32>
    %1208 = stablehlo.slice %1207 [0:1, 0:1, 0:768] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %1209 = stablehlo.slice %1207 [0:1, 0:1, 768:1536] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %1210 = stablehlo.slice %1207 [0:1, 0:1, 1536:2304] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %1211 = stablehlo.reshape %1208 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %1212 = stablehlo.transpose %1211, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %1213 = stablehlo.reshape %1209 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %1214 = stablehlo.transpose %1213, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %1215 = stablehlo.reshape %1210 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %1216 = stablehlo.transpose %1215, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %c_303 = stablehlo.constant dense<0> : tensor<i32>
    %1217 = stablehlo.compare LT, %9, %c_303, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1218 = stablehlo.convert %9 : tensor<i32>
    %c_304 = stablehlo.constant dense<80> : tensor<i32>
    %1219 = stablehlo.add %1218, %c_304 : tensor<i32>
    %1220 = stablehlo.select %1217, %1219, %9 : tensor<i1>, tensor<i32>
    %c_305 = stablehlo.constant dense<0> : tensor<i32>
    %c_306 = stablehlo.constant dense<0> : tensor<i32>
    %c_307 = stablehlo.constant dense<0> : tensor<i32>
    %1221 = stablehlo.dynamic_update_slice %arg171, %1214, %c_305, %c_306, %1220, %c_307 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_308 = stablehlo.constant dense<0> : tensor<i32>
    %1222 = stablehlo.compare LT, %9, %c_308, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1223 = stablehlo.convert %9 : tensor<i32>
    %c_309 = stablehlo.constant dense<80> : tensor<i32>
    %1224 = stablehlo.add %1223, %c_309 : tensor<i32>
    %1225 = stablehlo.select %1222, %1224, %9 : tensor<i1>, tensor<i32>
    %c_310 = stablehlo.constant dense<0> : tensor<i32>
    %c_311 = stablehlo.constant dense<0> : tensor<i32>
    %c_312 = stablehlo.constant dense<0> : tensor<i32>
    %1226 = stablehlo.dynamic_update_slice %arg172, %1216, %c_310, %c_311, %1225, %c_312 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %1227 = stablehlo.transpose %1221, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %1228 = stablehlo.reshape %1212 : (tensor<1x12x1x64xf32>) -> tensor<12x1x64xf32>
    %1229 = stablehlo.reshape %1227 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %1230 = stablehlo.dot_general %1228, %1229, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x64xf32>, tensor<12x64x80xf32>) -> tensor<12x1x80xf32>
    %1231 = stablehlo.broadcast_in_dim %1230, dims = [1, 2, 3] : (tensor<12x1x80xf32>) -> tensor<1x12x1x80xf32>
    %cst_313 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %1232 = stablehlo.broadcast_in_dim %cst_313, dims = [] : (tensor<f32>) -> tensor<1x12x1x80xf32>
    %1233 = stablehlo.divide %1231, %1232 : tensor<1x12x1x80xf32>
    %cst_314 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %1234 = call @_where_0(%32, %1233, %cst_314) : (tensor<1x80xi1>, tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1x80xf32>
    %cst_315 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1235 = stablehlo.reduce(%1234 init: %cst_315) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %cst_316 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1236 = stablehlo.broadcast_in_dim %cst_316, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %1237 = stablehlo.maximum %1236, %1235 : tensor<1x12x1xf32>
    %1238 = stablehlo.broadcast_in_dim %1237, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %1239 = stablehlo.broadcast_in_dim %1238, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %1240 = stablehlo.subtract %1234, %1239 : tensor<1x12x1x80xf32>
    %1241 = stablehlo.exponential %1240 : tensor<1x12x1x80xf32>
    %cst_317 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1242 = stablehlo.reduce(%1241 init: %cst_317) applies stablehlo.add across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %1243 = stablehlo.broadcast_in_dim %1242, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %1244 = stablehlo.broadcast_in_dim %1243, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %1245 = stablehlo.divide %1241, %1244 : tensor<1x12x1x80xf32>
    %1246 = stablehlo.reshape %1245 : (tensor<1x12x1x80xf32>) -> tensor<12x1x80xf32>
    %1247 = stablehlo.reshape %1226 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %1248 = stablehlo.dot_general %1246, %1247, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x80xf32>, tensor<12x80x64xf32>) -> tensor<12x1x64xf32>
    %1249 = stablehlo.broadcast_in_dim %1248, dims = [1, 2, 3] : (tensor<12x1x64xf32>) -> tensor<1x12x1x64xf32>
    %1250 = stablehlo.transpose %1249, dims = [0, 2, 1, 3] : (tensor<1x12x1x64xf32>) -> tensor<1x1x12x64xf32>
    %1251 = stablehlo.reshape %1250 : (tensor<1x1x12x64xf32>) -> tensor<1x1x768xf32>
    %1252 = stablehlo.dot_general %1251, %arg126, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x768xf32>) -> tensor<1x1x768xf32>
    %1253 = stablehlo.broadcast_in_dim %arg127, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1254 = stablehlo.add %1252, %1253 : tensor<1x1x768xf32>
    %1255 = stablehlo.add %1182, %1254 : tensor<1x1x768xf32>
    %cst_318 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1256 = stablehlo.reduce(%1255 init: %cst_318) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1257 = stablehlo.broadcast_in_dim %1256, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_319 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1258 = stablehlo.broadcast_in_dim %cst_319, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1259 = stablehlo.divide %1257, %1258 : tensor<1x1x1xf32>
    %1260 = stablehlo.broadcast_in_dim %1259, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1261 = stablehlo.subtract %1255, %1260 : tensor<1x1x768xf32>
    %1262 = stablehlo.multiply %1261, %1261 : tensor<1x1x768xf32>
    %cst_320 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1263 = stablehlo.reduce(%1262 init: %cst_320) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1264 = stablehlo.broadcast_in_dim %1263, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_321 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1265 = stablehlo.broadcast_in_dim %cst_321, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1266 = stablehlo.divide %1264, %1265 : tensor<1x1x1xf32>
    %1267 = stablehlo.broadcast_in_dim %1259, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1268 = stablehlo.subtract %1255, %1267 : tensor<1x1x768xf32>
    %cst_322 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1269 = stablehlo.broadcast_in_dim %cst_322, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1270 = stablehlo.add %1266, %1269 : tensor<1x1x1xf32>
    %1271 = stablehlo.rsqrt %1270 : tensor<1x1x1xf32>
    %1272 = stablehlo.broadcast_in_dim %1271, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1273 = stablehlo.multiply %1268, %1272 : tensor<1x1x768xf32>
    %1274 = stablehlo.broadcast_in_dim %arg128, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1275 = stablehlo.multiply %1273, %1274 : tensor<1x1x768xf32>
    %1276 = stablehlo.broadcast_in_dim %arg129, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1277 = stablehlo.add %1275, %1276 : tensor<1x1x768xf32>
    %1278 = stablehlo.dot_general %1277, %arg130, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x3072xf32>) -> tensor<1x1x3072xf32>
    %1279 = stablehlo.broadcast_in_dim %arg131, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1280 = stablehlo.add %1278, %1279 : tensor<1x1x3072xf32>
    %1281 = stablehlo.multiply %1280, %1280 : tensor<1x1x3072xf32>
    %1282 = stablehlo.multiply %1281, %1280 : tensor<1x1x3072xf32>
    %cst_323 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1283 = stablehlo.broadcast_in_dim %cst_323, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1284 = stablehlo.multiply %1283, %1282 : tensor<1x1x3072xf32>
    %1285 = stablehlo.add %1280, %1284 : tensor<1x1x3072xf32>
    %cst_324 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1286 = stablehlo.broadcast_in_dim %cst_324, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1287 = stablehlo.multiply %1286, %1285 : tensor<1x1x3072xf32>
    %1288 = stablehlo.tanh %1287 : tensor<1x1x3072xf32>
    %cst_325 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1289 = stablehlo.broadcast_in_dim %cst_325, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1290 = stablehlo.add %1289, %1288 : tensor<1x1x3072xf32>
    %cst_326 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1291 = stablehlo.broadcast_in_dim %cst_326, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1292 = stablehlo.multiply %1291, %1290 : tensor<1x1x3072xf32>
    %1293 = stablehlo.multiply %1280, %1292 : tensor<1x1x3072xf32>
    %1294 = stablehlo.dot_general %1293, %arg132, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x1x768xf32>
    %1295 = stablehlo.broadcast_in_dim %arg133, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1296 = stablehlo.add %1294, %1295 : tensor<1x1x768xf32>
    %1297 = stablehlo.add %1255, %1296 : tensor<1x1x768xf32>
    %cst_327 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1298 = stablehlo.reduce(%1297 init: %cst_327) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1299 = stablehlo.broadcast_in_dim %1298, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_328 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1300 = stablehlo.broadcast_in_dim %cst_328, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1301 = stablehlo.divide %1299, %1300 : tensor<1x1x1xf32>
    %1302 = stablehlo.broadcast_in_dim %1301, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1303 = stablehlo.subtract %1297, %1302 : tensor<1x1x768xf32>
    %1304 = stablehlo.multiply %1303, %1303 : tensor<1x1x768xf32>
    %cst_329 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1305 = stablehlo.reduce(%1304 init: %cst_329) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1306 = stablehlo.broadcast_in_dim %1305, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_330 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1307 = stablehlo.broadcast_in_dim %cst_330, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1308 = stablehlo.divide %1306, %1307 : tensor<1x1x1xf32>
    %1309 = stablehlo.broadcast_in_dim %1301, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1310 = stablehlo.subtract %1297, %1309 : tensor<1x1x768xf32>
    %cst_331 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1311 = stablehlo.broadcast_in_dim %cst_331, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1312 = stablehlo.add %1308, %1311 : tensor<1x1x1xf32>
    %1313 = stablehlo.rsqrt %1312 : tensor<1x1x1xf32>
    %1314 = stablehlo.broadcast_in_dim %1313, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1315 = stablehlo.multiply %1310, %1314 : tensor<1x1x768xf32>
    %1316 = stablehlo.broadcast_in_dim %arg134, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1317 = stablehlo.multiply %1315, %1316 : tensor<1x1x768xf32>
    %1318 = stablehlo.broadcast_in_dim %arg135, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1319 = stablehlo.add %1317, %1318 : tensor<1x1x768xf32>
    %1320 = stablehlo.dot_general %1319, %arg136, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x2304xf32>) -> tensor<1x1x2304xf32>
    %1321 = stablehlo.broadcast_in_dim %arg137, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %1322 = stablehlo.add %1320, %1321 : tensor<1x1x2304xf32>
    %1323 = stablehlo.slice %1322 [0:1, 0:1, 0:768] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %1324 = stablehlo.slice %1322 [0:1, 0:1, 768:1536] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %1325 = stablehlo.slice %1322 [0:1, 0:1, 1536:2304] : (tensor<1x1x2304xf32>) -> tensor<1x1x768xf32>
    %1326 = stablehlo.reshape %1323 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %1327 = stablehlo.transpose %1326, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %1328 = stablehlo.reshape %1324 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %1329 = stablehlo.transpose %1328, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %1330 = stablehlo.reshape %1325 : (tensor<1x1x768xf32>) -> tensor<1x1x12x64xf32>
    %1331 = stablehlo.transpose %1330, dims = [0, 2, 1, 3] : (tensor<1x1x12x64xf32>) -> tensor<1x12x1x64xf32>
    %c_332 = stablehlo.constant dense<0> : tensor<i32>
    %1332 = stablehlo.compare LT, %9, %c_332, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1333 = stablehlo.convert %9 : tensor<i32>
    %c_333 = stablehlo.constant dense<80> : tensor<i32>
    %1334 = stablehlo.add %1333, %c_333 : tensor<i32>
    %1335 = stablehlo.select %1332, %1334, %9 : tensor<i1>, tensor<i32>
    %c_334 = stablehlo.constant dense<0> : tensor<i32>
    %c_335 = stablehlo.constant dense<0> : tensor<i32>
    %c_336 = stablehlo.constant dense<0> : tensor<i32>
    %1336 = stablehlo.dynamic_update_slice %arg173, %1329, %c_334, %c_335, %1335, %c_336 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %c_337 = stablehlo.constant dense<0> : tensor<i32>
    %1337 = stablehlo.compare LT, %9, %c_337, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1338 = stablehlo.convert %9 : tensor<i32>
    %c_338 = stablehlo.constant dense<80> : tensor<i32>
    %1339 = stablehlo.add %1338, %c_338 : tensor<i32>
    %1340 = stablehlo.select %1337, %1339, %9 : tensor<i1>, tensor<i32>
    %c_339 = stablehlo.constant dense<0> : tensor<i32>
    %c_340 = stablehlo.constant dense<0> : tensor<i32>
    %c_341 = stablehlo.constant dense<0> : tensor<i32>
    %1341 = stablehlo.dynamic_update_slice %arg174, %1331, %c_339, %c_340, %1340, %c_341 : (tensor<1x12x80x64xf32>, tensor<1x12x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x80x64xf32>
    %1342 = stablehlo.transpose %1336, dims = [0, 1, 3, 2] : (tensor<1x12x80x64xf32>) -> tensor<1x12x64x80xf32>
    %1343 = stablehlo.reshape %1327 : (tensor<1x12x1x64xf32>) -> tensor<12x1x64xf32>
    %1344 = stablehlo.reshape %1342 : (tensor<1x12x64x80xf32>) -> tensor<12x64x80xf32>
    %1345 = stablehlo.dot_general %1343, %1344, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x64xf32>, tensor<12x64x80xf32>) -> tensor<12x1x80xf32>
    %1346 = stablehlo.broadcast_in_dim %1345, dims = [1, 2, 3] : (tensor<12x1x80xf32>) -> tensor<1x12x1x80xf32>
    %cst_342 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %1347 = stablehlo.broadcast_in_dim %cst_342, dims = [] : (tensor<f32>) -> tensor<1x12x1x80xf32>
    %1348 = stablehlo.divide %1346, %1347 : tensor<1x12x1x80xf32>
    %cst_343 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %1349 = call @_where_0(%32, %1348, %cst_343) : (tensor<1x80xi1>, tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1x80xf32>
    %cst_344 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1350 = stablehlo.reduce(%1349 init: %cst_344) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %cst_345 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1351 = stablehlo.broadcast_in_dim %cst_345, dims = [] : (tensor<f32>) -> tensor<1x12x1xf32>
    %1352 = stablehlo.maximum %1351, %1350 : tensor<1x12x1xf32>
    %1353 = stablehlo.broadcast_in_dim %1352, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %1354 = stablehlo.broadcast_in_dim %1353, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %1355 = stablehlo.subtract %1349, %1354 : tensor<1x12x1x80xf32>
    %1356 = stablehlo.exponential %1355 : tensor<1x12x1x80xf32>
    %cst_346 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1357 = stablehlo.reduce(%1356 init: %cst_346) applies stablehlo.add across dimensions = [3] : (tensor<1x12x1x80xf32>, tensor<f32>) -> tensor<1x12x1xf32>
    %1358 = stablehlo.broadcast_in_dim %1357, dims = [0, 1, 2] : (tensor<1x12x1xf32>) -> tensor<1x12x1x1xf32>
    %1359 = stablehlo.broadcast_in_dim %1358, dims = [0, 1, 2, 3] : (tensor<1x12x1x1xf32>) -> tensor<1x12x1x80xf32>
    %1360 = stablehlo.divide %1356, %1359 : tensor<1x12x1x80xf32>
    %1361 = stablehlo.reshape %1360 : (tensor<1x12x1x80xf32>) -> tensor<12x1x80xf32>
    %1362 = stablehlo.reshape %1341 : (tensor<1x12x80x64xf32>) -> tensor<12x80x64xf32>
    %1363 = stablehlo.dot_general %1361, %1362, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x1x80xf32>, tensor<12x80x64xf32>) -> tensor<12x1x64xf32>
    %1364 = stablehlo.broadcast_in_dim %1363, dims = [1, 2, 3] : (tensor<12x1x64xf32>) -> tensor<1x12x1x64xf32>
    %1365 = stablehlo.transpose %1364, dims = [0, 2, 1, 3] : (tensor<1x12x1x64xf32>) -> tensor<1x1x12x64xf32>
    %1366 = stablehlo.reshape %1365 : (tensor<1x1x12x64xf32>) -> tensor<1x1x768xf32>
    %1367 = stablehlo.dot_general %1366, %arg138, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x768xf32>) -> tensor<1x1x768xf32>
    %1368 = stablehlo.broadcast_in_dim %arg139, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1369 = stablehlo.add %1367, %1368 : tensor<1x1x768xf32>
    %1370 = stablehlo.add %1297, %1369 : tensor<1x1x768xf32>
    %cst_347 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1371 = stablehlo.reduce(%1370 init: %cst_347) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1372 = stablehlo.broadcast_in_dim %1371, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_348 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1373 = stablehlo.broadcast_in_dim %cst_348, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1374 = stablehlo.divide %1372, %1373 : tensor<1x1x1xf32>
    %1375 = stablehlo.broadcast_in_dim %1374, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1376 = stablehlo.subtract %1370, %1375 : tensor<1x1x768xf32>
    %1377 = stablehlo.multiply %1376, %1376 : tensor<1x1x768xf32>
    %cst_349 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1378 = stablehlo.reduce(%1377 init: %cst_349) applies stablehlo.add across dimensions = [2] : (tensor<1x1x768xf32>, tensor<f32>) -> tensor<1x1xf32>
    %1379 = stablehlo.broadcast_in_dim %1378, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
    %cst_350 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1380 = stablehlo.broadcast_in_dim %cst_350, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1381 = stablehlo.divide %1379, %1380 : tensor<1x1x1xf32>
    %1382 = stablehlo.broadcast_in_dim %1374, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1383 = stablehlo.subtract %1370, %1382 : tensor<1x1x768xf32>
    %cst_351 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1384 = stablehlo.broadcast_in_dim %cst_351, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %1385 = stablehlo.add %1381, %1384 : tensor<1x1x1xf32>
    %1386 = stablehlo.rsqrt %1385 : tensor<1x1x1xf32>
    %1387 = stablehlo.broadcast_in_dim %1386, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<1x1x768xf32>
    %1388 = stablehlo.multiply %1383, %1387 : tensor<1x1x768xf32>
    %1389 = stablehlo.broadcast_in_dim %arg140, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1390 = stablehlo.multiply %1388, %1389 : tensor<1x1x768xf32>
    %1391 = stablehlo.broadcast_in_dim %arg141, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1392 = stablehlo.add %1390, %1391 : tensor<1x1x768xf32>
    %1393 = stablehlo.dot_general %1392, %arg142, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x768xf32>, tensor<768x3072xf32>) -> tensor<1x1x3072xf32>
    %1394 = stablehlo.broadcast_in_dim %arg143, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1395 = stablehlo.add %1393, %1394 : tensor<1x1x3072xf32>
    %1396 = stablehlo.multiply %1395, %1395 : tensor<1x1x3072xf32>
    %1397 = stablehlo.multiply %1396, %1395 : tensor<1x1x3072xf32>
    %cst_352 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1398 = stablehlo.broadcast_in_dim %cst_352, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1399 = stablehlo.multiply %1398, %1397 : tensor<1x1x3072xf32>
    %1400 = stablehlo.add %1395, %1399 : tensor<1x1x3072xf32>
    %cst_353 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1401 = stablehlo.broadcast_in_dim %cst_353, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1402 = stablehlo.multiply %1401, %1400 : tensor<1x1x3072xf32>
    %1403 = stablehlo.tanh %1402 : tensor<1x1x3072xf32>
    %cst_354 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1404 = stablehlo.broadcast_in_dim %cst_354, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1405 = stablehlo.add %1404, %1403 : tensor<1x1x3072xf32>
    %cst_355 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1406 = stablehlo.broadcast_in_dim %cst_355, dims = [] : (tensor<f32>) -> tensor<1x1x3072xf32>
    %1407 = stablehlo.multiply %1406, %1405 : tensor<1x1x3072xf32>
    %1408 = stablehlo.multiply %1395, %1407 : tensor<1x1x3072xf32>
    %1409 = stablehlo.dot_general %1408, %arg144, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x1x3072xf32>, tensor<3072x768xf32>) -> tensor<1x1x768xf32>
    %1410 = stablehlo.broadcast_in_dim %arg145, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1411 = stablehlo.add %1409, %1410 : tensor<1x1x768xf32>
    %1412 = stablehlo.add %1370, %1411 : tensor<1x1x768xf32>
    %1413 = stablehlo.reshape %1412 : (tensor<1x1x768xf32>) -> tensor<1x768xf32>
    %cst_356 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1414 = stablehlo.reduce(%1413 init: %cst_356) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %1415 = stablehlo.broadcast_in_dim %1414, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_357 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1416 = stablehlo.broadcast_in_dim %cst_357, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1417 = stablehlo.divide %1415, %1416 : tensor<1x1xf32>
    %1418 = stablehlo.broadcast_in_dim %1417, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1419 = stablehlo.subtract %1413, %1418 : tensor<1x768xf32>
    %1420 = stablehlo.multiply %1419, %1419 : tensor<1x768xf32>
    %cst_358 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1421 = stablehlo.reduce(%1420 init: %cst_358) applies stablehlo.add across dimensions = [1] : (tensor<1x768xf32>, tensor<f32>) -> tensor<1xf32>
    %1422 = stablehlo.broadcast_in_dim %1421, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_359 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1423 = stablehlo.broadcast_in_dim %cst_359, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1424 = stablehlo.divide %1422, %1423 : tensor<1x1xf32>
    %1425 = stablehlo.broadcast_in_dim %1417, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1426 = stablehlo.subtract %1413, %1425 : tensor<1x768xf32>
    %cst_360 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1427 = stablehlo.broadcast_in_dim %cst_360, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1428 = stablehlo.add %1424, %1427 : tensor<1x1xf32>
    %1429 = stablehlo.rsqrt %1428 : tensor<1x1xf32>
    %1430 = stablehlo.broadcast_in_dim %1429, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x768xf32>
    %1431 = stablehlo.multiply %1426, %1430 : tensor<1x768xf32>
    %1432 = stablehlo.broadcast_in_dim %arg146, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1433 = stablehlo.multiply %1431, %1432 : tensor<1x768xf32>
    %1434 = stablehlo.broadcast_in_dim %arg147, dims = [1] : (tensor<768xf32>) -> tensor<1x768xf32>
    %1435 = stablehlo.add %1433, %1434 : tensor<1x768xf32>
    %1436 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<50257x768xf32>) -> tensor<768x50257xf32>
    %1437 = stablehlo.dot_general %1435, %1436, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x768xf32>, tensor<768x50257xf32>) -> tensor<1x50257xf32>
    return %0, %7, %1437, %71, %76, %186, %191, %301, %306, %416, %421, %531, %536, %646, %651, %761, %766, %876, %881, %991, %996, %1106, %1111, %1221, %1226, %1336, %1341 : tensor<i32>, tensor<1x16xi32>, tensor<1x50257xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>, tensor<1x12x80x64xf32>
  }
  func.func private @argmax(%arg0: tensor<1x50257xf32>) -> tensor<1xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<1x50257xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<1x50257xf32>, tensor<1x50257xi32>, tensor<f32>, tensor<i32>) -> (tensor<1xf32>, tensor<1xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<1xi32>
  }
  func.func private @_where_0(%arg0: tensor<1x80xi1>, %arg1: tensor<1x12x1x80xf32>, %arg2: tensor<f32>) -> tensor<1x12x1x80xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<1x80xi1>) -> tensor<1x12x1x80xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x12x1x80xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<1x12x1x80xi1>, tensor<1x12x1x80xf32>
    return %3 : tensor<1x12x1x80xf32>
  }
}
