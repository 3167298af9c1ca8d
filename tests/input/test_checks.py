"""Operations that break StableHLO's rules are refused by name and place; valid ones are what tests/programs holds."""

from __future__ import annotations

import re

import pytest
from tiree.support.errors import CompileError

F = "tensor<f32>"


def body(op: str = "add", arguments: int = 2, results: str = "%c", compare: str = "") -> str:
    """A region over rank-0 f32 values."""
    args = ", ".join(f"%{'xyzw'[i]}: {F}" for i in range(arguments))
    out, rest = ("tensor<i1>", compare) if compare else (F, "")
    types = out if results == "%c" else F if results else ""
    return (
        f'({{ ^bb0({args}): %c = "stablehlo.{op}"(%x, %x){rest} : ({F}, {F}) -> {out} '
        f'"stablehlo.return"({results}) : ({types}) -> () }})'
    )


LESS = " <{comparison_direction = #stablehlo<comparison_direction LT>}>"


def dot(left: str, right: str) -> str:
    numbers = f"lhs_contracting_dimensions = [{left}], rhs_contracting_dimensions = [{right}]"
    return f"dot_dimension_numbers = #stablehlo.dot<{numbers}>"


def cut(start: int, limit: int, stride: int) -> str:
    lists = {"start_indices": start, "limit_indices": limit, "strides": stride}
    return ", ".join(f"{name} = array<i64: {value}>" for name, value in lists.items())


def edges(low: str, high: str, interior: str) -> str:
    return (
        f"edge_padding_low = array<i64: {low}>, edge_padding_high = array<i64: {high}>, "
        f"interior_padding = array<i64: {interior}>"
    )


def conv(groups: int) -> str:
    numbers = "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>"
    return f"dimension_numbers = {numbers}, feature_group_count = {groups} : i64, batch_group_count = 1 : i64"


def gather(start_map: str, sizes: str) -> str:
    numbers = f"offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [{start_map}], index_vector_dim = 1"
    return f"dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = array<i64: {sizes}>"


SCATTER = (
    "scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], "
    "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"
)
LOOP = "({{ ^bb0(%x: tensor<i32>): {} }}, {{ ^bb0(%x: tensor<i32>): {} }})"
LOOP_TEST = (
    f'%c = "stablehlo.compare"(%x, %x){LESS} : (tensor<i32>, tensor<i32>) -> tensor<i1> '
    '"stablehlo.return"(%c) : (tensor<i1>) -> ()'
)
RETURN_X = '"stablehlo.return"(%x) : (tensor<i32>) -> ()'
RETURN_F = '%d = "stablehlo.convert"(%x) : (tensor<i32>) -> tensor<f32> "stablehlo.return"(%d) : (tensor<f32>) -> ()'
RETURN_NONE = '"stablehlo.return"() : () -> ()'
RETURN_A0, RETURN_A1 = (
    f'"stablehlo.return"(%a{i}) : (tensor<{t}>) -> ()' for i, t in enumerate(("i1", "4xf32"))
)  # fmt: skip


def fft(kind: str, lengths: str) -> str:
    return f"fft_type = #stablehlo<fft_type {kind}>, fft_length = array<i64: {lengths}>"


def solve(left: str) -> str:
    flags = f"left_side = {left}, lower = true, unit_diagonal = false"
    return f"{flags}, transpose_a = #stablehlo<transpose NO_TRANSPOSE>"


INTEGERS = body().replace("f32", "i32")

