"""Verification that checks each kind of operation once finds what xDSL's finds."""

from __future__ import annotations

import pytest
from tiree.dialects import read_module
from tiree.support.verification import verify
from xdsl.dialects.arith import AddfOp
from xdsl.dialects.builtin import IntegerAttr, StringAttr, f32, f64, i32
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

TEXT = """
#map = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %t = arith.addf %s, %y : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%r, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %q : tensor<4xf32>
}"""


def ops(name: str) -> tuple[Operation, list[Operation]]:
    module = read_module(TEXT)
    return module, [op for op in module.walk() if op.name == name]


def test_a_valid_module_passes() -> None:
    verify(read_module(TEXT))


def test_a_wrong_type_among_equal_ops_is_found() -> None:
    module, adds = ops("arith.addf")
    last = adds[-1]
    wrong = AddfOp.create(operands=list(last.operands), result_types=[f64], properties=dict(last.properties))
    block = last.parent
    assert block is not None
    block.insert_op_before(wrong, last)
    with pytest.raises(VerifyException):
        verify(module)


def test_a_body_that_yields_nothing_is_found() -> None:
    module, generics = ops("linalg.generic")
    last = generics[-1].regions[0].block.last_op
    assert last is not None
    last.operands = []
    with pytest.raises(VerifyException, match="does not yield one element for each output"):
        verify(module)


def test_maps_that_do_not_fit_the_operands_are_found() -> None:
    module, generics = ops("linalg.generic")
    generics[-1].operands = list(generics[-1].operands)[1:]
    with pytest.raises(VerifyException):
        verify(module)


def test_an_op_in_the_place_of_a_terminator_is_found() -> None:
    module, generics = ops("linalg.generic")
    block = generics[0].regions[0].block
    assert block.last_op is not None
    block.erase_op(block.last_op)
    with pytest.raises(VerifyException, match=r"terminat|yield"):
        verify(module)


def test_an_op_that_lost_its_property_is_found() -> None:
    module, adds = ops("arith.addf")
    adds[-1].properties.clear()
    adds[-1].operands = [adds[-1].operands[0]]
    assert adds[-1].results[0].type == f32
    with pytest.raises(VerifyException):
        verify(module)


HOST = """
util.func public @f(%a: tensor<2x4xf32>) -> tensor<8xf32> {
  %r = flow.tensor.reshape %a : tensor<2x4xf32> -> tensor<8xf32>
  %s = flow.tensor.reshape %a : tensor<2x4xf32> -> tensor<8xf32>
  util.return %s : tensor<8xf32>
}"""


@pytest.mark.parametrize("wrong", ["type", "property", "count"])
def test_a_wrong_one_among_equal_ops_of_the_host_is_found(wrong: str) -> None:
    module = read_module(HOST)
    verify(module)
    last = [op for op in module.walk() if op.name == "flow.tensor.reshape"][-1]
    new = type(last).create(
        operands=list(last.operands) * (2 if wrong == "count" else 1),
        result_types=[f32 if wrong == "type" else last.results[0].type],
        properties={} if wrong == "property" else dict(last.properties),
    )
    block = last.parent
    assert block is not None
    block.insert_op_before(new, last)
    with pytest.raises(VerifyException):
        verify(module)


NAMED = """
util.func public @f(%a: !hal.buffer_view, %b: !hal.buffer_view) -> (tensor<2xf32>, tensor<2xf32>, index) {
  %x = hal.tensor.import %a "first" : !hal.buffer_view -> tensor<2xf32>
  %y = hal.tensor.import %b "second" : !hal.buffer_view -> tensor<2xf32>
  %c = arith.constant 1 : index
  %d = arith.constant 2 : index
  util.return %x, %y, %d : tensor<2xf32>, tensor<2xf32>, index
}"""


@pytest.mark.parametrize(
    ("op", "name", "value"),
    [
        ("hal.tensor.import", "name", IntegerAttr(1, i32)),
        ("arith.constant", "value", StringAttr("2")),
    ],
)
def test_names_and_numbers_differ_but_not_their_classes(op: str, name: str, value: Attribute) -> None:
    module = read_module(NAMED)
    verify(module)
    last = [one for one in module.walk() if one.name == op][-1]
    last.properties[name] = value
    with pytest.raises(VerifyException):
        verify(module)


def test_what_is_read_over_the_border_of_a_function_is_found() -> None:
    module = read_module(f"{NAMED}\n{NAMED.replace('@f', '@g')}")
    verify(module)
    first, second = module.body.block.ops
    inner = [op for op in second.walk() if op.name == "hal.tensor.import"]
    inner[0].operands[0] = first.regions[0].block.args[1]
    with pytest.raises(VerifyException, match="IsolatedFromAbove"):
        verify(module)
    inner[0].operands[0] = next(op for op in first.walk() if op.name == "hal.tensor.import").results[0]
    with pytest.raises(VerifyException):
        verify(module)


def test_values_of_regions_around_are_no_fault() -> None:
    verify(
        read_module("""
util.func public @f(%c: i1, %a: index) -> index {
  %r = scf.if %c -> (index) {
    %x = arith.addi %a, %a : index
    %s = scf.if %c -> (index) {
      %y = arith.addi %x, %a : index
      scf.yield %y : index
    } else {
      scf.yield %x : index
    }
    scf.yield %s : index
  } else {
    scf.yield %a : index
  }
  util.return %r : index
}""")
    )
