"""Ops with a body that combines elements: reductions, windows, sorts, maps; top-k and batch normalisation."""

from __future__ import annotations

from collections.abc import Sequence

from tiree.testing.conformance.draws.program import (
    FLOATS,
    REALS,
    Draw,
    Drawn,
    Entry,
    Value,
    body,
    integers,
    is_complex,
    is_float,
    is_unsigned,
    tensor,
)

_SUMMED = (*REALS, "complex<f32>", "complex<f64>")


def _reducer(d: Draw, element: str) -> tuple[str, Value, dict[str, float]]:
    """An op, its neutral element, and limits of the values that keep sums and products tame."""
    names = ["add", "multiply"]
    if not is_complex(element):
        names += ["maximum", "minimum"]
    if element[0] in "iu":
        names += ["and", "or", "xor"]
    name = d.pick(names)
    neutral = {"multiply": 1, "and": -1}.get(name, 0)
    if element == "i1":
        neutral = abs(neutral)
    elif is_unsigned(element) and neutral < 0:
        neutral = 2 ** int(element[2:]) - 1
    limits: dict[str, float] = {"edges": 0}
    if name == "multiply":
        limits |= {"low": 0.5, "high": 1.5} if is_float(element) else {}
    elif name in ("maximum", "minimum"):
        # A neutral element is not asked for: any initial value takes part.
        limits = {"edges": 8}
    elif is_float(element):
        limits |= {"low": -2, "high": 2}
    return f"stablehlo.{name}", d.scalar(neutral, element), limits


