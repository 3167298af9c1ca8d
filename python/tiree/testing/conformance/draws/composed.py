"""Ops that stand for several others: einsum, ragged_dot, scan, quantization, custom calls, asynchronous ops.

XLA does not take all of them; then it judges a program of plainer ops that must compute the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tiree.testing.conformance.draws.program import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    Draw,
    Drawn,
    Entry,
    Value,
    body,
    integers,
    is_complex,
    is_float,
    tensor,
)

_SIZES = (2, 3, 1, 4, 5, 7)


def _with_known(d: Draw, results: Sequence[Value], same: Callable[[Draw], Sequence[Value]]) -> Drawn:
    """The program, and the one of plainer ops that `same` appends."""
    other = Draw(d.choices)
    other.arguments = d.arguments
    drawn = d.done(results)
    drawn.known = other.done(same(other)).text
    return drawn


def _tame(element: str) -> dict[str, float]:
    return {"low": -2, "high": 2, "edges": 0} if is_float(element) or is_complex(element) else {"edges": 0}


def _einsum(d: Draw, name: str, element: str) -> Drawn:
    """Labels in any order; some are summed in one operand alone."""
    left = "".join("abcd"[place] for place in d.permutation(4))[: 1 + d.below(3)]
    right = "".join("cdef"[place] for place in d.permutation(4))[: 1 + d.below(3)]
    sizes = {label: d.extent(_SIZES) for label in "abcdef"}
    labels = sorted({*left, *right})
    kept = [labels[at] for at in d.permutation(len(labels))][: d.below(len(labels) + 1)]
    values = [d.argument([sizes[label] for label in text], element, **_tame(element)) for text in (left, right)]
    result = d.one(
        name, values, [sizes[label] for label in kept], element, f'einsum_config = "{left},{right}->{"".join(kept)}"'
    )
    return d.done([result])


def _unary_einsum(d: Draw, name: str, element: str) -> Drawn:
    left = "".join("abc"[place] for place in d.permutation(3))[: 1 + d.below(3)]
    sizes = {label: d.extent(_SIZES) for label in left}
    kept = [left[at] for at in d.permutation(len(left))][: d.below(len(left) + 1)]
    value = d.argument([sizes[label] for label in left], element, **_tame(element))
    properties = f'einsum_config = "{left}->{"".join(kept)}"'
    shape = [sizes[label] for label in kept]
    result = d.one(name, [value], shape, element, properties)

    def same(other: Draw) -> Sequence[Value]:
        order = [label for label in left if label in kept]
        gone = [at for at, label in enumerate(left) if label not in kept]
        region = body("stablehlo.add", element)
        total = other.one(
            "stablehlo.reduce",
            [value, other.scalar(0, element)],
            [sizes[label] for label in order],
            element,
            f"dimensions = {integers(gone)}",
            [region],
        )
        permutation = f"permutation = {integers([order.index(label) for label in kept])}"
        return [other.one("stablehlo.transpose", [total], shape, element, permutation)]

    return _with_known(d, [result], same)


def _ragged_dot(d: Draw, name: str, element: str) -> Drawn:
    """Rows in groups, each with a matrix of its own; the last rows may be of none."""
    groups, rows, inner, columns = (d.extent(_SIZES) for _ in range(4))
    sizes: list[int] = []
    left = rows
    for _ in range(groups):
        sizes.append(d.below(left + 1))
        left -= sizes[-1]
    operands = [
        d.argument((rows, inner), element, **_tame(element)),
        d.argument((groups, inner, columns), element, **_tame(element)),
        d.given(np.array(sizes, np.int32), "i32"),
    ]
    properties = (
        "ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], "
        "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], "
        "rhs_group_dimensions = [0]>, precision_config = [#chlo<precision HIGHEST>, #chlo<precision HIGHEST>]"
    )
    result = d.one(name, operands, (rows, columns), element, properties)
    starts = np.cumsum([0, *sizes])

    def same(other: Draw) -> Sequence[Value]:
        parts: list[Value] = []
        for group, size in enumerate(sizes):
            start = int(starts[group])
            lhs = _slice(other, operands[0], [start, 0], [start + size, inner])
            rhs = _slice(other, operands[1], [group, 0, 0], [group + 1, inner, columns])
            rhs = other.one("stablehlo.reshape", [rhs], (inner, columns), element)
            numbers = "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
            numbers += "rhs_contracting_dimensions = [0]>"
            parts.append(other.one("stablehlo.dot_general", [lhs, rhs], (size, columns), element, numbers))
        rest = (rows - int(starts[-1]), columns)
        zero = other.scalar(0, element)
        parts.append(
            other.one("stablehlo.broadcast_in_dim", [zero], rest, element, "broadcast_dimensions = array<i64>")
        )
        return [other.one("stablehlo.concatenate", parts, (rows, columns), element, "dimension = 0 : i64")]

    return _with_known(d, [result], same)


def _slice(d: Draw, value: Value, starts: Sequence[int], limits: Sequence[int]) -> Value:
    properties = (
        f"start_indices = {integers(starts)}, limit_indices = {integers(limits)}, "
        f"strides = {integers([1] * len(starts))}"
    )
    shape = [limit - start for start, limit in zip(starts, limits, strict=True)]
    return d.one("stablehlo.slice", [value], shape, value.element, properties)


def _scan(d: Draw, name: str, element: str) -> Drawn:
    """Running sums, products and the like along a dimension, from either end; the last value too."""
    shape = list(d.shape(lowest=1, highest=3, zero=0))
    dim, reverse = d.below(len(shape)), d.chance(40)
    op = d.pick(("add", "multiply", "subtract"))
    rest = shape[:dim] + shape[dim + 1 :]
    limits = {"low": 0.5, "high": 1.5, "edges": 0} if op == "multiply" else _tame(element)
    values = [d.argument(shape, element, **limits), d.argument(rest, element, **limits)]
    type = tensor(rest, element)
    region = (
        f"{{\n  ^bb0(%x: {type}, %c: {type}):\n    %y = stablehlo.{op} %c, %x : {type}\n"
        f'    "stablehlo.return"(%y, %y) : ({type}, {type}) -> ()\n  }}'
    )
    properties = (
        f"dimension = {dim} : i64, is_reverse = {str(reverse).lower()}, "
        "operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>"
    )
    results = d.op(name, values, [(shape, element), (rest, element)], properties, [region])

    def same(other: Draw) -> Sequence[Value]:
        total, parts = values[1], list[Value]()
        order = range(shape[dim])
        for at in reversed(order) if reverse else order:
            starts, ends = [0] * len(shape), list(shape)
            starts[dim], ends[dim] = at, at + 1
            here = other.one("stablehlo.reshape", [_slice(other, values[0], starts, ends)], rest, element)
            total = other.one(f"stablehlo.{op}", [total, here], rest, element)
            one = [*rest[:dim], 1, *rest[dim:]]
            parts.append(other.one("stablehlo.reshape", [total], one, element))
        parts = parts[::-1] if reverse else parts
        return [other.one("stablehlo.concatenate", parts, shape, element, f"dimension = {dim} : i64"), total]

    return _with_known(d, results, same)


_STORAGES = {"i8": (-128, 127), "u8": (0, 255), "i16": (-32768, 32767), "i4": (-8, 7), "u4": (0, 15)}


def _scales(d: Draw, element: str) -> tuple[str, float, int, tuple[int, int]]:
    # The bounds of a storage type must be numbers of the expressed type.
    storage = d.pick(("i8", "u8", "i4", "u4") + (("i16",) if element in ("f32", "f64") else ()))
    low, high = _STORAGES[storage]
    scale, zero = d.pick((0.5, 1.0, 2.0, 0.25)), low + d.below(high - low + 1)
    return f"!quant.uniform<{storage}:{element}, {scale!r}:{zero}>", scale, zero, (low, high)


def _filled(d: Draw, number: float, shape: Sequence[int], element: str) -> Value:
    return d.one(
        "stablehlo.broadcast_in_dim",
        [d.scalar(number, element)],
        shape,
        element,
        "broadcast_dimensions = array<i64>",
    )


def _quantize(d: Draw, name: str, element: str) -> Drawn:
    """Quantized and back, since a quantized type is no type of XLA's: what is rounded and clamped is kept."""
    del name
    if element not in FLOATS:
        raise ValueError("quantized types stand for floats")
    shape = d.shape()
    type, scale, zero, (low, high) = _scales(d, element)
    value = d.argument(shape, element, low=-200, high=200, edges=0)
    at = len(d.lines)
    quantized = tensor(shape, type)
    d.lines.append(f'%{at}:1 = "stablehlo.uniform_quantize"({value.name}) : ({value.type}) -> {quantized}')
    place = len(d.lines)
    d.lines.append(f'%{place}:1 = "stablehlo.uniform_dequantize"(%{at}#0) : ({quantized}) -> {value.type}')

    def same(other: Draw) -> Sequence[Value]:
        """The steps of the specification, each rounded to the expressed type."""
        wide = "f64" if element == "f64" else "f32"

        def step(op: str, *operands: Value) -> Value:
            found = other.one(f"stablehlo.{op}", operands, shape, wide)
            bits = {"f16": (5, 10), "bf16": (8, 7)}.get(element)
            if bits is None:
                return found
            properties = f"exponent_bits = {bits[0]} : i32, mantissa_bits = {bits[1]} : i32"
            return other.one("stablehlo.reduce_precision", [found], shape, wide, properties)

        steps = [_filled(other, number, shape, wide) for number in (scale, zero, low, high)]
        x = other.one("stablehlo.convert", [value], shape, wide)
        x = step("add", step("divide", x, steps[0]), steps[1])
        x = step("round_nearest_even", step("clamp", steps[2], x, steps[3]))
        x = step("multiply", step("subtract", x, steps[1]), steps[0])
        return [other.one("stablehlo.convert", [x], shape, element)]

    return _with_known(d, [Value(f"%{place}#0", tuple(shape), element)], same)


