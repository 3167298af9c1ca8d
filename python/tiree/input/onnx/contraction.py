"""Products of matrices, and Einsum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, i32
from xdsl.ir import SSAValue

from tiree.input.expansions.build import element_of, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.build import OnnxBuild, Size, broadcast_shape, rank_of
from tiree.input.onnx.node import Conversion, Node
from tiree.support.typed import is_integer_type


def matmul(build: OnnxBuild, a: SSAValue, b: SSAValue) -> SSAValue:
    """numpy's `matmul`: the last two dimensions, those before broadcast; vectors are rows and columns."""
    if rank_of(a) == 1 or rank_of(b) == 1:
        wide_a = build.unsqueeze(a, [0]) if rank_of(a) == 1 else a
        wide_b = build.unsqueeze(b, [1]) if rank_of(b) == 1 else b
        product = matmul(build, wide_a, wide_b)
        rank = rank_of(product)
        dropped = [rank - 2] if rank_of(a) == 1 else []
        return build.squeeze(product, dropped + ([rank - 1] if rank_of(b) == 1 else []))
    ra, rb = rank_of(a), rank_of(b)
    if rb == 2:
        return build.contract(a, b, ([ra - 1], [0]))
    batch = broadcast_shape(shape_of(a)[:-2], shape_of(b)[:-2])
    sizes = _batch_sizes(build, a, b, batch)
    a, b = (_with_batch(build, value, sizes) for value in (a, b))
    rank = len(batch) + 2
    dims = range(rank - 2)
    return build.contract(a, b, ([rank - 1], [rank - 2]), (dims, dims))


def _batch_sizes(build: OnnxBuild, a: SSAValue, b: SSAValue, batch: Sequence[int]) -> list[Size]:
    """The sizes of the dimensions in front, from the operand that knows them."""
    sizes: list[Size] = list(batch)
    for value in (b, a):
        start = len(batch) - (rank_of(value) - 2)
        for dim, size in enumerate(shape_of(value)[:-2]):
            if batch[start + dim] == DYNAMIC_INDEX == size:
                sizes[start + dim] = build.size(value, dim)
    return sizes


def _with_batch(build: OnnxBuild, value: SSAValue, batch: Sequence[Size]) -> SSAValue:
    start = len(batch) - (rank_of(value) - 2)
    own = shape_of(value)[:-2]
    wanted = [size if isinstance(size, int) else DYNAMIC_INDEX for size in batch]
    if start == 0 and list(own) == wanted:
        return value
    sizes = [*batch, *build.sizes(value)[-2:]]
    return build.repeat(value, sizes, range(start, len(sizes)))


def _matmul(node: Node) -> SSAValue:
    return matmul(node.build, node.input(0), node.input(1))


def _gemm(node: Node) -> SSAValue:
    build, a, b = node.build, node.input(0), node.input(1)
    first, second = (0 if node.int("transA", 0) else 1), (1 if node.int("transB", 0) else 0)
    product = build.contract(a, b, ([first], [second]))
    alpha, beta, offset = node.float("alpha", 1.0), node.float("beta", 1.0), node.optional(2)
    if is_integer_type(element_of(product)) and (alpha != int(alpha) or beta != int(beta)):
        raise Unsupported("of integers with factors that are none")
    product = build.scale(product, alpha)
    return product if offset is None or beta == 0 else build.add_(product, build.scale(offset, beta))


def centered(build: OnnxBuild, value: SSAValue, zero: SSAValue | None, axis: int | None = None) -> SSAValue:
    """Integers less their zero point, which may be one for each place along `axis`, in `i32`."""
    wide = build.convert(value, i32)
    if zero is None:
        return wide
    offset = build.convert(zero, i32)
    if rank_of(offset) == 1 and axis is not None and shape_of(offset) != (1,):
        offset = build.along(offset, axis, rank_of(value))
    elif rank_of(offset) == 1 and shape_of(offset) == (1,):
        offset = build.reshape(offset, [])
    return build.subtract(wide, offset)


def _matmul_integer(node: Node) -> SSAValue:
    a = centered(node.build, node.input(0), node.optional(2), node.rank(0) - 2)
    b = centered(node.build, node.input(1), node.optional(3), node.rank(1) - 1)
    return matmul(node.build, a, b)


# Einsum.


