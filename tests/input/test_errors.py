"""What the input stage cannot lower is reported once, all of it, with places."""

from __future__ import annotations

import pytest
from tiree.support.errors import CompileError

UNSUPPORTED = """
module @m {
  func.func @f(%a: tensor<4xf32>, %b: tensor<2x2xf32>, %c: tensor<4xcomplex<f32>>) -> tensor<2x2xf32> {
    %0 = "stablehlo.recv"(%b) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %1 = "stablehlo.recv"(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %2 = "stablehlo.floor"(%c) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %3 = "stablehlo.send"() : () -> tensor<ui32>
    %4 = "stablehlo.custom_call"(%a) <{call_target_name = "my_kernel"}> : (tensor<4xf32>) -> tensor<4xf32>
    func.return %1 : tensor<2x2xf32>
  }
}
"""


def test_all_unsupported_ops_are_reported(lowered) -> None:
    with pytest.raises(CompileError) as caught:
        lowered(UNSUPPORTED)
    texts = [str(one) for one in caught.value.diagnostics]
    assert len(texts) == 4
    assert "stablehlo.recv is not supported (2 uses)" in texts[0]
    assert ":4:" in texts[0]
    assert ":5:" in texts[0]
    assert "stablehlo.floor on elements of type complex<f32>" in texts[1]
    assert "stablehlo.send" in texts[2]
    assert "'my_kernel'" in texts[3]


def test_unsupported_op_in_a_reducer(lowered) -> None:
    text = """
module @m {
  func.func @f(%a: tensor<4x4xf32>, %z: tensor<f32>) -> tensor<4xf32> {
    %0 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.rng"(%x, %y, %n) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}>
        : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    func.return %0 : tensor<4xf32>
  }
}
""".replace(", %n", "").replace("tensor<f32>, tensor<f32>, tensor<f32>", "tensor<f32>, tensor<f32>")
    with pytest.raises(CompileError, match=r"stablehlo\.rng in the body of stablehlo\.reduce is not supported"):
        lowered(text)


def test_dynamic_shapes_are_refused_by_name(lowered) -> None:
    text = """
module @m {
  func.func @f(%a: tensor<?xf32>) -> tensor<?xf32> {
    %0 = "stablehlo.cholesky"(%a) : (tensor<?xf32>) -> tensor<?xf32>
    func.return %0 : tensor<?xf32>
  }
}
"""
    with pytest.raises(CompileError, match=r"dynamic shape tensor<\?xf32>"):
        lowered(text)


def test_call_of_unknown_function(lowered) -> None:
    text = """
module @m {
  func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "func.call"(%a) <{callee = @g}> : (tensor<4xf32>) -> tensor<4xf32>
    func.return %0 : tensor<4xf32>
  }
}
"""
    with pytest.raises(CompileError, match="@g"):
        lowered(text)


def test_abi_attribute_without_support(lowered) -> None:
    text = """
module @m {
  func.func @f(%a: tensor<4xf32> {iree.abi.output = 0 : index}) -> tensor<4xf32> {
    func.return %a : tensor<4xf32>
  }
}
"""
    with pytest.raises(CompileError, match=r"iree\.abi\.output"):
        lowered(text, "abi")


def test_loop_step_that_is_not_positive_fails_the_call(lowered, iree) -> None:
    text = """
module @m {
  func.func @sum(%n: i32, %step: i32) -> i32 {
    %0 = arith.constant 0 : i32
    %r = scf.for %i = %0 to %n step %step iter_args(%a = %0) -> (i32) : i32 {
      %b = arith.addi %a, %i : i32
      scf.yield %b : i32
    }
    func.return %r : i32
  }
}
"""
    module = iree.compile(lowered(text), "input")
    assert iree.call(module, "sum", [5, 2])[0] == 6
    with pytest.raises(RuntimeError, match="positive step"):
        iree.call(module, "sum", [5, 0])
