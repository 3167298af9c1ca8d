"""The parts of a concatenation are written where they belong, whatever is written beside them meanwhile."""

from __future__ import annotations

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

TEXT = """
func.func @main(%x: tensor<48x64xf32>) -> tensor<50x64xf32> {
  %c = stablehlo.constant dense<"0xHEX"> : tensor<1x64xf32>
  %y = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0]
      : (tensor<48x64xf32>, tensor<48x64xf32>) -> tensor<64x64xf32>
  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
      : (tensor<48x64xf32>, tensor<64x64xf32>) -> tensor<48x64xf32>
  %z = stablehlo.concatenate PARTS, dim = 0
      : (TYPES) -> tensor<50x64xf32>
  return %z : tensor<50x64xf32>
}
"""
CONSTANT = np.random.default_rng(3).standard_normal((1, 64), np.float32)


@pytest.mark.parametrize("parts", ["ccr", "crc", "rcc"])
def test_one_copy_a_constant_and_none_of_what_is_computed(parts: str):
    types = {"c": "tensor<1x64xf32>", "r": "tensor<48x64xf32>"}
    text = TEXT.replace("HEX", CONSTANT.tobytes().hex().upper())
    text = text.replace("PARTS", ", ".join(f"%{part}" for part in parts))
    text = text.replace("TYPES", ", ".join(types[part] for part in parts))
    scheduled = bytes(tiree.compile(text, flags=["--compile-to=stream"])).decode()
    assert scheduled.count('"stream.cmd.copy"') == 2
    x = np.random.default_rng(4).integers(-3, 4, (48, 64)).astype(np.float32)
    computed = {"c": CONSTANT, "r": x @ (x.T @ x)}
    result = rt.load(tiree.compile(text)).main(x)
    np.testing.assert_array_equal(result, np.concatenate([computed[part] for part in parts]))


READ = """
func.func @main(%x: tensor<6x64xf32>, %w: tensor<64x64xf32>, %p: tensor<9x64xf32>) -> tensor<9x64xf32> {
  %c = stablehlo.constant dense<"0xHEX"> : tensor<1x64xf32>
  %d = stablehlo.slice %w [0:2, 0:64] : (tensor<64x64xf32>) -> tensor<2x64xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<6x64xf32>, tensor<64x64xf32>) -> tensor<6x64xf32>
  %z = stablehlo.concatenate PARTS, dim = 0 : (TYPES) -> tensor<9x64xf32>
  %s = stablehlo.add %z, %p : tensor<9x64xf32>
  return %s : tensor<9x64xf32>
}
"""


@pytest.mark.parametrize("parts", ["cyd", "ycd", "dcy"])
def test_a_sum_reads_pieces_that_nobody_computes_where_they_are(parts: str):
    types = {"c": "tensor<1x64xf32>", "y": "tensor<6x64xf32>", "d": "tensor<2x64xf32>"}
    text = READ.replace("HEX", CONSTANT.tobytes().hex().upper())
    text = text.replace("PARTS", ", ".join(f"%{part}" for part in parts))
    text = text.replace("TYPES", ", ".join(types[part] for part in parts))
    scheduled = bytes(tiree.compile(text, flags=["--compile-to=stream"])).decode()
    assert scheduled.count('"stream.cmd.copy"') == 0
    assert scheduled.count('"stream.cmd.dispatch"') == 2
    stream = np.random.default_rng(5)
    x, w, p = (stream.integers(-3, 4, shape).astype(np.float32) for shape in ((6, 64), (64, 64), (9, 64)))
    pieces = {"c": CONSTANT, "y": x @ w, "d": w[:2]}
    result = rt.load(tiree.compile(text)).main(x, w, p)
    np.testing.assert_array_equal(result, np.concatenate([pieces[part] for part in parts]) + p)
