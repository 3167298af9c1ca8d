"""No kernel needs more stack than allowed: those that would are lowered for narrower vectors, or refused by name."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from tiree.codegen.elf.frames import stack_frames
from tiree.support.errors import CompileError

LIMIT = "--iree-llvmcpu-stack-allocation-limit="
COUNT, SIZE = 250, 300


def waiting_body(count: int) -> str:
    """One op whose body makes `count` values that all wait for the end."""
    type = f"tensor<{SIZE}xf32>"
    lines, value = [], "%x"
    for i in range(count):
        lines.append(f"    %v{i} = arith.{'mulf' if i % 2 else 'addf'} {value}, %y : f32")
        value = f"%v{i}"
    for i in reversed(range(count - 1)):
        lines.append(f"    %w{i} = arith.{'subf' if i % 2 else 'maximumf'} {value}, %v{i} : f32")
        value = f"%w{i}"
    body = "\n".join(lines)
    return f"""
#map = affine_map<(d0) -> (d0)>
func.func @main(%a: {type}, %b: {type}) -> {type} {{
  %e = tensor.empty() : {type}
  %r = linalg.generic {{indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}}
      ins(%a, %b : {type}, {type}) outs(%e : {type}) {{
  ^bb0(%x: f32, %y: f32, %o: f32):
{body}
    linalg.yield {value} : f32
  }} -> {type}
  return %r : {type}
}}"""


def waiting_values(count: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    values = [x]
    for i in range(count):
        values.append(values[-1] * y if i % 2 else values[-1] + y)
    total = values[-1]
    for i in reversed(range(count - 1)):
        total = total - values[i + 1] if i % 2 else np.maximum(total, values[i + 1])
    return total


def frame(folder: Path) -> int:
    (object,) = folder.glob("*.o")
    return max(stack_frames(object.read_bytes()).values())


def compile(limit: int, folder: Path) -> bytes:
    return tiree.compile(
        waiting_body(COUNT),
        flags=[
            "--iree-llvmcpu-target-cpu=x86-64-v3",
            "--iree-llvmcpu-target-triple=x86_64-unknown-linux-gnu",
            f"{LIMIT}{limit}",
            f"--iree-hal-dump-executable-intermediates-to={folder}",
        ],
    )


@pytest.mark.parametrize("limit", [32768, 6000, 3000])
def test_a_kernel_that_spills_too_much_is_lowered_again(limit: int, tmp_path: Path) -> None:
    module = compile(limit, tmp_path)
    assert frame(tmp_path) <= limit
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(0.5, 1.0, SIZE).astype(np.float32) for _ in range(2))
    got = np.asarray(rt.load(module).main(x, y))
    np.testing.assert_allclose(got, waiting_values(COUNT, x.astype(np.float64), y), rtol=1e-3, atol=1e-3)


def test_what_fits_in_no_way_is_refused_with_its_size(tmp_path: Path) -> None:
    pattern = r"dispatch main_dispatch_0_elementwise_300_f32 needs (\d+) bytes of stack, the limit is 512"
    with pytest.raises(CompileError, match=pattern) as error:
        compile(512, tmp_path)
    found = re.search(pattern, str(error.value))
    assert found is not None
    assert 512 < int(found[1]) < 6000
    assert LIMIT[:-1] in str(error.value)


def test_scratch_of_rows_moves_off_a_small_stack(tmp_path: Path) -> None:
    """Softmax keeps a row: on the stack where it may be, else in the worker's memory."""
    text = """
func.func @main(%a: tensor<8x1024xf32>) -> tensor<8x1024xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [1]
    : (tensor<8x1024xf32>, tensor<f32>) -> tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x1024xf32>
  %s = stablehlo.subtract %a, %mb : tensor<8x1024xf32>
  %e = stablehlo.exponential %s : tensor<8x1024xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<8x1024xf32>, tensor<f32>) -> tensor<8xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<8xf32>) -> tensor<8x1024xf32>
  %r = stablehlo.divide %e, %tb : tensor<8x1024xf32>
  return %r : tensor<8x1024xf32>
}"""
    x = np.random.default_rng(1).standard_normal((8, 1024)).astype(np.float32)
    wide = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    for limit in (32768, 2048):
        folder = tmp_path / str(limit)
        flags = [f"{LIMIT}{limit}", f"--iree-hal-dump-executable-intermediates-to={folder}"]
        got = np.asarray(rt.load(tiree.compile(text, flags=flags)).main(x))
        assert frame(folder) <= limit
        np.testing.assert_allclose(got, wide / wide.sum(1, keepdims=True), rtol=1e-5)
