"""Constraints of the specification on single ops: what breaks one is refused with its place and its reason."""

from __future__ import annotations

import pytest
from tiree.support.errors import CompileError

GATHER = (
    "dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [{}], "
    "operand_batching_dims = [{}], start_indices_batching_dims = [{}], start_index_map = [{}], index_vector_dim = 2>"
)
ADD = (
    "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = stablehlo.add %x, %y : tensor<f32> "
    "stablehlo.return %s : tensor<f32> })"
)
ONE_GROUP = "replica_groups = dense<0> : tensor<1x1xi64>"
DOT = "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
ALGORITHM = (
    "algorithm = #stablehlo.dot_algorithm<lhs_precision_type = {0}, rhs_precision_type = {0}, "
    "accumulation_type = f32, lhs_component_count = {1}, rhs_component_count = 1, num_primitive_operations = 1, "
    "allow_imprecise_accumulation = false>"
)
SLICES = ", slice_sizes = array<i64: 1, 1, 8>"
Q = "!quant.uniform<i8:f32, {}>"
A, B = (Q.format(one) for one in ("0.5:3", "0.25:3"))
AXIS0 = "!quant.uniform<i8:f32:0, {0.5:3, 0.25:1}>"
AXIS1 = "!quant.uniform<i8:f32:1, {0.5:3, 0.25:1}>"
ZERO = "!quant.uniform<i8:f32, 0.5>"
SCATTER = (
    "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [{}], inserted_window_dims = [{}], "
    "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"
)
CONV = (
    "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, "
    "feature_group_count = 1 : i64, batch_group_count = 1 : i64"
)
WINDOW = "window_dimensions = array<i64: {}>, padding = dense<0> : tensor<{}xi64>"