_FUNCTIONS = ("acos", "asin", "atanh", "erf_inv", "atan", "asinh", "sinh", "cosh", "erf", "square", "tan")


def _custom_call(d: Draw, name: str, element: str) -> Drawn:
    """A function that JAX's exporters name by a call."""
    function = d.pick(_FUNCTIONS)
    shape = d.shape()
    value = d.argument(shape, element, low=-0.95, high=0.95, edges=0)
    result = d.one(name, [value], shape, element, f'call_target_name = "mhlo.{function}"')
    return _with_known(d, [result], lambda other: [other.one(f"chlo.{function}", [value], shape, element)])


def _asynchronous(d: Draw, name: str, element: str) -> Drawn:
    """A slice that is started and waited for: `name` is either."""
    del name
    shape = d.shape(lowest=1)
    value = d.argument(shape, element)
    limits = [d.below(extent + 1) for extent in shape]
    part = tensor(limits, element)
    at = len(d.lines)
    d.lines.append(
        f'%{at}:1 = "stablehlo.async_start"({value.name}) ({{\n  ^bb0(%x: {value.type}):\n'
        f'    %y = "stablehlo.slice"(%x) <{{start_indices = {integers([0] * len(shape))}, '
        f"limit_indices = {integers(limits)}, strides = {integers([1] * len(shape))}}}> "
        f': ({value.type}) -> {part}\n    "stablehlo.return"(%y) : ({part}) -> ()\n  }}) '
        f": ({value.type}) -> !stablehlo.future<{part}>"
    )
    place = len(d.lines)
    d.lines.append(f'%{place}:1 = "stablehlo.async_done"(%{at}#0) : (!stablehlo.future<{part}>) -> {part}')
    result = Value(f"%{place}#0", tuple(limits), element)
    return _with_known(d, [result], lambda other: [_slice(other, value, [0] * len(shape), limits)])