# Name, op, types of operands, attributes, type of the result, regions, a part of the message.
CASES: list[tuple[str, str, list[str], str, str, str, str]] = [
    ("dot_extent", "dot_general", ["2x3xf32", "4x5xf32"], dot("1", "0"), "2x5xf32", "", "contracted dimensions differ"),
    ("dot_result", "dot_general", ["2x3xf32", "3x5xf32"], dot("1", "0"), "2x6xf32", "", "give the shape [2x5]"),
    ("dot_rank", "dot_general", ["2x3xf32", "3x5xf32"], dot("1", "0"), "2xf32", "", "give the shape [2x5]"),
    ("dot_dims", "dot_general", ["2x3xf32", "3x5xf32"], dot("1, 0", "0"), "2x5xf32", "", "2 contracted dimensions"),
    ("dot_range", "dot_general", ["2x3xf32", "3x5xf32"], dot("7", "0"), "2x5xf32", "", "dimension 7"),
    ("dot_twice", "dot_general", ["2x3xf32", "3x5xf32"], dot("1, 1", "0, 0"), "2x5xf32", "", "dimension twice"),
    ("dot_kinds", "dot_general", ["2x3xf32", "3x5xi32"], dot("1", "0"), "2x5xf32", "", "both floats or both integers"),
    ("dot_result_kind", "dot_general", ["2x3xf32", "3x5xf32"], dot("1", "0"), "2x5xi32", "", "have a float result"),
    ("transpose_shape", "transpose", ["2x3xf32"], "permutation = array<i64: 1, 0>", "2x3xf32", "", "shape [3x2]"),
    ("transpose_twice", "transpose", ["2x3xf32"], "permutation = array<i64: 1, 1>", "3x3xf32", "", "dimension twice"),
    ("transpose_few", "transpose", ["2x3xf32"], "permutation = array<i64: 1>", "3x2xf32", "", "1 entries; needs 2"),
    ("transpose_type", "transpose", ["2x3xf32"], "permutation = array<i64: 1, 0>", "3x2xf64", "", "elements of type"),
    ("spread", "broadcast_in_dim", ["3xf32"], "broadcast_dimensions = array<i64: 0>", "2x3xf32", "", "[3] to [2x3]"),
    ("range", "broadcast_in_dim", ["3xf32"], "broadcast_dimensions = array<i64: 5>", "2x3xf32", "", "dimension 5"),
    ("spread_few", "broadcast_in_dim", ["3xf32"], "broadcast_dimensions = array<i64>", "2x3xf32", "", "0 entries"),
    ("twice", "broadcast_in_dim", ["3x3xf32"], "broadcast_dimensions = array<i64: 1, 1>", "2x3xf32", "", "twice"),
    ("reshape", "reshape", ["3xf32"], "", "4xf32", "", "3 elements ([3]) to 4 ([4])"),
    ("reshape_type", "reshape", ["3xf32"], "", "3xi32", "", "elements of type i32"),
    ("factor_rank", "cholesky", ["4xf32"], "lower = true", "4xf32", "", "takes square matrices"),
    ("factor_square", "cholesky", ["4x3xf32"], "lower = true", "4x3xf32", "", "takes square matrices"),
    ("factor_type", "cholesky", ["3x3xi32"], "lower = true", "3x3xi32", "", "works on floats"),
    ("factor_result", "cholesky", ["3x3xf32"], "lower = true", "2x3x3xf32", "", "must have one type"),
    ("solve_square", "triangular_solve", ["3x2xf32", "3x4xf32"], solve("true"), "3x4xf32", "", "takes square matrices"),
    ("solve_sides", "triangular_solve", ["3x3xf32", "3x4xf32"], solve("false"), "3x4xf32", "", "do not go with"),
    ("solve_batch", "triangular_solve", ["2x3x3xf32", "3x4xf32"], solve("true"), "3x4xf32", "", "have the shapes"),
    ("solve_types", "triangular_solve", ["3x3xf32", "3x4xf64"], solve("true"), "3x4xf64", "", "one element type"),
    ("fft_length", "fft", ["2x3xcomplex<f32>"], fft("FFT", "5"), "2x3xcomplex<f32>", "", "operand of shape [2x5]"),
    ("fft_rank", "fft", ["3xcomplex<f32>"], fft("FFT", "3, 3"), "3xcomplex<f32>", "", "has rank 1"),
    ("fft_half", "fft", ["6xf32"], fft("RFFT", "6"), "6xcomplex<f32>", "", "give the shape [4]"),
    ("fft_back", "fft", ["6xcomplex<f32>"], fft("IRFFT", "6"), "6xf32", "", "operand of shape [4]"),
    ("fft_real", "fft", ["6xf32"], fft("FFT", "6"), "6xcomplex<f32>", "", "holds complex numbers for FFT"),
    ("fft_type", "fft", ["6xf32"], fft("RFFT", "6"), "4xcomplex<f64>", "", "makes elements of complex<f64>"),
    ("slice_limit", "slice", ["3xf32"], cut(1, 9, 1), "8xf32", "", "1 to 9"),
    ("slice_start", "slice", ["3xf32"], cut(-1, 2, 1), "3xf32", "", "-1 to 2"),
    ("slice_stride", "slice", ["3xf32"], cut(0, 3, 0), "3xf32", "", "stride 0"),
    ("slice_result", "slice", ["3xf32"], cut(0, 2, 1), "3xf32", "", "shape [2]"),
    ("slice_few", "slice", ["3x3xf32"], cut(0, 2, 1), "2x3xf32", "", "1 entries; needs 2"),
    ("join_sum", "concatenate", ["3xf32", "4xf32"], "dimension = 0 : i64", "9xf32", "", "shape [7]"),
    ("join_other", "concatenate", ["3x2xf32", "4x3xf32"], "dimension = 0 : i64", "7x3xf32", "", "[3x2] and [4x3]"),
    ("join_range", "concatenate", ["3xf32", "4xf32"], "dimension = 4 : i64", "7xf32", "", "dimension 4"),
    ("pad_result", "pad", ["3xf32", "f32"], edges("1", "1", "0"), "9xf32", "", "shape [5]"),
    ("pad_many", "pad", ["3xf32", "f32"], edges("1, 2", "1", "0"), "5xf32", "", "2 entries; needs 1"),
    ("pad_between", "pad", ["3xf32", "f32"], edges("1", "1", "-1"), "3xf32", "", "not be negative"),
    ("iota", "iota", [], "iota_dimension = 3 : i64", "4xi32", "", "dimension 3"),
    ("reverse_range", "reverse", ["3xf32"], "dimensions = array<i64: 2>", "3xf32", "", "dimension 2"),
    ("reverse_shape", "reverse", ["3xf32"], "dimensions = array<i64: 0>", "4xf32", "", "shape [3]"),
    ("select_shape", "select", ["3xi1", "4xf32", "4xf32"], "", "4xf32", "", "predicate"),
    ("select_type", "select", ["4xf32", "4xf32", "4xf32"], "", "4xf32", "", "predicate"),
    ("clamp", "clamp", ["3xf32", "4xf32", "3xf32"], "", "4xf32", "", "one type"),
    ("convert", "convert", ["4xf32"], "", "5xi32", "", "shape [4]"),
    ("compare", "compare", ["4xf32", "4xi32"], LESS[3:-2], "4xi1", "", "one type"),
    ("direction", "compare", ["4xf32", "4xf32"], "", "4xi1", "", "must be one of EQ, NE"),
    ("add", "add", ["4xf32", "4xi32"], "", "4xf32", "", "one type"),
    ("add_result", "add", ["4xf32", "4xf32"], "", "4xf64", "", "elements of type f64"),
    ("not", "not", ["4xf32"], "", "4xf32", "", "works on integers"),
    ("sizes", "dynamic_slice", ["4xf32", "i32"], "slice_sizes = array<i64: 9>", "9xf32", "", "[9] does not fit"),
    ("starts", "dynamic_slice", ["4x4xf32", "i32"], "slice_sizes = array<i64: 2, 2>", "2x2xf32", "", "1 start indices"),
    ("update", "dynamic_update_slice", ["4xf32", "9xf32", "i32"], "", "4xf32", "", "[9] does not fit in [4]"),
    ("update_result", "dynamic_update_slice", ["4xf32", "2xf32", "i32"], "", "5xf32", "", "shape [4]"),
    ("reduce", "reduce", ["4x3xf32", "f32"], "dimensions = array<i64: 0>", "4xf32", body(), "shape [3]"),
    ("reduce_range", "reduce", ["4x3xf32", "f32"], "dimensions = array<i64: 4>", "4xf32", body(), "dimension 4"),
    ("reduce_init", "reduce", ["4x3xf32", "2xf32"], "dimensions = array<i64: 1>", "4xf32", body(), "initial value"),
    ("reducer", "reduce", ["4x3xf32", "f32"], "dimensions = array<i64: 1>", "4xf32", body(arguments=1), "1 arguments"),
    ("no_return", "reduce", ["4x3xf32", "f32"], "dimensions = array<i64: 1>", "4xf32", body(results=""), "0 values"),
    ("window", "reduce_window", ["8xf32", "f32"], "window_dimensions = array<i64: 3>", "8xf32", body(), "shape [6]"),
    ("widths", "reduce_window", ["8xf32", "f32"], "window_dimensions = array<i64: 3, 2>", "6xf32", body(), "2 entries"),
    ("features", "convolution", ["1x8x8x2xf32", "3x3x3x4xf32"], conv(1), "1x6x6x4xf32", "", "2 features"),
    ("convolved", "convolution", ["1x8x8x2xf32", "3x3x2x4xf32"], conv(1), "1x9x9x4xf32", "", "shape [1x6x6x4]"),
    ("groups", "convolution", ["1x8x8x2xf32", "3x3x2x4xf32"], conv(3), "1x6x6x4xf32", "", "3 groups of 2"),
    ("no_groups", "convolution", ["1x8x8x2xf32", "3x3x2x4xf32"], conv(0), "1x6x6x4xf32", "", "must be positive"),
    ("ranks", "convolution", ["1x8x2xf32", "3x3x2x4xf32"], conv(1), "1x6x6x4xf32", "", "ranks [3, 4, 4]"),
    ("gather", "gather", ["8x3xf32", "5x1xi32"], gather("0", "1, 9"), "5x9xf32", "", "[1x9] does not fit in [8x3]"),
    ("gathered", "gather", ["8x3xf32", "5x1xi32"], gather("0", "1, 3"), "6x3xf32", "", "shape [5x3]"),
    ("gather_range", "gather", ["8x3xf32", "5x1xi32"], gather("7", "1, 3"), "5x3xf32", "", "dimension 7"),
    ("components", "gather", ["8x3xf32", "5x1xi32"], gather("0, 1", "1, 3"), "5x3xf32", "", "1 components"),
    ("scatter", "scatter", ["8xf32", "5x1xi32", "4xf32"], SCATTER, "8xf32", body(), "do not go with indices of [5x1]"),
    ("sort_range", "sort", ["8xf32"], "dimension = 3 : i64", "8xf32", body("compare", compare=LESS), "dimension 3"),
    ("sorted", "sort", ["8xf32"], "dimension = 0 : i64", "9xf32", body("compare", compare=LESS), "one type"),
    ("carried", "while", ["i32"], "", "i32", LOOP.format(LOOP_TEST, RETURN_F), "what the body returns"),
    ("condition", "while", ["i32"], "", "i32", LOOP.format(RETURN_X, RETURN_X), "rank-0 tensor of i1"),
    ("nothing", "while", ["i32"], "", "i32", LOOP.format(RETURN_NONE, RETURN_NONE), "0 values"),
    ("branch", "if", ["i1", "4xf32"], "", "4xf32", f"({{ {RETURN_A0} }}, {{ {RETURN_A1} }})", "a branch returns"),
    ("decides", "if", ["2xi1", "4xf32"], "", "4xf32", f"({{ {RETURN_A1} }}, {{ {RETURN_A1} }})", "what decides"),
    ("chosen", "case", ["f32", "4xf32"], "", "4xf32", f"({{ {RETURN_A1} }})", "what decides"),
    ("taken", "reduce", ["4xf32", "f32"], "dimensions = array<i64: 0>", "f32", INTEGERS, "takes elements of"),
    ("mapped", "map", ["4xf32", "4xf32"], "dimensions = array<i64: 0>", "4xf32", INTEGERS, "takes elements of"),
    ("narrower", "reduce", ["4xf64", "f64"], "dimensions = array<i64: 0>", "f32", body(), "it gets f64"),
    ("given", "reduce", ["4xf32", "f32"], "dimensions = array<i64: 0>", "f64", body(), "a result takes elements of"),
    ("windowed", "reduce_window", ["8xf32", "f32"], "window_dimensions = array<i64: 3>", "6xf32", INTEGERS, "takes"),
    ("combined", "scatter", ["8xf32", "5x1xi32", "5xf32"], SCATTER, "8xf32", INTEGERS, "takes elements of"),
    ("compared", "sort", ["8xf64"], "dimension = 0 : i64", "8xf64", body("compare", compare=LESS), "it gets f64"),
    ("constant", "constant", [], "value = dense<1.0> : tensor<5xf32>", "4xf32", "", "tensor<5xf32>"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_what_is_not_valid_is_refused(case, lowered) -> None:
    _, op, operands, attributes, result, regions, message = case
    inputs = ", ".join(f"%a{i}: tensor<{type}>" for i, type in enumerate(operands))
    # What decides on a branch is the only operand; the rest is used inside.
    used = operands[:1] if op in ("if", "case") else operands
    names, types = ", ".join(f"%a{i}" for i in range(len(used))), ", ".join(f"tensor<{type}>" for type in used)
    inherent = f" <{{{attributes}}}>" if attributes else ""
    line = f'%r = "stablehlo.{op}"({names}){inherent} {regions} : ({types}) -> tensor<{result}>'
    text = f"func.func @f({inputs}) -> tensor<{result}> {{\n  {line}\n  return %r : tensor<{result}>\n}}\n"
    with pytest.raises(CompileError) as caught:
        lowered(text)
    (found,) = caught.value.diagnostics
    assert found.message.startswith(f"stablehlo.{op} is not valid: ")
    assert message in found.message
    assert found.location.endswith(":2:8")


@pytest.mark.parametrize(
    "line",
    [
        "%r = tensor.extract_slice %a[2] [4] [1] : tensor<4xf32> to tensor<4xf32>",
        "%r = tensor.insert_slice %a into %a[2] [4] [1] : tensor<4xf32> into tensor<4xf32>",
    ],
)
def test_slices_outside_of_a_tensor(line: str, lowered) -> None:
    with pytest.raises(CompileError, match="element 5 of dimension 0 is outside tensor<4xf32>"):
        lowered(f"func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {{\n  {line}\n  return %r : tensor<4xf32>\n}}\n")


def test_all_of_them_are_reported_at_once(lowered) -> None:
    text = """func.func @f(%a: tensor<4xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.tanh"(%a) : (tensor<4xf32>) -> tensor<5xf32>
  %1 = "stablehlo.reshape"(%a) : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<5xf32>
}
"""
    with pytest.raises(CompileError) as caught:
        lowered(text)
    assert [one.location[-4:] for one in caught.value.diagnostics] == [":2:8", ":3:8"]


@pytest.mark.parametrize(
    ("given", "taken", "message"),
    [
        ("2xf32", "3xf32", "operand and that of the decomposition must have one type"),
        ("2xf32", "2xi32", "operand and that of the decomposition must have one type"),
        ("2xf32", "2xf32>, %y: tensor<2xf32", "it has 1 operands; its decomposition has 2"),
    ],
)
def test_a_composite_that_its_function_does_not_fit(given: str, taken: str, message: str, lowered) -> None:
    text = f"""func.func private @d(%x: tensor<{taken}>) -> tensor<2xf32> {{
  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
  return %0 : tensor<2xf32>
}}
func.func @f(%a: tensor<{given}>) -> tensor<2xf32> {{
  %r = stablehlo.composite "my.op" %a {{decomposition = @d}} : (tensor<{given}>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}}
"""
    with pytest.raises(CompileError, match=message):
        lowered(text)


def test_reductions_in_a_wider_type(lowered) -> None:
    wide = body().replace("f32", "f64")
    lowered(f"""func.func @f(%a: tensor<4xf32>, %b: tensor<f32>) -> tensor<f64> {{
  %r = "stablehlo.reduce"(%a, %b) <{{dimensions = array<i64: 0>}}> {wide} : (tensor<4xf32>, tensor<f32>) -> tensor<f64>
  return %r : tensor<f64>
}}
""")


@pytest.mark.parametrize(
    ("layouts", "message"),
    [
        ("operand_layouts = [dense<[0, 0]> : tensor<2xindex>]", "operand_layouts has [0, 0], which is no order of 2"),
        ("operand_layouts = [dense<0> : tensor<1xindex>]", "operand_layouts has [0], which is no order of 2"),
        ("result_layouts = [dense<[0, 2]> : tensor<2xindex>]", "result_layouts has [0, 2], which is no order of 2"),
        ("result_layouts = []", "result_layouts has 0 entries for 1 values"),
    ],
)
def test_layouts_that_are_no_order_of_dimensions(layouts: str, message: str, lowered) -> None:
    with pytest.raises(CompileError, match=re.escape(message)):
        lowered(f"""func.func @f(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {{
  %r = stablehlo.custom_call @Sharding(%a) {{{layouts}}} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}}
""")
