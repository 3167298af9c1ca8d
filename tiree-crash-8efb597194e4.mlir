// failed in: tiree-stream-copy-on-write
// flags: --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu
// from phase: start
module {
  func.func @f(%x: i32) -> i32 {
    cf.switch %x : i32, [
      default: ^bb1,
      3: ^bb2,
      7: ^bb3
    ]
  ^bb1:
    %a = arith.constant 10 : i32
    return %a : i32
  ^bb2:
    %b = arith.constant 20 : i32
    return %b : i32
  ^bb3:
    %c = arith.constant 30 : i32
    return %c : i32
  }
}
