"""Dispatch counts next to IREE 3.13's own on the models: no more than its."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from programs.models import Model, models

FLAGS = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")


@pytest.mark.parametrize("model", models(), ids=lambda model: model.name)
def test_no_more_dispatches_than_iree(model: Model, flow, tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="models are written in JAX")
    pytest.importorskip("iree.compiler", reason="the other side of the comparison")
    source, output = tmp_path / "model.mlir", tmp_path / "flow.mlir"
    source.write_text(model.text)
    tool = str(Path(sys.executable).with_name("iree-compile"))
    command = [tool, *FLAGS, "--compile-to=flow", "--mlir-print-op-generic", str(source), "-o", str(output)]
    subprocess.run(command, check=True, capture_output=True)
    theirs = output.read_text()
    ours = flow(model.text)
    assert ours.count("flow.dispatch") <= theirs.count('"flow.dispatch"(')
    assert ours.count("flow.executable") <= theirs.count('"flow.executable"(')
