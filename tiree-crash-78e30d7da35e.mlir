// failed in: tiree-stablehlo-to-linalg
// flags: (none)
// from phase: start
func.func @main(%arg0: tensor<17xcomplex<f64>>) -> (tensor<17xcomplex<f64>>) {
  %0:1 = "stablehlo.constant"() <{value = dense<(0.0, 0.0)> : tensor<complex<f64>>}> : () -> (tensor<complex<f64>>)
  %1:1 = "stablehlo.reduce"(%arg0, %0#0) <{dimensions = array<i64>}> ({
  ^bb0(%x0: tensor<complex<f64>>, %x1: tensor<complex<f64>>):
    %y = "stablehlo.add"(%x0, %x1) : (tensor<complex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
    "stablehlo.return"(%y) : (tensor<complex<f64>>) -> ()
  }) : (tensor<17xcomplex<f64>>, tensor<complex<f64>>) -> (tensor<17xcomplex<f64>>)
  return %1#0 : tensor<17xcomplex<f64>>
}
