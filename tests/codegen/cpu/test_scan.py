"""Cumulative windows become scans: which do, and their values in every position of the dimension."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tiree
import tiree.runtime as rt

DTYPES = {"f32": np.float32, "i32": np.int32, "bf16": ml_dtypes.bfloat16, "f64": np.float64, "i8": np.int8}
REFERENCE = {
    "add": np.cumsum,
    "multiply": np.cumprod,
    "maximum": np.maximum.accumulate,
    "minimum": np.minimum.accumulate,
}


def window(
    shape: Sequence[int], type: str, op: str, init: str, axis: int, padding: tuple[int, int], epilogue: bool = False
) -> str:
    """A window over one whole dimension, perhaps followed by a multiplication."""
    rank, tensor = len(shape), f"tensor<{'x'.join(map(str, shape))}x{type}>"
    sizes = [shape[d] if d == axis else 1 for d in range(rank)]
    pads = [list(padding) if d == axis else [0, 0] for d in range(rank)]
    result = "  %1 = stablehlo.multiply %0, %b : " + tensor if epilogue else "  %1 = stablehlo.negate %0 : " + tensor
    return f"""
func.func @main(%a: {tensor}, %b: {tensor}) -> {tensor} {{
  %z = stablehlo.constant dense<{init}> : tensor<{type}>
  %0 = "stablehlo.reduce_window"(%a, %z) <{{window_dimensions = array<i64: {", ".join(map(str, sizes))}>,
      window_strides = array<i64: {", ".join(["1"] * rank)}>, padding = dense<{pads}> : tensor<{rank}x2xi64>}}> ({{
  ^bb0(%x: tensor<{type}>, %y: tensor<{type}>):
    %s = stablehlo.{op} %x, %y : tensor<{type}>
    stablehlo.return %s : tensor<{type}>
  }}) : ({tensor}, tensor<{type}>) -> {tensor}
{result}
  return %1 : {tensor}
}}"""


def run(text: str, folder: Path, *inputs: np.ndarray) -> tuple[np.ndarray, list[str]]:
    report = folder / "report.json"
    module = tiree.compile(text, flags=[f"--tiree-report={report}"])
    strategies = [row["strategy"] for row in json.loads(report.read_text())["dispatches"]]
    return np.asarray(rt.load(module).main(*inputs)), strategies


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis", "type", "op", "init"),
    [
        ((1000,), 0, "f32", "add", "0.0"),
        ((19, 130), 1, "f32", "add", "0.0"),
        ((130, 19), 0, "f32", "multiply", "1.0"),
        ((3, 70, 5), 1, "i32", "add", "0"),
        ((2, 9, 16), 2, "f64", "minimum", "0x7FF0000000000000"),
        ((37, 41), 0, "i8", "add", "0"),
        ((6, 33), 1, "bf16", "maximum", "0xFF80"),
    ],
)
def test_values(
    shape: tuple[int, ...], axis: int, type: str, op: str, init: str, backwards: bool, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    floats = rng.uniform(0.9, 1.1, shape) if op == "multiply" else rng.uniform(-1, 1, shape)
    x = (rng.integers(-9, 9, shape) if type[0] == "i" else floats).astype(DTYPES[type])
    y = rng.integers(1, 3, shape).astype(DTYPES[type])
    padding = (0, shape[axis] - 1) if backwards else (shape[axis] - 1, 0)
    got, strategies = run(window(shape, type, op, init, axis, padding, epilogue=True), tmp_path, x, y)
    assert strategies == ["scan"]
    wide = x.astype(np.int8 if type == "i8" else np.float64)
    wide = np.flip(wide, axis) if backwards else wide
    want = (
        REFERENCE[op](wide, axis=axis, dtype=wide.dtype)
        if "cum" in REFERENCE[op].__name__
        else REFERENCE[op](wide, axis=axis)
    )
    want = (np.flip(want, axis) if backwards else want) * y.astype(wide.dtype)
    np.testing.assert_allclose(got.astype(wide.dtype), want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("init", "padding", "op"),
    [("1.0", (11, 0), "add"), ("0.0", (11, 0), "multiply"), ("0.0", (10, 1), "add"), ("0.0", (5, 6), "maximum")],
)
def test_other_windows_stay_windows(init: str, padding: tuple[int, int], op: str, tmp_path: Path) -> None:
    """Padding that counts, and windows that stand elsewhere."""
    x = np.random.default_rng(1).uniform(-1, 1, (4, 12)).astype(np.float32)
    got, strategies = run(window((4, 12), "f32", op, init, 1, padding), tmp_path, x, x)
    assert "scan" not in strategies
    padded = np.pad(x.astype(np.float64), [(0, 0), padding], constant_values=float(init))
    combine = {"add": np.sum, "multiply": np.prod, "maximum": np.max}[op]
    want = np.stack([combine(padded[:, i : i + 12], axis=1) for i in range(12)], axis=1)
    want = {"add": want + float(init), "multiply": want * float(init), "maximum": np.maximum(want, float(init))}[op]
    np.testing.assert_allclose(got, -want, rtol=1e-5, atol=1e-5)
