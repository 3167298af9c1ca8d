"""Every text that is not a module gives one error with the place and what was expected, and no other exception."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiree.dialects import read_module
from tiree.support.errors import CompileError

FUNCTION = "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {{\n  {}\n  return %a : tensor<4xf32>\n}}\n"

CASES = {
    "%0 = stablehlo.add %a, %a tensor<4xf32>": ("2:29", "expected ':' and the type of the operation, found 'tensor'"),
    "%0 = stablehlo.add %a, %b : tensor<4xf32>": ("2:8", "value %b is used but never defined"),
    "%0 = stablehlo.add %a, %a : tensor<5xf32>": ("2:8", "%a is tensor<4xf32>, but used here as tensor<5xf32>"),
    "%0 = stablehlo.adds %a, %a : tensor<4xf32>": ("2:8", "unknown operation 'stablehlo.adds'; did you mean"),
    "%0 = foo.bar %a : tensor<4xf32>": ("2:8", "there is no dialect 'foo'"),
    "%a = stablehlo.abs %a : tensor<4xf32>": ("2:3", "value %a is already defined"),
    "%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<4xf32>": (
        "2:33",
        "does not have the brackets and as many elements as the shape 4 needs",
    ),
    '%0 = stablehlo.constant dense<"0x00"> : tensor<4xf32>': ("2:33", "needs 16 bytes (4 for a splat)"),
    "%0 = stablehlo.constant dense<300> : tensor<4xi8>": ("2:33", "300 is out of range for i8"),
    "%0 = stablehlo.constant dense<1.0> : tensor<?xf32>": ("2:40", "needs a static shape"),
    "%0 = stablehlo.constant dense_resource<w> : tensor<4xf32>": ("2:42", "has no data"),
    "%0 = stablehlo.iota : tensor<4xf32>": ("2:23", "needs dim = ..."),
    "%0 = stablehlo.compare LTE, %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>": ("2:26", "'LTE'"),
    "%0:2 = stablehlo.abs %a : tensor<4xf32>": ("2:3", "stablehlo.abs has 1 results, 2 names are given"),
    '"stablehlo.abs"(%a) : (tensor<4xf32>': ("3:3", "expected ')' after the types, found 'return'"),
    "cf.br ^bb7": ("2:9", "block ^bb7 is not defined in its region"),
    '"cf.br"() {a = "open} : () -> ()': ("2:", "no closing quote"),
    '"func.call"() <{callee = @g, callee = @h}> : () -> ()': ("2:", "'callee' is given twice"),
    "%0 = stablehlo.gather %a : tensor<4xf32>": ("2:8", "stablehlo.gather has no short form here"),
    "] stray": ("2:3", "expected an operation or '}', found ']'"),
}


@pytest.mark.parametrize("line", CASES)
def test_the_error_says_where_and_what(line: str) -> None:
    place, message = CASES[line]
    with pytest.raises(CompileError) as caught:
        read_module(FUNCTION.format(line), filename="m.mlir")
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert diagnostic.location.startswith(f"m.mlir:{place}"), diagnostic.location
    assert "^" in diagnostic.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the input is empty"),
        (" \n\t\n", "the input is empty"),
        ("// nothing\n", "holds no operation"),
        ("module {\n", "found the end of the file"),
        ("#a = #a\nmodule attributes {x = #a} {\n}\n", "refers to itself"),
        ("module attributes {x = #nope} {\n}\n", "alias #nope is not defined"),
        ("module attributes {x = 300 : i8} {\n}\n", "300"),
        ("hello world\n", "expected an operation, found 'hello'"),
        ("{-# dialect_resources: {", "not closed"),
    ],
)
def test_errors_outside_functions(text: str, message: str) -> None:
    with pytest.raises(CompileError, match=message.replace("(", "\\(")):
        read_module(text + "\n")


def test_bytes_that_are_no_text_say_so() -> None:
    with pytest.raises(CompileError, match=r"m\.mlir:2:4: error: this is not UTF-8 text \(byte 8\)"):
        read_module(b"// a\n// \xff\n", filename="m.mlir")


@pytest.mark.parametrize(
    ("data", "name", "what"),
    [
        (b"PK\x03\x04-\0\0\0\0\0\0\0!\0........\x09\0module.fb", "m.mlir", "a compiled module"),
        (b"\x08\0\0\0\0\0\0\0IREE", "m.mlir", "a compiled module"),
        (b"\x1c\0\0\0TFL3", "m.tflite", "a TensorFlow Lite model"),
        (b"\x08\x07\x12\x07pytorch", "m.onnx", "an ONNX model"),
        (b"\x93NUMPY\x01\0", "x.npy", "a NumPy array"),
        (b"\0\1\2", "x.bin", "a binary file"),
    ],
)
def test_files_of_other_kinds_are_named(data: bytes, name: str, what: str) -> None:
    with pytest.raises(CompileError, match=f"{name}: error: this is {what}, not MLIR text"):
        read_module(data, filename=name)


@pytest.mark.parametrize(
    "text",
    [
        'module attributes {x = #hal.executable.target<"a", "b", {y = "' + "ab" * 5000 + "}>} {\n}\n",
        "{-# " + "a" * 200_000,
        "module attributes {x = #a.b" + "<" * 100_000,
        '#a = "' + '\\"' * 100_000,
        "module attributes {x = #a.b<" + "->-" * 50_000,
    ],
    ids=["open-string", "long-word", "open-brackets", "escapes", "arrows"],
)
def test_hostile_text_takes_no_longer_than_it_is_long(text: str) -> None:
    # Each of these took exponential or quadratic time in some reader; here they would hang the test.
    with pytest.raises(CompileError):
        read_module(text + "\n")


def test_very_deep_nesting_is_an_error() -> None:
    with pytest.raises(CompileError, match=r"nested too deeply|cannot be read|expected"):
        read_module("module {\n" * 5000)


SEED = FUNCTION.format(
    "%0 = stablehlo.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>\n"
    '  %1 = "stablehlo.slice"(%a) <{limit_indices = array<i64: 2>, start_indices = array<i64: 0>, '
    "strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<2xf32>\n"
    "  %2 = stablehlo.reduce(%a init: %3) applies stablehlo.add across dimensions = [0] : "
    '(tensor<4xf32>, tensor<f32>) -> tensor<f32> loc("x")'
)


@settings(max_examples=150, deadline=None)
@given(start=st.integers(0, len(SEED)), length=st.integers(0, 12), insert=st.text('%@#!"<>(){}[]:,-=x0 \n', max_size=3))
def test_damaged_text_never_raises_anything_else(start: int, length: int, insert: str) -> None:
    damaged = SEED[:start] + insert + SEED[start + length :]
    locations = []
    try:
        read_module(damaged + "\n")
    except CompileError as error:
        locations = [diagnostic.location for diagnostic in error.diagnostics]
    assert all(location.count(":") == 2 for location in locations)


def test_a_byte_order_mark_is_no_text() -> None:
    text = "func.func @f() {\n  return\n}\n"
    for source in (f"\ufeff{text}", f"\ufeff{text}".encode()):
        assert read_module(source).body.block.first_op is not None


def test_names_that_are_none_are_told_in_words() -> None:
    with pytest.raises(CompileError, match="cannot be read: Invalid BlockArgument name format"):
        read_module("func.func @f(%\u00e9: tensor<f32>) {\n  return\n}\n")
