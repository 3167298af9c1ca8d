"""Products and transforms: dot_general, convolution, triangular systems, Cholesky factors, Fourier transforms."""

from __future__ import annotations

import numpy as np

from tiree.testing.conformance.draws.program import (
    DTYPES,
    FLOATS,
    INTEGERS,
    Draw,
    Drawn,
    Entry,
    integers,
    is_complex,
    is_float,
)

_SIZES = (2, 3, 1, 4, 5, 8, 7, 13, 16)


def _tame(element: str) -> dict[str, float]:
    return {"low": -2, "high": 2, "edges": 0} if is_float(element) or is_complex(element) else {"edges": 0}


def _dot_general(d: Draw, name: str, element: str) -> Drawn:
    batch, contracted, left, right = ([d.extent(_SIZES) for _ in range(d.below(limit))] for limit in (3, 3, 3, 3))
    if d.chance(4) and contracted:
        contracted[0] = 0
    numbers: list[list[int]] = []
    shapes: list[list[int]] = []
    bound = len(batch) + len(contracted)
    rest: list[int] = []
    for free in (left, right):
        extents = batch + contracted + free
        order = d.permutation(len(extents))
        shapes.append([extents[place] for place in order])
        rest += [extents[place] for place in order if place >= bound]
        numbers.append([order.index(place) for place in range(bound)])
    values = [d.argument(shape, element, **_tame(element)) for shape in shapes]
    count = len(batch)
    properties = (
        f"dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {numbers[0][:count]}, "
        f"rhs_batching_dimensions = {numbers[1][:count]}, lhs_contracting_dimensions = {numbers[0][count:]}, "
        f"rhs_contracting_dimensions = {numbers[1][count:]}>"
    )
    result = element if is_float(element) or is_complex(element) or element in ("i32", "i64", "ui32", "ui64") else "i32"
    if element.startswith("ui") and result == "i32":
        result = "ui32"
    return d.done([d.one(name, values, [*batch, *rest], result, properties)])


def _dot(d: Draw, name: str, element: str) -> Drawn:
    inner = d.extent(_SIZES)
    left, right = ([d.extent(_SIZES) for _ in range(d.below(2))] for _ in range(2))
    values = [
        d.argument([*left, inner], element, **_tame(element)),
        d.argument([inner, *right], element, **_tame(element)),
    ]
    return d.done([d.one(name, values, [*left, *right], element)])


