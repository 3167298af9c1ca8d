"""Operations made without xDSL's constructor are found where those of the constructor are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tiree.dialects import hal, stream
from tiree.dialects.arith import ConstantOp
from tiree.support.creation import make
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import test
from xdsl.dialects.builtin import UNKNOWN_LOC, SymbolRefAttr
from xdsl.ir import Block, Operation, SSAValue

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