# Op, types of operands, attributes, type of the result, regions, a part of the message.
CASES: list[tuple[str, list[str], str, str, str, str]] = [
    ("abs", ["2xcomplex<f32>"], "", "2xcomplex<f32>", "", "gives f32"),
    ("real", ["2xcomplex<f32>"], "", "2xf64", "", "gives f32"),
    ("complex", ["2xf64", "2xf64"], "", "2xcomplex<f32>", "", "give complex<f64>"),
    ("compare", ["2xf32", "2xf32"], "comparison_direction = #stablehlo<comparison_direction LT>, "
     "compare_type = #stablehlo<comparison_type SIGNED>", "2xi1", "", "it compares as SIGNED"),
    ("reduce_precision", ["2xf32"], "exponent_bits = 0 : i32, mantissa_bits = 3 : i32", "2xf32", "", "at least 1"),
    ("reduce_precision", ["2xf32"], "exponent_bits = 5 : i32, mantissa_bits = -1 : i32", "2xf32", "", "negative"),
    ("convolution", ["1x8x8x7xf32", "0x3x7x6xf32"], CONV, "1x9x6x6xf32", "", "[0x3]; every size must be positive"),
    ("dynamic_conv", ["1x8x8x7xf32", "0x3x7x6xf32", "2x2xi64"], CONV, "1x9x6x6xf32", "", "[0x3]; every size"),
    ("map", ["2x3xf32", "2x3xf32"], "dimensions = array<i64: 1, 0>", "2x3xf32", ADD, "must be [0, 1]"),
    ("reduce_window", ["4xf32", "f32"], WINDOW.format(0, "1x2"), "5xf32", ADD, "must be positive"),
    ("reduce_window", ["4x4xf32", "f32"], WINDOW.format("1, 1", "4x1"), "4x4xf32", ADD, "must have the shape [2x2]"),
    ("gather", ["2x4x9xi32", "1x5x2xi32"], GATHER.format("1, 0", "", "", "0, 1") + SLICES,
     "1x5x8xi32", "", "collapsed_slice_dims are not in order"),
    ("gather", ["2x4x9xi32", "4x2xi32"], GATHER.format("", "1, 0", "0, 1", "2") + SLICES,
     "4x2x8xi32", "", "operand_batching_dims are not in order"),
    ("gather", ["2x4x9xi32", "2x5xi32"], GATHER.format("", "0, 1", "0, 1", "2") + SLICES,
     "2x5x8xi32", "", "batching dimensions differ"),
    ("dynamic_gather", ["2x4x9xi32", "1x5x2xi32", "3xi32"], GATHER.format("0, 1", "", "", "0, 0"), "1x5x8xi32", "",
     "dimension twice"),
    ("scatter", ["4x5xf32", "3x1xi32", "3x4x5xf32"], SCATTER.format("2, 1", ""), "4x5xf32", ADD, "not in order"),
    ("dynamic_slice", ["4x4xf32", "i32", "i64"], "slice_sizes = array<i64: 1, 1>", "1x1xf32", "", "must have one type"),
    ("dynamic_reshape", ["4xf32", "2xi32"], "", "2x2xf64", "", "elements of type f64"),
    ("dynamic_reshape", ["4xf32", "1xi32"], "", "2x2xf32", "", "a tensor of 2 integers"),
    ("dynamic_iota", ["1xi64"], "iota_dimension = -1 : i64", "?xf32", "", "dimension -1"),
    ("dynamic_broadcast_in_dim", ["?x?xf32", "3xi64"], "broadcast_dimensions = array<i64: 1, 1>", "?x?x?xf32", "",
     "twice"),
    ("dynamic_broadcast_in_dim", ["?x?xf32", "3xi64"], "broadcast_dimensions = array<i64: 1, 2>, "
     "known_expanding_dimensions = array<i64: 0, 0>", "?x?x?xf32", "", "twice"),
    ("broadcast_in_dim", ["3xf32"], "broadcast_dimensions = array<i64: 1>", "?x3xf32", "", "how large dimension 0"),
    ("get_dimension_size", ["2xf32"], "dimension = 1 : i64", "i32", "", "dimension 1"),
    ("set_dimension_size", ["2xf32", "1xi32"], "dimension = 0 : i64", "?xf32", "", "rank-0"),
    ("rng", ["f32", "f32", "1xi64"], "rng_distribution = #stablehlo<rng_distribution UNIFORM>", "2x3xf32", "",
     "a tensor of 2 integers"),
    ("rng", ["i32", "i32", "1xi64"], "rng_distribution = #stablehlo<rng_distribution NORMAL>", "2xi32", "", "floats"),
    ("triangular_solve", ["3x3xf32", "3x3xf32"], "left_side = true, lower = true, unit_diagonal = false, "
     "transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>", "3x3xf32", "", "TRANSPOSE_INVALID"),
    ("tanh", ["2xf32"], "result_accuracy = #stablehlo.result_accuracy<ulps = 4, "
     "mode = #stablehlo.result_accuracy_mode<HIGHEST>>", "2xf32", "", "a tolerance beside"),
    ("dot_general", ["2x3xf32", "3x2xf32"], DOT + ", precision_config = [#stablehlo<precision HIGH>], "
     + ALGORITHM.format("bf16", 1), "2x2xf32", "", "must be DEFAULT"),
    ("dot_general", ["2x3xf32", "3x2xf32"], DOT + ", " + ALGORITHM.format("bf16", 0), "2x2xf32", "", "be positive"),
    ("dot_general", ["2x3xf32", "3x2xf32"], DOT + ", " + ALGORITHM.format("i8", 1), "2x2xf32", "", "a float type"),
    ("dot_general", ["2x3xf32", "3x2xf32"], DOT + ", precision_config = "
     + str(["#stablehlo<precision HIGH>"] * 3).replace("'", ""), "2x2xf32", "", "3 entries"),
    ("all_gather", ["2x4xf32"], "all_gather_dim = 2 : i64, " + ONE_GROUP, "2x4xf32", "", "dimension 2"),
    ("all_to_all", ["4xf32"], "split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 3 : i64, "
     "replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>", "4xf32", "", "into 3 parts"),
    ("all_reduce", ["4xf32"], "replica_groups = dense<0> : tensor<1xi64>", "4xf32", ADD, "must be a matrix"),
    ("all_reduce", ["4xf32"], "replica_groups = dense<0> : tensor<1x2xi64>", "4xf32", ADD, "a process twice"),
    ("collective_permute", ["4xf32"], "source_target_pairs = dense<0> : tensor<1x3xi64>", "4xf32", "", "2 columns"),
    ("collective_permute", ["4xf32"], "source_target_pairs = dense<0> : tensor<2x2xi64>", "4xf32", "", "twice"),
    ("add", [f"2x{A}", f"2x{A}"], "", "2xf32", "", "all of it must be quantized"),
    ("add", [f"2x{A}", f"2x{A}"], "", "2x!quant.uniform<i16:f32, 0.5>", "", "one storage type"),
    ("add", [f"2x2x{AXIS0}", f"2x2x{AXIS0}"], "", f"2x2x{AXIS1}", "", "the same one of operands and result"),
    ("multiply", [f"2x{A}", f"2x{A}"], "", "2x!quant.uniform<i8<-5:5>:f32, 0.5>", "", "must be quantized alike"),
    ("convert", [f"2x{A}"], "", "2xf32", "", "does not take quantized elements"),
    ("tanh", [f"2x2x{AXIS0}"], "", f"2x2x{AXIS0}", "", "takes one scale"),
    ("transpose", [f"2x3x{A}"], "permutation = array<i64: 1, 0>", f"3x2x{B}", "", "changes scales"),
    ("transpose", [f"2x2x{AXIS0}"], "permutation = array<i64: 1, 0>", f"2x2x{AXIS0}", "", "move to dimension 1"),
    ("reshape", [f"2x3x{A}"], "", f"6x{B}", "", "changes scales"),
    ("reshape", [f"2x2x3x{AXIS0}"], "", f"2x2x3x{AXIS1}", "", "do not go with the elements"),
    ("broadcast_in_dim", [f"2x{A}"], "broadcast_dimensions = array<i64: 0>", f"2x2x{B}", "", "changes scales"),
    ("broadcast_in_dim", [f"2x{AXIS0}"], "broadcast_dimensions = array<i64: 1>", f"2x2x{AXIS0}", "", "to dimension 1"),
    ("reshape", [f"3x2x{AXIS0}"], "", f"6x{AXIS0}", "", "2 scales for dimension 0 of size 3"),
    ("slice", [f"3x{A}"], "start_indices = array<i64: 0>, limit_indices = array<i64: 2>, strides = array<i64: 1>",
     f"2x{B}", "", "changes scales"),
    ("dot_general", [f"2x3x{A}", f"3x2x{A}"], DOT, f"2x2x{A}", "", "zero points of the right side must be 0"),
    ("dot_general", ["2x3xf16", f"3x2x{ZERO}"], DOT, "2x2xf32", "", "must be of type f32"),
    ("dot_general", ["2x3xf32", f"3x2x{ZERO}"], DOT, f"2x2x{A}", "", "the left side if the result is"),
    ("uniform_quantize", ["2xf32"], "", "2x!quant.uniform<i8:f64, 0.5>", "", "it makes"),
    ("uniform_dequantize", [f"2x{A}"], "", "2xf64", "", "it makes"),
    ("constant", [], "value = dense<1> : tensor<2xui8>", f"2x{A}", "", "elements of type ui8"),
]  # fmt: skip


