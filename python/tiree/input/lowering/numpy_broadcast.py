"""CHLO's elementwise ops whose operands broadcast as numpy's do, and its constants.

Shapes are static here: an extent of 1 stretches, and an operand of lower rank stands at the end of the shape, or where
`broadcast_dimensions` says.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from tiree.dialects.chlo import BROADCASTING
from tiree.dialects.dense import DenseAttr
from tiree.input.lowering.context import Lowering, Splat, Unsupported, map_attr, signless, tensor_type
from tiree.input.lowering.elementwise import SCALARS, run_scalar
from tiree.input.lowering.scalar import ScalarAttr, ScalarBuilder, inherent, scalar_attribute
from tiree.input.lowering.structural import ints_property, set_constant, squeeze
from tiree.support.typed import is_tensor_type


def _scalar_name(name: str) -> str:
    """`chlo.broadcast_add` is `stablehlo.add`, `chlo.broadcast_zeta` is `chlo.zeta`."""
    suffix = name.removeprefix("chlo.broadcast_")
    names = (f"stablehlo.{suffix}", f"chlo.{suffix}")
    found = next((full for full in names if full in SCALARS), None)
    if found is None:
        raise Unsupported("")
    return found


def _placed(lowering: Lowering, op: Operation, operand: SSAValue) -> tuple[SSAValue, AffineMapAttr]:
    """An operand without the extents that stretch, and where its other dimensions stand in the result."""
    target = tensor_type(op.results[0]).get_shape()
    shape = tensor_type(operand).get_shape()
    dims: Sequence[int] = range(len(target) - len(shape), len(target))
    if inherent(op, "broadcast_dimensions") is not None and len(shape) < len(target):
        dims = ints_property(op, "broadcast_dimensions")
    if len(dims) != len(shape) or any(dim < 0 for dim in dims):
        raise Unsupported(f"from {operand.type} to {op.results[0].type}")
    for size, dim in zip(shape, dims, strict=True):
        if size not in (1, target[dim]):
            raise Unsupported(f"from {operand.type} to {op.results[0].type}")
    kept = [place for place, dim in enumerate(dims) if shape[place] == target[dim]]
    value = lowering.get(operand)
    if len(kept) < len(shape):
        value = squeeze(lowering, value, [place for place in range(len(shape)) if place not in kept])
    return value, map_attr(len(target), tuple(dims[place] for place in kept))


def _broadcasting(lowering: Lowering, op: Operation) -> None:
    scalar = SCALARS[_scalar_name(op.name)]
    inputs: list[tuple[SSAValue, AffineMapAttr]] = []
    places: list[int | ScalarAttr] = []
    for operand in op.operands:
        repeated = lowering.splat(operand)
        places.append(len(inputs) if repeated is None else repeated)
        if repeated is None:
            inputs.append(_placed(lowering, op, operand))

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        values = [args[place] if isinstance(place, int) else s.attribute(place) for place in places]
        return run_scalar(scalar, s, op, values)

    type = signless(op.results[0].type)
    assert is_tensor_type(type)
    lowering.set(op.results[0], lowering.parallel(inputs, type, body))


def _constant(lowering: Lowering, op: Operation) -> None:
    value = inherent(op, "value")
    if not isinstance(value, DenseAttr):
        raise Unsupported("without a dense value")
    set_constant(lowering, op.results[0], value)


def _constant_like(lowering: Lowering, op: Operation) -> None:
    """One value in the shape of the operand."""
    value = inherent(op, "value")
    if not isinstance(value, IntegerAttr | FloatAttr):
        raise Unsupported(f"of {value}")
    type = signless(op.results[0].type)
    assert is_tensor_type(type)
    number = scalar_attribute(type.element_type, value.value.data)
    lowering.set(op.results[0], Splat(number, type))


HANDLERS = {
    **{f"chlo.broadcast_{name}": _broadcasting for name in (*BROADCASTING, "compare", "select")},
    "chlo.constant": _constant,
    "chlo.constant_like": _constant_like,
}
