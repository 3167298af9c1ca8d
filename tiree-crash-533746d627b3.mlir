// failed in: tiree-codegen-lower-to-kernels
// flags: (none)
// from phase: start
"builtin.module"() ({
  "func.func"() <{sym_name = "iota_op_test_c128_dim_1", function_type = () -> tensor<3x4xcomplex<f64>>}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x4xcomplex<f64>>
    "func.return"(%0) : (tensor<3x4xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
