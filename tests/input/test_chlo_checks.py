"""Programs of CHLO that are not valid are refused with what is wrong; those with odd but right types are taken.

The rules are those of CHLO's definitions in the StableHLO repository.
"""

from __future__ import annotations

import pytest
import tiree
from tiree.dialects import chlo, stablehlo
from tiree.dialects.stablehlo_base import BinaryOp, UnaryOp
from tiree.support.errors import CompileError

ARGUMENTS = (
    "%a: tensor<4xf32>, %b: tensor<3xf32>, %i: tensor<4xi32>, %c: tensor<4xcomplex<f32>>, %p: tensor<4xi1>, "
    "%s: tensor<f32>, %m: tensor<3x4xf32>, %x: tensor<6x4xf32>, %y: tensor<3x4x5xf32>, %g: tensor<3xi64>, "
    "%h: tensor<2xi64>, %d: tensor<?xf32>, %one: tensor<1xf32>"
)
RAGGED = (
    "<{{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], "
    "lhs_contracting_dimensions = [{0}], rhs_contracting_dimensions = [{1}], lhs_ragged_dimensions = [{2}], "
    "rhs_group_dimensions = [{3}]>}}>"
)
LESS = "<{comparison_direction = #chlo<comparison_direction LT>}>"


def program(op: str) -> str:
    results = "%0:2" if "-> (" in op else "%0"
    return f"func.func @f({ARGUMENTS}) {{\n  {results} = {op}\n  return\n}}\n"


def ragged(dims: tuple[object, ...], sizes: str = "%g", count: int = 3, result: str = "6x5xf32") -> str:
    types = f"(tensor<6x4xf32>, tensor<3x4x5xf32>, tensor<{count}xi64>) -> tensor<{result}>"
    return f'"chlo.ragged_dot"(%x, %y, {sizes}) {RAGGED.format(*dims)} : {types}'


def functions(kind: type) -> list[str]:
    return sorted(name for name, op in chlo.OPS.items() if issubclass(op, kind))


UNARY, BINARY = functions(UnaryOp), [name for name in functions(BinaryOp) if "broadcast" not in name]
BROADCASTING = sorted(op.name for op in chlo.BROADCASTING.values() if not op.name.endswith("complex"))


@pytest.mark.parametrize("name", UNARY)
def test_functions_keep_their_type(name: str) -> None:
    for result in ("5xf32", "4xf16", "2x2xf32"):
        with pytest.raises(CompileError, match=f"{name} is not valid: "):
            tiree.compile(program(f'"{name}"(%a) : (tensor<4xf32>) -> tensor<{result}>'))


@pytest.mark.parametrize("name", BINARY)
def test_two_operands_have_one_type(name: str) -> None:
    for other, type in (("%b", "3xf32"), ("%i", "4xi32"), ("%m", "3x4xf32")):
        with pytest.raises(CompileError, match=f"{name} is not valid: operands must have one type"):
            tiree.compile(program(f'"{name}"(%a, {other}) : (tensor<4xf32>, tensor<{type}>) -> tensor<4xf32>'))


@pytest.mark.parametrize(
    ("operand", "type", "rest", "result", "text"),
    [
        ("%b", "3xf32", "", "4xf32", "do not go together"),
        ("%a", "4xf32", "", "5xf32", r"give the shape \[4\]"),
        ("%i", "4xi32", "", "4xf32", "one element type"),
        ("%a", "4xf32", "", "4xi32", "its result has elements of type i32"),
        ("%m", "3x4xf32", "", "4x4xf32", r"give the shape \[3x4\]"),
        ("%m", "3x4xf32", "<{broadcast_dimensions = array<i64: 0>}>", "3x4xf32", "do not go together"),
        ("%m", "3x4xf32", "<{broadcast_dimensions = array<i64: 7>}>", "3x4xf32", "7"),
        ("%m", "3x4xf32", "<{broadcast_dimensions = array<i64: 0, 1>}>", "3x4xf32", "2 entries"),
        ("%s", "f32", "", "f32", "the rank 1"),
    ],
)
@pytest.mark.parametrize("name", BROADCASTING)
def test_what_is_broadcast(name: str, operand: str, type: str, rest: str, result: str, text: str) -> None:
    op = f'"{name}"(%a, {operand}) {rest} : (tensor<4xf32>, tensor<{type}>) -> tensor<{result}>'
    with pytest.raises(CompileError, match=f"{name} is not valid: .*{text}"):
        tiree.compile(program(op))


