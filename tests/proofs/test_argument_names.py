"""Messages and calls by keyword use the names that the user gave to arguments."""

from __future__ import annotations

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree

TEXT = """func.func @add(%a: tensor<2xf32>, %arg1: tensor<2xf32>, %n: i32) -> (tensor<2xf32>, i32) {
  %0 = stablehlo.add %a, %arg1 : tensor<2xf32>
  return %0, %n : tensor<2xf32>, i32
}
"""
ONE = np.ones(2, np.float32)


def test_names_of_the_text() -> None:
    module = rt.load(tiree.compile(TEXT), device="local-sync")
    assert module.add.signature == "add(a: f32[2], input1: f32[2], n: i32)"
    with pytest.raises(ValueError, match=r'^add\(\): argument 1 \("a"\) has shape \[3\]; needs \[2\]\.'):
        module.add(np.ones(3, np.float32), ONE, 1)
    total, number = module.add(ONE, n=7, input1=ONE)
    assert (np.asarray(total).tolist(), number) == ([2, 2], 7)
    with pytest.raises(TypeError, match=r'^add\(\) has no argument "b"; it has a, input1, n\.'):
        module.add(ONE, b=ONE, n=1)


def test_names_of_jax() -> None:
    pytest.importorskip("jax", reason="the function is lowered by JAX")

    def scale(params, x, unused):
        del unused
        return params["w"][0] * x

    example = ({"w": [ONE, ONE]}, ONE, ONE)
    module = rt.load(tiree.compile(scale, *example), device="local-sync")
    assert module.main.signature == ("main(params['w'][0]: f32[2], params['w'][1]: f32[2], x: f32[2], unused: f32[2])")


def test_names_are_kept_with_the_source_map() -> None:
    stripped = tiree.compile(TEXT, flags=["--iree-vm-bytecode-module-strip-source-map=true"])
    assert b"tiree.arg_names" not in stripped
    assert rt.load(stripped).add.signature == "add(input0: f32[2], input1: f32[2], n: i32)".replace("n:", "input2:")


@iree.needs_iree
def test_iree_runs_a_module_with_names() -> None:
    (result, number) = iree.call(tiree.compile(TEXT), "add", [ONE, ONE, 3], "local-sync")
    assert (np.asarray(result).tolist(), int(number)) == ([2, 2], 3)
