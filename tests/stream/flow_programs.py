"""Programs at phase `flow` that exercise one scheduling question each, with what numpy says they compute.

They are written in IREE's pretty form; the harness lets `iree-opt` turn them into the generic form that Tiree reads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.stream.flow_kernels import ADD4, BUMP4, CHOOSE4, DOUBLE4, DOUBLE16, LESS, POSITIVE4, TRIPLE, FlowProgram


def _main(arguments: str, results: str, body: str) -> str:
    return f"util.func public @main({arguments}) -> ({results}) {{\n{body}\n}}"


VIEW = "!hal.buffer_view"
X4 = np.array([1.5, -2.0, 3.25, 0.5], np.float32)
Y4 = np.array([10.0, 20.0, -30.0, 40.0], np.float32)

PROGRAMS: list[FlowProgram] = []


def _program(name: str, kernels: tuple[str, ...], host: str, inputs: tuple[np.ndarray | int, ...]):
    def keep(expected: Callable[..., tuple[np.ndarray, ...]]) -> None:
        PROGRAMS.append(FlowProgram(name, kernels, host, inputs, expected))

    return keep


@_program(
    "chain",
    (DOUBLE4, ADD4),
    _main(
        f"%a: {VIEW}",
        VIEW,
        """  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %1 = flow.dispatch @double4::@double4(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = flow.dispatch @double4::@double4(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = flow.dispatch @add4::@add4(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = flow.dispatch @double4::@double4(%3) : (tensor<4xf32>) -> tensor<4xf32>
  %5 = hal.tensor.export %4 "output0" : tensor<4xf32> -> !hal.buffer_view
  util.return %5 : !hal.buffer_view""",
    ),
    (X4,),
)
def _chain(x):
    return (12 * x,)


@_program(
    "concatenate_in_place",
    (DOUBLE16,),
    _main(
        f"%a: {VIEW}, %b: {VIEW}",
        VIEW,
        """  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<16xf32>
  %1 = hal.tensor.import %b "input1" : !hal.buffer_view -> tensor<16xf32>
  %2 = flow.dispatch @double16::@double16(%0) : (tensor<16xf32>) -> tensor<16xf32>
  %3 = flow.dispatch @double16::@double16(%1) : (tensor<16xf32>) -> tensor<16xf32>
  %r2 = flow.tensor.reshape %2 : tensor<16xf32> -> tensor<1x16xf32>
  %r3 = flow.tensor.reshape %3 : tensor<16xf32> -> tensor<1x16xf32>
  %e = flow.tensor.empty : tensor<2x16xf32>
  %4 = flow.tensor.update %r2, %e[%c0, %c0] : tensor<1x16xf32> -> %e as tensor<2x16xf32>
  %5 = flow.tensor.update %r3, %4[%c1, %c0] : tensor<1x16xf32> -> %4 as tensor<2x16xf32>
  %6 = hal.tensor.export %5 "output0" : tensor<2x16xf32> -> !hal.buffer_view
  util.return %6 : !hal.buffer_view""",
    ),
    (np.arange(16, dtype=np.float32), np.arange(16, dtype=np.float32) - 7),
)
def _concatenate(a, b):
    return (np.stack([2 * a, 2 * b]),)


@_program(
    "update_keeps_the_old_value",
    (DOUBLE4, ADD4),
    _main(
        f"%a: {VIEW}, %b: {VIEW}",
        f"{VIEW}, {VIEW}, {VIEW}",
        """  %c1 = arith.constant 1 : index
  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %1 = hal.tensor.import %b "input1" : !hal.buffer_view -> tensor<4xf32>
  %2 = flow.dispatch @double4::@double4(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %s = flow.tensor.slice %1[%c1 for %c1] : tensor<4xf32> -> tensor<1xf32>
  %3 = flow.tensor.update %s, %2[%c1] : tensor<1xf32> -> %2 as tensor<4xf32>
  %4 = flow.tensor.update %s, %0[%c1] : tensor<1xf32> -> %0 as tensor<4xf32>
  %5 = flow.dispatch @add4::@add4(%2, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = hal.tensor.export %5 "output0" : tensor<4xf32> -> !hal.buffer_view
  %7 = hal.tensor.export %4 "output1" : tensor<4xf32> -> !hal.buffer_view
  %8 = hal.tensor.export %0 "output2" : tensor<4xf32> -> !hal.buffer_view
  util.return %6, %7, %8 : !hal.buffer_view, !hal.buffer_view, !hal.buffer_view""",
    ),
    (X4, Y4),
)
def _keeps(x, y):
    updated = x.copy()
    updated[1] = y[1]
    doubled = 2 * x
    written = doubled.copy()
    written[1] = y[1]
    return doubled + written, updated, x


@_program(
    "loop_updates_in_place",
    (DOUBLE4,),
    _main(
        f"%a: {VIEW}",
        f"{VIEW}, {VIEW}",
        """  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %z = arith.constant dense<7.0> : tensor<3x4xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %z, %x = %0) -> (tensor<3x4xf32>, tensor<4xf32>) {
    %d = flow.dispatch @double4::@double4(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %row = flow.tensor.reshape %d : tensor<4xf32> -> tensor<1x4xf32>
    %n = flow.tensor.update %row, %acc[%i, %c0] : tensor<1x4xf32> -> %acc as tensor<3x4xf32>
    scf.yield %n, %d : tensor<3x4xf32>, tensor<4xf32>
  }
  %6 = hal.tensor.export %r#0 "output0" : tensor<3x4xf32> -> !hal.buffer_view
  %7 = hal.tensor.export %z "output1" : tensor<3x4xf32> -> !hal.buffer_view
  util.return %6, %7 : !hal.buffer_view, !hal.buffer_view""",
    ),
    (X4,),
)
def _loop_in_place(x):
    return np.stack([2 * x, 4 * x, 8 * x]), np.full((3, 4), 7, np.float32)


@_program(
    "tied_dispatch_in_a_loop",
    (BUMP4,),
    _main(
        f"%a: {VIEW}",
        f"{VIEW}, {VIEW}",
        """  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c4 = arith.constant 4 : index
  %half = arith.constant 0.5 : f32
  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%acc = %0) -> (tensor<4xf32>) {
    %m = arith.remui %i, %c4 : index
    %n = flow.dispatch @bump4::@bump4(%acc, %half, %m) : (tensor<4xf32>, f32, index) -> %acc
    scf.yield %n : tensor<4xf32>
  }
  %6 = hal.tensor.export %r "output0" : tensor<4xf32> -> !hal.buffer_view
  %7 = hal.tensor.export %0 "output1" : tensor<4xf32> -> !hal.buffer_view
  util.return %6, %7 : !hal.buffer_view, !hal.buffer_view""",
    ),
    (X4,),
)
def _tied(x):
    return x + np.array([1, 1, 0.5, 0.5], np.float32), x


@_program(
    "while_on_device_data",
    (LESS, TRIPLE),
    _main(
        f"%a: {VIEW}",
        VIEW,
        """  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<f32>
  %r = scf.while (%x = %0) : (tensor<f32>) -> tensor<f32> {
    %c = flow.dispatch @less::@less(%x) : (tensor<f32>) -> tensor<i1>
    %l = flow.tensor.load %c : tensor<i1>
    scf.condition(%l) %x : tensor<f32>
  } do {
  ^bb0(%x: tensor<f32>):
    %n = flow.dispatch @triple::@triple(%x) : (tensor<f32>) -> tensor<f32>
    scf.yield %n : tensor<f32>
  }
  %6 = hal.tensor.export %r "output0" : tensor<f32> -> !hal.buffer_view
  util.return %6 : !hal.buffer_view""",
    ),
    (np.array(2.0, np.float32),),
)
def _while(x):
    while x < 100:
        x = x * np.float32(3)
    return (x,)


@_program(
    "branches_and_switch",
    (DOUBLE4, ADD4),
    _main(
        f"%a: {VIEW}, %b: {VIEW}, %k: i32",
        VIEW,
        """  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %1 = hal.tensor.import %b "input1" : !hal.buffer_view -> tensor<4xf32>
  %i = arith.index_cast %k : i32 to index
  %s = scf.index_switch %i -> tensor<4xf32>
  case 0 {
    %t = flow.dispatch @double4::@double4(%0) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  case 5 {
    scf.yield %1 : tensor<4xf32>
  }
  default {
    %t = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  %c7 = arith.constant 7 : i32
  %big = arith.cmpi sgt, %k, %c7 : i32
  %r = scf.if %big -> (tensor<4xf32>) {
    %t = flow.dispatch @add4::@add4(%s, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  } else {
    scf.yield %s : tensor<4xf32>
  }
  %6 = hal.tensor.export %r "output0" : tensor<4xf32> -> !hal.buffer_view
  util.return %6 : !hal.buffer_view""",
    ),
    (X4, Y4, 9),
)
def _switch(x, y, k):
    chosen = {0: 2 * x, 5: y}.get(int(k), np.array([1, 2, 3, 4], np.float32))
    return (chosen + y if k > 7 else chosen,)


@_program(
    "calls_between_functions",
    (DOUBLE4, ADD4),
    """util.func private @twice(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = flow.dispatch @add4::@add4(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  util.return %t, %x : tensor<4xf32>, tensor<4xf32>
}
"""
    + _main(
        f"%a: {VIEW}",
        f"{VIEW}, {VIEW}",
        """  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %1 = flow.dispatch @double4::@double4(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %2:2 = util.call @twice(%1, %c) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %3 = flow.dispatch @double4::@double4(%2#0) : (tensor<4xf32>) -> tensor<4xf32>
  %6 = hal.tensor.export %3 "output0" : tensor<4xf32> -> !hal.buffer_view
  %7 = hal.tensor.export %2#1 "output1" : tensor<4xf32> -> !hal.buffer_view
  util.return %6, %7 : !hal.buffer_view, !hal.buffer_view""",
    ),
    (X4,),
)
def _calls(x):
    return 2 * (2 * x + np.array([1, 2, 3, 4], np.float32)), 2 * x


@_program(
    "splats_of_every_width",
    (DOUBLE4,),
    _main(
        f"%a: {VIEW}",
        ", ".join([VIEW] * 6),
        """  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %c2 = arith.constant 2 : index
  %l = flow.tensor.load %0[%c2] : tensor<4xf32>
  %s0 = flow.tensor.splat %l : tensor<5xf32>
  %c1 = arith.constant dense<1.5> : tensor<3x7xf64>
  %c2_ = arith.constant dense<-3> : tensor<5xi64>
  %c3 = arith.constant dense<true> : tensor<9xi1>
  %c4 = arith.constant dense<1.5> : tensor<3xbf16>
  %w = arith.extf %l : f32 to f64
  %s5 = flow.tensor.splat %w : tensor<6xf64>
  %e0 = hal.tensor.export %s0 "o0" : tensor<5xf32> -> !hal.buffer_view
  %e1 = hal.tensor.export %c1 "o1" : tensor<3x7xf64> -> !hal.buffer_view
  %e2 = hal.tensor.export %c2_ "o2" : tensor<5xi64> -> !hal.buffer_view
  %e3 = hal.tensor.export %c3 "o3" : tensor<9xi1> -> !hal.buffer_view
  %e4 = hal.tensor.export %c4 "o4" : tensor<3xbf16> -> !hal.buffer_view
  %e5 = hal.tensor.export %s5 "o5" : tensor<6xf64> -> !hal.buffer_view
  util.return %e0, %e1, %e2, %e3, %e4, %e5
      : !hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.buffer_view, !hal.buffer_view""",
    ),
    (X4,),
)
def _splats(x):
    return (
        np.full(5, x[2], np.float32),
        np.full((3, 7), 1.5),
        np.full(5, -3, np.int64),
        np.full(9, True),
        np.full(3, 1.5, np.float32),
        np.full(6, float(x[2])),
    )


@_program(
    "slices_and_booleans",
    (POSITIVE4, CHOOSE4),
    _main(
        f"%a: {VIEW}, %b: {VIEW}",
        f"{VIEW}, {VIEW}, {VIEW}",
        """  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %1 = hal.tensor.import %b "input1" : !hal.buffer_view -> tensor<4x6xf32>
  %p = flow.dispatch @positive4::@positive4(%0) : (tensor<4xf32>) -> tensor<4xi1>
  %l = flow.tensor.load %p[%c3] : tensor<4xi1>
  %q = flow.dispatch @choose4::@choose4(%p) : (tensor<4xi1>) -> tensor<4xf32>
  %i = arith.select %l, %c1, %c0 : index
  %s = flow.tensor.slice %1[%i, %c2 for %c3, %c3] : tensor<4x6xf32> -> tensor<3x3xf32>
  %e0 = hal.tensor.export %p "o0" : tensor<4xi1> -> !hal.buffer_view
  %e1 = hal.tensor.export %q "o1" : tensor<4xf32> -> !hal.buffer_view
  %e2 = hal.tensor.export %s "o2" : tensor<3x3xf32> -> !hal.buffer_view
  util.return %e0, %e1, %e2 : !hal.buffer_view, !hal.buffer_view, !hal.buffer_view""",
    ),
    (X4, np.arange(24, dtype=np.float32).reshape(4, 6)),
)
def _slices(x, b):
    return x > 0, np.where(x > 0, 1, -1).astype(np.float32), b[1:4, 2:5]


@_program(
    "constants_globals_and_aliases",
    (ADD4,),
    "util.global private @weights = dense<[4.0, 3.0, 2.0, 1.0]> : tensor<4xf32>\n"
    + _main(
        f"%a: {VIEW}",
        f"{VIEW}, {VIEW}, {VIEW}",
        """  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %w = util.global.load immutable @weights : tensor<4xf32>
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = flow.dispatch @add4::@add4(%w, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e0 = hal.tensor.export %1 "o0" : tensor<4xf32> -> !hal.buffer_view
  %e1 = hal.tensor.export %c "o1" : tensor<4xf32> -> !hal.buffer_view
  %e2 = hal.tensor.export %1 "o2" : tensor<4xf32> -> !hal.buffer_view
  util.return %e0, %e1, %e2 : !hal.buffer_view, !hal.buffer_view, !hal.buffer_view""",
    ),
    (X4,),
)
def _constants(x):
    del x
    five = np.full(4, 5, np.float32)
    return five, np.array([1, 2, 3, 4], np.float32), five


@_program(
    "swap_in_a_loop",
    (DOUBLE4,),
    _main(
        f"%a: {VIEW}, %b: {VIEW}",
        f"{VIEW}, {VIEW}",
        """  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %1 = hal.tensor.import %b "input1" : !hal.buffer_view -> tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %0, %y = %1) -> (tensor<4xf32>, tensor<4xf32>) {
    %v = arith.constant 9.0 : f32
    %n = flow.tensor.store %v, %x[%i] : tensor<4xf32>
    scf.yield %y, %n : tensor<4xf32>, tensor<4xf32>
  }
  %6 = hal.tensor.export %r#0 "output0" : tensor<4xf32> -> !hal.buffer_view
  %7 = hal.tensor.export %r#1 "output1" : tensor<4xf32> -> !hal.buffer_view
  util.return %6, %7 : !hal.buffer_view, !hal.buffer_view""",
    ),
    (X4, Y4),
)
def _swap(x, y):
    x, y = x.copy(), y.copy()
    for i in range(3):
        x[i] = 9
        x, y = y, x
    return x, y


@_program(
    "select_and_barrier",
    (DOUBLE4, ADD4),
    _main(
        f"%a: {VIEW}, %b: {VIEW}, %k: i32",
        f"{VIEW}, {VIEW}",
        """  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i32
  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %1 = hal.tensor.import %b "input1" : !hal.buffer_view -> tensor<4xf32>
  %2 = flow.dispatch @double4::@double4(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %big = arith.cmpi sgt, %k, %c7 : i32
  %s = arith.select %big, %2, %1 : tensor<4xf32>
  %v = arith.constant 9.0 : f32
  %3 = flow.tensor.store %v, %2[%c0] : tensor<4xf32>
  %4 = util.optimization_barrier %3 : tensor<4xf32>
  %5 = flow.dispatch @add4::@add4(%s, %4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = hal.tensor.export %5 "output0" : tensor<4xf32> -> !hal.buffer_view
  %7 = hal.tensor.export %s "output1" : tensor<4xf32> -> !hal.buffer_view
  util.return %6, %7 : !hal.buffer_view, !hal.buffer_view""",
    ),
    (X4, Y4, 9),
)
def _select(x, y, k):
    chosen = 2 * x if k > 7 else y
    stored = 2 * x
    stored[0] = 9
    return chosen + stored, chosen


@_program(
    "empty_tensors",
    (),
    _main(
        f"%a: {VIEW}",
        f"{VIEW}, {VIEW}",
        """  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %e = flow.tensor.empty : tensor<0x3xf32>
  %c = arith.constant dense<1.0> : tensor<2x0xf32>
  %6 = hal.tensor.export %e "output0" : tensor<0x3xf32> -> !hal.buffer_view
  %7 = hal.tensor.export %c "output1" : tensor<2x0xf32> -> !hal.buffer_view
  util.return %6, %7 : !hal.buffer_view, !hal.buffer_view""",
    ),
    (X4,),
)
def _empty(x):
    del x
    return np.zeros((0, 3), np.float32), np.zeros((2, 0), np.float32)