@pytest.mark.parametrize(
    "op",
    [
        f'"chlo.broadcast_compare"(%a, %a) {LESS} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>',
        '"chlo.broadcast_select"(%a, %a, %a) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>',
        '"chlo.broadcast_select"(%p, %a, %b) : (tensor<4xi1>, tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>',
        '"chlo.broadcast_select"(%p, %a, %i) : (tensor<4xi1>, tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>',
        '"chlo.broadcast_complex"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>',
        '"chlo.constant"() <{value = dense<1.0> : tensor<4xf32>}> : () -> tensor<5xf32>',
        '"chlo.constant"() <{value = dense<1> : tensor<4xi32>}> : () -> tensor<4xf32>',
        '"chlo.constant_like"(%a) <{value = 1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>',
        '"chlo.constant_like"(%a) <{value = 1.0 : f32}> : (tensor<4xf32>) -> tensor<5xf32>',
        '"chlo.top_k"(%a) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<3xf32>, tensor<3xi32>)',
        '"chlo.top_k"(%a) <{k = 5 : i64}> : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi32>)',
        '"chlo.top_k"(%a) <{k = -1 : i64}> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>)',
        '"chlo.top_k"(%a) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)',
        '"chlo.top_k"(%a) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf64>, tensor<2xi32>)',
        '"chlo.top_k"(%a) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf32>, tensor<1xi32>)',
        '"chlo.top_k"(%a) : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)',
        '"chlo.top_k"(%s) <{k = 0 : i64}> : (tensor<f32>) -> (tensor<f32>, tensor<i32>)',
        '"chlo.top_k"(%c) <{k = 1 : i64}> : (tensor<4xcomplex<f32>>) -> (tensor<1xcomplex<f32>>, tensor<1xi32>)',
        ragged((1, 1, 0, 0), result="6x6xf32"),
        ragged((1, 1, 0, 0), result="6x5xi32"),
        ragged((1, 2, 0, 0)),
        ragged((1, 1, 5, 0)),
        ragged((1, 1, 0, 9)),
        ragged((7, 1, 0, 0)),
        ragged((1, 1, "", "")),
        ragged((1, 1, 0, 0), "%h", 2),
    ],
)
def test_refused(op: str) -> None:
    with pytest.raises(CompileError, match=r"chlo\.\w+ is not valid: "):
        tiree.compile(program(op))


@pytest.mark.parametrize(
    "op",
    [
        '"chlo.broadcast_add"(%a, %d) : (tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>',
        '"chlo.broadcast_add"(%a, %d) : (tensor<4xf32>, tensor<?xf32>) -> tensor<?xf32>',
        '"chlo.broadcast_add"(%one, %m) : (tensor<1xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>',
        '"chlo.broadcast_add"(%b, %m) <{broadcast_dimensions = array<i64: 0>}> '
        ": (tensor<3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>",
        '"chlo.broadcast_add"(%s, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>',
        '"chlo.top_k"(%a) <{k = 4 : i64}> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>)',
        '"chlo.top_k"(%a) <{k = 0 : i64}> : (tensor<4xf32>) -> (tensor<0xf32>, tensor<0xi32>)',
        '"chlo.is_inf"(%a) : (tensor<4xf32>) -> tensor<4xi1>',
        '"chlo.constant_like"(%c) <{value = 1.0 : f32}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>',
        ragged((1, 1, 0, 0)),
    ],
)
def test_taken(op: str) -> None:
    tiree.compile(program(op))


@pytest.mark.parametrize("name", sorted({*stablehlo.OPS, *chlo.OPS}))
def test_any_number_of_operands_results_and_regions(name: str) -> None:
    """A wrong number of them is a refusal, not a fault of the compiler."""
    body = '({^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> ()})'
    for operands in range(5):
        for results in range(3):
            for region in ("", body):
                left = ("", "%0 = ", "%0:2 = ")[results]
                given, kinds = ", ".join(["%a"] * operands), ", ".join(["tensor<f32>"] * operands)
                types = ", ".join(["tensor<f32>"] * results)
                text = f'{left}"{name}"({given}) {region} : ({kinds}) -> ({types})'
                message = _refusal(f"func.func @f(%a: tensor<f32>) {{\n  {text}\n  return\n}}\n")
                assert "internal error" not in message, text


