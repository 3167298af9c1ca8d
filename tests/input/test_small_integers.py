"""Tensors of i2, i4, ui2 and ui4 inside functions, of any number of elements, against numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tiree
from numpy.typing import NDArray

Ints = NDArray[np.int64]
TYPES = {"i4": (4, True), "ui4": (4, False), "i2": (2, True), "ui2": (2, False)}


def wrap(values: Ints, type: str) -> Ints:
    """What is left of numbers in `type`."""
    bits, signed = TYPES[type]
    low = values & ((1 << bits) - 1)
    return low - ((low >> (bits - 1)) << bits) if signed else low


def run(text: str, *arguments: object, flags: tuple[str, ...] = ()) -> list[np.ndarray]:
    found = tiree.load(tiree.compile(text, flags=list(flags)), device="local-sync").f(*arguments)
    return [np.asarray(one) for one in (found if isinstance(found, tuple | list) else (found,))]


def unary(op: str, type: str, n: int = 5) -> str:
    """`op` between conversions from and to i32."""
    narrow, wide = f"tensor<{n}x{type}>", f"tensor<{n}xi32>"
    return f"""func.func @f(%x: {wide}) -> {wide} {{
  %a = stablehlo.convert %x : ({wide}) -> {narrow}
  %b = {op.format(t=narrow)}
  %r = stablehlo.convert %b : ({narrow}) -> {wide}
  return %r : {wide}
}}"""


def binary(op: str, type: str) -> str:
    narrow, wide = f"tensor<7x37x{type}>", "tensor<7x37xi32>"
    return f"""func.func @f(%x: {wide}, %y: {wide}) -> {wide} {{
  %a = stablehlo.convert %x : ({wide}) -> {narrow}
  %b = stablehlo.convert %y : ({wide}) -> {narrow}
  %c = stablehlo.{op} %a, %b : {narrow}
  %r = stablehlo.convert %c : ({narrow}) -> {wide}
  return %r : {wide}
}}"""


def divided(a: Ints, b: Ints) -> Ints:
    return np.where(b == 0, -1, np.trunc(a / np.where(b == 0, 1, b)).astype(np.int64))


BINARY: dict[str, Callable[[Ints, Ints], Ints]] = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "maximum": np.maximum, "minimum": np.minimum, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b, "divide": divided,
    "remainder": lambda a, b: np.where(b == 0, a, a - b * divided(a, b)),
}  # fmt: skip


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("op", BINARY)
def test_binary(op: str, type: str) -> None:
    values = np.random.default_rng(3).integers(-200, 200, (2, 7, 37))
    a, b = wrap(values[0], type), wrap(values[1], type)
    (found,) = run(binary(op, type), *(v.astype(np.int32) for v in values))
    np.testing.assert_array_equal(found, wrap(BINARY[op](a, b), type))


@pytest.mark.parametrize("flag", ["--iree-hal-target-backends=vmvx", "--iree-execution-model=inline-static"])
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("op", ["subtract", "multiply", "maximum", "divide"])
def test_binary_as_bytecode(op: str, type: str, flag: str) -> None:
    values = np.random.default_rng(3).integers(-200, 200, (2, 7, 37))
    a, b = wrap(values[0], type), wrap(values[1], type)
    (found,) = run(binary(op, type), *(v.astype(np.int32) for v in values), flags=(flag,))
    np.testing.assert_array_equal(found, wrap(BINARY[op](a, b), type))


@pytest.mark.parametrize("flag", ["--iree-hal-target-backends=vmvx", "--iree-opt-const-eval=false"])
@pytest.mark.parametrize("type", TYPES)
def test_floats_of_small_integers(type: str, flag: str) -> None:
    """Conversions, of an argument and of a constant: the same whether they are computed while compiling or not."""
    values = np.arange(-9, 17)
    n = len(values)
    text = f"""func.func @f(%x: tensor<{n}xi32>) -> (tensor<{n}xf32>, tensor<{n}xf32>) {{
  %c = stablehlo.constant dense<{wrap(values, type).tolist()}> : tensor<{n}x{type}>
  %a = stablehlo.convert %x : (tensor<{n}xi32>) -> tensor<{n}x{type}>
  %0 = stablehlo.convert %a : (tensor<{n}x{type}>) -> tensor<{n}xf32>
  %1 = stablehlo.convert %c : (tensor<{n}x{type}>) -> tensor<{n}xf32>
  return %0, %1 : tensor<{n}xf32>, tensor<{n}xf32>
}}"""
    for flags in ((), (flag,)):
        for found in run(text, values.astype(np.int32), flags=flags):
            np.testing.assert_array_equal(found, wrap(values, type))


UNARY: dict[str, tuple[str, Callable[[Ints], Ints]]] = {
    "same": ("stablehlo.convert %a : {t}", lambda a: a),
    "negate": ("stablehlo.negate %a : {t}", lambda a: -a),
    "not": ("stablehlo.not %a : {t}", lambda a: ~a),
    "reverse": ("stablehlo.reverse %a, dims = [0] : {t}", lambda a: a[::-1]),
    "barrier": ("stablehlo.optimization_barrier %a : {t}", lambda a: a),
    "shift": ("stablehlo.shift_left %a, %a : {t}", lambda a: np.where((a < 0) | (a > 3), 0, a << np.clip(a, 0, 3))),
}


@pytest.mark.parametrize(("name", "type"), [(name, "i4") for name in UNARY] + [("negate", "ui4"), ("not", "i2")])
def test_unary(name: str, type: str) -> None:
    op, expected = UNARY[name]
    values = np.array([7, -8, 3, 100, -1], np.int64)
    (found,) = run(unary(op, type), values.astype(np.int32))
    np.testing.assert_array_equal(found, wrap(expected(wrap(values, type)), type))


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("float_type", ["f32", "bf16"])
def test_floats_become_small_integers_by_saturation(type: str, float_type: str) -> None:
    bits, signed = TYPES[type]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    values = np.array([0, 1.9, -1.9, 7.5, -8.9, 15, 16, 1e9, -1e9, np.inf, -np.inf, np.nan], np.float32)
    n = len(values)
    text = f"""func.func @f(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
  %w = stablehlo.convert %x : (tensor<{n}xf32>) -> tensor<{n}x{float_type}>
  %a = stablehlo.convert %w : (tensor<{n}x{float_type}>) -> tensor<{n}x{type}>
  %r = stablehlo.convert %a : (tensor<{n}x{type}>) -> tensor<{n}xf32>
  return %r : tensor<{n}xf32>
}}"""
    (found,) = run(text, values)
    np.testing.assert_array_equal(found, np.trunc(np.clip(np.nan_to_num(values, nan=0), low, high)))


STRUCTURE = """func.func @f(%x: tensor<3x5xi8>, %i: tensor<i32>) -> (tensor<5x3xi8>, tensor<6x5xi8>, tensor<5x7xi8>,
    tensor<2x2xi8>, tensor<1x5xi8>, tensor<15xi8>, tensor<3xi32>, tensor<3x5xi1>, tensor<3x5xi8>) {
  %a = stablehlo.convert %x : (tensor<3x5xi8>) -> tensor<3x5xi4>
  %z = stablehlo.constant dense<-3> : tensor<i4>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x5xi4>) -> tensor<5x3xi4>
  %k = stablehlo.concatenate %a, %a, dim = 0 : (tensor<3x5xi4>, tensor<3x5xi4>) -> tensor<6x5xi4>
  %p = stablehlo.pad %a, %z, low = [1, 2], high = [1, 0], interior = [0, 0]
    : (tensor<3x5xi4>, tensor<i4>) -> tensor<5x7xi4>
  %s = stablehlo.slice %a [0:2, 1:5:2] : (tensor<3x5xi4>) -> tensor<2x2xi4>
  %d = stablehlo.dynamic_slice %a, %i, %c0, sizes = [1, 5]
    : (tensor<3x5xi4>, tensor<i32>, tensor<i32>) -> tensor<1x5xi4>
  %r = stablehlo.reshape %a : (tensor<3x5xi4>) -> tensor<15xi4>
  %w = stablehlo.convert %a : (tensor<3x5xi4>) -> tensor<3x5xi32>
  %u = stablehlo.reduce(%w init: %c0) applies stablehlo.add across dimensions = [1]
    : (tensor<3x5xi32>, tensor<i32>) -> tensor<3xi32>
  %b = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<i4>) -> tensor<3x5xi4>
  %m = stablehlo.compare LT, %a, %b : (tensor<3x5xi4>, tensor<3x5xi4>) -> tensor<3x5xi1>
  %q = stablehlo.select %m, %b, %a : tensor<3x5xi1>, tensor<3x5xi4>
  %0 = stablehlo.convert %t : (tensor<5x3xi4>) -> tensor<5x3xi8>
  %1 = stablehlo.convert %k : (tensor<6x5xi4>) -> tensor<6x5xi8>
  %2 = stablehlo.convert %p : (tensor<5x7xi4>) -> tensor<5x7xi8>
  %3 = stablehlo.convert %s : (tensor<2x2xi4>) -> tensor<2x2xi8>
  %4 = stablehlo.convert %d : (tensor<1x5xi4>) -> tensor<1x5xi8>
  %5 = stablehlo.convert %r : (tensor<15xi4>) -> tensor<15xi8>
  %6 = stablehlo.convert %q : (tensor<3x5xi4>) -> tensor<3x5xi8>
  return %0, %1, %2, %3, %4, %5, %u, %m, %6 : tensor<5x3xi8>, tensor<6x5xi8>, tensor<5x7xi8>, tensor<2x2xi8>,
    tensor<1x5xi8>, tensor<15xi8>, tensor<3xi32>, tensor<3x5xi1>, tensor<3x5xi8>
}"""


def test_structure() -> None:
    x = np.random.default_rng(5).integers(-128, 128, (3, 5))
    a = wrap(x, "i4")
    found = run(STRUCTURE, x.astype(np.int8), np.int32(2))
    padded = np.pad(a, ((1, 1), (2, 0)), constant_values=-3)
    wanted = (
        a.T, np.concatenate([a, a]), padded, a[:2, 1:5:2], a[2:3], a.reshape(-1), a.sum(1), a < -3, np.maximum(a, -3)
    )  # fmt: skip
    for one, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, expected)


def test_products_of_weights() -> None:
    """4-bit weights as a constant, widened in the product."""
    weights = np.random.default_rng(7).integers(-8, 8, (31, 17))
    text = f"""func.func @f(%x: tensor<9x31xf32>) -> tensor<9x17xf32> {{
  %w = stablehlo.constant dense<{weights.tolist()}> : tensor<31x17xi4>
  %f = stablehlo.convert %w : (tensor<31x17xi4>) -> tensor<31x17xf32>
  %r = stablehlo.dot %x, %f : (tensor<9x31xf32>, tensor<31x17xf32>) -> tensor<9x17xf32>
  return %r : tensor<9x17xf32>
}}"""
    x = np.random.default_rng(8).normal(size=(9, 31)).astype(np.float32)
    np.testing.assert_allclose(run(text, x)[0], x @ weights, rtol=1e-5, atol=1e-4)


def test_loops_carry_them() -> None:
    text = """func.func @f(%n: tensor<i32>) -> tensor<3xi32> {
  %c = stablehlo.constant dense<[7, -8, 1]> : tensor<3xi4>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %z, %a = %c) : tensor<i32>, tensor<3xi4>
    cond { %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %p : tensor<i1> }
    do { %b = stablehlo.add %a, %c : tensor<3xi4>
         %j = stablehlo.add %i, %one : tensor<i32>
         stablehlo.return %j, %b : tensor<i32>, tensor<3xi4> }
  %r = stablehlo.convert %0#1 : (tensor<3xi4>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}"""
    np.testing.assert_array_equal(run(text, np.int32(5))[0], wrap(np.array([42, -48, 6]), "i4"))


