"""Values that no part of the compiler can hold are refused by name, at their place, all of them at once."""

from __future__ import annotations

import pytest
import tiree
from tiree.support.errors import CompileError


def refused(text: str) -> list[str]:
    """First lines of the diagnostics, without `<input>:`."""
    with pytest.raises(CompileError) as caught:
        tiree.compile(text)
    lines = [str(found).splitlines()[0] for found in caught.value.diagnostics]
    assert all(line.startswith("<input>:") for line in lines), lines
    return [line.removeprefix("<input>:") for line in lines]


@pytest.mark.parametrize(
    ("type", "what"),
    [
        ("tensor<*xf32>", "an unranked tensor"),
        ("tensor<?xi4>", "elements of type i4 in the shape tensor<?xi4>, which does not say how many bytes it has"),
        ("tensor<2xi128>", "elements of type i128"),
        ("tensor<4xf80>", "elements of type f80"),
        ("tensor<2xf80>", "elements of type f80"),
        ("tensor<2xf128>", "elements of type f128"),
        (
            "tensor<4611686018427387904xf32>",
            "the shape tensor<4611686018427387904xf32>, too many elements to address",
        ),
        (
            "tensor<99999999999x99999999999xi8>",
            "the shape tensor<99999999999x99999999999xi8>, too many elements to address",
        ),
        ("memref<4xf32>", "the type memref<4xf32>"),
        ("vector<4xf32>", "the type vector<4xf32>"),
        ("f16", "the type f16"),
        ("i4", "the type i4"),
    ],
)
def test_arguments_and_results(type: str, what: str) -> None:
    text = f"func.func @f(%n: i32,\n   %x: {type}) -> {type} {{\n  return %x : {type}\n}}\n"
    assert refused(text)[:2] == [
        f"2:4: error: argument 2 (%x) of @f has {what}",
        f"1:1: error: result 1 of @f has {what}",
    ]


def test_dynamic_shapes_inside() -> None:
    text = """func.func @f(%x: tensor<?xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {
  %0 = linalg.softmax dimension(0) ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  %1 = "stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = 0 : i64}>
    : (tensor<?xf32>, tensor<2xi32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
"""
    assert refused(text) == [
        "2:8: error: linalg.softmax with the dynamic shape tensor<?xf32> is not supported",
        "3:8: error: stablehlo.torch_index_select with the dynamic shape tensor<?xf32> is not supported",
    ]


def test_types_inside_are_reported_together() -> None:
    text = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf80>
  %1 = stablehlo.iota dim = 0 : tensor<9999999999x9999999999xi8>
  %2 = stablehlo.convert %0 : (tensor<4xf80>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""
    assert refused(text) == [
        "2:8: error: stablehlo.convert with elements of type f80 is not supported",
        "3:8: error: stablehlo.iota with the shape tensor<9999999999x9999999999xi8>, too many elements to address is "
        "not supported",
    ]


def test_functions_without_body() -> None:
    text = """func.func private @unused(tensor<4xf32>) -> tensor<4xf32>
func.func private @other(tensor<4xf32>) -> tensor<4xf32>
func.func @open(tensor<4xf32>)
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
    assert refused(text) == [
        "3:1: error: function @open is public, but has no body",
        "5:8: error: @other is called, but has no body",
    ]


def test_a_declaration_that_nobody_calls_is_dropped() -> None:
    tiree.compile(
        "func.func private @unused(tensor<4xf32>)\n"
        "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"
    )


def test_a_symbol_defined_twice() -> None:
    text = "func.func @f() {\n  return\n}\nfunc.func @f() {\n  return\n}\n"
    assert refused(text) == ["4:1: error: @f is defined twice; first at <input>:1:1"]


def test_a_module_in_a_module() -> None:
    text = "module {\n  module @inner {\n    func.func @f() {\n      return\n    }\n  }\n}\n"
    assert refused(text) == ["2:3: error: a module inside a module cannot be compiled"]


BRANCHES = {
    "to the entry": (
        "func.func @f() {\n  cf.br ^a\n^a:\n  cf.br ^a\n^b:\n  return\n}\n",
        "",
    ),
    "too many values": (
        "func.func @f(%x: i32) {\n  cf.br ^a(%x : i32)\n^a:\n  return\n}\n",
        "2:3: error: cf.br passes 1 values to a block that takes 0",
    ),
    "another type": (
        "func.func @f(%x: i32) {\n  cf.br ^a(%x : i32)\n^a(%y: f32):\n  return\n}\n",
        "2:3: error: cf.br passes a i32 as value 1 to a block that takes a f32",
    ),
    "no end": (
        "func.func @f(%x: i32) {\n  cf.br ^a\n^a:\n  %y = arith.addi %x, %x : i32\n}\n",
        "4:8: error: arith.addi is not valid: Operation arith.addi terminates block in multi-block region but is not "
        "a terminator",
    ),
    "first block": (
        '"func.func"() <{function_type = () -> (), sym_name = "f"}> ({\n^a:\n  "cf.br"()[^a] : () -> ()\n'
        '^b:\n  "func.return"() : () -> ()\n}) : () -> ()\n',
        "3:3: error: cf.br jumps to the first block of its region; let the first block jump to a second one and "
        "loop there",
    ),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_branches(name: str) -> None:
    text, wanted = BRANCHES[name]
    if wanted:
        assert refused(text) == [wanted]
    else:
        tiree.compile(text)


def test_a_label_where_arguments_have_names() -> None:
    text = "func.func @f(%x: i32) {\n^a(%y: i32):\n  return\n}\n"
    assert refused(text) == [
        "2:1: error: the first block of a region whose arguments have names stands without a label"
    ]
