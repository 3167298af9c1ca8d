"""Ops that make or move elements without arithmetic: constants, iota, broadcasts, reshapes, slices, pads."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects.dense import DenseAttr
from tiree.dialects.tensor_dims import is_dynamic
from tiree.input.lowering.context import (
    Lowering,
    ScalarAttr,
    Splat,
    Unsupported,
    map_attr,
    ranked_type,
    signless,
    splat_of,
    tensor_type,
)
from tiree.input.lowering.scalar import ScalarBuilder, inherent, widened
from tiree.support.typed import is_complex_type, is_integer_attr, is_tensor_type


def first_argument(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
    """The body of a generic that only moves elements."""
    del s
    return args[0]


def int_property(op: Operation, name: str, default: int | None = None) -> int:
    """An integer property. Raises `Unsupported` when it is missing or something else."""
    attr = inherent(op, name)
    if is_integer_attr(attr):
        return attr.value.data
    if attr is None and default is not None:
        return default
    raise Unsupported(f"without an integer {name}")


def ints_property(op: Operation, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
    """A list of integers: `array<i64: ...>`, or `dense<...>` as older text has it (flattened)."""
    attr = inherent(op, name)
    if isinstance(attr, DenseArrayBase):
        return tuple(int(value) for value in attr.get_values())
    if isinstance(attr, DenseAttr):
        return tuple(int(value) for value in attr.to_numpy().reshape(-1).tolist())
    if attr is None and default is not None:
        return tuple(default)
    raise Unsupported(f"without a list of integers {name}")


def new_type(op: Operation) -> TensorType:
    """The signless type of the first result, whose dimensions may be `?`."""
    type = signless(ranked_type(op.results[0]))
    assert is_tensor_type(type)
    return type


def result_type(op: Operation) -> TensorType:
    """The signless type of the first result, which must be static."""
    type = signless(tensor_type(op.results[0]))
    assert is_tensor_type(type)
    return type


def set_constant(lowering: Lowering, old: SSAValue, value: DenseAttr) -> None:
    """`value` stands for `old`: as a splat when it is one."""
    scalar = splat_of(value)
    if scalar is not None and is_tensor_type(value.type):
        lowering.set(old, Splat(scalar, value.type))
    else:
        lowering.set(old, lowering.constant(value))


def _constant(lowering: Lowering, op: Operation) -> None:
    value = inherent(op, "value")
    type = signless(tensor_type(op.results[0]))
    if not isinstance(value, DenseAttr) or not is_tensor_type(type):
        raise Unsupported(f"with the value {value}")
    set_constant(lowering, op.results[0], DenseAttr(type, value.data))


def _iota(lowering: Lowering, op: Operation) -> None:
    type = result_type(op)
    dim = int_property(op, "iota_dimension")
    element = type.element_type

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        return position(s, dim, element)

    lowering.set(op.results[0], lowering.parallel([], type, body))


_I64 = IntegerType(64)


def position(s: ScalarBuilder, dim: int, element: Attribute) -> SSAValue:
    """The counter of loop `dim` as a number of type `element`."""
    if is_complex_type(element):
        return s.create(position(s, dim, element.element_type), s.constant(element.element_type, 0.0))
    at = s.index(dim)
    if isinstance(element, AnyFloat):
        integer = s.cast(arith.IndexCastOp, at, _I64)
        return s.float_resize(s.cast(arith.SIToFPOp, integer, widened(element)), element)
    return s.cast(arith.IndexCastOp, at, element)


def _broadcast_in_dim(lowering: Lowering, op: Operation) -> None:
    type = result_type(op)
    source, dims = op.operands[0], ints_property(op, "broadcast_dimensions")
    scalar = lowering.splat(source)
    if scalar is not None:
        lowering.set(op.results[0], Splat(scalar, type))
        return
    # A chain of broadcasts reads from its first source.
    while isinstance(inner := source.owner, Operation) and inner.name == "stablehlo.broadcast_in_dim":
        inner_dims = ints_property(inner, "broadcast_dimensions")
        dims = tuple(dims[d] for d in inner_dims)
        source = inner.operands[0]
    lowering.set(op.results[0], broadcast(lowering, lowering.get(source), dims, type))


def broadcast(lowering: Lowering, value: SSAValue, dims: Sequence[int], type: TensorType) -> SSAValue:
    """`value` repeated into `type`; its dimension i becomes `dims[i]`, or is repeated where its size is 1."""
    assert is_tensor_type(value.type)
    shape, target = value.type.get_shape(), type.get_shape()
    for size, dim in zip(shape, dims, strict=True):
        if size not in (1, target[dim]):
            raise Unsupported(f"from {value.type} to {type}")
    kept = [i for i, dim in enumerate(dims) if shape[i] == target[dim]]
    if len(kept) == len(target) and all(dims[i] == n for n, i in enumerate(kept)) and len(kept) == len(shape):
        return value
    if len(kept) < len(shape):
        value = squeeze(lowering, value, [i for i in range(len(shape)) if i not in kept])
    return lowering.parallel([(value, map_attr(len(target), tuple(dims[i] for i in kept)))], type, first_argument)


def squeeze(lowering: Lowering, value: SSAValue, dims: Sequence[int]) -> SSAValue:
    """`value` without its dimensions `dims`, all of size 1."""
    assert is_tensor_type(value.type)
    shape = value.type.get_shape()
    kept = [size for i, size in enumerate(shape) if i not in set(dims)]
    return reshape(lowering, value, kept)


def _broadcast(lowering: Lowering, op: Operation) -> None:
    type = result_type(op)
    scalar = lowering.splat(op.operands[0])
    if scalar is not None:
        lowering.set(op.results[0], Splat(scalar, type))
        return
    rank, source_rank = len(type.get_shape()), len(tensor_type(op.operands[0]).get_shape())
    value = broadcast(lowering, lowering.get(op.operands[0]), range(rank - source_rank, rank), type)
    lowering.set(op.results[0], value)


def _reshape(lowering: Lowering, op: Operation) -> None:
    type = result_type(op)
    source = op.operands[0]
    scalar = lowering.splat(source)
    if scalar is not None:
        lowering.set(op.results[0], Splat(scalar, type))
        return
    constant = lowering.constant_value(source)
    if constant is not None:
        lowering.set(op.results[0], lowering.constant(DenseAttr(type, constant.data)))
        return
    while isinstance(inner := source.owner, Operation) and inner.name == "stablehlo.reshape":
        if is_dynamic(inner.operands[0]):
            break
        source = inner.operands[0]
    lowering.set(op.results[0], reshape(lowering, lowering.get(source), type.get_shape()))


def reshape(lowering: Lowering, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """`value` with another shape of as many elements: a collapse, an expand, or the two through their common groups."""
    assert is_tensor_type(value.type)
    source = value.type.get_shape()
    if tuple(source) == tuple(shape):
        return value
    if 0 in source:
        return lowering.empty(TensorType(value.type.element_type, shape))
    if not shape:
        return lowering.collapse(value, [], shape)
    if not source:
        # Not an expand_shape: xDSL does not verify one of rank 0.
        type = TensorType(value.type.element_type, shape)
        return lowering.parallel([(value, map_attr(len(shape), ()))], type, first_argument)
    pairs = _common_groups(source, shape)
    middle = [prod(source[d] for d in group) for group, _ in pairs]
    if len(middle) != len(source):
        value = lowering.collapse(value, [group for group, _ in pairs], middle)
    if len(middle) != len(shape):
        value = lowering.expand(value, [group for _, group in pairs], shape)
    return value


def _common_groups(source: Sequence[int], target: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """The finest split of both shapes into runs of equal products; trailing ones join the last run."""
    pairs: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(source) and j < len(target):
        left, right = [i], [j]
        a, b = source[i], target[j]
        i, j = i + 1, j + 1
        while a != b:
            if a < b:
                a *= source[i]
                left.append(i)
                i += 1
            else:
                b *= target[j]
                right.append(j)
                j += 1
        pairs.append((left, right))
    pairs[-1][0].extend(range(i, len(source)))
    pairs[-1][1].extend(range(j, len(target)))
    return pairs


def _transpose(lowering: Lowering, op: Operation) -> None:
    type = result_type(op)
    permutation = ints_property(op, "permutation")
    scalar = lowering.splat(op.operands[0])
    if scalar is not None:
        lowering.set(op.results[0], Splat(scalar, type))
        return
    lowering.set(op.results[0], transpose(lowering, lowering.get(op.operands[0]), permutation))


def transpose(lowering: Lowering, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
    """Result dimension i is source dimension `permutation[i]`."""
    if list(permutation) == list(range(len(permutation))):
        return value
    assert is_tensor_type(value.type)
    shape = value.type.get_shape()
    type = TensorType(value.type.element_type, [shape[p] for p in permutation])
    inverse = tuple(permutation.index(d) for d in range(len(permutation)))
    return lowering.parallel([(value, map_attr(len(shape), inverse))], type, first_argument)


def _slice(lowering: Lowering, op: Operation) -> None:
    type = result_type(op)
    scalar = lowering.splat(op.operands[0])
    if scalar is not None:
        lowering.set(op.results[0], Splat(scalar, type))
        return
    value = lowering.get(op.operands[0])
    if value.type == type:
        lowering.set(op.results[0], value)
        return
    starts, strides = ints_property(op, "start_indices"), ints_property(op, "strides")
    lowering.set(op.results[0], lowering.slice(value, starts, type.get_shape(), strides))


def _concatenate(lowering: Lowering, op: Operation) -> None:
    type = result_type(op)
    dim = int_property(op, "dimension")
    parts = [value for value in op.operands if 0 not in tensor_type(value).get_shape()]
    if len(parts) == 1:
        lowering.set(op.results[0], lowering.get(parts[0]))
        return
    result = lowering.empty(type)
    offsets = [0] * len(type.get_shape())
    for part in parts:
        sizes = tensor_type(part).get_shape()
        result = lowering.insert(lowering.get(part), result, offsets, sizes)
        offsets[dim] += sizes[dim]
    lowering.set(op.results[0], result)


def _pad(lowering: Lowering, op: Operation) -> None:
    low, high = ints_property(op, "edge_padding_low"), ints_property(op, "edge_padding_high")
    interior = ints_property(op, "interior_padding")
    type = result_type(op)
    fill = lowering.splat(op.operands[1])
    if fill is not None and fill == lowering.splat(op.operands[0]):
        lowering.set(op.results[0], Splat(fill, type))
        return
    value = lowering.get(op.operands[0])
    if fill is not None and not any(interior):
        lowering.set(op.results[0], pad_edges(lowering, value, fill, low, high))
        return
    lowering.set(op.results[0], pad_general(lowering, value, lowering.get(op.operands[1]), low, interior, type))


def pad_edges(
    lowering: Lowering, value: SSAValue, fill: ScalarAttr, low: Sequence[int], high: Sequence[int]
) -> SSAValue:
    """Padding with a constant; negative amounts cut."""
    assert is_tensor_type(value.type)
    shape = value.type.get_shape()
    cut_low, cut_high = [max(0, -a) for a in low], [max(0, -b) for b in high]
    if any(cut_low) or any(cut_high):
        sizes = [s - a - b for s, a, b in zip(shape, cut_low, cut_high, strict=True)]
        if min(sizes) < 0:
            # More is cut than there is: what remains is padding only.
            result = [s + a + b for s, a, b in zip(shape, low, high, strict=True)]
            return lowering.fill(fill, TensorType(value.type.element_type, result))
        value = lowering.slice(value, cut_low, sizes)
    return lowering.pad(value, fill, [max(0, a) for a in low], [max(0, b) for b in high])


def pad_general(
    lowering: Lowering,
    value: SSAValue,
    fill: SSAValue,
    low: Sequence[int],
    interior: Sequence[int],
    type: TensorType,
) -> SSAValue:
    """Padding with gaps, or with a value that is not constant: each element reads the source or takes `fill`."""
    assert is_tensor_type(value.type)
    shape = value.type.get_shape()
    rank = len(shape)
    if 0 in shape:
        return lowering.parallel([(fill, map_attr(rank, ()))], type, first_argument)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        inside: SSAValue | None = None
        indices: list[SSAValue] = []
        for dim in range(rank):
            position = s.index(dim)
            if low[dim]:
                position = s.sub(position, s.constant(position.type, low[dim]))
            conditions: list[SSAValue] = []
            quotient = position
            if low[dim] > 0:
                conditions.append(s.cmpi("sge", position, s.constant(position.type, 0)))
            step = interior[dim] + 1
            if step > 1:
                width = s.constant(position.type, step)
                positive = s.binary(arith.MaxSIOp, position, s.constant(position.type, 0))
                quotient = s.binary(arith.DivUIOp, positive, width)
                remainder = s.sub(positive, s.mul(quotient, width))
                conditions.append(s.cmpi("eq", remainder, s.constant(position.type, 0)))
            conditions.append(s.cmpi("slt", quotient, s.constant(position.type, shape[dim])))
            for condition in conditions:
                inside = condition if inside is None else s.and_(inside, condition)
            indices.append(s.clamp_index(quotient, 0, shape[dim] - 1))
        element = s.extract(value, indices)
        return element if inside is None else s.select(inside, element, args[0])

    return lowering.parallel([(fill, map_attr(rank, ()))], type, body)


def _reverse(lowering: Lowering, op: Operation) -> None:
    lowering.set(op.results[0], reverse(lowering, lowering.get(op.operands[0]), ints_property(op, "dimensions")))


def reverse(lowering: Lowering, value: SSAValue, dims: Sequence[int]) -> SSAValue:
    """`value` read backwards along `dims`."""
    assert is_tensor_type(value.type)
    shape = value.type.get_shape()
    if 0 in shape or not dims:
        return value

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        at: list[SSAValue] = []
        for dim, size in enumerate(shape):
            position = s.index(dim)
            at.append(s.sub(s.constant(position.type, size - 1), position) if dim in dims else position)
        return s.extract(value, at)

    # Not a map with negative factors: linalg's verifier computes its extent from the first iteration only.
    return lowering.parallel([], value.type, body)


def pass_through(lowering: Lowering, op: Operation) -> None:
    """The results are the operands."""
    for operand, result in zip(op.operands, op.results, strict=True):
        lowering.set(result, lowering.values[operand])


HANDLERS = {
    "stablehlo.constant": _constant,
    "chlo.constant": _constant,
    "stablehlo.iota": _iota,
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.broadcast": _broadcast,
    "stablehlo.reshape": _reshape,
    "stablehlo.transpose": _transpose,
    "stablehlo.slice": _slice,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.pad": _pad,
    "stablehlo.reverse": _reverse,
    "stablehlo.optimization_barrier": pass_through,
    "sdy.sharding_constraint": pass_through,
}
