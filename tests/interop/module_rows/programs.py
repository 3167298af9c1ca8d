"""Programs: shapes, control flow, constants, state, signatures."""

from __future__ import annotations

from interop.module_rows.row import CPU, VMVX, Row, call, ramp, tensor

DYNAMIC = """
module @dynamic {
  func.func @double(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %0 = stablehlo.add %x, %x : tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
  func.func @sums(%x: tensor<?x?xf32>) -> tensor<?xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
      : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  func.func @product(%a: tensor<?x?xf32>, %b: tensor<?x5xf32>) -> tensor<?x5xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<?x?xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>
    return %0 : tensor<?x5xf32>
  }
  func.func @extent(%x: tensor<?x?xf32>) -> (index, i64) {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %0 = tensor.dim %x, %c1 : tensor<?x?xf32>
    %1 = tensor.dim %x, %c0 : tensor<?x?xf32>
    %2 = arith.index_cast %1 : index to i64
    return %0, %2 : index, i64
  }
}
"""
DYNAMIC_CALLS = (
    call("double", ramp("5x3xf32")),
    call("double", tensor("0x3xf32")),
    call("sums", ramp("4x7xf32")),
    call("sums", ramp("1x1xf32")),
    call("sums", tensor("3x0xf32")),
    call("product", ramp("3x4xf32"), ramp("4x5xf32", -3, 0.5)),
    call("extent", tensor("6x2xf32")),
)

SHAPES = """
module @shapes {
  func.func @nothing(%x: tensor<0x4xf32>) -> tensor<4x0xf32> {
    %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<0x4xf32>) -> tensor<4x0xf32>
    return %0 : tensor<4x0xf32>
  }
  func.func @sum_of_nothing(%x: tensor<0x3xf32>) -> tensor<3xf32> {
    %z = stablehlo.constant dense<7.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0]
      : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func @square(%x: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.multiply %x, %x : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @deep(%x: tensor<1x2x1x3x1x2xf32>) -> tensor<2x1x3x1x2x1xf32> {
    %0 = stablehlo.transpose %x, dims = [5, 4, 3, 2, 1, 0] : (tensor<1x2x1x3x1x2xf32>) -> tensor<2x1x3x1x2x1xf32>
    return %0 : tensor<2x1x3x1x2x1xf32>
  }
  func.func @same(%x: tensor<3xf32>) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
  func.func @twice_the_same(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<6xf32>) {
    %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
    return %x, %0 : tensor<2x3xf32>, tensor<6xf32>
  }
  func.func @many(%x: tensor<1200xi32>) -> tensor<1200xi32> {
    %0 = stablehlo.add %x, %x : tensor<1200xi32>
    return %0 : tensor<1200xi32>
  }
}
"""
SHAPES_CALLS = (
    call("nothing", tensor("0x4xf32")),
    call("sum_of_nothing", tensor("0x3xf32")),
    call("square", tensor("f32", -1.5)),
    call("deep", ramp("1x2x1x3x1x2xf32")),
    call("same", tensor("3xf32", 1, 2, 3)),
    call("twice_the_same", ramp("2x3xf32")),
    call("many", ramp("1200xi32")),
    call("many", ramp("1200xi32"), flags=("--output_max_element_count=10",)),
)

CONTROL = """
module @control {
  func.func @while(%n: tensor<i32>) -> (tensor<i32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %x = stablehlo.constant dense<1.0> : tensor<f32>
    %r:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<f32>
      cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %b = stablehlo.add %a, %a : tensor<f32>
        stablehlo.return %j, %b : tensor<i32>, tensor<f32>
      }
    return %r#0, %r#1 : tensor<i32>, tensor<f32>
  }
  func.func @branch(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
    %r = "stablehlo.if"(%p) ({
      %0 = stablehlo.add %x, %x : tensor<4xf32>
      stablehlo.return %0 : tensor<4xf32>
    }, {
      %0 = stablehlo.negate %x : tensor<4xf32>
      stablehlo.return %0 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
  func.func @for(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
      %0 = stablehlo.multiply %a, %x : tensor<4xf32>
      scf.yield %0 : tensor<4xf32>
    }
    return %r : tensor<4xf32>
  }
  func.func @switch(%which: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
    %r = "stablehlo.case"(%which) ({
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      stablehlo.return %0 : tensor<2xf32>
    }, {
      %0 = stablehlo.negate %x : tensor<2xf32>
      stablehlo.return %0 : tensor<2xf32>
    }, {
      stablehlo.return %x : tensor<2xf32>
    }) : (tensor<i32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }
}
"""
CONTROL_CALLS = (
    call("while", tensor("i32", 0)),
    call("while", tensor("i32", 10)),
    call("branch", tensor("i1", "01"), ramp("4xf32")),
    call("branch", tensor("i1", "00"), ramp("4xf32")),
    call("for", 0, ramp("4xf32")),
    call("for", 3, ramp("4xf32")),
    *(call("switch", tensor("i32", which), ramp("2xf32")) for which in (0, 1, 2, -1)),
)

