"""Dynamic shapes at every border: iree-compile goes on with what Tiree prints there, and Tiree with what it prints."""

from __future__ import annotations

import numpy as np
import pytest
import tiree.runtime as rt
from proofs import iree_reference as iree

pytestmark = iree.needs_iree

PROGRAM = """
func.func @dense(%a: tensor<?x?xf32>, %b: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<?x?xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = stablehlo.tanh %0 : tensor<?x4xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
  return %1, %2 : tensor<?x4xf32>, tensor<?xf32>
}
func.func @moved(%a: tensor<?x2xf32>, %b: tensor<?x2xf32>) -> (tensor<?x3xf32>, tensor<?xi1>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = stablehlo.pad %0, %zero, low = [0, 1], high = [0, 0], interior = [0, 0]
    : (tensor<?x2xf32>, tensor<f32>) -> tensor<?x3xf32>
  %2 = stablehlo.compare GT, %1, %1 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xi1>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %3 = stablehlo.reduce(%2 init: %false) applies stablehlo.or across dimensions = [1]
    : (tensor<?x3xi1>, tensor<i1>) -> tensor<?xi1>
  return %1, %3 : tensor<?x3xf32>, tensor<?xi1>
}
"""
LOOP = """
func.func @loop(%x: tensor<?xf32>, %n: tensor<i32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<?xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.add %a, %x : tensor<?xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<?xf32>
  }
  return %0#1 : tensor<?xf32>
}
"""
CALL = """
func.func private @turned(%x: tensor<?x2xf32>) -> tensor<?xf32> attributes {noinline} {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x2xf32>) -> tensor<2x?xf32>
  %1 = stablehlo.slice %x [0:1, 0:2] : (tensor<?x2xf32>) -> tensor<1x2xf32>
  %2 = stablehlo.dot_general %1, %0, contracting_dims = [1] x [0]
    : (tensor<1x2xf32>, tensor<2x?xf32>) -> tensor<1x?xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<1x?xf32>, tensor<f32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}
func.func @kept(%x: tensor<?x2xf32>) -> tensor<?xf32> {
  %0 = call @turned(%x) : (tensor<?x2xf32>) -> tensor<?xf32>
  %1 = stablehlo.add %0, %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}
"""
MIXED = """
func.func @mixed(%a: tensor<?x5xf32>, %b: tensor<3x?xf32>) -> tensor<?x?xf32> {
  %0 = "stablehlo.add"(%a, %b) : (tensor<?x5xf32>, tensor<3x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
"""
PAD = """
func.func @padded(%a: tensor<?x5xf32>) -> tensor<?x6xf32> {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %i, low = [1, 0], high = [2, 1], interior = [1, 0]
    : (tensor<?x5xf32>, tensor<f32>) -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
"""
BORDERS = (
    "input", "abi", "preprocessing", "global-optimization", "dispatch-creation", "flow", "stream", "executable-sources",
    "executable-configurations", "hal",
)  # fmt: skip


def inputs_of(name: str) -> list[np.ndarray]:
    rng = np.random.default_rng(11)

    def floats(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    if name == "dense":
        return [floats(5, 7), floats(7, 4)]
    if name == "moved":
        return [floats(3, 2), floats(1, 2)]
    if name == "kept":
        return [floats(5, 2)]
    if name == "mixed":
        return [floats(3, 5), floats(3, 5)]
    if name == "padded":
        return [floats(4, 5)]
    return [floats(6), np.asarray(4, np.int32)]


def expected(name: str, inputs: list[np.ndarray]) -> list[np.ndarray]:
    if name == "dense":
        dense = np.tanh(inputs[0] @ inputs[1])
        return [dense, dense.sum(1)]
    if name == "moved":
        rows = np.concatenate(inputs)
        return [np.pad(rows, ((0, 0), (1, 0))), np.zeros(len(rows), bool)]
    if name == "mixed":
        return [inputs[0] + inputs[1]]
    if name == "padded":
        rows = np.zeros((2 * len(inputs[0]) + 2, 6), np.float32)
        rows[1:-2:2, :5] = inputs[0]
        return [rows]
    if name == "kept":
        return [2 * inputs[0] @ inputs[0][0]]
    return [inputs[0] * (1 + int(inputs[1]))]


def close(results: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    for got, want in zip(results, wanted, strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got.astype(want.dtype), want, rtol=1e-5, atol=1e-5)


def texts(program: str) -> dict[str, str]:
    """The program at every border, from one run of the pipeline."""
    from tiree.dialects import get_context, print_module, read_module
    from tiree.pipeline import run_pipeline
    from tiree.support.options import CompileOptions

    context, settings = get_context(), CompileOptions()
    module = read_module(program, context)
    found: dict[str, str] = {}
    before = "start"
    for border in BORDERS:
        run_pipeline(module, settings, before, border, ctx=context)
        found[border] = print_module(module, generic=True)
        before = border
    return found


@pytest.mark.parametrize("program", [PROGRAM, LOOP], ids=["functions", "loop"])
def test_iree_goes_on(program: str) -> None:
    at = texts(program)
    iree.accept(list(at.values()))
    names = [name for name in ("dense", "moved", "loop") if f"@{name}(" in program]
    for border in ("input", "abi", "flow", "stream", "hal"):
        module = iree.compile_text(at[border], compile_from=border)
        for name in names:
            inputs = inputs_of(name)
            close(iree.call(module, name, inputs, "local-sync"), expected(name, inputs))


@pytest.mark.parametrize("name", ["dense", "padded"])
@pytest.mark.parametrize(
    "border", ["input", "abi", "flow", "stream", "executable-sources", "executable-configurations"]
)
def test_tiree_goes_on(border: str, name: str) -> None:
    from tiree.dialects import get_context, read_module
    from tiree.pipeline import compile_module
    from tiree.support.options import CompileOptions

    program = PAD if name == "padded" else PROGRAM.partition("func.func @moved")[0]
    flags = (*iree.TARGET, f"--compile-to={border}", "--mlir-print-op-generic")
    text = iree.run_tool("iree-compile", "-", *flags, stdin=program)
    context = get_context()
    module = compile_module(read_module(text, context), CompileOptions(), border, ctx=context)
    loaded = rt.load(module)
    inputs = inputs_of(name)
    results = getattr(loaded, name)(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    close([np.asarray(one) for one in results], expected(name, inputs))


@pytest.mark.parametrize(("name", "program"), [("loop", LOOP), ("kept", CALL), ("mixed", MIXED), ("padded", PAD)])
def test_tiree_goes_on_from_its_own_text(name: str, program: str) -> None:
    from tiree.dialects import get_context, read_module
    from tiree.pipeline import compile_module
    from tiree.support.options import CompileOptions

    inputs = inputs_of(name)
    for border, text in texts(program).items():
        context = get_context()
        module = compile_module(read_module(text, context), CompileOptions(), border, ctx=context)
        result = getattr(rt.load(module), name)(*inputs)
        close([np.asarray(result)], expected(name, inputs))
