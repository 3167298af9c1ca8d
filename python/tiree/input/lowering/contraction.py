"""Contractions: dot_general and dot as one `linalg.generic` of multiply and add.

Loops are batch, left free, right free, contracted. Operands are extended to the accumulator's type in the body;
results of 16-bit floats accumulate in f32 and are rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, AnyFloat, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects.stablehlo_attrs import DotDimensionNumbers, DotDimensionNumbersAttr
from tiree.input.lowering.complex_contraction import Operand, contract_complex
from tiree.input.lowering.context import (
    PARALLEL,
    REDUCTION,
    Lowering,
    Size,
    Unsupported,
    identity,
    map_attr,
    ranked_type,
)
from tiree.input.lowering.dims import refine, require_equal, sizes_of
from tiree.input.lowering.scalar import ScalarBuilder, inherent, scalar_attribute, widened
from tiree.input.lowering.scalar_ops import convert, is_bool
from tiree.input.lowering.structural import new_type
from tiree.support.typed import is_complex_type


def accumulator_type(element: Attribute) -> Attribute:
    """The type in which products of result type `element` are summed."""
    if not isinstance(element, (AnyFloat, IntegerType)):
        raise Unsupported(f"on elements of type {element}")
    return widened(element)


def multiply_add(
    lowering: Lowering,
    operands: Sequence[tuple[SSAValue, Attribute, AffineMapAttr]],
    output_map: AffineMapAttr,
    parallel: int,
    loops: int,
    type: TensorType,
    sizes: Sequence[Size] | None = None,
) -> SSAValue:
    """`out += lhs * rhs` from zero over `loops` loops, the first `parallel` of which index the output.

    `operands` are the new values with their old element types, which say how integers are extended; `type` has the
    result's element type.
    """
    if is_complex_type(type.element_type):

        def real(parts: Sequence[Operand], part: TensorType) -> SSAValue:
            return multiply_add(lowering, parts, output_map, parallel, loops, part, sizes)

        return contract_complex(lowering, operands, output_map, parallel, loops, type, sizes, real)
    wide = accumulator_type(type.element_type)
    (lhs, lhs_element, lhs_map), (rhs, rhs_element, rhs_map) = operands
    accumulator = lowering.fill(scalar_attribute(wide, 0), TensorType(wide, type.shape), sizes)
    if loops > parallel and 0 in (*ranked_type(lhs).get_shape(), *ranked_type(rhs).get_shape()):
        result = accumulator
    else:

        def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
            a, b = convert(s, lhs_element, wide, args[0]), convert(s, rhs_element, wide, args[1])
            if is_bool(wide):
                return [s.or_(args[2], s.and_(a, b))]
            return [s.add_(args[2], s.mul(a, b))]

        result = lowering.generic(
            [lhs, rhs],
            [accumulator],
            [lhs_map, rhs_map, output_map],
            [PARALLEL] * parallel + [REDUCTION] * (loops - parallel),
            body,
        )[0]
    return narrow(lowering, result, type, sizes)


def narrow(lowering: Lowering, value: SSAValue, type: TensorType, sizes: Sequence[Size] | None = None) -> SSAValue:
    """`value` rounded to the float element type of `type`, when it has a wider one."""
    if value.type == type:
        return value
    rank = len(type.get_shape())
    return lowering.parallel(
        [(value, identity(rank))],
        type,
        lambda s, args: s.cast(arith.TruncFOp, args[0], type.element_type),
        sizes,
    )


def _dot_general(lowering: Lowering, op: Operation) -> None:
    attr = inherent(op, "dot_dimension_numbers")
    if not isinstance(attr, DotDimensionNumbersAttr):
        raise Unsupported("without dot_dimension_numbers")
    _contract(lowering, op, attr.data)


def _dot(lowering: Lowering, op: Operation) -> None:
    rank = len(ranked_type(op.operands[0]).get_shape())
    numbers = DotDimensionNumbers(lhs_contracting_dimensions=(rank - 1,), rhs_contracting_dimensions=(0,))
    _contract(lowering, op, numbers)


def _result_sizes(
    lowering: Lowering, op: Operation, lhs_loops: Sequence[int], rhs_loops: Sequence[int], parallel: int
) -> list[Size]:
    """The sizes of the result; those of the operands that must agree are checked."""
    extents: dict[int, Size] = {}
    for value, loops in zip(op.operands, (lhs_loops, rhs_loops), strict=True):
        for loop, size in zip(loops, sizes_of(lowering, value), strict=True):
            extents[loop] = require_equal(lowering, op, extents[loop], size) if loop in extents else size
    return refine(lowering, op, [extents[loop] for loop in range(parallel)], op.results[0].type)


def _contract(lowering: Lowering, op: Operation, numbers: DotDimensionNumbers) -> None:
    lhs, rhs = op.operands
    lhs_rank, rhs_rank = len(ranked_type(lhs).get_shape()), len(ranked_type(rhs).get_shape())
    batch = len(numbers.lhs_batching_dimensions)
    lhs_loops, rhs_loops = [-1] * lhs_rank, [-1] * rhs_rank
    for loop, (left, right) in enumerate(
        zip(numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions, strict=True)
    ):
        lhs_loops[left] = rhs_loops[right] = loop
    contracted = list(zip(numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions, strict=True))
    parallel = lhs_rank + rhs_rank - batch - 2 * len(contracted)
    for loop, (left, right) in enumerate(contracted, parallel):
        lhs_loops[left] = rhs_loops[right] = loop
    loop = batch
    for loops in (lhs_loops, rhs_loops):
        for dim, known in enumerate(loops):
            if known < 0:
                loops[dim] = loop
                loop += 1
    total = parallel + len(contracted)
    type = new_type(op)
    sizes = _result_sizes(lowering, op, lhs_loops, rhs_loops, parallel)
    lowering.set(
        op.results[0],
        multiply_add(
            lowering,
            [
                (lowering.get(lhs), ranked_type(lhs).element_type, map_attr(total, tuple(lhs_loops))),
                (lowering.get(rhs), ranked_type(rhs).element_type, map_attr(total, tuple(rhs_loops))),
            ],
            map_attr(total, tuple(range(parallel))),
            parallel,
            total,
            type,
            sizes,
        ),
    )


HANDLERS = {"stablehlo.dot_general": _dot_general, "stablehlo.dot": _dot}
