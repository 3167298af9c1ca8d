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
    type = tensor_type(value)
    shape = type.get_shape()
    batch = shape[: len(shape) - inner]
    flat = [count_of(batch), *shape[len(shape) - inner :]]
    if is_complex_type(type.element_type):
        raise Unsupported("on complex numbers")
    wide = part_type(type.element_type)
    if wide != type.element_type:
        value = lowering.parallel(
            [(value, identity(len(shape)))],
            TensorType(wide, shape),
            lambda s, args: s.float_resize(args[0], wide),
        )
    return reshape(lowering, value, flat)


def from_kernel(lowering: Lowering, old: SSAValue, value: Value) -> None:
    """Sets `old` to a kernel's result, in its own shape and type."""
    type = tensor_type(old)
    shape, element = type.get_shape(), type.element_type
    if isinstance(value, tuple):
        raise Unsupported("on complex numbers")
    value = reshape(lowering, value, shape)
    if element != tensor_type(value).element_type and isinstance(element, AnyFloat):
        value = lowering.parallel(
            [(value, identity(len(shape)))],
            TensorType(element, shape),
            lambda s, args: s.float_resize(args[0], element),
        )
    lowering.set(old, value)
