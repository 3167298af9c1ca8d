"""Reductions: reduce, reduce_window, map: the reducer's ops become the scalar body of one `linalg.generic`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tiree.dialects.dense import DenseAttr
from tiree.input.lowering.context import (
    PARALLEL,
    REDUCTION,
    Lowering,
    Size,
    Unsupported,
    identity,
    map_attr,
    ranked_type,
    signless,
    splat_of,
    tensor_type,
)
from tiree.input.lowering.dims import common_sizes, concerns_dynamic, is_dynamic, refine, sizes_of, sizes_of_new
from tiree.input.lowering.dynamic_movement import dynamic_type, pad_value, padded_sizes, window_size
from tiree.input.lowering.elementwise import SCALARS, run_scalar
from tiree.input.lowering.refusals import reason_of
from tiree.input.lowering.scalar import ScalarBuilder, number_attribute
from tiree.input.lowering.structural import broadcast, first_argument, ints_property, new_type, pad_edges, pad_general
from tiree.support.typed import is_tensor_type

_RENAMING = ("stablehlo.reshape", "stablehlo.broadcast_in_dim", "stablehlo.optimization_barrier")
"""Ops that change nothing on rank-0 tensors."""


def body_of(op: Operation, region: int = 0) -> Block:
    block = op.regions[region].blocks.first
    if block is None or block.next_block is not None:
        raise Unsupported("with a body that is not one block")
    return block


def emit_region(lowering: Lowering, s: ScalarBuilder, block: Block, arguments: Sequence[SSAValue]) -> list[SSAValue]:
    """A region of rank-0 tensor ops as scalar ops: `arguments` stand for the block's; returns what it returns."""
    scalars: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))

    def scalar_of(value: SSAValue) -> SSAValue:
        if value in scalars:
            return scalars[value]
        # Captured from outside: a constant, or a rank-0 tensor that is read here.
        attr = lowering.splat(value)
        if attr is not None:
            return s.attribute(attr)
        return s.extract(lowering.get(value), [])

    for op in block.ops:
        if op.name in ("stablehlo.return", "func.return"):
            return [scalar_of(value) for value in op.operands]
        if any(tensor_type(value).get_shape() for value in (*op.operands, *op.results)):
            raise Unsupported(f"with {op.name} on tensors that are not scalars in its body")
        if op.name == "stablehlo.constant":
            value = op.properties["value"]
            type = signless(op.results[0].type)
            dense = DenseAttr(type, value.data) if isinstance(value, DenseAttr) and is_tensor_type(type) else None
            attr = None if dense is None else splat_of(dense)
            if attr is None:
                raise Unsupported("with a constant in its body that is not a scalar")
            scalars[op.results[0]] = s.attribute(attr)
        elif op.name in _RENAMING:
            scalars[op.results[0]] = scalar_of(op.operands[0])
        elif op.name in SCALARS:
            scalars[op.results[0]] = run_scalar(SCALARS[op.name], s, op, [scalar_of(v) for v in op.operands])
        elif op.name == "func.call":
            results = emit_region(lowering, s, lowering.callee(op), [scalar_of(v) for v in op.operands])
            scalars.update(zip(op.results, results, strict=True))
        else:
            _report(lowering, s, op, scalars)
    raise Unsupported("with a body that returns nothing")


def _report(lowering: Lowering, s: ScalarBuilder, op: Operation, scalars: dict[SSAValue, SSAValue]) -> None:
    """Notes that `op` has no scalar form; zeros stand for its results, so that one run reports all such ops."""
    around = op.parent_op()
    assert around is not None
    lowering.unsupported(op, reason_of(op) or f"in the body of {around.name}")
    for result in op.results:
        scalars[result] = s.attribute(number_attribute(signless(tensor_type(result).element_type), 0))


