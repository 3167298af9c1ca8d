// failed in: tiree-stablehlo-to-linalg
// flags: (none)
// from phase: start
"builtin.module"() ({
  "func.func"() <{sym_name = "sign_op_test_c128", function_type = (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>}> ({
  ^bb0(%arg0: tensor<4xcomplex<f64>>):
    %0 = "stablehlo.sign"(%arg0) : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
    "func.return"(%0) : (tensor<4xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
