// failed in: tiree-stablehlo-to-linalg
// flags: (none)
// from phase: start
"builtin.module"() ({
  "func.func"() <{sym_name = "constant_op_test_c64", function_type = () -> tensor<2xcomplex<f32>>}> ({
    %0 = "stablehlo.constant"() <{value = dense<[(1.500000e+00,2.500000e+00), (3.500000e+00,4.500000e+00)]> : tensor<2xcomplex<f32>>}> : () -> tensor<2xcomplex<f32>>
    "func.return"(%0) : (tensor<2xcomplex<f32>>) -> ()
  }) : () -> ()
}) : () -> ()
