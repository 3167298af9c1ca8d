"""Bytecode that iree-opt writes, with the dialects of linalg programs and of IREE: the same as its text."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from dialects.bytecode.bytecode_writer import CORPUS, shown
from dialects.iree_opt import find_tool

SAMPLES = CORPUS.parents[1] / "samples"
FILES = [*sorted(CORPUS.glob("*.mlir")), SAMPLES / "flow.mlir"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("version", [4, 5, 6])
def test_the_corpus(path: Path, version: int, tmp_path: Path) -> None:
    tool = find_tool("iree-opt")
    text = subprocess.run(
        [tool, "--mlir-print-op-generic", "--mlir-print-debuginfo", path], capture_output=True, check=True
    ).stdout
    written = tmp_path / "m.mlirbc"
    command = [tool, "--emit-bytecode", f"--emit-bytecode-version={version}", path, "-o", written]
    subprocess.run(command, capture_output=True, check=True)
    assert shown(written.read_bytes()) == shown(text)


@pytest.mark.parametrize(
    "type",
    ["!quant.uniform<i8:f32:0, {3.400000e+01:16,5.000000e-01}>", "!quant.uniform<u8<1:255>:f32, 1.000000e-01:3>"],
)
def test_quantized_types(type: str, tmp_path: Path) -> None:
    text = f"module attributes {{test.a = tensor<2x{type}>}} {{\n}}\n"
    written = tmp_path / "m.mlirbc"
    subprocess.run([find_tool("iree-opt"), "--emit-bytecode", "-", "-o", written], input=text.encode(), check=True)
    assert shown(written.read_bytes(), locations=False) == shown(text, locations=False)
