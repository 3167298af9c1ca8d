"""Fourier transforms, and the windows and weights that go with them, which are constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ComplexType, TensorType
from xdsl.ir import SSAValue

from tiree.dialects.stablehlo_attrs import FftTypeAttr
from tiree.input.expansions.build import element_of, i64_array, shape_of
from tiree.input.lowering.scalar import widened
from tiree.input.onnx.build import OnnxBuild, rank_of
from tiree.input.onnx.node import Conversion, Node, normalized
from tiree.input.onnx.types import element_of_number


def _number(node: Node, index: int, what: str) -> float:
    return float(node.constant(index, what).reshape(-1)[0])


def _transformed(build: OnnxBuild, value: SSAValue, inverse: bool, onesided: bool) -> SSAValue:
    """Of the dimension before the last, which has the real part, and perhaps the imaginary one."""
    shape = shape_of(value)
    last, size = len(shape) - 1, shape[-2]
    parts = [build.squeeze(build.part(value, last, at, at + 1), [last]) for at in range(shape[-1])]
    element = element_of(value)
    work = widened(element)
    if len(parts) == 1:
        parts.append(build.full(element, shape[:-1], 0))
    parts = [build.convert(part, work) for part in parts]
    type = TensorType(ComplexType(work), shape[:-1])  # pyright: ignore[reportArgumentType]: a float of any width
    whole = build.value("complex", parts, type)
    properties = {"fft_type": FftTypeAttr("IFFT" if inverse else "FFT"), "fft_length": i64_array([size])}
    found = build.value("fft", [whole], type, properties)
    plain = TensorType(work, shape[:-1])
    halves = [build.unsqueeze(build.value(name, [found], plain), [last]) for name in ("real", "imag")]
    result = build.convert(build.concatenate(halves, last), element)
    return build.part(result, last - 1, 0, size // 2 + 1) if onesided else result


def _with_length(build: OnnxBuild, value: SSAValue, axis: int, size: int) -> SSAValue:
    high = [0] * rank_of(value)
    high[axis] = size - shape_of(value)[axis]
    return build.pad(value, [0] * rank_of(value), high, build.like(value, 0))


def _dft(node: Node) -> SSAValue:
    """`axis` is an attribute before opset 20, and counts the dimension of the parts."""
    build, value, rank = node.build, node.input(0), node.rank()
    node.static(0)
    if node.version < 20:
        axis = node.axis(1, rank)
    else:
        axis = normalized(int(_number(node, 2, "axes")) if node.optional(2) is not None else -2, rank)
    inverse, onesided = bool(node.int("inverse", 0)), bool(node.int("onesided", 0))
    if inverse and onesided:
        return _real_inverse(node, axis)
    if node.optional(1) is not None:
        value = _with_length(build, value, axis, int(_number(node, 1, "lengths")))
    order = [dim for dim in range(rank - 1) if dim != axis] + [axis, rank - 1]
    moved = _transformed(build, build.transpose(value, order), inverse, onesided)
    return build.transpose(moved, [order.index(dim) for dim in range(rank)])


def _real_inverse(node: Node, axis: int) -> SSAValue:
    """From the first half of a spectrum to real numbers."""
    build, value, rank = node.build, node.input(0), node.rank()
    count = shape_of(value)[axis]
    size = int(_number(node, 1, "lengths")) if node.optional(1) is not None else 2 * (count - 1)
    value = _with_length(build, value, axis, size // 2 + 1)
    order = [dim for dim in range(rank - 1) if dim != axis] + [axis, rank - 1]
    moved = build.transpose(value, order)
    tail = build.flip(build.part(moved, rank - 2, 1, (size + 1) // 2), [rank - 2])
    signs = build.array(np.array([1.0, -1.0]), element_of(value))
    whole = build.concatenate([moved, build.multiply(tail, signs)], rank - 2)
    found = build.part(_transformed(build, whole, True, False), rank - 1, 0, 1)
    return build.transpose(found, [order.index(dim) for dim in range(rank)])


def _stft(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    _, length, parts = node.static(0)
    step = int(_number(node, 1, "steps"))
    window = node.optional(2)
    if node.optional(3) is not None:
        size = int(_number(node, 3, "lengths"))
    else:
        size = length if window is None else shape_of(window)[0]
    count = (length - size) // step + 1
    starts = [number * step for number in range(count)]
    frames = build.concatenate([build.unsqueeze(build.part(value, 1, at, at + size), [1]) for at in starts], 1)
    if window is not None:
        frames = build.multiply(frames, build.unsqueeze(window, [0, 1, 3]))
    onesided = bool(node.int("onesided", 1)) and parts == 1
    return _transformed(build, frames, False, onesided)


def _window(coefficients: Sequence[float]) -> Conversion:
    def convert(node: Node) -> SSAValue:
        size = int(_number(node, 0, "sizes"))
        period = size if node.int("periodic", 1) else size - 1
        angles = 2 * np.pi * np.arange(size) / max(period, 1)
        values = sum(factor * np.cos(order * angles) for order, factor in enumerate(coefficients))
        return node.build.array(np.asarray(values), element_of_number(node.int("output_datatype", 1)))

    return convert


def _mel_weights(node: Node) -> SSAValue:
    """Triangles that are evenly spaced on the mel scale, each with a peak of 1."""
    bins, length, rate, lowest, highest = (_number(node, index, "parameters") for index in range(5))
    count, spectrum = int(bins), int(length) // 2 + 1
    low, high = (2595 * np.log10(1 + edge / 700) for edge in (lowest, highest))
    mels = np.arange(count + 2) * ((high - low) / (count + 2)) + low
    edges = ((length + 1) * (700 * (10 ** (mels / 2595) - 1)) // rate).astype(np.int64)
    weights = np.zeros((spectrum, count))
    for number in range(count):
        first, middle, last = edges[number : number + 3]
        if middle == first:
            weights[middle, number] = 1
        else:
            weights[first : middle + 1, number] = np.arange(middle - first + 1) / (middle - first)
        if last > middle:
            weights[middle:last, number] = np.arange(last - middle, 0, -1) / (last - middle)
    return node.build.array(weights, element_of_number(node.int("output_datatype", 1)))


CONVERSIONS: dict[str, Conversion] = {
    "BlackmanWindow": _window([0.42, -0.5, 0.08]),
    "DFT": _dft,
    "HammingWindow": _window([25 / 46, -21 / 46]),
    "HannWindow": _window([0.5, -0.5]),
    "MelWeightMatrix": _mel_weights,
    "STFT": _stft,
}
