// Branches.

func.func @cf(%c: i1, %x: tensor<4xf32>, %i: i32) {
  cf.assert %c, "must \"hold\""
  cf.cond_br %c, ^a(%x : tensor<4xf32>), ^b
  ^a(%y: tensor<4xf32>):
  cf.cond_br %c weights([1, 99]), ^a(%y : tensor<4xf32>), ^b
  ^b:
  cf.br ^c {foo}
  ^c:
  cf.switch %i : i32, [
    default: ^d,
    42: ^a(%x : tensor<4xf32>),
    -3: ^c
  ]
  ^d:
  return
}
