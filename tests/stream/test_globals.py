"""Tensors in globals keep their values between calls, on every runtime and through either compiler's later phases.

What a global holds is never written in place: a result that shares memory with it, and is updated later, leaves it as
it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from tiree.dialects import get_context, print_module, read_module
from tiree.pipeline import run_pipeline
from tiree.support.options import CompileOptions

pytestmark = iree.needs_iree

PROGRAM = """
module @counter {
  util.global private mutable @state = dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  util.global private mutable @half = dense<1.5> : tensor<2xf16>
  util.global private @weights = dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf32>
  util.global private mutable @count = 0 : i32
  func.func @step(%a: tensor<4xf32>) -> tensor<4xf32> {
    %s = util.global.load @state : tensor<4xf32>
    %w = util.global.load @weights : tensor<4xf32>
    %r = arith.addf %s, %a : tensor<4xf32>
    %q = arith.addf %r, %w : tensor<4xf32>
    util.global.store %r, @state : tensor<4xf32>
    return %q : tensor<4xf32>
  }
  func.func @get() -> (tensor<4xf32>, tensor<2xf16>) {
    %s = util.global.load @state : tensor<4xf32>
    %h = util.global.load @half : tensor<2xf16>
    return %s, %h : tensor<4xf32>, tensor<2xf16>
  }
  func.func @patch(%x: tensor<1xf32>) -> tensor<4xf32> {
    %s = util.global.load @state : tensor<4xf32>
    %r = tensor.insert_slice %x into %s[1] [1] [1] : tensor<1xf32> into tensor<4xf32>
    util.global.store %r, @state : tensor<4xf32>
    %q = tensor.insert_slice %x into %r[2] [1] [1] : tensor<1xf32> into tensor<4xf32>
    return %q : tensor<4xf32>
  }
  func.func @tick() -> i32 {
    %1 = arith.constant 1 : i32
    %c = util.global.load @count : i32
    %n = arith.addi %c, %1 : i32
    util.global.store %n, @count : i32
    return %n : i32
  }
}
"""


def play(call: Callable[..., Any]) -> list[list[float]]:
    """What a fixed series of calls returns."""
    ones = np.ones(4, np.float32)
    calls: Sequence[tuple[str, tuple[Any, ...]]] = (
        ("step", (ones,)),
        ("step", (ones,)),
        ("patch", (np.array([9], np.float32),)),
        ("step", (ones,)),
    )
    found = [np.asarray(call(name, *inputs)).tolist() for name, inputs in calls]
    state, half = call("get")
    return [*found, np.asarray(state).tolist(), np.asarray(half).tolist(), [call("tick"), call("tick")]]


EXPECTED = [
    [11, 22, 33, 44],
    [12, 23, 34, 45],
    [2, 9, 9, 5],
    [13, 30, 35, 46],
    [3, 10, 5, 6],
    [1.5, 1.5],
    [1, 2],
]


def by_tiree(module: bytes, device: str) -> Callable[..., Any]:
    loaded = rt.load(module, device=device)
    return lambda name, *inputs: getattr(loaded, name)(*inputs)


def by_iree(module: bytes, device: str) -> Callable[..., Any]:
    import iree.runtime as reference

    context = reference.SystemContext(config=reference.Config(device))
    loaded = reference.VmModule.copy_buffer(context.instance, module)
    context.add_vm_module(loaded)
    functions = context.modules[loaded.name]
    return lambda name, *inputs: functions[name](*inputs)


@pytest.mark.parametrize("device", ["local-sync", "local-task"])
@pytest.mark.parametrize("runtime", [by_tiree, by_iree])
def test_values_stay(runtime: Callable[[bytes, str], Callable[..., Any]], device: str) -> None:
    assert play(runtime(tiree.compile(PROGRAM), device)) == EXPECTED


@pytest.mark.parametrize("phase", ["flow", "stream", "hal"])
def test_iree_carries_them_on(phase: str) -> None:
    module = read_module(PROGRAM.encode(), get_context(), "globals.mlir")
    text = print_module(run_pipeline(module, CompileOptions(), "start", phase), generic=True)
    assert play(by_iree(iree.compile_text(text, compile_from=phase), "local-sync")) == EXPECTED
