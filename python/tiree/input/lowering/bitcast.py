"""`bitcast_convert` between element types of different widths: the bits of one element are a last dimension.

Element 0 of that dimension holds the lowest bits, as in memory (and for types below a byte as if packed).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Operation, SSAValue

from tiree.input.lowering.bits import bit_width, from_bits, to_bits
from tiree.input.lowering.complex_bitcast import join_complex, split_complex
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
from tiree.input.lowering.dims import concerns_dynamic, refine, require_equal, sizes_of
from tiree.input.lowering.elementwise import lower_elementwise
from tiree.input.lowering.scalar import ScalarBuilder
from tiree.input.lowering.structural import new_type
from tiree.support.typed import is_complex_type


def is_regrouping(op: Operation) -> bool:
    """Whether the element types of a bitcast have different widths."""
    source, target = (ranked_type(value).element_type for value in (op.operands[0], op.results[0]))
    if is_complex_type(source) != is_complex_type(target):
        raise Unsupported(f"from {source} to {target}: both must be complex, or neither")
    return bit_width(source) != bit_width(target)


def lower_bitcast(lowering: Lowering, op: Operation) -> None:
    """Any `bitcast_convert` of tensors that are static, and those of `?` that change the width."""
    if not is_regrouping(op):
        lower_elementwise(lowering, op)
        return
    source, target = ranked_type(op.operands[0]), ranked_type(op.results[0])
    widths = bit_width(source.element_type), bit_width(target.element_type)
    given = list(sizes_of(lowering, op.operands[0]))
    count, rest = divmod(max(widths), min(widths))
    longer, shorter = (target, source) if widths[0] > widths[1] else (source, target)
    shape, other = longer.get_shape(), shorter.get_shape()
    if rest or len(shape) != len(other) + 1:
        raise Unsupported(f"from {source} to {target}: the sizes of their elements do not fit")
    if widths[0] > widths[1]:
        sizes = refine(lowering, op, [*given, count], target)
        lowering.set(op.results[0], _split(lowering, op, widths, sizes))
    else:
        require_equal(lowering, op, count, given[-1])
        sizes = refine(lowering, op, given[:-1], target)
        lowering.set(op.results[0], _join(lowering, op, widths, sizes))


def _split(lowering: Lowering, op: Operation, widths: tuple[int, int], sizes: Sequence[Size]) -> SSAValue:
    """Each element as several of a narrower type."""
    type = new_type(op)
    rank = len(sizes)
    if is_complex_type(type.element_type):
        return split_complex(lowering, lowering.get(op.operands[0]), type, sizes if concerns_dynamic(op) else None)
    wide, narrow = (IntegerType(width) for width in widths)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        place = s.cast(arith.IndexCastOp, s.index(rank - 1), wide)
        shift = s.mul(place, s.constant(wide, widths[1]))
        bits = s.binary(arith.ShRUIOp, to_bits(s, args[0], widths[0]), shift)
        return from_bits(s, s.cast(arith.TruncIOp, bits, narrow), type.element_type)

    source = (lowering.get(op.operands[0]), map_attr(rank, tuple(range(rank - 1))))
    return lowering.parallel([source], type, body, sizes if concerns_dynamic(op) else None)


def _join(lowering: Lowering, op: Operation, widths: tuple[int, int], sizes: Sequence[Size]) -> SSAValue:
    """Elements along the last dimension as one of a wider type."""
    type = new_type(op)
    rank = len(sizes)
    wide = IntegerType(widths[1])
    known = sizes if concerns_dynamic(op) else None
    if is_complex_type(type.element_type):
        return join_complex(lowering, lowering.get(op.operands[0]), type, known)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        place = s.cast(arith.IndexCastOp, s.index(rank), wide)
        shift = s.mul(place, s.constant(wide, widths[0]))
        bits = s.cast(arith.ExtUIOp, to_bits(s, args[0], widths[0]), wide)
        return [s.or_(args[1], s.binary(arith.ShLIOp, bits, shift))]

    start = lowering.fill(lowering.scalars().constant(wide, 0), TensorType(wide, type.shape), known)
    (joined,) = lowering.generic(
        [lowering.get(op.operands[0])],
        [start],
        [identity(rank + 1), map_attr(rank + 1, tuple(range(rank)))],
        [PARALLEL] * rank + [REDUCTION],
        body,
    )
    if type.element_type == wide:
        return joined
    bits = (joined, identity(rank))
    return lowering.parallel([bits], type, lambda s, args: from_bits(s, args[0], type.element_type), known)


HANDLERS = {"stablehlo.bitcast_convert": lower_bitcast}