def _reduce(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(lowest=1)
    # Whether an initial value takes part where nothing is reduced is up to the implementation.
    dims = d.subset(len(shape), fewest=1)
    op, neutral, limits = _reducer(d, element)
    result = [extent for dim, extent in enumerate(shape) if dim not in dims]
    value = d.argument(shape, element, **limits)
    properties = f"dimensions = {integers(dims)}"
    return d.done([d.one(name, [value, neutral], result, element, properties, [body(op, element)])])


def _windows(d: Draw, shape: Sequence[int], dilate: bool) -> tuple[list[int], dict[str, list[int]], list[int]]:
    """Window sizes, the properties beside them, and the shape of the result."""
    rank = len(shape)
    sizes = [d.pick((1, 2, 3)) for _ in range(rank)]
    strides = [d.pick((1, 2, 3)) for _ in range(rank)]
    base = [d.pick((1, 1, 2)) if dilate else 1 for _ in range(rank)]
    window = [d.pick((1, 1, 2)) if dilate else 1 for _ in range(rank)]
    pads = [d.pick((0, 1, 2)) for _ in range(2 * rank)]
    result: list[int] = []
    for dim, extent in enumerate(shape):
        padded = (max(0, extent - 1) * base[dim] + 1 if extent else 0) + pads[2 * dim] + pads[2 * dim + 1]
        reach = (sizes[dim] - 1) * window[dim] + 1
        result.append((padded - reach) // strides[dim] + 1 if padded >= reach else 0)
    return (
        sizes,
        {"window_strides": strides, "base_dilations": base, "window_dilations": window, "padding": pads},
        result,
    )


def _padding(pads: Sequence[int]) -> str:
    pairs = [[pads[at], pads[at + 1]] for at in range(0, len(pads), 2)]
    return f"padding = dense<{pairs}> : tensor<{len(pairs)}x2xi64>"


def _reduce_window(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(lowest=1, highest=3)
    sizes, more, result = _windows(d, shape, dilate=True)
    op, neutral, limits = _reducer(d, element)
    value = d.argument(shape, element, **limits)
    pads = more.pop("padding")
    properties = ", ".join(
        [f"window_dimensions = {integers(sizes)}", *(f"{key} = {integers(row)}" for key, row in more.items())]
    )
    properties += ", " + _padding(pads)
    return d.done([d.one(name, [value, neutral], result, element, properties, [body(op, element)])])


def _compare_region(element: str, direction: str) -> str:
    scalar = tensor((), element)
    kind = "FLOAT" if is_float(element) else "UNSIGNED" if is_unsigned(element) else "SIGNED"
    return (
        f"{{\n  ^bb0(%x0: {scalar}, %x1: {scalar}):\n"
        '    %y = "stablehlo.compare"(%x0, %x1) '
        f"<{{comparison_direction = #stablehlo<comparison_direction {direction}>, "
        f"compare_type = #stablehlo<comparison_type {kind}>}}> : ({scalar}, {scalar}) -> tensor<i1>\n"
        '    "stablehlo.return"(%y) : (tensor<i1>) -> ()\n  }'
    )


def _select_and_scatter(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(lowest=1, highest=3, zero=0)
    sizes, more, result = _windows(d, shape, dilate=False)
    # No window lies in the padding alone.
    pads = [min(pad, sizes[at // 2] - 1) for at, pad in enumerate(more["padding"])]
    result = [
        max(0, (extent + pads[2 * dim] + pads[2 * dim + 1] - sizes[dim]) // more["window_strides"][dim] + 1)
        for dim, extent in enumerate(shape)
    ]
    operands = [
        d.argument(shape, element, low=-50, high=50, edges=0),
        d.argument(result, element, edges=0),
        d.scalar(0, element),
    ]
    strides = integers(more["window_strides"])
    properties = f"window_dimensions = {integers(sizes)}, window_strides = {strides}, {_padding(pads)}"
    regions = [_compare_region(element, "GE"), body("stablehlo.add", element)]
    return d.done([d.one(name, operands, shape, element, properties, regions)])


def _sort(d: Draw, name: str, element: str) -> Drawn:
    """One array, or one whose order moves a second one along; stable, so that equal keys have one right order."""
    shape = d.shape(lowest=1, highest=3)
    dim = d.below(len(shape))
    values = [d.argument(shape, element, edges=10 if not is_float(element) else 0)]
    direction = d.pick(("LT", "GT"))
    region = _compare_region(element, direction)
    if d.chance(50):
        values.append(d.argument(shape, "i32"))
        scalar = tensor((), element)
        region = region.replace(f"%x1: {scalar})", f"%x1: {scalar}, %x2: tensor<i32>, %x3: tensor<i32>)")
    properties = f"dimension = {dim} : i64, is_stable = true"
    results = [(value.shape, value.element) for value in values]
    return d.done(d.op(name, values, results, properties, [region]))


def _top_k(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(lowest=1, highest=3, zero=0)
    k = 1 + d.below(shape[-1])
    result = (*shape[:-1], k)
    value = d.argument(shape, element, low=-100, high=100, edges=0)
    return d.done(d.op(name, [value], [(result, element), (result, "i32")], f"k = {k} : i64"))


def _map(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    values = [d.argument(shape, element, edges=0) for _ in range(2)]
    properties = f"dimensions = {integers(range(len(shape)))}"
    return d.done([d.one(name, values, shape, element, properties, [body("stablehlo.multiply", element)])])


def _batch_norm(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(lowest=1, highest=4, zero=0)
    feature = d.below(len(shape))
    side = (shape[feature],)
    properties = f"epsilon = 1.0e-01 : f32, feature_index = {feature} : i64"
    x = d.argument(shape, element, edges=0)
    scale, offset, mean = (d.argument(side, element, edges=0) for _ in range(3))
    variance = d.argument(side, element, low=0.5, high=2, edges=0)
    if name.endswith("inference"):
        return d.done([d.one(name, [x, scale, offset, mean, variance], shape, element, properties)])
    results = [(shape, element), (side, element), (side, element)]
    if name.endswith("training"):
        return d.done(d.op(name, [x, scale, offset], results, properties))
    grad = d.argument(shape, element, edges=0)
    return d.done(d.op(name, [x, scale, mean, variance, grad], results, properties))


REDUCTIONS: dict[str, Entry] = {
    "stablehlo.reduce": Entry(_reduce, (*_SUMMED, "i1")),
    "stablehlo.reduce_window": Entry(_reduce_window, _SUMMED),
    "stablehlo.select_and_scatter": Entry(_select_and_scatter, ("f32", "f64", "i32")),
    "stablehlo.sort": Entry(_sort, REALS),
    "stablehlo.map": Entry(_map, ("f32", "i32", "f64")),
    "chlo.top_k": Entry(_top_k, REALS),
    "stablehlo.batch_norm_inference": Entry(_batch_norm, FLOATS[:2]),
    "stablehlo.batch_norm_training": Entry(_batch_norm, FLOATS[:2]),
    "stablehlo.batch_norm_grad": Entry(_batch_norm, FLOATS[:2]),
}
