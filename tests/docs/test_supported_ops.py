"""The page of supported ops is what the compiler does, and refusals name it."""

from __future__ import annotations

import pytest
import tiree
from tiree.support.errors import SUPPORTED_OPS, CompileError
from tiree.testing.conformance.draws import DRAWS
from tiree.testing.conformance.supported import PAGE, accepts, page


def test_page_is_up_to_date() -> None:
    hint = "run python -m tiree.testing.conformance.supported"
    assert PAGE.read_text().splitlines() == page().splitlines(), hint


@pytest.mark.parametrize(("op", "element"), [("is_finite", "i32"), ("shift_left", "complex<f32>"), ("not", "f32")])
def test_types_that_an_op_does_not_have_are_refused_by_name(op: str, element: str) -> None:
    count = 2 if op == "shift_left" else 1
    type, result = f"tensor<3x{element}>", "tensor<3xi1>" if op == "is_finite" else f"tensor<3x{element}>"
    names = ", ".join(f"%{number}" for number in range(count))
    arguments = ", ".join(f"%{number}: {type}" for number in range(count))
    text = f"""func.func @f({arguments}) -> {result} {{
  %r = "stablehlo.{op}"({names}) : ({", ".join([type] * count)}) -> {result}
  return %r : {result}
}}"""
    with pytest.raises(CompileError, match="stablehlo." + op + ".*" + element.partition("<")[0]):
        tiree.compile(text)


@pytest.mark.parametrize("element", ["i8", "f64"])
def test_no_op_on_any_element_type_is_a_fault_of_the_compiler(element: str) -> None:
    assert {op for op in DRAWS if accepts(op, element)} > {"stablehlo.reshape"}


def test_what_is_asked() -> None:
    assert accepts("stablehlo.add", "f32")
    assert not accepts("stablehlo.sine", "i32")
    assert not accepts("stablehlo.compare", "none.such")


def test_refusals_name_the_page_once_and_list_all_ops() -> None:
    text = """func.func @f(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.custom_call @none.other(%a) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.custom_call @none.such(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}"""
    with pytest.raises(CompileError) as caught:
        tiree.compile(text)
    lines = str(caught.value).splitlines()
    assert lines[0].endswith(":2:8: error: stablehlo.custom_call to target 'none.other' is not supported")
    assert lines[1].endswith(":3:8: error: stablehlo.custom_call to target 'none.such' is not supported")
    assert lines[2].strip() == SUPPORTED_OPS
    assert (PAGE.parents[2] / SUPPORTED_OPS.split()[0]) == PAGE
