"""Operations that are made directly are those of xDSL's general constructor."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tiree.dialects import hal, read_module, stream
from tiree.dialects.arith import ConstantOp
from tiree.support.creation import copied, erase_unused, make
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import test
from xdsl.dialects.builtin import UNKNOWN_LOC, SymbolRefAttr
from xdsl.ir import Block, Operation, SSAValue

TEXT = """
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %named = stablehlo.add %a, %b {mark} : tensor<4xf32>
  %c:2 = util.optimization_barrier %named, %a : tensor<4xf32>, tensor<4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] :
      (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %c#0, %c#1 : tensor<4xf32>, tensor<4xf32>
}"""


def _ops() -> dict[str, Operation]:
    return {op.name: op for op in read_module(TEXT).walk()}


@pytest.mark.parametrize("name", ["stablehlo.add", "util.optimization_barrier", "stablehlo.constant"])
def test_made_like_created(name: str) -> None:
    op = _ops()[name]
    types = [result.type for result in op.results]
    created = type(op).create(
        operands=op.operands, result_types=types, properties=op.properties, attributes=op.attributes
    )
    made = make(type(op), list(op.operands), types, dict(op.properties), dict(op.attributes), UNKNOWN_LOC)
    assert vars(made).keys() == vars(created).keys()
    assert made.is_structurally_equivalent(created)
    assert (made.regions, list(made.successors), made.parent) == ((), [], None)
    for index, operand in enumerate(op.operands):
        assert [use.index for use in operand.uses if use.operation is made].count(index) == 1
    assert [(result.op, result.index) for result in made.results] == [(made, n) for n in range(len(types))]
    made.operands = []
    assert all(use.operation is not made for operand in op.operands for use in operand.uses)


@pytest.mark.parametrize("name", ["stablehlo.add", "util.optimization_barrier", "stablehlo.reduce"])
def test_copied_like_cloned(name: str) -> None:
    ops = _ops()
    values: dict[SSAValue, SSAValue] = {ops["stablehlo.add"].results[0]: ops["stablehlo.reduce"].operands[0]}
    other = dict(values)
    op = ops[name]
    copy, clone = copied(op, values), op.clone(other)
    assert copy.is_structurally_equivalent(clone)
    assert copy.location == op.location
    assert [value.name_hint for value in copy.results] == [value.name_hint for value in op.results]
    assert [values[result] for result in op.results] == list(copy.results)
    copy.attributes.clear()
    assert op.attributes == clone.attributes


def test_only_what_nobody_reads_goes() -> None:
    ops = _ops()
    with pytest.raises(ValueError, match=r"a result of stablehlo\.add is still read"):
        erase_unused([ops["stablehlo.add"]])
    operand = ops["stablehlo.reduce"].operands[1]
    erase_unused([ops["stablehlo.reduce"], ops["stablehlo.constant"]])
    assert operand.first_use is None
    assert [op.name for op in ops["func.func"].regions[0].block.ops] == [
        "stablehlo.add",
        "util.optimization_barrier",
        "func.return",
    ]


POINT = SymbolRefAttr("executable", ["variant", "entry"])


def _stream_dispatch(value: SSAValue) -> Operation:
    return stream.CmdDispatchOp(POINT, [value], [], [], [], [], [], [])


def _hal_dispatch(value: SSAValue) -> Operation:
    return hal.CommandBufferDispatchOp(value, value, value, [value, value, value], [], [], [], [])


def _made(value: SSAValue) -> Operation:
    return make(test.TestOp, [value], [], {}, {}, UNKNOWN_LOC)


@pytest.mark.parametrize("build", [_stream_dispatch, _hal_dispatch, _made])
def test_an_implicit_builder_gets_them(build: Callable[[SSAValue], Operation]) -> None:
    block = Block()
    with ImplicitBuilder(block):
        op = build(ConstantOp.index(1).result)
    assert [*block.ops][1:] == [op]
    assert list(op.operands)
