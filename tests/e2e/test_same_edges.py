"""Edges that a processor's NaN must not decide: the same for every target, as bytecode and folded.

Processors differ in the sign that they give to NaN, and conversions make signalling NaN quiet.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tiree

TARGETS = {
    "x86-64": ["--iree-llvmcpu-target-cpu=x86-64"],
    "host": ["--iree-llvmcpu-target-cpu=host"],
    "vmvx": ["--iree-hal-target-backends=vmvx"],
}
FOLDED = "folded"
WAYS = (*TARGETS, FOLDED)
NAN16 = {"bf16": [0x7F81, 0xFF81, 0x7FC1, 0xFFFF], "f16": [0x7C01, 0xFC01, 0x7E01, 0xFFFF]}
"""Signalling and quiet NaN, of both signs."""
OTHER16 = [0x0000, 0x8000, 0x0001, 0x8003, 0x3C00, 0xBF80, 0x0080, 0x03FF, 0x8400, 0x7BFF]
INFINITE = {"bf16": [0x7F80, 0xFF80], "f16": [0x7C00, 0xFC00]}


@cache
def _compiled(text: str, way: str) -> Any:
    return tiree.load(tiree.compile(text, flags=TARGETS.get(way, [])), device="local-sync")


def computed(way: str, body: str, types: Sequence[str], result: str, arguments: Sequence[np.ndarray]) -> np.ndarray:
    """`body` of %a and %b, which are constants where it is folded; %r is the result."""
    names = "ab"[: len(types)]
    given = [f"%{name}: {type}" for name, type in zip(names, types, strict=True)]
    constants = ""
    if way == FOLDED:
        for name, type, values in zip(names, types, arguments, strict=True):
            constants += f"  %{name} = stablehlo.constant dense<{values.tolist()}> : {type}\n"
        given, arguments = [], []
    text = f"func.func @f({', '.join(given)}) -> {result} {{\n{constants}{body}\n  return %r : {result}\n}}"
    return np.asarray(_compiled(text, way).f(*arguments))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("element", list(NAN16))
def test_total_order_of_signalling_nan(element: str, way: str) -> None:
    codes = np.array(NAN16[element] + OTHER16 + INFINITE[element], np.uint16)
    a, b = (part.ravel() for part in np.meshgrid(codes, codes))
    n = len(a)
    integers, floats, flags = (f"tensor<{n}x{type}>" for type in ("ui16", element, "i1"))
    body = "".join(
        f"  %{name}0 = stablehlo.bitcast_convert %{name} : ({integers}) -> {floats}\n" for name in ("a", "b")
    )
    body += f"  %r = stablehlo.compare LT, %a0, %b0, TOTALORDER : ({floats}, {floats}) -> {flags}"
    got = computed(way, body, [integers, integers], flags, [a, b])
    signed_a, signed_b = (part.view(np.int16).astype(np.int32) for part in (a, b))
    keys = [np.where(part < 0, -1 - (part & 0x7FFF), part) for part in (signed_a, signed_b)]
    np.testing.assert_array_equal(got, keys[0] < keys[1])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("element", list(NAN16))
def test_moves_keep_bits(element: str, way: str) -> None:
    codes = np.arange(0, 1 << 16, 7, dtype=np.uint16)
    codes = np.concatenate([codes, np.array(NAN16[element] + OTHER16 + INFINITE[element], np.uint16)])
    integers, floats = (f"tensor<{len(codes)}x{type}>" for type in ("ui16", element))
    body = f"""  %0 = stablehlo.bitcast_convert %a : ({integers}) -> {floats}
  %1 = stablehlo.negate %0 : {floats}
  %2 = stablehlo.reverse %1, dims = [0] : {floats}
  %r = stablehlo.bitcast_convert %2 : ({floats}) -> {integers}"""
    got = computed(way, body, [integers], integers, [codes])
    np.testing.assert_array_equal(got, (codes ^ 0x8000)[::-1])


INF, NAN = np.inf, np.nan
POINTS: dict[str, list[tuple[complex, complex]]] = {
    "stablehlo.exponential": [
        (complex(-INF, INF), complex(0.0, 0.0)),
        (complex(-INF, -INF), complex(0.0, -0.0)),
        (complex(-INF, NAN), complex(0.0, 0.0)),
        (complex(-INF, -NAN), complex(0.0, 0.0)),
    ],
    "stablehlo.tanh": [(complex(INF, NAN), complex(1.0, 0.0)), (complex(INF, -NAN), complex(1.0, 0.0))],
    "stablehlo.sqrt": [(complex(-INF, NAN), complex(NAN, INF)), (complex(-INF, -NAN), complex(NAN, INF))],
    "stablehlo.cosine": [(complex(INF, 0.0), complex(NAN, -0.0)), (complex(INF, -0.0), complex(NAN, 0.0))],
    "chlo.cosh": [(complex(0.0, INF), complex(NAN, -0.0)), (complex(-0.0, INF), complex(NAN, 0.0))],
    "chlo.asinh": [(complex(NAN, INF), complex(INF, NAN)), (complex(-NAN, INF), complex(INF, NAN))],
}
"""Signs that annex G of C leaves open, as they are everywhere; the others are those of C's library."""


