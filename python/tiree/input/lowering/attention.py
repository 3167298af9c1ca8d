"""Attention: two contractions around a softmax, or one step of it over a part of the keys.

f16 and bf16 are widened to f32 from the first contraction to the last. As in IREE 3.13, a region sees scores in base 2,
that is, times log2(e), and all of `online_attention` is in base 2: its maxima are, and it takes powers of two.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AffineMapAttr, AnyFloat, TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tiree.dialects.iree_linalg_ext_attention import is_identity_region, masked_score
from tiree.input.lowering.context import PARALLEL, REDUCTION, Lowering, Unsupported, identity, map_attr, tensor_type
from tiree.input.lowering.regions import copy_body, scalar_block
from tiree.input.lowering.scalar import ScalarBuilder, scalar_attribute, widened
from tiree.input.lowering.softmax import fold_rows, powers_from, softmax
from tiree.support.typed import is_array_attr, is_integer_type

_LOG2E = 1.4426950408889634


class _Attention:
    """The dimensions of an attention by what they do: K1 is contracted by Q K^T, K2 by P V."""

    def __init__(self, op: Operation, outputs: int) -> None:
        maps = op.properties.get("indexing_maps")
        if not is_array_attr(maps) or not all(isinstance(one, AffineMapAttr) for one in maps):
            raise Unsupported("without indexing_maps")
        self.maps: list[AffineMap] = [one.data for one in maps if isinstance(one, AffineMapAttr)]
        inputs = len(self.maps) - outputs
        if inputs not in (4, 5) or len(op.operands) != len(self.maps):
            raise Unsupported(f"with {len(op.operands)} operands")
        self.has_mask = inputs == 5
        self.output = self.maps[inputs]
        query, key, value = (set(one.used_dims()) for one in self.maps[:3])
        self.k1 = sorted((query & key) - value)
        self.k2 = sorted((key & value) - query)
        self.loops = self.maps[0].num_dims
        self.scores = [d for d in range(self.loops) if d in (query | key) - set(self.k1)]
        """The dimensions of Q K^T, in order."""
        self.rows = [d for d in self.scores if d not in self.k2]
        self.summed = [self.scores.index(d) for d in self.k2]
        """The dimensions of the scores over which a row goes."""
        self.sizes = [0] * self.loops
        for operand, map in zip(op.operands, self.maps, strict=True):
            if isinstance(operand.type, TensorType):
                for position, expression in enumerate(map.results):
                    self.sizes[_dim(expression)] = tensor_type(operand).get_shape()[position]
        wide = widened(tensor_type(op.operands[inputs]).element_type)
        if not isinstance(wide, AnyFloat):
            raise Unsupported(f"on {op.operands[inputs].type}; floats are needed")
        self.wide: Attribute = wide
        """The type in which everything is summed."""

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


def lower_attention(emit: Lowering, op: Operation) -> Sequence[SSAValue]:
    shape = _Attention(op, 1)
    target = tensor_type(op.operands[-1])
    scores = _scores(emit, op, shape)
    weights = softmax(emit, scores, shape.summed)
    start = emit.fill(scalar_attribute(shape.wide, 0.0), TensorType(shape.wide, target.get_shape()))
    result = _weighted(emit, shape, weights, op.operands[2], start)
    if target.element_type == shape.wide:
        return [result]
    rank = len(target.get_shape())
    return [
        emit.parallel([(result, identity(rank))], target, lambda s, args: s.float_resize(args[0], target.element_type))
    ]


def lower_online_attention(emit: Lowering, op: Operation) -> Sequence[SSAValue]:
    """One step of an attention over a part of the keys: P V not yet divided, the rows' maxima and sums so far.

    What was summed before is scaled to the new maxima.
    """
    shape = _Attention(op, 3)
    sums, largest, totals = op.operands[-3:]
    if any(shape.within(one, shape.rows) != identity(len(shape.rows)) for one in shape.maps[-2:]):
        raise Unsupported("with rows in another order than the scores")
    scores = _scores(emit, op, shape, binary=True)
    top = fold_rows(emit, scores, shape.summed, largest, arith.MaximumfOp)
    powers = powers_from(emit, scores, shape.summed, top, math.Exp2Op)
    shrink = powers_from(emit, largest, [], top, math.Exp2Op)
    rank = len(shape.rows)
    before = emit.parallel(
        [(totals, identity(rank)), (shrink, identity(rank))],
        tensor_type(totals),
        lambda s, args: s.mul(args[0], args[1]),
    )
    total = fold_rows(emit, powers, shape.summed, before, arith.AddfOp)
    outputs = [_dim(one) for one in shape.maps[-3].results]
    scale = AffineMap(shape.loops, 0, tuple(AffineExpr.dimension(d) for d in shape.rows))
    scaled = emit.parallel(
        [(sums, identity(len(outputs))), (shrink, shape.within(scale, outputs))],
        tensor_type(sums),
        lambda s, args: s.mul(args[0], args[1]),
    )
    return [_weighted(emit, shape, powers, op.operands[2], scaled), top, total]


def _scores(emit: Lowering, op: Operation, shape: _Attention, binary: bool = False) -> SSAValue:
    """scale * Q K^T, through the region, with the mask added (or, where it is i1 and false, minus infinity).

    `binary`: times log2(e).
    """
    query, key, _, scale = op.operands[:4]
    mask = op.operands[4] if shape.has_mask else None
    wide = shape.wide
    type = TensorType(wide, [shape.sizes[d] for d in shape.scores])
    dims = [*shape.scores, *shape.k1]

    def multiply(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        left, right = (s.float_resize(value, wide) for value in args[:2])
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
        score = s.mul(args[0], s.float_resize(factor, wide))
        if not is_identity_region(op):
            (score,) = copy_body(s, block, [s.mul(score, s.constant(wide, _LOG2E))])
            score = score if binary else s.mul(score, s.constant(wide, 1 / _LOG2E))
        elif binary:
            score = s.mul(score, s.constant(wide, _LOG2E))
        if mask is None:
            return score
        if is_integer_type(args[1].type):
            kept = args[1] if args[1].type == i1 else s.cmpi("ne", args[1], s.constant(args[1].type, 0))
            return s.select(kept, score, s.constant(wide, masked_score(op)))
        added = s.float_resize(args[1], wide)
        return s.add_(score, s.mul(added, s.constant(wide, _LOG2E)) if binary else added)

    sources = [(product, identity(rank))]
    if mask is not None:
        sources.append((mask, shape.within(shape.maps[4], shape.scores)))
    return emit.parallel(sources, type, finish)


def _weighted(emit: Lowering, shape: _Attention, weights: SSAValue, value: SSAValue, start: SSAValue) -> SSAValue:
    """P V added to `start`."""
    outputs = [_dim(one) for one in shape.output.results]
    dims = [*outputs, *shape.k2]

    def multiply(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return [s.add_(args[2], s.mul(args[0], s.float_resize(args[1], shape.wide)))]

    scores = AffineMap(shape.loops, 0, tuple(AffineExpr.dimension(d) for d in shape.scores))
    return emit.generic(
        [weights, value],
        [start],
        [
            shape.within(scores, dims),
            shape.within(shape.maps[2], dims),
            map_attr(len(dims), tuple(range(len(outputs)))),
        ],
        [PARALLEL] * len(outputs) + [REDUCTION] * len(shape.k2),
        multiply,
    )[0]
