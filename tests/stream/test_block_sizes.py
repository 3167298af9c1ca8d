"""The size of a tensor that arrived in a block, said by readers in two blocks of which neither sees the other."""

from tiree.stream import stream_passes
from tiree.support.dominance import undefined_use
from tiree.support.options import CompileOptions

from tests.stream.flow_kernels import FlowProgram
from tests.stream.stream_harness import apply, read

SIBLINGS = """
util.func public @main(%c: i1, %n: i1, %x: !hal.buffer_view, %y: !hal.buffer_view) -> !hal.buffer_view {
  %xd = hal.buffer_view.dim<%x : !hal.buffer_view>[0] : index
  %yd = hal.buffer_view.dim<%y : !hal.buffer_view>[0] : index
  %xt = hal.tensor.import %x "x" : !hal.buffer_view -> tensor<?xf32>{%xd}
  %yt = hal.tensor.import %y "y" : !hal.buffer_view -> tensor<?xf32>{%yd}
  cf.cond_br %c, ^a(%xt : tensor<?xf32>), ^a(%yt : tensor<?xf32>)
^a(%t: tensor<?xf32>):
  cf.cond_br %n, ^b, ^c
^b:
  %bd = hal.buffer_view.dim<%x : !hal.buffer_view>[0] : index
  %b0 = flow.tensor.clone %t : tensor<?xf32>{%bd}
  %b1 = hal.tensor.export %b0 "o" : tensor<?xf32>{%bd} -> !hal.buffer_view
  util.return %b1 : !hal.buffer_view
^c:
  %cd = hal.buffer_view.dim<%y : !hal.buffer_view>[0] : index
  %c0 = flow.tensor.clone %t : tensor<?xf32>{%cd}
  %c1 = hal.tensor.export %c0 "o" : tensor<?xf32>{%cd} -> !hal.buffer_view
  util.return %c1 : !hal.buffer_view
}
"""


def test_sizes_are_those_of_the_block() -> None:
    module = read(FlowProgram("siblings", (), SIBLINGS, (), lambda: ()).text)
    assert undefined_use(module) is None
    apply(module, stream_passes(CompileOptions()))
    assert undefined_use(module) is None
