"""The snippets of the README, run exactly as written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_the_commands_print_what_the_comments_say(tmp_path: Path) -> None:
    (script,) = (block for block in blocks("sh") if "tiree-compile" in block)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euc", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [line[2:] for line in script.splitlines() if line.startswith("# ")]


def test_the_python_snippet_runs(tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="the snippet compiles a JAX function")
    (program,) = blocks("python")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = done.stdout.replace("[", " ").replace("]", " ").split()
    assert [float(value) for value in rows] == pytest.approx([1 / 3] * 6, abs=1e-6)


def test_targets_of_make_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make ([a-z-]+)", "\n".join(blocks("sh")), re.MULTILINE):
        assert re.search(rf"^{target}:.*## ", makefile, re.MULTILINE), target
