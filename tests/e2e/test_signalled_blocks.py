"""Functions that signal their caller's fence in one block and read a number of the device in another.

Only what a block itself gave to the fence needs no wait there.
"""

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

# The product takes long enough for a read without a wait to come first.
BLOCKS = """
func.func @main(%early: i1, %x: tensor<384x384xf32>) -> tensor<f32> {
  cf.cond_br %early, ^first, ^second
^first:
  %a = stablehlo.slice %x [0:1, 0:1] : (tensor<384x384xf32>) -> tensor<1x1xf32>
  %b = stablehlo.reshape %a : (tensor<1x1xf32>) -> tensor<f32>
  return %b : tensor<f32>
^second:
  %p = stablehlo.dot %x, %x : (tensor<384x384xf32>, tensor<384x384xf32>) -> tensor<384x384xf32>
  %q = stablehlo.dot %p, %x : (tensor<384x384xf32>, tensor<384x384xf32>) -> tensor<384x384xf32>
  %zero = arith.constant 0 : index
  %element = tensor.extract %q[%zero, %zero] : tensor<384x384xf32>
  %limit = arith.constant 1.0 : f32
  %large = arith.cmpf ogt, %element, %limit : f32
  cf.cond_br %large, ^third, ^fourth
^third:
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  return %c : tensor<f32>
^fourth:
  %d = stablehlo.constant dense<-1.0> : tensor<f32>
  return %d : tensor<f32>
}
"""


@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_a_block_waits_though_another_signals(device: str) -> None:
    module = rt.load(tiree.compile(BLOCKS, flags=["--iree-execution-model=async-external"]), device=device)
    for sign in (1.0, -1.0) * 8:
        x = np.full((384, 384), sign, np.float32)
        assert float(module.main(False, x)) == sign
        assert float(module.main(True, x)) == sign


def test_what_was_signalled_is_read_after_a_wait() -> None:
    text = """
util.func public @main(%view: !hal.buffer_view, %wait: !hal.fence, %signal: !hal.fence) -> (!hal.buffer_view, f32) {
  %x = hal.tensor.import wait(%wait) => %view : !hal.buffer_view -> tensor<64xf32>
  %y = stablehlo.add %x, %x : tensor<64xf32>
  %r = hal.tensor.barrier join(%y : tensor<64xf32>) => %signal : !hal.fence
  %zero = arith.constant 0 : index
  %element = tensor.extract %r[%zero] : tensor<64xf32>
  %o = hal.tensor.export %r : tensor<64xf32> -> !hal.buffer_view
  util.return %o, %element : !hal.buffer_view, f32
}"""
    scheduled = tiree.compile(text, flags=["--compile-to=stream"]).decode()
    assert scheduled.index("stream.timepoint.await") < scheduled.index("stream.resource.load")