def _refusal(text: str) -> str:
    try:
        tiree.compile(text, flags=["--compile-to=input"])
    except CompileError as error:
        return str(error)
    return ""


SCAN = ("tensor<2x3xf32>", "tensor<3xf32>", "0", "tensor<3xf32>", "tensor<3xf32>", "tensor<2x3xf32>", "tensor<3xf32>")


def scan(places: dict[int, str], attributes: str = "", add: bool = True) -> str:
    """A running sum: types of input, initial value, dimension, body arguments and results, some of them others."""
    one, two, dim, first, second, out, last = (places.get(at, usual) for at, usual in enumerate(SCAN))
    step = f"    %s = stablehlo.add %x, %y : {first}\n" if add else ""
    made = "%s, %s" if add else "%x, %x"
    return f"""func.func @f(%a: {one}, %b: {two}) {{
  %0, %1 = chlo.scan(%a) inits (%b) dimension = {dim}{attributes} {{
  ^bb0(%x: {first}, %y: {second}):
{step}    stablehlo.return {made} : {first}, {first}
  }} : ({one}, {two}) -> ({out}, {last})
  return
}}
"""


@pytest.mark.parametrize(
    ("places", "attributes", "text"),
    [
        ({}, " attributes {scan_dim_size = 3 : i64}", "dimension 0 of its input tensor<2x3xf32> is not 3 long"),
        ({1: "tensor<3xi32>"}, "", r"argument 2 of its body is tensor<3xf32>; operand 2 gives \[3\] of i32"),
        ({1: "tensor<2x3xf32>", 6: "tensor<2x3xf32>"}, "", r"argument 2 .*operand 2 gives \[2x3\] of f32"),
        ({1: "tensor<2xf32>", 6: "tensor<2xf32>"}, "", r"argument 2 .*operand 2 gives \[2\] of f32"),
        ({2: "2"}, "", "dimension 2 of the input tensor<2x3xf32>, which has rank 2"),
        ({0: "tensor<2x4xf32>"}, "", r"argument 1 of its body is tensor<3xf32>; operand 1 gives \[4\] of f32"),
        ({5: "tensor<4x3xf32>"}, "", r"result 1 is tensor<4x3xf32>; its body gives \[2x3\] of f32"),
        ({5: "tensor<2x3xf64>"}, "", r"result 1 is tensor<2x3xf64>; its body gives \[2x3\] of f32"),
        ({6: "tensor<2x3xf32>"}, "", r"result 2 is tensor<2x3xf32>; its body gives \[3\] of f32"),
    ],
)
def test_scans_are_checked(places: dict[int, str], attributes: str, text: str) -> None:
    with pytest.raises(CompileError, match=f"chlo.scan is not valid: {text}") as caught:
        tiree.compile(scan(places, attributes, add=False))
    assert caught.value.diagnostics[0].location.endswith(":2:12")


def test_scans_whose_bodies_have_other_counts() -> None:
    plain = scan({})
    text = plain.replace("inits (%b)", "inits ()").replace("%0, %1 =", "%0 =")
    text = text.replace("(tensor<2x3xf32>, tensor<3xf32>)", "(tensor<2x3xf32>)")
    with pytest.raises(CompileError, match="its body has 2 arguments; needs 1"):
        tiree.compile(text)
    text = plain.replace("return %s, %s : tensor<3xf32>, tensor<3xf32>", "return %s : tensor<3xf32>")
    with pytest.raises(CompileError, match="its body returns 1 values; needs 2"):
        tiree.compile(text)


def test_scans_of_unknown_sizes_are_taken() -> None:
    for place in ({}, {0: "tensor<?x3xf32>", 5: "tensor<?x3xf32>"}, {0: "tensor<?x3xf32>"}):
        tiree.compile(scan(place))