HOST = """
module @host {
  func.func @scalars(%a: i32, %b: i64, %c: f32, %d: f64) -> (i32, i64, f32, f64) {
    %0 = arith.muli %a, %a : i32
    %1 = arith.shli %b, %b : i64
    %2 = arith.mulf %c, %c : f32
    %3 = arith.divf %d, %d : f64
    return %0, %1, %2, %3 : i32, i64, f32, f64
  }
  func.func @small(%a: i1, %b: i8, %c: i16, %d: index) -> (i1, i8, i16, index) {
    return %a, %b, %c, %d : i1, i8, i16, index
  }
  func.func @collatz(%n: i64) -> i32 {
    %c1 = arith.constant 1 : i64
    %c2 = arith.constant 2 : i64
    %c3 = arith.constant 3 : i64
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r:2 = scf.while (%x = %n, %steps = %zero) : (i64, i32) -> (i64, i32) {
      %more = arith.cmpi ne, %x, %c1 : i64
      scf.condition(%more) %x, %steps : i64, i32
    } do {
    ^bb0(%x: i64, %steps: i32):
      %odd = arith.andi %x, %c1 : i64
      %is = arith.cmpi eq, %odd, %c1 : i64
      %next = scf.if %is -> i64 {
        %0 = arith.muli %x, %c3 : i64
        %1 = arith.addi %0, %c1 : i64
        scf.yield %1 : i64
      } else {
        %0 = arith.divui %x, %c2 : i64
        scf.yield %0 : i64
      }
      %s = arith.addi %steps, %one : i32
      scf.yield %next, %s : i64, i32
    }
    return %r#1 : i32
  }
  func.func @mixed(%f: f32, %x: tensor<3xf32>, %n: i32) -> (i32, tensor<3xf32>, f32) {
    %0 = tensor.from_elements %f : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.multiply %1, %x : tensor<3xf32>
    return %n, %2, %f : i32, tensor<3xf32>, f32
  }
  func.func @no_results(%x: i32) {
    return
  }
  func.func private @inner(%x: i32) -> i32 attributes {inlining_policy = #util.inline.never} {
    %0 = arith.addi %x, %x : i32
    return %0 : i32
  }
  func.func @calls(%x: i32) -> i32 {
    %0 = call @inner(%x) : (i32) -> i32
    %1 = call @inner(%0) : (i32) -> i32
    return %1 : i32
  }
}
"""
HOST_CALLS = (
    call("scalars", 3, 2, 1.5, 2.5),
    call("scalars", -2147483648, 9, -0.0, 1e300),
    call("small", 1, -7, 300, 12345678901),
    call("collatz", 27),
    call("mixed", 2.5, ramp("3xf32"), -9),
    call("no_results", 1),
    call("calls", 5),
)

_LARGE = "".join(f"{value:08X}" for value in range(1, 16385))
CONSTANTS = f"""
module @constants {{
  func.func @large(%x: tensor<16384xi32>) -> tensor<i32> {{
    %big = stablehlo.constant dense<"0x{_LARGE}"> : tensor<16384xi32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.xor %x, %big : tensor<16384xi32>
    %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0]
      : (tensor<16384xi32>, tensor<i32>) -> tensor<i32>
    return %1 : tensor<i32>
  }}
  func.func @several() -> (tensor<3xi64>, tensor<2x2xf32>, tensor<5xi8>, tensor<3xi1>) {{
    %0 = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi64>
    %1 = stablehlo.constant dense<[[0.5, 1.5], [-2.5, 0.0]]> : tensor<2x2xf32>
    %2 = stablehlo.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi8>
    %3 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    return %0, %1, %2, %3 : tensor<3xi64>, tensor<2x2xf32>, tensor<5xi8>, tensor<3xi1>
  }}
  func.func @splat() -> tensor<2x3xf64> {{
    %0 = stablehlo.constant dense<2.25> : tensor<2x3xf64>
    return %0 : tensor<2x3xf64>
  }}
  func.func @evaluated() -> tensor<4xf32> {{
    %0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %1 = stablehlo.sqrt %0 : tensor<4xf32>
    %2 = stablehlo.add %1, %0 : tensor<4xf32>
    return %2 : tensor<4xf32>
  }}
}}
"""
CONSTANTS_CALLS = (
    call("large", ramp("16384xi32")), call("several"), call("splat"), call("evaluated"),
)  # fmt: skip

