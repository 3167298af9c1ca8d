// Functions and calls.

func.func private @used(tensor<4xf32>, i1) -> tensor<4xf32>
func.func private @used2(tensor<4xf32>) -> (tensor<4xf32>, i32)
func.func private @used0()
func.func @func_calls(%x: tensor<4xf32>, %c: i1) {
  %0 = call @used(%x, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
  %1:2 = func.call @used2(%x) {foo} : (tensor<4xf32>) -> (tensor<4xf32>, i32)
  call @used0() : () -> ()
  return
}

func.func private @callee(%x: tensor<4xf32> {iree.abi.affinity = 1 : i32, tf.foo}, %c: i1) -> (tensor<4xf32> {jax.result_info = "r"}) attributes {llvm.emit_c_interface, "quoted.name" = [1, 2]} {
  return %x : tensor<4xf32>
}
func.func nested @callee2(tensor<4xf32>) -> (tensor<4xf32>, i32)
func.func private @callee0() attributes {noinline}
func.func public @"odd name"(%arg0: tensor<*xf32>, %b: memref<4x?xf32, strided<[?, 1], offset: ?>>, %v: vector<4xf32>, %t: tuple<f32, i1>, %n: none, %m: memref<4xf32, affine_map<(d0) -> (d0 + 1)>, 1 : i32>) {
  return
}
func.func private @fn((i32) -> i1, () -> (), (i32) -> (i1, i2)) -> ((i32) -> i32)