def initial(lowering: Lowering, init: SSAValue, type: TensorType, sizes: Sequence[Size] | None = None) -> SSAValue:
    """A tensor that holds the rank-0 `init` (an old value) everywhere."""
    scalar = lowering.splat(init)
    if scalar is not None:
        return lowering.fill(scalar, type, sizes)
    if sizes is not None:
        repeated = map_attr(len(sizes), ())
        return lowering.parallel([(lowering.get(init), repeated)], type, first_argument, sizes)
    return broadcast(lowering, lowering.get(init), [], type)


def _split(op: Operation) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
    half = len(op.operands) // 2
    return op.operands[:half], op.operands[half:]


def _result_types(op: Operation) -> list[TensorType]:
    types = [signless(ranked_type(result)) for result in op.results]
    return [type for type in types if is_tensor_type(type)]


def _reduce(lowering: Lowering, op: Operation) -> None:
    inputs, inits = _split(op)
    dims = set(ints_property(op, "dimensions"))
    rank = len(ranked_type(inputs[0]).get_shape())
    types = _result_types(op)
    block = body_of(op)
    kept = tuple(d for d in range(rank) if d not in dims)
    sizes: list[Size] | None = None
    if concerns_dynamic(op):
        all_sizes = common_sizes(lowering, op, inputs, TensorType(types[0].element_type, [DYNAMIC_INDEX] * rank))
        sizes = refine(lowering, op, [all_sizes[d] for d in kept], types[0])
    accumulators = [initial(lowering, init, type, sizes) for init, type in zip(inits, types, strict=True)]
    count = len(inputs)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return emit_region(lowering, s, block, [*args[count:], *args[:count]])

    results = lowering.generic(
        [lowering.get(value) for value in inputs],
        accumulators,
        [identity(rank)] * count + [map_attr(rank, kept)] * count,
        [REDUCTION if d in dims else PARALLEL for d in range(rank)],
        body,
    )
    for old, new in zip(op.results, results, strict=True):
        lowering.set(old, new)


def window_map(
    rank: int, strides: Sequence[int], dilations: Sequence[int], windowed: Sequence[int]
) -> tuple[AffineMapAttr, AffineMapAttr, AffineMapAttr, int]:
    """Maps of a window op over `rank` dimensions: of the input, of the window, of the output; and the loop count.

    Loops are the output dimensions, then one for each dimension of `windowed`.
    """
    loops = rank + len(windowed)
    exprs: list[AffineExpr] = []
    for d in range(rank):
        expr: AffineExpr = AffineExpr.dimension(d)
        if strides[d] != 1:
            expr = expr * strides[d]
        if d in windowed:
            inner: AffineExpr = AffineExpr.dimension(rank + windowed.index(d))
            expr = expr + (inner * dilations[d] if dilations[d] != 1 else inner)
        exprs.append(expr)
    return (
        AffineMapAttr(AffineMap(loops, 0, tuple(exprs))),
        map_attr(loops, tuple(range(rank, loops))),
        map_attr(loops, tuple(range(rank))),
        loops,
    )


@dataclass(frozen=True)
class Windows:
    """What is reduced in which windows; `padding` has low and high of each dimension in turn."""

    inputs: Sequence[SSAValue]
    inits: Sequence[SSAValue]
    window: Sequence[Size]
    strides: Sequence[int]
    base: Sequence[int]
    dilations: Sequence[int]
    padding: Sequence[Size]
    block: Block


def windows_of(op: Operation) -> Windows:
    """What a `stablehlo.reduce_window` says."""
    inputs, inits = _split(op)
    rank = len(ranked_type(inputs[0]).get_shape())
    ones = [1] * rank
    return Windows(
        inputs,
        inits,
        ints_property(op, "window_dimensions"),
        ints_property(op, "window_strides", ones),
        ints_property(op, "base_dilations", ones),
        ints_property(op, "window_dilations", ones),
        ints_property(op, "padding", [0] * (2 * rank)),
        body_of(op),
    )


def _reduce_window(lowering: Lowering, op: Operation) -> None:
    reduce_windows(lowering, op, windows_of(op))


