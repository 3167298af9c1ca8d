"""Contractions of complex tensors: large ones as four of their real and imaginary parts, small ones as they are.

(a + bi)(c + di) = (ac - bd) + (ad + bc)i: each product of parts is a contraction of reals, which has its own kernel,
and one elementwise op adds them up. Not three contractions: that would save a quarter of the multiplications and lose
the smaller part of the result where the parts differ in size. Below `SMALL` steps a single loop of complex numbers is
quicker than the dispatches of four.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr

from tiree.input.lowering.complex_ops import convert_complex
from tiree.input.lowering.context import PARALLEL, REDUCTION, Lowering, Size, identity, ranked_type
from tiree.input.lowering.dims import sizes_of_new
from tiree.input.lowering.scalar import ScalarBuilder, number_attribute
from tiree.scalars import complex_functions as functions
from tiree.support.typed import is_complex_type

SMALL = 1 << 14

Operand = tuple[SSAValue, Attribute, AffineMapAttr]
RealContraction = Callable[[Sequence[Operand], TensorType], SSAValue]
"""Contracts real operands to a result of a type."""


def contract_complex(
    lowering: Lowering,
    operands: Sequence[Operand],
    output_map: AffineMapAttr,
    parallel: int,
    loops: int,
    type: TensorType,
    sizes: Sequence[Size] | None,
    real: RealContraction,
) -> SSAValue:
    """As `contraction.multiply_add`, for a `type` of complex elements; operands may be real."""
    if _steps(operands, loops) < SMALL:
        return _in_one_loop(lowering, operands, output_map, parallel, loops, type, sizes)
    assert is_complex_type(type.element_type)
    part = TensorType(type.element_type.element_type, type.shape)
    lhs, rhs = (_parts(lowering, operand) for operand in operands)
    products = {(i, j): real([a, b], part) for i, a in enumerate(lhs) for j, b in enumerate(rhs)}
    places = {pair: number for number, pair in enumerate(products)}

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        zero = s.constant(args[0].type, 0.0)
        found = {pair: args[place] for pair, place in places.items()}
        whole = s.sub(found[0, 0], found[1, 1]) if (1, 1) in found else found[0, 0]
        mixed = [found[pair] for pair in ((0, 1), (1, 0)) if pair in found]
        return s.create(whole, s.add_(*mixed) if len(mixed) == 2 else mixed[0] if mixed else zero)

    rank = len(type.get_shape())
    return lowering.parallel([(value, identity(rank)) for value in products.values()], type, body, sizes)


def _steps(operands: Sequence[Operand], loops: int) -> int:
    """The product of the loops' extents; a great number where one is not known."""
    extents: dict[int, int] = {}
    for value, _, map in operands:
        for expr, size in zip(map.data.results, ranked_type(value).get_shape(), strict=True):
            if isinstance(expr, AffineDimExpr):
                extents[expr.position] = size
    steps = 1
    for loop in range(loops):
        size = extents.get(loop, DYNAMIC_INDEX)
        if size == DYNAMIC_INDEX:
            return SMALL
        steps *= size
    return steps


def _parts(lowering: Lowering, operand: Operand) -> list[Operand]:
    """The real and, where there is one, the imaginary part of an operand."""
    value, element, map = operand
    if not is_complex_type(element):
        return [operand]
    tensor = ranked_type(value)
    type, rank = TensorType(element.element_type, tensor.shape), len(tensor.get_shape())
    sizes = sizes_of_new(lowering, value) if DYNAMIC_INDEX in tensor.get_shape() else None
    return [
        (
            lowering.parallel([(value, identity(rank))], type, lambda s, args, n=n: s.parts(args[0])[n], sizes),
            element.element_type,
            map,
        )
        for n in (0, 1)
    ]


def _in_one_loop(
    lowering: Lowering,
    operands: Sequence[Operand],
    output_map: AffineMapAttr,
    parallel: int,
    loops: int,
    type: TensorType,
    sizes: Sequence[Size] | None,
) -> SSAValue:
    accumulator = lowering.fill(number_attribute(type.element_type, 0), type, sizes)
    if loops > parallel and any(0 in ranked_type(value).get_shape() for value, _, _ in operands):
        return accumulator

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        found: list[functions.Pair] = []
        for (_, element, _), arg in zip(operands, args, strict=False):
            same = element == type.element_type
            found.append(s.parts(arg if same else convert_complex(s, element, type.element_type, arg)))
        (a, b), (c, d) = found
        real, imaginary = s.parts(args[2])
        # One multiply-add each: the products are added one after the other.
        real = s.add_(s.add_(real, s.mul(a, c)), s.mul(s.neg(b), d))
        return [s.create(real, s.add_(s.add_(imaginary, s.mul(a, d)), s.mul(b, c)))]

    maps = [map for _, _, map in operands]
    return lowering.generic(
        [value for value, _, _ in operands],
        [accumulator],
        [*maps, output_map],
        [PARALLEL] * parallel + [REDUCTION] * (loops - parallel),
        body,
    )[0]
