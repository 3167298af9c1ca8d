"""Values are used where they are defined."""

from __future__ import annotations

import pytest
from tiree.dialects import get_context, read_module
from tiree.pipeline import verify_module
from tiree.support.errors import CompileError


def check(body: str) -> None:
    text = f"func.func @f(%p: i1, %a: f32) -> f32 {{\n{body}\n}}\n"
    verify_module(read_module(text, get_context()))


CYCLE = """  %0 = arith.addf %late, %a : f32
  %late = arith.addf %0, %a : f32
  return %0 : f32"""
ITSELF = "  %0 = arith.addf %0, %a : f32\n  return %0 : f32"
OTHER_BRANCH = """  %0 = scf.if %p -> (f32) {
    %2 = arith.addf %1, %a : f32
    scf.yield %2 : f32
  } else {
    %1 = arith.addf %a, %a : f32
    scf.yield %1 : f32
  }
  return %0 : f32"""
OWN_REGION = """  %0 = scf.if %p -> (f32) {
    scf.yield %0 : f32
  } else {
    scf.yield %a : f32
  }
  return %0 : f32"""
OTHER_PATH = """  cf.cond_br %p, ^one, ^two
^one:
  %1 = arith.addf %a, %a : f32
  cf.br ^three
^two:
  cf.br ^three
^three:
  return %1 : f32"""
UNREACHABLE = """  return %a : f32
^dead:
  %1 = arith.addf %2, %a : f32
  %2 = arith.addf %1, %a : f32
  cf.br ^dead"""
LATER_IN_THE_TEXT = """  cf.br ^two
^one:
  return %1 : f32
^two:
  %1 = arith.addf %a, %a : f32
  cf.cond_br %p, ^one, ^two"""
BRANCHES = """  %0 = arith.addf %a, %a : f32
  cf.cond_br %p, ^one, ^two
^one:
  %1 = arith.addf %0, %a : f32
  cf.br ^three(%1 : f32)
^two:
  cf.br ^three(%0 : f32)
^three(%r: f32):
  %2 = scf.if %p -> (f32) {
    %3 = arith.addf %r, %0 : f32
    scf.yield %3 : f32
  } else {
    scf.yield %a : f32
  }
  return %2 : f32"""


@pytest.mark.parametrize("body", [CYCLE, ITSELF, OTHER_BRANCH, OWN_REGION, OTHER_PATH])
def test_undefined_uses_are_reported(body: str) -> None:
    with pytest.raises(
        CompileError, match=r"uses (%\w+|a value of type f32) where it is not visible, .* at <input>:\d"
    ) as caught:
        check(body)
    assert caught.value.diagnostics[0].location != "<unknown>"


@pytest.mark.parametrize("body", [BRANCHES, UNREACHABLE, LATER_IN_THE_TEXT])
def test_enclosing_and_earlier_values_may_be_used(body: str) -> None:
    check(body)
