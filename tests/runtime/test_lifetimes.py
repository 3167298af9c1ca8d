"""Objects that share memory may die in any order: `lifetimes.py` in processes of its own, which a fault would end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from runtime.lifetimes import COUNT
from runtime.modules import tiree_module

PROGRAM = f"""
func.func @twice(%a: tensor<{COUNT}xf32>) -> tensor<{COUNT}xf32> {{
  %0 = stablehlo.add %a, %a : tensor<{COUNT}xf32>
  return %0 : tensor<{COUNT}xf32>
}}
func.func @same(%a: tensor<{COUNT}xf32>) -> tensor<{COUNT}xf32> {{
  return %a : tensor<{COUNT}xf32>
}}
"""
STEPS = int(os.environ.get("TIREE_LIFETIME_STEPS", "600"))


@pytest.mark.parametrize("seed", range(3))
def test_any_order(seed: int, device_name: str, tmp_path: Path) -> None:
    path = tmp_path / "module.vmfb"
    path.write_bytes(tiree_module(PROGRAM))
    script = Path(__file__).with_name("lifetimes.py")
    command = [sys.executable, "-X", "faulthandler", "-W", "error", str(script), str(path), device_name]
    done = subprocess.run(
        [*command, str(seed), str(STEPS)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "MALLOC_PERTURB_": "165", "PYTHONMALLOC": "debug"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "done\n"
