"""A reshape between `?` shapes of one type stays where its sizes may differ, at every border to iree-compile."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree

Array = np.ndarray

SQUARE = "tensor<?x?xf32>"
RESHAPE = f"stablehlo.dynamic_reshape %a, %s : ({SQUARE}, tensor<2xi32>) -> {SQUARE}"


def function(body: str, result: str = SQUARE) -> str:
    return f"func.func @f(%a: {SQUARE}, %s: tensor<2xi32>) -> {result} {{\n{body}}}\n"


PROGRAMS: dict[str, tuple[str, Callable[[Array, Array], Array]]] = {
    "alone": (function(f"%0 = {RESHAPE}\nreturn %0 : {SQUARE}\n"), lambda a, s: a.reshape(s)),
    "between": (
        function(f"""
  %t = stablehlo.tanh %a : {SQUARE}
  %0 = {RESHAPE.replace("%a", "%t")}
  %u = stablehlo.transpose %0, dims = [1, 0] : ({SQUARE}) -> {SQUARE}
  %v = stablehlo.abs %u : {SQUARE}
  return %v : {SQUARE}
"""),
        lambda a, s: np.abs(np.tanh(a).reshape(s).T),
    ),
    "there_and_back": (
        function(f"""
  %0 = {RESHAPE}
  %r = stablehlo.reverse %s, dims = [0] : tensor<2xi32>
  %1 = stablehlo.dynamic_reshape %0, %r : ({SQUARE}, tensor<2xi32>) -> {SQUARE}
  return %1 : {SQUARE}
"""),
        lambda a, s: a.reshape(s[::-1]),
    ),
    "by_way_of_one_dimension": (
        function(f"""
  %n = stablehlo.slice %s [0:1] : (tensor<2xi32>) -> tensor<1xi32>
  %m = stablehlo.slice %s [1:2] : (tensor<2xi32>) -> tensor<1xi32>
  %k = stablehlo.multiply %n, %m : tensor<1xi32>
  %0 = stablehlo.dynamic_reshape %a, %k : ({SQUARE}, tensor<1xi32>) -> tensor<?xf32>
  %1 = stablehlo.dynamic_reshape %0, %s : (tensor<?xf32>, tensor<2xi32>) -> {SQUARE}
  return %1 : {SQUARE}
"""),
        lambda a, s: a.reshape(s),
    ),
    "to_known_sizes": (
        function(
            f"""
  %0 = stablehlo.reshape %a : ({SQUARE}) -> tensor<2x12xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x12xf32>) -> tensor<24xf32>
  %2 = stablehlo.dynamic_reshape %1, %s : (tensor<24xf32>, tensor<2xi32>) -> {SQUARE}
  %3 = stablehlo.reshape %2 : ({SQUARE}) -> tensor<24xf32>
  return %3 : tensor<24xf32>
""",
            "tensor<24xf32>",
        ),
        lambda a, _: a.reshape(-1),
    ),
    "in_a_loop": (
        function(f"""
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, {SQUARE}
  cond {{
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %j = stablehlo.add %i, %one : tensor<i32>
    %0 = {RESHAPE.replace("%a", "%x")}
    stablehlo.return %j, %0 : tensor<i32>, {SQUARE}
  }}
  return %r#1 : {SQUARE}
"""),
        lambda a, s: a.reshape(s),
    ),
}
ON = ("abi", "global-optimization", "dispatch-creation", "flow")
"""Where iree-compile goes on."""


def texts(program: str | bytes) -> dict[str, str]:
    """The program at the borders up to `flow`, from one run of the pipeline."""
    from tiree.dialects import get_context, print_module, read_module
    from tiree.pipeline import run_pipeline
    from tiree.support.options import CompileOptions

    context, settings = get_context(), CompileOptions()
    module = read_module(program, context)
    found: dict[str, str] = {}
    before = "start"
    for border in ("input", "abi", "preprocessing", "global-optimization", "dispatch-creation", "flow"):
        run_pipeline(module, settings, before, border, ctx=context)
        found[border] = print_module(module, generic=True)
        before = border
    return found


def equal(got: Array, want: Array) -> None:
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def inputs_of(*sizes: int) -> tuple[Array, Array]:
    return (np.arange(24, dtype=np.float32) / 7).reshape(4, 6), np.asarray(sizes, np.int32)


@iree.needs_iree
@pytest.mark.parametrize("name", PROGRAMS)
def test_iree_goes_on(name: str) -> None:
    text, reference = PROGRAMS[name]
    at = texts(text)
    for border in ON:
        module = iree.compile_text(at[border], compile_from=border)
        for inputs in (inputs_of(3, 8), inputs_of(6, 4), inputs_of(4, 6)):
            (got,) = iree.call(module, "f", inputs, "local-sync")
            equal(got, reference(*inputs))


@pytest.mark.parametrize("name", PROGRAMS)
def test_tiree(name: str) -> None:
    text, reference = PROGRAMS[name]
    loaded = rt.load(tiree.compile(text))
    for inputs in (inputs_of(3, 8), inputs_of(6, 4), inputs_of(4, 6)):
        equal(np.asarray(loaded.f(*inputs)), reference(*inputs))


@iree.needs_iree
@pytest.mark.parametrize("border", ON)
def test_exchanged_sizes_of_jax(border: str) -> None:
    jax = pytest.importorskip("jax", reason="the program comes from JAX")
    from jax import export

    shape = jax.ShapeDtypeStruct(export.symbolic_shape("a,b"), np.float32)
    exported = export.export(jax.jit(lambda x: x.reshape(x.shape[1], x.shape[0])), platforms=["cpu"])(shape)
    text = texts(exported.mlir_module())[border]
    (got,) = iree.call(iree.compile_text(text, compile_from=border), "main", inputs_of()[:1], "local-sync")
    equal(got, inputs_of()[0].reshape(6, 4))


def test_a_reshape_to_its_own_sizes_goes() -> None:
    text = f"""
func.func @f(%a: {SQUARE}) -> {SQUARE} {{
  %n = stablehlo.get_dimension_size %a, dim = 0 : ({SQUARE}) -> tensor<i32>
  %m = stablehlo.get_dimension_size %a, dim = 1 : ({SQUARE}) -> tensor<i32>
  %p = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %q = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %s = stablehlo.concatenate %p, %q, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %a, %s : ({SQUARE}, tensor<2xi32>) -> {SQUARE}
  return %0 : {SQUARE}
}}
"""
    assert "flow.tensor.reshape" not in texts(text)["flow"]
