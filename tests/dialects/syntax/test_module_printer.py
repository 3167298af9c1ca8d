"""Printing: numbering, escapes, scopes, locations; that MLIR accepts both forms and sees the same module."""

from __future__ import annotations

from dialects.iree_opt import generic_by_iree
from tiree.dialects import print_module, read_module
from tiree.dialects.syntax.printer import string_literal
from xdsl.dialects.builtin import StringAttr

PROGRAM = """
module @m {
  util.func public @f(%x: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, i32) {
    %k = arith.constant 1.500000e+00 : f32
    %0:2 = scf.if %c -> (tensor<4xf32>, i32) {
      %e = tensor.empty() : tensor<4xf32>
      %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
          iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %2 = arith.mulf %in, %k : f32
        linalg.yield %2 : f32
      } -> tensor<4xf32>
      %seven = arith.constant 7 : i32
      scf.yield %1, %seven : tensor<4xf32>, i32
    } else {
      %zero = arith.constant 0 : i32
      scf.yield %x, %zero : tensor<4xf32>, i32
    }
    util.return %0#0, %0#1 : tensor<4xf32>, i32
  }
  util.func private @g(%b: i32) -> i32 {
    cf.br ^bb1(%b : i32)
  ^bb1(%v: i32):
    util.return %v : i32
  }
}
"""


def test_both_forms_are_the_same_module_for_iree_opt() -> None:
    module = read_module(PROGRAM)
    generic = generic_by_iree(print_module(module))
    assert (
        generic_by_iree(print_module(module, generic=False))
        .replace(', sym_visibility = "public", tied_operands = [-1 : index, -1 : index]', "")
        .replace(", tied_operands = [-1 : index]", "")
        == generic
    )


def test_the_generic_form_numbers_values_per_function() -> None:
    text = print_module(read_module(PROGRAM))
    assert text.count("%arg0: ") == 2
    assert "%1:2 = " in text
    assert "%1#0, %1#1" in text


def test_custom_syntax_names_values_as_mlir_does() -> None:
    text = print_module(read_module(PROGRAM), generic=False)
    assert "%seven = arith.constant 7 : i32" in text
    assert "util.return %0#0, %0#1" in text or "#1 : tensor<4xf32>, i32" in text


def test_printing_is_a_fixed_point() -> None:
    for generic in (True, False):
        once = print_module(read_module(PROGRAM), generic)
        assert print_module(read_module(once), generic) == once


def test_strings_and_odd_attribute_names() -> None:
    assert string_literal('a"b\\c\n\x01é') == '"a\\22b\\\\c\\0A\\01\\C3\\A9"'
    module = read_module("module {\n}\n")
    module.attributes["odd name"] = StringAttr('x"y')
    module.attributes["fine.name"] = StringAttr("")
    text = print_module(module)
    assert '{"odd name" = "x\\22y", fine.name = ""}' in text
    assert read_module(text).attributes == module.attributes


def test_locations_are_printed_on_demand() -> None:
    place = 'loc(callsite("a.py":1:2 at fused<"x">["b.py":3:4]))'
    text = f'func.func @f(%a: i32 loc("arg")) {{\n  return {place}\n}} loc(unknown)\n'
    module = read_module(text)
    printed = print_module(module, debuginfo=True)
    assert place in printed
    assert '%arg0: i32 loc("arg")' in printed
    assert "loc(" not in print_module(module)
    assert print_module(read_module(printed), debuginfo=True) == printed


def test_large_constants_are_left_out_on_demand() -> None:
    text = "func.func @f() {\n  %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>\n  return\n}\n"
    module = read_module(text)
    for generic in (True, False):
        assert "__elided__" in print_module(module, generic, elide_larger_than=2)
        assert "__elided__" not in print_module(module, generic, elide_larger_than=3)


def test_an_empty_block_keeps_its_label() -> None:
    text = '"builtin.module"() ({\n^bb0:\n}) : () -> ()\n'
    assert print_module(read_module(text)) == text
