"""softmax and attention as reductions and elementwise generics.

A softmax is the row's maximum, the exponentials of the distances to it, their sum, and the quotients. Attention is two
contractions around one; f16 and bf16 are widened to f32 from the first contraction to the last.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AffineMapAttr, AnyFloat, TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tiree.input.lowering.context import PARALLEL, REDUCTION, Lowering, Unsupported, identity, map_attr, tensor_type
from tiree.input.lowering.regions import copy_body, scalar_block
from tiree.input.lowering.scalar import ScalarBuilder, scalar_attribute, widened
from tiree.input.lowering.structural import int_property
from tiree.support.typed import is_array_attr, is_integer_type

_INFINITY = float("inf")


def softmax(emit: Lowering, source: SSAValue, dims: Sequence[int]) -> SSAValue:
    """The softmax of `source` over the dimensions `dims`."""
    type = tensor_type(source)
    element = type.element_type
    if not isinstance(element, AnyFloat):
        raise Unsupported(f"on {type}; floats are needed")
    rank = len(type.get_shape())
    kept = tuple(d for d in range(rank) if d not in dims)
    small = TensorType(element, [type.get_shape()[d] for d in kept])
    iterators = [REDUCTION if d in dims else PARALLEL for d in range(rank)]
    over = map_attr(rank, kept)

    def fold(value: SSAValue, start: float, op: type[Operation]) -> SSAValue:
        accumulator = emit.fill(scalar_attribute(element, start), small)
        return emit.generic(
            [value], [accumulator], [identity(rank), over], iterators, lambda s, args: [s.binary(op, args[1], args[0])]
        )[0]

    largest = fold(source, -_INFINITY, arith.MaximumfOp)
    powers = emit.parallel(
        [(source, identity(rank)), (largest, over)],
        type,
        lambda s, args: s.unary(math.ExpOp, s.sub(args[0], args[1])),
    )
    total = fold(powers, 0.0, arith.AddfOp)
    return emit.parallel([(powers, identity(rank)), (total, over)], type, lambda s, args: s.div(args[0], args[1]))


def lower_softmax(emit: Lowering, op: Operation) -> Sequence[SSAValue]:
    return [softmax(emit, op.operands[0], [int_property(op, "dimension")])]


class _Attention:
    """The dimensions of an attention by what they do: K1 is contracted by Q K^T, K2 by P V."""

    def __init__(self, op: Operation) -> None:
        maps = op.properties.get("indexing_maps")
        if not is_array_attr(maps) or not all(isinstance(one, AffineMapAttr) for one in maps):
            raise Unsupported("without indexing_maps")
        self.maps: list[AffineMap] = [one.data for one in maps if isinstance(one, AffineMapAttr)]
        if len(self.maps) not in (5, 6) or len(op.operands) != len(self.maps):
            raise Unsupported(f"with {len(op.operands)} operands")
        query, key, value = (set(one.used_dims()) for one in self.maps[:3])
        self.k1 = sorted((query & key) - value)
        self.k2 = sorted((key & value) - query)
        self.loops = self.maps[0].num_dims
        self.scores = [d for d in range(self.loops) if d in (query | key) - set(self.k1)]
        """The dimensions of Q K^T, in order."""
        self.sizes = [0] * self.loops
        for operand, map in zip(op.operands, self.maps, strict=True):
            if isinstance(operand.type, TensorType):
                for position, expression in enumerate(map.results):
                    self.sizes[_dim(expression)] = tensor_type(operand).get_shape()[position]

    def within(self, map: AffineMap, dims: Sequence[int]) -> AffineMapAttr:
        """`map` over the loops `dims` only."""
        return AffineMapAttr(
            AffineMap(len(dims), 0, tuple(AffineExpr.dimension(dims.index(_dim(one))) for one in map.results))
        )


def _dim(expression: AffineExpr) -> int:
    position = getattr(expression, "position", None)
    if not isinstance(position, int):
        raise Unsupported("with an indexing map that is not a projection")
    return position


def _widen(s: ScalarBuilder, value: SSAValue, type: Attribute) -> SSAValue:
    return s.float_resize(value, type)


def lower_attention(emit: Lowering, op: Operation) -> Sequence[SSAValue]:
    shape = _Attention(op)
    query, key, value, scale = op.operands[:4]
    mask = op.operands[4] if len(shape.maps) == 6 else None
    target = op.operands[-1]
    wide = widened(tensor_type(target).element_type)
    if not isinstance(wide, AnyFloat):
        raise Unsupported(f"on {target.type}; floats are needed")
    scores = _scores(emit, op, shape, (query, key, scale, mask), wide)
    weights = softmax(emit, scores, [shape.scores.index(d) for d in shape.k2])
    return [_weighted(emit, shape, weights, value, tensor_type(target), wide)]


def _scores(
    emit: Lowering,
    op: Operation,
    shape: _Attention,
    inputs: tuple[SSAValue, SSAValue, SSAValue, SSAValue | None],
    wide: Attribute,
) -> SSAValue:
    """scale * Q K^T, through the region, with the mask added (or, where it is i1 and false, minus infinity)."""
    query, key, scale, mask = inputs
    type = TensorType(wide, [shape.sizes[d] for d in shape.scores])
    dims = [*shape.scores, *shape.k1]

    def multiply(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        left, right = (_widen(s, value, wide) for value in args[:2])
        return [s.add_(args[2], s.mul(left, right))]

    product = emit.generic(
        [query, key],
        [emit.fill(scalar_attribute(wide, 0.0), type)],
        [shape.within(one, dims) for one in shape.maps[:2]] + [map_attr(len(dims), tuple(range(len(shape.scores))))],
        [PARALLEL] * len(shape.scores) + [REDUCTION] * len(shape.k1),
        multiply,
    )[0]
    block = scalar_block(op)
    rank = len(shape.scores)

    def finish(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        factor = emit.extract(scale) if isinstance(scale.type, TensorType) else scale
        score = s.mul(args[0], _widen(s, factor, wide))
        (score,) = copy_body(s, block, [score])
        if mask is None:
            return score
        if is_integer_type(args[1].type):
            kept = args[1] if args[1].type == i1 else s.cmpi("ne", args[1], s.constant(args[1].type, 0))
            return s.select(kept, score, s.constant(wide, -_INFINITY))
        return s.add_(score, _widen(s, args[1], wide))

    sources = [(product, identity(rank))]
    if mask is not None:
        sources.append((mask, shape.within(shape.maps[4], shape.scores)))
    return emit.parallel(sources, type, finish)


def _weighted(
    emit: Lowering, shape: _Attention, weights: SSAValue, value: SSAValue, target: TensorType, wide: Attribute
) -> SSAValue:
    """P V in the type of the target."""
    outputs = [_dim(one) for one in shape.maps[-1].results]
    dims = [*outputs, *shape.k2]

    def multiply(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return [s.add_(args[2], s.mul(args[0], _widen(s, args[1], wide)))]

    type = TensorType(wide, target.get_shape())
    scores = AffineMap(shape.loops, 0, tuple(AffineExpr.dimension(d) for d in shape.scores))
    result = emit.generic(
        [weights, value],
        [emit.fill(scalar_attribute(wide, 0.0), type)],
        [
            shape.within(scores, dims),
            shape.within(shape.maps[2], dims),
            map_attr(len(dims), tuple(range(len(outputs)))),
        ],
        [PARALLEL] * len(outputs) + [REDUCTION] * len(shape.k2),
        multiply,
    )[0]
    if target.element_type == wide:
        return result
    rank = len(outputs)
    return emit.parallel([(result, identity(rank))], target, lambda s, args: _widen(s, args[0], target.element_type))
