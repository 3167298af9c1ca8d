"""Integers of fewer than 32 bits as results: each has the value of its own bits, whoever compiled the module."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import iree_module, tiree_module

DOUBLES = """
func.func @i8(%a: i8) -> i8 { %r = arith.addi %a, %a : i8  return %r : i8 }
func.func @i16(%a: i16) -> i16 { %r = arith.addi %a, %a : i16  return %r : i16 }
func.func @i32(%a: i32) -> i32 { %r = arith.addi %a, %a : i32  return %r : i32 }
func.func @i1(%a: i1) -> (i1, i8) {
  %t = arith.constant true
  %c = arith.constant -1 : i8
  %r = arith.xori %a, %t : i1
  return %r, %c : i1, i8
}
"""


def waited(invocation: rt.Invocation):
    invocation.wait()
    return invocation.results()


@pytest.mark.parametrize("compiled", [iree_module, tiree_module])
@pytest.mark.parametrize("how", ["call", "begin"])
def test_values(compiled: Callable[[str], bytes], how: str):
    config = rt.Config("local-sync")
    module = rt.load_vm_module(rt.VmModule.copy_buffer(config.vm_instance, compiled(DOUBLES)), config)

    def call(name: str, value: int):
        function = module[name]
        return function(value) if how == "call" else waited(function.begin(value))

    with np.errstate(over="ignore"):
        for value in (0, 1, -1, 63, 64, 100, 127, -128, -65):
            assert call("i8", value) == np.int8(value) + np.int8(value)
        for value in (0, -1, 2**14, 2**15 - 1, -(2**15)):
            assert call("i16", value) == np.int16(value) + np.int16(value)
    assert call("i32", -(2**30) - 1) == 2**31 - 2
    assert (call("i1", 1), call("i1", 0)) == ((0, -1), (1, -1))
