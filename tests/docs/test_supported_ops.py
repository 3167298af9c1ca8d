"""The page of supported ops is what the compiler does, and refusals name it."""

from __future__ import annotations

import pytest
import tiree
from tiree.support.errors import SUPPORTED_OPS, CompileError
from tiree.testing.conformance.supported import PAGE, accepts, page


def test_page_is_up_to_date() -> None:
    hint = "run python -m tiree.testing.conformance.supported"
    assert PAGE.read_text().splitlines() == page().splitlines(), hint


def test_what_is_asked() -> None:
    assert accepts("stablehlo.add", "f32")
    assert not accepts("stablehlo.sine", "i32")
    assert not accepts("stablehlo.compare", "none.such")


def test_refusals_name_the_page_once_and_list_all_ops() -> None:
    text = """func.func @f(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = "stablehlo.unary_einsum"(%a) <{einsum_config = "ab->ba"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.custom_call @none.such(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}"""
    with pytest.raises(CompileError) as caught:
        tiree.compile(text)
    lines = str(caught.value).splitlines()
    assert lines[0].endswith(":2:8: error: stablehlo.unary_einsum is not supported")
    assert lines[1].endswith(":3:8: error: stablehlo.custom_call to target 'none.such' is not supported")
    assert lines[2].strip() == SUPPORTED_OPS
    assert (PAGE.parents[2] / SUPPORTED_OPS.split()[0]) == PAGE