def _parse(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The labels of operands and result; dimensions behind `...` get digits."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ranks):
        raise Unsupported(f"with {len(ranks)} operands for {equation!r}")
    most = 0
    labels: list[str] = []
    for text, rank in zip(inputs, ranks, strict=True):
        count = rank - len(text.replace("...", ""))
        if count < 0 or ("..." not in text and count):
            raise Unsupported(f"with an operand of rank {rank} for {text!r}")
        most = max(most, count)
        labels.append(text.replace("...", "".join(str(9 - at) for at in range(count))[::-1]))
    ellipsis = "".join(str(9 - at) for at in range(most))[::-1]
    if not arrow:
        letters = "".join(labels)
        once = sorted(letter for letter in set(letters) if letters.count(letter) == 1 and letter.isalpha())
        return labels, ellipsis + "".join(once)
    return labels, right.replace("...", ellipsis)


def _diagonal(build: OnnxBuild, value: SSAValue, labels: str) -> tuple[SSAValue, str]:
    """Labels that come twice stand for the elements where both places are the same."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            sizes = build.sizes(value)
            same = build.compare("EQ", build.places(sizes, first, i32), build.places(sizes, second, i32))
            value = build.reduce(build.select(same, value, build.like(value, 0)), [second])
            labels = labels[:second] + labels[second + 1 :]
    return value, labels


def _summed(build: OnnxBuild, value: SSAValue, labels: str, needed: set[str]) -> tuple[SSAValue, str]:
    gone = [dim for dim, label in enumerate(labels) if label not in needed]
    return build.reduce(value, gone), "".join(label for label in labels if label in needed)


def _einsum(node: Node) -> SSAValue:
    build = node.build
    values = node.inputs()
    labels, wanted = _parse(node.string("equation"), [rank_of(value) for value in values])
    pairs = [_diagonal(build, value, text) for value, text in zip(values, labels, strict=True)]
    value, text = pairs[0]
    for number, (other, more) in enumerate(pairs[1:], 1):
        needed = set(wanted).union(*(rest for _, rest in pairs[number + 1 :]))
        value, text = _summed(build, value, text, needed | set(more))
        other, more = _summed(build, other, more, needed | set(text))
        value, text = _pair(build, (value, text), (other, more), needed)
    value, text = _summed(build, value, text, set(wanted))
    missing = [label for label in wanted if label not in text]
    if missing:
        raise Unsupported(f"with {missing[0]!r} in the result only")
    return build.transpose(value, [text.index(label) for label in wanted])


def _pair(build: OnnxBuild, a: tuple[SSAValue, str], b: tuple[SSAValue, str], needed: set[str]) -> tuple[SSAValue, str]:
    """The product of two operands, summed over what nobody needs any more."""
    (first, left), (second, right) = a, b
    # Dimensions behind an ellipsis may be 1 in one of both.
    for label in [label for label in left if label in right]:
        i, j = left.index(label), right.index(label)
        if shape_of(first)[i] != shape_of(second)[j]:
            if shape_of(first)[i] == 1:
                first, left = build.squeeze(first, [i]), left[:i] + left[i + 1 :]
            elif shape_of(second)[j] == 1:
                second, right = build.squeeze(second, [j]), right[:j] + right[j + 1 :]
    shared = [label for label in left if label in right]
    batch = [label for label in shared if label in needed]
    summed = [label for label in shared if label not in needed]

    def places(text: str, chosen: Sequence[str]) -> list[int]:
        return [text.index(label) for label in chosen]

    product = build.contract(
        first,
        second,
        (places(left, summed), places(right, summed)),
        (places(left, batch), places(right, batch)),
    )
    rest = [label for label in left + right if label not in shared]
    return product, "".join([*batch, *rest])


def _determinant(node: Node) -> SSAValue:
    """By elimination with the largest element of each column as pivot."""
    build, value = node.build, node.input(0)
    shape = node.static(0)
    if shape[-1] != shape[-2]:
        raise Unsupported(f"of matrices that are not square: {value.type}")
    size = shape[-1]
    matrix = build.reshape(value, [int(np.prod(shape[:-2], dtype=np.int64)), size, size])
    batch = shape_of(matrix)[0]
    result = build.full(element_of(value), [batch], 1)
    for _ in range(size):
        matrix, factor = _eliminated(build, matrix)
        result = build.multiply(result, factor)
    return build.reshape(result, shape[:-2])


def _eliminated(build: OnnxBuild, matrix: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The matrix without the row and column of its first pivot, and the pivot with the sign of the exchange."""
    from tiree.input.onnx.reductions import place_of_extreme

    batch, size, _ = shape_of(matrix)
    column = build.squeeze(build.part(matrix, 2, 0, 1), [2])
    row = place_of_extreme(build, build.unary("abs", column), 1, "GT")
    chosen = build.compare("EQ", build.counted([batch, size], 1, i32), build.unsqueeze(row, [1]))
    mask = build.unsqueeze(chosen, [2])
    zero = build.like(matrix, 0)
    pivot_row = build.reduce(build.select(mask, matrix, zero), [1])
    first_row = build.part(matrix, 1, 0, 1)
    swapped = build.select(mask, first_row, matrix)
    pivot = build.squeeze(build.part(pivot_row, 1, 0, 1), [1])
    rest = build.part(build.part(swapped, 1, 1, size), 2, 1, size)
    below = build.part(build.part(swapped, 1, 1, size), 2, 0, 1)
    is_zero = build.compare("EQ", pivot, zero)
    divisor = build.select(is_zero, build.like(pivot, 1), pivot)
    ratio = build.divide(below, build.reshape(divisor, [batch, 1, 1]))
    tail = build.unsqueeze(build.part(pivot_row, 1, 1, size), [1])
    rest = build.subtract(rest, build.multiply(ratio, tail))
    sign = build.select(build.compare("EQ", row, build.constant(i32, 0)), build.like(pivot, 1), build.like(pivot, -1))
    return rest, build.multiply(pivot, sign)


CONVERSIONS: dict[str, Conversion] = {
    "Det": _determinant,
    "Einsum": _einsum,
    "Gemm": _gemm,
    "MatMul": _matmul,
    "MatMulInteger": _matmul_integer,
}
