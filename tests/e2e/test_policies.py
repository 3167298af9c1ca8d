"""What the program says about inlining, and what flags say about checks, is done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree

NEVER = """
util.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = util.call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = util.call @f(%0) : (tensor<4xf32>) -> tensor<4xf32>
  util.return %1 : tensor<4xf32>
}
util.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> attributes {inlining_policy = #util.inline.never} {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  util.return %0 : tensor<4xf32>
}
"""


def printed(text: str, *flags: str) -> str:
    return bytes(tiree.compile(text, flags=list(flags))).decode()


@pytest.mark.parametrize("phase", ["input", "flow", "stream", "vm"])
def test_functions_that_are_never_inlined_stay(phase: str) -> None:
    text = printed(NEVER, f"--compile-to={phase}")
    assert text.count("@f(") + text.count("callee = @f") >= 2


def test_values_of_functions_that_stay() -> None:
    module = tiree.compile(NEVER)
    loaded: Any = rt.load(module)
    a = np.arange(4, dtype=np.float32)
    for got in (loaded.main(a), iree.call(module, "main", [a], "local-sync")[0]):
        np.testing.assert_array_equal(np.asarray(got), a * 4)


def test_functions_with_unknown_sizes_are_inlined() -> None:
    text = NEVER.replace("4xf32", "?xf32")
    assert "@f(" not in printed(text, "--compile-to=flow")
    a = np.arange(7, dtype=np.float32)
    loaded: Any = rt.load(tiree.compile(text))
    np.testing.assert_array_equal(np.asarray(loaded.main(a)), a * 4)


def test_noinline_of_func_is_the_same() -> None:
    text = NEVER.replace("util.func public", "func.func").replace("util.func private", "func.func private")
    text = text.replace("util.return", "return").replace("util.call", "func.call")
    text = text.replace("inlining_policy = #util.inline.never", "noinline")
    assert printed(text, "--compile-to=input").count("@f(") >= 3


CHECKED = """
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>, %k: i32) -> tensor<?xf32> {
  %0 = stablehlo.add %a, %b : tensor<?xf32>
  %zero = arith.constant 0 : i32
  %some = arith.cmpi sgt, %k, %zero : i32
  cf.assert %some, "k must be positive"
  return %0 : tensor<?xf32>
}
"""


def test_assertions_are_stripped() -> None:
    """Neither checks of sizes nor the user's are left, nor what only they computed."""
    kept, stripped = (printed(CHECKED, "--compile-to=vm", *flags) for flags in ([], ["--iree-opt-strip-assertions"]))
    assert "must equal dimension" in kept
    assert "k must be positive" in kept
    for gone in ("must equal", "must be positive", 'hal.buffer_view.assert"('):
        assert gone not in stripped, gone
    a, b = np.ones(5, np.float32), np.ones(5, np.float32)
    loaded: Any = rt.load(tiree.compile(CHECKED, flags=["--iree-opt-strip-assertions"]))
    np.testing.assert_array_equal(np.asarray(loaded.main(a, b, -1)), a + b)
    assert np.asarray(loaded.main(a, np.ones(6, np.float32), 1)).shape == (5,)
