"""Quantized tensors: the specification's formulas, in numpy, for every kind of op that may have them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
import tiree
from input.running import run
from tiree.support.errors import CompileError

Array = np.ndarray
RANDOM = np.random.default_rng(5)


class Q(NamedTuple):
    """A quantized type and what it means."""

    text: str
    storage: Any
    scale: Any
    zero: Any = 0
    axis: int | None = None
    low: int | None = None
    high: int | None = None
    expressed: Any = np.float32

    def spread(self, values: Any, rank: int) -> Array:
        found = np.asarray(values)
        return found if self.axis is None else found.reshape([-1 if d == self.axis else 1 for d in range(rank)])

    def dequantize(self, x: Array) -> Array:
        number = (x.astype(np.int64) - self.spread(self.zero, x.ndim)).astype(self.expressed)
        return number * self.spread(self.scale, x.ndim).astype(self.expressed)

    def quantize(self, x: Array) -> Array:
        limits = np.iinfo(self.storage)
        low, high = (
            limit if given is None else given for limit, given in ((limits.min, self.low), (limits.max, self.high))
        )
        x = x.astype(self.expressed)
        with np.errstate(over="ignore"):
            shifted = x / self.spread(self.scale, x.ndim).astype(self.expressed)
        shifted = shifted + self.spread(self.zero, x.ndim).astype(self.expressed)
        rounded = np.rint(np.clip(shifted.astype(self.expressed), low, high))
        return np.clip(rounded.astype(np.float64), low, high).astype(self.storage)


I8 = Q("!quant.uniform<i8:f32, 0.1:-30>", np.int8, 0.1, -30)
U8 = Q("!quant.uniform<u8:f32, 0.25:128>", np.uint8, 0.25, 128)
I16 = Q("!quant.uniform<i16:f32, 1.0e-3>", np.int16, 1e-3)
I32 = Q("!quant.uniform<i32:f32, 0.001:17>", np.int32, 0.001, 17)
NARROW = Q("!quant.uniform<i8<-127:127>:f32, 5.000000e-01>", np.int8, 0.5, low=-127, high=127)
OTHER = Q("!quant.uniform<i8:f32, 0.25:100>", np.int8, 0.25, 100)
COARSE = Q("!quant.uniform<i8:f32, 5.000000e-01>", np.int8, 0.5)
HALF = Q("!quant.uniform<i8:f16, 0.125:3>", np.int8, 0.125, 3, expressed=np.float16)
BRAIN = Q("!quant.uniform<i8:bf16, 0.125:3>", np.int8, 0.125, 3, expressed=ml_dtypes.bfloat16)
DOUBLE = Q("!quant.uniform<i16:f64, 0.003:5>", np.int16, 0.003, 5, expressed=np.float64)
AXIS = Q("!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20, 0.3}>", np.int8, [0.1, 0.5, 0.3], [-30, -20, 0], axis=1)
WEIGHTS = Q("!quant.uniform<i8:f32:1, {0.1, 0.5, 0.3}>", np.int8, [0.1, 0.5, 0.3], [0, 0, 0], axis=1)
TYPES = {
    "i8": I8,
    "u8": U8,
    "i16": I16,
    "i32": I32,
    "narrow": NARROW,
    "f16": HALF,
    "bf16": BRAIN,
    "f64": DOUBLE,
    "axis": AXIS,
}
NAMES = {np.float32: "f32", np.float16: "f16", np.float64: "f64", ml_dtypes.bfloat16: "bf16"}


@pytest.mark.parametrize("name", TYPES)
def test_there_and_back(name: str) -> None:
    q = TYPES[name]
    t, wide = f"tensor<5x3x{q.text}>", f"tensor<5x3x{NAMES[q.expressed]}>"
    text = f"""func.func @f(%x: {wide}, %y: {t}) -> ({t}, {wide}, {wide}) {{
  %a = stablehlo.uniform_quantize %x : ({wide}) -> {t}
  %b = stablehlo.uniform_dequantize %a : ({t}) -> {wide}
  %c = stablehlo.uniform_dequantize %y : ({t}) -> {wide}
  return %a, %b, %c : {t}, {wide}, {wide}
}}"""
    x = (RANDOM.standard_normal((5, 3)) * 30).astype(q.expressed)
    x[0] = [1e4, -1e4, 0]
    limits = np.iinfo(q.storage)
    y = RANDOM.integers(limits.min, limits.max, (5, 3), endpoint=True).astype(q.storage)
    y[0, :2] = limits.min, limits.max
    a, b, c = run(text, x, y)
    assert a.dtype == q.storage
    np.testing.assert_array_equal(a, q.quantize(x))
    np.testing.assert_array_equal(b, q.dequantize(a))
    np.testing.assert_array_equal(c, q.dequantize(y))


def test_requantize() -> None:
    a, b = f"tensor<4x3x{AXIS.text}>", f"tensor<4x3x{NARROW.text}>"
    text = f"""func.func @f(%x: {a}) -> {b} {{
  %0 = stablehlo.uniform_quantize %x : ({a}) -> {b}
  return %0 : {b}
}}"""
    x = RANDOM.integers(-128, 127, (4, 3), endpoint=True).astype(np.int8)
    np.testing.assert_array_equal(run(text, x)[0], NARROW.quantize(AXIS.dequantize(x)))


ELEMENTWISE: dict[str, Any] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
    "minimum": np.minimum,
}  # fmt: skip


def test_elementwise() -> None:
    a, b, r = (f"tensor<50x{q.text}>" for q in (I8, OTHER, COARSE))
    lines = "\n".join(f"%{op} = stablehlo.{op} %x, %y : ({a}, {b}) -> {r}" for op in ELEMENTWISE)
    text = f"""func.func @f(%x: {a}, %y: {b}, %p: tensor<50xi1>)
    -> ({", ".join([r] * 6)}, tensor<50xi1>, {r}, {a}, {r}) {{
  {lines}
  %less = stablehlo.compare LT, %x, %y : ({a}, {b}) -> tensor<50xi1>
  %s = "stablehlo.select"(%p, %x, %y) : (tensor<50xi1>, {a}, {b}) -> {r}
  %same = "stablehlo.select"(%p, %x, %x) : (tensor<50xi1>, {a}, {a}) -> {a}
  %tanh = stablehlo.tanh %x : ({a}) -> {r}
  return {", ".join(f"%{op}" for op in ELEMENTWISE)}, %less, %s, %same, %tanh
    : {", ".join([r] * 6)}, tensor<50xi1>, {r}, {a}, {r}
}}"""
    x = RANDOM.integers(-128, 127, 50).astype(np.int8)
    y = RANDOM.integers(-128, 127, 50).astype(np.int8)
    p = RANDOM.integers(0, 2, 50).astype(bool)
    *made, less, chosen, same, tanh = run(text, x, y, p)
    u, v = I8.dequantize(x), OTHER.dequantize(y)
    with np.errstate(all="ignore"):
        for (op, function), got in zip(ELEMENTWISE.items(), made, strict=True):
            want = function(u, v)
            valid = np.isfinite(want)
            np.testing.assert_array_equal(got[valid], COARSE.quantize(want[valid]), err_msg=op)
    np.testing.assert_array_equal(less, u < v)
    np.testing.assert_array_equal(chosen, COARSE.quantize(np.where(p, u, v)))
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(tanh, COARSE.quantize(np.tanh(u)))


def test_contractions() -> None:
    a, result = f"tensor<4x6x{I8.text}>", f"tensor<4x3x{I32.text}>"
    b = f"tensor<6x3x{WEIGHTS.text}>"
    conv = f"tensor<1x5x5x6x{I8.text}>"
    kernel = "tensor<2x2x6x3x!quant.uniform<i8:f32:3, {0.1:-30, 0.5:-20, 0.3}>>"
    text = f"""func.func @f(%x: {a}, %y: {b}, %z: tensor<4x6xf32>, %i: {conv}, %k: {kernel})
    -> ({result}, tensor<4x3xf32>, tensor<1x4x4x3x{I32.text}>) {{
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : ({a}, {b}) -> {result}
  %1 = stablehlo.dot_general %z, %y, contracting_dims = [1] x [0] : (tensor<4x6xf32>, {b}) -> tensor<4x3xf32>
  %2 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{}}
    {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({conv}, {kernel}) -> tensor<1x4x4x3x{I32.text}>
  return %0, %1, %2 : {result}, tensor<4x3xf32>, tensor<1x4x4x3x{I32.text}>
}}"""
    x, y, i, k = (
        RANDOM.integers(-100, 100, shape).astype(np.int8) for shape in ((4, 6), (6, 3), (1, 5, 5, 6), (2, 2, 6, 3))
    )
    z = RANDOM.standard_normal((4, 6), dtype=np.float32)
    q, mixed, c = run(text, x, y, z, i, k)
    np.testing.assert_allclose(q, I32.quantize(I8.dequantize(x) @ WEIGHTS.dequantize(y)), rtol=1e-5, atol=2)
    np.testing.assert_allclose(mixed, z @ WEIGHTS.dequantize(y), rtol=1e-4, atol=1e-4)
    image, weights = I8.dequantize(i), AXIS._replace(axis=3).dequantize(k)
    want = sum(image[:, u : u + 4, v : v + 4] @ weights[u, v] for u in range(2) for v in range(2))
    np.testing.assert_allclose(c, I32.quantize(np.asarray(want)), rtol=1e-5, atol=4)


def test_moves_regions_and_constants() -> None:
    t = I8.text
    text = f"""func.func private @g(%x: tensor<3x4x{t}>) -> tensor<4x3x{t}> {{
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x4x{t}>) -> tensor<4x3x{t}>
  return %0 : tensor<4x3x{t}>
}}
func.func @f(%x: tensor<3x4x{t}>) -> (tensor<4x5x{t}>, tensor<3x{t}>, tensor<2x{t}>, tensor<4x{t}>) {{
  %0 = call @g(%x) : (tensor<3x4x{t}>) -> tensor<4x3x{t}>
  %c = stablehlo.constant() {{value = dense<7> : tensor<i8>}} : () -> tensor<{t}>
  %1 = stablehlo.pad %0, %c, low = [0, 1], high = [0, 1], interior = [0, 0]
    : (tensor<4x3x{t}>, tensor<{t}>) -> tensor<4x5x{t}>
  %zero = stablehlo.constant() {{value = dense<-30> : tensor<i8>}} : () -> tensor<{t}>
  %2 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [1]
    : (tensor<3x4x{t}>, tensor<{t}>) -> tensor<3x{t}>
  %b = stablehlo.constant dense<[1, -2]> : tensor<2xi8>
  %3 = stablehlo.bitcast_convert %b : (tensor<2xi8>) -> tensor<2x{t}>
  %4 = stablehlo.iota dim = 0 : tensor<4x{t}>
  return %1, %2, %3, %4 : tensor<4x5x{t}>, tensor<3x{t}>, tensor<2x{t}>, tensor<4x{t}>
}}"""
    x = RANDOM.integers(-128, 127, (3, 4)).astype(np.int8)
    a, b, c, d = run(text.replace("stablehlo.constant()", '"stablehlo.constant"()'), x)
    np.testing.assert_array_equal(a, np.pad(x.T, ((0, 0), (1, 1)), constant_values=7))
    np.testing.assert_array_equal(b, np.maximum(x.max(1), -30))
    np.testing.assert_array_equal(c, [1, -2])
    np.testing.assert_array_equal(d, I8.quantize(np.arange(4, dtype=np.float32)))


def test_dynamic_sizes_and_narrow_storage() -> None:
    nibble = "!quant.uniform<i4<-7:7>:f32:1, {0.5, 0.25:1, 2.0}>"
    text = f"""func.func @f(%x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xi8>) {{
  %0 = stablehlo.uniform_quantize %x : (tensor<?x3xf32>) -> tensor<?x3x{nibble}>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<?x3x{nibble}>) -> tensor<?x3xf32>
  %2 = stablehlo.bitcast_convert %0 : (tensor<?x3x{nibble}>) -> tensor<?x3xi4>
  %3 = stablehlo.convert %2 : (tensor<?x3xi4>) -> tensor<?x3xi8>
  return %1, %3 : tensor<?x3xf32>, tensor<?x3xi8>
}}"""
    q = Q("", np.int8, [0.5, 0.25, 2.0], [0, 1, 0], axis=1, low=-7, high=7)
    x = RANDOM.standard_normal((5, 3), dtype=np.float32) * 4
    a, b = run(text, x)
    np.testing.assert_array_equal(b, q.quantize(x))
    np.testing.assert_array_equal(a, q.dequantize(q.quantize(x)))


def test_forms_that_are_not_supported_are_named() -> None:
    blocks = "!quant.uniform<i8:f32:{0:1, 1:2}, {{0.1:-30, 0.5:-20}}>"
    text = f"""func.func @f(%x: tensor<2x4xf32>) -> tensor<2x4x{blocks}> {{
  %0 = stablehlo.uniform_quantize %x : (tensor<2x4xf32>) -> tensor<2x4x{blocks}>
  return %0 : tensor<2x4x{blocks}>
}}"""
    with pytest.raises(CompileError, match=r"uniform_quantize with elements of type !quant\.uniform.*is not supported"):
        tiree.compile(text)


@pytest.mark.parametrize(
    ("type", "message"),
    [
        ("i8:f32, -0.5", "the scale -0.5 is not positive"),
        ("i8:f32, 0.0", "the scale 0.0 is not positive"),
        ("i8:f32:0, {0.5:0,-0.25:1}", "the scale -0.25 is not positive"),
        ("i8:f32, 0.5:128", "the zero point 128 is beyond -128 to 127"),
        ("u8:f32, 0.5:-1", "the zero point -1 is beyond 0 to 255"),
        ("i8<-5:5>:f32, 0.5:6", "the zero point 6 is beyond -5 to 5"),
        ("i8<-129:5>:f32, 0.5", "-129 to 5 is no range of 8-bit storage"),
        ("i8<5:-5>:f32, 0.5", "5 to -5 is no range of 8-bit storage"),
    ],
)
def test_types_that_stand_for_no_numbers(type: str, message: str) -> None:
    text = f"""func.func @f(%x: tensor<2xf32>) -> tensor<2x!quant.uniform<{type}>> {{
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<{type}>>
  return %0 : tensor<2x!quant.uniform<{type}>>
}}"""
    with pytest.raises(CompileError, match=re.escape(message)):
        tiree.compile(text)
