"""Between the operations of a program and loop kernels: batches of matrices with one leading dimension, and parts of
complex numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, BFloat16Type, Float16Type, Float32Type, TensorType
from xdsl.ir import Attribute, SSAValue

from tiree.input.factorizations.kernel import Value
from tiree.input.lowering.context import Lowering, Size, Unsupported, identity, ranked_type
from tiree.input.lowering.dims import product, sizes_of, sizes_of_new
from tiree.input.lowering.dynamic_movement import dynamic_type, reshape_to
from tiree.input.lowering.scalar import number_attribute
from tiree.input.lowering.structural import reshape
from tiree.support.typed import is_complex_type


def count_of(shape: Sequence[int]) -> int:
    """How many matrices a batch of this shape has."""
    return prod(shape)


def ceil_div(lowering: Lowering, size: Size, parts: int) -> Size:
    """How many parts of so many elements a size has, the last one perhaps smaller."""
    if isinstance(size, int):
        return -(-size // parts)
    s = lowering.scalars()
    return s.binary(arith.CeilDivUIOp, size, lowering.constant_index(parts))


def smaller(lowering: Lowering, a: Size, b: Size) -> Size:
    """The smaller of two sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return lowering.scalars().binary(arith.MinSIOp, lowering.index_of(a), lowering.index_of(b))


def zeros_of(lowering: Lowering, element: Attribute, sizes: Sequence[Size]) -> SSAValue:
    return lowering.fill(number_attribute(element, 0), dynamic_type(element, sizes), sizes)


def reshaped(lowering: Lowering, value: SSAValue, sizes: Sequence[Size]) -> SSAValue:
    """`value` in another shape of as many elements."""
    given = sizes_of_new(lowering, value)
    type = dynamic_type(ranked_type(value).element_type, sizes)
    if DYNAMIC_INDEX not in (*type.get_shape(), *ranked_type(value).get_shape()):
        return reshape(lowering, value, type.get_shape())
    return reshape_to(lowering, value, given, type, sizes)


Shape = tuple[Size, int, int]
"""How many matrices, of how many rows and columns."""


def any_matrices(lowering: Lowering, value: SSAValue) -> tuple[Size, Size, Size]:
    """The shape of a batch of matrices."""
    *batch, rows, columns = sizes_of(lowering, value)
    return product(lowering, batch), rows, columns


def matrices(lowering: Lowering, value: SSAValue) -> Shape:
    """The shape of a batch of matrices. Raises `Unsupported` where rows or columns are not known."""
    count, rows, columns = any_matrices(lowering, value)
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise Unsupported(f"on {value.type}, matrices whose rows or columns are known only when the program runs,")
    return count, rows, columns


def part_type(element: Attribute) -> AnyFloat:
    """The type in which a kernel computes on numbers of type `element`: at least f32. Raises `Unsupported`."""
    part = element.element_type if is_complex_type(element) else element
    if not isinstance(part, AnyFloat):
        raise Unsupported(f"on {element}")
    return Float32Type() if isinstance(part, (Float16Type, BFloat16Type)) else part


def element_of(value: Value) -> AnyFloat:
    """The type of the numbers of a kernel's operand, or of their parts."""
    return part_type(ranked_type(value[0] if isinstance(value, tuple) else value).element_type)


def to_kernel(lowering: Lowering, old: SSAValue, inner: int) -> Value:
    """The new value of `old` with its batch dimensions as one and its last `inner` dimensions kept."""
    value = lowering.get(old)
    element, sizes = ranked_type(value).element_type, sizes_of_new(lowering, value)
    flat = [product(lowering, sizes[: len(sizes) - inner]), *sizes[len(sizes) - inner :]]
    wide = part_type(element)
    if is_complex_type(element):
        return real_part(lowering, value, flat, False), real_part(lowering, value, flat, True)
    return reshaped(lowering, resized(lowering, value, wide), flat)


def real_part(lowering: Lowering, value: SSAValue, shape: Sequence[Size], imaginary: bool) -> SSAValue:
    """The real or the imaginary part of a complex tensor, in another shape."""
    old = ranked_type(value)
    part = lowering.parallel(
        [(value, identity(len(old.get_shape())))],
        TensorType(part_type(old.element_type), old.get_shape()),
        lambda s, args: s.parts(args[0])[imaginary],
        sizes_of_new(lowering, value),
    )
    return reshaped(lowering, part, shape)


def resized(lowering: Lowering, value: SSAValue, element: AnyFloat) -> SSAValue:
    """A tensor of floats as one of other floats."""
    type = ranked_type(value)
    if type.element_type == element:
        return value
    return lowering.parallel(
        [(value, identity(len(type.get_shape())))],
        TensorType(element, type.get_shape()),
        lambda s, args: s.float_resize(args[0], element),
        sizes_of_new(lowering, value),
    )


def joined(lowering: Lowering, value: Value, type: TensorType, sizes: Sequence[Size] | None = None) -> SSAValue:
    """A kernel's result in a shape and type of the program; `sizes` where the type has `?`."""
    shape = type.get_shape()
    parts = [reshaped(lowering, part, sizes or shape) for part in (value if isinstance(value, tuple) else (value,))]
    if not is_complex_type(type.element_type):
        return resized(lowering, parts[0], type.element_type) if isinstance(type.element_type, AnyFloat) else parts[0]
    return lowering.parallel(
        [(part, identity(len(shape))) for part in parts],
        type,
        lambda s, args: s.create(args[0], args[1] if len(args) > 1 else s.constant(args[0].type, 0.0)),
        sizes,
    )


def from_kernel(lowering: Lowering, old: SSAValue, value: Value, sizes: Sequence[Size] | None = None) -> None:
    """Sets `old` to a kernel's result, in its own shape and type; `sizes` where that has `?`."""
    type = ranked_type(old)
    if sizes is not None:
        type = dynamic_type(type.element_type, sizes)
    lowering.set(old, joined(lowering, value, type, sizes))