def test_scatter_in_place() -> None:
    """A loop over the updates, which the lowering makes a dispatch of."""
    text = """func.func @f(%x: tensor<6xi32>, %i: tensor<4x1xi32>, %u: tensor<4xi32>) -> tensor<6xi32> {
  %a = stablehlo.convert %x : (tensor<6xi32>) -> tensor<6xi4>
  %b = stablehlo.convert %u : (tensor<4xi32>) -> tensor<4xi4>
  %0 = "stablehlo.scatter"(%a, %i, %b) <{
      scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
        index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%p: tensor<i4>, %q: tensor<i4>):
    %s = stablehlo.multiply %p, %q : tensor<i4>
    stablehlo.return %s : tensor<i4>
  }) : (tensor<6xi4>, tensor<4x1xi32>, tensor<4xi4>) -> tensor<6xi4>
  %r = stablehlo.convert %0 : (tensor<6xi4>) -> tensor<6xi32>
  return %r : tensor<6xi32>
}"""
    x, u = np.array([1, -2, 3, 4, 5, 6], np.int32), np.array([3, 5, 7, -7], np.int32)
    wanted = x.copy()
    for at, by in zip((1, 1, 9, 4), u, strict=True):
        if at < 6:
            wanted[at] *= by
    got = run(text, x, np.array([[1], [1], [9], [4]], np.int32), u)[0]
    np.testing.assert_array_equal(got, wrap(wanted.astype(np.int64), "i4"))


def test_reshapes_into_sizes_that_are_known_late() -> None:
    text = """func.func @f(%x: tensor<6xi32>, %s: tensor<2xi64>) -> tensor<?x?xi32> {
  %a = stablehlo.convert %x : (tensor<6xi32>) -> tensor<6xi4>
  %b = stablehlo.dynamic_reshape %a, %s : (tensor<6xi4>, tensor<2xi64>) -> tensor<?x?xi4>
  %r = stablehlo.convert %b : (tensor<?x?xi4>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}"""
    x = np.array([1, -2, 3, 4, 5, 6], np.int32)
    np.testing.assert_array_equal(run(text, x, np.array([2, 3]))[0], x.reshape(2, 3))