def program(op: str, operands: list[str], attributes: str, result: str, regions: str = "") -> str:
    inputs = ", ".join(f"%a{i}: tensor<{type}>" for i, type in enumerate(operands))
    names, types = ", ".join(f"%a{i}" for i in range(len(operands))), ", ".join(f"tensor<{t}>" for t in operands)
    line = f'%r = "stablehlo.{op}"({names}) <{{{attributes}}}> {regions} : ({types}) -> tensor<{result}>'
    return f"func.func @f({inputs}) -> tensor<{result}> {{\n  {line}\n  return %r : tensor<{result}>\n}}\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[-1]}".replace(" ", "_"))
def test_what_breaks_a_constraint_is_refused(case: tuple[str, list[str], str, str, str, str], lowered) -> None:
    op, operands, attributes, result, regions, message = case
    with pytest.raises(CompileError) as caught:
        lowered(program(op, operands, attributes, result, regions))
    (found,) = caught.value.diagnostics
    assert found.message.startswith(f"stablehlo.{op} is not valid: ")
    assert message in found.message
    assert found.location.endswith(":2:8")


@pytest.mark.parametrize("element", ["i1", "complex<f32>", "index"])
@pytest.mark.parametrize("algorithm", ["DEFAULT", "THREE_FRY", "PHILOX"])
def test_random_bits_are_integers_or_floats(element: str, algorithm: str, lowered) -> None:
    """A boolean is no integer to StableHLO."""
    types = f"(tensor<2xui64>) -> (tensor<2xui64>, tensor<4x{element}>)"
    text = f"""func.func @f(%a: tensor<2xui64>) -> tensor<4x{element}> {{
  %0:2 = stablehlo.rng_bit_generator %a, algorithm = {algorithm} : {types}
  return %0#1 : tensor<4x{element}>
}}
"""
    with pytest.raises(CompileError) as caught:
        lowered(text)
    (found,) = caught.value.diagnostics
    assert found.message.startswith(f"stablehlo.rng_bit_generator is not valid: its output is tensor<4x{element}>")
    assert "integers (not i1) or floats" in found.message
    assert found.location.endswith(":2:10")


