"""All unknown operations of a text are in one report, each with its places."""

from __future__ import annotations

import pytest
from tiree.dialects import read_module
from tiree.support.errors import CompileError

GENERIC = """module {
  func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "foo.first"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.multipl"(%0, %0) ({
      %9 = "foo.inner"() : () -> i32
    }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = "foo.first"(%1) {x = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
"""

SHORT = """module {
  func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %a : tensor<4xf32>
    %1 = stablehlo.multipl %0, %0 : tensor<4xf32>
    %2 = "foo.bar"(%1) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = iree_linalg_ext.fft ins(%1 : tensor<4xf32>) outs(%2 : tensor<4xf32>) : tensor<4xf32>
    %4 = stablehlo.multipl %3, %3 : tensor<4xf32>
    return %4 : tensor<4xf32>
  }
}
"""


MULTIPL = "unknown operation 'stablehlo.multipl'; did you mean 'stablehlo.multiply'?"


def findings(text: str) -> list[tuple[str, str]]:
    with pytest.raises(CompileError) as caught:
        read_module(text, filename="f.mlir")
    return [(found.location, found.message) for found in caught.value.diagnostics]


def test_generic_forms_are_read_on_from() -> None:
    assert findings(GENERIC) == [
        ("f.mlir:3:10", "unknown operation 'foo.first': there is no dialect 'foo' (2 uses); also at f.mlir:7:10"),
        ("f.mlir:4:10", MULTIPL),
        ("f.mlir:5:12", "unknown operation 'foo.inner': there is no dialect 'foo'"),
    ]


def test_after_a_short_form_the_text_is_searched() -> None:
    assert findings(SHORT) == [
        (
            "f.mlir:4:10",
            "unknown operation 'stablehlo.multipl'; did you mean 'stablehlo.multiply'? (2 uses); also at f.mlir:7:10",
        ),
        ("f.mlir:5:11", "unknown operation 'foo.bar': there is no dialect 'foo'"),
        ("f.mlir:6:10", "unknown operation 'iree_linalg_ext.fft': Tiree has no lowering for it"),
    ]


def test_a_fault_behind_an_unknown_operation_is_reported_with_it() -> None:
    found = findings(GENERIC.replace("return %2", "return %7"))
    assert len(found) == 4
    assert found[-1] == ("f.mlir:8:5", "value %7 is used but never defined")
