"""Constants as text: every literal form against numpy, floats against iree-opt's spelling, sizes that do not fit."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from dialects.iree_opt import generic_by_iree
from hypothesis import given, settings
from hypothesis import strategies as st
from tiree.dialects import print_module, read_module
from tiree.dialects.dense import DenseAttr
from tiree.dialects.syntax.dense_text import DenseSyntaxError, dense_from_hex, dense_from_literal, dense_text
from tiree.dialects.syntax.floats import float_bits, format_float, round_to_bf16
from xdsl.dialects.builtin import (
    ComplexType,
    IndexType,
    IntegerType,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)

ui8 = IntegerType(8, Signedness.UNSIGNED)


@pytest.mark.parametrize(
    ("element", "shape", "body", "expected"),
    [
        (f32, [3], "[1.0, -2.5e-1, 0x7FC00000]", [1.0, -0.25, np.nan]),
        (f32, [2], "[0xFF800000, 1]", [-np.inf, 1.0]),
        (f64, [2, 2], "[[1.0, 2.0], [3.0, 4.0]]", [[1.0, 2.0], [3.0, 4.0]]),
        (i1, [4], "[true, false, 1, 0]", [True, False, True, False]),
        (i8, [3], "[-128, 127, 255]", [-128, 127, -1]),
        (ui8, [2], "[255, 0x10]", [255, 16]),
        (i32, [2, 0], "", np.zeros((2, 0))),
        (i64, [2], "7", [7, 7]),
        (IndexType(), [1], "[5]", [5]),
        (f16, [2], "[1.0, 65520.0]", [1.0, np.inf]),
        (ComplexType(f32), [2], "[(1.0, 2.0), (0x7F800000, -1.0)]", [1 + 2j, complex(np.inf, -1)]),
        (ComplexType(f32), [2], "(1.0,2.0)", [1 + 2j, 1 + 2j]),
        (f32, [], "2.0", 2.0),
        (f32, [1, 2, 1], "[[[1.0], [2.0]]]", [[[1.0], [2.0]]]),
    ],
)
def test_literals(element, shape, body, expected) -> None:
    attr = dense_from_literal(TensorType(element, shape), body)
    np.testing.assert_array_equal(attr.to_numpy(), np.array(expected).reshape(shape))


def test_a_hex_string_holds_all_elements_or_one() -> None:
    type = TensorType(f32, [3])
    assert dense_from_hex(type, "0x0000803F").is_splat
    assert dense_from_hex(type, "0x0000803F0000004000004040").to_numpy().tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("element", "shape", "body", "message"),
    [
        (f32, [2], "[1.0]", "brackets and as many elements"),
        (f32, [2], "1.0, 2.0", "brackets"),
        (f32, [2], "[1.0, x]", "expected a number of type f32, got 'x'"),
        (f32, [2], "[nan, 1.0]", "expected numbers"),
        (f32, [2], "", "has 2 elements"),
        (i8, [2], "[1, 256]", "256 is out of range for i8"),
        (ui8, [2], "[-1, 1]", "-1 is out of range"),
        (i32, [1], "[1.5]", "expected an integer"),
        (ComplexType(f32), [2], "[1.0, 2.0]", "(real, imaginary)"),
        (f32, [1], "[(1.0, 2.0)]", "complex element"),
    ],
)
def test_literals_that_do_not_fit(element, shape, body, message) -> None:
    with pytest.raises(DenseSyntaxError) as caught:
        dense_from_literal(TensorType(element, shape), body)
    assert message in str(caught.value)


@pytest.mark.parametrize(("digits", "message"), [("00", "start with"), ("0x0", "even number"), ("0x0011", "needs 12")])
def test_hex_that_does_not_fit(digits: str, message: str) -> None:
    with pytest.raises(DenseSyntaxError, match=message):
        dense_from_hex(TensorType(f32, [3]), digits)


ELEMENTS = [
    (f32, np.float32), (f64, np.float64), (f16, np.float16), (i8, np.int8), (i32, np.int32), (i64, np.int64),
    (ui8, np.uint8), (i1, np.bool_),
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(data=st.binary(min_size=1, max_size=1200), which=st.sampled_from(ELEMENTS), columns=st.integers(1, 4))
def test_what_is_printed_is_read_back(data: bytes, which, columns: int) -> None:
    element, dtype = which
    size = np.dtype(dtype).itemsize * columns
    data = data.ljust(-(-len(data) // size) * size, b"\0")
    array = np.frombuffer(data, np.uint8 if dtype is np.bool_ else dtype).reshape(-1, columns)
    array = (array & 1).astype(bool) if dtype is np.bool_ else array
    attr = DenseAttr.from_numpy(array, TensorType(element, array.shape))
    text = dense_text(attr)
    body = text.removeprefix("dense<").removesuffix(">")
    type = TensorType(element, array.shape)
    back = dense_from_hex(type, body.strip('"')) if body.startswith('"') else dense_from_literal(type, body)
    assert bytes(back.buffer) == bytes(attr.buffer)[: back.buffer.nbytes]
    assert back.is_splat == (array.size == 1)


FLOATS = [
    0.0, -0.0, 1.0, 0.1, 1 / 3, 1e-4, 9.99999974e-5, 123456.789, 1e10, 16777217.0, 3.4028235e38, 1e-45, 5e-324, 1e300,
    0.001234567891, 12345678.9, 1e5, 99999.99, 1234567.0, float("inf"), float("-inf"), float("nan"), 2.0**-126, 65504.0,
]  # fmt: skip


def test_floats_are_spelt_as_iree_opt_spells_them() -> None:
    bits_text, our_text, spelt = [], [], []
    for index, value in enumerate(FLOATS):
        for type in (f32, f64, f16, bf16):
            bits = float_bits(value, type.__class__)
            ours = format_float(bits, type.__class__, type.bitwidth)
            bits_text.append(f"iree.a{index}_{type} = 0x{bits:0{type.bitwidth // 4}X} : {type}")
            our_text.append(f"iree.a{index}_{type} = {ours} : {type}")
            spelt.append(our_text[-1])
    wanted = generic_by_iree(f"module attributes {{{', '.join(bits_text)}}} {{\n}}\n")
    assert generic_by_iree(f"module attributes {{{', '.join(our_text)}}} {{\n}}\n") == wanted
    assert [text for text in spelt if text not in wanted] == []


def test_large_constants_are_hex_and_can_be_left_out() -> None:
    attr = DenseAttr.from_numpy(np.arange(101, dtype=np.int32), TensorType(i32, [101]))
    assert dense_text(attr).startswith('dense<"0x0000000001000000')
    assert dense_text(attr, elide_larger_than=100) == "dense_resource<__elided__>"
    assert dense_text(attr, elide_larger_than=101).startswith('dense<"0x')
    splat = DenseAttr.from_buffer(TensorType(i32, [4096, 4096]), struct.pack("<i", 3), splat=True)
    assert dense_text(splat, elide_larger_than=1) == "dense<3>"


@given(st.floats(width=64))
def test_bf16_rounds_once(value: float) -> None:
    import ml_dtypes

    bits = round_to_bf16(value)
    with np.errstate(over="ignore"):
        wanted = np.array(value, np.float64).astype(ml_dtypes.bfloat16)
    if np.isnan(value):
        assert bits & 0x7F80 == 0x7F80
        assert bits & 0x7F
    else:
        # ml_dtypes goes through f32; the two may differ only where that rounds onto a tie.
        nearest = np.frombuffer(struct.pack("<H", bits), ml_dtypes.bfloat16)[0]
        assert abs(float(nearest) - value) <= abs(float(wanted) - value) or nearest == wanted


def test_constants_pass_through_iree_opt_unchanged() -> None:
    body = "\n".join(
        f"  %{index} = stablehlo.constant {text}"
        for index, text in enumerate(
            [
                "dense<[[1, 2], [3, 4]]> : tensor<2x2xi4>",
                "dense<[0x7FC00001, 1.0]> : tensor<2xf32>",
                "dense<> : tensor<0x2xf64>",
                "dense<true> : tensor<2x3xi1>",
                f"dense<[{', '.join(['true', 'false'] * 60)}]> : tensor<120xi1>",
                "dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>",
                "dense<0x7F80> : tensor<2xbf16>",
                "dense<[1, 2]> : tensor<2xui64>",
            ]
        )
    )
    text = f"func.func @f() {{\n{body}\n  return\n}}\n"
    assert generic_by_iree(print_module(read_module(text))) == generic_by_iree(text)
