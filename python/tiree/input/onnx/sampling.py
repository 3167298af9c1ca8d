"""Images read at places that are computed: GridSample and AffineGrid; and put together from columns: Col2Im."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from tiree.input.expansions.build import element_of, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.build import OnnxBuild, rank_of
from tiree.input.onnx.contraction import matmul
from tiree.input.onnx.indexing import gather_points
from tiree.input.onnx.node import Conversion, Node

_MODES = {"bilinear": "linear", "bicubic": "cubic"}


class _Sampler:
    """Reads `image` (batch, channels, sizes) at places; elements outside are zero, the border's, or mirrored."""

    def __init__(self, build: OnnxBuild, image: SSAValue, padding: str, aligned: bool) -> None:
        if padding not in ("zeros", "border", "reflection"):
            raise Unsupported(f"with the padding_mode {padding!r}")
        self.build, self.padding = build, padding
        self.shape = shape_of(image)
        self.sizes = self.shape[2:]
        rank = len(self.shape)
        self.image = build.transpose(image, [0, *range(2, rank), 1])
        self.borders = [(0.0, size - 1.0) if aligned else (-0.5, size - 0.5) for size in self.sizes]

    def reflected(self, x: SSAValue, dim: int) -> SSAValue:
        """Mirrored at the borders until it is within them."""
        build = self.build
        low, high = self.borders[dim]
        span = high - low
        if span <= 0:
            return build.multiply(x, build.like(x, 0))
        first, last = build.like(x, low), build.like(x, high)
        below = build.compare("LT", x, first)
        beyond = build.select(below, build.subtract(first, x), build.subtract(x, last))
        times = build.unary("floor", build.scale(beyond, 1 / span))
        rest = build.subtract(beyond, build.scale(times, span))
        odd = build.compare("NE", build.binary("remainder", times, build.like(times, 2)), build.like(times, 0))
        from_low = build.compare("EQ", build.convert(below, i64), build.convert(odd, i64))
        mirrored = build.select(from_low, build.subtract(last, rest), build.add_(first, rest))
        inside = build.binary("and", build.compare("GE", x, first), build.compare("LE", x, last))
        return build.select(inside, x, mirrored)

    def placed(self, x: SSAValue, dim: int) -> SSAValue:
        """A place that was asked for, brought to where the image is."""
        build, (low, high) = self.build, self.borders[dim]
        if self.padding == "reflection":
            return self.reflected(x, dim)
        if self.padding == "border":
            outside = build.binary(
                "or", build.compare("LT", x, build.like(x, low)), build.compare("GT", x, build.like(x, high))
            )
            held = build.clamp(build.like(x, 0), x, build.like(x, self.sizes[dim] - 1))
            return build.select(outside, held, x)
        return x

    def pixels(self, places: Sequence[SSAValue]) -> SSAValue:
        """Elements at whole numbers, channels last."""
        build = self.build
        inside: SSAValue | None = None
        coordinates: list[SSAValue] = []
        for dim, place in enumerate(places):
            last = build.like(place, self.sizes[dim] - 1)
            if self.padding == "zeros":
                low, high = build.compare("GE", place, build.like(place, 0)), build.compare("LE", place, last)
                both = build.binary("and", low, high)
                inside = both if inside is None else build.binary("and", inside, both)
            elif self.padding == "reflection":
                # Towards zero, as its result is made whole.
                place = self.reflected(place, dim)
            held = build.clamp(build.like(place, 0), place, last)
            coordinates.append(build.convert(held, i64))
        shape = shape_of(coordinates[0])
        parts = [build.counted(shape, 0, i64), *coordinates]
        rank = len(shape)
        points = build.concatenate([build.unsqueeze(part, [rank]) for part in parts], rank)
        found = gather_points(build, self.image, points)
        if inside is None:
            return found
        return build.select(build.unsqueeze(inside, [rank]), found, build.like(found, 0))


def _linear(build: OnnxBuild, t: SSAValue) -> list[SSAValue]:
    return [build.subtract(build.like(t, 1), t), t]


