"""What the input stage cannot lower is reported once, all of it, with places."""

from __future__ import annotations

import pytest
import tiree
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
      %s = stablehlo.dynamic_slice %x, sizes = [] : (tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    func.return %0 : tensor<4xf32>
  }
}
"""
    message = r"stablehlo\.dynamic_slice in the body of stablehlo\.reduce is not supported"
    with pytest.raises(CompileError, match=message):
        lowered(text)


def test_dynamic_shapes_are_refused_by_name(lowered) -> None:
    text = """
module @m {
  func.func @f(%a: tensor<?xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {
    %0 = "stablehlo.torch_index_select"(%a, %i) <{dim = 0 : i64, batch_dims = 0 : i64}>
      : (tensor<?xf32>, tensor<2xi32>) -> tensor<2xf32>
    func.return %0 : tensor<2xf32>
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
  func.func @f(%a: tensor<4xf32> {iree.abi.unknown = 0 : index}) -> tensor<4xf32> {
    func.return %a : tensor<4xf32>
  }
}
"""
    with pytest.raises(CompileError, match=r"iree\.abi\.unknown"):
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


def test_faults_of_all_kinds_are_reported_in_one_run(lowered) -> None:
    """Ops that break their rules, forms without expansion, ops and targets without lowering: all, each with its place,
    and then where to read what is supported."""
    text = """
func.func @f(%a: tensor<4xf32>, %b: tensor<5xf32>, %c: tensor<2x4xcomplex<f32>>, %d: tensor<4xcomplex<f32>>) {
  %0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  %1 = "stablehlo.batch_norm_inference"(%c, %d, %d, %d, %d) <{epsilon = 0.1 : f32, feature_index = 1 : i64}>
    : (tensor<2x4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>,
       tensor<4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
  %2 = "stablehlo.replica_id"() : () -> tensor<f8E5M2>
  %3 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = "stablehlo.custom_call"(%0) <{call_target_name = "foo"}> : (tensor<4xf32>) -> tensor<4xf32>
  %5 = "stablehlo.recv"(%4) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
"""
    with pytest.raises(CompileError) as caught:
        lowered(text)
    found = caught.value.diagnostics
    expected = {
        3: "stablehlo.add is not valid: operands must have one type",
        4: "stablehlo.batch_norm_inference is not valid: it works on floats",
        7: "stablehlo.replica_id is not valid: its result is tensor<ui32>; here it is tensor<f8E5M2>",
        8: "stablehlo.all_reduce with several processes (0, 1), where a program is one, is not supported",
        13: "stablehlo.custom_call to target 'foo' is not supported",
        14: "stablehlo.recv is not supported",
    }
    lines = {int(one.location.split(":")[1]): one.message for one in found}
    assert list(lines) == list(expected)
    for line, message in expected.items():
        assert message in lines[line]
    assert "supported_ops.md" in found[-1].hint


@pytest.mark.parametrize(
    ("op", "why"),
    [
        ("feature_index = 2 : i64", "feature_index is 2; its operand has rank 2"),
        ("feature_index = 0 : i64", "the shape \\[2\\]"),
    ],
)
def test_batch_norm_without_fitting_operands(lowered, op: str, why: str) -> None:
    text = f"""
func.func @f(%a: tensor<2x4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {{
  %0 = "stablehlo.batch_norm_inference"(%a, %b, %b, %b, %b) <{{epsilon = 0.1 : f32, {op}}}>
    : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}}
"""
    with pytest.raises(CompileError, match=why):
        lowered(text)


def test_an_op_in_a_body_that_is_lowered_several_times_is_one(lowered) -> None:
    text = """func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.custom_call @less(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
    with pytest.raises(CompileError) as caught:
        lowered(text)
    (found,) = caught.value.diagnostics
    assert found.message == "stablehlo.custom_call in the body of stablehlo.sort is not supported"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("largest = false", r"chlo.top_k of the smallest elements \(largest = false\) is not supported"),
        ("dimension = 0", "chlo.top_k along dimension 0, which is not the last, is not supported"),
    ],
)
@pytest.mark.parametrize("size", ["3", "?"])
def test_top_k_as_only_mhlo_has_it(lowered, setting: str, message: str, size: str) -> None:
    text = f"""func.func @f(%a: tensor<{size}x3xf32>) -> tensor<{size}x2xf32> {{
  %0:2 = chlo.top_k(%a, k = 2, {setting}) : tensor<{size}x3xf32> -> (tensor<{size}x2xf32>, tensor<{size}x2xi32>)
  return %0#0 : tensor<{size}x2xf32>
}}
"""
    with pytest.raises(CompileError, match=message):
        lowered(text)
    same = {"largest = false": "largest = true", "dimension = 0": "dimension = 1"}[setting]
    lowered(text.replace(setting, same))


INVALID = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = {first}
  %1 = stablehlo.reshape %a : (tensor<4xf32>) -> tensor<5xf32>
  %2 = "stablehlo.custom_call"(%a) <{{call_target_name = "mine"}}> : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "stablehlo.abs"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}"""


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (
            '"stablehlo.add"(%a) : (tensor<4xf32>) -> tensor<4xf32>',
            "stablehlo.add is not valid: it has 1 operand, needs 2",
        ),
        ("stablehlo.add %a : tensor<4xf32>", "stablehlo.add is not valid: it has 1 operand, needs 2"),
        ('"stablehlo.foo"(%a) : (tensor<4xf32>) -> tensor<4xf32>', "unknown operation 'stablehlo.foo'"),
    ],
)
def test_operations_that_are_none_hide_no_other_faults(first: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        tiree.compile(INVALID.format(first=first))
    said = str(caught.value)
    for wanted in (
        f":2:8: error: {message}",
        ":3:8: error: stablehlo.reshape is not valid: it reshapes 4 elements",
        ":4:8: error: stablehlo.custom_call to target 'mine' is not supported",
    ):
        assert wanted in said
    assert said.count("lists the ops and element types that are") >= 1
    assert ":5:8: error: stablehlo.abs is not valid: it has 2 operands, needs 1" in said


@pytest.mark.parametrize(("results", "returned"), [("()", "%0"), ("tensor<2xf32>", "%0"), ("tensor<2xi32>", "%0, %0")])
def test_a_return_of_other_values_than_the_function_has(results: str, returned: str) -> None:
    types = ", ".join(["tensor<2xi32>"] * (returned.count(",") + 1))
    text = f"""func.func @f(%a: tensor<2xi32>) -> {results} {{
  %0 = stablehlo.abs %a : tensor<2xi32>
  "stablehlo.return"({returned}) : ({types}) -> ()
}}"""
    with pytest.raises(CompileError, match=r"<input>:3:\d+: error: stablehlo\.return gives .*; @f returns "):
        tiree.compile(text)


def test_a_declaration_of_a_future() -> None:
    text = "func.func private @f() -> !stablehlo.future<tensor<f32>>\nfunc.func @g() {\n  return\n}\n"
    assert tiree.compile(text)


def test_kernels_with_another_number_of_spatial_dimensions() -> None:
    text = """func.func @f(%a: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x4xf32>) -> tensor<1x8x8x4xf32> {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, 2, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x8x8x4xf32>
  return %0 : tensor<1x8x8x4xf32>
}"""  # noqa: E501
    with pytest.raises(CompileError, match="spatial dimensions"):
        tiree.compile(text)
