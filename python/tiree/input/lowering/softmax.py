"""softmax: the row's maximum, the exponentials of the distances to it, their sum, and the quotients."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Operation, SSAValue

from tiree.input.lowering.context import PARALLEL, REDUCTION, Lowering, Unsupported, identity, map_attr, tensor_type
from tiree.input.lowering.scalar import scalar_attribute
from tiree.input.lowering.structural import int_property


def fold_rows(emit: Lowering, value: SSAValue, dims: Sequence[int], start: SSAValue, op: type[Operation]) -> SSAValue:
    """`value` combined by `op` over the dimensions `dims`, from `start` on."""
    rank = len(tensor_type(value).get_shape())
    kept = tuple(d for d in range(rank) if d not in dims)
    return emit.generic(
        [value],
        [start],
        [identity(rank), map_attr(rank, kept)],
        [REDUCTION if d in dims else PARALLEL for d in range(rank)],
        lambda s, args: [s.binary(op, args[1], args[0])],
    )[0]


def powers_from(
    emit: Lowering,
    value: SSAValue,
    dims: Sequence[int],
    largest: SSAValue,
    exp: type[math.ExpOp | math.Exp2Op] = math.ExpOp,
) -> SSAValue:
    """The power of value - largest, where `largest` lacks the dimensions `dims`."""
    type = tensor_type(value)
    rank = len(type.get_shape())
    over = map_attr(rank, tuple(d for d in range(rank) if d not in dims))
    return emit.parallel(
        [(value, identity(rank)), (largest, over)],
        type,
        lambda s, args: s.unary(exp, s.sub(args[0], args[1])),
    )


def softmax(emit: Lowering, source: SSAValue, dims: Sequence[int]) -> SSAValue:
    """The softmax of `source` over the dimensions `dims`."""
    type = tensor_type(source)
    element = type.element_type
    if not isinstance(element, AnyFloat):
        raise Unsupported(f"on {type}; floats are needed")
    rank = len(type.get_shape())
    kept = tuple(d for d in range(rank) if d not in dims)
    small = TensorType(element, [type.get_shape()[d] for d in kept])
    lowest = emit.fill(scalar_attribute(element, -float("inf")), small)
    powers = powers_from(emit, source, dims, fold_rows(emit, source, dims, lowest, arith.MaximumfOp))
    total = fold_rows(emit, powers, dims, emit.fill(scalar_attribute(element, 0.0), small), arith.AddfOp)
    over = map_attr(rank, kept)
    return emit.parallel([(powers, identity(rank)), (total, over)], type, lambda s, args: s.div(args[0], args[1]))


def lower_softmax(emit: Lowering, op: Operation) -> Sequence[SSAValue]:
    return [softmax(emit, op.operands[0], [int_property(op, "dimension")])]
