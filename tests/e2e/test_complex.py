"""Complex numbers end to end: values at the borders, elementwise ops, movement, reductions, contractions, control flow.

numpy is the oracle; the accuracy of functions is measured in `test_complex_functions.py`.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

RNG = np.random.default_rng(5)

ELEMENTWISE = """
func.func @parts(%a: tensor<3x5xcomplex<f32>>) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xcomplex<f32>>) {
  %0 = stablehlo.real %a : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xf32>
  %1 = stablehlo.imag %a : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xf32>
  %2 = stablehlo.complex %1, %0 : tensor<3x5xcomplex<f32>>
  return %0, %1, %2 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xcomplex<f32>>
}
func.func @arithmetic(%a: tensor<37xcomplex<f32>>, %b: tensor<37xcomplex<f32>>) -> (tensor<37xcomplex<f32>>,
    tensor<37xcomplex<f32>>, tensor<37xcomplex<f32>>, tensor<37xcomplex<f32>>) {
  %0 = stablehlo.add %a, %b : tensor<37xcomplex<f32>>
  %1 = stablehlo.subtract %0, %b : tensor<37xcomplex<f32>>
  %c = stablehlo.constant dense<(0.5, -2.0)> : tensor<37xcomplex<f32>>
  %2 = stablehlo.multiply %a, %c : tensor<37xcomplex<f32>>
  %3 = stablehlo.negate %2 : tensor<37xcomplex<f32>>
  return %0, %1, %2, %3 : tensor<37xcomplex<f32>>, tensor<37xcomplex<f32>>, tensor<37xcomplex<f32>>,
    tensor<37xcomplex<f32>>
}
func.func @constants() -> (tensor<3xcomplex<f64>>, tensor<2x2xcomplex<f32>>, tensor<complex<f64>>,
    tensor<2xcomplex<f32>>) {
  %0 = stablehlo.constant dense<[(1.0, -0.0), (0x7FF0000000000000, 2.5), (-3.0, 0x7FF8000000000000)]>
    : tensor<3xcomplex<f64>>
  %1 = stablehlo.constant dense<(1.5, -2.0)> : tensor<2x2xcomplex<f32>>
  %2 = stablehlo.constant dense<(0.0, 1.0)> : tensor<complex<f64>>
  %3 = stablehlo.constant dense<"0x0000803F000000400000404000008040"> : tensor<2xcomplex<f32>>
  return %0, %1, %2, %3 : tensor<3xcomplex<f64>>, tensor<2x2xcomplex<f32>>, tensor<complex<f64>>, tensor<2xcomplex<f32>>
}
func.func @tests(%a: tensor<9xcomplex<f64>>, %b: tensor<9xcomplex<f64>>, %p: tensor<9xi1>) -> (tensor<9xi1>,
    tensor<9xi1>, tensor<9xcomplex<f64>>) {
  %0 = stablehlo.compare EQ, %a, %b : (tensor<9xcomplex<f64>>, tensor<9xcomplex<f64>>) -> tensor<9xi1>
  %1 = stablehlo.compare NE, %a, %b, FLOAT : (tensor<9xcomplex<f64>>, tensor<9xcomplex<f64>>) -> tensor<9xi1>
  %2 = stablehlo.select %p, %a, %b : tensor<9xi1>, tensor<9xcomplex<f64>>
  return %0, %1, %2 : tensor<9xi1>, tensor<9xi1>, tensor<9xcomplex<f64>>
}
func.func @conversions(%a: tensor<4xcomplex<f64>>, %i: tensor<4xi32>) -> (tensor<4xcomplex<f32>>, tensor<4xf32>,
    tensor<4xcomplex<f32>>, tensor<4xi16>) {
  %0 = stablehlo.convert %a : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f32>>
  %1 = stablehlo.convert %a : (tensor<4xcomplex<f64>>) -> tensor<4xf32>
  %2 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xcomplex<f32>>
  %3 = stablehlo.convert %a : (tensor<4xcomplex<f64>>) -> tensor<4xi16>
  return %0, %1, %2, %3 : tensor<4xcomplex<f32>>, tensor<4xf32>, tensor<4xcomplex<f32>>, tensor<4xi16>
}
"""


def numbers(shape: tuple[int, ...], dtype: type = np.complex64) -> Any:
    made: Any = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)
    return made.astype(dtype)


def results(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [np.asarray(one) for one in cast("list[Any]", value)]
    return [np.asarray(value)]


def same(got: Any, wanted: list[Any]) -> None:
    """Equal bits, and NaN where NaN is wanted."""
    for one, other in zip(results(got), wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
        for part in ("real", "imag") if np.iscomplexobj(other) else ("real",):
            signs = np.signbit(getattr(other, part))
            numbers = ~np.isnan(getattr(other, part))
            np.testing.assert_array_equal(np.signbit(getattr(one, part))[numbers], signs[numbers])


@pytest.fixture(scope="module")
def elementwise() -> Any:
    return rt.load(tiree.compile(ELEMENTWISE))


def test_parts(elementwise: Any) -> None:
    a = numbers((3, 5))
    same(elementwise.parts(a), [a.real, a.imag, a.imag + 1j * a.real])


def test_arithmetic(elementwise: Any) -> None:
    a, b = numbers((37,)), numbers((37,))
    got = results(elementwise.arithmetic(a, b))
    wanted = [a + b, a + b - b, a * np.complex64(0.5 - 2j), -(a * np.complex64(0.5 - 2j))]
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=3e-7)


def test_constants(elementwise: Any) -> None:
    inf, nan = np.inf, np.nan
    first = np.array([complex(1, -0.0), complex(inf, 2.5), complex(-3, nan)])
    same(
        elementwise.constants(),
        [
            first,
            np.full((2, 2), 1.5 - 2j, np.complex64),
            np.array(1j),
            np.array([1 + 2j, 3 + 4j], np.complex64),
        ],
    )


def test_comparisons(elementwise: Any) -> None:
    nan = np.nan
    a = np.array([1, 1j, 0, complex(nan, 0), complex(0, nan), 2 + 3j, 2 + 3j, complex(0, -0.0), np.inf], np.complex128)
    b = np.array([1, 1, complex(0, -0.0), complex(nan, 0), complex(0, nan), 2 + 3j, 2 - 3j, 0, np.inf], np.complex128)
    choice = np.arange(9) % 2 == 0
    same(elementwise.tests(a, b, choice), [a == b, a != b, np.where(choice, a, b)])


def test_conversions(elementwise: Any) -> None:
    a: Any = np.array([1.25 - 2j, complex(-0.0, 3), 1e300 + 1e-300j, -70000.5 + 1j])
    i = np.array([1, -5, 2**31 - 1, -(2**31)], np.int32)
    with np.errstate(over="ignore"):
        narrow, real = a.astype(np.complex64), a.real.astype(np.float32)
    whole = np.array([1, 0, 32767, -32768], np.int16)
    same(elementwise.conversions(a, i), [narrow, real, i.astype(np.complex64), whole])


@pytest.mark.parametrize("value", [np.complex64(1 + 2j), np.complex128(1 + 2j)])
def test_wrong_type_says_what_is_needed(elementwise: Any, value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="complex64"):
        elementwise.parts(np.full((3, 5), value.real))


@pytest.mark.parametrize("part", ["i32", "f16", "bf16"])
def test_other_parts_are_refused(part: str) -> None:
    type = f"tensor<2xcomplex<{part}>>"
    with pytest.raises(tiree.CompileError, match=r"complex<f32> and complex<f64>"):
        tiree.compile(f"func.func @main(%a: {type}) -> {type} {{\n return %a : {type}\n}}")


@pytest.mark.parametrize("op", ["remainder %a, %a", "floor %a", "and %a, %a", "round_nearest_even %a"])
def test_ops_without_a_meaning_are_refused(op: str) -> None:
    type = "tensor<2xcomplex<f32>>"
    name = op.split()[0]
    with pytest.raises(
        tiree.CompileError, match=rf"stablehlo.{name} on elements of type complex<f32> is not supported"
    ):
        tiree.compile(
            f"func.func @main(%a: {type}) -> {type} {{\n %0 = stablehlo.{op} : {type}\n return %0 : {type}\n}}"
        )


def test_predicates_of_reals_are_refused() -> None:
    text = """
