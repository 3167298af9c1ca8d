"""The util dialect's custom syntax against iree-opt, and its constructors."""

from __future__ import annotations

import pytest
from dialects.iree_opt import generic_by_iree
from tiree.dialects import print_module, read_module, util
from tiree.support.errors import CompileError
from xdsl.dialects.builtin import FunctionType, IntegerAttr, i32

TEXT = """
module {
  util.global private mutable @a = dense<1.0> : tensor<4xf32>
  util.global public @b {foo = 1 : i32} = 4 : i32
  util.global private @c : tensor<4xf32>
  util.global private @d = #util.uninitialized : tensor<4xf32>
  util.global private @e : !util.buffer
  util.func private @ext(tensor<4xf32>) -> tensor<4xf32>
  util.func private @f(%x: tensor<4xf32> {a.b = 1 : i32}, %y: i32) -> (%x {c.d}, i32)
      attributes {inlining_policy = #util.inline.never, x.y = 4 : i32} {
    %g = util.global.address @a : !util.ptr<tensor<4xf32>>
    %v = util.global.load.indirect %g : !util.ptr<tensor<4xf32>> -> tensor<4xf32>
    %i = util.global.load immutable @c : tensor<4xf32>
    util.global.store %v, @a : tensor<4xf32>
    %0:2 = util.call @f(%v, %y) : (tensor<4xf32>, i32) -> (%v, i32)
    %l = util.optimization_barrier %0#0 : tensor<4xf32>
    %n = util.null : !util.buffer
    %q = util.cmp.eq %n, %n : !util.buffer
    util.status.check_ok %y, "went wrong"
    util.return %l, %y : tensor<4xf32>, i32
  }
  util.initializer {
    %0 = util.buffer.constant "name" {alignment = 64 : index, mime_type = "text/plain"} : !util.buffer = dense<[1, 2]> : tensor<2xi8>
    util.global.store %0, @e : !util.buffer
    util.return
  }
}
"""  # noqa: E501


def test_custom_syntax_means_what_iree_opt_reads() -> None:
    # IREE's own syntax for the two inherent attributes of a buffer constant differs between its printer and parser.
    text = TEXT.replace(' {alignment = 64 : index, mime_type = "text/plain"}', "")
    module = read_module(text)
    module.verify()
    # IREE's reader writes the list of tied operands out even if there are none.
    theirs = generic_by_iree(text).replace(", tied_operands = [-1 : index]", "")
    assert generic_by_iree(print_module(module)).splitlines() == theirs.splitlines()


def test_custom_syntax_is_read_back() -> None:
    module = read_module(TEXT)
    text = print_module(module, generic=False)
    assert print_module(read_module(text)) == print_module(module)
    assert "-> (%arg0 {c.d}, i32)" in text or "{c.d}, i32)" in text


def test_composite_constants_are_read_as_iree_prints_them() -> None:
    text = """
    util.initializer {
      %0 = util.buffer.constant <alignment = 64> : !util.buffer = #util.composite<16xi8, [
        dense<[1.0, 2.0]> : tensor<2xf32>,
        dense<0> : tensor<8xi8>,
    ]>
      util.return
    }
    """
    module = read_module(text)
    constant = next(op for op in module.walk() if isinstance(op, util.BufferConstantOp))
    assert isinstance(constant.value, util.CompositeAttr)
    assert constant.value.size.value.data == 16
    assert len(constant.value.values) == 2
    assert constant.alignment is not None
    assert generic_by_iree(print_module(module)).count("util.composite") == 1


def test_constructors() -> None:
    type = FunctionType.from_lists([i32], [i32])
    public, private = util.FuncOp("f", type), util.FuncOp("g", type, visibility="private")
    assert public.is_public
    assert not public.is_external
    assert private.is_external
    assert not private.is_public
    variable = util.GlobalOp("v", i32, IntegerAttr(1, i32), mutable=True)
    assert "util.global private mutable @v = 1 : i32" in str(variable)
    load = util.GlobalLoadOp("v", i32, immutable=True)
    assert load.properties["is_immutable"] is not None
    util.CmpEQOp(load, load).verify()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("util.global private @a", "a global needs a type"),
        ("util.func @f(%x: i32) -> %z { util.return %x : i32 }", "a tied result must name an argument"),
        ("util.func @f(%x: i32, f32) { util.return }", "either all arguments have names or none has"),
    ],
)
def test_errors(line: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        read_module(line + "\n")
    assert message in str(caught.value)
