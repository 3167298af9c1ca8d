"""Elementwise StableHLO and CHLO ops: one parallel `linalg.generic` each, with the scalar op in its body."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import AffineMapAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.input.lowering.chlo_ops import CHLO_SCALAR
from tiree.input.lowering.complex_ops import COMPLEX, concerns_complex, with_complex
from tiree.input.lowering.context import Lowering, Size, Unsupported, identity, map_attr, signless, tensor_type
from tiree.input.lowering.scalar import ScalarAttr, ScalarBuilder
from tiree.input.lowering.scalar_ops import SCALAR, Scalar, UnsupportedType, element_type, is_float
from tiree.support.typed import is_complex_type, is_integer_type, is_tensor_type

_REAL = SCALAR | CHLO_SCALAR
SCALARS: dict[str, Scalar] = _REAL | {name: with_complex(name, _REAL.get(name)) for name in COMPLEX}


def lower_elementwise(lowering: Lowering, op: Operation) -> None:
    """Any op of `SCALARS` on tensors of one shape, or rank-0 ones where the op allows (select, clamp)."""
    scalar = SCALARS[op.name]
    result = tensor_type(op.results[0])
    for operand in op.operands:
        shape = tensor_type(operand).get_shape()
        if shape and shape != result.get_shape():
            raise Unsupported(f"with operands of different shapes ({operand.type} and {result})")
    if op.name == "stablehlo.bitcast_convert":
        check_bitcast(op)
    type = signless(result)
    assert is_tensor_type(type)
    lowering.set(
        op.results[0],
        map_elements(lowering, op.operands, type, lambda s, args: run_scalar(scalar, s, op, args)),
    )


def check_bitcast(op: Operation) -> None:
    source, target = (element_type(value) for value in (op.operands[0], op.results[0]))
    widths = [getattr(type, "bitwidth", 0) for type in (source, target)]
    if is_complex_type(source) and source == target:
        return
    if widths[0] != widths[1]:
        raise Unsupported(f"from {op.operands[0].type} to {op.results[0].type}: element sizes differ")


_FLOATS = ("complex", "is_finite", "is_inf", "is_neg_inf", "is_pos_inf", "next_after", "reduce_precision")
_INTEGERS = ("mulhi", "not", "shift_left", "shift_right_arithmetic", "shift_right_logical")
ELEMENTS: dict[str, Callable[[Attribute], bool]] = {
    **dict.fromkeys(_FLOATS, is_float),
    **dict.fromkeys(_INTEGERS, is_integer_type),
    "_asin_acos_kernel": is_complex_type,
}
"""The element types of ops whose functions do not look, by the name without dialect and `broadcast_`."""


def run_scalar(scalar: Scalar, s: ScalarBuilder, op: Operation, args: Sequence[SSAValue]) -> SSAValue:
    if op.name not in COMPLEX and concerns_complex(op):
        raise Unsupported(f"on elements of type {element_type(op.operands[0])}")
    fits = ELEMENTS.get(op.name.partition(".")[2].removeprefix("broadcast_"))
    if fits is not None and not fits(type := element_type(op.operands[0])):
        raise Unsupported(f"on elements of type {type}")
    try:
        return scalar(s, op, args)
    except UnsupportedType as error:
        raise Unsupported(str(error)) from None


def map_elements(
    lowering: Lowering,
    operands: Sequence[SSAValue],
    type: TensorType,
    body: Callable[[ScalarBuilder, Sequence[SSAValue]], SSAValue],
    sizes: Sequence[Size] | None = None,
) -> SSAValue:
    """`body` on the elements of old values; constants that are one repeated element become scalars in the body."""
    rank = len(type.get_shape())
    inputs: dict[SSAValue, int] = {}
    places: list[int | ScalarAttr] = []
    for operand in operands:
        scalar = lowering.splat(operand)
        if scalar is not None:
            places.append(scalar)
        else:
            places.append(inputs.setdefault(lowering.get(operand), len(inputs)))

    def emit(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        return body(s, [args[place] if isinstance(place, int) else s.attribute(place) for place in places])

    maps: list[AffineMapAttr] = []
    for value in inputs:
        assert is_tensor_type(value.type)
        maps.append(identity(rank) if len(value.type.get_shape()) == rank else map_attr(rank, ()))
    return lowering.parallel(list(zip(inputs, maps, strict=True)), type, emit, sizes)


HANDLERS = dict.fromkeys(SCALARS, lower_elementwise)
