"""Compiled programs that call functions of other modules, by both compilers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from numpy.typing import NDArray
from runtime.modules import iree_module, tiree_module


class Host(rt.PythonModule, name="host"):
    """Notes what it is called with."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def note(self, value: rt.i32) -> rt.i32:
        self.calls.append(value)
        return value + 1

    def silent(self) -> None:
        self.calls.append("silent")

    def scaled(self, factor: rt.f32, x: NDArray[np.float32]) -> NDArray[np.float32]:
        self.calls.append(x.copy())
        return x * np.float32(factor)

    def parts(self, x: NDArray[np.float32], k: rt.i64) -> tuple[NDArray[np.float32], rt.f64, NDArray[np.int32]]:
        return x[: int(k)], float(x.sum()), np.arange(int(k), dtype=np.int32)

    async def slow(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        import asyncio

        await asyncio.sleep(0.001)
        return x + np.float32(1)


PROGRAM = """
module @program {
  func.func private @host.note(%value: i32) -> i32
  func.func private @host.silent()
  func.func private @host.scaled(%factor: f32, %x: tensor<4xf32>) -> tensor<4xf32>
  func.func private @host.slow(%x: tensor<4xf32>) -> tensor<4xf32>
  func.func private @host.parts(%x: tensor<?xf32>, %k: i64) -> (tensor<?xf32>, f64, tensor<?xi32>)
  func.func private @host.absent(%x: i32) -> i32

  func.func @numbers(%a: i32) -> i32 {
    %0 = call @host.note(%a) : (i32) -> i32
    %1 = call @host.note(%0) : (i32) -> i32
    return %1 : i32
  }
  func.func @effects(%a: i32) {
    %0 = call @host.note(%a) : (i32) -> i32
    call @host.silent() : () -> ()
    %1 = call @host.note(%a) : (i32) -> i32
    return
  }
  func.func @loop(%n: index) -> i32 {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %start = arith.constant 10 : i32
    %end = scf.for %i = %zero to %n step %one iter_args(%a = %start) -> i32 {
      %0 = func.call @host.note(%a) : (i32) -> i32
      scf.yield %0 : i32
    }
    return %end : i32
  }
  func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
    %f = arith.constant 3.0 : f32
    %y = arith.addf %x, %x : tensor<4xf32>
    %0 = call @host.scaled(%f, %y) : (f32, tensor<4xf32>) -> tensor<4xf32>
    %1 = arith.addf %0, %x : tensor<4xf32>
    %2 = call @host.scaled(%f, %1) : (f32, tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  func.func @suspended(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = arith.addf %x, %x : tensor<4xf32>
    %0 = call @host.slow(%y) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = arith.mulf %0, %x : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
"""

DYNAMIC = """
module @dynamic {
  func.func private @host.parts(%x: tensor<?xf32>, %k: i64) -> (tensor<?xf32>, f64, tensor<?xi32>)
  func.func @dynamic(%x: tensor<?xf32>, %k: i64) -> (tensor<?xf32>, f64, tensor<?xi32>) {
    %y = arith.addf %x, %x : tensor<?xf32>
    %0:3 = call @host.parts(%y, %k) : (tensor<?xf32>, i64) -> (tensor<?xf32>, f64, tensor<?xi32>)
    %1 = arith.addf %0#0, %0#0 : tensor<?xf32>
    return %1, %0#1, %0#2 : tensor<?xf32>, f64, tensor<?xi32>
  }
}
"""

SCALED = """
module @scaled {
  func.func private @host.scaled(%factor: f32, %x: tensor<4xf32>) -> tensor<4xf32>
  func.func @run(%x: tensor<4xf32>) -> tensor<4xf32> {
    %f = arith.constant 3.0 : f32
    %0 = call @host.scaled(%f, %x) : (f32, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


class Bound:
    """A program beside the host module."""

    def __init__(self, device: rt.HalDevice, compiled: bytes) -> None:
        self.host = Host()
        modules = [Host.create(lambda: self.host), rt.VmModule.copy_buffer(rt.VmInstance(), compiled)]
        self.program = rt.load_vm_modules(*modules, config=rt.Config(device=device))[1]


COMPILERS = pytest.mark.parametrize("compiler", [iree_module, tiree_module])
Compiler = Callable[[str], bytes]
X = np.arange(4, dtype=np.float32)


@COMPILERS
def test_calls(device: rt.HalDevice, compiler: Compiler):
    bound = Bound(device, compiler(PROGRAM))
    assert bound.program.numbers(4) == 6
    assert bound.host.calls == [4, 5]
    bound.host.calls.clear()
    # Every call happens, once and in order, whether or not its results are used.
    bound.program.effects(7)
    assert bound.host.calls == [7, "silent", 7]
    bound.host.calls.clear()
    assert bound.program.loop(3) == 13
    assert bound.host.calls == [10, 11, 12]
    bound.host.calls.clear()
    assert np.array_equal(bound.program.tensors(X), 21 * X)
    assert [list(call) for call in bound.host.calls] == [list(2 * X), list(7 * X)]
    assert np.array_equal(bound.program.suspended(X), (2 * X + 1) * X)


@COMPILERS
def test_dynamic_shapes(device: rt.HalDevice, compiler: Compiler):
    bound = Bound(device, compiler(DYNAMIC))
    head, total, numbers = bound.program.dynamic(X, 2)
    assert np.array_equal(head, [0, 4])
    assert total == 12.0
    assert np.array_equal(numbers, [0, 1])


def test_results_of_another_type(device: rt.HalDevice):
    """IREE's compiler lets them through."""

    class Wrong(rt.PythonModule, name="host"):
        def scaled(self, factor: rt.f32, x: np.ndarray) -> np.ndarray:
            return np.zeros(int(factor) + x.size, np.float32)

    compiled = rt.VmModule.copy_buffer(rt.VmInstance(), tiree_module(SCALED))
    program = rt.load_vm_modules(Wrong.create(), compiled, config=rt.Config(device=device))[1]
    with pytest.raises(ValueError, match=r"shape|size"):
        program.run(X)


def test_a_module_that_is_not_there(device: rt.HalDevice):
    compiled = rt.VmModule.copy_buffer(rt.VmInstance(), tiree_module(PROGRAM))
    with pytest.raises(ValueError, match="required module 'host' not registered with the context"):
        rt.load_vm_modules(compiled, config=rt.Config(device=device))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func private @f(%x: i32) -> i32", "a function of another module is declared as @module.function"),
        ("func.func private @m.f(%x: tensor<*xf32>) -> i32", "argument 1 of @m.f has an unranked tensor"),
        ("func.func private @m.f(%x: i32) -> i77", "result 1 of @m.f has"),
    ],
)
def test_declarations_that_are_refused(text: str, message: str):
    name = text[text.index("@") : text.index("(")]
    argument, result = text[text.index("x: ") + 3 : text.index(")")], text[text.rindex(" ") + 1 :]
    caller = f"func.func @g(%x: {argument}) {{\n  %0 = call {name}(%x) : ({argument}) -> {result}\n  return\n}}"
    with pytest.raises(tiree.CompileError, match=message):
        tiree.compile(f"{text}\n{caller}")
