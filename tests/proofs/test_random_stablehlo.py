"""Random StableHLO programs give numpy's values in both runtimes; the same seeds on every machine.

`pytest --hypothesis-profile=search` looks for new ones.
"""

from __future__ import annotations

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from hypothesis import given, settings
from proofs import iree_reference as iree
from proofs.random_stablehlo import Program, programs

CI_EXAMPLES = 40


def check(results: list[np.ndarray], program: Program) -> None:
    # Rounding is relative to the largest number on the way, not to a result after cancellation.
    largest = max((float(np.max(np.abs(v))) for _, v in program.values if v.dtype.kind == "f" and v.size), default=0.0)
    assert len(results) == len(program.results)
    for got, (name, want) in zip(results, program.results, strict=True):
        got = np.asarray(got)
        assert got.shape == want.shape, name
        assert got.dtype == want.dtype, name
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * max(largest, 1.0), err_msg=name)
        else:
            np.testing.assert_array_equal(got, want, err_msg=name)


@iree.needs_iree
@settings(max_examples=max(CI_EXAMPLES, settings().max_examples if settings().max_examples > 100 else 0))
@given(programs())
def test_values(program: Program) -> None:
    module = tiree.compile(program.text)
    results = rt.load(module, device="local-sync").main(*program.inputs)
    check(list(results) if isinstance(results, tuple) else [results], program)
    check(iree.call(module, "main", program.inputs, "local-sync"), program)


FOUND = {
    # The fill of an empty tensor with an element of two words.
    "product_over_nothing": (
        """func.func @main(%a: tensor<0x0xf64>, %b: tensor<3x0xf64>) -> (tensor<0x0xf64>, tensor<3x3xf64>) {
  %0 = "stablehlo.dot_general"(%a, %a) <{dot_dimension_numbers = #stablehlo.dot<
    lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}>
    : (tensor<0x0xf64>, tensor<0x0xf64>) -> tensor<0x0xf64>
  %1 = "stablehlo.dot_general"(%b, %b) <{dot_dimension_numbers = #stablehlo.dot<
    lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}>
    : (tensor<3x0xf64>, tensor<3x0xf64>) -> tensor<3x3xf64>
  return %0, %1 : tensor<0x0xf64>, tensor<3x3xf64>
}
""",
        (np.zeros((0, 0)), np.zeros((3, 0))),
        (np.zeros((0, 0)), np.zeros((3, 3))),
    ),
}


@iree.needs_iree
@pytest.mark.parametrize("name", FOUND)
def test_found_by_search(name: str) -> None:
    text, inputs, expected = FOUND[name]
    module = tiree.compile(text)
    for results in (rt.load(module).main(*inputs), iree.call(module, "main", inputs, "local-task")):
        assert len(results) == len(expected)
        for got, want in zip(results, expected, strict=True):
            np.testing.assert_array_equal(np.asarray(got), want, strict=True)
