// failed in: tiree-stablehlo-to-linalg
// flags: (none)
// from phase: start
"builtin.module"() ({
  "func.func"() <{sym_name = "negate_op_test_c64", function_type = (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>}> ({
  ^bb0(%arg0: tensor<2xcomplex<f32>>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    "func.return"(%0) : (tensor<2xcomplex<f32>>) -> ()
  }) : () -> ()
}) : () -> ()