def _cubic(build: OnnxBuild, t: SSAValue) -> list[SSAValue]:
    """Keys' coefficients with a = -0.75, for the places -1, 0, 1 and 2."""
    a = -0.75

    def polynomial(x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
        result = build.like(x, coefficients[0])
        for coefficient in coefficients[1:]:
            result = build.add_(build.multiply(result, x), build.like(x, coefficient))
        return result

    one = build.like(t, 1)
    other = build.subtract(one, t)
    near, far = [a + 2, -(a + 3), 0.0, 1.0], [a, -5 * a, 8 * a, -4 * a]
    return [
        polynomial(build.add_(t, one), far),
        polynomial(t, near),
        polynomial(other, near),
        polynomial(build.add_(other, one), far),
    ]


def _grid_sample(node: Node) -> SSAValue:
    build, image, grid = node.build, node.input(0), node.input(1)
    node.static(0)
    node.static(1)
    aligned = bool(node.int("align_corners", 0))
    mode = node.string("mode", "linear")
    mode = _MODES.get(mode, mode)
    if mode not in ("nearest", "linear", "cubic"):
        raise Unsupported(f"with the mode {mode!r}")
    sampler = _Sampler(build, image, node.string("padding_mode", "zeros"), aligned)
    rank, last = rank_of(grid), rank_of(grid) - 1
    places: list[SSAValue] = []
    for dim, size in enumerate(sampler.sizes):
        # Coordinates come in the reverse order of the dimensions.
        at = len(sampler.sizes) - 1 - dim
        x = build.squeeze(build.part(grid, last, at, at + 1), [last])
        x = build.add_(x, build.like(x, 1))
        if aligned:
            x = build.scale(x, (size - 1) / 2)
        else:
            x = build.scale(build.subtract(build.scale(x, size), build.like(x, 1)), 0.5)
        if mode == "nearest":
            x = build.unary("round_nearest_even", x)
        places.append(sampler.placed(x, dim))
    if mode == "nearest":
        result = sampler.pixels([_towards_zero(build, place) for place in places])
    else:
        result = _interpolated(build, sampler, places, mode)
    return build.transpose(result, [0, last, *range(1, rank - 1)])


def _towards_zero(build: OnnxBuild, x: SSAValue) -> SSAValue:
    size = build.unary("floor", build.unary("abs", x))
    return build.multiply(size, build.unary("sign", x))


def _interpolated(build: OnnxBuild, sampler: _Sampler, places: Sequence[SSAValue], mode: str) -> SSAValue:
    first, weights_of = (0, _linear) if mode == "linear" else (-1, _cubic)
    floors = [build.unary("floor", place) for place in places]
    weights = [weights_of(build, build.subtract(place, low)) for place, low in zip(places, floors, strict=True)]
    total: SSAValue | None = None
    for chosen in product(range(len(weights[0])), repeat=len(places)):
        at = [build.add_(low, build.like(low, first + k)) for low, k in zip(floors, chosen, strict=True)]
        factor = weights[0][chosen[0]]
        for dim, k in enumerate(chosen[1:], 1):
            factor = build.multiply(factor, weights[dim][k])
        pixels = sampler.pixels(at)
        factor = build.unsqueeze(build.convert(factor, element_of(pixels)), [rank_of(factor)])
        part = build.multiply(pixels, factor)
        total = part if total is None else build.add_(total, part)
    assert total is not None
    return total


def _affine_grid(node: Node) -> SSAValue:
    """The matrices times the places of a grid from -1 to 1, which is constant."""
    build, theta = node.build, node.input(0)
    known, static = node.numbers(1), node.static_result()
    if known is not None:
        sizes = [int(size) for size in known.reshape(-1)[2:]]
    elif static is not None:
        sizes = list(static[1:-1])
    else:
        raise Unsupported("with a size that is not constant")
    lines: list[np.ndarray] = []
    for size in sizes:
        if node.int("align_corners", 0):
            lines.append(np.linspace(-1, 1, size) if size > 1 else np.zeros(1))
        else:
            lines.append((2 * np.arange(size) + 1) / size - 1)
    grid = np.meshgrid(*lines, indexing="ij")
    places = np.stack([*grid[::-1], np.ones_like(grid[0])], -1).reshape(-1, len(sizes) + 1)
    constant = build.array(places, element_of(theta))
    product_ = matmul(build, constant, build.transpose(theta, [0, 2, 1]))
    return build.reshape(product_, [*build.sizes(theta)[:1], *sizes, len(sizes)])


def _columns_to_image(node: Node) -> SSAValue:
    """Each place of the block adds what its columns have, spread by the strides."""
    build, value = node.build, node.input(0)
    image, block = (
        [int(n) for n in node.constant(index, what).reshape(-1)] for index, what in ((1, "sizes"), (2, "blocks"))
    )
    rank = len(image)
    strides, dilations = node.ints("strides", [1] * rank), node.ints("dilations", [1] * rank)
    pads = node.ints("pads", [0] * (2 * rank))
    batch, rows, _ = node.static(0)
    channels = rows // int(np.prod(block))
    counts = [
        (size + pads[dim] + pads[dim + rank] - dilations[dim] * (block[dim] - 1) - 1) // strides[dim] + 1
        for dim, size in enumerate(image)
    ]
    columns = build.reshape(value, [batch, channels, int(np.prod(block)), *counts])
    total: SSAValue | None = None
    for number, place in enumerate(product(*map(range, block))):
        part = build.squeeze(build.part(columns, 2, number, number + 1), [2])
        low = [place[dim] * dilations[dim] - pads[dim] for dim in range(rank)]
        high = [image[dim] - low[dim] - ((counts[dim] - 1) * strides[dim] + 1) for dim in range(rank)]
        between = [stride - 1 for stride in strides]
        part = build.pad(part, [0, 0, *low], [0, 0, *high], build.like(part, 0), [0, 0, *between])
        total = part if total is None else build.add_(total, part)
    assert total is not None
    return total


CONVERSIONS: dict[str, Conversion] = {
    "AffineGrid": _affine_grid,
    "Col2Im": _columns_to_image,
    "GridSample": _grid_sample,
}
