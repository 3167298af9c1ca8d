// Structured control flow: types with and without parentheses, terminators left out.

func.func @scf_if(%c: i1, %x: tensor<4xf32>) {
  %0 = scf.if %c -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    %2 = arith.addf %x, %x : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  %1:2 = scf.if %c -> (tensor<4xf32>, i32) {
    %k = arith.constant 1 : i32
    scf.yield %x, %k : tensor<4xf32>, i32
  } else {
    %k = arith.constant 2 : i32
    scf.yield %x, %k : tensor<4xf32>, i32
  } {note = 1 : i32}
  scf.if %c {
  }
  scf.if %c {
  } else {
    scf.if %c {
      %3 = arith.addf %x, %x : tensor<4xf32>
    }
  }
  return
}

func.func @scf_for(%a: index, %x: tensor<4xf32>, %n: i32) {
  scf.for %i = %a to %a step %a {
  }
  %0 = scf.for %i = %a to %a step %a iter_args(%y = %x) -> tensor<4xf32> {
    scf.yield %y : tensor<4xf32>
  }
  %1:2 = scf.for %i = %a to %a step %a iter_args(%y = %x, %z = %n) -> (tensor<4xf32>, i32) {
    scf.yield %y, %z : tensor<4xf32>, i32
  } {foo = "x"}
  %2 = scf.for %i = %n to %n step %n iter_args(%y = %n) -> (i32) : i32 {
    scf.yield %i : i32
  }
  scf.for unsigned %i = %n to %n step %n : i32 {
  }
  return
}

func.func @scf_while(%x: tensor<4xf32>, %n: i32, %c: i1) {
  %0:2 = scf.while (%a = %n, %b = %x) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
    scf.condition(%c) %a, %b : i32, tensor<4xf32>
  } do {
  ^bb0(%a: i32, %b: tensor<4xf32>):
    scf.yield %a, %b : i32, tensor<4xf32>
  }
  %1 = scf.while (%a = %n) : (i32) -> i64 {
    %e = arith.extsi %a : i32 to i64
    scf.condition(%c) %e : i64
  } do {
  ^bb0(%b: i64):
    %t = arith.trunci %b : i64 to i32
    scf.yield %t : i32
  } attributes {foo}
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.yield
  }
  return
}

func.func @scf_index_switch(%i: index, %x: tensor<4xf32>) {
  %0 = scf.index_switch %i -> tensor<4xf32>
  case 2 {
    scf.yield %x : tensor<4xf32>
  }
  case -5 {
    scf.yield %x : tensor<4xf32>
  }
  default {
    scf.yield %x : tensor<4xf32>
  }
  scf.index_switch %i
  default {
  }
  %1:2 = scf.index_switch %i {foo} -> i32, i64
  default {
    %a = arith.constant 1 : i32
    %b = arith.constant 1 : i64
    scf.yield %a, %b : i32, i64
  }
  return
}

func.func @scf_execute_region(%i: i32) {
  %0 = scf.execute_region -> i32 {
    cf.br ^a(%i : i32)
  ^a(%x: i32):
    scf.yield %x : i32
  }
  scf.execute_region no_inline {
    scf.yield
  }
  return
}
