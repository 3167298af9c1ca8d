// CHLO ops.

func.func @chlo_acos(%a: tensor<4x6xf32>) {
  %0 = "chlo.acos"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_acosh(%a: tensor<4x6xf32>) {
  %0 = "chlo.acosh"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_asin(%a: tensor<4x6xf32>) {
  %0 = "chlo.asin"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_asinh(%a: tensor<4x6xf32>) {
  %0 = "chlo.asinh"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_atan(%a: tensor<4x6xf32>) {
  %0 = "chlo.atan"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_atanh(%a: tensor<4x6xf32>) {
  %0 = "chlo.atanh"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_bessel_i1e(%a: tensor<4x6xf32>) {
  %0 = "chlo.bessel_i1e"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_conj(%a: tensor<4x6xf32>) {
  %0 = "chlo.conj"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_cosh(%a: tensor<4x6xf32>) {
  %0 = "chlo.cosh"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_digamma(%a: tensor<4x6xf32>) {
  %0 = "chlo.digamma"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_erf(%a: tensor<4x6xf32>) {
  %0 = "chlo.erf"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_erf_inv(%a: tensor<4x6xf32>) {
  %0 = "chlo.erf_inv"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_erfc(%a: tensor<4x6xf32>) {
  %0 = "chlo.erfc"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_lgamma(%a: tensor<4x6xf32>) {
  %0 = "chlo.lgamma"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_sinh(%a: tensor<4x6xf32>) {
  %0 = "chlo.sinh"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_square(%a: tensor<4x6xf32>) {
  %0 = "chlo.square"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_tan(%a: tensor<4x6xf32>) {
  %0 = "chlo.tan"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_is_inf(%a: tensor<4x6xf32>) {
  %0 = "chlo.is_inf"(%a) : (tensor<4x6xf32>) -> tensor<4x6xi1>
  return
}

func.func @chlo_is_neg_inf(%a: tensor<4x6xf32>) {
  %0 = "chlo.is_neg_inf"(%a) : (tensor<4x6xf32>) -> tensor<4x6xi1>
  return
}

func.func @chlo_is_pos_inf(%a: tensor<4x6xf32>) {
  %0 = "chlo.is_pos_inf"(%a) : (tensor<4x6xf32>) -> tensor<4x6xi1>
  return
}

func.func @chlo_next_after(%a: tensor<4x6xf32>) {
  %0 = "chlo.next_after"(%a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_polygamma(%a: tensor<4x6xf32>) {
  %0 = "chlo.polygamma"(%a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_zeta(%a: tensor<4x6xf32>) {
  %0 = "chlo.zeta"(%a, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_broadcast_add(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_add"(%a, %b) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = "chlo.broadcast_add"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_broadcast_subtract(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_subtract"(%a, %b) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = "chlo.broadcast_subtract"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_broadcast_multiply(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_multiply"(%a, %b) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = "chlo.broadcast_multiply"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_broadcast_divide(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_divide"(%a, %b) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = "chlo.broadcast_divide"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_broadcast_maximum(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_maximum"(%a, %b) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = "chlo.broadcast_maximum"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_broadcast_minimum(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_minimum"(%a, %b) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = "chlo.broadcast_minimum"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_broadcast_power(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_power"(%a, %b) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = "chlo.broadcast_power"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_broadcast_remainder(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_remainder"(%a, %b) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = "chlo.broadcast_remainder"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_broadcast_atan2(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_atan2"(%a, %b) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = "chlo.broadcast_atan2"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_broadcast_next_after(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_next_after"(%a, %b) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = "chlo.broadcast_next_after"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_broadcast_polygamma(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_polygamma"(%a, %b) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = "chlo.broadcast_polygamma"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_broadcast_zeta(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_zeta"(%a, %b) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = "chlo.broadcast_zeta"(%a, %b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_broadcast_and(%a: tensor<4x6xi32>, %b: tensor<6xi32>) {
  %0 = "chlo.broadcast_and"(%a, %b) : (tensor<4x6xi32>, tensor<6xi32>) -> tensor<4x6xi32>
  return
}

func.func @chlo_broadcast_or(%a: tensor<4x6xi32>, %b: tensor<6xi32>) {
  %0 = "chlo.broadcast_or"(%a, %b) : (tensor<4x6xi32>, tensor<6xi32>) -> tensor<4x6xi32>
  return
}

func.func @chlo_broadcast_xor(%a: tensor<4x6xi32>, %b: tensor<6xi32>) {
  %0 = "chlo.broadcast_xor"(%a, %b) : (tensor<4x6xi32>, tensor<6xi32>) -> tensor<4x6xi32>
  return
}

func.func @chlo_broadcast_shift_left(%a: tensor<4x6xi32>, %b: tensor<6xi32>) {
  %0 = "chlo.broadcast_shift_left"(%a, %b) : (tensor<4x6xi32>, tensor<6xi32>) -> tensor<4x6xi32>
  return
}

func.func @chlo_broadcast_shift_right_arithmetic(%a: tensor<4x6xi32>, %b: tensor<6xi32>) {
  %0 = "chlo.broadcast_shift_right_arithmetic"(%a, %b) : (tensor<4x6xi32>, tensor<6xi32>) -> tensor<4x6xi32>
  return
}

func.func @chlo_broadcast_shift_right_logical(%a: tensor<4x6xi32>, %b: tensor<6xi32>) {
  %0 = "chlo.broadcast_shift_right_logical"(%a, %b) : (tensor<4x6xi32>, tensor<6xi32>) -> tensor<4x6xi32>
  return
}

func.func @chlo_broadcast_compare(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_compare"(%a, %b) <{comparison_direction = #chlo<comparison_direction EQ>, compare_type = #chlo<comparison_type FLOAT>}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xi1>
  return
}

func.func @chlo_broadcast_select(%p: tensor<i1>, %a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  %0 = "chlo.broadcast_select"(%p, %a, %b) : (tensor<i1>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

func.func @chlo_top_k(%a: tensor<4x6xf32>) {
  %0:2 = "chlo.top_k"(%a) <{k = 2 : i64}> : (tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return
}

func.func @chlo_constants(%a: tensor<4x6xf32>) {
  %0 = "chlo.constant"() <{value = dense<1.5> : tensor<2xf32>}> : () -> tensor<2xf32>
  %1 = "chlo.constant_like"(%a) <{value = 2.0 : f32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}