func.func @main(%a: tensor<2xcomplex<f32>>) -> tensor<2xi1> {
  %0 = stablehlo.is_finite %a : (tensor<2xcomplex<f32>>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}
"""
    with pytest.raises(tiree.CompileError, match="is_finite on elements of type complex<f32> is not supported"):
        tiree.compile(text)


def test_order_is_by_real_then_imaginary_part() -> None:
    type = "tensor<5xcomplex<f32>>"
    body = f"%0 = stablehlo.maximum %a, %b : {type}\n %1 = stablehlo.minimum %a, %b : {type}"
    body += f"\n %2 = stablehlo.clamp %b, %a, %b : {type}"
    text = f"func.func @main(%a: {type}, %b: {type}) -> ({type}, {type}, {type}) {{\n {body}\n"
    module = rt.load(tiree.compile(text + f" return %0, %1, %2 : {type}, {type}, {type}\n}}"))
    nan = complex(np.nan, 1)
    a: Any = np.array([1 + 2j, 1 - 1j, -2 + 9j, nan, 3], np.complex64)
    b: Any = np.array([1 + 1j, 1 + 1j, 2, 5, nan], np.complex64)
    greatest, least, clamped = (np.asarray(one) for one in module.main(a, b))
    np.testing.assert_array_equal(greatest[:3], [1 + 2j, 1 + 1j, 2])
    np.testing.assert_array_equal(least[:3], [1 + 1j, 1 - 1j, -2 + 9j])
    assert np.isnan(greatest[3:]).all()
    assert np.isnan(least[3:]).all()
    np.testing.assert_array_equal(clamped[:3], b[:3])


def test_python_values(elementwise: Any) -> None:
    rows = [[complex(x, y) for x in range(5)] for y in range(3)]
    same(elementwise.parts(rows)[0], [np.asarray(rows).real.astype(np.float32)])
    module = rt.load(
        tiree.compile(
            "func.func @main(%a: tensor<complex<f64>>) -> tensor<complex<f64>> {\n"
            " %0 = stablehlo.sqrt %a : tensor<complex<f64>>\n return %0 : tensor<complex<f64>>\n}"
        )
    )
    assert complex(module.main(-4)) == 2j
    assert complex(module.main(complex(-4, -0.0))) == -2j