@pytest.mark.parametrize("way", list(TARGETS))
@pytest.mark.parametrize("part", ["f32", "f64"])
def test_signs_beside_nan(part: str, way: str) -> None:
    dtype = np.dtype({"f32": np.complex64, "f64": np.complex128}[part])
    for name, pairs in POINTS.items():
        x = np.array([point for point, _ in pairs], dtype)
        type = f"tensor<{len(x)}xcomplex<{part}>>"
        arrow = f" -> {type}" if name.startswith("chlo") else ""
        got = computed(way, f"  %r = {name} %a : {type}{arrow}", [type], type, [x])
        wanted = np.array([result for _, result in pairs], dtype)
        for found, right in ((got.real, wanted.real), (got.imag, wanted.imag)):
            np.testing.assert_array_equal(found, right, name)
            known = ~np.isnan(right)
            np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(right)[known], name)


@pytest.mark.parametrize("way", list(TARGETS))
def test_floats_without_nan(way: str) -> None:
    """What has no value is 0, whatever sign the processor gave to NaN on the way."""
    for element, dtype in (("f4E2M1FN", ml_dtypes.float4_e2m1fn), ("f6E3M2FN", ml_dtypes.float6_e3m2fn)):
        x = np.array([-1, -2, 0, -0.0, 1], dtype).view(np.int8)
        y = np.zeros(5, dtype).view(np.int8)
        type = f"tensor<5x{element}>"
        logarithms = computed(way, f"  %r = stablehlo.log %a : {type}", [type], type, [x])
        assert logarithms.view(np.uint8).tolist()[:2] == [0, 0]
        for op in ("divide", "remainder"):
            found = computed(way, f"  %r = stablehlo.{op} %a, %b : {type}", [type, type], type, [x, y])
            wanted = [0, 0] if op == "divide" else [0] * 5
            assert found.view(np.uint8).tolist()[2 : 2 + len(wanted)] == wanted[: 5 - 2], op


CONTRACTIONS = {
    "product": "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
    " : (tensor<64x64x{t}>, tensor<64x64x{t}>) -> tensor<64x64x{t}>",
    "row": "%0 = stablehlo.slice %a [0:1, 0:64] : (tensor<64x64x{t}>) -> tensor<1x64x{t}>\n"
    "  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0]"
    " : (tensor<1x64x{t}>, tensor<64x64x{t}>) -> tensor<1x64x{t}>\n"
    "  %r = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x64x{t}>) -> tensor<64x64x{t}>",
    "convolution": "%0 = stablehlo.reshape %b : (tensor<64x64x{t}>) -> tensor<1x64x64x{t}>\n"
    "  %1 = stablehlo.reshape %a : (tensor<64x64x{t}>) -> tensor<1x64x64x{t}>\n"
    "  %2 = stablehlo.convolution(%1, %0) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {{}}"
    " {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}"
    " : (tensor<1x64x64x{t}>, tensor<1x64x64x{t}>) -> tensor<1x64x64x{t}>\n"
    "  %r = stablehlo.reshape %2 : (tensor<1x64x64x{t}>) -> tensor<64x64x{t}>",
}


@pytest.mark.parametrize("way", TARGETS)
@pytest.mark.parametrize("name", CONTRACTIONS)
@pytest.mark.parametrize("element", ["bf16", "f16", "f32", "f64"])
def test_contractions_of_subnormal_numbers(element: str, name: str, way: str) -> None:
    """Factors and sums below the smallest normal number count, whatever dot products the processor has."""
    dtype = np.dtype(ml_dtypes.bfloat16 if element == "bf16" else element.replace("f", "float"))
    tiny = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    # Row 0 sums to a normal number, the others stay below.
    a = np.zeros((64, 64))
    a[0], a[1:, 7] = 3, 1
    a, b = (a * tiny).astype(dtype), np.ones((64, 64), dtype)
    wanted = np.broadcast_to((a[:1] if name == "row" else a).astype(np.float64).sum(1, keepdims=True), (64, 64))
    type = f"tensor<64x64x{element}>"
    got = computed(way, "  " + CONTRACTIONS[name].format(t=element), [type, type], type, [a, b])
    np.testing.assert_array_equal(got, wanted.astype(dtype))