@pytest.mark.parametrize("name", ["foo", ".", "foo.", ".foo", "0.foo", "foo.%"])
def test_names_of_composites(name: str, lowered) -> None:
    text = f"""func.func private @d() {{
  return
}}
func.func @f() {{
  stablehlo.composite "{name}" {{decomposition = @d}} : () -> ()
  return
}}
"""
    with pytest.raises(CompileError, match="its name is"):
        lowered(text)


def test_tuples_of_other_types(lowered) -> None:
    text = """func.func @f(%a: tensor<f32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = "stablehlo.tuple"(%a, %b) : (tensor<f32>, tensor<i32>) -> tuple<tensor<f32>>
  %1 = "stablehlo.tuple"(%a, %b) : (tensor<f32>, tensor<i32>) -> tuple<tensor<f32>, tensor<i32>>
  %2 = "stablehlo.get_tuple_element"(%1) {index = 0 : i32} : (tuple<tensor<f32>, tensor<i32>>) -> tensor<i32>
  %3 = "stablehlo.get_tuple_element"(%1) {index = 2 : i32} : (tuple<tensor<f32>, tensor<i32>>) -> tensor<i32>
  return %2 : tensor<i32>
}
"""
    with pytest.raises(CompileError) as caught:
        lowered(text)
    assert [one.location[-4:] for one in caught.value.diagnostics] == [":2:8", ":4:8", ":5:8"]


def test_faults_of_quantized_and_other_ops_are_reported_at_once(lowered) -> None:
    text = f"""func.func @f(%a: tensor<2x{A}>, %b: tensor<3xf32>) {{
  %0 = "stablehlo.convert"(%a) : (tensor<2x{A}>) -> tensor<2xf32>
  %1 = "stablehlo.reshape"(%b) : (tensor<3xf32>) -> tensor<4xf32>
  return
}}
"""
    with pytest.raises(CompileError) as caught:
        lowered(text)
    assert [one.location[-4:] for one in caught.value.diagnostics] == [":2:8", ":3:8"]


def test_bounds_for_other_ranks(lowered) -> None:
    type = "tensor<?x?xf32, #stablehlo.type_extensions<bounds = [3]>>"
    with pytest.raises(CompileError, match="1 bounds for 2 dimensions"):
        lowered(f"func.func @f(%a: {type}) -> {type} {{\n  return %a : {type}\n}}\n")


@pytest.mark.parametrize(
    ("op", "operands", "result", "message"),
    [
        ("add", ("?", "?"), "5xf32", "dimension 0 of tensor<5xf32> is 5; tensor<?xf32, #stablehlo"),
        ("abs", ("?",), "5xf32", "has at most 4"),
        ("multiply", ("?", "6"), "?xf32", "dimension 0 of tensor<6xf32> is 6"),
        ("compare", ("?", "?"), "5xi1", "has at most 4"),
        ("clamp", ("?", "?", "?"), "5xf32", "has at most 4"),
    ],
)
def test_sizes_beyond_bounds(op: str, operands: tuple[str, ...], result: str, message: str, lowered) -> None:
    bounded = {"?": "?xf32, #stablehlo.bounds<4>", "6": "6xf32"}
    attributes = "comparison_direction = #stablehlo<comparison_direction LT>" if op == "compare" else ""
    with pytest.raises(CompileError) as caught:
        lowered(program(op, [bounded[one] for one in operands], attributes, result))
    (found,) = caught.value.diagnostics
    assert found.message.startswith(f"stablehlo.{op} is not valid: ")
    assert message in found.message
    assert found.location.endswith(":2:8")
    for size in ("3", "4"):
        lowered(program(op, [bounded["?"]] * len(operands), attributes, result.replace("5", size)))


