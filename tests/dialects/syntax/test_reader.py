"""Reading: structure, scopes, aliases, locations, resources. Expected values are written out, not read back."""

from __future__ import annotations

import pytest
from tiree.dialects import get_context, print_module, read_module
from tiree.support.errors import CompileError
from tiree.support.locations import location_text
from xdsl.dialects.builtin import FileLineColLoc, FusedLoc, NameLoc, UnregisteredAttr


def ops_of(text: str, name: str) -> list:
    return [op for op in read_module(text).walk() if op.name == name]


def test_operations_without_a_module_get_one() -> None:
    module = read_module("func.func @f() {\n return\n}\n")
    assert [op.name for op in module.body.block.ops] == ["func.func"]


def test_generic_form_with_properties_attributes_regions_and_successors() -> None:
    text = """
    "builtin.module"() ({
      "func.func"() <{function_type = (i1, i32) -> i32, sym_name = "f"}> ({
      ^bb0(%c: i1, %x: i32):
        "cf.cond_br"(%c, %x)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i32) -> ()
      ^bb1(%y: i32):  // pred: ^bb0
        "func.return"(%y) : (i32) -> ()
      ^bb2:  // pred: ^bb0
        "func.return"(%x) : (i32) -> ()
      }) {note = "kept"} : () -> ()
    }) : () -> ()
    """
    (function,) = ops_of(text, "func.func")
    blocks = list(function.regions[0].blocks)
    assert [len(block.args) for block in blocks] == [2, 1, 0]
    branch = blocks[0].last_op
    assert list(branch.successors) == blocks[1:]
    assert function.attributes["note"].data == "kept"
    assert blocks[2].last_op.operands[0] is blocks[0].args[1]


def test_properties_written_as_attributes_become_properties() -> None:
    (op,) = ops_of('"func.func"() ({}) {sym_name = "f", function_type = () -> (), extra} : () -> ()\n', "func.func")
    assert set(op.properties) == {"sym_name", "function_type"}
    assert set(op.attributes) == {"extra"}


def test_a_value_may_be_used_in_a_block_before_the_one_that_defines_it() -> None:
    text = """
    func.func @f() -> i32 {
      cf.br ^bb2
    ^bb1:
      return %v : i32
    ^bb2:
      %v = arith.constant 7 : i32
      cf.br ^bb1
    }
    """
    (constant,) = ops_of(text, "arith.constant")
    (result,) = ops_of(text, "func.return")
    assert result.operands[0].type == constant.results[0].type


def test_names_of_a_region_end_with_it() -> None:
    text = """
    func.func @f(%x: i32) -> i32 { return %x : i32 }
    func.func @g(%x: f32) -> f32 { return %x : f32 }
    """
    assert [str(op.operands[0].type) for op in ops_of(text, "func.return")] == ["i32", "f32"]


def test_several_results_are_bound_by_count_and_by_list() -> None:
    text = """
    func.func @f(%a: i32) -> i32 {
      %0:2 = "test.two"(%a) : (i32) -> (i32, i32)
      %x, %y:2 = "test.three"(%0#1) : (i32) -> (i32, i32, i32)
      return %y#1 : i32
    }
    """
    module = read_module(text, get_context(allow_unregistered=True))
    two, three, last = list(module.body.block.first_op.regions[0].block.ops)
    assert three.operands[0] is two.results[1]
    assert last.operands[0] is three.results[2]


def test_aliases_may_be_defined_after_their_use() -> None:
    text = """
    #map = affine_map<(d0) -> (d0)>
    !t = tensor<4xf32>
    func.func @f(%a: !t) -> !t attributes {m = #map} {
      return %a : !t loc(#loc2)
    } loc(#loc)
    #loc = loc("model.py":3:7)
    #loc1 = loc("inner"(#loc))
    #loc2 = loc(fused[#loc1, "other.py":4:1 to :9])
    """
    (op,) = ops_of(text, "func.return")
    assert isinstance(op.location, FusedLoc)
    first, second = op.location.locations
    assert isinstance(first, NameLoc)
    assert first.desc.data == "inner"
    assert isinstance(second, FileLineColLoc)
    assert (second.line.data, second.column.data) == (4, 1)
    assert location_text(op.location) == "model.py:3:7"


def test_the_alias_of_a_location_must_be_one() -> None:
    with pytest.raises(CompileError, match=r"<input>:3:14.*expected the alias of a location"):
        read_module("#a = 5 : i32\nfunc.func @f() {\n  return loc(#a)\n}\n")


def test_an_operation_without_location_is_where_its_name_stands() -> None:
    module = read_module("func.func @f() {\n  return\n}\n", filename="m.mlir")
    (result,) = [op for op in module.walk() if op.name == "func.return"]
    assert location_text(result.location) == "m.mlir:2:3"


def test_resources_are_read_from_the_end_of_the_file() -> None:
    text = """
    func.func @f() -> tensor<2xf32> {
      %0 = stablehlo.constant dense_resource<w> : tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    {-#
      dialect_resources: {
        builtin: {
          w: "0x040000000000803F00000040"
        }
      }
    #-}
    """
    (op,) = ops_of(text, "stablehlo.constant")
    assert op.properties["value"].to_numpy().tolist() == [1.0, 2.0]


def test_attributes_of_unknown_dialects_are_kept_as_written() -> None:
    written = '#other.thing<[1, "a > b"], {k -> v}>'
    module = read_module(f"module attributes {{other.x = {written}}} {{\n}}\n")
    assert isinstance(module.attributes["other.x"], UnregisteredAttr)
    assert written in print_module(module)


def test_comments_are_white_space_everywhere() -> None:
    text = "// head\nfunc.func @f( // here\n %a: i32) -> // there\n i32 {\n return %a // end\n : i32 }\n"
    assert len(ops_of(text, "func.return")) == 1


def test_integer_attributes_in_every_notation() -> None:
    text = "{a = 0x1F : i8, b = -3, c = true, d = 4 : index, e = 255 : ui8, f = array<i64: 1, -2>}"
    attributes = read_module(f"module attributes {text} {{\n}}\n").attributes
    assert [attributes[key].value.data for key in "abcde"] == [
        31,
        -3,
        1 if attributes["c"].value.data == 1 else -1,
        4,
        255,
    ]
    assert attributes["f"].get_values() == (1, -2)


def test_string_escapes() -> None:
    attributes = read_module('module attributes {a = "x\\22y\\\\\\0A\\C3\\A9"} {\n}\n').attributes
    assert attributes["a"].data == 'x"y\\\né'
