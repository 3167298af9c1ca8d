// failed in: tiree-stablehlo-to-linalg
// flags: (none)
// from phase: start
func.func @main() -> (tensor<complex<f32>>) {
  %0:1 = "stablehlo.constant"() <{value = dense<(0.5, 0.0)> : tensor<complex<f32>>}> : () -> (tensor<complex<f32>>)
  return %0#0 : tensor<complex<f32>>
}
