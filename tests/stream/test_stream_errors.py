"""Programs that cannot be scheduled: the message names the operation and says what to do."""

import pytest
from tiree.stream import stream_passes
from tiree.support.errors import CompileError
from tiree.support.options import CompileOptions

from tests.stream.flow_kernels import BUMP4, FlowProgram
from tests.stream.stream_harness import apply, read


def fails(host: str, kernels: tuple[str, ...] = ()) -> str:
    text = FlowProgram("bad", kernels, host, (), lambda: ()).text
    with pytest.raises(CompileError) as error:
        apply(read(text), stream_passes(CompileOptions()))
    return str(error.value)


def test_part_of_a_dynamic_shape() -> None:
    message = fails(
        """util.func public @main(%a: !hal.buffer_view, %d: index) -> f32 {
  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<?xf32>{%d}
  %1 = flow.tensor.load %0[%d] : tensor<?xf32>{%d}
  util.return %1 : f32
}"""
    )
    assert "tensor<?xf32>" in message
    assert "give it static sizes" in message


def test_tensor_operation_without_a_kernel() -> None:
    message = fails(
        """util.func public @main(%a: !hal.buffer_view) -> !hal.buffer_view {
  %0 = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %s = arith.negf %0 : tensor<4xf32>
  %1 = hal.tensor.export %s "o" : tensor<4xf32> -> !hal.buffer_view
  util.return %1 : !hal.buffer_view
}"""
    )
    assert "arith.negf" in message
    assert "move it into a dispatch" in message


def test_unused_executable_is_dropped() -> None:
    text = FlowProgram("empty", (BUMP4,), "util.func public @main() { util.return }", (), lambda: ()).text
    module = apply(read(text), stream_passes(CompileOptions()))
    assert not [op for op in module.ops if op.name == "stream.executable"]
