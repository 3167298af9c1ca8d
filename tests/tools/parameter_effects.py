"""What the flags for parameter files change, as rows of `test_compile_effects`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import tiree.runtime as rt
from tools.effects import Effect, Ran, lacks

WEIGHT = """util.global private @w = #flow.parameter.named<"w"> : tensor<4xf32>
util.global private mutable @s = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
func.func @weight(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %w = util.global.load @w : tensor<4xf32>
  %s = util.global.load @s : tensor<4xf32>
  util.global.store %a, @s : tensor<4xf32>
  return %w, %s : tensor<4xf32>, tensor<4xf32>
}
"""
IMPORT, SMALLER = "--iree-parameter-import=ones.irpa", "--iree-parameter-import-maximum-size=15"
EXPORT = "--iree-parameter-export=x.irpa"


def parameter_inputs(folder: Path) -> dict[str, bytes]:
    """The program, and a file for its parameter."""
    rt.save_archive_file({"w": np.ones(4, np.float32)}, folder / "ones.irpa")
    return {"weight.mlir": WEIGHT.encode(), "ones.irpa": (folder / "ones.irpa").read_bytes()}


def _row(given: str, shows: Callable[[Ran], bool], *flags: str) -> Effect:
    base = ("weight.mlir", "--iree-llvmcpu-target-cpu=generic", "--compile-to=global-optimization", *flags)
    return Effect(tuple(given.split(" ")), shows, base)


def _has(text: str) -> Callable[[Ran], bool]:
    return lambda done: done.code == 0 and text in done.out


PARAMETER_EFFECTS: dict[str, Effect | tuple[Effect, ...]] = {
    "iree-parameter-import": _row(f"{IMPORT} --iree-parameter-import-keys=w", lacks('named<"w">')),
    "iree-parameter-import-keys": _row("--iree-parameter-import-keys=w", lacks('named<"w">'), IMPORT, SMALLER),
    "iree-parameter-import-maximum-size": _row(
        "--iree-parameter-import-maximum-size=16", lacks('named<"w">'), IMPORT, SMALLER
    ),
    "iree-parameter-export": (
        _row(EXPORT, _has('named<"s">')),
        _row("--iree-parameter-export=m=x.irpa", _has('named<"m"::"s">')),
        _row(EXPORT, lambda done: "x.irpa" in done.files),
    ),
    "iree-parameter-export-minimum-size": _row("--iree-parameter-export-minimum-size=17", lacks('named<"s">'), EXPORT),
    "iree-parameter-splat": _row("--iree-parameter-splat=z.irpa", lambda done: "z.irpa" in done.files),
}
