// failed in: phase abi
// flags: (none)
// from phase: start
"builtin.module"() ({
  "func.func"() <{sym_name = "bitcast_convert_op_test_c128_to_c64", function_type = (tensor<complex<f64>>) -> tensor<2xcomplex<f32>>}> ({
  ^bb0(%arg0: tensor<complex<f64>>):
    %0 = "stablehlo.bitcast_convert"(%arg0) : (tensor<complex<f64>>) -> tensor<2xcomplex<f32>>
    "func.return"(%0) : (tensor<2xcomplex<f32>>) -> ()
  }) : () -> ()
}) : () -> ()
