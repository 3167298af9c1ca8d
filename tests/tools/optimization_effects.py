"""What flags of the optimiser, and of messages about it, change: rows of `test_compile_effects.py`."""

from __future__ import annotations

from collections.abc import Callable

from programs.layers import LayeredProgram
from tools.effects import Effect, Ran

_SINES = """func.func @sines(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %s = stablehlo.sine %c : tensor<4xf32>
  %0 = stablehlo.add %a, %s : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
_GROWS = """func.func @grows(%a: tensor<64x4xf32>) -> tensor<64x4xf32> {
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %n = stablehlo.iota dim = 0 : tensor<64x4xf32>
  %b = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<4xf32>) -> tensor<64x4xf32>
  %m = stablehlo.power %n, %b : tensor<64x4xf32>
  %0 = stablehlo.add %a, %m : tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
}
"""
_REFUSED = """func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @nothing(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
OPTIMIZATION_INPUTS = {
    "sines.mlir": _SINES.encode(), "grows.mlir": _GROWS.encode(), "refused.mlir": _REFUSED.encode(),
    "layers.mlir": LayeredProgram(6).text.encode(),
}  # fmt: skip
_EVAL = "--iree-opt-const-eval=false"


def _printed(text: str, wanted: bool = True) -> Callable[[Ran], bool]:
    return lambda done: done.code == 0 and (text in done.out) == wanted


def _at(phase: str, file: str, *flags: str) -> tuple[str, ...]:
    return (f"{file}.mlir", "--iree-llvmcpu-target-cpu=generic", f"--compile-to={phase}", *flags)


OPTIMIZATION_EFFECTS: dict[str, Effect | tuple[Effect, ...]] = {
    "iree-opt-const-eval": Effect((_EVAL,), _printed("math.sin"), _at("global-optimization", "sines")),
    "iree-opt-const-expr-hoisting": Effect(
        ("--iree-opt-const-expr-hoisting=false",), _printed("util.initializer", False),
        _at("global-optimization", "sines", _EVAL),
    ),
    "iree-opt-const-expr-max-size-increase-threshold": Effect(
        ("--iree-opt-const-expr-max-size-increase-threshold=1000",), _printed("math.powf"),
        _at("global-optimization", "grows"),
    ),
    "tiree-share-layers": Effect(
        ("--tiree-share-layers=false",), _printed("shared_layer", False), _at("input", "layers")
    ),
    "mlir-print-op-on-diagnostic": Effect(
        ("--mlir-print-op-on-diagnostic",),
        lambda done: done.code == 1 and 'refused.mlir:2:8: note: see current operation: "stablehlo.custom_call"'
        in done.err.replace("%0 = ", ""),
        _at("input", "refused"),
    ),
}  # fmt: skip
