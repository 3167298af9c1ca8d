"""Random bits of a shape that is known when the program runs: those that XLA has for the shape."""

from __future__ import annotations

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from tiree.support.errors import CompileError
from tiree.testing.conformance import xla

CALL = """func.func @main(%s: tensor<{words}xui64>, %n: tensor<2xi32>) -> (tensor<{words}xui64>, tensor<?x?x{type}>) {{
  %r:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%s, %n)
    {{api_version = 2 : i32, rng_algorithm = #stablehlo<rng_algorithm {algorithm}>}}
    : (tensor<{words}xui64>, tensor<2xi32>) -> (tensor<{words}xui64>, tensor<?x?x{type}>)
  return %r#0, %r#1 : tensor<{words}xui64>, tensor<?x?x{type}>
}}"""
KNOWN = """func.func @main(%s: tensor<{words}xui64>) -> (tensor<{words}xui64>, tensor<{shape}x{type}>) {{
  %r:2 = "stablehlo.rng_bit_generator"(%s) <{{rng_algorithm = #stablehlo<rng_algorithm {algorithm}>}}>
    : (tensor<{words}xui64>) -> (tensor<{words}xui64>, tensor<{shape}x{type}>)
  return %r#0, %r#1 : tensor<{words}xui64>, tensor<{shape}x{type}>
}}"""


@pytest.mark.parametrize(
    ("algorithm", "words", "type"),
    [("DEFAULT", 2, "ui32"), ("PHILOX", 3, "ui64"), ("PHILOX", 2, "ui8"), ("DEFAULT", 3, "i16")],
)
def test_the_bits_of_a_known_shape(algorithm: str, words: int, type: str) -> None:
    pytest.importorskip("jax", reason="values come from XLA")
    main = rt.load(tiree.compile(CALL.format(words=words, type=type, algorithm=algorithm)), device="local-sync").main
    state = np.array([2**64 - 1, 2**64 - 2, 5][:words], np.uint64)
    for shape in ((3, 5), (1, 1), (7, 4), (33, 31)):
        known = KNOWN.format(words=words, type=type, algorithm=algorithm, shape=f"{shape[0]}x{shape[1]}")
        wanted = xla.run(known, [state])
        for got, right in zip(main(state, np.array(shape, np.int32)), wanted, strict=True):
            np.testing.assert_array_equal(np.asarray(got).view(right.dtype), right)
    after, none = main(state, np.array([0, 3], np.int32))
    np.testing.assert_array_equal(np.asarray(after).view(np.uint64), state)
    assert np.asarray(none).shape == (0, 3)


def test_threefry_is_refused() -> None:
    with pytest.raises(CompileError, match="dynamic_rng_bit_generator' with THREE_FRY"):
        tiree.compile(CALL.format(words=2, type="ui32", algorithm="THREE_FRY"))