def _cross_replica_sum(d: Draw, name: str, element: str) -> Drawn:
    """The sum over a group of one process."""
    value = d.argument(d.shape(), element, edges=0)
    result = d.one(name, [value], value.shape, element, "replica_groups = dense<0> : tensor<1x1xi64>")

    def same(other: Draw) -> Sequence[Value]:
        return other.op("stablehlo.optimization_barrier", [value], [(value.shape, element)])

    return _with_known(d, [result], same)


def _kernel(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    return d.done([d.one(name, [d.argument(shape, element)], shape, element)])


_REALS = (*FLOATS, *INTEGERS)
COMPOSED: dict[str, Entry] = {
    "stablehlo.einsum": Entry(_einsum, (*FLOATS, *COMPLEX, "i32", "i64")),
    "stablehlo.unary_einsum": Entry(_unary_einsum, (*FLOATS, *COMPLEX, "i32", "i64")),
    "chlo.ragged_dot": Entry(_ragged_dot, (*FLOATS, "i32")),
    "chlo.scan": Entry(_scan, (*_REALS, *COMPLEX)),
    "stablehlo.uniform_quantize": Entry(_quantize, FLOATS),
    "stablehlo.uniform_dequantize": Entry(_quantize, FLOATS),
    "stablehlo.custom_call": Entry(_custom_call, FLOATS),
    "stablehlo.async_start": Entry(_asynchronous, ("f32", "i32")),
    "stablehlo.async_done": Entry(_asynchronous, ("f32", "i32")),
    "stablehlo.cross-replica-sum": Entry(_cross_replica_sum, ("f32", "i32")),
    "chlo._asin_acos_kernel": Entry(_kernel, COMPLEX),
}
