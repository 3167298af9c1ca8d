// Every StableHLO op that programs use.

func.func @abs(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.abs"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.abs"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  return
}

func.func @cbrt(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.cbrt"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.cbrt"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  %2 = "stablehlo.cbrt"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.cbrt"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @ceil(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.ceil"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.ceil"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  return
}

func.func @cosine(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.cosine"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.cosine"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  %2 = "stablehlo.cosine"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.cosine"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @exponential(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.exponential"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.exponential"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  %2 = "stablehlo.exponential"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.exponential"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @exponential_minus_one(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.exponential_minus_one"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.exponential_minus_one"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  %2 = "stablehlo.exponential_minus_one"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.exponential_minus_one"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @floor(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.floor"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.floor"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  return
}

func.func @log(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.log"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.log"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  %2 = "stablehlo.log"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.log"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @log_plus_one(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.log_plus_one"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.log_plus_one"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  %2 = "stablehlo.log_plus_one"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.log_plus_one"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @logistic(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.logistic"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.logistic"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  %2 = "stablehlo.logistic"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.logistic"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @negate(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.negate"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.negate"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  return
}

func.func @round_nearest_afz(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.round_nearest_afz"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.round_nearest_afz"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  return
}

func.func @round_nearest_even(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.round_nearest_even"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.round_nearest_even"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  return
}

func.func @rsqrt(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.rsqrt"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.rsqrt"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  %2 = "stablehlo.rsqrt"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.rsqrt"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @sign(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.sign"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.sign"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  return
}

func.func @sine(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.sine"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.sine"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  %2 = "stablehlo.sine"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.sine"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @sqrt(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.sqrt"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.sqrt"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  %2 = "stablehlo.sqrt"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.sqrt"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @tan(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.tan"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.tan"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  %2 = "stablehlo.tan"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.tan"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @tanh(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  %0 = "stablehlo.tanh"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.tanh"(%s) {foo = 1 : i32} : (tensor<f64>) -> tensor<f64>
  %2 = "stablehlo.tanh"(%a) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.tanh"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @not(%a: tensor<4xui32>) {
  %0 = "stablehlo.not"(%a) : (tensor<4xui32>) -> tensor<4xui32>
  return
}

func.func @popcnt(%a: tensor<4xui32>) {
  %0 = "stablehlo.popcnt"(%a) : (tensor<4xui32>) -> tensor<4xui32>
  return
}

func.func @count_leading_zeros(%a: tensor<4xui32>) {
  %0 = "stablehlo.count_leading_zeros"(%a) : (tensor<4xui32>) -> tensor<4xui32>
  return
}

func.func @is_finite(%a: tensor<4x6xf32>) {
  %0 = "stablehlo.is_finite"(%a) : (tensor<4x6xf32>) -> tensor<4x6xi1>
  return
}

func.func @add(%a: tensor<4x6xf32>) {
  %0 = "stablehlo.add"(%a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @subtract(%a: tensor<4x6xf32>) {
  %0 = "stablehlo.subtract"(%a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @multiply(%a: tensor<4x6xf32>) {
  %0 = "stablehlo.multiply"(%a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @divide(%a: tensor<4x6xf32>) {
  %0 = "stablehlo.divide"(%a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @maximum(%a: tensor<4x6xf32>) {
  %0 = "stablehlo.maximum"(%a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @minimum(%a: tensor<4x6xf32>) {
  %0 = "stablehlo.minimum"(%a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @power(%a: tensor<4x6xf32>) {
  %0 = "stablehlo.power"(%a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @remainder(%a: tensor<4x6xf32>) {
  %0 = "stablehlo.remainder"(%a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @atan2(%a: tensor<4x6xf32>) {
  %0 = "stablehlo.atan2"(%a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @and(%a: tensor<3xi8>) {
  %0 = "stablehlo.and"(%a, %a) : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  return
}

func.func @or(%a: tensor<3xi8>) {
  %0 = "stablehlo.or"(%a, %a) : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  return
}

func.func @xor(%a: tensor<3xi8>) {
  %0 = "stablehlo.xor"(%a, %a) : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  return
}

func.func @shift_left(%a: tensor<3xi8>) {
  %0 = "stablehlo.shift_left"(%a, %a) : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  return
}

func.func @shift_right_arithmetic(%a: tensor<3xi8>) {
  %0 = "stablehlo.shift_right_arithmetic"(%a, %a) : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  return
}

func.func @shift_right_logical(%a: tensor<3xi8>) {
  %0 = "stablehlo.shift_right_logical"(%a, %a) : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  return
}

func.func @compare_EQ(%a: tensor<4x6xf32>, %b: tensor<3xui8>) {
  %0 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %1 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %2 = "stablehlo.compare"(%b, %b) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xi1>
  return
}

func.func @compare_NE(%a: tensor<4x6xf32>, %b: tensor<3xui8>) {
  %0 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %1 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %2 = "stablehlo.compare"(%b, %b) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xi1>
  return
}

func.func @compare_LT(%a: tensor<4x6xf32>, %b: tensor<3xui8>) {
  %0 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %1 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %2 = "stablehlo.compare"(%b, %b) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xi1>
  return
}

func.func @compare_LE(%a: tensor<4x6xf32>, %b: tensor<3xui8>) {
  %0 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %1 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction LE>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %2 = "stablehlo.compare"(%b, %b) <{comparison_direction = #stablehlo<comparison_direction LE>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xi1>
  return
}

func.func @compare_GT(%a: tensor<4x6xf32>, %b: tensor<3xui8>) {
  %0 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %1 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %2 = "stablehlo.compare"(%b, %b) <{comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xi1>
  return
}

func.func @compare_GE(%a: tensor<4x6xf32>, %b: tensor<3xui8>) {
  %0 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %1 = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %2 = "stablehlo.compare"(%b, %b) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xi1>
  return
}

func.func @select(%p: tensor<4x6xi1>, %q: tensor<i1>, %a: tensor<4x6xf32>) {
  %0 = "stablehlo.select"(%p, %a, %a) : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.select"(%q, %a, %a) : (tensor<i1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @clamp(%k: tensor<f32>, %a: tensor<4x6xf32>) {
  %0 = "stablehlo.clamp"(%a, %a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.clamp"(%k, %a, %k) : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

func.func @convert(%a: tensor<4x6xf32>) {
  %0 = "stablehlo.convert"(%a) : (tensor<4x6xf32>) -> tensor<4x6xi8>
  %1 = "stablehlo.convert"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = "stablehlo.bitcast_convert"(%a) : (tensor<4x6xf32>) -> tensor<4x6xui32>
  %3 = "stablehlo.bitcast_convert"(%a) : (tensor<4x6xf32>) -> tensor<4x6x4xi8>
  return
}

func.func @constant() {
  %0 = "stablehlo.constant"() <{value = dense<[1.0, -0.0, 0x7FC00000]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %1 = "stablehlo.constant"() <{value = dense<true> : tensor<2xi1>}> : () -> tensor<2xi1>
  %2 = "stablehlo.constant"() <{value = dense<18446744073709551615> : tensor<ui64>}> : () -> tensor<ui64>
  %3 = "stablehlo.constant"() <{value = dense<> : tensor<0x3xbf16>}> : () -> tensor<0x3xbf16>
  %4 = "stablehlo.constant"() <{value = dense<[-1, 127]> : tensor<2xi8>}> : () -> tensor<2xi8>
  %5 = "stablehlo.constant"() <{value = dense<[255, 0]> : tensor<2xui8>}> : () -> tensor<2xui8>
  %6 = "stablehlo.constant"() <{value = dense<[[(1.0, 2.0)], [(0.5, -1.0)]]> : tensor<2x1xcomplex<f32>>}> {foo} : () -> tensor<2x1xcomplex<f32>>
  %7 = "stablehlo.constant"() <{value = dense<1.5> : tensor<f16>}> : () -> tensor<f16>
  %8 = "stablehlo.constant"() <{value = dense<1.0e-300> : tensor<2xf64>}> : () -> tensor<2xf64>
  return
}

func.func @iota() {
  %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x5xi32>
  return
}

func.func @broadcast(%a: tensor<6xf32>, %s: tensor<f32>) {
  %0 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<4x6xf32>
  %1 = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
  %2 = "stablehlo.broadcast"(%a) <{broadcast_sizes = array<i64: 4>}> : (tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @movement(%a: tensor<4x6xf32>, %k: tensor<f32>, %i: tensor<i32>, %u: tensor<2x3xf32>) {
  %0 = "stablehlo.reshape"(%a) : (tensor<4x6xf32>) -> tensor<24xf32>
  %1 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %2 = "stablehlo.slice"(%a) <{start_indices = array<i64: 1, 0>, limit_indices = array<i64: 3, 6>, strides = array<i64: 1, 2>}> : (tensor<4x6xf32>) -> tensor<2x3xf32>
  %3 = "stablehlo.concatenate"(%a, %a) <{dimension = 0 : i64}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %4 = "stablehlo.pad"(%a, %k) <{edge_padding_low = array<i64: 1, -1>, edge_padding_high = array<i64: 0, 2>, interior_padding = array<i64: 0, 1>}> : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x12xf32>
  %5 = "stablehlo.reverse"(%a) <{dimensions = array<i64: 0, 1>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %6 = "stablehlo.dynamic_slice"(%a, %i, %i) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %7 = "stablehlo.dynamic_update_slice"(%a, %u, %i, %i) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %8 = "stablehlo.slice"(%k) <{start_indices = array<i64>, limit_indices = array<i64>, strides = array<i64>}> : (tensor<f32>) -> tensor<f32>
  %9 = "stablehlo.concatenate"(%a) <{dimension = 1 : i64}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @reduce_add(%a: tensor<4x6xf32>, %k: tensor<f32>) {
  %0 = "stablehlo.reduce"(%a, %k) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = "stablehlo.reduce"(%a, %k) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) {foo} : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  return
}

func.func @reduce_multiply(%a: tensor<4x6xf32>, %k: tensor<f32>) {
  %0 = "stablehlo.reduce"(%a, %k) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.multiply"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = "stablehlo.reduce"(%a, %k) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.multiply"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) {foo} : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  return
}

func.func @reduce_maximum(%a: tensor<4x6xf32>, %k: tensor<f32>) {
  %0 = "stablehlo.reduce"(%a, %k) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.maximum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = "stablehlo.reduce"(%a, %k) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.maximum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) {foo} : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  return
}

func.func @reduce_minimum(%a: tensor<4x6xf32>, %k: tensor<f32>) {
  %0 = "stablehlo.reduce"(%a, %k) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.minimum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = "stablehlo.reduce"(%a, %k) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.minimum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) {foo} : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  return
}

func.func @reduce_and(%a: tensor<3xi1>, %k: tensor<i1>) {
  %0 = "stablehlo.reduce"(%a, %k) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<i1>, %y: tensor<i1>):
      %z = "stablehlo.and"(%x, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%z) : (tensor<i1>) -> ()
    }) : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
  return
}

func.func @reduce_or(%a: tensor<3xi1>, %k: tensor<i1>) {
  %0 = "stablehlo.reduce"(%a, %k) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<i1>, %y: tensor<i1>):
      %z = "stablehlo.or"(%x, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%z) : (tensor<i1>) -> ()
    }) : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
  return
}

func.func @reduce_other(%a: tensor<4x6xf32>, %k: tensor<f32>, %b: tensor<4x6xi32>, %n: tensor<i32>) {
  %0:2 = "stablehlo.reduce"(%a, %b, %k, %n) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %i: tensor<i32>, %y: tensor<f32>, %j: tensor<i32>):
      %p = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %q = "stablehlo.select"(%p, %x, %y) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %r = "stablehlo.select"(%p, %i, %j) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%q, %r) : (tensor<f32>, tensor<i32>) -> ()
    }) : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  %1 = "stablehlo.reduce"(%a, %k) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.add"(%y, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %w = "stablehlo.multiply"(%z, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%w) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = "stablehlo.reduce"(%a, %k) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f64>, %y: tensor<f64>):
      %z = "stablehlo.add"(%x, %y) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%z) : (tensor<f64>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf64>
  return
}

func.func @reduce_window(%a: tensor<1x8x8x3xf32>, %k: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a, %k) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>, base_dilations = array<i64: 1, 1, 1, 1>, window_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.maximum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) : (tensor<1x8x8x3xf32>, tensor<f32>) -> tensor<1x4x4x3xf32>
  %1 = "stablehlo.reduce_window"(%a, %k) <{window_dimensions = array<i64: 1, 3, 3, 1>, padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) : (tensor<1x8x8x3xf32>, tensor<f32>) -> tensor<1x8x8x3xf32>
  return
}

func.func @dot(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %n: tensor<2x3x4xf32>, %q: tensor<4x6xi8>) {
  %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  %1 = "stablehlo.dot_general"(%n, %n) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3xf32>
  %2 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<>}> : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x6x6x5xf32>
  %3 = "stablehlo.dot"(%a, %b) : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  %4 = "stablehlo.dot_general"(%q, %q) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<4x6xi8>, tensor<4x6xi8>) -> tensor<4x4xi32>
  %5 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  return
}

func.func @convolution(%a: tensor<1x8x8x4xf32>, %w: tensor<3x3x2x6xf32>, %b: tensor<1x4x8xf32>, %v: tensor<6x4x3xf32>, %s: tensor<2x3xf32>, %t: tensor<3x2xf32>) {
  %0 = "stablehlo.convolution"(%a, %w) <{window_strides = array<i64: 2, 2>, padding = dense<[[1, 1], [0, 2]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x4x4x6xf32>
  %1 = "stablehlo.convolution"(%b, %v) <{dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  %2 = "stablehlo.convolution"(%b, %v) <{dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_reversal = array<i1: true>, rhs_dilation = array<i64: 2>, lhs_dilation = array<i64: 2>, padding = dense<3> : tensor<1x2xi64>}> : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x17xf32>
  %3 = "stablehlo.convolution"(%s, %t) <{dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return
}

func.func @gather(%a: tensor<8x5xf32>, %i: tensor<3x1xi32>, %u: tensor<3x5xf32>, %b: tensor<3x8x5xf32>, %j: tensor<3x2x1xi64>) {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>, indices_are_sorted = false}> : (tensor<8x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  %1 = "stablehlo.gather"(%b, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>, indices_are_sorted = true}> : (tensor<3x8x5xf32>, tensor<3x2x1xi64>) -> tensor<3x2x5xf32>
  %2 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = true}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) : (tensor<8x5xf32>, tensor<3x1xi32>, tensor<3x5xf32>) -> tensor<8x5xf32>
  return
}

func.func @select_and_scatter(%a: tensor<1x4x4x1xf32>, %s: tensor<1x2x2x1xf32>, %k: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%a, %s, %k) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>, padding = dense<0> : tensor<4x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%z) : (tensor<i1>) -> ()
    }, {
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) : (tensor<1x4x4x1xf32>, tensor<1x2x2x1xf32>, tensor<f32>) -> tensor<1x4x4x1xf32>
  return
}

func.func @sort(%a: tensor<4x6xf32>, %b: tensor<4x6xi32>) {
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
      %z = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%z) : (tensor<i1>) -> ()
    }) : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
  return
}

func.func @control(%a: tensor<4x6xf32>, %i: tensor<i32>, %p: tensor<i1>) {
  %0:2 = "stablehlo.while"(%i, %a) ({
    ^bb0(%x: tensor<i32>, %y: tensor<4x6xf32>):
      %z = "stablehlo.compare"(%x, %i) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%z) : (tensor<i1>) -> ()
    }, {
    ^bb0(%x: tensor<i32>, %y: tensor<4x6xf32>):
      %z = "stablehlo.add"(%x, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%z, %y) : (tensor<i32>, tensor<4x6xf32>) -> ()
    }) : (tensor<i32>, tensor<4x6xf32>) -> (tensor<i32>, tensor<4x6xf32>)
  %1 = "stablehlo.if"(%p) ({
      "stablehlo.return"(%a) : (tensor<4x6xf32>) -> ()
    }, {
      %z = "stablehlo.add"(%a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
      "stablehlo.return"(%z) : (tensor<4x6xf32>) -> ()
    }) {foo = "x"} : (tensor<i1>) -> tensor<4x6xf32>
  %2:2 = "stablehlo.case"(%i) ({
      "stablehlo.return"(%a, %i) : (tensor<4x6xf32>, tensor<i32>) -> ()
    }, {
      "stablehlo.return"(%a, %i) : (tensor<4x6xf32>, tensor<i32>) -> ()
    }, {
      "stablehlo.return"(%a, %i) : (tensor<4x6xf32>, tensor<i32>) -> ()
    }) : (tensor<i32>) -> (tensor<4x6xf32>, tensor<i32>)
  %3 = "stablehlo.while"(%i) ({
    ^bb0(%x: tensor<i32>):
      "stablehlo.return"(%p) : (tensor<i1>) -> ()
    }, {
    ^bb0(%x: tensor<i32>):
      "stablehlo.return"(%x) : (tensor<i32>) -> ()
    }) {note = 1 : i32} : (tensor<i32>) -> tensor<i32>
  return
}

func.func @map(%a: tensor<4xf32>) {
  %0 = "stablehlo.map"(%a, %a) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%z) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

func.func @other(%a: tensor<4x6xf32>, %i: tensor<i32>, %c: tensor<2xcomplex<f32>>, %m: tensor<4x4xf32>, %t: !stablehlo.token, %s: tensor<2xui64>, %k: tensor<f32>, %w: tensor<6xf32>) {
  %0 = "stablehlo.tuple"(%a, %i) : (tensor<4x6xf32>, tensor<i32>) -> tuple<tensor<4x6xf32>, tensor<i32>>
  %1 = "stablehlo.get_tuple_element"(%0) <{index = 0 : i32}> : (tuple<tensor<4x6xf32>, tensor<i32>>) -> tensor<4x6xf32>
  %2 = "stablehlo.custom_call"(%a) <{call_target_name = "foo", has_side_effect = true, backend_config = "x", api_version = 2 : i32, called_computations = [@g], operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]}> {mhlo.frontend_attributes = {a = "b"}} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.real"(%c) : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %4 = "stablehlo.imag"(%c) : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %5 = "stablehlo.complex"(%3, %4) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  %6 = "stablehlo.fft"(%c) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 2>}> : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  %7 = "stablehlo.cholesky"(%m) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = "stablehlo.triangular_solve"(%m, %m) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %9:2 = "stablehlo.optimization_barrier"(%a, %i) : (tensor<4x6xf32>, tensor<i32>) -> (tensor<4x6xf32>, tensor<i32>)
  %10 = "stablehlo.create_token"() : () -> !stablehlo.token
  %11 = "stablehlo.after_all"(%t, %10) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  %12:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %13 = "stablehlo.reduce_precision"(%a) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %14 = "stablehlo.get_dimension_size"(%a) <{dimension = 1 : i64}> : (tensor<4x6xf32>) -> tensor<i32>
  %15 = "stablehlo.composite"(%a) <{name = "my.op", composite_attributes = {n = 1 : i32, s = "t"}, decomposition = @g, version = 3 : i32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %16 = "stablehlo.replica_id"() : () -> tensor<ui32>
  %17 = "stablehlo.partition_id"() : () -> tensor<ui32>
  %18 = "stablehlo.batch_norm_inference"(%a, %w, %w, %w, %w) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %19:3 = "stablehlo.batch_norm_training"(%a, %w, %w) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  %20 = "stablehlo.einsum"(%a, %a) <{einsum_config = "ij,kj->ik"}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
  %21 = "stablehlo.unary_einsum"(%a) <{einsum_config = "ij->ji"}> : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %22 = "stablehlo.optimization_barrier"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %23 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %24 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x12xf32>
  return
}
func.func private @g(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  return %a : tensor<4x6xf32>
}