@pytest.mark.parametrize(
    ("op", "before", "after"),
    [
        ("reduce", '(%a, %s) <{dimensions = array<i64: 0>}>', "(tensor<4xf32>, tensor<f32>) -> tensor<f32>"),
        ("reduce_window", f"(%a, %s) <{{{WINDOW.format(1, '1x2')}}}>", "(tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"),
        ("map", '(%a, %a) <{dimensions = array<i64: 0>}>', "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"),
        ("sort", "(%a) <{dimension = 0 : i64}>", "(tensor<4xf32>) -> tensor<4xf32>"),
        ("all_reduce", f"(%a) <{{{ONE_GROUP}}}>", "(tensor<4xf32>) -> tensor<4xf32>"),
        ("select_and_scatter", f"(%a, %a, %s) <{{{WINDOW.format(1, '1x2')}}}>",
         "(tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("packed", [0, 1])
def test_bodies_on_elements_return_no_tuples(op: str, before: str, after: str, packed: int, lowered) -> None:
    """Neither where they choose nor where they add up."""
    choice = op == "sort"
    step = '%2 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>}>'
    chosen = "(tensor<f32>, tensor<f32>) -> tensor<i1>"
    made = "i1" if choice else "f32"
    first = f"{step} : {chosen}" if choice else "%2 = stablehlo.add %x, %y : tensor<f32>"
    pack = f'%3 = "stablehlo.tuple"(%2) : (tensor<{made}>) -> tuple<tensor<{made}>>'
    head = "^bb0(%x: tensor<f32>, %y: tensor<f32>):"
    body = f"{head}\n    {first}\n    {pack}\n    stablehlo.return %3 : tuple<tensor<{made}>>"
    plain = f"{head}\n    {first}\n    stablehlo.return %2 : tensor<{made}>"
    compare = f"{head}\n    {step} : {chosen}\n    stablehlo.return %2 : tensor<i1>"
    select = compare.replace("stablehlo.return %2 : tensor<i1>", pack.replace("f32", "i1")) + (
        "\n    stablehlo.return %3 : tuple<tensor<i1>>"
    )
    regions = [body]
    if op == "select_and_scatter":
        regions = [compare, body] if packed else [select, plain]
    text = "}, {".join(regions)
    with pytest.raises(CompileError) as caught:
        lowered(f"""func.func @f(%a: tensor<4xf32>, %s: tensor<f32>) {{
  %0 = "stablehlo.{op}"{before} ({{{text}}}) : {after}
  return
}}
""")
    (found,) = caught.value.diagnostics
    assert found.message.startswith(f"stablehlo.{op} is not valid: its body returns tuple<tensor<")
    assert found.location.endswith(":2:8")


@pytest.mark.parametrize("op", ["divide", "subtract", "power", "abs", "tuple", "atan2"])
def test_short_forms_of_reductions_take_what_commutes(op: str, lowered) -> None:
    with pytest.raises(CompileError, match=rf"`applies` takes add, and, .*not stablehlo\.{op}; write a reducer region"):
        lowered(f"""func.func @f(%a: tensor<4xf32>, %s: tensor<f32>) -> tensor<f32> {{
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.{op} across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}
""")


@pytest.mark.parametrize(
    "type",
    ["!stablehlo.foo", "!chlo.foo", "!mhlo.foo", "tensor<2x!stablehlo.foo>", "tensor<2xf32, #stablehlo.foo<3>>"],
)
def test_declarations_with_types_that_do_not_exist(type: str, lowered) -> None:
    for signature, what in ((f"({type})", "argument 1"), (f"() -> {type}", "result 1")):
        with pytest.raises(CompileError, match=f"{what} of @g has the type") as caught:
            lowered(f"func.func private @g{signature}\nfunc.func @f() {{\n  return\n}}\n")
        assert caught.value.diagnostics[0].location.endswith(":1:1")
    lowered("func.func private @g(!stablehlo.token, tuple<tensor<2xf32>>) -> f16\nfunc.func @f() {\n  return\n}\n")


def test_a_field_twice(lowered) -> None:
    with pytest.raises(CompileError, match=r"stablehlo\.dot has lhs_contracting_dimensions twice"):
        lowered(program("dot_general", ["2x3xf32", "3x2xf32"], DOT.replace("rhs", "lhs"), "2x2xf32"))