STATE = """
module @state {
  util.global private mutable @count = dense<0> : tensor<i32>
  util.global private mutable @history = dense<0.0> : tensor<3xf32>
  util.global private mutable @number = 5 : i64
  func.func @next() -> tensor<i32> {
    %0 = util.global.load @count : tensor<i32>
    %1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %0, %1 : tensor<i32>
    util.global.store %2, @count : tensor<i32>
    return %2 : tensor<i32>
  }
  func.func @push(%x: tensor<1xf32>) -> tensor<3xf32> {
    %0 = util.global.load @history : tensor<3xf32>
    %1 = stablehlo.slice %0 [1:3] : (tensor<3xf32>) -> tensor<2xf32>
    %2 = stablehlo.concatenate %1, %x, dim = 0 : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
    util.global.store %2, @history : tensor<3xf32>
    return %2 : tensor<3xf32>
  }
  func.func @count_by(%add: i64) -> i64 {
    %0 = util.global.load @number : i64
    %1 = arith.addi %0, %add : i64
    util.global.store %1, @number : i64
    return %0 : i64
  }
}
"""
STATE_CALLS = (
    call("next"), call("next"), call("push", tensor("1xf32", 1)), call("next"), call("push", tensor("1xf32", 2)),
    call("count_by", 3), call("count_by", 4), call("push", tensor("1xf32", 3)), call("push", tensor("1xf32", 4)),
    call("next"), call("count_by", 0),
)  # fmt: skip

REFERENCES = """
module @references {
  util.func public @buffer(%b: !hal.buffer) -> !hal.buffer {
    util.return %b : !hal.buffer
  }
  util.func public @view(%b: !hal.buffer_view) -> !hal.buffer_view {
    util.return %b : !hal.buffer_view
  }
  util.func public @list(%x: i32, %b: !hal.buffer_view) -> !util.list<?> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %list = util.list.create %c2 : !util.list<?>
    util.list.resize %list, %c2 : !util.list<?>
    util.list.set %list[%c0], %x : i32 -> !util.list<?>
    util.list.set %list[%c1], %b : !hal.buffer_view -> !util.list<?>
    util.return %list : !util.list<?>
  }
}
"""
REFERENCES_CALLS = (
    call("buffer", "&4xf32=1 2 3 4", api=False),
    call("buffer", "(null)", api=False),
    call("view", "2x2xi32=1 2 3 4", api=False),
    call("view", "(null)", api=False),
    call("list", 7, "2xf32=1 2", api=False),
    call("list", 7, "(null)", api=False),
)

NETWORK = """
module @network {
  func.func @predict(%x: tensor<2x5x5x1xf32>) -> tensor<2x3xf32> {
    %k = stablehlo.constant dense<[[[[0.5, -1.0]], [[1.0, 0.25]]], [[[-0.5, 2.0]], [[0.75, 1.0]]]]>
      : tensor<2x2x1x2xf32>
    %w = stablehlo.constant dense<0.125> : tensor<32x3xf32>
    %z = stablehlo.constant dense<0.0> : tensor<2x4x4x2xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<2x5x5x1xf32>, tensor<2x2x1x2xf32>) -> tensor<2x4x4x2xf32>
    %1 = stablehlo.maximum %0, %z : tensor<2x4x4x2xf32>
    %2 = stablehlo.reshape %1 : (tensor<2x4x4x2xf32>) -> tensor<2x32xf32>
    %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0]
      : (tensor<2x32xf32>, tensor<32x3xf32>) -> tensor<2x3xf32>
    %m = stablehlo.reduce(%3 init: %zero) applies stablehlo.maximum across dimensions = [1]
      : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
    %4 = stablehlo.subtract %3, %mb : tensor<2x3xf32>
    %5 = stablehlo.exponential %4 : tensor<2x3xf32>
    return %5 : tensor<2x3xf32>
  }
}
"""
NETWORK_CALLS = (call("predict", ramp("2x5x5x1xf32", -5, 0.25)),)

_PROGRAMS = (
    ("shapes", "dynamic shapes", DYNAMIC, DYNAMIC_CALLS),
    ("shapes", "empty, rank 0, rank 6, an argument as result", SHAPES, SHAPES_CALLS),
    ("control flow", "while, if, for, switch on tensors", CONTROL, CONTROL_CALLS),
    ("control flow", "scalars in registers, host loops, calls", HOST, HOST_CALLS),
    ("constants", "64 KiB of constants, several, splats, evaluated", CONSTANTS, CONSTANTS_CALLS),
    ("state", "mutable tensors and scalars over a sequence of calls", STATE, STATE_CALLS),
    ("signatures", "buffers, views, lists, null", REFERENCES, REFERENCES_CALLS),
    ("networks", "convolution, contraction, reduction, exponential", NETWORK, NETWORK_CALLS),
)

ROWS = tuple(
    Row(subject, f"{name}, {backend}", text, calls, flags, state=subject == "state")
    for subject, name, text, calls in _PROGRAMS
    for backend, flags in (("llvm-cpu", CPU), ("vmvx", VMVX))
    if not (subject == "signatures" and backend == "vmvx")
)