def _convolution(d: Draw, name: str, element: str) -> Drawn:
    spatial = 1 + d.below(3)
    groups, batch_groups = d.pick(((1, 1), (2, 1), (1, 2)))
    batch = batch_groups * d.pick((1, 2))
    inputs = groups * d.pick((1, 2, 3))
    outputs = groups * batch_groups * d.pick((1, 2, 3))
    extents = [d.extent((4, 5, 7, 3)) for _ in range(spatial)]
    kernel = [d.pick((1, 2, 3)) for _ in range(spatial)]
    strides, lhs, rhs = ([d.pick((1, 1, 2)) for _ in range(spatial)] for _ in range(3))
    pads = [[d.pick((0, 1, 2, -1)), d.pick((0, 1))] for _ in range(spatial)]
    reverse = [d.chance(20) for _ in range(spatial)]
    result: list[int] = []
    for at in range(spatial):
        padded = (extents[at] - 1) * lhs[at] + 1 + sum(pads[at])
        reach = (kernel[at] - 1) * rhs[at] + 1
        result.append(max(0, (padded - reach) // strides[at] + 1))
    orders = [d.permutation(spatial + 2) for _ in range(3)]

    def arranged(sizes: list[int], order: list[int]) -> list[int]:
        found = [0] * len(sizes)
        for size, place in zip(sizes, order, strict=True):
            found[place] = size
        return found

    i, k, o = orders
    numbers = (
        f"#stablehlo.conv<raw input_batch_dimension = {i[0]}, input_feature_dimension = {i[1]}, "
        f"input_spatial_dimensions = {i[2:]}, kernel_input_feature_dimension = {k[0]}, "
        f"kernel_output_feature_dimension = {k[1]}, kernel_spatial_dimensions = {k[2:]}, "
        f"output_batch_dimension = {o[0]}, output_feature_dimension = {o[1]}, output_spatial_dimensions = {o[2:]}>"
    )
    operands = [
        d.argument(arranged([batch, inputs, *extents], i), element, **_tame(element)),
        d.argument(arranged([inputs // groups, outputs, *kernel], k), element, **_tame(element)),
    ]
    properties = (
        f"window_strides = {integers(strides)}, lhs_dilation = {integers(lhs)}, rhs_dilation = {integers(rhs)}, "
        f"window_reversal = array<i1: {', '.join(str(each).lower() for each in reverse)}>, "
        f"dimension_numbers = {numbers}, feature_group_count = {groups} : i64, "
        f"batch_group_count = {batch_groups} : i64"
    )
    if "dynamic" in name:
        operands.append(d.constant(np.array(pads, np.int64), "i64"))
    else:
        properties += f", padding = dense<{pads}> : tensor<{spatial}x2xi64>"
    return d.done([d.one(name, operands, arranged([batch // batch_groups, outputs, *result], o), element, properties)])


def _triangular_solve(d: Draw, name: str, element: str) -> Drawn:
    n, m, batch = d.extent((1, 3, 5, 8, 2)), d.extent((1, 2, 5)), list(d.shape(highest=2, zero=0))[:1]
    left = d.chance(50)
    matrix = d.values([*batch, n, n], element, low=-1, high=1, edges=0)
    matrix = (matrix + 4 * np.eye(n)).astype(DTYPES[element])
    operands = [d.given(matrix, element), d.argument([*batch, *((n, m) if left else (m, n))], element, edges=0)]
    transposed = d.pick(("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"))
    properties = (
        f"left_side = {str(left).lower()}, lower = {str(d.chance(50)).lower()}, "
        f"unit_diagonal = {str(d.chance(30)).lower()}, transpose_a = #stablehlo<transpose {transposed}>"
    )
    return d.done([d.one(name, operands, operands[1].shape, element, properties)])


def _cholesky(d: Draw, name: str, element: str) -> Drawn:
    """The result is specified in its triangle only: the other is cut off."""
    n, batch = d.extent((1, 3, 5, 8, 2)), list(d.shape(highest=1, zero=0))
    root = d.values([*batch, n, n], element, low=-1, high=1, edges=0).astype(np.complex128)
    matrix = root @ np.conj(np.swapaxes(root, -1, -2)) + n * np.eye(n)
    if not is_complex(element):
        matrix = matrix.real
    value = d.given(matrix.astype(DTYPES[element]), element)
    lower = d.chance(50)
    factor = d.one(name, [value], value.shape, element, f"lower = {str(lower).lower()}")
    mask = np.broadcast_to(np.tri(n, dtype=np.bool_) if lower else np.tri(n, dtype=np.bool_).T, value.shape)
    kept = d.given(np.ascontiguousarray(mask), "i1")
    zero = d.one(
        "stablehlo.broadcast_in_dim", [d.scalar(0, element)], value.shape, element, "broadcast_dimensions = array<i64>"
    )
    return d.done([d.one("stablehlo.select", [kept, factor, zero], value.shape, element)])


def _fft(d: Draw, name: str, element: str) -> Drawn:
    """All four kinds; `element` is the complex type."""
    part = element.removeprefix("complex<").removesuffix(">")
    kind = d.pick(("FFT", "IFFT", "RFFT", "IRFFT"))
    lengths = [d.extent((8, 4, 6, 5, 7, 12, 1, 16)) for _ in range(1 + d.below(3))]
    batch = list(d.shape(highest=1, zero=0))
    half = [*lengths[:-1], lengths[-1] // 2 + 1]
    source, target = (half if kind == "IRFFT" else lengths), (half if kind == "RFFT" else lengths)
    value = d.argument([*batch, *source], part if kind == "RFFT" else element, edges=0)
    properties = f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {integers(lengths)}"
    return d.done([d.one(name, [value], [*batch, *target], part if kind == "IRFFT" else element, properties)])


_LINEAR = ("f32", "f64", "complex<f32>", "complex<f64>")
CONTRACTIONS: dict[str, Entry] = {
    "stablehlo.dot_general": Entry(_dot_general, (*FLOATS, *INTEGERS, "complex<f32>", "complex<f64>")),
    "stablehlo.dot": Entry(_dot, ("f32", "i32", "f64", "bf16", "complex<f32>")),
    "stablehlo.convolution": Entry(_convolution, ("f32", "f64", "i32", "bf16", "f16", "complex<f32>")),
    "stablehlo.dynamic_conv": Entry(_convolution, ("f32", "i32")),
    "stablehlo.triangular_solve": Entry(_triangular_solve, _LINEAR),
    "stablehlo.cholesky": Entry(_cholesky, _LINEAR),
    "stablehlo.fft": Entry(_fft, ("complex<f32>", "complex<f64>")),
}
