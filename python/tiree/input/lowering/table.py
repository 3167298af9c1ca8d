"""All handlers: `HANDLERS[op name](lowering, op)`."""

from __future__ import annotations

from tiree.input.factorizations import cholesky, cumulative, custom_calls, fft, triangular
from tiree.input.lowering import (
    assumptions,
    bitcast,
    contraction,
    control_flow,
    convolution,
    elementwise,
    expand,
    gather,
    reduce,
    scatter,
    select_and_scatter,
    sort,
    structural,
)

HANDLERS = {
    **elementwise.HANDLERS,
    **bitcast.HANDLERS,
    **structural.HANDLERS,
    **reduce.HANDLERS,
    **contraction.HANDLERS,
    **convolution.HANDLERS,
    **gather.HANDLERS,
    **scatter.HANDLERS,
    **select_and_scatter.HANDLERS,
    **sort.HANDLERS,
    **control_flow.HANDLERS,
    **expand.HANDLERS,
    **fft.HANDLERS,
    **triangular.HANDLERS,
    **cholesky.HANDLERS,
    **cumulative.HANDLERS,
    **custom_calls.HANDLERS,
    **assumptions.HANDLERS,
}
