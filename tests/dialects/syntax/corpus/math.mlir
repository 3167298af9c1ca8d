// Every math op.

func.func @math_absf(%a: f32, %t: tensor<2xf64>) {
  %0 = math.absf %a : f32
  %1 = math.absf %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_acos(%a: f32, %t: tensor<2xf64>) {
  %0 = math.acos %a : f32
  %1 = math.acos %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_acosh(%a: f32, %t: tensor<2xf64>) {
  %0 = math.acosh %a : f32
  %1 = math.acosh %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_asin(%a: f32, %t: tensor<2xf64>) {
  %0 = math.asin %a : f32
  %1 = math.asin %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_asinh(%a: f32, %t: tensor<2xf64>) {
  %0 = math.asinh %a : f32
  %1 = math.asinh %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_atan(%a: f32, %t: tensor<2xf64>) {
  %0 = math.atan %a : f32
  %1 = math.atan %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_atanh(%a: f32, %t: tensor<2xf64>) {
  %0 = math.atanh %a : f32
  %1 = math.atanh %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_cbrt(%a: f32, %t: tensor<2xf64>) {
  %0 = math.cbrt %a : f32
  %1 = math.cbrt %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_ceil(%a: f32, %t: tensor<2xf64>) {
  %0 = math.ceil %a : f32
  %1 = math.ceil %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_cos(%a: f32, %t: tensor<2xf64>) {
  %0 = math.cos %a : f32
  %1 = math.cos %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_cosh(%a: f32, %t: tensor<2xf64>) {
  %0 = math.cosh %a : f32
  %1 = math.cosh %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_erf(%a: f32, %t: tensor<2xf64>) {
  %0 = math.erf %a : f32
  %1 = math.erf %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_erfc(%a: f32, %t: tensor<2xf64>) {
  %0 = math.erfc %a : f32
  %1 = math.erfc %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_exp(%a: f32, %t: tensor<2xf64>) {
  %0 = math.exp %a : f32
  %1 = math.exp %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_exp2(%a: f32, %t: tensor<2xf64>) {
  %0 = math.exp2 %a : f32
  %1 = math.exp2 %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_expm1(%a: f32, %t: tensor<2xf64>) {
  %0 = math.expm1 %a : f32
  %1 = math.expm1 %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_floor(%a: f32, %t: tensor<2xf64>) {
  %0 = math.floor %a : f32
  %1 = math.floor %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_log(%a: f32, %t: tensor<2xf64>) {
  %0 = math.log %a : f32
  %1 = math.log %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_log10(%a: f32, %t: tensor<2xf64>) {
  %0 = math.log10 %a : f32
  %1 = math.log10 %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_log1p(%a: f32, %t: tensor<2xf64>) {
  %0 = math.log1p %a : f32
  %1 = math.log1p %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_log2(%a: f32, %t: tensor<2xf64>) {
  %0 = math.log2 %a : f32
  %1 = math.log2 %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_round(%a: f32, %t: tensor<2xf64>) {
  %0 = math.round %a : f32
  %1 = math.round %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_roundeven(%a: f32, %t: tensor<2xf64>) {
  %0 = math.roundeven %a : f32
  %1 = math.roundeven %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_rsqrt(%a: f32, %t: tensor<2xf64>) {
  %0 = math.rsqrt %a : f32
  %1 = math.rsqrt %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_sin(%a: f32, %t: tensor<2xf64>) {
  %0 = math.sin %a : f32
  %1 = math.sin %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_sinh(%a: f32, %t: tensor<2xf64>) {
  %0 = math.sinh %a : f32
  %1 = math.sinh %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_sqrt(%a: f32, %t: tensor<2xf64>) {
  %0 = math.sqrt %a : f32
  %1 = math.sqrt %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_tan(%a: f32, %t: tensor<2xf64>) {
  %0 = math.tan %a : f32
  %1 = math.tan %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_tanh(%a: f32, %t: tensor<2xf64>) {
  %0 = math.tanh %a : f32
  %1 = math.tanh %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_trunc(%a: f32, %t: tensor<2xf64>) {
  %0 = math.trunc %a : f32
  %1 = math.trunc %t fastmath<fast> : tensor<2xf64>
  return
}

func.func @math_absi(%a: i32, %t: tensor<2xi64>) {
  %0 = math.absi %a : i32
  %1 = math.absi %t : tensor<2xi64>
  return
}

func.func @math_ctlz(%a: i32, %t: tensor<2xi64>) {
  %0 = math.ctlz %a : i32
  %1 = math.ctlz %t : tensor<2xi64>
  return
}

func.func @math_ctpop(%a: i32, %t: tensor<2xi64>) {
  %0 = math.ctpop %a : i32
  %1 = math.ctpop %t : tensor<2xi64>
  return
}

func.func @math_cttz(%a: i32, %t: tensor<2xi64>) {
  %0 = math.cttz %a : i32
  %1 = math.cttz %t : tensor<2xi64>
  return
}

func.func @math_isfinite(%a: f32, %t: tensor<2xf64>) {
  %0 = math.isfinite %a : f32
  %1 = math.isfinite %t : tensor<2xf64>
  %2 = math.isfinite %a fastmath<nnan> : f32
  return
}

func.func @math_isinf(%a: f32, %t: tensor<2xf64>) {
  %0 = math.isinf %a : f32
  %1 = math.isinf %t : tensor<2xf64>
  %2 = math.isinf %a fastmath<nnan> : f32
  return
}

func.func @math_isnan(%a: f32, %t: tensor<2xf64>) {
  %0 = math.isnan %a : f32
  %1 = math.isnan %t : tensor<2xf64>
  %2 = math.isnan %a fastmath<nnan> : f32
  return
}

func.func @math_isnormal(%a: f32, %t: tensor<2xf64>) {
  %0 = math.isnormal %a : f32
  %1 = math.isnormal %t : tensor<2xf64>
  %2 = math.isnormal %a fastmath<nnan> : f32
  return
}

func.func @math_atan2(%a: f32) {
  %0 = math.atan2 %a, %a : f32
  %1 = math.atan2 %a, %a fastmath<fast> : f32
  return
}

func.func @math_copysign(%a: f32) {
  %0 = math.copysign %a, %a : f32
  %1 = math.copysign %a, %a fastmath<fast> : f32
  return
}

func.func @math_powf(%a: f32) {
  %0 = math.powf %a, %a : f32
  %1 = math.powf %a, %a fastmath<fast> : f32
  return
}

func.func @math_fma(%a: f32) {
  %0 = math.fma %a, %a, %a : f32
  return
}

func.func @math_fpowi(%a: f32, %i: i32) {
  %0 = math.fpowi %a, %i : f32, i32
  return
}

func.func @math_ipowi(%i: i32) {
  %0 = math.ipowi %i, %i : i32
  return
}

func.func @math_sincos(%a: f32) {
  %0, %1 = math.sincos %a : f32
  return
}

func.func @math_clampf(%a: f32) {
  %0 = math.clampf %a to [%a, %a] : f32
  return
}
