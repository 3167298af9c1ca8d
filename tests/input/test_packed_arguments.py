"""Arguments and results of 2 and 4 bits: packed as IREE packs them, of any shape, against numpy and iree-run-module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tiree
from tiree.support.errors import CompileError

TYPES: dict[str, Any] = {"i2": ml_dtypes.int2, "i4": ml_dtypes.int4, "ui2": ml_dtypes.uint2, "ui4": ml_dtypes.uint4}
SHAPES = ((), (1,), (5,), (8,), (3, 3), (2, 3, 4), (0, 3))


def program(type: str, shape: tuple[int, ...]) -> str:
    tensor = f"tensor<{''.join(f'{size}x' for size in shape)}{type}>"
    return f"""func.func @f(%a: {tensor}, %b: {tensor}) -> ({tensor}, {tensor}) {{
  %0 = stablehlo.add %a, %b : {tensor}
  return %0, %a : {tensor}, {tensor}
}}
"""


def numbers(type: str, shape: tuple[int, ...], seed: int) -> Any:
    low, high = (0, 4) if "2" in type else (0, 16)
    if type[0] == "i":
        low, high = low - high // 2, high // 2
    return np.random.RandomState(seed).randint(low, high, shape).astype(TYPES[type])


@pytest.mark.parametrize("type", TYPES)
def test_shapes(type: str) -> None:
    for shape in SHAPES:
        a, b = (numbers(type, shape, seed) for seed in (0, 1))
        added, same = tiree.load(tiree.compile(program(type, shape)), device="local-sync").f(a, b)
        width = 8 - int(type[-1])
        wanted = (a.astype(np.int8) + b.astype(np.int8)) << width
        wanted = (wanted.view(np.uint8) if type[0] == "u" else wanted) >> width
        np.testing.assert_array_equal(np.asarray(added).astype(np.int64), wanted.astype(np.int64), str(shape))
        np.testing.assert_array_equal(np.asarray(same).astype(np.int64), a.astype(np.int64), str(shape))
        assert np.asarray(added).dtype == np.dtype(TYPES[type])


def test_beside_other_arguments_and_calls() -> None:
    """A public function that the module calls has both forms."""
    text = """func.func @half(%n: tensor<i32>, %x: tensor<7xi4>) -> tensor<7xi4> attributes {noinline} {
  %0 = stablehlo.convert %x : (tensor<7xi4>) -> tensor<7xi32>
  %1 = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> tensor<7xi32>
  %2 = stablehlo.divide %0, %1 : tensor<7xi32>
  %3 = stablehlo.convert %2 : (tensor<7xi32>) -> tensor<7xi4>
  return %3 : tensor<7xi4>
}
func.func @quarter(%x: tensor<7xi4>) -> tensor<7xi32> {
  %n = stablehlo.constant dense<2> : tensor<i32>
  %0 = call @half(%n, %x) : (tensor<i32>, tensor<7xi4>) -> tensor<7xi4>
  %1 = call @half(%n, %0) : (tensor<i32>, tensor<7xi4>) -> tensor<7xi4>
  %2 = stablehlo.convert %1 : (tensor<7xi4>) -> tensor<7xi32>
  return %2 : tensor<7xi32>
}
"""
    module = tiree.load(tiree.compile(text), device="local-sync")
    x = np.array([-8, -7, -3, 0, 3, 5, 7], ml_dtypes.int4)
    np.testing.assert_array_equal(np.asarray(module.half(np.int32(2), x)).astype(int), [-4, -3, -1, 0, 1, 2, 3])
    np.testing.assert_array_equal(np.asarray(module.quarter(x)), [-2, -1, 0, 0, 0, 1, 1])


@pytest.mark.parametrize("type", ["i4", "ui4", "i2"])
def test_in_iree_run_module(type: str, tmp_path: Path) -> None:
    a, b = (numbers(type, (4, 4), seed) for seed in (2, 3))
    (tmp_path / "f.vmfb").write_bytes(bytes(tiree.compile(program(type, (4, 4)))))
    bits, each = int(type[-1]), 8 // int(type[-1])

    def packed(values: Any) -> bytes:
        rows = (values.astype(np.int64).reshape(-1, each) & ((1 << bits) - 1)) << (bits * np.arange(each))
        return rows.sum(axis=1).astype(np.uint8).tobytes()

    for name, values in (("a", a), ("b", b)):
        (tmp_path / f"{name}.bin").write_bytes(packed(values))
    inputs = [f"--input=4x4x{type}=@{tmp_path / name}.bin" for name in "ab"]
    outputs = [f"--output=@{tmp_path / name}.bin" for name in ("sum", "same")]
    tool = str(Path(sys.executable).with_name("iree-run-module"))
    command = [tool, "--device=local-sync", f"--module={tmp_path / 'f.vmfb'}", "--function=f"]
    subprocess.run([*command, *inputs, *outputs], check=True, capture_output=True)
    total = (a.astype(np.int64) + b.astype(np.int64)) & ((1 << bits) - 1)
    assert (tmp_path / "sum.bin").read_bytes() == packed(total)
    assert (tmp_path / "same.bin").read_bytes() == packed(a)


def test_unknown_sizes_are_refused() -> None:
    text = "func.func @f(%a: tensor<?xi4>) -> tensor<?xi4> {\n  return %a : tensor<?xi4>\n}\n"
    with pytest.raises(CompileError, match=r"argument 1 \(%a\) of @f has elements of type i4 in the shape"):
        tiree.compile(text)
