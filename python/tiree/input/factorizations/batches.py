"""Between the operations of a program and loop kernels: batches of matrices with one leading dimension, and parts of
complex numbers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, BFloat16Type, Float16Type, Float32Type, TensorType
from xdsl.ir import Attribute, SSAValue

from tiree.input.factorizations.kernel import Value
from tiree.input.lowering.context import Lowering, Unsupported, identity, tensor_type
from tiree.input.lowering.structural import reshape
from tiree.support.typed import is_complex_type


def count_of(shape: Sequence[int]) -> int:
    """How many matrices a batch of this shape has."""
    count = 1
    for size in shape:
        count *= size
    return count


def part_type(element: Attribute) -> AnyFloat:
    """The type in which a kernel computes on numbers of type `element`: at least f32. Raises `Unsupported`."""
    part = element.element_type if is_complex_type(element) else element
    if not isinstance(part, AnyFloat):
        raise Unsupported(f"on {element}")
    return Float32Type() if isinstance(part, (Float16Type, BFloat16Type)) else part


def element_of(value: Value) -> AnyFloat:
    """The type of the numbers of a kernel's operand, or of their parts."""
    return part_type(tensor_type(value[0] if isinstance(value, tuple) else value).element_type)


def to_kernel(lowering: Lowering, old: SSAValue, inner: int) -> Value:
    """The new value of `old` with its batch dimensions as one and its last `inner` dimensions kept."""
    value = lowering.get(old)
    element, shape = tensor_type(value).element_type, tensor_type(value).get_shape()
    flat = [count_of(shape[: len(shape) - inner]), *shape[len(shape) - inner :]]
    wide = part_type(element)
    if is_complex_type(element):
        return real_part(lowering, value, flat, False), real_part(lowering, value, flat, True)
    return reshape(lowering, resized(lowering, value, wide), flat)


def real_part(lowering: Lowering, value: SSAValue, shape: Sequence[int], imaginary: bool) -> SSAValue:
    """The real or the imaginary part of a complex tensor, in another shape."""
    old = tensor_type(value)
    part = lowering.parallel(
        [(value, identity(len(old.get_shape())))],
        TensorType(part_type(old.element_type), old.get_shape()),
        lambda s, args: s.parts(args[0])[imaginary],
    )
    return reshape(lowering, part, shape)


def resized(lowering: Lowering, value: SSAValue, element: AnyFloat) -> SSAValue:
    """A tensor of floats as one of other floats."""
    type = tensor_type(value)
    if type.element_type == element:
        return value
    return lowering.parallel(
        [(value, identity(len(type.get_shape())))],
        TensorType(element, type.get_shape()),
        lambda s, args: s.float_resize(args[0], element),
    )


def joined(lowering: Lowering, value: Value, type: TensorType) -> SSAValue:
    """A kernel's result in a shape and type of the program."""
    shape = type.get_shape()
    parts = [reshape(lowering, part, shape) for part in (value if isinstance(value, tuple) else (value,))]
    if not is_complex_type(type.element_type):
        return resized(lowering, parts[0], type.element_type) if isinstance(type.element_type, AnyFloat) else parts[0]
    return lowering.parallel(
        [(part, identity(len(shape))) for part in parts],
        type,
        lambda s, args: s.create(args[0], args[1] if len(args) > 1 else s.constant(args[0].type, 0.0)),
    )


def from_kernel(lowering: Lowering, old: SSAValue, value: Value) -> None:
    """Sets `old` to a kernel's result, in its own shape and type."""
    lowering.set(old, joined(lowering, value, tensor_type(old)))
