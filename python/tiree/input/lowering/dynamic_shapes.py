"""Operations on tensors with `?` dimensions: those whose static form is not enough.

Sizes are values (`dims.py`). What cannot be one affine read of an operand is a `linalg.generic` that computes where
each element comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tiree.input.lowering import carried, dynamic_tensor
from tiree.input.lowering import dynamic_access as access
from tiree.input.lowering import dynamic_movement as moves
from tiree.input.lowering.bitcast import is_regrouping, lower_bitcast
from tiree.input.lowering.context import Lowering, Size, Unsupported, map_attr, ranked_type, signless
from tiree.input.lowering.dims import common_sizes, is_dynamic, refine, require_at_least, sizes_of
from tiree.input.lowering.dynamic_scatter import scatter
from tiree.input.lowering.dynamic_sort import sort, top_k
from tiree.input.lowering.elementwise import SCALARS, check_bitcast, map_elements, run_scalar
from tiree.input.lowering.scalar import ScalarBuilder
from tiree.input.lowering.shape_values import get_dimension_size
from tiree.input.lowering.structural import first_argument, ints_property, new_type, pass_through
from tiree.support.typed import is_tensor_type

Handler = Callable[[Lowering, Operation], None]


def _elementwise(lowering: Lowering, op: Operation) -> None:
    result = ranked_type(op.results[0])
    spread = [value for value in op.operands if ranked_type(value).get_shape() or not result.get_shape()]
    sizes = common_sizes(lowering, op, spread, result)
    type = signless(result)
    assert is_tensor_type(type)
    scalar = SCALARS[op.name]
    value = map_elements(lowering, op.operands, type, lambda s, args: run_scalar(scalar, s, op, args), sizes)
    lowering.set(op.results[0], value)


def _bitcast(lowering: Lowering, op: Operation) -> None:
    if is_regrouping(op):
        lower_bitcast(lowering, op)
        return
    check_bitcast(op)
    _elementwise(lowering, op)


def _move(lowering: Lowering, op: Operation, source: SSAValue, map: AffineMapAttr, sizes: Sequence[Size]) -> None:
    """The result reads `source` (a new value) through `map`."""
    type = new_type(op)
    lowering.set(op.results[0], lowering.parallel([(source, map)], type, first_argument, sizes))


def _transpose(lowering: Lowering, op: Operation) -> None:
    permutation = ints_property(op, "permutation")
    given = sizes_of(lowering, op.operands[0])
    sizes = refine(lowering, op, [given[p] for p in permutation], op.results[0].type)
    if moves.set_splat(lowering, op, sizes):
        return
    inverse = tuple(permutation.index(d) for d in range(len(permutation)))
    _move(lowering, op, lowering.get(op.operands[0]), map_attr(len(inverse), inverse), sizes)


def _slice(lowering: Lowering, op: Operation) -> None:
    starts, limits = ints_property(op, "start_indices"), ints_property(op, "limit_indices")
    strides = ints_property(op, "strides")
    given = sizes_of(lowering, op.operands[0])
    for dim, size in enumerate(given):
        require_at_least(lowering, op, size, limits[dim], f"limit {limits[dim]} of dimension {dim}")
    sizes: list[Size] = [
        max(0, -(-(limit - start) // stride)) for start, limit, stride in zip(starts, limits, strides, strict=True)
    ]
    sizes = refine(lowering, op, sizes, op.results[0].type)
    if moves.set_splat(lowering, op, sizes):
        return
    if any(
        start == 0 and stride == 1 and size is not whole and size != whole
        for start, stride, size, whole in zip(starts, strides, sizes, given, strict=True)
    ):
        _read_box(lowering, op, starts, strides, sizes)
        return
    exprs: list[AffineExpr] = []
    for dim, (start, stride) in enumerate(zip(starts, strides, strict=True)):
        expr: AffineExpr = AffineExpr.dimension(dim)
        expr = expr * stride if stride != 1 else expr
        exprs.append(expr + start if start else expr)
    map = AffineMapAttr(AffineMap(len(exprs), 0, tuple(exprs)))
    _move(lowering, op, lowering.get(op.operands[0]), map, sizes)


def _read_box(
    lowering: Lowering, op: Operation, starts: Sequence[int], strides: Sequence[int], sizes: Sequence[Size]
) -> None:
    """A slice that a map cannot say: a loop that is a whole dimension of a map runs over all of that dimension."""
    source = lowering.get(op.operands[0])

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        at: list[SSAValue] = []
        for dim, (start, stride) in enumerate(zip(starts, strides, strict=True)):
            position = s.index(dim)
            position = position if stride == 1 else s.mul(position, moves.value_of(s, stride))
            at.append(position if start == 0 else s.add_(position, moves.value_of(s, start)))
        return s.extract(source, at)

    lowering.set(op.results[0], lowering.parallel([], new_type(op), body, sizes))


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(SCALARS, _elementwise),
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.transpose": _transpose,
    "stablehlo.slice": _slice,
    "stablehlo.optimization_barrier": pass_through,
    "sdy.sharding_constraint": pass_through,
    "stablehlo.get_dimension_size": get_dimension_size,
    "stablehlo.dynamic_iota": moves.iota,
    "stablehlo.dynamic_broadcast_in_dim": moves.broadcast_in_dim,
    "stablehlo.broadcast_in_dim": moves.broadcast_in_dim,
    "stablehlo.reshape": moves.reshape,
    "stablehlo.dynamic_reshape": moves.reshape,
    "stablehlo.concatenate": moves.concatenate,
    "stablehlo.pad": moves.pad,
    "stablehlo.dynamic_pad": moves.pad,
    "stablehlo.reverse": moves.reverse,
    "stablehlo.gather": access.gather,
    "stablehlo.dynamic_gather": access.gather,
    "stablehlo.dynamic_slice": access.dynamic_slice,
    "stablehlo.dynamic_update_slice": access.dynamic_update_slice,
    "stablehlo.real_dynamic_slice": access.real_dynamic_slice,
    "stablehlo.set_dimension_size": access.set_dimension_size,
    "stablehlo.scatter": scatter,
    "stablehlo.sort": sort,
    "chlo.top_k": top_k,
    **dynamic_tensor.HANDLERS,
    **carried.HANDLERS,
}
ALWAYS = (
    "stablehlo.get_dimension_size",
    "stablehlo.dynamic_iota",
    "stablehlo.dynamic_broadcast_in_dim",
    "stablehlo.dynamic_reshape",
    "stablehlo.dynamic_pad",
    "stablehlo.dynamic_gather",
    "stablehlo.real_dynamic_slice",
    "stablehlo.set_dimension_size",
)
"""Ops that are lowered here even if every type is static."""

AS_THEY_ARE = frozenset(
    {
        "stablehlo.dot_general",
        "stablehlo.dot",
        "stablehlo.reduce",
        "stablehlo.reduce_window",
        "stablehlo.select_and_scatter",
        "stablehlo.map",
        "stablehlo.convolution",
        "stablehlo.dynamic_conv",
        "stablehlo.custom_call",
        "stablehlo.cholesky",
        "stablehlo.triangular_solve",
        "stablehlo.fft",
        "stablehlo.composite",
        "stablehlo.if",
        "stablehlo.case",
        "stablehlo.while",
        "func.call",
        "util.call",
        "flow.tensor.transfer",
        "iree_linalg_ext.attention",
    }
)
"""Ops whose ordinary handlers know `?` dimensions."""

_STATIC_LINALG = frozenset({"linalg.softmax", "linalg.pack", "linalg.unpack", "linalg.mmt4d", "linalg.batch_mmt4d"})


def handler_of(op: Operation, usual: Handler | None) -> Handler | None:
    """How `op`, which has `?` dimensions, is lowered. Raises `Unsupported` when it is not."""
    found = HANDLERS.get(op.name)
    if found is not None:
        return found
    if op.name in AS_THEY_ARE or (op.name.startswith("linalg.") and op.name not in _STATIC_LINALG):
        return usual
    if op.name.startswith(("arith.", "math.")):
        return dynamic_tensor.on_tensors
    dynamic = next(value.type for value in (*op.operands, *op.results) if is_dynamic(value.type))
    raise Unsupported(f"with the dynamic shape {dynamic}")