def reduce_windows(lowering: Lowering, op: Operation, windows: Windows) -> None:
    """Sets the results of `op`."""
    inputs, inits, padding = windows.inputs, windows.inits, windows.padding
    rank = len(ranked_type(inputs[0]).get_shape())
    types = _result_types(op)
    if 0 in types[0].get_shape():
        # A window that fits nowhere would read beyond its input.
        for old, type in zip(op.results, types, strict=True):
            lowering.set(old, lowering.empty(type))
        return
    padded = [
        pad_with(lowering, op, (value, init), padding[0::2], padding[1::2], [b - 1 for b in windows.base])
        for value, init in zip(inputs, inits, strict=True)
    ]
    window = windows.window
    sizes: list[Size] | None = None
    if concerns_dynamic(op) or is_dynamic(padded[0].type) or not all(isinstance(size, int) for size in window):
        common_sizes(lowering, op, inputs, TensorType(types[0].element_type, [DYNAMIC_INDEX] * rank))
        given = sizes_of_new(lowering, padded[0])
        sizes = [
            window_size(lowering, *args) for args in zip(given, window, windows.strides, windows.dilations, strict=True)
        ]
        sizes = refine(lowering, op, sizes, types[0])
    accumulators = [initial(lowering, init, type, sizes) for init, type in zip(inits, types, strict=True)]
    windowed = [d for d in range(rank) if window[d] != 1]
    input_map, window_shape_map, output_map, loops = window_map(rank, windows.strides, windows.dilations, windowed)
    count = len(inputs)
    # The extents of the window loops come from an operand of their own, as in linalg's pooling ops.
    extents = [window[d] for d in windowed]
    shape = lowering.empty(dynamic_type(types[0].element_type, extents), extents)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return emit_region(lowering, s, windows.block, [*args[count + 1 :], *args[:count]])

    results = lowering.generic(
        [*padded, shape],
        accumulators,
        [input_map] * count + [window_shape_map] + [output_map] * count,
        [PARALLEL] * rank + [REDUCTION] * (loops - rank),
        body,
    )
    for old, new in zip(op.results, results, strict=True):
        lowering.set(old, new)


def pad_with(
    lowering: Lowering,
    op: Operation,
    pair: tuple[SSAValue, SSAValue],
    low: Sequence[Size],
    high: Sequence[Size],
    interior: Sequence[int],
) -> SSAValue:
    """The old value of `pair` padded with its other, an old rank-0 value."""
    value, init = pair
    new = lowering.get(value)
    if all(amount == 0 for amount in (*low, *high, *interior)):
        return new
    numbers = [[amount for amount in amounts if isinstance(amount, int)] for amounts in (low, high)]
    if is_dynamic(value.type) or any(len(amounts) != len(interior) for amounts in numbers):
        given = sizes_of(lowering, value)
        made = padded_sizes(lowering, op, given, low, high, interior)
        element = signless(ranked_type(value).element_type)
        return pad_value(lowering, (new, given), lowering.get(init), low, interior, (dynamic_type(element, made), made))
    fill = lowering.splat(init)
    if fill is not None and not any(interior):
        return pad_edges(lowering, new, fill, *numbers)
    type = signless(tensor_type(value))
    assert is_tensor_type(type)
    given = zip(numbers[0], type.get_shape(), numbers[1], interior, strict=True)
    padded = TensorType(type.element_type, [a + max(0, s + (s - 1) * i) + b for a, s, b, i in given])
    return pad_general(lowering, new, lowering.get(init), numbers[0], interior, padded)


def _map(lowering: Lowering, op: Operation) -> None:
    type = new_type(op)
    rank = len(type.get_shape())
    block = body_of(op)
    sizes = common_sizes(lowering, op, op.operands, op.results[0].type) if concerns_dynamic(op) else None
    lowering.set(
        op.results[0],
        lowering.parallel(
            [(lowering.get(value), identity(rank)) for value in op.operands],
            type,
            lambda s, args: emit_region(lowering, s, block, args)[0],
            sizes,
        ),
    )


HANDLERS = {
    "stablehlo.reduce": _reduce,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.map": _map,
}
