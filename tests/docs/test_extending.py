"""The guide to plugins: every command runs as written and prints what the page says, in a folder of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import tiree
from tiree.pipeline import EXTENSION_POINTS
from tiree.plugins import TileKernel

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text()
FIRST = (ROOT / "docs" / "first_pass.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_first_pass_is_followed_to_the_letter(tmp_path: Path) -> None:
    bin = tmp_path / "bin"
    bin.mkdir()
    tools = {
        f"tiree-{tool}": f"-m tiree.tools.{tool.replace('-', '_')}" for tool in ("compile", "opt", "run-module", "new")
    }
    for name, module in {**tools, "python": ""}.items():
        (bin / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (bin / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"}
    blocks = [*BLOCK.findall(FIRST), *BLOCK.findall(PAGE.partition("## Begin")[2].partition("\n## ")[0])]
    assert [language for language, _ in blocks].count("sh") >= 5
    printed = ""
    for language, text in blocks:
        if language == "text":
            assert printed.strip() == text.strip()
            continue
        done = subprocess.run(
            ["bash", "-euc", text], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        printed = done.stdout
    (data,) = re.findall(r'id="data">(.*?)</script>', (tmp_path / "report.html").read_text(), re.DOTALL)
    report = json.loads(data)
    (step,) = [step for step in report["passes"] if step["name"] == "fewer-logs"]
    assert (step["phase"], step["added"], step["removed"]) == ("input", 1, 1)
    (dispatch,) = report["dispatches"]
    assert dispatch["ops"] == ["linalg.generic, 1 loop: arith.addf"]
    plugin = tmp_path / "fewer_logs.py"
    plugin.write_text(plugin.read_text().replace("outer.operands[0]", "outer.operands[1]"))
    command = ["tiree-compile", "model.mlir", "--tiree-plugin=fewer_logs.py", "-o", "x.vmfb"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    (message,) = BLOCK.findall(PAGE.partition("## When something is wrong")[2])
    assert done.stderr.endswith(message[1])


def test_the_table_of_extension_points_is_that_of_the_code() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| ([\w-]+): (.*) \|$", PAGE, re.MULTILINE)
    assert rows == [(point.name, point.phase, point.description) for point in EXTENSION_POINTS.values()]


def test_the_function_over_tiles_of_the_page_runs() -> None:
    (snippet,) = re.findall(r"^  ```python\n(.*?)^  ```", PAGE, re.MULTILINE | re.DOTALL)
    plugin = textwrap.dedent(snippet).partition("registry.")
    code = f"{plugin[0]}def register(registry):\n    registry.{plugin[2]}"
    names: dict[str, Any] = {"TileKernel": TileKernel}
    exec(code, names)
    program = """
    func.func @f(%x: tensor<9xf32>) -> tensor<9xf32> {
      %0 = stablehlo.tanh %x : tensor<9xf32>
      return %0 : tensor<9xf32>
    }
    """
    x = np.linspace(-4, 4, 9, dtype=np.float32)
    module = tiree.compile(program, plugins=[names["register"]])
    np.testing.assert_allclose(tiree.load(module).f(x), np.tanh(x), atol=0.03)
