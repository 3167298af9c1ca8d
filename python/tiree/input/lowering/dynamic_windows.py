"""JAX's call for a window reduction whose window or padding is known when the program runs.

Operands: the inputs, their initial values, then the five lists of `reduce_window` as tensors. Strides and dilations
must be constants: they are part of how a kernel reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tiree.input.lowering.context import Lowering, Size, Unsupported
from tiree.input.lowering.reduce import Windows, reduce_windows
from tiree.input.lowering.scalar import inherent
from tiree.input.lowering.shape_values import integers_of
from tiree.support.typed import is_array_attr


def _constants(sizes: Sequence[Size], what: str) -> list[int]:
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) != len(sizes):
        raise Unsupported(f"to target 'stablehlo.dynamic_reduce_window' with {what} that are not constant")
    return known


def dynamic_reduce_window(lowering: Lowering, op: Operation) -> None:
    """Lowers the call as the `reduce_window` that it stands for."""
    count = len(op.results)
    called = inherent(op, "called_computations")
    if len(op.operands) != 2 * count + 5 or not is_array_attr(called) or len(called.data) != 1:
        raise Unsupported("to target 'stablehlo.dynamic_reduce_window' of another form")
    window, strides, base, dilations, padding = (integers_of(lowering, value) for value in op.operands[2 * count :])
    windows = Windows(
        op.operands[:count],
        op.operands[count : 2 * count],
        window,
        _constants(strides, "strides"),
        _constants(base, "dilations"),
        _constants(dilations, "dilations"),
        padding,
        lowering.callee(op, "called_computations"),
    )
    reduce_windows(lowering, op, windows)
